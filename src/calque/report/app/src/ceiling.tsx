// What several systems could reach together: the ladder, who repairs whom, and the annotations to look at, each on its page.

import { JSX } from "preact";
import { Address, to } from "./address";
import { Boxes } from "./boxes";
import { Head, Mark } from "./parts";
import { usePaged } from "./summary";
import { brief, count, ratio } from "./words";

type Rung = [string, number | null, number | null, number | null, number | null, string];
type Suspect = [string, number, string, number, string, number];
type Level = { rungs: Rung[]; systems: string[]; repairs: (number | null)[][]; added: [number, number, number][]; suspects: Suspect[] };
const MARKED: Record<string, string> = { label: "wrong", agreed: "fp", unfound: "fn" };

export function Ceiling({ boxes, k, at }: { boxes: Boxes; k: number; at: Address }): JSX.Element {
  const level: Level = boxes.run.numbers.ceiling[k];
  return (
    <>
      {level.rungs.some((rung) => rung[1] !== null) && <Ladder rungs={level.rungs} />}
      {level.systems.length > 1 && level.added.some(([adds]) => adds) && <Shared level={level} />}
      {level.suspects.length > 0 && <Suspects boxes={boxes} suspects={level.suspects} at={at} />}
    </>
  );
}

function Ladder({ rungs }: { rungs: Rung[] }): JSX.Element {
  const titles = ["recall", "precision", "F1", "held out"];
  const kept = titles.map((_, place) => place).filter((place) => rungs.some((rung) => rung[place + 1] !== null));
  const main = kept.includes(2) ? 3 : 1;
  return (
    <section aria-labelledby="ladder">
      <Head id="ladder" title="The ladder" note={main === 3 ? "bars: F1, or recall where there is none" : "bars: recall"} />
      <div class="scrolls">
        <table class="classes" data-ladder>
          <thead><tr><th scope="col">rung</th><th scope="col"><span class="hidden">bar</span></th>{kept.map((place) => <th scope="col">{titles[place]}</th>)}<th scope="col" class="wide left"><span class="hidden">remark</span></th></tr></thead>
          <tbody>
            {rungs.map((rung) => {
              const share = (rung[main] ?? rung[1] ?? 0) as number;
              return (
                <tr data-rung={rung[0]}>
                  <th scope="row" title={rung[0]}>{rung[0]}</th>
                  <td class="bar"><span class="gauge" aria-hidden="true"><i style={{ width: `${100 * Math.max(0, Math.min(1, share))}%` }} /></span></td>
                  {kept.map((place) => <td>{rung[place + 1] === null ? "" : ratio(rung[place + 1] as number)}</td>)}
                  <td class="wide left note">{rung[5]}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Shared({ level }: { level: Level }): JSX.Element {
  return (
    <section aria-labelledby="shared">
      <Head id="shared" title="Who finds what others miss" note="a row's misses that a column finds; systems by what they add" />
      <div class="scrolls">
        <table class="classes" data-repairs>
          <thead><tr><th scope="col">system</th><th scope="col">adds</th><th scope="col">together</th><th scope="col">lost without</th>{level.systems.map((name) => <th scope="col" title={name}>{name}</th>)}</tr></thead>
          <tbody>
            {level.systems.map((name, row) => (
              <tr>
                <th scope="row" title={name}>{name}</th>
                {level.added[row].map((value) => <td>{count(value)}</td>)}
                {level.repairs[row].map((value, column) => <td>{column === row ? "" : ratio(value)}</td>)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Suspects({ boxes, suspects, at }: { boxes: Boxes; suspects: Suspect[]; at: Address }): JSX.Element {
  const { shown, pager } = usePaged(suspects, 20);
  return (
    <section aria-labelledby="suspects">
      <Head id="suspects" title="Annotations to look at" note="each leads to its page" />
      <ol class="findings" data-suspects>
        {shown.map(([kind, systems, doc, page, said, row]) => (
          <li>
            <a href={to({ view: "pages", doc, page: String(page), object: row >= 0 ? boxes.key("t", row) : undefined, ...at })}>
              <Mark of={MARKED[kind]} /> <span>{kind}{systems ? ` (${systems} agree)` : ""}: {brief(said, 120)} <span class="note">{brief(doc)}, page {page}</span></span> <span class="arrow" aria-hidden="true">→</span>
            </a>
          </li>
        ))}
      </ol>
      {pager}
    </section>
  );
}
