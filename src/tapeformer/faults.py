"""Faults: what is wrong, where, what was expected, what was found, and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum


class Severity(Enum):
    """An error stops the work; a warning is only told."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True)
class SourceLocation:
    """A file (or other source) and, where known, a line in it, counted from 1."""

    source: str
    line: int | None = None

    def __str__(self) -> str:
        return self.source if self.line is None else f"{self.source}:{self.line}"


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong, told so that a person can mend it."""

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


class TapeformerError(Exception):
    """Bad input of any kind; carries every fault that was found, not only the first."""

    def __init__(self, faults: Fault | Iterable[Fault]) -> None:
        self.faults = (faults,) if isinstance(faults, Fault) else tuple(faults)
        super().__init__("\n".join(map(str, self.faults)))


def errors_in(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """The faults that stop the work."""
    return tuple(fault for fault in faults if fault.severity is Severity.ERROR)


def quoted(text: str, longest: int = 60) -> str:
    """A name or a piece of a file as it is shown in a message: in quotes, on one line, not too long."""
    return repr(text if len(text) <= longest else text[: longest - 3] + "...")
