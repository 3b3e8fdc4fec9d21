"""Queue machines written by hand: a YAML table with K queues becomes a machine with a lookup.

    name: flip
    queues: {tape: {alphabet: [".", "a"], blank: ".", length: 8}}
    prompt: {queue: tape, start: ".", symbols: {a: a}}
    start: go
    accepting: [done]
    rules:
      - go a -> go .

A rule is `state fronts -> state appended`, one symbol for each queue. `*` among the fronts is
any symbol, `=` among the appended is the symbol just popped. Where no rule applies it stops.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import yaml

from tapeformer.circuit.build import Builder, Wire, negated
from tapeformer.circuit.record import Circuit, Literal
from tapeformer.circuit.simplify import simplify
from tapeformer.faults import Fault, SourceLocation, TapeformerError, did_you_mean, quoted
from tapeformer.layout import Layout
from tapeformer.queues.record import Queue, QueueMachine, Register
from tapeformer.queues.verify import verify, verify_layout

NAME = "table"
ANY, SAME = "*", "="
KEYS = {
    "name",
    "description",
    "queues",
    "prompt",
    "start",
    "rules",
    "accepting",
    "rejecting",
    "halting",
}
Key = tuple[str, ...]


@dataclass(frozen=True)
class QueueTable:
    """A hand-written queue machine, and the lengths its file proposes."""

    machine: QueueMachine
    layout: Layout
    description: str


def example_names() -> dict[str, Path]:
    """Return the tables that come with the package, by name."""
    folder = Path(__file__).parent / "examples"
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def load_table(path: Path) -> QueueTable:
    """Read a table; all faults of the file are told at once."""
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise TapeformerError(_no_table(path)) from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        fault = Fault("the table cannot be read", SourceLocation(str(path)), got=str(error))
        raise TapeformerError(fault) from error
    return parse_table(data, str(path))


def _no_table(path: Path) -> Fault:
    """Return the fault for a name that is neither a file nor a table of the package."""
    names = example_names()
    hint = did_you_mean(str(path), names)
    remedy = f"{hint} the package has the tables {', '.join(names)}".strip()
    return Fault(f"no table {quoted(str(path))}: not a file, not in the package", remedy=remedy)


def parse_table(data: Any, source: str = "table") -> QueueTable:
    """From the plain data of a YAML file to a machine."""
    faults = _shape_faults(data, source)
    if faults:
        raise TapeformerError(faults)
    queues = tuple(_queue(name, entry) for name, entry in data["queues"].items())
    rules, faults = _rules(data["rules"], queues, source)
    if faults:
        raise TapeformerError(faults)
    lengths = {name: int(entry["length"]) for name, entry in data["queues"].items()}
    table = QueueTable(
        machine=_machine(data, queues, rules),
        layout=Layout(NAME, 1, 2, lengths, capacity=lengths[data["prompt"]["queue"]]),
        description=str(data.get("description", "")),
    )
    faults = [*verify(table.machine), *verify_layout(table.machine, table.layout)]
    if faults:
        raise TapeformerError(faults)
    return table


def _shape_faults(data: Any, source: str) -> list[Fault]:
    """Return keys that are missing, unknown or of another shape."""
    place = SourceLocation(source)
    if not isinstance(data, dict):
        return [Fault("the table is not a mapping", place, expected=", ".join(sorted(KEYS)))]
    needed = {"name": str, "queues": dict, "prompt": dict, "start": str, "rules": list}
    faults = [
        Fault(f"{quoted(key)} is missing or not a {kind.__name__}", place)
        for key, kind in needed.items()
        if not isinstance(data.get(key), kind)
    ]
    faults += [Fault(f"unknown key {quoted(str(key))}", place) for key in data if key not in KEYS]
    if not faults:
        faults += _queue_faults(data, place)
    return faults


def _queue_faults(data: Mapping[str, Any], place: SourceLocation) -> list[Fault]:
    fits = {"alphabet": list, "blank": str, "length": int}
    faults = [
        Fault(f"queue {quoted(str(name))} has no {key} that is a {kind.__name__}", place)
        for name, entry in data["queues"].items()
        for key, kind in fits.items()
        if not isinstance(entry, dict) or not isinstance(entry.get(key), kind)
    ]
    prompt = data["prompt"]
    if prompt.get("queue") not in data["queues"]:
        faults.append(Fault("the prompt names no queue", place, got=str(prompt.get("queue"))))
    if not isinstance(prompt.get("start"), str) or not isinstance(prompt.get("symbols"), dict):
        faults.append(Fault("the prompt needs `start`, a symbol, and `symbols`, a mapping", place))
    return faults


def _queue(name: str, entry: Mapping[str, Any]) -> Queue:
    return Queue(name, tuple(map(str, entry["alphabet"])), entry["blank"], length_rule=name)


def _rules(
    lines: Iterable[Any], queues: tuple[Queue, ...], source: str
) -> tuple[dict[Key, Key], list[Fault]]:
    """State and fronts to state and appended symbols, wildcards written out."""
    rules: dict[Key, Key] = {}
    faults = []
    for number, line in enumerate(lines, 1):
        place = SourceLocation(f"{source}, rule {number}")
        before, _, after = (part.split() for part in str(line).partition("->"))
        if len(before) != len(queues) + 1 or len(after) != len(queues) + 1:
            wanted = f"state and {len(queues)} symbols -> state and {len(queues)} symbols"
            faults.append(Fault("a rule has another shape", place, wanted, quoted(str(line))))
            continue
        faults += _symbol_faults(before, after, queues, place)
        for fronts in product(*map(_any, before[1:], queues)):
            key = (before[0], *fronts)
            if key in rules:
                faults.append(Fault("two rules apply at once", place, got=" ".join(key)))
            appended = (f if a == SAME else a for f, a in zip(fronts, after[1:], strict=True))
            rules[key] = (after[0], *appended)
    return rules, faults


def _any(symbol: str, queue: Queue) -> tuple[str, ...]:
    return queue.alphabet if symbol == ANY else (symbol,)


def _symbol_faults(
    before: list[str], after: list[str], queues: tuple[Queue, ...], place: SourceLocation
) -> list[Fault]:
    return [
        Fault(
            f"queue {quoted(queue.name)} has no symbol {quoted(symbol)}",
            place,
            expected=", ".join(queue.alphabet),
        )
        for symbols, special in ((before[1:], ANY), (after[1:], SAME))
        for symbol, queue in zip(symbols, queues, strict=True)
        if symbol != special and symbol not in queue.alphabet
    ]


def _machine(
    data: Mapping[str, Any], queues: tuple[Queue, ...], rules: Mapping[Key, Key]
) -> QueueMachine:
    kinds = ("accepting", "rejecting", "halting")
    accepting, rejecting, halting = (set(data.get(key) or ()) for key in kinds)
    stopping = accepting | rejecting | halting
    names = [
        data["start"],
        *(state for key, value in rules.items() for state in (key[0], value[0])),
    ]
    states = tuple(dict.fromkeys([*names, *sorted(stopping)]))
    verdicts = {state: _verdict(state, accepting, rejecting) for state in states}
    values = tuple(dict.fromkeys(["run", *verdicts.values()]))
    registers = (
        Register("verdict", values, "run"),
        Register("stepped", ("0", "1"), "0"),
        Register("state", states, data["start"]),
    )
    live = {key: value for key, value in rules.items() if key[0] not in stopping}
    prompt = data["prompt"]
    return QueueMachine(
        name=data["name"],
        construction=NAME,
        queues=queues,
        registers=registers,
        step=_lookup(queues, registers, live, verdicts, stopping),
        prompt_queue=prompt["queue"],
        prompt_start=prompt["start"],
        prompt_symbols={str(key): str(value) for key, value in prompt["symbols"].items()},
    )


def _verdict(state: str, accepting: set[str], rejecting: set[str]) -> str:
    """Return what it means to stop in a state; with no accepting state there is only halting."""
    if state in accepting:
        return "accept"
    return "reject" if state in rejecting or accepting else "halt"


def _lookup(
    queues: tuple[Queue, ...],
    registers: tuple[Register, ...],
    rules: Mapping[Key, Key],
    verdicts: Mapping[str, str],
    stopping: set[str],
) -> Circuit:
    """Return one AND for each row; where none is met the queues turn and the verdict is kept or given."""
    build = Builder()
    fronts = [build.input(queue.name, queue.alphabet) for queue in queues]
    verdict, _, state = (build.input(register.name, register.alphabet) for register in registers)
    columns = build.table(rules, [state, *fronts], "row")
    columns = [
        [(build.all_of(m, verdict["run"], label=f"use {' '.join(row)}"), v) for row, (m, v) in met]
        for met in (list(zip(rules, column, strict=True)) for column in columns)
    ]
    met = build.one_of(*(literal for literal, _ in columns[0]) if columns else (), label="met")
    after = columns or [[] for _ in range(len(queues) + 1)]
    for queue, front, cases in zip(queues, fronts, after[1:], strict=True):
        build.output(queue.name, build.hold(front, cases, queue.blank, f"new {queue.name}"))
    following = build.hold(state, after[0], state.values[0], "new state")
    given = _given(build, verdict, met, state, following, verdicts, stopping)
    build.output("verdict", build.select(given, verdict.values, "run", "new verdict"))
    build.output("stepped", Wire({"0": negated(met), "1": met}))
    build.output("state", following)
    return simplify(build.circuit())


def _given(
    build: Builder,
    verdict: Wire,
    met: Literal,
    state: Wire,
    following: Wire,
    verdicts: Mapping[str, str],
    stopping: set[str],
) -> list[tuple[Literal, Wire | str]]:
    """Return the verdict: as it was, on entering a stopping state, or where no rule is met."""
    kept = negated(verdict["run"])
    stuck = build.all_of(verdict["run"], negated(met), label="stuck")
    cases: list[tuple[Literal, Wire | str]] = [(kept, verdict)]
    for name, meaning in verdicts.items():
        cases.append((build.all_of(stuck, state[name], label=f"stuck in {name}"), meaning))
        if name in stopping:
            cases.append((build.all_of(met, following[name], label=f"enters {name}"), meaning))
    return cases
