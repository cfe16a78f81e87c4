// What can be saved: pictures, edges, probabilities; in forms that the library reads back.

import { h } from "./dom";
import type { State } from "./state";

export function save(name: string, content: Blob | string, type = "text/plain"): void {
  const blob = typeof content === "string" ? new Blob([content], { type: `${type};charset=utf-8` }) : content;
  const address = URL.createObjectURL(blob);
  const link = h("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** A title as the beginning of a file's name. */
export function fileName(title: string, rest: string): string {
  return `${title.replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^[-.]+/, "").slice(0, 60) || "model"}${rest}`;
}

/** Edges that are shown, the largest weight first: for `mrfit fit --structure edges:FILE` and spreadsheets. */
export function edgesCsv({ model, chosen }: State): string {
  const { variables } = model.document;
  const lines = model.shownEdges(chosen.threshold).map(([a, b, weight]) => [variables[a].name, variables[b].name, weight]);
  return csv([["source", "target", "weight"], ...lines]);
}

/** Every state: before anything was known, and now, with standard errors. */
export function probabilitiesCsv(shown: State): string {
  const { model, marginals } = shown;
  const lines = model.document.variables.flatMap(({ name, states }, v) =>
    states.map((state, s) => [name, state, model.before[v][s], marginals[v][s], model.beforeErrors?.[v][s] ?? 0, shown.errorOf(v, s)]),
  );
  return csv([["variable", "state", "before", "now", "error_before", "error_now"], ...lines]);
}

function csv(lines: (string | number)[][]): string {
  return lines.map((line) => `${line.map(field).join(",")}\n`).join("");
}

/** Text is quoted where it could be read as anything else, such as a formula by a spreadsheet. */
function field(value: string | number): string {
  if (typeof value === "number") return String(value);
  return /^[=+\-@\t\r]|[",#\r\n]|^\s|\s$/.test(value) ? `"${value.replace(/"/g, '""')}"` : value;
}

// What XML 1.0 cannot hold, even escaped.
const NOT_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** For Gephi, Cytoscape, igraph, networkx and the library. */
export function graphml({ model, chosen }: State): string {
  const text = (value: string): string =>
    value.replace(NOT_XML, "\ufffd").replace(/[&<>"\t\n\r]/g, (c) => `&#${c.charCodeAt(0)};`);
  const name = (v: number): string => text(model.document.variables[v].name);
  const nodes = model.names.map((_, v) => `<node id="${name(v)}"/>`);
  const edges = model.shownEdges(chosen.threshold).map(([a, b, weight]) => `<edge source="${name(a)}" target="${name(b)}"><data key="weight">${weight}</data></edge>`);
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
    '<key id="weight" for="edge" attr.name="weight" attr.type="double"/>',
    '<key id="edge_weight" for="graph" attr.name="edge_weight" attr.type="string"/>',
    '<graph edgedefault="undirected">', `<data key="edge_weight">${text(model.document.edge_weight)}</data>`, ...nodes, ...edges, "</graph>", "</graphml>", "",
  ].join("\n");
}
