// All variables in a list, a button for each state: everything the picture can do, for keys and screen readers.

import { bar, h } from "./dom";
import type { Order, State } from "./state";
import { percent, plural } from "./words";

const HEAD = 33;
const LINE = 21;
const FOOT = 8;
const BEYOND = 300; // pixels above and below what is seen

export class List {
  readonly search = h("input", {
    type: "search", class: "search", placeholder: "Find a variable", "aria-label": "Find a variable",
    on: { input: (event: Event) => this.state.set({ search: (event.target as HTMLInputElement).value }) },
  });
  readonly order = h("select", {
    class: "order", "aria-label": "Order of the list",
    on: { change: (event: Event) => this.state.set({ order: (event.target as HTMLSelectElement).value as Order }) },
  },
    h("option", { value: "table" }, "as in table"),
    h("option", { value: "changed" }, "most changed"),
    h("option", { value: "degree" }, "most neighbours"),
    h("option", { value: "name" }, "by name"));
  readonly chips = h("div", { class: "chips", role: "group", "aria-label": "What is known" });
  readonly rows = h("div", { class: "rows", role: "list", "aria-label": "Variables" });
  readonly scroller = h("div", { class: "scroller", tabindex: "-1" }, this.rows);
  private shown: number[] = [];
  private tops: number[] = [];

  constructor(private state: State) {
    this.scroller.addEventListener("scroll", () => this.render(), { passive: true });
    new ResizeObserver(() => this.render()).observe(this.scroller);
    state.onChange(() => this.update());
    this.update();
  }

  private update(): void {
    this.shown = this.ordered();
    let top = 0;
    this.tops = this.shown.map((v) => (top += this.height(v)) - this.height(v));
    this.rows.style.height = `${top}px`;
    this.renderChips();
    this.render();
  }

  private height(v: number): number {
    return HEAD + LINE * this.state.model.states[v].length + FOOT;
  }

  private ordered(): number[] {
    const { model, chosen } = this.state;
    const sought = chosen.search.trim().toLowerCase();
    const found = model.names.map((_, v) => v).filter((v) => !sought || model.names[v].toLowerCase().includes(sought));
    const by: Record<Order, (a: number, b: number) => number> = {
      table: (a, b) => a - b,
      changed: (a, b) => this.state.moved(b) - this.state.moved(a) || a - b,
      degree: (a, b) => model.neighbours[b].length - model.neighbours[a].length || a - b,
      name: (a, b) => model.names[a].localeCompare(model.names[b], undefined, { numeric: true }),
    };
    return found.sort(by[chosen.order]);
  }

  private renderChips(): void {
    const { evidence } = this.state.chosen;
    const chips = [...evidence.keys()].map((v) => {
      const words = this.state.evidenceInWords(v);
      const clear = (): void => this.state.know(v, null);
      return h("button", { class: "chip", "aria-label": `Forget ${words}`, on: { click: clear } }, words, h("span", { "aria-hidden": "true" }, " ×"));
    });
    this.chips.replaceChildren(...chips);
    this.chips.hidden = !chips.length;
  }

  /** Only rows that are seen exist. */
  private render(): void {
    const { scrollTop, clientHeight } = this.scroller;
    const first = Math.max(0, this.tops.findIndex((top, k) => top + this.height(this.shown[k]) > scrollTop - BEYOND));
    const rows: HTMLElement[] = [];
    for (let k = first; k < this.shown.length && this.tops[k] < scrollTop + clientHeight + BEYOND; k++) {
      rows.push(this.row(this.shown[k], this.tops[k], k));
    }
    const focused = document.activeElement?.getAttribute("data-key");
    const empty = h("p", { class: "empty", role: "listitem" }, "No variable has this in its name.");
    this.rows.replaceChildren(...(rows.length ? rows : [empty]));
    if (focused) this.rows.querySelector<HTMLElement>(`[data-key="${focused}"]`)?.focus({ preventScroll: true });
  }

  private row(v: number, top: number, place: number): HTMLElement {
    const { model, chosen } = this.state;
    const selected = chosen.selection.includes(v);
    const name = h("button", {
      class: "name", "data-key": `${v}`, "aria-pressed": String(selected), title: model.names[v],
      on: { click: (event: MouseEvent) => this.select(v, event.shiftKey) },
    }, model.names[v]);
    const row = h("div", {
      class: selected ? "row selected" : "row", role: "listitem",
      "aria-posinset": place + 1, "aria-setsize": this.shown.length,
    },
      h("div", { class: "head" }, name, h("span", { class: "degree" }, plural(model.neighbours[v].length, "neighbour"))),
      model.states[v].map((_, s) => stateButton(this.state, v, s, `${v}.${s}`)));
    row.style.top = `${top}px`;
    return row;
  }

  private select(v: number, shift: boolean): void {
    const { selection } = this.state.chosen;
    if (!shift) return this.state.set({ selection: selection.length === 1 && selection[0] === v ? [] : [v] });
    this.state.set({ selection: selection.includes(v) ? selection.filter((other) => other !== v) : [...selection, v] });
  }
}

/** A state with its probability; a click sets it, a shift-click rules it out. */
export function stateButton(state: State, v: number, s: number, key: string): HTMLElement {
  const known = state.chosen.evidence.get(v);
  const isKnown = known?.length === 1 && known[0] === s;
  const isOut = known !== undefined && known.length > 1 && !known.includes(s);
  const p = state.marginals[v][s];
  const before = state.isMoved ? state.reference[v][s] : null;
  const was = before === null ? "" : `, before ${percent(before)}`;
  const out = isOut ? ", ruled out" : "";
  return h("button", {
    class: `state${isKnown ? " known" : ""}${isOut ? " out" : ""}`,
    "data-key": key,
    "aria-pressed": String(isKnown),
    "aria-label": `${state.model.stateName(v, s)}: ${percent(p)}${was}${out}`,
    title: "click: this is known; shift-click: rule it out",
    on: {
      click: (event: MouseEvent) => (event.shiftKey ? state.exclude(v, s) : state.toggle(v, s)),
      keydown: (event: KeyboardEvent) => {
        if (event.key !== "Backspace" && event.key !== "Delete") return;
        event.preventDefault();
        state.know(v, null);
      },
    },
  },
    h("span", { class: "label" }, state.model.states[v][s]),
    bar(p, before, isKnown),
    h("span", { class: "number" }, percent(p)));
}
