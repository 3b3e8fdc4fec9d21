"""The mutation campaign: what it changes, which mutants it draws, and that tests can kill them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.campaigns.mutation import tree
from tests.campaigns.mutation.mutants import Mutant, mutants_of, sampled
from tests.campaigns.mutation.results import Results, told
from tests.campaigns.mutation.tree import Tree

MODULE = '''"""A limit of 3."""

from dataclasses import dataclass

MOST = 3


@dataclass(frozen=True)
class Counter:
    step: int = 1

    def next(self, number: int) -> int:
        """Count up to 3."""
        assert number >= 0
        if number < MOST:
            return number + self.step
        raise ValueError(f"{number} is 3")
'''
TEST = """from counting import Counter


def test_first() -> None:
    assert Counter().next(0) == 1


def test_last() -> None:
    assert Counter().next(2) == 3
"""
FILE = "src/tapeformer/counting/counting.py"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with one module and one file of tests."""
    module, root = tmp_path / FILE, Path(__file__).parents[2]
    module.parent.mkdir(parents=True)
    module.write_text(MODULE)
    (tmp_path / "src" / "counting.py").symlink_to(module)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_counting.py").write_text(TEST)
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    monkeypatch.setenv("PYTHONPATH", str(root))
    monkeypatch.setattr(tree, "ROOT", tmp_path)
    monkeypatch.setattr(tree, "IMPORTED", ("pytest",))
    return tmp_path


def changes(mutants: list[Mutant]) -> set[tuple[int, str, str, str]]:
    return {(m.line, m.before.strip(), m.after.strip(), m.function) for m in mutants}


def test_texts_guards_and_types_are_left_alone(project: Path) -> None:
    inside = f"{FILE}:Counter.next"
    assert changes(mutants_of(project, FILE)) == {
        (5, "3", "4", f"{FILE}:"),
        (10, "1", "2", f"{FILE}:"),
        (15, "number < MOST", "not (number < MOST)", inside),
        (15, "<", "<=", inside),
        (16, "+", "-", inside),
    }


def test_the_sample_is_the_same_after_a_change_elsewhere(project: Path) -> None:
    before = [mutant.name for mutant in sampled(project, ("counting",), 3, 1)]
    text = MODULE.replace("MOST = 3", "LEAST = not True\nMOST = 3")
    (project / FILE).write_text(text)
    pool = {mutant.name for mutant in mutants_of(project, FILE)}
    assert set(before) <= pool
    after = [mutant.name for mutant in sampled(project, ("counting",), len(pool), 1)]
    assert [name for name in after if name in before] == before


@pytest.mark.parametrize(
    ("before", "status"), [("<", "survived"), ("+", "killed"), ("number < MOST", "killed")]
)
def test_a_mutant_is_killed_by_a_test_that_notices_it(
    project: Path, tmp_path: Path, before: str, status: str
) -> None:
    copy = Tree(tmp_path / "copy")
    link = copy.folder / "src" / "counting.py"
    link.unlink()
    link.symlink_to(copy.folder / FILE)
    mutant = next(m for m in mutants_of(project, FILE) if m.before.strip() == before)
    tests = ["tests/test_counting.py::test_last", "tests/test_counting.py::test_first"]
    with copy.changed(mutant):
        found, by = copy.ordered(tests, 60.0)
    assert found == status
    assert by == ("" if status == "survived" else f"FAILED {tests[0]}")
    assert (copy.folder / FILE).read_text() == MODULE


def test_equivalent_mutants_do_not_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results, file = Results(tmp_path / "results.jsonl"), tmp_path / "results.jsonl"
    for name, status in (("a", "killed"), ("b", "timeout"), ("c", "survived"), ("d", "survived")):
        record = {"mutant": name, "file": "f", "line": 1, "before": "1", "after": "2"}
        results.add({**record, "status": status})
    assert told(Results(file), {"c": "equivalent: shown so"}) == 1
    printed = capsys.readouterr().out
    assert "score 66.7% of 3" in printed
    assert "NOT EXPLAINED" in printed
