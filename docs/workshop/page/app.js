// Which page is shown: the part of the address behind the #, as in #look?run=10_gpt&step=250.
import {kept} from "api";
import {el} from "dom";
import {watch} from "watch";
import {look} from "look";
import {write} from "write";
import {read} from "read";

const pages = {watch, look, write, read};
const page = document.getElementById("page");
let leave = () => {}, shown = "", waiting, settle = () => {} /* writes the address that waits */;

// The address without a new entry in the history, so that "back" leaves the page and not a slider's last step. A browser
// bears a few changes a second. A click on a link changes the address before this page hears of it, and is not undone.
export function remember(name, values) {
  const query = new URLSearchParams(Object.entries(values).filter(([, value]) => value != null && value !== ""));
  clearTimeout(waiting);
  settle = () => {
    if (location.hash !== shown) return;
    shown = `#${name}?${query}`;
    history.replaceState(null, "", shown);
  };
  waiting = setTimeout(settle, 250);
}

async function show() {
  if (location.hash === shown && shown) return;
  clearTimeout(waiting);
  settle = () => {};
  shown = location.hash;
  const [name, query] = location.hash.slice(1).split("?");
  const open = Object.hasOwn(pages, name) ? name : "watch";
  leave();
  for (const link of document.querySelectorAll("header nav a")) {
    link.ariaCurrent = link.hash === "#" + open ? "page" : null;
    if (link.ariaCurrent) document.title = `${link.textContent}, ${kept ? kept.runs[0].name : "the workshop"}`;
  }
  page.replaceChildren();
  page.className = open;
  leave = pages[open](page, new URLSearchParams(query)) ?? (() => {});
}

if (kept) {
  for (const link of document.querySelectorAll('nav a[href="#write"], nav a[href="#read"]')) link.remove();
  document.querySelector("header").append(el("span.note", {}, "kept from " + kept.runs[0].name));
}
addEventListener("hashchange", () => show().then(() => page.focus({preventScroll: true})));
// What is drawn in colours of its own is drawn anew; the other pages change by themselves, and what was written stays.
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  if (page.className !== "watch" && page.className !== "look") return;
  settle();
  shown = "";
  show();
});
show();
