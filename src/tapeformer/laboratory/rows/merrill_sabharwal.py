"""Merrill and Sabharwal 2024: a decoder without positions; cells are compared by a layer-norm hash.

Strict causal mask, averaging hard attention, projected pre-norm. phi(x, y) is the layer norm of
(x, y, -x, -y), so phi(h/i, 1/i) = phi(h, 1): two means with one denominator name a cell.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

from tapeformer.laboratory.attention import Head
from tapeformer.laboratory.coordinates import (
    Fields,
    Join,
    Key,
    Map,
    Network,
    Terms,
    clipped,
    fields,
    numbered,
    relu,
    row,
)
from tapeformer.laboratory.experiment import TokenExperiment
from tapeformer.laboratory.hashes import GRID, differs, fetched, numbers_of, phi
from tapeformer.laboratory.preparation import Prepared, StepMade
from tapeformer.laboratory.residual import Residual
from tapeformer.laboratory.row import Bounds, Row, Task
from tapeformer.laboratory.step_network import step_network
from tapeformer.laboratory.streams import one_token_per_step
from tapeformer.laboratory.transformer import Coordinates, Layer, Transformer, factor

START = "$"
EARLY = 5
"""Columns whose tie-break is a constant of its own, since f(i) begins later."""


class LayerNormHash(Residual):
    """The model of one prepared machine; options take parts of the construction away."""

    def __init__(
        self,
        prepared: Prepared,
        grid: int = GRID,
        tie_break: bool = True,
        literal_key: bool = False,
        write_flag: bool = True,
    ) -> None:
        self.prepared, self.grid, self.tie_break = prepared, grid, tie_break
        self.literal_key, self.write_flag = literal_key, write_flag
        self.symbols, self.states = prepared.machine.symbols, prepared.states
        self.tapes = range(prepared.machine.tapes)
        super().__init__(self._fields())

    def _fields(self) -> Fields:
        symbols = self.symbols
        blocks: dict[str, Any] = {"start": None, "x": symbols, "q": self.states, "q'": self.states}
        blocks |= dict.fromkeys(("delta", "write", "inv", "f", "input far"))
        blocks |= {f"le{a}": None for a in range(1, EARLY)} | {f"inv{a}": None for a in (1, 2, 3)}
        blocks |= {"input": symbols, "input raw": symbols, "input phi": range(4)}
        for t in self.tapes:
            blocks |= {f"{name}.{t}": symbols for name in ("w", "w'", "old", "r")}
            blocks |= {f"{name}.{t}": (-1, 0, 1) for name in ("m", "m'")}
            blocks |= {
                f"{name}.{t}": None for name in ("h", "g", "old write", "far", "found", "stay")
            }
            blocks[f"old phi.{t}"] = range(4)
        return fields(**blocks)

    def numbers(self, *forms: tuple[Terms, int]) -> Map:
        """Return a map to numbers without names."""
        return numbers_of(self.fields, *forms)

    def phi(self, x: tuple[Terms, int], y: tuple[Terms, int]) -> Network:
        """Return the hash of two linear forms."""
        return phi(self.fields, x, y)

    def model(self) -> Transformer:
        """Return three layers: means, inverses and input, last writes."""
        inverses = tuple(self._inverse(a) for a in (1, 2, 3))
        second = (
            differs(self.fields, self._input_phi, "input phi", "input far", self.grid),
            self._input_symbol(),
            self._f(),
        )
        third: list[Network] = []
        for t in self.tapes:
            third += [
                differs(self.fields, self._here(t), f"old phi.{t}", f"far.{t}", self.grid),
                self._flags(t),
                self._read(t),
            ]
        layers = (
            Layer((self._means(),), (self._early(), self._cells())),
            Layer((*inverses, self._input()), second),
            Layer(tuple(map(self._last_write, self.tapes)), (*third, self._step())),
        )
        return Transformer(
            self.fields, self.embed, layers, self._factors(), self._token, rational=False
        )

    def embed(self, token: Any) -> Coordinates:
        """Return the start, a letter, or (state, written, moves) as coordinates."""
        if token == START:
            return {"start": 1}
        if isinstance(token, str):
            return {("x", token[1:]): 1}
        state, written, moves = token
        out: dict[Key, int] = {("q", state): 1, "delta": 1}
        for t in self.tapes:
            out[f"m.{t}", moves[t]] = 1
            if written is not None:
                out |= {(f"w.{t}", written[t]): 1, "write": 1}
        return out

    def _means(self) -> Head:
        """Average over all earlier columns: 1/i, and the head's cell before this token over i."""
        rows = [row("inv", {"start": 1})]
        rows += [row(f"h.{t}", {(f"m.{t}", 1): 1, (f"m.{t}", -1): -1}) for t in self.tapes]
        return Head("means", self.added(*rows), mask="strict")

    def _early(self) -> Network:
        """Find [i <= a] for small a by clipped lines in 1/i, and this token's move over i."""
        hidden = fields(le=range(1, EARLY), up=self.tapes, down=self.tapes)
        rows = [
            row(("le", a), {"inv": 3 * a * (a + 1), "start": 3 * a + 2}, -3 * a - 1)
            for a in range(1, EARLY)
        ]
        for t in self.tapes:
            rows.append(row(("up", t), {(f"m.{t}", 1): 1, "inv": 1}, -1))
            rows.append(row(("down", t), {(f"m.{t}", -1): 1, "inv": 1}, -1))
        out = [row(f"le{a}", {("le", a): 1}) for a in range(1, EARLY)]
        out += [row(f"g.{t}", {("up", t): 1, ("down", t): -1}) for t in self.tapes]
        return self.units(hidden, rows, out)

    def _cells(self) -> Network:
        """Add the mean so far: the head's cell after this token over i."""
        return self.added(*(row(f"g.{t}", {f"h.{t}": 1}) for t in self.tapes))

    def _inverse(self, a: int) -> Head:
        """Average [j = a] over j >= a: 1/(i - a)."""
        below: Terms = {"start": -1} if a == 1 else {f"le{a - 1}": -1}
        query, key = self.numbers(({}, 1)), self.numbers((below, 1))
        value = self.added(row(f"inv{a}", {f"le{a}": 1, **below}))
        return Head(f"1/(i-{a})", value, (query,), (key,), mask="strict")

    @property
    def _input_phi(self) -> Network:
        return self.phi(({"inv": 1, "g.0": 1}, 0), ({"inv": 1}, 0))

    def _input(self) -> Head:
        """Find the letter of the prompt in the cell of head 1: cell p is column p + 1."""
        own = self.phi(({}, 1), ({"inv": 1}, 0))
        key = (Join((own, (self.numbers(({"delta": -2, "start": -2}, 0)),))),)
        query = (Join((self._input_phi, (self.numbers(({}, 1)),))),)
        letters = self.numbers(*(({("x", a): 1}, 0) for a in self.symbols))
        targets: list[Key] = [("input phi", i) for i in range(4)]
        targets += [("input raw", a) for a in self.symbols]
        return Head(
            "input", fetched(self.fields, (own, (letters,)), targets), query, key, mask="strict"
        )

    def _input_symbol(self) -> Network:
        rows = [row(("input", a), {("input raw", a): 1, "input far": -1}) for a in self.symbols]
        return self.units(fields(input=self.symbols), rows)

    def _f(self) -> Network:
        """Make f(i) = 6 / (100 i(i-1)(i-2)(i-3)), which prefers later writes; constants at first."""
        early = [f"le{a}" for a in range(1, EARLY)]
        first = fields(f3=None, at=range(EARLY))
        rows = [
            row("f3", {"inv3": 1, "inv2": -3, "inv1": 3, "inv": -1}),
            row(("at", 0), {"start": 1}),
        ]
        rows += [row(("at", a), {name: 1}) for a, name in enumerate(early, 1)]
        second = [
            row("f3", {"f3": Fraction(1, 100), ("at", EARLY - 1): -1}),
            row(("at", 0), {("at", 0): 1}),
        ]
        second += [row(("at", a), {("at", a): 1, ("at", a - 1): -1}) for a in range(1, EARLY)]
        constants = {("at", a): Fraction(1, 1000) - Fraction(a, 10000) for a in range(EARLY)}
        out = [row("f", {"f3": 1, **constants})] if self.tie_break else []
        return (
            self.map(first, *rows),
            Map(first, first, second),
            relu,
            Map(first, self.fields, out),
        )

    def _here(self, t: int) -> Network:
        return self.phi(({f"g.{t}": 1}, 0), ({"inv": 1}, 0))

    def _last_write(self, t: int) -> Head:
        """Find the last token that wrote in the head's cell; it wrote before its own move."""
        at = "g" if self.literal_key else "h"
        wrote = self.phi(({f"{at}.{t}": 1}, 0), ({"inv": 1}, 0))
        later: Network = (
            *self.phi(({"f": 1}, 0), ({}, 1)),
            Map(numbered(4), numbered(1), [row(0, {0: -1})]),
        )
        flag = self.numbers(({"write": 2}, -2) if self.write_flag else ({}, 0))
        query = (Join((self._here(t), (self.numbers(({}, 1), ({}, 1)),))),)
        key = (Join((wrote, later, (flag,))),)
        content = self.numbers(*(({(f"w.{t}", a): 1}, 0) for a in self.symbols), ({"write": 1}, 0))
        targets: list[Key] = [(f"old phi.{t}", i) for i in range(4)]
        targets += [*((f"old.{t}", a) for a in self.symbols), f"old write.{t}"]
        value = fetched(self.fields, (wrote, (content,)), targets)
        return Head(f"last write, tape {t + 1}", value, query, key, mask="strict")

    def _flags(self, t: int) -> Network:
        """Was the cell found, and did the head stay, so that this token wrote it?"""
        hidden = fields(found=None, stay=None)
        found = row("found", {f"old write.{t}": 1, f"far.{t}": -1})
        if not self.write_flag:
            found = row("found", {f"far.{t}": -1}, 1)
        stay = row("stay", {(f"m.{t}", 0): 1, "write": 1}, -1)
        out = [row(f"{name}.{t}", {name: 1}) for name in ("found", "stay")]
        return self.units(hidden, (found, stay), out)

    def _read(self, t: int) -> Network:
        """Take the last write, this token's own symbol, the letter of the prompt, or the blank."""
        parts = fields(old=self.symbols, own=self.symbols, letter=self.symbols)
        found, stay = f"found.{t}", f"stay.{t}"
        rows = [row(("old", a), {(f"old.{t}", a): 1, found: 1, stay: -1}, -1) for a in self.symbols]
        rows += [row(("own", a), {(f"w.{t}", a): 1, stay: 1}, -1) for a in self.symbols]
        if t == 0:
            rows += [
                row(("letter", a), {("input", a): 1, found: -1, stay: -1}) for a in self.symbols
            ]
        read = fields(r=self.symbols, none=None)
        every = dict.fromkeys(parts.keys, -1)
        sums = [
            row(("r", a), {(name, a): 1 for name in ("old", "own", "letter")}) for a in self.symbols
        ]
        sums.append(row("none", every, 1))
        blank = self.prepared.machine.blank
        out = [
            row((f"r.{t}", a), {("r", a): 1, **({"none": 1} if a == blank else {})})
            for a in self.symbols
        ]
        return (
            self.map(parts, *rows),
            clipped,
            Map(parts, read, sums),
            clipped,
            Map(read, self.fields, out),
        )

    def _step(self) -> Network:
        outputs = {}
        for key, (state, written, moves) in self.prepared.delta.items():
            forms: dict[Key, int] = {("q'", state): 1}
            for t in self.tapes:
                forms |= {(f"w'.{t}", written[t]): 1, (f"m'.{t}", moves[t]): 1}
            outputs[key] = forms
        return step_network(self.fields, self.fields, "q", [f"r.{t}" for t in self.tapes], outputs)

    def _factors(self) -> tuple[Any, ...]:
        """Emit the step; columns of the prompt emit the start state, which writes nothing."""
        first = {"delta": -1, "1": 1}
        start = self.prepared.machine.start
        states = {q: {("q'", q): 1, **(first if q == start else {})} for q in self.states}
        out = [factor("state", self.fields, states, "1")]
        for t in self.tapes:
            written: dict[Any, Any] = {a: {(f"w'.{t}", a): 1} for a in self.symbols}
            out.append(factor(f"symbol {t + 1}", self.fields, {**written, None: first}, "1"))
        for t in self.tapes:
            moves = {m: {(f"m'.{t}", m): 1, **(first if m == 0 else {})} for m in (-1, 0, 1)}
            out.append(factor(f"move {t + 1}", self.fields, moves, "1"))
        return tuple(out)

    def _token(self, values: tuple[Any, ...]) -> Any:
        k = len(self.tapes)
        written = tuple(values[1 : 1 + k])
        return values[0], None if None in written else written, tuple(values[1 + k :])


def experiment(task: Task, **options: Any) -> TokenExperiment:
    """Return the model of a task and its stream: the start, then one token per step."""
    prompt = (START, *("x" + letter for letter in task.word))
    first = (task.machine.start, None, (0,) * task.machine.tapes)

    def reference() -> list[Any]:
        return [first, *task.trace.steps]

    def steps(tokens: Any) -> list[StepMade]:
        return list(tokens[1:])

    model = LayerNormHash(task.prepared, **options).model()
    return one_token_per_step(task, model, prompt, reference, steps, before=1)


ROW = Row(
    name="merrill_sabharwal",
    title="Merrill and Sabharwal 2024",
    source="Merrill, Sabharwal: The Expressive Power of Transformers with Chain of Thought, ICLR (2024)",
    provenance="from the full text; its index slip and its equality test are repaired",
    printed=Bounds("O(log t)", "O(1)", "n + t", "O(t)"),
    experiment=experiment,
    several_tapes=True,
    ablations={
        "no tie-break between writes": partial(experiment, tie_break=False),
        "the key's cell after the move, as published": partial(experiment, literal_key=True),
        "no mark on tokens that write": partial(experiment, write_flag=False),
        "no grid in the test of equality": partial(experiment, grid=0),
    },
)
