// Write: a model goes on with a text, character by character; a BERT fills blanks, a translator translates.
import * as api from "api";
import {remember} from "app";
import {bars, calm, eachSecond, el, field, percent} from "dom";
import {warmth} from "maps";

const fill = 1, translate = 2;
const batch = 4;  // characters asked for at once

export function write(page, given) {
  let runs = [], run = null, open = true, begun = 0, stop = () => {};
  const tell = (error) => place.replaceChildren(el("p.problem", {}, error.message));
  const choose = el("select", {"aria-label": "run", change: () => begin(choose.value).catch(tell)}), place = el("div", {});
  page.append(el("h1", {}, "Write"), el("div.ask", {}, choose), place);

  async function begin(name) {
    const mine = ++begun;
    stop();
    runs = (await api.runs()).filter((r) => r.writes);
    if (!open || mine !== begun) return;
    if (!runs.length) return place.replaceChildren(el("p.lead", {}, "There is no trained model yet. Train one in a terminal, for example with build/10_gpt, and it appears here by itself."));
    run = runs.find((r) => r.name === name) ?? runs.find((r) => r.name === "10_gpt") ?? runs.at(-1);
    fillChoice();
    remember("write", {run: run.name});
    const show = run.task === fill ? fillBlanks : run.task === translate ? translation : goOn;
    const offered = run.task ? await api.texts(run.name).catch(() => []) : [];
    if (!open || mine !== begun) return;
    place.replaceChildren();
    stop = show(place, run, offered) ?? (() => {});
  }
  const fillChoice = () => choose.replaceChildren(...runs.map((r) => el("option", {value: r.name, selected: r.name === run.name}, r.name)));
  async function follow() {
    if (!run) return begin(given.get("run")).catch(tell);
    const all = (await api.runs()).filter((r) => r.writes), names = (list) => JSON.stringify(list.map((r) => r.name));
    if (!open || names(all) === names(runs)) return;
    if (!all.some((r) => r.name === run.name)) return begin(null).catch(tell);  // the run is gone
    runs = all;
    fillChoice();
  }
  const end = eachSecond(follow);
  return () => { open = false; end(); stop(); };
}

function goOn(place, run) {
  let written = [], prompt = "", lead = "", random = null, running = false, here = null;  // lead: what stands for no prompt
  let turn = 0, peeked = 0;  // who was told to stop, or asked before another, finds a later number
  const sheet = el("div.written", {tabindex: 0, role: "application", "aria-label": "the text: arrow keys choose a character, Enter goes to what else could stand there", keydown: walk}), side = el("div", {}), problem = el("p.problem", {role: "status"});
  const start = field({placeholder: "how it begins, or nothing for a new paragraph", "aria-label": "prompt"});
  const go = el("button.button", {click: () => (running ? halt() : proceed())}, "write");
  const again = el("button.button.quiet", {click: () => { seed.value = Number(seed.value) + 1; clear(); proceed(); }}, "another");
  const seed = el("input", {type: "number", value: 1, min: 0, "aria-label": "seed", style: "width:5rem", input: () => { random = null; }});
  const dial = (label, min, max, step, value) => {
    const output = el("output", {}, value), input = el("input", {type: "range", min, max, step, value, "aria-label": label});
    input.addEventListener("input", () => { output.textContent = input.value; peek(); });
    return {input, element: el("label", {}, label, output, input)};
  };
  const temperature = dial("temperature", 0, 2, 0.05, 0.8), topK = dial("top-k (0: all)", 0, 60, 1, 40), topP = dial("top-p", 0.05, 1, 0.01, 0.95);
  const dials = el("div.dials", {}, [temperature, topK, topP].map((d) => d.element), el("label", {}, "seed", seed));
  place.append(el("p.lead", {}, "A text goes on, character by character. The warmer a character, the less probable it was; a click on it shows what else could stand there."),
    el("div.desk", {}, el("div", {}, start, el("p.links", {}, go, again), problem, sheet), el("div", {}, dials, side)));

  const textNow = (upTo = written.length) => (prompt || lead) + written.slice(0, upTo).map((w) => w.character).join("");
  const question = (count, upTo) => ({run: run.name, text: textNow(upTo), count, temperature: Number(temperature.input.value), top_k: Number(topK.input.value), top_p: Number(topP.input.value),
    seed: Number(seed.value) || 0, ...(random && {random})});

  async function ask(count, upTo) {
    const asked = question(count, upTo), answer = await api.write(asked);
    if (!asked.text) lead = answer.prompt;
    return answer;
  }

  function draw() {
    sheet.replaceChildren(el("span.given", {}, prompt), ...written.map((w, i) => el("span" + (i === here ? ".here" : ""), {style: warmth(-Math.log(w.probability)), "data-index": i, title: percent(w.probability), click: () => select(here === i ? null : i)}, w.character)),
      running ? el("span.caret", {}) : "");
  }

  // The distribution of the next character, or of the one that was clicked.
  async function peek() {
    if (running) return;
    const mine = ++peeked, now = turn;
    try {
      const answer = await ask(0, here ?? undefined);
      if (mine !== peeked || now !== turn) return;
      problem.textContent = "";
      const pick = (character) => { replaceAt(here ?? written.length, character, answer.next); };
      side.replaceChildren(el("h2", {}, here == null ? "What may come next" : "What could stand here"), el("p.note", {}, "pale: as the model has it; full: what the sliders leave. Click one to go on with it."),
        bars(answer.next.slice(0, 16), {left: true, pick, chosen: written[here]?.character}));
    } catch (error) {
      if (mine === peeked && now === turn) problem.textContent = error.message;
    }
  }
  const peekSoon = calm(80, peek);
  function select(index) {
    here = index;
    halt();
    peekSoon();
  }
  function walk(event) {
    const move = {ArrowLeft: -1, ArrowRight: 1, Home: -1e6, End: 1e6}[event.key];
    if (move && written.length) select(Math.max(0, Math.min(written.length - 1, (here ?? written.length) + move)));
    else if (event.key === "Escape" && here != null) select(null);
    else if (event.key === "Enter" && here != null) side.querySelector("button")?.focus();
    else return;
    event.preventDefault();
  }
  function replaceAt(index, character, list) {
    if (side.contains(document.activeElement)) sheet.focus();  // the list goes away
    written = written.slice(0, index);
    written.push({character, probability: list.find(([c]) => c === character)[1]});
    here = null;
    halt();
    proceed();
  }

  const halt = () => { running = false; ++turn; go.textContent = "write"; draw(); };
  const clear = () => { written = [], random = null, here = null; halt(); };
  async function proceed() {
    if (running) return;
    running = true, here = null;
    const mine = ++turn;
    go.textContent = "stop";
    side.replaceChildren();
    draw();
    const most = written.length + 400;
    while (written.length < most) {
      try {
        const its = seed.value, answer = await ask(batch);
        if (mine !== turn) return;
        written.push(...answer.written);
        random = its === seed.value ? answer.random : null;
        problem.textContent = "";
        draw();
      } catch (error) {
        if (mine !== turn) return;
        halt();
        problem.textContent = error.message;
        return;
      }
    }
    halt();
    peek();
  }
  const take = calm(250, (then) => {
    if (prompt !== start.value) prompt = start.value, clear();
    then();
  });
  start.addEventListener("input", () => take(peek));
  start.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    take.now(proceed);
  });
  draw();
  peek();
  return () => { ++turn; };
}

function fillBlanks(place, run, offered) {
  const text = field({"aria-label": "text with blanks"}, (offered[0] ?? "R_sa won a re_ kite.").replace(/(?<=^.{3})./u, "_").replace(/(?<=^.{12})./u, "_"));
  const second = field({"aria-label": "second sentence", placeholder: "a second sentence: does it follow?"});
  const result = el("div", {"aria-live": "polite"});
  let asked = 0;
  const ask = async () => {
    const mine = ++asked;
    try {
      const answer = await api.fill({run: run.name, text: text.value, ...(second.value && {second: second.value})});
      if (mine !== asked) return;
      result.replaceChildren(...[
        answer.texts && el("p.written", {style: "min-height:0"}, answer.texts.join(" ")),
        answer.follows != null && el("p", {}, `The second follows the first with ${percent(answer.follows)}.`),
        el("div.columns", {style: "grid-template-columns:repeat(auto-fill,minmax(12rem,1fr))"}, (answer.blanks ?? []).map((blank, i) => el("div", {}, el("h2", {}, `blank ${blank.number}`), el("p.note", {}, i ? `filled as number ${i + 1}` : "the surest, filled first"), bars(blank.guesses)))),
      ].filter(Boolean));
    } catch (error) {
      if (mine === asked) result.replaceChildren(el("p.problem", {}, error.message));
    }
  };
  for (const input of [text, second]) input.addEventListener("input", calm(200, ask));
  place.append(el("p.lead", {}, "Write _ for each character to guess. Every guess sees those made before it."), el("div", {style: "display:grid;gap:0.6rem"}, text, second), result);
  ask();
}

function translation(place, run, offered) {
  const text = field({"aria-label": "text to translate"}, offered[0]);
  const result = el("p.written", {"aria-live": "polite", style: "min-height:0;font-size:1.6rem"}), link = el("a.button.quiet", {}, "see which characters it looked at"), problem = el("p.problem", {role: "status"});
  let asked = 0;
  const ask = async () => {
    const mine = ++asked;
    link.href = `#look?run=${encodeURIComponent(run.name)}&text=${encodeURIComponent(text.value)}&head=${encodeURIComponent("cross 0.0")}`;
    try {
      const {translation: found} = await api.look({run: run.name, text: text.value});
      if (mine !== asked) return;
      result.textContent = found;
      problem.textContent = "";
    } catch (error) {
      if (mine === asked) problem.textContent = error.message;
    }
  };
  text.addEventListener("input", calm(250, ask));
  place.append(el("p.lead", {}, "A sentence in the language that it learnt to read."), text,
    el("div.picks", {}, offered.map((t) => el("button", {click: () => { text.value = t; ask(); }, title: t}, t))), problem, result, el("p.links", {}, link));
  ask();
}
