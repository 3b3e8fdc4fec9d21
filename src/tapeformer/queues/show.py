"""A queue machine as text: its queues by length, its registers, and the size of its step."""

from __future__ import annotations

from collections.abc import Sequence

from tapeformer.circuit.show import size
from tapeformer.layout import Layout
from tapeformer.queues.record import QueueMachine, Token
from tapeformer.queues.run import factor_names


def show(machine: QueueMachine, layout: Layout | None = None) -> str:
    """What a token carries, one line each; with a layout also how long the queues are."""
    made = size(machine.step)
    head = f"{machine.name}: {len(machine.queues)} queues, {len(machine.registers)} registers"
    queues = [
        f"queue {queue.name}: {_length(queue.length_rule, layout)}, {_values(queue.alphabet)}"
        for queue in machine.queues
    ]
    registers = [f"register {r.name}: {_values(r.alphabet)}" for r in machine.registers]
    step = f"step: {made.ands} ands, {made.sums} sums, depth {made.depth}"
    return "\n".join([head, *queues, *registers, step])


def show_token(machine: QueueMachine, token: Token) -> str:
    """The factors of a token that are not as they were at the very beginning."""
    quiet = [queue.blank for queue in machine.queues] + [r.start for r in machine.registers]
    named = zip(factor_names(machine)[:-1], token, quiet, strict=False)
    return " ".join(f"{name}={value}" for name, value, usual in named if value != usual)


def _length(rule: str, layout: Layout | None) -> str:
    return rule if layout is None else f"{rule} = {layout.lengths[rule]}"


def _values(alphabet: Sequence[str]) -> str:
    return " ".join(alphabet)
