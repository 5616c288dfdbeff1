"""``calque words``: what OCR read, in order."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from calque.cli.options import jobs_option, output_options, task_from, task_options
from calque.core.errors import ConfigError, did_you_mean
from calque.words.task import Words

if TYPE_CHECKING:
    from calque.core.evaluator import Evaluator, Keep
    from calque.core.presentation.sections import Section
    from calque.core.result import Result
    from calque.core.word_corpus import Lattice, WordCorpus


@click.command("words")
@click.argument("truth", type=click.Path())
@click.argument("predictions", nargs=-1, required=True, metavar="PRED...", type=click.Path())
@click.option("--lattice", "lattice_file", type=click.Path(), metavar="FILE", help="Candidates: TSV or JSON, or a folder.")
@click.option("--build-lattice", is_flag=True, help="Make the lattice from all PREDs.")
@click.option("--holdout", "holdout_file", type=click.Path(), metavar="FILE", help="Documents of the test, one id a line.")
@click.option("--holdout-fraction", type=float, metavar="SHARE", help="Hold out this share, chosen by a hash of the ids.")
@click.option("--fold", "holdout_fold", default="", metavar="I/K", help="Hold out fold I of K, counted from 0.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of --holdout-fraction and --fold.")
@click.option(
    "--clean", "clean", multiple=True, metavar="NAME[=VALUE]", help="A clean-up step: drop=table,figure or drop_zero_width."
)
@click.option("--page-text", type=click.Path(), metavar="PATH", help="What the pages show, for --min-block-recall.")
@task_options(Words)
@click.option("--show", metavar="DOC", help="Print truth and prediction of one document side by side.")
@click.option(
    "--errors", is_flag=False, flag_value=20, default=0, type=int, metavar="[N]", help="List the N most frequent confusions."
)
@click.option("--removed", is_flag=True, help="List what clean-up took out of the truth.")
@jobs_option
@output_options
def command(truth: str, predictions: tuple[str, ...], **values: Any) -> int:
    """Evaluate the words of each PRED against TRUTH: how many are there, in the same order.

    TRUTH and PRED are folders (documents pair by file stem) or files: plain text, hOCR, ALTO, PAGE XML, HTML, Tesseract
    TSV, or tables docid, wordid, word (TSV, CSV, Parquet).

    \b
    calque words truth/ tesseract/
    calque words truth/ tesseract/ gocr/ ocrad/ --build-lattice
    calque words truth.html page.hocr --drop figure,table,references --show truth
    """
    from calque.cli.progress import working
    from calque.cli.render import check_writable, format_of

    own = {name: values.pop(name) for name in OWN}
    task = _task(own, values)
    kind = format_of(values["format"], values["output"])
    check_writable(values["output"], values["save"])
    if len(predictions) > 1 and values["save"] is not None:
        raise ConfigError("--save keeps the state of one PRED; evaluate several one by one")
    # Words are kept only when something shows them.
    shown = kind == "jsonl" or values["save"] is not None or own["show"] is not None or own["removed"]
    keep: Keep = "outcomes" if shown else "numbers"
    with working(f"evaluating {', '.join(predictions)}", quiet=values["quiet"]):
        evaluators = _evaluators(task, truth, predictions, own, keep)
    if own["show"] is not None:
        return _show(evaluators, own["show"])
    if own["removed"]:
        return _list_removed(next(iter(evaluators.values())))
    return _deliver(evaluators, values)


OWN = (
    "lattice_file", "build_lattice", "holdout_file", "holdout_fraction", "holdout_fold", "seed", "clean", "page_text",
    "show", "errors", "removed", "jobs",
)  # fmt: skip


def _task(own: dict[str, Any], values: dict[str, Any]) -> Words:
    """The task that all options together describe."""
    import dataclasses

    if own["lattice_file"] is not None and own["build_lattice"]:
        raise ConfigError("--lattice and --build-lattice both give a lattice; use one")
    made = task_from(Words, values)
    more: dict[str, Any] = {
        "holdout": None if own["holdout_file"] is None else _listed(own["holdout_file"]),
        "holdout_fraction": own["holdout_fraction"],
        "holdout_fold": own["holdout_fold"],
        "seed": own["seed"],
        "lattice": "built" if own["build_lattice"] else "given" if own["lattice_file"] is not None else "none",
        "errors": own["errors"],
        **_cleaning(own["clean"]),
    }
    return dataclasses.replace(made, **more)  # type: ignore[return-value]  # a Words, made from Words


def _listed(path: str) -> tuple[str, ...]:
    from calque.readers.sources.json_tree import read_bytes
    from calque.readers.text.texts import decoded

    lines = decoded(read_bytes(path), path).splitlines()
    return tuple(line.strip() for line in lines if line.strip())


def _cleaning(uses: Sequence[str]) -> dict[str, Any]:
    """``drop=table,figure`` ``unicode=NFKC`` ``drop_zero_width``: the same names as in Python."""
    from calque.words.cleaning import Cleaning

    fields = Cleaning.__dataclass_fields__
    chosen: dict[str, Any] = {}
    for use in uses:
        given, _, text = use.partition("=")
        name = given.strip().replace("-", "_")
        if name not in fields:
            hint = did_you_mean(name, fields) or f"it can be {', '.join(fields)}"
            raise ConfigError(f"--clean: there is no step {name!r}; {hint}")
        chosen[name] = _cleaning_value(name, text, fields[name].default)
    return chosen


def _cleaning_value(name: str, text: str, default: Any) -> Any:
    if isinstance(default, bool):
        known = {"": True, "yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
        if text.lower() not in known:
            raise ConfigError(f"--clean {name}={text}: it is yes or no")
        return known[text.lower()]
    if not text:
        raise ConfigError(f"--clean {name} needs a value, as in {name}=…")
    if isinstance(default, tuple):
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if default is None:
        try:
            return float(text)
        except ValueError:
            raise ConfigError(f"--clean {name}={text}: it is a number") from None
    return text


def _evaluators(task: Words, truth: str, predictions: Sequence[str], own: dict[str, Any], keep: Keep) -> dict[str, Evaluator]:
    """One evaluator for each PRED, all against one truth; the lattice is the first one's."""
    import dataclasses

    from calque.core.evaluator import Evaluator
    from calque.words.reading import read_all, with_lattices

    expected, found = read_all(task, truth, predictions, own["page_text"])
    named = dict(zip(predictions, found, strict=True))
    if len(named) < len(predictions):
        raise ConfigError("the same PRED is given twice")
    lattices = _lattices(task, named, expected, own)
    made = {}
    for position, (name, corpus) in enumerate(named.items()):
        first = position == 0
        mine = task if first else dataclasses.replace(task, lattice="none")
        beside = with_lattices(task, corpus, lattices) if first else corpus
        made[name] = Evaluator(mine, keep=keep, jobs=own["jobs"]).update(expected, beside)
    return made


def _lattices(task: Words, named: dict[str, WordCorpus], truth: WordCorpus, own: dict[str, Any]) -> dict[Any, Lattice]:
    from calque.readers.text.lattices import read_lattices
    from calque.words.reading import built_lattices

    if task.lattice == "built":
        return built_lattices(named)
    if task.lattice == "given":
        only = truth.documents[0] if len(truth.documents) == 1 else None
        return read_lattices(own["lattice_file"], only)
    return {}


def _show(evaluators: dict[str, Evaluator], document: str) -> int:
    from calque.words.presentation import side_by_side

    for name, evaluator in evaluators.items():
        ref, pred, pairs = _texts(evaluator, document)
        click.echo(
            click.style(f"{document}: truth (left), {name} (right); {len(pairs):,} of {len(ref):,} words match", bold=True)
        )
        for line in side_by_side(ref, pred, pairs):
            click.echo(line)
    return _exit_code(evaluators)


def _texts(evaluator: Evaluator, document: str) -> tuple[list[str], list[str], list[tuple[int, int]]]:
    """One document's words on both sides, and which go together."""
    ledger = evaluator.ledger()
    names = {str(unit): row for row, unit in enumerate(ledger.units)}
    if document not in names:
        raise ConfigError(f"--show: there is no document {document!r}. {did_you_mean(document, names)}".strip())
    row, vocabulary = names[document], ledger.names["word"]
    spans = {side: slice(*ledger.offsets(side)[row : row + 2].tolist()) for side in ("truth", "found")}
    words = {
        side: [vocabulary[code] for code in ledger.table(side).array("word")[span].tolist()] for side, span in spans.items()
    }
    partners = ledger.table("truth").array("match")[spans["truth"]].tolist()
    return words["truth"], words["found"], [(i, j) for i, j in enumerate(partners) if j >= 0]


def _list_removed(evaluator: Evaluator) -> int:
    """One JSON object a line, for each thing that clean-up took out."""
    ledger = evaluator.ledger()
    steps = ledger.names["step"]
    for row in ledger.table("removed").rows():
        entry = {"document": ledger.units[row["unit"]], "step": steps[row["step"]], "amount": row["words"], "text": row["text"]}
        click.echo(json.dumps(entry, ensure_ascii=False))
    return _exit_code({"": evaluator})


def _exit_code(evaluators: dict[str, Evaluator]) -> int:
    from calque.cli import exits

    return exits.INCOMPLETE if any(evaluator.compute().incomplete for evaluator in evaluators.values()) else exits.FINE


def _deliver(evaluators: dict[str, Evaluator], values: dict[str, Any]) -> int:
    from calque.cli.render import deliver

    if len(evaluators) == 1:
        return deliver(next(iter(evaluators.values())), **values)
    return _deliver_runs({name: evaluator.compute() for name, evaluator in evaluators.items()}, values)


def _deliver_runs(results: dict[str, Result], values: dict[str, Any]) -> int:
    """Several predictions of one truth: each one's block under ``runs``, the oracle beside them."""
    from calque.cli import exits
    from calque.cli.render import format_of
    from calque.core.storage.files import write_whole

    kind = format_of(values["format"], values["output"])
    text = "".join(_run_lines(results, kind))
    if values["output"] is not None:
        write_whole(values["output"], text.encode("utf-8", "backslashreplace"))
        if not values["quiet"]:
            click.echo(f"wrote {values['output']}", err=True)
    else:
        click.echo(text, nl=False)
    return exits.INCOMPLETE if any(result.incomplete for result in results.values()) else exits.FINE


def _run_lines(results: dict[str, Result], kind: str) -> Iterator[str]:
    import csv
    import io

    from calque.core.presentation.sections import to_markdown, to_text
    from calque.core.result import strict_json

    if kind == "json":
        yield strict_json(runs_tree(results)) + "\n"
    elif kind == "jsonl":
        for name, result in results.items():
            for row in result.outcomes().rows():
                yield json.dumps({"run": name, **row}, ensure_ascii=False, allow_nan=False) + "\n"
    elif kind == "csv":
        rows = [{"run": name, **row} for name, result in results.items() for row in result.task.flat(result.numbers)]
        text = io.StringIO()
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        yield text.getvalue()
    else:
        sections = _run_sections(results)
        yield to_markdown(sections) if kind == "markdown" else to_text(sections) + "\n"


def runs_tree(results: dict[str, Result]) -> dict[str, Any]:
    """The JSON of several runs: what they share at the top, each one's own numbers under its name."""
    trees = {name: result.to_dict() for name, result in results.items()}
    first = next(iter(trees.values()))
    oracle = {"oracle": _against_all(first.pop("oracle"), trees)} if "oracle" in first else {}
    return {
        **{key: first[key] for key in ("task", "version", "signature", "settings")},
        "runs": {
            name: {key: value for key, value in tree.items() if key not in ("task", "version")} for name, tree in trees.items()
        },
        **oracle,
    }


def _against_all(oracle: dict[str, Any], trees: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Without sources of its own, a lattice is held against the best of the predictions."""
    recalls = [tree["micro"]["recall"] for tree in trees.values()]
    if oracle["sources"] or oracle["recall"] is None or None in recalls:
        return oracle
    best = max(recalls)
    repairable = (oracle["recall"] - best) / (1 - best) if best < 1 else None
    return {**oracle, "best_source_recall": best, "repairable": repairable}


def _run_sections(results: dict[str, Result]) -> list[Section]:
    """The runs below each other in one table, then the lattice and the signature."""
    from calque.core.presentation.sections import Section
    from calque.words.presentation import SCOPES, TITLES

    first = next(iter(results.values()))
    names = list(first.numbers["micro"])
    tables = [
        Section(
            title=label,
            head=("prediction", *(TITLES[name] for name in names)),
            rows=[(run, *(result.numbers[scope][name] for name in names)) for run, result in results.items()],
        )
        for scope, label in SCOPES.items()
    ]
    lattice = [section for section in first.task.sections(first.to_dict()) if section.title == "Lattice"]
    notes = [f"{run}: {issue}" for run, result in results.items() for issue in result.issues]
    noticed = [Section(title="noticed in the data", notes=notes)] if notes else []
    return [*tables, *lattice, *noticed, Section(title="", notes=[str(first.signature)])]
