// Small parts that every view uses: numbers with their names, marks, chips, windows on long lists.

import { ComponentChildren, JSX } from "preact";
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";
import { Address, FILTERS, Key, beside, go, now } from "./address";
import { MARKS, NAMES, count, ratio } from "./words";

export type Value = number | null | undefined;

// A number with the name under which a result knows it; a link where it leads to objects.
export function Measure(props: {
  name: string; value: Value; as?: (value: Value) => string; text?: string; href?: string; reason?: string; run?: string; tone?: string; label?: string;
}): JSX.Element {
  const { name, value, as = ratio, text, href, reason, run = runNames.shown, tone, label } = props;
  const missing = value === null || value === undefined;
  const shared = {
    "data-measure": name, "data-value": missing ? "null" : String(value), "data-run": run, "data-tone": tone || undefined,
    title: missing ? reason || "undefined" : undefined, "aria-label": label,
  };
  const shown = text ?? as(value);
  return href && !missing ? <a {...shared} href={href} data-objects={value} class="number">{shown}</a> : <span {...shared} class="number">{shown}</span>;
}

// Whose numbers stand on the page, where there are several runs.
export const runNames: { all: string[]; shown?: string } = { all: [] };

// A count that leads to exactly so many objects.
export function Leads({ count: value, href, classes, children }: { count: Value; href: string; classes?: string; children?: ComponentChildren }): JSX.Element {
  return <a class={classes} href={href} data-objects={value ?? 0}>{children ?? count(value)}</a>;
}

export function Mark({ of }: { of: string }): JSX.Element {
  return <span class={`mark m-${of}`} aria-hidden="true">{MARKS[of] ?? "·"}</span>;
}

export function Head({ title, note, children, id }: { title: string; note?: ComponentChildren; children?: ComponentChildren; id?: string }): JSX.Element {
  return (
    <header class="section-head">
      <h2 id={id}>{title}</h2>
      {note && <span class="note">{note}</span>}
      {children}
    </header>
  );
}

// Every chart has its numbers as a table.
export function Numbers({ head, rows, title = "the numbers" }: { head: string[]; rows: ComponentChildren[][]; title?: string }): JSX.Element {
  const most = 60;
  const [open, setOpen] = useState(false);
  return (
    <details class="numbers" onToggle={(event) => setOpen((event.currentTarget as HTMLDetailsElement).open)}>
      <summary>{title}</summary>
      {open && (
        <div class="scrolls">
          <table>
            <thead><tr>{head.map((name) => <th scope="col">{name}</th>)}</tr></thead>
            <tbody>{rows.slice(0, most).map((row) => <tr>{row.map((cell, place) => (place ? <td>{cell}</td> : <th scope="row">{cell}</th>))}</tr>)}</tbody>
          </table>
          {rows.length > most && <p class="note">and {count(rows.length - most)} more</p>}
        </div>
      )}
    </details>
  );
}

// Shares of one bar, to scale from 0; a share that would vanish keeps 4 px.
export function Shares({ parts, whole, label }: { parts: { mark: string; value: number; href?: string; title?: string }[]; whole: number; label: string }): JSX.Element {
  return (
    <div class="shares" role="group" aria-label={label}>
      {parts.filter((part) => part.value > 0).map((part) => {
        const width = `max(4px, ${(100 * part.value) / Math.max(1, whole)}%)`;
        // The counts beside a bar are links for those who use no mouse.
        return part.href ? <a href={part.href} data-objects={part.value} tabIndex={-1} aria-label={part.title ?? `${count(part.value)} ${part.mark}`} class={`share f-${part.mark}`} style={{ width }} /> : <i class={`f-${part.mark}`} style={{ width }} />;
      })}
    </div>
  );
}

const SHOWN: Partial<Record<Key, string>> = { outcome: "outcome", class: "class", kind: "kind", cell: "confusion", cut: "cut at", bin: "IoU", score: "score", q: "search", change: "change" };

// Where nothing is: said in words, and why.
export function Nothing({ of, any }: { of: string; any: boolean }): JSX.Element {
  return <p class="note empty" data-nothing>{any ? `No ${of} fits the filters.` : `There are no ${of}s.`}</p>;
}

export function NothingShown({ of }: { of: string }): JSX.Element {
  return <section class="stage empty" data-nothing><h1>There is no {of} to show.</h1></section>;
}

// The filters that hold, each with its way out.
export function Chips({ spelt, except = [], buttons }: { spelt?: (key: Key, value: string) => string; except?: Key[]; buttons?: string[] }): JSX.Element | null {
  const address = now();
  const there = FILTERS.filter((key) => (key !== "outcome" || (!!buttons && !buttons.includes(address.outcome as string))) && address[key] !== undefined && address[key] !== "" && !except.includes(key));
  if (!there.length && !address.outcome) return null;
  return (
    <div class="chips">
      {there.map((key) => (
        <button type="button" class="chip" data-filter={key} data-value={address[key]} onClick={() => go({ [key]: undefined, object: undefined })}
          aria-label={`drop the filter ${SHOWN[key] ?? key} ${address[key]}`}>
          <span>{SHOWN[key] ?? key}: {key === "outcome" ? (address[key] as string).split(",").map((name) => NAMES[name] ?? name).join(", ") : spelt ? spelt(key, address[key] as string) : address[key]}</span> <span aria-hidden="true">×</span>
        </button>
      ))}
      <button type="button" class="chip clear" onClick={() => go(cleared())}>clear all <kbd>Esc</kbd></button>
    </div>
  );
}

export function cleared(): Address {
  return Object.fromEntries(FILTERS.map((key) => [key, undefined]));
}

// Where something is: a long name is cut, never the page.
export function Where({ document, page }: { document: string; page?: number }): JSX.Element {
  return <span class="note where" title={document}><span class="doc">{document}</span>{page !== undefined && <span> · page {page}</span>}</span>;
}

// One choice among outcomes, with marks and words.
export function Outcomes({ of, small, names = NAMES }: { of: string[]; small?: boolean; names?: Record<string, string> }): JSX.Element {
  const chosen = now().outcome ?? "";
  return (
    <div class="segments" role="group" aria-label="outcome">
      {["", ...of].map((name) => (
        <button type="button" data-filter="outcome" data-value={name || "all"} aria-pressed={chosen === name} title={small && name ? names[name] : undefined}
          onClick={() => go({ outcome: name || undefined, object: undefined })}>
          {name ? <><Mark of={name} /><span class={small ? "hidden" : ""}> {names[name]}</span></> : "all"}
        </button>
      ))}
    </div>
  );
}

export function Search({ label }: { label: string }): JSX.Element {
  return (
    <input type="search" aria-label={label} placeholder={`${label}  /`} value={now().q ?? ""}
      onInput={(event) => go({ q: event.currentTarget.value || undefined, object: undefined })} />
  );
}

export function Count({ of, value, noun, many }: { of: "pages" | "objects" | "changes" | "documents" | "cases"; value: number; noun: string; many?: string }): JSX.Element {
  return <span class="count" role="status" data-count={of} data-value={value}>{count(value)} {value === 1 ? noun : many ?? noun + "s"}</span>;
}

const paper = matchMedia("print"), PRINTED = 300, SCREEN = 700;

// Which rows of a long list are on the screen, whatever scrolls.
export function useWindow(total: number, height: number, spare = 4): { ref: any; first: number; last: number } {
  const ref = useRef<HTMLElement>(null);
  const [range, setRange] = useState<[number, number]>([0, Math.min(total, 30)]);
  // Paper does not scroll, and its sheets are counted before it is told that it is paper.
  const whole = () => setRange([0, Math.min(total, PRINTED)]);
  const measure = () => {
    const element = ref.current;
    if (!element) return;
    if (paper.matches) return whole();
    const box = element.getBoundingClientRect();
    let top = 0, bottom = innerHeight;
    for (let above = element.parentElement; above; above = above.parentElement) {
      if (getComputedStyle(above).overflowY === "auto") {
        const edge = above.getBoundingClientRect();
        top = Math.max(top, edge.top);
        bottom = Math.min(bottom, edge.bottom);
        break;
      }
    }
    const first = Math.max(0, Math.floor((top - box.top) / height) - spare);
    // A screenful is there even below the fold, for those who look without scrolling.
    const last = Math.min(total, Math.max(first + Math.ceil(SCREEN / height), Math.ceil((bottom - box.top) / height) + spare));
    setRange((before) => (before[0] === first && before[1] === last ? before : [first, Math.max(first, last)]));
  };
  useLayoutEffect(measure, [total, height]);
  useEffect(() => {
    addEventListener("scroll", measure, { capture: true, passive: true });
    addEventListener("resize", measure);
    addEventListener("beforeprint", whole);
    paper.addEventListener("change", measure);
    return () => {
      removeEventListener("beforeprint", whole);
      paper.removeEventListener("change", measure);
      removeEventListener("scroll", measure, { capture: true });
      removeEventListener("resize", measure);
    };
  }, [total, height]);
  return { ref, first: Math.min(range[0], total), last: Math.min(range[1], total) };
}

// A list of which only what is seen is there; rows have one height.
export function Listbox(props: {
  total: number; height: number; label: string; chosen: number; row: (place: number) => JSX.Element; option?: (place: number) => Record<string, unknown>; choose: (place: number) => void; classes?: string;
}): JSX.Element {
  const { total, height, label, chosen, row, option, choose, classes } = props;
  const { ref, first, last } = useWindow(total, height);
  const seen = useRef(-1);
  useLayoutEffect(() => {
    if (chosen === seen.current || chosen < 0) return;
    seen.current = chosen;
    scrollTo(ref.current, chosen * height, height);
  }, [chosen, total]);
  const places = Array.from({ length: last - first }, (_, place) => first + place);
  const named = (place: number) => `${label.replace(/ /g, "-")}-${place}`;
  const step = (event: KeyboardEvent) => {
    const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -total, End: total };
    if (!(event.key in moves)) return;
    event.preventDefault();
    choose(Math.max(0, Math.min(total - 1, chosen + moves[event.key])));
  };
  return (
    <div class={`listbox ${classes ?? ""}`} role="listbox" tabIndex={0} aria-label={label} onKeyDown={step}
      aria-activedescendant={chosen >= first && chosen < last ? named(chosen) : undefined}>
      <div ref={ref} class="runway" role="presentation" style={{ height: `${total * height}px` }}>
        {places.map((place) => (
          <div key={place} id={named(place)} class="option" role="option" aria-selected={place === chosen} aria-posinset={place + 1} aria-setsize={total}
            style={{ top: `${place * height}px`, height: `${height}px` }} onClick={() => choose(place)} {...option?.(place)}>
            {row(place)}
          </div>
        ))}
      </div>
    </div>
  );
}

function scrollTo(runway: HTMLElement | null, top: number, height: number): void {
  const box = runway?.closest<HTMLElement>(".listbox");
  if (!box || getComputedStyle(box).overflowY !== "auto") return;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + height > box.scrollTop + box.clientHeight) box.scrollTop = top + height - box.clientHeight;
}

// Cards in as many columns as fit, of which only what is seen is there.
export function Grid({ total, width: wanted, height, label, card, narrow = wanted }: { total: number; width: number; narrow?: number; height: number; label: string; card: (place: number) => JSX.Element }): JSX.Element {
  const width = innerWidth > 700 ? wanted : narrow;
  const [columns, setColumns] = useState(Math.max(1, Math.floor((Math.min(innerWidth, 1400) - 32) / width)));
  const rows = Math.ceil(total / columns);
  const { ref, first, last } = useWindow(rows, height, 1);
  useLayoutEffect(() => {
    const fit = () => setColumns(Math.max(1, Math.floor(((ref.current?.clientWidth ?? innerWidth) + 12) / (width + 12))));
    fit();
    addEventListener("resize", fit);
    return () => removeEventListener("resize", fit);
  }, []);
  const places = Array.from({ length: Math.max(0, Math.min(total, last * columns) - first * columns) }, (_, place) => first * columns + place);
  return (
    <ul ref={ref} class="grid" aria-label={label} style={{ height: `${rows * height}px` }}>
      {places.map((place) => (
        <li key={place} style={{ top: `${Math.floor(place / columns) * height}px`, left: `calc(${place % columns} * (100% + 12px) / ${columns})`, width: `calc((100% + 12px) / ${columns} - 12px)`, height: `${height - 12}px` }}>
          {card(place)}
        </li>
      ))}
    </ul>
  );
}

export function useAgain(): () => void {
  const [, again] = useReducer((number: number) => number + 1, 0);
  return again as () => void;
}

export function ViewLink({ changes, children, classes }: { changes: Address; children: ComponentChildren; classes?: string }): JSX.Element {
  return <a class={classes} href={beside(changes)}>{children}</a>;
}
