// The filter of edges by weight, over a histogram of all of them; and the legend.

import { h } from "./dom";
import type { Model } from "./model";
import { MOST_RINGS } from "./dots";
import type { Chosen, State } from "./state";
import { count, short, signed } from "./words";

const BINS = 48;

export class Filter {
  readonly element: HTMLElement;
  readonly legend = h("div", { class: "legend", "aria-label": "Legend" });
  private label = h("span");
  private shown = h("span");
  private bars: HTMLElement[];
  private slider: HTMLInputElement;
  private last: Chosen | null = null;
  private hadCards = false;
  private hadKept: State["kept"] = null;

  constructor(private state: State) {
    this.bars = Array.from({ length: BINS }, () => h("i"));
    this.slider = h("input", {
      type: "range", min: 0, max: 1000, step: 1, "aria-label": "Hide edges with smaller weights than",
      on: { input: () => state.set({ threshold: (this.model.largest * +this.slider.value) / 1000 }) },
    });
    this.element = h("div", { class: "filter" },
      h("div", { class: "line" }, this.label, this.shown), h("div", { class: "bins", "aria-hidden": "true" }, this.bars), this.slider);
    state.onFrame(() => this.update());
    this.update();
  }

  private get model(): Model {
    return this.state.model;
  }

  private drawBins(): void {
    const sizes = this.model.strongest.map((e) => Math.abs(this.model.edge(e)[2]));
    const bins = new Array<number>(BINS).fill(0);
    for (const size of sizes) bins[Math.min(BINS - 1, Math.floor((BINS * size) / this.model.largest))]++;
    const most = Math.max(...bins, 1);
    this.bars.forEach((column, k) => (column.style.height = `${bins[k] ? Math.max(6, (100 * bins[k]) / most) : 0}%`));
    this.element.hidden = sizes.length < 2;
  }

  /** Edges that are shown. */
  private get n(): number {
    const { model, chosen } = this.state;
    return model.shown(chosen.threshold);
  }

  private update(): void {
    const { model, chosen, hasCards, kept } = this.state;
    if (chosen === this.last && hasCards === this.hadCards && kept === this.hadKept) return;
    [this.hadCards, this.hadKept] = [hasCards, kept];
    if (chosen.view !== this.last?.view) this.drawBins();
    this.last = chosen;
    const { threshold, evidence } = chosen;
    this.label.textContent = `Edge weight from ${threshold.toFixed(2)}`;
    this.shown.textContent = `${count(this.n)} of ${count(model.strongest.length)}`;
    const value = Math.round((1000 * threshold) / this.model.largest);
    if (+this.slider.value !== value) this.slider.value = String(value);
    this.slider.setAttribute("aria-valuetext", `${threshold.toFixed(2)}, ${count(this.n)} edges`);
    this.bars.forEach((column, k) => column.classList.toggle("off", (k + 1) / BINS <= threshold / this.model.largest));
    this.renderLegend(evidence.size > 0);
  }

  private renderLegendOfTwo(item: (mark: string, text: string) => HTMLElement): void {
    this.legend.replaceChildren(
      item("stroke only-a", "only in A"), item("stroke only-b", "only in B"), item("stroke neither", "in both"),
      h("span", { class: "item" }, `width: difference B − A, ${this.model.document.edge_weight}`), item("tick", "B, on bars of A"));
  }

  private renderLegend(known: boolean): void {
    const { model, hasCards, isMoved, kept } = this.state;
    const hasColours = known && !model.other && !hasCards; // dots tell by them what cards tell by bars
    const first = (sign: number): number => {
      const e = model.strongest.find((e) => (model.isSigned(e) ? Math.sign(model.edge(e)[2]) : 0) === sign);
      return e === undefined ? 0 : model.edge(e)[2];
    };
    const [together, apart, neither] = [1, -1, 0].map(first); // the largest weight of each kind
    const item = (mark: string, text: string): HTMLElement => h("span", { class: "item" }, h("i", { class: mark, "aria-hidden": "true" }), text);
    if (model.view === "difference") return this.renderLegendOfTwo(item);
    const items = [
      h("span", { class: "item" }, `edge weight: ${model.document.edge_weight}`),
      together ? item("stroke together", `together, up to ${signed(together)}`) : null,
      apart ? item("stroke apart", `apart, up to ${signed(apart)}`) : null,
      neither ? item("stroke neither", `no sign, up to ${neither.toFixed(2)}`) : null,
      model.hasStability ? item("stroke faint", "faint: in few bootstrap samples") : null,
      model.explains(0) === null || model.n > MOST_RINGS ? null : item("ring", "ring: share explained by the others"),
      known ? item(hasCards ? "square known" : "square", "known") : null,
      kept ? item("square kept", `kept: ${short(kept.words, 40)}`) : isMoved ? item("tick", model.other ? "B, on bars of A" : "before") : null,
      hasColours ? item("dot likelier", "likelier") : null,
      hasColours ? item("dot less", "less likely") : null,
    ];
    this.legend.replaceChildren(...items.filter((one): one is HTMLElement => one !== null));
    this.legend.hidden = !this.legend.childElementCount;
  }
}
