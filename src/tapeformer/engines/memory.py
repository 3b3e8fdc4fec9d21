"""Refusing what does not fit, before it is built."""

from __future__ import annotations

import os

from tapeformer.dataclass import dataclass
from tapeformer.faults import Fault, TapeformerError

SHARE = 0.8
"""The part of the free memory that an engine may take."""


@dataclass(frozen=True)
class Costs:
    """The bytes that an engine takes for a model, fixed and for each token of the window."""

    engine: str
    fixed: int
    per_token: int
    limit: int | None


def check_memory(costs: Costs, window: int) -> None:
    """Refuse what needs more bytes than the limit, or than the machine has free without one."""
    what = f"the {costs.engine} engine would need too much memory for this model"
    remedy = "use another engine, fewer levels or a smaller window"
    needed, for_what = costs.fixed + window * costs.per_token, f" for a window of {window} tokens"
    check_room(needed, what, remedy, costs.limit, for_what)


def check_room(
    needed: int, what: str, remedy: str, limit: int | None = None, for_what: str = ""
) -> None:
    """Refuse so many bytes, in the caller's words, beyond the limit or what the machine has free."""
    allowed = int(SHARE * free_memory()) if limit is None else limit
    if needed > allowed:
        most, got = f"at most {_gigabytes(allowed)}", f"{_gigabytes(needed)}{for_what}"
        raise TapeformerError(Fault(what, None, most, got, remedy))


def free_memory() -> int:
    """Return bytes of memory that the operating system could give."""
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _gigabytes(number: int) -> str:
    return f"{number / 1e9:.2f} GB"
