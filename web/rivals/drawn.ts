// What all rivals draw: the document's variables where it puts them, and its edges by sign and strength.

import { defaultThreshold } from "../src/state";
import { Model } from "../src/model";

export const model = new Model(JSON.parse(document.getElementById("document")!.textContent!));
// As in the light style of the page.
const COMMUNITIES = ["#3a6db5", "#d08a1e", "#2a9073", "#b55d95", "#4ba0c8", "#a8632a", "#7d7f86", "#8a6f3c"];
const [TOGETHER, APART] = ["#2166ac", "#b2182b"];

export const root = document.getElementById("page")!;

const largest = Math.max(...model.document.edges.map((edge) => Math.abs(edge[2])));

export const nodes = model.names.map((name, v) => ({
  id: String(v),
  name,
  x: model.document.layout[v][0],
  y: model.document.layout[v][1],
  colour: COMMUNITIES[Math.max(0, model.document.community[v]) % COMMUNITIES.length],
}));

export const edges = model.document.edges
  .filter((edge) => Math.abs(edge[2]) >= defaultThreshold(model))
  .map(([a, b, strength]) => ({
    source: String(a),
    target: String(b),
    width: 0.7 + (2.3 * Math.abs(strength)) / largest,
    opacity: 0.28 + (0.66 * Math.abs(strength)) / largest,
    colour: strength < 0 ? APART : TOGETHER,
  }));

root.style.cssText = "position: fixed; inset: 0; display: block; background: #f7f7f5";
