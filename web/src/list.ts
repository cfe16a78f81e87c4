// All variables in a list, a button for each state: everything the picture can do, for keys and screen readers.

import { Bar, h, set } from "./dom";
import type { Chosen, Order, State } from "./state";
import { estimate, plural } from "./words";

const HEAD = 33;
const LINE = 21;
const FOOT = 8;
const BEYOND = 300; // pixels above and below what is seen

export class List {
  readonly search = h("input", {
    type: "search", class: "search", placeholder: "Find a variable", "aria-label": "Find a variable",
    on: { input: (event: Event) => this.state.set({ search: (event.target as HTMLInputElement).value }) },
  });
  private changed = h("option", { value: "changed" }, "most changed");
  readonly order = h("select", {
    class: "order", "aria-label": "Order of the list",
    on: { change: (event: Event) => this.state.set({ order: (event.target as HTMLSelectElement).value as Order }) },
  },
    h("option", { value: "table" }, "as in table"),
    this.changed,
    h("option", { value: "degree" }, "most neighbours"),
    h("option", { value: "name" }, "by name"));
  readonly chips = h("div", { class: "chips", role: "group", "aria-label": "What is known" });
  readonly rows = h("div", { class: "rows", role: "list", "aria-label": "Variables" });
  readonly scroller = h("div", { class: "scroller", tabindex: "-1" }, this.rows);
  private shown: number[] = [];
  private tops: number[] = [];
  private made = new Map<number, Row>(); // rows that are seen, by variable
  private seen = { top: 0, height: 0 }; // asking the browser would make it lay out the page
  private last: Chosen | null = null;

  constructor(
    private state: State,
    private reveal: (v: number) => void,
  ) {
    this.scroller.addEventListener("scroll", () => this.measure(), { passive: true });
    new ResizeObserver(() => this.measure()).observe(this.scroller);
    if (state.model.other) this.changed.textContent = "most different";
    state.onFrame(() => this.update());
    this.update();
  }

  private measure(): void {
    this.seen = { top: this.scroller.scrollTop, height: this.scroller.clientHeight };
    this.render();
  }

  private update(): void {
    const { chosen } = this.state;
    if (chosen !== this.last || chosen.order === "changed") this.arrange();
    this.last = chosen;
    this.render();
  }

  private arrange(): void {
    this.shown = this.ordered();
    let top = 0;
    this.tops = this.shown.map((v) => (top += this.height(v)) - this.height(v));
    this.rows.style.height = `${top}px`;
    this.renderChips();
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
      degree: (a, b) => model.degree[b] - model.degree[a] || a - b,
      name: (a, b) => model.names[a].localeCompare(model.names[b], undefined, { numeric: true }),
    };
    return found.sort(by[chosen.order]);
  }

  private renderChips(): void {
    const { evidence } = this.state.chosen;
    const chips = [...evidence.keys()].map((v) => {
      const words = this.state.evidenceInWords(v);
      const clear = (): void => this.state.know(v, null);
      return h("button", { class: "chip", "aria-label": `Clear ${words}`, on: { click: clear } }, words, h("span", { "aria-hidden": "true" }, " ×"));
    });
    this.chips.replaceChildren(...chips);
    this.chips.hidden = !chips.length;
  }

  /** Only rows that are seen exist; those that stay seen stay the same elements, under a pointer and for keys. */
  private render(): void {
    const { top, height } = this.seen;
    const first = Math.max(0, this.tops.findIndex((at, k) => at + this.height(this.shown[k]) > top - BEYOND));
    const rows = new Map<number, Row>();
    for (let k = first; k < this.shown.length && this.tops[k] < top + height + BEYOND; k++) {
      const v = this.shown[k];
      const row = this.made.get(v) ?? new Row(this.state, v, (shift) => this.select(v, shift));
      row.update(this.tops[k], k + 1, this.shown.length);
      rows.set(v, row);
    }
    const isSame = rows.size === this.made.size && rows.size > 0 && [...this.made.keys()].join() === [...rows.keys()].join();
    this.made = rows;
    if (isSame) return;
    const focused = document.activeElement?.getAttribute("data-key");
    const empty = h("p", { class: "empty", role: "listitem" }, "No variable name contains this.");
    this.rows.replaceChildren(...(rows.size ? [...rows.values()].map((row) => row.element) : [empty]));
    if (focused) this.rows.querySelector<HTMLElement>(`[data-key="${focused}"]`)?.focus({ preventScroll: true });
  }

  private select(v: number, shift: boolean): void {
    const { selection } = this.state.chosen;
    this.reveal(v);
    if (!shift) return this.state.set({ selection: selection.length === 1 && selection[0] === v ? [] : [v] });
    this.state.set({ selection: selection.includes(v) ? selection.filter((other) => other !== v) : [...selection, v] });
  }
}

/** A variable of the list with its states. */
class Row {
  readonly element: HTMLElement;
  private name: HTMLElement;
  private buttons: StateButton[];

  constructor(
    private state: State,
    private v: number,
    select: (shift: boolean) => void,
  ) {
    const { model } = state;
    this.name = h("button", {
      class: "name", "data-key": `${v}`, title: model.names[v], on: { click: (event: MouseEvent) => select(event.shiftKey) },
    }, model.names[v]);
    this.buttons = model.states[v].map((_, s) => new StateButton(state, v, s, `${v}.${s}`));
    const degree = h("span", { class: "degree" }, plural(model.degree[v], "neighbour"));
    this.element = h("div", { role: "listitem" }, h("div", { class: "head" }, this.name, degree), this.buttons.map((button) => button.element));
  }

  update(top: number, place: number, n: number): void {
    const selected = this.state.chosen.selection.includes(this.v);
    set(this.element, "class", selected ? "row selected" : "row");
    set(this.element, "aria-posinset", String(place));
    set(this.element, "aria-setsize", String(n));
    set(this.name, "aria-pressed", String(selected));
    this.element.style.top = `${top}px`;
    for (const button of this.buttons) button.update();
  }
}

/** A state with its probability; a click sets it, a shift-click rules it out. */
export class StateButton {
  readonly element: HTMLElement;
  private bar = new Bar();
  private number = h("span", { class: "number" });

  constructor(
    private state: State,
    private v: number,
    private s: number,
    key: string,
  ) {
    this.element = h("button", {
      "data-key": key,
      title: `${state.model.states[v][s]}: click to set it as evidence, shift-click to exclude it`,
      on: {
        click: (event: MouseEvent) => (event.shiftKey ? state.exclude(v, s) : state.toggle(v, s)),
        keydown: (event: KeyboardEvent) => {
          if (event.key !== "Backspace" && event.key !== "Delete") return;
          event.preventDefault();
          state.know(v, null);
        },
      },
    }, h("span", { class: "label" }, state.model.states[v][s]), this.bar.element, this.number);
    this.update();
  }

  update(): void {
    const { state, v, s } = this;
    const known = state.chosen.evidence.get(v);
    const isKnown = known?.length === 1 && known[0] === s;
    const isOut = known !== undefined && known.length > 1 && !known.includes(s);
    const p = state.marginals[v][s];
    const before = state.isMoved ? state.reference[v][s] : null;
    const now = estimate(p, state.errorOf(v, s));
    const was = before === null ? "" : `, ${state.referenceName} ${estimate(before, state.referenceErrorOf(v, s))}`;
    set(this.element, "class", `state${isKnown ? " known" : ""}${isOut ? " out" : ""}`);
    set(this.element, "aria-pressed", String(isKnown));
    set(this.element, "aria-label", `${state.model.stateName(v, s)}: ${now}${was}${isOut ? ", ruled out" : ""}`);
    if (this.number.textContent !== now) this.number.textContent = now;
    this.bar.update(p, before, isKnown, state.kept !== null);
  }
}
