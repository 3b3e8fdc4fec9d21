"""`tapeformer verify`: simulation, queue machine and Transformer side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tapeformer.cli import options as shared
from tapeformer.cli.exits import INTERRUPTED
from tapeformer.cli.models import EngineName, find_model
from tapeformer.cli.options import provides
from tapeformer.cli.output import print_json
from tapeformer.cli.progress import Watch
from tapeformer.cli.rows import or_row, verify_row_command
from tapeformer.drawing.tapes import configuration_text
from tapeformer.faults import counted
from tapeformer.machine.record import TuringMachine
from tapeformer.machine.word import parse_word

if TYPE_CHECKING:
    from tapeformer.inference.compare import Report
    from tapeformer.inference.model import Model

Words = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[INPUT]...",
        help="Words on tape 1; the worked cases if left out.",
        show_default=False,
    ),
]
Claims = Annotated[
    bool,
    typer.Option(
        "--claims",
        help="Check what the construction claims of every run too: for paper (a) to (e) and Facts 1 and 2.",
    ),
]
MaxSteps = Annotated[int, typer.Option("--max-steps", min=0, help="Compare up to so many steps.")]
DIFFERENCE = 1


@or_row(verify_row_command)
@provides(model=find_model)
def verify(
    model: Model,
    words: Words = None,
    spaced: shared.Spaced = False,
    engine: EngineName = "auto",
    claims: Claims = False,
    max_steps: MaxSteps = 2000,
    as_json: shared.Json = False,
) -> None:
    """Compare Transformer and simulation, token by token.

    Every token is held against the queue machine's and, decoded, every step against the direct
    simulation; the first difference is reported.
    """
    from tapeformer.inference.compare import Compared, verify_model

    machine = model.machine
    inputs = [parse_word(machine, word, spaced) for word in words or []]
    asked = Compared(engine, max_steps, claims)
    reports: list[Report] = []
    with Watch("tokens") as watch:
        for word in inputs or [case.word for case in machine.cases] or [()]:
            reports.append(verify_model(model, word, asked, watch))
            if watch.interrupted or not reports[-1].agreed:
                break
    if as_json:
        print_json({"machine": machine.name, "words": [_record(machine, r) for r in reports]})
    else:
        print("\n".join(_text(machine, report) for report in reports))
    failed = any(not report.agreed for report in reports)
    raise typer.Exit(INTERRUPTED if watch.interrupted else DIFFERENCE if failed else 0)


def _record(machine: TuringMachine, report: Report) -> dict[str, Any]:
    return {
        "input": machine.spell(report.word),
        "agreed": report.agreed,
        "outcome": report.outcome.value if report.outcome else None,
        "tokens": report.tokens,
        "steps": report.steps,
        "random_tokens_decoded": report.glances,
        "difference": _difference(machine, report) or None,
        "claims": report.claims,
        "claim_faults": [str(fault) for fault in report.claim_faults],
    }


def _text(machine: TuringMachine, report: Report) -> str:
    name = repr(machine.spell(report.word))
    if report.agreed:
        outcome = report.outcome.value if report.outcome else "unfinished"
        line = (
            f"{name}: {counted(report.tokens, 'token')} and {counted(report.steps, 'step')} agree"
            f" ({outcome})"
        )
        if report.glances:
            line += f"; {counted(report.glances, 'window')} between steps decoded too"
        return "\n".join([line, *_claim_lines(report.claims)])
    faults = "\n".join(map(str, report.claim_faults))
    return f"{name}: DIFFERENT {_difference(machine, report)}\n{faults}".rstrip()


def _claim_lines(claims: Mapping[str, int]) -> list[str]:
    """List the claims that held, and those that the run never put to the test."""
    held = [f"{claim}: {counted(count, 'time')}" for claim, count in claims.items() if count]
    never = [claim for claim, count in claims.items() if not count]
    lines = [f"  claims held: {', '.join(held)}"] if held else []
    return [*lines, f"  never exercised by this run: {', '.join(never)}"] if never else lines


def _difference(machine: TuringMachine, report: Report) -> str:
    """Describe the first difference, with what each side has there."""
    found = report.difference
    if found is None:
        return ""
    lines = [str(found), "direct simulation:", configuration_text(machine.blank, found.expected)]
    if found.decoded is not None:
        decoded = configuration_text(machine.blank, found.decoded)
        lines += ["decoded from the window:", decoded]
    if found.model_token is not None:
        lines += ["the Transformer's token:", " ".join(found.model_token)]
    return "\n".join([*lines, "the queue machine's token:", " ".join(found.queue_token)])
