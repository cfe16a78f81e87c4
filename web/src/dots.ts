// Variables as dots with names, where there is no room for cards.

import { FADED } from "./lines";
import type { Palette } from "./palette";
import type { Pen } from "./pen";
import { drawExplained, type Size, type View } from "./scene";
import type { State } from "./state";
import { LABEL_FONT, type Texts } from "./texts";
import { short } from "./words";

const MOST_LABELS = 90;
const LABEL_ROOM = 5500; // square pixels of the picture for each
const LONGEST_LABEL = 26; // letters
const USUAL_UNIT = 40; // pixels: names matter alike at every zoom
export const MOST_RINGS = 150; // variables around which there is room for one

interface Look {
  colour: string;
  opacity: number;
}

export class Dots {
  private reach: Float64Array; // radius of each dot, in units of the layout: by the weights of its edges
  private looks: Look[] = []; // the faintest first
  private lookOf = new Int32Array(0); // of each variable
  private order: number[] = []; // of names, those that matter most first
  private last: unknown[] = []; // of what these were found

  constructor(
    private state: State,
    private texts: Texts,
    private px: Float64Array,
    private py: Float64Array,
  ) {
    this.reach = state.model.pull.map((total) => 0.1 + 0.035 * Math.sqrt(total));
  }

  radius(v: number, unit: number): number {
    return Math.min(11, Math.max(2.2, unit * this.reach[v]));
  }

  draw(pen: Pen, size: Size, { unit }: View, palette: Palette, seen: number[], hovered: number | null): void {
    this.find(palette);
    this.drawAll(pen, unit, palette, seen);
    const { model, focus, chosen } = this.state;
    if (model.n <= MOST_RINGS) {
      for (const v of seen) {
        pen.globalAlpha = !focus || focus.has(v) ? 1 : FADED;
        if (!chosen.evidence.has(v)) drawExplained(pen, model.explains(v), this.px[v], this.py[v], this.radius(v, unit) + 3, palette);
      }
    }
    for (const v of chosen.selection) this.ring(pen, v, this.radius(v, unit) + 6, palette);
    this.drawLabels(pen, size, unit, palette, hovered);
  }

  // --- dots

  /** Dots of one look and size at once: as ends of lines without length, which take a third of the time of arcs. */
  private drawAll(pen: Pen, unit: number, palette: Palette, seen: number[]): void {
    const { evidence } = this.state.chosen;
    const groups = this.looks.map((): number[][] => []);
    const known: number[] = [];
    for (const v of seen) {
      if (evidence.has(v)) known.push(v);
      else (groups[this.lookOf[v]][Math.round(2 * this.radius(v, unit))] ??= []).push(v);
    }
    pen.lineCap = "round";
    this.looks.forEach(({ colour, opacity }, k) => {
      this.strokeDots(pen, groups[k], 1, palette.ground, Math.max(opacity, 0.5)); // a gap between a dot and its lines
      this.strokeDots(pen, groups[k], 0, colour, opacity);
    });
    pen.lineCap = "butt";
    for (const v of known) this.square(pen, v, this.radius(v, unit) + 1, palette);
    pen.globalAlpha = 1;
  }

  private strokeDots(pen: Pen, bySize: number[][], wider: number, colour: string, opacity: number): void {
    pen.strokeStyle = colour;
    pen.globalAlpha = opacity;
    bySize.forEach((dots, halves) => {
      pen.beginPath();
      for (const v of dots) {
        pen.moveTo(this.px[v], this.py[v]);
        pen.lineTo(this.px[v] + 0.01, this.py[v]); // a line without any length would not be drawn
      }
      pen.lineWidth = halves + 2 * wider;
      pen.stroke();
    });
  }

  /** What is known. */
  private square(pen: Pen, v: number, r: number, palette: Palette): void {
    const { focus } = this.state;
    pen.globalAlpha = !focus || focus.has(v) ? 1 : FADED;
    pen.fillStyle = palette.ink;
    pen.beginPath();
    pen.rect(this.px[v] - r, this.py[v] - r, 2 * r, 2 * r);
    pen.fill();
  }

  private ring(pen: Pen, v: number, radius: number, palette: Palette): void {
    pen.globalAlpha = 1;
    pen.beginPath();
    pen.arc(this.px[v], this.py[v], radius, 0, 2 * Math.PI);
    pen.strokeStyle = palette.ink;
    pen.lineWidth = 2;
    pen.stroke();
  }

  // --- what stays until a choice or an answer changes

  private find(palette: Palette): void {
    const { chosen, marginals, reference } = this.state;
    const now = [chosen, marginals, reference, palette];
    if (now.every((part, k) => part === this.last[k])) return;
    this.last = now;
    this.findLooks(palette);
    this.findOrder();
  }

  private findLooks(palette: Palette): void {
    const { model, focus } = this.state;
    const found = new Map<string, Look>();
    const keys = model.names.map((_, v) => {
      const opacity = Math.round(20 * (!focus || focus.has(v) ? 1 : FADED) * this.opacity(v)) / 20;
      const colour = this.colour(v, palette);
      if (!found.has(colour + opacity)) found.set(colour + opacity, { colour, opacity });
      return colour + opacity;
    });
    const inOrder = [...found].sort(([, one], [, other]) => one.opacity - other.opacity);
    this.looks = inOrder.map(([, look]) => look);
    const place = new Map(inOrder.map(([key], k) => [key, k]));
    this.lookOf = Int32Array.from(keys, (key) => place.get(key)!);
  }

  private findOrder(): void {
    const { model, focus, chosen } = this.state;
    const { evidence, selection } = chosen;
    const weight = this.reach.map((_, v) =>
      (selection.includes(v) || evidence.has(v) ? 1e6 : 0) + (evidence.size ? 40 * this.state.moved(v) : 0) + this.radius(v, USUAL_UNIT));
    this.order = model.names.map((_, v) => v).filter((v) => !focus || focus.has(v)).sort((a, b) => weight[b] - weight[a]);
  }

  /** Without evidence by community; with it by how the last state of the variable moved. */
  private colour(v: number, palette: Palette): string {
    const { model, chosen, marginals, reference } = this.state;
    if (chosen.evidence.size && !model.other) {
      const last = model.states[v].length - 1;
      return marginals[v][last] >= reference[v][last] ? palette.likelier : palette.lessLikely;
    }
    const community = model.document.community[v];
    return community < 0 ? palette.quiet : palette.communities[community % palette.communities.length];
  }

  private opacity(v: number): number {
    return this.state.chosen.evidence.size && !this.state.model.other ? Math.min(1, 0.3 + 4 * this.state.moved(v)) : 1;
  }

  // --- names

  /** Names of the most important variables, where they cover no other name; first of the one under the pointer. */
  private drawLabels(pen: Pen, size: Size, unit: number, palette: Palette, hovered: number | null): void {
    const taken = new Taken(this.state.model.n <= MOST_RINGS ? this.state.model.names.map((_, v) => [this.px[v], this.py[v], this.radius(v, unit)]) : []);
    const most = Math.min(MOST_LABELS, (size.width * size.height) / LABEL_ROOM);
    pen.font = LABEL_FONT;
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    let tries = 4 * MOST_LABELS;
    const label = (v: number): void => {
      const [x, y] = [this.px[v], this.py[v]];
      if (x < 0 || y < 0 || x > size.width || y > size.height) return;
      tries--;
      const text = short(this.state.model.names[v], LONGEST_LABEL);
      const width = this.texts.labelWidth(pen, text);
      const spot = taken.place(x, y, this.radius(v, unit) + 4, width, size.width);
      if (spot) drawLabel(pen, text, spot[0], spot[1], width, palette);
    };
    if (hovered !== null) label(hovered);
    for (const v of this.order) {
      if (taken.n >= most || !tries) return;
      if (v !== hovered) label(v);
    }
  }
}

function drawLabel(pen: Pen, text: string, x: number, y: number, width: number, palette: Palette): void {
  pen.globalAlpha = 0.78;
  pen.fillStyle = palette.ground;
  pen.beginPath();
  pen.rect(x - 2, y - 7, width + 4, 14);
  pen.fill();
  pen.globalAlpha = 1;
  pen.fillStyle = palette.ink;
  pen.fillText(text, x, y);
}

/** Places of labels, in flat arrays: they are asked a hundred thousand times a frame. */
class Taken {
  n = 0;
  private left = new Float64Array(MOST_LABELS);
  private right = new Float64Array(MOST_LABELS);
  private middle = new Float64Array(MOST_LABELS);

  /** Places and radii of dots that are better not covered, of networks that are not large. */
  constructor(private dots: number[][]) {}

  /** Takes the first free place beside a dot: right of it, left, above or below; one over other dots if need be. */
  place(x: number, y: number, r: number, width: number, most: number): [number, number] | null {
    for (let k = 0; k < (this.dots.length ? 8 : 4); k++) {
      const left = k % 4 === 0 ? x + r : k % 4 === 1 ? x - r - width : x - width / 2;
      const middle = k % 4 < 2 ? y : k % 4 === 2 ? y - r - 5 : y + r + 6;
      if (left <= 2 || left + width >= most - 2 || !this.isFree(left, middle, width)) continue;
      if (k < 4 && this.dots.some(([x, y, r]) => x + r > left && x - r < left + width && Math.abs(y - middle) < r + 6)) continue;
      [this.left[this.n], this.right[this.n], this.middle[this.n]] = [left, left + width, middle];
      this.n++;
      return [left, middle];
    }
    return null;
  }

  private isFree(left: number, middle: number, width: number): boolean {
    for (let k = 0; k < this.n; k++) {
      if (left + width >= this.left[k] && left <= this.right[k] && Math.abs(middle - this.middle[k]) <= 14) return false;
    }
    return true;
  }
}
