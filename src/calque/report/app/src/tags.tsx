// Tags: the names of errors on a page, each at its box, and none over another.

import { JSX } from "preact";
import { Boxes } from "./boxes";
import { Shape, UNITS } from "./stage";
import { MARKS, OUTCOMES } from "./words";

const HIGH = 34, GAP = 3, LONGEST = 24;
const r = (value: number) => Math.round(value * 10) / 10;

export type Area = { x: number; y: number; width: number; height: number };
type Tag = Area & { shape: Shape; text: string };
type Spot = { x: number; y: number };

const NARROW = /[iljtI1.,:;'|!()[\] ]/, WIDE = /[mwMW@%…]/;

// How wide a text is in the widest of the usual fonts, in units of the page.
function wide(text: string): number {
  let sum = 0;
  for (const letter of text.replace(/\p{M}/gu, "")) sum += NARROW.test(letter) ? 10.5 : WIDE.test(letter) ? 25 : letter > "\u0fff" ? 24 : letter > "Z" ? 16 : 19;
  return sum;
}

const NEAR = 24;

// The free place nearest to one that is wanted: there, or beside something that takes room; nothing where all is taken.
function free(wanted: Spot, width: number, height: number, taken: Area[]): Spot | undefined {
  const clear = (x: number, y: number) => x >= 0 && y >= 0 && x + width <= UNITS && y + HIGH <= height && taken.every((area) => x >= area.x + area.width || area.x >= x + width || y >= area.y + area.height || area.y >= y + HIGH);
  if (clear(wanted.x, wanted.y)) return wanted;
  const far = ({ x, y }: Spot) => Math.abs(x - wanted.x) + Math.abs(y - wanted.y);
  const near = [...taken].sort((a, b) => far(a) - far(b)).slice(0, NEAR);
  const xs = [wanted.x, ...near.flatMap((area) => [area.x + area.width + GAP, area.x - width - GAP])], ys = [wanted.y, ...near.flatMap((area) => [area.y - HIGH - GAP, area.y + area.height + GAP])];
  return xs.flatMap((x) => ys.map((y) => ({ x, y }))).sort((a, b) => far(a) - far(b)).find(({ x, y }) => clear(x, y));
}

// Tags beside each other: each at the corner of its box, or as near to it as others leave room; one that finds none is left out.
// Numbers on the page are covered only where there is no other way.
export function placed(boxes: Boxes, shapes: Shape[], height: number, numbers: Area[]): Tag[] {
  const tags: Tag[] = [];
  for (const shape of shapes) {
    const side = boxes.side(shape.letter);
    const label = (boxes.rank && side.kind && boxes.run.kinds[side.kind[shape.row]]) || (boxes.labels[side.label[shape.row]] ?? "");
    const letters = [...label.normalize("NFC").replace(/[\p{C}\p{Z}]/gu, " ")], text = letters.length > LONGEST ? letters.slice(0, LONGEST - 1).join("") + "…" : letters.join("");
    const width = Math.min(UNITS, 46 + wide(text)), within = (value: number, room: number) => Math.max(0, Math.min(room, value));
    const wanted = { x: within(shape.box[0] * UNITS - 1.5, UNITS - width), y: within(shape.box[1] * height - HIGH, height - HIGH) };
    const spot = free(wanted, width, height, [...tags, ...numbers]) ?? (numbers.length ? free(wanted, width, height, tags) : undefined);
    if (spot) tags.push({ shape, text, width, height: HIGH, ...spot });
  }
  return tags;
}

export function Tags({ boxes, shapes, height, numbers }: { boxes: Boxes; shapes: Shape[]; height: number; numbers: Area[] }): JSX.Element {
  return (
    <>
      {placed(boxes, shapes, height, numbers).map(({ shape, text, x, y, width }) => (
        <g key={`tag ${shape.key}`} class={`tag o-${OUTCOMES[shape.code]} of-${shape.letter}`} aria-hidden="true" data-tag={shape.key}>
          <rect x={r(x)} y={r(y)} width={r(width)} height={HIGH} rx="3" />
          {/* How wide other letters are no rule knows: they are fitted into the tag. */}
          <text x={r(x + 8)} y={r(y + 25)} textLength={/[^ -~…]/.test(text) ? r(width - 16) : undefined} lengthAdjust="spacingAndGlyphs">{MARKS[OUTCOMES[shape.code]]} {text}</text>
        </g>
      ))}
    </>
  );
}
