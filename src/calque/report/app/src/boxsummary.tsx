// The first view of boxes on pages: worst pages, why things went wrong, and how scores and overlaps lie.

import { JSX } from "preact";
import { Address, now, to } from "./address";
import { App } from "./app";
import { BINS, Boxes, binOf, scoreRange } from "./boxes";
import { Calibration } from "./calibration";
import { Ceiling } from "./ceiling";
import { Bars, Curves, Histogram, Row, Spark } from "./charts";
import { Run } from "./data";
import { Head, Leads, Mark, Measure, Numbers } from "./parts";
import { Miniature } from "./stage";
import { Extra, Summary, Tables } from "./summary";
import { FP, SIDES, TP, allOf, count, percent, plural, ratio, short } from "./words";

// How many classes a matrix has at most that stands beside something else.
const FEW = 4;

export function BoxSummary({ app, boxes }: { app: App; boxes: Boxes }): JSX.Element {
  const run = boxes.run, numbers = run.numbers, k = boxes.threshold(now()), T = boxes.thresholds[k], at = { iou: k ? T : undefined } as Address;
  if (boxes.rank) return (
    <Summary app={app} run={run} k={0}>
      <WorstPages app={app} boxes={boxes} k={0} />
      <Breaks run={run} />
      <Tables run={{ ...run, sections: run.sections.slice(3) }} />
    </Summary>
  );
  if (numbers.ceiling) return (
    <Summary app={app} run={run} k={k}>
      <Ceiling boxes={boxes} k={k} at={at} />
      <WorstPages app={app} boxes={boxes} k={k} />
    </Summary>
  );
  if (!numbers.crops) return (
    <Summary app={app} run={run} k={0}>
      <WorstPages app={app} boxes={boxes} k={0} />
      <div class={boxes.labels.length > FEW ? "stacked" : "columns"}><Confusion run={run} boxes={boxes} /><IouHistogram boxes={boxes} k={0} at={{}} /></div>
    </Summary>
  );
  const bins = iouBins(boxes, k), few = numbers.classes.length <= FEW;
  const extra: Extra = { head: ["PR curve", `IoU ${T}–1`], cells: (name, place) => [<a href={to({ view: "objects", class: name, ...at })} aria-label={`objects of ${name}`}><Spark curve={numbers.curves[place] ?? null} label={`precision against recall of ${name}`} /></a>, <a href={to({ view: "objects", class: name, outcome: "tp", ...at })} aria-label={`pairs of ${name}`}><Bars values={bins.of(name)} label={`IoU of the pairs of ${name}`} /></a>] };
  return (
    <Summary app={app} run={run} k={k} extra={extra}>
      <WorstPages app={app} boxes={boxes} k={k} />
      <div class="columns"><Kinds run={run} /><Edges run={run} />{few && <Confusion run={run} boxes={boxes} />}</div>
      {!few && <Confusion run={run} boxes={boxes} />}
      <div class="columns"><PrCurves run={run} /><IouHistogram boxes={boxes} k={k} at={at} /><Scores boxes={boxes} k={k} at={at} /><Calibration bins={numbers.calibration[k]} view="objects" at={at} of="score" note="predictions of each score that are right; dotted: score and share agree" /><Sweep run={run} /></div>
    </Summary>
  );
}

function iouBins(boxes: Boxes, k: number): { all: number[]; of: (label: string) => number[] } {
  const all = new Array(BINS).fill(0), per = new Map<number, number[]>();
  const truth = boxes.t.outcomes[k];
  for (let row = 0; row < truth.length; row++)
    if (truth[row] === TP) {
      const bin = binOf(boxes.fit(row));
      all[bin]++;
      let mine = per.get(boxes.t.label[row]);
      if (!mine) per.set(boxes.t.label[row], (mine = new Array(BINS).fill(0)));
      mine[bin]++;
    }
  const first = Math.floor(Number(boxes.thresholds[k]) * BINS + 1e-6);
  return { all, of: (label) => (per.get(boxes.labels.indexOf(label)) ?? new Array(BINS).fill(0)).slice(first) };
}

export function WorstPages({ app, boxes, k }: { app: App; boxes: Boxes; k: number }): JSX.Element | null {
  const pages = boxes.list({ iou: boxes.thresholds[k] });
  if (!pages.length) return null;
  const sums = boxes.pageSums(k);
  const worst = Array.from(pages.slice(0, 8));
  return (
    <section aria-labelledby="worst">
      <Head id="worst" title="Worst pages" note="most errors first"><a class="more" href={to({ view: "pages" })}>{allOf(boxes.pages, "page")} →</a></Head>
      <ul class="worst">
        {worst.map((page) => {
          const { document, index } = boxes.where(page);
          const told = [[sums.fn[page], "fn"], [sums.wrong[page], "wrong"], [sums.fp[page], "fp"], [sums.tp[page], "tp"]].filter(([number]) => number) as [number, string][];
          return (
            <li>
              <a href={to({ view: "pages", doc: document, page: String(index) })} aria-label={`${document} page ${index}: ${told.map(([number, name]) => `${number} ${boxes.names[name]}`).join(", ")}`}>
                <Miniature boxes={boxes} page={page} k={k} url={app.images.url(page)} aspect={app.aspect(boxes, page)} />
                <span class="doc" title={document}>{document}</span>
                <span class="note">page {index}</span>
                <span class="tallies note">{told.map(([number, name]) => <span class="tally"><Mark of={name} />{number}</span>)}</span>
              </a>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

const KINDS: Record<string, string> = {
  CLS: "right place, other class", MERGE: "holds several truths", MERGED: "inside a box of several", SPLIT: "in pieces", DUP: "found twice", DUP_CLS: "twice, other class",
  FRAGMENT: "a piece of a found one", ENVELOPE: "a box around a found one", LOC: "right class, poor place", BOTH: "other class, poor place", BKG: "nothing is there", MISS: "nothing was predicted",
  furniture: "at headers and footers", interleaved: "between interleaved columns", "column jump": "to another column", skip: "over something left out", back: "back within a column",
  label: "systems give it another label", unfound: "no system has it", agreed: "several systems agree on it",
  PARTIAL: "only touched", Cls: "other class", Loc: "poor place", Both: "other class, poor place", Dupe: "found twice", Bkg: "nothing is there", Miss: "nothing was predicted",
};
export function kindInWords(kind: string): string { return KINDS[kind] ?? ""; }

function Kinds({ run }: { run: Run }): JSX.Element | null {
  const kinds = (run.numbers.errors as any[]).filter((kind) => kind.kind !== "TP");
  if (!run.numbers.errors.length) return null;
  const worth = kinds.map((kind) => kind.delta_f1 ?? 0);
  const most = Math.max(0.001, ...worth);
  const size = (kind: any) => (kind.predictions ?? 0) + (kind.truths ?? 0);
  const sorted = [...kinds].sort((a, b) => (b.delta_f1 ?? -1) - (a.delta_f1 ?? -1));
  return (
    <section aria-labelledby="kinds">
      <Head id="kinds" title="Why: kinds of errors" note="what F1 would gain without them" />
      {!sorted.length ? <p class="note">There are no errors at this limit.</p> : <table class="rows">
        <tbody>
          {sorted.map((kind) => (
            <tr>
              <th scope="row"><a href={to({ view: "objects", kind: kind.kind })}>{kind.kind}</a> <span class="note">{KINDS[kind.kind]}</span></th>
              <td class="grow"><Row share={(kind.delta_f1 ?? 0) / most} mark={kind.predictions ? (kind.truths ? "wrong" : "fp") : "fn"} href={to({ view: "objects", kind: kind.kind })} label={`objects of kind ${kind.kind}`} objects={size(kind)} /></td>
              <td>{kind.worth ? <Measure name={`delta_f1/${kind.kind}`} value={kind.delta_f1} as={(value) => (value === null || value === undefined ? "–" : `+${value.toFixed(3)}`)} /> : ""}</td>
              <td><Leads href={to({ view: "objects", kind: kind.kind })} count={size(kind)} /></td>
            </tr>
          ))}
        </tbody>
      </table>}
      {sorted.length > 0 && <Numbers head={["kind", "predictions", "truths", "ΔF1", "ΔAP"]} rows={sorted.map((kind) => [kind.kind, count(kind.predictions), count(kind.truths), ratio(kind.delta_f1), ratio(kind.delta_ap)])} />}
    </section>
  );
}

// Where the path is left: steps of the prediction that are none of the truth.
function Breaks({ run }: { run: Run }): JSX.Element {
  const kinds = (run.numbers.breaks as [string, number][]).filter(([, number]) => number).sort((a, b) => b[1] - a[1]);
  const most = Math.max(1, ...kinds.map(([, number]) => number));
  return (
    <section aria-labelledby="breaks">
      <Head id="breaks" title="Where the path is left" note="steps of the prediction that are none of the truth, by kind" />
      {!kinds.length ? <p class="note">Nowhere.</p> : <table class="rows slim"><tbody>
        {kinds.map(([kind, number]) => (
          <tr>
            <th scope="row"><a href={to({ view: "objects", kind })}>{kind}</a> <span class="note">{KINDS[kind]?.replace(`${kind} `, "")}</span></th>
            <td class="grow"><Row share={number / most} mark="wrong" href={to({ view: "objects", kind })} label={`${count(number)} of kind ${kind}`} objects={number} /></td>
            <td><Leads href={to({ view: "objects", kind })} count={number} /></td>
          </tr>
        ))}
      </tbody></table>}
    </section>
  );
}

function Edges({ run }: { run: Run }): JSX.Element | null {
  const crops = run.numbers.crops;
  if (!crops.pairs) return null;
  const cut = (side: string, limit = "0.1") => crops.cut[side][limit] as number;
  const lost = (side: string) => Math.round(cut(side) * crops.pairs);
  const link = (side: string) => to({ view: "objects", cut: side, iou: undefined });
  const edge = (side: string) => Math.max(cut(side) > 0 ? 4 : 1, 46 * cut(side));
  return (
    <section aria-labelledby="edges">
      <Head id="edges" title="What crops lose" note={`more than a tenth of the truth, of ${plural(crops.pairs, "pair")}`} />
      <div class="edges">
        <svg viewBox="0 0 200 200" role="img" aria-label={SIDES.map((side) => `${side} ${percent(cut(side))}`).join(", ")}>
          <rect class="truth" x="50" y="50" width="100" height="100" />
          <path class="cut-off" d={`M50 50h${edge("left")}v100h${-edge("left")}zM150 50h${-edge("right")}v100h${edge("right")}zM50 50h100v${edge("top")}h-100zM50 150h100v${-edge("bottom")}h-100z`} />
          {([["left", 25, 104], ["top", 100, 38], ["right", 175, 104], ["bottom", 100, 172]] as const).map(([side, x, y]) => (
            <a href={link(side)} data-objects={lost(side)} aria-label={`${percent(cut(side))} of crops lose more than a tenth at the ${side}`}><text x={x} y={y} class="value">{percent(cut(side))}</text></a>
          ))}
        </svg>
      </div>
      <Numbers head={["side", "> 2 %", "> 5 %", "> 10 %", "median edge"]} rows={[...SIDES, "any"].map((side) => [<Leads href={link(side)} count={lost(side)}>{side}</Leads>, percent(cut(side, "0.02")), percent(cut(side, "0.05")), percent(cut(side, "0.1")), crops.medians[side] === undefined ? "" : ratio(crops.medians[side])])} />
    </section>
  );
}

const MATRIX = 10;

function Confusion({ run, boxes }: { run: Run; boxes: Boxes }): JSX.Element | null {
  const confusion = run.numbers.confusion;
  if (!confusion) return null;
  const labels: string[] = confusion.labels, matrix: number[][] = confusion.matrix, last = labels.length - 1;
  const code = (place: number) => (place === last ? boxes.labels.length : boxes.labels.indexOf(labels[place]));
  const wrong = (place: number) => matrix[place].reduce((sum, value, other) => sum + (other === place ? 0 : value + matrix[other][place]), 0);
  const order = labels.map((_, place) => place).slice(0, last);
  if (!order.length) return null;
  const kept = order.length > MATRIX ? order.sort((a, b) => wrong(b) - wrong(a)).slice(0, MATRIX).sort((a, b) => a - b) : order;
  // Layout has no row of what no truth asked for.
  const shown = [...kept, last], rows = run.numbers.crops ? shown : kept;
  const most = Math.max(1, ...shown.flatMap((row) => shown.map((column) => (row === column ? 0 : matrix[row][column]))));
  return (
    <section aria-labelledby="confusion">
      <Head id="confusion" title="Taken for what" note={kept.length < order.length ? `the ${MATRIX} most confused of ${order.length} classes` : "rows: truth; columns: prediction"} />
      <div class="scrolls">
        <table class="matrix" style={{ "--columns": String(shown.length) } as any}>
          <thead><tr><td />{shown.map((column) => <th scope="col" title={labels[column]}><span>{labels[column]}</span></th>)}</tr></thead>
          <tbody>
            {rows.map((row) => (
              <tr>
                <th scope="row" title={labels[row]}>{labels[row]}</th>
                {shown.map((column) => {
                  const value = matrix[row][column];
                  const kind = row === column ? "tp" : column === last ? "fn" : row === last ? "fp" : "wrong";
                  if (row === last && column === last) return <td class="none" />;
                  return (
                    <td class={value ? `heat h-${kind}` : "none"} style={value && row !== column ? { "--heat": String(0.1 + (0.32 * value) / most) } as any : undefined}>
                      {value ? <Leads href={to({ view: "objects", cell: `${code(row)}>${code(column)}`, iou: undefined })} count={value} /> : <span aria-label="0">·</span>}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function PrCurves({ run }: { run: Run }): JSX.Element | null {
  const numbers = run.numbers;
  const there = (numbers.classes as string[]).map((name, place) => ({ name, curve: numbers.curves[place] as number[] | null })).filter((entry) => entry.curve);
  if (!there.length) return null;
  const shown = there.slice(0, 6);
  const points = (curve: number[]) => curve.map((value, place) => [place / (curve.length - 1), value / 1000] as [number, number]);
  return (
    <section aria-labelledby="pr">
      <Head id="pr" title="How: precision and recall" note={there.length > 6 ? `IoU 0.5, 6 of ${there.length} classes` : "IoU 0.5, by score"} />
      <Curves lines={shown.map((entry) => ({ name: entry.name, points: points(entry.curve as number[]) }))} label="precision against recall for each class" xLabel="recall" yLabel="precision" />
      <Numbers head={["class", "at recall 0.5", "0.8", "0.9"]} rows={there.map((entry) => [entry.name, ...[25, 40, 45].map((place) => ratio((entry.curve as number[])[place] / 1000))])} />
    </section>
  );
}

function IouHistogram({ boxes, k, at }: { boxes: Boxes; k: number; at: Address }): JSX.Element | null {
  const bins = iouBins(boxes, k).all;
  const first = Math.floor(Number(boxes.thresholds[k]) * BINS + 1e-6);
  if (!bins.some(Boolean)) return null;
  const spelt = (place: number) => `${(place / BINS).toFixed(2)}..${((place + 1) / BINS).toFixed(2)}`;
  const shown = bins.map((value, place) => ({ value, place })).slice(first);
  return (
    <section aria-labelledby="ious">
      <Head id="ious" title="How well pairs fit" note="pairs by IoU" />
      <Histogram label="pairs by IoU" low={(first / BINS).toFixed(2)} high="1" unit="IoU"
        bins={shown.map(({ value, place }) => ({ values: [["tp", value]], title: `${plural(value, "pair")} with IoU ${spelt(place).replace("..", " to ")}`, href: to({ view: "objects", bin: spelt(place), ...at }) }))} />
      <Numbers head={["IoU", "pairs"]} rows={shown.map(({ value, place }) => [spelt(place).replace("..", " – "), <Leads href={to({ view: "objects", bin: spelt(place), ...at })} count={value} />])} />
    </section>
  );
}

function Scores({ boxes, k, at }: { boxes: Boxes; k: number; at: Address }): JSX.Element | null {
  const score = boxes.score, found = boxes.p.outcomes[k];
  if (!score) return null;
  let low = Infinity, high = -Infinity;
  for (let row = 0; row < score.length; row++) if (found[row] === TP || found[row] === FP) (low = Math.min(low, score[row]), high = Math.max(high, score[row]));
  if (!(high >= low)) return null;
  if (low >= 0 && high <= 1) [low, high] = [0, 1];
  const step = (high - low) / 20 || 1;
  const edge = (place: number) => short(Math.fround(low + step * place));
  const edges = Array.from({ length: 21 }, (_, place) => edge(place));
  const bins = edges.slice(0, 20).map((from, place) => ({ text: place === 19 ? String(from) : `${from}..${edges[place + 1]}`, tp: 0, fp: 0 }));
  const bounds = bins.map((bin) => scoreRange(bin.text));
  for (let row = 0; row < score.length; row++) {
    if (found[row] !== TP && found[row] !== FP) continue;
    let place = Math.max(0, Math.min(19, Math.floor((score[row] - low) / step)));
    while (place > 0 && score[row] < bounds[place][0]) place--;
    while (place < 19 && score[row] >= bounds[place][1]) place++;
    bins[place][found[row] === TP ? "tp" : "fp"]++;
  }
  return (
    <section aria-labelledby="scores">
      <Head id="scores" title="Scores" note="predictions that are right and wrong, by score" />
      <Histogram label="predictions by score" low={String(edges[0])} high={String(edges[20])} unit="score"
        bins={bins.map((bin) => ({ values: [["tp", bin.tp], ["fp", bin.fp]], title: `score ${bin.text.replace("..", " to ")}: ${bin.tp} right, ${bin.fp} wrong`, href: to({ view: "objects", score: bin.text, ...at }) }))} />
      <p class="legend small"><span><Mark of="tp" /> right</span><span><Mark of="fp" /> false alarm</span></p>
      <Numbers head={["score", "right", "false alarms"]} rows={bins.map((bin) => [bin.text.replace("..", " – "), ...(["tp", "fp"] as const).map((mark) => <Leads href={to({ view: "objects", score: bin.text, outcome: mark, ...at })} count={bin[mark]} />)])} />
    </section>
  );
}

function Sweep({ run }: { run: Run }): JSX.Element | null {
  const { best_f1: best, curve } = run.numbers.sweep;
  if (!best || curve.scores.length < 2) return null;
  const low = Math.min(0, ...curve.scores), high = Math.max(1, ...curve.scores);
  const line = (name: string) => ({ name, points: curve.scores.map((score: number, place: number) => [(score - low) / (high - low), curve[name][place]] as [number, number]) });
  return (
    <section aria-labelledby="sweep">
      <Head id="sweep" title="By lowest score" note={`best F1 ${ratio(best.f1)} from ${Number(best.score.toPrecision(3))} on`} />
      <Curves lines={[{ ...line("f1"), name: "F1", strong: true }, line("precision"), line("recall")]} label="F1, precision and recall against the lowest score that is kept" xLabel="lowest score kept" yLabel="" />
      <Numbers head={["score", "F1", "precision", "recall"]} rows={curve.scores.map((score: number, place: number) => [String(score), ratio(curve.f1[place]), ratio(curve.precision[place]), ratio(curve.recall[place])])} />
    </section>
  );
}
