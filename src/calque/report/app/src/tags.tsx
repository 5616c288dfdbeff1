// Tags: the names of errors on a page, each at its box, and none over another.

import { JSX } from "preact";
import { Boxes } from "./boxes";
import { Shape, UNITS } from "./stage";
import { MARKS, OUTCOMES } from "./words";

const HIGH = 34, GAP = 3, LONGEST = 24;
const r = (value: number) => Math.round(value * 10) / 10;

type Tag = { shape: Shape; text: string; x: number; y: number; width: number };

const NARROW = /[iljtI1.,:;'|!()[\] ]/, WIDE = /[mwMW@%…]/;

// How wide a text is in the widest of the usual fonts, in units of the page.
function wide(text: string): number {
  let sum = 0;
  for (const letter of text.replace(/\p{M}/gu, "")) sum += NARROW.test(letter) ? 10.5 : WIDE.test(letter) ? 25 : letter > "\u0fff" ? 24 : letter > "Z" ? 16 : 19;
  return sum;
}

// Tags beside each other: each at the corner of its box, or as near to it as those before it leave room; one that finds none is left out.
export function placed(boxes: Boxes, shapes: Shape[], height: number): Tag[] {
  const tags: Tag[] = [];
  for (const shape of shapes) {
    const side = boxes.side(shape.letter);
    const label = (boxes.rank && side.kind && boxes.run.kinds[side.kind[shape.row]]) || (boxes.labels[side.label[shape.row]] ?? "");
    const letters = [...label.normalize("NFC").replace(/[\p{C}\p{Z}]/gu, " ")], text = letters.length > LONGEST ? letters.slice(0, LONGEST - 1).join("") + "…" : letters.join("");
    const width = Math.min(UNITS, 46 + wide(text));
    const [x, y] = [shape.box[0] * UNITS - 1.5, shape.box[1] * height - HIGH];
    const xs = [x, ...tags.flatMap((tag) => [tag.x + tag.width + GAP, tag.x - width - GAP])], ys = [y, ...tags.flatMap((tag) => [tag.y - HIGH - GAP, tag.y + HIGH + GAP])];
    const within = (value: number, room: number) => Math.max(0, Math.min(room, value));
    const free = (at: { x: number; y: number }) => tags.every((tag) => at.x >= tag.x + tag.width || tag.x >= at.x + width || at.y >= tag.y + HIGH || tag.y >= at.y + HIGH);
    const far = (at: { x: number; y: number }) => Math.abs(at.x - within(x, UNITS - width)) + Math.abs(at.y - within(y, height - HIGH));
    const places = xs.flatMap((left) => ys.map((top) => ({ x: within(left, UNITS - width), y: within(top, height - HIGH) })));
    const best = places.filter(free).sort((a, b) => far(a) - far(b))[0];
    if (best) tags.push({ shape, text, width, ...best });
  }
  return tags;
}

export function Tags({ boxes, shapes, height }: { boxes: Boxes; shapes: Shape[]; height: number }): JSX.Element {
  return (
    <>
      {placed(boxes, shapes, height).map(({ shape, text, x, y, width }) => (
        <g key={`tag ${shape.key}`} class={`tag o-${OUTCOMES[shape.code]} of-${shape.letter}`} aria-hidden="true" data-tag={shape.key}>
          <rect x={r(x)} y={r(y)} width={r(width)} height={HIGH} rx="3" />
          {/* How wide other letters are no rule knows: they are fitted into the tag. */}
          <text x={r(x + 8)} y={r(y + 25)} textLength={/[^ -~…]/.test(text) ? r(width - 16) : undefined} lengthAdjust="spacingAndGlyphs">{MARKS[OUTCOMES[shape.code]]} {text}</text>
        </g>
      ))}
    </>
  );
}
