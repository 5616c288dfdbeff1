// The whole page: its head with the ways between views, and the view that the address asks for.

import { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Address, beside, go, now, useAddress } from "./address";
import { Boxes, parseKey } from "./boxes";
import { Calibration } from "./calibration";
import { Cases, Checks, WorstCases } from "./checks";
import { Changes, ChangesView, Compare } from "./compare";
import { Data } from "./data";
import { FieldRows, Fields } from "./fields";
import { Images } from "./images";
import { listen } from "./keys";
import { Objects } from "./objects";
import { Pages, stepError, stepPage } from "./pages";
import { runNames } from "./parts";
import { Patterns } from "./stage";
import { WordRows, WordsView, WorstTexts } from "./texts";
import { BoxSummary } from "./boxsummary";
import { Ground, Sentence, Summary, Tables, Warning } from "./summary";
import { brief, letterOf } from "./words";

const TITLES: Record<string, string> = { summary: "Summary", pages: "Pages", objects: "Objects", fields: "Fields", words: "Words", checks: "Checks", compare: "Compare", changes: "Changes" };
const OWN: Record<string, string[]> = { boxes: ["pages", "objects"], fields: ["fields"], words: ["words"], checks: ["checks"], tables: [] };

export class App {
  images: Images;
  boxes: Boxes[] = [];
  fields: FieldRows[] = [];
  texts: WordRows[] = [];
  cases: Cases[] = [];
  changes: Changes | null = null;
  views: string[];
  wiped: number | null = null;
  status = "";
  listeners = new Set<() => void>();

  constructor(public data: Data) {
    this.images = new Images(data);
    const runs = data.head.runs;
    runNames.all = runs.map((run) => run.name);
    const own = OWN[runs[0].kind];
    this.views = runs.length > 1 ? ["compare", "changes", ...own.filter((view) => view !== "objects"), "summary"] : ["summary", ...own];
    const alone = runs.length === 1;
    if (IS_BOXES) this.boxes = runs.map((run, place) => new Boxes(data, run, place, alone));
    if (IS_FIELDS) this.fields = runs.map((run, place) => new FieldRows(data, run, place, alone));
    for (const rows of this.fields) rows.runs = this.fields;
    if (IS_WORDS) this.texts = runs.map((run, place) => new WordRows(data, run, place, alone));
    if (!alone) this.changes = new Changes(this, data);
    for (const boxes of this.boxes) boxes.changed = this.changes ? (address) => (this.changes as Changes).pages(address) : undefined;
    if (IS_CHECKS) this.cases = runs.map((run, place) => new Cases(run, place));
  }

  // The run that is shown, where there are several.
  place(address: Address = now()): number {
    const place = Number(address.run ?? 0);
    return this.data.head.runs[place] ? place : 0;
  }

  run() { return this.data.head.runs[this.place()]; }
  shown(): Boxes { return this.boxes[this.place()]; }
  other(boxes: Boxes): Boxes | null { return this.boxes.length > 1 ? this.boxes[boxes.place ? 0 : 1] : null; }

  // What steps through the list of the task's own view.
  steps(): { step: (by: number) => void; error: (by: number) => void } | null {
    const boxes = this.shown(), place = this.place();
    const own = this.fields[place] ?? this.texts[place] ?? this.cases[place] ?? null;
    if (this.changes) return { step: (by) => (IS_BOXES && boxes ? stepPage(boxes, by) : own?.step(by)), error: (by) => this.changes?.step(by) };
    if (IS_BOXES && boxes) return { step: (by) => stepPage(boxes, by), error: (by) => stepError(boxes, by) };
    return own;
  }

  // The chosen row as JSON, or nothing.
  chosenRow(): unknown {
    const address = now(), key = address.object ?? "", place = this.place();
    const chosen = parseKey(key);
    const boxes = this.boxes[chosen && chosen.letter === "p" ? chosen.run : place];
    if (IS_BOXES && boxes) return chosen && chosen.row < boxes.side(chosen.letter).length ? boxes.row(chosen.letter, chosen.row, boxes.threshold(address)) : null;
    if (this.fields[place]) return this.fields[place].at(key) >= 0 ? this.fields[place].json(this.fields[place].at(key)) : null;
    if (this.texts[place]) return this.texts[place].json(key);
    return this.cases[place]?.chosen(address) ?? null;
  }

  view(address: Address = now()): string {
    // A comparison has no wall of objects: there the pages hold them.
    const asked = address.view === "objects" && !this.views.includes("objects") ? "pages" : address.view;
    return asked && this.views.includes(asked) ? asked : this.views[0];
  }

  aspect(boxes: Boxes, page: number): number {
    const drawn = this.images.aspect(page);
    return boxes.width[page] > 0 ? boxes.aspect(page) : drawn ?? boxes.aspect(page);
  }

  // Where a count leads.
  objectsView(): string {
    const kind = this.run().kind;
    return kind === "boxes" ? (this.views.includes("objects") ? "objects" : "pages") : kind;
  }

  titleOf(): string {
    const task = this.data.head.task;
    return task.charAt(0).toUpperCase() + task.slice(1);
  }

  again(): void { this.listeners.forEach((listener) => listener()); }

  copy(row: unknown): void {
    const text = JSON.stringify(row);
    const done = () => { this.status = "copied"; this.again(); setTimeout(() => { this.status = ""; this.again(); }, 1500); };
    try {
      navigator.clipboard.writeText(text).then(done, () => this.copyByHand(text) && done());
    } catch {
      if (this.copyByHand(text)) done();
    }
  }

  private copyByHand(text: string): boolean {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const fine = document.execCommand("copy");
    area.remove();
    return fine;
  }
}

const night = matchMedia("(prefers-color-scheme: dark)");
const KEYS: [string, string][] = [
  ["j k", "next, previous of the list"], ["n N", "next, previous error"], ["t p i", "hide truth, prediction, image"], ["x", "flip the two runs"],
  ["+ − 0", "zoom"], ["/", "search"], ["c", "copy the chosen row as JSON"], ["Esc", "drop the choice, then the filters"], ["?", "these keys"],
];

export function Root({ app }: { app: App }): JSX.Element {
  const address = useAddress();
  const [, again] = useState(0);
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const listener = () => again((number) => number + 1);
    app.listeners.add(listener);
    const stop = listen(app, () => dialog.current?.showModal());
    night.addEventListener("change", listener);
    return () => { app.listeners.delete(listener); stop(); night.removeEventListener("change", listener); };
  }, []);
  const view = app.view(address);
  runNames.shown = app.changes ? app.run().name : undefined;
  const dark = address.theme === "dark" || (address.theme !== "light" && night.matches);
  useEffect(() => {
    document.documentElement.dataset.theme = address.theme === "dark" || address.theme === "light" ? address.theme : "";
  }, [address.theme]);
  useEffect(() => { scrollTo(0, 0); }, [view]);
  // Where names leave no room for others, runs are called by their letters.
  const several = app.data.head.runs.length > 2 || runNames.all.join("").length > 16;
  const thresholds: string[] = app.data.head.runs[0].numbers?.thresholds ?? [];
  return (
    <>
      <Patterns />
      <header class={app.changes && view !== "compare" && view !== "changes" ? "top with-runs" : "top"}>
        <a class="brand" href={beside({ view: app.views[0] as any })} aria-label="calque: to the first view">calque</a>
        <span class="who"><Names app={app} /></span>
        <nav aria-label="views">
          {app.views.map((name) => <a href={beside({ view: name as any })} data-view-link={name} aria-current={name === view ? "page" : undefined}>{name === "checks" ? app.run().title ?? TITLES[name] : TITLES[name]}</a>)}
        </nav>
        <span class="spacer" />
        {app.changes && view !== "compare" && view !== "changes" && (
          <div class={several ? "segments lettered" : "segments"} role="group" aria-label="which run is shown">
            {app.data.head.runs.map((run, place) => <button type="button" data-filter="run" data-value={place} aria-pressed={place === app.place(address)} title={run.name} aria-label={run.name} onClick={() => go({ run: String(place) })}>{several && `${letterOf(place)} `}<span>{brief(run.name, 16)}</span></button>)}
          </div>
        )}
        {thresholds.length > 1 && (
          <div class="segments iou" role="group" aria-label="IoU threshold">
            {thresholds.map((text, place) => {
              const on = place === Math.max(0, thresholds.indexOf(address.iou ?? ""));
              return <button type="button" data-filter="iou" data-value={text} aria-pressed={on} onClick={() => go({ iou: place ? text : undefined })}><span class="narrow-hide">IoU </span>{text}</button>;
            })}
          </div>
        )}
        <button type="button" class="icon" aria-label={dark ? "light mode" : "dark mode"} aria-pressed={dark} onClick={() => go({ theme: dark ? "light" : "dark" })}>{dark ? "☀" : "☾"}</button>
        <button type="button" class="icon" aria-label="keys" onClick={() => dialog.current?.showModal()}>?</button>
      </header>
      <main data-view={view} class={`v-${view}`}>
        <View app={app} view={view} />
      </main>
      <p class="toast" role="status">{app.status}</p>
      <dialog ref={dialog} aria-labelledby="keys-title">
        <h2 id="keys-title">Keys</h2>
        <dl><dt>{app.views.map((_, place) => <><kbd>{place + 1}</kbd> </>)}</dt><dd>the views</dd>{KEYS.filter(([keys]) => keys !== "x" || app.changes).map(([keys, what]) => <><dt>{keys.split(" ").map((key) => <><kbd>{key}</kbd> </>)}</dt><dd>{app.changes ? what.replace("error", "change") : what}</dd></>)}</dl>
        <form method="dialog"><button autofocus>Close</button></form>
      </dialog>
    </>
  );
}

function Names({ app }: { app: App }): JSX.Element {
  const { runs, truth } = app.data.head;
  if (runs.length > 1) return <>{runs.map((run, place) => <>{place > 0 && <span class="note"> and </span>}<b>{run.name}</b></>)}</>;
  // A view that is called as the task says it already.
  const said = !truth && (runs[0].title || app.views.some((view) => TITLES[view] === app.titleOf()));
  return <><b>{runs[0].name || (said ? "" : app.titleOf())}</b>{truth && truth !== runs[0].name && <span class="note"> against {truth}</span>}</>;
}

function View({ app, view }: { app: App; view: string }): JSX.Element {
  if (view === "compare") return <Compare app={app} />;
  if (view === "changes") return <ChangesView app={app} />;
  if (IS_BOXES && view === "pages") return <Pages app={app} boxes={app.shown()} />;
  if (IS_BOXES && view === "objects") return <Objects app={app} boxes={app.shown()} />;
  const place = app.place();
  if (IS_FIELDS && view === "fields") return <Fields app={app} rows={app.fields[place]} />;
  if (IS_WORDS && view === "words") return <WordsView app={app} rows={app.texts[place]} />;
  if (IS_CHECKS && view === "checks") return <Checks app={app} cases={app.cases[place]} />;
  const run = app.run();
  return (
    <div class="summary">
      {IS_BOXES ? <BoxSummary app={app} boxes={app.shown()} />
        : run.kind === "tables" ? (
          <>
            <section class="opening"><p class="over-line">{app.titleOf()}</p><Warning run={run} /><Sentence parts={run.headline} /></section>
            <Tables run={run} />
            <Ground app={app} run={run} />
          </>
        ) : (
          <Summary app={app} run={run} k={0}>
            {IS_WORDS && <WorstTexts rows={app.texts[place]} />}
            {IS_CHECKS && <WorstCases run={run} cases={app.cases[place]} />}
            {(run.kind !== "checks" || run.title) && (
              <Tables run={{ ...run, sections: run.sections.slice(run.kind === "fields" ? 1 : 3) }}>
                {IS_FIELDS && run.numbers.calibration.length > 0 && <Calibration bins={run.numbers.calibration} view="fields" at={{}} of="confidence" note="values of each confidence that are right; dotted: they agree" />}
              </Tables>
            )}
          </Summary>
        )}
    </div>
  );
}
