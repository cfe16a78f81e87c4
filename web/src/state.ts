// What the user has chosen; everything on the page is drawn from it.

import type { Answer, Question } from "./answers";
import type { WorstRow } from "./document";
import type { Evidence } from "./engine/factors";
import type { Model, View } from "./model";

export type Theme = "light" | "dark" | null; // null: as the system says
export type Order = "table" | "changed" | "name" | "degree";

/** What is looked at: one variable, a pair, or a larger set. */
export type Selection = readonly number[];

export interface Chosen {
  evidence: Evidence;
  selection: Selection;
  view: View; // of two models
  threshold: number; // of edge weights, below which edges are hidden
  theme: Theme;
  order: Order;
  search: string;
}

type Listener = () => void;

export class State {
  chosen: Chosen;
  answer: Answer | null = null; // the last that was possible
  asked: Omit<Question, "number"> | null = null; // to which it is the answer
  otherAnswer: Answer | null = null; // of the second of two models, to the same
  worst: WorstRow[] = []; // rows of data that fit worst, where there is a server that has them
  hasCards = false; // whether variables are drawn as cards
  kept: { marginals: number[][]; errors: number[][] | null; words: string } | null = null; // a case that others are compared with
  private drawn: Listener[] = []; // called in the next frame
  private told: Listener[] = []; // called at once
  private isAsked = false;
  private focused: { selection: Selection; view: View | null; on: Set<number> } = { selection: [], view: null, on: new Set() };
  private shift: { from: number[][]; to: number[][]; by: Float64Array } | null = null;

  constructor(public model: Model) {
    this.chosen = {
      evidence: new Map(),
      selection: [],
      view: model.view,
      threshold: defaultThreshold(model),
      theme: null,
      order: "table",
      search: "",
    };
  }

  get marginals(): number[][] {
    return this.answer?.marginals ?? this.model.before;
  }

  /** What the marks on all bars show: the second of two models, the model before anything was known, or a kept case. */
  get reference(): number[][] {
    const { other, before } = this.model;
    if (other) return this.otherAnswer?.marginals ?? other.before;
    return this.kept?.marginals ?? before;
  }

  /** The standard error of what is shown of a state; 0 where it is exact. */
  errorOf(v: number, s: number): number {
    const errors = this.answer ? this.answer.errors : this.model.beforeErrors;
    return errors?.[v][s] ?? 0;
  }

  referenceErrorOf(v: number, s: number): number {
    const { other, beforeErrors } = this.model;
    const errors = other ? (this.otherAnswer ? this.otherAnswer.errors : other.beforeErrors) : this.kept ? this.kept.errors : beforeErrors;
    return errors?.[v][s] ?? 0;
  }

  get referenceName(): string {
    return this.model.other ? "in B" : this.kept ? "kept" : "before";
  }

  /** Which variables stand out: those that are looked at, and the neighbours of a single one; null for all. */
  get focus(): ReadonlySet<number> | null {
    const { selection, view } = this.chosen;
    if (!selection.length) return null;
    if (this.focused.selection !== selection || this.focused.view !== view) {
      const near = selection.length > 1 ? [] : this.model.neighbours(selection[0]).map(({ variable }) => variable);
      this.focused = { selection, view, on: new Set([...selection, ...near]) };
    }
    return this.focused.on;
  }

  get isMoved(): boolean {
    return this.chosen.evidence.size > 0 || this.kept !== null || this.model.other !== null;
  }

  /** How far the probabilities of a variable have moved. */
  moved(v: number): number {
    const [from, to] = [this.reference, this.marginals];
    if (this.shift?.from !== from || this.shift.to !== to) {
      const most = (p: number[], v: number): number => p.reduce((most, q, s) => Math.max(most, Math.abs(q - from[v][s])), 0);
      this.shift = { from, to, by: Float64Array.from(to, most) };
    }
    return this.shift.by[v];
  }

  /** Draws what has changed; once in a frame, however much that was. */
  onFrame(listener: Listener): void {
    this.drawn.push(listener);
  }

  /** Hears of every choice at once: so an answer may be there before the frame. */
  onChoice(listener: Listener): void {
    this.told.push(listener);
  }

  set(change: Partial<Chosen>): void {
    this.chosen = { ...this.chosen, ...change };
    if (this.chosen.view !== this.model.view) this.model.show(this.chosen.view);
    for (const listener of this.told) listener();
    this.redraw();
  }

  redraw(): void {
    if (this.isAsked) return;
    this.isAsked = true;
    requestAnimationFrame(() => {
      this.isAsked = false;
      for (const listener of this.drawn) listener();
    });
  }

  /** A click on a state: sets it, or clears it where it is the one that is set. */
  toggle(v: number, s: number): void {
    const now = this.chosen.evidence.get(v);
    this.know(v, now?.length === 1 && now[0] === s ? null : [s]);
  }

  /** Rules a state out, or lets it in again; the last that is left is then known. */
  exclude(v: number, s: number): void {
    const n = this.model.states[v].length;
    const now = this.chosen.evidence.get(v) ?? Array.from({ length: n }, (_, k) => k);
    const left = now.includes(s) ? now.filter((k) => k !== s) : [...now, s].sort((a, b) => a - b);
    this.know(v, left.length === 0 || left.length === n ? null : left);
  }

  know(v: number, states: readonly number[] | null): void {
    const evidence = new Map(this.chosen.evidence);
    if (states) evidence.set(v, states);
    else evidence.delete(v);
    this.set({ evidence });
  }

  /** Keeps what is known now as the case that all others are compared with; or lets it go. */
  keepCase(): void {
    this.kept = this.kept ? null : { marginals: this.marginals, errors: this.answer ? this.answer.errors ?? null : this.model.beforeErrors, words: this.caseInWords };
    this.redraw();
  }

  get caseInWords(): string {
    return [...this.chosen.evidence.keys()].map((v) => this.evidenceInWords(v)).join(", ") || "nothing known";
  }

  evidenceInWords(v: number): string {
    const states = this.chosen.evidence.get(v)!;
    if (states.length === 1) return this.model.stateName(v, states[0]);
    const out = this.model.states[v].filter((_, s) => !states.includes(s));
    return `${this.model.names[v]} ≠ ${out.join(", ")}`;
  }
}

/** The 1.6 n strongest edges are shown at first: more of a large network is a ball of wool. */
export function defaultThreshold(model: Model): number {
  const shown = Math.ceil(1.6 * model.n);
  if (model.n <= 40 || model.strongest.length <= shown) return 0;
  return Math.abs(model.edge(model.strongest[shown - 1])[2]);
}

// --- the fragment of the address: a link that restores the view

export function toFragment({ evidence, selection, view, threshold, theme }: Chosen, standard: Chosen): string {
  const parts = new URLSearchParams();
  if (evidence.size) parts.set("given", [...evidence].map(([v, states]) => `${v}:${states.join("+")}`).join(","));
  if (selection.length) parts.set("show", selection.join("-"));
  if (view !== standard.view) parts.set("view", view);
  if (threshold !== standard.threshold) parts.set("from", threshold.toPrecision(6));
  if (theme) parts.set("theme", theme);
  return parts.toString();
}

/** Whatever of a fragment makes sense for this model; anything else is left out. */
export function fromFragment(text: string, model: Model): Partial<Chosen> {
  const parts = new URLSearchParams(text.replace(/^#/, ""));
  const isVariable = (v: number): boolean => Number.isInteger(v) && v >= 0 && v < model.n;
  const evidence = new Map<number, number[]>();
  for (const part of (parts.get("given") ?? "").split(",")) {
    const [v, list] = part.split(":");
    const states = (list ?? "").split("+").map(Number);
    const valid = list && isVariable(+v) && states.every((s) => Number.isInteger(s) && s >= 0 && s < model.states[+v].length);
    if (valid && states.length < model.states[+v].length) evidence.set(+v, [...new Set(states)].sort((a, b) => a - b));
  }
  const selection = (parts.get("show") ?? "").split("-").filter(Boolean).map(Number);
  const [from, theme, view] = ["from", "theme", "view"].map((name) => parts.get(name));
  return {
    evidence,
    selection: selection.every(isVariable) && new Set(selection).size === selection.length ? selection : [],
    ...(from !== null && Number.isFinite(+from) && +from >= 0 ? { threshold: +from } : {}),
    ...(model.other && (view === "a" || view === "b") ? { view } : {}),
    ...(theme === "light" || theme === "dark" ? { theme } : {}),
  };
}
