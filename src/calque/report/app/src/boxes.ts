// Boxes on pages: columns of both sides, what the filters keep of them, and in which order pages and objects stand.

import { Address } from "./address";
import { Column, Data, Run, Texts } from "./data";
import { EXCLUDED, FN, FP, INVALID, NAMES, OUTCOMES, SIDES, TP, WRONG, askedOutcomes, short } from "./words";

export type Letter = "t" | "p";
export type Box = [number, number, number, number];

export class Side {
  start: Uint32Array;
  box: Uint16Array;
  label: Column;
  status?: Column;
  outcomes: Column[] = [];
  kind?: Column;
  partner?: Column;
  subtype?: Column;
  ids?: Texts | Float64Array;
  length: number;

  constructor(data: Data, prefix: string, shared: string, letter: Letter, thresholds: number) {
    const own = (name: string) => data.column(`${prefix}${letter}.${name}`);
    const joint = (name: string) => data.column(`${data.has(`${prefix}${letter}.${name}`) ? prefix : shared}${letter}.${name}`);
    const perhaps = (name: string) => (data.has(`${prefix}${letter}.${name}`) ? own(name) : undefined);
    this.start = joint("start") as Uint32Array;
    this.box = joint("box") as Uint16Array;
    this.label = joint("label");
    this.length = this.label.length;
    for (let place = 0; place < thresholds; place++) this.outcomes.push(own(`outcome.${place}`));
    this.status = perhaps("status");
    this.kind = perhaps("kind");
    this.partner = perhaps("partner");
    this.subtype = perhaps("subtype");
    const at = (name: string) => [prefix, shared].find((text) => data.has(`${text}${letter}.${name}`));
    if (at("id_size") !== undefined) this.ids = new Texts(joint("id") as Uint8Array, joint("id_size"));
    else if (at("id_step") !== undefined) this.ids = summed(joint("id_step"));
  }

  id(row: number): string {
    if (!this.ids) return String(row);
    return this.ids instanceof Texts ? this.ids.at(row) : String(this.ids[row]);
  }

  // The corners in shares of the page; nothing for what cannot be drawn.
  corners(row: number): Box | null {
    const at = 4 * row;
    if (this.box[at] === 65535) return null;
    return [0, 1, 2, 3].map((place) => (this.box[at + place] / 65535) * 1.5 - 0.25) as Box;
  }

  page(row: number): number {
    let low = 0, high = this.start.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.start[middle] <= row) low = middle;
      else high = middle;
    }
    return low;
  }

  pointed(column: Column | undefined, row: number, page: number, other: Side): number {
    if (!column || column[row] === 2 ** (8 * column.BYTES_PER_ELEMENT) - 1) return -1;
    return other.start[page] + column[row];
  }
}

// A place in a column whose highest value stands for none.
export function placeIn(column: Column, row: number): number | null {
  return column[row] === 2 ** (8 * column.BYTES_PER_ELEMENT) - 1 ? null : column[row];
}

function summed(steps: Column): Float64Array {
  const values = new Float64Array(steps.length);
  for (let i = 0, sum = 0; i < steps.length; i++) values[i] = sum += steps[i];
  return values;
}

// One object: a truth, or a prediction that is no truth's; a pair counts once, as its truth.
export type Item = number;
export const ofTruth = (row: number): Item => row;
export const ofPrediction = (row: number): Item => -1 - row;

export type PageSums = { fn: Uint32Array; fp: Uint32Array; tp: Uint32Array; wrong: Uint32Array; loss: Float64Array };

export class Boxes {
  t: Side;
  p: Side;
  document: Column;
  index: Int32Array;
  width: Float32Array;
  height: Float32Array;
  match: Column;
  iou?: Float32Array;
  // Reading order: each true block's place on both paths, pairs with it that are reversed, pages whose blocks have no boxes.
  rank?: Column;
  read?: Column;
  reversed?: Column;
  bare?: Column;
  names: Record<string, string>;
  coverage?: Column;
  purity?: Column;
  cut?: Column;
  cell?: Column;
  score?: Float32Array;
  made_up?: Column;
  thresholds: string[];
  labels: string[];
  documents: string[];
  changed?: (address: Address) => Set<number>;
  private taken = new Map<number, Int32Array>();
  private sums = new Map<number, PageSums>();
  private known = new Map<string, any>();

  constructor(data: Data, public run: Run, public place: number, alone: boolean) {
    const prefix = alone ? "" : `${place}:`;
    const shared = alone ? "" : "0:";
    const column = (name: string) => data.column(`${data.has(prefix + name) ? prefix : shared}${name}`);
    const perhaps = (name: string) => (data.has(prefix + name) ? data.column(prefix + name) : undefined);
    this.thresholds = run.numbers.thresholds;
    this.labels = run.labels ?? data.head.runs[0].labels;
    this.documents = run.documents ?? data.head.runs[0].documents;
    this.t = new Side(data, prefix, shared, "t", this.thresholds.length);
    this.p = new Side(data, prefix, shared, "p", this.thresholds.length);
    this.document = column("page.document");
    this.index = column("page.index") as Int32Array;
    this.width = column("page.width") as Float32Array;
    this.height = column("page.height") as Float32Array;
    this.match = data.column(`${prefix}t.match`);
    this.iou = perhaps("t.iou") as Float32Array | undefined;
    [this.rank, this.read, this.reversed] = ["t.rank", "t.place", "t.reversed"].map(perhaps);
    this.bare = data.has(`${prefix}page.bare`) || data.has(`${shared}page.bare`) ? column("page.bare") : undefined;
    this.names = { ...NAMES, ...run.outcomes };
    this.coverage = perhaps("t.coverage");
    this.purity = perhaps("t.purity");
    this.cut = perhaps("t.cut");
    this.cell = perhaps("t.cell");
    this.score = perhaps("p.score") as Float32Array | undefined;
    this.made_up = perhaps("p.made_up");
  }

  get pages(): number {
    return this.index.length;
  }

  side(letter: Letter): Side {
    return letter === "t" ? this.t : this.p;
  }

  threshold(address: Address): number {
    return Math.max(0, this.thresholds.indexOf(address.iou ?? ""));
  }

  // For each prediction the truth that took it at a threshold, or -1.
  taker(k: number): Int32Array {
    let rows = this.taken.get(k);
    if (!rows) {
      rows = new Int32Array(this.p.length).fill(-1);
      for (let page = 0; page < this.pages; page++)
        for (let row = this.t.start[page]; row < this.t.start[page + 1]; row++) {
          const partner = this.partner(row, page, k);
          if (partner >= 0 && rows[partner] < 0) rows[partner] = row;
        }
      this.taken.set(k, rows);
    }
    return rows;
  }

  // The prediction that a truth is paired with at a threshold, or -1.
  partner(row: number, page: number, k: number): number {
    const code = this.t.outcomes[k][row];
    return code === TP || code === WRONG ? this.t.pointed(this.match, row, page, this.p) : -1;
  }

  // How well a pair fits; blocks in an order are only paired.
  fit(row: number): number { return this.iou ? this.iou[row] : 1; }

  pageSums(k: number): PageSums {
    let sums = this.sums.get(k);
    if (!sums) {
      const n = this.pages;
      sums = { fn: new Uint32Array(n), fp: new Uint32Array(n), tp: new Uint32Array(n), wrong: new Uint32Array(n), loss: new Float64Array(n) };
      const truth = this.t.outcomes[k], found = this.p.outcomes[k];
      for (let page = 0; page < n; page++) {
        for (let row = this.t.start[page]; row < this.t.start[page + 1]; row++) {
          const code = truth[row];
          if (code === TP) (sums.tp[page]++, (sums.loss[page] += 1 - this.fit(row)));
          else if (code === FN) sums.fn[page]++;
          else if (code === WRONG) sums.wrong[page]++;
        }
        for (let row = this.p.start[page]; row < this.p.start[page + 1]; row++) if (found[row] === FP) sums.fp[page]++;
        if (sums.tp[page]) sums.loss[page] /= sums.tp[page];
      }
      this.sums.set(k, sums);
    }
    return sums;
  }

  errors(k: number, page: number): number {
    const sums = this.pageSums(k);
    return sums.fn[page] + sums.fp[page] + sums.wrong[page];
  }

  private once<T>(key: string, make: () => T): T {
    if (!this.known.has(key)) {
      if (this.known.size > 24) this.known.clear();
      this.known.set(key, make());
    }
    return this.known.get(key);
  }

  key(letter: Letter, row: number): string {
    return letter === "p" && this.place > 0 ? `p${row}@${this.place}` : `${letter}${row}`;
  }

  // Blocks of an order may have no label, but each has a name.
  called(letter: Letter, row: number): string {
    const side = this.side(letter);
    return this.labels[side.label[row]] || side.id(row) || "no label";
  }

  keyOf(item: Item): string {
    return item >= 0 ? this.key("t", item) : this.key("p", -1 - item);
  }

  // What is compared of an object: in reading order not its own step but whether it stands before and behind what it should.
  codeOf(letter: Letter, row: number): number {
    const code = this.side(letter).outcomes[0][row];
    return !this.reversed || letter === "p" || code === FN ? code : this.reversed[row] ? WRONG : TP;
  }

  outcome(item: Item, k: number): number {
    return item >= 0 ? this.t.outcomes[k][item] : this.p.outcomes[k][-1 - item];
  }

  private test(address: Address, k: number): (item: Item, page: number) => boolean {
    const tests: ((item: Item, page: number) => boolean)[] = [];
    const { outcome, kind, cell, cut, bin, score, q } = address;
    const wanted = askedOutcomes(outcome);
    if (wanted) tests.push((item) => wanted.has(this.outcome(item, k)));
    if (address.class !== undefined) {
      const label = this.labels.indexOf(address.class);
      tests.push((item) => (item >= 0 ? this.t.label[item] : this.p.label[-1 - item]) === label);
    }
    if (kind) {
      const code = (this.run.kinds ?? []).indexOf(kind);
      tests.push((item) => (item >= 0 ? this.t.kind?.[item] : this.p.kind?.[-1 - item]) === code);
    }
    if (cell !== undefined) tests.push(this.cellTest(cell));
    if (cut) {
      const side = SIDES.indexOf(cut);
      const bits = side < 0 ? 15 : 1 << side;
      const shift = 4 * ((this.run.cuts ?? []).length - 1);
      tests.push((item) => item >= 0 && this.t.outcomes[k][item] === TP && (((this.cut?.[item] ?? 0) >> shift) & bits) !== 0);
    }
    if (bin) {
      const place = Number(bin.split("..")[0]);
      tests.push((item) => item >= 0 && this.t.outcomes[k][item] === TP && binOf(this.fit(item)) === Math.round(place * BINS));
    }
    if (score) tests.push(this.scoreTest(score, k));
    if (q) {
      const named = this.search(q);
      tests.push((_item, page) => named[this.document[page]] !== 0);
    }
    return (item, page) => tests.every((test) => test(item, page));
  }

  private cellTest(cell: string): (item: Item) => boolean {
    const [from, into] = JSON.parse(cellForm(cell)) as [number, number];
    const background = this.labels.length;
    if (from === background) return (item) => item < 0 && this.made_up?.[-1 - item] === 1 && this.p.label[-1 - item] === into;
    return (item) => item >= 0 && this.t.label[item] === from && this.cell?.[item] === into;
  }

  private scoreTest(text: string, k: number): (item: Item, page: number) => boolean {
    const [low, high] = scoreRange(text);
    return (item, page) => {
      const code = this.outcome(item, k);
      if (code !== TP && code !== FP) return false;
      const row = item < 0 ? -1 - item : this.partner(item, page, k);
      const score = row < 0 || !this.score ? NaN : this.score[row];
      return score >= low && score < high;
    };
  }

  search(q: string): Uint8Array {
    return this.once(`search ${q}`, () => {
      const wanted = q.toLowerCase();
      return Uint8Array.from(this.documents, (name) => (name.toLowerCase().includes(wanted) ? 1 : 0));
    });
  }

  // Every object of a page: truths, then predictions that are nobody's.
  each(page: number, k: number, visit: (item: Item) => boolean | void): void {
    for (let row = this.t.start[page]; row < this.t.start[page + 1]; row++) if (visit(ofTruth(row)) === false) return;
    const found = this.p.outcomes[k];
    for (let row = this.p.start[page]; row < this.p.start[page + 1]; row++)
      if (found[row] !== TP && found[row] !== WRONG && visit(ofPrediction(row)) === false) return;
  }

  filtered(address: Address): boolean {
    return ["outcome", "class", "kind", "cell", "cut", "bin", "score"].some((key) => (address as any)[key] !== undefined);
  }

  private form(address: Address, k: number): string {
    const { outcome, kind, cell, cut, bin, score, q, sort } = address;
    return JSON.stringify([k, outcome, address.class, kind, cell, cut, bin, score, q, sort, address.change, address.change && address.run]);
  }

  // The pages of the list, in order.
  list(address: Address): Uint32Array {
    const k = this.threshold(address);
    return this.once(`pages ${this.form(address, k)}`, () => {
      const test = this.test(address, k);
      const named = address.q ? this.search(address.q) : null;
      const any = this.filtered(address), changed = address.change ? this.changed?.(address) : undefined;
      const kept: number[] = [];
      for (let page = 0; page < this.pages; page++) {
        if ((named && !named[this.document[page]]) || (changed && !changed.has(page))) continue;
        let there = !any;
        if (any) this.each(page, k, (item) => !(there = there || test(item, page)));
        if (there) kept.push(page);
      }
      return Uint32Array.from(this.sorted(kept, address.sort ?? "worst", k));
    });
  }

  private sorted(pages: number[], sort: string, k: number): number[] {
    if (sort === "document") return pages;
    const sums = this.pageSums(k);
    const errors = (page: number) => sums.fn[page] + sums.fp[page] + sums.wrong[page];
    const share = (page: number) => errors(page) / Math.max(1, errors(page) + sums.tp[page]);
    const first = sort === "share" ? share : errors;
    return pages.sort((a, b) => first(b) - first(a) || sums.loss[b] - sums.loss[a] || a - b);
  }

  // The objects that the filters keep, worst first: misses, others, false alarms by score, then what is found by coverage.
  objects(address: Address): Int32Array {
    const k = this.threshold(address);
    return this.once(`objects ${this.form({ ...address, sort: undefined }, k)}`, () => {
      const test = this.test(address, k);
      const kept: number[] = [];
      for (let page = 0; page < this.pages; page++) this.each(page, k, (item) => void (test(item, page) && kept.push(item)));
      const ranks = new Map(kept.map((item) => [item, this.badness(item, k)]));
      kept.sort((a, b) => (ranks.get(a) as number) - (ranks.get(b) as number) || placed(a) - placed(b));
      return Int32Array.from(kept);
    });
  }

  private badness(item: Item, k: number): number {
    const code = this.outcome(item, k);
    if (code === FN) return 0;
    if (code === WRONG) return 1;
    if (code === FP) return 3 - (this.score && this.score[-1 - item] === this.score[-1 - item] ? Math.min(1, this.score[-1 - item]) : 0);
    if (code === TP) return 4 + (this.coverage ? this.coverage[item] / 65535 : this.fit(item));
    return 6 + code;
  }

  // The errors of a page that the filters keep, top to bottom.
  pageErrors(page: number, address: Address): Item[] {
    const k = this.threshold(address);
    const test = this.test(address, k);
    const items: Item[] = [];
    this.each(page, k, (item) => {
      const code = this.outcome(item, k);
      if ((code === FN || code === FP || code === WRONG) && test(item, page)) items.push(item);
    });
    return items;
  }

  where(page: number): { document: string; index: number } {
    return { document: this.documents[this.document[page]], index: this.index[page] };
  }

  find(doc: string | undefined, index: string | undefined): number {
    if (doc === undefined) return -1;
    const code = this.documents.indexOf(doc);
    if (code < 0) return -1;
    let low = 0, high = this.pages;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.document[middle] < code) low = middle + 1;
      else high = middle;
    }
    for (let page = low; page < this.pages && this.document[page] === code; page++)
      if (index === undefined || this.index[page] === Number(index)) return page;
    return -1;
  }

  aspect(page: number): number {
    return this.width[page] > 0 && this.height[page] > 0 ? this.height[page] / this.width[page] : Math.SQRT2;
  }

  // A row as the JSON has it.
  row(letter: Letter, row: number, k: number): Record<string, unknown> {
    const side = this.side(letter);
    const page = side.page(row);
    const { document, index } = this.where(page);
    const code = side.outcomes[k][row];
    const other = letter === "t" ? this.partner(row, page, k) : this.taker(k)[row];
    const iou = letter === "t" ? this.fit(row) : other >= 0 ? this.fit(other) : NaN;
    const corners = side.corners(row);
    const size = [this.width[page] || 1, this.height[page] || 1];
    const known = this.width[page] > 0;
    return {
      document, page: index, side: letter === "t" ? "truth" : "prediction", id: side.id(row), label: this.labels[side.label[row]] ?? "",
      score: letter === "p" && this.score && this.score[row] === this.score[row] ? short(this.score[row]) : null,
      outcome: OUTCOMES[code], reason: code >= 4 && side.status ? this.run.statuses?.[side.status[row]] ?? "" : "",
      iou: other >= 0 && this.iou ? short(iou) : null,
      partner: other >= 0 ? this.side(letter === "t" ? "p" : "t").id(other) : "",
      kind: side.kind ? this.run.kinds[side.kind[row]] : "", subtype: side.subtype ? this.run.subtypes[side.subtype[row]] : "",
      ...(this.rank && letter === "t" ? { rank: placeIn(this.rank, row), position: placeIn(this.read as Column, row), reversed: this.reversed?.[row] } : {}),
      box: corners && corners.map((share, place) => Number((share * (known ? size[place % 2] : 1)).toPrecision(5))),
    };
  }
}

const placed = (item: Item) => (item >= 0 ? item : -1 - item);

export const BINS = 20;
export function binOf(iou: number): number {
  return Math.min(BINS - 1, Math.floor(iou * BINS + 1e-6));
}

// A cell is written with places of labels, so that no name can be mistaken for another.
export function cellForm(cell: string): string {
  return /^\d+>\d+$/.test(cell) ? `[${cell.replace(">", ",")}]` : "[-2,-2]";
}

// "<0.55" is below, "0.5..0.55" from the first to before the second, "0.55" from there on.
export function scoreRange(text: string): [number, number] {
  const between = text.split("..");
  if (text.startsWith("<")) return [-Infinity, Math.fround(Number(text.slice(1)))];
  return [Math.fround(Number(between[0])), between[1] ? Math.fround(Number(between[1])) : Infinity];
}

export type Chosen = { letter: Letter; row: number; run: number };
export function parseKey(key: string | undefined): Chosen | null {
  const parts = /^([tp])(\d+)(?:@(\d+))?$/.exec(key ?? "");
  return parts && { letter: parts[1] as Letter, row: Number(parts[2]), run: Number(parts[3] ?? 0) };
}
export { EXCLUDED, INVALID };
