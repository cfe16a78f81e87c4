// The network on its canvas: zoomed, moved and clicked, by mouse, fingers or keys.

import { h } from "./dom";
import { type Palette, paletteOf } from "./palette";
import { SvgPen } from "./pen";
import { boxOf, remember, startingPlaces } from "./places";
import { FEW } from "./lines";
import { FROM_CARDS, Scene, type Size, type View } from "./scene";
import type { State } from "./state";
import { estimate, signed } from "./words";

const CLICK = 4; // pixels: what moves less is a click
const STEP = 20; // pixels by which a key moves a variable
const MARGIN = { cards: 14, dots: 44 };
const VIEWS = 32; // pixels for the choice between two models
const LARGEST = 190; // pixels of a unit, where everything would fit with more

export class Picture {
  readonly canvas = h("canvas", {
    class: "network",
    tabindex: "0",
    role: "application",
    "aria-label": "The network. Arrow keys go from variable to variable, digits set a state, ? lists all keys.",
    "aria-describedby": "said",
  });
  readonly scene: Scene;
  view: View = { x: 0, y: 0, unit: 100 };
  private context = this.canvas.getContext("2d")!;
  private size: Size = { width: 0, height: 0 }; // until the page is laid out
  private palettes: Palette[] = []; // light and dark, as they are first needed
  private asked = false;
  private fitted = true; // no zoom or move since the picture was fitted
  private pointers = new Map<number, { x: number; y: number }>();
  private drag: { variable: number | null; x: number; y: number; moved: boolean } | null = null;

  constructor(
    private state: State,
    private isDark: () => boolean,
    private say: (text: string) => void,
    private footer: () => number, // pixels that stand over the picture's lower edge
  ) {
    this.scene = new Scene(state, startingPlaces(state.model));
    new ResizeObserver(() => this.resize()).observe(this.canvas);
    state.onFrame(() => this.draw());
    this.listen();
  }

  private get palette(): Palette {
    return (this.palettes[+this.isDark()] ??= paletteOf(this.canvas));
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!width || !height) return;
    const ratio = window.devicePixelRatio || 1;
    this.size = { width, height };
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    if (this.fitted) this.view = this.fittedView();
    this.draw();
  }

  /** Everything in view, above the filter and the legend. */
  fit(): void {
    this.view = this.fittedView();
    this.fitted = true;
    this.redraw();
  }

  private fittedView(): View {
    const below = Math.min(this.footer() + 12, this.size.height / 2);
    const { model } = this.state;
    const asCards = this.fitting(below, MARGIN.cards, LARGEST, (v) => boxOf(model, v));
    const isReadable = model.n <= FEW && asCards.unit >= FROM_CARDS;
    return isReadable ? asCards : this.fitting(below, MARGIN.dots, FROM_CARDS - 1, () => [0, 0]);
  }

  /** The view in which boxes around all variables have a margin. */
  private fitting(below: number, margin: number, largest: number, box: (v: number) => [number, number]): View {
    const ends = (axis: 0 | 1): number[] =>
      range(this.scene.places.flatMap((place, v) => [place[axis] - box(v)[axis] / 2, place[axis] + box(v)[axis] / 2]));
    const [[left, right], [top, bottom]] = [ends(0), ends(1)];
    const { width, height } = this.size;
    const above = this.state.model.other ? VIEWS : 0;
    const unit = Math.min((width - 2 * margin) / (right - left), (height - above - below - 2 * margin) / (bottom - top), largest);
    return { x: (left + right) / 2, y: (top + bottom) / 2 + (below - above) / (2 * unit), unit };
  }

  redraw(): void {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => this.draw());
  }

  draw(): void {
    this.asked = false;
    if (!this.size.width) return;
    const ratio = this.canvas.width / this.size.width;
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.scene.draw(this.context, this.size, this.view, this.palette);
    const hasCards = this.scene.hasCards(this.view);
    if (hasCards !== this.state.hasCards) this.state.redraw();
    this.state.hasCards = hasCards;
  }

  zoom(by: number, x = this.size.width / 2, y = this.size.height / 2): void {
    const { view, size } = this;
    const unit = Math.min(600, Math.max(2, view.unit * by));
    const [dx, dy] = [x - size.width / 2, y - size.height / 2];
    this.view = { x: view.x + dx / view.unit - dx / unit, y: view.y + dy / view.unit - dy / unit, unit };
    this.fitted = false;
    this.redraw();
  }

  move(dx: number, dy: number): void {
    this.view = { ...this.view, x: this.view.x - dx / this.view.unit, y: this.view.y - dy / this.view.unit };
    this.fitted = false;
    this.redraw();
  }

  /** Brings a variable into view, if it is not. */
  reveal(v: number): void {
    this.scene.project(this.size, this.view);
    const [x, y] = [this.scene.px[v], this.scene.py[v]];
    const { width, height } = this.size;
    if (x > 40 && x < width - 40 && y > 40 && y < height - 110) return;
    [this.view.x, this.view.y] = this.scene.places[v];
    this.fitted = false;
    this.redraw();
  }

  // --- mouse and fingers

  private listen(): void {
    const { canvas } = this;
    const on = <K extends keyof HTMLElementEventMap>(name: K, act: (event: HTMLElementEventMap[K]) => void): void => canvas.addEventListener(name, act, { passive: false });
    on("pointerdown", (event) => this.down(event));
    on("pointermove", (event) => this.moved(event));
    on("pointerup", (event) => this.up(event));
    on("pointercancel", (event) => this.pointers.delete(event.pointerId));
    on("pointerleave", () => this.hover(null));
    on("dblclick", (event) => this.zoom(1.8, event.offsetX, event.offsetY));
    on("keydown", (event) => this.key(event));
    on("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), event.offsetX, event.offsetY);
    });
  }

  private down(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    const variable = this.scene.variableAt(event.offsetX, event.offsetY, this.view);
    this.drag = this.pointers.size > 1 ? null : { variable, x: event.offsetX, y: event.offsetY, moved: false };
  }

  private moved(event: PointerEvent): void {
    const last = this.pointers.get(event.pointerId);
    if (!last) {
      this.hover(this.scene.variableAt(event.offsetX, event.offsetY, this.view));
      return;
    }
    const [dx, dy] = [event.offsetX - last.x, event.offsetY - last.y];
    if (this.pointers.size === 2) this.pinch(event);
    this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    const { drag } = this;
    if (!drag) return;
    if (!drag.moved && Math.hypot(event.offsetX - drag.x, event.offsetY - drag.y) < CLICK) return;
    const by = drag.moved ? [dx, dy] : [event.offsetX - drag.x, event.offsetY - drag.y];
    drag.moved = true;
    if (drag.variable === null) this.move(by[0], by[1]);
    else this.moveVariable(drag.variable, by[0], by[1]);
  }

  private pinch(event: PointerEvent): void {
    const [other] = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
    const last = this.pointers.get(event.pointerId)!;
    const before = Math.hypot(last.x - other.x, last.y - other.y);
    const after = Math.hypot(event.offsetX - other.x, event.offsetY - other.y);
    if (before > 0) this.zoom(after / before, (event.offsetX + other.x) / 2, (event.offsetY + other.y) / 2);
  }

  private moveVariable(v: number, dx: number, dy: number): void {
    const [x, y] = this.scene.places[v];
    this.scene.places[v] = [x + dx / this.view.unit, y + dy / this.view.unit];
    this.redraw();
  }

  private up(event: PointerEvent): void {
    this.pointers.delete(event.pointerId);
    const { drag } = this;
    this.drag = null;
    if (!drag) return;
    if (!drag.moved) this.click(event.offsetX, event.offsetY, event.shiftKey);
    else if (drag.variable !== null) this.remember(drag.variable);
  }

  private remember(v: number): void {
    remember(this.state.model.document.variables[v].name, this.scene.places[v]);
  }

  private click(x: number, y: number, shift: boolean): void {
    const v = this.scene.variableAt(x, y, this.view);
    if (v !== null) {
      const s = this.scene.stateAt(v, y, this.view);
      if (s === null) this.state.set({ selection: shift ? withOther(this.state.chosen.selection, v) : [v] });
      else if (shift) this.state.exclude(v, s);
      else this.state.toggle(v, s);
      return;
    }
    const edge = this.scene.lines.at(x, y);
    this.state.set({ selection: edge === null ? [] : this.state.model.edge(edge).slice(0, 2) as number[] });
  }

  private hover(v: number | null): void {
    this.canvas.classList.toggle("over", v !== null);
    if (v === this.scene.hovered) return;
    this.scene.hovered = v;
    this.canvas.title = v === null ? "" : this.state.model.names[v]; // whole, where a card has no room for it
    this.redraw();
  }

  // --- keys

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const arrows: Record<string, [number, number]> = {
      ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1],
    };
    const [v] = this.state.chosen.selection;
    const digit = /^[1-9]$/.test(event.key) ? +event.key - 1 : -1;
    if (arrows[event.key] && event.shiftKey && v !== undefined) this.put(v, ...arrows[event.key]);
    else if (arrows[event.key]) this.go(...arrows[event.key]);
    else if (event.key === "Enter") this.goAlong();
    else if (event.key === "+") this.zoom(1.25);
    else if (event.key === "-") this.zoom(0.8);
    else if (event.key === "Backspace" && v !== undefined) this.state.know(v, null);
    else if (digit >= 0 && v !== undefined && digit < this.state.model.states[v].length) this.state.toggle(v, digit);
    else return;
    event.preventDefault();
  }

  /** Moves a variable a little, as dragging does. */
  private put(v: number, dx: number, dy: number): void {
    this.moveVariable(v, STEP * dx, STEP * dy);
    this.remember(v);
  }

  /** To the nearest variable in a direction. */
  private go(dx: number, dy: number): void {
    const { places } = this.scene;
    const [from] = this.state.chosen.selection;
    if (from === undefined) return this.look(0);
    let [best, least] = [-1, Infinity];
    for (let v = 0; v < places.length; v++) {
      const [x, y] = [places[v][0] - places[from][0], places[v][1] - places[from][1]];
      const along = x * dx + y * dy;
      const cost = along + 2.5 * Math.abs(x * dy - y * dx);
      if (v !== from && along > 1e-9 && cost < least) [best, least] = [v, cost];
    }
    if (best >= 0) this.look(best);
  }

  /** Looks at the pair with the strongest neighbour; from a pair on to the next strongest. */
  private goAlong(): void {
    const [v, other] = this.state.chosen.selection;
    if (v === undefined) return;
    const list = this.state.model.neighbours(v);
    if (!list.length) return;
    const at = list.findIndex((neighbour) => neighbour.variable === other);
    const next = list[(at + 1) % list.length];
    this.state.set({ selection: [v, next.variable] });
    this.say(`${this.state.model.names[v]} and ${this.state.model.names[next.variable]}, edge weight ${signed(next.weight)}`);
  }

  private look(v: number): void {
    const { state } = this;
    const { model, marginals } = state;
    this.state.set({ selection: [v] });
    this.reveal(v);
    const states = model.states[v].map((name, s) => `${name} ${estimate(marginals[v][s], state.errorOf(v, s))}`).join(", ");
    this.say(`${model.names[v]}: ${states}; ${model.degree[v]} neighbours`);
  }

  // --- as files

  svg(title: string): string {
    const pen = new SvgPen();
    this.scene.draw(pen, this.size, this.view, this.palette);
    return pen.toString(this.size.width, this.size.height, title);
  }

  /** Twice as fine as on the screen, so that it can be printed. */
  png(): Promise<Blob> {
    const canvas = h("canvas", { width: 2 * this.size.width, height: 2 * this.size.height });
    const context = canvas.getContext("2d")!;
    context.scale(2, 2);
    this.scene.draw(context, this.size, this.view, this.palette);
    return new Promise((resolve, reject) =>
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("The picture is too large."))), "image/png"),
    );
  }
}

/** Shift-click: to what is looked at, or away from it. */
function withOther(selection: readonly number[], v: number): number[] {
  return selection.includes(v) ? selection.filter((other) => other !== v) : [...selection, v];
}

function range(values: number[]): number[] {
  return values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
}
