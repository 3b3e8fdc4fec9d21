"""The real-time construction: one token per step in base 2, and levels that grow in flight."""

from tapeformer.constructions.decoded import checking
from tapeformer.constructions.realtime.decode import decode
from tapeformer.constructions.realtime.layout import NAME, layout, longest_word, with_shared_rules
from tapeformer.constructions.realtime.sizes import choose, more_levels
from tapeformer.constructions.record import Construction
from tapeformer.constructions.sizes import Sizes
from tapeformer.machine.record import TuringMachine
from tapeformer.queues.record import QueueMachine

__all__ = ["REALTIME"]


def _queue_machine(machine: TuringMachine, levels: int) -> QueueMachine:
    from tapeformer.constructions.realtime.tapes_to_queues import queue_machine

    return queue_machine(machine, levels)


def _grows(asked: Sizes) -> bool:
    return asked.open


REALTIME = Construction(
    name=NAME,
    layout=layout,
    queue_machine=_queue_machine,
    decode=checking(decode),
    longest_word=longest_word,
    choose=choose,
    grows=_grows,
    more_levels=more_levels,
    share_heads=with_shared_rules,
    tied_levels=True,
)
