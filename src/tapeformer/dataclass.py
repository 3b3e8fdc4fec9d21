"""The standard library's frozen `dataclass` for modules that every command loads: made in half of the time.

It writes and compiles six methods for each frozen class. Here only `__init__` is compiled; all classes share
the others, with the same meaning. With 60 classes a command starts about 20 milliseconds sooner.
"""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields
from dataclasses import dataclass as generated
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass
else:

    def dataclass(**options: object) -> Callable[[type], type]:
        """Return the decorator of a frozen class; a method that the class defines itself stays."""

        def made(cls: type) -> type:
            shared = [name for name, option in OPTIONS.items() if options.get(option, True)]
            own = vars(cls)
            record = generated(**{**options, **GENERATED})(cls)
            for name in shared:
                if name not in own:
                    setattr(record, name, METHODS[name])
            return record

        return made


def _set(self: Any, name: str, value: object) -> None:
    """Set a field for `__init__`, once; a plain subclass may have attributes of its own."""
    field = name in self.__dataclass_fields__
    if name in self.__dict__ if field else "__dataclass_fields__" in vars(type(self)):
        raise FrozenInstanceError(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)


def _delete(self: Any, name: str) -> None:
    if name in self.__dataclass_fields__ or "__dataclass_fields__" in vars(type(self)):
        raise FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(self, name)


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

GENERATED = {"frozen": False, "eq": False, "repr": False}
"""What the standard library is asked for: a frozen class would have its own `__setattr__`."""
METHODS = {
    "__setattr__": _set,
    "__delattr__": _delete,
    "__eq__": _equal,
    "__hash__": _hash,
    "__repr__": _repr,
}
OPTIONS = {
    "__setattr__": "frozen",
    "__delattr__": "frozen",
    "__eq__": "eq",
    "__hash__": "eq",
    "__repr__": "repr",
}
