// Where values stand: the pages of a document with the boxes of both sides, on their pictures where there are some.

import { JSX } from "preact";
import { go, now } from "./address";
import type { App } from "./app";
import { placeIn } from "./boxes";
import { Column, Data, Texts } from "./data";
import type { FieldRows } from "./fields";
import { Toggle, Zoom, zoomed } from "./pages";
import { OUTCOMES, TP } from "./words";

type Corners = [number, number, number, number];

export class FieldPages {
  private document: Column;
  private name: Texts;
  private width: Float32Array;
  private height: Float32Array;
  private box: Record<string, Uint16Array>;
  private page: Record<string, Column>;

  constructor(data: Data, prefix: string, shared: string) {
    const column = (name: string) => data.column((data.has(prefix + name) ? prefix : shared) + name);
    this.document = column("page.document");
    this.name = new Texts(column("page.name") as Uint8Array, column("page.name_size"));
    [this.width, this.height] = [column("page.width") as Float32Array, column("page.height") as Float32Array];
    this.box = { t: data.column(`${prefix}row.tbox`) as Uint16Array, p: data.column(`${prefix}row.pbox`) as Uint16Array };
    this.page = { t: data.column(`${prefix}row.tpage`), p: data.column(`${prefix}row.ppage`) };
  }

  pageOf(letter: string, row: number): number { return placeIn(this.page[letter], row) ?? -1; }
  named(page: number): string { return this.name.at(page); }
  documentOf(page: number): number { return this.document[page]; }
  known(page: number): boolean { return this.width[page] > 0 && this.height[page] > 0; }
  aspect(page: number): number { return this.known(page) ? this.height[page] / this.width[page] : Math.SQRT2; }

  corners(letter: string, row: number): Corners | null {
    if (this.pageOf(letter, row) < 0 || this.box[letter][4 * row] === 65535) return null;
    return [0, 1, 2, 3].map((place) => (this.box[letter][4 * row + place] / 65535) * 1.5 - 0.25) as Corners;
  }

  find(document: string, name: string, documents: string[]): number {
    for (let page = 0; page < this.document.length; page++) if (documents[this.document[page]] === document && this.name.at(page) === name) return page;
    return -1;
  }
}

// The pages on which the chosen value stands, with its boxes strong and those of other values of the document faint.
export function OnPages({ app, rows, row }: { app: App; rows: FieldRows; row: number }): JSX.Element | null {
  const pages = rows.pages;
  if (!pages) return null;
  const shown = [...new Set(["t", "p"].map((letter) => pages.pageOf(letter, row)).filter((page) => page >= 0))];
  if (!shown.length) return null;
  return (
    <>
      <div class="page-tools">
        <div class="segments toggles" role="group" aria-label="what is shown"><Toggle of="truth" letter="t" label="Truth" /><Toggle of="prediction" letter="p" label="Prediction" /><Toggle of="image" letter="i" label="Image" /></div>
        <Zoom />
      </div>
      {shown.map((page) => <OnPage app={app} rows={rows} pages={pages} row={row} page={page} apart={shown.length > 1} />)}
    </>
  );
}

const MOST = 300;

// The part of a page that is seen: all of it, or what lies around the value when it is drawn larger.
function seen(around: Corners[], wide: number, high: number, zoom: number): string {
  const part = Math.min(1, 100 / zoom), [w, h] = [wide * part, high * part];
  const middle = (side: number) => (Math.min(...around.map((box) => box[side])) + Math.max(...around.map((box) => box[side + 2]))) / 2;
  const from = (side: number, whole: number, shown: number) => (around.length ? Math.max(0, Math.min(whole - shown, middle(side) * whole - shown / 2)) : 0);
  return [from(0, wide, w), from(1, high, h), w, h].map((value) => Math.round(value * 10) / 10).join(" ");
}

function OnPage({ app, rows, pages, row, page, apart }: { app: App; rows: FieldRows; pages: FieldPages; row: number; page: number; apart: boolean }): JSX.Element {
  // Pictures are those of the first run's pages.
  const first = app.fields[0], name = pages.named(page), document = rows.documents[pages.documentOf(page)];
  const pictured = rows === first ? page : first.pages?.find(document, name, first.documents) ?? -1;
  const url = now().image === "0" || pictured < 0 ? null : app.images.url(pictured);
  const drawn = pictured < 0 ? null : app.images.aspect(pictured), known = pages.known(page);
  const wide = 1000, high = wide * (known ? pages.aspect(page) : drawn ?? Math.SQRT2);
  const doc = rows.documentOf(row), others: JSX.Element[] = [];
  const rect = (letter: string, at: number, classes: string) => {
    const box = pages.pageOf(letter, at) === page ? pages.corners(letter, at) : null;
    return box && <rect class={classes} x={box[0] * wide} y={box[1] * high} width={Math.max(0, box[2] - box[0]) * wide} height={Math.max(0, box[3] - box[1]) * high} data-side={letter === "t" ? "truth" : "prediction"} data-object={rows.key(at)} data-outcome={OUTCOMES[rows.outcome[at]]} />;
  };
  for (let at = rows.start[doc]; at < rows.start[doc + 1] && others.length < MOST; at++)
    if (at !== row) for (const letter of ["t", "p"]) { const made = rect(letter, at, `b o-${OUTCOMES[rows.outcome[at]]} s-${letter} other`); if (made) others.push(made); }
  const outcome = OUTCOMES[rows.outcome[row]], right = rows.outcome[row] === TP;
  const zoom = zoomed(), around = ["t", "p"].filter((letter) => pages.pageOf(letter, row) === page).map((letter) => pages.corners(letter, row)).filter((box): box is Corners => !!box);
  const note = pictured < 0 ? "" : app.images.note(pictured);
  const click = (event: MouseEvent) => { const key = (event.target as Element).getAttribute("data-object"); if (key) go({ object: key }); };
  return (
    <figure class="boxes-on-page">
      <svg class="crop page" viewBox={seen(around, wide, high, zoom)} style={{ width: `${Math.min(100, zoom)}%` }} role="img" aria-label={`where truth and prediction stand on ${name ? `page ${name}` : "the page"}`} onClick={click}>
        <rect class="sheet" width={wide} height={Math.round(high)} />
        {url && <image href={url} width={wide} height={Math.round(high)} preserveAspectRatio="none" />}
        {now().truth !== "0" && now().prediction !== "0" && others}
        {now().truth !== "0" && rect("t", row, `b o-${right ? "tp" : outcome === "wrong" ? "wrong" : "fn"} s-t`)}
        {now().prediction !== "0" && rect("p", row, `b o-${right ? "tp" : outcome === "wrong" ? "wrong" : "fp"} s-p`)}
      </svg>
      <figcaption class="note">{name && `page ${name}; `}solid: truth, dashed: prediction{apart ? "; the two stand on different pages" : ""}{known || drawn !== null ? "" : "; the size of the page is not known: it is drawn 1 : √2"}{note && `; ${note}`}</figcaption>
    </figure>
  );
}
