"""How a run ends: its outcome, and what its tapes hold."""

from __future__ import annotations

from enum import Enum

from tapeformer.dataclass import dataclass
from tapeformer.machine.record import shortened


class Outcome(Enum):
    """How a run ended; `limit` and `out_of_space` are not answers."""

    ACCEPT = "accept"
    REJECT = "reject"
    HALT = "halt"
    LIMIT = "limit"
    OUT_OF_SPACE = "out_of_space"


@dataclass(frozen=True, repr=False)
class Tape:
    """The content from the first to the last non-blank cell, and the head counted from that first cell.

    On an empty tape the head is 0.
    """

    content: tuple[str, ...]
    head: int

    def __repr__(self) -> str:
        return f"<Tape {shortened(self.content)}, head {self.head}>"
