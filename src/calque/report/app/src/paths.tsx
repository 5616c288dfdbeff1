// Reading order on a page: two paths through its blocks as numbered arrows, the true one solid, the predicted one dashed.

import { JSX } from "preact";
import { Boxes, placeIn } from "./boxes";
import type { Area } from "./tags";
import { WRONG } from "./words";

type Stop = { x: number; y: number; number: number; wrong: boolean; key: string };
const MOST = 600, DENSE = 50;
const r = (value: number) => Math.round(value * 10) / 10;

// The blocks of a page that are on a path, in its order. The true path goes through left corners, the predicted one through right ones.
export function stops(boxes: Boxes, page: number, height: number, letter: "t" | "p", radius: number): Stop[] {
  const column = letter === "t" ? boxes.rank : boxes.read;
  const found: Stop[] = [];
  for (let row = boxes.t.start[page]; row < boxes.t.start[page + 1]; row++) {
    const place = column ? placeIn(column, row) : null, box = boxes.t.corners(row);
    if (place === null || !box) continue;
    const [x1, y1, x2, y2] = [box[0] * 1000, box[1] * height, box[2] * 1000, box[3] * height];
    // In a small block the two stand beside each other.
    const half = Math.max((x2 - x1) / 2 - radius - 3, radius + 1), down = Math.min(radius + 3, (y2 - y1) / 2);
    found.push({ x: (x1 + x2) / 2 + (letter === "t" ? -half : half), y: y1 + down, number: place, wrong: letter === "p" && boxes.t.outcomes[0][row] === WRONG, key: boxes.key("t", row) });
  }
  return found.sort((a, b) => a.number - b.number);
}

// An arrow from one stop to the next, bent to one side, so that it does not run over the stops between them.
function arrow(from: Stop, to: Stop, radius: number, bend: number): { line: string; head: string } {
  const [dx, dy] = [to.x - from.x, to.y - from.y], long = Math.hypot(dx, dy);
  if (long < 2 * radius) return { line: "", head: "" };
  const off = Math.min(70, bend * long);
  const [cx, cy] = [(from.x + to.x) / 2 - (dy / long) * off, (from.y + to.y) / 2 + (dx / long) * off];
  const [ex, ey] = [to.x - cx, to.y - cy], end = Math.hypot(ex, ey) || 1, [ux, uy] = [ex / end, ey / end];
  const [tx, ty] = [to.x - ux * (radius + 2), to.y - uy * (radius + 2)], size = radius * 0.8;
  const [bx, by] = [tx - ux * size, ty - uy * size], [wx, wy] = [-uy * size * 0.5, ux * size * 0.5];
  return { line: `M${r(from.x)} ${r(from.y)}Q${r(cx)} ${r(cy)} ${r(bx)} ${r(by)}`, head: `M${r(tx)} ${r(ty)}L${r(bx + wx)} ${r(by + wy)}L${r(bx - wx)} ${r(by - wy)}z` };
}

const radiusOf = (boxes: Boxes, page: number) => (boxes.t.start[page + 1] - boxes.t.start[page] > DENSE ? 10 : 18);

// Where the numbers of both paths stand.
export function numbersOf(boxes: Boxes, page: number, height: number): Area[] {
  const radius = radiusOf(boxes, page), around = ({ x, y }: Stop) => ({ x: x - radius, y: y - radius, width: 2 * radius, height: 2 * radius });
  return boxes.rank ? (["t", "p"] as const).flatMap((letter) => stops(boxes, page, height, letter, radius).slice(0, MOST).map(around)) : [];
}

export function Paths({ boxes, page, height, truth, prediction }: { boxes: Boxes; page: number; height: number; truth: boolean; prediction: boolean }): JSX.Element {
  const radius = radiusOf(boxes, page);
  const sides = [truth && "t", prediction && "p"].filter(Boolean) as ("t" | "p")[];
  return (
    <g class="paths" aria-hidden="true">
      {sides.map((letter) => {
        const path = stops(boxes, page, height, letter, radius);
        const made = path.slice(1).map((stop, place) => ({ ...arrow(path[place], stop, radius, letter === "t" ? -0.06 : 0.12), wrong: stop.wrong }));
        const join = (wrong: boolean, part: "line" | "head") => made.filter((one) => one.wrong === wrong).map((one) => one[part]).join("");
        const ring = (wrong: boolean) => path.filter((stop) => stop.wrong === wrong).slice(0, MOST).map((stop) => `M${r(stop.x - radius)} ${r(stop.y)}a${radius} ${radius} 0 1 0 ${2 * radius} 0a${radius} ${radius} 0 1 0 ${-2 * radius} 0z`).join("");
        return (
          <g class={`way w-${letter}`}>
            {[false, true].map((wrong) => <><path class={wrong ? "run off" : "run"} d={join(wrong, "line")} /><path class={wrong ? "head off" : "head"} d={join(wrong, "head")} /></>)}
            {[false, true].map((wrong) => <path class={wrong ? "stop off" : "stop"} d={ring(wrong)} />)}
            {path.slice(0, MOST).map((stop) => <text class={stop.wrong ? "off" : undefined} data-stop={letter === "t" ? "truth" : "prediction"} data-of={stop.key} x={r(stop.x)} y={r(stop.y + radius * 0.36)} style={{ fontSize: `${stop.number > 98 ? radius : radius * 1.15}px` }}>{stop.number + 1}</text>)}
          </g>
        );
      })}
    </g>
  );
}

export function PathLegend(): JSX.Element {
  return <><span><i class="dot-stop" aria-hidden="true">1</i> its place, left</span><span><i class="dot-stop read" aria-hidden="true">1</i> when it is read, right</span></>;
}
