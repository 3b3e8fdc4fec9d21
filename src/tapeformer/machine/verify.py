"""What is legal in a Turing machine: every fault at once, each with its location and remedy."""

from __future__ import annotations

from collections.abc import Iterator

from tapeformer.faults import Fault, Severity, TapeformerError, errors_in, quoted
from tapeformer.machine.record import AcceptOn, Rule, TuringMachine


def verify(machine: TuringMachine) -> tuple[Fault, ...]:
    """All faults of a machine, errors first; an empty answer means that it is sound."""
    errors = [*_shape_faults(machine), *_name_faults(machine), *_role_faults(machine)]
    errors += _conflicts(machine)
    return (*errors, *_warnings(machine))


def checked(machine: TuringMachine) -> TuringMachine:
    """The machine itself if it has no errors; otherwise all of them are raised."""
    errors = errors_in(verify(machine))
    if errors:
        raise TapeformerError(errors)
    return machine


def _shape_faults(machine: TuringMachine) -> Iterator[Fault]:
    if machine.tapes < 1:
        yield Fault(
            "a machine needs at least one tape",
            machine.location,
            expected="1 tape or more",
            got=str(machine.tapes),
        )
    for rule in machine.rules:
        for part, entries in (("reads", rule.read), ("writes", rule.write), ("moves", rule.moves)):
            if len(entries) != machine.tapes:
                yield Fault(
                    f"a rule of state {quoted(rule.state)} {part} the wrong number of tapes",
                    rule.location,
                    expected=str(machine.tapes),
                    got=str(len(entries)),
                    remedy="give one entry for each tape",
                )


def _name_faults(machine: TuringMachine) -> Iterator[Fault]:
    for kind, names in (("state", machine.states), ("symbol", machine.symbols)):
        for name in names:
            if not name or not _encodable(name):
                yield Fault(
                    f"a {kind} has no usable name",
                    machine.location,
                    expected="one character or more of text",
                    got=quoted(name),
                )


def _encodable(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _role_faults(machine: TuringMachine) -> Iterator[Fault]:
    for state in sorted(machine.accepting & machine.rejecting):
        yield Fault(
            f"state {quoted(state)} is both accepting and rejecting",
            machine.location,
            remedy="name it in one of the two lists only",
        )
    for symbol in machine.default_word or ():
        if symbol not in machine.word_symbols:
            yield Fault(
                f"the input in the file has the symbol {quoted(symbol)}",
                machine.location,
                expected=alphabet_text(machine),
                remedy="correct the input, or declare the symbol",
            )


def _conflicts(machine: TuringMachine) -> Iterator[Fault]:
    first: dict[tuple[str, tuple[str, ...]], Rule] = {}
    for rule in machine.rules:
        earlier = first.setdefault((rule.state, rule.read), rule)
        if earlier != rule:
            yield Fault(
                f"two rules in conflict for state {quoted(rule.state)} reading {reads_text(rule)}",
                rule.location,
                expected="one rule",
                got=f"another at {earlier.location or 'an earlier rule'}",
                remedy="remove or change one of them",
            )


def _warnings(machine: TuringMachine) -> Iterator[Fault]:
    yield from _repeated(machine)
    reached = reachable_states(machine)
    for state in machine.states:
        if state not in reached:
            yield Fault(
                f"state {quoted(state)} is never reached from {quoted(machine.start)}",
                machine.location,
                remedy="remove it, or add the rule that leads there",
                severity=Severity.WARNING,
            )
    for state in sorted(machine.stopping & machine.rules_of.keys()):
        yield Fault(
            f"the rules of state {quoted(state)} are never used: the machine stops on entering it",
            machine.rules_of[state][0].location,
            remedy=_leaving_remedy(machine, state),
            severity=Severity.WARNING,
        )


def _leaving_remedy(machine: TuringMachine, state: str) -> str:
    accepts_on_entry = machine.accept_on is AcceptOn.ENTRY and state in machine.accepting
    return "accept on halting if they are meant to run" if accepts_on_entry else "remove them"


def _repeated(machine: TuringMachine) -> Iterator[Fault]:
    seen: set[Rule] = set()
    for rule in machine.rules:
        if rule in seen:
            yield Fault(
                f"the rule for state {quoted(rule.state)} reading {reads_text(rule)} is repeated",
                rule.location,
                remedy="one of the two can go",
                severity=Severity.WARNING,
            )
        seen.add(rule)


def reachable_states(machine: TuringMachine) -> frozenset[str]:
    """States that some chain of rules leads to, whatever the tapes hold."""
    following: dict[str, set[str]] = {}
    for rule in machine.rules:
        following.setdefault(rule.state, set()).add(rule.next_state)
    reached, waiting = {machine.start}, [machine.start]
    while waiting:
        state = waiting.pop()
        if state not in machine.stopping:
            fresh = following.get(state, set()) - reached
            reached |= fresh
            waiting.extend(fresh)
    return frozenset(reached)


def reads_text(rule: Rule) -> str:
    """What a rule reads, for a message."""
    return ", ".join(map(quoted, rule.read))


def alphabet_text(machine: TuringMachine, longest: int = 40) -> str:
    """The input symbols of a machine, for a message."""
    names = [quoted(symbol) for symbol in machine.symbols if symbol in machine.word_symbols]
    shown = ", ".join(names[:longest])
    return "one of " + (shown if len(names) <= longest else f"{shown}, ... ({len(names)} in all)")
