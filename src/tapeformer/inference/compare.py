"""Three machines side by side: the direct simulation, the queue machine and the Transformer.

Every token of the Transformer is compared with the queue machine's, and the window is decoded
back to tapes at every step of the Turing machine, and at random tokens, and compared with the
direct simulation.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from tapeformer.compile.passes import Compilation
from tapeformer.constructions.paper.claims import ClaimChecker
from tapeformer.drawing.tapes import configuration_text
from tapeformer.faults import Fault
from tapeformer.inference.run import Generation
from tapeformer.machine.record import TuringMachine
from tapeformer.queues.run import QueueRun, Token
from tapeformer.simulator.result import Configuration, Outcome
from tapeformer.simulator.stepwise import configurations

GLANCE = 0.02
"""How many of the tokens between two steps are decoded as well."""


@dataclass
class Report:
    """What agreed, and the first difference if there was one."""

    word: tuple[str, ...]
    tokens: int = 0
    steps: int = 0
    glances: int = 0
    outcome: Outcome | None = None
    difference: str = ""
    claims: dict[str, int] = field(default_factory=dict)
    claim_faults: tuple[Fault, ...] = ()

    @property
    def agreed(self) -> bool:
        """Whether all that was compared was equal."""
        return not self.difference and not self.claim_faults


class Comparison:
    """One word, run three times in lock step."""

    def __init__(
        self, work: Compilation, word: Sequence[str], engine: str, claims: bool, seed: int
    ) -> None:
        assert work.bundle is not None
        assert work.queue_machine is not None
        assert work.layout is not None
        self.machine: TuringMachine = work.machine
        self.run = Generation(work.bundle, word, engine)
        self.queues = QueueRun(work.queue_machine, work.layout, word)
        self.expected: Iterator[Configuration] = configurations(work.machine, word)
        self.current = next(self.expected)
        self.following = next(self.expected, self.current)
        self.claims = (
            ClaimChecker(work.queue_machine.reading, work.layout, word) if claims else None
        )
        self.random = random.Random(seed)
        self.report = Report(tuple(word))
        self.booted = False

    def compare(self, max_steps: int, watch: Callable[[int], bool] | None) -> Report:
        """Runs until the verdict, a limit or the first difference."""
        for rows in self.run.pieces(max_steps, None):
            for row in rows.tolist():
                self._token(self.run.reader.words(row))
                if not self.report.agreed:
                    return self.report
            if watch is not None and not watch(self.report.tokens):
                return self.report
        self.report.outcome = self.run.outcome
        if self.run.outcome is not Outcome.LIMIT and self.current.outcome is not self.run.outcome:
            self._differ(f"verdict {self.run.outcome} against {self.current.outcome}", None)
        return self.report

    def _token(self, token: Token) -> None:
        wanted = self.queues.advance()
        self.report.tokens += 1
        if wanted != token:
            self._differ(_token_difference(self.run.reader.factors, wanted, token), token)
            return
        if self.claims is not None:
            self.report.claim_faults = self.claims.see(self.queues.window())
            self.report.claims = dict(self.claims.checked)
        stepped = token[self.run.reader.stepped] == "1"
        if stepped:
            self.current, self.following = self.following, next(self.expected, self.following)
            self.report.steps += 1
        self.booted = self.booted or stepped
        if stepped or (self.booted and self.random.random() < GLANCE):
            self.report.glances += not stepped
            self._decoded()

    def _decoded(self) -> None:
        """Compares the window, read back as tapes, with the direct simulation.

        While a step is under way the window shows the configuration that it leads to.
        """
        read = self.run.reader.decoded(self.queues.window())
        wanted = self.current if read.settled else self.following
        if (read.state, read.tapes) != (wanted.state, wanted.tapes):
            decoded = Configuration(self.report.steps, read.state, read.tapes)
            self._differ("the decoded tapes differ", None, decoded)

    def _differ(self, what: str, token: Token | None, decoded: Configuration | None = None) -> None:
        lines = [f"after token {self.report.tokens}, step {self.report.steps}: {what}"]
        lines += ["direct simulation:", configuration_text(self.machine, self.current)]
        if decoded is not None:
            lines += ["decoded from the window:", configuration_text(self.machine, decoded)]
        if token is not None:
            lines += ["the Transformer's token:", " ".join(token)]
        lines += ["the queue machine's token:", " ".join(self.queues.window()[-1])]
        self.report.difference = "\n".join(lines)


def _token_difference(factors: Sequence[object], wanted: Token, got: Token) -> str:
    names = [getattr(factor, "name", "?") for factor in factors]
    pairs = zip(names, wanted, got, strict=True)
    changed = [
        f"{name} is {theirs!r}, not {ours!r}" for name, ours, theirs in pairs if ours != theirs
    ]
    return "; ".join(changed[:8])


def verify_word(
    work: Compilation,
    word: Sequence[str],
    *,
    engine: str = "auto",
    max_steps: int = 10**6,
    claims: bool = False,
    seed: int = 1,
    watch: Callable[[int], bool] | None = None,
) -> Report:
    """Compares the three on one word."""
    return Comparison(work, word, engine, claims, seed).compare(max_steps, watch)
