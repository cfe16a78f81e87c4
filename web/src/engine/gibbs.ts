// Marginals by chains that update one variable at a time, given all others.

import { type Evidence, type Factors, strides } from "./factors";
import { Random } from "./random";

const CHAINS = 16; // half of them begin near the data, half anywhere
const BURN_IN = 0.2; // of all sweeps so far are left out
const BLOCKS = 10; // of sweeps that are added up apart, so that the first can be left out; an even number
const STUCK = 12; // times the variance that blocks of a chain promise, at which chains disagree by more than chance
const WORTH_TELLING = 0.1; // a difference between chains that anyone would see

export interface Sampled {
  marginals: number[][];
  error: number; // twice the largest standard error of a probability
  errors: number[][]; // standard errors of the marginals
  gap: number; // how far some chain is from those near the data; 0 where all agree
  far?: number[][]; // what such chains say
  pair?: number[][]; // the joint table of two variables
  pair_errors?: number[][];
}

/** So many sweeps: of each chain, the conditional probabilities of all states added up, and how often each pair was seen. */
interface Block {
  sums: Float64Array[];
  pairs: Float64Array[];
  sweeps: number;
}

/** All tables that hold a variable, flat: where each begins, its step for the variable, and the others in it. */
export interface Neighbourhood {
  start: Int32Array; // of each variable's entries in `base`; one more at the end
  base: Int32Array; // of the table in `values`
  step: Int32Array;
  others: Int32Array; // of each entry in `other`; one more at the end
  other: Int32Array;
  otherStep: Int32Array;
  values: Float64Array;
  most: number; // states of any variable
}

export class Gibbs {
  private states: (readonly number[])[]; // that are possible
  private free: number[]; // variables of which more than one state is possible
  private out: number[][]; // of each variable, the states that are ruled out
  private chains: { state: Int32Array; random: Random }[];
  private first: Int32Array; // of each variable's states in the sums of a block
  private blocks: Block[] = [];
  private blockSize = 4;

  /**
   * `near` is made once for a model, as that takes longer than many sweeps. `typical` are marginals near which half of the
   * chains begin: the data's frequencies, or what the model says.
   */
  constructor(
    private all: Factors,
    private near: Neighbourhood,
    evidence: Evidence,
    typical: number[][],
    private pair?: readonly [number, number],
    seed = 1,
  ) {
    const { shape } = all;
    const states = shape.map((n, v) => evidence.get(v) ?? range(n));
    this.states = states;
    this.free = states.flatMap((own, v) => (own.length > 1 ? [v] : []));
    this.out = states.map((own, v) => (own.length < shape[v] ? range(shape[v]).filter((s) => !own.includes(s)) : []));
    this.first = prefixSums(shape);
    this.chains = range(CHAINS).map((number) => {
      const random = new Random(seed * 1000 + number);
      const likely = (v: number): number[] => states[v].map((s) => (number < CHAINS / 2 ? typical[v][s] : 1));
      return { state: Int32Array.from(states, (own, v) => own[draw(likely(v), random.next())]), random };
    });
  }

  /** One more sweep of every chain. */
  run(): void {
    const block = this.openBlock();
    for (let c = 0; c < CHAINS; c++) {
      this.sweep(c, block.sums[c]);
      if (this.pair) block.pairs[c][this.pairOf(this.chains[c].state)]++;
    }
    block.sweeps++;
  }

  private openBlock(): Block {
    const last = this.blocks[this.blocks.length - 1];
    if (last && last.sweeps < this.blockSize) return last;
    if (this.blocks.length === BLOCKS) this.mergeBlocks();
    const [size, cells] = [this.first[this.first.length - 1], this.pair ? this.all.shape[this.pair[0]] * this.all.shape[this.pair[1]] : 0];
    const zeros = (n: number): Float64Array[] => this.chains.map(() => new Float64Array(n));
    this.blocks.push({ sums: zeros(size), pairs: zeros(cells), sweeps: 0 });
    return this.blocks[this.blocks.length - 1];
  }

  private mergeBlocks(): void {
    this.blocks = this.blocks.filter((block, k) => {
      if (k % 2) return false;
      const next = this.blocks[k + 1];
      for (const part of ["sums", "pairs"] as const) block[part].forEach((sums, c) => next[part][c].forEach((sum, q) => (sums[q] += sum)));
      block.sweeps += next.sweeps;
      return true;
    });
    this.blockSize *= 2;
  }

  private sweep(c: number, sums: Float64Array): void {
    const { state, random } = this.chains[c];
    const { shape } = this.all;
    const log = new Float64Array(this.near.most);
    for (const v of this.free) {
      const n = shape[v];
      this.logarithms(v, n, state, log);
      state[v] = this.updated(v, n, log, random.next(), sums);
    }
  }

  /** Of every state of a variable, all others as they are. */
  private logarithms(v: number, n: number, state: Int32Array, log: Float64Array): void {
    const { start, base, step, others, other, otherStep, values } = this.near;
    log.fill(0, 0, n);
    for (let e = start[v]; e < start[v + 1]; e++) {
      let place = base[e];
      for (let o = others[e]; o < others[e + 1]; o++) place += otherStep[o] * state[other[o]];
      for (let s = 0; s < n; s++, place += step[e]) log[s] += values[place];
    }
    for (const s of this.out[v]) log[s] = -Infinity;
  }

  /** A state drawn by its logarithms, all probabilities added to the sums. */
  private updated(v: number, n: number, log: Float64Array, u: number, sums: Float64Array): number {
    const first = this.first[v];
    if (n === 2 && log[0] > -Infinity) {
      const p = 1 / (1 + Math.exp(log[0] - log[1]));
      sums[first] += 1 - p;
      sums[first + 1] += p;
      return u < p ? 1 : 0;
    }
    let most = log[0];
    for (let s = 1; s < n; s++) if (log[s] > most) most = log[s];
    if (most === -Infinity) return this.states[v][Math.floor(u * this.states[v].length)]; // began in an impossible state: on from anywhere
    let total = 0;
    for (let s = 0; s < n; s++) total += log[s] = Math.exp(log[s] - most);
    let state = n - 1;
    let rest = u * total;
    for (let s = n - 1; s >= 0; s--) {
      sums[first + s] += log[s] / total;
      rest -= log[s];
      if (rest >= 0) state = s - 1;
    }
    return Math.max(state, 0);
  }

  /** The most probable of the chains' states, made better one variable at a time. */
  best(): number[] {
    const found = this.chains.map(({ state }) => this.improved(Int32Array.from(state)));
    const scores = found.map((state) => this.logPotential(state));
    const best = found[scores.indexOf(Math.max(...scores))];
    return Array.from(best);
  }

  private improved(state: Int32Array): Int32Array {
    const log = new Float64Array(this.near.most);
    for (let changed = true; changed; ) {
      changed = false;
      for (const v of this.free) {
        const n = this.all.shape[v];
        this.logarithms(v, n, state, log);
        let best = state[v];
        for (let s = 0; s < n; s++) if (log[s] > log[best]) best = s;
        if (best === state[v]) continue;
        state[v] = best;
        changed = true;
      }
    }
    return state;
  }

  private logPotential(state: Int32Array): number {
    const { shape, factors } = this.all;
    return factors.reduce((sum, { variables, table }) => {
      return sum + table[variables.reduce((place, v) => place * shape[v] + state[v], 0)];
    }, 0);
  }

  /** Of all chains; of those near the data where others stay elsewhere, as nobody knows how much each mode weighs. */
  answer(): Sampled {
    const kept = this.blocks.slice(this.blocks.length > 1 ? Math.ceil(BURN_IN * this.blocks.length) : 0);
    const sweeps = kept.reduce((sum, block) => sum + block.sweeps, 0);
    const n = this.first[this.first.length - 1];
    const means = range(n).map(() => new Array<number>(CHAINS).fill(0)); // of each state, by chain
    for (const { sums } of kept) sums.forEach((own, c) => own.forEach((sum, k) => (means[k][c] += sum / sweeps)));
    const all = means.map(summary);
    const near = means.map((own) => summary(own.slice(0, CHAINS / 2)));
    const gaps = means.map((own, k) => disagreement(kept, k, own, near[k].mean));
    const gap = gaps.reduce((most, each) => Math.max(most, each), 0);
    const worst = gaps.indexOf(gap);
    const away = range(CHAINS).filter((c) => Math.abs(means[worst][c] - near[worst].mean) > gap / 2);
    const shown = gap ? near : all;
    return {
      marginals: this.named(shown.map(({ mean }) => mean)),
      error: 2 * shown.reduce((most, { error }) => Math.max(most, error), 0),
      errors: this.all.shape.map((n, v) => shown.slice(this.first[v], this.first[v] + n).map(({ error }) => error)),
      gap,
      ...(gap ? { far: this.named(means.map((own) => summary(away.map((c) => own[c])).mean)) } : {}),
      ...(this.pair ? this.seenTogether(kept, gap ? CHAINS / 2 : CHAINS) : {}),
    };
  }

  /** The cell of the joint table in which a chain is. */
  private pairOf(state: Int32Array): number {
    const [a, b] = this.pair!;
    return state[a] * this.all.shape[b] + state[b];
  }

  /** The joint table of two variables, by the first of the chains. */
  private seenTogether(kept: Block[], chains: number): Pick<Sampled, "pair" | "pair_errors"> {
    const [rows, columns] = this.pair!.map((v) => this.all.shape[v]);
    const sweeps = kept.reduce((sum, block) => sum + block.sweeps, 0);
    const seen = (k: number, c: number): number => kept.reduce((sum, { pairs }) => sum + pairs[c][k], 0) / sweeps;
    const cells = range(rows).map((s) => range(columns).map((t) => summary(range(chains).map((c) => seen(s * columns + t, c)))));
    return { pair: cells.map((row) => row.map(({ mean }) => mean)), pair_errors: cells.map((row) => row.map(({ error }) => error)) };
  }

  private named(values: number[]): number[][] {
    const free = new Set(this.free);
    return this.all.shape.map((n, v) => {
      if (!free.has(v)) return range(n).map((s) => (s === this.chains[0].state[v] ? 1 : 0));
      const own = values.slice(this.first[v], this.first[v + 1]);
      const total = own.reduce((sum, value) => sum + value, 0); // below 1 where chains began in impossible states
      return own.map((value) => value / total);
    });
  }
}

function range(n: number): number[] {
  return Array.from({ length: n }, (_, k) => k);
}

export function neighbourhood({ shape, factors }: Factors): Neighbourhood {
  const own: { base: number; step: number; others: number[]; steps: number[] }[][] = shape.map(() => []);
  const starts = prefixSums(factors.map((factor) => factor.table.length));
  factors.forEach(({ variables }, f) => {
    const step = strides(variables, shape, variables);
    variables.forEach((v, k) => {
      const [others, steps] = [variables, step].map((list) => list.filter((_, l) => l !== k));
      own[v].push({ base: starts[f], step: step[k], others, steps });
    });
  });
  const entries = own.flat();
  const values = new Float64Array(starts[factors.length]);
  factors.forEach(({ table }, f) => values.set(table, starts[f]));
  return {
    start: prefixSums(own.map((list) => list.length)),
    base: Int32Array.from(entries, (entry) => entry.base),
    step: Int32Array.from(entries, (entry) => entry.step),
    others: prefixSums(entries.map((entry) => entry.others.length)),
    other: Int32Array.from(entries.flatMap((entry) => entry.others)),
    otherStep: Int32Array.from(entries.flatMap((entry) => entry.steps)),
    values,
    most: Math.max(...shape, 1),
  };
}

function prefixSums(sizes: number[]): Int32Array {
  const out = new Int32Array(sizes.length + 1);
  sizes.forEach((n, k) => (out[k + 1] = out[k] + n));
  return out;
}

function draw(likely: number[], u: number): number {
  let rest = u * likely.reduce((sum, p) => sum + p, 0);
  const found = likely.findIndex((p) => (rest -= p) < 0);
  return found < 0 ? 0 : found;
}

/**
 * How far a chain is from the ones near the data, where chains differ by more than each differs from itself; else 0. Means
 * of chains that mix vary no more than those of their blocks promise.
 */
function disagreement(kept: Block[], k: number, means: number[], near: number): number {
  const apart = means.reduce((most, mean) => Math.max(most, Math.abs(mean - near)), 0);
  if (apart < WORTH_TELLING || kept.length < 4) return 0;
  const errors = means.map((_, c) => summary(kept.map(({ sums, sweeps }) => sums[c][k] / sweeps)).error);
  const within = summary(errors.map((error) => error ** 2)).mean;
  const between = CHAINS * summary(means).error ** 2;
  return between > STUCK * within ? apart : 0;
}

/** The mean of independent values, and its standard error. */
function summary(values: number[]): { mean: number; error: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, error: values.length > 1 ? Math.sqrt(squares / (values.length - 1) / values.length) : 0 };
}
