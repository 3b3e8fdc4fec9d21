"""Growing in flight: a further level is added in the token in which it would start.

Up to that token a machine with k' levels and one with k' + 1 emit the same tokens in the fields
both have. The first token with `grow` set is dropped, the kept tokens get the new level's fields,
all blank, and the token is generated again. It is enough to keep the window of k' levels: older
tokens are only read by the new level's queues, where they hold blanks.
"""

from __future__ import annotations

from collections.abc import Sequence

from tapeformer.constructions.realtime.layout import fewest_levels, layout
from tapeformer.constructions.realtime.tapes_to_queues import queue_machine
from tapeformer.machine.record import TuringMachine
from tapeformer.queues.record import QueueMachine, Token
from tapeformer.queues.run import QueueRun, factor_names

GROW = "grow"


def extended(old: QueueMachine, new: QueueMachine, tokens: Sequence[Token]) -> tuple[Token, ...]:
    """Return tokens of a machine as tokens of one with more levels, which are blank and not started.

    The new queues come after the old ones, and the new registers after the old ones.
    """
    queues, registers = len(old.queues), len(old.registers)
    more_queues = tuple(queue.blank for queue in new.queues[queues:])
    more_registers = tuple(register.start for register in new.registers[registers:])
    return tuple(
        (*token[:queues], *more_queues, *token[queues:-1], *more_registers, token[-1])
        for token in tokens
    )


class GrowingRun:
    """A run that begins with the fewest levels that its input needs and adds more on demand."""

    def __init__(
        self,
        machine: TuringMachine,
        word: Sequence[str],
        base: int = 2,
        levels: int | None = None,
        steps: int = 1,
    ) -> None:
        self.turing_machine, self.steps = machine, steps
        self.grown = 0
        self.layout = layout(machine, levels or fewest_levels(len(word), base), base, steps=steps)
        self.machine = queue_machine(machine, self.layout.levels, steps)
        self._run = QueueRun(self.machine, self.layout, word)
        self._grow = factor_names(self.machine).index(GROW)

    def advance(self) -> Token:
        """Append one token, after adding a level if it needs one."""
        while self._run.following()[self._grow] == "1":
            self._add_level()
        return self._run.advance()

    def window(self) -> tuple[Token, ...]:
        """Return the last tokens, as many as the present levels need."""
        return self._run.window()

    def _add_level(self) -> None:
        old, kept = self.machine, self._run.window()
        levels, base, steps = self.layout.levels + 1, self.layout.base, self.steps
        self.layout = layout(self.turing_machine, levels, base, steps=steps)
        self.machine = queue_machine(self.turing_machine, levels, steps)
        tokens = extended(old, self.machine, kept)
        self._run = QueueRun.resumed(self.machine, self.layout, tokens, self._run.count)
        self._grow = factor_names(self.machine).index(GROW)
        self.grown += 1
