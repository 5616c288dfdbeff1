// What is seen is in the address: every choice and every filter, the defaults left out.

import { useEffect, useState } from "preact/hooks";

const KEYS = ["view", "doc", "page", "object", "outcome", "class", "kind", "cell", "cut", "bin", "score", "q", "sort", "iou",
  "truth", "prediction", "image", "run", "zoom", "change", "theme"] as const;
export type Key = (typeof KEYS)[number];
export type Address = Partial<Record<Key, string>>;

export const FILTERS: Key[] = ["outcome", "class", "kind", "cell", "cut", "bin", "score", "q", "change"];
const KEPT: Key[] = ["iou", "truth", "prediction", "image", "run", "zoom", "theme"];

export const defaults: Address = { sort: "worst", truth: "1", prediction: "1", image: "1", run: "0", zoom: "100" };

export function parse(hash: string): Address {
  const address: Address = {};
  for (const part of hash.replace(/^#/, "").split("&")) {
    const at = part.indexOf("=");
    const key = part.slice(0, at) as Key;
    if (at < 1 || !KEYS.includes(key)) continue;
    try {
      address[key] = decodeURIComponent(part.slice(at + 1).replace(/\+/g, " "));
    } catch {
      // Half an escape is no address.
    }
  }
  return address;
}

export function format(address: Address): string {
  const parts = KEYS.filter((key) => address[key] !== undefined && address[key] !== "" && address[key] !== defaults[key]);
  return "#" + parts.map((key) => `${key}=${encodeURIComponent(address[key] as string)}`).join("&");
}

let current: Address = {};
const listeners = new Set<() => void>();

export function now(): Address {
  return current;
}

function changed(): void {
  listeners.forEach((listener) => listener());
}

export function follow(): void {
  current = parse(location.hash);
  const again = () => {
    current = parse(location.hash);
    changed();
  };
  addEventListener("hashchange", again);
  addEventListener("popstate", again);
  addEventListener("click", click);
}

// Links are followed here: a sandboxed frame may not go anywhere, not even within itself.
function click(event: MouseEvent): void {
  const href = (event.target as Element | null)?.closest?.("a[href^='#']")?.getAttribute("href");
  if (!href || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  current = {};
  go(parse(href), "link");
}

// A step replaces the address, a link pushes one, so that Back leads where somebody meant to be.
export function go(changes: Address, how: "step" | "link" = "step"): void {
  current = { ...current, ...changes };
  try {
    if (how === "link") history.pushState(null, "", format(current) || "#");
    else history.replaceState(null, "", format(current) || "#");
  } catch {
    // A sandboxed frame has no history; the page still works.
  }
  changed();
}

// Where a link leads: to these objects alone, with only what is not a filter kept.
export function to(changes: Address): string {
  const kept: Address = {};
  for (const key of KEPT) if (current[key] !== undefined) kept[key] = current[key];
  return format({ ...kept, ...changes });
}

// The same place but for these changes.
export function beside(changes: Address): string {
  return format({ ...current, ...changes });
}

export function useAddress(): Address {
  const [, again] = useState(0);
  useEffect(() => {
    const listener = () => again((count) => count + 1);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return current;
}
