// A distribution as a product of tables, and what is known of its variables.

import type { Document } from "../document";

/** The states in which a variable may be, by its number; one state where it is known. */
export type Evidence = ReadonlyMap<number, readonly number[]>;

export interface Factor {
  variables: number[];
  table: Float64Array; // logarithms, the last variable fastest
}

export interface Factors {
  shape: number[];
  factors: Factor[];
}

export function factorsOf(document: Pick<Document, "variables" | "scopes">): Factors {
  return {
    shape: document.variables.map((variable) => variable.states.length),
    factors: document.scopes.map(([variables, table]) => ({
      variables,
      table: Float64Array.from(table, (value) => value ?? -Infinity),
    })),
  };
}

/** What is left when some states are excluded: variables with fewer states, which `states` numbers as they were. */
export interface Restricted extends Factors {
  states: number[][];
}

export function restrict(all: Factors, evidence: Evidence): Restricted {
  const states = all.shape.map((n, v) => [...(evidence.get(v) ?? Array.from({ length: n }, (_, s) => s))]);
  const shape = states.map((own) => own.length);
  const factors = all.factors.map((factor) =>
    factor.variables.some((v) => shape[v] < all.shape[v]) ? restrictOne(factor, all.shape, states) : factor,
  );
  return { shape, factors, states };
}

function restrictOne(factor: Factor, shape: number[], states: number[][]): Factor {
  let offsets = [0];
  for (const v of factor.variables) {
    offsets = offsets.flatMap((offset) => states[v].map((state) => offset * shape[v] + state));
  }
  return { variables: factor.variables, table: Float64Array.from(offsets, (offset) => factor.table[offset]) };
}

/** Steps in a table over `variables` for those of `wanted`; 0 for the ones it does not have. */
export function strides(variables: number[], shape: number[], wanted: number[]): number[] {
  const own = new Map<number, number>();
  let step = 1;
  for (let k = variables.length - 1; k >= 0; k--) {
    own.set(variables[k], step);
    step *= shape[variables[k]];
  }
  return wanted.map((v) => own.get(v) ?? 0);
}

export function size(variables: number[], shape: number[]): number {
  return variables.reduce((product, v) => product * shape[v], 1);
}

/**
 * Goes over all cells of a table over `variables` and says where each stands in another: calls `visit` with the place in
 * the other of the first of every run along the last variable, and the step between its cells.
 */
export function walk(
  variables: number[],
  shape: number[],
  other: number[],
  visit: (cell: number, place: number, step: number, length: number) => void,
): void {
  const n = variables.length;
  if (n === 0) return visit(0, 0, 0, 1);
  const step = strides(other, shape, variables);
  const last = n - 1;
  const length = shape[variables[last]];
  const state = new Int32Array(n);
  const cells = size(variables, shape);
  let place = 0;
  for (let cell = 0; cell < cells; cell += length) {
    visit(cell, place, step[last], length);
    for (let k = last - 1; k >= 0; k--) {
      place += step[k];
      if (++state[k] < shape[variables[k]]) break;
      place -= step[k] * shape[variables[k]];
      state[k] = 0;
    }
  }
}
