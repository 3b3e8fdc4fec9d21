"""Runs with several steps in a token, each configuration beside the direct simulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from tapeformer.circuit import checked
from tapeformer.constructions import construction
from tapeformer.constructions.realtime.grow import GrowingRun
from tapeformer.layout import Layout
from tapeformer.machine.record import TapeKind, TuringMachine
from tapeformer.queues.run import QueueRun, factor_names
from tapeformer.simulator.stepwise import configurations
from tests.constructions.follow import MismatchError
from tests.constructions.machines import random_machine, random_word
from tests.constructions.realtime.workloads import SIZES


@dataclass(frozen=True)
class SpeedupCase:
    """A machine, an input, and a layout for a number of steps in a token; `grows` leaves it open."""

    machine: TuringMachine
    word: tuple[str, ...]
    steps_per_token: int
    layout: Layout
    grows: bool

    def run(self, slow: bool = False) -> QueueRun:
        """The queue machine's run; `slow` checks the circuit's promises too."""
        realtime = construction("realtime", self.steps_per_token)
        made = realtime.queue_machine(self.machine, self.layout.levels)
        return QueueRun(made, self.layout, self.word, checked(made.step) if slow else None)

    def growing_run(self) -> GrowingRun:
        """The run of a machine that begins as small as its input allows."""
        base, steps = self.layout.base, self.steps_per_token
        return GrowingRun(self.machine, self.word, base, steps=steps)


def speedup_case(seed: int, longest: int = 12) -> SpeedupCase:
    """One to three tapes of either kind, two to six steps in a token, any base, growing or not."""
    rng = Random(seed)
    kind, base, steps = rng.choice(list(TapeKind)), rng.choice([2, 2, *SIZES]), rng.randint(2, 6)
    machine = random_machine(seed, rng.randint(1, 3), kind)
    realtime = construction("realtime", steps)
    layout = realtime.layout(machine, rng.choice(SIZES[base]), base)
    word = random_word(seed, machine, min(longest, realtime.longest_word(layout)))
    return SpeedupCase(machine, word, steps, layout, rng.random() < 0.5)


@dataclass(frozen=True)
class Followed:
    """How a run went: its verdict (`run` at the limit), steps, tokens, and those to boot."""

    verdict: str
    steps: int
    tokens: int
    boot: int


def followed(
    case: SpeedupCase, most: int, slow: bool = False, run: QueueRun | GrowingRun | None = None
) -> Followed:
    """Runs to a verdict or past a number of steps; every token's configuration must be right.

    A token makes all its steps, or none where it boots, waits (base above 2) or runs out of space,
    or fewer where it carries the verdict; in base 2 none waits.
    """
    run = run or (case.growing_run() if case.grows else case.run(slow))
    wanted = configurations(case.machine, case.word)
    now, done, tokens, boot = next(wanted), 0, 0, -1
    patience = 400 * (case.layout.window + 1) + 400 * most * case.layout.base * 6
    while done < most:
        values = run.advance()
        token = dict(zip(factor_names(run.machine), values, strict=True))
        tokens, made = tokens + 1, int(token["stepped"])
        boot = tokens - 1 if boot < 0 and token["phase"] == "run" else boot
        for _ in range(made):
            now = next(wanted)
        done += made
        layout = run.layout if isinstance(run, GrowingRun) else case.layout
        decoded = construction("realtime").decode(run.machine.reading, layout, run.window())
        if (decoded.state, decoded.tapes) != (now.state, now.tapes):
            raise MismatchError(f"token {tokens}, step {done}: {decoded} but {now}")
        _check_count(case, token, made, boot >= 0)
        outcome = "run" if now.outcome is None else now.outcome.value
        if boot >= 0 and token["verdict"] != outcome and token["verdict"] != "out_of_space":
            raise MismatchError(f"step {done}: verdict {token['verdict']}, but {outcome}")
        if token["verdict"] != "run":
            return Followed(token["verdict"], done, tokens, boot)
        if tokens > patience:
            raise MismatchError(f"no step for too long: {done} steps in {tokens} tokens")
    return Followed("run", done, tokens, boot)


def _check_count(case: SpeedupCase, token: dict[str, str], made: int, booted: bool) -> None:
    whole = made == case.steps_per_token
    waits = made == 0 and (not booted or case.layout.base > 2)
    if not (whole or waits or token["verdict"] != "run"):
        raise MismatchError(f"a token of {case.steps_per_token} steps makes {made}")


def boot_tokens(length: int, steps: int) -> int:
    """The tokens before the first step in base 2: the prompt comes back, then blocks go back."""
    return (1 << (length + 1).bit_length()) + length // steps + 1


def as_case(
    machine: TuringMachine, word: Sequence[str], steps: int, levels: int, base: int = 2
) -> SpeedupCase:
    """A case of fixed size."""
    layout = construction("realtime", steps).layout(machine, levels, base)
    return SpeedupCase(machine, tuple(word), steps, layout, grows=False)
