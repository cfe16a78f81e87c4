// Tells a page that frames this one what is known, and which state gains most by it; the front page of the docs says it in words.

import type { State } from "./state";

export interface Announcement {
  from: "mrfit explorer";
  fragment: string; // of the address: it restores the view
  evidence: [name: string, values: string[]][];
  outcome: { name: string; value: string; before: number; after: number } | null; // the state that gains most
}

/** Posts to the frame's parent, if it has the same origin: probabilities are not for other sites. */
export function announce(announcement: Announcement): void {
  const target = location.protocol === "file:" ? "*" : self.origin; // files have no origin that could be named
  if (parent !== self && target !== "null") parent.postMessage(announcement, target);
}

export function announcementOf({ model, chosen, marginals }: State, fragment: string): Announcement {
  const { names, states, before } = model;
  const evidence = [...chosen.evidence].map(([v, known]): [string, string[]] => [names[v], known.map((s) => states[v][s])]);
  const gains = marginals.flatMap((p, v) => (chosen.evidence.has(v) ? [] : p.map((after, s) => ({ v, s, by: after - before[v][s] }))));
  const { v, s, by } = gains.reduce((best, gain) => (gain.by > best.by ? gain : best), { v: 0, s: 0, by: 0 });
  const outcome = by > 0 ? { name: names[v], value: states[v][s], before: before[v][s], after: marginals[v][s] } : null;
  return { from: "mrfit explorer", fragment, evidence, outcome };
}
