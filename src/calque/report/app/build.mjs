// Bundles the page's sources into two files that a report holds whole. The same esbuild gives the same bytes.
import { build } from "esbuild";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const target = process.argv[2] ?? `${here}../bundle`;

await build({
  absWorkingDir: here,
  entryPoints: { app: "src/main.tsx" },
  outdir: target,
  bundle: true,
  minify: true,
  charset: "ascii", // the bytes stay the same whatever the page's encoding
  target: ["chrome103", "firefox113", "safari16.4"], // the first that inflate raw streams
  format: "iife",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  logLevel: "warning",
});
