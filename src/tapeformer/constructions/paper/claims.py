"""The paper's Claim (a) to (e) and Facts 1 and 2, checked on the decoded queues of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from tapeformer.constructions.claims import CountedClaims
from tapeformer.constructions.paper.decode import LevelContent, StackContent, Window
from tapeformer.constructions.paper.fields import OPERATIONS, Stack
from tapeformer.faults import Fault, quoted
from tapeformer.layout import Layout
from tapeformer.queues.record import Token


class ClaimChecker(CountedClaims):
    """Follows a run token by token; keeps beside each stack a plain list, the paper's PD."""

    names: tuple[str, ...] = ("(a)", "(b)", "(c)", "(d)", "(e)", "Fact 1", "Fact 2")

    def __init__(self, reading: Mapping[str, Any], layout: Layout, word: Sequence[str]) -> None:
        super().__init__()
        self.reading, self.layout, self.word = reading, layout, tuple(word)
        self._before: Window | None = None
        tapes = range(1, self.reading["tapes"] + 1)
        self.stacks = [Stack(tape, side) for tape in tapes for side in ("left", "right")]
        self._content: dict[Stack, list[str]] = {}

    def see(self, tokens: Sequence[Token]) -> tuple[Fault, ...]:
        """Return the faults of the window that ends with a newly appended token; call it for each token."""
        window = Window(self.reading, self.layout, tokens)
        faults: list[Fault] = []
        if window.booted:
            for stack in self.stacks:
                self._follow(window, stack)
                faults += self._stack_faults(window, window.stack(stack))
        self._before = window
        return tuple(faults)

    def _follow(self, window: Window, stack: Stack) -> None:
        """Push on and pop from the plain list what the stack pushed and popped in this token."""
        if stack not in self._content:
            word = self.word if stack.is_input else ()
            self._content[stack] = [window.bottom, *word]
            return
        before = self._before
        if before is None:
            return
        if stack.is_input and before.now("phase") == "fill" and self._hole_written(window, stack):
            self._content[stack].append(self.reading["hole"])
        was, now = (view.now(stack.register("op")) for view in (before, window))
        content = self._content[stack]
        if was == "push" and now != "push":
            content.append(before.now(f"tape{stack.tape}/write"))
        if was == "pop" and now != "pop" and content[-1] != window.bottom:
            content.pop()

    def _hole_written(self, window: Window, stack: Stack) -> bool:
        cell = window.now(stack.queue("L", self.layout.levels))
        return bool(cell.removesuffix(self.reading["mark"]) == self.reading["hole"])

    def _stack_faults(self, window: Window, content: StackContent) -> Iterator[Fault]:
        settled = window.now("phase") in ("rewind", "begin", "run")
        if settled and content.op in OPERATIONS:
            yield from self._claims_at_rest(window, content)
        yield from self._claim_e(content)
        yield from self._facts(content)

    def _claims_at_rest(self, window: Window, content: StackContent) -> Iterator[Fault]:
        counts = [self._real(level) for level in content.levels]
        full = window.now(content.stack.register("full")) == "1"
        for i, (lower, upper) in enumerate(pairwise(content.levels), 2):
            block, real, size = len(lower.cells) // 2, counts[i - 1], len(upper.cells)
            where = f"{content.stack.name}, level {i}"
            yield from self.test("(a)", real % block == 0, where, f"{real} real of {size}")
            yield from self._claim_b(upper, lower, real, where)
            room = size - real >= block or (full and i == self.layout.levels)
            yield from self.test("(c)", room, where, f"{size - real} dummies")
            empty_above = not any(counts[i:])
            yield from self.test("(d)", real > 0 or empty_above, where, f"{counts}")

    def _claim_b(
        self, upper: LevelContent, lower: LevelContent, real: int, where: str
    ) -> Iterator[Fault]:
        """On T_i's first dummy the lower half is at its left end, on the last real at its right."""
        block = len(lower.cells) // 2
        if upper.head == real:
            yield from self.test("(b)", lower.head % block == 0, where, f"{lower.head}")
        if real and upper.head == real - 1:
            yield from self.test("(b)", lower.head % block == block - 1, where, f"{lower.head}")

    def _claim_e(self, content: StackContent) -> Iterator[Fault]:
        """Test that the levels, deepest first, hold exactly what the plain stack holds."""
        wanted = tuple(self._content[content.stack])
        got = f"{quoted(' '.join(content.cells))} against {quoted(' '.join(wanted))}"
        yield from self.test("(e)", content.cells == wanted, content.stack.name, got)

    def _facts(self, content: StackContent) -> Iterator[Fault]:
        """Right after PUSH(i) or POP(i), all of T_1, ..., T_(i-1) are balanced."""
        if self._before is None:
            return
        was = self._before.now(content.stack.register("op"))
        for name, stages in (("Fact 1", ("copy",)), ("Fact 2", ("scan", "more"))):
            ended = [i for i in self._transfers() for s in stages if was == f"{s}{i}"]
            if not ended or content.op in {f"{stage}{ended[0]}" for stage in stages}:
                continue
            loading = self._before.now("phase") == "load"
            for i in range(ended[0] - 1 if loading else 1, ended[0]):
                ok = self._balanced(content.levels[i - 1])
                yield from self.test(name, ok, f"{content.stack.name}, level {i}", f"after {was}")

    def _transfers(self) -> range:
        return range(2, self.layout.levels + 1)

    def _real(self, level: LevelContent) -> int:
        return sum(cell != self.reading["dummy"] for cell in level.cells)

    def _balanced(self, level: LevelContent) -> bool:
        half = len(level.cells) // 2
        real = [cell != self.reading["dummy"] for cell in level.cells]
        return all(real[:half]) and not any(real[half:])
