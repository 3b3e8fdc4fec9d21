"""The Turing machine's rules: one AND for each, everything else read off as exclusive sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tapeformer.circuit.build import Builder, Wire, negated
from tapeformer.circuit.record import Literal
from tapeformer.constructions.paper.fields import Fields
from tapeformer.constructions.paper.view import StackView
from tapeformer.constructions.reach import live_rules, verdict_of
from tapeformer.machine.record import Move, Rule, TapeKind

Met = Sequence[tuple[Literal, Rule]]


@dataclass(frozen=True)
class TapeAction:
    """What the rule that applies does on one tape; a left move at a bounded tape's end is none."""

    left: Literal
    right: Literal
    write: Mapping[str, Literal]


@dataclass(frozen=True)
class Lookup:
    """The rule for the present state and symbols: whether one applies, fits, and what it does."""

    applies: Literal
    fits: Literal
    actions: tuple[TapeAction, ...]
    next_state: Mapping[str, Literal]
    verdicts: Mapping[str, Literal]


def lookup(
    build: Builder, fields: Fields, inputs: Mapping[str, Wire], views: Sequence[StackView]
) -> Lookup:
    """Looks up the rule; `verdicts` says what it means if none applies, by the state."""
    machine, following = fields.machine, inputs["next"]
    heads = [inputs[f"tape{tape}/head"] for tape in range(1, machine.tapes + 1)]
    met = [
        (build.all_of(following[rule.state], *_reads(heads, rule), label=_name(rule)), rule)
        for rule in live_rules(machine)
    ]
    actions = tuple(_action(build, fields, met, views, t) for t in range(machine.tapes))
    return Lookup(
        applies=build.one_of(*(literal for literal, _ in met), label="applies"),
        fits=_fits(build, views, actions),
        actions=actions,
        next_state={
            state: build.one_of(*(m for m, rule in met if rule.next_state == state), label=state)
            for state in machine.states
        },
        verdicts=_verdicts(build, fields, following),
    )


def _reads(heads: Sequence[Wire], rule: Rule) -> list[Literal]:
    return [head[symbol] for head, symbol in zip(heads, rule.read, strict=True)]


def _name(rule: Rule) -> str:
    return f"rule {rule.state} {' '.join(rule.read)}"


def _action(
    build: Builder, fields: Fields, met: Met, views: Sequence[StackView], tape: int
) -> TapeAction:
    def moving(move: Move) -> Literal:
        return build.one_of(*(m for m, rule in met if rule.moves[tape] is move), label=move.name)

    bounded = fields.machine.tape_kind is TapeKind.ONE_WAY
    free = negated(views[2 * tape].at_bottom) if bounded else build.true
    return TapeAction(
        left=build.all_of(moving(Move.LEFT), free, label="left"),
        right=moving(Move.RIGHT),
        write={
            symbol: build.one_of(
                *(m for m, r in met if r.write[tape] == symbol), label=f"write {symbol}"
            )
            for symbol in fields.symbols(tape + 1)
        },
    )


def _fits(build: Builder, views: Sequence[StackView], actions: Sequence[TapeAction]) -> Literal:
    """Whether no stack that is to be pushed on is full."""
    refused = []
    for view in views:
        action = actions[view.stack.tape - 1]
        push = action.right if view.stack.side == "left" else action.left
        refused.append(build.all_of(push, view.full, label=f"{view.stack.name} refuses"))
    return build.all_of(*map(negated, refused), label="fits")


def _verdicts(build: Builder, fields: Fields, state: Wire) -> dict[str, Literal]:
    found: dict[str, list[Literal]] = {}
    for name in fields.machine.states:
        found.setdefault(verdict_of(fields.machine, name), []).append(state[name])
    return {v: build.one_of(*literals, label=v) for v, literals in found.items()}
