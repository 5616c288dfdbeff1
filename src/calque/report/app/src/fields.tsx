// Fields: documents against fields, each cell the worst of its values; and both sides of the chosen value.

import { JSX } from "preact";
import { Address, go, now, to } from "./address";
import { App } from "./app";
import { Became } from "./compare";
import { Column, Data, Run, Texts } from "./data";
import { parseKey, scoreRange } from "./boxes";
import { FieldPages, OnPages } from "./fieldpages";
import { Chips, Count, Mark, Nothing, Outcomes, Search, useWindow } from "./parts";
import { OUTCOMES, TP, askedOutcomes, count, plural, ratio, short } from "./words";

// As the columns have it: what the counts of a field have, and those of everything.
const OF_FIELD = 2, OF_ALL = 4;
const WORST = [1, 3, 2, 6, 4, 5, 0];
const severity = (code: number) => WORST.indexOf(code);
const COLUMNS = 60;
const COUNTED = "counted";
const SPOKEN: Record<string, string> = { tp: "right", wrong: "wrong", fn: "missing", fp: "made up", invalid: "invalid" };

// Codes of values, and behind them those of whole items and objects.
function joined(values: Column, wholes: Column | null): Column {
  if (!wholes) return values;
  const both = new Uint32Array(values.length + wholes.length);
  both.set(values);
  both.set(wholes, values.length);
  return both;
}

export class FieldRows {
  start: Uint32Array;
  field: Column;
  outcome: Column;
  // Which counts have a row; behind the values stand whole items and objects, which counts have beside them.
  counted: Column;
  values: number;
  documents: string[];
  fields: string[];
  truth: Texts;
  found: Texts;
  path: Texts;
  pages: FieldPages | null;
  runs: FieldRows[] = [this];
  private valued: Set<number>;
  private wholes?: Uint32Array;
  private wholePath?: Texts;
  private known = new Map<string, any>();

  constructor(public data: Data, public run: Run, public place: number, alone: boolean) {
    const prefix = alone ? "" : `${place}:`;
    const texts = (name: string) => new Texts(data.column(`${prefix}${name}`) as Uint8Array, data.column(`${prefix}${name}_size`));
    this.start = data.column(`${prefix}row.start`) as Uint32Array;
    const both = (name: string) => joined(data.column(`${prefix}row.${name}`), data.has(`${prefix}whole.${name}`) ? data.column(`${prefix}whole.${name}`) : null);
    this.values = data.column(`${prefix}row.outcome`).length;
    [this.field, this.outcome, this.counted] = [both("field"), both("outcome"), both("counted")];
    this.valued = new Set(this.field.subarray(0, this.values));
    if (data.has(`${prefix}whole.start`)) (this.wholes = data.column(`${prefix}whole.start`) as Uint32Array, this.wholePath = texts("whole.path"));
    this.documents = run.documents;
    this.fields = run.fields;
    [this.truth, this.found, this.path] = [texts("row.truth"), texts("row.found"), texts("row.path")];
    this.pages = data.has(`${prefix}row.tpage`) ? new FieldPages(data, prefix, alone ? "" : "0:") : null;
    this.column = (name) => (data.has(`${prefix}row.${name}`) ? data.column(`${prefix}row.${name}`) : null);
  }

  column: (name: string) => Column | null;

  // A value as people write it: texts without quotes, all else as JSON; nothing where there is none.
  written(texts: Texts, row: number): string {
    const text = this.isValue(row) ? texts.at(row) : "";
    try {
      const value = JSON.parse(text);
      return typeof value === "string" && value ? value : text;
    } catch {
      return text;
    }
  }

  // Rows differ from run to run; of one that another run names the same value is meant.
  key(row: number): string { return this.place ? `t${row}@${this.place}` : `t${row}`; }

  at(key: string | undefined): number {
    const given = parseKey(key), of = given && this.runs[given.run];
    if (!given || !of || given.letter !== "t" || given.row >= of.outcome.length) return -1;
    return of === this ? given.row : this.find(of.documents[of.documentOf(given.row)], of.pathOf(given.row));
  }

  private find(document: string, path: string): number {
    const doc = this.documents.indexOf(document);
    return doc < 0 ? -1 : this.all(doc).find((row) => this.pathOf(row) === path) ?? -1;
  }

  isValue(row: number): boolean { return row < this.values; }

  // The rows of a document: its values, then the whole items and objects.
  all(doc: number): number[] {
    const rows: number[] = [];
    for (let row = this.start[doc]; row < this.start[doc + 1]; row++) rows.push(row);
    if (this.wholes) for (let at = this.wholes[doc]; at < this.wholes[doc + 1]; at++) rows.push(this.values + at);
    return rows;
  }

  pathOf(row: number): string {
    return (this.isValue(row) ? this.path.at(row) : this.wholePath?.at(row - this.values)) || this.fields[this.field[row]];
  }

  // The fields that a name stands for: with list marks or without, and with all that is in it.
  asked(name: string | undefined, alone = false): Set<number> | null {
    if (name === undefined) return null;
    const bare = (text: string) => text.replaceAll("[]", ""), wanted = bare(name);
    return new Set(this.fields.map((_, place) => place).filter((place) => bare(this.fields[place]) === wanted || (!alone && bare(this.fields[place]).startsWith(wanted + "."))));
  }

  // The fields that stand side by side: those that are asked for; whole items and objects only where counts led here.
  shown(address: Address): number[] {
    return [...(this.asked(address.class) ?? this.fields.keys())].filter((place) => address.kind === COUNTED || this.valued.has(place));
  }

  private test(address: Address): (row: number) => boolean {
    const codes = askedOutcomes(address.outcome), counts = address.kind === COUNTED ? (address.class === undefined ? OF_ALL : OF_FIELD) : 0;
    const fields = this.asked(address.class, counts > 0);
    const sure = this.column("confidence"), [low, high] = address.score ? scoreRange(address.score) : [-Infinity, Infinity];
    return (row) => (counts ? (this.counted[row] & counts) !== 0 : this.isValue(row)) && (!address.score || (!!sure && sure[row] >= low && sure[row] < high)) && (!codes || codes.has(this.outcome[row])) && (!fields || fields.has(this.field[row]));
  }

  // The documents of the list, most that is not right first, and how many values the filters keep.
  list(address: Address): { documents: number[]; values: number } {
    const key = JSON.stringify([address.outcome, address.class, address.kind, address.q, address.sort, address.score]);
    if (!this.known.has(key)) {
      const test = this.test(address), wanted = address.q?.toLowerCase();
      const filtered = [address.outcome, address.class, address.kind, address.score].some((text) => text !== undefined);
      const wrong = new Map<number, number>(), kept: number[] = [];
      let values = 0;
      for (let doc = 0; doc < this.documents.length; doc++) {
        if (wanted && !this.documents[doc].toLowerCase().includes(wanted)) continue;
        let mine = 0, errors = 0;
        for (const row of this.all(doc)) if (test(row)) (mine++, (errors += this.outcome[row] === TP ? 0 : 1));
        if (filtered && !mine) continue;
        values += mine;
        wrong.set(doc, address.sort === "share" ? errors / Math.max(1, mine) : errors);
        kept.push(doc);
      }
      if (address.sort !== "document") kept.sort((a, b) => (wrong.get(b) as number) - (wrong.get(a) as number) || a - b);
      if (this.known.size > 24) this.known.clear();
      this.known.set(key, { documents: kept, values });
    }
    return this.known.get(key);
  }

  rowsOf(doc: number, field: number): number[] {
    const rows = this.all(doc).filter((row) => this.field[row] === field);
    return rows.sort((a, b) => severity(this.outcome[a]) - severity(this.outcome[b]) || a - b);
  }

  cells(doc: number): Map<number, { code: number; wrong: number; all: number }> {
    const cells = new Map<number, { code: number; wrong: number; all: number }>();
    for (const row of this.all(doc)) {
      const code = this.outcome[row], cell = cells.get(this.field[row]) ?? { code: TP, wrong: 0, all: 0 };
      cell.all++;
      if (code !== TP) cell.wrong++;
      if (severity(code) < severity(cell.code)) cell.code = code;
      cells.set(this.field[row], cell);
    }
    return cells;
  }

  documentOf(row: number): number {
    const [start, at] = this.isValue(row) ? [this.start, row] : [this.wholes as Uint32Array, row - this.values];
    let low = 0, high = start.length - 1;
    while (high - low > 1) { const middle = (low + high) >> 1; if (start[middle] <= at) low = middle; else high = middle; }
    while (start[low + 1] <= at) low++;
    return low;
  }

  chosen(address: Address): { doc: number; row: number } {
    const row = this.at(address.object);
    if (row >= 0) return { doc: this.documentOf(row), row };
    const doc = address.doc === undefined ? -1 : this.documents.indexOf(address.doc);
    return { doc: doc < 0 ? this.list(address).documents[0] ?? -1 : doc, row: -1 };
  }

  step(by: number): void {
    const address = now(), { documents } = this.list(address), { doc } = this.chosen(address);
    const at = documents.indexOf(doc), fresh = address.view !== "fields";
    const next = documents[fresh ? Math.max(0, at) : Math.max(0, Math.min(documents.length - 1, at + by))];
    if (next !== undefined) go({ view: "fields", doc: this.documents[next], object: undefined });
  }

  // The next value that is not right, in this document or a later one of the list.
  error(by: number): void {
    const address = now(), { documents } = this.list(address), { doc, row } = this.chosen(address), test = this.test(address);
    const wrong = (of: number) => this.all(of).filter((at) => this.outcome[at] !== TP && test(at));
    const show = (at: number) => go({ view: "fields", doc: this.documents[this.documentOf(at)], object: this.key(at) });
    const here = doc < 0 ? [] : wrong(doc);
    const next = row < 0 ? (by > 0 ? here[0] : undefined) : by > 0 ? here.find((at) => at > row) : [...here].reverse().find((at) => at < row);
    if (next !== undefined) return show(next);
    for (let place = documents.indexOf(doc) + by; place >= 0 && place < documents.length; place += by) {
      const rows = wrong(documents[place]);
      if (rows.length) return show(rows[by > 0 ? 0 : rows.length - 1]);
    }
  }

  json(row: number): Record<string, unknown> {
    const isValue = this.isValue(row);
    const number = (name: string) => { const value = isValue ? this.column(name)?.[row] : undefined; return value === undefined || value !== value ? null : short(value); };
    const value = (text: string) => { try { return text === "" ? null : JSON.parse(text); } catch { return text; } };
    return {
      document: this.documents[this.documentOf(row)], path: this.pathOf(row), truth: isValue ? value(this.truth.at(row)) : null, prediction: isValue ? value(this.found.at(row)) : null,
      outcome: OUTCOMES[this.outcome[row]], reason: isValue ? this.run.reasons_of[this.column("reason")?.[row] ?? 0] : "counted as a whole", score: number("score"), threshold: number("threshold"), confidence: number("confidence"), iou: number("iou"),
    };
  }
}

export function Fields({ app, rows }: { app: App; rows: FieldRows }): JSX.Element {
  const address = now();
  const { documents, values } = rows.list(address);
  const { doc, row } = rows.chosen(address);
  const every = rows.shown(address), shown = every.slice(0, COLUMNS);
  const height = 38;
  const { ref, first, last } = useWindow(documents.length, height);
  const places = Array.from({ length: last - first }, (_, place) => first + place);
  const choose = (of: number, field: number) => { const values = rows.rowsOf(of, field); go({ doc: rows.documents[of], object: values.length ? rows.key(values[0]) : undefined }); };
  return (
    <div class="viewer-layout two">
      <section class="matrix-side" aria-label="documents and fields">
        <div class="tools across">
          <h1 class="hidden">Fields</h1>
          <Count of="documents" value={documents.length} noun="document" /><Count of="objects" value={values} noun={address.kind === COUNTED ? "counted" : "value"} many={address.kind === COUNTED ? "counted" : undefined} />
          <Outcomes of={["wrong", "fn", "fp", "tp"]} names={SPOKEN} /><Search label="Search documents" /><Chips buttons={["wrong", "fn", "fp", "tp"]} spelt={(key, value) => (key === "kind" && value === COUNTED ? "as counted" : value)} />
        </div>
        {!documents.length ? <Nothing of="document" any={rows.documents.length > 0} /> : <div class="matrix-scroll">
          <div class="field-grid" style={{ "--fields": String(shown.length) } as any} role="table" aria-label="the worst value of each document and field" aria-rowcount={documents.length + 1}>
            <div class="field-head" role="row">
              <span role="columnheader">document, worst first</span>
              {shown.map((field) => <span role="columnheader" title={rows.fields[field]}>{rows.fields[field].replaceAll(".", ".\u200b")}</span>)}
            </div>
            <div ref={ref} class="runway" role="rowgroup" style={{ height: `${documents.length * height}px` }}>
              {places.map((place) => {
                const of = documents[place], cells = rows.cells(of);
                return (
                  <div class="field-row" key={of} role="row" aria-rowindex={place + 2} data-on={of === doc ? "" : undefined} style={{ top: `${place * height}px`, height: `${height}px` }}>
                    <span role="rowheader" class="doc" title={rows.documents[of]}><a href={to({ view: "fields", doc: rows.documents[of], outcome: address.outcome, class: address.class, kind: address.kind, q: address.q })}>{rows.documents[of]}</a></span>
                    {shown.map((field) => {
                      const cell = cells.get(field);
                      if (!cell) return <span role="cell" class="nothing" />;
                      const name = OUTCOMES[cell.code], on = of === doc && row >= 0 && rows.field[row] === field;
                      return (
                        <span role="cell">
                          <button type="button" class={`cell c-${name}${on ? " on" : ""}`} data-cell data-document={rows.documents[of]} data-field={rows.fields[field]} data-outcome={name}
                            aria-label={`${rows.fields[field]}: ${SPOKEN[name]}${cell.wrong ? `, ${cell.wrong} of ${cell.all}` : ""}`} onClick={() => choose(of, field)}>
                            <Mark of={name} />{cell.wrong > 1 ? cell.wrong : ""}
                          </button>
                        </span>
                      );
                    })}
                  </div>
                );
              })}
            </div>
          </div>
        </div>}
        {documents.length > 0 && shown.length < every.length && <p class="note empty">{count(COLUMNS)} of {count(every.length)} fields; choose one by its name on the first view.</p>}
      </section>
      {doc >= 0 && <ValueViewer app={app} rows={rows} doc={doc} row={row} />}
    </div>
  );
}

function ValueViewer({ app, rows, doc, row }: { app: App; rows: FieldRows; doc: number; row: number }): JSX.Element {
  const mine = rows.all(doc).filter((at) => rows.isValue(at) || now().kind === COUNTED);
  const inside = row >= 0 && !rows.isValue(row) ? mine.filter((at) => rows.pathOf(at).startsWith(`${rows.pathOf(row)}.`)) : [];
  const listed = row >= 0 ? rows.rowsOf(doc, rows.field[row]).concat(inside) : mine.filter((at) => rows.outcome[at] !== TP).concat(mine.filter((at) => rows.outcome[at] === TP));
  const most = 120;
  const shown = listed.slice(0, most);
  const lead = row >= 0 ? row : -1;
  return (
    <aside class="side detail" aria-label="values" data-viewer data-document={rows.documents[doc]} data-field={lead >= 0 ? rows.pathOf(lead) : undefined}>
      <div class="tools"><h2 class="doc" title={rows.documents[doc]}>{rows.documents[doc]}</h2><span class="note">{lead >= 0 ? rows.fields[rows.field[lead]] : `${plural(mine.length, "value")}, what is not right first`}</span></div>
      {lead >= 0 && <Chosen app={app} rows={rows} row={lead} />}
      <ul class="values">
        {shown.map((at) => {
          const name = OUTCOMES[rows.outcome[at]];
          return (
            <li key={at} class={at === row ? "on" : ""}>
              <button type="button" class="value-row" aria-pressed={at === row} data-object={rows.key(at)} data-side="truth" data-outcome={name} data-kind="" data-label={rows.fields[rows.field[at]]} onClick={() => go({ doc: rows.documents[doc], object: rows.key(at) })}>
                <Mark of={name} /> <span class="name"><span class="path">{rows.pathOf(at)}</span> <span class="note">{SPOKEN[name]}</span><span class="pair"><span>{cut(rows.written(rows.truth, at)) || "–"}</span><span aria-hidden="true">→</span><span>{cut(rows.written(rows.found, at)) || "–"}</span></span></span>
              </button>
            </li>
          );
        })}
      </ul>
      {listed.length > most && <p class="note empty">and {count(listed.length - most)} more</p>}
    </aside>
  );
}

const cut = (text: string) => (text.length > 80 ? text.slice(0, 79) + "…" : text);

function Chosen({ app, rows, row }: { app: App; rows: FieldRows; row: number }): JSX.Element {
  const shown = rows.json(row) as any, name = shown.outcome;
  const facts: [string, string][] = [["Path", shown.path], ["Reason", shown.reason]];
  if (rows.isValue(row)) facts.push(["Score", ratio(shown.score)], ["Threshold", ratio(shown.threshold)]);
  if (shown.confidence !== null) facts.push(["Confidence", ratio(shown.confidence)]);
  if (shown.iou !== null) facts.push(["IoU", ratio(shown.iou)]);
  return (
    <div class="chosen-object" data-detail={rows.key(row)}>
      <h2><Mark of={name} /> <bdi>{shown.path}</bdi> <span class="note">{SPOKEN[name]}</span></h2>
      {rows.isValue(row) && <div class="both-values">
        <div><span class="note">truth</span><pre data-value-side="truth">{rows.written(rows.truth, row) || "–"}</pre></div>
        <div><span class="note">prediction</span><pre data-value-side="prediction">{rows.written(rows.found, row) || "–"}</pre></div>
      </div>}
      <Became app={app} of={rows.key(row)} />
      {rows.isValue(row) && <OnPages app={app} rows={rows} row={row} />}
      <dl class="facts">{facts.map(([key, value]) => <><dt>{key}</dt><dd>{value}</dd></>)}</dl>
      <button type="button" onClick={() => app.copy(shown)}>Copy as JSON <kbd>c</kbd></button>
    </div>
  );
}
