// Takes the pictures of docs/workshop again, as the texts beside them describe them, from trained runs.
//   node tests/workshop/screenshots.mjs [03_head 10_gpt 13_bert 14_translate]     of these runs only
import {spawn} from "node:child_process";
import {createRequire} from "node:module";
import {resolve} from "node:path";

const {chromium} = createRequire(resolve("build/workshop_packages/package.json"))("playwright-core");
const wanted = process.argv.slice(2);

const server = spawn("build/workshop", ["--port", "0"], {stdio: ["ignore", "pipe", "inherit"]});
let address;
for await (const line of server.stdout) { address = /http:\S+/.exec(line)[0]; break; }
const browser = await chromium.launch({executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"]});

const post = async (question) => (await fetch(address + "/api/look", {method: "POST", body: JSON.stringify(question)})).json();
const weight = (head, row, column) => Buffer.from(head.weights, "base64").readUInt16LE(2 * (row * head.columns + column));
const name = (head) => (head.part ? head.part + " " : "") + `${head.layer}.${head.head}`;
// Of some heads the one that looks most from a row to some columns.
const sharpest = (heads, row, columns) => {
  const seen = (head) => columns.reduce((sum, column) => sum + weight(head, row, column), 0);
  return name(heads.reduce((a, b) => (seen(b) > seen(a) ? b : a)));
};

// `question` is what the page is asked, once its run is known to be wanted.
async function take(run, picture, height, question, act = async () => ({})) {
  if (wanted.length && !wanted.includes(run)) return;
  const page = await browser.newPage({viewport: {width: 1000, height}, colorScheme: "light"});
  await page.goto(`${address}/#look?${new URLSearchParams({run, ...await question()})}`);
  await page.waitForSelector(".scores tbody tr");
  await page.screenshot({path: `docs/workshop/${picture}.png`, ...await act(page)});
  await page.close();
  console.log(picture);
}

try {
  await take("03_head", "row", 2400, async () => ({text: "Mia put the red kite in a box at", place: 10}), async (page) => {
    await page.click('.stepper button:has-text("values")');
    const from = await page.locator("h2", {hasText: "One row, step by step"}).boundingBox(), to = await page.locator(".scores").boundingBox();
    return {clip: {x: 0, y: from.y - 12, width: 1000, height: to.y + to.height + 24 - from.y}};
  });

  await take("10_gpt", "look", 840, async () => {
    const run = "10_gpt", text = 'Rosa won a blue kite at the gate. A wren sang "pim pim" to ', place = text.length - 1;
    const {runs} = await (await fetch(address + "/api/runs")).json();
    for (const step of runs.find(({name}) => name === run).snapshots) {
      const {likely, heads} = await post({run, text, step}), [[character, probability], [, next]] = likely[place];
      if (character === "R" && probability > 2 * next)  // it has just come
        return {text, step, place, head: sharpest(heads.filter(({layer}) => layer === heads.at(-1).layer), place, [0, 1, 2, 3])};
    }
    throw new Error("R is the first guess at no snapshot");
  });

  await take("13_bert", "both_sides", 890, async () => {
    const text = "R_sa won a re_ kit_ at the gate.", place = 14;
    return {text, place, head: sharpest((await post({run: "13_bert", text})).heads, place, [place - 1])};
  });

  await take("14_translate", "alignment", 850, async () => {
    const text = "Cora made a flat lamp at the road.", {heads, written} = await post({run: "14_translate", text});
    const place = written.indexOf("路"), road = text.indexOf("road") + 1;  // [CLS] stands before it
    return {text, place, head: sharpest(heads.filter(({part}) => part === "cross"), place, [0, 1, 2, 3].map((i) => road + i))};
  });
} finally {
  await browser.close();
  server.kill();
}
