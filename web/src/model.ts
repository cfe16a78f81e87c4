// The document with what the page looks up again and again.

import type { Document, Edge, Stability } from "./document";
import { visible } from "./words";

export interface Neighbour {
  variable: number;
  edge: number;
  strength: number;
}

/** Which of two models the picture shows: the first, the second, or the second less the first. */
export type View = "a" | "b" | "difference";

export class Model {
  names: string[];
  states: string[][];
  neighbours: Neighbour[][]; // of each variable, the strongest first
  larger: number[]; // numbers of scopes of more than two variables, the strongest first
  strongest: number[] = []; // numbers of edges that are not zero in the view, the strongest first
  largest = 1; // strength in any view
  before: number[][];
  view: View = "a";
  other: Model | null = null; // the second of two
  private edges: Edge[] = []; // as the view has them
  private signed: boolean[];
  private edgeOf = new Map<string, number>();
  private scopeOf = new Map<string, number>();

  constructor(public document: Document) {
    this.names = document.variables.map((variable) => visible(variable.name));
    this.states = document.variables.map((variable) => variable.states.map(visible));
    this.signed = document.variables.map((variable) => variable.ordered);
    this.before = document.marginals.values;
    this.neighbours = [];
    document.edges.forEach(([a, b], edge) => this.edgeOf.set(key([a, b]), edge));
    const { other } = document;
    if (other) {
      const edges = document.edges.map(([a, b], edge): Edge => [a, b, other.strengths[edge]]);
      this.other = new Model({ ...document, ...other, edges, other: undefined });
    }
    const views: View[] = other ? ["a", "b", "difference"] : ["a"];
    const sizes = views.flatMap((view) => document.edges.map((_, e) => size(this.strengthIn(view, e))));
    this.largest = sizes.reduce((most, each) => Math.max(most, each), 0) || 1;
    this.show(views[views.length - 1]);
    const range = (n: number): number[] => Array.from({ length: n }, (_, k) => k);
    document.scopes.forEach(([variables], number) => this.scopeOf.set(key(variables), number));
    this.larger = range(document.scopes.length)
      .filter((number) => document.scopes[number][0].length > 2)
      .sort((k, l) => this.largestEntry(l) - this.largestEntry(k));
  }

  /** Takes the edges of a view. */
  show(view: View): void {
    this.view = view;
    const strength = (e: number): number => this.strengthIn(view, e);
    this.edges = this.document.edges.map(([a, b, , stability], e): Edge => [a, b, strength(e), stability]);
    this.neighbours = this.names.map(() => []);
    this.edges.forEach(([a, b, strength], edge) => {
      if (strength === 0) return;
      this.neighbours[a].push({ variable: b, edge, strength });
      this.neighbours[b].push({ variable: a, edge, strength });
    });
    for (const list of this.neighbours) list.sort((one, other) => size(other.strength) - size(one.strength));
    const present = this.edges.map((_, e) => e).filter((e) => this.edges[e][2] !== 0);
    this.strongest = present.sort((k, l) => size(this.edges[l][2]) - size(this.edges[k][2]));
  }

  strengthIn(view: View, edge: number): number {
    const [a, b] = [this.document.edges[edge][2], this.document.other?.strengths[edge] ?? 0];
    return view === "a" ? a : view === "b" ? b : b - a;
  }

  /** Which of two models has an edge. */
  where(edge: number): "a" | "b" | "both" {
    if (this.strengthIn("a", edge) === 0) return "b";
    return this.strengthIn("b", edge) === 0 && this.document.other ? "a" : "both";
  }

  get n(): number {
    return this.names.length;
  }

  edge(number: number): Edge {
    return this.edges[number];
  }

  edgeBetween(a: number, b: number): number | undefined {
    return this.edgeOf.get(key([a, b]));
  }

  /** The table over exactly these variables, which may be listed in any order; null where there is none. */
  scope(variables: number[]): { variables: number[]; table: (number | null)[] } | null {
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

  /** Whether an edge has a sign: only variables whose states have an order go together or apart. */
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
  explained(v: number): number | null {
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

export function size(strength: number): number {
  return Math.abs(strength);
}
