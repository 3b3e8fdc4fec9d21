"""The error of a model that has no gates; who only runs machine code needs nothing else of them."""

from __future__ import annotations


class NotLogicError(Exception):
    """Raised where a model cannot be turned into gates; the message says why."""
