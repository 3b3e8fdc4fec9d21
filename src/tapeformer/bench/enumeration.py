"""Busy-beaver machines as their enumeration meets them: `python -m tapeformer.bench.enumeration 10000`.

The enumeration defines a transition when a run from the blank tape needs it (tree normal form): a new
state is the next one in order, and the first step is 1RB. This takes random ways down its tree, with a
fixed seed, and prints each machine once, one per line; a transition that no run needed is `---`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from random import Random

Table = dict[tuple[int, int], tuple[int, int, int]]
"""What a state does on a symbol: the symbol it writes, the move (-1 or 1), the next state."""

HALT = -1
PATIENCE = 200
"""Steps after which a machine that still runs is taken as it is."""


def machines(count: int, states: int = 5, seed: int = 0) -> Iterator[str]:
    """Yield this many distinct machines as busy-beaver text."""
    chance, seen = Random(seed), set[str]()
    while len(seen) < count:
        text = spelled(random_machine(states, chance), states)
        if text not in seen:
            seen.add(text)
            yield text


def random_machine(states: int, chance: Random) -> Table:
    """Define transitions at random as a run needs them, until it halts or takes too long."""
    table: Table = {(0, 0): (1, 1, 1)}
    cells: dict[int, int] = {}
    state = head = 0
    for _ in range(PATIENCE):
        key = state, cells.get(head, 0)
        if key not in table:
            table[key] = _transition(table, states, chance)
        write, move, state = table[key]
        if state == HALT:
            break
        cells[head] = write
        head += move
    return table


def _transition(table: Table, states: int, chance: Random) -> tuple[int, int, int]:
    """Choose a transition to a used state or the next new one; the last transition always halts."""
    if len(table) == 2 * states - 1 or chance.random() < 1 / (4 * states):
        return 1, 1, HALT
    used = 1 + max(state for _, _, state in table.values())
    return chance.randrange(2), chance.choice((-1, 1)), chance.randrange(min(used + 1, states))


def spelled(table: Table, states: int) -> str:
    """Return a table as busy-beaver text."""
    return "_".join(
        "".join(_cell(table.get((state, symbol))) for symbol in (0, 1)) for state in range(states)
    )


def _cell(transition: tuple[int, int, int] | None) -> str:
    if transition is None:
        return "---"
    write, move, state = transition
    return f"{write}{'R' if move > 0 else 'L'}{'Z' if state == HALT else chr(ord('A') + state)}"


def main() -> None:
    """Print machines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("--states", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    for text in machines(given.count, given.states, given.seed):
        print(text)


if __name__ == "__main__":
    main()
