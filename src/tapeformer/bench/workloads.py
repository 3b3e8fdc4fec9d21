"""Machines made to be measured: how much space they use is the length of their input."""

from __future__ import annotations

from dataclasses import dataclass

from tapeformer.formats.registry import OWN_FORMAT, loads
from tapeformer.machine.record import TuringMachine

_SWEEP = """
name: {name}
description: Goes over its input to the right and back to the left, {rounds} times.
blank: _
start state: right1
table:
{rows}
  done:
"""

_ZIGZAG = """
name: zigzag
description: Turns at one mark more on either side each time, until a mark meets the end.
blank: _
start state: right
table:
  right:
    x: R
    a: {write: x, L: left}
    _: {L: done}
  left:
    x: L
    [a, _]: {R: right}
  done:
"""

_EXCURSIONS = """
name: excursions
description: From every cell of the input goes to the left end and back.
blank: _
start state: out
table:
  out:
    a: {write: x, L: home}
    _: {L: done}
  home:
    x: L
    _: {R: back}
  back:
    x: R
    a: {write: x, L: home}
    _: {L: done}
  done:
"""

_COPY = """
name: three_tapes
description: Copies its input to two more tapes, then takes all heads back.
tapes: 3
blank: _
start state: copy
table:
  copy:
    [a, _, _]: {write: [a, b, c], move: RRR}
    [_, _, _]: {move: LLL, to: back}
  back:
    [a, b, c]: LLL
    [_, _, _]: {move: RRR, to: done}
  done:
"""


@dataclass(frozen=True)
class Workload:
    """A machine and its input for a size."""

    machine: TuringMachine

    def word(self, space: int) -> tuple[str, ...]:
        """Return an input that makes the machine use about so many cells."""
        return ("a",) * max(space - 1, 1)


def sweep(rounds: int = 2, name: str = "fill_and_drain") -> TuringMachine:
    """Fill one stack and drain the other, then the reverse."""
    rows = []
    for n in range(1, rounds + 1):
        following = f"right{n + 1}" if n < rounds else "done"
        rows.append(f"  right{n}: {{a: R, _: {{L: left{n}}}}}")
        rows.append(f"  left{n}: {{a: L, _: {{R: {following}}}}}")
    return loads(
        _SWEEP.format(name=name, rounds=rounds, rows="\n".join(rows)), format_name=OWN_FORMAT
    )


WORKLOADS: dict[str, Workload] = {
    "fill_and_drain": Workload(sweep()),
    "zigzag": Workload(loads(_ZIGZAG, format_name=OWN_FORMAT)),
    "excursions": Workload(loads(_EXCURSIONS, format_name=OWN_FORMAT)),
    "three_tapes": Workload(loads(_COPY, format_name=OWN_FORMAT)),
}
