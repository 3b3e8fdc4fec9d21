"""Busy-beaver machines as their enumeration meets them: `python -m tapeformer.bench.enumeration 10000`.

The enumeration defines a transition when a run from the blank tape needs it (tree normal form): a new
state is the next one in order, and the first step is 1RB. This takes random ways down its tree, with a
fixed seed, and prints each machine once, one per line; a transition that no run needed is `---`. It
ends early, with status 2, if no way leads to a new machine for a long time: few states have few machines.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from random import Random

from tapeformer.arguments import bad_argument
from tapeformer.faults import Fault, TapeformerError, counted

Table = dict[tuple[int, int], tuple[int, int, int]]
"""What a state does on a symbol: the symbol it writes, the move (-1 or 1), the next state."""

HALT = -1
PATIENCE = 200
"""Steps after which a machine that still runs is taken as it is."""
FEWEST_STATES, MOST_STATES = 2, 25
"""The first step is 1RB, so there is a state B; Z is the halting state."""
FRUITLESS = 100_000
"""Ways in a row without a new machine after which the enumeration ends."""


def machines(count: int, states: int = 5, seed: int = 0) -> Iterator[str]:
    """Return an iterator over distinct machines as busy-beaver text; it raises if there are too few."""
    if type(count) is not int or count < 0:
        remedy = "give how many machines to print"
        raise bad_argument("count", "a whole number, at least 0", count, remedy)
    if type(states) is not int or not FEWEST_STATES <= states <= MOST_STATES:
        expected = f"a whole number from {FEWEST_STATES} to {MOST_STATES}"
        raise bad_argument("states", expected, states, "give 5 states")
    return _distinct(count, states, Random(seed))


def _distinct(count: int, states: int, chance: Random) -> Iterator[str]:
    """Yield machines that were not met before, and raise if none comes for a long time."""
    seen, fruitless = set[str](), 0
    while len(seen) < count:
        if fruitless == FRUITLESS:
            raise _too_few(count, states, len(seen))
        text = spelled(random_machine(states, chance), states)
        fruitless += 1
        if text not in seen:
            seen.add(text)
            fruitless = 0
            yield text


def _too_few(count: int, states: int, found: int) -> TapeformerError:
    """Return the error for an enumeration that found fewer machines than were asked for."""
    what = f"{FRUITLESS:,} random ways in a row led to no new machine"
    asked, got = counted(count, "machine"), f"{found:,} of {counted(states, 'state')}"
    remedy = f"ask for at most {found}, or give {states + 1} states"
    return TapeformerError(Fault(what, expected=asked, got=got, remedy=remedy))


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


def main() -> int:
    """Print machines; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, help="how many machines to print")
    parser.add_argument("--states", type=int, default=5, help="of each machine (default 5)")
    parser.add_argument("--seed", type=int, default=0, help="other machines (default 0)")
    given = parser.parse_args()
    try:
        for text in machines(given.count, given.states, given.seed):
            print(text)
        sys.stdout.flush()
    except TapeformerError as error:
        print(error, file=sys.stderr)
        return 2
    except BrokenPipeError:  # `| head` has what it wants
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


if __name__ == "__main__":
    sys.exit(main())
