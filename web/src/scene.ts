// Drawing a network: lines by edge weight, then variables as dots with names, or as cards with their bars.

import { Cards } from "./cards";
import { Dots } from "./dots";
import { Lines } from "./lines";
import type { Palette } from "./palette";
import type { Pen } from "./pen";
import type { State } from "./state";
import { Texts } from "./texts";

export const FROM_CARDS = 104; // pixels a variable has to itself, from which on it is drawn as a card that can be read
const MARGIN = 80; // pixels around the picture, in which what is drawn may reach into it

export interface View {
  x: number; // of the middle, in units of the layout
  y: number;
  unit: number; // pixels of one
}

export interface Size {
  width: number;
  height: number;
}

export class Scene {
  readonly px: Float64Array; // places on the screen, of the last frame
  readonly py: Float64Array;
  readonly lines: Lines;
  hovered: number | null = null;
  private dots: Dots;
  private cards: Cards;

  constructor(
    private state: State,
    readonly places: [number, number][],
  ) {
    const [px, py, texts] = [new Float64Array(state.model.n), new Float64Array(state.model.n), new Texts()];
    [this.px, this.py] = [px, py];
    this.lines = new Lines(state, px, py);
    this.dots = new Dots(state, texts, px, py);
    this.cards = new Cards(state, texts, px, py);
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
    this.drawArea(pen, palette);
    this.lines.draw(pen, size.width, size.height, palette);
    const seen = this.inside(size);
    if (this.hasCards(view)) this.cards.draw(pen, view, palette, seen, this.hovered);
    else this.dots.draw(pen, size, view, palette, seen, this.hovered);
  }

  project({ width, height }: Size, view: View): void {
    for (let v = 0; v < this.px.length; v++) {
      this.px[v] = width / 2 + (this.places[v][0] - view.x) * view.unit;
      this.py[v] = height / 2 + (this.places[v][1] - view.y) * view.unit;
    }
  }

  private inside({ width, height }: Size): number[] {
    const out: number[] = [];
    for (let v = 0; v < this.px.length; v++) {
      const [x, y] = [this.px[v], this.py[v]];
      if (x > -MARGIN && x < width + MARGIN && y > -MARGIN && y < height + MARGIN) out.push(v);
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

  // --- what is at a point

  variableAt(x: number, y: number, view: View): number | null {
    if (this.hasCards(view)) return this.cards.at(x, y, view);
    let [best, nearest] = [-1, Infinity];
    for (let v = 0; v < this.px.length; v++) {
      const distance = Math.hypot(this.px[v] - x, this.py[v] - y) - this.dots.radius(v, view.unit);
      if (distance < nearest) [best, nearest] = [v, distance];
    }
    return nearest <= 6 ? best : null;
  }

  /** The state of a variable's card at a point, if it is on one. */
  stateAt(v: number, y: number, view: View): number | null {
    return this.hasCards(view) ? this.cards.stateAt(v, y, view) : null;
  }
}

/** A ring that is closed as far as the other variables explain one; nothing where that is not known. */
export function drawExplained(pen: Pen, share: number | null, x: number, y: number, radius: number, palette: Palette): void {
  if (share === null) return;
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
