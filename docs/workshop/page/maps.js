// Pictures of attention: maps of a head, and lines from one place to those it looks at.
import {colourOf, el, rgbOf, svg, visible} from "dom";

function weightsOf(head) {
  if (!head.shares) {
    const bytes = Uint8Array.from(atob(head.weights), (c) => c.charCodeAt(0));
    head.shares = Float32Array.from(new Uint16Array(bytes.buffer), (share) => share / 65535);
  }
  return head.shares;
}
export const weightAt = (head, row, column) => weightsOf(head)[row * head.columns + column];
export const sharpness = (head) => weightsOf(head).reduce((sum, weight) => sum + weight * weight, 0);
export const nameOf = (head) => (head.part ? head.part + " " : "") + `${head.layer}.${head.head}`;

// A pixel a weight; small ones are lifted so that they can be seen.
function paint(canvas, head, colour) {
  canvas.width = head.columns;
  canvas.height = head.rows;
  const context = canvas.getContext("2d"), image = context.createImageData(head.columns, head.rows);
  const [r, g, b] = rgbOf(colour), weights = weightsOf(head);
  const lift = matchMedia("(prefers-color-scheme: dark)").matches ? 0.4 : 0.55;
  for (let i = 0; i < weights.length; ++i) image.data.set([r, g, b, 255 * Math.pow(weights[i], lift)], 4 * i);
  context.putImageData(image, 0, 0);
}

// All heads, a row for each layer. `choose` is told which was clicked.
export function overview(answer, chosen, choose) {
  const layers = groups(answer.heads);
  const colour = colourOf(answer.stage);
  return el("div.overview", {style: `--colour:${colour}`}, [...layers.values()].map((heads) => el("div.layer", {},
    el("b", {}, (heads[0].part ? heads[0].part + ", " : "") + `layer ${heads[0].layer}`),
    heads.map((head) => {
      const canvas = el("canvas", {});
      paint(canvas, head, colour);
      return el("button.head", {"data-head": nameOf(head), "aria-pressed": String(nameOf(head) === chosen),
        title: `head ${nameOf(head)}` + (head.distance != null ? `: ${Math.round(100 * head.distance)} % of its scores come from distance` : ""),
        click: () => choose(nameOf(head))},
        canvas, head.distance != null && el("small", {}, Math.round(100 * head.distance) + " %"));
    }))));
}

function groups(heads) {
  const map = new Map();
  for (const head of heads) {
    const key = `${head.part}|${head.layer}`;
    map.set(key, [...(map.get(key) ?? []), head]);
  }
  return map;
}

// One head, large. `point` is told the row and column under the cursor.
export function bigMap(answer, head, row, point) {
  const canvas = el("canvas", {role: "img", "aria-label": `where head ${nameOf(head)} looks: a row for each place`});
  paint(canvas, head, colourOf(answer.stage));
  const mark = el("div.mark", {style: `top:${100 * row / head.rows}%;height:${100 / head.rows}%`});
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return [Math.floor((event.clientY - box.top) / box.height * head.rows), Math.floor((event.clientX - box.left) / box.width * head.columns)]
      .map((n, i) => Math.max(0, Math.min(n, (i ? head.columns : head.rows) - 1)));
  };
  canvas.addEventListener("pointermove", (event) => point(...at(event), false));
  canvas.addEventListener("click", (event) => point(...at(event), true));
  return el("div.big", {style: `aspect-ratio:${head.columns}/${head.rows}`}, canvas, mark);
}

// The colour behind a character: the more surprise, the warmer.
export const warmth = (nats) => (nats == null ? "" : `background:rgba(var(--warm),${Math.min(nats / 5, 1) * 0.75})`);

export function cells(tokens, {surprise, place, width, choose, kind}) {
  return el("div.cells", {style: `--cell:${width}px`, "data-cells": kind}, tokens.map((token, i) => el(
    "span" + (token.length > 2 ? ".special" : token.trim() || surprise?.[i] > 1 ? "" : ".blank") + (i === place ? ".here" : ""),
    {style: warmth(surprise?.[i]), "data-place": i, title: surprise?.[i] == null ? "" : `surprise ${surprise[i].toFixed(2)} nats`,
      pointerenter: () => choose(i, false), click: () => choose(i, true)},
    token.length > 2 ? token.replace(/[[\]]/g, "") : visible(token))));
}

// Arcs within one line of text, from the chosen place to where it looks.
export function arcs(head, row, width, colour) {
  const height = 84, middle = (i) => (i + 0.5) * width;
  const picture = svg("svg", {width: head.columns * width, height, "aria-hidden": "true"});
  for (let j = 0; j < head.columns; ++j) {
    const weight = weightAt(head, row, j), top = height - 8 - Math.min(height - 12, 14 + 3.2 * Math.sqrt(Math.abs(row - j) * width));
    if (weight < 0.015) continue;
    const path = j === row
      ? `M${middle(j) - 4} ${height} v-9 a4 4 0 0 1 8 0 v9`
      : `M${middle(row)} ${height} C${middle(row)} ${top} ${middle(j)} ${top} ${middle(j)} ${height}`;
    picture.append(svg("path", {d: path, fill: "none", stroke: colour, "stroke-width": 0.8 + 6 * weight, "stroke-opacity": 0.2 + 0.8 * weight, "stroke-linecap": "round"}));
  }
  return picture;
}

// Lines between two lines of text: from the chosen place below to those above.
export function links(head, row, width, colour) {
  const height = 90, middle = (i) => (i + 0.5) * width;
  const picture = svg("svg", {width: Math.max(head.columns, head.rows) * width, height, "aria-hidden": "true"});
  for (let i = 0; i < head.rows; ++i)
    for (let j = 0; j < head.columns; ++j) {
      const weight = weightAt(head, i, j), here = i === row;
      if (weight < (here ? 0.015 : 0.25)) continue;
      picture.append(svg("path", {d: `M${middle(i)} ${height} C${middle(i)} ${height / 2} ${middle(j)} ${height / 2} ${middle(j)} 0`, fill: "none",
        stroke: colour, "stroke-width": 0.8 + 6 * weight * (here ? 1 : 0.5), "stroke-opacity": here ? 0.25 + 0.75 * weight : 0.12, "stroke-linecap": "round"}));
    }
  return picture;
}
