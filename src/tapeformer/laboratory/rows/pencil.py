"""PENCIL (Yang et al. 2025): the chain of thought is rewritten, C [CALL] T [SEP] A [RETURN] => C A.

The thought T is a trace; when it is four times as long as the visited tape, the model writes a short
trace A that leads to the same configuration, and the rewriting keeps only that. The rewriting rule
is published; trace, summary and layers are a reconstruction.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from tapeformer.laboratory.arithmetic import Arithmetic, Array, Exact
from tapeformer.laboratory.attention import Head
from tapeformer.laboratory.coordinates import (
    Fields,
    Gate,
    Key,
    Map,
    Network,
    clipped,
    fields,
    numbered,
    relu,
    row,
)
from tapeformer.laboratory.experiment import Context, TokenExperiment
from tapeformer.laboratory.preparation import STOP, Prepared
from tapeformer.laboratory.residual import Residual
from tapeformer.laboratory.row import Bounds, Row, Task
from tapeformer.laboratory.summary import (
    CALL,
    RETURN,
    SEP,
    contexts_of,
    prompt_of,
    reduced,
    steps_of,
)
from tapeformer.laboratory.transformer import Coordinates, Layer, Transformer, factor

FACTOR = 4
"""A trace is summarised when it is so many times as long as the visited tape."""
STEP = "step"
TURNS = (
    row("up", {"fwd": 1, "less": 1}, -1),
    row("end", {"fwd": 1, "less": -1, "away": -1}),
    row("turn", {"fwd": 1, "less": -1, "away": 1}, -1),
    row("down", {"back": 1, "off": 1}, -1),
    row("ret", {"back": 1, "off": -1}),
)
"""What a walker does: on to the right end, there end or turn, back to the head, return."""


def whole(x: Array, numbers: Arithmetic) -> Array:
    """Round to whole numbers by adding and subtracting 3/2 of the largest power with unit spacing."""
    if isinstance(numbers, Exact):
        return x
    bits = int(getattr(numbers, "bits", 0))
    large = numbers.constant(3 * 2 ** (bits - 2))
    return numbers.rounded(numbers.rounded(x + large) - large)


class Pencil(Residual):
    """The model of one prepared machine: four layers, gated units where numbers are multiplied."""

    def __init__(self, prepared: Prepared, index_breaks_ties: bool = True) -> None:
        self.prepared, self.index_breaks_ties = prepared, index_breaks_ties
        self.symbols, self.states = prepared.machine.symbols, prepared.states
        super().__init__(self._fields())

    def _fields(self) -> Fields:
        blocks: dict[str, Any] = {
            "special": (CALL, SEP, RETURN),
            "q": self.states,
            "w": self.symbols,
        }
        blocks |= {"m": (-1, 0, 1), "q1": self.states, "rw": self.symbols, "r": self.symbols}
        blocks |= {"q'": self.states, "w'": self.symbols, "m'": (-1, 0, 1)}
        names = (
            "trace move idx mean_move mean_sep S seps seg1 seg2 pos valid vidx before a aa hi lo h"
        )
        names += " here seg2here target tidx ra rvalid far over stop sep_out call_out return_out do"
        return fields(**blocks, **dict.fromkeys(names.split()))

    def products(self, *triples: tuple[str, str, str]) -> Network:
        """Return new coordinates as products of two: gated units."""
        return (Gate(self.fields, self.fields, triples),)

    def model(self) -> Transformer:
        """Return four layers: sums, extremes and last token, last write, control."""
        first = Layer((self._means(),), self._positions())
        second = Layer(self._extremes(), self._target())
        third = Layer((self._last_write(),), self._symbol())
        fourth = Layer((), (*self._control(), self._step(), self._summary()))
        layers = (first, second, third, fourth)
        return Transformer(
            self.fields, self.embed, layers, self._factors(), self._token, lambda i: {"idx": i + 1}
        )

    def embed(self, token: Any) -> Coordinates:
        """Return a special token, or (state, written, move), as coordinates."""
        if isinstance(token, str):
            return {("special", token): 1}
        state, written, move = token
        return {("q", state): 1, ("w", written): 1, ("m", move): 1, "trace": 1, "move": move}

    def _means(self) -> Head:
        rows = [row("mean_move", {"move": 1}), row("mean_sep", {("special", SEP): 1})]
        return Head("means", self.added(*rows))

    def _positions(self) -> tuple[Network, ...]:
        """Make sums of means: the head's cell, and whether the trace or its summary is under way."""
        sums = fields(S=None, seps=None)
        gate = Gate(self.fields, sums, (("S", "mean_move", "idx"), ("seps", "mean_sep", "idx")))
        return (
            (gate, whole, Map(sums, self.fields, sums.copied("S", "seps"))),
            self.bits(seg2={"seps": 2}, seg1={1: 1, "seps": -2}),
            self.linear(before={"S": 1, "move": -1}),
            self.products(("pos", "seg1", "S"), ("valid", "seg1", "trace")),
            self.products(("vidx", "valid", "idx"), ("a", "valid", "before")),
            self.products(("aa", "a", "a")),
        )

    def _extremes(self) -> tuple[Head, ...]:
        """Find the ends of the visited tape, and the state and cell at the end of the trace."""
        one = (Map(self.fields, numbered(1), [row(0, bias=1)]),)

        def head(name: str, key: Any, value: list[Any]) -> Head:
            of = (self.map(numbered(1), row(0, key)),)
            return Head(name, self.added(*value), one, of, choice="rightmost")

        last = [row(("q1", q), {("q", q): 1}) for q in self.states] + [row("h", {"S": 1})]
        return (
            head("right end", {"pos": 1}, [row("hi", {"pos": 1})]),
            head("left end", {"pos": -1}, [row("lo", {"pos": 1})]),
            head("end of the trace", {"vidx": 1}, last),
        )

    def _target(self) -> tuple[Network, ...]:
        """Choose the cell to read: the head's in the trace, the walker's in its summary."""
        return (
            self.linear(here={"S": 1, "h": -1, "lo": 1}),
            self.products(("seg2here", "seg2", "here")),
            self.linear(target={"pos": 1, "seg2here": 1}),
            self.products(("tidx", "target", "idx")),
        )

    def _last_write(self) -> Head:
        """Score idx (2 target a - a^2) + j: the last trace token that wrote in the cell."""
        later = {"idx": 1} if self.index_breaks_ties else {}
        query = self.map(numbered(3), row(0, {"tidx": 2}), row(1, {"idx": -1}), row(2, bias=1))
        key = self.map(
            numbered(3), row(0, {"a": 1}), row(1, {"aa": 1, "valid": -1}, 1), row(2, later)
        )
        value = [row(("rw", s), {("w", s): 1}) for s in self.symbols]
        value += [row("ra", {"a": 1}), row("rvalid", {"valid": 1})]
        return Head("last write", self.added(*value), (query,), (key,))

    def _symbol(self) -> tuple[Network, ...]:
        """Take the written symbol if it stood in the very cell, else the blank."""
        gaps = fields(gap=range(3))
        away = [row(("gap", 0), {"ra": 1, "target": -1}), row(("gap", 1), {"ra": -1, "target": 1})]
        missing = row(("gap", 2), {"rvalid": -1}, 1)
        one = fields(far=None)
        add = Map(gaps, one, [row("far", dict.fromkeys(gaps.keys, 1))])
        far = (
            self.map(gaps, *away, missing),
            relu,
            add,
            clipped,
            Map(one, self.fields, one.copied("far")),
        )
        blank = self.prepared.machine.blank
        rows = [row(("r", s), {("rw", s): 1, "far": 1 if s == blank else -1}) for s in self.symbols]
        return far, self.units(fields(r=self.symbols), rows)

    def _control(self) -> tuple[Network, ...]:
        """Decide: summarise when the trace is long; call after [SEP]; return at the head's cell."""
        long = {1: -FACTOR, "idx": 1, "hi": -FACTOR, "lo": FACTOR}
        return (
            self.bits(over=long, stop={("q", STOP): 1}, call_out={("special", SEP): 1}),
            self.bits(sep_out={1: -2, "seg1": 1, "trace": 1, "over": 1, "stop": -1}),
            self.bits(do={1: -1, "seg1": 1, "trace": 1, "sep_out": -1}),
        )

    def _step(self) -> Network:
        """Apply the step function in the trace: one unit for each state and symbol."""
        units = numbered(len(self.prepared.delta))
        up, down = [], dict[Key, dict[Key, int]]()
        for number, ((state, read), (after, written, moves)) in enumerate(
            self.prepared.delta.items()
        ):
            up.append(row(number, {("q", state): 1, ("r", read[0]): 1, "do": 1}, -2))
            for key in (("q'", after), ("w'", written[0]), ("m'", moves[0])):
                down.setdefault(key, {})[number] = 1
        return self.units(units, up, [row(key, terms) for key, terms in down.items()])

    def _summary(self) -> Network:
        """Walk from the left end to the right and back to the head, and return there."""
        carried: dict[str, Any] = {"q": self.states, "w": self.symbols}
        walk = fields(**carried, **dict.fromkeys(("fwd", "less", "away", "back", "stay", "off")))
        turns = fields(**carried, **dict.fromkeys(("up", "end", "turn", "down", "ret", "stay")))
        return (
            self.map(walk, *self._walker()),
            clipped,
            Map(walk, turns, [*TURNS, *walk.copied("q", "w", "stay")]),
            clipped,
            Map(turns, self.fields, self._walked()),
        )

    def _walker(self) -> list[Any]:
        """Tell which way the summary goes, and whether it is at an end; carry state and symbol."""
        rows = [row(("q", q), {("q1", q): 1, "seg2": 1}, -1) for q in self.states]
        rows += [row(("w", s), {("r", s): 1, "seg2": 1}, -1) for s in self.symbols]
        return [
            *rows,
            row("fwd", {"seg2": 1, ("special", CALL): 1, ("m", 1): 1}, -1),
            row("less", {"hi": 1, "here": -1}),
            row("away", {"hi": 1, "h": -1}),
            row("back", {"seg2": 1, ("m", -1): 1}, -1),
            row("stay", {"seg2": 1, ("m", 0): 1}, -1),
            row("off", {"here": 1, "h": -1}),
        ]

    def _walked(self) -> list[Any]:
        """Emit the walker's token, or [RETURN] after its last."""
        moves = {1: ("up",), 0: ("end",), -1: ("turn", "down")}
        rows = [row(("q'", q), {("q", q): 1}) for q in self.states]
        rows += [row(("w'", s), {("w", s): 1}) for s in self.symbols]
        rows += [row(("m'", m), dict.fromkeys(parts, 1)) for m, parts in moves.items()]
        return [*rows, row("return_out", {"ret": 1, "stay": 1})]

    def _factors(self) -> tuple[Any, ...]:
        kinds = {
            STEP: {"1": 1},
            SEP: {"sep_out": 2},
            CALL: {"call_out": 2},
            RETURN: {"return_out": 2},
        }
        kind = factor("kind", self.fields, kinds, "1")
        state = factor("state", self.fields, {q: {("q'", q): 1} for q in self.states})
        written = factor("symbol", self.fields, {s: {("w'", s): 1} for s in self.symbols})
        return (
            kind,
            state,
            written,
            factor("move", self.fields, {m: {("m'", m): 1} for m in (-1, 0, 1)}),
        )

    @staticmethod
    def _token(values: tuple[Any, ...]) -> Any:
        return values[1:] if values[0] == STEP else values[0]


def experiment(task: Task, **options: Any) -> TokenExperiment:
    """Return the model of a task and its contexts, one from each rewriting to the next."""

    def contexts() -> Sequence[Context]:
        task.check()
        return contexts_of(task, FACTOR)

    return TokenExperiment(
        model=Pencil(task.prepared, **options).model(),
        contexts=contexts,
        prompt=prompt_of(task),
        steps=steps_of,
        stops=lambda token: token[0] == STOP,
        reduce=reduced,
    )


ROW = Row(
    name="pencil",
    title="PENCIL, Yang et al. 2025",
    source="Yang, Srebro, McAllester, Li: PENCIL: Long Thoughts with Short Memory (2025)",
    provenance="published rewriting rule and code; trace, summary and layers reconstructed",
    printed=Bounds("O(log t)", "O(1)", "s", "O(t)"),
    experiment=experiment,
    ablations={"no index in the score": partial(experiment, index_breaks_ties=False)},
)
