// Bundles the page's sources: a script for each kind of report, with what that kind needs, and the styles. The same esbuild gives the same bytes.
import { build } from "esbuild";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const target = process.argv[2] ?? `${here}../bundle`;

const kinds = ["boxes", "fields", "words", "checks", "tables"];

for (const kind of kinds) {
  await build({
    absWorkingDir: here,
    entryPoints: { [kind]: "src/main.tsx" },
    outdir: target,
    bundle: true,
    minify: true,
    charset: "utf8",
    target: ["chrome123", "firefox120", "safari17.5"], // the first with light-dark()
    format: "iife",
    define: Object.fromEntries(kinds.map((other) => [`IS_${other.toUpperCase()}`, String(other === kind)])),
    jsx: "transform",
    jsxFactory: "h",
    jsxFragment: "Fragment",
    inject: ["src/jsx.ts"],
    tsconfigRaw: {}, // else the checker's JSX would win
    legalComments: "none",
    logLevel: "warning",
  });
}
await build({ absWorkingDir: here, entryPoints: { app: "src/style.css", values: "src/values.css" }, outdir: target, minify: true, target: ["chrome123", "firefox120", "safari17.5"], logLevel: "warning" });
