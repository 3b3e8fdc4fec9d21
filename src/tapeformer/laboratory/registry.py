"""The rows by name: each is the record ROW of a file under rows/."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pkgutil import iter_modules

from tapeformer.faults import Fault, TapeformerError, did_you_mean, quoted
from tapeformer.laboratory import rows
from tapeformer.laboratory.row import Row

ORDER = (
    *("perez", "bhattamishra", "merrill_sabharwal", "li_liu_zhou_ma", "qiu", "pencil"),
    *("bavandpour", "constant", "li_wang", "realtime"),
)
"""The rows in the order of the paper's table, ours last; others follow by name."""


def row_names() -> tuple[str, ...]:
    """Return the names of all rows: a file under rows/ is a row."""
    found = {module.name for module in iter_modules(rows.__path__)}
    known = [name for name in ORDER if name in found]
    return (*known, *sorted(found - set(ORDER)))


def find_row(name: str) -> Row:
    """Return a row by its name."""
    if name not in row_names():
        remedy = did_you_mean(name, row_names())
        expected = ", ".join(row_names())
        raise TapeformerError(
            Fault(f"there is no row {quoted(name)}", None, expected, remedy=remedy)
        )
    row: Row = import_module(f"tapeformer.laboratory.rows.{name}").ROW
    return row


def find_rows(names: Sequence[str] = (), steps_per_token: int = 1) -> tuple[Row, ...]:
    """Return rows by name, all of them if none is named; with several steps in a token where they can."""
    found = [find_row(name) for name in names or row_names()]
    if steps_per_token == 1:
        return tuple(found)
    return tuple(row.with_steps(steps_per_token) if row.with_steps else row for row in found)
