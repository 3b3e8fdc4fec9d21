"""`tapeformer verify`: simulation, queue machine and Transformer side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tapeformer.cli import options as shared
from tapeformer.cli.exits import INTERRUPTED
from tapeformer.cli.models import EngineName, compile_options, sized
from tapeformer.cli.options import provides, read_machine
from tapeformer.cli.output import print_json
from tapeformer.cli.progress import Watch
from tapeformer.compile.options import CompileOptions
from tapeformer.machine.record import TuringMachine
from tapeformer.machine.word import parse_word

if TYPE_CHECKING:
    from tapeformer.inference.compare import Report

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
    typer.Option("--claims", help="Check the paper's claims (a) to (e) and Facts 1 and 2 too."),
]
MaxSteps = Annotated[int, typer.Option("--max-steps", min=0, help="Compare up to so many steps.")]
DIFFERENCE = 1


@provides(machine=read_machine, options=compile_options)
def verify(
    machine: TuringMachine,
    options: CompileOptions,
    words: Words = None,
    spaced: shared.Spaced = False,
    engine: EngineName = "auto",
    claims: Claims = False,
    max_steps: MaxSteps = 2000,
    as_json: shared.Json = False,
) -> None:
    """Compare token by token and, decoded, step by step; report the first difference."""
    from tapeformer.compile.passes import compiled
    from tapeformer.inference.compare import verify_word

    inputs = [parse_word(machine, word, spaced) for word in words or []]
    reports = []
    with Watch("tokens") as watch:
        for word in inputs or [case.word for case in machine.cases] or [()]:
            work = compiled(machine, sized(machine, options, word))
            reports.append(
                verify_word(
                    work, word, engine=engine, max_steps=max_steps, claims=claims, watch=watch
                )
            )
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
        "difference": report.difference or None,
        "claims": report.claims,
        "claim_faults": [str(fault) for fault in report.claim_faults],
    }


def _text(machine: TuringMachine, report: Report) -> str:
    name = repr(machine.spell(report.word))
    if report.agreed:
        outcome = report.outcome.value if report.outcome else "unfinished"
        line = (
            f"{name}: {report.tokens:,} tokens and {report.steps:,} steps agree ({outcome});"
            f" {report.glances} windows between steps decoded too"
        )
        checked = ", ".join(f"{claim} {count:,} times" for claim, count in report.claims.items())
        return f"{line}\n  claims held: {checked}" if checked else line
    faults = "\n".join(map(str, report.claim_faults))
    return f"{name}: DIFFERENT {report.difference}\n{faults}".rstrip()
