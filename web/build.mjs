// Bundles the page into the package, so that those who install it need no node. The same sources give the same bytes.
import { build } from "esbuild";

const outdir = process.argv[2] ?? "../src/mrfit/explorer/assets";

await build({
  entryPoints: { explorer: "src/main.ts", styles: "src/explorer.css" },
  entryNames: "explorer",
  outdir,
  bundle: true,
  minify: true,
  charset: "ascii", // the page may be served or read in any encoding
  format: "iife",
  target: ["chrome110", "firefox110", "safari16"],
  legalComments: "none",
});
