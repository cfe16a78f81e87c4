// Lines between variables: by edge weight and sign, in batches of one look that stay until what is shown changes.

import type { Palette } from "./palette";
import type { Pen } from "./pen";
import type { Chosen, State } from "./state";

const WIDTHS = 16; // levels of them
const LEVELS = 15; // of opacity
const LOOKS = ["neither", "together", "apart", "onlyA", "onlyB"] as const; // as the palette names their colours
const DASHES: Record<string, number[]> = { apart: [5, 3.5], onlyA: [9, 4], onlyB: [2, 3] };
const IN_A_STROKE = 8; // lines
export const FEW = 60; // variables whose lines are curved, so that those along one another can be told apart
export const FADED = 0.13;

/** Which variables stand out; null for all. */
export type Focus = ReadonlySet<number> | null;

interface Batch {
  look: (typeof LOOKS)[number];
  width: number;
  opacity: number;
  edges: number[];
}

export class Lines {
  private visible: number[] = []; // edges, the weakest first
  private clear: number[] = []; // those that stand out
  private batches: Batch[] = [];
  private last: Chosen | null = null; // for which they were found

  /** Ends of lines are where variables are on the screen. */
  constructor(
    private state: State,
    private px: Float64Array,
    private py: Float64Array,
  ) {}

  draw(pen: Pen, width: number, height: number, palette: Palette): void {
    this.find();
    for (const batch of this.batches) {
      pen.strokeStyle = palette[batch.look];
      pen.setLineDash(DASHES[batch.look] ?? []);
      pen.lineWidth = batch.width;
      pen.globalAlpha = batch.opacity;
      this.stroke(pen, batch.edges, width, height);
    }
    pen.setLineDash([]);
    pen.globalAlpha = 1;
  }

  /** A few lines a stroke: without a graphics card, the time a path takes grows faster than the number of its lines. */
  private stroke(pen: Pen, edges: number[], width: number, height: number): void {
    const { px, py } = this;
    const { model } = this.state;
    const straight = model.n > FEW;
    let n = 0;
    pen.beginPath();
    for (const e of edges) {
      const edge = model.edge(e);
      const [ax, ay, bx, by] = [px[edge[0]], py[edge[0]], px[edge[1]], py[edge[1]]];
      if ((ax < 0 && bx < 0) || (ay < 0 && by < 0) || (ax > width && bx > width) || (ay > height && by > height)) continue;
      pen.moveTo(ax, ay);
      if (straight) pen.lineTo(bx, by);
      else pen.quadraticCurveTo(...this.bend(e), bx, by);
      if (++n % IN_A_STROKE) continue;
      pen.stroke();
      pen.beginPath();
    }
    if (n % IN_A_STROKE) pen.stroke();
  }

  /** The point that draws a line aside. */
  private bend(e: number): [number, number] {
    const [a, b] = this.state.model.edge(e);
    const [dx, dy] = [this.px[b] - this.px[a], this.py[b] - this.py[a]];
    const side = (a + b) % 2 ? 0.09 : -0.09;
    return [(this.px[a] + this.px[b]) / 2 - side * dy, (this.py[a] + this.py[b]) / 2 + side * dx];
  }

  // --- which lines, and how they look

  /** Finds lines anew, where another choice shows others. */
  private find(): void {
    const { last, state } = this;
    const { chosen, model } = state;
    const { threshold, view, selection } = chosen;
    this.last = chosen;
    const isSame = last && last.threshold === threshold && last.view === view;
    if (isSame && last.selection === selection) return;
    if (!isSame) this.visible = model.strongest.slice(0, model.shown(threshold)).reverse();
    const focus = state.focus;
    // Of what is looked at all lines are shown, also those that the filter hides: the panel tells of them all.
    const all = selection.length ? [...new Set(selection.flatMap((v) => model.neighbours(v).map(({ edge }) => edge)))].reverse() : this.visible;
    this.clear = all.filter((e) => this.isClear(e, focus));
    const faint = focus ? this.visible.filter((e) => !this.isClear(e, focus)) : [];
    this.batches = [...this.batched(faint, FADED), ...this.batched(this.clear, 1)];
  }

  /** Whether an edge stands out: all do, or those of the variable that is looked at, or within the set. */
  private isClear(e: number, focus: Focus): boolean {
    if (!focus) return true;
    const { selection } = this.state.chosen;
    const [a, b] = this.state.model.edge(e);
    return selection.length === 1 ? a === selection[0] || b === selection[0] : focus.has(a) && focus.has(b);
  }

  private batched(edges: number[], opacity: number): Batch[] {
    const { model } = this.state;
    const batches = new Map<number, Batch>();
    for (const e of edges) {
      const level = Math.min(WIDTHS - 1, Math.floor((WIDTHS * Math.abs(model.edge(e)[2])) / model.largest));
      const shown = Math.round(LEVELS * (model.stability(e)?.[0] ?? level / (WIDTHS - 1)));
      const look = this.look(e);
      const key = (WIDTHS * shown + level) * LOOKS.length + look;
      const batch = batches.get(key);
      if (batch) batch.edges.push(e);
      else {
        const width = this.width((level + 0.5) / WIDTHS);
        batches.set(key, { look: LOOKS[look], width, opacity: opacity * this.clarity(shown / LEVELS), edges: [e] });
      }
    }
    return [...batches].sort(([k], [l]) => k - l).map(([, batch]) => batch);
  }

  /** By sign; or, where two models are compared, by which of them has it. */
  private look(e: number): number {
    const { model } = this.state;
    if (model.view === "difference") return { both: 0, a: 3, b: 4 }[model.where(e)];
    return !model.isSigned(e) ? 0 : model.edge(e)[2] < 0 ? 2 : 1;
  }

  /** How opaque a line is: by its weight or, where resamples were given, by how many of them have it. */
  private clarity(share: number): number {
    const { model } = this.state;
    if (model.view === "difference") return 0.45 + 0.5 * share;
    return model.hasStability ? 0.08 + 0.87 * share ** 1.5 : 0.28 + 0.66 * share;
  }

  /** Lines of up to one pixel are drawn many times faster than wider ones: of many, only the strongest are. */
  private width(share: number): number {
    return this.state.model.n > FEW ? Math.max(1, 4 * share - 1) : 1.1 + 4.4 * share;
  }

  // --- which line is at a point

  at(x: number, y: number): number | null {
    this.find();
    let [best, nearest] = [-1, 6];
    for (const e of this.clear) {
      const distance = this.distance(e, x, y);
      if (distance <= nearest) [best, nearest] = [e, distance];
    }
    return best < 0 ? null : best;
  }

  private distance(e: number, x: number, y: number): number {
    const [a, b] = this.state.model.edge(e);
    const [ax, ay, bx, by] = [this.px[a], this.py[a], this.px[b], this.py[b]];
    if (this.state.model.n > FEW) return toSegment(x, y, ax, ay, bx, by);
    const [cx, cy] = this.bend(e);
    let [distance, fx, fy] = [Infinity, ax, ay];
    for (let k = 1; k <= 8; k++) {
      const t = k / 8;
      const [gx, gy] = [quadratic(ax, cx, bx, t), quadratic(ay, cy, by, t)];
      distance = Math.min(distance, toSegment(x, y, fx, fy, gx, gy));
      [fx, fy] = [gx, gy];
    }
    return distance;
  }
}

function quadratic(a: number, c: number, b: number, t: number): number {
  return (1 - t) ** 2 * a + 2 * t * (1 - t) * c + t ** 2 * b;
}

function toSegment(x: number, y: number, ax: number, ay: number, bx: number, by: number): number {
  const [dx, dy] = [bx - ax, by - ay];
  const t = Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(x - ax - t * dx, y - ay - t * dy);
}
