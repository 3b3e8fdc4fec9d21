"""Cut long lists in printed stages short, and say so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice


def first(lines: Iterable[str], limit: int | None, total: int, what: str) -> Iterator[str]:
    """Yield the first lines of `total`, and one that says how many more there are of `what`."""
    yield from islice(lines, limit)
    if limit is not None and total > limit:
        yield f"... and {total - limit:,} more {what}"
