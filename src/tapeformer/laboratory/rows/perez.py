"""Pérez, Barceló and Marinkovic 2021: an encoder-decoder whose head position is a mean of moves.

Score -|<q, k>|, averaging hard attention, positions (1, i, 1/i, 1/i^2). Several tapes repeat the
fields and the heads of one; the published construction has one tape.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

from tapeformer.laboratory.attention import Head, Score
from tapeformer.laboratory.coordinates import (
    Fields,
    Key,
    Network,
    clipped,
    fields,
    numbered,
    row,
)
from tapeformer.laboratory.experiment import TokenExperiment
from tapeformer.laboratory.preparation import (
    Prepared,
    StepMade,
    refuse_blank_in_word,
    scanned,
)
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

MOVES = (-1, 0, 1)


class Perez(Residual):
    """The model of one prepared machine; options take parts of the construction away."""

    def __init__(
        self,
        prepared: Prepared,
        tie_break: Fraction = Fraction(1, 3),
        score: Score = "negative distance",
        stays: bool = True,
    ) -> None:
        self.prepared, self.tie_break, self.score, self.stays = prepared, tie_break, score, stays
        self.symbols, self.states = prepared.machine.symbols, prepared.states
        self.tapes = range(prepared.machine.tapes)
        super().__init__(self._fields())

    def _fields(self) -> Fields:
        """Name the coordinates as the paper does, x_a apart: whether a head moved."""
        states, symbols = self.states, self.symbols
        blocks: dict[str, Any] = {"q1": states, "q2": states, "s3": symbols, "x6": None}
        for t in self.tapes:
            blocks |= {f"{name}.{t}": symbols for name in ("s1", "s2", "s4")}
            blocks |= {f"{name}.{t}": None for name in ("x1", "x2", "xa", "x3", "x4", "x5", "x7")}
        return fields(**blocks, x8=None, x9=None, x10=None, x11=None)

    def model(self, word: tuple[str, ...]) -> Transformer:
        """Return the model with an encoded word."""
        encoded = [{("s3", symbol): 1, **position(i)} for i, symbol in enumerate(word)]
        first = Layer((self._input(),), (self._step(), self._shift()))
        means = Layer((self._means(),))
        last = Layer(
            tuple(self._last_write(t) for t in self.tapes), tuple(map(self._read, self.tapes))
        )
        return Transformer(
            fields=self.fields,
            embed=self.embed,
            layers=(first, means, last),
            factors=self._factors(),
            token=partial(_token, len(self.tapes)),
            position=position,
            memory=tuple(encoded),
        )

    def embed(self, token: Any) -> Coordinates:
        """Return a token (state, symbols read, moves before) as coordinates."""
        state, read, moves = token
        out: dict[Key, int] = {("q1", state): 1}
        for t in self.tapes:
            out |= {(f"s1.{t}", read[t]): 1, f"x1.{t}": moves[t]}
        return out

    def _input(self) -> Head:
        """Fetch letter min(r + 1, n) from the encoder, and its place."""
        value = [row(("s3", a), {("s3", a): 1}) for a in self.symbols] + [row("x6", {"x9": 1})]
        query = self.map(numbered(2), row(0, {"x8": 1}), row(1, {"x9": 1}))
        key = self.map(numbered(2), row(0, {"x9": 1}), row(1, {"x8": -1}))
        fetched = self.added(*value)
        return Head("input", fetched, (query,), (key,), "negative distance", mask="memory")

    def _step(self) -> Network:
        """Apply the step function: one unit for each state and symbols read."""
        outputs = {}
        for key, (state, written, moves) in self.prepared.delta.items():
            forms: dict[Key, int] = {("q2", state): 1}
            for t in self.tapes:
                forms |= {(f"s2.{t}", written[t]): 1, f"x2.{t}": moves[t], f"xa.{t}": abs(moves[t])}
            outputs[key] = forms
        return step_network(
            self.fields, self.fields, "q1", [f"s1.{t}" for t in self.tapes], outputs
        )

    def _shift(self) -> Network:
        """Keep the last move, and clear the token's own coordinates."""
        rows = [row(f"x3.{t}", {f"x1.{t}": 1}) for t in self.tapes]
        own = {"q1", *(f"{name}.{t}" for name in ("s1", "x1") for t in self.tapes)}
        rows += [row(one.to, {one.to: -1}) for one in self.fields.copied(*own)]
        return self.added(*rows)

    def _means(self) -> Head:
        """Average all moves: the head's cell over r + 1, after this step and before it."""
        pairs = [(f"x{4 + after}.{t}", f"x{2 + after}.{t}") for t in self.tapes for after in (0, 1)]
        return Head("mean of moves", self.added(*(row(to, {of: 1}) for to, of in pairs)))

    def _last_write(self, t: int) -> Head:
        """Find the last step that wrote where the head is now; if there is none, this step."""
        query = [row(0, {f"x4.{t}": 1}), row(1, {"x10": 1}), row(2, {"x11": self.tie_break})]
        key = [row(0, {"x10": 1}), row(1, {f"x5.{t}": -1}), row(2, {"x11": 1})]
        value = [row((f"s4.{t}", a), {(f"s2.{t}", a): 1}) for a in self.symbols]
        value.append(row(f"x7.{t}", {"x9": 1, "x8": -1}))
        parts = (
            self.added(*value),
            (self.map(numbered(3), *query),),
            (self.map(numbered(3), *key),),
        )
        return Head(f"last write, tape {t + 1}", *parts, self.score)

    def _read(self, t: int) -> Network:
        """Combine last write, letter and blank to the symbol under the head, in the block s1."""
        bits = fields(old=self.symbols, letter=self.symbols, new=None, past=None)
        rows = [row(("old", a), {(f"s4.{t}", a): 1}) for a in self.symbols]
        rows += [row(("letter", a), {("s3", a): 1}) for a in self.symbols if t == 0]
        new = {f"x7.{t}": 1, "x9": -1, **({f"xa.{t}": 1} if self.stays else {})}
        rows.append(row("new", new, 1 if self.stays else 2))
        rows.append(row("past", {"x9": 1, "x6": -1}) if t == 0 else row("past", bias=1))
        read = read_network(bits, self.fields, f"s1.{t}", self.symbols, self.prepared.machine.blank)
        return (self.map(bits, *rows), clipped, *read)

    def _factors(self) -> tuple[Any, ...]:
        state = one_hot("state", self.fields, "q2", self.states)
        read = [
            one_hot(f"symbol {t + 1}", self.fields, f"s1.{t}", self.symbols) for t in self.tapes
        ]
        return (state, *read, *(moved(f"move {t + 1}", self.fields, f"x2.{t}") for t in self.tapes))


def position(place: int) -> Coordinates:
    """Return (1, i, 1/i, 1/i^2) for i = place + 1."""
    i = place + 1
    return {"x8": 1, "x9": i, "x10": Fraction(1, i), "x11": Fraction(1, i * i)}


def _token(tapes: int, values: tuple[Any, ...]) -> Any:
    return values[0], tuple(values[1 : 1 + tapes]), tuple(values[1 + tapes :])


def experiment(task: Task, **options: Any) -> TokenExperiment:
    """Return the model of a task and its stream: one token per step of the scanning machine."""
    prepared, blank = task.prepared, task.machine.blank
    tapes = task.machine.tapes
    start = (task.machine.start, (blank,) * tapes, (0,) * tapes)

    def reference() -> list[Any]:
        trace = task.trace
        after = [read for _, read in trace.seen[1:]]
        if trace.stopped:
            after.append(trace.seen[-1][1])
        steps = zip(trace.steps, after, strict=True)
        return [(state, read, moves) for (state, _, moves), read in steps]

    def steps(tokens: Any) -> list[StepMade]:
        before = [start, *tokens]
        made = []
        for (state, read, _), (after, _, moves) in zip(before, tokens, strict=False):
            made.append((after, prepared.delta[state, read][1], moves))
        return made

    model = Perez(prepared, **options).model(task.word)
    return one_token_per_step(task, model, (start,), reference, steps)


ROW = Row(
    name="perez",
    title="Pérez et al. 2021",
    source="Pérez, Barceló, Marinkovic: Attention is Turing-Complete, JMLR 22 (2021)",
    provenance="reconstructed from notes and third-party code; semantics checked",
    printed=Bounds("O(log t)", "O(1)", "n + t", "O(t)"),
    experiment=experiment,
    prepare=scanned,
    several_tapes=True,
    check_word=refuse_blank_in_word,
    ablations={
        "no tie-break term": partial(experiment, tie_break=Fraction(0)),
        "dot product for its negative distance": partial(experiment, score="dot"),
        "a stay taken for a new cell, as published": partial(experiment, stays=False),
    },
)
