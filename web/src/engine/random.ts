// Random numbers from a seed: xoshiro128** (Blackman and Vigna 2021), started by splitmix32.

export class Random {
  private s: Uint32Array;

  constructor(seed: number) {
    let x = seed >>> 0;
    this.s = Uint32Array.from({ length: 4 }, () => {
      x = (x + 0x9e3779b9) >>> 0;
      let z = Math.imul(x ^ (x >>> 16), 0x21f0aaad);
      z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
      return (z ^ (z >>> 15)) >>> 0;
    });
  }

  /** From 0 to 1, 1 excluded. */
  next(): number {
    const s = this.s;
    const five = Math.imul(s[1], 5);
    const out = Math.imul((five << 7) | (five >>> 25), 9) >>> 0;
    const t = s[1] << 9;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = (s[3] << 11) | (s[3] >>> 21);
    return out / 4294967296;
  }
}
