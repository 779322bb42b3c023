// Questions to the server; in a page that was kept, the answers are in the page itself.
import {el} from "dom";

const inPage = document.getElementById("kept");
export const kept = inPage ? JSON.parse(inPage.textContent) : null;

export const unreached = "no answer";
const trouble = document.getElementById("trouble");

async function reach(path, request) {
  let response;
  try {
    response = await fetch(path, request);
  } catch {
    trouble.textContent = "The workshop does not answer. Was it closed? Start it again with build/workshop.";
    trouble.hidden = false;
    throw new Error(unreached);
  }
  trouble.hidden = true;
  if (!response.ok) throw new Error((await response.json().catch(() => ({}))).error ?? `the workshop cannot answer this (${response.status})`);
  return response;
}
const ask = async (path, request) => (await reach(path, request)).json();

const get = (path) => ask(path, {cache: "no-cache"});
const asking = (question) => ({method: "POST", body: JSON.stringify(question)});
const post = (path, question) => ask(path, asking(question));

const missing = () => { throw new Error("this was not kept in this file"); };

const numbers = (text) => new Float32Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);

// What the server answers to a question for a row, from the queries, keys and values in the page.
function keptRow({text, step, part, layer, head: number, row}) {
  const {step: at, heads} = kept.parts?.[text] ?? missing(), {read} = kept.looks[text][at];
  if ((step ?? -1) !== at) throw new Error(`One row is kept at step ${at} only: move the slider there.`);
  const head = heads.find((h) => h.part === part && h.layer === layer && h.head === number), {columns, size} = head;
  const [q, keys, values] = [head.query, head.key, head.value].map(numbers), query = [...q.subarray(row * size, (row + 1) * size)];
  const distances = head.distance && numbers(head.distance);
  const places = Array.from({length: columns}, (_, j) => {
    const content = query.reduce((sum, x, c) => sum + x * keys[j * size + c], 0), distance = distances?.[row * columns + j];
    const seen = kept.runs[0].task === 1 ? read[j] !== "[PAD]" : part === "encoder" || part === "cross" || j <= row;
    return {content, ...(distances && {distance}), scaled: (content + (distance ?? 0)) / Math.sqrt(size), seen};
  });
  const most = Math.max(...places.filter((p) => p.seen).map((p) => p.scaled));
  const share = (p) => (p.seen ? Math.exp(p.scaled - most) : 0), total = places.reduce((sum, p) => sum + share(p), 0);
  for (const place of places) place.weight = share(place) / total;
  const result = query.map((_, c) => places.reduce((sum, p, j) => sum + p.weight * values[j * size + c], 0));
  return {size, query, keys: [...keys], values: [...values], places, result};
}

export const runs = async () => (kept ?? await get("/api/runs")).runs;
export const texts = async (run) => (kept ?? await get("/api/texts?run=" + encodeURIComponent(run))).texts;
export const sample = async (run, step) =>
  (kept ? kept.samples[step] ?? missing() : await post("/api/sample", step < 0 ? {run} : {run, step})).sample;
export const look = async (question) =>
  kept ? kept.looks[question.text]?.[question.step ?? -1] ?? missing() : post("/api/look", question);
export const row = async (question) => (kept ? keptRow(question) : post("/api/row", question));
export const write = (question) => post("/api/write", question);
export const fill = (question) => post("/api/fill", question);
// Saves a run as one file. `say` is told how it goes.
export async function keep(question, say) {
  say(`${question.run} is put into one file …`);
  try {
    const response = await reach("/api/export", asking(question));
    const href = URL.createObjectURL(await response.blob());
    el("a", {href, download: question.run + ".html"}).click();
    setTimeout(() => URL.revokeObjectURL(href), 60000);
    say("");
  } catch (error) {
    say(error.message);
  }
}
export async function file(path) {
  const response = await fetch(path);
  if (!response.ok) throw new Error(`there is no ${path}`);
  return response.text();
}
