// Numbers and names as people read them.

// Control, direction and other invisible characters could hide or forge text: they are shown as escapes.
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\u2028\u2029]/gu;
const LONGEST = 200;

export function visible(text: string): string {
  const shown = text.replace(INVISIBLE, (c) => `\\u{${c.codePointAt(0)!.toString(16)}}`);
  return shown === "" ? "(empty)" : shown.length > LONGEST ? `${shown.slice(0, LONGEST - 1)}…` : shown;
}

export function short(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}

export function percent(p: number, digits = 1): string {
  if (p > 0 && p < 0.5 * 10 ** (-digits - 2)) return `<${(10 ** -digits).toFixed(digits)} %`;
  return `${(100 * p).toFixed(p === 0 || p === 1 ? 0 : digits)} %`;
}

/** A probability with two standard errors, and no digits beyond them; without where it is exact. */
export function estimate(p: number, error: number): string {
  if (!error) return percent(p);
  const spread = twice(error);
  const digits = spread < 0.95 ? 1 : 0;
  return `${(100 * p).toFixed(digits)} ±${spread.toFixed(digits)} %`;
}

/** Two standard errors, in points; nothing sampled is ±0.0. */
export function twice(error: number): number {
  return Math.max(200 * error, 0.1);
}

export function signed(value: number, digits = 2): string {
  return (value < 0 ? "−" : "+") + Math.abs(value).toFixed(digits);
}

/** A score with its standard error, if it has one, in the digits that are known. */
export function scored(value: number, error: number | undefined, digits: number): string {
  if (!error) return signed(value, digits);
  const known = Math.max(0, Math.min(digits, 1 - Math.floor(Math.log10(error))));
  return `${signed(value, known)} ± ${error.toFixed(known)}`;
}

export function count(n: number): string {
  return String(n).replace(/\B(?=(\d{3})+$)/g, ","); // what the browser has for this takes 20 ms to begin
}

export function plural(n: number, noun: string): string {
  return `${count(n)} ${noun}${n === 1 ? "" : "s"}`;
}

/** Three significant digits, without powers of ten where people can do without them. */
export function factor(x: number): string {
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "0";
  if (x !== 0 && (x >= 10000 || x < 0.001)) return x.toExponential(1);
  return x >= 100 ? x.toFixed(0) : x.toPrecision(3);
}

/** A difference of probabilities, in points. */
export function points(p: number): string {
  return (100 * p).toFixed(100 * p < 10 ? 1 : 0);
}

export function secondMode({ gap }: { gap: number }): string {
  return (
    `Chains that began far from the data stay elsewhere, up to ${points(gap)} points away. The page shows, before and ` +
    "now, the side near the data; how much probability each side has is unknown."
  );
}
