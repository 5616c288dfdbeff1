// Tables: both grids side by side, row beside row, with what differs marked by its kind.

import { JSX } from "preact";
import { Address, go, now, to } from "./address";
import { App } from "./app";
import { Column, Data, Run, Texts } from "./data";
import { Chips, Count, Head, Listbox, Mark, Outcomes, Search } from "./parts";
import { plural, ratio } from "./words";

const MOST_ROWS = 400, MOST_CELLS = 1500;
const OUTCOME: Record<string, string> = { paired: "tp", missed: "fn", spurious: "fp", invalid: "invalid" };

export class GridRows {
  texts: Texts;
  start: Uint32Array;
  row: Column; column: Column; rowspan: Column; colspan: Column; header: Column; kind: Column; partner: Column;
  tables: { document: number[]; number: number[]; status: string[]; teds: (number | null)[] };
  documents: string[];

  constructor(data: Data, public run: Run, public place: number, alone: boolean) {
    const column = (name: string) => data.column((alone ? "" : `${place}:`) + name);
    this.texts = new Texts(column("text") as Uint8Array, column("text_size"));
    this.start = column("start") as Uint32Array;
    [this.row, this.column, this.rowspan, this.colspan] = [column("row"), column("column"), column("rowspan"), column("colspan")];
    [this.header, this.kind, this.partner] = [column("header"), column("kind"), column("partner")];
    this.tables = run.tables;
    this.documents = run.documents;
  }

  get length(): number { return this.tables.document.length; }
  name(table: number): string { return `${this.documents[this.tables.document[table]]}#${this.tables.number[table]}`; }
  outcome(table: number): string { return OUTCOME[this.tables.status[table]]; }
  kindOf(cell: number): string { return this.run.kinds[this.kind[cell]]; }
  cells(table: number, side: number): [number, number] { return [this.start[2 * table + side], this.start[2 * table + side + 1]]; }
  wrong(table: number): number[] {
    const found = [];
    for (let cell = this.start[2 * table]; cell < this.start[2 * table + 2]; cell++) if (this.kind[cell]) found.push(cell);
    return found;
  }

  list(address: Address): number[] {
    const wanted = address.q?.toLowerCase();
    const kept = this.tables.document.map((_, table) => table).filter((table) =>
      (!wanted || this.name(table).toLowerCase().includes(wanted)) && (!address.outcome || this.outcome(table) === address.outcome)
      && (!address.kind || this.wrong(table).some((cell) => this.kindOf(cell) === address.kind)));
    const worst = (table: number) => this.tables.teds[table] ?? 2;
    return address.sort === "document" ? kept : kept.sort((a, b) => worst(a) - worst(b) || a - b);
  }

  chosen(address: Address): number {
    const list = this.list(address);
    if (address.page !== undefined && address.doc !== undefined) {
      const named = this.tables.document.findIndex((_, table) => this.name(table) === `${address.doc}#${address.page}`);
      if (named >= 0) return named;
    }
    const doc = address.doc === undefined ? -1 : list.findIndex((table) => this.documents[this.tables.document[table]] === address.doc);
    return (doc < 0 ? list[0] : list[doc]) ?? -1;
  }

  where(table: number): Address { return { view: "grids" as any, doc: this.documents[this.tables.document[table]], page: String(this.tables.number[table]), object: undefined }; }

  step(by: number): void {
    const address = now(), list = this.list(address), at = list.indexOf(this.chosen(address)), fresh = address.view !== "grids";
    const next = list[fresh ? Math.max(0, at) : Math.max(0, Math.min(list.length - 1, at + by))];
    if (next !== undefined) go(this.where(next));
  }

  error(by: number): void {
    const address = now(), list = this.list(address), table = this.chosen(address);
    if (table < 0) return;
    const keys = this.wrong(table), at = keys.indexOf(Number(address.object?.slice(1) ?? -1));
    const next = at < 0 ? (by > 0 ? 0 : keys.length - 1) : at + by;
    if (keys[next] !== undefined) return go({ ...this.where(table), object: `t${keys[next]}` });
    for (let place = list.indexOf(table) + by; place >= 0 && place < list.length; place += by) {
      const others = this.wrong(list[place]);
      if (others.length) return go({ ...this.where(list[place]), object: `t${others[by > 0 ? 0 : others.length - 1]}` });
    }
  }

  json(key: string): Record<string, unknown> | null {
    const cell = Number(key.slice(1)), table = this.tables.document.findIndex((_, at) => cell < this.start[2 * at + 2]);
    if (!(cell >= 0) || table < 0) return null;
    return {
      document: this.documents[this.tables.document[table]], table: this.tables.number[table], side: cell < this.start[2 * table + 1] ? "truth" : "prediction",
      row: this.row[cell], column: this.column[cell], rowspan: this.rowspan[cell], colspan: this.colspan[cell], text: this.texts.at(cell), kind: this.kindOf(cell),
    };
  }

  // The slots of a side: which cell lies where, or -1.
  slots(table: number, side: number): number[][] {
    const [from, until] = this.cells(table, side);
    let height = 0, width = 0;
    for (let cell = from; cell < until; cell++) (height = Math.max(height, this.row[cell] + this.rowspan[cell])), (width = Math.max(width, this.column[cell] + this.colspan[cell]));
    const slots = Array.from({ length: height }, () => new Array<number>(width).fill(-1));
    for (let cell = from; cell < until; cell++)
      for (let row = this.row[cell]; row < this.row[cell] + this.rowspan[cell]; row++) slots[row].fill(cell, this.column[cell], this.column[cell] + this.colspan[cell]);
    return slots;
  }

  // Rows of both sides that stand beside each other: where most cells of a row have their partners, as long as order is kept.
  beside(table: number, ours: number, theirs: number): [number, number][] {
    const [from, until] = this.cells(table, 0), other = this.start[2 * table + 1];
    const votes = Array.from({ length: ours }, () => new Map<number, number>());
    for (let cell = from; cell < until; cell++) {
      if (this.partner[cell] < 0) continue;
      const row = this.row[other + this.partner[cell]], count = votes[this.row[cell]];
      count.set(row, (count.get(row) ?? 0) + 1);
    }
    const lines: [number, number][] = [];
    let next = 0;
    for (let row = 0; row < ours; row++) {
      const best = [...votes[row]].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0]?.[0] ?? -1;
      if (best < next) { lines.push([row, -1]); continue; }
      for (; next < best; next++) lines.push([-1, next]);
      lines.push([row, next++]);
    }
    for (; next < theirs; next++) lines.push([-1, next]);
    return lines;
  }
}

export function GridsView({ app, rows }: { app: App; rows: GridRows }): JSX.Element {
  const address = now(), list = rows.list(address), table = rows.chosen(address);
  return (
    <div class="viewer-layout two left-list">
      <aside class="side list" aria-label="tables">
        <div class="tools">
          <Search label="Search tables" />
          <div class="line"><Count of="objects" value={list.length} noun="table" /></div>
          <Outcomes of={["fn", "fp"]} names={{ fn: "missed", fp: "spurious" }} />
          <Chips />
        </div>
        <Listbox total={list.length} height={52} label="tables" chosen={list.indexOf(table)} choose={(place) => go(rows.where(list[place]))}
          row={(place) => (
            <>
              <span class="name"><span class="doc" title={rows.name(list[place])}>{rows.name(list[place])}</span><span class="note">{rows.tables.status[list[place]]}, TEDS {ratio(rows.tables.teds[list[place]])}</span></span>
              <span class="tallies"><span class="tally"><Mark of={rows.outcome(list[place])} />{rows.wrong(list[place]).length}</span></span>
            </>
          )} />
      </aside>
      {table >= 0 ? <Grids app={app} rows={rows} table={table} /> : <section class="stage empty"><p class="note">There is no table to show.</p></section>}
    </div>
  );
}

function Grids({ app, rows, table }: { app: App; rows: GridRows; table: number }): JSX.Element {
  const address = now(), ours = rows.slots(table, 0), theirs = rows.slots(table, 1);
  const widths = [ours, theirs].map((slots) => Math.max(1, slots[0]?.length ?? 0));
  const all = rows.beside(table, ours.length, theirs.length);
  const lines = all.slice(0, Math.max(1, Math.min(MOST_ROWS, Math.floor(MOST_CELLS / (widths[0] + widths[1])))));
  const kinds = [...new Set(rows.wrong(table).map((cell) => rows.kindOf(cell)))].sort();
  return (
    <section class="stage grids" aria-label="both tables" data-viewer data-document={rows.documents[rows.tables.document[table]]} data-page={rows.tables.number[table]}>
      <div class="bar-top">
        <h1><span class="doc" title={rows.name(table)}>{rows.name(table)}</span> <span class="note">{rows.tables.status[table]}, TEDS {ratio(rows.tables.teds[table])}</span></h1>
        <span class="steps"><button type="button" aria-label="table before" onClick={() => rows.step(-1)}>‹</button><button type="button" aria-label="next table" onClick={() => rows.step(1)}>›</button></span>
        {address.object !== undefined && <button type="button" onClick={() => app.copy(rows.json(address.object as string))}>Copy as JSON <kbd>c</kbd></button>}
      </div>
      <div class="grid-scroll" tabIndex={0} aria-label="both grids">
        <table class="grid-pair">
          <thead><tr><th scope="colgroup" colSpan={widths[0]}>truth</th><td class="between" /><th scope="colgroup" colSpan={widths[1]}>prediction</th></tr></thead>
          <tbody>{lines.map(([row, other], at) => <tr>{cellsOf(rows, ours, widths[0], lines, at, 0, row, address.object)}<td class="between" />{cellsOf(rows, theirs, widths[1], lines, at, 1, other, address.object)}</tr>)}</tbody>
        </table>
        {lines.length < all.length && <p class="note">and {plural(all.length - lines.length, "more row")}</p>}
      </div>
      <div class="bar-bottom"><p class="legend small">{kinds.length ? kinds.map((kind) => <a href={to({ view: "grids" as any, kind })}><i class={`swatch k-${tone(kind)}`} /> {kind.replace("_", " ")}</a>) : <span>nothing differs</span>}</p><p class="legend small keys"><span><kbd>j</kbd> <kbd>k</kbd> table</span><span><kbd>n</kbd> next error</span><span><kbd>?</kbd> all keys</span></p></div>
    </section>
  );
}

// What is missing is orange, what is too much violet, what is there but other grey.
function tone(kind: string): string {
  return /missed/.test(kind) ? "fn" : /spurious/.test(kind) ? "fp" : "wrong";
}

function cellsOf(rows: GridRows, slots: number[][], width: number, lines: [number, number][], at: number, side: number, row: number, chosen?: string): JSX.Element[] {
  const made: JSX.Element[] = [];
  for (let column = 0; column < width; column++) {
    const cell = row < 0 ? covering(slots, lines, at, side, column) : slots[row]?.[column] ?? -1;
    if (row < 0 ? cell >= 0 && whole(rows, slots, cell) : cell >= 0 && whole(rows, slots, cell) && (rows.row[cell] !== row || rows.column[cell] !== column)) continue;
    if (row < 0 || cell < 0) { made.push(<td class={row < 0 ? "gap" : "hole"} />); continue; }
    const kind = rows.kindOf(cell), key = `t${cell}`, alone = !whole(rows, slots, cell);
    const shown = { colSpan: alone ? 1 : rows.colspan[cell], rowSpan: alone ? 1 : drawn(lines, at, side, rows.row[cell] + rows.rowspan[cell] - 1) };
    made.push(
      <td {...shown} class={`cell${kind ? ` k-${tone(kind)}` : ""}${rows.header[cell] ? " head" : ""}${key === chosen ? " on" : ""}`} data-object={key} data-side={side ? "prediction" : "truth"}
        data-kind={kind || undefined} data-outcome={kind ? tone(kind) : "tp"} title={kind ? kind.replace("_", " ") : undefined} onClick={() => go({ object: key })}>{rows.texts.at(cell)}</td>);
  }
  return made;
}

// The cell that reaches over a line on which a side has no row.
function covering(slots: number[][], lines: [number, number][], at: number, side: number, column: number): number {
  let above = at, below = at;
  while (above >= 0 && lines[above][side] < 0) above--;
  while (below < lines.length && lines[below][side] < 0) below++;
  const cell = slots[lines[above]?.[side] ?? -1]?.[column] ?? -1;
  return cell >= 0 && cell === (slots[lines[below]?.[side] ?? -1]?.[column] ?? -1) ? cell : -1;
}

// Whether all slots of a cell are its own.
function whole(rows: GridRows, slots: number[][], cell: number): boolean {
  for (let row = rows.row[cell]; row < rows.row[cell] + rows.rowspan[cell]; row++)
    for (let column = rows.column[cell]; column < rows.column[cell] + rows.colspan[cell]; column++) if (slots[row][column] !== cell) return false;
  return true;
}

// Over how many lines a cell is drawn that begins here and ends with a row.
function drawn(lines: [number, number][], at: number, side: number, last: number): number {
  let end = at;
  for (let line = at; line < lines.length && (lines[line][side] < 0 || lines[line][side] <= last); line++) if (lines[line][side] >= 0) end = line;
  return end - at + 1;
}

export function WorstGrids({ rows }: { rows: GridRows }): JSX.Element {
  return (
    <section aria-labelledby="worst-tables">
      <Head id="worst-tables" title="Worst tables" note="by TEDS"><a class="more" href={to({ view: "grids" as any })}>all {plural(rows.length, "table")} →</a></Head>
      <table class="rows"><tbody>{rows.list({}).slice(0, 12).map((table) => (
        <tr><th scope="row" class="doc-cell" title={rows.name(table)}><a href={to(rows.where(table))}>{rows.name(table)}</a></th>
          <td class="grow"><span class="track"><i class="f-tp" style={{ width: `${100 * Math.max(0, rows.tables.teds[table] ?? 0)}%` }} /></span></td><td>{ratio(rows.tables.teds[table])}</td><td>{rows.tables.status[table]}</td></tr>
      ))}</tbody></table>
    </section>
  );
}
