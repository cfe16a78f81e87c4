import cytoscape from "cytoscape";
import { edges, nodes, root } from "./drawn";

cytoscape({
  container: root,
  layout: { name: "preset" },
  elements: [
    ...nodes.map(({ id, name, x, y, colour }) => ({ data: { id, name, colour }, position: { x: 40 * x, y: 40 * y } })),
    ...edges.map((data) => ({ data })),
  ],
  style: [
    { selector: "node", style: { width: 8, height: 8, "background-color": "data(colour)", label: "data(name)", "font-size": 8 } },
    { selector: "edge", style: { width: "data(width)", opacity: "data(opacity)" as never, "line-color": "data(colour)", "curve-style": "haystack" } },
  ],
});
