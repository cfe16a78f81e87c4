// The page's own answerer: runs in a worker, so that no question holds up the page.

import type { Answer, Hear, Prepared, Question, Told } from "./answers";
import { documentOf } from "./document";
import { type Evidence, type Factors, factorsOf } from "./engine/factors";
import { Gibbs, type Neighbourhood, neighbourhood } from "./engine/gibbs";
import { bestState, runTree } from "./engine/tree";

const SLICE = 40; // milliseconds of sampling before the next question is looked for
const ENOUGH = 0.003; // error at which sampling ends
const LONGEST = 8000; // milliseconds after which it ends anyway

/** Answers questions about one model; what it has to say more of later is continued by `resume`. */
export class LocalEngine {
  private factors: Factors;
  private near: Neighbourhood | null;
  private typical: number[][];
  private running: { question: Question; gibbs: Gibbs; begun: number; evidence: Evidence } | null = null;

  constructor(
    private model: Prepared,
    private hear: Hear,
  ) {
    this.factors = factorsOf(model);
    this.near = model.plan.engine === "exact" ? null : neighbourhood(this.factors);
    this.typical = model.variables.map((variable, v) => variable.frequency ?? model.marginals.values[v]);
  }

  ask(question: Question): void {
    this.running = null;
    const evidence: Evidence = new Map(question.evidence);
    const begun = performance.now();
    const { plan } = this.model;
    if (plan.engine === "exact") return this.answerExactly(question, evidence, plan.order, begun);
    this.running = { question, gibbs: new Gibbs(this.factors, this.near!, evidence, this.typical, question.pair), begun, evidence };
  }

  private answerExactly(question: Question, evidence: Evidence, order: number[], begun: number): void {
    const found = runTree(this.factors, order, evidence);
    const answer: Answer = {
      number: question.number,
      impossible: found.logZ === -Infinity,
      marginals: found.marginals,
      exact: true,
      error: 0,
      gap: 0,
      milliseconds: performance.now() - begun,
      done: true,
    };
    if (!answer.impossible && question.pair) answer.pair = found.pair(...question.pair);
    if (!answer.impossible && question.map) answer.map = bestState(this.factors, order, evidence) ?? undefined;
    this.hear(answer);
  }

  /** A slice of sampling; false where nothing is left to do. */
  resume(): boolean {
    if (!this.running) return false;
    const { question, gibbs, begun } = this.running;
    const until = performance.now() + SLICE;
    do gibbs.run();
    while (performance.now() < until);
    const found = gibbs.answer();
    const milliseconds = performance.now() - begun;
    const done = milliseconds > LONGEST || found.error <= ENOUGH;
    const impossible = done && found.marginals.some((p) => Number.isNaN(p[0])); // no chain found a possible state
    const answer: Answer = { ...found, number: question.number, impossible, exact: false, milliseconds, done };
    if (done && question.map) answer.map = gibbs.best();
    if (done) this.running = null;
    this.hear(answer);
    return !done;
  }
}

interface Scope {
  onmessage: ((event: MessageEvent) => void) | null;
  postMessage(message: unknown): void;
}

/** Where the script runs in a worker: the first message is the document, all others are questions. */
export function serve(scope: Scope): void {
  let engine: LocalEngine | null = null;
  let scheduled = false;
  const goOn = (): void => {
    scheduled = false;
    if (engine!.resume()) schedule();
  };
  const schedule = (): void => {
    if (!scheduled) setTimeout(goOn, 0);
    scheduled = true;
  };
  scope.onmessage = ({ data }) => {
    if (!engine) {
      const told = documentOf(data as Told);
      engine = new LocalEngine((data as Told).other ? { ...told, ...told.other } : told, (answer) => scope.postMessage(answer));
      return;
    }
    engine.ask(data as Question);
    schedule();
  };
}
