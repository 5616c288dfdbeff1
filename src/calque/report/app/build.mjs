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
  charset: "utf8",
  target: ["chrome123", "firefox120", "safari17.5"], // the first with light-dark()
  format: "iife",
  jsx: "transform",
  jsxFactory: "h",
  jsxFragment: "Fragment",
  inject: ["src/jsx.ts"],
  tsconfigRaw: {}, // else the checker's JSX would win
  legalComments: "none",
  logLevel: "warning",
});
