// What is asked and answered: the same messages go to a worker of the page and to a server.

import type { Document } from "./document";

export interface Question {
  number: number; // a later one makes all before it void
  evidence: [variable: number, states: number[]][];
  pair?: [number, number]; // whose joint table is wanted too
  map?: boolean; // and the most probable states together
}

export interface Answer {
  number: number;
  impossible?: boolean; // what is given has probability zero
  marginals: number[][];
  exact: boolean;
  error: number; // of a probability: twice the largest standard error
  gap: number; // between chains that disagree: a second mode
  milliseconds: number;
  done: boolean;
  pair?: number[][] | null;
  map?: number[];
  problem?: string; // why there is no answer, in words
}

export interface Answerer {
  ask(question: Question): void;
}

export type Hear = (answer: Answer) => void;

export type Prepared = Pick<Document, "variables" | "scopes" | "plan" | "marginals">;
