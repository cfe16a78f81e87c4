// Tables of the panel, and what stands in them.

import { type Child, h } from "./dom";

/** A cell with a number. */
export function figure(text: string, kind = ""): HTMLElement {
  return h("td", { class: `figure ${kind}` }, text);
}

/** A name that leads to what it names. */
export function link(text: string, key: string, go: () => void): HTMLElement {
  return h("button", { class: "link", "data-key": key, on: { click: go } }, text);
}

export function quiet(...text: Child[]): HTMLElement {
  return h("p", { class: "quiet" }, ...text);
}

export function strong(text: string, kind = ""): HTMLElement {
  return h("strong", { class: kind }, text);
}

export function table(heading: string, heads: string[], lines: HTMLElement[], note = ""): HTMLElement {
  const cell = (text: string, k: number): HTMLElement =>
    text ? h("th", { scope: "col", class: k ? "figure" : undefined }, text) : h("td");
  const isWide = heads.length > 4; // it may have to be scrolled, by keys too
  return h("div", {},
    h("h3", {}, heading),
    h("div", { class: "scroll", ...(isWide ? { tabindex: 0, role: "group", "aria-label": heading } : {}) }, h("table", {}, h("thead", {}, h("tr", {}, heads.map(cell))), h("tbody", {}, lines))),
    note ? quiet(note) : null);
}
