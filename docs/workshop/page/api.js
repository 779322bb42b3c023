// Questions to the server; in a page that was kept, the answers are in the page itself.
const inPage = document.getElementById("kept");
export const kept = inPage ? JSON.parse(inPage.textContent) : null;

const trouble = document.getElementById("trouble");

async function ask(path, request) {
  let response;
  try {
    response = await fetch(path, request);
  } catch {
    trouble.textContent = "The workshop does not answer. Was it closed? Start it again with build/workshop.";
    trouble.hidden = false;
    throw new Error("no answer");
  }
  trouble.hidden = true;
  const answer = await response.json();
  if (answer.error) throw new Error(answer.error);
  return answer;
}

const get = (path) => ask(path, {cache: "no-cache"});
const post = (path, question) => ask(path, {method: "POST", body: JSON.stringify(question)});

const missing = () => { throw new Error("this was not kept in this file"); };

export const runs = async () => (kept ?? await get("/api/runs")).runs;
export const texts = async (run) => (kept ?? await get("/api/texts?run=" + encodeURIComponent(run))).texts;
export const sample = async (run, step) =>
  (kept ? kept.samples[step] ?? missing() : await post("/api/sample", step < 0 ? {run} : {run, step})).sample;
export const look = async (question) =>
  kept ? kept.looks[question.text]?.[question.step ?? -1] ?? missing() : post("/api/look", question);
export const row = (question) => (kept ? missing() : post("/api/row", question));
export const write = (question) => post("/api/write", question);
export const fill = (question) => post("/api/fill", question);
export const exported = (run, text) =>
  "/api/export?run=" + encodeURIComponent(run) + (text ? "&text=" + encodeURIComponent(text) : "");
export const file = async (path) => (await fetch(path)).text();
