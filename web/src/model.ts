// The document with what the page looks up again and again.

import type { Document, Edge, Stability } from "./document";
import { visible } from "./words";

export interface Neighbour {
  variable: number;
  edge: number;
  weight: number;
}

/** Which of two models the picture shows: the first, the second, or the difference second - first. */
export type View = "a" | "b" | "difference";

export class Model {
  names: string[];
  states: string[][];
  degree = new Int32Array(0); // how many neighbours each variable has in the view
  pull = new Float64Array(0); // the sizes of the weights of its edges, added up
  strongest: number[] = []; // numbers of edges that are not zero in the view, the strongest first
  largest: number; // size of an edge weight in any view
  before: number[][];
  beforeErrors: number[][] | null; // standard errors; null where they are exact
  view: View = "a";
  other: Model | null = null; // the second of two
  private edges: Edge[] = []; // as the view has them
  private signed: boolean[];
  private large: number[] | null = null;
  private scopeOf: Map<string, number> | null = null; // found when first asked for: the first picture needs none

  constructor(public document: Document) {
    this.names = document.variables.map((variable) => visible(variable.name));
    this.states = document.variables.map((variable) => variable.states.map(visible));
    this.signed = document.variables.map((variable) => variable.ordered);
    this.before = document.marginals.values;
    this.beforeErrors = document.marginals.errors;
    const { other, edges } = document;
    if (other) {
      const own = edges.map(([a, b], edge): Edge => [a, b, other.weights[edge]]);
      this.other = new Model({ ...document, ...other, edges: own, other: undefined });
    }
    const views: View[] = other ? ["a", "b", "difference"] : ["a"];
    this.largest = edges.reduce((most, _, e) => views.reduce((most, view) => Math.max(most, size(this.weightIn(view, e))), most), 0) || 1;
    this.show(views[views.length - 1]);
  }

  /** Takes the edges of a view. */
  show(view: View): void {
    this.view = view;
    const { edges } = this.document;
    this.edges = view === "a" ? edges : edges.map(([a, b, , stability], e): Edge => [a, b, this.weightIn(view, e), stability]);
    const sizes = Float64Array.from(this.edges, (edge) => size(edge[2]));
    [this.degree, this.pull] = [new Int32Array(this.n), new Float64Array(this.n)];
    this.strongest = [];
    sizes.forEach((weight, e) => {
      if (weight === 0) return;
      this.strongest.push(e);
      for (const v of [this.edges[e][0], this.edges[e][1]]) {
        this.degree[v]++;
        this.pull[v] += weight;
      }
    });
    this.strongest.sort((k, l) => sizes[l] - sizes[k]);
  }

  /** Numbers of scopes of more than two variables, the strongest first. */
  get larger(): number[] {
    if (!this.document.parameters.some(({ order }) => order > 2)) return [];
    this.large ??= this.document.scopes
      .flatMap(([variables], number) => (variables.length > 2 ? [number] : []))
      .sort((k, l) => this.largestEntry(l) - this.largestEntry(k));
    return this.large;
  }

  /** How many edges have at least a weight. */
  shown(threshold: number): number {
    const first = this.strongest.findIndex((e) => size(this.edges[e][2]) < threshold);
    return first < 0 ? this.strongest.length : first;
  }

  /** Those edges, the strongest first. */
  shownEdges(threshold: number): Edge[] {
    return this.strongest.slice(0, this.shown(threshold)).map((e) => this.edges[e]);
  }

  /** Of a variable, the strongest first. */
  neighbours(v: number): Neighbour[] {
    const own = this.strongest.filter((edge) => this.edges[edge][0] === v || this.edges[edge][1] === v);
    return own.map((edge) => {
      const [a, b, weight] = this.edges[edge];
      return { variable: a === v ? b : a, edge, weight };
    });
  }

  weightIn(view: View, edge: number): number {
    const [a, b] = [this.document.edges[edge][2], this.document.other?.weights[edge] ?? 0];
    return view === "a" ? a : view === "b" ? b : b - a;
  }

  /** Which of two models has an edge. */
  where(edge: number): "a" | "b" | "both" {
    if (this.weightIn("a", edge) === 0) return "b";
    return this.weightIn("b", edge) === 0 && this.document.other ? "a" : "both";
  }

  get n(): number {
    return this.names.length;
  }

  edge(number: number): Edge {
    return this.edges[number];
  }

  edgeBetween(a: number, b: number): number | undefined {
    const edge = this.edges.findIndex(([x, y]) => (x === a && y === b) || (x === b && y === a));
    return edge < 0 ? undefined : edge;
  }

  /** The table over exactly these variables, which may be listed in any order; null where there is none. */
  scope(variables: number[]): { variables: number[]; table: (number | null)[] } | null {
    this.scopeOf ??= new Map(this.document.scopes.map(([own], number) => [key(own), number]));
    const number = this.scopeOf.get(key(variables));
    if (number === undefined) return null;
    const [own, table] = this.document.scopes[number];
    return { variables: own, table };
  }

  /** Scopes of more variables that hold all of these. */
  largerScopes(variables: number[]): number[] {
    return this.larger.filter((number) => variables.every((v) => this.document.scopes[number][0].includes(v)));
  }

  /** The largest entry of a table, in absolute value. */
  largestEntry(scope: number): number {
    return this.document.scopes[scope][1].reduce<number>((most, value) => Math.max(most, Math.abs(value ?? 30)), 0);
  }

  isBinary(v: number): boolean {
    return this.states[v].length === 2;
  }

  /** Whether an edge weight has a sign: only variables whose states have scores go together or apart. */
  isSigned(edge: number): boolean {
    const [a, b] = this.edge(edge);
    return this.signed[a] && this.signed[b];
  }

  /** What resamples say of edges; null where none were given. */
  stability(edge: number): Stability | null {
    return this.edge(edge)[3] ?? null;
  }

  get hasStability(): boolean {
    return this.document.edges.length > 0 && this.stability(0) !== null;
  }

  /** The share of its deviance that the others explain; null where nothing is known of it. */
  explains(v: number): number | null {
    const share = this.document.variables[v].explained;
    return share === undefined || share === null ? null : Math.max(0, share);
  }

  stateName(v: number, s: number): string {
    return `${this.names[v]} = ${this.states[v][s]}`;
  }
}

function key(variables: number[]): string {
  return [...variables].sort((a, b) => a - b).join();
}

export function size(weight: number): number {
  return Math.abs(weight);
}
