"""Label propagation: give factors that no head fetches the head and instance they are used with.

The gates that read a factor vote for the labels (numbers of heads, or of instances) they depend on.
This takes a few rounds, since factors labelled in one round vote in the next.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache

from tapeformer.engines.logic.netlist import Netlist

MAX_SPREAD = 8
"""A factor used with heads farther apart than this gets no label."""

MAX_LABELS = 6
"""A gate that depends on more labels than this has no vote."""

VOTE = 60
"""The weight of a gate's vote, split among the labels that it depends on."""

ROUNDS = 4

Winner = Callable[[Counter[int]], int | None]
"""Returns the label that wins a vote, or None."""


def nearby_winner(votes: Counter[int]) -> int | None:
    """Return the label with the most votes, if all labels with votes are close together."""
    if max(votes) - min(votes) > MAX_SPREAD:
        return None
    return max(votes, key=lambda label: (votes[label], label))


def clear_winner(votes: Counter[int]) -> int | None:
    """Return the label with the most votes, if it has at least twice as many as any other."""
    (label, most), *others = votes.most_common(2)
    return label if all(most >= 2 * fewer for _, fewer in others) else None


def propagate_labels(
    netlist: Netlist, unlabelled: Mapping[int, int], labels: dict[int, int], winner: Winner
) -> dict[int, int]:
    """Return a label for each factor that is mostly used with one label.

    `unlabelled` maps input gates to the factors to label, `labels` other inputs to their labels.
    """
    found: dict[int, int] = {}
    operands = [[literal >> 1 for literal in gate.literals] for gate in netlist.gates]
    readers = [
        (index, {unlabelled[operand] for operand in read if operand in unlabelled})
        for index, read in enumerate(operands)
        if not unlabelled.keys().isdisjoint(read)
    ]
    known = set(labels.values())
    every = sum(1 << label for label in known) if len(known) > 1 else 0
    for _ in range(ROUNDS):
        given = {gate: found[factor] for gate, factor in unlabelled.items() if factor in found}
        votes = _votes(readers, _related_labels(operands, labels | given), found, every)
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
    """Count the votes for factors without a label: gates are counted by set of labels first.

    A gate that depends on all labels (the bit set `every`) has no vote: it favours none of them.
    """
    voters: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for gate, factors in readers:
        labels = related[gate]
        if 0 < labels.bit_count() <= MAX_LABELS and labels != every:
            for factor in factors:
                if factor not in found:
                    voters[factor][labels] += 1
    votes: dict[int, Counter[int]] = {}
    for factor, sets in voters.items():
        count = votes[factor] = Counter()
        for labels, gates in sets.items():
            for label in _members(labels):
                count[label] += gates * (VOTE // labels.bit_count())
    return votes


@cache
def _members(bits: int) -> tuple[int, ...]:
    return tuple(label for label in range(bits.bit_length()) if bits >> label & 1)


def _related_labels(operands: Sequence[Sequence[int]], labels: Mapping[int, int]) -> list[int]:
    """Return, for each gate, the labels of its fan-in, or else of its fan-out, as a bit set."""
    fan_in = [1 << labels[gate] if gate in labels else 0 for gate in range(len(operands))]
    for index, read in enumerate(operands):
        for operand in read:
            fan_in[index] |= fan_in[operand]
    related = list(fan_in)
    for index in range(len(operands) - 1, 0, -1):
        found = related[index]
        for operand in operands[index] if found else ():
            if not fan_in[operand]:
                related[operand] |= found
    return related
