// Two runs side by side: what changed, every measure of both, and each object that one finds and the other does not.

import { JSX } from "preact";
import { useState } from "preact/hooks";
import { Address, go, now, to } from "./address";
import { App } from "./app";
import { ByClass } from "./byclass";
import { Boxes, Letter } from "./boxes";
import { Column, Data, Said } from "./data";
import { Count, Chips, Grid, Head, Mark, Measure, Numbers, Search, Value, Where } from "./parts";
import { Crop } from "./stage";
import { kindInWords } from "./boxsummary";
import { Ground, Sentence, spelled, usePaged, Warning } from "./summary";
import { WordRows } from "./texts";
import { FN, OUTCOMES, TONES, allOf, brief, calm, count, letterOf, ratio, signed, toneOf } from "./words";

export const CHANGES = ["fixed", "broken", "new", "gone"];
const SHOWN = ["broken", "fixed", "new", "gone"];
const WORDS: Record<string, [string, string]> = {
  broken: ["broken", "right in A, not in B"], fixed: ["fixed", "right in B, not in A"], new: ["new false alarm", "in B alone"], gone: ["false alarm gone", "in A alone"],
};
// Why a difference has no interval and no test.
const FEW = "too few documents have it";
// What a change is, said of the first run and another.
const between = (name: string, a: string, b: string) => WORDS[name][1].replace(/[AB]/g, (letter) => (letter === "A" ? a : b));
type Pair = { run: string; headline: Said[]; counts: number[]; documents: number[] };
export type Change = { code: number; row: number; other: number };

export class Changes {
  private code: Column[] = [];
  private row: Column[] = [];
  private other: Column[] = [];
  private known = new Map<string, Change[]>();
  private byKey = new Map<string, Map<string, Change>>();
  private compared = 1;

  constructor(private app: App, data: Data) {
    data.head.runs.forEach((_, run) => {
      if (!run || !data.has(`change.${run}.code`)) return;
      this.code[run] = data.column(`change.${run}.code`);
      this.row[run] = data.column(`change.${run}.row`);
      this.other[run] = data.column(`change.${run}.other`);
    });
  }

  // The run that is compared with the first: the one that is shown, or was before the first.
  run(address: Address = now()): number {
    return (this.compared = this.app.place(address) || this.compared);
  }

  pair(): Pair { return this.app.data.head.comparison.pairs[this.run() - 1]; }

  list(address: Address): Change[] {
    const run = this.run(address), key = JSON.stringify([run, address.change, address.q, address.class]);
    if (!this.known.has(key)) {
      const listed: Change[] = [], codes = this.code[run] ?? [];
      for (let at = 0; at < codes.length; at++) {
        const change = { code: codes[at], row: this.row[run][at], other: this.other[run][at] };
        if (address.change && CHANGES[change.code] !== address.change) continue;
        const about = address.q || address.class !== undefined ? this.about(change, run) : null;
        if (about && address.q && !about.document.toLowerCase().includes(address.q.toLowerCase())) continue;
        if (about && address.class !== undefined && about.label !== address.class) continue;
        listed.push(change);
      }
      this.known.set(key, listed.sort((a, b) => SHOWN.indexOf(CHANGES[a.code]) - SHOWN.indexOf(CHANGES[b.code])));
    }
    return this.known.get(key) as Change[];
  }

  // The pages on which something changed so.
  pages(address: Address): Set<number> {
    return new Set(this.list({ ...address, q: undefined, class: undefined }).map((change) => this.app.boxes[change.code === 2 ? this.run(address) : 0].side(change.code > 1 ? "p" : "t").page(change.row)));
  }

  // The change of an object that a key names in either run.
  of(key: string): Change | undefined {
    const run = this.run();
    let known = this.byKey.get(String(run));
    if (!known) {
      const keyed = this.list({ run: String(run) }).flatMap((change) => [[this.about(change, run).key, change], ...(IS_FIELDS && change.code < 2 ? [[this.app.fields[run].key(change.other), change]] : [])] as [string, Change][]);
      this.byKey.set(String(run), (known = new Map(keyed)));
    }
    return known.get(key);
  }

  // Where a change is, and between what.
  about(change: Change, run = this.run()): { document: string; page?: number; label: string; key: string; from: string; to: string; row: number; letter: Letter } {
    const alarm = change.code > 1, mine = change.code === 2 ? run : 0, letter: Letter = alarm ? "p" : "t", row = change.row;
    const { boxes, fields, texts, cases } = this.app;
    if (IS_BOXES) {
      const of = boxes[mine], page = of.side(letter).page(row), where = of.where(page);
      const said = (one: Boxes) => {
        const side = one.side(letter), code = one.codeOf(letter, row);
        if (one.reversed && code !== FN) return code ? "out of order" : "in order";
        return (side.kind && !one.reversed && one.run.kinds[side.kind[row]]) || one.names[OUTCOMES[code]];
      };
      return { document: where.document, page: where.index, label: of.labels[of.side(letter).label[row]] ?? "", key: of.key(letter, row), from: alarm ? "" : said(boxes[0]), to: alarm ? "" : said(boxes[run]), row, letter };
    }
    if (IS_FIELDS) {
      const of = fields[mine];
      return { document: of.documents[of.documentOf(row)], label: of.pathOf(row), key: of.key(row), from: alarm ? "–" : of.written(of.found, row) || "–", to: alarm ? of.written(of.found, row) : fields[run].written(fields[run].found, change.other) || "–", row, letter: "t" };
    }
    if (IS_WORDS) {
      const of = texts[mine], doc = of.documentOf(letter, row);
      return { document: of.documents[doc], label: of.words.at((letter === "t" ? of.tWord : of.pWord)[row]), key: of.key(letter, row), from: "", to: "", row, letter };
    }
    const of = cases[mine].cases[row];
    return { document: of.id, label: of.id, key: of.id, from: alarm ? "" : of.verdict, to: alarm ? "" : cases[run].cases[change.other]?.verdict ?? "", row, letter };
  }

  address(change: Change): Address {
    const run = this.run(), { document, page, key } = this.about(change, run), kind = this.app.run().kind;
    // What is broken is shown where it is broken; only a false alarm that is gone has to be shown where it was.
    const shown = change.code === 3 ? 0 : run;
    const object = kind === "checks" ? undefined : kind === "fields" && change.code < 2 && shown ? this.app.fields[shown].key(change.other) : key;
    return { view: kind === "boxes" ? "pages" : kind, doc: document, page: page === undefined ? undefined : String(page), object, run: shown ? String(shown) : undefined, change: now().change } as Address;
  }

  // The next change of the list.
  step(by: number): void {
    const listed = this.list(now());
    if (!listed.length) return;
    const { object, doc } = now();
    const at = listed.findIndex((change) => { const to = this.address(change); return to.doc === doc && to.object === object; });
    const next = at < 0 ? (by > 0 ? 0 : listed.length - 1) : at + by;
    if (listed[next]) go(this.address(listed[next]));
  }
}

export function Compare({ app }: { app: App }): JSX.Element {
  const { comparison, runs } = app.data.head, changes = app.changes as Changes, run = changes.run(), pair = changes.pair();
  return (
    <div class="summary">
      <section class="opening single" aria-label="the main thing">
        <p class="over-line">{comparison.line.join(" · ")}</p>
        {[runs[0], runs[run]].filter((one) => one.warning).map((one) => <Warning run={one} named />)}
        <Sentence parts={pair.headline} />
        {runs.length > 2 && <div class="segments" role="group" aria-label="compared with the first">{runs.slice(1).map((one, place) => <button type="button" aria-pressed={run === place + 1} onClick={() => go({ run: String(place + 1) })}>{letterOf(place + 1)} {brief(one.name)}</button>)}</div>}
      </section>
      <section aria-labelledby="changed">
        <Head id="changed" title="What changed" note={`each truth and each false alarm that has another outcome in ${letterOf(run)}`} />
        <div class="tiles">
          {SHOWN.map((name) => {
            const value = pair.counts[CHANGES.indexOf(name)];
            return <a class={`tile k-${name}`} href={to({ view: "changes", change: name })} data-change={name} data-value={value}><b><Mark of={name} /> {count(value)}</b><span><strong>{WORDS[name][0]}</strong> <span class="note">{between(name, "A", letterOf(run))}</span></span></a>;
          })}
        </div>
        <p class="note by-document">By document: {count(pair.documents[0])} better, {count(pair.documents[1])} equal, {count(pair.documents[2])} worse.</p>
      </section>
      <Measures app={app} run={run} />
      <ByClass app={app} run={run} />
      {["broken", "fixed"].map((name) => <Some app={app} name={name} />)}
      <Ground app={app} run={{ ...runs[run], issues: [...new Map([...runs[0].issues, ...runs[run].issues].map((issue) => [issue.message, issue])).values()] }} />
    </div>
  );
}

type Row = [string, string, [Value, Value, Value][], [Value, Value, Value, Value, string][], number, number, number];
const more = (value: Value) => (typeof value === "number" ? (value > 0 ? "+" : value < 0 ? "−" : "") + Math.abs(value).toLocaleString("en", { maximumFractionDigits: 1 }) : "–");

function Measures({ app, run }: { app: App; run: number }): JSX.Element {
  const { comparison, runs } = app.data.head;
  const [every, setEvery] = useState(false);
  const rows = (comparison.measures as Row[]).slice(0, every ? undefined : comparison.whole);
  const { shown, pager } = usePaged(rows);
  const ends = shown.filter((row) => !row[6]).flatMap((row) => row[3][run - 1].slice(0, 3) as Value[]).filter((value): value is number => typeof value === "number");
  const most = Math.max(0.02, ...ends.map(Math.abs)), drawn = shown.some((row) => !row[6]), tested = shown.some((row) => typeof row[3][run - 1][1] === "number");
  const at = (value: number) => 6 + 200 * Math.max(0, Math.min(1, value)), off = (value: number) => 106 + (100 * value) / most;
  if (!rows.length) return <section aria-labelledby="measures"><Head id="measures" title="Measures" /><p class="note">No measure has a value in either run.</p></section>;
  return (
    <section aria-labelledby="measures">
      <Head id="measures" title="Measures" note={<>{drawn && <span class="drawn">hollow A, filled {letterOf(run)}; then </span>}{letterOf(run)} − A{tested ? <span class="drawn"> with its {spelled(comparison.confidence)} interval over documents</span> : "; too few documents for intervals and tests"}; ▲ better, ▼ worse{tested && rows.some((row) => row[5]) && "; * tested, and corrected for the number of tests"}</>} />
      <div class="scrolls">
        <table class="compared">
          <thead><tr><th scope="col">measure</th>{[0, run].map((place) => <th scope="col" title={runs[place].name}>{letterOf(place)} {brief(runs[place].name)}</th>)}{drawn && <th scope="col" class="drawn left">0 to 1</th>}<th scope="col">difference</th>{tested && <><th scope="col" class="drawn left">interval, {signed(-most)} to {signed(most)}</th><th scope="col">p</th></>}</tr></thead>
          <tbody>
            {shown.map(([name, title, values, deltas, lower, primary, counts]) => {
              const [a] = values[0], [b] = values[run], [delta, low, high, p, verdict] = deltas[run - 1];
              const tone = toneOf(delta, !!lower, !!counts);
              return (
                <tr>
                  <th scope="row">{title}{primary && tested ? <span class="note"> *</span> : ""}</th>
                  <td><Measure name={name} value={a} run={runs[0].name} as={counts ? count : undefined} /></td>
                  <td><Measure name={name} value={b} run={runs[run].name} as={counts ? count : undefined} /></td>
                  {drawn && <td class="drawn">{!counts && typeof a === "number" && typeof b === "number" && <svg class="dumbbell" viewBox="0 0 212 16" role="img" aria-label={`${ratio(a)} and ${ratio(b)}`}><path class="rule" d="M6 8H206" /><path class="bar" d={`M${at(a)} 8H${at(b)}`} /><circle class="hollow" cx={at(a)} cy="8" r="4.5" /><circle class="filled" cx={at(b)} cy="8" r="4.5" /></svg>}</td>}
                  <td class={`t-${tone}`}><Measure name={name} value={delta} as={counts ? more : signed} run="delta" /> <span aria-hidden="true">{typeof delta !== "number" ? "" : TONES[tone]}</span><span class="hidden"> {tone}{verdict && `, ${verdict}`}</span></td>
                  {tested && <><td class="drawn left">{counts && typeof low === "number" ? <span class="note">{more(low)} to {more(high)}</span> : typeof low === "number" && typeof high === "number" ? <svg class={`whisker t-${tone}`} viewBox="0 0 212 16" role="img" aria-label={`${signed(low)} to ${signed(high)}`}><path class="rule" d="M106 1V15" /><path class="bar" d={`M${off(low)} 8H${off(high)}`} /><circle class="filled" cx={off(delta as number)} cy="8" r="4" /></svg> : <span class="note" title={FEW}>–</span>}</td>
                  <td title={typeof p === "number" ? undefined : FEW}>{typeof p === "number" ? (p < 0.0005 ? "<0.001" : p.toFixed(3)) : "–"}</td></>}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {pager}
      {comparison.measures.length > comparison.whole && <p class="pager"><button type="button" aria-pressed={every} onClick={() => setEvery(!every)}>{every ? "only numbers of everything" : `all ${comparison.measures.length} measures`}</button></p>}
      <Numbers head={["measure", brief(runs[0].name), brief(runs[run].name), "difference", "low", "high"]} rows={shown.map(([, title, values, deltas, , , counts]) => [title, ...[0, run].map((one) => (counts ? count : ratio)(values[one][0])), ...deltas[run - 1].slice(0, 3).map((value) => (counts ? more : signed)(value as Value))])} />
    </section>
  );
}

function Some({ app, name }: { app: App; name: string }): JSX.Element | null {
  const changes = app.changes as Changes, listed = changes.list({ ...now(), change: name, q: undefined, class: undefined });
  if (!listed.length) return null;
  return (
    <section aria-label={WORDS[name][0]}>
      <Head title={WORDS[name][0].charAt(0).toUpperCase() + WORDS[name][0].slice(1)} note={<Sides app={app} />}><a class="more" href={to({ view: "changes", change: name })}>{allOf(listed.length, "change")} →</a></Head>
      <ul class="pairs">{listed.slice(0, 3).map((change) => <li><Card app={app} change={change} /></li>)}</ul>
    </section>
  );
}

// Which of two things that stand beside each other is of which run.
function Sides({ app }: { app: App }): JSX.Element {
  const { runs } = app.data.head, names = [0, (app.changes as Changes).run()].map((place) => brief(runs[place].name, 24));
  return <>{IS_BOXES ? `left ${names[0]}, right ${names[1]}` : IS_WORDS ? "" : names.join(" → ")}</>;
}

const inWords = (text: string) => calm((IS_BOXES ? (text === "TP" ? "found" : kindInWords(text) || text) : text) || "–");

// What became of the chosen object, where it is shown as one of the two runs has it.
export function Became({ app, of }: { app: App; of: string }): JSX.Element | null {
  const changes = app.changes, change = changes?.of(of);
  if (!changes || !change) return null;
  const about = changes.about(change), name = CHANGES[change.code], [a, b] = [0, changes.run()].map((place) => brief(app.data.head.runs[place].name, 18));
  const said = about.from !== about.to && change.code < 2 ? `${a}: ${inWords(about.from)}; ${b}: ${inWords(about.to)}` : between(name, a, b);
  return <p class="became" data-became={name}><Mark of={name} /> <b>{WORDS[name][0]}</b> <span class="note">{said} <kbd>x</kbd></span></p>;
}

function Card({ app, change }: { app: App; change: Change }): JSX.Element {
  const changes = app.changes as Changes, run = changes.run(), about = changes.about(change, run), name = CHANGES[change.code];
  const pair = IS_BOXES ? [app.boxes[0], app.boxes[run]] : [], owner = pair[change.code === 2 ? 1 : 0];
  const outcome = { fixed: "tp", broken: "fn", new: "fp", gone: "ignored" }[name] as string;
  const called = IS_BOXES ? owner.called(about.letter, about.row) : about.label;
  const [was, is] = [about.from, about.to].map(inWords);
  return (
    <a class={`card change k-${name}`} href={to(changes.address(change))} data-object={about.key} data-outcome={outcome} data-side={about.letter === "t" ? "truth" : "prediction"} data-label={about.label} data-kind={about.to || about.from}>
      {IS_BOXES && <span class="two-crops">{pair.map((boxes) => <PairCrop app={app} boxes={change.code < 2 ? boxes : owner} about={about} blank={change.code > 1 && boxes !== owner} />)}</span>}
      <span class="line" title={called}><Mark of={name} /> <b>{called}</b> <span class="note">{WORDS[name][0]}</span></span>
      {about.from !== about.to && <span class="note from-to" title={`${was} → ${is}`}><span class="cut">{was}</span> <span class="cut">→ {is}</span></span>}
      {IS_WORDS && <Context rows={app.texts[change.code === 2 ? run : 0]} letter={about.letter} row={about.row} />}
      {(IS_BOXES || about.document !== about.label) && <Where document={about.document} page={about.page} />}
    </a>
  );
}

function Context({ rows, letter, row }: { rows: WordRows; letter: Letter; row: number }): JSX.Element {
  const [before, own, behind] = rows.around(letter, row), apart = (words: string[]) => words.map((word) => <><bdi>{word}</bdi> </>);
  return <span class="context cut">{apart(before)}<mark>{own}</mark> {apart(behind)}</span>;
}

// The same place in a run; where the other run has a false alarm that this one has not, the page alone.
function PairCrop({ app, boxes, about, blank }: { app: App; boxes: Boxes; about: { row: number; letter: Letter; document: string; page?: number }; blank: boolean }): JSX.Element {
  const page = boxes.find(about.document, String(about.page));
  return <Crop boxes={boxes} page={page} k={0} letter={about.letter} row={about.row} url={app.images.url(page)} aspect={app.aspect(boxes, page)} wide={1.25} blank={blank} code={boxes.codeOf(about.letter, about.row)} />;
}

export function ChangesView({ app }: { app: App }): JSX.Element {
  const address = now(), changes = app.changes as Changes, listed = changes.list(address);
  const drawn = app.boxes.length > 0;
  return (
    <div class="wall">
      <h1 class="view-title">Changes <span class="note"><Sides app={app} /></span></h1>
      <div class="tools across">
        <Count of="changes" value={listed.length} noun="change" />
        <div class="segments" role="group" aria-label="change">
          {["", ...SHOWN].map((name) => <button type="button" data-filter="change" data-value={name || "all"} aria-pressed={(address.change ?? "") === name} onClick={() => go({ change: name || undefined })}>{name ? <><Mark of={name} /> {WORDS[name][0]}</> : "all"}</button>)}
        </div>
        <Search label="Search documents" />
        <Chips except={["change"]} />
      </div>
      {!listed.length ? <p class="note empty" data-nothing>{address.change || address.q ? "No change fits the filters." : "Nothing changed."}</p> : <Grid total={listed.length} width={drawn ? 350 : 300} height={drawn ? 248 : IS_WORDS || IS_FIELDS ? 96 : 76} label="changes" card={(place) => <Card app={app} change={listed[place]} />} />}
    </div>
  );
}
