// Small helpers to build and change what is on the page.

// el("p.note", {title: "..."}, "text", child): an element; functions in the second argument are listeners.
export function el(kind, given = {}, ...children) {
  const [tag, ...classes] = kind.split(".");
  const element = document.createElement(tag || "div");
  if (classes.length) element.className = classes.join(" ");
  for (const [name, value] of Object.entries(given)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child != null && child !== false));
  return element;
}

export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// A place to type a text in, which may have line breaks.
export const field = (given, text = "") => el("textarea", {rows: 1, spellcheck: "false", autocomplete: "off", ...given}, text);

// A character as it can be seen.
export function visible(character) {
  if (character === " ") return "␣";
  if (character === "\n") return "⏎";
  if (character === "\t") return "⇥";
  return character;
}

export const percent = (share) => (share >= 0.0995 ? Math.round(100 * share) : (100 * share).toFixed(1)) + " %";
export const thousands = (number) => Math.round(number).toLocaleString("en-GB");

export function duration(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

// A stage has the same colour on every page and in every picture of the lessons: these are those of common/draw/svg.h.
const colours = ["#2f6fdf", "#e6550d", "#a0674b", "#31a354", "#a46bd6", "#b8860b", "#1ba8a8", "#7f7f7f", "#d62728", "#e377c2"];
export const colourOf = (stage) => colours[(parseInt(stage, 10) || 0) % colours.length];

export function rgbOf(colour) {  // the three numbers of any colour that CSS knows
  const canvas = rgbOf.canvas ??= new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
  canvas.fillStyle = colour;
  canvas.fillRect(0, 0, 1, 1);
  return canvas.getImageData(0, 0, 1, 1).data;
}

export const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// f, but not before `wait` milliseconds have passed without another call; its `now` does not wait.
export function calm(wait, f) {
  let timer;
  const later = (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => f(...given), wait);
  };
  later.now = (...given) => {
    clearTimeout(timer);
    return f(...given);
  };
  return later;
}

// Calls f now and each second, less often while nobody looks; what it throws is forgotten. Returns how to end it.
export function eachSecond(f) {
  let timer, open = true;
  (async () => {
    while (open) {
      await f().catch(() => {});
      await new Promise((resolve) => { timer = setTimeout(resolve, document.hidden ? 5000 : 1000); });
    }
  })();
  return () => { open = false; clearTimeout(timer); };
}

// Changes a text only if it is another: what is selected, pointed at or read aloud stays.
export function put(place, text) {
  if (place.textContent !== text) place.textContent = text;
}

// Bars with a character, its probability and, where given, the share that is left of it.
export function bars(list, {chosen, pick, left} = {}) {
  const most = Math.max(...list.map((row) => Math.max(row[1], row[2] ?? 0)), 1e-9);
  return el("ol.bars", {}, list.map(([character, p, kept]) => el(
    "li" + (character === chosen ? ".chosen" : "") + (left && kept === 0 ? ".gone" : ""), {},
    el((pick ? "button.glyph" : "span.glyph") + (character.length > 2 ? ".special" : ""), pick ? {click: () => pick(character), title: "choose this one"} : {}, visible(character).replace(/^\[(.+)\]$/, "$1")),
    el("span.bar", {}, el("i", {style: `width:${100 * p / most}%`}), left && el("b", {style: `width:${100 * kept / most}%`})),
    el("span.number", {}, percent(left ? kept : p)))));
}
