"""Qiu, Xu, Bao and Tong 2024: one fixed Transformer; the machine is a program in the prompt.

Means with one denominator name cells, instructions and blocks of tokens by layer-norm hashes, as in
Merrill and Sabharwal. A score cut at 2 makes all tokens of a block tie, so that a mean over the block
counts it. The prompt language and the echoed chain of thought are published; the heads are fewer.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

from tapeformer.faults import Fault, TapeformerError
from tapeformer.laboratory.arithmetic import Arithmetic, Array, Number
from tapeformer.laboratory.attention import Head
from tapeformer.laboratory.coordinates import (
    Join,
    Key,
    Map,
    Network,
    Terms,
    clipped,
    fields,
    numbered,
    row,
    unit,
)
from tapeformer.laboratory.experiment import Context, TokenExperiment
from tapeformer.laboratory.hashes import GRID, SIZE, differs, fetched, numbers_of, phi
from tapeformer.laboratory.post_turing import (
    JUMPS,
    OPERATIONS,
    TOKENS,
    Program,
    executed,
    steps_made,
)
from tapeformer.laboratory.preparation import Prepared
from tapeformer.laboratory.residual import Residual
from tapeformer.laboratory.row import Bounds, Row, Task
from tapeformer.laboratory.transformer import Coordinates, Layer, Transformer, one_hot

LEAST_ECHO, MOST_PROMPT = 300, 3700
"""The least room for the chain of thought in a context; a longer program is refused."""


@lru_cache(maxsize=8)
def program_of(prepared: Prepared) -> Program:
    """Return the program of a machine."""
    return Program(prepared)


def embed(token: Any) -> Coordinates:
    """Return a token as a coordinate."""
    return {("t", token): 1}


def position(place: int) -> Coordinates:
    """Return the place i, a bound on 1 / (1 - cos) of neighbouring hashes, and its inverse over i + 1."""
    sharp = 4 * (place + 2) ** 4
    return {"place": place, "sharp": sharp, "gap": Fraction(1, sharp * (place + 1))}


def gated(x: Array, numbers: Arithmetic) -> Array:
    """Return all rows but the last, times the last: gated units."""
    return numbers.rounded(x[:-1] * x[-1])


class Prompted(Residual):
    """The model: it knows no machine. Options take parts of the construction away."""

    def __init__(self, cut: bool = True, tie_break: bool = True, grid: int = GRID) -> None:
        self.cut, self.tie_break, self.grid = cut, tie_break, grid
        names = "inv mean_$ echo move step instr cell counter index blocks place sharp gap bit wrote far value"
        blocks: dict[str, Any] = {name: range(SIZE) for name in ("own", "start")}
        blocks |= {"t": TOKENS, "fetched": TOKENS, "next": TOKENS, "returned": range(SIZE)}
        blocks |= dict.fromkeys((*names.split(), "program", "begins", "size", "writes"))
        super().__init__(fields(**blocks))

    def hash(self, name: str) -> Network:
        """Return the hash of a count, which is kept as a mean over all tokens so far."""
        return phi(self.fields, ({name: 1}, 0), ({"inv": 1}, 0))

    def model(self) -> Transformer:
        """Return five layers: places, sums, blocks and cells, instructions."""
        layers = (
            Layer((self._places(),), (self._after(), self._kinds())),
            Layer((self._sums(),)),
            Layer((self._block(), self._cell()), (self._differs(), self._value())),
            Layer((self._fetch(),), (self._next(),)),
        )
        output = one_hot("token", self.fields, "next", TOKENS)
        return Transformer(
            self.fields,
            embed,
            layers,
            (output,),
            lambda values: values[0],
            position,
            rational=False,
        )

    def _places(self) -> Head:
        rows = [row("inv", {("t", "^"): 1}), row("mean_$", {("t", "$"): 1})]
        return Head("places", self.added(*rows))

    def _after(self) -> Network:
        """Find whether `$` has come: the sign of a mean, by layer norm."""
        sign = Map(numbered(2), numbered(1), [row(0, {0: 2})])
        one = Map(numbered(1), self.fields, [row("echo", {0: 1}), row("program", {0: -1}, 1)])
        return (numbers_of(self.fields, ({"mean_$": 1}, 0)), unit, sign, clipped, one)

    def _kinds(self) -> Network:
        """Tell echoed moves, counted tokens, writes and beginnings of blocks apart; `$` counts as 1."""
        counted: Terms = {("t", name): 1 for name in (*OPERATIONS, "/", "+", "$")}
        instructions: Terms = {("t", name): 1 for name in (*OPERATIONS, *JUMPS, "#")}
        ends: Terms = {("t", name): 1 for name in (*OPERATIONS, "/", "@")}
        hidden = fields(
            **dict.fromkeys(("up", "down", "more", "less", "writes", "of", "ends", "edge"))
        )
        rows = [
            row("up", {("t", "AR"): 1, "echo": 1}, -1),
            row("down", {("t", "AL"): 1, "echo": 1}, -1),
            row("more", {**counted, "echo": 1}, -1),
            row("less", {("t", "-"): 1, "echo": 1}, -1),
            row("writes", {("t", "A0"): 1, ("t", "A1"): 1, "echo": 1}, -1),
            row("of", {**instructions, "echo": -1}),
            row("ends", {**ends, "echo": 1}, -1),
            row("edge", {("t", "^"): 1, ("t", "$"): 1}),
        ]
        out = [
            row("move", {"up": 1, "down": -1}),
            row("step", {"more": 1, "less": -1}),
            row("writes", {"writes": 1}),
            row("instr", {"of": 1}),
            row("begins", {"of": 1, "ends": 1, "edge": 1}),
        ]
        return self.units(hidden, rows, out)

    def _sums(self) -> Head:
        """Average moves, program counter, instruction number and block number over all tokens."""
        pairs = {"cell": "move", "counter": "step", "index": "instr", "blocks": "begins"}
        return Head("sums", self.added(*(row(to, {of: 1}) for to, of in pairs.items())))

    def pair(self, name: str, factor: int = 1) -> Network:
        """Return the two numbers of a count's hash; at 2, the product with an equal one is 1."""
        rows = [row(i, {i: factor}) for i in range(2)]
        return (*self.hash(name), Map(numbered(SIZE), numbered(2), rows))

    def numbers(self, *forms: tuple[Terms, Number]) -> Network:
        """Return numbers without names, from linear forms."""
        return (numbers_of(self.fields, *forms),)

    def _block(self) -> Head:
        """Average over the tokens of this block: 1/size, and the counter's hash at its beginning."""
        sharp = (Join((self.pair("blocks", 2), self.numbers(({"sharp": 1}, 0)))), gated)
        query = (Join((sharp, self.numbers(({"sharp": -1}, 0), ({}, 1)))),)
        key = (Join((self.pair("blocks"), self.numbers(({}, 1), ({}, Fraction(5, 2))))),)
        begins = self.numbers(({"begins": 1}, 0))
        counter = (Join((self.hash("counter"), begins)), gated)
        targets: list[Key] = [*(("start", i) for i in range(SIZE)), "size"]
        value = fetched(self.fields, (counter, begins), targets)
        return Head("block", value, query, key, "at most two" if self.cut else "dot")

    def _cell(self) -> Head:
        """Find the last write in the head's cell: the hash's product, and gap j / (i + 1) for order."""
        order: Terms = {"place": 1} if self.tie_break else {}
        query = (Join((self.pair("cell", 2), self.numbers(({"gap": 1}, 0), ({}, 1)))),)
        key = (Join((self.pair("cell"), self.numbers((order, 0), ({"writes": 4}, -4)))),)
        content = self.numbers(({("t", "A1"): 1}, 0), ({"writes": 1}, 0))
        targets: list[Key] = [*(("returned", i) for i in range(SIZE)), "bit", "wrote"]
        value = fetched(self.fields, (self.hash("cell"), content), targets)
        return Head("cell", value, query, key)

    def _differs(self) -> Network:
        return differs(self.fields, self.hash("cell"), "returned", "far", self.grid)

    def _value(self) -> Network:
        """Read 1 where the cell was found and 1 was written there."""
        return self.bits(value={"bit": 1, "wrote": 1, "far": -1, 1: -1})

    def _fetch(self) -> Head:
        """Find the program's token at the counter, as far into its block as this token is."""
        starts = numbers_of(self.fields, *(({("start", i): 1}, 0) for i in range(2)))
        size = phi(self.fields, ({}, 1), ({"size": 1}, 0))
        wanted = (starts, unit)
        key = (Join((self.hash("index"), size, (numbers_of(self.fields, ({"echo": -8}, 0)),))),)
        query = (Join((wanted, size, (numbers_of(self.fields, ({}, 1)),))),)
        value = self.added(*(row(("fetched", t), {("t", t): 1}) for t in TOKENS))
        return Head("instruction", value, query, key)

    def _next(self) -> Network:
        """Echo what was fetched; a jump becomes `=` or `/` by the value in the cell."""
        hidden = fields(copy=TOKENS, yes=None, no=None, zero=None, one=None)
        plain = (*OPERATIONS, "#", "+", "-", "@")
        rows = [row(("copy", t), {("fetched", t): 1}) for t in plain]
        rows += [
            row("one", {("fetched", "A?"): 1, "value": 1}, -1),
            row("zero", {("fetched", "A!"): 1, "value": -1}),
            row("yes", {("fetched", "A?"): 1, "value": -1}),
            row("no", {("fetched", "A!"): 1, "value": 1}, -1),
        ]
        out = [row(("next", t), {("copy", t): 1}) for t in plain]
        out += [row(("next", "="), {"one": 1, "zero": 1}), row(("next", "/"), {"yes": 1, "no": 1})]
        return self.units(hidden, rows, out)


def room(program: Program, word: tuple[str, ...], context: int) -> int:
    """Return the tokens of a context that are left for the chain of thought."""
    prompt = len(program.spelled()) + len(program.loading(word))
    if prompt > MOST_PROMPT:
        raise TapeformerError(
            Fault(
                f"the program alone is {prompt:,} tokens of prompt",
                expected=f"at most {MOST_PROMPT:,}",
            )
        )
    return max(context - prompt, LEAST_ECHO)


def longest(task: Task, context: int) -> int:
    """Return the machine's own steps that fit in a context."""
    program = program_of(task.prepared)
    most = room(program, task.word, context)
    _, _, echo = executed(program, task.word, task.prefix + task.steps, most)
    return max(0, len(echo.seen) - 1 - task.prefix)


def experiment(task: Task, **options: Any) -> TokenExperiment:
    """Return the model with a task's program in its prompt, and the echo of its execution."""
    program = program_of(task.prepared)
    prompt = (*program.spelled(), *program.loading(task.word))

    def contexts() -> list[Context]:
        task.check()
        trace = task.trace
        tokens, numbers, echo = executed(program, task.word, len(trace.steps), 10**9)
        if tuple(echo.seen[: len(trace.seen)]) != trace.seen:
            raise AssertionError("the program differs from the direct simulation")
        steps = tuple(max(0, number - task.prefix) for number in numbers)
        return [Context((*prompt, *tokens), len(prompt), steps)]

    return TokenExperiment(
        model=Prompted(**options).model(),
        contexts=contexts,
        prompt=prompt,
        steps=partial(steps_made, program, task.word),
        stops=lambda token: token == "#",
    )


ROW = Row(
    name="qiu",
    title="Qiu et al. 2024",
    source="Qiu, Xu, Bao, Tong: Ask, and It Shall Be Given: On the Turing Completeness of Prompting, ICLR (2025)",
    provenance="prompt language and echo from published code; fewer heads, and ties by place: reconstructed",
    printed=Bounds("O(log t)", "O(1)", "O(t log t)", "O(t log t)"),
    experiment=experiment,
    longest=longest,
    context=1200,
    ablations={
        "scores not cut at 2": partial(experiment, cut=False),
        "no tie-break between writes": partial(experiment, tie_break=False),
        "no grid in the test of equality": partial(experiment, grid=0),
    },
)
