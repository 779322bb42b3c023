// Read: the lessons, with their formulas and diagrams, and links to the runs that they are about.
import * as api from "api";
import {el} from "dom";

const folder = "/docs/lessons/";
const letters = el("link", {rel: "stylesheet", href: "/packages/katex/dist/katex.min.css"});
let tools;  // loaded when the first lesson is opened

async function load() {
  document.head.append(letters);
  const [{default: katex}] = await Promise.all([import("/packages/katex/dist/katex.mjs"), import("/packages/markdown-it/dist/markdown-it.min.js")]);
  const markdown = window.markdownit({html: true});
  const formula = (tex, displayMode) => katex.renderToString(tex, {displayMode, throwOnError: false});
  // $a$ and $$b$$ are taken before markdown sees the underscores in them.
  markdown.inline.ruler.before("escape", "formula", (state, silent) => {
    const found = /^\$\$([^$]+)\$\$|^\$([^\s$](?:[^$]*[^\s$])?)\$(?!\d)/.exec(state.src.slice(state.pos));
    if (!found) return false;
    if (!silent) state.push("html_inline", "", 0).content = formula(found[1] ?? found[2], found[1] != null);
    state.pos += found[0].length;
    return true;
  });
  return markdown;
}

const dark = matchMedia("(prefers-color-scheme: dark)");

async function drawDiagrams(lesson) {  // or draws them anew
  const sources = [...lesson.querySelectorAll("code.language-mermaid, .diagram")];
  if (!sources.length) return;
  const {default: mermaid} = await import("/packages/mermaid/dist/mermaid.esm.min.mjs");
  mermaid.initialize({startOnLoad: false, securityLevel: "strict", theme: dark.matches ? "dark" : "neutral", fontFamily: "system-ui"});
  for (const [i, source] of sources.entries()) {
    const words = source.dataset.source ?? source.textContent, {svg} = await mermaid.render(`diagram${i}`, words);
    const place = el("div.diagram", {role: "img", "data-source": words});
    place.innerHTML = svg;
    (source.closest("pre") ?? source).replaceWith(place);
  }
}

const anchorOf = (title) => title.toLowerCase().replace(/[^\w\- ]/g, "").trim().replaceAll(" ", "-");

// Pictures and links are relative to the lessons' folder; a link to another lesson stays on this page.
function settleLinks(lesson, name) {
  const lessonAt = (other, anchor) => "#read?lesson=" + other + (anchor ? "&at=" + anchor : "");
  const absolute = (path) => new URL(path, new URL(folder, location.origin));
  for (const image of lesson.querySelectorAll("img")) image.src = absolute(image.getAttribute("src")).pathname;
  for (const link of lesson.querySelectorAll("a[href]")) {
    const href = link.getAttribute("href");
    if (href.startsWith("#")) { link.href = lessonAt(name, href.slice(1)); continue; }
    const url = absolute(href);
    if (url.host === "127.0.0.1:8010") link.href = url.hash;  // this page, as one finds it from elsewhere
    else if (url.origin !== location.origin) link.rel = "noreferrer", link.target = "_blank";
    else if (url.pathname.startsWith(folder) && url.pathname.endsWith(".md")) link.href = lessonAt(url.pathname.slice(folder.length, -3), url.hash.slice(1));
    else link.href = url.pathname, link.target = "_blank";
  }
}

// Some stages train no model of their own, or one that another trains as well.
const alsoIn = {"11_kvcache": "10_gpt", "15_prune": "13_bert", "16_memory": "13_bert"};

function wayToRun(name, runs) {
  const run = runs.find((r) => r.name === name) ?? runs.find((r) => r.name === alsoIn[name]);
  if (run?.looks || run?.writes)
    return el("div.try", {}, run.looks && el("a.button", {href: "#look?run=" + run.name}, "look inside your " + run.name),
      run.writes && el("a.button.quiet", {href: "#write?run=" + run.name}, run.task === 0 ? "let it write" : run.task === 1 ? "let it fill blanks" : "let it translate"));
  if (run) return el("div.try", {}, el("a.button.quiet", {href: "#watch"}, `see your ${run.name} among the others`));
  const how = name === "17_machines" ? "make mpi builds it; then run it as the lesson says" : `run build/${alsoIn[name] ?? name} in a terminal`;
  return el("div.try", {}, el("span.note", {}, `To see it here: ${how}.`));
}

export function read(page, given) {
  let open = true;
  const name = given.get("lesson") ?? "README";
  const contents = el("nav.contents", {"aria-label": "Lessons"}), lesson = el("article.lesson", {}, el("p.note", {}, "…"));
  page.append(contents, lesson);
  (async () => {
    const missing = () => `# There is no lesson ${name.replace(/[^\w ]/g, "")}\n\n[All lessons](README.md)`;
    const [text, overview, markdown, runs] = await Promise.all([api.file(folder + encodeURIComponent(name) + ".md").catch(missing), api.file(folder + "README.md"), tools ??= load().catch((error) => { tools = null; throw error; }), api.runs()]);
    if (!open) return;
    const names = [...new Set([...overview.matchAll(/\]\(([\w]+)\.md\)/g)].map((found) => found[1]))];
    contents.replaceChildren(...["README", ...names].map((n) => el("a", {href: "#read?lesson=" + n, ...(n === name && {"aria-current": "page"})}, n === "README" ? "all lessons" : n.replace(/_/g, " "))));
    lesson.innerHTML = markdown.render(text);
    settleLinks(lesson, name);
    for (const cell of lesson.querySelectorAll("td")) if (cell.textContent.length < 10) cell.style.whiteSpace = "nowrap";
    for (const heading of /^\d\d_/.test(name) ? lesson.querySelectorAll("h1, h2") : [])
      if (heading.tagName === "H1" || heading.textContent === "What to look at") heading.after(wayToRun(name, runs));
    await drawDiagrams(lesson);
    [...lesson.querySelectorAll("h2, h3")].find((heading) => anchorOf(heading.textContent) === given.get("at"))?.scrollIntoView();
  })().catch((error) => lesson.replaceChildren(el("p.problem", {}, error.message)));
  const recolour = () => drawDiagrams(lesson);
  dark.addEventListener("change", recolour);
  return () => { open = false; dark.removeEventListener("change", recolour); };
}
