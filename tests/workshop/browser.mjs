// The workshop as a person uses it, in Debian's Chromium: what the page shows is held against what the programs print.
//   node tests/workshop/browser.mjs [SCREENSHOTS]     with a directory, pictures of the pages are left in it
import assert from "node:assert/strict";
import {execFileSync, spawn} from "node:child_process";
import {mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, readdirSync} from "node:fs";
import {createRequire} from "node:module";
import {tmpdir} from "node:os";
import {join, resolve} from "node:path";

const {chromium} = createRequire(resolve("build/workshop_packages/package.json"))("playwright-core");
const pictures = process.argv[2];
const home = mkdtempSync(join(tmpdir(), "babygpt-workshop-")), runs = join(home, "runs");
const program = (name, ...words) => execFileSync("build/" + name, words, {encoding: "utf8", stdio: ["ignore", "pipe", "ignore"]});
const train = (stage, run, ...words) => program(stage, "train", "--out", join(runs, run), "--eval-batches", "4", ...words);
const summary = (run) => JSON.parse(readFileSync(join(runs, run, "run.json"), "utf8"));
const children = [], problems = [];

// Every file below runs/ with its time: nothing may change by looking.
const state = () => readdirSync(runs, {recursive: true}).map((name) => [name, statSync(join(runs, name)).mtimeMs]).sort();

async function serve() {
  const child = spawn("build/workshop", ["--port", "0", "--runs", runs], {stdio: ["ignore", "pipe", "inherit"]});
  children.push(child);
  for await (const line of child.stdout) return /http:\S+/.exec(line)[0];
}

async function open(address, options = {}) {
  const context = await chromium.launchPersistentContext(mkdtempSync(join(home, "profile-")), {
    executablePath: "/usr/bin/chromium", headless: true, viewport: {width: 1280, height: 900}, acceptDownloads: true,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"], ...options});
  const page = context.pages()[0] ?? await context.newPage();
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => { if (message.type() === "error" && !message.text().includes("status of 400")) problems.push(message.text()); });
  page.on("request", (request) => { if (!/^(http:\/\/127\.0\.0\.1|data:|blob:|file:)/.test(request.url())) problems.push("asked for " + request.url()); });
  page.setDefaultTimeout(20000);
  if (address) await page.goto(address);
  return {context, page};
}

const go = (page, hash) => page.evaluate((h) => { location.hash = h; }, hash);
const shot = async (page, name) => { if (pictures) await page.screenshot({path: join(pictures, name + ".png")}); };
const settled = (page) => page.waitForFunction(() => document.querySelector(".scores tbody tr") && document.querySelector(".bars li"));
const characters = (text) => [...text];

async function check(name, f) {
  const begun = Date.now();
  await f();
  assert.deepEqual(problems, [], name);
  console.log(`${name}: ${Date.now() - begun} ms`);
}

const text = "At the den Kim won a red hat. ";
mkdirSync(runs);
train("03_head", "03_head", "--steps", "300", "--eval-interval", "100");
train("10_gpt", "10_gpt", "--steps", "60", "--eval-interval", "20", "--tokens", "50");
train("10_gpt", "verses", "--data", "verses", "--steps", "20", "--eval-interval", "20", "--n-layer", "1", "--tokens", "50");
train("12_relative", "12_relative", "--steps", "20", "--eval-interval", "20", "--n-layer", "1", "--tokens", "50");
train("13_bert", "13_bert", "--steps", "20", "--eval-interval", "20", "--n-layer", "1");
train("14_translate", "14_translate", "--steps", "60", "--eval-interval", "60", "--n-layer", "1");

try {
  const address = await serve();
  const before = state();
  const {context, page} = await open(address);

  await check("first paint", async () => {
    await page.waitForSelector("tr[data-run]");
    const painted = await page.evaluate(() => performance.getEntriesByType("paint").find((e) => e.name === "first-contentful-paint").startTime);
    console.log(`  first contentful paint after ${Math.round(painted)} ms`);
    assert.ok(painted < 3000);
  });

  await check("watch: every run with its loss, ticked on and off, over three axes", async () => {
    for (const run of readdirSync(runs))
      assert.equal(await page.textContent(`tr[data-run="${run}"] [data-loss]`), summary(run).best.val_loss.toFixed(3), run);
    assert.match(await page.textContent('tr[data-run="10_gpt"]'), /finished/);
    for (const axis of ["characters seen", "seconds", "steps"]) await page.check(`label:has-text("${axis}") input`);
    assert.equal(await page.$$eval(".plots figure", (all) => all.length), 3, "losses of different tasks are apart");
    assert.match(await page.textContent(".plots figure:first-child .note"), /different texts/);
    await page.uncheck('tr[data-run="verses"] input');
    assert.equal(await page.$$eval(".plots figure:first-child .note", (all) => all.length), 0);
    await page.click('tr[data-run="03_head"] .name');
    await page.waitForFunction(() => document.querySelector(".beside h2")?.textContent === "03_head");
    await page.hover(".u-over", {position: {x: 2, y: 100}});
    await page.waitForFunction(() => /at step 0,/.test(document.querySelector(".beside .note")?.textContent));
    await page.hover(".u-over", {position: {x: 640, y: 100}});
    await page.waitForFunction(() => /at step 300,/.test(document.querySelector(".beside .note")?.textContent));
    const shown = (await page.textContent(".beside .sample")).trim();
    assert.ok(program("03_head", "sample", "--model", join(runs, "03_head"), "--tokens", "160").trim().startsWith(shown.slice(0, 100)));
  });

  await check("watch: a run that is started meanwhile appears by itself, and moves", async () => {
    const child = spawn("build/03_head", ["--out", join(runs, "live"), "--steps", "1500", "--eval-interval", "100"], {stdio: "ignore"});
    children.push(child);
    await page.waitForSelector('tr[data-run="live"]');
    await page.waitForFunction(() => /step [\d,]+ of 1,500/.test(document.querySelector('tr[data-run="live"] .state')?.textContent));
    await page.waitForFunction(() => /finished/.test(document.querySelector('tr[data-run="live"]')?.textContent), null, {timeout: 60000});
    rmSync(join(runs, "live"), {recursive: true});
    await page.waitForFunction(() => !document.querySelector('tr[data-run="live"]'));
  });

  await check("look: a character is a cell; guesses are those that the program prints", async () => {
    await go(page, "look?run=10_gpt");
    await settled(page);
    await page.fill('input[aria-label="text"]', text);
    await page.waitForFunction((n) => document.querySelectorAll(".cells span").length === n, text.length);
    await page.focus(".strip");
    await page.keyboard.press("End");
    const printed = program("10_gpt", "sample", "--model", join(runs, "10_gpt"), "--prompt", text, "--tokens", "1", "--show", "choices");
    const expected = [...printed.split("|")[1].matchAll(/(\d+)%/g)].map((found) => Number(found[1]));
    const shown = await page.$$eval(".bars .number", (all) => all.map((share) => parseFloat(share.textContent)));
    assert.equal(expected.length, 5);
    for (const [i, share] of expected.entries()) assert.ok(Math.abs(shown[i] - share) <= 0.51, `${expected} and ${shown}`);
  });

  await check("look: overview, map, and one row step by step whose weights add up", async () => {
    assert.equal(await page.$$eval(".head", (all) => all.length), 12);
    await page.click('.head[data-head="1.2"]');
    await page.waitForFunction(() => document.querySelector(".map-title").textContent === "layer 1, head 2");
    await page.click(".cells span:nth-child(11)");
    for (const step of ["÷ √size", "mask", "softmax", "values"]) await page.click(`.stepper button:has-text("${step}")`);
    await page.waitForFunction(() => /^Place 10/.test(document.querySelector(".strip + .note").textContent));
    await page.waitForFunction(() => document.querySelectorAll(".scores tr.hidden").length === 19);
    const weights = await page.$$eval(".scores tbody tr", (rows) => rows.map((row) => parseFloat(row.cells[5].textContent)));
    assert.ok(Math.abs(weights.reduce((a, b) => a + b) - 1) < 0.02);
    const said = await page.textContent(".strip + .note");
    assert.ok(Math.abs(Number(/gives ([\d.]+)/.exec(said)[1]) - Math.max(...weights)) < 0.0011);
    await shot(page, "look");
  });

  await check("look: the slider goes through training", async () => {
    const said = () => page.textContent(".time output");
    assert.match(await said(), /step 60/);
    const late = await page.$eval(".big canvas", (canvas) => canvas.toDataURL());
    await page.fill('input[aria-label="step of training"]', "0");
    await page.waitForFunction(() => /step 0/.test(document.querySelector(".time output").textContent));
    await page.waitForFunction((old) => document.querySelector(".big canvas").toDataURL() !== old, late);
    await page.click(".play");
    await page.waitForFunction(() => /step 60/.test(document.querySelector(".time output").textContent));
    await page.waitForFunction((old) => document.querySelector(".big canvas").toDataURL() === old, late);
  });

  await check("look: Chinese, distances, both directions and padding, alignment", async () => {
    await go(page, "look?run=verses");
    await page.waitForFunction(() => [...document.querySelectorAll(".cells span")].some((c) => /\p{Script=Han}/u.test(c.textContent)));
    await go(page, "look?run=12_relative");
    await page.waitForFunction(() => /come from distance/.test(document.querySelector(".strip + .note")?.textContent));
    await go(page, "look?run=13_bert&text=Kim won a red hat.&padding=3");
    await page.waitForFunction(() => document.querySelectorAll(".cells .special").length === 5);
    const [map, future] = await page.$eval(".big canvas", (canvas) => {
      const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
      const alpha = (row, column) => pixels[4 * (row * canvas.width + column) + 3];
      return [alpha(2, canvas.width - 1), alpha(0, 5)];
    });
    assert.equal(map, 0, "padding is not looked at");
    assert.ok(future > 0, "it looks ahead");
    await go(page, "look?run=14_translate&head=cross 0.0");
    await page.waitForSelector('[data-cells="written"]');
    const source = await page.inputValue('input[aria-label="text"]');
    const written = program("14_translate", "translate", source, "--model", join(runs, "14_translate")).trimEnd();
    const cells = await page.$$eval('[data-cells="written"] span', (all) => all.map((c) => c.textContent));
    assert.deepEqual(cells.slice(0, characters(written).length), characters(written).map((c) => (c === " " ? "␣" : c)));
  });

  await check("write: what the sample command writes; another character chosen, and on from there", async () => {
    await go(page, "write?run=10_gpt");
    await page.waitForSelector(".bars li");
    await page.click('button:has-text("write")');
    await page.waitForFunction(() => document.querySelectorAll(".written span[data-index]").length >= 60);
    await page.click('button:has-text("stop")');
    const written = await page.$$eval(".written span[data-index]", (all) => all.map((s) => s.textContent).join(""));
    const printed = program("10_gpt", "sample", "--model", join(runs, "10_gpt"), "--seed", "1", "--tokens", "60");
    assert.equal(written.slice(0, 60), printed.slice(0, 60));
    await page.click('.written span[data-index="5"]');
    await page.waitForSelector(".bars button.glyph");
    await page.fill('input[aria-label="temperature"]', "0");
    await page.waitForFunction(() => document.querySelectorAll(".bars li:not(.gone)").length === 1);
    await shot(page, "write");
    await page.click(".bars li:nth-child(3) button.glyph");
    await page.waitForFunction(() => document.querySelectorAll(".written span[data-index]").length > 20);
    const again = await page.$$eval(".written span[data-index]", (all) => all.map((s) => s.textContent).join(""));
    assert.equal(again.slice(0, 5), written.slice(0, 5));
    await page.fill('input[aria-label="prompt"]', "Ω");
    await page.waitForFunction(() => /Ω/.test(document.querySelector(".problem").textContent));
  });

  await check("write: blanks, and a translation, as the programs answer", async () => {
    await go(page, "write?run=13_bert");
    await page.fill('input[aria-label="text with blanks"]', "K_m won a re_ hat.");
    const filled = program("13_bert", "fill", "K_m won a re_ hat.", "--model", join(runs, "13_bert")).trimEnd().split("\n").at(-1);
    await page.waitForFunction((t) => document.querySelector(".written")?.textContent === t, filled);
    await Promise.all([page.waitForResponse((response) => response.url().endsWith("/api/look")), go(page, "write?run=14_translate")]);
    await page.waitForTimeout(200);
    const source = await page.inputValue('input[aria-label="text to translate"]');
    assert.equal(await page.textContent(".written"), program("14_translate", "translate", source, "--model", join(runs, "14_translate")).trimEnd());
  });

  await check("read: a lesson with formulas, a diagram, a picture, and the way to its run", async () => {
    await go(page, "read?lesson=03_head");
    await page.waitForSelector(".lesson .diagram svg");
    assert.ok(await page.$$eval(".lesson .katex", (all) => all.length) > 20);
    assert.equal(await page.$$eval(".katex-error", (all) => all.length), 0);
    assert.ok(await page.$eval(".lesson img", (image) => image.complete && image.naturalWidth > 0));
    await go(page, "read?lesson=09_heads");
    await page.click('.lesson a[href="#read?lesson=03_head&at=the-mathematics"]');
    await page.waitForFunction(() => [...document.querySelectorAll(".lesson h2")].some((h) => h.textContent === "The mathematics" && Math.abs(h.getBoundingClientRect().top) < 200));
    await page.click('.try a:has-text("look inside")');
    await page.waitForFunction(() => location.hash.startsWith("#look?run=03_head"));
    for (const name of readdirSync("docs/lessons").filter((n) => n.endsWith(".md"))) {
      await go(page, "read?lesson=" + name.slice(0, -3));
      await page.waitForFunction(() => document.querySelector(".lesson h1") && !document.querySelector("code.language-mermaid"));
      assert.equal(await page.$$eval(".katex-error", (all) => all.length), 0, name);
    }
  });

  await check("keep: one file that works from the disk, by the button and by the command", async () => {
    await go(page, "watch");
    await page.click('tr[data-run="10_gpt"] .name');
    const [download] = await Promise.all([page.waitForEvent("download"), page.click('.beside a:has-text("keep")')]);
    const kept = join(home, "kept.html"), exported = join(home, "exported.html");
    await download.saveAs(kept);
    program("workshop", "export", join(runs, "10_gpt"), "-o", exported);
    assert.equal(statSync(kept).size, statSync(exported).size);
    console.log(`  ${(statSync(kept).size / 1e6).toFixed(1)} MB`);
    const alone = await open("file://" + kept, {offline: true});
    await alone.page.waitForSelector(".u-over");
    await alone.page.click('a:has-text("Look inside")');
    await alone.page.waitForSelector(".head canvas");
    const scores = async (p) => { await settled(p); await p.click('.stepper button:has-text("values")'); return p.textContent(".scores"); };
    await go(page, "look?run=10_gpt");
    assert.equal(await scores(alone.page), await scores(page));
    const late = await alone.page.$eval(".big canvas", (canvas) => canvas.toDataURL());
    await alone.page.fill('input[aria-label="step of training"]', "0");
    await alone.page.waitForFunction((old) => document.querySelector(".big canvas").toDataURL() !== old, late);
    await alone.page.waitForSelector("text=One row is kept at step 60 only");
    await alone.context.close();
  });

  await check("narrow, dark, and nothing wider than the window", async () => {
    const phone = await open(null, {viewport: {width: 390, height: 800}, colorScheme: "dark"});
    for (const hash of ["watch", "look?run=10_gpt", "write?run=10_gpt", "read?lesson=10_gpt"]) {
      await phone.page.goto(`${address}/#${hash}`);
      await phone.page.waitForSelector("tr[data-run], .head canvas, .bars li, .lesson h1");
      await phone.page.waitForTimeout(300);
      assert.ok(await phone.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), hash);
    }
    await phone.context.close();
  });

  await check("a run that goes away while it is looked at is told of", async () => {
    assert.deepEqual(state(), before, "looking changed something in runs/");
    await go(page, "look?run=03_head");
    await settled(page);
    rmSync(join(runs, "03_head"), {recursive: true});
    await page.fill('input[aria-label="text"]', "At the pond");
    await page.waitForFunction(() => /there is no run 03_head/.test(document.querySelector(".problem").textContent));
  });

  await check("ten tabs at once", async () => {
    const tabs = await Promise.all(Array.from({length: 10}, () => context.newPage()));
    await Promise.all(tabs.map(async (tab) => { await tab.goto(address + "/#look?run=10_gpt"); await tab.waitForSelector(".head canvas", {timeout: 60000}); }));
  });
  await context.close();
} finally {
  for (const child of children) child.kill();
  rmSync(home, {recursive: true, force: true, maxRetries: 5});
}
