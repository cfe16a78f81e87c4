// What is asked and answered: the same messages go to a worker of the page and to a server.

import type { Document, Texts } from "./document";

export interface Question {
  number: number; // a later one makes all before it void
  evidence: [v: number, states: number[]][];
  pair?: [number, number]; // whose joint table is wanted too
  map?: boolean; // and the most probable states together
  other?: boolean; // of the second of two models
}

export interface Answer {
  number: number;
  impossible?: boolean; // what is given has probability zero
  marginals: number[][];
  exact: boolean;
  error: number; // of a probability: twice the largest standard error
  errors?: number[][]; // standard errors of the marginals; none where they are exact
  gap: number; // between chains that disagree: a second mode
  far?: number[][]; // marginals there
  milliseconds: number;
  done: boolean;
  pair?: number[][] | null;
  pair_errors?: number[][];
  map?: number[];
  problem?: string; // why there is no answer, in words
}

export interface Answerer {
  ask(it: Question): void;
}

export type Hear = (it: Answer) => void;

/** What a worker is told before any question, the document and which of its models it answers for. */
export type Told = Texts & { other: boolean };

export type Prepared = Pick<Document, "variables" | "scopes" | "plan" | "marginals">;
