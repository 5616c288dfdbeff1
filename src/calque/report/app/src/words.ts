// How numbers and outcomes are spelt: ratios with three decimals, percents with none, and a mark for every outcome.

export const OUTCOMES = ["tp", "fn", "fp", "wrong", "ignored", "excluded", "invalid"] as const;
export type Outcome = (typeof OUTCOMES)[number];
export const TP = 0, FN = 1, FP = 2, WRONG = 3, IGNORED = 4, EXCLUDED = 5, INVALID = 6;

export const MARKS: Record<string, string> = {
  tp: "●", fn: "▲", fp: "✕", wrong: "⇄", ignored: "○", excluded: "○", invalid: "!",
  cut: "◧", score: "◆", class: "≡", pass: "●", partial: "◐", fail: "▲", error: "!",
  fixed: "+", broken: "−", new: "✕", gone: "○", note: "◆",
};
export const NAMES: Record<string, string> = {
  tp: "found", fn: "missed", fp: "false alarm", wrong: "there, but other", ignored: "ignored", excluded: "left out", invalid: "invalid",
};
// The outcomes that an address asks for: one, or several with commas.
export function askedOutcomes(text: string | undefined): Set<number> | null {
  return text ? new Set(text.split(",").map((name) => OUTCOMES.indexOf(name as Outcome))) : null;
}
export const SIDES = ["left", "top", "right", "bottom"];

// Halves go to the even neighbour, as they do in the terminal; every half of a thousandth that a float can be is a sixteenth.
function even(value: number): number {
  const up = Math.round(value);
  return up - value === 0.5 && up % 2 ? up - 1 : up;
}

export function ratio(value: number | null | undefined): string {
  return value === null || value === undefined ? "–" : ((value * 16) % 1 ? value : even(value * 1000) / 1000).toFixed(3);
}

export function count(value: number | null | undefined): string {
  return value === null || value === undefined ? "–" : value.toLocaleString("en");
}

// Whole percents; neither 0 nor 100 unless it is exactly that.
export function percent(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  const whole = even(value * 100);
  return whole >= 100 && value < 1 ? ">99\u00a0%" : whole <= 0 && value > 0 ? "<1\u00a0%" : `${whole}\u00a0%`;
}

export function signed(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  const text = ratio(Math.abs(value));
  return (Number(text) ? (value > 0 ? "+" : "−") : "") + text;
}

// Whether a difference is good or bad news, where it is seen at all; more is better but of what should be low.
export const TONES: Record<string, string> = { better: "▲", worse: "▼", same: "≈" };
export function toneOf(value: number | null | undefined, lower: boolean, counts = false): string {
  return !value || (!counts && ratio(Math.abs(value)) === "0.000") ? "same" : value > 0 !== lower ? "better" : "worse";
}

// Runs are called A, B, C where there is no room for their names.
export const letterOf = (run: number) => String.fromCharCode(65 + run);

export function plural(number: number, noun: string, many = noun + "s"): string {
  return `${count(number)} ${number === 1 ? noun : many}`;
}

// A text in which no mark of a name or value turns the words behind it: such marks are spelt, as in the terminal.
export const calm = (text: string) => text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`);

// A name that leaves room for what it names: of a long one both ends, which tell it from others like it.
export function brief(name: string, most = 40): string {
  const told = calm(name);
  return told.length <= most ? told : `${told.slice(0, most / 2)}…${told.slice(1 - most / 2)}`;
}

// All of so many, or the only one.
export function allOf(number: number, noun: string): string {
  return number === 1 ? `the ${noun}` : `all ${plural(number, noun)}`;
}

// The shortest decimal that is the same 32-bit float, as people wrote it.
export function short(value: number): number {
  for (let digits = 1; digits < 9; digits++) {
    const spelt = Number(value.toPrecision(digits));
    if (Math.fround(spelt) === value) return spelt;
  }
  return value;
}
