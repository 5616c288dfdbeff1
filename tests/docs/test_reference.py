"""The reference pages list what the code has: no more, no less."""

import ast
import dataclasses
import json
import re

import calque
from calque.cli.app import VERBS
from calque.comparators.base import BUILT_IN
from calque.evaluation import nothing_evaluated as unevaluated
from calque.evaluation.task import settings
from calque.fields.schemas.plain_form import FIELD_KEYS
from calque.readers.sides import masks
from calque.readers.sides.readings import CODES
from calque.readers.tables.placing import MENDED
from calque.sample import sample

from .pages import PAGES, ROOT, blocks

REFERENCE = ROOT / "docs" / "reference"


def first_cells(page: str) -> list[str]:
    """The code in the first cell of every table row of a page."""
    return re.findall(r"^\| `([^`]+)` \|", (REFERENCE / page).read_text("utf-8"), re.MULTILINE)


def codes_in_source() -> set[str]:
    """Every literal that is used as an issue's code: in ``Issue(...)``, ``ContractError.single(...)`` and ``log.add(...)``."""
    found = {*CODES, *MENDED, *masks.CODES}
    for path in (ROOT / "src" / "calque").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and node.args and _makes_an_issue(node):
                code = _code_argument(node)
                if isinstance(code, ast.Constant) and isinstance(code.value, str):
                    found.add(code.value)
    return found | set(unevaluated.CODES)


def _makes_an_issue(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name in {"Issue", "single", "_flag", "fault", "_fault", "fault_at", "_loss", "_lose"} or (
        name in {"add", "_add", "note", "_note"} and len(call.args) >= 3
    )


def _code_argument(call: ast.Call) -> ast.expr:
    """The argument that is the code: the first, or the fourth where flawed objects are written down together."""
    return call.args[3] if isinstance(call.func, ast.Attribute) and call.func.attr == "_flag" else call.args[0]


def test_issue_codes() -> None:
    listed = first_cells("issues.md")
    assert len(listed) == len(set(listed))
    assert set(listed) == codes_in_source()


def test_public_names() -> None:
    page = (REFERENCE / "python.md").read_text("utf-8")
    names = re.findall(r"^\| `(\w+)` \|", page.partition("## Attributes and methods")[0], re.MULTILINE)
    assert sorted(names) == sorted(calque.__all__)


def test_settings_of_detection() -> None:
    page = (REFERENCE / "python.md").read_text("utf-8").partition("## Settings of Detection")[2]
    rows = re.findall(r"^\| `(\w+)` \| `([^`]+)`.*?\| `(--[a-z-]+)` \|$", page, re.MULTILINE)
    defaults = {field.name: field.default for field in dataclasses.fields(calque.Detection)}
    notes = settings(calque.Detection)
    assert [(name, ast.literal_eval(default), flag) for name, default, flag in rows] == [
        (name, defaults[name], note.flag) for name, note in notes.items()
    ]


def test_every_verb_is_in_the_command_line_reference() -> None:
    sessions = "".join(blocks(REFERENCE / "cli.md", "console"))
    for verb in VERBS:
        assert f"$ calque {verb} --help\n" in sessions


def test_json_keys() -> None:
    files = sample()
    result = calque.Evaluator(calque.Detection()).update(files["truth"], files["finder"]).compute().to_dict()
    page = (REFERENCE / "json.md").read_text("utf-8")
    head, _, rest = page.partition("## metrics")
    keys = r"^\| `(\w+)` \|"
    assert re.findall(keys, head, re.MULTILINE) == list(result)
    assert re.findall(keys, rest.partition("## coco")[0], re.MULTILINE) == list(result["metrics"]["0.5"])


def test_the_snapshot_example_is_valid() -> None:
    examples = blocks(REFERENCE / "snapshot-format.md", "json")
    assert examples
    for example in examples:
        assert len(calque.read(json.loads(example)).units()) == 1


def test_links_between_pages_lead_somewhere() -> None:
    for page in [*PAGES, ROOT / "CHANGELOG.md"]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.relative_to(ROOT)} links to {target}"


def test_every_decision_is_listed() -> None:
    decisions = ROOT / "docs" / "adr"
    listed = re.findall(r"\((0\d{3}-[a-z0-9-]+\.md)\)", (decisions / "README.md").read_text("utf-8"))
    assert listed == sorted(path.name for path in decisions.glob("0*.md"))


def test_settings_of_fields() -> None:
    page = (REFERENCE / "fields.md").read_text("utf-8").partition("## Settings")[2]
    rows = re.findall(r"^\| `(\w+)` \| `([^`]+)` \| `(--[a-z-]+)` \|$", page, re.MULTILINE)
    defaults = {field.name: field.default for field in dataclasses.fields(calque.Fields)}
    assert [(name, ast.literal_eval(default), flag) for name, default, flag in rows] == [
        (name, defaults[name], note.flag) for name, note in settings(calque.Fields).items()
    ]


def test_schema_keys_comparators_and_json_of_fields() -> None:
    page = (REFERENCE / "fields.md").read_text("utf-8")
    keys = r"^\| `(\w+)` \|"
    schema, _, rest = page.partition("## Comparators")
    assert set(re.findall(keys, schema, re.MULTILINE)) == set(FIELD_KEYS) - {"clip_under_threshold"}
    comparators, _, rest = rest.partition("## Settings")
    assert set(re.findall(keys, comparators, re.MULTILINE)) == set(BUILT_IN)
    result = calque.Evaluator(calque.Fields(schema={"fields": {"a": {}}})).update([{"a": "x"}], [{"a": "x"}]).compute()
    assert re.findall(keys, rest.partition("## JSON")[2], re.MULTILINE) == list(result.numbers)
