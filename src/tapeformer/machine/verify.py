"""What is legal in a Turing machine: every fault at once, each with its location and remedy."""

from __future__ import annotations

from collections.abc import Iterator

from tapeformer.faults import (
    Fault,
    Severity,
    SourceLocation,
    TapeformerError,
    described,
    did_you_mean,
    errors_in,
    quoted,
)
from tapeformer.machine.record import AcceptOn, Rule, TuringMachine

MOST_UNDEFINED = 20


def verify(machine: TuringMachine) -> tuple[Fault, ...]:
    """Return all faults of a machine, errors first; none means that it is sound."""
    faults = [*_shape_faults(machine), *_name_faults(machine), *role_conflicts(machine)]
    faults += [*_word_faults(machine), *rule_conflicts(machine), *_undefined_states(machine)]
    return (*faults, *_warnings(machine))


def check(machine: TuringMachine) -> tuple[Fault, ...]:
    """Return all faults of a machine, errors first: an empty tuple means that it is sound."""
    return require_machine(machine).faults


def checked(machine: TuringMachine) -> TuringMachine:
    """Return the machine itself if it has no errors; otherwise raise all of them.

    A machine is immutable and remembers its faults, so this costs nothing the second time.
    """
    errors = errors_in(require_machine(machine).faults)
    if errors:
        raise TapeformerError(errors)
    return machine


def require_machine(machine: object) -> TuringMachine:
    """Return the machine itself; raise if it is anything but a TuringMachine."""
    if isinstance(machine, TuringMachine):
        return machine
    remedy = 'use tf.load("file"), tf.gallery_machine("name") or tf.loads(text) to get one'
    raise TapeformerError(
        Fault("not a machine", None, "a tf.TuringMachine", described(machine), remedy)
    )


def _shape_faults(machine: TuringMachine) -> Iterator[Fault]:
    if machine.tapes < 1:
        yield Fault(
            "a machine needs at least one tape",
            machine.location,
            expected="1 tape or more",
            got=str(machine.tapes),
            remedy="give the number of tapes that each rule reads",
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
                    remedy=f"rename the {kind}",
                )


def _encodable(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def role_conflicts(machine: TuringMachine) -> Iterator[Fault]:
    """Yield a fault for each state that both accepts and rejects."""
    for state in sorted(machine.accepting & machine.rejecting):
        yield Fault(
            f"state {quoted(state)} is both accepting and rejecting",
            machine.location,
            remedy="name it in one of the two lists only",
        )


def _word_faults(machine: TuringMachine) -> Iterator[Fault]:
    unknown = (s for s in machine.default_word or () if s not in machine.word_symbols)
    for symbol in dict.fromkeys(unknown):
        yield Fault(
            f"the machine's own input has the symbol {quoted(symbol)}",
            machine.location,
            expected=alphabet_text(machine),
            remedy="correct the input, or declare the symbol",
        )


def rule_conflicts(machine: TuringMachine) -> Iterator[Fault]:
    """Yield a fault for each rule that contradicts an earlier one."""
    first: dict[tuple[str, tuple[str, ...]], Rule] = {}
    for rule in machine.rules:
        earlier = first.setdefault((rule.state, rule.read), rule)
        if earlier != rule:
            yield Fault(
                f"two rules in conflict for state {quoted(rule.state)} reading {reads_text(rule)}",
                rule.location,
                expected="one rule",
                got=f"another at {earlier.location}" if earlier.location else f"also {earlier}",
                remedy="remove or change one of them",
            )


def _undefined_states(machine: TuringMachine) -> Iterator[Fault]:
    """Yield an error for each state that is entered but has neither rules nor a role.

    Most file formats say that such a state stops the machine: there it is a warning, given only
    where another state has nearly the same name.
    """
    roles = machine.accepting | machine.rejecting | machine.halting
    defined = [state for state in machine.states if state in machine.rules_of or state in roles]
    entries = {rule.next_state: rule.location for rule in reversed(machine.rules)}
    entries.setdefault(machine.start, machine.location)
    undefined = sorted(entries.keys() - set(defined))
    for state in undefined[:MOST_UNDEFINED]:
        nearest = did_you_mean(state, defined)
        if not machine.origin:
            remedy = f"give it a rule, or declare that it stops: halting={{{quoted(state)}}}"
            yield _undefined(state, entries[state], f"{nearest} {remedy}", Severity.ERROR)
        elif nearest:
            yield _undefined(state, entries[state], nearest, Severity.WARNING)


def _undefined(
    state: str, location: SourceLocation | None, remedy: str, severity: Severity
) -> Fault:
    what = f"state {quoted(state)} has no rules and is not declared as halting"
    return Fault(what, location, remedy=remedy.strip(), severity=severity)


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
                remedy="remove one of the two",
                severity=Severity.WARNING,
            )
        seen.add(rule)


def reachable_states(machine: TuringMachine) -> frozenset[str]:
    """Return the states that some chain of rules leads to, whatever the tapes hold."""
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
    """Return what a rule reads, for a message."""
    return ", ".join(map(quoted, rule.read))


def alphabet_text(machine: TuringMachine, longest: int = 40) -> str:
    """Return the input symbols of a machine, for a message."""
    names = [quoted(symbol) for symbol in machine.symbols if symbol in machine.word_symbols]
    shown = ", ".join(names[:longest])
    return "one of " + (shown if len(names) <= longest else f"{shown}, ... ({len(names)} in all)")
