"""Follows a queue machine beside the direct simulation, and measures it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tapeformer.circuit import checked, compiled
from tapeformer.circuit.evaluate import Step
from tapeformer.constructions import Construction, Decoded, construction
from tapeformer.layout import Layout
from tapeformer.machine.record import TuringMachine
from tapeformer.queues.record import QueueMachine, Token
from tapeformer.queues.run import QueueRun, factor_names
from tapeformer.simulator.result import Configuration
from tapeformer.simulator.stepwise import configurations

Change = Callable[[dict[str, str]], dict[str, str]]


@dataclass(frozen=True)
class Followed:
    """How a run ended: its verdict (`run` at the step limit), Turing-machine steps and tokens."""

    verdict: str
    steps: int
    tokens: int
    decoded: Decoded


class MismatchError(AssertionError):
    """A decoded configuration is not the simulated one."""


def follow(
    name: str,
    machine: TuringMachine,
    word: Sequence[str],
    layout: Layout,
    *,
    steps: int,
    slow: bool = False,
    every_token: bool = False,
    change: Change | None = None,
    built: QueueMachine | None = None,
) -> Followed:
    """Runs until a verdict or a number of steps; every decoded configuration must be right.

    `slow` checks the circuit's promises too; `change` alters each appended token, to see a repair
    missing.
    """
    made = construction(name)
    queue_machine = built or made.queue_machine(machine, layout.levels)
    step = checked(queue_machine.step) if slow else compiled(queue_machine.step)
    run = QueueRun(queue_machine, layout, word, _altered(step, queue_machine, change))
    return _compare(made, run, layout, _Oracle(machine, word), steps, every_token)


class _Oracle:
    """The configurations of the direct simulation, by number of steps."""

    def __init__(self, machine: TuringMachine, word: Sequence[str]) -> None:
        self.more = configurations(machine, word)
        self.seen = [next(self.more)]

    def at(self, step: int) -> Configuration:
        while len(self.seen) <= step:
            self.seen.append(next(self.more))
        return self.seen[step]


def _compare(
    made: Construction, run: QueueRun, layout: Layout, oracle: _Oracle, steps: int, every: bool
) -> Followed:
    names = factor_names(run.machine)
    stepped, verdict = names.index("stepped"), names.index("verdict")
    done, tokens, most = 0, 0, 400 * (layout.window + 1) + 400 * steps * layout.base * layout.levels
    while True:
        token = run.advance()
        tokens += 1
        done += int(token[stepped])
        ended = token[verdict] != "run" or done >= steps
        if every or token[stepped] != "0" or ended:
            decoded = made.decode(run.machine.reading, layout, run.window())
            under_way = not decoded.settled and token[verdict] == "run"
            _same(decoded, oracle.at(done + under_way), tokens)
        if token[stepped] != "0" or ended:
            _same_verdict(token[verdict], oracle.at(done))
        if ended:
            return Followed(token[verdict], done, tokens, decoded)
        if tokens > most:
            raise MismatchError(f"no step for too long: {done} steps in {tokens} tokens")


def _same(decoded: Decoded, wanted: Configuration, tokens: int) -> None:
    if (decoded.state, decoded.tapes) != (wanted.state, wanted.tapes):
        raise MismatchError(f"token {tokens}, step {wanted.step}: {decoded} but {wanted}")


def _same_verdict(verdict: str, wanted: Configuration) -> None:
    outcome = "run" if wanted.outcome is None else wanted.outcome.value
    if verdict != outcome and not (verdict == "out_of_space" and outcome == "run"):
        raise MismatchError(f"step {wanted.step}: verdict {verdict}, but {outcome}")


def _altered(step: Step, machine: QueueMachine, change: Change | None) -> Step:
    if change is None:
        return step
    names = factor_names(machine)[:-1]

    def altered(values: Token) -> Token:
        return tuple(change(dict(zip(names, step(values), strict=True))).values())

    return altered


@dataclass(frozen=True)
class Cost:
    """Tokens until the rewind, until the first look-up, and per step after that."""

    loading: int
    boot: int
    per_step: float


def cost(
    name: str, machine: TuringMachine, word: Sequence[str], layout: Layout, steps: int
) -> Cost:
    """Runs a number of steps without decoding, and counts tokens."""
    queue_machine = construction(name).queue_machine(machine, layout.levels)
    run = QueueRun(queue_machine, layout, word)
    names = factor_names(queue_machine)
    stepped, phase = names.index("stepped"), names.index("phase")
    done, tokens, loading, boot = 0, 0, 0, 0
    while done < steps:
        token = run.advance()
        tokens += 1
        done += token[stepped] == "1"
        loading += token[phase] in ("wait", "fill", "load")
        boot += token[phase] != "run"
    return Cost(loading, boot, (tokens - boot) / steps)
