// Drawing a network: lines by strength, then variables as dots with names, or as cards with their bars.

import type { Model } from "./model";
import type { Palette } from "./palette";
import type { Pen } from "./pen";
import type { State } from "./state";
import { percent, short } from "./words";

const FONT = 'system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif';
const BATCHES = 16; // levels of width of lines
const LEVELS = 15; // of opacity
const LOOKS = ["neither", "together", "apart", "onlyA", "onlyB"] as const; // of lines, as the palette names their colours
const DASHES: Record<string, number[]> = { apart: [5, 3.5], onlyA: [9, 4], onlyB: [2, 3] };
const IN_A_STROKE = 8; // lines
export const FROM_CARDS = 104; // pixels a variable has to itself, from which on it is drawn as a card that can be read
const FULL_CARD = 150;
const CARD_STATES = 5;
const LABEL = 11.5; // pixels of a letter
const LABEL_FONT = `500 ${LABEL}px ${FONT}`;
export const FEW = 60; // variables whose lines are curved, so that those along one another can be told apart
const FADED = 0.13;
const MOST_LABELS = 90;
const LABEL_ROOM = 5500; // square pixels of the picture for each
const MOST_FITS = 2000; // texts that are remembered: each step of a zoom has its own
export const MOST_RINGS = 150; // variables around which there is room for one

export interface View {
  x: number; // of the middle, in units of the layout
  y: number;
  unit: number; // pixels of one
}

export interface Size {
  width: number;
  height: number;
}

interface Card extends Size {
  x: number;
  y: number;
  scale: number;
}

/** Which variables stand out; null for all. */
export type Focus = ReadonlySet<number> | null;

export function focusOf(state: State): Focus {
  const { selection } = state.chosen;
  if (!selection.length) return null;
  const near = selection.length > 1 ? [] : state.model.neighbours[selection[0]].map((neighbour) => neighbour.variable);
  return new Set([...selection, ...near]);
}

export class Scene {
  readonly px: Float64Array; // places on the screen, of the last frame
  readonly py: Float64Array;
  hovered: number | null = null;
  private visible: number[] = []; // edges, the weakest first
  private filtered = ""; // by what threshold, of what view
  private reach: Float64Array; // radius of each variable's dot, in units of the layout: by the strengths of its edges
  private widths = new Map<string, number>(); // of texts, as labels
  private fits = new Map<string, string>(); // texts of cards, by font and room

  constructor(
    private state: State,
    readonly places: [number, number][],
  ) {
    this.px = new Float64Array(state.model.n);
    this.py = new Float64Array(state.model.n);
    const { neighbours } = state.model;
    const total = (v: number): number => neighbours[v].reduce((sum, { strength }) => sum + Math.abs(strength), 0);
    this.reach = Float64Array.from(neighbours, (_, v) => 0.1 + 0.035 * Math.sqrt(total(v)));
  }

  get model(): Model {
    return this.state.model;
  }

  get edges(): number[] {
    const { threshold, view } = this.state.chosen;
    if (`${threshold} ${view}` !== this.filtered) {
      this.filtered = `${threshold} ${view}`;
      this.visible = this.model.strongest.filter((e) => Math.abs(this.model.edge(e)[2]) >= threshold).reverse();
    }
    return this.visible;
  }

  hasCards(view: View): boolean {
    return view.unit >= FROM_CARDS;
  }

  draw(pen: Pen, size: Size, view: View, palette: Palette): void {
    this.project(size, view);
    pen.setLineDash([]);
    pen.globalAlpha = 1;
    pen.fillStyle = palette.ground;
    pen.beginPath();
    pen.rect(0, 0, size.width, size.height);
    pen.fill();
    const focus = focusOf(this.state);
    this.drawArea(pen, palette);
    this.drawEdges(pen, size, palette, focus);
    const seen = this.inside(size, 80);
    if (this.hasCards(view)) this.drawCards(pen, view, palette, focus, seen);
    else this.drawDots(pen, size, view, palette, focus, seen);
  }

  project({ width, height }: Size, view: View): void {
    for (let v = 0; v < this.px.length; v++) {
      this.px[v] = width / 2 + (this.places[v][0] - view.x) * view.unit;
      this.py[v] = height / 2 + (this.places[v][1] - view.y) * view.unit;
    }
  }

  private inside({ width, height }: Size, margin: number): number[] {
    const out: number[] = [];
    for (let v = 0; v < this.px.length; v++) {
      const [x, y] = [this.px[v], this.py[v]];
      if (x > -margin && x < width + margin && y > -margin && y < height + margin) out.push(v);
    }
    return out;
  }

  /** The set of three or more variables that is looked at, as a surface. */
  private drawArea(pen: Pen, palette: Palette): void {
    const { selection } = this.state.chosen;
    if (selection.length < 3) return;
    const middle = [this.px, this.py].map((at) => selection.reduce((sum, v) => sum + at[v], 0) / selection.length);
    const angle = (v: number): number => Math.atan2(this.py[v] - middle[1], this.px[v] - middle[0]);
    const around = [...selection].sort((a, b) => angle(a) - angle(b));
    pen.beginPath();
    around.forEach((v, k) => (k ? pen.lineTo(this.px[v], this.py[v]) : pen.moveTo(this.px[v], this.py[v])));
    pen.closePath();
    pen.globalAlpha = 0.16;
    pen.fillStyle = palette.known;
    pen.fill();
    pen.globalAlpha = 0.8;
    pen.strokeStyle = palette.known;
    pen.lineWidth = 1.2;
    pen.setLineDash([2, 3]);
    pen.stroke();
    pen.setLineDash([]);
  }

  private drawEdges(pen: Pen, size: Size, palette: Palette, focus: Focus): void {
    const faint: number[] = [];
    const clear: number[] = [];
    for (const e of this.edges) {
      if (this.isOutside(e, size)) continue;
      (this.isClear(e, focus) ? clear : faint).push(e);
    }
    this.strokeAll(pen, faint, palette, FADED);
    this.strokeAll(pen, clear, palette, 1);
  }

  /** Whether an edge stands out: all do, or those of the variable that is looked at, or within the set. */
  private isClear(e: number, focus: Focus): boolean {
    if (!focus) return true;
    const { selection } = this.state.chosen;
    const [a, b] = this.model.edge(e);
    return selection.length === 1 ? a === selection[0] || b === selection[0] : focus.has(a) && focus.has(b);
  }

  private isOutside(e: number, { width, height }: Size): boolean {
    const [a, b] = this.model.edge(e);
    const [ax, ay, bx, by] = [this.px[a], this.py[a], this.px[b], this.py[b]];
    return (ax < 0 && bx < 0) || (ay < 0 && by < 0) || (ax > width && bx > width) || (ay > height && by > height);
  }

  private strokeAll(pen: Pen, edges: number[], palette: Palette, opacity: number): void {
    const batches = new Map<number, number[]>();
    for (const e of edges) {
      const strength = this.model.edge(e)[2];
      const level = Math.min(BATCHES - 1, Math.floor((BATCHES * Math.abs(strength)) / this.model.largest));
      const shown = Math.round(LEVELS * (this.model.stability(e)?.[0] ?? level / (BATCHES - 1)));
      const key = (BATCHES * shown + level) * LOOKS.length + LOOKS.indexOf(this.look(e));
      const batch = batches.get(key);
      if (batch) batch.push(e);
      else batches.set(key, [e]);
    }
    for (const key of [...batches.keys()].sort((a, b) => a - b)) {
      const [look, rest] = [LOOKS[key % LOOKS.length], Math.floor(key / LOOKS.length)];
      const share = ((rest % BATCHES) + 0.5) / BATCHES;
      pen.strokeStyle = palette[look];
      pen.setLineDash(DASHES[look] ?? []);
      pen.lineWidth = this.lineWidth(share);
      pen.globalAlpha = opacity * this.clarity(Math.floor(rest / BATCHES) / LEVELS);
      this.strokeBatch(pen, batches.get(key)!);
    }
    pen.setLineDash([]);
    pen.globalAlpha = 1;
  }

  /** By sign; or, where two models are compared, by which of them has it. */
  private look(e: number): (typeof LOOKS)[number] {
    if (this.model.view === "difference") return ({ a: "onlyA", b: "onlyB", both: "neither" } as const)[this.model.where(e)];
    return !this.model.isSigned(e) ? "neither" : this.model.edge(e)[2] < 0 ? "apart" : "together";
  }

  /** How opaque a line is: by its strength or, where resamples were given, by how many of them have it. */
  private clarity(share: number): number {
    if (this.model.view === "difference") return 0.45 + 0.5 * share;
    return this.model.hasStability ? 0.08 + 0.87 * share ** 1.5 : 0.28 + 0.66 * share;
  }

  /** Lines of up to one pixel are drawn many times faster than wider ones: of many, only the strongest are. */
  private lineWidth(share: number): number {
    return this.model.n > FEW ? Math.max(1, 4 * share - 1) : 1.1 + 4.4 * share;
  }

  /** A few lines a stroke: without a graphics card, the time a path takes grows faster than the number of its lines. */
  private strokeBatch(pen: Pen, edges: number[]): void {
    for (let k = 0; k < edges.length; k += IN_A_STROKE) {
      pen.beginPath();
      for (let l = k; l < Math.min(k + IN_A_STROKE, edges.length); l++) this.trace(pen, edges[l]);
      pen.stroke();
    }
  }

  private trace(pen: Pen, e: number): void {
    const [a, b] = this.model.edge(e);
    const [ax, ay, bx, by] = [this.px[a], this.py[a], this.px[b], this.py[b]];
    pen.moveTo(ax, ay);
    if (this.model.n > FEW) pen.lineTo(bx, by);
    else pen.quadraticCurveTo(...this.bend(e), bx, by);
  }

  /** The point that draws a line aside. */
  private bend(e: number): [number, number] {
    const [a, b] = this.model.edge(e);
    const [dx, dy] = [this.px[b] - this.px[a], this.py[b] - this.py[a]];
    const side = (a + b) % 2 ? 0.09 : -0.09;
    return [(this.px[a] + this.px[b]) / 2 - side * dy, (this.py[a] + this.py[b]) / 2 + side * dx];
  }

  // --- variables as dots

  private radius(v: number, view: View): number {
    return Math.min(11, Math.max(2.2, view.unit * this.reach[v]));
  }

  /** Dots of one look in one path each. */
  private drawDots(pen: Pen, size: Size, view: View, palette: Palette, focus: Focus, seen: number[]): void {
    const looks = new Map<string, { colour: string; opacity: number; dots: number[] }>();
    for (const v of seen) {
      const opacity = Math.round(20 * (!focus || focus.has(v) ? 1 : FADED) * this.dotOpacity(v)) / 20;
      const colour = this.dotColour(v, palette);
      const look = looks.get(colour + opacity);
      if (look) look.dots.push(v);
      else looks.set(colour + opacity, { colour, opacity, dots: [v] });
    }
    const inOrder = [...looks.values()].sort((one, other) => one.opacity - other.opacity);
    for (const { colour, opacity, dots } of inOrder) {
      this.fillDots(pen, dots, view, 1, palette.ground, Math.max(opacity, 0.5)); // a gap between a dot and its lines
      this.fillDots(pen, dots, view, 0, colour, opacity);
    }
    pen.globalAlpha = 1;
    if (this.model.n <= MOST_RINGS) {
      for (const v of seen) {
        pen.globalAlpha = !focus || focus.has(v) ? 1 : FADED;
        this.drawExplained(pen, v, this.px[v], this.py[v], this.radius(v, view) + 3, palette);
      }
    }
    for (const v of this.state.chosen.selection) this.ring(pen, this.px[v], this.py[v], this.radius(v, view) + 6, palette);
    this.drawLabels(pen, size, view, palette, focus, seen);
  }

  private fillDots(pen: Pen, dots: number[], view: View, wider: number, colour: string, opacity: number): void {
    pen.beginPath();
    for (const v of dots) this.traceDot(pen, v, this.radius(v, view) + wider);
    pen.globalAlpha = opacity;
    pen.fillStyle = colour;
    pen.fill();
  }

  /** A circle, or a square for what is known. */
  private traceDot(pen: Pen, v: number, r: number): void {
    const [x, y] = [this.px[v], this.py[v]];
    if (this.state.chosen.evidence.has(v)) return pen.rect(x - r - 1, y - r - 1, 2 * r + 2, 2 * r + 2);
    pen.moveTo(x + r, y);
    pen.arc(x, y, r, 0, 2 * Math.PI);
  }

  /** A ring that is closed as far as the other variables explain this one. */
  private drawExplained(pen: Pen, v: number, x: number, y: number, radius: number, palette: Palette, inCard = false): void {
    const share = this.model.explained(v);
    if (share === null || (this.state.chosen.evidence.has(v) && !inCard)) return;
    const arc = (from: number, to: number, colour: string): void => {
      pen.beginPath();
      pen.arc(x, y, radius, from, to);
      pen.strokeStyle = colour;
      pen.lineWidth = 2;
      pen.stroke();
    };
    arc(0, 2 * Math.PI, palette.track);
    if (share > 0.005) arc(-Math.PI / 2, (2 * share - 0.5) * Math.PI, palette.ink);
  }

  private ring(pen: Pen, x: number, y: number, radius: number, palette: Palette): void {
    pen.globalAlpha = 1;
    pen.beginPath();
    pen.arc(x, y, radius, 0, 2 * Math.PI);
    pen.strokeStyle = palette.ink;
    pen.lineWidth = 2;
    pen.stroke();
  }

  /** Without evidence by community; with it by how the last state of the variable moved. */
  private dotColour(v: number, palette: Palette): string {
    const { evidence } = this.state.chosen;
    if (evidence.has(v)) return palette.ink;
    if (evidence.size && !this.model.other) return this.change(v) >= 0 ? palette.likelier : palette.lessLikely;
    const community = this.model.document.community[v];
    return community < 0 ? palette.quiet : palette.communities[community % palette.communities.length];
  }

  private dotOpacity(v: number): number {
    const { evidence } = this.state.chosen;
    return evidence.size && !evidence.has(v) && !this.model.other ? Math.min(1, 0.3 + 4 * this.state.moved(v)) : 1;
  }

  private change(v: number): number {
    const last = this.model.states[v].length - 1;
    return this.state.marginals[v][last] - this.state.reference[v][last];
  }

  /** Names of the most important variables, where they cover no other name and no dot. */
  private drawLabels(pen: Pen, size: Size, view: View, palette: Palette, focus: Focus, seen: number[]): void {
    const { evidence, selection } = this.state.chosen;
    const weight = new Float64Array(this.model.n);
    for (const v of seen) {
      const chosen = selection.includes(v) || evidence.has(v) || v === this.hovered;
      weight[v] = (chosen ? 1e6 : 0) + (evidence.size ? 40 * this.state.moved(v) : 0) + this.radius(v, view);
    }
    const candidates = seen.filter((v) => !focus || focus.has(v) || v === this.hovered);
    candidates.sort((a, b) => weight[b] - weight[a]);
    const taken = new Taken();
    const most = Math.min(MOST_LABELS, (size.width * size.height) / LABEL_ROOM);
    pen.font = LABEL_FONT;
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    for (const v of candidates.slice(0, 4 * MOST_LABELS)) {
      const text = short(this.model.names[v], 26);
      const width = this.labelWidth(pen, text);
      const r = this.radius(v, view) + 4;
      const [x, y] = [this.px[v], this.py[v]];
      const spots: [number, number][] = [[x + r, y], [x - r - width, y], [x - width / 2, y - r - 5], [x - width / 2, y + r + 6]];
      const spot = spots.find(([left, middle]) => left > 2 && left + width < size.width - 2 && taken.isFree(left, middle, width));
      if (!spot) continue;
      taken.add(spot[0], spot[1], width);
      pen.globalAlpha = 0.78;
      pen.fillStyle = palette.ground;
      pen.beginPath();
      pen.roundRect(spot[0] - 2, spot[1] - 7, width + 4, 14, 3);
      pen.fill();
      pen.globalAlpha = 1;
      pen.fillStyle = palette.ink;
      pen.fillText(text, spot[0], spot[1]);
      if (taken.n >= most) return;
    }
  }

  private labelWidth(pen: Pen, text: string): number {
    let width = this.widths.get(text);
    if (width === undefined) {
      pen.font = LABEL_FONT;
      width = pen.measureText(text).width;
      this.widths.set(text, width);
    }
    return width;
  }

  // --- variables as cards

  cardScale(view: View): number {
    return Math.min(1.15, Math.max(0.6, view.unit / FULL_CARD));
  }

  /** The upper left corner and size of a card. */
  card(v: number, view: View): Card {
    const scale = this.cardScale(view);
    const rows = Math.min(this.model.states[v].length, CARD_STATES + 1);
    const [width, height] = [124 * scale, (24 + 15 * rows) * scale];
    return { x: this.px[v] - width / 2, y: this.py[v] - height / 2, width, height, scale };
  }

  /** How many states a card lists: all, or the first of them above a line that says how many more there are. */
  private listed(v: number): number {
    const n = this.model.states[v].length;
    return n > CARD_STATES + 1 ? CARD_STATES : n;
  }

  private drawCards(pen: Pen, view: View, palette: Palette, focus: Focus, seen: number[]): void {
    const { selection } = this.state.chosen;
    const rank = (v: number): number => (selection.includes(v) ? 2 : !focus || focus.has(v) ? 1 : 0);
    for (const v of [...seen].sort((a, b) => rank(a) - rank(b))) {
      const faded = this.state.chosen.evidence.has(v) ? 0.75 : 0.35; // what is known stays in sight
      this.drawCard(pen, v, view, palette, focus !== null && !focus.has(v) ? faded : 1, selection.includes(v));
    }
    pen.globalAlpha = 1;
  }

  private drawCard(pen: Pen, v: number, view: View, palette: Palette, opacity: number, selected: boolean): void {
    const card = this.card(v, view);
    const { x, y, width, height, scale } = card;
    const known = this.state.chosen.evidence.get(v);
    pen.globalAlpha = opacity;
    pen.beginPath();
    pen.roundRect(x, y, width, height, 6 * scale);
    pen.fillStyle = known ? palette.knownCard : palette.card;
    pen.fill();
    pen.strokeStyle = known ? palette.known : selected || v === this.hovered ? palette.ink : palette.line;
    pen.lineWidth = known || selected ? 1.8 : 1;
    pen.stroke();
    pen.textBaseline = "middle";
    pen.textAlign = "left";
    pen.font = `600 ${Math.max(11, 12 * scale)}px ${FONT}`;
    pen.fillStyle = palette.ink;
    const aside = this.model.explained(v) === null ? 16 : 30;
    pen.fillText(this.fitting(pen, this.model.names[v], width - aside * scale), x + 8 * scale, y + 13 * scale);
    this.drawExplained(pen, v, x + width - 12 * scale, y + 13 * scale, 5 * scale, palette, true);
    const shown = this.model.states[v].slice(0, this.listed(v));
    const size = Math.max(9.5, 10.5 * scale);
    const room = Math.min(46 * scale, Math.max(...shown.map((name) => (this.labelWidth(pen, name) * size) / LABEL)) + 1);
    pen.font = `${size}px ${FONT}`;
    shown.forEach((_, s) => this.drawState(pen, v, s, card, room, palette));
    const rest = this.model.states[v].length - shown.length;
    if (rest > 0) {
      pen.fillStyle = palette.quiet;
      pen.fillText(`and ${rest} more`, x + 8 * scale, y + (28 + 15 * CARD_STATES) * scale);
    }
  }

  /** A state in its card: name in the room that names have, bar with a mark of before, probability. */
  private drawState(pen: Pen, v: number, s: number, { x, y: top, scale }: Card, room: number, palette: Palette): void {
    const p = this.state.marginals[v][s];
    const known = this.state.chosen.evidence.get(v);
    const isKnown = known?.length === 1 && known[0] === s;
    const y = top + (28 + 15 * s) * scale;
    const left = x + room + 14 * scale;
    const width = x + 78 * scale - left;
    pen.fillStyle = isKnown ? palette.known : palette.quiet;
    pen.fillText(this.fitting(pen, this.model.states[v][s], room), x + 8 * scale, y);
    pen.fillStyle = palette.track;
    pen.beginPath();
    pen.rect(left, y - 3.5 * scale, width, 7 * scale);
    pen.fill();
    pen.fillStyle = isKnown ? palette.known : palette.bar;
    pen.beginPath();
    pen.rect(left, y - 3.5 * scale, width * p, 7 * scale);
    pen.fill();
    if (this.state.isMoved) {
      pen.fillStyle = palette.ink;
      pen.beginPath();
      pen.rect(left + width * this.state.reference[v][s] - 0.75, y - 5.5 * scale, 1.5, 11 * scale);
      pen.fill();
    }
    pen.textAlign = "right";
    pen.fillStyle = isKnown ? palette.known : palette.ink;
    pen.fillText(percent(p, 0), x + 118 * scale, y);
    pen.textAlign = "left";
  }

  /** As much of a text as has room; found once for each size of cards. */
  private fitting(pen: Pen, text: string, width: number): string {
    const key = `${pen.font}${width}${text}`;
    let shown = this.fits.get(key);
    if (shown === undefined) {
      shown = short(text, 40);
      while (shown.length > 1 && pen.measureText(shown).width > width) shown = `${shown.slice(0, -2)}…`;
      if (this.fits.size > MOST_FITS) this.fits.clear();
      this.fits.set(key, shown);
    }
    return shown;
  }

  // --- what is at a point

  variableAt(x: number, y: number, view: View): number | null {
    if (this.hasCards(view)) {
      for (let v = this.px.length - 1; v >= 0; v--) {
        const card = this.card(v, view);
        if (x >= card.x && x <= card.x + card.width && y >= card.y && y <= card.y + card.height) return v;
      }
      return null;
    }
    let [best, nearest] = [-1, Infinity];
    for (let v = 0; v < this.px.length; v++) {
      const distance = Math.hypot(this.px[v] - x, this.py[v] - y) - this.radius(v, view);
      if (distance < nearest) [best, nearest] = [v, distance];
    }
    return nearest <= 6 ? best : null;
  }

  /** The state of a variable's card at a point, if it is on one. */
  stateAt(v: number, y: number, view: View): number | null {
    if (!this.hasCards(view)) return null;
    const card = this.card(v, view);
    const s = Math.floor((y - card.y - 20.5 * card.scale) / (15 * card.scale));
    return s >= 0 && s < this.listed(v) ? s : null;
  }

  edgeAt(x: number, y: number): number | null {
    const focus = focusOf(this.state);
    let [best, nearest] = [-1, 6];
    for (const e of this.edges) {
      if (!this.isClear(e, focus)) continue;
      const distance = this.distance(e, x, y);
      if (distance <= nearest) [best, nearest] = [e, distance];
    }
    return best < 0 ? null : best;
  }

  private distance(e: number, x: number, y: number): number {
    const [a, b] = this.model.edge(e);
    const [ax, ay, bx, by] = [this.px[a], this.py[a], this.px[b], this.py[b]];
    if (this.model.n > FEW) return toSegment(x, y, ax, ay, bx, by);
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

/** Places of labels, in flat arrays: they are asked a hundred thousand times a frame. */
class Taken {
  n = 0;
  private left = new Float64Array(MOST_LABELS);
  private right = new Float64Array(MOST_LABELS);
  private middle = new Float64Array(MOST_LABELS);

  isFree(left: number, middle: number, width: number): boolean {
    for (let k = 0; k < this.n; k++) {
      if (left + width >= this.left[k] && left <= this.right[k] && Math.abs(middle - this.middle[k]) <= 14) return false;
    }
    return true;
  }

  add(left: number, middle: number, width: number): void {
    [this.left[this.n], this.right[this.n], this.middle[this.n]] = [left, left + width, middle];
    this.n++;
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
