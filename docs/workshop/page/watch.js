// Watch: all runs, while they train and afterwards.
import * as api from "api";
import {axes, at, chart} from "curves";
import {calm, colourOf, duration, el, percent, thousands} from "dom";

const states = {training: "training", finished: "finished", stopped: "stopped", damaged: "damaged"};
const byDefault = 14;  // as many curves can be told apart
// Losses of different tasks are different things: each has its own chart, in the order in which the server counts them.
const tasks = ["What comes next: the loss of those that write", "Blanks: the loss of a covered character, and of whether two sentences belong together",
               "Translation: the loss of its next character, the source given"];

function judgement(run) {
  const j = run.judged, f = run.final;
  if (j?.slots) return `${percent(j.in_form / j.tales)} in form, ${percent(j.slots_right / j.slots)} remembered`;
  if (j?.tales) return `${percent(j.in_form / j.tales)} in form`;
  if (j?.sentences) return `${j.exact} of ${j.sentences} exact`;
  if (f?.masked_accuracy) return `${percent(f.masked_accuracy)} of blanks, ${percent(f.follows_accuracy)} of pairs`;
  return "";
}

export function watch(page) {
  let runs = [], ticks = JSON.parse(localStorage.getItem("ticks") ?? "{}"), axis = localStorage.getItem("axis") ?? "steps";
  let focus = null, step = null, train = false, drawn = "", clear = [];

  const plots = el("div.plots", {}), table = el("tbody", {}), beside = el("aside.beside", {"aria-live": "polite"});
  const choose = (name, label, chosen, then) => el("label.choice", {}, el("input", {type: "radio", name, checked: chosen, change: then}), label);
  const controls = el("div.controls", {},
    el("fieldset.choices", {"aria-label": "axis"}, Object.entries(axes).map(([name, label]) =>
      choose("axis", label, name === axis, () => { axis = name; localStorage.setItem("axis", name); draw(true); }))),
    el("label.choice", {}, el("input", {type: "checkbox", change: (e) => { train = e.target.checked; draw(true); }}), "training loss, too"));
  page.append(
    el("h1", {}, "Watch them learn"),
    el("p.lead", {}, "Validation loss, in nats per character: how surprised a model is by the one it has to guess. Less is better. The dotted lines are the ruler: the loss of one who knows nothing, how frequent each character is (unigram), or the character before (bigram). Nobody honest gets below the floor."),
    el("div.beside-curve", {}, el("div", {}, controls, plots), beside),
    el("table.runs", {}, el("thead", {}, el("tr", {}, ["", "run", "progress", "loss", "characters/s", "learning rate", "judge", ""].map((t) => el("th", {scope: "col"}, t)))), table));

  const isTicked = (run) => ticks[run.name] ?? (run.state === "training" || runs.filter((r) => r.state !== "damaged").indexOf(run) < byDefault);
  const shownRuns = () => runs.filter((run) => run.state !== "damaged" && run.rows.length && isTicked(run));

  // The snapshot nearest to the value under the cursor; the last one if there is none.
  const showSample = calm(60, async () => {
    const run = runs.find((r) => r.name === focus);
    if (!run || run.state === "damaged") return beside.replaceChildren();
    const steps = run.snapshots.length ? run.snapshots : [-1];
    const near = step == null ? steps.at(-1) : steps.reduce((a, b) => (Math.abs(b - step) < Math.abs(a - step) ? b : a));
    const row = run.rows.find((r) => r[0] === near);
    let text = run.sample ?? "";
    if (run.writes && run.snapshots.length) text = await api.sample(run.name, near).catch((error) => error.message);
    if (run.name !== focus) return;
    beside.replaceChildren(
      el("h2", {style: `color:${colourOf(run.stage)}`}, run.name),
      el("p.note", {}, near >= 0 ? `what it wrote at step ${thousands(near)}${row ? `, loss ${row[2].toFixed(3)}` : ""}` : "what it wrote"),
      el("pre.sample", {}, text.trim().slice(0, 420) || "…"),
      el("p.links", {},
        run.looks && el("a.button", {href: `#look?run=${run.name}${near >= 0 ? `&step=${near}` : ""}`}, "look inside"),
        run.writes && !api.kept && el("a.button.quiet", {href: `#write?run=${run.name}`}, "write"),
        !api.kept && el("a.button.quiet", {href: api.exported(run.name), download: run.name + ".html"}, "keep")));
  });

  function rowOf(run) {
    const colour = colourOf(run.stage ?? "0");
    const pick = () => { focus = run.name; step = null; fillTable(); draw(); showSample(); };
    if (run.state === "damaged")
      return el("tr.damaged", {}, el("td", {}), el("td", {}, run.name), el("td", {colspan: 6}, run.problem));
    const share = run.steps ? run.step / run.steps : 1;
    const left = run.left == null ? "" : `, ${duration(run.left)} left`;
    return el("tr" + (run.name === focus ? ".focus" : ""), {"data-run": run.name, click: pick},
      el("td", {}, el("input", {type: "checkbox", "aria-label": "show " + run.name, style: `accent-color:${colour}`, checked: isTicked(run),
        click: (e) => e.stopPropagation(),
        change: (e) => { ticks[run.name] = e.target.checked; localStorage.setItem("ticks", JSON.stringify(ticks)); draw(true); }})),
      el("td", {}, el("button.name", {style: `--colour:${colour}`, click: pick}, run.name)),
      el("td", {}, el("span.meter", {title: `step ${thousands(run.step)} of ${thousands(run.steps)}`}, el("i", {style: `width:${100 * share}%;background:${colour}`})),
        el("span.state", {class: "state " + run.state}, run.state === "training" ? `step ${thousands(run.step)} of ${thousands(run.steps)}${left}` : states[run.state] + (run.state === "stopped" ? ` at ${thousands(run.step)}` : ""))),
      el("td.number", {"data-loss": ""}, run.best ? run.best.val_loss.toFixed(3) : ""),
      el("td.number", {}, run.rows.length && run.rows.at(-1)[3] ? thousands(run.rows.at(-1)[3]) : ""),
      el("td.number", {}, run.learning_rate ? run.learning_rate.toPrecision(2) : ""),
      el("td", {}, judgement(run)),
      el("td", {}, run.looks ? el("a", {href: "#look?run=" + run.name, click: (e) => e.stopPropagation()}, "look inside") : ""));
  }

  function fillTable() {
    const held = document.activeElement?.closest?.("tr[data-run]")?.dataset.run, kind = document.activeElement?.tagName;
    table.replaceChildren(...runs.map(rowOf));
    if (held) table.querySelector(`tr[data-run="${CSS.escape(held)}"] ${kind === "INPUT" ? "input" : "button"}`)?.focus();
  }

  // The ruler of a chart is that of the run in focus, if it is there; the note says what the eye cannot see.
  function rulerOf(group) {
    const run = group.find((r) => r.name === focus && r.baselines) ?? group.find((r) => r.baselines);
    const rulers = new Set(group.map((r) => r.baselines?.unigram.toFixed(4)).filter(Boolean));
    return {baselines: run?.baselines ?? {}, note: !run ? "The ruler appears when the run has ended." : rulers.size > 1 ? `These learnt from different texts; the ruler is that of ${run.name}.` : ""};
  }

  function draw(anew) {
    const key = JSON.stringify([axis, train, focus, shownRuns().map((run) => [run.name, run.rows.length, run.state])]);
    if (!anew && key === drawn) return;
    drawn = key;
    for (const f of clear) f();
    clear = [];
    plots.replaceChildren();
    const groups = tasks.map((_, task) => shownRuns().filter((run) => run.task === task));
    if (!groups.flat().length) plots.append(el("p.note", {}, "Tick a run below to see its curve."));
    const several = groups.filter((group) => group.length).length > 1;
    for (const [task, group] of groups.entries()) {
      if (!group.length) continue;
      const {baselines, note} = rulerOf(group), place = el("div.plot", {}), height = innerWidth < 700 || clear.length ? 260 : 400;
      plots.append(el("figure", {}, (several || task > 0) && el("figcaption", {}, tasks[task]), place, note && el("p.note", {}, note)));
      const pointed = (value) => {
        const run = group.find((r) => r.name === focus);
        if (!run) return;
        const row = value == null ? null : run.rows.reduce((a, b) => (Math.abs(at(run, b, axis) - value) < Math.abs(at(run, a, axis) - value) ? b : a), run.rows[0]);
        const now = row?.[0] ?? null;
        if (now !== step) { step = now; showSample(); }
      };
      clear.push(chart(place, group, {axis, train, focus, baselines, height, pointed}));
    }
  }

  async function refresh() {
    const fresh = await api.runs();
    const changed = JSON.stringify(fresh) !== JSON.stringify(runs);
    if (!changed && runs.length) return;
    runs = fresh;
    if (!runs.length) {
      table.replaceChildren(el("tr", {}, el("td", {colspan: 8}, "There are no runs yet. Start one in another terminal, for example build/03_head: it appears here by itself.")));
      return;
    }
    const before = focus;
    focus = runs.some((run) => run.name === focus) ? focus
      : (runs.find((run) => run.state === "training") ?? runs.find((run) => run.name === "10_gpt") ?? runs.at(-1)).name;
    fillTable();
    draw();
    if (before !== focus || runs.find((run) => run.name === focus).state === "training") showSample();
  }

  let open = true;
  (async () => {
    while (open) {
      await refresh().catch(() => {});
      if (api.kept) return;
      await new Promise((resolve) => setTimeout(resolve, document.hidden ? 5000 : 1000));
    }
  })();
  return () => { open = false; for (const f of clear) f(); };
}
