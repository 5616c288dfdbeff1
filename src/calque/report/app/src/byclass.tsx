// Two runs class by class: counts that lead to their objects, and ratios with what became better or worse.

import { JSX } from "preact";
import { Address, to } from "./address";
import { App } from "./app";
import { Run } from "./data";
import { Head, Leads, Measure, Shares, Value } from "./parts";
import { Overview, usePaged } from "./summary";
import { TONES, count, letterOf, toneOf } from "./words";

type Table = NonNullable<Overview["table"]>;
type Delta = [number, boolean];

const EACH = 20;

export function ByClass({ app, run }: { app: App; run: number }): JSX.Element | null {
  const { runs, comparison } = app.data.head, pair = [0, run];
  const tables: (Table | null)[] = pair.map((place) => runs[place].numbers?.overviews?.[0]?.table ?? null);
  const names = [...new Set(tables.flatMap((table) => table?.rows.map((row) => row[0]) ?? []))];
  const { shown, pager } = usePaged(names, EACH);
  const table = tables[0];
  if (!table || !tables[1] || !names.length) return null;
  const deltas = new Map<string, Delta>((comparison.measures as any[]).map((row) => [row[0], [row[3][run - 1][0] ?? 0, !!row[4]]]));
  const values = tables.map((one) => new Map(one?.rows.map(([name, ...row]) => [name, row as Value[]])));
  const size = (row: Value[]) => table.marks.reduce((sum, [column]) => sum + ((row[column] as number) ?? 0), 0);
  const widest = Math.max(1, ...values.flatMap((one) => [...one.values()].map(size)));
  return (
    <section aria-labelledby="by-class">
      <Head id="by-class" title={table.title} note="of each the first run, and below it the second; ▲ better, ▼ worse" />
      <div class="scrolls">
        <table class="classes stacks both-runs">
          <thead><tr><th scope="col">{table.of}</th><th scope="col" class="left">run</th><th scope="col"><span class="hidden">shares</span></th>{table.columns.map(([title]) => <th scope="col">{title}</th>)}</tr></thead>
          {shown.map((name) => (
            <tbody key={name}>
              {pair.map((place, at) => {
                const row = values[at].get(name) ?? table.columns.map(() => null);
                return (
                  <tr>
                    {!at && <th scope="rowgroup" rowSpan={2} title={name}>{name}</th>}
                    <th scope="row" class="note" title={runs[place].name}>{letterOf(place)} {runs[place].name}</th>
                    <td class="bar"><Shares whole={widest} label={`${name}, ${runs[place].name}`} parts={table.marks.map(([column, mark]) => ({ mark, value: (row[column] as number) ?? 0, title: `${name}: ${count(row[column])} ${table.columns[column][0]}`, href: leads(app, runs[place], place, name, table.columns[column][2]) }))} /></td>
                    {table.columns.map((column, number) => <td data-title={column[0]}><Cell app={app} of={runs[place]} place={place} name={name} column={column} value={row[number]} delta={at ? deltas.get(`${column[1]}/${name}`) : undefined} /></td>)}
                  </tr>
                );
              })}
            </tbody>
          ))}
        </table>
      </div>
      {pager}
    </section>
  );
}

// The objects of a class in a run.
function leads(app: App, of: Run, place: number, name: string, outcome: string): string {
  const at: Address = of.numbers.overviews[0].at;
  return to({ view: app.objectsView() as any, run: place ? String(place) : undefined, outcome, class: name, ...at });
}

function Cell({ app, of, place, name, column, value, delta }: { app: App; of: Run; place: number; name: string; column: [string, string, string]; value: Value; delta?: Delta }): JSX.Element {
  const [, measure, outcome] = column, href = outcome && outcome !== "-" ? leads(app, of, place, name, outcome) : undefined;
  if (!measure) return <Leads classes="number" href={href as string} count={value} />;
  // Counts have no tone: how many there are is neither good nor bad without what they are of.
  const tone = outcome || !delta ? "same" : toneOf(delta[0], delta[1]);
  return (
    <span class={`t-${tone}`}>
      <Measure name={`${measure}/${name}`} value={value} run={of.name} as={outcome ? count : undefined} href={href} />
      {tone !== "same" && <><span aria-hidden="true"> {TONES[tone]}</span><span class="hidden"> {tone}</span></>}
    </span>
  );
}
