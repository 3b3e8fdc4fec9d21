"""Reading JSON with checks: each entry has the kind it must have, or one clear fault."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from tapeformer.bundle.files import AGAIN, refuse, text_of
from tapeformer.faults import Fault, SourceLocation, TapeformerError, quoted

MOST_DIGITS = 20


def parsed(content: bytes, path: Path) -> dict[str, object]:
    """Parse a JSON object strictly: no key twice, whole numbers only, none of more than 20 digits."""
    text = text_of(content, path)
    try:
        found = json.loads(
            text,
            object_pairs_hook=_distinct,
            parse_int=_integer,
            parse_float=_no_number,
            parse_constant=_no_number,
        )
        if "\\u" in text:
            json.dumps(found, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        refuse(path, "the JSON has half of a surrogate pair", "Unicode text")
    except (ValueError, RecursionError) as error:
        refuse(path, "the JSON cannot be read", "an object", error)
    if not isinstance(found, dict):
        refuse(path, "the JSON is not an object", "an object", type(found).__name__)
    return found


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    table = dict(pairs)
    if len(table) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {quoted(twice)} appears twice")
    return table


def _integer(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a number has {len(digits)} digits")
    return int(digits)


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{quoted(text)} is not a whole number")


@dataclass(frozen=True)
class JsonObject:
    """A JSON object in a file; `where` is its path inside, for messages."""

    path: Path
    where: str
    entries: Mapping[str, object]

    def only(self, *keys: str) -> JsonObject:
        """Return the table itself if it has exactly these keys."""
        for key in sorted(self.entries.keys() - set(keys)):
            self.refuse(key, "no such entry")
        for key in sorted(set(keys) - self.entries.keys()):
            self.refuse(key, "an entry")
        return self

    def text(self, key: str) -> str:
        """Return an entry that is a string."""
        value = self.entries.get(key)
        return value if isinstance(value, str) else self.refuse(key, "text")

    def flag(self, key: str) -> bool:
        """Return an entry that is true or false."""
        value = self.entries.get(key)
        return value if isinstance(value, bool) else self.refuse(key, "true or false")

    def integer(self, key: str, least: int, most: int) -> int:
        """Return an entry that is a whole number within bounds."""
        value = self.entries.get(key)
        if type(value) is int and least <= value <= most:
            return value
        return self.refuse(key, f"a whole number from {least} to {most}")

    def table(self, key: str) -> JsonObject:
        """Return an entry that is itself a table."""
        value = self.entries.get(key)
        if not isinstance(value, dict):
            self.refuse(key, "a table")
        return JsonObject(self.path, f"{self.where}{key}.", value)

    def mapping(self) -> dict[str, str]:
        """Return the table itself, where all entries are text."""
        return {key: self.text(key) for key in self.entries}

    def tables(self, key: str) -> tuple[JsonObject, ...]:
        """Return an entry that is a list of tables."""
        return tuple(
            JsonObject(self.path, f"{self.where}{key}.{place}.", item)
            if isinstance(item, dict)
            else self.refuse(key, "a list of tables")
            for place, item in enumerate(self._list(key))
        )

    def texts(self, key: str) -> tuple[str, ...]:
        """Return an entry that is a list of strings."""
        return self._texts(key, self._list(key))

    def text_lists(self, key: str) -> tuple[tuple[str, ...], ...]:
        """Return an entry that is a list of lists of strings."""
        return tuple(self._texts(key, item) for item in self._list(key))

    def is_one_of(self, key: str, known: Sequence[str], what: str) -> str:
        """Return an entry that is one of the known names."""
        name = self.text(key)
        return name if name in known else self.refuse(key, what)

    def equals(self, key: str, value: object) -> None:
        """Check an entry that says again what is known from elsewhere."""
        if self.entries.get(key) != value or isinstance(self.entries.get(key), bool):
            self.refuse(key, quoted(str(value))[1:-1])

    def _texts(self, key: str, value: object) -> tuple[str, ...]:
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        return self.refuse(key, "a list of texts")

    def _list(self, key: str) -> list[object]:
        value = self.entries.get(key)
        return value if isinstance(value, list) else self.refuse(key, "a list")

    def refuse(self, key: str, expected: str) -> NoReturn:
        """Raise the fault of one entry."""
        got = quoted(str(self.entries[key])) if key in self.entries else "nothing"
        what = f"wrong entry {quoted(self.where + key)}"
        raise TapeformerError(Fault(what, SourceLocation(str(self.path)), expected, got, AGAIN))
