"""A real run of every row of Table 1 as a picture: where its heads look, or what its vector holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from tapeformer.bench.plots import panels_beside, save
from tapeformer.gallery import gallery_machine
from tapeformer.laboratory.arithmetic import MOST_BITS, Exact, Rounded
from tapeformer.laboratory.attention import Attended, Head
from tapeformer.laboratory.experiment import Context, TokenExperiment
from tapeformer.laboratory.row import Row
from tapeformer.laboratory.rows.bhattamishra import VectorExperiment
from tapeformer.laboratory.transformer import Run
from tapeformer.machine.word import parse_word

MACHINE, WORD, STEPS = "binary_counter", "000", 24
MOST_CONTEXTS = 3
"""Contexts between rewritings that are drawn side by side."""
MANY = 600
"""From so many tokens on, marks are dots."""


@dataclass(frozen=True)
class Look:
    """One head in one context: each token and the place that it took, both counted over all contexts."""

    head: Head
    tokens: list[int]
    taken: list[int]


def row_pictures(folder: Path, rows: Sequence[Row], say: Callable[[str], None]) -> list[str]:
    """Draw a run of each row; return the pictures' names."""
    machine = gallery_machine(MACHINE)
    names = []
    for row in rows:
        experiment = row.experiment(row.task(machine, parse_word(machine, WORD), STEPS))
        figure, (axes,) = panels_beside(1, (9, 3.4))
        if isinstance(experiment, TokenExperiment):
            _looks(axes, experiment)
        elif isinstance(experiment, VectorExperiment):
            _stacks(axes, experiment)
        axes.set_title(f"{row.title}: {MACHINE} on {WORD}", fontsize=10)
        axes.grid(visible=True, alpha=0.2)
        names += save(figure, folder, row.name, ("png",))
        say(row.name)
    return names


def looked(experiment: TokenExperiment) -> Iterator[tuple[int, Context, list[Look]]]:
    """Run the model on its stream, context by context; heads that mostly average are left out."""
    start = 0
    for context in experiment.reference_contexts[:MOST_CONTEXTS]:
        run = Run(experiment.model, Rounded(MOST_BITS))
        run.extend(context.tokens[:-1])
        looks = [
            _look(head, seen, start)
            for head, seen in zip(run.model.heads, run.attended, strict=True)
            if not head.uniform
        ]
        often = len(context.tokens) // 4
        yield start, context, [look for look in looks if len(look.tokens) >= often]
        start += len(context.tokens)


def _look(head: Head, seen: Sequence[Attended], start: int) -> Look:
    first, last, count = (
        np.concatenate([getattr(block, name) for block in seen])
        for name in ("first", "last", "count")
    )
    taken = last if head.choice == "rightmost" else first
    places = np.flatnonzero(count == 1 if head.choice == "average" else count > 0)
    shift = 0 if head.mask == "memory" else start
    return Look(head, (places + start).tolist(), (taken[places] + shift).tolist())


def _looks(axes: Any, experiment: TokenExperiment) -> None:
    """Draw each retrieving head as marks: the token across, the place that it took upwards."""
    named: set[str] = set()
    end = 0
    for start, context, looks in looked(experiment):
        end = start + len(context.tokens)
        axes.axvspan(start, start + context.prompt - 1, color="0.92", lw=0)
        axes.plot([start, end - 1], [start, end - 1], color="0.8", lw=0.8, zorder=1)
        size = 3 if end < MANY else 0.8
        for look, mark, colour in zip(looks, cycle("os^Dv<>p"), cycle(_COLOURS), strict=False):
            label = None if look.head.name in named else _label(look.head)
            named.add(look.head.name)
            axes.plot(look.tokens, look.taken, mark, ms=size, color=colour, label=label)
        _steps(axes, start + context.prompt, context.steps)
    axes.set(xlabel="token (prompt in grey; a line where a step begins)", ylabel="looks at token")
    axes.set_xlim(-0.5, end)
    axes.legend(fontsize=7, loc="upper left", markerscale=1 if end < MANY else 5)


_COLOURS = [f"C{number}" for number in range(10)]


def _label(head: Head) -> str:
    where = " (in the word)" if head.mask == "memory" else ""
    back = f", {head.offset} back" if head.offset is not None else ""
    return f"{head.name}{back}{where}"


def _steps(axes: Any, start: int, numbers: Sequence[int]) -> None:
    """Draw a line where the tokens of a step begin."""
    before = 0
    for place, number in enumerate(numbers, start):
        if number > before:
            axes.axvline(place, color="0.85", lw=0.5, zorder=0)
        before = max(before, number)


def _stacks(axes: Any, experiment: VectorExperiment) -> None:
    """Draw the two stacks, each one number, and the bits that they have behind the point."""
    net, steps = experiment.net, len(experiment.wanted)
    vectors = experiment.vectors(Exact())
    values = [next(vectors) for _ in range(len(experiment.task.word) + steps)]
    bits = axes.twinx()
    for side, colour in (("L", "C0"), ("R", "C1")):
        stack = [x[net.fields.index[f"{side}.0"], 0] for x in values]
        name = "left" if side == "L" else "right"
        axes.step(range(len(stack)), [float(x) for x in stack], color=colour, label=f"{name} stack")
        digits = [x.denominator.bit_length() - 1 for x in stack]
        bits.plot(range(len(stack)), digits, ":", color=colour, label=f"bits of the {name} stack")
    axes.set(xlabel="vector (the word is pushed first)", ylabel="a stack as a number")
    bits.set_ylabel("bits behind the point")
    axes.set_ylim(top=1.4 * axes.get_ylim()[1])
    bits.set_ylim(top=1.4 * bits.get_ylim()[1])
    axes.legend(fontsize=7, loc="upper left")
    bits.legend(fontsize=7, loc="upper right")
