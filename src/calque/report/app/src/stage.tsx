// A page with its boxes, a crop of it, and a miniature: paper in either mode, small boxes above large ones.

import { JSX } from "preact";
import { Box, Boxes, Letter } from "./boxes";
import { Paths, numbersOf } from "./paths";
import { Tags } from "./tags";
import { FN, FP, OUTCOMES, TP, WRONG } from "./words";

export const UNITS = 1000;
const TAGGED = 14, TAGGED_STEPS = 6, FILLED = 40, DRAWN = 2000, SMALL = 80, FAR = 450;

export type Shape = { letter: Letter; row: number; key: string; code: number; box: Box; area: number };

// Patterns that stand for outcomes beside their colours; drawn once for the whole page.
export function Patterns(): JSX.Element {
  return (
    <svg class="patterns" aria-hidden="true" width="0" height="0">
      <defs>
        <pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0 0V7" class="p-hatch" /></pattern>
        <pattern id="dots" width="6" height="6" patternUnits="userSpaceOnUse"><circle cx="2" cy="2" r="1.1" class="p-dots" /></pattern>
        <pattern id="stripes" width="4" height="4" patternUnits="userSpaceOnUse"><path d="M0 .5H4" class="p-stripes" /></pattern>
        <pattern id="hatch-page" width="14" height="14" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0 0V14" class="p-hatch" /></pattern>
        <pattern id="dots-page" width="12" height="12" patternUnits="userSpaceOnUse"><circle cx="4" cy="4" r="2.2" class="p-dots" /></pattern>
        <pattern id="hatch-far" href="#hatch-page" patternTransform="rotate(45) scale(2.4)" />
        <pattern id="dots-far" href="#dots-page" patternTransform="scale(2.4)" />
      </defs>
    </svg>
  );
}

export function path(box: Box, height: number): string {
  const [x1, y1, x2, y2] = box;
  return `M${r(x1 * UNITS)} ${r(y1 * height)}H${r(x2 * UNITS)}V${r(y2 * height)}H${r(x1 * UNITS)}z`;
}

const r = (value: number) => Math.round(value * 10) / 10;

export function shapesOf(boxes: Boxes, page: number, k: number, letter: Letter): { drawn: Shape[]; hidden: { key: string; row: number; code: number }[] } {
  const side = boxes.side(letter);
  const drawn: Shape[] = [], hidden = [];
  for (let row = side.start[page]; row < side.start[page + 1]; row++) {
    const box = side.corners(row);
    const code = side.outcomes[k][row];
    const key = boxes.key(letter, row);
    if (!box) hidden.push({ key, row, code });
    else drawn.push({ letter, row, key, code, box, area: (box[2] - box[0]) * (box[3] - box[1]) });
  }
  return { drawn, hidden };
}

export function isError(code: number): boolean {
  return code === FN || code === FP || code === WRONG;
}

// What crops cut off: each truth without the part that its prediction holds.
function cutOff(boxes: Boxes, page: number, k: number, height: number): string {
  let text = "";
  for (let row = boxes.t.start[page]; row < boxes.t.start[page + 1]; row++) {
    const partner = boxes.t.outcomes[k][row] === TP ? boxes.partner(row, page, k) : -1;
    const truth = boxes.t.corners(row), found = partner >= 0 ? boxes.p.corners(partner) : null;
    if (truth && found) text += lost(truth, found, height);
  }
  return text;
}

export function lost(truth: Box, found: Box, height: number): string {
  const held: Box = [Math.max(truth[0], found[0]), Math.max(truth[1], found[1]), Math.min(truth[2], found[2]), Math.min(truth[3], found[3])];
  if (held[2] <= held[0] || held[3] <= held[1]) return "";
  const slack = 0.004;
  if (held[0] - truth[0] < slack && held[1] - truth[1] < slack && truth[2] - held[2] < slack && truth[3] - held[3] < slack) return "";
  return path(truth, height) + path(held, height);
}

export function Stage(props: {
  boxes: Boxes; page: number; k: number; chosen: string | undefined; url: string | null; aspect: number; zoom: number; truth: boolean; prediction: boolean;
  choose: (key: string) => void; label: string; over?: Boxes; wipe?: number;
}): JSX.Element {
  const { boxes, page, k, chosen, url, aspect, zoom, choose } = props;
  const height = UNITS * aspect;
  const truth = shapesOf(boxes, page, k, "t"), found = shapesOf(boxes, page, k, "p");
  const all = [...(props.truth ? truth.drawn : []), ...(props.prediction ? found.drawn : [])];
  const total = boxes.t.start[page + 1] - boxes.t.start[page] + boxes.p.start[page + 1] - boxes.p.start[page];
  const errors = all.filter((shape) => isError(shape.code));
  const many = total > DRAWN;
  const elements = (many ? all.filter((shape) => isError(shape.code) || shape.code > WRONG || shape.key === chosen).slice(0, DRAWN) : all).sort(
    (a, b) => b.area - a.area,
  );
  const merged = many ? all.filter((shape) => shape.code === TP) : [];
  const fills = errors.length <= FILLED;
  const own = boxes.rank ? errors.filter((shape) => shape.letter === "t") : errors;
  const tagged = own.length > (boxes.rank ? TAGGED_STEPS : TAGGED) ? own.filter((shape) => shape.key === chosen) : own.sort((a, b) => Number(b.key === chosen) - Number(a.key === chosen));
  const click = (event: MouseEvent) => {
    const key = (event.target as Element).getAttribute("data-object");
    if (key) choose(key);
  };
  const wiped = props.wipe === undefined ? undefined : { clipPath: `inset(0 ${100 - props.wipe}% 0 0)` };
  return (
    <div class="paper" style={{ aspectRatio: `${UNITS} / ${r(height)}`, height: `calc(min(100cqh, ${aspect} * 100cqw) * ${zoom / 100})` }}>
      <svg viewBox={`0 0 ${UNITS} ${r(height)}`} role="img" aria-label={props.label} class={`page${fills ? "" : " no-fills"}${chosen ? " chosen" : ""}`} onClick={click}>
        <rect class="sheet" width={UNITS} height={r(height)} />
        {url && <image href={url} width={UNITS} height={r(height)} preserveAspectRatio="none" />}
        {props.truth && props.prediction && fills && !many && !boxes.rank && <path class="cut-off" fill-rule="evenodd" d={cutOff(boxes, page, k, height)} />}
        {many && ["t", "p"].map((letter) => <path class={`b o-tp s-${letter}`} d={merged.filter((shape) => shape.letter === letter).map((shape) => path(shape.box, height)).join("")} />)}
        {elements.map((shape) => <Rect key={shape.key} boxes={boxes} shape={shape} height={height} chosen={shape.key === chosen} />)}
        {boxes.rank && <Paths boxes={boxes} page={page} height={height} truth={props.truth} prediction={props.prediction} />}
        <Tags boxes={boxes} shapes={tagged} height={height} numbers={numbersOf(boxes, page, height)} />
      </svg>
      {props.over && (
        <svg viewBox={`0 0 ${UNITS} ${r(height)}`} class="page over" aria-hidden="true" style={wiped}>
          <rect class="sheet" width={UNITS} height={r(height)} />
          {url && <image href={url} width={UNITS} height={r(height)} preserveAspectRatio="none" />}
          {[...shapesOf(props.over, page, k, "t").drawn, ...shapesOf(props.over, page, k, "p").drawn].sort((a, b) => b.area - a.area).slice(0, DRAWN).map((shape) => (
            <path class={`b o-${OUTCOMES[shape.code]} s-${shape.letter}`} d={path(shape.box, height)} />
          ))}
        </svg>
      )}
    </div>
  );
}

function Rect({ boxes, shape, height, chosen }: { boxes: Boxes; shape: Shape; height: number; chosen: boolean }): JSX.Element {
  const side = boxes.side(shape.letter);
  const [x1, y1, x2, y2] = shape.box;
  return (
    <rect class={`b o-${OUTCOMES[shape.code]} s-${shape.letter}${chosen ? " on" : ""}`} x={r(x1 * UNITS)} y={r(y1 * height)}
      width={r(Math.max(0, x2 - x1) * UNITS)} height={r(Math.max(0, y2 - y1) * height)} {...hooks(boxes, shape.letter, shape.row, shape.code, side)} />
  );
}

// What tests and tools find an object by.
export function hooks(boxes: Boxes, letter: Letter, row: number, code: number, side = boxes.side(letter)): Record<string, string> {
  return {
    "data-object": boxes.key(letter, row), "data-side": letter === "t" ? "truth" : "prediction", "data-outcome": OUTCOMES[code],
    "data-kind": side.kind ? boxes.run.kinds[side.kind[row]] : "", "data-label": boxes.labels[side.label[row]] ?? "",
  };
}

// A part of the page around an object and what it is compared with.
export function Crop({ boxes, page, k, letter, row, url, aspect, wide = 1.5, blank, code = boxes.side(letter).outcomes[k][row] }: { boxes: Boxes; page: number; k: number; letter: Letter; row: number; url: string | null; aspect: number; wide?: number; blank?: boolean; code?: number }): JSX.Element {
  const height = UNITS * aspect;
  const side = boxes.side(letter);
  const other = letter === "t" ? boxes.partner(row, page, k) : boxes.taker(k)[row];
  const mine = side.corners(row), theirs = other >= 0 ? boxes.side(letter === "t" ? "p" : "t").corners(other) : null;
  const outcome = OUTCOMES[code];
  const label = blank ? "no false alarm here" : `${boxes.labels[side.label[row]] ?? ""}, ${boxes.names[outcome]}`;
  if (!mine) return <svg class="crop empty" viewBox="0 0 3 2" role="img" aria-label={`${label}: it has no box that can be drawn`} />;
  const reach = theirs ? mine.map((value, place) => (place < 2 ? Math.min(value, theirs[place]) : Math.max(value, theirs[place]))) : mine;
  // Not h for a height: JSX calls that.
  let [x, y, w, high] = [reach[0] * UNITS, reach[1] * height, (reach[2] - reach[0]) * UNITS, (reach[3] - reach[1]) * height];
  const margin = Math.max(30, 0.12 * Math.max(w, high));
  [x, y, w, high] = [x - margin, y - margin, w + 2 * margin, high + 2 * margin];
  if (w < high * wide) [x, w] = [x - (high * wide - w) / 2, high * wide];
  else [y, high] = [y - (w / wide - high) / 2, w / wide];
  const stroke = w / 110;
  return (
    <svg class={w > FAR ? "crop far" : "crop"} viewBox={`${r(x)} ${r(y)} ${r(w)} ${r(high)}`} role="img" aria-label={label}>
      <rect class="sheet" width={UNITS} height={r(height)} />
      {url && <image href={url} width={UNITS} height={r(height)} preserveAspectRatio="none" />}
      {!blank && theirs && code === TP && boxes.coverage && <path class="cut-off" fill-rule="evenodd" d={letter === "t" ? lost(mine, theirs, height) : lost(theirs, mine, height)} />}
      {!blank && theirs && <path class={`b o-${outcome} s-${letter === "t" ? "p" : "t"}`} style={{ strokeWidth: stroke }} d={path(theirs, height)} />}
      {!blank && <path class={`b o-${outcome} s-${letter} own`} style={{ strokeWidth: isError(code) ? stroke * 1.6 : stroke }} d={path(mine, height)} />}
    </svg>
  );
}

// A page at a glance: four paths. Where truths may be found under another name, those stand in the place of what holds them.
export function Miniature({ boxes, page, k, url, aspect }: { boxes: Boxes; page: number; k: number; url: string | null; aspect: number }): JSX.Element {
  const height = UNITS * aspect;
  const truth = shapesOf(boxes, page, k, "t").drawn, found = shapesOf(boxes, page, k, "p").drawn;
  const few = truth.length + found.length <= SMALL;
  const drawn = (shapes: Shape[], wanted: (code: number) => boolean) => shapes.filter((shape) => wanted(shape.code)).map((shape) => path(shape.box, height)).join("");
  return (
    <svg class="miniature" viewBox={`0 0 ${UNITS} ${r(height)}`} aria-hidden="true">
      <rect class="sheet" width={UNITS} height={r(height)} />
      {url && <image href={url} width={UNITS} height={r(height)} preserveAspectRatio="none" />}
      <path class="b o-tp s-t" d={few ? drawn(truth, (code) => code === TP) : ""} />
      {boxes.run.numbers.crops ? <path class="b o-tp s-p" d={few ? drawn(found, (code) => code === TP) : ""} /> : <path class="b o-wrong s-t" d={drawn(truth, (code) => code === WRONG)} />}
      <path class="b o-fn s-t" d={drawn(truth, (code) => code === FN)} />
      <path class="b o-fp s-p" d={boxes.rank ? "" : drawn(found, (code) => code === FP)} />
    </svg>
  );
}
