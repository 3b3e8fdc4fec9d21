"""Refusing what does not fit, before it is built."""

from __future__ import annotations

import os

from tapeformer.faults import Fault, TapeformerError

SHARE = 0.8
"""The part of the free memory that an engine may take."""


def check_memory(engine: str, needed: int, limit: int | None) -> None:
    """Refuses a model that needs more bytes than the limit, or than the machine has free."""
    allowed = int(SHARE * free_memory()) if limit is None else limit
    if needed > allowed:
        raise TapeformerError(
            Fault(
                f"the {engine} engine would need too much memory for this model",
                expected=f"at most {_gigabytes(allowed)}",
                got=_gigabytes(needed),
                remedy="use the sparse engine, fewer levels or a smaller window",
            )
        )


def free_memory() -> int:
    """Bytes of memory that the operating system could give."""
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _gigabytes(number: int) -> str:
    return f"{number / 1e9:.2f} GB"
