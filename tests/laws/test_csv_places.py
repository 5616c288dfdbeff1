"""Where each number of the JSON stands in the CSV: in which row, by what names it, and in which column."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from calque.cli.render import NO_NUMBER, lines
from calque.evaluation.result import Result
from tests.laws.test_paste import results

Row = dict[str, str]

PLACES: dict[str, list[tuple[str, str, str]]] = {
    "detection": [
        ("metrics.{t}.per_class.{c}.{k}", "threshold={t} scope=class class={c}", "{k}"),
        ("metrics.{t}.micro.{k}", "threshold={t} scope=micro class=", "{k}"),
        ("metrics.{t}.weighted_classes.{k}", "threshold={t} scope=weighted_classes class=", "{k}"),
        ("coco.per_class.{c}.{k}", "threshold= scope=coco class={c}", "{k}"),
        ("coco.AP", "threshold= scope=coco class=", "AP"),
        ("coco.AR100", "threshold= scope=coco class=", "AR100"),
        ("errors.predictions.{kind}", "scope=kind class={kind}", "predictions"),
        ("errors.truth.{kind}", "scope=kind class={kind}", "truths"),
        ("errors.area_share.predictions.{kind}", "scope=kind class={kind}", "predictions_area"),
        ("errors.area_share.truth.{kind}", "scope=kind class={kind}", "truths_area"),
        ("errors.impact.{kind}.{k}", "scope=kind class={kind}", "{k}"),
        ("counts.{k}", "scope=counts class=", "{k}"),
    ],
    "layout": [
        ("per_class.{c}.{k}", "class={c} taken_for=", "{k}"),
        ("layout_accuracy_over_total", "class= taken_for=", "layout_accuracy_over_total"),
        ("layout_total_blocks", "class= taken_for=", "layout_total_blocks"),
        ("counts.{k}", "class= taken_for=", "{k}"),
        ("confusion.{c}.{other}", "class={c} taken_for={other}", "blocks"),
    ],
    "ceiling": [
        ("levels.{l}.single.{s}.{k}", "level={l} rung=single system={s}", "{k}"),
        ("levels.{l}.best.{k}", "level={l} rung=best", "{k}"),
        ("levels.{l}.select.{k}", "level={l} rung=select", "{k}"),
        ("levels.{l}.repairable", "level={l} rung=select", "repairable"),
        ("levels.{l}.any.{k}", "level={l} rung=any", "{k}"),
        ("levels.{l}.recombine.{k}", "level={l} rung=recombine", "{k}"),
        ("levels.{l}.missed.{k}", "level={l} rung=select", "{k}"),
        ("levels.{l}.votes.{n}.{k}", "level={l} rung=votes:{n}", "{k}"),
        ("levels.{l}.pairs.{s}.{other}.{k}", "level={l} rung=pair system={s} other={other}", "{k}"),
        ("ap.single.{s}", "level= rung=single system={s}", "ap"),
        ("ap.route_class", "level= rung=route:class", "ap"),
        ("ap.select_bound", "level= rung=select", "ap"),
    ],
    "order": [
        ("micro.{k}", "scope=micro document=", "{k}"),
        ("macro.{k}", "scope=macro document=", "{k}"),
        ("documents.{d}.{k}", "scope=document document={d}", "{k}"),
        ("breaks.{b}", "scope=break part={b}", "count"),
        ("profiles.{p}", "scope=profile part={p}", "value"),
    ],
    "words": [
        ("micro.{k}", "scope=micro document=", "{k}"),
        ("macro.{k}", "scope=macro document=", "{k}"),
        ("counts.words", "scope=micro", "n_ref"),
        ("counts.predicted_words", "scope=micro", "n_pred"),
        ("documents.{d}.{k}", "scope=document document={d}", "{k}"),
    ],
    "tables": [
        ("mean.{k}", "scope=mean part=", "{k}"),
        ("counts.{k}", "scope=mean part=", "{k}"),
        ("micro.{m}.tp", "scope={m} part=", "tp"),
        ("micro.{m}.f1", "scope={m} part=", "f1"),
        ("errors.{kind}.{k}", "scope=error part={kind}", "{k}"),
    ],
    "fields": [
        ("fields.{f}.tp", "field={f}", "tp"),
        ("fields.{f}.cm_f1", "field={f}", "cm_f1"),
        ("fields.{f}.mean_score", "field={f}", "mean_score"),
        ("bbox_map_metrics.fields.{f}.ap_50", "field={f}", "ap_50"),
        ("bbox_map_metrics.mean_ap", "field=", "ap"),
        ("bbox_map_metrics.map_50", "field=", "ap_50"),
        ("bbox_map_metrics.map_75", "field=", "ap_75"),
        ("overall.cm_recall", "field=", "cm_recall"),
        ("overall.weighted_overall_score", "field=", "mean_score"),
        ("document_count", "field=", "documents"),
        ("wholly_right.documents", "field=", "wholly_right"),
    ],
    "checks": [("summary.{k}", "evaluator=all", "{k}"), ("evaluators.{e}.{k}", "evaluator={e}", "{k}")],
}
"""A path in the JSON with names for what varies, what tells the row, and the column. Where a name stands, all are tried."""


def found(tree: Any, path: list[str], names: Mapping[str, str]) -> Iterator[tuple[Mapping[str, str], Any]]:
    """What stands at a path: for each way to fill in its names these, and the number."""
    if not path:
        if tree is None or (isinstance(tree, int | float) and not isinstance(tree, bool)):
            yield names, tree
    elif isinstance(tree, Mapping):
        step, *rest = path
        for key, value in tree.items():
            if step.startswith("{"):
                yield from found(value, rest, {**names, step[1:-1]: str(key)})
            elif step == str(key):
                yield from found(value, rest, names)


def same(written: str, number: float | None) -> bool:
    return written == NO_NUMBER if number is None else written not in ("", NO_NUMBER) and float(written) == number


def missing(result: Result, rows: list[Row], place: tuple[str, str, str]) -> list[str]:
    """The numbers at a path that do not stand where they should."""
    path, row_of, column_of = place
    lost = []
    for names, number in found(result.numbers, path.split("."), {}):
        wanted = dict(each.split("=", 1) for each in row_of.split())
        wanted = {key: value.format(**names) for key, value in wanted.items()}
        column = column_of.format(**names)
        mine = [row for row in rows if all(row.get(key, "") == value for key, value in wanted.items())]
        if not any(same(row.get(column, ""), number) for row in mine):
            lost.append(f"{path.format(**names)} = {number} in {wanted}, {column}")
    return lost


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, Result, list[Row]]]:
    made = results(tmp_path_factory.mktemp("suites"))
    return [(name, result, list(csv.DictReader(io.StringIO("".join(lines(result, "csv")))))) for name, result in made]


@pytest.mark.parametrize(("task", "place"), [(task, place) for task, places in PLACES.items() for place in places])
def test_numbers_stand_in_the_csv_where_people_look_for_them(
    task: str, place: tuple[str, str, str], everything: list[tuple[str, Result, list[Row]]]
) -> None:
    mine = [(name, result, rows) for name, result, rows in everything if result.task.name == task]
    assert any(list(found(result.numbers, place[0].split("."), {})) for _, result, _ in mine)
    for name, result, rows in mine:
        assert missing(result, rows, place) == [], name
