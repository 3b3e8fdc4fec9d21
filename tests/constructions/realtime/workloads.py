"""Machines that stress the stacks: sweeps, zigzags, nested excursions; and one random case a seed."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from tapeformer.constructions import construction
from tapeformer.layout import Layout
from tapeformer.machine.record import TapeKind, TuringMachine
from tapeformer.queues.record import QueueMachine
from tests.constructions.machines import one_tape, random_machine, random_word

SIZES = {2: (2, 3, 4, 5, 6), 4: (2, 3), 6: (2, 3), 8: (2,)}
REALTIME = construction("realtime")


@dataclass(frozen=True)
class RandomCase:
    """A random machine with a layout and an input that fits."""

    machine: TuringMachine
    layout: Layout
    word: tuple[str, ...]

    def built(self) -> QueueMachine:
        """The queue machine."""
        return REALTIME.queue_machine(self.machine, self.layout.levels)


def random_case(seed: int, longest: int = 12) -> RandomCase:
    rng = Random(seed)
    kind, base = rng.choice(list(TapeKind)), rng.choice(list(SIZES))
    machine = random_machine(seed, rng.randint(1, 3), kind)
    layout = REALTIME.layout(machine, rng.choice(SIZES[base]), base)
    word = random_word(seed, machine, min(longest, REALTIME.longest_word(layout)))
    return RandomCase(machine, layout, word)


def sweeper(kind: TapeKind) -> TuringMachine:
    """Writes one more symbol at the end of each sweep; a turns to b and b to a on the way."""
    return one_tape(
        "sweeper",
        *("> a b R >", "> b a R >", "> _ a L <", "< a b L <", "< b a L <", "< _ b R >"),
        kind=kind,
    )


def excursions(depth: int) -> TuringMachine:
    """Binary counting up on the tape: excursions inside excursions, the longest ever longer."""
    return one_tape(
        "excursions",
        *("+ a b S back", "+ b a R +", "+ _ b S back", "back a a L back", "back b b L back"),
        "back _ _ R +" if depth else "back _ _ S +",
    )


def zigzag(forth: int, back: int) -> TuringMachine:
    """Fills the tape with a period of two symbols, `forth` cells right and `back` cells left."""
    lines = [f"r{i} {s} {t} R r{i + 1}" for i in range(forth) for s, t in ("_a", "ab", "ba")]
    lines += [f"r{forth} {s} {s} L l1" for s in "_ab"]
    lines += [f"l{i} {s} {s} L l{i + 1}" for i in range(1, back) for s in "_ab"]
    lines += [f"l{back} {s} {s} R r0" for s in "_ab"]
    return one_tape(f"zigzag {forth} {back}", *lines)
