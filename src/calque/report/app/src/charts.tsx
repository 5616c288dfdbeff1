// Charts, drawn by hand: bars from 0 on one scale, and every bar a link to its objects.

import { ComponentChildren, JSX } from "preact";
import { count } from "./words";

// Precision against recall, small.
export function Spark({ curve, label }: { curve: number[] | null; label: string }): JSX.Element {
  if (!curve) return <span class="note">–</span>;
  const last = curve.length - 1;
  const d = curve.map((value, place) => `${place ? "L" : "M"}${((100 * place) / last).toFixed(1)} ${(30 - 0.03 * value).toFixed(1)}`).join("");
  return (
    <svg class="spark" viewBox="-1 -2 102 34" role="img" aria-label={label} preserveAspectRatio="none">
      <path class="frame" d="M0 0H100V30H0z" />
      <path class="line" d={d} />
    </svg>
  );
}

export function Bars({ values, label, marks }: { values: number[]; label: string; marks?: string }): JSX.Element {
  const most = Math.max(1, ...values);
  const width = 100 / values.length;
  return (
    <svg class="spark" viewBox="-1 -2 102 34" role="img" aria-label={label} preserveAspectRatio="none">
      <path class="frame" d="M0 0H100V30H0z" />
      <path class={`bars ${marks ?? ""}`} d={values.map((value, place) => (value ? bar(place * width + 0.6, width - 1.2, Math.max(1, (30 * value) / most)) : "")).join("")} />
    </svg>
  );
}

function bar(x: number, width: number, height: number): string {
  return `M${x.toFixed(2)} 30v${(-height).toFixed(2)}h${width.toFixed(2)}v${height.toFixed(2)}z`;
}

// A histogram whose every bar leads to what it counts; stacked where there are several sorts.
export function Histogram({ bins, label, low, high, unit }: { bins: { values: [string, number][]; href?: string; title: string }[]; label: string; low: string; high: string; unit?: string }): JSX.Element {
  const totals = bins.map((bin) => bin.values.reduce((sum, [, value]) => sum + value, 0)), most = Math.max(1, ...totals);
  const width = 400 / bins.length;
  // Counts stand over all bars, or where they would run into each other over the highest alone.
  const room = Math.max(...totals.map((total) => count(total).length)) * 7.5 <= width - 1;
  return (
    <figure class="chart">
      <svg viewBox="0 0 400 150" role="group" aria-label={label}>
        <path class="axis" d="M0 130.5H400" />
        {bins.map((bin, place) => {
          let y = 130;
          const total = totals[place];
          if (!total) return null;
          const parts = bin.values.map(([mark, value]) => {
            const height = value ? Math.max(4 * (value / total), (110 * value) / most) : 0;
            y -= height;
            return <rect class={`f-${mark}`} x={place * width + 1} y={y} width={Math.max(2, width - 2)} height={height} />;
          });
          return (
            <a href={bin.href} data-objects={total} aria-label={bin.title}>
              <title>{bin.title}</title>
              <rect class="hit" x={place * width} y="10" width={width} height="120" />
              {parts}
              {(room || place === totals.indexOf(most)) && <text x={place * width + width / 2} y={y - 4} class="value">{count(total)}</text>}
            </a>
          );
        })}
        <text x="0" y="146" class="tick">{low}</text>
        <text x="400" y="146" class="tick end">{high}</text>
        {unit && <text x="200" y="146" class="tick middle">{unit}</text>}
      </svg>
    </figure>
  );
}

// A square from 0 to 1 on both sides, for lines and points: where a share of it lies, and the square itself.
export const inSquare = (x: number, y: number): [number, number] => [36 + 344 * x, 12 + 200 * (1 - y)];
export const through = (points: [number, number][]) => points.map(([x, y], place) => (place ? "L" : "M") + inSquare(x, y).map((value) => value.toFixed(1)).join(" ")).join("");

export function Square({ label, xLabel, yLabel, leads, children }: { label: string; xLabel: string; yLabel: string; leads?: boolean; children: ComponentChildren }): JSX.Element {
  return (
    <svg viewBox="0 -12 400 270" role={leads ? "group" : "img"} aria-label={label}>
      {[0, 0.25, 0.5, 0.75, 1].map((tick) => {
        const [x, y] = inSquare(tick, tick);
        return (
          <g>
            <path class="rule" d={`M36 ${y}H380M${x} 12V212`} />
            <text x="25" y={y + 4} class="tick end">{tick}</text>
            <text x={x} y="235" class="tick middle">{tick}</text>
          </g>
        );
      })}
      {children}
      <text x="208" y="253" class="tick middle">{xLabel}</text>
      <text x="36" y="-3" class="tick">{yLabel}</text>
    </svg>
  );
}

// Curves of several classes in one square.
export function Curves({ lines, label, xLabel, yLabel }: { lines: { name: string; points: [number, number][]; strong?: boolean }[]; label: string; xLabel: string; yLabel: string }): JSX.Element {
  return (
    <figure class="chart">
      <Square label={label} xLabel={xLabel} yLabel={yLabel}>
        {lines.map((line, at) => <path class={`line l-${at % 6}${line.strong ? " strong" : ""}`} d={through(line.points)} />)}
      </Square>
      {lines.length > 1 && <figcaption>{lines.map((line, at) => <span class="key"><svg viewBox="0 0 30 6" aria-hidden="true"><path class={`line l-${at % 6}${line.strong ? " strong" : ""}`} d="M0 3H30" /></svg> {line.name}</span>)}</figcaption>}
    </figure>
  );
}

// A share as a bar with its number beside it; rows of one chart share one scale.
export function Row({ share, mark, href, label, objects }: { share: number; mark: string; href?: string; label?: string; objects?: number }): JSX.Element {
  // Of nothing there is no bar: even one of no width would have its edges.
  const bar = share > 0 && <i class={`f-${mark}`} style={{ width: `max(4px, ${Math.min(100, 100 * share)}%)` }} />;
  return href ? <a class="track" href={href} data-objects={objects} tabIndex={-1} aria-label={label}>{bar}</a> : <span class="track">{bar}</span>;
}
