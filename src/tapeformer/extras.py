"""Packages that a plain install leaves out, asked for where they are needed."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from tapeformer.faults import Fault, TapeformerError


def require(module: str, *, extra: str, what: str) -> ModuleType:
    """Import a package of an extra; where it is missing, say which install brings it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != package:
            raise
        raise TapeformerError(
            Fault(
                f"{what} needs {package}, which is not installed",
                remedy=f"pip install '.[{extra}]', in the folder of tapeformer's source",
            )
        ) from None
