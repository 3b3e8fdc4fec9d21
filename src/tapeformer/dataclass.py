"""The standard library's `dataclass` for modules that every command loads: made in two thirds of the time.

It writes and compiles six methods for each frozen class. Here all classes share `__eq__`, `__hash__` and
`__repr__`, with the same meaning; with 85 classes a command starts about 15 milliseconds sooner.
"""

from __future__ import annotations

from dataclasses import dataclass as generated
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass
else:

    def dataclass(*, frozen: bool, **options: object) -> Callable[[type], type]:
        """Return the decorator of a frozen class; a method that the class defines itself stays."""

        def made(cls: type) -> type:
            shared = [name for name, option in OPTIONS.items() if options.get(option, True)]
            own = vars(cls)
            record = generated(frozen=frozen, **{**options, "eq": False, "repr": False})(cls)
            for name in shared:
                if name not in own:
                    setattr(record, name, METHODS[name])
            return record

        return made


def _equal(self: object, other: object) -> bool:
    return _compared(self) == _compared(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash(_compared(self))


def _repr(self: Any) -> str:
    shown = (f"{name}={getattr(self, name)!r}" for name in _names(self.__class__, "repr"))
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _compared(record: Any) -> tuple[object, ...]:
    return tuple([getattr(record, name) for name in _names(record.__class__, "compare")])


@cache
def _names(cls: Any, use: str) -> tuple[str, ...]:
    """Return the fields of `cls` that take part in a `use`: "compare" or "repr"."""
    return tuple(field.name for field in fields(cls) if getattr(field, use))


__all__ = ["dataclass"]

METHODS = {"__eq__": _equal, "__hash__": _hash, "__repr__": _repr}
OPTIONS = {"__eq__": "eq", "__hash__": "eq", "__repr__": "repr"}
