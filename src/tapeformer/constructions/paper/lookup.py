"""The Turing machine's rules: one AND for each, everything else read off as exclusive sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tapeformer.circuit.build import Builder, Wire, negated
from tapeformer.circuit.record import Literal
from tapeformer.constructions.paper.fields import Fields
from tapeformer.constructions.paper.view import StackView
from tapeformer.constructions.reach import live_rules, rule_numbers, verdict_of
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
    """Look up the rule; `verdicts` says what it means if none applies, by the state."""
    machine, following = fields.machine, inputs["next"]
    heads = [inputs[f"tape{tape}/head"] for tape in range(1, machine.tapes + 1)]
    numbers = rule_numbers(machine)
    met = [
        (_met(build, following, heads, rule, numbers[rule.state, rule.read]), rule)
        for rule in live_rules(machine)
    ]
    actions = tuple(_action(build, fields, met, views, t) for t in range(machine.tapes))
    return Lookup(
        applies=build.one_of(*(literal for literal, _ in met), label="applies"),
        fits=_fits(build, views, actions),
        actions=actions,
        next_state={
            state: build.one_of(
                *(m for m, rule in met if rule.next_state == state), label=f"to {state}"
            )
            for state in machine.states
        },
        verdicts=_verdicts(build, fields, following),
    )


def _met(build: Builder, state: Wire, heads: Sequence[Wire], rule: Rule, number: int) -> Literal:
    """Return whether the state and the symbols under the heads are those of a rule."""
    reads = (head[symbol] for head, symbol in zip(heads, rule.read, strict=True))
    label = f"applies in {rule.state} {' '.join(rule.read)}"
    return build.all_of(state[rule.state], *reads, label=label, rules=[number])


def _action(
    build: Builder, fields: Fields, met: Met, views: Sequence[StackView], tape: int
) -> TapeAction:
    name = f"tape{tape + 1}"

    def moving(move: Move) -> Literal:
        moves = (m for m, rule in met if rule.moves[tape] is move)
        return build.one_of(*moves, label=f"{name} wants {move.name}")

    bounded = fields.machine.tape_kind is TapeKind.ONE_WAY
    free = negated(views[2 * tape].at_bottom) if bounded else build.true
    return TapeAction(
        left=build.all_of(moving(Move.LEFT), free, label=f"{name} moves LEFT"),
        right=moving(Move.RIGHT),
        write={
            symbol: build.one_of(
                *(m for m, r in met if r.write[tape] == symbol), label=f"{name} writes {symbol}"
            )
            for symbol in fields.symbols(tape + 1)
        },
    )


def _fits(build: Builder, views: Sequence[StackView], actions: Sequence[TapeAction]) -> Literal:
    """Return whether no stack that is to be pushed on is full."""
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
    return {v: build.one_of(*literals, label=f"{v} state") for v, literals in found.items()}
