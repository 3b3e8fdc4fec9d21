"""The options of a run, named as on the command line, checked whoever gives them."""

from __future__ import annotations

from dataclasses import field, fields
from pathlib import Path
from typing import Any

from tapeformer.arguments import bad_argument, check_count, check_flag
from tapeformer.compile.options import (
    COMPILE_OPTIONS,
    CompileOptions,
    checked_options,
    unknown_option,
)
from tapeformer.dataclass import dataclass
from tapeformer.engines.registry import engine_name
from tapeformer.inference.limits import MOST_STEPS, Limits


@dataclass(frozen=True)
class RunOptions:
    """How a model is made, which engine runs it and how, and where a run stops."""

    compile: CompileOptions = field(default_factory=CompileOptions)
    engine: str = "auto"
    dtype: str | None = None
    attention: str | None = None
    temperature: float | None = None
    position: str | None = None
    max_steps: int = MOST_STEPS
    max_tokens: int | None = None
    spaced: bool = False
    allow_modified: bool = False
    checkpoint: Path | None = None

    @property
    def variant(self) -> dict[str, str | float]:
        """How the engine computes; none of it changes a token."""
        asked = {
            "dtype": self.dtype,
            "attending": self.attention,
            "temperature": self.temperature,
            "position": self.position,
        }
        return {key: value for key, value in asked.items() if value is not None}

    @property
    def limits(self) -> Limits:
        """Where the run stops without an answer."""
        return Limits(self.max_steps, self.max_tokens)


OWN_OPTIONS = tuple(option.name for option in fields(RunOptions) if option.name != "compile")


def run_options(named: dict[str, Any]) -> RunOptions:
    """Make checked options from names and values; an unknown name is refused with the nearest."""
    known = (*COMPILE_OPTIONS, *OWN_OPTIONS)
    for name in named:
        if name not in known:
            raise unknown_option(name, known)
    compiling = {name: value for name, value in named.items() if name in COMPILE_OPTIONS}
    own = {name: value for name, value in named.items() if name in OWN_OPTIONS}
    return checked(RunOptions(CompileOptions(**compiling), **own))


def checked(options: RunOptions) -> RunOptions:
    """Refuse options of a wrong type or out of range."""
    checked_options(options.compile)
    engine_name(options.engine)
    check_count("max_steps", options.max_steps, 0)
    if options.max_tokens is not None:
        check_count("max_tokens", options.max_tokens, 1)
    for name in ("spaced", "allow_modified"):
        check_flag(name, getattr(options, name))
    if options.checkpoint is not None and not isinstance(options.checkpoint, str | Path):
        raise bad_argument("checkpoint", "the path of a file", options.checkpoint)
    return options
