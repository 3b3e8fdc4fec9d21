"""What a trial is: made from a seed, run as a whole or on some of its parts, and shrunk if it fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


class WrongError(Exception):
    """A promise that did not hold."""


@dataclass(frozen=True)
class Checked:
    """What was compared and equal: tokens, models edited by hand, hostile files, killed runs.

    A token counts if its state, symbols and moves equal the direct simulation's, or all its fields
    equal a second engine's.
    """

    tokens: int = 0
    edited: int = 0
    files: int = 0
    kills: int = 0

    def __add__(self, other: Checked) -> Checked:
        return Checked(
            self.tokens + other.tokens,
            self.edited + other.edited,
            self.files + other.files,
            self.kills + other.kills,
        )


class Trial(Protocol):
    """One trial. Its `parts` (rules, edits, lies) can be left out one by one to shrink a failure."""

    parts: Sequence[object]

    def run(self, parts: Sequence[object]) -> Checked:
        """Return what was checked; raise WrongError, or anything else, where a promise is broken."""


def failure(trial: Trial, parts: Sequence[object]) -> str:
    """Return what goes wrong with some of the parts, nothing if all goes well."""
    try:
        trial.run(parts)
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:400]
    return ""


def shrunk(trial: Trial, most: int = 200) -> list[object]:
    """Leave out parts, halves first, as long as the same kind of failure is left."""
    kind = failure(trial, trial.parts).partition(":")[0]
    parts, size, tries = list(trial.parts), max(1, len(trial.parts) // 2), 0
    while size and tries < most:
        start = 0
        while start < len(parts) and tries < most:
            fewer = parts[:start] + parts[start + size :]
            tries += 1
            if kind and failure(trial, fewer).partition(":")[0] == kind:
                parts = fewer
            else:
                start += size
        size //= 2
    return parts
