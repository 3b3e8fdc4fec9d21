"""The proof for larger bases followed on runs: several stacks in lock step, with one clock.

For every token in which the machine waits, `Run` finds the window that the proof names, and holds
its tokens against its steps. `python -m tapeformer.constructions.realtime.proofs.lock_step` does so.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from tapeformer.constructions.realtime.model import blocks_up
from tapeformer.constructions.realtime.names import HIGH, TRACKS
from tapeformer.constructions.realtime.proofs.larger_base import Act


@dataclass(frozen=True)
class End:
    """A token in which a level met its end, and what it did: exchanged, or found itself full or empty."""

    token: int
    what: Act
    held: int


class Stack:
    """The numbers of one stack, and when each of its levels met its end."""

    def __init__(self, levels: int) -> None:
        self.top, self.blocks = 1, [0] * (levels + 1)
        self.ends: list[list[End]] = [[] for _ in range(levels + 1)]

    def held(self, base: int) -> int:
        """Return all symbols."""
        levels: int = sum(n * base ** (i - 1) for i, n in enumerate(self.blocks) if i)
        return self.top + levels

    def last_end(self, level: int, before: int) -> End:
        """Return the last end that a level met before a token."""
        return next(end for end in reversed(self.ends[level]) if end.token < before)


class Run:
    """Stacks that make a step only where all are ready; a level starts for all when one needs it."""

    def __init__(self, base: int, levels: int, stacks: int) -> None:
        self.base, self.levels = base, levels
        self.stacks = [Stack(levels) for _ in range(stacks)]
        self.started = [0] + [-1] * levels
        self.token = 0
        self.steps_before = [0]

    def allowed(self, stack: Stack, want: int) -> int:
        """Return a wish, or none where it would pop END or push on a stack that is nearly full."""
        held, most = (
            stack.held(self.base),
            TRACKS * sum(self.base**i for i in range(self.levels + 1)),
        )
        return want if (held >= 2 if want < 0 else held + want < most) else 0

    def ready(self, wants: tuple[int, ...]) -> bool:
        """Return whether the next token can make the step."""
        return all(_ready(s.top, want) for s, want in zip(self.stacks, wants, strict=True))

    def advance(self, wants: tuple[int, ...]) -> None:
        """Make one token, with the step if all stacks are ready."""
        done = self.ready(wants)
        self._start_levels()
        for stack, want in zip(self.stacks, wants, strict=True):
            self._move(stack)
            stack.top += want if done else 0
        self.token += 1
        self.steps_before.append(self.steps_before[-1] + done)

    def explained(self, wants: tuple[int, ...]) -> bool:
        """Return whether each stack that is not ready has a window with a step in b tokens."""
        late = [p for p in zip(self.stacks, wants, strict=True) if not _ready(p[0].top, p[1])]
        windows = [self.window(stack, want > 0) for stack, want in late]
        return all(tokens <= self.base * steps for tokens, steps in windows)

    def window(self, stack: Stack, full: bool) -> tuple[int, int]:
        """Return the tokens and steps of the window that ends with the next token, a wait.

        From the lowest level that is not full (or not empty), while a level was full at its last
        end and the one above it took a unit just then, go up and back to that level's end before.
        """
        most = TRACKS * self.base if full else 0
        level = next(i for i in range(1, self.levels + 1) if stack.blocks[i] != most)
        end = stack.last_end(level, self.token)
        while full and end.what == "refuse" and end.held == most:
            level += 1
            end = stack.last_end(level, end.token)
        steps = self.steps_before[self.token] - self.steps_before[end.token + 1]
        return self.token - end.token, steps

    def _start_levels(self) -> None:
        for level in range(1, self.levels + 1):
            high = any(self._units(stack, level - 1) >= HIGH for stack in self.stacks)
            if self.started[level] < 0 and self._at_boundary(level) and high:
                self.started[level] = self.token

    def _at_boundary(self, level: int) -> bool:
        start = self.started[level - 1]
        below: int = self.base ** (level - 1)
        return start >= 0 and (self.token - start) % below == 0

    def _units(self, stack: Stack, level: int) -> int:
        return stack.blocks[level] // self.base if level else stack.top

    def _move(self, stack: Stack) -> None:
        """Move all levels at a boundary, each as it decides by what held before."""
        active = [i for i in range(1, self.levels + 1) if self.started[i] >= 0]
        changes = [(i, self._change(stack, i)) for i in active if self._at_boundary(i)]
        for level, change in changes:
            stack.blocks[level] += change
            if level > 1:
                stack.blocks[level - 1] -= change * self.base
            else:
                stack.top -= change

    def _change(self, stack: Stack, level: int) -> int:
        high = self._units(stack, level - 1) >= HIGH
        block = (self.token - self.started[level]) // self.base ** (level - 1) % self.base
        held = stack.blocks[level]
        change = blocks_up(self.base, held, block, high)
        if held % self.base == block:
            what: tuple[Act, ...] = ("refuse", "push", "pull")
            stack.ends[level].append(End(self.token, what[change], held))
        return change


def _ready(top: int, want: int) -> bool:
    return want == 0 or (top >= 1 if want < 0 else top < TRACKS)


@dataclass(frozen=True)
class Followed:
    """A run: its tokens and steps, its waits, and those whose window has too few steps."""

    tokens: int
    steps: int
    waits: int
    wrong: int


def followed(base: int, levels: int, stacks: int, tokens: int, seed: int) -> Followed:
    """Run a random client, in swings of all sizes, and hold every wait against its window."""
    rng, run = Random(seed), Run(base, levels, stacks)
    waits = wrong = 0
    while run.token < tokens:
        wish = [rng.choice((-1, 0, 1, 1, -1)) for _ in range(stacks)]
        for _ in range(int(base ** rng.uniform(0, levels + 0.7))):
            wants = tuple(map(run.allowed, run.stacks, wish))
            while not run.ready(wants):
                waits += 1
                wrong += not run.explained(wants)
                run.advance(wants)
            run.advance(wants)
    return Followed(run.token, run.steps_before[-1], waits, wrong)


def main() -> int:
    """Follow random runs of one to four stacks in several bases; 1 if a wait is not explained."""
    failed = False
    for base, levels, stacks in ((4, 2, 1), (4, 4, 3), (6, 3, 2), (8, 2, 4), (10, 2, 2)):
        runs = [followed(base, levels, stacks, 12_000, seed) for seed in range(4)]
        waits, wrong = sum(run.waits for run in runs), sum(run.wrong for run in runs)
        worst = max(run.tokens / run.steps for run in runs)
        size = f"base {base}, k' = {levels}, {stacks} stacks in lock step"
        print(f"{size}: {waits:,} waits, {wrong} unexplained; at most {worst:.3f} tokens per step")
        failed |= bool(wrong)
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
