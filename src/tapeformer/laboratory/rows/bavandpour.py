"""Bavandpour, Huang, Rofin and Hahn 2025: unique hard attention; a token carries its head's cell.

A reconstruction that meets the row's bounds: unique hard attention cannot average, so a position
cannot be summed and is written into the token, whose vocabulary grows with the space.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from tapeformer.laboratory.attention import Choice, Head
from tapeformer.laboratory.coordinates import (
    Fields,
    Key,
    Map,
    Network,
    clipped,
    fields,
    numbered,
    relu,
    row,
)
from tapeformer.laboratory.experiment import TokenExperiment
from tapeformer.laboratory.preparation import Prepared, StepMade
from tapeformer.laboratory.residual import Residual
from tapeformer.laboratory.row import Bounds, Row, Task
from tapeformer.laboratory.step_network import read_network, step_network
from tapeformer.laboratory.streams import one_token_per_step
from tapeformer.laboratory.transformer import (
    Coordinates,
    Layer,
    Transformer,
    moved,
    one_hot,
)


class UniqueHardAttention(Residual):
    """The model of one prepared machine, for cells up to `reach` on either side."""

    def __init__(self, prepared: Prepared, reach: int, choice: Choice = "rightmost") -> None:
        self.prepared, self.reach, self.choice = prepared, reach, choice
        self.symbols, self.states = prepared.machine.symbols, prepared.states
        self.tapes = range(prepared.machine.tapes)
        super().__init__(self._fields())

    def _fields(self) -> Fields:
        symbols = self.symbols
        blocks: dict[str, Any] = {"letter": symbols, "place": None, "place^2": None, "prompt": None}
        blocks |= {"q": self.states, "q'": self.states, "wrote": None}
        blocks |= {"found letter": symbols, "found place": None, "found prompt": None}
        for t in self.tapes:
            named = ("written", "written'", "old", "read")
            blocks |= {f"{name}.{t}": symbols for name in named}
            numbers = ("cell", "cell^2", "move", "cell'", "move'", "old cell", "old wrote")
            blocks |= {f"{name}.{t}": None for name in numbers}
        return fields(**blocks)

    def model(self) -> Transformer:
        """Return one layer: a head for the last write of each tape, one for the input."""
        step = Layer((), (self._cells(),))
        heads = (*map(self._last_write, self.tapes), self._input())
        look = Layer(heads, (*map(self._read, self.tapes), self._step()))
        return Transformer(self.fields, self.embed, (step, look), self._factors(), self._token)

    def embed(self, token: Any) -> Coordinates:
        """Return a prompt token (symbol, place) or (state, written, moves, cells) as coordinates."""
        if len(token) == 2:
            letter, place = token
            return {("letter", letter): 1, "place": place, "place^2": place * place, "prompt": 1}
        state, written, moves, cells = token
        out: dict[Key, int] = {("q", state): 1, "place^2": 1}
        for t in self.tapes:
            out |= {f"cell.{t}": cells[t], f"cell^2.{t}": cells[t] ** 2, f"move.{t}": moves[t]}
            if written is not None:
                out |= {(f"written.{t}", written[t]): 1, "wrote": 1}
        return out

    def _cells(self) -> Network:
        """Move the heads: the new cell is a sum."""
        rows = [row(f"cell'.{t}", {f"cell.{t}": 1, f"move.{t}": 1}) for t in self.tapes]
        return self.added(*rows)

    def _last_write(self, t: int) -> Head:
        """Find the nearest cell to the head's, 2p'p - p^2, and of several tokens the last."""
        query = self.map(numbered(2), row(0, {f"cell'.{t}": 2}), row(1, bias=-1))
        key = self.map(
            numbered(2), row(0, {f"cell.{t}": 1}), row(1, {f"cell^2.{t}": 1, "prompt": 1})
        )
        value = [row((f"old.{t}", a), {(f"written.{t}", a): 1}) for a in self.symbols]
        value += [row(f"old cell.{t}", {f"cell.{t}": 1}), row(f"old wrote.{t}", {"wrote": 1})]
        parts = (self.added(*value), (query,), (key,))
        return Head(f"last write, tape {t + 1}", *parts, choice=self.choice)

    def _input(self) -> Head:
        """Find the letter of the prompt in the head's cell; letter i is in cell i - 1."""
        query = self.map(numbered(2), row(0, {"cell'.0": 2}, 2), row(1, bias=-1))
        key = self.map(numbered(2), row(0, {"place": 1}), row(1, {"place^2": 1}))
        value = [row(("found letter", a), {("letter", a): 1}) for a in self.symbols]
        value += [row("found place", {"place": 1}), row("found prompt", {"prompt": 1})]
        return Head("input", self.added(*value), (query,), (key,), choice=self.choice)

    def _read(self, t: int) -> Network:
        """Take what was last written in this cell, else its letter, else the blank."""
        here, old, place = f"cell'.{t}", f"old cell.{t}", "found place"
        gaps = fields(old=self.symbols, letter=self.symbols, new=range(3), past=range(3))
        carried = [row(("old", a), {(f"old.{t}", a): 1}) for a in self.symbols]
        new = [row(("new", 0), {old: 1, here: -1}), row(("new", 1), {old: -1, here: 1})]
        new.append(row(("new", 2), {f"old wrote.{t}": -1}, 1))
        if t == 0:
            carried += [row(("letter", a), {("found letter", a): 1}) for a in self.symbols]
            past = [
                row(("past", 0), {place: 1, here: -1}, -1),
                row(("past", 1), {place: -1, here: 1}, 1),
            ]
            past.append(row(("past", 2), {"found prompt": -1}, 1))
        else:
            past = [row(("past", 2), bias=1)]
        bits = fields(old=self.symbols, letter=self.symbols, new=None, past=None)
        sums = gaps.copied("old", "letter")
        sums += [row(name, {(name, part): 1 for part in range(3)}) for name in ("new", "past")]
        read = read_network(
            bits, self.fields, f"read.{t}", self.symbols, self.prepared.machine.blank
        )
        return (
            self.map(gaps, *carried, *new, *past),
            relu,
            Map(gaps, bits, sums),
            clipped,
            *read,
        )

    def _step(self) -> Network:
        outputs = {}
        for key, (state, written, moves) in self.prepared.delta.items():
            forms: dict[Key, int] = {("q'", state): 1}
            for t in self.tapes:
                forms |= {(f"written'.{t}", written[t]): 1, f"move'.{t}": moves[t]}
            outputs[key] = forms
        return step_network(
            self.fields, self.fields, "q", [f"read.{t}" for t in self.tapes], outputs
        )

    def _factors(self) -> tuple[Any, ...]:
        """Emit state, symbols, moves and cells; a number is the nearest of the vocabulary."""
        cells = range(-self.reach, self.reach + 1)
        state = one_hot("state", self.fields, "q'", self.states)
        written = [
            one_hot(f"symbol {t + 1}", self.fields, f"written'.{t}", self.symbols)
            for t in self.tapes
        ]
        moves = [moved(f"move {t + 1}", self.fields, f"move'.{t}") for t in self.tapes]
        return (
            state,
            *written,
            *moves,
            *(moved(f"cell {t + 1}", self.fields, f"cell'.{t}", cells) for t in self.tapes),
        )

    def _token(self, values: tuple[Any, ...]) -> Any:
        k = len(self.tapes)
        return (
            values[0],
            tuple(values[1 : k + 1]),
            tuple(values[k + 1 : 2 * k + 1]),
            tuple(values[2 * k + 1 :]),
        )


def experiment(task: Task, **options: Any) -> TokenExperiment:
    """Return the model of a task and its stream: one token per step."""
    tapes = task.machine.tapes
    zeros = (0,) * tapes
    prompt = (
        *zip(task.word, range(1, len(task.word) + 1), strict=True),
        (task.machine.start, None, zeros, zeros),
    )

    def reference() -> list[Any]:
        cells, tokens = zeros, []
        for state, written, moves in task.trace.steps:
            tokens.append((state, written, moves, cells))
            cells = tuple(cell + move for cell, move in zip(cells, moves, strict=True))
        return tokens

    def steps(tokens: Any) -> list[StepMade]:
        return [(state, written, moves) for state, written, moves, _ in tokens]

    model = UniqueHardAttention(task.prepared, task.reach, **options).model()
    return one_token_per_step(task, model, prompt, reference, steps)


ROW = Row(
    name="bavandpour",
    title="Bavandpour et al. 2025",
    source="Bavandpour, Huang, Rofin, Hahn: Lower Bounds for Chain-of-Thought Reasoning in Hard-Attention Transformers (2025)",
    provenance="a reconstruction: the construction's text was not found",
    printed=Bounds("O(log t)", "O(1)", "n + t", "O(t)"),
    experiment=experiment,
    several_tapes=True,
    ablations={
        "averaging for unique attention": partial(experiment, choice="average"),
        "the leftmost of several, with no index in the score": partial(
            experiment, choice="leftmost"
        ),
    },
)
