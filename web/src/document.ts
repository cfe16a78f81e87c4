// The document of a model, schema 1, as Python writes it (mrfit/explorer/document.py).

export interface Variable {
  name: string;
  states: string[];
  ordered: boolean; // whether its states have scores; two states always do
  frequency?: number[];
  explained?: number | null; // share of the deviance that the other variables explain in the data
}

export interface Groups {
  centers: number[];
  sizes: number[];
  values: number[];
  equal: boolean;
}

export interface OrderOfParameters {
  order: number;
  count: number;
  nonzero: number;
  size: number;
}

/** Of resamples: the share that has an edge, and the range of its weight; null for an infinite end. */
export type Stability = [inclusion: number, low: number | null, high: number | null];
export type Edge = [a: number, b: number, weight: number, stability?: Stability];
export type Scope = [variables: number[], table: (number | null)[]];

export interface Document {
  format: string;
  schema: number;
  title: string;
  variables: Variable[];
  edges: Edge[];
  edge_weight: string; // the unit of their weights
  scopes: Scope[];
  layout: [number, number][];
  community: number[];
  parameterization: string;
  meaning: string;
  parameters: OrderOfParameters[];
  groups: Groups | null;
  scores: { measure: string; value: number | null; rows: number; error?: number }[];
  learned: string | null;
  rows: number | null;
  plan: { engine: "exact"; order: number[]; cells: number } | { engine: "sampled" };
  marginals: { values: number[][]; error: number; errors: number[][] | null; remarks: string[] };
  other?: Other; // a second model of the same variables; edges are then those of both
}

export type Other = Pick<Document, "title" | "scopes" | "plan" | "marginals" | "parameters" | "learned" | "rows"> & {
  weights: number[]; // of all edges
  compared: { metric: string; n_rows: number; a: number; b: number; difference: number; standard_error: number } | null;
};

export const SCHEMA = 1;

/** A document in two texts: its tables are read when first asked for, as the first picture needs none. */
export interface Texts {
  text: string;
  tables: string;
}

export function documentOf({ text, tables }: Texts): Document {
  let scopes: Scope[] | null = null;
  return Object.defineProperty(JSON.parse(text) as Document, "scopes", { get: () => (scopes ??= JSON.parse(tables) as Scope[]), enumerable: true });
}

/** A row of data that the model expects little, and its states that are least expected given all others. */
export interface WorstRow {
  score: number | null;
  weight: number;
  surprises: [v: number, s: number, probability: number][];
}
