"""The boot: reading the prompt back from a level's delay, and the phases up to the first step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tapeformer.circuit.build import Builder, Wire, negated
from tapeformer.circuit.record import Literal
from tapeformer.constructions.realtime.code import Cell, Plane
from tapeformer.constructions.realtime.fields import Fields
from tapeformer.constructions.realtime.lookup import TapeView


@dataclass(frozen=True)
class Boot:
    """Bringing the prompt to tape 1, and its head to the first symbol.

    `chosen`: for each level from 2 on, whether it reads the prompt back from now on; `symbol`:
    what it reads; `over`: it has read all; `back`: the head goes one cell left; `begin`: it is on
    the first cell, so that the first step can be made; `again`, where there is one: the rest of
    the prompt must be waited for once more.
    """

    chosen: Mapping[int, Literal]
    symbol: Cell
    reading: Literal
    over: Literal
    back: Literal
    begin: Literal
    again: tuple[Literal, ...] = ()


def boot(build: Builder, fields: Fields, inputs: Mapping[str, Wire], view: TapeView) -> Boot:
    """Return the boot that pushes one symbol in a token and takes them back one by one."""
    phase = inputs["phase"]
    loading = build.one_of(phase["wait"], phase["load"], label="loading")
    read = read_back(build, fields, inputs, loading)
    symbol = prompt_cell(build, fields, read)
    own = (bit for plane, bit in symbol.items() if isinstance(plane, str))
    reading = build.one_of(*own, label="reading")
    popping = (view.left[0].filled, negated(view.at_end), negated(view.right[-1].filled))
    return Boot(
        chosen=chosen_level(build, fields, inputs),
        symbol=symbol,
        reading=reading,
        over=build.all_of(phase["load"], negated(reading), label="prompt over"),
        back=build.all_of(phase["rewind"], *popping, label="back"),
        begin=build.all_of(phase["rewind"], view.at_end, label="begin"),
    )


def read_back(
    build: Builder, fields: Fields, inputs: Mapping[str, Wire], loading: Literal
) -> dict[str, Literal]:
    """Return whether the chosen level's delay reads each prompt symbol back."""
    read: dict[str, Literal] = {}
    for symbol in (fields.bottom, *fields.prompt_symbols):
        ways = [
            build.all_of(
                inputs[name][symbol],
                inputs[f"load{level}"]["1"],
                loading,
                label=f"load{level} reads {symbol}",
            )
            for level, name in enumerate(fields.input_queues(), 2)
        ]
        read[symbol] = build.one_of(*ways, label=f"reads {symbol}")
    return read


def prompt_cell(build: Builder, fields: Fields, read: Mapping[str, Literal]) -> Cell:
    """Return the prompt symbol that is read back, as a cell of tape 1."""
    code = fields.code(1)
    cell: dict[Plane, Literal] = {fields.bottom: read[fields.bottom]}
    for plane in (*code.values, *code.head_planes):
        having = (read[s] for s in fields.prompt_symbols if plane in code.planes(s))
        cell[plane] = build.one_of(*having, label=f"prompt symbol={plane}")
    return cell


def chosen_level(build: Builder, fields: Fields, inputs: Mapping[str, Wire]) -> dict[int, Literal]:
    """Return the smallest level whose delay reaches before the prompt, in the first generated token."""
    chosen = {}
    reached = build.true
    for level, name in enumerate(fields.input_queues(), 2):
        before = inputs[name][fields.dummy]
        now = build.all_of(inputs["phase"]["start"], before, reached, label=f"chosen load{level}")
        chosen[level] = build.one_of(inputs[f"load{level}"]["1"], now, label=f"load{level} on")
        reached = negated(before)
    return chosen


def phase_after(build: Builder, phase: Wire, boot: Boot) -> Wire:
    """start, wait for the prompt to come back, load, rewind, run."""
    arrived = build.all_of(phase["wait"], boot.reading, label="arrived")
    still = negated(build.one_of(negated(phase["wait"]), arrived, label="not waiting"))
    rewinding = negated(build.one_of(negated(phase["rewind"]), boot.begin, label="not rewinding"))
    return Wire(
        {
            "start": build.false,
            "wait": build.one_of(phase["start"], still, *boot.again, label="new phase=wait"),
            "load": boot.reading,
            "rewind": build.one_of(boot.over, rewinding, label="new phase=rewind"),
            "run": build.one_of(phase["run"], boot.begin, label="new phase=run"),
        }
    )
