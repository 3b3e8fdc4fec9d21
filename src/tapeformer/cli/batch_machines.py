"""`tapeformer run --machines`: a file of machines, each compiled and run on the empty word."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from tapeformer.cli.batch import Asked, read_inputs, refused, tell
from tapeformer.cli.models import compile_options
from tapeformer.cli.progress import HOW_TO_STOP_A_BATCH, Watch

MachinesFile = Annotated[
    Path | None,
    typer.Option(
        "--machines", help="Run every machine that a line of this file names; MACHINE is left out."
    ),
]


TAKEN = ("machines", "answers", "as_json", "jobs", "cluster")
"""What a file of machines takes of `run` beside options on compiling and running."""


def or_machines(
    run_options: Callable[..., Any],
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the option --machines to `run`, which then takes no MACHINE."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def checked(context: typer.Context, machines: Path | None = None, **given: Any) -> Any:
            if machines is not None:
                makers = (run_options, compile_options)
                _refuse_others(context, {*TAKEN, *(name for m in makers for name in _names(m))})
                _run_machines(machines, given, run_options)
            if given["model"] is None:
                what = "no machine was given"
                raise refused(what, "name one, or a file of machines with --machines")
            return command(**given)

        parameters = [
            p.replace(default=None, annotation=_optional(p.annotation)) if p.name == "model" else p
            for p in inspect.signature(command).parameters.values()
        ]
        named = inspect.Parameter.KEYWORD_ONLY
        parameters += [
            inspect.Parameter("machines", named, default=None, annotation=MachinesFile),
            inspect.Parameter("context", named, annotation=typer.Context),
        ]
        checked.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        checked.__annotations__ = {p.name: p.annotation for p in parameters}
        return checked

    return decorate


def _optional(annotation: Any) -> Any:
    """Return the annotation of an argument made optional."""
    return Annotated[str | None, *annotation.__metadata__]


def _refuse_others(context: typer.Context, taken: Collection[str]) -> None:
    """Refuse arguments and options that a file of machines does not take, rather than ignore them."""
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        given = source is not None and source.name == "COMMANDLINE"
        if given and parameter.name not in taken:
            names = {"model": "MACHINE", "word": "INPUT"}
            what = names.get(parameter.name or "", parameter.opts[0])
            runs = "whose format is recognised, and which runs on the empty word"
            remedy = f"leave {what} out: each line names a machine, {runs}"
            raise refused(f"{what} was given beside --machines", remedy)


def _run_machines(
    path: Path, given: Mapping[str, Any], run_options: Callable[..., Any]
) -> NoReturn:
    """Run every machine of a file; resume earlier answers."""
    from dataclasses import replace

    from tapeformer.inference.batch.machines import answer_machines
    from tapeformer.workers import where

    names = ("answers", "as_json", "jobs", "cluster")
    asked = Asked(path, *(given[name] for name in names))
    options = replace(_made(run_options, given), compile=_made(compile_options, given))
    out = asked.out()
    with read_inputs(path) as lines, Watch("machines", len(lines), HOW_TO_STOP_A_BATCH) as watch:
        found = answer_machines(lines, out, options, watch, where(asked.jobs, asked.cluster))
    tell(found, asked, watch.interrupted, "machine")


def _made(maker: Callable[..., Any], given: Mapping[str, Any]) -> Any:
    """Return the record that a maker builds from some of a command's options."""
    return maker(**{name: given[name] for name in _names(maker)})


def _names(maker: Callable[..., Any]) -> tuple[str, ...]:
    return tuple(inspect.signature(maker).parameters)
