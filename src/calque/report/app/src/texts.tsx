// Words: two texts side by side, line by line, with what is missing and what is extra marked.

import { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Address, go, now, to } from "./address";
import { App } from "./app";
import { Became } from "./compare";
import { Letter, parseKey } from "./boxes";
import { Row } from "./charts";
import { Column, Data, Run, Texts } from "./data";
import { Candidates, Lattice, Piece } from "./lattice";
import { Chips, Count, Head, Listbox, Mark, Nothing, NothingShown, Outcomes, Search, useWindow } from "./parts";
import { allOf, brief, calm, count, percent, plural, ratio } from "./words";

type Line = { t0: number; t1: number; p0: number; p1: number; fn: number; fp: number; pieces?: Piece[]; lead?: boolean };

export class WordRows {
  words: Texts;
  tStart: Uint32Array;
  pStart: Uint32Array;
  tWord: Column;
  pWord: Column;
  tMatched: Column;
  pMatched: Column;
  reached?: Column;
  lattice?: Lattice;
  documents: string[];
  recalls: (number | null)[];
  private lines = new Map<string, Line[]>();
  private gaps = new Map<number, string[]>();

  constructor(data: Data, public run: Run, public place: number, alone: boolean) {
    const prefix = alone ? "" : `${place}:`;
    const column = (name: string) => data.column((data.has(prefix + name) ? prefix : "0:") + name);
    this.words = new Texts(column("word") as Uint8Array, column("word_size"));
    [this.tStart, this.pStart] = [column("t.start") as Uint32Array, column("p.start") as Uint32Array];
    [this.tWord, this.pWord, this.tMatched, this.pMatched] = [column("t.word"), column("p.word"), column("t.matched"), column("p.matched")];
    if (data.has(prefix + "t.reached")) this.reached = column("t.reached");
    if (data.has(prefix + "choice.start")) this.lattice = new Lattice(data, prefix);
    this.documents = run.documents;
    this.recalls = run.recalls;
  }

  found(doc: number): number { return this.tStart[doc + 1] - this.tStart[doc] - this.missing(doc); }
  missing(doc: number): number { return this.counted(this.tMatched, this.tStart, doc); }
  extra(doc: number): number { return this.counted(this.pMatched, this.pStart, doc); }
  private counted(matched: Column, start: Uint32Array, doc: number): number {
    let number = 0;
    for (let row = start[doc]; row < start[doc + 1]; row++) number += 1 - matched[row];
    return number;
  }

  // How many words of a document have one of these outcomes.
  asked(doc: number, outcome: string): number {
    const counts: Record<string, number> = { tp: this.found(doc), fn: this.missing(doc), fp: this.extra(doc) };
    return outcome.split(",").reduce((sum, name) => sum + (counts[name] ?? 0), 0);
  }

  list(address: Address): number[] {
    const wanted = address.q?.toLowerCase();
    const kept = this.documents.map((_, doc) => doc).filter((doc) => (!wanted || this.documents[doc].toLowerCase().includes(wanted)) && (address.outcome ? this.asked(doc, address.outcome) : 1));
    const worst = (doc: number) => this.recalls[doc] ?? 2;
    return address.sort === "document" ? kept : kept.sort((a, b) => worst(a) - worst(b) || a - b);
  }

  chosen(address: Address): number {
    const word = this.at(address.object);
    if (word) return this.documentOf(word.letter, word.row);
    const doc = address.doc === undefined ? -1 : this.documents.indexOf(address.doc);
    return doc < 0 ? this.list(address)[0] ?? -1 : doc;
  }

  key(letter: Letter, row: number): string { return letter === "p" && this.place > 0 ? `p${row}@${this.place}` : `${letter}${row}`; }

  // The word that a key names, if it is one of this run.
  at(key: string | undefined): { letter: Letter; row: number } | null {
    const word = parseKey(key);
    return word && (word.letter === "t" || word.run === this.place) && word.row < (word.letter === "t" ? this.tWord : this.pWord).length ? word : null;
  }

  documentOf(letter: "t" | "p", row: number): number {
    const start = letter === "t" ? this.tStart : this.pStart;
    for (let doc = 0; doc < this.documents.length; doc++) if (row < start[doc + 1]) return doc;
    return -1;
  }

  // Both texts in lines that fit; what goes together stands beside each other.
  linesOf(doc: number, wide: number): Line[] {
    const key = `${doc} ${wide}`;
    let lines = this.lines.get(key);
    if (lines) return lines;
    lines = [];
    let i = this.tStart[doc], j = this.pStart[doc];
    const ends = [this.tStart[doc + 1], this.pStart[doc + 1]];
    // What is marked has a frame around it, and perhaps a dot.
    const size = (column: Column, row: number) => {
      const framed = column === this.tWord ? !this.tMatched[row] : !this.pMatched[row];
      return this.words.at(column[row]).length + (framed ? (column === this.tWord && this.reached?.[row] ? 4 : 2.4) : 1);
    };
    let line: Line = { t0: i, t1: i, p0: j, p1: j, fn: 0, fp: 0 }, left = 0, right = 0;
    const shown = new Set<number>();
    const close = () => {
      line.t1 = i; line.p1 = j;
      lines!.push(line, ...this.offered(doc, line, wide, shown));
      line = { t0: i, t1: i, p0: j, p1: j, fn: 0, fp: 0 };
      left = right = 0;
    };
    while (i < ends[0] || j < ends[1]) {
      const a = i < ends[0] && !this.tMatched[i], b = !a && j < ends[1] && !this.pMatched[j];
      const mine = !b && i < ends[0] ? size(this.tWord, i) : 0, other = !a && j < ends[1] ? size(this.pWord, j) : 0;
      if ((left + mine > wide && left) || (right + other > wide && right)) close();
      if (a) (i++, line.fn++, (left += mine));
      else if (b) (j++, line.fp++, (right += other));
      else (i++, j++, (left += mine), (right += other));
    }
    if (i > line.t0 || j > line.p0) close();
    if (this.lines.size > 8) this.lines.clear();
    this.lines.set(key, lines);
    return lines;
  }

  // A word with those around it: so few before it that it is always seen.
  around(letter: "t" | "p", row: number): [string[], string, string[]] {
    const doc = this.documentOf(letter, row), [start, word] = letter === "t" ? [this.tStart, this.tWord] : [this.pStart, this.pWord];
    const some = (from: number, until: number) => Array.from({ length: Math.max(0, until - from) }, (_, place) => brief(this.words.at(word[from + place]), 24));
    const before = some(Math.max(start[doc], row - 5), row), all = before.length;
    while (before.join(" ").length > 24) before.shift();
    return [[...(before.length < all ? ["…"] : []), ...before], some(row, row + 1)[0], some(row + 1, Math.min(start[doc + 1], row + 6))];
  }

  // What the lattice offers under the gaps of a line.
  private offered(doc: number, line: Line, wide: number, shown: Set<number>): Line[] {
    if (!this.lattice || !(line.fn || line.fp)) return [];
    const made: Line[] = [], base = this.tStart[doc];
    for (const [from, until] of this.gapsIn(line))
      for (const choice of this.lattice.under(doc, from - base, until - base, shown))
        this.lattice.lines(choice, 2 * wide).forEach((pieces, place) => made.push({ ...line, t0: line.t1, p0: line.p1, pieces, lead: !place }));
    return made;
  }

  // The true words of each gap in a line, from one to before another; of words that are only extra the place between two.
  private gapsIn(line: Line): [number, number][] {
    const gaps: [number, number][] = [];
    let i = line.t0, j = line.p0, open = -1;
    while (i < line.t1 || j < line.p1) {
      const a = i < line.t1 && !this.tMatched[i], b = !a && j < line.p1 && !this.pMatched[j];
      if ((a || b) && open < 0) open = i;
      if (!a && !b && open >= 0) (gaps.push([open, i]), (open = -1));
      if (a) i++;
      else if (b) j++;
      else (i++, j++);
    }
    if (open >= 0) gaps.push([open, i]);
    return gaps;
  }

  // Where the two texts part: the first word of each difference.
  differences(doc: number): string[] {
    let found = this.gaps.get(doc);
    if (found) return found;
    found = [];
    let i = this.tStart[doc], j = this.pStart[doc], inside = false;
    while (i < this.tStart[doc + 1] || j < this.pStart[doc + 1]) {
      const a = i < this.tStart[doc + 1] && !this.tMatched[i], b = !a && j < this.pStart[doc + 1] && !this.pMatched[j];
      if ((a || b) && !inside) found.push(a ? this.key("t", i) : this.key("p", j));
      inside = a || b;
      if (a) i++;
      else if (b) j++;
      else (i++, j++);
    }
    this.gaps.set(doc, found);
    return found;
  }

  step(by: number): void {
    const address = now(), list = this.list(address), at = list.indexOf(this.chosen(address)), fresh = address.view !== "words";
    const next = list[fresh ? Math.max(0, at) : Math.max(0, Math.min(list.length - 1, at + by))];
    if (next !== undefined) go({ view: "words", doc: this.documents[next], object: undefined });
  }

  error(by: number): void {
    const address = now(), list = this.list(address), doc = this.chosen(address);
    if (doc < 0) return;
    const keys = this.differences(doc), at = keys.indexOf(address.object ?? "");
    const next = at < 0 ? (by > 0 ? 0 : -1) : at + by;
    const show = (of: number, key: string) => go({ view: "words", doc: this.documents[of], object: key });
    if (keys[next]) return show(doc, keys[next]);
    for (let place = list.indexOf(doc) + by; place >= 0 && place < list.length; place += by) {
      const others = this.differences(list[place]);
      if (others.length) return show(list[place], others[by > 0 ? 0 : others.length - 1]);
    }
  }

  json(key: string): Record<string, unknown> | null {
    const chosen = this.at(key);
    if (!chosen) return null;
    const { letter, row } = chosen, doc = this.documentOf(letter, row);
    const [start, word, matched] = letter === "t" ? [this.tStart, this.tWord, this.tMatched] : [this.pStart, this.pWord, this.pMatched];
    return { document: this.documents[doc], side: letter === "t" ? "truth" : "prediction", position: row - start[doc], word: this.words.at(word[row]), outcome: matched[row] ? "tp" : letter === "t" ? "fn" : "fp" };
  }
}

const HEIGHT = 26;

export function WordsView({ app, rows }: { app: App; rows: WordRows }): JSX.Element {
  const address = now();
  const list = rows.list(address), doc = rows.chosen(address);
  const total = list.reduce((sum, of) => sum + (address.outcome ? rows.asked(of, address.outcome) : rows.differences(of).length), 0);
  return (
    <div class="viewer-layout two left-list">
      <aside class="side list" aria-label="documents">
        <div class="tools">
          <Search label="Search documents" />
          <div class="line"><Count of="documents" value={list.length} noun="document" /><Count of="objects" value={total} noun={address.outcome ? "word" : "difference"} /></div>
          <Outcomes of={["fn", "fp"]} names={{ fn: "missing", fp: "extra" }} />
          <Chips buttons={["fn", "fp"]} />
        </div>
        {!list.length ? <Nothing of="document" any={rows.documents.length > 0} /> : <Listbox total={list.length} height={52} label="documents" chosen={list.indexOf(doc)} choose={(place) => go({ doc: rows.documents[list[place]], object: undefined })}
          row={(place) => (
            <>
              <span class="name"><span class="doc" title={rows.documents[list[place]]}>{rows.documents[list[place]]}</span><span class="note">{rows.recalls[list[place]] === null ? "not counted" : `${percent(rows.recalls[list[place]])} of its words`}</span></span>
              <span class="tallies"><span class="tally t-fn"><Mark of="fn" />{rows.missing(list[place])}</span><span class="tally t-fp"><Mark of="fp" />{rows.extra(list[place])}</span></span>
            </>
          )} />}
      </aside>
      {doc >= 0 ? <Text app={app} rows={rows} doc={doc} /> : <NothingShown of="document" />}
    </div>
  );
}

function Text({ app, rows, doc }: { app: App; rows: WordRows; doc: number }): JSX.Element {
  const address = now();
  const box = useRef<HTMLDivElement>(null);
  const [wide, setWide] = useState(46);
  useEffect(() => {
    const fit = () => setWide(Math.max(12, Math.floor(((box.current?.clientWidth ?? 800) - 64) / 2 / 8.6)));
    fit();
    addEventListener("resize", fit);
    return () => removeEventListener("resize", fit);
  }, []);
  const all = rows.linesOf(doc, wide);
  const lines = address.outcome === "fn" ? all.filter((line) => line.fn) : address.outcome === "fp" ? all.filter((line) => line.fp) : all;
  const { ref, first, last } = useWindow(lines.length, HEIGHT, 6);
  const chosen = address.object;
  const word = rows.at(chosen);
  const at = word ? lines.findIndex((line) => (word.letter === "t" ? word.row >= line.t0 && word.row < line.t1 : word.row >= line.p0 && word.row < line.p1)) : -1;
  useLayoutEffect(() => {
    const scroller = box.current;
    if (!scroller || at < 0) return;
    if (getComputedStyle(scroller).overflowY === "auto") scroller.scrollTop = Math.max(0, at * HEIGHT - scroller.clientHeight / 2);
    else scrollTo({ top: Math.max(0, scroller.getBoundingClientRect().top + scrollY + at * HEIGHT - innerHeight / 2) });
  }, [chosen, doc]);
  return (
    <section class="stage texts" aria-label="both texts" data-viewer data-document={rows.documents[doc]}>
      <div class="bar-top">
        <h1><span class="doc" title={rows.documents[doc]}>{rows.documents[doc]}</span> <span class="note">{percent(rows.recalls[doc])} of {plural(rows.tStart[doc + 1] - rows.tStart[doc], "word")}</span></h1>
        <span class="steps"><button type="button" aria-label="document before" onClick={() => rows.step(-1)}>‹</button><button type="button" aria-label="next document" onClick={() => rows.step(1)}>›</button></span>
        {chosen !== undefined && rows.at(chosen) && <ChosenWord rows={rows} of={chosen} />}
        {chosen !== undefined && rows.at(chosen) && <Became app={app} of={chosen} />}
        {chosen !== undefined && rows.at(chosen) && <button type="button" onClick={() => app.copy(rows.json(chosen))}>Copy as JSON <kbd>c</kbd></button>}
      </div>
      <div class="text-head note" aria-hidden="true"><span>word</span><span>truth</span><span>prediction</span></div>
      <div class="text-scroll" ref={box}>
        <div ref={ref} class="runway" style={{ height: `${lines.length * HEIGHT}px` }}>
          {lines.slice(first, last).map((line, place) => line.pieces ? (
            <div class="text-line offered" key={first + place} style={{ top: `${(first + place) * HEIGHT}px`, height: `${HEIGHT}px` }}>
              <span class="no" aria-hidden="true">{line.lead ? "└" : ""}</span><Candidates pieces={line.pieces} lead={!!line.lead} />
            </div>
          ) : (
            <div class={`text-line${line.fn || line.fp ? " differs" : ""}${first + place === at ? " on" : ""}`} key={first + place} style={{ top: `${(first + place) * HEIGHT}px`, height: `${HEIGHT}px` }}>
              <span class="no">{line.t0 - rows.tStart[doc] + 1}</span>
              <span class="text">{pieces(rows, "t", line.t0, line.t1, chosen)}</span>
              <span class="text">{pieces(rows, "p", line.p0, line.p1, chosen)}</span>
            </div>
          ))}
        </div>
        {!lines.length && <p class="note empty">There are no words here.</p>}
      </div>
      <div class="bar-bottom"><p class="legend small"><span><Mark of="fn" /> missing</span><span><Mark of="fp" /> extra</span>{rows.reached && <span><Mark of="tp" /> on the best path through the lattice</span>}{rows.lattice && <span><Mark of="ignored" /> another candidate</span>}</p><p class="legend small keys"><span><kbd>j</kbd> <kbd>k</kbd> document</span><span><kbd>n</kbd> next {app.changes ? "change" : "difference"}</span><span><kbd>?</kbd> all keys</span></p></div>
    </section>
  );
}

function ChosenWord({ rows, of }: { rows: WordRows; of: string }): JSX.Element {
  const shown = rows.json(of) as any;
  return <span class="note" data-detail={of}><Mark of={shown.outcome} /> {shown.outcome === "fn" ? "missing" : shown.outcome === "fp" ? "extra" : "found"}: word {shown.position + 1}, <b class="doc-word">{shown.word}</b></span>;
}

function pieces(rows: WordRows, letter: "t" | "p", from: number, until: number, chosen: string | undefined): (string | JSX.Element)[] {
  const [word, matched] = letter === "t" ? [rows.tWord, rows.tMatched] : [rows.pWord, rows.pMatched];
  const parts: (string | JSX.Element)[] = [];
  let plain = "";
  for (let row = from; row < until; row++) {
    const text = rows.words.at(word[row]);
    const key = rows.key(letter, row);
    // A word that turns what is behind it stands alone.
    if (matched[row] && key !== chosen && calm(text) === text) { plain += text + " "; continue; }
    if (plain) (parts.push(plain), (plain = ""));
    if (matched[row]) { parts.push(key === chosen ? <mark class="on">{text}</mark> : <bdi>{text}</bdi>, " "); continue; }
    const outcome = letter === "t" ? "fn" : "fp";
    const reached = letter === "t" && rows.reached?.[row] === 1;
    parts.push(<span class={`word w-${outcome}${key === chosen ? " on" : ""}`} data-word={outcome} data-object={key} data-side={letter === "t" ? "truth" : "prediction"} data-outcome={outcome} data-kind="" data-label={text} title={reached ? "the best path through the lattice has this word" : undefined}>{text}{reached && <Mark of="tp" />}</span>, " ");
  }
  if (plain) parts.push(plain);
  return parts;
}

export function WorstTexts({ rows }: { rows: WordRows }): JSX.Element | null {
  if (!rows.documents.length) return null;
  return (
    <section aria-labelledby="worst-docs">
      <Head id="worst-docs" title="Worst documents" note="by recall"><a class="more" href={to({ view: "words" })}>{allOf(rows.documents.length, "document")} →</a></Head>
      <table class="rows"><tbody>{rows.list({}).slice(0, 12).map((doc) => (
        <tr><th scope="row" class="doc-cell" title={rows.documents[doc]}><a href={to({ view: "words", doc: rows.documents[doc] })}>{rows.documents[doc]}</a></th>
          <td class="grow"><Row share={rows.recalls[doc] ?? 0} mark="tp" /></td><td>{ratio(rows.recalls[doc])}</td><td><a href={to({ view: "words", doc: rows.documents[doc] })}>{count(rows.missing(doc))} missing</a></td><td><a href={to({ view: "words", doc: rows.documents[doc] })}>{count(rows.extra(doc))} extra</a></td></tr>
      ))}</tbody></table>
    </section>
  );
}
