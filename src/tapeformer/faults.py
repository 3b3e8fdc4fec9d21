"""Faults: what is wrong, where, what was expected, what was found, and what to do."""

from __future__ import annotations

from collections.abc import Container, Iterable
from enum import Enum
from itertools import islice

from tapeformer.dataclass import dataclass

LONGEST_COMPARED = 100
MOST_COMPARED = 1000
"""Bounds on the names that are compared for a suggestion, so that a bad file costs no time."""
MOST_SYMBOLS = 5
"""Wrong symbols of a word that a message names."""


class Severity(Enum):
    """How bad a fault is: an error stops the work, a warning does not."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True)
class SourceLocation:
    """A file (or other source) and, where known, a line in it, counted from 1.

    `detail` says more where a line can hold several things, such as `transition 3`.
    """

    source: str
    line: int | None = None
    detail: str = ""

    def __str__(self) -> str:
        where = self.source if self.line is None else f"{self.source}:{self.line}"
        return f"{where} ({self.detail})" if self.detail else where


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong, described so that a person can fix it."""

    what: str
    location: SourceLocation | None = None
    expected: str = ""
    got: str = ""
    remedy: str = ""
    severity: Severity = Severity.ERROR

    def __str__(self) -> str:
        parts = [self.what]
        if self.expected:
            parts.append(f"expected {self.expected}")
        if self.got:
            parts.append(f"got {self.got}")
        if self.remedy:
            parts.append(self.remedy)
        where = "" if self.location is None else f"{self.location}: "
        return f"{where}{self.severity.value}: " + "; ".join(parts)


OUT_OF_MEMORY = Fault("out of memory", remedy="give fewer levels or less space")
"""For work that was told to others, who have no memory for it."""


class TapeformerError(Exception):
    """Bad input of any kind; carries every fault that was found, not only the first."""

    def __init__(self, faults: Fault | Iterable[Fault]) -> None:
        self.faults = (faults,) if isinstance(faults, Fault) else tuple(faults)
        super().__init__("\n".join(map(str, self.faults)))

    def __reduce__(self) -> tuple[type[TapeformerError], tuple[tuple[Fault, ...]]]:
        """Travel between processes as the faults, not as the text that they make."""
        return type(self), (self.faults,)


def errors_in(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """Return the faults that stop the work."""
    return tuple(fault for fault in faults if fault.severity is Severity.ERROR)


def quoted(text: str, longest: int = 60) -> str:
    """Return a text as messages show it: in quotes, on one line, shortened if it is long."""
    return repr(text if len(text) <= longest else text[: longest - 3] + "...")


def counted(number: int, unit: str) -> str:
    """Return a number of things in words: `1 step`, `2 steps`."""
    return f"{number:,} {unit}{'' if number == 1 else 's'}"


def described(value: object) -> str:
    """Return a value of any type as messages show it: short, with its type."""
    if value is None or isinstance(value, bool):
        return str(value)
    kind = type(value).__name__
    if isinstance(value, str):
        return f"{quoted(value)} (str)"
    if isinstance(value, int | float):
        text = str(value) if abs(value) < 1e30 else "a huge number"
        return f"{text} ({kind})"
    return f"an object of type {kind}"


def first_line(error: BaseException) -> str:
    """Return an unexpected error as messages show it: its type and the first line of its text."""
    return f"{type(error).__name__}: {error}".partition("\n")[0][:200]


def check_symbols(
    word: Iterable[str], known: Container[str], whose: str, where: str, expected: str, remedy: str
) -> None:
    """Raise one fault that names the first few symbols of a word that are not known, and their places."""
    unknown = ((place, symbol) for place, symbol in enumerate(word, 1) if symbol not in known)
    found = list(islice(unknown, MOST_SYMBOLS + 1))
    if not found:
        return
    shown, more = found[:MOST_SYMBOLS], ", ..." * (len(found) > MOST_SYMBOLS)
    places = ", ".join(str(place) for place, _ in shown) + more
    names = ", ".join(dict.fromkeys(quoted(symbol) for _, symbol in shown)) + more
    subject = f"symbols {names} are" if "," in names else f"symbol {names} is"
    location = SourceLocation(f"{where}{'s' * (len(found) > 1)} {places}")
    what = f"{subject} not in the alphabet of {quoted(whose)}"
    raise TapeformerError(Fault(what, location, expected, remedy=remedy))


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a question that names what is spelled most like `name`, or nothing."""
    from difflib import get_close_matches

    if len(name) > LONGEST_COMPARED:
        return ""
    compared = [
        other
        for other in islice(dict.fromkeys(known), MOST_COMPARED)
        if len(other) <= LONGEST_COMPARED
    ]
    near = get_close_matches(name, compared, n=3)
    return f"did you mean {' or '.join(map(_plain, near))}?" if near else ""


def _plain(name: str) -> str:
    return name if name.isprintable() and " " not in name else quoted(name)
