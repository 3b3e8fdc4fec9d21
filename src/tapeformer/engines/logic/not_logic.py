"""The error for a model without gates, on its own: running machine code needs nothing else here."""

from __future__ import annotations


class NotLogicError(Exception):
    """Raised if a model cannot be turned into gates; the message says why."""
