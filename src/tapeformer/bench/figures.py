"""The paper's two figures drawn from real runs, and where the heads of a real run attend."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tapeformer.bench.plots import panels_beside, save
from tapeformer.bench.workloads import WORKLOADS
from tapeformer.bundle.record import Bundle
from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.constructions import construction
from tapeformer.explorer.forward import Forward
from tapeformer.inference.generation import Generation
from tapeformer.inference.limits import Limits
from tapeformer.machine.record import TuringMachine
from tapeformer.queues.record import Token
from tapeformer.queues.run import QueueRun, factor_names

STACK = "tape1.left"
FILLED, EMPTY, HEAD = "#9ecae1", "#f7f7f7", "#d62728"
DUMMIES = (".", "-")


@dataclass(frozen=True)
class Recorded:
    """All tokens of a run of the paper's construction, prompt and all, and the queues' lengths."""

    tokens: tuple[Token, ...]
    names: tuple[str, ...]
    lengths: dict[str, int]

    def tape(self, queue: str, time: int) -> tuple[list[str], int]:
        """Draw a queue as the paper's tape: its cells in fixed places, and where the head is."""
        length, at = self.lengths[queue], self.names.index(queue)
        cells = [""] * length
        for place in range(max(0, time - length), time):
            cells[place % length] = self.tokens[place][at]
        return cells, time % length


def recorded(base: int = 4, levels: int = 2, cells: int = 13, tokens: int = 500) -> Recorded:
    """Run fill and drain on queues, and keep every token."""
    machine, how = WORKLOADS["fill_and_drain"].machine, construction("paper")
    layout, queues = how.layout(machine, levels, base, None), how.queue_machine(machine, levels)
    run = QueueRun(queues, layout, WORKLOADS["fill_and_drain"].word(cells))
    kept = [*run.window(), *(run.advance() for _ in range(tokens))]
    lengths = {queue.name: layout.lengths[queue.length_rule] for queue in queues.queues}
    return Recorded(tuple(kept), factor_names(queues), lengths)


def queues_of_a_stack(folder: Path) -> list[str]:
    """Draw the paper's Figure 1: a queue as a tape with a moving head, and a stack's queues."""
    run = recorded()
    figure, (left, right) = panels_beside(2, (13, 4.4))
    time = _busy_moment(run)
    for row in range(10):
        cells, head = run.tape(f"{STACK}/L2", time + row)
        _strip(left, cells, row, head)
        left.text(-0.7, row + 0.5, f"token {time + row}", ha="right", va="center", fontsize=8)
    left.set_title("a queue as a tape: the head goes one cell right in every token", fontsize=10)
    queues = [name for name in run.lengths if name.startswith(f"{STACK}/")]
    for row, name in enumerate(queues):
        cells, head = run.tape(name, time)
        _strip(right, cells, row, head)
        right.text(-0.7, row + 0.5, name.removeprefix(f"{STACK}/"), ha="right", va="center")
    right.set_title(f"the {len(queues)} queues of one stack at token {time}", fontsize=10)
    for axes, rows, wide in ((left, 10, 16), (right, len(queues), max(run.lengths.values()))):
        axes.set(xlim=(-5, wide + 0.5), ylim=(rows + 0.2, -0.3))
        axes.set_aspect("equal")
        axes.axis("off")
    return save(figure, folder, "figure_1")


def _busy_moment(run: Recorded) -> int:
    """Return a token at which both levels of the stack hold something."""
    for time in range(200, len(run.tokens) - 12):
        held = [run.tape(f"{STACK}/{kind}", time)[0] for kind in ("L1", "R1", "L2")]
        counts = [sum(not _dummy(cell) for cell in cells) for cells in held]
        if counts[0] + counts[1] >= 2 and counts[2] >= 4:
            return time
    return len(run.tokens) // 2


def _dummy(cell: str) -> bool:
    return cell.rstrip("^") in ("", *DUMMIES)


def _strip(axes: Any, cells: list[str], row: int, head: int) -> None:
    from matplotlib.patches import Rectangle

    for place, cell in enumerate(cells):
        colour = EMPTY if _dummy(cell) else FILLED
        axes.add_patch(Rectangle((place, row), 1, 0.9, fc=colour, ec="0.6", lw=0.6))
        axes.text(place + 0.5, row + 0.47, cell, ha="center", va="center", fontsize=7)
    axes.add_patch(Rectangle((head, row), 1, 0.9, fc="none", ec=HEAD, lw=1.8, zorder=3))


@dataclass(frozen=True)
class Attended:
    """A run's model, its tokens, and how far back each head looked for each of them."""

    bundle: Bundle
    rows: NDArray[np.int32]
    distances: dict[str, list[int]]


def attended(machine: TuringMachine, options: CompileOptions, word: str, most: int) -> Attended:
    """Generate a chain of thought and compute every head's scores for each of its tokens."""
    bundle = compile_machine(machine, options)
    run = Generation(bundle, tuple(word), "sparse")
    prompt = run.reader.prompt(tuple(word))
    rows = np.concatenate([prompt, *run.pieces(Limits(max_tokens=most))])
    forward = Forward(bundle.weights, bundle.offsets, bundle.layout.window)
    context = forward.embedded(rows)
    heads = [head for layer in bundle.weights.layers for head in layer.heads]
    found: dict[str, list[int]] = {f"head {n}": [] for n, _ in enumerate(heads)}
    for end in range(len(prompt), len(rows) + 1):
        seen = context[max(0, end - bundle.layout.window) : end]
        for number, head in enumerate(heads):
            scores = forward.scores(head, seen, seen[-1])
            found[f"head {number}"].append(len(seen) - 1 - int(np.argmax(scores)))
    return Attended(bundle, rows, found)


def attention_map(folder: Path) -> list[str]:
    """Draw how much of each head's attention goes how far back, over real chains of thought."""
    figure, panels = panels_beside(2, (12, 3.6))
    machine = WORKLOADS["excursions"].machine
    sizes = {"realtime": (7, 2), "paper": (3, 4)}
    for axes, (how, (levels, base)) in zip(panels, sizes.items(), strict=True):
        run = attended(machine, CompileOptions(how, levels=levels, base=base), "a" * 9, 400)
        window = run.bundle.layout.window
        shares = np.zeros((len(run.distances), window))
        for row, distances in enumerate(run.distances.values()):
            np.add.at(shares[row], distances, 1 / len(distances))
        edges = np.unique(np.round(np.geomspace(1, window + 1, 60))).astype(int) - 1
        merged = np.stack([shares[:, a:b].sum(1) for a, b in pairwise(edges.tolist())], 1)
        image = axes.pcolormesh(
            edges + 1, np.arange(len(shares) + 1), merged, cmap="magma_r", vmin=0, vmax=1
        )
        axes.set(xscale="log", xlabel="distance + 1 (tokens back)", ylabel="attention head")
        axes.set_title(f"{how}, base {base}, k' = {levels}: {len(run.rows)} tokens", fontsize=10)
        axes.set_yticks(np.arange(len(shares)) + 0.5, map(str, range(len(shares))))
    figure.colorbar(image, ax=panels, label="share of attention")
    return save(figure, folder, "attention_map")


def tokens_and_heads(folder: Path) -> list[str]:
    """Draw the paper's Figure 2: tokens as cells of all queues, and the heads that fetch them."""
    figure, (axes,) = panels_beside(1, (13, 4.6))
    run = recorded(base=2, levels=2, cells=2, tokens=60)
    shown = [name for name in run.lengths if name.startswith(f"{STACK}/")]
    shown += ["state", "parity"]
    last = len(run.tokens) - 8
    first = last - max(run.lengths.values()) - 1
    for column, place in enumerate(range(first, last)):
        _token(axes, run, place, column, shown)
    for row, name in enumerate(shown):
        axes.text(-0.3, row + 0.5, name.removeprefix(f"{STACK}/"), ha="right", va="center")
        for distance in _look_back(run, name):
            _arrow(axes, last - first - 1, distance, row)
    axes.set(xlim=(-3, last - first + 0.5), ylim=(len(shown) + 1.2, -0.6))
    axes.axis("off")
    axes.set_title("the last tokens; each head fetches the front of its queue for the next token")
    return save(figure, folder, "figure_2")


def _look_back(run: Recorded, name: str) -> Iterator[int]:
    if name in run.lengths:
        yield run.lengths[name] - 1


def _token(axes: Any, run: Recorded, place: int, column: int, shown: list[str]) -> None:
    from matplotlib.patches import Rectangle

    for row, name in enumerate(shown):
        value = run.tokens[place][run.names.index(name)]
        colour = EMPTY if _dummy(value) or name not in run.lengths else FILLED
        axes.add_patch(Rectangle((column, row), 0.9, 0.9, fc=colour, ec="0.6", lw=0.6))
        axes.text(column + 0.45, row + 0.47, value, ha="center", va="center", fontsize=8)
    axes.text(column + 0.45, len(shown) + 0.35, f"v{place + 1}", ha="center", fontsize=8)


def _arrow(axes: Any, column: int, distance: int, row: int) -> None:
    """From the last token back to the one whose cell is at the front of the queue."""
    style = {"arrowstyle": "->", "color": HEAD, "lw": 1.2, "connectionstyle": "arc3,rad=0.25"}
    target = (column - distance + 0.75, row + 0.15)
    axes.annotate("", xy=target, xytext=(column + 0.2, row + 0.15), arrowprops=style)


def drawn(folder: Path) -> list[str]:
    """Draw all figures from real runs."""
    return [*queues_of_a_stack(folder), *tokens_and_heads(folder), *attention_map(folder)]
