"""Score a method against the role table: does it rank the right components first?"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tapeformer.export.roles import Role
from tapeformer.faults import Fault, TapeformerError

Target = TypeVar("Target", bound=Hashable)


@dataclass(frozen=True)
class RoleScore:
    """How well effects rank the right components, over all targets.

    `top1` is the share of targets for which a right component has the largest effect, alone or
    among right ones; `mean_reciprocal_rank` averages 1 / rank of the best right one. Ties count
    against the method: a wrong component with the same effect stands before a right one.
    """

    targets: int
    top1: float
    mean_reciprocal_rank: float


def fetching_heads(table: Sequence[Role]) -> dict[str, frozenset[str]]:
    """Return for each queue the heads that fetch it."""
    return _by_target(
        (queue, role) for role in table if role.kind == "head" for queue in role.queues
    )


def rule_neurons(table: Sequence[Role]) -> dict[int, frozenset[str]]:
    """Return for each rule of the machine the neurons that come from it alone, or carry such a one."""
    own = (role for role in table if role.kind == "neuron" and len(role.rules) == 1)
    return _by_target((role.rules[0], role) for role in own if not role.more_rules)


def _by_target(pairs: Iterable[tuple[Target, Role]]) -> dict[Target, frozenset[str]]:
    found: dict[Target, frozenset[str]] = {}
    for target, role in pairs:
        found[target] = found.get(target, frozenset()) | {role.component}
    return found


def score_roles(
    effects: Mapping[Target, Mapping[str, float]], truth: Mapping[Target, Collection[str]]
) -> RoleScore:
    """Score a method's effect of each component on each target; every target must be answered."""
    missing = [target for target in truth if target not in effects]
    if missing or not truth:
        got = f"none for {missing[0]!r}" if missing else "no target"
        raise TapeformerError(
            Fault("cannot score the method", expected="effects for every target", got=got)
        )
    ranks = [_rank(effects[target], right) for target, right in truth.items()]
    reciprocal = [1 / rank if rank else 0.0 for rank in ranks]
    return RoleScore(len(ranks), ranks.count(1) / len(ranks), sum(reciprocal) / len(ranks))


def _rank(effects: Mapping[str, float], right: Collection[str]) -> int:
    """Return the rank of the best right component, from 1; 0 if the method names none."""
    named = [effects[component] for component in right if component in effects]
    if not named:
        return 0
    best = max(named)
    return 1 + sum(not effect < best for name, effect in effects.items() if name not in right)
