"""Label propagation: factors that no head fetches get the head and instance they are used with.

The gates that read a factor vote with the labels (numbers of heads, or of instances) that they
depend on. It takes a few rounds, as factors labelled in one round vote in the next.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache

from tapeformer.engines.logic.netlist import Netlist

MAX_SPREAD = 8
"""A factor used with heads farther apart than this gets none of them."""

MAX_LABELS = 6
"""A gate that depends on more labels than this has no vote."""

VOTE = 60
"""The weight of a gate's vote, shared by the labels that it depends on."""

ROUNDS = 4

Winner = Callable[[Counter[int]], int | None]
"""Returns the label that wins a vote, or None."""


def nearby_winner(votes: Counter[int]) -> int | None:
    """Return the label with most votes, if all that have any are near each other."""
    if max(votes) - min(votes) > MAX_SPREAD:
        return None
    return max(votes, key=lambda label: (votes[label], label))


def clear_winner(votes: Counter[int]) -> int | None:
    """Return the label with most votes, if it has twice as many as any other."""
    (label, most), *others = votes.most_common(2)
    return label if all(most >= 2 * fewer for _, fewer in others) else None


def propagate_labels(
    netlist: Netlist, unlabelled: Mapping[int, int], labels: dict[int, int], winner: Winner
) -> dict[int, int]:
    """Return a label for each factor that is mostly used with one.

    `unlabelled` has the factor of each input gate to be labelled, `labels` those of other inputs.
    """
    found: dict[int, int] = {}
    readers = [
        (index, {unlabelled[x >> 1] for x in gate.literals if x >> 1 in unlabelled})
        for index, gate in enumerate(netlist.gates)
    ]
    readers = [reader for reader in readers if reader[1]]
    known = set(labels.values())
    every = sum(1 << label for label in known) if len(known) > 1 else 0
    for _ in range(ROUNDS):
        given = {gate: found[factor] for gate, factor in unlabelled.items() if factor in found}
        votes = _votes(readers, _related_labels(netlist, labels | given), found, every)
        winners = {factor: winner(count) for factor, count in votes.items()}
        more = {factor: label for factor, label in winners.items() if label is not None}
        if not more:
            break
        found |= more
    return found


def _votes(
    readers: Iterable[tuple[int, set[int]]],
    related: Sequence[int],
    found: Mapping[int, int],
    every: int,
) -> dict[int, Counter[int]]:
    """Count the votes for the factors that have no label yet.

    A gate that depends on all labels, the bit set `every`, has no vote: it tells none apart.
    """
    votes: dict[int, Counter[int]] = {}
    for gate, factors in readers:
        labels = related[gate]
        if 0 < labels.bit_count() <= MAX_LABELS and labels != every:
            weight = VOTE // labels.bit_count()
            for factor in factors - found.keys():
                count = votes.setdefault(factor, Counter())
                for label in _members(labels):
                    count[label] += weight
    return votes


@cache
def _members(bits: int) -> tuple[int, ...]:
    return tuple(label for label in range(bits.bit_length()) if bits >> label & 1)


def _related_labels(netlist: Netlist, labels: Mapping[int, int]) -> list[int]:
    """Return, for each gate, the labels of its fan-in, or else of its fan-out, as a bit set."""
    fan_in = [1 << labels[gate] if gate in labels else 0 for gate in range(len(netlist.gates))]
    for index, gate in enumerate(netlist.gates):
        found = fan_in[index]
        for literal in gate.literals:
            found |= fan_in[literal >> 1]
        fan_in[index] = found
    related = list(fan_in)
    for index in range(len(netlist.gates) - 1, 0, -1):
        found = related[index]
        for literal in netlist.gates[index].literals:
            if not fan_in[literal >> 1]:
                related[literal >> 1] |= found
    return related
