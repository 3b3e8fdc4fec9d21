"""A repr of one line for records that hold much: scalars are shown, what is long is counted."""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import Field
from typing import ClassVar

from tapeformer.faults import quoted

FEW = 3
"""Items that are shown rather than counted."""


class ShortRepr:
    """Gives a dataclass (with `repr=False`) a repr of one line."""

    __dataclass_fields__: ClassVar[dict[str, Field[object]]]

    def __repr__(self) -> str:
        parts = (f"{name}={_shown(getattr(self, name))}" for name in self.__dataclass_fields__)
        return f"{type(self).__name__}({', '.join(parts)})"


def _shown(value: object) -> str:
    """Return a text cut where it is long, a short tuple of plain values, the count of anything longer."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, tuple) and len(value) <= FEW and all(_plain(item) for item in value):
        return repr(value)
    return f"<{len(value)}>" if isinstance(value, Sized) else repr(value)


def _plain(value: object) -> bool:
    return isinstance(value, int | float) or (isinstance(value, str) and len(value) <= 20)
