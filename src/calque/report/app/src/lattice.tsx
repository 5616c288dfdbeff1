// What a lattice offers under a gap between two texts: its candidates, who read them, and the one that the best path takes.

import { JSX } from "preact";
import { Column, Data, Texts } from "./data";
import { Mark } from "./parts";

// A part of a candidate that fits on a line.
export type Piece = { taken: boolean; text: string; sources: string; head: boolean };
const MOST = 12, MOST_WORDS = 60;

export class Lattice {
  private start: Uint32Array;
  private first: Column;
  private last: Column;
  private begins: Uint32Array;
  private taken: Column;
  private text: Texts;
  private sources: Texts;

  constructor(data: Data, prefix: string) {
    const column = (name: string) => data.column(prefix + name);
    const texts = (name: string) => new Texts(column(name) as Uint8Array, column(`${name}_size`));
    this.start = column("choice.start") as Uint32Array;
    [this.first, this.last, this.taken] = [column("choice.first"), column("choice.last"), column("candidate.taken")];
    const sizes = column("choice.size");
    this.begins = new Uint32Array(sizes.length + 1);
    for (let at = 0; at < sizes.length; at++) this.begins[at + 1] = this.begins[at] + sizes[at];
    [this.text, this.sources] = [texts("candidate.text"), texts("candidate.sources")];
  }

  // The choices of a document in which true words from one place to another can lie, those apart that were shown before.
  under(doc: number, from: number, until: number, shown: Set<number>): number[] {
    const found: number[] = [];
    let low = this.start[doc], high = this.start[doc + 1];
    while (low < high) { const middle = (low + high) >> 1; if (this.last[middle] < from) low = middle + 1; else high = middle; }
    for (let at = low; at < this.start[doc + 1] && this.first[at] <= until && found.length < MOST; at++) {
      const touches = from === until ? this.last[at] >= from : this.first[at] < until && this.last[at] > from;
      if (touches && !shown.has(at)) (shown.add(at), found.push(at));
    }
    return found;
  }

  // The candidates of a choice in lines of this many letters.
  lines(choice: number, wide: number): Piece[][] {
    const lines: Piece[][] = [[]];
    let left = wide;
    for (let at = this.begins[choice]; at < this.begins[choice + 1]; at++) {
      const sources = this.sources.at(at), all = this.text.at(at).split(" "), more = all.length - MOST_WORDS;
      const words = more > 0 ? [...all.slice(0, MOST_WORDS), "…", "and", String(more), "more", "words"] : all;
      let piece: Piece = { taken: this.taken[at] === 1, text: "", sources: "", head: true };
      left -= 4;
      for (const word of words) {
        if (word.length + 1 > left && (piece.text || lines[lines.length - 1].length)) {
          if (piece.text) lines[lines.length - 1].push(piece);
          piece = { ...piece, text: "", head: piece.text ? false : piece.head };
          lines.push([]);
          left = wide - 4;
        }
        piece.text += (piece.text ? " " : "") + word;
        left -= word.length + 1;
      }
      lines[lines.length - 1].push({ ...piece, sources });
      left -= sources.length;
    }
    return lines.filter((line) => line.length);
  }
}

export function Candidates({ pieces, lead }: { pieces: Piece[]; lead: boolean }): JSX.Element {
  return (
    <span class="candidates">
      {lead && <span class="hidden">candidates: </span>}
      {pieces.map((piece) => (
        <span class={piece.taken ? "candidate taken" : "candidate"} data-candidate={piece.taken ? "taken" : "offered"}>
          {piece.head && <Mark of={piece.taken ? "tp" : "ignored"} />}{piece.text || <em class="note">nothing</em>}{piece.sources && <span class="note"> {piece.sources}</span>}
          {piece.taken && piece.head && <span class="hidden"> (on the best path)</span>}
        </span>
      ))}
    </span>
  );
}
