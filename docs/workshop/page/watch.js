// Watch: all runs, while they train and afterwards.
import * as api from "api";
import {axes, at, chart} from "curves";
import {calm, colourOf, duration, eachSecond, el, percent, put, thousands} from "dom";

const byDefault = 14;  // as many curves can be told apart
// When its first snapshot was written, or its best model if it keeps none: a run's version is a file, the number of that
// on the disk, its time and its size.
const begunAt = (run) => Number(run.version.split(" ").at(-2));
// Losses of different tasks are different things: each has its own chart, in the order in which the server counts them.
const tasks = ["What comes next: the loss of those that write", "Blanks: the loss of a covered character, and of whether two sentences belong together",
               "Translation: the loss of its next character, the source given"];

// What was chosen here before, where a browser keeps such things.
function recall(name) {
  try {
    return JSON.parse(localStorage.getItem(name));
  } catch {
    return null;
  }
}
function store(name, value) {
  try {
    localStorage.setItem(name, JSON.stringify(value));
  } catch {  // then it is chosen anew
  }
}

function judgement(run) {
  const j = run.judged, f = run.final;
  if (j?.slots) return `${percent(j.in_form / j.tales)} in form, ${percent(j.slots_right / j.slots)} remembered`;
  if (j?.tales) return `${percent(j.in_form / j.tales)} in form`;
  if (j?.sentences) return `${j.exact} of ${j.sentences} exact`;
  if (f?.masked_accuracy) return `${percent(f.masked_accuracy)} of blanks, ${percent(f.follows_accuracy)} of pairs`;
  return "";
}

export function watch(page, given) {
  let runs = [], ticks = {...recall("ticks")}, axis = Object.keys(axes).find((name) => name === recall("axis")) ?? "steps";
  let newest = [], focus = given.get("run"), step = null /* the last one */, train = false, drawn = "", charts = [];
  const lines = new Map();  // of the table, by the run's name

  const plots = el("div.plots", {}), table = el("tbody", {});
  const choose = (name, label, chosen, then) => el("label.choice", {}, el("input", {type: "radio", name, checked: chosen, change: then}), label);
  const controls = el("div.controls", {},
    el("fieldset.choices", {"aria-label": "axis"}, Object.entries(axes).map(([name, label]) =>
      choose("axis", label, name === axis, () => { axis = name; store("axis", name); draw(); }))),
    el("label.choice", {}, el("input", {type: "checkbox", change: (e) => { train = e.target.checked; draw(); }}), "training loss, too"));
  const title = el("h2.run", {}), note = el("p.note", {}), sample = el("pre.sample", {}), links = el("p.links", {}), problem = el("p.problem", {role: "status"});
  const steps = el("input", {type: "range", min: 0, step: 1, "aria-label": "the sample's step", input: () => { step = steps.value === steps.max ? null : focused().snapshots[steps.value]; showSample(); }});
  page.append(
    el("h1", {}, "Watch them learn"),
    el("p.lead", {}, "Validation loss, in nats per character: how surprised a model is by the one it has to guess. Less is better. The dotted lines are the ruler: the loss of one who knows nothing, how frequent each character is (unigram), or the character before (bigram). Nobody honest gets below the floor."),
    el("div.beside-curve", {}, el("div", {}, controls, plots), el("aside.beside", {}, title, note, steps, sample, links, problem)),
    el("table.runs", {}, el("thead", {}, el("tr", {}, ["", "run", "progress", "loss", "characters/s", "learning rate", "judge", ""].map((t) => el("th", {scope: "col"}, t)))), table));

  const isTicked = (run) => ticks[run.name] ?? newest.includes(run);
  const shownRuns = () => runs.filter((run) => run.state !== "damaged" && run.rows.length && isTicked(run));
  const focused = () => runs.find((run) => run.name === focus && run.state !== "damaged");

  let asked = 0;
  // What the run in focus wrote at the snapshot nearest to the step pointed at; at the last one if there is none.
  const showSample = calm(60, async () => {
    const mine = ++asked, run = focused(), stops = run?.snapshots.length ? run.snapshots : [-1];
    for (const part of [title, note, steps, sample, links, problem]) part.hidden = !run;
    if (!run) return;
    const near = step == null ? stops.at(-1) : stops.reduce((a, b) => (Math.abs(b - step) < Math.abs(a - step) ? b : a));
    let text = run.sample ?? "";
    if (run.writes && (run.snapshots.length || run.sample == null)) text = await api.sample(run.name, near).catch((error) => error.message);
    if (mine !== asked || run.name !== focus) return;
    const row = run.rows.find((r) => r[0] === near), name = encodeURIComponent(run.name);
    put(title, run.name);
    title.style.setProperty("--colour", colourOf(run.stage));
    const nearest = step == null || step === near ? "" : `the snapshot nearest to step ${thousands(step)}: `;
    const wrote = near >= 0 ? nearest + `what it wrote at step ${thousands(near)}${row ? `, loss ${row[2].toFixed(3)}` : ""}` : "what it wrote";
    put(note, run.remark ? `${wrote}; ${run.remark}` : wrote);
    put(sample, text.trim().slice(0, 420) || "…");
    steps.hidden = stops.length < 2;
    steps.max = stops.length - 1;
    steps.value = stops.indexOf(near);
    steps.setAttribute("aria-valuetext", `step ${near}: ${sample.textContent.slice(0, 80)}`);
    const wanted = [
      run.looks && el("a.button", {href: `#look?run=${name}${near >= 0 ? `&step=${near}` : ""}`}, "look inside"),
      run.writes && !api.kept && el("a.button.quiet", {href: `#write?run=${name}`}, "write"),
      !api.kept && el("button.button.quiet", {"data-keeps": run.name, click: () => api.keep({run: run.name}, (words) => put(problem, words))}, "keep")].filter(Boolean);
    if (wanted.map((link) => link.outerHTML).join("") !== links.innerHTML) links.replaceChildren(...wanted);
  });

  function damagedLine(run) {
    const problem = el("td", {colspan: 6}), update = (now) => put(problem, now.problem ?? "what is in its files cannot be shown");
    return {element: el("tr.damaged", {}, el("td", {}), el("td", {}, run.name), problem), update, damaged: true};
  }

  // A line of the table; `update` changes what is another since the last second, and nothing else.
  function lineOf(run) {
    const colour = colourOf(run.stage), name = run.name, cell = (kind = "td.number") => el(kind, {});
    const pick = () => { focus = name; step = null; fillTable(); draw(); showSample(); };
    const tick = el("input", {type: "checkbox", "aria-label": "show " + name, style: `accent-color:${colour}`,
      click: (e) => e.stopPropagation(),
      change: () => { ticks[name] = tick.checked; store("ticks", ticks); draw(); }});
    const done = el("i", {style: `background:${colour}`}), meter = el("span.meter", {}, done), state = el("span.state", {});
    const loss = el("td.number", {"data-loss": ""}), speed = cell("td.number.speed"), rate = cell("td.number.rate"), judge = cell("td.judge");
    const link = el("a", {href: "#look?run=" + encodeURIComponent(name), click: (e) => e.stopPropagation()}, "look inside");
    const element = el("tr", {"data-run": name, click: pick}, el("td", {}, tick), el("td", {}, el("button.name", {style: `--colour:${colour}`}, name)),
      el("td", {}, meter, state), loss, speed, rate, judge, el("td", {}, link));
    const update = (now) => {
      const of = `step ${thousands(now.step)} of ${thousands(now.steps)}`, left = now.left == null ? "" : `, ${duration(now.left)} left`;
      element.classList.toggle("focus", name === focus);
      tick.checked = isTicked(now);
      meter.title = of;
      done.style.width = `${now.steps ? 100 * now.step / now.steps : 100}%`;
      state.className = "state " + now.state;
      put(state, now.state === "training" ? of + left : now.state + (now.state === "stopped" ? ` at ${thousands(now.step)}` : ""));
      put(loss, now.best ? now.best.val_loss.toFixed(3) : "");
      put(speed, now.rows.length && now.rows.at(-1)[3] ? thousands(now.rows.at(-1)[3]) : "");
      put(rate, now.learning_rate ? String(Number(now.learning_rate.toPrecision(2))) : "");
      put(judge, judgement(now));
      link.hidden = !now.looks;
    };
    return {element, update, damaged: false};
  }

  function fillTable() {
    for (const [name, line] of lines) if (!runs.some((run) => run.name === name)) { line.element.remove(); lines.delete(name); }
    for (const [i, run] of runs.entries()) {
      let line = lines.get(run.name);
      const use = (make) => { line?.element.remove(); lines.set(run.name, line = make(run)); };
      if (!line || line.damaged !== (run.state === "damaged")) use(run.state === "damaged" ? damagedLine : lineOf);
      try {
        line.update(run);
      } catch {  // one run that no program wrote leaves the others as they are
        use(damagedLine);
        line.update(run);
      }
      if (table.children[i] !== line.element) table.insertBefore(line.element, table.children[i] ?? null);
    }
    while (table.children.length > runs.length) table.lastChild.remove();
  }

  // The ruler of a chart is that of the run in focus, if it is there; the notes say what the eye cannot see.
  function rulerOf(group) {
    const run = group.find((r) => r.name === focus && r.baselines) ?? group.find((r) => r.baselines);
    const rulers = new Set(group.map((r) => r.baselines?.unigram.toFixed(4)).filter(Boolean));
    const uncounted = axis === "characters" ? group.filter((r) => !r.per_step) : [], names = (list) => list.map((r) => r.name).join(", ");
    const [ended, others] = [true, false].map((end) => names(uncounted.filter((r) => (r.state === "finished") === end)));
    return {baselines: run?.baselines ?? {}, notes: [!run && "The ruler appears when the run has ended.", rulers.size > 1 && `These learnt from different texts; the ruler is that of ${run.name}.`,
      others && `How many characters ${others} has seen is known when it has ended.`,
      ended && `${ended} has no steps of training to count characters by.`].filter(Boolean)};
  }

  // All charts anew if other things are to be seen; if there are only more rows, the charts there are take them.
  function draw() {
    const shown = shownRuns(), key = JSON.stringify([axis, train, focus, shown.map((run) => [run.name, run.state, run.baselines, run.per_step, Math.min(run.rows.length, 3)])]);
    if (key === drawn) {
      for (const one of charts) one.update(one.names.map((name) => runs.find((run) => run.name === name)));
      return;
    }
    drawn = key;
    for (const one of charts) one.clear();
    charts = [];
    plots.replaceChildren();
    const groups = tasks.map((_, task) => shown.filter((run) => run.task === task));
    if (!groups.flat().length) plots.append(el("p.note", {}, "Tick a run below to see its curve."));
    const several = groups.filter((group) => group.length).length > 1;
    for (const [task, group] of groups.entries()) {
      if (!group.length) continue;
      const {baselines, notes} = rulerOf(group), place = el("div.plot", {}), height = innerWidth < 700 || charts.length ? 260 : 400;
      plots.append(el("figure", {}, (several || task > 0) && el("figcaption", {}, tasks[task]), place, notes.map((words) => el("p.note", {}, words))));
      const pointed = (value) => {
        const run = focused();
        if (run?.task !== task || !run.rows.length) return;
        const row = run.rows.reduce((a, b) => (Math.abs(at(run, b, axis) - value) < Math.abs(at(run, a, axis) - value) ? b : a));
        const now = row === run.rows.at(-1) ? null : row[0];
        if (now !== step) { step = now; showSample(); }
      };
      charts.push({...chart(place, group, {axis, train, focus, baselines, height, pointed}), names: group.map((run) => run.name)});
    }
  }

  let before = "";  // of the run in focus: what its sample depends on
  async function refresh() {
    const fresh = await api.runs();
    if (runs.length && JSON.stringify(fresh) === JSON.stringify(runs)) return;
    const lengths = (list) => list.map((run) => [run.name, run.state, run.rows?.length].join()).join(), more = lengths(fresh) !== lengths(runs);
    runs = fresh;
    newest = runs.filter((run) => run.state !== "damaged").sort((a, b) => begunAt(b) - begunAt(a)).slice(0, byDefault);
    for (const run of runs) if (run.state === "training") ticks[run.name] ??= true;  // and it stays when the run has ended
    focus = runs.some((run) => run.name === focus) ? focus
      : (runs.find((run) => run.state === "training") ?? runs.find((run) => run.name === "10_gpt") ?? runs.at(-1))?.name;
    fillTable();
    if (!runs.length) table.append(el("tr", {}, el("td", {colspan: 8}, "There are no runs yet. Start one in another terminal, for example build/03_head: it appears here by itself.")));
    if (more) draw();
    const run = focused(), now = run && JSON.stringify([focus, run.snapshots, run.version, run.best, run.sample, run.looks, run.writes]);
    if (now !== before) { before = now; showSample(); }
  }

  if (api.kept) {
    refresh();
    return () => { for (const one of charts) one.clear(); };
  }
  const end = eachSecond(refresh);
  return () => { end(); for (const one of charts) one.clear(); };
}
