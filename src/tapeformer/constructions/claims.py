"""What the claims of all constructions share: each test is counted, each failure is a fault."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tapeformer.faults import Fault


class CountedClaims:
    """Counts how often each claim was put to the test; those never tested can be told."""

    names: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.checked: Counter[str] = Counter()

    def test(self, claim: str, holds: bool, where: str, got: str) -> Iterator[Fault]:
        """Count a test of a claim; yield a fault where it fails."""
        self.checked[claim] += 1
        if not holds:
            yield Fault(f"claim {claim} fails at {where}", got=got)
