// What interactions say in odds, whatever the coordinates of the model.

import type { Model } from "./model";

/** log of the odds ratio of two variables of two states, in one table over both. */
export function logOddsRatio(table: (number | null)[]): number {
  const at = (k: number): number => table[k] ?? -Infinity;
  const value = at(0) - at(1) - at(2) + at(3);
  return Number.isNaN(value) ? 0 : value;
}

/** By how much the second state of one multiplies the odds of the other's; null where that depends on other variables. */
export function oddsFactor(model: Model, a: number, b: number): number | null {
  if (!model.isBinary(a) || !model.isBinary(b) || model.largerScopes([a, b]).length) return null;
  const scope = model.scope([a, b]);
  return scope ? Math.exp(logOddsRatio(scope.table)) : 1;
}

/** The same where larger interactions hold the pair: with all other variables in given states. */
export function oddsFactorAt(model: Model, a: number, b: number, states: (v: number) => number): number {
  const scopes = model.document.scopes.filter(([variables]) => variables.includes(a) && variables.includes(b));
  const log = scopes.reduce((sum, [variables, table]) => {
    const place = (x: number, y: number): number =>
      variables.reduce((k, v) => k * model.states[v].length + (v === a ? x : v === b ? y : states(v)), 0);
    return sum + logOddsRatio([table[place(0, 0)], table[place(0, 1)], table[place(1, 0)], table[place(1, 1)]]);
  }, 0);
  return Math.exp(log);
}
