// The page: what stands where, what is asked when something changes, and keys that work everywhere.

import { announce, announcementOf } from "./announcement";
import { ServerAnswerer, WorkerAnswerer } from "./answerers";
import type { Answer, Answerer, Question } from "./answers";
import { documentOf, SCHEMA, type Texts } from "./document";
import { h, set } from "./dom";
import { edgesCsv, fileName, graphml, probabilitiesCsv, save } from "./exports";
import { Filter } from "./filter";
import { List } from "./list";
import { Model, type View } from "./model";
import { Panel } from "./panel";
import { Picture } from "./picture";
import { forgetPlaces } from "./places";
import { type Chosen, fromFragment, State, toFragment } from "./state";
import { count, plural, points, secondMode, scored, twice, visible } from "./words";

const WORST = 12; // rows of data that are listed
const DRAWN = 1000; // rows that are drawn to be saved
const LEAST_ERROR = 0.001; // that is told: nothing sampled is ±0.0

const SPREAD = "± is two standard errors; here the largest of any probability";
const SECOND_MODE = " · second mode found";

const KEYS: [string, string][] = [
  ["click a state", "set it as evidence; click again to clear it"],
  ["shift-click a state", "exclude it"],
  ["click a variable or a line", "show it; shift-click adds a variable"],
  ["drag, wheel, double-click", "move, zoom"],
  ["arrow keys", "from variable to variable"],
  ["shift with arrow keys", "move the variable"],
  ["Enter", "follow the strongest edges of a variable"],
  ["1 … 9", "set a state of the variable"],
  ["Backspace", "clear its evidence"],
  ["Escape", "back to the whole network"],
  ["f", "fit everything into view"],
  ["/", "find a variable"],
  ["c", "clear all evidence"],
  ["k", "hold this evidence to compare with"],
  ["?", "this list"],
];

export class Page {
  private model: Model;
  private state: State;
  private answerers: Answerer[];
  private server: ServerAnswerer | null;
  private picture: Picture;
  private list: List;
  private asked = ""; // the last question, without its number
  private question: Omit<Question, "number"> = { evidence: [] };
  private heard: Answer[] = []; // the last of each answerer
  private number = 0;
  private wantsMap = false;
  private standard: Chosen;
  private chip = h("span", { class: "engine" });
  private said = h("p", { id: "said", class: "hidden", "aria-live": "polite" });
  private notice = h("p", { class: "notice", role: "alert" });
  private keep = h("button", { on: { click: () => this.state.keepCase() } });
  private clear = h("button", { on: { click: () => this.clearAll() } }, "Clear");
  private below = h("div", { class: "below" });
  private help = h("dialog", { "aria-label": "Keys" });

  constructor(texts: Texts, script: string | null, root: HTMLElement) {
    const told = documentOf(texts);
    if (told.schema !== SCHEMA) throw new Error(`The document has schema ${told.schema}; this page reads ${SCHEMA}.`);
    this.model = new Model(told);
    this.state = new State(this.model);
    this.standard = this.state.chosen;
    this.state.set(fromFragment(location.hash, this.model));
    const fail = (why: string): void => this.tell(why);
    this.answerers = (told.other ? [false, true] : [false]).map((other, k) => {
      const hear = (answer: Answer): void => this.hear(answer, k);
      return script === null ? new ServerAnswerer(other, hear, fail) : new WorkerAnswerer(script, { ...texts, other }, hear, fail);
    });
    const [first] = this.answerers;
    this.server = first instanceof ServerAnswerer ? first : null;
    if (told.scores.length) void this.server?.worstRows(WORST).then((rows) => ((this.state.worst = rows), this.state.redraw()));
    const say = (text: string): void => void (this.said.textContent = text);
    this.state.onFrame(() => this.update()); // light or dark before all that is drawn in its colours
    this.picture = new Picture(this.state, () => this.isDark, say, () => this.below.offsetHeight);
    this.list = new List(this.state, (v) => this.picture.reveal(v));
    root.replaceChildren(...this.parts());
    this.state.onChoice(() => this.ask());
    document.addEventListener("keydown", (event) => this.key(event));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.state.redraw());
    addEventListener("hashchange", () => this.state.set(fromFragment(location.hash, this.model)));
    this.update();
    this.ask();
  }

  private get isDark(): boolean {
    const { theme } = this.state.chosen;
    return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  }

  private parts(): HTMLElement[] {
    const filter = new Filter(this.state);
    const centre = h("main", { class: "centre", "aria-label": "Network" },
      this.picture.canvas,
      h("div", { class: "zoom", role: "group", "aria-label": "Zoom" },
        h("button", { "aria-label": "Closer", title: "+", on: { click: () => this.picture.zoom(1.3) } }, "+"),
        h("button", { "aria-label": "Farther", title: "-", on: { click: () => this.picture.zoom(1 / 1.3) } }, "−"),
        h("button", { "aria-label": "Fit everything into view", title: "f", on: { click: () => this.picture.fit() } }, "⤢")),
      this.model.other ? this.views() : null,
      this.notice,
      this.below);
    this.below.append(filter.element, filter.legend);
    const left = h("aside", { class: "left", "aria-label": "Variables" },
      h("div", { class: "finder" }, this.list.search, this.list.order), this.list.chips, this.list.scroller);
    const right = h("aside", { class: "right", "aria-label": "Details" }, new Panel(this.state).element);
    this.help.append(this.helpContent());
    return [this.header(), left, centre, right, this.said, this.help];
  }

  private views(): HTMLElement {
    const titles: [View, string][] = [["a", "A"], ["b", "B"], ["difference", "B − A"]];
    const buttons = titles.map(([view, text]) => h("button", { on: { click: () => this.state.set({ view }) } }, text));
    const mark = (): void => buttons.forEach((button, k) => set(button, "aria-pressed", String(titles[k][0] === this.state.chosen.view)));
    this.state.onFrame(mark);
    mark();
    return h("div", { class: "views", role: "group", "aria-label": "Which model" }, buttons);
  }

  // --- the line at the top

  private header(): HTMLElement {
    const told = this.model.document;
    const larger = this.model.larger.length;
    const parameters = told.parameters.reduce((sum, each) => sum + each.nonzero, 0);
    const isOne = this.model.other === null;
    const title = visible(told.title) + (isOne ? "" : ` (A) and ${visible(told.other!.title)} (B)`);
    const counts = [
      plural(this.model.n, "variable"),
      plural(told.edges.length, "edge"),
      ...(larger && isOne ? [plural(larger, "larger interaction")] : []),
      ...(isOne ? [plural(parameters, "parameter")] : []),
      ...told.scores.slice(0, 1).flatMap(({ measure, value, error }) => (value === null ? [] : [`${measure} ${scored(value, error, 3)}`])),
    ].join(" · ");
    return h("header", {},
      h("h1", { title }, title),
      h("p", { class: "counts" }, counts),
      h("div", { class: "tools" },
        this.chip,
        this.clear,
        isOne ? this.keep : null,
        isOne ? h("button", { title: "The most probable states of all variables together", on: { click: () => this.askMap() } }, "Most probable") : null,
        this.saveMenu(),
        h("button", { class: "icon", "aria-label": "Light or dark", title: "Light or dark", on: { click: () => this.switchTheme() } }, "◐"),
        h("button", { class: "icon", "aria-label": "Keys", title: "Keys: ?", on: { click: () => this.help.showModal() } }, "?")));
  }

  private saveMenu(): HTMLElement {
    const title = this.model.document.title;
    const name = (rest: string): string => fileName(title, rest);
    const actions: [string, () => void][] = [
      ["Picture, .png", () => void this.picture.png().then((blob) => save(name(".png"), blob))],
      ["Picture, .svg", () => save(name(".svg"), this.picture.svg(visible(title)), "image/svg+xml")],
      ["Edges, .csv", () => save(name("-edges.csv"), edgesCsv(this.state), "text/csv")],
      ["Edges, .graphml", () => save(name(".graphml"), graphml(this.state), "application/xml")],
      ["Probabilities, .csv", () => save(name("-probabilities.csv"), probabilitiesCsv(this.state), "text/csv")],
      ["Reset positions", () => (forgetPlaces(), location.reload())],
    ];
    const { server } = this;
    if (server) {
      const draw = (): Promise<string> => server.rows(DRAWN, evidenceOf(this.state));
      const drawn = (): Promise<void> => draw().then((text) => save(name("-rows.csv"), text, "text/csv"), (error) => this.tell(String(error)));
      actions.splice(5, 0, [`${count(DRAWN)} rows drawn${this.model.other ? " from A" : ""}, .csv`, () => void drawn()]);
    }
    const menu = h("details", { class: "menu" }, h("summary", {}, "Save"));
    const choose = (act: () => void) => (): void => {
      menu.open = false;
      act();
    };
    menu.append(h("div", { class: "items" }, actions.map(([text, act]) => h("button", { on: { click: choose(act) } }, text))));
    return menu;
  }

  private helpContent(): HTMLElement {
    const lines = KEYS.map(([key, meaning]) => [h("dt", {}, key), h("dd", {}, meaning)]);
    const close = h("button", { class: "away", "aria-label": "Close", on: { click: () => this.help.close() } }, "×");
    return h("div", {}, h("div", { class: "title" }, h("h2", {}, "Keys and clicks"), close), h("dl", {}, lines.flat()));
  }

  // --- questions

  private update(): void {
    document.documentElement.dataset.theme = this.isDark ? "dark" : "light";
    const { chosen } = this.state;
    this.clear.disabled = chosen.evidence.size === 0;
    this.keep.textContent = this.state.kept ? "Stop comparing" : "Compare";
    this.keep.title = this.state.kept ? `Lower bars show: ${this.state.kept.words}` : "Hold this evidence; lower bars then show it";
    this.keep.disabled = this.model.other !== null || !this.state.kept && chosen.evidence.size === 0;
  }

  private address(): void {
    const fragment = toFragment(this.state.chosen, this.standard);
    const hasAddress = location.protocol !== "about:"; // a frame in a notebook has none
    if (hasAddress && location.hash.replace(/^#/, "") !== fragment) history.replaceState(null, "", `#${fragment}`);
  }

  /** Asks where evidence, the pair that is looked at or the wish for a best state have changed. */
  private ask(): void {
    this.address();
    const { evidence, selection } = this.state.chosen;
    const question: Omit<Question, "number"> = {
      evidence: evidenceOf(this.state),
      ...(selection.length === 2 ? { pair: [selection[0], selection[1]] } : {}),
      ...(this.wantsMap ? { map: true } : {}),
    };
    const text = JSON.stringify(question);
    if (text === this.asked) return;
    const isFirst = this.asked === "";
    this.asked = text;
    if (isFirst) this.showFirst();
    if (isFirst && !evidence.size && !question.pair && !this.model.document.marginals.remarks.length) return;
    this.chip.classList.add("busy");
    this.number++;
    this.question = question;
    for (const answerer of this.answerers) answerer.ask({ number: this.number, ...question });
  }

  /** The document brings what is probable before anything is known; where there is a second mode, more of it is asked for. */
  private showFirst(): void {
    const { plan, marginals } = this.model.document;
    this.chip.textContent = plan.engine === "exact" || marginals.error === 0 ? "exact" : `sampled · ±${points(marginals.error)} points`;
    if (marginals.remarks.length) this.chip.textContent += SECOND_MODE;
    this.makeRoom(marginals.errors !== null);
  }

  /** Of two models both have answered before anything is shown: bars and marks belong to one question. */
  private hear(answer: Answer, k: number): void {
    if (answer.number !== this.number) return;
    this.heard[k] = answer;
    const [first, second] = this.heard;
    if (this.answerers.some((_, k) => this.heard[k]?.number !== this.number)) return;
    const failed = this.heard.findIndex((each) => each.problem || each.impossible);
    this.chip.classList.toggle("busy", this.heard.some((each) => !each.done));
    this.tell(failed < 0 ? "" : this.whyNot(failed));
    if (failed === 0) return;
    this.state.answer = first;
    this.state.asked = this.question;
    if (second && failed < 0) this.state.otherAnswer = second;
    if (!this.state.chosen.evidence.size) this.takeAsBefore();
    this.chip.textContent = enginesInWords(this.heard);
    const isSampled = this.heard.some(({ exact }) => !exact);
    this.chip.title = first.gap ? secondMode(first) : isSampled ? SPREAD : "";
    this.makeRoom(isSampled);
    if (first.done && this.state.chosen.evidence.size) this.said.textContent = this.mostMoved();
    if (first.done) announce(announcementOf(this.state, toFragment(this.state.chosen, this.standard)));
    this.state.redraw();
  }

  /** Numbers with errors are longer. */
  private makeRoom(isSampled: boolean): void {
    document.documentElement.dataset.numbers = isSampled ? "sampled" : "exact";
    if (isSampled && !this.chip.title) this.chip.title = SPREAD;
  }

  private whyNot(k: number): string {
    const { problem } = this.heard[k];
    if (!k) return problem ?? "This evidence has probability zero under the model; the page still shows the evidence before. Change it.";
    return problem ? `B: ${problem}` : "This evidence has probability zero under B; its marks still show the evidence before. Change it.";
  }

  /** So that what moves has moved in one mode. */
  private takeAsBefore(): void {
    const { model, state } = this;
    const take = (of: Model, { marginals, errors }: Answer): void => void ([of.before, of.beforeErrors] = [marginals, errors ?? null]);
    take(model, state.answer!);
    if (model.other && state.otherAnswer) take(model.other, state.otherAnswer);
  }

  private mostMoved(): string {
    const { model, state } = this;
    const others = model.names.map((_, v) => v).filter((v) => !state.chosen.evidence.has(v));
    const top = others.sort((a, b) => state.moved(b) - state.moved(a)).slice(0, 3);
    const words = top.map((v) => `${model.names[v]} by ${points(state.moved(v))}${this.spreadOf(v)} points`);
    const what = model.other ? "Most different in A and B" : "Most moved";
    return words.length ? `${what}: ${words.join(", ")}.` : "";
  }

  /** Two standard errors of how far a variable has moved; nothing where both numbers are exact. */
  private spreadOf(v: number): string {
    const { state } = this;
    const of = (s: number): number => Math.hypot(state.errorOf(v, s), state.referenceErrorOf(v, s));
    const most = Math.max(...state.model.states[v].map((_, s) => of(s)));
    return most ? ` ±${twice(most).toFixed(1)}` : "";
  }

  private tell(text: string): void {
    this.notice.textContent = text;
    this.notice.hidden = !text;
  }

  private askMap(): void {
    this.wantsMap = !this.wantsMap;
    this.state.set({ selection: [] });
  }

  private clearAll(): void {
    this.state.set({ evidence: new Map() });
  }

  private switchTheme(): void {
    this.state.set({ theme: this.isDark ? "light" : "dark" });
  }

  // --- keys

  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || this.help.open) return;
    if (event.key === "Escape") return this.escape();
    if (target.matches("input, select")) return;
    const actions: Record<string, () => void> = {
      f: () => this.picture.fit(),
      "/": () => this.list.search.focus(),
      c: () => this.clearAll(),
      k: () => this.keep.click(),
      "?": () => this.help.showModal(),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }

  private escape(): void {
    this.list.search.value = "";
    this.state.set({ selection: [], search: "" });
  }
}

function evidenceOf({ chosen }: State): [number, number[]][] {
  return [...chosen.evidence].map(([v, states]): [number, number[]] => [v, [...states]]);
}

function enginesInWords(answers: Answer[]): string {
  const words = [...new Set(answers.map(engineInWords))];
  if (answers.every(({ exact }) => exact)) return words[words.length - 1];
  return words.map((each, k) => (words.length > 1 ? `${"AB"[k]} ${each}` : each)).join(", ");
}

function engineInWords({ exact, milliseconds, error, gap }: Answer): string {
  if (exact) return `exact · ${milliseconds < 1 ? "<1" : count(Math.round(milliseconds))} ms`;
  return `sampled · ±${points(Math.max(error, LEAST_ERROR))} points${gap ? SECOND_MODE : ""}`;
}
