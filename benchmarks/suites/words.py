"""Words: long sequences as numbers, a lattice, and ten thousand pages from files."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from suite import DataSet, Inputs, Numbers, Suite, Tool

BENCHMARKS = Path(__file__).resolve().parents[1]
WORK = ("length", "alignment", "oracle")
SETS = frozenset([*WORK, "pages"])


def _script(name: str, work: str) -> Callable[[Path, Inputs], list[str]]:
    def command(programs: Path, inputs: Inputs) -> list[str]:
        return [str(programs / "python"), str(BENCHMARKS / "runners" / name), work, inputs["long.npz"]]

    return command


def _calque_pages(programs: Path, inputs: Inputs) -> list[str]:
    folders = json.loads(Path(inputs["pages.json"]).read_text())
    return [str(programs / "calque"), "words", folders["truth"], folders["predicted"], "--format", "json"]


def _jiwer(programs: Path, inputs: Inputs) -> list[str]:
    return [str(programs / "python"), str(BENCHMARKS / "runners" / "jiwer_.py"), inputs["pages.json"]]


def _length(output: str) -> Numbers:
    return {"matches": float(output.splitlines()[-1])}


def _no_number(output: str) -> Numbers:  # noqa: ARG001  # plain LCS stands in for an oracle: only its cost is compared
    return {}


def _wer(output: str) -> Numbers:
    return {"wer": float(json.loads(output)) if output.strip()[0] != "{" else json.loads(output)["micro"]["wer"]}


def _tool(name: str, environment: str, script: str, work: str, numbers: Callable[[str], Numbers] = _length) -> Tool:
    return Tool(name, environment, _script(script, work), numbers, skips=SETS - {work})


def _prepare(name: str, cache: Path, needs: frozenset[str]) -> Inputs:  # noqa: ARG001  # every tool reads the same files
    """Make the files in a process of their own: the runner must stay small."""
    made = "pages" if name == "pages" else "long"
    command = [sys.executable, str(BENCHMARKS / "word_data.py"), made, "--cache", str(cache)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    files: dict[str, str] = json.loads(done.stdout)
    return files


SUITE = Suite(
    name="words",
    sets=(
        DataSet("length", "100,000 × 180,000 words: length of the longest common subsequence", 100_000),
        DataSet("alignment", "100,000 × 180,000 words: the alignment itself", 100_000),
        DataSet("oracle", "a lattice of 100,000 slots with 2 candidates: the best path (rapidfuzz: plain LCS)", 100_000),
        DataSet("pages", "10,000 pages of 600 words, from text files: WER (calque: all its numbers)", 10_000),
    ),
    groups={},
    tools=(
        _tool("calque-length", "calque", "calque_words_.py", "length"),
        _tool("rapidfuzz-similarity", "rapidfuzz", "rapidfuzz_.py", "length"),
        _tool("calque-alignment", "calque", "calque_words_.py", "alignment"),
        _tool("rapidfuzz-opcodes", "rapidfuzz", "rapidfuzz_.py", "alignment"),
        _tool("calque-oracle", "calque", "calque_words_.py", "oracle"),
        _tool("rapidfuzz-plain", "rapidfuzz", "rapidfuzz_.py", "oracle", _no_number),
        Tool("calque-pages", "calque", _calque_pages, _wer, skips=SETS - {"pages"}),
        Tool("jiwer", "jiwer", _jiwer, _wer, skips=SETS - {"pages"}),
    ),
    ours=("calque-length", "calque-alignment", "calque-oracle", "calque-pages"),
    references=("rapidfuzz-similarity", "rapidfuzz-opcodes", "calque-oracle", "jiwer"),
    tolerance=1e-9,
    prepare=_prepare,
)
