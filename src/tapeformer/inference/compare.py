"""Three machines side by side: the direct simulation, the queue machine and the Transformer.

Every token of the Transformer is compared with the queue machine's, and the window is decoded
back to tapes at every step of the Turing machine, and at random tokens, and compared with the
direct simulation.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from tapeformer.arguments import check_count, check_flag
from tapeformer.bundle.record import Bundle
from tapeformer.compile.options import (
    COMPILE_OPTIONS,
    CompileOptions,
    checked_options,
    compile_options,
    unknown_option,
)
from tapeformer.compile.passes import Compilation, compiled, made
from tapeformer.compile.sizes import for_steps
from tapeformer.compile.stages import check_stage
from tapeformer.constructions import CONSTRUCTIONS, construction
from tapeformer.constructions.record import Claims
from tapeformer.engines.registry import engine_name
from tapeformer.faults import Fault, TapeformerError
from tapeformer.inference.generation import Generation
from tapeformer.inference.limits import Limits
from tapeformer.inference.model import Model, Source, Word, find_model, symbols_of
from tapeformer.machine.record import TuringMachine
from tapeformer.queues.record import Token
from tapeformer.queues.run import QueueRun
from tapeformer.simulator.outcome import Outcome
from tapeformer.simulator.result import Configuration
from tapeformer.simulator.stepwise import configurations

GLANCE = 0.02
"""How many of the tokens between two steps are decoded as well."""


@dataclass(frozen=True)
class Difference:
    """The first thing that differed: after which token and step, and what each side has there."""

    what: str
    token: int
    step: int
    expected: Configuration
    queue_token: Token
    decoded: Configuration | None = None
    model_token: Token | None = None

    def __str__(self) -> str:
        return f"after token {self.token}, step {self.step}: {self.what}"


@dataclass
class Report:
    """What agreed, and the first difference if there was one."""

    word: tuple[str, ...]
    tokens: int = 0
    steps: int = 0
    glances: int = 0
    outcome: Outcome | None = None
    difference: Difference | None = None
    claims: dict[str, int] = field(default_factory=dict)
    claim_faults: tuple[Fault, ...] = ()

    @property
    def agreed(self) -> bool:
        """Whether all that was compared was equal."""
        return self.difference is None and not self.claim_faults


@dataclass(frozen=True)
class Compared:
    """What is compared: by which engine, how far, with claims or without; `seed` picks the windows."""

    engine: str = "auto"
    max_steps: int = 2000
    claims: bool = False
    seed: int = 1


class Comparison:
    """One word, run three times in lock step; by the compiled Transformer unless another is given."""

    def __init__(
        self,
        work: Compilation,
        word: Sequence[str],
        asked: Compared,
        bundle: Bundle | None = None,
    ) -> None:
        queues, layout = made(work.queue_machine), made(work.layout)
        self.limits = Limits(asked.max_steps)
        self.run = Generation(bundle or made(work.bundle), word, asked.engine)
        self.queues = QueueRun(queues, layout, word)
        self.expected: Iterator[Configuration] = configurations(work.machine, word)
        self.current = next(self.expected)
        self.following = next(self.expected, self.current)
        self.claims = _claims(work, word) if asked.claims else None
        self.random = random.Random(asked.seed)
        self.report = Report(tuple(word))
        self.booted = False

    def compare(self, watch: Callable[[int], bool] | None) -> Report:
        """Run until the verdict, a limit or the first difference."""
        for rows in self.run.pieces(self.limits):
            for row in rows.tolist():
                self._token(self.run.reader.words(row))
                if not self.report.agreed:
                    return self.report
            if watch is not None and not watch(self.report.tokens):
                return self.report
        self.report.outcome = self.run.outcome
        if self.run.outcome is not Outcome.LIMIT and self.current.outcome is not self.run.outcome:
            self._differ(f"verdict {self.run.outcome} against {self.current.outcome}")
        return self.report

    def _token(self, token: Token) -> None:
        wanted = self.queues.advance()
        self.report.tokens += 1
        if wanted != token:
            self._differ(self._token_difference(wanted, token), model_token=token)
            return
        if self.claims is not None:
            self.report.claim_faults = self.claims.see(self.queues.window())
            self.report.claims = {name: self.claims.checked[name] for name in self.claims.names}
        stepped = int(token[self.run.reader.stepped])
        for _ in range(stepped):
            self.current, self.following = self.following, next(self.expected, self.following)
        self.report.steps += stepped
        self.booted = self.booted or stepped > 0
        if stepped or (self.booted and self.random.random() < GLANCE):
            self.report.glances += not stepped
            self._decoded()

    def _decoded(self) -> None:
        """Compare the window, read back as tapes, with the direct simulation.

        While a step is under way the window shows the configuration that it leads to.
        """
        read = self.run.reader.decoded(self.queues.window())
        wanted = self.current if read.settled else self.following
        if (read.state, read.tapes) != (wanted.state, wanted.tapes):
            decoded = Configuration(self.report.steps, read.state, read.tapes)
            self._differ("the decoded tapes differ", decoded=decoded)

    def _differ(self, what: str, **seen: Any) -> None:
        report = self.report
        report.difference = Difference(
            what, report.tokens, report.steps, self.current, self.queues.window()[-1], **seen
        )

    def _token_difference(self, wanted: Token, got: Token) -> str:
        names = [factor.name for factor in self.run.reader.factors]
        changed = [
            f"{name} is {theirs!r}, not {ours!r}"
            for name, ours, theirs in zip(names, wanted, got, strict=True)
            if ours != theirs
        ]
        return "; ".join(changed[:8])


def _claims(work: Compilation, word: Sequence[str]) -> Claims:
    """Return the checker of a construction's claims; not every construction has any."""
    layout = made(work.layout)
    make = construction(layout.construction).claims
    if make is None:
        having = ", ".join(kind.name for kind in CONSTRUCTIONS.values() if kind.claims)
        raise TapeformerError(
            Fault(
                f"the {layout.construction} construction has no claims to check",
                remedy=f"leave out claims, or use construction={having!r}",
            )
        )
    return make(made(work.queue_machine).reading, layout, word)


def verify_word(
    machine: TuringMachine,
    word: Sequence[str],
    options: CompileOptions,
    asked: Compared | None = None,
    watch: Callable[[int], bool] | None = None,
) -> Report:
    """Compare the three on one word; every stage of the model is checked on the way."""
    asked = asked or Compared()
    sized = for_steps(machine, checked_options(options), word, asked.max_steps)
    work = compiled(machine, sized, hook=check_stage)
    return Comparison(work, word, asked).compare(watch)


def verify_bundle(
    bundle: Bundle,
    word: Sequence[str],
    asked: Compared | None = None,
    watch: Callable[[int], bool] | None = None,
) -> Report:
    """Compare a model on disk, compiled or learned, with what its machine would be compiled to."""
    layout = bundle.layout
    options = CompileOptions(
        layout.construction,
        levels=layout.levels,
        base=layout.base,
        steps_per_token=bundle.steps_per_token,
    )
    work = compiled(find_model(bundle).machine, options)
    if made(work.layout) != layout or made(work.bundle).token_factors != bundle.token_factors:
        what, remedy = "this bundle cannot be verified", "name the machine instead"
        raise TapeformerError(Fault(what, expected="tokens as compiled today", remedy=remedy))
    return Comparison(work, word, asked or Compared(), bundle).compare(watch)


def verify_model(
    model: Model,
    word: Sequence[str],
    asked: Compared | None = None,
    watch: Callable[[int], bool] | None = None,
) -> Report:
    """Compare a machine's model, or one on disk, on one word."""
    if model.bundle is not None:
        return verify_bundle(model.bundle, word, asked, watch)
    return verify_word(model.machine, word, model.options, asked, watch)


def verify(machine: Source, *words: Word, spaced: bool = False, **options: Any) -> list[Report]:
    """Compare simulation, queue machine and Transformer on words, token by token.

    Without words the machine's worked cases are taken. Options: `engine`, `max_steps`, `claims`,
    `seed`, and those of `compile_machine`.
    """
    asked, compiling = _checked(options)
    check_flag("spaced", spaced)
    model = find_model(machine, compile_options(None, compiling))
    given = [symbols_of(model, word, spaced) for word in words]
    cases = [case.word for case in model.machine.cases] or [()]
    return [verify_model(model, word, asked) for word in given or cases]


def _checked(options: dict[str, Any]) -> tuple[Compared, dict[str, Any]]:
    """Split and check options by name: those on comparing, and those on compiling."""
    own = {
        option.name: options[option.name] for option in fields(Compared) if option.name in options
    }
    compiling = {name: value for name, value in options.items() if name not in own}
    unknown = [name for name in compiling if name not in COMPILE_OPTIONS]
    if unknown:
        known = [*COMPILE_OPTIONS, *(option.name for option in fields(Compared))]
        raise unknown_option(unknown[0], known)
    asked = Compared(**own)
    engine_name(asked.engine)
    check_count("max_steps", asked.max_steps, 0)
    check_flag("claims", asked.claims)
    check_count("seed", asked.seed, 0)
    return asked, compiling
