"""Say in options what the library says in Python: `levels=8` becomes `--levels 8`."""

from __future__ import annotations

import re
from dataclasses import replace

from tapeformer.faults import TapeformerError

NAMES = {"format_name": "format", "max_cells": "max-cells"}
CONVENTION = re.compile(r"\btf\.Conventions\((\w+=\w+)\)")
ARGUMENT = re.compile(r"(?<![\w.(-])([a-z_]+)=(['\"]?)(\w+)\2")


def in_options(text: str) -> str:
    """Return a remedy with arguments of Python calls written as options of a command."""
    return ARGUMENT.sub(_option, CONVENTION.sub(r"\1", text))


def _option(found: re.Match[str]) -> str:
    name, _, value = found.groups()
    option = f"--{NAMES.get(name, name.replace('_', '-'))}"
    return option if value == "True" else f"{option} {value}"


def for_command_line(error: TapeformerError) -> TapeformerError:
    """Return the same error with its remedies in options."""
    return TapeformerError(
        replace(fault, remedy=in_options(fault.remedy)) for fault in error.faults
    )
