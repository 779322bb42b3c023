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

function drawRulers(plot, baselines) {
  const {ctx, bbox} = plot;
  ctx.save();
  ctx.setLineDash([2, 4].map((length) => length * devicePixelRatio));
  ctx.strokeStyle = ctx.fillStyle = css("--faint");
  ctx.font = `${11 * devicePixelRatio}px system-ui`;
  ctx.textAlign = "right";
  for (const [name, value] of Object.entries(baselines)) {
    const y = plot.valToPos(value, "y", true);
    if (!rulers[name] || y < bbox.top || y > bbox.top + bbox.height) continue;
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    ctx.fillText(`${rulers[name]} ${value.toFixed(2)}`, bbox.left + bbox.width - 4, y - 4 * devicePixelRatio);
  }
  ctx.restore();
}

// A chart of some runs. `pointed` is told the value on the axis under the cursor.
export function chart(place, runs, {axis, train, pointed, height = 380}) {
  const tables = runs.map((run) => {
    const rows = run.rows.filter((row) => at(run, row, axis) != null);
    const table = [rows.map((row) => at(run, row, axis)), rows.map((row) => row[2])];
    return train ? [...table, rows.map((row) => row[1])] : table;
  });
  const baselines = runs.find((run) => run.baselines?.bigram)?.baselines ?? runs[0]?.baselines ?? {};
  const seen = {};
  const series = [{}];
  for (const run of runs) {
    const colour = colourOf(run.stage), again = seen[colour] = (seen[colour] ?? -1) + 1;  // another run of this colour
    const line = {stroke: colour, width: 2, spanGaps: true, dash: again ? [8, 3 * again] : undefined,
                  points: {show: run.rows.length < 3, size: 6}};
    series.push({...line, label: run.name});
    if (train) series.push({...line, label: run.name + " train", width: 1, dash: [2, 3]});
  }
  const ink = {stroke: css("--soft"), grid: {stroke: css("--line"), width: 1}, ticks: {stroke: css("--line")}, font: "12px system-ui"};
  const short = (value) => value >= 1e6 ? value / 1e6 + " M" : value >= 1e4 ? value / 1e3 + " k" : String(value);
  const most = Math.max(baselines.uniform ?? 0, ...runs.flatMap((run) => run.rows.slice(0, 1).map((row) => row[2])), 1);
  const plot = new uPlot({
    width: place.clientWidth, height, series,
    legend: {show: false},
    cursor: {y: false, points: {size: 7}},
    scales: {x: {time: false}, y: {range: [0, Math.min(most, 12) * 1.04]}},
    axes: [{...ink, values: (_, ticks) => ticks.map(short)}, {...ink, size: 44, values: (_, ticks) => ticks.map((v) => v.toFixed(1))}],
    hooks: {
      draw: [(p) => drawRulers(p, baselines)],
      setCursor: [(p) => pointed?.(p.cursor.left >= 0 ? p.posToVal(p.cursor.left, "x") : null)],
    },
  }, tables.length ? uPlot.join(tables) : [[], []], place);
  const observer = new ResizeObserver(() => plot.setSize({width: place.clientWidth, height}));
  observer.observe(place);
  return () => { observer.disconnect(); plot.destroy(); };
}
