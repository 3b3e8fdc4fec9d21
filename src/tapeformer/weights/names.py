"""How the name of a neuron is written and read: the rules it comes from, and what it carries.

`rules 3, 5: control/to q2` comes from two rules of the machine, counted from 1;
`carry state=q2 at depth 4` hands a value of the layer below on to the layer above.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

CARRY = re.compile(r"carry (.*) at depth \d+", re.DOTALL)
RULES = re.compile(r"rules? (\d+(?:, \d+)*)( and more)?: ")


def carry_name(name: str, depth: int) -> str:
    """Return the name of the neuron of a hidden layer that hands the value of `name` on."""
    return f"carry {name} at depth {depth}"


def carried(name: str) -> str | None:
    """Return the name of what a neuron hands on, or None for a neuron that computes something."""
    found = CARRY.fullmatch(name)
    return found[1] if found else None


def rule_name(label: str, rules: Sequence[int], more: bool = False) -> str:
    """Return a label with the rules it comes from; `more` says that there are others."""
    if not rules:
        return label
    numbers = ", ".join(map(str, rules)) + (" and more" if more else "")
    return f"rule{'s' if len(rules) > 1 or more else ''} {numbers}: {label}"


def rules_of(name: str) -> tuple[tuple[int, ...], bool]:
    """Return the rules that a neuron's name gives, and whether there are more of them."""
    found = RULES.match(carried(name) or name)
    if not found:
        return (), False
    return tuple(map(int, found[1].split(", "))), bool(found[2])
