"""`tapeformer run --machines`: a file of machines, each compiled and run on the empty word."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from tapeformer.cli.batch import Asked, read_inputs, refused, tell
from tapeformer.cli.models import compile_options
from tapeformer.cli.progress import Watch

MachinesFile = Annotated[
    Path | None,
    typer.Option(
        "--machines", help="Run every machine that a line of this file names; MACHINE is left out."
    ),
]


def or_machines(
    run_options: Callable[..., Any],
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the option --machines to `run`, which then takes no MACHINE."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def checked(machines: Path | None = None, **given: Any) -> Any:
            if machines is not None:
                _run_machines(machines, given, run_options)
            if given["model"] is None:
                what = "no machine was given"
                raise refused(what, "name one, or a file of machines with --machines")
            return command(**given)

        parameters = [
            p.replace(default=None, annotation=_optional(p.annotation)) if p.name == "model" else p
            for p in inspect.signature(command).parameters.values()
        ]
        option = inspect.Parameter(
            "machines", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=MachinesFile
        )
        parameters.append(option)
        checked.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        checked.__annotations__ = {p.name: p.annotation for p in parameters}
        return checked

    return decorate


def _optional(annotation: Any) -> Any:
    """Return the annotation of an argument made optional."""
    return Annotated[str | None, *annotation.__metadata__]


def _run_machines(
    path: Path, given: Mapping[str, Any], run_options: Callable[..., Any]
) -> NoReturn:
    """Run every machine of a file; resume earlier answers."""
    from dataclasses import replace

    from tapeformer.inference.batch.machines import answer_machines
    from tapeformer.inference.workers import Where

    for name in ("model", "word", "batch", "trace"):
        if given[name]:
            raise refused(f"{name} was given beside --machines", "leave one of both out")
    asked = Asked(path, given["answers"], given["as_json"], given["cluster"])
    options = replace(_made(run_options, given), compile=_made(compile_options, given))
    out = asked.out()
    with read_inputs(path) as lines, Watch("machines", len(lines)) as watch:
        found = answer_machines(lines, out, options, watch, Where(cluster=asked.cluster))
    tell(found, asked, watch.interrupted, "machines")


def _made(maker: Callable[..., Any], given: Mapping[str, Any]) -> Any:
    """Return the record that a maker builds from some of a command's options."""
    return maker(**{name: given[name] for name in inspect.signature(maker).parameters})
