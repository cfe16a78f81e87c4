// Where variables stand: as the document says, with cards kept apart, and as the user has moved them.

import type { Model } from "./model";

const MOST = 60; // variables that may be drawn as cards all at once
const GAP = 0.08;

export function startingPlaces(model: Model): [number, number][] {
  const places = model.document.layout.map(([x, y]): [number, number] => [x, y]);
  if (model.n <= MOST) separate(places, (v) => boxOf(model, v));
  const moved = remembered();
  model.document.variables.forEach(({ name }, v) => {
    if (moved[name]) places[v] = moved[name];
  });
  return places;
}

/** The room of a variable's card. */
export function boxOf(model: Model, v: number): [number, number] {
  return [0.86, 0.2 + 0.1 * Math.min(model.states[v].length, 6)];
}

/** Pushes boxes apart, along the side on which they overlap less. */
function separate(places: [number, number][], box: (v: number) => [number, number]): void {
  for (let round = 0; round < 80; round++) {
    let clear = true;
    for (let a = 0; a < places.length; a++) {
      for (let b = a + 1; b < places.length; b++) {
        const [dx, dy] = [places[b][0] - places[a][0], places[b][1] - places[a][1]];
        const overX = (box(a)[0] + box(b)[0]) / 2 + GAP - Math.abs(dx);
        const overY = (box(a)[1] + box(b)[1]) / 2 + GAP - Math.abs(dy);
        if (overX <= 1e-6 || overY <= 1e-6) continue;
        clear = false;
        const axis = overX < overY ? 0 : 1;
        const push = (0.5 * (axis ? overY : overX)) * ((axis ? dy : dx) < 0 ? -1 : 1);
        places[a][axis] -= push;
        places[b][axis] += push;
      }
    }
    if (clear) return;
  }
}

// --- by name, so that models of the same variables share them

const KEY = "mrfit-places";

function storage(): Storage | null {
  try {
    return window.localStorage;
  } catch {
    return null; // in a sandboxed frame there is none
  }
}

function remembered(): Record<string, [number, number]> {
  const text = storage()?.getItem(KEY);
  const places: unknown = text ? JSON.parse(text) : null;
  const valid = (place: unknown): place is [number, number] =>
    Array.isArray(place) && place.length === 2 && place.every(Number.isFinite);
  const entries = Object.entries((places ?? {}) as Record<string, unknown>);
  return Object.fromEntries(entries.filter((entry): entry is [string, [number, number]] => valid(entry[1])));
}

export function remember(name: string, place: [number, number]): void {
  storage()?.setItem(KEY, JSON.stringify({ ...remembered(), [name]: place }));
}

export function forgetPlaces(): void {
  storage()?.removeItem(KEY);
}
