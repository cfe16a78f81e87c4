// Tables of the panel.

import { h } from "./dom";

export function table(heading: string, heads: string[], lines: HTMLElement[], note = ""): HTMLElement {
  const cell = (text: string, k: number): HTMLElement =>
    text ? h("th", { scope: "col", class: k ? "figure" : undefined }, text) : h("td");
  return h("div", {},
    h("h3", {}, heading),
    h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, heads.map(cell))), h("tbody", {}, lines))),
    note ? h("p", { class: "quiet" }, note) : null);
}
