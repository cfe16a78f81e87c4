// Variables as cards: a name, and a bar for each state.

import type { Model } from "./model";
import type { Palette } from "./palette";
import type { Pen } from "./pen";
import { drawExplained, type Size, type View } from "./scene";
import type { State } from "./state";
import { FONT, LABEL, type Texts } from "./texts";
import { percent, twice } from "./words";

const FULL_CARD = 150;
const CARD_STATES = 5;

interface Card extends Size {
  x: number;
  y: number;
  scale: number;
}

export class Cards {
  constructor(
    private state: State,
    private texts: Texts,
    private px: Float64Array,
    private py: Float64Array,
  ) {}

  private get model(): Model {
    return this.state.model;
  }

  private scale(view: View): number {
    return Math.min(1.15, Math.max(0.6, view.unit / FULL_CARD));
  }

  /** The upper left corner and size of a card. */
  private card(v: number, view: View): Card {
    const scale = this.scale(view);
    const rows = Math.min(this.model.states[v].length, CARD_STATES + 1);
    const [width, height] = [124 * scale, (24 + 15 * rows) * scale];
    return { x: this.px[v] - width / 2, y: this.py[v] - height / 2, width, height, scale };
  }

  /** How many states a card lists: all, or the first of them above a line that says how many more there are. */
  private listed(v: number): number {
    const n = this.model.states[v].length;
    return n > CARD_STATES + 1 ? CARD_STATES : n;
  }

  draw(pen: Pen, view: View, palette: Palette, seen: number[], hovered: number | null): void {
    const { focus, chosen } = this.state;
    const { selection } = chosen;
    const rank = (v: number): number => (selection.includes(v) ? 2 : !focus || focus.has(v) ? 1 : 0);
    for (const v of [...seen].sort((a, b) => rank(a) - rank(b))) {
      const faded = chosen.evidence.has(v) ? 0.75 : 0.35; // what is known stays in sight
      this.drawCard(pen, v, view, palette, focus && !focus.has(v) ? faded : 1, selection.includes(v) ? "selected" : v === hovered ? "hovered" : "");
    }
    pen.globalAlpha = 1;
  }

  private drawCard(pen: Pen, v: number, view: View, palette: Palette, opacity: number, how: string): void {
    const card = this.card(v, view);
    const { x, y, width, height, scale } = card;
    const known = this.state.chosen.evidence.get(v);
    pen.globalAlpha = opacity;
    pen.beginPath();
    pen.roundRect(x, y, width, height, 6 * scale);
    pen.fillStyle = known ? palette.knownCard : palette.card;
    pen.fill();
    pen.strokeStyle = known ? palette.known : how ? palette.ink : palette.line;
    pen.lineWidth = known || how === "selected" ? 1.8 : 1;
    pen.stroke();
    pen.textBaseline = "middle";
    pen.textAlign = "left";
    pen.font = `600 ${Math.max(11, 12 * scale)}px ${FONT}`;
    pen.fillStyle = palette.ink;
    const aside = this.model.explains(v) === null ? 16 : 30;
    pen.fillText(this.texts.fitting(pen, this.model.names[v], width - aside * scale), x + 8 * scale, y + 13 * scale);
    drawExplained(pen, this.model.explains(v), x + width - 12 * scale, y + 13 * scale, 5 * scale, palette);
    const shown = this.model.states[v].slice(0, this.listed(v));
    const size = Math.max(9.5, 10.5 * scale);
    const room = Math.min(46 * scale, Math.max(...shown.map((name) => (this.texts.labelWidth(pen, name) * size) / LABEL)) + 1);
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
    pen.fillText(this.texts.fitting(pen, this.model.states[v][s], room), x + 8 * scale, y);
    const { isMoved, kept, reference } = this.state;
    const box = (colour: string, x: number, from: number, width: number, height: number): void => {
      pen.fillStyle = colour;
      pen.beginPath();
      pen.rect(x, y + from * scale, width, height * scale);
      pen.fill();
    };
    box(palette.track, left, -3.5, width, 7);
    box(isKnown ? palette.known : palette.bar, left, -3.5, width * p, kept ? 3.5 : 7);
    if (kept) box(palette.kept, left, 0, width * reference[v][s], 3.5);
    else if (isMoved) box(palette.ink, left + width * reference[v][s] - 0.75, -5.5, 1.5, 11);
    pen.textAlign = "right";
    pen.fillStyle = isKnown ? palette.known : palette.ink;
    pen.fillText(this.numberOf(v, s), x + 118 * scale, y);
    pen.textAlign = "left";
  }

  /** A probability in the room there is: without its unit where it has an error of a point or more. */
  private numberOf(v: number, s: number): string {
    const [p, error] = [this.state.marginals[v][s], this.state.errorOf(v, s)];
    const spread = Math.round(twice(error));
    return error && spread ? `${(100 * p).toFixed(0)} ±${spread}` : percent(p, 0);
  }

  /** The card at a point: of those that overlap, the last. */
  at(x: number, y: number, view: View): number | null {
    for (let v = this.px.length - 1; v >= 0; v--) {
      const card = this.card(v, view);
      if (x >= card.x && x <= card.x + card.width && y >= card.y && y <= card.y + card.height) return v;
    }
    return null;
  }

  /** The state of a variable's card at a point, if it is on one. */
  stateAt(v: number, y: number, view: View): number | null {
    const card = this.card(v, view);
    const s = Math.floor((y - card.y - 20.5 * card.scale) / (15 * card.scale));
    return s >= 0 && s < this.listed(v) ? s : null;
  }
}
