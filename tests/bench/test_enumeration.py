"""The enumeration of machines: the same for a seed, and it ends where there are no more machines."""

from __future__ import annotations

import sys
from hashlib import sha256

import pytest

from tapeformer.bench import enumeration
from tapeformer.bench.enumeration import machines
from tapeformer.faults import TapeformerError

FIRST_1000 = "939499fdec32315049da44d35cdd39159da9331b71f7fc8605d4ea50dae3be5f"
"""SHA-256 of what is printed for 1,000 machines: measured results name these machines."""


def printed(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["enumeration", *words])
    return enumeration.main()


def test_a_count_and_a_seed_give_the_same_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert printed(monkeypatch, "1000") == 0
    out, err = capsys.readouterr()
    assert (sha256(out.encode()).hexdigest(), err) == (FIRST_1000, "")


def test_it_ends_where_no_new_machine_comes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(enumeration, "FRUITLESS", 2_000)
    found = []
    for _ in range(2):
        assert printed(monkeypatch, "100000", "--states", "2") == 2
        found.append(capsys.readouterr())
    assert found[0] == found[1]
    assert len(set(found[0].out.splitlines())) == found[0].out.count("\n") == 41
    assert "got 41 of 2 states; ask for at most 41, or give 3 states" in found[0].err
    assert printed(monkeypatch, "41", "--states", "2") == 0
    assert capsys.readouterr() == (found[0].out, "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("5", "--states", "1"), "bad `states`; expected a whole number from 2 to 25; got 1"),
        (("5", "--states", "0"), "got 0"),
        (("5", "--states", "26"), "got 26"),
        (("-1",), "bad `count`; expected a whole number, at least 0; got -1"),
    ],
)
def test_what_cannot_be_enumerated_is_refused(
    words: tuple[str, ...],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert printed(monkeypatch, *words) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert message in err


def test_arguments_are_checked_at_once() -> None:
    with pytest.raises(TapeformerError, match="bad `states`"):
        machines(5, states=1)
    assert list(machines(0)) == []
    assert len(list(machines(1, states=25))) == 1
