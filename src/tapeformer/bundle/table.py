"""Reading a JSON table with checks: each entry has the kind it must have, or one clear fault."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from tapeformer.faults import Fault, SourceLocation, TapeformerError, quoted


@dataclass(frozen=True)
class Table:
    """A JSON object in a file; `where` is its path inside, for messages."""

    path: Path
    where: str
    entries: Mapping[str, object]

    def text(self, key: str) -> str:
        """An entry that is a string."""
        value = self.entries.get(key)
        return value if isinstance(value, str) else self._refuse(key, "text")

    def flag(self, key: str) -> bool:
        """An entry that is true or false."""
        value = self.entries.get(key)
        return value if isinstance(value, bool) else self._refuse(key, "true or false")

    def integer(self, key: str, least: int, most: int) -> int:
        """An entry that is a whole number within bounds."""
        value = self.entries.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
            return value
        return self._refuse(key, f"a whole number from {least} to {most}")

    def table(self, key: str) -> Table:
        """An entry that is itself a table."""
        value = self.entries.get(key)
        if not isinstance(value, dict):
            self._refuse(key, "a table")
        return Table(self.path, f"{self.where}{key}.", value)

    def mapping(self) -> dict[str, str]:
        """The table itself, where all entries are text."""
        return {key: self.text(key) for key in self.entries}

    def tables(self, key: str) -> tuple[Table, ...]:
        """An entry that is a list of tables."""
        return tuple(
            Table(self.path, f"{self.where}{key}.{place}.", item)
            if isinstance(item, dict)
            else self._refuse(key, "a list of tables")
            for place, item in enumerate(self._list(key))
        )

    def texts(self, key: str) -> tuple[str, ...]:
        """An entry that is a list of strings."""
        return self._texts(key, self._list(key))

    def text_lists(self, key: str) -> tuple[tuple[str, ...], ...]:
        """An entry that is a list of lists of strings."""
        return tuple(self._texts(key, item) for item in self._list(key))

    def _texts(self, key: str, value: object) -> tuple[str, ...]:
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        return self._refuse(key, "a list of texts")

    def _list(self, key: str) -> list[object]:
        value = self.entries.get(key)
        return value if isinstance(value, list) else self._refuse(key, "a list")

    def _refuse(self, key: str, expected: str) -> NoReturn:
        got = quoted(str(self.entries[key])) if key in self.entries else "nothing"
        what = f"wrong entry {quoted(self.where + key)}"
        remedy = "compile the machine again"
        raise TapeformerError(Fault(what, SourceLocation(str(self.path)), expected, got, remedy))
