// Pages: a list, worst first; the page with its boxes; and what is known of the chosen object.

import { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Address, Key, beside, go, now } from "./address";
import { App } from "./app";
import { Boxes, Item, Letter, parseKey, placeIn } from "./boxes";
import { PathLegend } from "./paths";
import { Chips, Count, Listbox, Mark, Nothing, NothingShown, Outcomes, Search } from "./parts";
import { Crop, Stage, hooks, isError, shapesOf } from "./stage";
import { kindInWords } from "./boxsummary";
import { Became } from "./compare";
import { FN, FP, OUTCOMES, TP, WRONG, brief, count, percent, plural, ratio, short, calm } from "./words";

export function spelt(boxes: Boxes, key: Key, value: string): string {
  if (key === "kind") return kindOf(value);
  if (key !== "cell") return value.replace("..", " – ");
  const [from, into] = value.split(">").map(Number);
  const name = (code: number) => boxes.labels[code] ?? "nothing";
  return `${name(from)} → ${name(into)}`;
}

// A kind in words, where there are some for it.
const kindOf = (kind: string) => kindInWords(kind) || kind;

// Where the viewer is: the page that the address names, or the first of the list.
export function place(boxes: Boxes, address: Address): { list: Uint32Array; page: number; at: number } {
  const list = boxes.list(address);
  const chosen = parseKey(address.object);
  let page = boxes.find(address.doc, address.page);
  if (page < 0 && chosen) page = chosen.row < boxes.side(chosen.letter).length ? boxes.side(chosen.letter).page(chosen.row) : -1;
  if (page < 0) page = list.length ? list[0] : -1;
  return { list, page, at: list.indexOf(page) };
}

export function open(boxes: Boxes, page: number, more: Address = {}, how: "step" | "link" = "step"): void {
  const { document, index } = boxes.where(page);
  go({ view: "pages", doc: document, page: String(index), object: undefined, ...more }, how);
}

export function stepPage(boxes: Boxes, by: number): void {
  const { list, at } = place(boxes, now());
  if (!list.length) return;
  const fresh = now().view !== "pages" || at < 0;
  open(boxes, list[fresh ? Math.max(0, at) : Math.max(0, Math.min(list.length - 1, at + by))]);
}

// The next error, on this page or on a later one of the list.
export function stepError(boxes: Boxes, by: number): void {
  const address = now();
  const { list, page, at } = place(boxes, address);
  if (!list.length) return;
  const here = at < 0 ? [] : boxes.pageErrors(page, address);
  const mine = here.findIndex((item) => boxes.keyOf(item) === address.object);
  const show = (of: number, item: Item) => open(boxes, of, { object: boxes.keyOf(item) });
  const next = mine < 0 ? (by > 0 ? 0 : address.object === undefined && at >= 0 ? here.length - 1 : -1) : mine + by;
  if (here[next] !== undefined && !(mine < 0 && by < 0 && !here.length)) return show(page, here[next]);
  for (let place = Math.max(at, at < 0 ? -1 : at) + by; place >= 0 && place < list.length; place += by) {
    const errors = boxes.pageErrors(list[place], address);
    if (errors.length) return show(list[place], errors[by > 0 ? 0 : errors.length - 1]);
  }
}

const CLASSES = 300;

export function Filters({ boxes }: { boxes: Boxes }): JSX.Element {
  const address = now();
  const classes: string[] = boxes.run.numbers.classes ?? boxes.labels;
  return (
    <>
      {classes.length > 1 && (
        <label class="choice">Class <select value={address.class ?? ""} onChange={(event) => go({ class: event.currentTarget.value || undefined, object: undefined })}>
          <option value="">all</option>
          {classes.slice(0, CLASSES).map((name) => <option value={name}>{name}</option>)}
        </select></label>
      )}
      {boxes.run.kinds && (
        <label class="choice">Kind <select value={address.kind ?? ""} onChange={(event) => go({ kind: event.currentTarget.value || undefined, object: undefined })}>
          <option value="">all</option>
          {boxes.run.kinds.filter(Boolean).map((name: string) => <option value={name}>{kindOf(name)}</option>)}
        </select></label>
      )}
    </>
  );
}

export function Sort(): JSX.Element {
  return (
    <label class="choice"><span class="hidden">Sort</span> <select value={now().sort ?? "worst"} onChange={(event) => go({ sort: event.currentTarget.value })}>
      <option value="worst">worst first</option><option value="share">share of errors</option><option value="document">document</option>
    </select></label>
  );
}

export function outcomesOf(boxes: Boxes): string[] {
  return boxes.rank ? ["wrong", "fn", "tp"] : boxes.run.numbers.crops ? ["fn", "fp", "tp"] : ["fn", "wrong", "fp", "tp"];
}

export function Pages({ app, boxes }: { app: App; boxes: Boxes }): JSX.Element {
  const address = now();
  const k = boxes.threshold(address);
  const { list, page, at } = place(boxes, address);
  const sums = boxes.pageSums(k);
  const tally = (of: number) => ([["fn", sums.fn[of]], ["wrong", sums.wrong[of]], ["fp", sums.fp[of]], ["tp", sums.tp[of]]] as [string, number][]).filter(([, number]) => number);
  return (
    <div class="viewer-layout">
      <aside class="side list" aria-label="pages">
        <div class="tools">
          <Search label="Search documents" />
          <div class="line"><Sort /><Count of="pages" value={list.length} noun="page" /></div>
          {boxes.filtered(address) && <Count of="objects" value={boxes.objects(address).length} noun="object" />}
          <Outcomes of={outcomesOf(boxes)} names={boxes.names} small />
          <Chips buttons={outcomesOf(boxes)} spelt={(key, value) => spelt(boxes, key, value)} />
        </div>
        {!list.length ? <Nothing of="page" any={boxes.pages > 0} /> : <Listbox total={list.length} height={52} label="pages" chosen={at} choose={(place) => open(boxes, list[place])}
          row={(place) => {
            const { document, index } = boxes.where(list[place]);
            return (
              <>
                <span class="name"><span class="doc" title={document}>{document}</span><span class="note">page {index}</span></span>
                <span class="tallies">{tally(list[place]).map(([name, number]) => <span class={`tally t-${name}`} title={boxes.names[name]}><Mark of={name} />{number}<span class="hidden"> {boxes.names[name]}</span></span>)}</span>
              </>
            );
          }} />}
      </aside>
      {page >= 0 ? <Viewer app={app} boxes={boxes} page={page} k={k} at={at} total={list.length} /> : <NothingShown of="page" />}
      {page >= 0 && <Aside app={app} boxes={boxes} page={page} k={k} />}
    </div>
  );
}

export function Toggle({ of, letter, label }: { of: "truth" | "prediction" | "image"; letter: string; label: string }): JSX.Element {
  const on = now()[of] !== "0";
  return <button type="button" data-toggle={of} aria-pressed={on} onClick={() => go({ [of]: on ? "0" : undefined })}>{label} <kbd>{letter}</kbd></button>;
}

export function zoomed(): number { return Math.max(10, Math.min(1000, Number(now().zoom ?? 100) || 100)); }

export function Zoom(): JSX.Element {
  const zoom = zoomed();
  return (
    <div class="segments zoom" role="group" aria-label="zoom">
      <button type="button" aria-label="smaller" onClick={() => zoomBy(-1)}>−</button>
      <button type="button" aria-label="fit the page" onClick={() => zoomBy(0)}>{zoom} %</button>
      <button type="button" aria-label="larger" onClick={() => zoomBy(1)}>+</button>
    </div>
  );
}

const ZOOMS = [50, 75, 100, 150, 200, 300, 400, 600];
export function zoomBy(step: number): void {
  const zoom = zoomed();
  const next = step > 0 ? ZOOMS.find((value) => value > zoom) : [...ZOOMS].reverse().find((value) => value < zoom);
  go({ zoom: step ? String(next ?? zoom) : undefined });
}

function Viewer({ app, boxes, page, k, at, total }: { app: App; boxes: Boxes; page: number; k: number; at: number; total: number }): JSX.Element {
  const address = now();
  const { document, index } = boxes.where(page);
  const url = address.image === "0" ? null : app.images.url(page);
  const sums = boxes.pageSums(k);
  const told = ([["fn", sums.fn[page]], ["fp", sums.fp[page]], ["wrong", sums.wrong[page]], ["tp", sums.tp[page]]] as [string, number][]).filter(([, number]) => number).map(([name, number]) => `${number} ${boxes.names[name]}`).join(", ");
  const number = boxes.t.start[page + 1] - boxes.t.start[page] + boxes.p.start[page + 1] - boxes.p.start[page];
  const unknown = !(boxes.width[page] > 0) && app.images.aspect(page) === null;
  const hidden = [...shapesOf(boxes, page, k, "t").hidden.map((entry) => ({ ...entry, letter: "t" as Letter })), ...shapesOf(boxes, page, k, "p").hidden.map((entry) => ({ ...entry, letter: "p" as Letter }))];
  const other = app.other(boxes), zoom = zoomed(), canvas = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => { if (zoom > 100) centre(canvas.current); }, [zoom, address.object, page]);
  return (
    <section class="stage" aria-label="page" data-viewer data-document={document} data-page={index}>
      <div class="bar-top">
        <h1><span class="doc" title={document}>{document}</span> <span class="note">page {index}</span></h1>
        <span class="note of">{at >= 0 ? `${count(at + 1)} of ${count(total)}` : "not in the list"}</span>
        <span class="steps"><button type="button" aria-label="page before" onClick={() => stepPage(boxes, -1)}>‹</button><button type="button" aria-label="next page" onClick={() => stepPage(boxes, 1)}>›</button></span>
        <div class="segments toggles" role="group" aria-label="what is shown">
          <Toggle of="truth" letter="t" label="Truth" /><Toggle of="prediction" letter="p" label="Prediction" /><Toggle of="image" letter="i" label="Image" />
        </div>
        <Zoom />
      </div>
      <div class="canvas" ref={canvas}>
        <Stage boxes={boxes} page={page} k={k} chosen={address.object} url={url} aspect={app.aspect(boxes, page)} zoom={zoom}
          truth={address.truth !== "0"} prediction={address.prediction !== "0"} label={`${document} page ${index}: ${told || "nothing on it"}`}
          choose={(key) => go({ object: key === address.object ? undefined : key })} over={other && app.wiped ? other : undefined} wipe={app.wiped ?? undefined} />
      </div>
      <div class="bar-bottom">
        <p class="legend small">
          <span><i class="stroke solid" /> truth</span><span><i class="stroke dashed" /> prediction</span>
          {boxes.rank && <PathLegend />}
          {outcomesOf(boxes).map((name) => <span><Mark of={name} /> {boxes.names[name]}</span>)}
          {boxes.cut && <span><i class="swatch" /> cut off</span>}
        </p>
        {other && <label class="wipe note"><span class="hidden">wipe between the two runs</span><input type="range" min="0" max="100" value={app.wiped ?? 0} aria-label={`show ${other.run.name} from the left`} onInput={(event) => { app.wiped = Number(event.currentTarget.value) || null; app.again(); }} /> wipe to {brief(other.run.name)} <kbd>x</kbd></label>}
        <p class="legend small keys"><span><kbd>j</kbd> <kbd>k</kbd> page</span><span><kbd>n</kbd> next {app.changes ? "change" : "error"}</span><span><kbd>?</kbd> all keys</span></p>
        {boxes.bare?.[page] ? <p class="note">The blocks of this page have no boxes: they stand one below the other, in the true order.</p>
          : unknown && <p class="note">The size of this page is not known: it is drawn 1 : √2.</p>}
        {app.images.note(page) && <p class="note">{app.images.note(page)}</p>}
        {number > 2000 && <p class="note">{plural(number, "object")}: what is found is drawn as one shape, and at most 2,000 errors as boxes of their own.</p>}
        {hidden.length > 0 && !boxes.rank && (
          <p class="note">Not drawn, for want of a box: {hidden.slice(0, 200).map((entry) => <button type="button" class="link" {...hooks(boxes, entry.letter, entry.row, entry.code)} onClick={() => go({ object: entry.key })}>{boxes.side(entry.letter).id(entry.row)}</button>)}</p>
        )}
      </div>
    </section>
  );
}

// A large page is moved so that the chosen object is seen.
function centre(canvas: HTMLElement | null): void {
  const chosen = canvas?.querySelector(".b.on")?.getBoundingClientRect(), box = canvas?.getBoundingClientRect();
  if (chosen && box) canvas?.scrollBy(chosen.x + chosen.width / 2 - box.x - box.width / 2, chosen.y + chosen.height / 2 - box.y - box.height / 2);
}

// What happened to an object, said in words.
export function inWords(boxes: Boxes, letter: Letter, row: number, page: number, k: number): string {
  const side = boxes.side(letter), code = side.outcomes[k][row];
  const kind = side.kind ? boxes.run.kinds[side.kind[row]] : "";
  const partner = letter === "t" ? boxes.partner(row, page, k) : boxes.taker(k)[row];
  if (boxes.rank) return letter === "t" ? step(boxes, row, code, kind) : partner >= 0 ? "holds a block of the truth" : "holds no block of the truth";
  if (code === TP && letter === "t") return boxes.coverage ? `its crop holds ${percent(boxes.coverage[row] / 65534)}` : `IoU ${ratio(boxes.fit(row))}`;
  if (code === TP) return partner >= 0 && boxes.coverage ? `holds ${percent(boxes.coverage[partner] / 65534)} of its truth` : "found";
  if (code === WRONG) return `taken for ${partner >= 0 ? boxes.labels[boxes.side(letter === "t" ? "p" : "t").label[partner]] : "another class"}`;
  if (code === FN || code === FP) {
    const near = side.pointed(side.partner, row, page, boxes.side(letter === "t" ? "p" : "t"));
    const other = near >= 0 ? boxes.labels[boxes.side(letter === "t" ? "p" : "t").label[near]] : "";
    const words: Record<string, string> = {
      MISS: "nothing was predicted here", Miss: "nothing was predicted here", BKG: "there is nothing here", Bkg: "there is nothing here",
      CLS: other ? `right place, but ${letter === "t" ? "predicted as" : "it is"} ${calm(other)}` : "right place, other class", LOC: "right class, but the place does not fit",
    };
    return words[kind] ?? (kind === "TP" ? "paired, but below this IoU" : kindInWords(kind) || (code === FN ? "nothing fits" : "nothing fits it"));
  }
  return (side.status && boxes.run.statuses?.[side.status[row]]?.replace(/_/g, " ")) || boxes.names[OUTCOMES[code]];
}

const placed = (place: number | null) => (place === null ? "–" : `number ${place + 1}`);

// How a block in an order was come to.
function step(boxes: Boxes, row: number, code: number, kind: string): string {
  const [rank, read] = [boxes.rank, boxes.read].map((column) => (column ? placeIn(column, row) : null));
  if (rank === null) return "the truth gives it no place";
  if (read === null) return code === FN ? "no predicted block with a place holds it" : "";
  return `${kind ? `${kind}; ` : ""}${rank === read ? `number ${rank + 1} on both` : `number ${rank + 1}, read as ${read + 1}`}`;
}

function Aside({ app, boxes, page, k }: { app: App; boxes: Boxes; page: number; k: number }): JSX.Element {
  const address = now();
  const chosen = parseKey(address.object);
  const fits = chosen && chosen.row < boxes.side(chosen.letter).length && (chosen.letter === "t" || chosen.run === boxes.place) && boxes.side(chosen.letter).page(chosen.row) === page;
  const items: Item[] = [];
  boxes.each(page, k, (item) => void items.push(item));
  const weight = (item: Item) => { const code = boxes.outcome(item, k); return code === FN ? 0 : code === WRONG ? 1 : code === FP ? 2 : code === TP ? 3 : 4; };
  items.sort((a, b) => weight(a) - weight(b));
  const selected = items.findIndex((item) => boxes.keyOf(item) === address.object);
  return (
    <aside class="side detail" aria-label="objects of the page">
      {fits && chosen && <Detail app={app} boxes={boxes} letter={chosen.letter} row={chosen.row} k={k} />}
      <div class="tools"><h2>On this page</h2> <span class="note">{items.length ? `${plural(items.length, "object")}, errors first` : "nothing, neither in the truth nor in the predictions"}</span></div>
      {items.length > 0 && <Listbox total={items.length} height={58} label="objects of the page" chosen={selected} classes="flow" choose={(place) => go({ object: boxes.keyOf(items[place]) })}
        option={(place) => { const item = items[place]; const letter: Letter = item >= 0 ? "t" : "p"; const row = item >= 0 ? item : -1 - item; return hooks(boxes, letter, row, boxes.outcome(item, k)); }}
        row={(place) => {
          const item = items[place], letter: Letter = item >= 0 ? "t" : "p", row = item >= 0 ? item : -1 - item;
          const code = boxes.outcome(item, k), label = boxes.called(letter, row), said = inWords(boxes, letter, row, page, k);
          return (
            <>
              <Mark of={OUTCOMES[code]} />
              {isError(code) && <Crop boxes={boxes} page={page} k={k} letter={letter} row={row} url={address.image === "0" ? null : app.images.url(page)} aspect={app.aspect(boxes, page)} wide={1.6} />}
              <span class="name" title={`${label}: ${said}`}><b>{label}</b> <span class="note">{said}</span></span>
              <span class="note value">{(code === TP || code === WRONG) && boxes.iou ? ratio(boxes.iou[row]) : letter === "p" && boxes.score ? ratio(boxes.score[row] === boxes.score[row] ? boxes.score[row] : null) : ""}</span>
            </>
          );
        }} />}
    </aside>
  );
}

export function Detail({ app, boxes, letter, row, k }: { app: App; boxes: Boxes; letter: Letter; row: number; k: number }): JSX.Element {
  const side = boxes.side(letter), page = side.page(row), code = side.outcomes[k][row], outcome = OUTCOMES[code];
  const shown = boxes.row(letter, row, k) as any;
  const partner = letter === "t" ? boxes.partner(row, page, k) : boxes.taker(k)[row];
  const truth = letter === "t" ? row : partner;
  const facts: [string, JSX.Element | string][] = [];
  if (shown.kind && shown.kind !== "TP") facts.push(["Kind", `${kindOf(shown.kind)}${shown.subtype ? ` (${shown.subtype.toLowerCase().replace("_", " ")})` : ""}`]);
  if (shown.iou !== null) facts.push(["IoU", ratio(shown.iou)]);
  if (boxes.rank && letter === "t") facts.push(["True place", placed(shown.rank)], ["Read as", placed(shown.position)], ["Reversed pairs", String(shown.reversed)]);
  if (partner >= 0 && boxes.coverage && boxes.purity && truth >= 0) {
    facts.push(["Coverage", ratio(boxes.coverage[truth] / 65534)]);
    facts.push(["Purity", ratio(boxes.purity[truth] / 65534)]);
  }
  const found = letter === "p" ? row : partner;
  if (found >= 0 && boxes.score && boxes.score[found] === boxes.score[found]) facts.push(["Score", ratio(short(boxes.score[found]))]);
  if (shown.box) facts.push(["Box", spelledBox(shown.box)]);
  facts.push(["Id", shown.id]);
  if (partner >= 0) facts.push([letter === "t" ? "Prediction" : "Truth", <a href={beside({ object: boxes.key(letter === "t" ? "p" : "t", partner) })}>{shown.partner}</a>]);
  return (
    <div class="chosen-object" data-detail={boxes.key(letter, row)}>
      <h2><Mark of={outcome} />{"\u00a0"}<bdi>{boxes.called(letter, row)}</bdi> <span class="note">{letter === "t" ? boxes.names[outcome] : outcome === "tp" ? "prediction, right" : boxes.names[outcome]}</span></h2>
      <p>{told(boxes, letter, row, page, k)}</p>
      <Became app={app} of={boxes.key(letter, row)} />
      <Crop boxes={boxes} page={page} k={k} letter={letter} row={row} url={now().image === "0" ? null : app.images.url(page)} aspect={app.aspect(boxes, page)} wide={1.5} />
      <dl class="facts">{facts.map(([name, value]) => <><dt>{name}</dt><dd>{value}</dd></>)}</dl>
      <button type="button" onClick={() => app.copy(shown)}>Copy as JSON <kbd>c</kbd></button>
    </div>
  );
}

// Pixels with one decimal, shares of a page with three; what is nearly 0 is not below it.
function spelledBox(box: number[]): string {
  const digits = box.some((value) => Math.abs(value) >= 10) ? 1 : 3;
  const [x1, y1, x2, y2] = box.map((value) => (Number(value.toFixed(digits)) || 0).toFixed(digits));
  // A corner stays on one line.
  return `${x1}\u00a0${y1}  ${x2}\u00a0${y2}`;
}

// What became of an object, and why, as a sentence.
export function told(boxes: Boxes, letter: Letter, row: number, page: number, k: number): string {
  const first = boxes.names[OUTCOMES[boxes.side(letter).outcomes[k][row]]], rest = inWords(boxes, letter, row, page, k);
  const text = rest.startsWith(first) ? rest : `${first}: ${rest}`;
  return text.charAt(0).toUpperCase() + text.slice(1) + ".";
}
