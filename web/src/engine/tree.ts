// Exact marginals: variables are eliminated in a given order, and what each clique heard is passed back.

import { type Evidence, type Factors, restrict, type Restricted, size, walk } from "./factors";

/** A variable that is eliminated (the last of `variables`), with those it is then joined to. */
interface Clique {
  variables: number[];
  separator: number[]; // all but the last
  parent: number; // the number of the clique that hears of it; -1 for a root
  table: Float64Array; // logarithms; first potentials, in the end beliefs
  message: Float64Array; // to the parent
}

export interface Exact {
  logZ: number; // -Infinity where the evidence is impossible
  marginals: number[][]; // of all states as the document numbers them
  pair(a: number, b: number): number[][] | null; // a joint table, where one clique has both
}

export function runTree(all: Factors, order: number[], evidence: Evidence): Exact {
  const given = restrict(all, evidence);
  const cliques = cliquesOf(given, order);
  let logZ = addFactors(given, cliques);
  logZ += passUp(given, cliques);
  if (logZ === -Infinity) return { logZ, marginals: [], pair: () => null };
  passDown(given, cliques);
  return {
    logZ,
    marginals: all.shape.map((n, v) => spread(n, given, v, marginalOf(given, cliques, v))),
    pair: (a, b) => pairOf(all, given, cliques, a, b),
  };
}

/** A most probable state of every variable; null where the evidence is impossible. */
export function bestState(all: Factors, order: number[], evidence: Evidence): number[] | null {
  const given = restrict(all, evidence);
  const cliques = cliquesOf(given, order);
  let largest = addFactors(given, cliques);
  for (const clique of cliques) {
    const { table, message } = clique;
    const n = table.length / message.length;
    for (let k = 0; k < message.length; k++) message[k] = Math.max(...table.subarray(k * n, (k + 1) * n));
    if (clique.parent < 0) largest += message[0];
    else add(cliques[clique.parent], given.shape, clique.separator, message);
  }
  if (largest === -Infinity) return null;
  const state = new Array<number>(all.shape.length).fill(0);
  for (const { variables, separator, table } of [...cliques].reverse()) {
    const v = variables[variables.length - 1];
    const n = given.shape[v];
    const start = n * separator.reduce((place, u) => place * given.shape[u] + state[u], 0);
    for (let s = 1; s < n; s++) if (table[start + s] > table[start + state[v]]) state[v] = s;
  }
  return state.map((s, v) => given.states[v][s]);
}

/** Variables with one state are in no clique. */
function cliquesOf(given: Restricted, order: number[]): Clique[] {
  const live = order.filter((v) => given.shape[v] > 1);
  const place = new Map(live.map((v, k) => [v, k]));
  const joined = live.map(() => new Set<number>());
  const join = (places: number[]): void => {
    const first = Math.min(...places);
    for (const k of places) if (k !== first) joined[first].add(k);
  };
  for (const { variables } of given.factors) {
    const places = variables.filter((v) => place.has(v)).map((v) => place.get(v)!);
    if (places.length > 1) join(places);
  }
  return live.map((v, k) => {
    const later = [...joined[k]].sort((a, b) => b - a); // the first that is eliminated stands last
    if (later.length > 1) join(later);
    const separator = later.map((other) => live[other]);
    const variables = [...separator, v];
    return {
      variables,
      separator,
      parent: later.length ? later[later.length - 1] : -1,
      table: new Float64Array(size(variables, given.shape)),
      message: new Float64Array(size(separator, given.shape)),
    };
  });
}

/** Each factor into the clique of its variable that goes first; returns the sum of those without any. */
function addFactors(given: Restricted, cliques: Clique[]): number {
  const place = new Map(cliques.map((clique, k) => [clique.variables[clique.variables.length - 1], k]));
  let constant = 0;
  for (const { variables, table } of given.factors) {
    const places = variables.filter((v) => place.has(v)).map((v) => place.get(v)!);
    if (places.length === 0) constant += table[0];
    else add(cliques[Math.min(...places)], given.shape, variables, table);
  }
  return constant;
}

/** Adds a table over some of a clique's variables to its own. */
function add(clique: Clique, shape: number[], variables: number[], table: Float64Array): void {
  const own = clique.table;
  walk(clique.variables, shape, variables, (cell, place, step, length) => {
    for (let s = 0; s < length; s++, place += step) own[cell + s] += table[place];
  });
}

/** Every clique sums its variable out and tells its parent; returns the sum of the roots' logarithms. */
function passUp(given: Restricted, cliques: Clique[]): number {
  let logZ = 0;
  for (const clique of cliques) {
    const { table, message } = clique;
    const n = table.length / message.length;
    for (let k = 0; k < message.length; k++) message[k] = logSum(table, k * n, n);
    if (clique.parent < 0) logZ += message[0];
    else add(cliques[clique.parent], given.shape, clique.separator, message);
  }
  return logZ;
}

/** Every clique hears from its parent what that knows beyond what it said itself. */
function passDown(given: Restricted, cliques: Clique[]): void {
  for (let k = cliques.length - 1; k >= 0; k--) {
    const clique = cliques[k];
    const { table, message } = clique;
    const n = table.length / message.length;
    const known = clique.parent < 0 ? Float64Array.of(0) : marginal(cliques[clique.parent], given.shape, clique.separator);
    for (let c = 0; c < table.length; c++) {
      const separator = (c - (c % n)) / n;
      table[c] = message[separator] === -Infinity ? -Infinity : table[c] + known[separator] - message[separator];
    }
  }
}

/** The logarithms of a clique's marginal over some of its variables. */
function marginal(clique: Clique, shape: number[], variables: number[]): Float64Array {
  const sums = new Float64Array(size(variables, shape));
  const own = clique.table;
  walk(clique.variables, shape, variables, (cell, place, step, length) => {
    for (let s = 0; s < length; s++, place += step) sums[place] += Math.exp(own[cell + s]);
  });
  return sums.map(Math.log);
}

function marginalOf(given: Restricted, cliques: Clique[], v: number): number[] {
  const clique = cliques.find((one) => one.variables[one.variables.length - 1] === v);
  return clique ? Array.from(marginal(clique, given.shape, [v]), Math.exp) : [1];
}

function pairOf(all: Factors, given: Restricted, cliques: Clique[], a: number, b: number): number[][] | null {
  const out = Array.from({ length: all.shape[a] }, () => new Array<number>(all.shape[b]).fill(0));
  const live = [a, b].filter((v) => given.shape[v] > 1);
  const clique = cliques.find((one) => live.every((v) => one.variables.includes(v)));
  if (live.length && !clique) return null;
  const table = clique ? Array.from(marginal(clique, given.shape, live), Math.exp) : [1];
  given.states[a].forEach((s, k) => {
    given.states[b].forEach((t, l) => (out[s][t] = table[k * given.states[b].length + l]));
  });
  return out;
}

/** Probabilities of the states that are left, among all. */
function spread(n: number, given: Restricted, v: number, p: number[]): number[] {
  const out = new Array<number>(n).fill(0);
  const total = p.reduce((sum, x) => sum + x, 0);
  given.states[v].forEach((state, k) => (out[state] = p[k] / total));
  return out;
}

function logSum(values: Float64Array, start: number, n: number): number {
  let most = -Infinity;
  for (let k = start; k < start + n; k++) if (values[k] > most) most = values[k];
  if (most === -Infinity) return most;
  let sum = 0;
  for (let k = start; k < start + n; k++) sum += Math.exp(values[k] - most);
  return most + Math.log(sum);
}
