from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tapeformer.faults import TapeformerError
from tapeformer.layout import Layout
from tapeformer.queues.record import Register
from tapeformer.queues.show import show, show_token
from tapeformer.queues.table import load_table, parse_table
from tapeformer.queues.verify import verify, verify_layout


def small() -> dict[str, Any]:
    return {
        "name": "small",
        "queues": {"q": {"alphabet": [".", "a"], "blank": ".", "length": 4}},
        "prompt": {"queue": "q", "start": ".", "symbols": {"a": "a"}},
        "start": "go",
        "rules": ["go * -> go ="],
    }


def test_a_small_table_is_read() -> None:
    table = parse_table(small())
    assert table.layout.window == 4
    assert [register.name for register in table.machine.registers] == [
        "verdict",
        "stepped",
        "state",
    ]
    assert not verify(table.machine)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rules": ["go a go a"]}, "another shape"),
        ({"rules": ["go b -> go ="]}, "no symbol 'b'"),
        ({"rules": ["go * -> go =", "go a -> go a"]}, "two rules apply at once"),
        ({"colour": "red"}, "unknown key 'colour'"),
        ({"start": 3}, "'start' is missing or not a str"),
        ({"prompt": {"queue": "x", "start": ".", "symbols": {}}}, "names no queue"),
        ({"prompt": {"queue": "q", "start": "z", "symbols": {}}}, "does not have"),
        ({"queues": {"q": {"alphabet": ["."], "blank": "."}}}, "no length"),
    ],
)
def test_faults_of_a_table(change: dict[str, Any], message: str) -> None:
    with pytest.raises(TapeformerError, match=message):
        parse_table({**small(), **change})


def test_an_odd_length_is_refused() -> None:
    data = small()
    data["queues"]["q"]["length"] = 5
    with pytest.raises(TapeformerError, match="odd length 5"):
        parse_table(data)


def test_a_file_that_is_no_table(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text("[1, 2", encoding="utf-8")
    with pytest.raises(TapeformerError, match="cannot be read"):
        load_table(path)
    with pytest.raises(TapeformerError, match="not a file, not in the package"):
        load_table(tmp_path / "missing.yaml")


def test_verify_lists_all_faults_of_a_queue_machine() -> None:
    machine = parse_table(small()).machine
    broken = replace(
        machine,
        registers=(Register("verdict", ("run", "maybe"), "no"), *machine.registers[1:2]),
        prompt_queue="elsewhere",
    )
    told = "\n".join(map(str, verify(broken)))
    for part in (
        "begins with a symbol",
        "input ports",
        "output ports",
        "goes to a queue",
        "missing",
    ):
        assert part in told
    twice = replace(machine, queues=(*machine.queues, *machine.queues))
    assert "used 2 times" in "\n".join(map(str, verify(twice)))


def test_a_layout_without_a_length() -> None:
    machine = parse_table(small()).machine
    assert "gives no length" in str(verify_layout(machine, Layout("table", 1, 2, {}, 0))[0])


def test_show_tells_queues_lengths_and_registers() -> None:
    table = parse_table(small())
    lines = show(table.machine, table.layout).splitlines()
    assert lines[:2] == ["small: queues 1, registers 3", "queue q: q = 4, . a; starts with ."]
    assert "register verdict: run halt; starts as run" in lines
    assert show_token(table.machine, ("a", "run", "1", "go", "0")) == "q=a stepped=1"
