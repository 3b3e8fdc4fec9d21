"""Print a queue machine: its queues, its registers, its prompt, and the size of its step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tapeformer.circuit.show import size
from tapeformer.layout import Layout
from tapeformer.listing import first
from tapeformer.queues.record import Queue, QueueMachine, Token
from tapeformer.queues.run import factor_names


def show(machine: QueueMachine, layout: Layout | None = None, limit: int | None = None) -> str:
    """Return what a token carries, one line each; with a layout also how long the queues are.

    Of queues and of registers at most `limit` lines are returned. The step is a circuit, which
    `circuit.show` prints.
    """
    made = size(machine.step)
    head = f"{machine.name}: queues {len(machine.queues)}, registers {len(machine.registers)}"
    queues = (_queue(queue, layout) for queue in machine.queues)
    registers = (
        f"register {r.name}: {_values(r.alphabet)}; starts as {r.start}" for r in machine.registers
    )
    return "\n".join(
        [
            head,
            *first(queues, limit, len(machine.queues), "queues"),
            *first(registers, limit, len(machine.registers), "registers"),
            *_prompt(machine),
            f"step: ands {made.ands}, sums {made.sums}, depth {made.depth}",
        ]
    )


def show_token(machine: QueueMachine, token: Token) -> str:
    """Return the factors of a token that are not as they were at the very beginning."""
    quiet = [queue.blank for queue in machine.queues] + [r.start for r in machine.registers]
    named = zip(factor_names(machine)[:-1], token, quiet, strict=False)
    return " ".join(f"{name}={value}" for name, value, usual in named if value != usual)


def _queue(queue: Queue, layout: Layout | None) -> str:
    text = f"queue {queue.name}: {_length(queue.length_rule, layout)}, {_values(queue.alphabet)}"
    text += f"; starts with {queue.blank}"
    text += "" if queue.parity_test else ", not tested by parity"
    return text + (f", in column {queue.column}" if queue.column else "")


def _prompt(machine: QueueMachine) -> Iterator[str]:
    """Yield where the prompt goes, and which registers say how the run stands."""
    receivers = ", ".join((machine.prompt_queue, *machine.prompt_copies))
    symbols = " ".join(
        symbol if symbol == cell else f"{symbol} as {cell}"
        for symbol, cell in machine.prompt_symbols.items()
    )
    yield f"prompt: {machine.prompt_start}, then {symbols or 'nothing'}; into {receivers}"
    yield f"read from: verdict {machine.verdict}, step {machine.stepped}, state {machine.state}"


def _length(rule: str, layout: Layout | None) -> str:
    return rule if layout is None else f"{rule} = {layout.lengths[rule]}"


def _values(alphabet: Sequence[str]) -> str:
    return " ".join(alphabet)
