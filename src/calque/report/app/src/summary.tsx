// The first view: one sentence, what to look at, the numbers, the classes, the worst pages, why, how, and what it rests on.

import { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { Address, to } from "./address";
import { App } from "./app";
import { Cell, Finding, Run, Said } from "./data";
import { Head, Leads, Mark, Measure, Numbers, Shares, Value, runNames } from "./parts";
import { MARKS, brief, count, plural, ratio } from "./words";

export type Overview = {
  line: string[];
  at: Address;
  parts: [string, number, string, string][];
  numbers: [string, string, Value, string, string][];
  table: null | { title: string; of: string; note: string; columns: [string, string, string][]; marks: [number, string][]; rows: [string, ...Value[]][]; total: Value[] };
};

export function Sentence({ parts }: { parts: Said[] }): JSX.Element {
  return (
    <h1 data-headline>
      {parts.map((part) => (typeof part === "string" ? part.split(/(\w+ [\d,]+:|\d+ %)/).map((piece, place) => (place % 2 ? <span class="whole-number">{piece}</span> : piece)) : (
        <Measure name={part.measure} value={part.value} text={part.text} tone={part.tone} run={part.run === undefined ? undefined : runNames.all[part.run]} />
      )))}
    </h1>
  );
}

// What to look at, at the lowest threshold whatever is shown.
export function Findings({ findings, view }: { findings: Finding[]; view: string }): JSX.Element | null {
  if (!findings.length) return null;
  return (
    <ol class="findings" aria-label="what to look at">
      {findings.map((finding) => (
        <li>
          <a href={to({ view: view as any, iou: undefined, ...(finding.address as Address) })} data-objects={finding.objects ?? undefined}>
            <Mark of={finding.mark} /> <span>{finding.text}</span> <span class="arrow" aria-hidden="true">→</span>
          </a>
        </li>
      ))}
    </ol>
  );
}

// The first view of every task: one sentence, what to look at, a bar of everything, the numbers, and what they rest on.
export function Summary({ app, run, k, children, extra }: { app: App; run: Run; k: number; children?: ComponentChildren; extra?: Extra }): JSX.Element {
  const overview: Overview = run.numbers.overviews[k], text = run.numbers.thresholds?.[k];
  const view = app.objectsView(), at = { ...overview.at, iou: k ? text : undefined } as Address;
  const whole = overview.parts.reduce((sum, [, value]) => sum + value, 0);
  const named: Record<string, string> = { pass: "tp", partial: "wrong", fail: "fn", error: "ignored" };
  return (
    <>
      <section class="opening" aria-label="the main thing">
        <p class="over-line">{overview.line.join(" · ")}</p>
        <Warning run={run} />
        <Sentence parts={run.headline} />
        <Findings findings={run.findings} view={view} />
        <div class="whole">
          <Shares whole={whole} label={overview.parts.map(([, value, name]) => `${value} ${name}`).join(", ")} parts={overview.parts.map(([mark, value, name]) => ({ mark: named[mark] ?? mark, value, title: `${count(value)} ${name}`, href: to({ view: view as any, outcome: mark, ...at }) }))} />
          <p class="legend">
            {overview.parts.map(([mark, value, name, measure]) => {
              const href = to({ view: view as any, outcome: mark, ...at });
              return <span><Mark of={mark} /> {measure ? <Measure name={measure} value={value} as={count} href={href} /> : <Leads classes="number" href={href} count={value} />} {name}</span>;
            })}
          </p>
        </div>
      </section>
      <dl class="six" style={{ "--numbers": String(overview.numbers.length) } as any}>
        {overview.numbers.map(([title, name, value, note, outcome]) => (
          <Big run={run} title={title} name={name} value={value} note={note} as={outcome ? count : undefined} href={outcome && outcome !== "-" ? to({ view: view as any, outcome, ...at }) : undefined} />
        ))}
      </dl>
      {overview.table && <Breakdown run={run} table={overview.table} view={view} at={at} extra={extra} />}
      {children}
      <Ground app={app} run={run} />
    </>
  );
}

// One of the numbers that stand out, with a thin bar from 0 to 1 and what it is of.
function Big({ run, title, name, value, note, as, href }: { run: Run; title: string; name: string; value: Value; note: string; as?: (value: Value) => string; href?: string }): JSX.Element {
  const share = typeof value === "number" && !as ? Math.max(0, Math.min(1, value)) : null;
  const interval: [number, number] | undefined = run.intervals?.[name], ends = (value: number) => (as ? as(Math.round(value)) : ratio(value));
  return (
    <div class="big">
      <dt>{title}</dt>
      <dd>
        <Measure name={name} value={value} reason={why(run, name)} as={as} href={href} />
        {share !== null && (
          <span class="gauge" aria-hidden="true"><i style={{ width: `${100 * share}%` }} />{interval && <b style={{ left: `${100 * interval[0]}%`, width: `${100 * Math.max(0, interval[1] - interval[0])}%` }} />}</span>
        )}
        <span class="note">{interval ? <>{spelled(run.confidence)}: {ends(interval[0])} to {ends(interval[1])}<br /></> : null}{note}</span>
      </dd>
    </div>
  );
}

// How sure an interval is: a percentage, with as many digits as it was given.
export const spelled = (confidence?: number | null) => (confidence ? `${Number((100 * confidence).toPrecision(6))} %` : "interval");

// Why a measure has no value.
function why(run: Run, name: string): string | undefined {
  return run.reasons?.[name.replace(/[@/].*/s, "").replace(/.*\./, "")];
}

export type Extra = { head: string[]; cells: (name: string, place: number) => ComponentChildren[] };

function Breakdown({ run, table, view, at, extra }: { run: Run; table: NonNullable<Overview["table"]>; view: string; at: Address; extra?: Extra }): JSX.Element {
  const value = (row: Value[], column: number) => (row[column] as number) ?? 0;
  const size = (row: Value[]) => table.marks.reduce((sum, [column]) => sum + value(row, column), 0);
  const order = table.rows.map((_, place) => place);
  if (order.length > PER_PAGE) order.sort((a, b) => size(table.rows[b].slice(1) as Value[]) - size(table.rows[a].slice(1) as Value[]) || a - b);
  const widest = Math.max(1, ...table.rows.map((row) => size(row.slice(1) as Value[])));
  const { shown, pager } = usePaged(order);
  const cells = (row: Value[], label: string | null) => table.columns.map(([title, measure, outcome], column) => {
    const href = outcome && outcome !== "-" ? to({ view: view as any, outcome, class: label ?? undefined, ...at }) : undefined;
    return <td data-title={title}>{measure ? <Measure name={label === null ? measure : `${measure}/${label}`} value={row[column]} as={outcome ? count : undefined} href={href} reason={why(run, measure)} /> : <Leads classes="number" href={href as string} count={row[column]} />}</td>;
  });
  const bar = (row: Value[], name: string) => (
    <Shares whole={widest} label={`${name}: ${table.marks.map(([column]) => `${row[column]} ${table.columns[column][0]}`).join(", ")}`}
      parts={table.marks.map(([column, mark]) => ({ mark, value: value(row, column), title: `${name}: ${count(row[column])} ${table.columns[column][0]}`, href: to({ view: view as any, outcome: table.columns[column][2], class: name, ...at }) }))} />
  );
  if (!order.length) return <></>;
  return (
    <section aria-labelledby="breakdown">
      <Head id="breakdown" title={table.title} note={<>{table.marks.map(([column, mark]) => <><Mark of={MARKS[table.columns[column][0]] ? table.columns[column][0] : mark} /> {table.columns[column][0]} </>)}· {table.note || "a number leads to its objects"}</>} />
      <div class="scrolls">
        <table class="classes stacks">
          <thead><tr><th scope="col">{table.of}</th><th scope="col"><span class="hidden">shares</span></th>{table.columns.map(([title]) => <th scope="col">{title}</th>)}{extra?.head.map((title) => <th scope="col" class="wide left">{title}</th>)}</tr></thead>
          <tbody>
            {shown.map((place) => {
              const [name, ...row] = table.rows[place];
              return (
                <tr key={place}>
                  <th scope="row" title={name}><a href={to({ view: view as any, class: name, ...at })}>{name}</a></th>
                  <td class="bar">{bar(row, name)}</td>
                  {cells(row, name)}
                  {extra?.cells(name, place).map((cell) => <td class="wide left">{cell}</td>)}
                </tr>
              );
            })}
          </tbody>
          <tfoot><tr><th scope="row">all</th><td />{cells(table.total, null)}{extra?.head.map(() => <td class="wide" />)}</tr></tfoot>
        </table>
      </div>
      {pager}
    </section>
  );
}

const PER_PAGE = 40;

export function usePaged<T>(rows: T[], each = PER_PAGE): { shown: T[]; pager: JSX.Element | null } {
  const [from, setFrom] = useState(0);
  const start = Math.min(from, Math.max(0, rows.length - 1));
  const first = start - (start % each);
  const pager = rows.length > each ? (
    <p class="pager">
      <button type="button" disabled={!first} onClick={() => setFrom(first - each)}>← before</button>
      <span role="status">{first + 1}–{Math.min(rows.length, first + each)} of {count(rows.length)}</span>
      <button type="button" disabled={first + each >= rows.length} onClick={() => setFrom(first + each)}>more →</button>
    </p>
  ) : null;
  return { shown: rows.slice(first, first + each), pager };
}

export function Warning({ run, named }: { run: Run; named?: boolean }): JSX.Element | null {
  return run.warning ? <p class="warning"><Mark of="error" /> Nothing{named && ` of ${brief(run.name)}`} was evaluated: {run.warning}</p> : null;
}

export function Ground({ app, run }: { app: App; run: Run }): JSX.Element {
  return (
    <section aria-labelledby="ground" class="ground">
      <Head id="ground" title="What it rests on" />
      {run.issues.length > 0 && (
        <ul class="issues">
          {run.issues.slice(0, 40).map((issue) => (
            <li><code>{issue.code}</code> {issue.message}{(issue.count ?? 1) > 1 && <span class="note"> {count(issue.count)} times</span>} {issue.file && <span class="note">{issue.file}</span>}</li>
          ))}
        </ul>
      )}
      {!run.issues.length && <p class="note">Nothing was noticed in the data.</p>}
      {run.undefined.length > 0 && (
        <Numbers title={`${plural(run.undefined_count, "number")} without a value, and why`} head={["number", "reason"]} rows={run.undefined.map(([name, why]) => [name, why])} />
      )}
      <p class="signature" data-signature>{app.data.head.signature}</p>
    </section>
  );
}

const cellText = (cell: Cell) => (typeof cell === "string" ? cell : cell.text);
// A kind in words, where the task has some for it.
export const kindOf = (run: Run, kind: string): string => run.words?.[kind] ?? kind;
const isNumber = (text: string) => /^[-−+<>]?[\d.,\s]*%?$|^–$/.test(text.trim());

// Tables as the terminal has them; numbers stand right, texts left, and those may wrap.
export function Tables({ run, children }: { run: Run; children?: ComponentChildren }): JSX.Element | null {
  if (!children && !run.sections.some((section) => section.rows.length || section.notes.length)) return null;
  return (
    <div class="columns tables">
      {children}
      {run.sections.filter((section) => section.rows.length || section.notes.length).map((section) => {
        const classes = section.head.map((_, place) => (place && section.rows.some((row) => !isNumber(cellText(row[place]))) ? "text" : undefined));
        return (
        <section class="plain-table">
          {section.title && <Head title={section.title} />}
          {section.rows.length > 0 && (
            <div class="scrolls">
              <table>
                <thead><tr>{section.head.map((name, place) => <th scope="col" class={classes[place]}>{name}</th>)}</tr></thead>
                <tbody>
                  {section.rows.slice(0, 100).map((row) => (
                    <tr>{row.map((cell, place) => { const title = typeof cell === "string" ? undefined : cell.reason, text = /kind$/.test(section.head[place]) ? kindOf(run, cellText(cell)) : cellText(cell); return place ? <td title={title} class={classes[place]}>{text}</td> : <th scope="row" title={text}>{text}</th>; })}</tr>
                  ))}
                </tbody>
              </table>
            </div>
          )}
          {section.notes.map((note) => <p class="note">{note}</p>)}
        </section>
        );
      })}
    </div>
  );
}

