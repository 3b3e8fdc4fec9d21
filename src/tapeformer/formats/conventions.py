"""What a user wants instead of a format's own conventions."""

from __future__ import annotations

from dataclasses import replace

from tapeformer.dataclass import dataclass
from tapeformer.faults import did_you_mean, quoted
from tapeformer.machine.fields import FieldCheck
from tapeformer.machine.record import AcceptOn, TapeKind, TuringMachine


@dataclass(frozen=True)
class Conventions:
    """What the user wants instead of a format's own conventions; None keeps those."""

    accept_on: AcceptOn | None = None
    wildcard_matches_blank: bool | None = None
    tape_kind: TapeKind | None = None
    accepting: tuple[str, ...] | None = None
    rejecting: tuple[str, ...] | None = None
    symbols: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check = FieldCheck(self)
        check.of_type(AcceptOn, "accept_on", optional=True)
        check.of_type(bool, "wildcard_matches_blank", optional=True)
        check.of_type(TapeKind, "tape_kind", optional=True)
        check.tuple_of(str, '("yes",)', "accepting", "rejecting", optional=True)
        check.tuple_of(str, '("a", "b")', "symbols")
        check.done()

    def applied(self, machine: TuringMachine) -> TuringMachine:
        """Return the machine under these conventions; a state named here must exist."""
        from tapeformer.formats.reading import Collector, Source

        faults = Collector(Source("", "option"))
        for state in (*(self.accepting or ()), *(self.rejecting or ())):
            if state not in machine.states:
                known = ", ".join(map(quoted, machine.states[:12]))
                nearest = did_you_mean(state, machine.states)
                faults.add(
                    f"there is no state {quoted(state)}", None, f"one of {known}", "", nearest
                )
        faults.raise_if_any()
        accepting = machine.accepting if self.accepting is None else frozenset(self.accepting)
        rejecting = machine.rejecting if self.rejecting is None else frozenset(self.rejecting)
        return replace(
            machine,
            accept_on=self.accept_on or machine.accept_on,
            tape_kind=self.tape_kind or machine.tape_kind,
            accepting=accepting,
            rejecting=rejecting,
        )
