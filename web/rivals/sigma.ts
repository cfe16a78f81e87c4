import Graph from "graphology";
import Sigma from "sigma";
import { edges, nodes, root } from "./drawn";

const graph = new Graph({ multi: true });
for (const { id, name, x, y, colour } of nodes) graph.addNode(id, { label: name, x, y: -y, size: 4, color: colour });
for (const { source, target, width, opacity, colour } of edges) {
  const alpha = Math.round(255 * opacity).toString(16).padStart(2, "0");
  graph.addEdge(source, target, { size: width, color: colour + alpha });
}
new Sigma(graph, root);
