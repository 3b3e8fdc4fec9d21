"""Which machines are timed: a word, a model and a number of steps for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from tapeformer.bundle.record import Bundle
from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.gallery import gallery_machine
from tapeformer.machine.record import TuringMachine

BEAVER = "busy_beaver_5"
MOST = 10**6
"""Steps after which a run is cut off."""

AT_ONCE = 512
"""Words in a batch: as many as vector registers have bits, at most."""

SLOW: Mapping[str, int] = {"dense": 30, "sparse": 600}
"""Tokens after which a run of a slow engine is cut off."""


@dataclass(frozen=True)
class Contest:
    """One machine on one word; `batch` has the words that are decoded at once, if any are."""

    machine_name: str
    word: str
    options: CompileOptions
    steps: int = MOST
    tokens: Mapping[str, int] = field(default_factory=lambda: SLOW)
    batch: tuple[str, ...] = ()

    @cached_property
    def machine(self) -> TuringMachine:
        """The machine of the gallery."""
        return gallery_machine(self.machine_name)

    @cached_property
    def bundle(self) -> Bundle:
        """Its model."""
        return compile_machine(self.machine, self.options)

    @property
    def title(self) -> str:
        """Machine, tapes and model in a few words."""
        layout, tapes = self.bundle.layout, self.machine.tapes
        return (
            f"{self.machine_name}, {tapes} tape{'s' if tapes > 1 else ''}: "
            f"{layout.construction}, {layout.levels} levels, base {layout.base}"
        )


def counters(digits: int) -> tuple[str, ...]:
    """Return different numbers to count on from, all with room for a long run."""
    return tuple(format(number, f"0{digits}b") for number in range(AT_ONCE))


def mirrored(letters: int) -> tuple[str, ...]:
    """Return different palindromes."""
    halves = (format(number, f"0{letters // 2}b") for number in range(AT_ONCE))
    return tuple((half + half[::-1]).replace("0", "a").replace("1", "b") for half in halves)


def products(digits: int) -> tuple[str, ...]:
    """Return different pairs of numbers to multiply, of equal lengths."""
    numbers = [format(5 * number + 1, f"0{digits}b") for number in range(2 * AT_ONCE)]
    return tuple(f"{a}#{b}" for a, b in zip(numbers[::2], numbers[1::2], strict=True))


CONTESTS = (
    Contest(BEAVER, "", CompileOptions(levels=12)),
    Contest("binary_counter", "0" * 14, CompileOptions(levels=5), batch=counters(14)),
    Contest(
        "palindrome",
        "ab" * 32 + "ba" * 32,
        CompileOptions("paper", levels=2, space=130),
        batch=mirrored(128),
    ),
    Contest(
        "binary_multiplication",
        "1011011101" * 6 + "#" + "1110010111" * 6,
        CompileOptions(levels=8),
        batch=products(60),
    ),
    Contest("fibonacci_word", "|" * 15, CompileOptions(levels=11)),
)
