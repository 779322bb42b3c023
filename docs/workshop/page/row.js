// One row of one head, step by step, with its real numbers.
import * as api from "api";
import {el, visible} from "dom";

const steps = ["query · key", "÷ √size", "mask", "softmax", "values"];

const largest = (numbers) => numbers.reduce((most, n) => Math.max(most, Math.abs(n)), 0);  // there may be too many for Math.max

// Numbers as coloured cells: warm above zero, cool below.
function vector(numbers, most, thin) {
  return el("span.vector" + (thin ? ".thin" : ""), {title: numbers.map((n) => n.toFixed(2)).join("  ")}, numbers.map((n) =>
    el("i", {style: `background:rgba(var(${n > 0 ? "--warm" : "--cool"}),${Math.min(Math.abs(n) / most, 1).toFixed(2)})`})));
}

function explanation(upTo, row, answer, rows, columns, best) {
  const me = `“${visible(rows[row])}”`, other = `“${visible(columns[best])}”`, place = answer.places[best];
  const root = Math.sqrt(answer.size), n = (x) => x.toFixed(2);
  const sum = place.distance == null ? n(place.content) : `${n(place.content)} + ${n(place.distance)}`;
  return [
    `Place ${row}, ${me}, asks with its query. Its product with the key of place ${best}, ${other}, is ${n(place.content)}: ${answer.size} products added up.` +
      (place.distance == null ? "" : ` How far apart they stand adds ${n(place.distance)}.`),
    `Sums of ${answer.size} products are large, so each is divided by √${answer.size} = ${root.toFixed(2)}: (${sum}) / ${root.toFixed(2)} = ${n(place.scaled)}.`,
    answer.places.every((p) => p.seen) ? "Nothing is hidden from this place." : `${answer.places.filter((p) => !p.seen).length} places are hidden from this one: their scores become −∞.`,
    `Softmax makes shares of the scores: e to the power of each, divided by their sum. ${other} gets ${place.weight.toFixed(3)}.`,
    `Each value is multiplied by its weight, and all are added up, number by number: that is what this head hands on for ${me}.`,
  ][upTo];
}

// A sum in numbers, to be opened: products, and what they add up to.
function sumOf(title, products, total, {open, toggle}) {
  const n = (x) => x.toFixed(3).replace("-", "−");
  return el("details.sum", {open, toggle}, el("summary", {}, title), el("p", {}, products.map(([a, b]) => `${n(a)} × ${n(b)}`).join(" + ") + ` = ${n(total)}`));
}

export function rowView(place) {
  let upTo = 0, shown = null, asked = 0, isOpen = false;

  function draw() {
    const {answer, question, rows, columns, colour} = shown, row = question.row;
    const best = answer.places.reduce((b, p, j) => (p.seen && p.weight > answer.places[b].weight ? j : b), answer.places.findIndex((p) => p.seen));
    const most = Math.max(largest(answer.keys), largest(answer.query));
    const slice = (numbers, j) => numbers.slice(j * answer.size, (j + 1) * answer.size);
    const highest = Math.max(...answer.places.filter((p) => p.seen).map((p) => p.scaled));  // its e to the power is 1: none is too large
    const weighted = answer.places.map((p, j) => slice(answer.values, j).map((v) => p.weight * v)), mostWeighted = largest(weighted.flat());
    const share = (p) => (p.seen ? Math.exp(p.scaled - highest) : 0), total = answer.places.reduce((sum, p) => sum + share(p), 0);
    const has = (k) => upTo >= k, distances = answer.places[0].distance != null;
    const heading = ["place", "key", "q · k", distances && "distance", has(1) && "score", has(2) && "seen", has(3) && "weight", has(4) && "weight × value"].filter(Boolean);
    const lines = answer.places.map((p, j) => {
      const hidden = has(2) && !p.seen;
      return el("tr" + (hidden ? ".hidden" : "") + (j === best && has(3) ? ".most" : ""), {"data-column": j},
        el("td", {}, `${j}  ${visible(columns[j])}`),
        el("td", {}, vector(slice(answer.keys, j), most, true)),
        el("td", {}, p.content.toFixed(2)),
        distances && el("td", {}, p.distance.toFixed(2)),
        has(1) && el("td", {}, hidden ? "−∞" : p.scaled.toFixed(2)),
        has(2) && el("td", {}, p.seen ? "yes" : "no"),
        has(3) && el("td", {}, el("span.bar", {style: `width:${5 * p.weight}rem;background:${colour}`}), " ", (share(p) / total).toFixed(3)),
        has(4) && el("td", {}, vector(weighted[j], mostWeighted, true)));
    });
    const number = answer.result.reduce((b, x, c) => (Math.abs(x) > Math.abs(answer.result[b]) ? c : b), 0);
    const opening = {open: isOpen, toggle: (e) => { isOpen = e.target.open; }};
    const sum = upTo === 0 ? sumOf(`query · key of place ${best}, in numbers`, answer.query.map((q, c) => [q, slice(answer.keys, best)[c]]), answer.places[best].content, opening)
      : has(4) && sumOf(`number ${number} of what comes out: weights × values`, answer.places.flatMap((p, j) => (p.seen ? [[p.weight, answer.values[j * answer.size + number]]] : [])), answer.result[number], opening);
    const list = el("div.scores", {tabindex: 0}, el("table", {}, el("thead", {}, el("tr", {}, heading.map((h) => el("th", {}, h)))), el("tbody", {}, lines)));
    place.replaceChildren(
      el("div.stepper", {role: "group", "aria-label": "steps"}, steps.map((name, k) => el("button", {"aria-pressed": String(k === upTo), click: () => { upTo = k; draw(); place.querySelector('.stepper [aria-pressed="true"]').focus(); }}, `${k + 1}  ${name}`))),
      el("p.explain", {}, explanation(upTo, row, answer, rows, columns, best)),
      el("div.named", {}, el("span.note", {}, "query"), vector(answer.query, most), has(4) && el("span.note", {}, "what comes out"), has(4) && vector(answer.result, largest(answer.result))),
      sum || "", list);
    const line = list.querySelector("tr.most");
    if (line) list.scrollTop = line.offsetTop - list.clientHeight / 2;
  }

  // Asks for a row, unless another is asked for meanwhile.
  return async function show(question, rows, columns, colour) {
    const mine = ++asked;
    try {
      const answer = await api.row(question);
      if (mine !== asked) return;
      shown = {answer, question, rows, columns, colour};
      draw();
    } catch (error) {
      if (mine === asked) place.replaceChildren(el("p.note", {}, error.message));
    }
  };
}
