// The two that answer: a worker of the page itself, and the server of `mrfit explore`.

import type { Answer, Answerer, Hear, Question, Told } from "./answers";
import type { WorstRow } from "./document";
import { afterPicture } from "./dom";

/** Runs this page's own script once more, in a worker; begun when the first picture is seen, or asked something before. */
export class WorkerAnswerer implements Answerer {
  private worker: Worker | null = null;

  constructor(
    private script: string,
    private told: Told,
    private hear: Hear,
    private fail: (why: string) => void,
  ) {
    afterPicture(() => this.begun());
  }

  ask(question: Question): void {
    this.begun().postMessage(question);
  }

  private begun(): Worker {
    if (this.worker) return this.worker;
    const address = URL.createObjectURL(new Blob([this.script], { type: "text/javascript" }));
    this.worker = new Worker(address);
    this.worker.onmessage = ({ data }) => this.hear(data as Answer);
    this.worker.onerror = () => this.fail("This browser does not let the page compute.");
    this.worker.postMessage(this.told);
    return this.worker;
  }
}

/** Asks the server, which answers in lines of JSON; a new question ends the one before. */
export class ServerAnswerer implements Answerer {
  private running: AbortController | null = null;

  constructor(
    private other: boolean, // of two models the second
    private hear: Hear,
    private fail: (why: string) => void,
  ) {}

  ask(question: Question): void {
    this.running?.abort();
    const running = new AbortController();
    this.running = running;
    this.read({ ...question, other: this.other }, running.signal).catch((error: unknown) => {
      if (!running.signal.aborted) this.fail(`The server does not answer (${String(error)}); start mrfit explore again.`);
    });
  }

  /** Rows of the data that fit worst; none where it was given none. */
  async worstRows(n: number): Promise<WorstRow[]> {
    const response = await fetch(`/api/rows?worst=${n}`);
    return response.ok ? ((await response.json()) as WorstRow[]) : [];
  }

  /** Rows of the model, given what is known, as CSV. */
  async rows(n: number, evidence: Question["evidence"]): Promise<string> {
    const response = await post(`/api/sample?rows=${n}`, { number: 0, evidence });
    if (!response.ok) throw new Error(await response.text());
    return response.text();
  }

  private async read(question: Question, signal: AbortSignal): Promise<void> {
    const response = await post("/api/query", question, signal);
    if (!response.ok) throw new Error(await response.text());
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + value).split("\n");
      rest = lines.pop()!;
      for (const line of lines) this.hear(JSON.parse(line) as Answer);
    }
  }
}

function post(address: string, body: Question, signal?: AbortSignal): Promise<Response> {
  return fetch(address, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal });
}
