"""The registry of runnable models: constructions of the compiler and rows of the laboratory, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tapeformer.constructions import CONSTRUCTIONS, DEFAULT
from tapeformer.dataclass import dataclass
from tapeformer.faults import Fault, TapeformerError, did_you_mean, quoted

if TYPE_CHECKING:
    from tapeformer.laboratory.row import Row


@dataclass(frozen=True)
class Runnable:
    """What a name stands for: a construction that is compiled, or a row that the laboratory runs."""

    name: str
    construction: str | None = None
    row: Row | None = None


def runnable_names() -> tuple[str, ...]:
    """Return every name that `--construction` takes."""
    from tapeformer.laboratory.registry import row_names

    return tuple(dict.fromkeys((*CONSTRUCTIONS, *row_names())))


def find_runnable(name: str | None) -> Runnable:
    """Return what a name stands for; the compiler's default if none is given."""
    if name is None or name in CONSTRUCTIONS:
        return Runnable(name or DEFAULT, name or DEFAULT)
    from tapeformer.laboratory.registry import find_row, row_names

    if name not in row_names():
        known = runnable_names()
        what = f"there is no construction {quoted(name)}"
        remedy = did_you_mean(name, known)
        raise TapeformerError(Fault(what, expected=f"one of {', '.join(known)}", remedy=remedy))
    row = find_row(name)
    if row.construction is not None:
        return Runnable(name, row.construction)
    return Runnable(name, row=row)
