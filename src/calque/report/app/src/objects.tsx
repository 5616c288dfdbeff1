// Objects: every truth and every false alarm as a crop, worst first.

import { JSX } from "preact";
import { now, to } from "./address";
import { App } from "./app";
import { Boxes, Letter } from "./boxes";
import { Chips, Count, Grid, Mark, Nothing, Outcomes, Search, Where } from "./parts";
import { Filters, outcomesOf, spelt, told } from "./pages";
import { Crop, hooks } from "./stage";
import { OUTCOMES, ratio } from "./words";

export function Objects({ app, boxes }: { app: App; boxes: Boxes }): JSX.Element {
  const address = now();
  const k = boxes.threshold(address);
  const items = boxes.objects(address);
  const kept = { iou: address.iou, outcome: address.outcome, class: address.class, kind: address.kind, cell: address.cell, cut: address.cut, bin: address.bin, score: address.score, q: address.q };
  return (
    <div class="wall">
      <h1 class="view-title">Objects</h1>
      <div class="tools across">
        <Count of="objects" value={items.length} noun="object" />
        <Outcomes of={outcomesOf(boxes)} names={boxes.names} />
        <Filters boxes={boxes} />
        <Search label="Search documents" />
        <Chips buttons={outcomesOf(boxes)} spelt={(key, value) => spelt(boxes, key, value)} />
      </div>
      {!items.length ? <Nothing of="object" any={boxes.t.length + boxes.p.length > 0} /> : <Grid total={items.length} width={240} narrow={150} height={246} label="objects" card={(place) => {
        const item = items[place], letter: Letter = item >= 0 ? "t" : "p", row = item >= 0 ? item : -1 - item;
        const side = boxes.side(letter), page = side.page(row), code = side.outcomes[k][row];
        const { document, index } = boxes.where(page);
        const called = boxes.called(letter, row), score = letter === "p" && boxes.score && boxes.score[row] === boxes.score[row] ? `score ${ratio(boxes.score[row])}` : "";
        return (
          <a class="card" href={to({ ...kept, view: "pages", doc: document, page: String(index), object: boxes.keyOf(item) })} {...hooks(boxes, letter, row, code)}>
            <Crop boxes={boxes} page={page} k={k} letter={letter} row={row} url={app.images.url(page)} aspect={app.aspect(boxes, page)} wide={1.45} />
            <span class="line" title={called}><Mark of={OUTCOMES[code]} /> <b>{called}</b> <span class="note">{score}</span></span>
            <span class="note told">{told(boxes, letter, row, page, k)}</span>
            <Where document={document} page={index} />
          </a>
        );
      }} />}
    </div>
  );
}
