// The panel on the right: what is looked at, in words and tables; or the model as a whole.

import { comparedPair, comparison } from "./comparison";
import { Bar, h } from "./dom";
import { oddsFactor, oddsFactorAt } from "./effects";
import { StateButton } from "./list";
import type { Model } from "./model";
import type { State } from "./state";
import { figure, link, quiet, strong, table } from "./tables";
import { count, estimate, factor, percent, plural, scored, secondMode, signed } from "./words";

type Part = HTMLElement | string | null;

const MOST_LINES = 40;
const SVG = "http://www.w3.org/2000/svg";

export class Panel {
  readonly element = h("section", { class: "details", "aria-label": "Details", tabindex: "-1" });

  private live: (() => void)[] = []; // what is written anew, in its place, while an answer gets better
  private last: unknown[] = []; // of what the rest was made

  constructor(private state: State) {
    state.onFrame(() => this.update());
    this.update();
  }

  private get model(): Model {
    return this.state.model;
  }

  /** While an answer only gets better its numbers change and nothing else: what is under the pointer stays there. */
  private update(): void {
    const { chosen, answer, kept, worst } = this.state;
    const now = [chosen, answer?.number, answer?.done, kept, worst];
    if (now.every((part, k) => part === this.last[k])) return this.live.forEach((write) => write());
    [this.last, this.live] = [now, []];
    const { selection } = chosen;
    const focused = document.activeElement?.getAttribute("data-key");
    const parts =
      selection.length === 0 ? this.whole() : selection.length === 1 ? this.variable(selection[0])
      : selection.length === 2 ? this.pair(selection[0], selection[1]) : this.larger([...selection]);
    this.element.replaceChildren(...parts.filter((part): part is HTMLElement => part !== null));
    if (focused?.startsWith("d")) this.element.querySelector<HTMLElement>(`[data-key="${focused}"]`)?.focus();
  }

  private look(selection: number[]): () => void {
    return () => this.state.set({ selection });
  }

  private title(text: string): HTMLElement {
    const away = this.state.chosen.selection.length
      ? h("button", { class: "away", "aria-label": "Back to the whole model", title: "Escape", on: { click: this.look([]) } }, "×")
      : null;
    return h("div", { class: "title" }, h("h2", {}, text), away);
  }

  // --- one variable

  private variable(v: number): (HTMLElement | null)[] {
    const { model } = this;
    const neighbours = model.neighbours(v);
    const { frequency } = model.document.variables[v];
    const explained = model.explains(v);
    const heads = !model.other && neighbours.some(({ variable }) => oddsFactor(model, v, variable) !== null);
    const lines = neighbours.slice(0, MOST_LINES).map(({ variable, edge }) => {
      const odds = oddsFactor(model, v, variable);
      const look = this.look([v, variable]);
      return h("tr", {},
        h("td", {}, link(model.names[variable], `d${variable}`, look)),
        this.weight(edge),
        heads ? figure(odds === null ? "depends" : factor(odds)) : null,
        ...this.inResamples(edge));
    });
    return [
      this.title(model.names[v]),
      h("p", {}, neighbours.length
        ? `${plural(neighbours.length, "neighbour")}; given them, independent of all other variables.`
        : "No neighbours: independent of all other variables."),
      explained === null ? null : quiet(`The other variables explain ${percent(explained, 0)} of its deviance in the data.`),
      h("div", { class: "states" }, this.stateButtons(v, "ds")),
      frequency || this.state.answer?.far ? this.inModes(v) : null,
      neighbours.length
        ? table("Neighbours", ["variable", model.view === "difference" ? "B − A" : "weight", ...(heads ? ["odds ×"] : []), ...this.resamplesHead], lines, rest(neighbours.length))
        : null,
    ];
  }

  /** In the data, where these are known; in the model, before and now; and in its second mode, where it has one. */
  private inModes(v: number): HTMLElement {
    const { model, state } = this;
    const { frequency } = model.document.variables[v];
    const columns: [string, string, (s: number) => string, boolean][] = [
      ["data", "in the data", (s) => percent(frequency![s]), frequency !== undefined],
      ["model", "in the model", (s) => estimate(model.before[v][s], model.beforeErrors?.[v][s] ?? 0), true],
      ["now", "now", (s) => estimate(state.marginals[v][s], state.errorOf(v, s)), true],
      ["elsewhere", "in the second mode", (s) => percent(state.answer?.far?.[v][s] ?? NaN, 0), state.answer?.far !== undefined],
    ];
    const shown = columns.filter((column) => column[3]);
    const lines = model.states[v].map((name, s) => h("tr", {}, h("td", {}, name), shown.map(([, , words]) => this.number(() => words(s)))));
    const heading = shown.map(([, words]) => words).join(", ");
    return table(heading[0].toUpperCase() + heading.slice(1), ["state", ...shown.map(([head]) => head)], lines);
  }

  /** A cell with a number that changes with the answer. */
  private number(text: () => string): HTMLElement {
    const cell = figure(text());
    this.live.push(() => set(cell, text()));
    return cell;
  }

  // --- two

  private pair(a: number, b: number): (HTMLElement | null)[] {
    const { model } = this;
    const scope = model.scope([a, b]);
    const parameters = scope && this.square(scope.variables, (s, t) => {
      const value = scope.table[s * model.states[scope.variables[1]].length + t];
      return (): Cell => (value === null ? { text: "impossible", tone: -1 } : { text: value ? signed(value, 3) : "0", tone: value / 3 });
    });
    const holding = model.largerScopes([a, b]);
    return [
      this.title(`${model.names[a]} – ${model.names[b]}`),
      model.other ? comparedPair(model, a, b) ?? h("p", {}, "No edge in either model.") : h("p", { class: "words" }, ...this.pairInWords(a, b)),
      this.stabilityInWords(a, b),
      parameters && table2(`Parameters${this.ofFirst}, in log p`, this.corner(scope!.variables), parameters),
      parameters && quiet(`${model.document.parameterization} coordinates: ${model.document.meaning}`),
      this.jointTable(a, b),
      holding.length ? this.scopeList("Larger interactions that contain it", holding) : null,
      h("h3", {}, "Its variables"),
      ...[a, b].map((v) => this.bars(v)),
    ];
  }

  private pairInWords(a: number, b: number): Part[] {
    const { model } = this;
    if (model.edgeBetween(a, b) === undefined) return ["No edge: they are independent given all other variables."];
    const [one, other] = [model.stateName(a, model.states[a].length - 1), model.stateName(b, model.states[b].length - 1)];
    if (!model.isBinary(a) || !model.isBinary(b)) {
      const edge = model.edgeBetween(a, b)!;
      const weight = model.edge(edge)[2];
      const [shown, unit] = model.isSigned(edge) ? [signed(weight), "log odds ratio per step"] : [weight.toFixed(2), "norm of the centered table, no sign"];
      return ["Their edge weight is ", strong(shown), ` (${unit}); the table shows which states go together.`];
    }
    const odds = oddsFactor(model, a, b);
    if (odds !== null) {
      return ["All else equal, ", strong(one), " multiplies the odds of ", strong(other), " by ", strong(factor(odds), odds < 1 ? "apart" : "together"), ", and vice versa."];
    }
    const given = (v: number): number => this.state.chosen.evidence.get(v)?.[0] ?? 0;
    const others = [...new Set(model.largerScopes([a, b]).flatMap((k) => model.document.scopes[k][0]))].filter((v) => v !== a && v !== b);
    const at = others.slice(0, 4).map((v) => model.stateName(v, given(v))).join(", ") + (others.length > 4 ? `, and ${others.length - 4} more` : "");
    const here = oddsFactorAt(model, a, b, given);
    return ["Their association depends on other variables. At ", h("em", {}, at), ", ", strong(one), " multiplies the odds of ", strong(other), " by ", strong(factor(here), here < 1 ? "apart" : "together"), "."];
  }

  private stabilityInWords(a: number, b: number): HTMLElement | null {
    const edge = this.model.edgeBetween(a, b);
    const stability = edge === undefined ? null : this.model.stability(edge);
    if (!stability) return null;
    const [inclusion, low, high] = stability;
    const end = (value: number | null, otherwise: string): string => (value === null ? otherwise : value ? signed(value) : "0");
    return quiet(
      `In ${percent(inclusion, 0)} of the bootstrap samples; its weight there ranges from ${end(low, "−∞")} to ${end(high, "+∞")}. `,
      "If weights are shrunk or edges selected, this is not a confidence interval.");
  }

  /** Of two models only one has its tables here. */
  private get ofFirst(): string {
    return this.model.other ? " of A" : "";
  }

  private get resamplesHead(): string[] {
    return this.model.hasStability ? ["resamples"] : [];
  }

  private inResamples(edge: number): HTMLElement[] {
    const stability = this.model.stability(edge);
    return stability ? [figure(percent(stability[0], 0))] : [];
  }

  private corner(variables: number[]): { corner: string; rows: string[]; columns: string[] } {
    const [a, b] = variables;
    return { corner: `${this.model.names[a]} \\ ${this.model.names[b]}`, rows: this.model.states[a], columns: this.model.states[b] };
  }

  private square<T>(variables: number[], cell: (s: number, t: number) => T): T[][] {
    const [a, b] = variables;
    return this.model.states[a].map((_, s) => this.model.states[b].map((_, t) => cell(s, t)));
  }

  private jointTable(a: number, b: number): HTMLElement | null {
    const { state } = this;
    const { answer, asked, chosen } = state;
    if (asked?.pair?.join() !== [a, b].join() || !answer) return null; // the answer is one to another question
    if (!answer.pair) return quiet("Their joint table is too large for this page; mrfit explore has it.");
    const heading = `Together${this.model.other ? " in A" : ""}${chosen.evidence.size ? ", given the evidence" : ""}`;
    const cells = this.square([a, b], (s, t) => () => {
      const [p, alone] = [state.answer!.pair![s][t], state.marginals[a][s] * state.marginals[b][t]];
      return { text: estimate(p, state.answer!.pair_errors?.[s][t] ?? 0), tone: p === alone || alone === 0 ? 0 : 0.5 * Math.log2((p + 1e-9) / (alone + 1e-9)) };
    });
    const figure = table2(heading, this.corner([a, b]), cells, (write) => this.live.push(write));
    figure.append(quiet("Blue: more often than if they were independent; red: less often."));
    return figure;
  }

  // --- three and more

  private larger(variables: number[]): (HTMLElement | null)[] {
    const { model } = this;
    const scope = model.scope(variables);
    const own = scope?.variables ?? variables;
    const lines: HTMLElement[] = [];
    scope?.table.forEach((value, k) => {
      if (value === 0) return;
      const states = statesOf(model, own, k).map((s, i) => model.stateName(own[i], s)).join(", ");
      lines.push(h("tr", {}, h("td", {}, states), figure(value === null ? "impossible" : signed(value, 3), value === null || value < 0 ? "apart" : "together")));
    });
    return [
      this.title(own.map((v) => model.names[v]).join(" – ")),
      h("p", { class: "words" }, ...(scope ? this.largerInWords(own, scope.table) : ["No interaction of the model holds exactly these variables."])),
      scope && table("Parameters, in log p", ["states", "log p"], lines.slice(0, MOST_LINES), rest(lines.length)),
      h("h3", {}, "Its variables"),
      ...own.map((v) => this.bars(v)),
    ];
  }

  private largerInWords(own: number[], values: (number | null)[]): Part[] {
    const { model } = this;
    if (own.length !== 3 || !own.every((v) => model.isBinary(v))) {
      return [`An interaction of ${own.length} variables, beyond their smaller interactions.`];
    }
    const at = (k: number): number => values[k] ?? -Infinity;
    const ratio = Math.exp(at(7) - at(6) - at(5) + at(4) - at(3) + at(2) + at(1) - at(0));
    const [a, b, c] = own.map((v) => model.stateName(v, 1));
    return ["When ", strong(c), ", the odds ratio of ", strong(a), " and ", strong(b), " is ", strong(factor(ratio), ratio < 1 ? "apart" : "together"), " times as large as otherwise, by this interaction alone and all else equal."];
  }

  private bars(v: number): HTMLElement {
    return h("div", { class: "states" },
      h("button", { class: "link strong", "data-key": `dv${v}`, on: { click: this.look([v]) } }, this.model.names[v]),
      this.stateButtons(v, `dv${v}.`));
  }

  private stateButtons(v: number, key: string): HTMLElement[] {
    const made = this.model.states[v].map((_, s) => new StateButton(this.state, v, s, `${key}${s}`));
    this.live.push(...made.map((button) => () => button.update()));
    return made.map((button) => button.element);
  }

  private scopeList(heading: string, scopes: number[]): HTMLElement {
    const { model } = this;
    const lines = scopes.slice(0, 12).map((number) => {
      const [variables] = model.document.scopes[number];
      const names = variables.map((v) => model.names[v]).join(" – ");
      return h("tr", {},
        h("td", {}, link(names, `dk${number}`, this.look([...variables]))),
        figure(model.largestEntry(number).toFixed(2)));
    });
    return table(heading, ["variables", "largest"], lines, rest(scopes.length, 12));
  }

  // --- the whole model

  private whole(): (HTMLElement | null)[] {
    const { model, state } = this;
    const { document: told } = model;
    if (model.other) return [this.title("A and B"), ...comparison(model, (selection) => this.look(selection))];
    const lines = model.strongest.slice(0, 14).map((e) => {
      const [a, b] = model.edge(e);
      return h("tr", {},
        h("td", {}, link(`${model.names[a]} – ${model.names[b]}`, `de${e}`, this.look([a, b]))),
        this.weight(e),
        ...this.inResamples(e));
    });
    return [
      this.title("Overview"),
      h("p", {}, [told.learned, told.rows ? `learned from ${count(told.rows)} rows` : null].filter(Boolean).join("; ") || "The model does not say how it was learned."),
      state.answer?.gap ? h("p", {}, secondMode(state.answer)) : null,
      state.kept ? h("p", {}, "Two cases. Upper bars: ", strong(state.caseInWords), "; lower bars: ", strong(state.kept.words), ".") : null,
      state.answer?.map ? this.mostProbable(state.answer.map) : state.asked?.map ? quiet("Searching for the most probable states of all variables …") : null,
      lines.length ? table("Strongest interactions", ["pair", "weight", ...this.resamplesHead], lines) : null,
      model.larger.length ? this.scopeList("Strongest larger interactions", model.larger) : null,
      told.groups ? this.groups() : null,
      this.orders(),
      state.worst.length ? this.worstRows() : null,
      ...told.scores.map(({ measure, value, error, rows }) =>
        quiet(`Mean ${measure} of ${count(rows)} rows: ${value === null ? "minus infinity" : scored(value, error, 4)} nats.`)),
      ...told.marginals.remarks.map((remark) => quiet(remark)),
    ];
  }

  /** Rows of data that the model expects least; their most surprising state says why. */
  private worstRows(): HTMLElement {
    const { model, state } = this;
    const lines = state.worst.map(({ score, weight, surprises }, k) =>
      h("tr", {},
        h("td", {}, surprises.slice(0, 2).flatMap(([v, s, p], i) => [
          i ? h("br") : null,
          link(model.stateName(v, s), `dw${k}.${i}`, this.look([v])),
          ` ${percent(p)}`,
        ])),
        figure(String(+weight.toPrecision(4))),
        figure(score === null ? "−∞" : signed(score))));
    return table("Rows of the data that fit worst", ["least expected, given all else", "times", "pll"], lines);
  }

  private mostProbable(states: number[]): HTMLElement {
    const { model, state } = this;
    const moved = states.map((_, v) => v).filter((v) => !state.chosen.evidence.has(v) && states[v] !== largest(state.marginals[v]));
    const order = [...moved, ...states.map((_, v) => v).filter((v) => !moved.includes(v))];
    const lines = order.slice(0, MOST_LINES).map((v) =>
      h("tr", {},
        h("td", {}, link(model.names[v], `dm${v}`, this.look([v]))),
        figure(model.states[v][states[v]], moved.includes(v) ? "strong" : "")));
    const heading = state.answer!.exact ? "Most probable together" : "Probable together; there may be better";
    const note = moved.length ? `In bold: ${plural(moved.length, "variable")} whose most probable state by itself differs.` : "";
    return table(heading, ["variable", "state"], lines, note || rest(states.length));
  }

  private orders(): HTMLElement {
    const { parameters } = this.model.document;
    const most = Math.max(...parameters.map((each) => each.size), 1e-9);
    const lines = parameters.map((each) =>
      h("tr", {},
        h("td", {}, String(each.order)),
        figure(`${count(each.nonzero)} of ${count(each.count)}`),
        h("td", {}, h("div", { class: "wide" }, new Bar().update(each.size / most).element, each.size.toFixed(2)))));
    return table("Parameters by order", ["variables", "not zero", "mean size"], lines);
  }

  /** Learned values on a line: circles are groups, by size; ticks are all parameters. */
  private groups(): HTMLElement {
    const { centers, sizes, values, equal } = this.model.document.groups!;
    const [low, high] = [Math.min(...values, ...centers), Math.max(...values, ...centers)];
    const x = (value: number): string => (14 + (292 * (value - low)) / (high - low || 1)).toFixed(1);
    const most = Math.max(...sizes);
    const parts = [
      ...values.map((value) => svg("line", { x1: x(value), x2: x(value), y1: 46, y2: 58, class: "tick" })),
      ...centers.map((center, k) =>
        svg("circle", { cx: x(center), cy: 24, r: (4 + 10 * Math.sqrt(sizes[k] / most)).toFixed(1), class: center < 0 ? "apart" : "together" })),
    ];
    for (const [value, anchor] of [[low, "start"], [high, "end"]] as const) {
      const text = svg("text", { x: x(value), y: 76, "text-anchor": anchor });
      text.textContent = signed(value);
      parts.push(text);
    }
    const picture = svg("svg", { viewBox: "0 0 320 82", class: "line", role: "img", "aria-label": `Centers: ${centers.map((c, k) => `${signed(c)} (${sizes[k]})`).join(", ")}` });
    picture.append(...parts);
    const n = sizes.reduce((sum, size) => sum + size, 0);
    const figure = h("div", {}, h("h3", {}, `${centers.length} learned values, ${equal ? "shared by" : "that attract"} ${count(n)} parameters`));
    figure.append(picture);
    return figure;
  }

  private weight(edge: number): HTMLElement {
    const weight = this.model.edge(edge)[2];
    if (!this.model.isSigned(edge)) return figure(weight.toFixed(2));
    return figure(signed(weight), weight < 0 ? "apart" : "together");
  }
}

interface Cell {
  text: string;
  tone: number; // above 0 blue, below red; full at 1
}

function rest(n: number, shown = MOST_LINES): string {
  return n > shown ? `and ${count(n - shown)} more` : "";
}

function table2(
  heading: string,
  names: { corner: string; rows: string[]; columns: string[] },
  cells: (() => Cell)[][],
  watch: (write: () => void) => void = () => {},
): HTMLElement {
  const made = (cell: () => Cell): HTMLElement => {
    const element = figure("");
    const write = (): void => {
      const { text, tone } = cell();
      element.className = `figure ${toned(tone)}`;
      set(element, text);
    };
    write();
    watch(write);
    return element;
  };
  const lines = cells.map((row, s) => h("tr", {}, h("th", { scope: "row" }, names.rows[s]), row.map(made)));
  return table(heading, [names.corner, ...names.columns], lines);
}

function set(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

function toned(value: number): string {
  const level = Math.min(3, Math.ceil(3 * Math.abs(value) - 0.05));
  return level <= 0 ? "" : `${value < 0 ? "red" : "blue"}${level}`;
}

/** The states of a cell of a table. */
function statesOf(model: Model, variables: number[], cell: number): number[] {
  const out: number[] = [];
  for (const v of [...variables].reverse()) {
    out.unshift(cell % model.states[v].length);
    cell = Math.floor(cell / model.states[v].length);
  }
  return out;
}

function largest(values: number[]): number {
  return values.indexOf(Math.max(...values));
}

function svg(tag: string, attributes: Record<string, string | number>): SVGElement {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  return element;
}
