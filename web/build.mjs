// Bundles the page into the package, so that those who install it need no node. The same sources give the same bytes.
import { readdirSync, readFileSync } from "node:fs";
import { build } from "esbuild";

const outdir = process.argv[2] ?? "../src/mrfit/explorer/assets";

// Private names that nothing but `this.` ever speaks of may be short: they are no names of the browser or of documents.
const sources = readdirSync("src", { recursive: true }).filter((name) => name.endsWith(".ts"));
const text = sources.map((name) => readFileSync(`src/${name}`, "utf8")).join("\n");
const count = (pattern) => (text.match(new RegExp(pattern, "g")) ?? []).length;
const isOwn = (name) => count(`\\b${name}\\b`) === count(`(this\\.|private (get )?)${name}\\b`);
const own = [...new Set([...text.matchAll(/private (?:get )?(\w+)/g)].map(([, name]) => name))].filter(isOwn);

// So may those by which the page's own objects know each other; a name that is in documents, messages or a type of words may not.
const inner = [
  "answer", "answerers", "asked", "blocks", "canvas", "card", "cards", "caseInWords", "chains", "chip", "chosen", "communities",
  "corner", "edge", "edgeBetween", "element", "evidenceInWords", "explains", "factors", "fitting", "ground",
  "hasCards", "hasStability", "heard", "hovered", "isBinary", "isMoved", "isSigned", "kept", "known", "knownCard", "labelWidth",
  "larger", "largerScopes", "largest", "largestEntry", "legend", "lessLikely", "likelier", "lines", "look", "mean", "model",
  "moved", "names", "near", "neighbours", "onFrame", "opacity", "otherAnswer", "parent", "picture", "places", "pull",
  "question", "quiet", "radius", "redraw", "reference", "referenceName", "reveal", "running", "scene", "scroller", "search",
  "selection", "separator", "shape", "shown", "shownEdges", "state", "stateAt", "stateName", "strengthIn", "strongest",
  "sweeps", "threshold", "track", "unit", "update", "variable", "variableAt", "view",
];
const outer = ["document", "answers", "announcement"].map((name) => readFileSync(`src/${name}.ts`, "utf8")).join("\n");
const words = [...text.matchAll(/type \w+ = ("\w+"[^;]*);/g)].join(); // by which objects may be looked up
const leaks = inner.filter((name) => new RegExp(`\\b${name}[?]?:`).test(outer) || words.includes(`"${name}"`));
if (leaks.length) throw new Error(`Documents, messages or keys have ${leaks.join(", ")}: these names must stay as they are.`);

await build({
  entryPoints: { explorer: "src/main.ts", styles: "src/explorer.css" },
  entryNames: "explorer",
  outdir,
  bundle: true,
  minify: true,
  mangleProps: new RegExp(`^(${[...own, ...inner].join("|")})$`),
  charset: "ascii", // the page may be served or read in any encoding
  format: "iife",
  target: ["chrome110", "firefox110", "safari16"],
  legalComments: "none",
});
