// The keyboard: one letter for each thing that is done often; never while somebody types.

import { FILTERS, go, now } from "./address";
import type { App } from "./app";
import { zoomBy } from "./pages";
import { cleared } from "./parts";

function typing(target: EventTarget | null): boolean {
  const element = target as HTMLElement | null;
  return !!element?.closest?.("input:not([type=range]), textarea, select, [contenteditable]");
}

export function listen(app: App, help: () => void): () => void {
  const press = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]")) return;
    if (typing(event.target)) {
      if (event.key === "Escape") (event.target as HTMLElement).blur();
      return;
    }
    if (pressed(app, event.key, help)) event.preventDefault();
  };
  addEventListener("keydown", press);
  return () => removeEventListener("keydown", press);
}

function pressed(app: App, key: string, help: () => void): boolean {
  const address = now();
  if (key === "?") return help(), true;
  if (key === "/") return search(app), true;
  if (/^[1-9]$/.test(key)) {
    const view = app.views[Number(key) - 1];
    if (view) go({ view: view as any }, "link");
    return !!view;
  }
  if (key === "Escape") return escape(), true;
  if (key === "+" || key === "=") return zoomBy(1), true;
  if (key === "-" || key === "−") return zoomBy(-1), true;
  if (key === "0") return zoomBy(0), true;
  const toggles: Record<string, "truth" | "prediction" | "image"> = { t: "truth", p: "prediction", i: "image" };
  if (toggles[key]) return go({ [toggles[key]]: address[toggles[key]] === "0" ? undefined : "0" }), true;
  if (key === "c") return copy(app), true;
  if (key === "x" && app.data.head.runs.length > 1) return flip(app), true;
  if (key === "j" || key === "k") return app.steps()?.step(key === "j" ? 1 : -1), true;
  if (key === "n" || key === "N") return app.steps()?.error(key === "n" ? 1 : -1), true;
  return false;
}

function search(app: App): void {
  const there = document.querySelector<HTMLInputElement>("input[type=search]");
  if (!there) go({ view: app.views.find((view) => view === "pages" || view === app.run().kind) as any }, "link");
  requestAnimationFrame(() => document.querySelector<HTMLInputElement>("input[type=search]")?.focus());
}

function escape(): void {
  if (now().object !== undefined) go({ object: undefined });
  else if (FILTERS.some((key) => now()[key] !== undefined)) go(cleared());
}

function flip(app: App): void {
  const next = (app.place() + 1) % app.data.head.runs.length;
  go({ run: next ? String(next) : undefined });
}

function copy(app: App): void {
  const row = app.chosenRow();
  if (row) app.copy(row);
}
