"""The mutation runs themselves, on a toy package whose tests notice some faults and not others."""

from __future__ import annotations

import ast
import random
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.mutants.__main__ import main
from tests.mutants.choosing import Candidate, choose
from tests.mutants.coverage_map import coverage_map
from tests.mutants.sampling import Equivalent, Tuned, equivalents, packages, sample
from tests.mutants.sites import mutants_of
from tests.mutants.trial import TIME, Patience, Trial, attempt, run
from tests.mutants.upkeep import restored, tidy
from tests.mutants.workplace import set_up, twin

ROOT = Path(__file__).parents[2]
EQUIVALENTS = equivalents(ROOT / "tests" / "mutants" / "equivalents.toml")

TOY = {
    "src/toy/__init__.py": "",
    "src/toy/limits.py": "LIMIT = 3\n",
    "src/toy/maths/__init__.py": "",
    "src/toy/maths/clamp.py": (
        "from toy.limits import LIMIT\n\n\ndef clamp(number: int) -> int:\n    return number if number < LIMIT else LIMIT\n"
    ),
    "src/toy/loops/__init__.py": "",
    "src/toy/loops/count.py": (
        "def count(most):\n    number = 0\n    while number < most:\n        number += 1\n    return number\n\n\n"
        "def unused(it):\n    it.stop()\n"
    ),
    "tests/test_clamp.py": (
        "import subprocess\nimport sys\n\nfrom toy.maths.clamp import clamp\n\n\n"
        "def test_small():\n    assert clamp(1) == 1\n\n\n"
        "def test_large_in_a_process_without_variables():\n"
        "    code = 'from toy.maths.clamp import clamp; print(clamp(9))'\n"
        "    done = subprocess.run([sys.executable, '-c', code], env={}, capture_output=True, text=True)\n"
        "    assert done.stdout == '3\\n'\n"
    ),
    "tests/test_count.py": (
        "import pytest\n\nfrom toy.loops.count import count\n\n\n"
        "@pytest.fixture(scope='module')\ndef counted():\n    return count(3)\n\n\n"
        "def test_type(counted):\n    assert isinstance(counted, int)\n\n\ndef test_number(counted):\n    assert counted == 3\n"
    ),
    "pytest.ini": "[pytest]\naddopts = -p no:calque -p no:hypothesispytest -p no:pytest_cov\n",
    "tests/mutants/equivalents.toml": (
        '[[equivalent]]\nfile = "src/toy/maths/clamp.py"\nscope = "clamp"\n'
        'before = "return number if number < LIMIT else LIMIT"\n'
        'after = "return number if (number <= LIMIT) else LIMIT"\nreason = "at the limit both sides are the limit"\n'
    ),
}


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    for file, text in TOY.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text, "utf-8")
    return tmp_path


def changes(source: str) -> list[tuple[str, str]]:
    return [(mutant.before, mutant.after) for mutant in mutants_of("a.py", source.encode())]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = a < b", [("a < b", "(a <= b)"), ("a < b", "(a >= b)")]),
        ("x = a == b", [("a == b", "(a != b)")]),
        ("x = a + b", [("a + b", "(a - b)")]),
        ("x = a % b", [("a % b", "(a // b)")]),
        ("x += y", [("x += y", "x -= y")]),
        ("x = a and b", [("a and b", "(a or b)")]),
        ("x = not a", [("not a", "a")]),
        ("x = 0", [("0", "1")]),
        ("x = 2", [("2", "1"), ("2", "3")]),
        ("x = True", [("True", "False")]),
        ("if a: b", [("a", "False"), ("a", "True")]),
        ("while a: b", [("a", "False")]),
        ("x = [a for a in b if a]", [("a", "False"), ("a", "True")]),
        ("def f(): return x", [("return x", "return None")]),
        ("x = min(a, b)", [("min(a, b)", "max(a, b)")]),
        ("x = np.any(a)", [("np.any(a)", "np.all(a)")]),
        ("x = sorted(a)", [("sorted(a)", "sorted(a, reverse=True)")]),
        ("x = f(a, key=b)", [("f(a, key=b)", "f(a)")]),
        ("x = a[b:c]", [("b", "(b + 1)"), ("c", "(c - 1)")]),
        ("for x in y: continue", [("continue", "break")]),
        ("f(x)", [("f(x)", "pass")]),
    ],
)
def test_a_fault_of_each_kind(source: str, expected: list[tuple[str, str]]) -> None:
    assert changes(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        '"""1 + 1 is a docstring."""',
        "x: Literal[1, 2]",
        "def f(a: Literal[1]) -> Literal[2]: ...",
        "if TYPE_CHECKING:\n    x = 1",
        "if sys.platform == 'win32':\n    x = y",
        "x = f'{a + 1} pages'",
        "raise ValueError(f'{len(a) - 1} too many')",
        "__slots__ = f(a=1)",
        "@dataclass(frozen=True)\nclass A: ...",
        "class A(Frozen, kw_only=True, eq=False): ...",
        "@overload\ndef f(a=1): ...",
        "x = f(help='Two words', strict=True)",
        "def f(a, jobs=1): ...",
        "def f(a, *, b=c, jobs=1): ...",
        "x = f(message='Two words')",
        "x = np.zeros(n, dtype=np.float64)",
        "T = TypeVar('T', bound=A)",
        "if __name__ == '__main__':\n    main(1)",
    ],
)
def test_what_cannot_matter_is_left_alone(source: str) -> None:
    assert changes(source) == []


def test_the_default_of_another_parameter_is_not_left_alone() -> None:
    assert changes("def f(a, b=0, jobs=1, *, c=0, d): ...") == [("0", "1"), ("0", "1")]


def test_a_fault_changes_its_own_place_only() -> None:
    source = "x = 'é' ; y = a * (b +\n    c)  # sum\nz = -(a + b)\n".encode()
    applied = {mutant.applied(source).decode() for mutant in mutants_of("a.py", source)}
    assert "x = 'é' ; y = a * ((b - c))  # sum\nz = -(a + b)\n" in applied
    assert "x = 'é' ; y = (a / (b + c))  # sum\nz = -(a + b)\n" in applied
    assert all(text.startswith("x = 'é' ; y = ") for text in applied)


def test_every_fault_of_real_files_can_be_read_and_differs() -> None:
    files = sorted((ROOT / "src").rglob("*.py"))
    chance = random.Random(1)
    for path in chance.sample(files, 6):
        source = path.read_bytes()
        clean = ast.dump(ast.parse(source))
        known = list(mutants_of(path.name, source))
        for mutant in chance.sample(known, min(len(known), 12)):
            assert ast.dump(ast.parse(mutant.applied(source))) != clean, mutant


def test_a_fault_knows_its_statement() -> None:
    source = b"A = 1\n\nclass B:\n    def c(self, d=2):\n        return f(\n            d,\n            3,\n        )\n"
    around = {mutant.before: mutant.around for mutant in mutants_of("a.py", source)}
    assert around["1"].at_import
    assert around["2"].at_import
    assert around["2"].scope == ("B", "c")
    assert not around["3"].at_import
    assert (around["3"].first, around["3"].last) == (5, 8)


def test_the_sample_hangs_on_the_seed_and_on_the_package_alone(toy: Path) -> None:
    found = packages(toy, "toy")
    assert list(found) == ["loops", "maths", "toy"]
    assert list(packages(toy, "toy", "maths")) == ["maths"]
    every = sample(toy, found, 100, 1)
    assert sample(toy, found, 100, 1) == every
    assert sample(toy, packages(toy, "toy", "maths"), 100, 1)["maths"] == every["maths"]
    assert len({(mutant.file, mutant.line) for mutant in every["loops"]}) == len(every["loops"]) == 5
    assert {len(mutants) for mutants in sample(toy, found, 1, 1).values()} == {1}


@pytest.mark.long
def test_a_run_says_what_survived_and_leaves_the_files_alone(toy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {path: path.read_bytes() for path in toy.rglob("*") if path.is_file()}
    code = main(["--root", str(toy), "--mutants", "100", "--seed", "21"])
    told = capsys.readouterr()
    assert code == 1
    assert told.out.splitlines() == [
        "src/toy/loops/count.py:2: constant in count survived (2 of the 2 tests that run the line)",
        "    - number = 0",
        "    + number = 1",
        "src/toy/loops/count.py:9: statement in unused survived (no test runs the line)",
        "    - it.stop()",
        "    + pass",
        "package  mutants  caught  survived  equivalent   share",
        "loops          5       3         2           0   60.0%",
        "maths          1       0         0           1       –",
        "toy            1       1         0           0  100.0%",
        "all            7       4         2           1   66.7%",
        "caught: 4 by a test",
    ]
    assert "limits.py:1 constant: caught by tests/test_clamp.py::test_large_in_a_process_without_variables" in told.err
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.long
def test_a_hang_is_ended(toy: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    place = set_up(toy, tmp_path_factory.mktemp("place"))
    assert run(place, ["tests/test_count.py::test_number"], 0.001) is TIME


UNSOUND = {
    "src/toy/files.py": (
        "def target(name):\n    return 'tests/out' if name.startswith('tests') else name\n\n\n"
        "def twice(a):\n    return a * 2\n\n\ndef thrice(a):\n    return a * 3\n\n\ndef wait(seconds=0):\n    return seconds\n"
    ),
    "tests/data": "4",
    # With the fault it writes over what another file of tests reads, which from then on would fail to load.
    "tests/test_a_writes.py": (
        "from pathlib import Path\n\nfrom toy.files import target\n\n\n"
        "def test_writes():\n    Path(target('tests/data')).write_text('no number')\n"
        "    assert not Path('tests/data').read_text().startswith('n')\n    Path('tests/out').unlink()\n"
    ),
    "tests/test_b_reads.py": (
        "from pathlib import Path\n\nfrom toy.files import twice\n\nDATA = int(Path('tests/data').read_text())\n"
        "assert twice(1) == 2\n\n\ndef test_twice():\n    assert twice(2) == DATA\n"
    ),
    # It passes only where others ran before.
    "tests/test_c_hangs_on_others.py": (
        "from toy.files import thrice, wait\n\nRAN = []\n\n\ndef test_earlier():\n    RAN.append(wait())\n\n\n"
        "def test_later():\n    thrice(1)\n    assert RAN\n"
    ),
}


@pytest.fixture
def unsound(toy: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Trial]:
    """Tries the fault of a line of the file, one after the other in the same copy."""
    for file, text in UNSOUND.items():
        (toy / file).write_text(text, "utf-8")
    place = set_up(toy, tmp_path_factory.mktemp("place"))
    known = coverage_map(place, toy / "build", ["tests"])
    assert tidy(place) == []
    faults = mutants_of("src/toy/files.py", (toy / "src/toy/files.py").read_bytes())

    def tried(scope: str, new: str) -> Trial:
        (mutant,) = (each for each in faults if each.scope == scope and each.new == new)
        trial = attempt(place, mutant, known, Patience(60.0, 30.0))
        assert restored(place.tree, place.clean) == []
        return trial

    return tried


@pytest.mark.long
def test_what_a_fault_breaks_in_the_copy_is_put_right_before_the_next(unsound: Callable[[str, str], Trial]) -> None:
    broken = unsound("target", "return 'tests/out' if False else name")
    assert (broken.caught, broken.how) == (True, "caught by tests/test_a_writes.py::test_writes")
    assert broken.left == ("tests/data was changed",)
    after = unsound("target", "return 'tests/out' if True else name")
    assert (after.caught, after.how, after.left) == (False, "1 of the 1 tests that run the line", ())
    # As a whole file that does not load, by the fault, is another way to notice it than a test.
    loaded = unsound("twice", "return (a / 2)")
    assert (loaded.caught, loaded.way, loaded.left) == (True, "as a file did not load", ())
    assert loaded.how == "caught by tests/test_b_reads.py, which did not load: assert 0.5 == 2"


@pytest.mark.long
def test_what_fails_without_the_fault_as_well_has_caught_nothing(unsound: Callable[[str, str], Trial]) -> None:
    trial = unsound("thrice", "return (a / 3)")
    assert (trial.caught, trial.how) == (False, "0 of the 1 tests that run the line")
    assert trial.unsound == ("tests/test_c_hangs_on_others.py::test_later: assert []",)


def test_who_works_on_the_tree_changes_no_copy(toy: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Faults are places in the text of the first: in another text they would be anything."""
    (toy / ".hidden").write_text("also tracked", "utf-8")
    first = set_up(toy, tmp_path_factory.mktemp("first"))
    (toy / "src/toy/loops/count.py").write_text("def cou", "utf-8")
    second = twin(first, tmp_path_factory.mktemp("second"))
    assert restored(second.tree, first.clean) == restored(second.clean, first.tree) == []
    assert run(second, ["tests/test_count.py::test_number"], 60.0) is None


def test_a_copy_is_made_what_it_was(tmp_path: Path) -> None:
    clean, tree = tmp_path / "clean", tmp_path / "tree"
    (clean / "a" / "b").mkdir(parents=True)
    for name in ("changed", "gone", "same", "a/in_a_folder", "a/b/deep", "shut"):
        (clean / name).write_text(name, "utf-8")
    shutil.copytree(clean, tree)
    (tree / "changed").write_text("CHANGED", "utf-8")
    (tree / "gone").unlink()
    (tree / "shut").chmod(0)
    shutil.rmtree(tree / "a")
    (tree / "more" / "__pycache__").mkdir(parents=True)
    (tree / "more" / "file").write_text("", "utf-8")
    (tree / "__pycache__").mkdir()
    assert restored(tree, clean) == [
        "changed was changed",
        "shut was changed",
        *(f"{name} was gone" for name in ("a", "a/b", "a/b/deep", "a/in_a_folder", "gone")),
        *(f"{name} was new" for name in ("more", "more/file")),
    ]
    assert restored(tree, clean) == []
    assert [path.name for path in sorted(tree.iterdir())] == ["__pycache__", "a", "changed", "gone", "same", "shut"]


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="processes are no files here")
def test_a_process_that_left_the_tests_is_ended_with_them(toy: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    place = set_up(toy, tmp_path_factory.mktemp("place"))
    command = [str(place.python), "-c", "input()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True) as left:
        assert tidy(place) == [f"process {' '.join(command)}"]
        assert left.wait() == -signal.SIGKILL
    assert tidy(place) == []


@pytest.mark.long
def test_tests_of_a_file_that_is_gone_are_forgotten(toy: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    place = set_up(toy, tmp_path_factory.mktemp("place"))
    assert len(coverage_map(place, toy / "build", ["tests"]).seconds) == 4
    (place.tree / "tests/test_count.py").unlink()
    assert {test.partition("::")[0] for test in coverage_map(place, toy / "build", ["tests"]).seconds} == {
        "tests/test_clamp.py"
    }


@pytest.mark.long
def test_what_a_changed_file_of_tests_runs_is_recorded_anew(toy: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    (mutant,) = (
        each for each in mutants_of("src/toy/loops/count.py", (toy / "src/toy/loops/count.py").read_bytes()) if each.line == 9
    )
    place = set_up(toy, tmp_path_factory.mktemp("place"))
    cache = toy / "build"
    wanted = ["-knot slow", "tests/test_count.py"]
    assert coverage_map(place, cache, wanted).tests(mutant) == []
    text = TOY["tests/test_count.py"] + "\n\ndef test_stop():\n    unused(type('It', (), {'stop': print}))\n"
    text += "\n\ndef test_slow():\n    test_stop()\n"
    text = text.replace("import count\n", "import count, unused\n")
    (place.tree / "tests/test_count.py").write_text(text, "utf-8")
    assert [test.name for test in coverage_map(place, cache, wanted).tests(mutant)] == ["tests/test_count.py::test_stop"]


SHARING = {
    "src/toy/kept/__init__.py": "",
    "src/toy/kept/sums.py": (
        "from functools import cache\n\nKNOWN = {}\n\n\n"
        "def known(function):\n    KNOWN[function.__name__] = function\n    return function\n\n\n"
        "@known\n@cache\ndef cached(a):\n    return a + 1\n\n\n"
        "class Sums:\n    @classmethod\n    @cache\n    def cached(cls, a):\n        return a + 2\n\n\n"
        "def asked_by_name(a):\n    return a + 3\n\n\n"
        "def lazy(a):\n    return a + 4\n\n\n"
        "def beneath(a):\n    return a + 5\n\n\n"
        "def at_import(a):\n    return a + 6\n\n\n"
        "def standing(a, b=7):\n    return a + b\n\n\n"
        "class Settings:\n    most = 8\n"
    ),
    "tests/__init__.py": "",
    "tests/kept.py": (ROOT / "tests" / "kept.py").read_text("utf-8"),
    "tests/test_earlier.py": "import toy.kept.sums\n\n\ndef test_earlier():\n    assert toy.kept.sums\n",
    "tests/test_settings.py": "from toy.kept import sums\n\n\ndef test_most():\n    assert sums.Settings.most == 8\n",
    "tests/test_sums.py": (
        "from functools import cache\n\nimport pytest\n\nfrom tests.kept import Kept\n"
        "from toy.kept.sums import KNOWN, Sums, asked_by_name, at_import, beneath, cached, lazy, standing\n\n"
        "MADE = at_import(1)\nKEPT = Kept()\n\n\n"
        "@pytest.fixture(scope='module')\ndef wide():\n    return asked_by_name(1)\n\n\n"
        "@cache\ndef helper():\n    return standing(1)\n\n\n"
        "def low():\n    return KEPT('low', lambda: beneath(1))\n\n\n"
        "def high():\n    return KEPT('high', lambda: lazy(low()))\n\n\n"
        "@pytest.mark.parametrize('turn', [1, 2])\n"
        "def test_caches(turn):\n    assert (KNOWN['cached'](1), cached(1), Sums.cached(1)) == (2, 2, 3)\n\n\n"
        "@pytest.mark.parametrize('turn', [1, 2])\n"
        "def test_fixtures(turn, request):\n    assert request.getfixturevalue('wide') == 4\n\n\n"
        "@pytest.mark.parametrize('turn', [1, 2])\ndef test_kept(turn):\n    assert high() == 10\n\n\n"
        "@pytest.mark.parametrize('turn', [1, 2])\ndef test_helpers(turn):\n    assert (helper(), MADE) == (8, 7)\n"
    ),
    "pytest.ini": f"{TOY['pytest.ini']}pythonpath = .\n",
}


@pytest.mark.long
def test_what_tests_share_belongs_to_each_of_them(toy: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    for file, text in SHARING.items():
        (toy / file).parent.mkdir(exist_ok=True)
        (toy / file).write_text(text, "utf-8")
    place = set_up(toy, tmp_path_factory.mktemp("place"))
    recorded = coverage_map(place, toy / "build", ["tests/test_earlier.py", "tests/test_settings.py", "tests/test_sums.py"])
    file = "src/toy/kept/sums.py"
    tests = {
        (mutant.scope, mutant.kind): [test.name.partition("::")[2] for test in recorded.tests(mutant)]
        for mutant in mutants_of(file, (toy / file).read_bytes())
    }
    caches, fixtures, kept, helpers = (
        [f"test_{name}[1]", f"test_{name}[2]"] for name in ("caches", "fixtures", "kept", "helpers")
    )
    for scope in ("cached", "Sums.cached"):
        assert tests[scope, "arithmetic"] == caches
    assert tests["asked_by_name", "arithmetic"] == fixtures
    for scope in ("lazy", "beneath"):
        assert tests[scope, "arithmetic"] == kept
    for kind in ("arithmetic", "constant"):
        assert tests["standing", kind] == helpers
    # Whoever names anything of the file, and whoever imported it first.
    assert tests["at_import", "return"] == tests["Settings", "constant"] == ["test_most", *caches, *fixtures, *helpers, *kept]
    assert tests["known", "return"] == ["test_earlier", "test_most", *caches, *fixtures, *helpers, *kept]


def test_tests_are_chosen_by_their_names_by_what_else_they_run_and_by_their_time() -> None:
    def listed(file: str, names: str, seconds: float, share: float) -> list[Candidate]:
        return [Candidate(f"tests/{file}::{name}", seconds, share) for name in names]

    near, narrow = listed("checks/test_pictured.py", "ab", 1.0, 0.1), listed("laws/test_all.py", "ab", 1.0, 0.9)
    quick, slow = listed("cli/test_quick.py", "abcdefghij", 0.25, 0.1), listed("checks/test_pictured.py", "s", 4.0, 1.0)
    several = [*quick, *slow, *narrow, *near]

    def chosen(tests: list[Candidate], budget: float) -> list[str]:
        return choose("src/calque/checks/pictured.py", tests, budget)

    assert chosen(several, 6.0) == [test.name for test in (*near, *narrow, *quick[:8])]
    assert chosen(several, 12.0) == [test.name for test in (*near, *slow, *narrow, *quick)]
    assert chosen([*slow, *narrow], 0.5) == [narrow[0].name]


def test_an_equivalent_is_one_fault_or_every_fault_of_a_line() -> None:
    at_once, other = mutants_of("a.py", b"AT_ONCE = 2\n")
    one = Equivalent("a.py", "", "AT_ONCE = 2", "only speed", after=at_once.new)
    assert (one.names(at_once), one.names(other)) == (True, False)
    every = Equivalent("a.py", "", "AT_ONCE = 2", "only speed")
    assert (every.names(at_once), every.names(other)) == (True, True)
    assert not Equivalent("b.py", "", "AT_ONCE = 2", "only speed").names(at_once)


def test_a_tuned_number_may_be_half_or_twice_as_large_and_no_more() -> None:
    tuned = Tuned("a.py", "AT_ONCE", "only speed")
    faults = {mutant.new: tuned.names(mutant) for mutant in mutants_of("a.py", b"AT_ONCE = 1 << 4\n")}
    assert {new for new, named in faults.items() if named} == {"AT_ONCE = 2 << 4", "AT_ONCE = 1 << 5", "AT_ONCE = 1 << 3"}
    assert {new for new, named in faults.items() if not named} == {"AT_ONCE = 0 << 4", "AT_ONCE = (1 >> 4)"}
    assert not any(tuned.names(mutant) for mutant in mutants_of("a.py", b"def f():\n    AT_ONCE = 16\nMOST = 16\n"))


@pytest.mark.parametrize("file", sorted({known.file for known in EQUIVALENTS}))
def test_every_equivalent_is_still_in_the_code_and_has_a_reason(file: str) -> None:
    faults = mutants_of(file, (ROOT / file).read_bytes())
    for known in EQUIVALENTS:
        if known.file == file:
            assert known.reason
            assert any(known.names(mutant) for mutant in faults), known
