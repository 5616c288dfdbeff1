// Calibration: of what has a score, how much is right; every point leads to what it counts.

import { JSX } from "preact";
import { Address, to } from "./address";
import { Square, inSquare, through } from "./charts";
import { Head, Leads, Numbers } from "./parts";
import { percent, plural, ratio } from "./words";

// From where to where, how many, their mean score, and the share that is right: all of it made before the page was.
export type Bin = [number, number, number, number, number];

export function Calibration({ bins, view, at, of, note }: { bins: Bin[]; view: string; at: Address; of: string; note: string }): JSX.Element | null {
  if (!bins?.length) return null;
  const most = Math.max(...bins.map((bin) => bin[2]));
  const spelt = ([low, high]: Bin) => (high >= 1 ? String(low) : `${low}..${high}`);
  const href = (bin: Bin) => to({ view: view as any, score: spelt(bin), ...at });
  return (
    <section aria-labelledby="calibration">
      <Head id="calibration" title="Calibration" note={note} />
      <figure class="chart">
        <Square label={`share that is right by ${of}`} xLabel={of} yLabel="share right" leads>
          <path class="even" d={through([[0, 0], [1, 1]])} />
          <path class="line l-0" d={through(bins.map((bin) => [bin[3], bin[4]]))} />
          {bins.map((bin) => {
            const [x, y] = inSquare(bin[3], bin[4]), told = `${of} ${bin[0]} to ${bin[1]}: ${plural(bin[2], "of them", "of them")}, ${percent(bin[4])} right`;
            return <a href={href(bin)} data-objects={bin[2]} aria-label={told}><title>{told}</title><circle class="hit" cx={x} cy={y} r="14" /><circle class="point" cx={x} cy={y} r={3 + 6 * Math.sqrt(bin[2] / most)} /></a>;
          })}
        </Square>
      </figure>
      <Numbers head={[of, "how many", "mean", "share right"]} rows={bins.map((bin) => [`${bin[0]} – ${bin[1]}`, <Leads href={href(bin)} count={bin[2]} />, ratio(bin[3]), ratio(bin[4])])} />
    </section>
  );
}
