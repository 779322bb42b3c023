// The workshop as a person uses it, in Debian's Chromium: what the page shows is held against what the programs print.
//   node tests/workshop/browser.mjs [SCREENSHOTS]     with a directory, pictures of the pages are left in it
import assert from "node:assert/strict";
import {execFileSync, spawn} from "node:child_process";
import {once} from "node:events";
import {cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync} from "node:fs";
import {createRequire} from "node:module";
import {tmpdir} from "node:os";
import {join, resolve} from "node:path";
import {setTimeout as after} from "node:timers/promises";

const {chromium} = createRequire(resolve("build/workshop_packages/package.json"))("playwright-core");
const pictures = process.argv[2];
const home = mkdtempSync(join(tmpdir(), "babygpt-workshop-")), runs = join(home, "runs");
const program = (name, ...words) => execFileSync("build/" + name, words, {encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], timeout: 600000});
const train = (stage, run, ...words) => program(stage, "train", "--out", join(runs, run), "--eval-batches", "4", ...words);
const summary = (run) => JSON.parse(readFileSync(join(runs, run, "run.json"), "utf8"));
const metrics = (run) => readFileSync(join(runs, run, "metrics.csv"), "utf8").trim().split("\n").slice(1).map((line) => line.split(",").map(Number));
const children = [], contexts = [], problems = [];
const ended = (child) => child.exitCode ?? child.signalCode ?? once(child, "exit");

// What never ends is named.
let current = "training";
setTimeout(() => {
  console.error(`${current}: no end after half an hour`);
  for (const child of children) child.kill("SIGKILL");
  process.exit(1);
}, 1800000).unref();
const within = (promise, what) => Promise.race([promise, after(120000, null, {ref: false}).then(() => { throw new Error(`waited in vain for ${what}`); })]);

// Every file below runs/ with its time: nothing may change by looking.
const state = () => readdirSync(runs, {recursive: true}).map((name) => [name, statSync(join(runs, name)).mtimeMs]).sort();

// A copy of a run, and a run taken away: each in one moment, as the server may look at any.
function copy(run, to, change = () => {}) {
  const beside = join(mkdtempSync(join(home, "copy-")), "run");
  cpSync(join(runs, run), beside, {recursive: true});
  change(beside);
  renameSync(beside, to);
}
function remove(run) {
  const beside = join(mkdtempSync(join(home, "away-")), "run");
  renameSync(join(runs, run), beside);
  rmSync(beside, {recursive: true});
}

async function serve(directory = runs) {
  const child = spawn("build/workshop", ["--port", "0", "--runs", directory], {stdio: ["ignore", "pipe", "inherit"]});
  children.push(child);
  for await (const line of child.stdout) return /http:\S+/.exec(line)[0];
}

async function open(address, options = {}) {
  const context = await chromium.launchPersistentContext(mkdtempSync(join(home, "profile-")), {
    executablePath: "/usr/bin/chromium", headless: true, viewport: {width: 1280, height: 900}, acceptDownloads: true,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"], ...options});
  contexts.push(context);
  context.setDefaultTimeout(120000);  // of each of its pages; a wait that is answered does not take longer
  const page = context.pages()[0] ?? await context.newPage();
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => { if (message.type() === "error" && !/status of 4(00|13)|ERR_CONNECTION_REFUSED/.test(message.text()) && !message.location().url.endsWith("nothing.md")) problems.push(message.text()); });
  page.on("request", (request) => { if (!/^(http:\/\/127\.0\.0\.1|data:|blob:|file:)/.test(request.url())) problems.push("asked for " + request.url()); });
  await page.goto(address);
  return {context, page};
}

// Resolves when the page has heard of its new address: nothing of the page before is left to answer a wait.
async function go(page, hash) {
  await page.mouse.move(0, 0);  // what comes to lie under it would be pointed at
  await page.evaluate((h) => new Promise((done) => {
    const before = location.href;
    addEventListener("hashchange", () => done(), {once: true});  // after the page's own
    location.hash = h;
    if (location.href === before) done();
  }), hash);
}

// Holds back the questions at an address that are wanted. `nth` waits for one of them, `answer` lets it go on.
async function hold(page, address, wanted) {
  const held = [], waiting = [], answered = new Set();
  let open = false;
  await page.route(address, (route) => {
    if (open || !wanted(route.request().postDataJSON())) return route.continue();
    held.push(route);
    for (const tell of waiting.splice(0)) tell();
  });
  const answer = (route) => {
    answered.add(route);
    return Promise.all([page.waitForResponse((response) => response.request() === route.request()), route.continue()]);
  };
  return {
    held, answer,
    nth: async (n) => {
      while (held.length <= n) await within(new Promise((done) => waiting.push(done)), `question ${n} to ${address}`);
      return held[n];
    },
    release: async () => {
      open = true;
      await Promise.all(held.filter((route) => !answered.has(route)).map(answer));
      await page.unroute(address);
    }};
}
const shot = async (page, name) => { if (pictures) await page.screenshot({path: join(pictures, name + ".png")}); };
const settled = (page) => page.waitForFunction(() => document.querySelector(".scores tbody tr") && document.querySelector(".bars li"));
const characters = (text) => [...text];
const written = (page) => page.$$eval(".written span[data-index]", (all) => all.map((s) => s.textContent).join(""));
const enoughWritten = (page, count) => page.waitForFunction((n) => document.querySelectorAll(".written span[data-index]").length >= n, count);
// Writing ends by itself, too, and the button says "write" then.
const stop = (page) => page.evaluate(() => [...document.querySelectorAll("button")].find((button) => button.textContent === "stop")?.click());
const fits = (page) => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);

const drawn = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

// A page with all that it draws: its run, its letters, its styles.
async function complete(page, hash) {
  await page.waitForFunction(([name, run]) => {
    const one = (selector) => document.querySelector(selector);
    if (run && one('select[aria-label="run"]')?.value !== run) return false;
    if (name === "watch") return one(".u-over") && one("tr[data-run]");
    if (name === "look") return one(".scores tbody tr");
    if (name === "write") return one(".bars li") || one(".written")?.textContent;
    return one(".lesson h1") && !one("code.language-mermaid") && document.fonts.status === "loaded" &&
      [...document.querySelectorAll("link[rel=stylesheet]")].every((link) => link.sheet) && [...document.images].every((image) => image.complete);
  }, [hash.split("?")[0], new URLSearchParams(hash.split("?")[1]).get("run")]);
  await drawn(page);
}

// The least contrast of the texts that a selector finds, each against what lies behind it.
const contrast = (page, selector) => page.$$eval(selector, (all) => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
  const over = (colours) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((x) => (x / 255 <= 0.04045 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  return Math.min(...all.filter((e) => e.offsetParent && e.textContent.trim()).map((element) => {
    const behind = [];
    for (let e = element; e; e = e.parentElement) behind.unshift(getComputedStyle(e).backgroundColor);
    const [paper, ink] = [over(behind), over([...behind, getComputedStyle(element).color])];
    return Math.max(paper, ink) / Math.min(paper, ink);
  }));
});

async function check(name, f) {
  const begun = Date.now();
  current = name;
  try {
    await f();
    assert.deepEqual(problems, [], name);
  } catch (error) {
    console.error(`${name}: failed after ${Date.now() - begun} ms`, problems, error.stack);
    for (const page of contexts.flatMap((context) => context.pages())) {
      const shown = page.evaluate(() => `${location.hash}: ${document.querySelector("main")?.innerText.slice(0, 500)}`).catch(String);
      console.error(await Promise.race([shown, after(10000, "a page that does not answer", {ref: false})]));
    }
    throw error;
  }
  console.log(`${name}: ${Date.now() - begun} ms`);
}

const text = "At the den Kim won a red hat. ";

try {
  mkdirSync(runs);
  train("03_head", "03_head", "--steps", "300", "--eval-interval", "100");
  train("10_gpt", "10_gpt", "--steps", "60", "--eval-interval", "20", "--tokens", "50");
  train("10_gpt", "verses", "--data", "verses", "--steps", "20", "--eval-interval", "20", "--n-layer", "1", "--tokens", "50");
  train("12_relative", "12_relative", "--steps", "20", "--eval-interval", "20", "--n-layer", "1", "--tokens", "50");
  train("13_bert", "13_bert", "--steps", "20", "--eval-interval", "5", "--n-layer", "1");
  program("15_prune", "--model", join(runs, "13_bert"), "--out", join(runs, "15_prune"), "--tolerance", "9");
  train("10_gpt", "long", "--steps", "0", "--block-size", "256", "--tokens", "0", "--snapshots", "0");
  train("14_translate", "14_translate", "--steps", "60", "--eval-interval", "60", "--n-layer", "1");

  const address = await serve();
  const before = state();
  const {context, page} = await open(address);

  await check("the first model appears by itself, to look into and to write with", async () => {
    const empty = join(home, "empty");
    mkdirSync(empty);
    const first = await serve(empty);
    const [looks, writes] = await Promise.all(["look", "write"].map((name) => open(`${first}/#${name}`)));
    for (const {page} of [looks, writes]) await page.waitForSelector("text=appears here by itself");
    copy("03_head", join(empty, "03_head"));
    await settled(looks.page);
    await writes.page.waitForSelector(".bars li");
    copy("10_gpt", join(empty, "10_gpt"));
    await writes.page.waitForSelector('option[value="10_gpt"]', {state: "attached"});
    assert.equal(await writes.page.inputValue('select[aria-label="run"]'), "03_head");
    for (const {context} of [looks, writes]) await context.close();
  });

  await check("first paint", async () => {
    const painted = [];
    for (let i = 0; i < 5; ++i) {
      await page.reload();
      const found = await page.waitForFunction(() => performance.getEntriesByType("paint").find((e) => e.name === "first-contentful-paint")?.startTime);
      painted.push(Math.round(await found.jsonValue()));
    }
    console.log(`  first contentful paint after ${painted.join(", ")} ms`);  // half a second is the aim
    await page.waitForSelector("tr[data-run]");
  });

  await check("a text of 256 characters is looked at while one waits", async () => {
    const body = JSON.stringify({run: "long", text: text.repeat(9).slice(0, 256)}), times = [];
    for (let i = 0; i < 20; ++i) {
      const begun = performance.now(), answer = await (await fetch(address + "/api/look", {method: "POST", body})).json();
      times.push(performance.now() - begun);
      assert.equal(answer.read.length, 256);
    }
    times.sort((a, b) => a - b);
    console.log(`  median ${Math.round(times[10])} ms, from ${Math.round(times[0])} to ${Math.round(times[19])} ms`);  // a tenth of a second is the aim
  });

  await check("watch: every run with its loss, ticked on and off, over three axes", async () => {
    for (const run of readdirSync(runs)) {
      const shown = (part) => page.textContent(`tr[data-run="${run}"] ${part}`), {best, options, judged, final} = summary(run), judge = await shown(".judge");
      assert.equal(await shown("[data-loss]"), best.val_loss.toFixed(3), run);
      const speed = metrics(run).at(-1)[3];
      assert.equal(await shown(".speed"), speed ? Math.round(speed).toLocaleString("en-GB") : "", run);
      const rate = options.decay && options.steps > options.warmup ? options.learning_rate / 10
        : options.learning_rate * Math.min(1, (options.steps + 1) / (options.warmup + 1));  // at the end of its steps
      assert.ok(Math.abs(Number(await shown(".rate")) / rate - 1) < 0.06, run);
      const shares = {...(judged?.tales && {"in form": judged.in_form / judged.tales}), ...(judged?.slots && {"remembered": judged.slots_right / judged.slots}),
        ...(final?.masked_accuracy && {"of blanks": final.masked_accuracy, "of pairs": final.follows_accuracy})};
      for (const [name, share] of Object.entries(shares)) assert.ok(Math.abs(Number(judge.split(" % " + name)[0].split(" ").at(-1)) - 100 * share) <= 0.5, `${run}: ${judge}, and ${share} ${name}`);
      if (judged?.sentences) assert.equal(judge, `${judged.exact} of ${judged.sentences} exact`);
      if (run === "13_bert") assert.match(judge, /^[\d.]+ % of blanks, [\d.]+ % of pairs$/);
    }
    assert.match(await page.textContent('tr[data-run="10_gpt"]'), /finished/);
    await page.evaluate(() => { localStorage.setItem("ticks", "{"); localStorage.setItem("axis", "steps"); });
    await page.reload();
    await page.waitForSelector('tr[data-run="10_gpt"]');
    const charts = new Set();
    for (const axis of ["characters seen", "seconds", "steps"]) {
      await page.check(`label:has-text("${axis}") input`);
      charts.add(await page.$eval(".plots canvas", (canvas) => canvas.toDataURL()));
    }
    const {written: over, dotted} = await page.evaluate(() => {  // what is written on the canvases, and their dotted lines
      const canvas = CanvasRenderingContext2D.prototype, {fillText, lineTo} = canvas, written = [], dotted = new Set();
      canvas.fillText = function (text, ...where) { written.push(text); fillText.call(this, text, ...where); };
      canvas.lineTo = function (x, y) { if (this.getLineDash().length) dotted.add([...document.querySelectorAll("canvas")].indexOf(this.canvas) + " " + y); lineTo.call(this, x, y); };
      [...document.querySelectorAll(".choices label")].find((label) => label.textContent === "characters seen").click();
      return new Promise((done) => requestAnimationFrame(() => { Object.assign(canvas, {fillText, lineTo}); done({written, dotted: dotted.size}); }));
    });
    const rulers = ["10_gpt", "13_bert", "14_translate"].flatMap((run) => Object.entries(summary(run).baselines)).map(([name, loss]) => `${name === "uniform" ? "knowing nothing" : name} ${loss.toFixed(2)}`);
    assert.deepEqual([...rulers, "10_gpt", "03_head"].filter((name) => !over.includes(name)), []);
    assert.equal(dotted, rulers.length, "a line for each loss of a ruler");
    await page.waitForSelector('.note:has-text("15_prune has no steps of training to count characters by.")');
    await page.check('label:has-text("steps") input');
    assert.equal(charts.size, 3, "each axis draws another chart");
    await page.evaluate(() => {  // what is written on the first canvas since it was last cleared
      const canvas = CanvasRenderingContext2D.prototype, {fillText, clearRect} = canvas, isFirst = (one) => one.canvas === document.querySelector(".plots canvas");
      canvas.fillText = function (text, ...where) { if (isFirst(this)) window.over.push(text); fillText.call(this, text, ...where); };
      canvas.clearRect = function (...where) { if (isFirst(this)) window.over = []; clearRect.apply(this, where); };
      window.over = [];
    });
    for (const [width, named] of [[500, false], [1280, true]]) {  // a curve has its name where there is room for it
      await page.setViewportSize({width, height: 900});
      await page.waitForFunction((there) => window.over.some((text) => text.startsWith("unigram")) && window.over.includes("10_gpt") === there, named);
    }
    assert.equal(await page.$$eval(".plots figure", (all) => all.length), 3, "losses of different tasks are apart");
    assert.match(await page.textContent(".plots figure:first-child .note"), /different texts/);
    await page.uncheck('tr[data-run="verses"] input');
    assert.equal(await page.$$eval(".plots figure:first-child .note", (all) => all.length), 0);
    await page.click('tr[data-run="03_head"] .name');
    await page.waitForFunction(() => document.querySelector(".beside h2")?.textContent === "03_head");
    for (let i = 0; i < 14; ++i) copy("03_head", join(runs, "copy_" + i));
    await page.waitForSelector('tr[data-run="copy_13"]');
    const ticked = (run) => page.isChecked(`tr[data-run="${run}"] input`);
    assert.deepEqual([await ticked("copy_0"), await ticked("copy_9"), await ticked("03_head")], [true, true, false], "the newest 14");
    rmSync(join(runs, "copy_0/snapshots/100.safetensors"));
    copy("13_bert", join(runs, "copy_bert"), (bert) => rmSync(join(bert, "run.json")));  // as while it trains
    await page.check('label:has-text("characters seen") input');
    await page.waitForSelector('.note:has-text("How many characters copy_bert has seen is known when it has ended.")');
    await page.check('label:has-text("steps") input');
    await page.click('tr[data-run="copy_0"] .name');
    await page.waitForFunction(() => document.querySelector(".beside h2")?.textContent === "copy_0" && document.querySelector('input[aria-label="the sample\'s step"]')?.max === "2");
    await page.hover(".u-over", {position: {x: Math.round(await page.$eval(".u-over", (over) => over.clientWidth) / 3), y: 100}});
    await page.waitForFunction(() => /^the snapshot nearest to step 100: what it wrote at step (0|200),/.test(document.querySelector(".beside .note")?.textContent));
    await page.click('tr[data-run="03_head"] .name');
    await page.waitForFunction(() => document.querySelector(".beside h2")?.textContent === "03_head");
    for (const name of readdirSync(runs)) if (name.startsWith("copy")) remove(name);
    await page.waitForFunction(() => !document.querySelector('tr[data-run^="copy"]'));
    await page.hover(".u-over", {position: {x: 2, y: 100}});
    await page.waitForFunction(() => /at step 0,/.test(document.querySelector(".beside .note")?.textContent));
    await page.hover(".u-over", {position: {x: 640, y: 100}});
    await page.waitForFunction(() => /at step 300,/.test(document.querySelector(".beside .note")?.textContent));
    const shown = (await page.textContent(".beside .sample")).trim();
    assert.ok(program("03_head", "sample", "--model", join(runs, "03_head"), "--tokens", "160").trim().startsWith(shown.slice(0, 100)));
    assert.match(await page.getAttribute(".plots canvas", "aria-label"), new RegExp(`03_head ${metrics("03_head").at(-1)[2].toFixed(2)}`));
    await page.focus('input[aria-label="the sample\'s step"]');
    await page.keyboard.press("Home");
    await page.waitForFunction(() => /at step 0,/.test(document.querySelector(".beside .note")?.textContent));
    const samples = await hold(page, "**/api/sample", ({step}) => step === 100);
    await page.keyboard.press("ArrowRight");
    const late = await samples.nth(0);  // until another one is shown
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction(() => /at step 200,/.test(document.querySelector(".beside .note")?.textContent));
    await samples.answer(late);
    await drawn(page);
    assert.match(await page.textContent(".beside .note"), /at step 200,/, "a late answer is none");
    await samples.release();
    await shot(page, "watch");
    await go(page, "watch?run=verses");
    await page.waitForFunction(() => document.querySelector(".beside h2")?.textContent === "verses");
  });

  await check("a run that is started meanwhile appears by itself and moves, in the table and on the slider", async () => {
    const steps = 1e6, child = spawn("build/03_head", ["--out", join(runs, "live"), "--steps", String(steps), "--eval-interval", "100", "--snapshots", "1000"], {stdio: "ignore"});
    children.push(child);
    const row = await page.waitForSelector('tr[data-run="live"]');
    const said = await (await page.waitForFunction(() => /step ([\d,]+) of 1,000,000, ([\d.]+) (s|min|h) left/.exec(document.querySelector('tr[data-run="live"] .state')?.textContent))).jsonValue();
    const step = Number(said[1].replaceAll(",", "")), seconds = Number(said[2]) * {s: 1, min: 60, h: 3600}[said[3]], rows = metrics("live").filter((r) => r[0] <= step).slice(-4);
    const left = (steps - step) * (rows.at(-1)[4] - rows[0][4]) / (step - rows[0][0]);
    assert.ok(Math.abs(seconds - left) < 3 + left / 3, `${seconds} s left, by its evaluations ${left}`);
    await page.focus('tr[data-run="live"] input');
    await page.waitForFunction((old) => document.querySelector('tr[data-run="live"] .state')?.textContent.startsWith(old) === false, `step ${said[1]} `);
    assert.ok(await row.evaluate((e) => e.isConnected && e.contains(document.activeElement)), "a line stays while it changes");
    await go(page, "look?run=live");
    await page.focus(".time input");
    await page.keyboard.press("End");
    const stops = Number(await page.getAttribute(".time input", "max"));
    await page.waitForFunction((n) => { const slider = document.querySelector(".time input"); return slider?.max > n && slider.value === slider.max; }, stops);
    await go(page, "watch?run=live");
    await page.hover(".u-over", {position: {x: 300, y: 100}});
    await page.waitForFunction(() => /at step [1-9]/.test(document.querySelector(".beside .note")?.textContent));
    await page.focus('input[aria-label="the sample\'s step"]');
    await page.keyboard.press("Home");
    await page.waitForFunction(() => /at step 0,/.test(document.querySelector(".beside .note")?.textContent));
    for (let i = 0; i < 3; ++i) {
      const old = await page.textContent('tr[data-run="live"] .state');
      await page.waitForFunction((before) => document.querySelector('tr[data-run="live"] .state')?.textContent !== before, old);
    }
    assert.match(await page.textContent(".beside .note"), /at step 0,/, "a mouse that rests on a chart that grows points at nothing new");
    for (let i = 0; i < 14; ++i) copy("10_gpt", join(runs, "newer_" + i));
    await page.waitForSelector('tr[data-run="newer_13"]');
    await Promise.all([ended(child), child.kill("SIGINT")]);  // it would train for long on any machine
    await page.waitForFunction(() => /^stopped at/.test(document.querySelector('tr[data-run="live"] .state')?.textContent));
    assert.ok(await page.isChecked('tr[data-run="live"] input'), "its curve stays");
    for (let i = 0; i < 14; ++i) remove("newer_" + i);
    remove("live");
    await page.waitForFunction(() => !document.querySelector('tr[data-run="live"]'));
  });

  await check("look: a character is a cell; guesses are those that the program prints", async () => {
    await go(page, "look?run=10_gpt");
    await settled(page);
    assert.deepEqual(await page.evaluate(() => [document.title, document.activeElement.id]), ["Look inside, the workshop", "page"]);
    await page.fill('textarea[aria-label="text"]', text);
    await page.waitForFunction((n) => document.querySelectorAll(".cells span").length === n, text.length);
    await page.focus(".strip");
    await page.keyboard.press("End");
    const printed = program("10_gpt", "sample", "--model", join(runs, "10_gpt"), "--prompt", text, "--tokens", "1", "--show", "choices");
    const expected = [...printed.split("|")[1].matchAll(/(\d+)%/g)].map((found) => Number(found[1]));
    const shown = await page.$$eval(".bars .number", (all) => all.map((share) => parseFloat(share.textContent)));
    assert.equal(expected.length, 5);
    for (const [i, share] of expected.entries()) assert.ok(Math.abs(shown[i] - share) <= 0.51, `${expected} and ${shown}`);
    const {surprise} = await (await fetch(address + "/api/look", {method: "POST", body: JSON.stringify({run: "10_gpt", text})})).json();
    const opacities = await page.$$eval(".cells span", (all) => all.map((cell) => Number(/, ([\d.]+)\)$/.exec(getComputedStyle(cell).backgroundColor)?.[1] ?? 1)));
    for (const [i, nats] of surprise.slice(0, -1).entries()) assert.ok(Math.abs(opacities[i + 1] - 0.75 * Math.min(nats / 5, 1)) < 0.01, `the colour at ${i + 1}`);
  });

  await check("look: overview, map, and one row step by step whose weights add up", async () => {
    assert.equal(await page.$$eval(".head", (all) => all.length), 12);
    await page.click('.head[data-head="1.2"]');
    await page.waitForFunction(() => document.querySelector(".map-title")?.textContent === "layer 1, head 2");
    await page.click(".cells span:nth-child(11)");
    const added = async () => {  // the terms of the sum that is shown, and what it is said to be
      const [terms, total] = (await page.textContent(".sum p")).replaceAll("−", "-").split(" = ");
      return {terms: terms.split(" + ").map((term) => term.split(" × ").map(Number)), total: Number(total)};
    };
    const addsUp = ({terms, total}) => assert.ok(Math.abs(terms.reduce((sum, [a, b]) => sum + a * b, 0) - total) < 0.02 * (1 + Math.abs(total)), `${terms} and ${total}`);
    await page.waitForFunction(() => document.querySelectorAll(".scores tbody tr").length === 30 && /^Place 10,/.test(document.querySelector(".explain")?.textContent));
    await page.focus(".sum summary");
    await page.keyboard.press("Enter");
    assert.ok(await page.isVisible(".sum p"));
    addsUp(await added());
    for (const step of ["÷ √size", "mask", "softmax", "values"]) await page.click(`.stepper button:has-text("${step}")`);
    const mixed = await added();
    addsUp(mixed);
    assert.equal(mixed.terms.length, 11, "place 10 sees itself and those before it");
    const {result} = await (await fetch(address + "/api/row", {method: "POST", body: JSON.stringify({run: "10_gpt", step: 60, text, layer: 1, head: 2, row: 10})})).json();
    assert.ok(Math.abs(Math.abs(mixed.total) - Math.max(...result.map(Math.abs))) < 0.001);
    await page.waitForFunction(() => /^Place 10/.test(document.querySelector(".strip + .note")?.textContent));
    await page.waitForFunction(() => document.querySelectorAll(".scores tr.hidden").length === 19);
    const weights = await page.$$eval(".scores tbody tr", (rows) => rows.map((row) => parseFloat(row.cells[5].textContent)));
    assert.ok(Math.abs(weights.reduce((a, b) => a + b) - 1) < 0.02);
    const answer = await (await fetch(address + "/api/look", {method: "POST", body: JSON.stringify({run: "10_gpt", step: 60, text})})).json();
    const head = answer.heads.find((h) => h.layer === 1 && h.head === 2), bytes = Buffer.from(head.weights, "base64");
    const seen = Array.from({length: text.length}, (_, column) => bytes.readUInt16LE(2 * (10 * text.length + column)) / 65535).filter((weight) => weight >= 0.015);
    assert.equal(await page.$$eval(".strip svg path", (all) => all.length), seen.length, "a line for each weight that can be seen");
    const said = await page.textContent(".strip + .note");
    assert.ok(Math.abs(Number(/gives ([\d.]+)/.exec(said)[1]) - Math.max(...weights)) < 0.0011);
    await shot(page, "look");
    await page.click(".cells span:nth-child(11)");  // it is held no more
    await page.hover(".cells span:nth-child(5)");
    await page.waitForFunction(() => document.querySelector(".cells .here")?.dataset.place === "4");
    const guessed = await page.$$eval(".bars .glyph", (all) => all.map((glyph) => glyph.textContent));
    assert.deepEqual(guessed, answer.likely[4].map(([c]) => c.replace(" ", "␣").replace("\n", "⏎")), "pointing at a character shows its guesses");
    const seenFrom = (place) => page.waitForFunction((n) => document.querySelectorAll(".scores tbody tr:not(.hidden)").length === n, place + 1);
    await seenFrom(4);
    await page.fill('textarea[aria-label="text"]', "Ω");
    await page.waitForFunction(() => /Ω/.test(document.querySelector(".problem")?.textContent));
    await page.click(".cells span:nth-child(3)");
    await seenFrom(2);
    assert.equal(await page.$$eval(".scores tbody tr", (rows) => rows.length), text.length, "a row of the text that is shown");
    await page.fill('textarea[aria-label="text"]', text);
    await page.waitForFunction(() => document.querySelector(".problem")?.textContent === "");
  });

  await check("look: the slider goes through training", async () => {
    await page.mouse.move(0, 0);  // what moves under it would be pointed at
    const said = () => page.textContent(".time output");
    assert.match(await said(), /step 60/);
    const late = await page.$eval(".big canvas", (canvas) => canvas.toDataURL());
    const about = () => page.$eval("main", (main) => [main.querySelector("textarea").value, main.querySelector(".map-title").textContent, main.querySelector(".cells .here").dataset.place]);
    const same = await about();
    await page.fill('input[aria-label="step of training"]', "0");
    await page.waitForFunction(() => /step 0/.test(document.querySelector(".time output")?.textContent));
    await page.waitForFunction((old) => document.querySelector(".big canvas").toDataURL() !== old, late);
    assert.deepEqual(await about(), same, "it is the same text, head and place");
    await page.click(".play");
    await page.waitForFunction(() => /step 60/.test(document.querySelector(".time output")?.textContent));
    await page.waitForFunction((old) => document.querySelector(".big canvas")?.toDataURL() === old, late);
    await page.emulateMedia({colorScheme: "dark"});
    await page.waitForFunction((old) => { const canvas = document.querySelector(".big canvas"); return canvas && canvas.toDataURL() !== old; }, late);
    await page.emulateMedia({colorScheme: "light"});
    await page.waitForFunction((old) => document.querySelector(".big canvas")?.toDataURL() === old, late);
    assert.deepEqual(await about(), same, "in other colours it is the same, too");
  });

  await check("look: what plays, is stopped and plays again while it waits for an answer, plays once", async () => {
    const looks = await hold(page, "**/api/look", ({step}) => step !== 60);
    await go(page, "look?run=10_gpt&step=60&text=At the pond");
    await looks.nth(0);  // step 0, asked beforehand
    await page.evaluate(() => {
      const later = window.setTimeout;
      window.moved = 0;
      window.setTimeout = (f, after, ...more) => { if (after === 420) ++window.moved; return later(f, after, ...more); };
    });
    for (let i = 0; i < 3; ++i) await page.click(".play");
    await looks.nth(1);  // step 20
    await looks.release();
    await page.waitForFunction(() => /step 60/.test(document.querySelector(".time output")?.textContent) && document.querySelector(".play").textContent === "▶");
    assert.equal(await page.evaluate(() => window.moved), 2, "from 20 to 40, from 40 to 60");
  });

  await check("look: what is asked beforehand is about the text that is shown, and asked once", async () => {
    const looks = await hold(page, "**/api/look", ({run, step}) => run === "13_bert" && step !== 20);
    await go(page, "look?run=13_bert&step=20&text=Kim won a red hat.");
    const first = await looks.nth(0);
    await page.fill('textarea[aria-label="second sentence"]', "A hen sang.");
    const next = await looks.nth(1);
    await looks.answer(first);
    await drawn(page);
    await page.fill('input[aria-label="step of training"]', "0");
    await drawn(page);
    assert.deepEqual(looks.held.map((route) => [route.request().postDataJSON().second, route.request().postDataJSON().step]), [[undefined, 0], ["A hen sang.", 0]]);
    const late = await page.$eval(".big canvas", (canvas) => canvas.toDataURL());
    await looks.answer(next);
    await page.waitForFunction((old) => document.querySelector(".big canvas").toDataURL() !== old, late);
    await looks.nth(2);
    await looks.release();
  });

  await check("an address that is no page's shows the runs", async () => {
    for (const name of ["constructor", "nothing"]) {
      await go(page, name);
      await page.waitForSelector("tr[data-run]");
      await go(page, "look");
      await settled(page);
    }
  });

  await check("a click on a link counts, even just before the address is written", async () => {
    await page.evaluate(() => {
      const later = window.setTimeout;
      window.setTimeout = (f, after, ...more) => later(after !== 250 ? f : () => {
        window.setTimeout = later;
        location.hash = "watch";
        f();
      }, after, ...more);
      document.querySelector(".strip").dispatchEvent(new KeyboardEvent("keydown", {key: "Home"}));  // another place: the address is to be written
    });
    await page.waitForSelector("tr[data-run]");
  });

  await check("look: Chinese, distances, both directions and padding, alignment", async () => {
    await go(page, "look?run=verses");
    await page.waitForFunction(() => [...document.querySelectorAll(".cells span")].some((c) => /\p{Script=Han}/u.test(c.textContent)));
    const [verse] = (await (await fetch(address + "/api/texts?run=verses")).json()).texts;
    assert.ok(verse.includes("\n"));
    const picked = await page.getAttribute(".picks button:nth-child(2)", "title");
    await page.click(".picks button:nth-child(2)");
    await page.waitForFunction((t) => [...document.querySelectorAll(".cells span")].map((c) => c.textContent).join("") === t, picked.replaceAll(" ", "␣").replaceAll("\n", "⏎"));
    assert.equal(await page.inputValue('textarea[aria-label="text"]'), picked);
    await page.click(".picks button");
    await page.focus('textarea[aria-label="text"]');
    await page.keyboard.press("Control+End");
    await Promise.all([page.waitForRequest((request) => request.url().endsWith("/api/look") && request.postDataJSON().text === verse + "。"),  // with its line breaks
      page.keyboard.insertText("。")]);
    await go(page, "look?run=12_relative");
    await page.waitForFunction(() => /come from distance/.test(document.querySelector(".strip + .note")?.textContent));
    await settled(page);
    await page.click('.stepper button:has-text("÷ √size")');
    assert.deepEqual(await page.$$eval(".scores th", (all) => all.map((th) => th.textContent)), ["place", "key", "q · k", "distance", "score"]);
    const [asked, place, name] = [await page.inputValue('textarea[aria-label="text"]'), Number(await page.$eval(".cells .here", (cell) => cell.dataset.place)), await page.getAttribute('.head[aria-pressed="true"]', "data-head")];
    const [layer, number] = name.split(".").map(Number), step = Number(/\d+/.exec(await page.textContent(".time output"))[0]);
    const row = await (await fetch(address + "/api/row", {method: "POST", body: JSON.stringify({run: "12_relative", step, text: asked, layer, head: number, row: place})})).json();
    const scores = await page.$$eval(".scores tbody tr", (rows) => rows.map((tr) => [2, 3, 4].map((i) => tr.cells[i].textContent)));
    assert.deepEqual(scores, row.places.map((p) => [p.content, p.distance, p.scaled].map((x) => x.toFixed(2))));
    assert.ok(row.places.some((p) => Math.abs(p.distance) > 0.005), "distance counts");
    await go(page, "look?run=13_bert&text=Kim won a red hat.&padding=3");
    await page.waitForFunction(() => document.querySelectorAll(".cells .special").length === 5);
    const [map, future] = await page.$eval(".big canvas", (canvas) => {
      const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
      const alpha = (row, column) => pixels[4 * (row * canvas.width + column) + 3];
      return [alpha(2, canvas.width - 1), alpha(0, 5)];
    });
    assert.equal(map, 0, "padding is not looked at");
    assert.ok(future > 0, "it looks ahead");
    await go(page, "look?run=13_bert&text=Kim won a red hat.&place=2");
    await page.waitForSelector('.note:has-text("if “i” were covered")');
    const covered = program("13_bert", "fill", "K_m won a red hat.", "--model", join(runs, "13_bert"));
    const guesses = [...covered.split("\n")[0].matchAll(/ ([01]\.\d{3})/g)].map(([, p]) => 100 * p), bars = await page.$$eval(".bars .number", (all) => all.map((share) => parseFloat(share.textContent)));
    assert.equal(guesses.length, 5);
    for (const [i, share] of guesses.entries()) assert.ok(Math.abs(bars[i] - share) < 0.56, `${guesses} and ${bars}`);
    await go(page, "look?run=14_translate&head=cross 0.0");
    await page.waitForSelector('[data-cells="written"]');
    const source = await page.inputValue('textarea[aria-label="text"]');
    const translated = program("14_translate", "translate", source, "--model", join(runs, "14_translate")).trimEnd();
    const cells = await page.$$eval('[data-cells="written"] span', (all) => all.map((c) => c.textContent));
    assert.deepEqual(cells.slice(0, characters(translated).length), characters(translated).map((c) => (c === " " ? "␣" : c)));
    assert.ok(await page.$eval(".cells span", (cell) => cell.getBoundingClientRect().width) >= 18);
    const {heads} = await (await fetch(address + "/api/look", {method: "POST", body: JSON.stringify({run: "14_translate", text: source})})).json();
    const {weights, rows, columns} = heads.find((h) => h.part === "cross" && h.layer === 0 && h.head === 0), shares = Buffer.from(weights, "base64");
    await page.click('[data-cells="written"] span:nth-child(2)');
    const expected = [];
    for (let i = 0; i < rows; ++i)
      for (let j = 0; j < columns; ++j) {
        const share = shares.readUInt16LE(2 * (i * columns + j)) / 65535;
        if (share >= (i === 1 ? 0.015 : 0.25)) expected.push([i, j, 0.8 + 6 * share * (i === 1 ? 1 : 0.5)]);
      }
    const width = await page.$eval(".cells", (line) => parseFloat(line.style.getPropertyValue("--cell"))), ends = await page.$$eval(".strip svg path", (all) => all.map((path) => [...path.getAttribute("d").match(/^M([\d.]+) .* ([\d.]+) 0$/).slice(1), path.getAttribute("stroke-width")].map(Number)));
    assert.deepEqual(ends.map(([from, to, thick]) => [from / width - 0.5, to / width - 0.5, thick].map((x) => x.toFixed(3))), expected.map((line) => line.map((x) => x.toFixed(3))), "a line for each weight that can be seen, from the character that is written to the one that is read");
    for (const place of [-1, "x", 1000]) {  // there is none: another is chosen
      await go(page, "look?run=10_gpt&place=" + place);
      await settled(page);
      const last = (await page.inputValue('textarea[aria-label="text"]')).length - 1;
      assert.match(await page.textContent(".strip + .note"), new RegExp(`^Place ${last},`));
    }
    await go(page, "look?run=15_prune&text=K_m won");
    await page.waitForFunction(() => document.querySelectorAll(".cells .special").length === 3 && document.querySelector(".head"));
    assert.ok(await page.$$eval(".head", (all) => all.length) < 4, "heads were cut out");
  });

  await check("look: what could not be answered is asked again", async () => {
    await page.route("**/api/look", (route) => route.abort("connectionrefused"));
    await go(page, "look?run=12_relative");
    await page.waitForSelector('.problem:has-text("no answer")');
    await page.unroute("**/api/look");
    await settled(page);
    await page.route("**/api/runs", (route) => route.abort("connectionrefused"));
    await page.selectOption('select[aria-label="run"]', "10_gpt");
    await page.waitForSelector('.problem:has-text("no answer")');
    await page.unroute("**/api/runs");
    await page.waitForFunction(() => document.querySelectorAll(".head").length === 12);
    const snapshot = "snapshots/0.safetensors";
    copy("12_relative", join(runs, "mended"), (run) => writeFileSync(join(run, snapshot), ""));
    await go(page, "look?run=mended&step=0");
    await page.waitForFunction(() => document.querySelector(".problem")?.textContent);
    assert.equal(await page.$$eval(".scores", (all) => all.length), 0);
    copy("12_relative", join(home, "mended"));
    renameSync(join(home, "mended", snapshot), join(runs, "mended", snapshot));
    await settled(page);
    remove("mended");
  });

  await check("write: what the sample command writes; another character chosen, and on from there", async () => {
    const answerTo = async (question) => (await fetch(address + "/api/write", {method: "POST", body: JSON.stringify({run: "10_gpt", count: 4, ...question})})).json();
    await go(page, "write?run=10_gpt");
    const begins = (await page.textContent(".bars li:nth-child(2) button.glyph")).replace("␣", " ").replace("⏎", "\n"), {prompt} = await answerTo({text: ""});
    await page.click(".bars li:nth-child(2) button.glyph");  // nothing is written yet
    await enoughWritten(page, 5);
    await stop(page);
    const goesOn = (await answerTo({text: prompt + begins})).written.map((w) => w.character).join("");
    assert.equal((await written(page)).slice(0, 5), begins + goesOn);
    await go(page, "watch");
    await go(page, "write?run=10_gpt");
    await page.waitForSelector(".bars li");
    await page.click('button:has-text("write")');
    await enoughWritten(page, 60);
    await stop(page);
    const sampled = (...words) => program("10_gpt", "sample", "--model", join(runs, "10_gpt"), "--tokens", "60", ...words);
    assert.equal((await written(page)).slice(0, 60), sampled("--seed", "1").slice(0, 60));
    await page.click('button:has-text("write")');
    await page.click('button:has-text("another")');  // while it writes
    await enoughWritten(page, 60);
    await stop(page);
    const first = await written(page);
    await page.fill('input[aria-label="seed"]', "7");
    const [asked] = await Promise.all([page.waitForRequest((request) => request.url().endsWith("/api/write") && request.postDataJSON().count > 0), page.click('button:has-text("write")')]);
    const question = asked.postDataJSON();
    assert.deepEqual([question.seed, question.random], [7, undefined], "a seed that is typed is taken");
    await stop(page);
    const writes = await hold(page, "**/api/write", ({count}) => count > 0);
    await page.click('button:has-text("write")');
    const before = await writes.nth(0);
    await page.fill('input[aria-label="seed"]', "9");
    await writes.answer(before);
    const {seed, random} = (await writes.nth(1)).request().postDataJSON();
    assert.deepEqual([seed, random], [9, undefined], "while it writes, too");
    await stop(page);
    await writes.release();
    const there = await written(page);
    await page.emulateMedia({colorScheme: "dark"});
    await drawn(page);
    assert.equal(await written(page), there, "what is written stays in other colours");
    await page.emulateMedia({colorScheme: "light"});
    assert.equal(first.slice(0, 60), sampled("--seed", "2").slice(0, 60));
    await page.click('.written span[data-index="5"]');
    await page.waitForSelector(".bars button.glyph");
    await page.fill('input[aria-label="temperature"]', "0");
    const left = (count) => page.waitForFunction((n) => document.querySelectorAll(".bars li:not(.gone)").length === n, count);
    await left(1);
    await page.fill('input[aria-label="temperature"]', "1");
    await page.fill('input[aria-label="top-p"]', "1");
    await page.fill('input[aria-label="top-k (0: all)"]', "3");
    await left(3);
    const shares = await page.$$eval(".bars li:not(.gone) .number", (all) => all.map((share) => parseFloat(share.textContent)));
    assert.ok(Math.abs(shares.reduce((a, b) => a + b) - 100) < 1.6, "what is left adds up");
    const {next} = await answerTo({text: prompt + first.slice(0, 5), count: 0}), three = next.slice(0, 3).map(([, p]) => p), sum = (list) => list.reduce((a, b) => a + b);
    const holds = (expected) => page.waitForFunction((all) => { const bars = [...document.querySelectorAll(".bars li:not(.gone) .number")]; return bars.length === all.length && bars.every((bar, i) => Math.abs(parseFloat(bar.textContent) - 100 * all[i]) < 0.51); }, expected);
    await holds(three.map((p) => p / sum(three)));
    const hot = three.map((p) => p ** (1 / 1.5));
    await page.fill('input[aria-label="temperature"]', "1.5");
    await holds(hot.map((p) => p / sum(hot)));
    await page.fill('input[aria-label="temperature"]', "1");
    await page.fill('input[aria-label="top-p"]', "0.05");
    await left(1);
    await page.fill('input[aria-label="top-p"]', "1");
    await left(3);
    await shot(page, "write");
    await page.click(".bars li:nth-child(3) button.glyph");
    await enoughWritten(page, 20);
    assert.equal((await written(page)).slice(0, 5), first.slice(0, 5));
    await stop(page);
    await page.focus(".written");  // the same by keys
    for (const [i, key] of ["Home", "ArrowRight", "ArrowRight"].entries()) {
      await page.evaluate(() => document.querySelector(".bars")?.setAttribute("data-old", ""));
      await page.keyboard.press(key);
      await page.waitForFunction((at) => document.querySelector(".written .here")?.dataset.index === at && /stand here/.test(document.querySelector(".desk h2")?.textContent) && document.querySelector(".bars:not([data-old])"), String(i));
    }
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    const chosen = await page.evaluate(() => document.activeElement.textContent);
    await page.keyboard.press("Enter");
    await enoughWritten(page, 12);
    assert.equal([...await written(page)][2].replace(" ", "␣").replace("\n", "⏎"), chosen);
    await stop(page);
    await page.fill('textarea[aria-label="prompt"]', "At the den");
    await page.press('textarea[aria-label="prompt"]', "Enter");  // at once
    await enoughWritten(page, 8);
    assert.equal(await page.textContent(".written .given"), "At the den");
    await page.fill('textarea[aria-label="prompt"]', "a".repeat(70000));
    await page.waitForFunction(() => /too long/.test(document.querySelector(".problem")?.textContent));
    await page.fill('textarea[aria-label="prompt"]', "Ω");
    await page.waitForFunction(() => /Ω/.test(document.querySelector(".problem")?.textContent));
  });

  await check("write: blanks, and a translation, as the programs answer", async () => {
    await go(page, "write?run=13_bert");
    await page.fill('textarea[aria-label="text with blanks"]', "K_m won a re_ hat.");
    const filled = program("13_bert", "fill", "K_m won a re_ hat.", "--model", join(runs, "13_bert")).trimEnd().split("\n").at(-1);
    await page.waitForFunction((t) => document.querySelector(".written")?.textContent === t, filled);
    await go(page, "write?run=14_translate");
    const source = await page.inputValue('textarea[aria-label="text to translate"]');
    const translated = program("14_translate", "translate", source, "--model", join(runs, "14_translate")).trimEnd();
    await page.waitForFunction((t) => document.querySelector(".written")?.textContent === t, translated);
    const picked = await page.getAttribute(".picks button:nth-child(2)", "title");
    await Promise.all([page.waitForRequest((request) => request.url().endsWith("/api/look") && request.postDataJSON().text === picked), page.click(".picks button:nth-child(2)")]);
    assert.equal(await page.inputValue('textarea[aria-label="text to translate"]'), picked);
    const other = program("14_translate", "translate", picked, "--model", join(runs, "14_translate")).trimEnd();
    await page.waitForFunction((t) => document.querySelector(".written")?.textContent === t, other);
  });

  await check("read: a lesson with formulas, a diagram, a picture, and the way to its run", async () => {
    await page.route("**/katex.mjs", (route) => route.abort("connectionrefused"));
    await go(page, "read?lesson=01_bigram");
    await page.waitForSelector(".lesson .problem");
    await page.unroute("**/katex.mjs");  // the next lesson asks for it again
    await go(page, "read?lesson=03_head");
    await page.waitForSelector(".lesson .diagram svg");
    await page.$eval(".lesson h1", (title) => title.setAttribute("data-old", ""));
    const light = await page.$eval(".lesson .diagram", (diagram) => diagram.innerHTML);
    const diagramIs = (same) => page.waitForFunction(([old, wanted]) => (document.querySelector(".lesson .diagram")?.innerHTML === old) === wanted, [light, same]);
    await page.emulateMedia({colorScheme: "dark"});
    await diagramIs(false);
    await page.emulateMedia({colorScheme: "light"});
    await diagramIs(true);
    assert.ok(await page.$(".lesson h1[data-old]"), "one who reads stays where he is");
    assert.ok(await page.$$eval(".lesson .katex", (all) => all.length) > 20);
    assert.equal(await page.$$eval(".katex-error", (all) => all.length), 0);
    await page.waitForFunction(() => { const image = document.querySelector(".lesson img"); return image?.complete && image.naturalWidth > 0; });
    await go(page, "read?lesson=09_heads");
    await page.click('.lesson a[href="#read?lesson=03_head&at=the-mathematics"]');
    await page.waitForFunction(() => [...document.querySelectorAll(".lesson h2")].some((h) => h.textContent === "The mathematics" && Math.abs(h.getBoundingClientRect().top) < 200));
    await page.click('.try a:has-text("look inside")');
    await page.waitForFunction(() => location.hash.startsWith("#look?run=03_head"));
    await go(page, "read?lesson=03_head");
    await page.click('.lesson a[href^="#look?run=03_head&text=Mia"]');
    await page.waitForFunction(() => document.querySelector(".cells .here")?.dataset.place === "10");
    await go(page, "read?lesson=15_prune");
    await page.waitForSelector('.try a[href="#look?run=15_prune"]');
    await go(page, "read?lesson=11_kvcache");
    await page.waitForSelector('.try a[href="#look?run=10_gpt"]');
    await go(page, "read?lesson=nothing");
    await page.waitForSelector("text=There is no lesson nothing");
    const files = new Set();
    for (const name of readdirSync("docs/lessons").filter((n) => n.endsWith(".md"))) {
      await go(page, "read?lesson=" + name.slice(0, -3));
      await page.waitForFunction(() => document.querySelector(".lesson h1") && !document.querySelector("code.language-mermaid"));
      assert.equal(await page.$$eval(".katex-error", (all) => all.length), 0, name);
      for (const href of await page.$$eval(".lesson a[target]", (all) => all.map((link) => link.href))) if (href.startsWith(address)) files.add(href);
    }
    assert.ok(files.size > 50);
    for (const file of files) assert.equal((await fetch(file)).status, 200, file);
  });

  await check("keep: one file that works from the disk, by the button and by the command", async () => {
    await go(page, "watch");
    await page.click('tr[data-run="10_gpt"] .name');
    const [download] = await Promise.all([page.waitForEvent("download"), page.click('button[data-keeps="10_gpt"]')]);
    const kept = join(home, "kept.html"), exported = join(home, "exported.html");
    await download.saveAs(kept);
    program("workshop", "export", join(runs, "10_gpt"), "-o", exported);
    assert.equal(statSync(kept).size, statSync(exported).size);
    console.log(`  ${(statSync(kept).size / 1e6).toFixed(1)} MB`);
    const alone = await open("file://" + kept, {offline: true});
    await alone.page.waitForSelector(".u-over");
    await alone.page.focus('input[aria-label="the sample\'s step"]');
    await alone.page.keyboard.press("Home");
    await alone.page.waitForFunction(() => /at step 0,/.test(document.querySelector(".beside .note")?.textContent));
    const {sample} = await (await fetch(address + "/api/sample", {method: "POST", body: JSON.stringify({run: "10_gpt", step: 0})})).json();
    assert.equal(await alone.page.textContent(".beside .sample"), sample.trim());
    await alone.page.click('a:has-text("Look inside")');
    await alone.page.waitForSelector(".head canvas");
    const scores = async (p) => { await p.mouse.move(0, 0); await settled(p); await p.click('.stepper button:has-text("values")'); return p.$$eval(".scores tr", (rows) => rows.flatMap((row) => [...row.cells].map((cell) => cell.textContent))); };
    await go(page, "look?run=10_gpt");
    const [here, there] = [await scores(page), await scores(alone.page)];
    assert.equal(here.length, there.length);
    for (const [i, cell] of here.entries()) assert.ok(cell === there[i] || Math.abs(cell - there[i]) < 0.011, `${cell} and ${there[i]}`);  // its sums are of doubles
    const late = await alone.page.$eval(".big canvas", (canvas) => canvas.toDataURL());
    await alone.page.fill('input[aria-label="step of training"]', "0");
    await alone.page.waitForFunction((old) => document.querySelector(".big canvas").toDataURL() !== old, late);
    await alone.page.waitForSelector("text=One row is kept at step 60 only");
    await alone.context.close();
    await go(page, "look?run=13_bert&text=Kim won a red hat.&second=A hen sang.&padding=3");
    await settled(page);
    const [asked] = await Promise.all([page.waitForRequest(/api\/export/), page.click('button:has-text("keep this")')]);
    assert.deepEqual(asked.postDataJSON(), {run: "13_bert", text: "Kim won a red hat.", second: "A hen sang.", padding: 3});
    await page.waitForFunction(() => document.querySelector(".problem")?.textContent === "");
    await go(page, "look?run=13_bert&text=" + "a".repeat(300));  // more than it reads
    await page.waitForFunction(() => /too long/.test(document.querySelector(".problem")?.textContent));
    const [refused] = await Promise.all([page.waitForResponse(/api\/export/), page.click('button:has-text("keep this")')]);
    assert.equal(refused.status(), 400);
    await page.waitForFunction(() => /too long/.test(document.querySelector(".problem")?.textContent));
  });

  await check("narrow, dark, and nothing wider than the window", async () => {
    const phone = await open(address, {viewport: {width: 390, height: 800}, colorScheme: "dark"});
    for (const hash of ["watch", "look?run=10_gpt", "look?run=14_translate", "write?run=10_gpt", "read?lesson=10_gpt"]) {
      await go(phone.page, hash);
      await complete(phone.page, hash);
      assert.ok(await fits(phone.page), hash);
      if (hash === "watch") assert.ok(await phone.page.$eval("table.runs", (table) => table.getBoundingClientRect().bottom < document.querySelector(".plots").getBoundingClientRect().top), "the runs, then their curves");
      if (hash === "watch") for (const part of [".speed", ".rate"]) assert.ok(await phone.page.isVisible(`tr[data-run="10_gpt"] ${part}`), part);
      await shot(phone.page, "narrow_" + hash.replace(/\?.*/, ""));
    }
    await phone.context.close();
  });

  await check("enlarged by a quarter, and letters that can be read, light and dark", async () => {
    for (const colorScheme of ["light", "dark"]) {
      const near = await open(address, {viewport: {width: 1024, height: 720}, deviceScaleFactor: 1.25, colorScheme});
      for (const hash of ["watch", "look?run=10_gpt", "look?run=13_bert&text=K_m won", "look?run=14_translate", "write?run=10_gpt", "read?lesson=03_head"]) {
        await go(near.page, hash);
        await complete(near.page, hash);
        assert.ok(await fits(near.page), hash);
        // of no text at all, the least is infinite
        const texts = "p, th, td, h1, h2, label, a, button, li span, .cells span, .state, .note, output, pre, figcaption";
        const least = await contrast(near.page, `main :is(${texts}):not(.diagram *, .katex *)`);
        assert.ok(least >= 4.5 && least < 22, `${colorScheme} ${hash}: contrast ${least.toFixed(2)}`);
        const small = await near.page.$$eval("main *", (all) => Math.min(...all.filter((e) => e.offsetParent && !e.closest(".katex, svg") && e.childNodes.length && !e.children.length).map((e) => parseFloat(getComputedStyle(e).fontSize))));
        assert.ok(small >= 11 && small < 100, `${colorScheme} ${hash}: letters of ${small} px`);
        await shot(near.page, `${colorScheme}_${hash.replace(/&.*/, "").replace(/\W/g, "_")}`);
      }
      await near.context.close();
    }
  });

  await check("a run that goes away while it is looked at is told of", async () => {
    assert.deepEqual(state(), before, "looking changed something in runs/");
    await go(page, "look?run=03_head");
    await settled(page);
    copy("03_head", join(runs, "strange"), (strange) => writeFileSync(join(strange, "run.json"), JSON.stringify({...summary("03_head"), best: {}, judged: {tales: "x", in_form: []}})));
    remove("03_head");
    await page.fill('textarea[aria-label="text"]', "At the pond");
    await page.waitForFunction(() => /there is no run 03_head/.test(document.querySelector(".problem")?.textContent));
    await go(page, "watch");
    await page.waitForSelector("tr.damaged:has-text('strange')");
    await page.waitForSelector('tr[data-run="10_gpt"]');
  });

  await check("ten tabs at once", async () => {
    const tabs = await Promise.all(Array.from({length: 10}, () => context.newPage()));
    await Promise.all(tabs.map(async (tab) => { await tab.goto(address + "/#look?run=10_gpt"); await tab.waitForSelector(".head canvas"); }));
  });
} finally {
  for (const context of contexts) await context.close().catch(() => {});
  await Promise.all(children.map(async (child) => {
    const harder = setTimeout(() => child.kill("SIGKILL"), 10000);
    child.kill();
    await ended(child);
    clearTimeout(harder);
  }));
  try {
    rmSync(home, {recursive: true, force: true, maxRetries: 5});
  } catch (error) {  // which would hide what failed
    console.error(error.message);
  }
}
