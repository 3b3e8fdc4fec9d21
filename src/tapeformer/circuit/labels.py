"""Give every bit of a circuit a label of its own.

Where several bits were given one label, each is told apart by what it reads: `head=a (op=pop)`.
Where that says too much or not enough, they are numbered in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, count

from tapeformer.circuit.record import And, Bit, Circuit, InputBit, Literal, Sum, input_name

MOST_TOLD = 3
"""So many literals may tell a bit apart from others of its label."""


def with_own_labels(circuit: Circuit) -> Circuit:
    """Return the circuit with every label made different from all others and from the inputs."""
    stems = [_stem(bit) for bit in circuit.bits]
    sharing: dict[str, list[int]] = {}
    for index, stem in enumerate(stems):
        sharing.setdefault(stem, []).append(index)
    taken = set(stems)
    labels = dict(enumerate(stems))
    for stem, group in sharing.items():
        if len(group) > 1:
            numbered = (f"{stem} #{number}" for number in count(1))
            for index, label in _told_apart(circuit.bits, group, stems):
                choices = chain([label], numbered)
                labels[index] = next(name for name in choices if name not in taken)
                taken.add(labels[index])
    return replace(circuit, bits=tuple(_labelled(b, labels[i]) for i, b in enumerate(circuit.bits)))


def _stem(bit: Bit) -> str:
    """Return the label as it was given, or the kind of bit where there is none."""
    if isinstance(bit, InputBit):
        return input_name(bit)
    return bit.label or ("sum" if isinstance(bit, Sum) else "and")


def _told_apart(
    bits: Sequence[Bit], group: Sequence[int], stems: Sequence[str]
) -> Iterator[tuple[int, str]]:
    """Propose a label for each bit of a group but one: an input, or the only sum, keeps its own."""
    inputs = [index for index in group if isinstance(bits[index], InputBit)]
    sums = [index for index in group if isinstance(bits[index], Sum)]
    keeps = inputs or (sums if len(sums) == 1 else [])
    for kind in (And, Sum):
        chosen = [(i, bit.literals) for i in group if isinstance(bit := bits[i], kind)]
        shared = _shared([literals for _, literals in chosen])
        for index, literals in chosen:
            if index not in keeps:
                told = [literal for literal in literals if literal not in shared]
                yield index, _suffixed(stems, index, told)


def _shared(parts: Sequence[tuple[Literal, ...]]) -> set[Literal]:
    """Return the literals that all bits have and that so tell none apart."""
    return set(parts[0]).intersection(*parts[1:]) if len(parts) > 1 else set()


def _suffixed(stems: Sequence[str], index: int, told: Sequence[Literal]) -> str:
    if not 0 < len(told) <= MOST_TOLD:
        return stems[index]
    names = (("" if lit.positive else "not ") + stems[lit.bit] for lit in told)
    return f"{stems[index]} ({', '.join(names)})"


def _labelled(bit: Bit, label: str) -> Bit:
    if isinstance(bit, InputBit) or bit.label == label:
        return bit
    return type(bit)(bit.literals, label, bit.rules)
