"""Sections of numbers on terminals, in Markdown, HTML, LaTeX and for CI servers: widths, rules, dashes and what is escaped."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from calque.base.errors import Issue, Severity
from calque.base.wording import counted, joined, laid_over, percent, short_names, some
from calque.evaluation.presentation.ci_servers import CiTestCase, annotation, to_junit
from calque.evaluation.presentation.sections import (
    Missing,
    Section,
    cell,
    cut,
    grouped,
    latex_text,
    noticed,
    printable_json,
    printable_lines,
    to_html,
    to_latex,
    to_markdown,
    to_text,
    width,
    with_reasons,
    wrapped,
)
from calque.report.build import _section


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (9.99994, "9.9999"),
        (-9.5, "-9.5000"),
        (10.0, "10.00"),
        (-10.0, "-10.00"),
        (999.994, "999.99"),
        (1000.0, "1,000"),
        (-1000.4, "-1,000"),
        (True, "yes"),
        (False, "no"),
        (1000, "1,000"),
        (Missing("none"), "–"),
        ("a\tb", "a\\tb"),
    ],
)
def test_cells(value: Any, shown: str) -> None:
    assert cell(value) == shown


TABLE = Section(
    title="Numbers",
    head=("name", "a", "b"),
    rows=[("one", 0.5, 1), ("twenty", None, 1000), ("sum", Missing("no truths"), Missing("no truths"))],
    notes=["a note"],
    rule_before=2,
)


def test_plain_text() -> None:
    assert to_text([TABLE, Section(title="", notes=["alone"])]).split("\n") == [
        "Numbers",
        "name         a      b",
        "one     0.5000      1",
        "twenty       –  1,000",
        "─────────────────────",
        "sum          –      –",
        "– a, b: no truths (sum)",
        "a note",
        "",
        "alone",
    ]


def test_texts_begin_at_the_left_where_that_is_said() -> None:
    section = Section(title="", head=("", "kind", "n"), rows=[("a", "long one", 1), ("b", "x", 22)], left=(0, 1))
    assert to_text([section]).split("\n") == ["   kind       n", "a  long one   1", "b  x         22"]
    numbers = Section(title="", head=("", "kind", "n"), rows=[("a", "long one", 1), ("b", "x", 22)])
    assert to_text([numbers]).split("\n") == ["       kind   n", "a  long one   1", "b         x  22"]


def test_a_dash_names_its_rows_only_where_there_are_several() -> None:
    lone = Section(title="", head=("name", "a"), rows=[("one", Missing("no truths"))])
    assert lone.remarks() == ["– a: no truths"]
    nameless = Section(title="", head=("name", "a"), rows=[("", Missing("no truths")), ("", 1)])
    assert nameless.remarks() == ["– a: no truths"]
    both = Section(title="", head=("name", "a", "b"), rows=[("x", Missing("why"), 1), ("y", Missing("why"), Missing("other"))])
    assert both.remarks() == ["– a: why (x, y)", "– b: other (y)"]


@pytest.mark.parametrize(
    ("columns", "lines"),
    [
        (24, ["a text of several words"]),
        (23, ["a text of several words"]),
        (22, ["a text of several", "  words"]),
        (8, ["a text", "  of", "  several", "  words"]),
    ],
)
def test_lines_are_broken_where_they_are_too_long(columns: int, lines: list[str]) -> None:
    assert wrapped("a text of several words", columns) == lines


def test_words_that_never_fit_have_a_line_of_their_own() -> None:
    assert wrapped("abcdefgh ij", 4) == ["abcdefgh", "  ij"]
    assert wrapped("a b", None) == ["a b"]


def test_long_texts_are_cut_and_numbers_stay() -> None:
    section = Section(title="", head=("name", "n"), rows=[("x" * 30, 1234567), ("y", 5)])
    lines = to_text([section], 30).split("\n")
    assert lines[1] == "x" * 18 + "…  1,234,567"
    assert max(map(len, lines)) == 30
    assert to_text([section], 41).split("\n")[1] == "x" * 30 + "  1,234,567"
    assert to_text([section], 10).split("\n")[1].startswith("x" * 11 + "…")  # no narrower than this


def test_remarks_stand_below_their_rows_where_there_is_no_room_beside() -> None:
    rows = [("first", 0.5, "best of all that were tried"), ("second", 0.25, "")]
    section = Section(title="", head=("", "value", ""), rows=rows, left=(0, 2), remarked=True)
    assert to_text([section], 50).splitlines() == [
        "         value",
        "first   0.5000  best of all that were tried",
        "second  0.2500",
    ]
    assert to_text([section], 20).splitlines() == [
        "         value",
        "first   0.5000",
        "  best of all that",
        "  were tried",
        "second  0.2500",
    ]
    ruled = to_text([replace(section, rule_before=1)], 20).splitlines()
    assert ruled[3:] == ["  were tried", "──────────────", "second  0.2500"]


def test_wide_tables_stand_in_parts() -> None:
    section = Section(title="", head=("name", "aaaa", "bbbb", "cccc"), rows=[("x", 1, 2, 3)])
    assert to_text([section], 16).split("\n") == ["name  aaaa  bbbb", "x        1     2", "name  cccc", "x        3"]
    assert to_text([section], 15).split("\n")[0] == "name  aaaa"
    assert to_text([section], 1).split("\n")[0] == "name  aaaa"


def test_wide_letters_take_two_cells_and_marks_none() -> None:
    assert (width("表"), width("é"), width("é"), width("Ａ")) == (2, 1, 1, 2)
    assert (cut("表表表", 5), cut("表表表", 6), cut("abc", 3), cut("abcd", 3)) == ("表表…", "表表表", "abc", "ab…")


def test_what_is_cut_is_the_longest_beginning_that_fits() -> None:
    for text in map("".join, product("表aé", repeat=4)):
        for size in range(1, width(text)):
            begun = cut(text, size).removesuffix("…")
            assert text.startswith(begun)
            assert width(begun) < size <= width(text[: len(begun) + 1])


def test_markdown() -> None:
    assert to_markdown([TABLE, Section(title="", notes=["alone"]), Section(title="T", notes=["one"], level=2)]) == (
        "### Numbers\n\n"
        "| name | a | b |\n| :--- | ---: | ---: |\n| one | 0.5000 | 1 |\n| twenty | – | 1,000 |\n| sum | – | – |\n\n"
        "- – a, b: no truths (sum)\n- a note\n\n"
        "alone\n\n"
        "## T\n\n- one\n"
    )
    assert "\\\\\\|\\`\\*\\_\\<\\>\\[\\]" in to_markdown([Section(title="\\|`*_<>[]")])
    assert to_markdown([Section(title="", notes=["one", "two"])]) == "- one\n- two\n"


def test_html_has_no_markup_of_its_own() -> None:
    made = to_html([Section(title="<b>", head=("<i>",), rows=[("a&b",)], notes=["<u>"])])
    assert made == (
        '<h4>&lt;b&gt;</h4><table><thead><tr><th class="left">&lt;i&gt;</th></tr></thead>'
        '<tbody><tr><td class="left">a&amp;b</td></tr></tbody></table><p>&lt;u&gt;</p>'
    )
    assert to_html([Section(title="", notes=["x"])]) == "<p>x</p>"


@pytest.mark.parametrize(
    ("cells", "left"),
    [
        ((0.5, None), False),
        (("0.941 [.85, 1.00]", "–"), False),
        (("\N{MINUS SIGN}0.235", "<0.001"), False),
        (("94 %", ""), False),
        (("Acme", 3), True),
        (("2 → 7", "4 → 1"), True),
    ],
)
def test_in_html_texts_begin_at_the_left_and_numbers_end_at_the_right(cells: tuple[Any, ...], left: bool) -> None:
    made = to_html([Section(title="", head=("name", "told"), rows=[(0, value) for value in cells])])
    assert made.count(' class="left"') == (6 if left else 3)  # the head and two rows; the first column is always text


def test_latex() -> None:
    lines = to_latex([replace(TABLE, rows=[("one", -0.5, 1), ("twenty", 0, 1000), ("sum", 1, 2)])]).split("\n")
    assert lines == [
        "% needs \\usepackage{booktabs}",
        "\\begin{table}", "\\caption{Numbers}", "\\begin{tabular}{lrr}", "\\toprule", "name & a & b \\\\", "\\midrule",
        "one & $-0.5000$ & 1 \\\\", "twenty & 0 & 1,000 \\\\", "\\midrule", "sum & 1 & 2 \\\\", "\\bottomrule",
        "\\end{tabular}", "\\par a note", "\\end{table}", "",
    ]  # fmt: skip
    assert to_latex([Section(title="A_B", notes=["50 %"])]).split("\n")[1:] == ["\\par\\textbf{A\\_B}", "\\par 50 \\%", ""]
    assert to_latex([Section(title="", notes=["x"])]).split("\n")[1:] == ["\\par x", ""]
    assert "caption" not in to_latex([replace(TABLE, title="")])
    assert latex_text("[a]~^") == "{[}a{]}\\textasciitilde{}\\textasciicircum{}"


def test_what_a_terminal_would_obey_is_spelt() -> None:
    assert printable_lines("a\x1b\nb\r") == "a\\x1b\nb\\r"
    assert printable_json('{"a": "\x7f"}') == '{"a": "\\u007f"}'
    assert printable_json('{"a": "ä\U000e0001"}') == '{"a": "ä\\udb40\\udc01"}'
    assert printable_json('{"a": "ä"}\n{}') == '{"a": "ä"}\n{}'


def test_reasons_stand_where_numbers_are_missing() -> None:
    numbers = {"a": {"b": {"c": None, "d": None}}, "e": {"c": None}, "undefined": {"a.b.c": "why"}}
    made = with_reasons(numbers)
    assert made["a"] == {"b": {"c": Missing("why"), "d": None}}
    assert made["e"] == {"c": None}


def test_junit() -> None:
    tests = [
        CiTestCase("g", "a<"),
        CiTestCase("g", "b", "failure", 'x"&\n', ["<1>", "2\x00"]),
        CiTestCase("g", "c", "error", "y"),
    ]
    assert to_junit(tests, "s", {"p": "v"}).split("\n") == [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<testsuites tests="3" failures="1" errors="1">',
        '  <testsuite name="s" tests="3" failures="1" errors="1">',
        "    <properties>",
        '      <property name="p" value="v"/>',
        "    </properties>",
        '    <testcase classname="g" name="a&lt;"/>',
        '    <testcase classname="g" name="b">',
        "      <failure message='x\"&amp;&#10;'>&lt;1&gt;",
        "2\ufffd</failure>",
        "    </testcase>",
        '    <testcase classname="g" name="c">',
        '      <error message="y"></error>',
        "    </testcase>",
        "  </testsuite>",
        "</testsuites>",
        "",
    ]


def test_annotations() -> None:
    assert annotation("t", "50 %\nb\r", file="a,b:c.yaml", line="3", col="") == (
        "::error file=a%2Cb%3Ac.yaml,line=3,title=t::50 %25%0Ab%0D"
    )


def issue(code: str, message: str, file: str, count: int = 1) -> Issue:
    return Issue(code, message, file, severity=Severity.NOTE, count=count)


def test_alike_things_are_told_together() -> None:
    kinds = [issue("a", f"text {n}", f"{n}.json", 2) for n in range(5)]
    assert grouped(kinds)[-1] == "… and 4 more like it; --format json lists every kind and file"
    assert len(grouped(kinds)) == 4
    assert len(grouped(kinds[:3])) == 3
    files = [issue("a", "same", f"{name}.json", 3) for name in "ab"]
    assert grouped(files) == ["a.json and 1 more file: same (6 times)"]
    assert [section.title for section in noticed(files)] == ["noticed in the data"]
    assert noticed([]) == []


def test_numbers_in_words() -> None:
    assert [percent(share) for share in (0.994, 0.995, 0.005, 0.004, 1.5, 0.015)] == [
        "99 %", "more than 99 %", "less than 1 %", "less than 1 %", "150 %", "2 %",
    ]  # fmt: skip
    assert (counted(0, "page"), counted(2, "page"), counted(1, "class", "classes")) == ("0 pages", "2 pages", "1 class")
    assert (some("abcde"), some("abcdef"), some("abc", 2)) == ("a, b, c, d, e", "a, b, c, d, e and 1 more", "a, b and 1 more")
    assert [joined(list(parts)) for parts in ("a", "ab", "abc")] == ["a", "a and b", "a, b and c"]
    assert short_names(["a/x", "b/y"]) == {"a/x": "x", "b/y": "y"}
    assert short_names(["a/b/x", "c/b/x"]) == {"a/b/x": "a/b/x", "c/b/x": "c/b/x"}
    assert short_names(["/", "x"]) == {"/": "/", "x": "x"}
    assert short_names([]) == {}
    side = [{"model": "", "file": "a/t"}]
    assert laid_over("W", {"sources": {"truth": side, "predictions": []}}) == "W"
    assert laid_over("W", {"sources": {"truth": [], "predictions": side}}) == "W"
    assert laid_over("W", {}) == "W"


@pytest.mark.parametrize("notes", [[], ["one"], ["one", "two"]])
@pytest.mark.parametrize("dashes", [0, 1])
def test_a_report_has_each_remark_of_a_table_once(notes: list[str], dashes: int) -> None:
    """Why there is a dash, and then what the table says itself."""
    section = Section(title="t", head=("a", "b"), rows=[("x", 1), *[("y", Missing("no truths"))] * dashes], notes=notes)
    made = _section(section)["notes"]
    assert made == section.remarks()
    assert (made[len(made) - len(notes) :], len(made)) == (notes, len(notes) + dashes)


def test_paths_that_nothing_tells_apart_are_called_as_they_are() -> None:
    assert short_names(["a/b", "a//b", "c/b"]) == {"a/b": "a/b", "a//b": "a//b", "c/b": "c/b"}
    assert short_names([]) == {}
