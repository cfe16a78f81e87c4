// The document with what the page looks up again and again.

import type { Document, Edge } from "./document";
import { visible } from "./words";

export interface Neighbour {
  variable: number;
  edge: number;
  strength: number;
}

export class Model {
  names: string[];
  states: string[][];
  neighbours: Neighbour[][]; // of each variable, the strongest first
  larger: number[]; // numbers of scopes of more than two variables, the strongest first
  strongest: number[]; // numbers of edges, the strongest first
  before: number[][];
  private signed: boolean[];
  private edgeOf = new Map<string, number>();
  private scopeOf = new Map<string, number>();

  constructor(public document: Document) {
    this.names = document.variables.map((variable) => visible(variable.name));
    this.states = document.variables.map((variable) => variable.states.map(visible));
    this.signed = document.variables.map((variable) => variable.ordered);
    this.before = document.marginals.values;
    this.neighbours = this.names.map(() => []);
    document.edges.forEach(([a, b, strength], edge) => {
      this.edgeOf.set(key([a, b]), edge);
      this.neighbours[a].push({ variable: b, edge, strength });
      this.neighbours[b].push({ variable: a, edge, strength });
    });
    for (const list of this.neighbours) list.sort((one, other) => size(other.strength) - size(one.strength));
    const range = (n: number): number[] => Array.from({ length: n }, (_, k) => k);
    this.strongest = range(document.edges.length).sort((k, l) => size(this.edge(l)[2]) - size(this.edge(k)[2]));
    document.scopes.forEach(([variables], number) => this.scopeOf.set(key(variables), number));
    this.larger = range(document.scopes.length)
      .filter((number) => document.scopes[number][0].length > 2)
      .sort((k, l) => this.largest(l) - this.largest(k));
  }

  get n(): number {
    return this.names.length;
  }

  edge(number: number): Edge {
    return this.document.edges[number];
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
  largest(scope: number): number {
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
