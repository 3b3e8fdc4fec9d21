"""Check the Python types of a record's fields, and freeze the lists and sets given for them.

Records are built by readers of files, but also by hand: a wrong type is reported here, with what to
write instead, before it can fail somewhere else.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from enum import Enum

from tapeformer.faults import Fault, TapeformerError, described


@dataclass
class FieldCheck:
    """Collects what is wrong with the fields of one record."""

    record: object
    faults: list[Fault] = field(default_factory=list)

    def of_type(self, kind: type, *names: str, optional: bool = False) -> None:
        """Check that fields hold a value of a type, or None where that is allowed."""
        for name in names:
            value = getattr(self.record, name)
            if not is_a(value, kind) and not (optional and value is None):
                self._add(name, _type_name(kind), value, _remedy(kind))

    def tuple_of(self, kind: type, example: str, *names: str, optional: bool = False) -> None:
        """Check that fields hold a list or tuple of a type, and store a tuple."""
        for name in names:
            value = getattr(self.record, name)
            if optional and value is None:
                continue
            self._items(name, value, kind, (list, tuple), f"a tuple such as {example}")
            if isinstance(value, list):
                object.__setattr__(self.record, name, tuple(value))

    def set_of_names(self, *names: str) -> None:
        """Check that fields hold a set (or list or tuple) of names, and store a frozenset."""
        for name in names:
            value = getattr(self.record, name)
            kinds = (frozenset, set, list, tuple)
            if self._items(name, value, str, kinds, 'a set such as {"done"}'):
                object.__setattr__(self.record, name, frozenset(value))

    def done(self) -> None:
        """Raise every fault that was found."""
        if self.faults:
            raise TapeformerError(self.faults)

    def _items(
        self,
        name: str,
        value: object,
        kind: type,
        kinds: tuple[type[Collection[object]], ...],
        example: str,
    ) -> bool:
        if not isinstance(value, kinds):
            self._add(name, example, value, f"write {example}")
            return False
        wrong = [item for item in value if not is_a(item, kind)]
        if wrong:
            self._add(name, f"only {_type_name(kind)} in it", wrong[0], _remedy(kind))
        return not wrong

    def _add(self, name: str, expected: str, value: object, remedy: str) -> None:
        what = f"{type(self.record).__name__}: wrong type for `{name}`"
        self.faults.append(Fault(what, None, expected, described(value), remedy))


def is_a(value: object, kind: type) -> bool:
    """Return whether a value has a type; True and False do not count as numbers."""
    return isinstance(value, kind) and not (kind is int and isinstance(value, bool))


def _type_name(kind: type) -> str:
    return f"tf.{kind.__name__}" if issubclass(kind, Enum) else kind.__name__


def _remedy(kind: type) -> str:
    """Return what to write for an enumeration; for another type its name says enough."""
    if issubclass(kind, Enum):
        return "use " + " or ".join(f"tf.{kind.__name__}.{member.name}" for member in kind)
    return ""
