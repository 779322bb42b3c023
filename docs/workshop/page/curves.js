// Loss curves over the ruler, drawn by uPlot.
import uPlot from "uplot";
import {css, colourOf} from "dom";

const rulers = {uniform: "knowing nothing", unigram: "unigram", bigram: "bigram", floor: "floor"};
export const axes = {steps: "steps", characters: "characters seen", seconds: "seconds"};

// What stands on the axis for a row of metrics; null where it is not known yet.
export function at(run, row, axis) {
  if (axis === "seconds") return row[4];
  return axis === "steps" ? row[0] : run.per_step ? row[0] * run.per_step : null;
}

// The ruler, and the name of each run where its curve ends; names that would lie on each other make room. Where there is
// no room beside the plot, only the ruler has names.
function drawOver(plot, baselines, ends, beside) {
  const {ctx, bbox} = plot, size = 11 * devicePixelRatio, right = bbox.left + bbox.width, placed = [];
  const names = beside ? ends.map((end) => ({...end, x: plot.valToPos(end.at, "x", true) + size / 2, y: plot.valToPos(end.loss, "y", true), dot: size})) : [];
  ctx.save();
  ctx.setLineDash([2, 4].map((length) => length * devicePixelRatio));
  ctx.strokeStyle = css("--faint");
  ctx.font = `${size}px system-ui`;
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  for (const [name, value] of Object.entries(baselines)) {
    const y = plot.valToPos(value, "y", true), text = `${rulers[name]} ${value.toFixed(2)}`;
    if (!rulers[name] || y < bbox.top || y > bbox.top + bbox.height) continue;
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(right, y);
    ctx.stroke();
    names.push({text, dot: 0, x: beside ? right + size / 2 : right - ctx.measureText(text).width, y: beside ? y : y - 0.7 * size});
  }
  for (const name of names.sort((a, b) => b.y - a.y)) {
    const wide = ctx.measureText(name.text).width + name.dot;
    for (const other of placed)  // those below it
      if (other.x < name.x + wide && name.x < other.x + other.wide) name.y = Math.min(name.y, other.y - 1.1 * size);
    if (name.y < 0) continue;
    placed.push({...name, wide});
    if (name.dot) {  // a colour that makes a good line is often too pale for letters
      ctx.fillStyle = name.colour;
      ctx.beginPath();
      ctx.arc(name.x + 0.3 * size, name.y, 0.3 * size, 0, 2 * Math.PI);
      ctx.fill();
    }
    ctx.fillStyle = css(name.dot ? "--ink" : "--soft");
    ctx.fillText(name.text, name.x + name.dot, name.y);
  }
  ctx.restore();
}

// A chart of some runs over a ruler. `pointed` is told the value on the axis under the mouse, when that moves. `update`
// takes the same runs with more rows.
export function chart(place, runs, {axis, train, focus, baselines, pointed, height}) {
  let ends;
  const tablesOf = (given) => {
    const tables = given.map((run) => {
      const rows = run.rows.filter((row) => at(run, row, axis) != null);
      const table = [rows.map((row) => at(run, row, axis)), rows.map((row) => row[2])];
      return train ? [...table, rows.map((row) => row[1])] : table;
    });
    ends = given.flatMap((run, i) => (tables[i][0].length ? [{text: run.name.length > 15 ? run.name.slice(0, 14) + "…" : run.name, colour: colourOf(run.stage), at: tables[i][0].at(-1), loss: tables[i][1].at(-1)}] : []));
    return tables.length ? uPlot.join(tables) : [[], []];
  };
  const seen = {};
  const series = [{}];
  for (const run of runs) {
    const colour = colourOf(run.stage), isLine = run.rows.length > 1;
    const again = isLine ? seen[colour] = (seen[colour] ?? -1) + 1 : 0;  // another curve of this colour
    const line = {stroke: colour, width: run.name === focus ? 3 : 2, spanGaps: true, dash: again ? [8, 3 * again] : undefined,
                  points: {show: run.rows.length < 3, size: 6}};
    series.push({...line, label: run.name});
    if (train) series.push({...line, label: run.name + " train", width: 1, dash: [2, 3]});
  }
  const ink = {stroke: css("--soft"), grid: {stroke: css("--line"), width: 1}, ticks: {stroke: css("--line")}, font: "12px system-ui"};
  const short = (value) => value >= 1e6 ? value / 1e6 + " M" : value >= 1e4 ? value / 1e3 + " k" : String(value);
  const most = Math.max(baselines.uniform ?? 0, ...runs.flatMap((run) => run.rows.slice(0, 1).map((row) => row[2])), 1);
  const beside = () => place.clientWidth > 560;  // there is room for the names
  const plot = new uPlot({
    width: place.clientWidth, height, series,
    legend: {show: false}, padding: [null, () => (beside() ? 132 : 17), null, null],
    cursor: {y: false, points: {size: 7}},
    scales: {x: {time: false}, y: {range: [0, Math.min(most, 12) * 1.04]}},
    axes: [{...ink, values: (_, ticks) => ticks.map(short)}, {...ink, size: 44, values: (_, ticks) => ticks.map((v) => v.toFixed(1))}],
    hooks: {
      draw: [(p) => drawOver(p, baselines, ends, beside())],
    },
  }, tablesOf(runs), place);
  plot.over.addEventListener("mousemove", () => pointed(plot.posToVal(plot.cursor.left, "x")));
  const canvas = plot.root.querySelector("canvas");
  canvas.setAttribute("role", "img");
  const describe = (given) => canvas.setAttribute("aria-label", `validation loss over ${axes[axis]}: ${given.map((run) => `${run.name} ${run.rows.at(-1)[2].toFixed(2)}`).join(", ")}`);
  describe(runs);
  const observer = new ResizeObserver(() => plot.setSize({width: place.clientWidth, height}));
  observer.observe(place);
  return {update: (given) => { plot.setData(tablesOf(given)); describe(given); }, clear: () => { observer.disconnect(); plot.destroy(); }};
}
