// Calibration: of what has a score, how much is right; every point leads to what it counts.

import { JSX } from "preact";
import { Address, to } from "./address";
import { Head, Leads, Numbers } from "./parts";
import { percent, plural, ratio } from "./words";

// From where to where, how many, their mean score, and the share that is right: all of it made before the page was.
export type Bin = [number, number, number, number, number];

export function Calibration({ bins, view, at, of, note }: { bins: Bin[]; view: string; at: Address; of: string; note: string }): JSX.Element | null {
  if (!bins?.length) return null;
  const most = Math.max(...bins.map((bin) => bin[2]));
  const place = (x: number, y: number): [number, number] => [36 + 344 * x, 12 + 200 * (1 - y)];
  const spelt = ([low, high]: Bin) => (high >= 1 ? String(low) : `${low}..${high}`);
  const href = (bin: Bin) => to({ view: view as any, score: spelt(bin), ...at });
  const line = bins.map((bin, at) => `${at ? "L" : "M"}${place(bin[3], bin[4]).map((value) => value.toFixed(1)).join(" ")}`).join("");
  return (
    <section aria-labelledby="calibration">
      <Head id="calibration" title="Calibration" note={note} />
      <figure class="chart">
        <svg viewBox="0 0 400 250" role="group" aria-label={`share that is right by ${of}`}>
          {[0, 0.25, 0.5, 0.75, 1].map((tick) => (
            <g>
              <path class="rule" d={`M36 ${12 + 200 * (1 - tick)}H380M${36 + 344 * tick} 12V212`} />
              <text x="30" y={16 + 200 * (1 - tick)} class="tick end">{tick}</text>
              <text x={36 + 344 * tick} y="228" class="tick middle">{tick}</text>
            </g>
          ))}
          <path class="even" d="M36 212L380 12" />
          <path class="line l-0" d={line} />
          {bins.map((bin) => {
            const [x, y] = place(bin[3], bin[4]), told = `${of} ${bin[0]} to ${bin[1]}: ${plural(bin[2], "of them", "of them")}, ${percent(bin[4])} right`;
            return <a href={href(bin)} data-objects={bin[2]} aria-label={told}><title>{told}</title><circle class="hit" cx={x} cy={y} r="14" /><circle class="point" cx={x} cy={y} r={3 + 6 * Math.sqrt(bin[2] / most)} /></a>;
          })}
          <text x="208" y="246" class="tick middle">{of}</text>
          <text x="36" y="8" class="tick">share right</text>
        </svg>
      </figure>
      <Numbers head={[of, "how many", "mean", "share right"]} rows={bins.map((bin) => [`${bin[0]} – ${bin[1]}`, <Leads href={href(bin)} count={bin[2]} />, ratio(bin[3]), ratio(bin[4])])} />
    </section>
  );
}
