"""Explore all states that can be reached, and collect what is wrong on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

State = TypeVar("State")


@dataclass(frozen=True)
class Checked:
    """What an exhaustive check found: states, transitions, and every violation."""

    states: int
    transitions: int
    violations: tuple[str, ...]

    def told(self, name: str, second: str = "transitions") -> str:
        """Say in a line what was checked, and below it the first violations."""
        counted = f"{self.states:,} states, {self.transitions:,} {second}"
        lines = [f"{name}: {counted}, {len(self.violations):,} violations"]
        return "\n".join([*lines, *(f"  {text}" for text in self.violations[:5])])


def explored(
    first: Iterable[State], steps: Callable[[State], Iterator[tuple[State, str]]]
) -> Checked:
    """Follow every transition from the first states; a transition comes with its fault or ''."""
    pending = list(first)
    seen = set(pending)
    transitions, violations = 0, list[str]()
    while pending:
        state = pending.pop()
        for following, wrong in steps(state):
            transitions += 1
            if wrong:
                violations.append(f"{state} -> {following}: {wrong}")
            elif following not in seen:
                seen.add(following)
                pending.append(following)
    return Checked(len(seen), transitions, tuple(violations))
