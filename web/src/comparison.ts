// Two models of the same variables, in words and tables.

import { h } from "./dom";
import { oddsFactor } from "./effects";
import type { Model, View } from "./model";
import { figure, link, strong, table } from "./tables";
import { count, factor, plural, signed } from "./words";

const MOST_LINES = 12;

type Look = (selection: number[]) => () => void;

/** How many edges only A, only B and both have, which these are, and what rows say of the two. */
export function comparison(model: Model, look: Look): (HTMLElement | null)[] {
  const { document: told } = model;
  const other = told.other!;
  const numbers = told.edges.map((_, e) => e);
  const of = (where: string): number[] => numbers.filter((e) => model.where(e) === where).sort((k, l) => gap(model, l) - gap(model, k));
  const [onlyA, onlyB, both] = [of("a"), of("b"), of("both")];
  return [
    h("dl", { class: "models" },
      h("dt", {}, "A"), h("dd", {}, inWords(told.title, told.learned, told.rows)),
      h("dt", {}, "B"), h("dd", {}, inWords(other.title, other.learned, other.rows))),
    h("p", {}, `${plural(both.length, "pair")} in both, ${count(onlyA.length)} only in A, ${count(onlyB.length)} only in B. Edge weights: ${told.edge_weight}.`),
    scores(other.compared),
    edges("Only in A", ["a"], onlyA, model, look),
    edges("Only in B", ["b"], onlyB, model, look),
    edges("In both, most different first", ["a", "b", "difference"], both, model, look),
  ];
}

/** What both models say of a pair. */
export function comparedPair(model: Model, a: number, b: number): HTMLElement | null {
  const edge = model.edgeBetween(a, b);
  if (edge === undefined) return null;
  const odds = [model, model.other!].map((own) => oddsFactor(own, a, b));
  const head = (text: string): HTMLElement => h("th", { scope: "row" }, text);
  const lines = [h("tr", {}, head("edge weight"), figures(model, edge, ["a", "b", "difference"]))];
  if (odds.every((each) => each !== null)) {
    const [one, other] = odds as number[];
    lines.push(h("tr", {}, head("odds ×"), [factor(one), factor(other), `× ${factor(other / one)}`].map((each) => figure(each))));
  }
  return table("A, B, and the difference B − A", ["", "A", "B", "B − A"], lines);
}

function edges(heading: string, views: View[], list: number[], model: Model, look: Look): HTMLElement | null {
  if (!list.length) return null;
  const heads: Record<View, string> = { a: "A", b: "B", difference: "B − A" };
  const lines = list.slice(0, MOST_LINES).map((e) => {
    const [a, b] = model.edge(e);
    const name = `${model.names[a]} – ${model.names[b]}`;
    return h("tr", {}, h("td", {}, link(name, `de${e}`, look([a, b]))), figures(model, e, views));
  });
  const note = list.length > MOST_LINES ? `and ${count(list.length - MOST_LINES)} more` : "";
  return table(heading, ["pair", ...views.map((view) => heads[view])], lines, note);
}

function figures(model: Model, edge: number, views: View[]): HTMLElement[] {
  const text = (value: number): string => (model.isSigned(edge) ? (value ? signed(value) : "0") : value.toFixed(2));
  return views.map((view) => figure(text(model.weightIn(view, edge))));
}

function scores(compared: NonNullable<Model["document"]["other"]>["compared"]): HTMLElement | null {
  if (!compared) return null;
  const { metric, n_rows, a, b, difference, standard_error } = compared;
  const isClear = Math.abs(difference) > 2 * standard_error;
  return h("p", { class: "words" },
    `Of ${count(n_rows)} rows, mean ${metric}: A ${signed(a, 4)}, B ${signed(b, 4)}; `,
    strong(`difference B − A ${signed(difference, 4)} ± ${standard_error.toFixed(4)}`),
    ` nats. ${isClear ? "More than two standard errors: hardly due to chance, unless the models were learned from these rows." : "Less than two standard errors: it may be due to chance."}`);
}

function inWords(title: string, learned: string | null, rows: number | null): string {
  return [title, learned, rows ? `learned from ${count(rows)} rows` : null].filter(Boolean).join("; ");
}

function gap(model: Model, edge: number): number {
  return Math.abs(model.weightIn("difference", edge));
}
