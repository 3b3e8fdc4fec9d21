"""Choose the attention heads that fetch the fronts of the queues, and their layers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf
from typing import TypeAlias

from tapeformer.faults import Fault, TapeformerError, quoted
from tapeformer.queues.record import Queue, QueueMachine

HeadMode: TypeAlias = OneOf["queue", "offset"]
"""One head per queue (or column of queues that move together), as in the paper, or one per length
rule, since a token carries all queues."""

CURRENT_TOKEN_RULE = "one"
"""The rule of queues whose length is always 1: their front is in the current token."""


@dataclass(frozen=True)
class HeadPlan:
    """One head: the rule of its look-back and the queues whose fronts it fetches."""

    name: str
    rule: str
    queues: tuple[Queue, ...]

    @property
    def fetches_parity(self) -> bool:
        """Return whether a queue of this head tests by parity if it reads before the first token."""
        return any(queue.parity_test for queue in self.queues)


def head_plans(machine: QueueMachine, mode: HeadMode) -> tuple[HeadPlan, ...]:
    """Return all heads in the order of the positional coordinates, one per rule even if lengths agree."""
    if mode == "queue":
        columns: dict[str, list[Queue]] = {}
        for queue in machine.queues:
            columns.setdefault(queue.in_column, []).append(queue)
        return tuple(HeadPlan(n, qs[0].length_rule, tuple(qs)) for n, qs in columns.items())
    if mode != "offset":
        expected = "'queue' (one head per queue) or 'offset' (one head per length rule)"
        raise TapeformerError(Fault("unknown kind of heads", expected=expected, got=quoted(mode)))
    groups: dict[str, list[Queue]] = {}
    for queue in machine.queues:
        groups.setdefault(queue.length_rule, []).append(queue)
    groups.pop(CURRENT_TOKEN_RULE, None)
    return tuple(HeadPlan(rule, rule, tuple(queues)) for rule, queues in groups.items())


def layered(plans: tuple[HeadPlan, ...], layers: int) -> tuple[tuple[int, ...], ...]:
    """Return the heads of each layer by number: head k of layer l is r = k L + l, as in Appendix B."""
    total = len(plans)
    if layers < 1 or total % layers:
        divisors = ", ".join(str(n) for n in range(1, total + 1) if total % n == 0) or "1"
        raise TapeformerError(
            Fault(
                f"{total} attention heads do not split evenly into layers",
                expected=f"a number of layers that divides {total}: {divisors}",
                got=str(layers),
            )
        )
    return tuple(tuple(range(layer, total, layers)) for layer in range(layers))
