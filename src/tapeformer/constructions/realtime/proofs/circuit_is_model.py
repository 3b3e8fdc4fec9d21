"""The circuit of a level computes the counting model and keeps symbols in order: a local check.

`python -m tapeformer.constructions.realtime.proofs.circuit_is_model` checks every state of a level
with every content up to renaming, for symbols kept as values and as bits.

A token changes two columns of a level. What the circuit appends to its queues, hands down and latches
is compared with what the model demands (`level_moments`), symbol by symbol. Planes of symbols do not
mix, so two symbols and END, in every arrangement over the cells, stand for any alphabet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice, product

from tapeformer.circuit.build import Builder, Wire, bit_wire
from tapeformer.circuit.record import Circuit
from tapeformer.circuit.simplify import simplify
from tapeformer.circuit.sliced import evaluate_sliced
from tapeformer.constructions.realtime.code import SOME, SymbolCode
from tapeformer.constructions.realtime.column import Operation, column_of, wires_of
from tapeformer.constructions.realtime.level import Level, LevelClock, decide, full_after, move
from tapeformer.constructions.realtime.names import BITS, OPERATIONS, TRACKS, bit_names
from tapeformer.constructions.realtime.proofs.exploring import Checked
from tapeformer.constructions.realtime.proofs.level_moments import OPERATIONS as MOVING
from tapeformer.constructions.realtime.proofs.level_moments import (
    Moment,
    Moving,
    idle_moments,
    moments,
)

DUMMY, END = ".", "$"
CODES = {"values": SymbolCode(("_", "a")), "bits": SymbolCode(tuple("_abcdef"))}
FLAGS = ("boundary", "mark", "started", "trusted", "below_high", "full", "above_full")
GARBAGE, STRAY = 10**6, 10**6 + 1
"""The numbers of what lies in a column never written, and of the lowest symbol below if it stays there."""

Slices = dict[tuple[str, str], int]


def level_circuit(code: SymbolCode) -> Circuit:
    """Return one level of one stack, with its neighbours as inputs."""
    build = Builder()
    columns = {kind: _names(kind) for kind in ("main", "delay")}
    inputs = {
        name: build.input(name, values)
        for track in (*columns["main"], *columns["delay"], "lowest.track0", "pulled.track0")
        for name, values in _factors(track, code)
    }
    op, above, above_new = (
        Operation(wire["push"], wire["pull"], wire["none"])
        for wire in (build.input(n, OPERATIONS) for n in ("op", "above", "above_new"))
    )
    bits = {name: build.input(name, BITS)["1"] for name in FLAGS}
    clock = LevelClock(1, *(bits[n] for n in ("boundary", "mark", "started", "trusted")))
    current, previous, lowest, pulled = (
        column_of(inputs, names, code, DUMMY)
        for names in (*columns.values(), ("lowest.track0",), ("pulled.track0",))
    )
    level = Level(clock, current, previous, bits["below_high"], op, bits["full"])
    now = decide(build, level, above)
    moved = move(build, level, now, above_new, pulled[0].cell, lowest[0].cell)
    for kind, column in (("main", moved.main), ("delay", moved.delay)):
        for name, wire in wires_of(column, columns[kind], code, DUMMY):
            build.output(name, wire)
    for plane, bit in moved.down.items():
        build.output(f"down {plane}", bit_wire(bit))
    build.output("op", Wire({"none": now.none, "push": now.push, "pull": now.pull}))
    build.output("full", bit_wire(full_after(build, level, bits["above_full"])))
    return simplify(build.circuit())


def _names(kind: str) -> tuple[str, ...]:
    return tuple(f"{kind}.track{number}" for number in range(TRACKS))


def _factors(name: str, code: SymbolCode) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the factors of a cell; END is only ever in track 0."""
    bottom = (END,) if name.endswith("track0") else ()
    yield name, (DUMMY, *bottom, *code.values)
    yield from ((bit, BITS) for bit in bit_names(name, code))


@dataclass(frozen=True)
class Case:
    """A moment with what the rule must ignore: stale operations, bits of fullness, unwritten cells."""

    moment: Moment
    op: Moving
    above: Moving
    full: bool
    above_full: bool
    trusted: bool = True

    @property
    def current(self) -> list[int]:
        """The front of `main`; only track 0 can hold what was never written."""
        return self.moment.column(self.moment.position) if self.trusted else [GARBAGE]

    @property
    def flags(self) -> dict[str, bool]:
        """The bits of the clock and of fullness."""
        m = self.moment
        return {
            "boundary": not m.offset,
            "mark": m.started and not m.position,
            "started": m.started,
            "trusted": self.trusted,
            "below_high": m.below_high,
            "full": self.full,
            "above_full": self.above_full,
        }


def cases() -> Iterator[Case]:
    """Yield every moment with every value of what must be ignored."""
    for moment in chain(moments(), idle_moments()):
        ops = MOVING if moment.started and not moment.offset else (moment.op,)
        olds = MOVING if moment.started and not moment.position else (moment.above,)
        for op, old, full, above_full in product(ops, olds, (False, True), (False, True)):
            case = Case(moment, op, old, full, above_full)
            if moment.started:
                yield case
            if _unwritten(moment):
                yield replace(case, trusted=False)


def _unwritten(moment: Moment) -> bool:
    """Return whether the column at the front may be one that the first turn has not reached."""
    empty = not moment.column(moment.position)
    return not moment.started or (empty and moment.above == "none" and moment.position > 0)


class Contents:
    """All ways to fill the cells of a case: a or b in each, and END where the bottom can be.

    Bit n of an integer belongs to way n. `symbols` has for each numbered symbol the ways in which it
    is a; `ends` those in which it is END.
    """

    def __init__(self, numbers: list[int], bottoms: list[int]) -> None:
        plain = 1 << len(numbers)
        self.every = (1 << plain * (1 + len(bottoms))) - 1
        self.symbols = {n: self._repeated(i, plain, bottoms) for i, n in enumerate(numbers)}
        self.ends = dict.fromkeys(numbers, 0)
        for place, bottom in enumerate(bottoms, 1):
            self.ends[bottom] = ((1 << plain) - 1) << plain * place

    def _repeated(self, number: int, plain: int, bottoms: list[int]) -> int:
        """Return the ways in which symbol `number` is a: every other run of 2^number ways."""
        run = (1 << (1 << number)) - 1
        once = sum(run << start for start in range(0, plain, 2 << number))
        return sum(once << plain * place for place in range(1 + len(bottoms)))

    def cell(self, name: str, number: int | None, code: SymbolCode) -> Slices:
        """Return the values of a cell that holds a symbol, or nothing."""
        if number is None:
            return {
                (name, DUMMY): self.every,
                **{(b, "0"): self.every for b in bit_names(name, code)},
            }
        end = self.ends[number]
        first = self.symbols[number] & ~end
        other = self.every & ~end & ~first
        if not code.bits:
            return {(name, END): end, (name, "a"): first, (name, "_"): other}
        found = {(name, END): end, (name, SOME): self.every & ~end}
        for bit_number, bit in enumerate(bit_names(name, code)):
            ones = other if bit_number % 2 else first
            found |= {(bit, "1"): ones, (bit, "0"): self.every & ~ones}
        return found

    def column(self, kind: str, numbers: list[int], code: SymbolCode) -> Slices:
        """Return the values of a column's cells."""
        padded = [*numbers, *[None] * TRACKS][:TRACKS]
        found: Slices = {}
        for name, number in zip(_names(kind), padded, strict=True):
            found |= self.cell(name, number, code)
        return found


def contents_of(case: Case) -> Contents:
    """Return the symbols of a case; the bottom is in track 0, and nothing comes from above it."""
    m = case.moment
    previous = m.column(m.before)
    arriving = [m.arriving] if m.op == "push" else []
    stray = [] if arriving else [STRAY]
    pulled = [m.pulled] if m.above == "pull" else []
    numbers = [*case.current, *previous, *arriving, *pulled, *stray]
    bottoms = [n for n in (*case.current[:1], *previous[:1]) if m.above != "pull"]
    bottoms += pulled + [n for n in arriving if not m.column(m.position, 1)[:-1]]
    return Contents(numbers, bottoms)


def inputs_of(case: Case, ways: Contents, code: SymbolCode) -> Slices:
    """Return what the circuit sees."""
    m, every = case.moment, ways.every
    found = ways.column("main", case.current, code)
    found |= ways.column("delay", m.column(m.before), code)
    found |= ways.cell("lowest.track0", m.arriving if m.op == "push" else STRAY, code)
    found |= ways.cell("pulled.track0", m.pulled if m.above == "pull" else None, code)
    found |= {("op", case.op): every, ("above", case.above): every, ("above_new", m.above): every}
    return found | {(name, BITS[value]): every for name, value in case.flags.items()}


def demanded(case: Case, ways: Contents, code: SymbolCode) -> Slices:
    """Return what the model says that the level appends, hands down and latches."""
    m, flags = case.moment, case.flags
    found = ways.column("main", m.column(m.before, 1), code)
    found |= ways.column("delay", m.column(m.position, 1), code)
    down = ways.cell("down", m.leaving if m.op == "pull" else None, code)
    for plane in (END, *code.values, *range(code.bits)):
        name = ("down", plane) if isinstance(plane, str) else (f"down.bit{plane}", "1")
        ones = down.get(name, 0) & (ways.every if m.op == "pull" else 0)
        found |= {(f"down {plane}", "1"): ones, (f"down {plane}", "0"): ways.every & ~ones}
    seen = flags["mark"] and len(m.column(m.before)) == TRACKS and m.below_high and case.above_full
    full = seen or (case.full and not flags["mark"])
    return found | {("op", m.op): ways.every, ("full", BITS[full]): ways.every}


def check_case(circuit: Circuit, case: Case, code: SymbolCode) -> list[str]:
    """Return the outputs that differ from the model's, for any contents."""
    ways = contents_of(case)
    found = evaluate_sliced(circuit, inputs_of(case, ways, code), ways.every)
    wanted = demanded(case, ways, code)
    return [
        f"{port} = {value}"
        for (port, value), bits in found.items()
        if bits != wanted.get((port, value), 0)
    ]


def check_circuit(circuit: Circuit, code: SymbolCode, every: int = 1) -> Checked:
    """Compare a circuit with the model in every case, or in one of `every`."""
    looked = list(islice(cases(), 0, None, every))
    wrong = []
    for case in looked:
        differences = check_case(circuit, case, code)
        wrong += [f"{case}: {', '.join(differences)}"] if differences else []
    contents = sum(contents_of(case).every.bit_length() for case in looked)
    return Checked(len(looked), contents, tuple(wrong))


def main() -> int:
    """Check both codes; 1 if the circuit differs from the model anywhere."""
    failed = False
    for name, code in CODES.items():
        found = check_circuit(level_circuit(code), code)
        print(found.told(f"one level, symbols as {name}", "contents of them"))
        failed |= bool(found.violations)
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
