// Checks: the cases, those that fail first; why, and what both sides look like.

import { JSX } from "preact";
import { Address, go, now, to } from "./address";
import { App } from "./app";
import { Became } from "./compare";
import { Run } from "./data";
import { Chips, Count, Head, Listbox, Mark, Nothing, NothingShown, Outcomes, Search } from "./parts";
import { kindOf } from "./summary";
import { allOf, calm, plural, ratio } from "./words";

type CaseRow = { evaluator: number; score: number | null; verdict: string; reasoning: string; hits: string[]; misses: string[]; shapes?: Record<string, [number, number][][]> };
type Case = { id: string; rows: CaseRow[]; verdict: string; score: number | null; grid?: (GridCell | null)[][]; outcome?: string; kinds?: string[] };
type GridCell = [text: string, look: string, colspan: number, rowspan: number, kind: string];
const ORDER = ["fail", "error", "partial", "pass"];
const WORDS: Record<string, string> = { pass: "passes", partial: "passes in part", fail: "fails", error: "could not be judged" };

// What a case is called where it is something that can be seen.
const nounOf = (run: Run): string => run.noun ?? "case";

export class Cases {
  cases: Case[];
  evaluators: string[];

  constructor(public run: Run, public place: number) {
    this.evaluators = run.evaluators;
    const severity = ["pass", "partial", "fail", "error"];
    this.cases = run.cases.map((entry: any) => ({
      ...entry,
      verdict: entry.rows.reduce((worst: string, row: CaseRow) => (severity.indexOf(row.verdict) > severity.indexOf(worst) ? row.verdict : worst), "pass"),
      score: entry.rows.reduce((least: number | null, row: CaseRow) => (least === null || row.score === null ? null : Math.min(least, row.score)), 1),
    }));
  }

  list(address: Address): Case[] {
    const wanted = address.q?.toLowerCase(), evaluator = address.class === undefined ? -1 : this.evaluators.indexOf(address.class);
    const asked = address.outcome?.split(","), fits = (verdict: string, outcome?: string) => !asked || asked.includes(verdict) || (!!outcome && asked.includes(outcome));
    const kept = this.cases.filter((entry) => (!wanted || entry.id.toLowerCase().includes(wanted)) && (!address.kind || !!entry.kinds?.includes(address.kind))
      && (address.class === undefined ? fits(entry.verdict, entry.outcome) : entry.rows.some((row) => row.evaluator === evaluator && fits(row.verdict))));
    return address.sort === "document" ? kept : kept.sort((a, b) => ORDER.indexOf(a.verdict) - ORDER.indexOf(b.verdict) || (a.score ?? 0) - (b.score ?? 0));
  }

  chosen(address: Address): Case | undefined {
    return this.cases.find((entry) => entry.id === address.doc) ?? this.cases.find((entry) => entry.id.startsWith(`${address.doc}#`)) ?? this.list(address)[0];
  }

  step(by: number): void {
    const address = now(), list = this.list(address), at = list.indexOf(this.chosen(address) as Case);
    const next = list[address.view !== "checks" ? Math.max(0, at) : Math.max(0, Math.min(list.length - 1, at + by))];
    if (next) go({ view: "checks", doc: next.id });
  }

  error(by: number): void {
    const address = now(), list = this.list(address), from = list.indexOf(this.chosen(address) as Case);
    const fresh = address.view !== "checks" || address.doc === undefined;
    for (let at = fresh && by > 0 ? Math.max(0, from) : from + by; at >= 0 && at < list.length; at += by) if (list[at].verdict !== "pass") return go({ view: "checks", doc: list[at].id });
  }
}

export function Checks({ app, cases }: { app: App; cases: Cases }): JSX.Element {
  const address = now(), list = cases.list(address), chosen = cases.chosen(address), noun = nounOf(cases.run);
  return (
    <div class="viewer-layout two left-list">
      <aside class="side list" aria-label={`${noun}s`}>
        <div class="tools">
          <Search label={`Search ${noun}s`} />
          <div class="line"><Count of="objects" value={list.length} noun={noun} /></div>
          <Outcomes of={ORDER} names={Object.fromEntries(ORDER.map((name) => [name, name]))} />
          <Chips buttons={ORDER} spelt={(key, value) => (key === "kind" ? kindOf(cases.run, value) : value)} />
        </div>
        {!list.length ? <Nothing of={noun} any={cases.cases.length > 0} /> : <Listbox total={list.length} height={46} label={`${noun}s`} chosen={chosen ? list.indexOf(chosen) : -1} choose={(place) => go({ doc: list[place].id })}
          option={(place) => ({ "data-case": list[place].id, "data-verdict": list[place].verdict })}
          row={(place) => <><Mark of={list[place].verdict} /><span class="name doc" title={list[place].id}>{list[place].id}<span class="hidden"> {WORDS[list[place].verdict]}</span></span><span class="note value">{ratio(list[place].score)}</span></>} />}
      </aside>
      {chosen ? <CaseViewer app={app} cases={cases} of={chosen} /> : <NothingShown of={noun} />}
    </div>
  );
}

function CaseViewer({ app, cases, of }: { app: App; cases: Cases; of: Case }): JSX.Element {
  return (
    <section class="stage case" aria-label={nounOf(cases.run)} data-viewer data-case={of.id} data-document={of.id}>
      <div class="bar-top">
        <h1><Mark of={of.verdict} /> <span class="doc" title={of.id}>{of.id}</span> <span class="note">{WORDS[of.verdict]}</span></h1>
        <span class="steps"><button type="button" aria-label={`${nounOf(cases.run)} before`} onClick={() => cases.step(-1)}>‹</button><button type="button" aria-label={`next ${nounOf(cases.run)}`} onClick={() => cases.step(1)}>›</button></span>
        <button type="button" onClick={() => app.copy(of)}>Copy as JSON <kbd>c</kbd></button>
      </div>
      <div class="case-scroll">
        <Became app={app} of={of.id} />
        {of.grid && <Both grid={of.grid} run={cases.run} />}
        {of.rows.slice(0, 60).map((row) => (
          <article class="evaluator" data-detail={`${of.id}`}>
            <h2><Mark of={row.verdict} /> {cases.evaluators[row.evaluator]} <span class="note">{WORDS[row.verdict]}, score {ratio(row.score)}</span></h2>
            <p class="reasoning">{calm(row.reasoning)}</p>
            {row.shapes && <Shapes row={row} />}
            <ul class="lines">{row.misses.map((text) => <li><Mark of="fail" /> <span>{calm(text)}</span></li>)}{row.hits.map((text) => <li><Mark of="pass" /> <span>{calm(text)}</span></li>)}</ul>
          </article>
        ))}
      </div>
    </section>
  );
}

// How much of the text of a cell is shown, so that both tables are seen.
const LONG = 160;

// Two tables, row beside row; an empty place keeps them apart.
function Both({ grid, run }: { grid: (GridCell | null)[][]; run: Run }): JSX.Element {
  return (
    <div class="scrolls both-sides" tabIndex={0} role="group" aria-label="truth and prediction">
      <p class="note">left: truth, right: prediction</p>
      <table class="both"><tbody>{grid.map((line) => <tr>{line.map((cell) => (cell ? <td class={cell[1]} colSpan={cell[2]} rowSpan={cell[3]} data-kind={cell[4] || undefined} title={cell[0].length > LONG ? cell[0] : kindOf(run, cell[4])}>{cell[0].length > LONG ? cell[0].slice(0, LONG - 1) + "…" : cell[0]}</td> : <td class="between" />))}</tr>)}</tbody></table>
    </div>
  );
}

function Shapes({ row }: { row: CaseRow }): JSX.Element | null {
  const truth = row.shapes?.truth ?? [], found = row.shapes?.found ?? [];
  const points = [...truth, ...found].flat();
  if (!points.length) return null;
  const [left, top] = [Math.min(...points.map(([x]) => x)), Math.min(...points.map(([, y]) => y))];
  const [right, bottom] = [Math.max(...points.map(([x]) => x)), Math.max(...points.map(([, y]) => y))];
  const size = Math.max(right - left, bottom - top) || 1, margin = size * 0.08, passed = row.verdict === "pass";
  const place = ([x, y]: [number, number]) => `${((x - left + margin) / size) * 400} ${((y - top + margin) / size) * 400}`;
  const width = ((right - left + 2 * margin) / size) * 400, height = ((bottom - top + 2 * margin) / size) * 400;
  const ring = (of: [number, number][]) => "M" + of.map(place).join("L") + "z";
  const dot = (of: [number, number][], classes: string) => { const [x, y] = place(of[0]).split(" "); return <circle class={classes} cx={x} cy={y} r="6" />; };
  const most = 400;
  const drawn = (shapes: [number, number][][], classes: string) => shapes.slice(0, most).map((shape) => (shape.length === 1 ? dot(shape, classes) : <path class={classes} d={ring(shape)} />));
  return (
    <figure class="shapes">
      <svg class="crop" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`${plural(truth.length, "expected shape")}, ${plural(found.length, "found shape")}`}>
        {drawn(truth, `b o-${passed ? "tp" : "fn"} s-t`)}{drawn(found, `b o-${passed ? "tp" : "fp"} s-p`)}
      </svg>
      <figcaption class="note"><span><i class="stroke solid" /> expected</span><span><i class="stroke dashed" /> found</span></figcaption>
    </figure>
  );
}

export function WorstCases({ run, cases }: { run: Run; cases: Cases }): JSX.Element {
  const { gate } = run.numbers;
  return (
    <>
      {cases.cases.length > 0 && <section aria-labelledby="worst-cases">
        <Head id="worst-cases" title={`Worst ${nounOf(run)}s`}><a class="more" href={to({ view: "checks" })}>{allOf(cases.cases.length, nounOf(run))} →</a></Head>
        <table class="rows"><tbody>{cases.list({}).slice(0, 12).map((entry) => <tr><th scope="row" class="doc-cell" title={entry.id}><Mark of={entry.verdict} /> <a href={to({ view: "checks", doc: entry.id })}>{entry.id}</a></th><td>{ratio(entry.score)}</td><td class="grow left note">{calm(entry.rows.find((row) => row.verdict === entry.verdict)?.reasoning ?? "")}</td></tr>)}</tbody></table>
      </section>}
      {gate && gate.failures.length > 0 && <section><Head title="Gate" /><ul class="issues">{gate.failures.slice(0, 40).map((text: string) => <li><Mark of="fail" /> {calm(text)}</li>)}</ul></section>}
    </>
  );
}
