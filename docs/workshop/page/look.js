// Look inside: a text through a trained model, at any step of its training.
import * as api from "api";
import {remember} from "app";
import {bars, calm, colourOf, eachSecond, el, field, put, svg, thousands, visible} from "dom";
import {arcs, bigMap, cells, links, nameOf, overview, sharpness, weightAt} from "maps";
import {rowView} from "row";

const write = 0, fill = 1, translate = 2;  // what a model is for, as the server counts them
const fallback = ["At the den Kim won a red hat. ", "", ""];

export function look(page, given) {
  const state = {run: given.get("run"), step: given.has("step") ? Number(given.get("step")) : null, text: given.get("text"),
                 second: given.get("second") ?? "", padding: Number(given.get("padding") ?? 0), head: given.get("head"),
                 place: given.has("place") ? Number(given.get("place")) : null};
  let runs = [], run = null, answer = null, answered = null /* its question */, pinned = given.has("place"), playing = null, open = true, asked = 0, begun = 0, plays = 0, fetching = 0, notice = "", failed = "" /* why there is no answer */;
  const answers = new Map();  // to this text, at the steps seen or on their way, so that the slider moves at once

  const chooseRun = el("select", {"aria-label": "run", change: (e) => { Object.assign(state, {run: e.target.value, step: null, head: null, text: null, place: null, second: "", padding: 0}); begin().catch(tellProblem); }});
  const text = field({"aria-label": "text"});
  const second = field({"aria-label": "second sentence", placeholder: "a second sentence, or nothing"});
  const padding = el("input", {type: "range", min: 0, max: 12, value: state.padding, "aria-label": "padding", title: "padding"});
  const say = (words) => put(problem, words);
  const keep = el("button.keep", {title: "this text at every snapshot, in one file that works by itself", click: () => { const {step, ...all} = question(); api.keep(all, say); }}, "keep this"), picks = el("div.picks", {});
  const tellProblem = (error) => { failed = error.message; say(failed); };
  const problem = el("p.problem", {role: "status"}), extra = el("div.extra", {hidden: true}, second, el("label.note", {}, "padding ", padding));
  const slider = el("input", {type: "range", min: 0, step: 1, "aria-label": "step of training"}), output = el("output", {}), play = el("button.play", {"aria-label": "play", title: "play"}, "▶");
  const curve = svg("svg", {viewBox: "0 -2 100 40", preserveAspectRatio: "none", "aria-hidden": "true"}), track = el("div.track", {}, curve, slider);
  const time = el("div.time", {}), strip = el("div.strip", {tabindex: 0, role: "application", "aria-label": "the text: arrow keys choose a character"});
  const map = el("div", {}), guesses = el("div", {}), heads = el("div", {}), said = el("p.note", {"aria-live": "polite"}), sample = el("pre.sample", {});
  const stepByStep = el("div", {}), showRow = rowView(stepByStep);
  const parts = [
    el("h1", {}, "Look inside"),
    el("p.lead", {}, "A text through your own model. The warmer a character, the more it surprised the model; the lines show where the chosen character looks, in the chosen head. Point at a character to choose it; a click holds it."),
    el("div.ask", {}, chooseRun, el("div", {}, text, extra, picks)), problem, time, strip, said,
    el("div.inside", {}, el("div", {}, el("h2", {}, "All heads"), heads), el("div", {}, el("h2.map-title", {}, "This head"), map, el("p.note", {}, "A row for each place that looks, a column for each that is looked at. The stronger the colour, the more weight.")),
      el("div", {}, el("h2", {}, "Its guesses"), guesses, el("h2", {}, "What it wrote then"), sample)),
    el("h2", {}, "One row, step by step"), stepByStep];
  page.append(...parts);

  const question = (step = state.step) => ({run: state.run, text: state.text, ...(step != null && step >= 0 && {step}),
    ...(state.second && {second: state.second}), ...(state.padding && {padding: state.padding})});
  // If none was chosen, a translator opens at the head that looks most sharply at what was read.
  const sharpest = (heads) => heads.reduce((a, b) => (sharpness(b) > sharpness(a) ? b : a), heads[0]);
  const chosenHead = () => answer.heads.find((h) => nameOf(h) === state.head) ?? sharpest(answer.heads.filter(isCross)) ?? answer.heads[0];
  const isCross = (head) => head.part === "cross";
  const rowsOf = (head) => (isCross(head) || head.part === "decoder" ? answer.written : answer.read);
  // A decoder's row is the place before the character that it writes; the first one is [CLS].
  const shifted = () => ["[CLS]", ...answer.written.slice(0, -1)];
  const columnsOf = (head) => (head.part === "decoder" ? shifted() : answer.read);
  const looking = (head) => (head.part === "decoder" || isCross(head) ? shifted() : answer.read);

  function ask(step) {
    const key = JSON.stringify([question(step), run.version]);
    if (!answers.has(key)) {
      const coming = api.look(question(step));
      answers.set(key, coming);
      coming.catch(() => answers.delete(key));
    }
    return answers.get(key);
  }

  async function refresh() {
    const mine = ++asked, asking = question();
    failed = "";
    try {
      const found = await ask(state.step);
      if (mine !== asked || !open) return;
      [answer, answered] = [found, asking];
      put(problem, answer.cut ? `The model sees ${answer.read.length} characters at once: the first ${answer.cut} are left out.` : notice);
    } catch (error) {
      if (mine === asked) tellProblem(error);
      return;
    }
    draw();
    if (run.task === translate) sample.textContent = answer.translation;
    else api.sample(state.run, state.step ?? -1).then((s) => { if (mine === asked) sample.textContent = s.trim(); }).catch(() => { if (mine === asked) sample.textContent = ""; });
  }

  const refreshRow = calm(90, () => {
    const head = answer && chosenHead();
    if (!head) return;
    showRow({...answered, part: head.part, layer: head.layer, head: head.head, row: state.place}, looking(head), columnsOf(head), colourOf(run.stage));
  });

  function draw() {
    const head = chosenHead(), rows = rowsOf(head).length;
    state.head = nameOf(head);
    if (rowsOf(head)[state.place] == null) state.place = run.task === fill ? 1 : run.task === translate ? 0 : rows - 1;
    heads.replaceChildren(overview(answer, state.head, (name) => { if (!answer) return; state.head = name; draw(); heads.querySelector('[aria-pressed="true"]').focus(); }));
    drawPlace();
  }

  function drawPlace() {
    const head = chosenHead(), colour = colourOf(run.stage), place = state.place;
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16, isWide = [...answer.read, ...(answer.written ?? [])].some((token) => /[\u2e80-\uffef]/.test(token));
    const width = Math.max(rem * (isWide ? 18 : 11), Math.min(rem * 24, strip.clientWidth / Math.max(head.columns, head.rows)));
    const choose = (i, pin) => {
      if (!answer || (!pin && (pinned || i === state.place))) return;  // what is drawn anew under the cursor is entered anew
      pinned = pin && !(pinned && i === state.place);
      state.place = i;
      drawPlace();
    };
    // surprise[i] belongs to what comes after place i where a model writes on, and to place i itself elsewhere
    const surprise = run.task === write ? [null, ...answer.surprise.slice(0, -1)] : answer.surprise;
    const inner = el("div.inner", {});
    if (isCross(head)) inner.append(cells(answer.read, {width, choose: () => {}, kind: "read"}), links(head, place, width, colour), cells(answer.written, {surprise, place, width, choose, kind: "written"}));
    else if (head.part === "decoder") inner.append(arcs(head, place, width, colour), cells(columnsOf(head), {place, width, choose, kind: "before"}), cells(answer.written, {surprise, width, choose, kind: "written"}));
    else inner.append(arcs(head, place, width, colour), cells(answer.read, {surprise: head.part ? null : surprise, place, width, choose, kind: "read"}));
    const scrolled = strip.scrollLeft;
    strip.replaceChildren(inner);
    const at = place * width;
    strip.scrollLeft = at < scrolled || at > scrolled + strip.clientWidth - width ? at - strip.clientWidth / 2 : scrolled;
    map.replaceChildren(bigMap(answer, head, place, (i, j, pin) => { choose(i, pin); if (answer) tell(head, state.place, j); }));
    page.querySelector(".map-title").textContent = (head.part ? head.part + ", " : "") + `layer ${head.layer}, head ${head.head}`;
    drawGuesses(head, place);
    tell(head, place);
    remember("look", {...state, second: state.second || null, padding: state.padding || null});
    refreshRow();
  }

  function drawGuesses(head, place) {
    const list = head.part === "encoder" ? null : answer.likely[place];
    const next = run.task === write ? answer.read[place + 1] : (rowsOf(head) ?? [])[place];
    const before = run.task === write ? `after “${visible(answer.read[place])}”` : answer.read[place] === "[MASK]" ? "for this blank" : run.task === fill ? `if “${visible(answer.read[place])}” were covered` : `to be written at place ${place}`;
    guesses.replaceChildren(...(list?.length ? [el("p.note", {}, before), bars(list, {chosen: next})] : [el("p.note", {}, "nothing is guessed here")]));
  }

  function tell(head, row, column) {
    const names = looking(head), columns = columnsOf(head);
    const best = column ?? columns.reduce((b, _, j) => (weightAt(head, row, j) > weightAt(head, row, b) ? j : b), 0);
    const writes = rowsOf(head) === answer.written ? `To write “${visible(answer.written[row])}”, place` : "Place";
    said.textContent = writes + ` ${row}, “${visible(names[row])}”, gives ${weightAt(head, row, best).toFixed(3)} of its look to place ${best}, “${visible(columns[best])}”` +
      (head.distance == null ? "" : `; ${Math.round(100 * head.distance)} % of this head's scores come from distance`) + ".";
  }

  // The slider: its track is the loss curve, its stops are the snapshots. It grows while the run trains.
  function x(step) {  // the stops are evenly apart, as on the slider
    const stops = run.snapshots, i = Math.max(0, stops.findLastIndex((stop) => stop <= step)), next = stops[i + 1] ?? stops[i] + 1;
    return 100 * (i + (step - stops[i]) / (next - stops[i])) / Math.max(1, stops.length - 1);
  }
  function drawTime() {
    const stops = run.snapshots;
    if (!stops.length) {
      time.replaceChildren(el("p.note", {}, "This run kept no snapshots: it is seen as it was at its best."));
      return;
    }
    const wanted = state.step ?? (run.state === "training" ? stops.at(-1) : run.best.step);
    if (!stops.includes(state.step)) state.step = stops.reduce((a, b) => (Math.abs(b - wanted) < Math.abs(a - wanted) ? b : a));
    const rows = run.rows.filter((r) => r[0] <= stops.at(-1)), losses = rows.map((r) => r[2]);
    const most = Math.max(...losses), least = Math.min(...losses), y = (loss) => 36 * (1 - (loss - least) / Math.max(most - least, 1e-9));
    curve.replaceChildren(
      svg("polyline", {points: rows.map((r) => `${x(r[0])},${y(r[2])}`).join(" "), fill: "none", stroke: colourOf(run.stage), "stroke-width": 2, "vector-effect": "non-scaling-stroke"}),
      svg("line", {y1: -2, y2: 38, stroke: "currentColor", "vector-effect": "non-scaling-stroke", "stroke-width": 1}));
    slider.max = stops.length - 1;
    if (play.parentElement !== time) time.replaceChildren(play, track, output);
    mark();
  }
  function mark() {
    const row = run.rows.find((r) => r[0] === state.step);
    slider.value = run.snapshots.indexOf(state.step);
    slider.setAttribute("aria-valuetext", `step ${state.step}`);
    for (const end of ["x1", "x2"]) curve.lastChild.setAttribute(end, x(state.step));
    output.replaceChildren(el("b", {}, `step ${thousands(state.step)}`), row ? `loss ${row[2].toFixed(3)}` : "");
  }
  const go = (index) => { state.step = run.snapshots[index]; mark(); return refresh(); };
  function stop() {
    ++plays;
    clearTimeout(playing);
    playing = null;
    play.textContent = "▶";
    play.setAttribute("aria-label", "play");
  }
  async function advance(index, mine) {
    await go(index);
    if (mine !== plays || !open) return;
    if (index + 1 >= run.snapshots.length) return stop();
    playing = setTimeout(() => advance(index + 1, mine), 420);
  }
  play.addEventListener("click", () => {
    if (playing != null) return stop();
    playing = 0;
    play.textContent = "❚❚";
    play.setAttribute("aria-label", "pause");
    advance(state.step === run.snapshots.at(-1) ? 0 : run.snapshots.indexOf(state.step) + 1, ++plays);
  });
  slider.addEventListener("input", () => { stop(); go(Number(slider.value)); });

  // Other snapshots, one after the other, while one looks at the first: all, or a hundred that lie evenly.
  async function prefetch() {
    const mine = ++fetching;
    if (!answer || failed) return;
    const apart = Math.ceil(run.snapshots.length / 100);
    for (const step of run.snapshots.filter((_, i) => i % apart === 0)) {
      if (!open || mine !== fetching) return;
      await ask(step).catch(() => {});
    }
  }

  const forget = () => { ++fetching; answers.clear(); };  // another text or run is looked at
  const isCurrent = (mine) => open && mine === begun;
  async function begin() {
    const mine = ++begun;
    ++asked;  // what was asked about another run is no answer any more
    answer = null;
    failed = "";
    forget();
    stop();
    runs = (await api.runs()).filter((r) => r.looks);
    if (!isCurrent(mine)) return;
    if (!runs.length) return page.replaceChildren(el("h1", {}, "Look inside"), el("p.lead", {}, "There is no trained model with attention yet. Train one in a terminal: build/03_head takes seconds. It appears here by itself."));
    if (!time.isConnected) page.replaceChildren(...parts);
    run = runs.find((r) => r.name === state.run) ?? runs.find((r) => r.name === "10_gpt") ?? runs.at(-1);
    notice = state.run && run.name !== state.run ? `There is no run ${state.run} to look into; this is ${run.name}.` : "";
    if (notice) state.text = null;
    state.run = run.name;
    fillChoice();
    const offered = await api.texts(run.name).catch(() => []);
    if (!isCurrent(mine)) return;
    state.text ||= offered[0] || fallback[run.task];
    text.value = state.text;
    text.disabled = Boolean(api.kept);
    extra.hidden = run.task !== fill || Boolean(api.kept);
    second.value = state.second;
    padding.value = state.padding;
    picks.replaceChildren(...[...offered.map((t) => el("button", {click: () => { text.value = t; change({text: t}); }, title: t}, t)), ...(api.kept ? [] : [keep])]);
    drawTime();
    await refresh();
    prefetch();
  }
  const fillChoice = () => chooseRun.replaceChildren(...runs.map((r) => el("option", {value: r.name, selected: r.name === run.name}, r.name)));

  // A run that trains goes on: its new snapshots are new stops, and one who stands at the last goes with it. One that was
  // trained anew is asked anew, and so is what was asked while the workshop did not answer.
  async function follow() {
    if (!run || (!answer && failed === api.unreached)) return begin().catch(tellProblem);
    if (!answer && !failed) return;  // it is on its way
    const mine = begun, all = (await api.runs()).filter((r) => r.looks), now = all.find((r) => r.name === state.run);
    if (!isCurrent(mine) || !now) return;
    const names = (list) => JSON.stringify(list.map((r) => r.name)), stops = JSON.stringify(now.snapshots);
    const another = now.version !== run.version, again = another || failed === api.unreached;
    const others = names(all) !== names(runs), atEnd = playing == null && state.step === run.snapshots.at(-1), before = run;
    runs = all;
    run = now;
    if (others) fillChoice();
    if (!again && stops === JSON.stringify(before.snapshots)) return;
    if (another) answers.clear();
    if (atEnd) state.step = now.snapshots.at(-1) ?? null;
    drawTime();
    if (atEnd || again) refresh();
  }

  const change = (given) => {
    Object.assign(state, given);
    pinned = false;
    notice = "";
    forget();
    refresh().then(prefetch);
  };
  text.addEventListener("input", calm(200, () => change({text: text.value})));
  second.addEventListener("input", calm(200, () => change({second: second.value})));
  padding.addEventListener("input", calm(200, () => change({padding: Number(padding.value)})));
  strip.addEventListener("keydown", (event) => {
    const move = {ArrowLeft: -1, ArrowRight: 1, Home: -1e6, End: 1e6}[event.key];
    if (!move || !answer) return;
    event.preventDefault();
    pinned = true;
    state.place = Math.max(0, Math.min(rowsOf(chosenHead()).length - 1, state.place + move));
    drawPlace();
  });
  const end = api.kept ? () => {} : eachSecond(follow);
  if (api.kept) begin().catch(tellProblem);
  return () => { open = false; clearTimeout(playing); end(); };
}
