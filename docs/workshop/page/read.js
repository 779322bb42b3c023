// Read: the lessons, with their formulas and diagrams, and links to the runs that they are about.
import * as api from "api";
import {el} from "dom";

const folder = "/docs/lessons/";
let tools;  // loaded when the first lesson is opened

async function load() {
  for (const href of ["/packages/katex/dist/katex.min.css"]) document.head.append(el("link", {rel: "stylesheet", href}));
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

async function drawDiagrams(lesson) {
  const sources = [...lesson.querySelectorAll("code.language-mermaid")];
  if (!sources.length) return;
  const {default: mermaid} = await import("/packages/mermaid/dist/mermaid.esm.min.mjs");
  mermaid.initialize({startOnLoad: false, securityLevel: "strict", theme: matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "neutral", fontFamily: "system-ui"});
  for (const [i, source] of sources.entries()) {
    const {svg} = await mermaid.render(`diagram${i}`, source.textContent);
    const place = el("div.diagram", {role: "img"});
    place.innerHTML = svg;
    source.parentElement.replaceWith(place);
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
    if (url.origin !== location.origin) link.rel = "noreferrer", link.target = "_blank";
    else if (url.pathname.startsWith(folder) && url.pathname.endsWith(".md")) link.href = lessonAt(url.pathname.slice(folder.length, -3), url.hash.slice(1));
    else link.href = url.pathname, link.target = "_blank";
  }
}

export function read(page, given) {
  let open = true;
  const name = given.get("lesson") ?? "README";
  const contents = el("nav.contents", {"aria-label": "Lessons"}), lesson = el("article.lesson", {}, el("p.note", {}, "…"));
  page.append(contents, lesson);
  (async () => {
    const [text, overview, markdown, runs] = await Promise.all([api.file(folder + name + ".md"), api.file(folder + "README.md"), tools ??= load(), api.runs()]);
    if (!open) return;
    const names = [...new Set([...overview.matchAll(/\]\(([\w]+)\.md\)/g)].map((found) => found[1]))];
    contents.replaceChildren(...["README", ...names].map((n) => el("a", {href: "#read?lesson=" + n, ...(n === name && {"aria-current": "page"})}, n === "README" ? "all lessons" : n.replace(/_/g, " "))));
    lesson.innerHTML = markdown.render(text);
    settleLinks(lesson, name);
    for (const cell of lesson.querySelectorAll("td")) if (cell.textContent.length < 10) cell.style.whiteSpace = "nowrap";
    const run = runs.find((r) => r.name === name), isStage = /^\d\d_/.test(name);
    for (const heading of isStage ? lesson.querySelectorAll("h1, h2") : [])
      if (heading.tagName === "H1" || heading.textContent === "What to look at") heading.after(el("div.try", {},
        run?.looks && el("a.button", {href: "#look?run=" + name}, "look inside your " + name),
        run?.writes && el("a.button.quiet", {href: "#write?run=" + name}, "let it write"),
        !run && el("span.note", {}, `Train it, to see it here: build/${name} in a terminal.`)));
    await drawDiagrams(lesson);
    [...lesson.querySelectorAll("h2, h3")].find((heading) => anchorOf(heading.textContent) === given.get("at"))?.scrollIntoView();
  })().catch((error) => lesson.replaceChildren(el("p.problem", {}, error.message)));
  return () => { open = false; };
}
