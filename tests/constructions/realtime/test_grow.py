"""A run that grows emits the tokens of one that had all its levels from the start."""

from __future__ import annotations

import pytest

from tapeformer.constructions.realtime.grow import GrowingRun
from tapeformer.machine.record import TapeKind, TuringMachine
from tapeformer.queues.run import QueueRun, factor_names
from tapeformer.simulator.stepwise import configurations
from tests.constructions.machines import BOUNCER, LEFT_RUNNER, RUNNER, SHUTTLE, random_machine
from tests.constructions.realtime.workloads import REALTIME, zigzag


@pytest.mark.parametrize(
    ("machine", "length", "base", "tokens", "grown"),
    [
        (RUNNER, 0, 2, 300, 4),
        (LEFT_RUNNER, 0, 2, 300, 4),
        (BOUNCER, 0, 2, 4000, 3),
        (zigzag(9, 5), 0, 2, 600, 4),
        (RUNNER, 0, 4, 400, 2),
        (SHUTTLE, 3, 2, 200, 0),
        (random_machine(12, 3, TapeKind.TWO_WAY), 1, 2, 200, None),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_growing_changes_no_token(
    machine: TuringMachine, length: int, base: int, tokens: int, grown: int | None
) -> None:
    word = ("a",) * length
    growing = GrowingRun(machine, word, base)
    levels = growing.layout.levels + 5
    whole = QueueRun(
        REALTIME.queue_machine(machine, levels), REALTIME.layout(machine, levels, base), word
    )
    names = factor_names(whole.machine)
    for _ in range(tokens):
        token = growing.advance()
        small = dict(zip(factor_names(growing.machine), token, strict=True))
        large = dict(zip(names, whole.advance(), strict=True))
        assert small.items() <= {**large, "grow": "0"}.items()
    assert grown is None or growing.grown == grown


def test_a_grown_window_is_decoded() -> None:
    run = GrowingRun(RUNNER, ())
    wanted = configurations(RUNNER, ())
    steps = 0
    for _ in range(150):
        token = run.advance()
        steps += token[factor_names(run.machine).index("stepped")] == "1"
    for _ in range(steps + 1):
        configuration = next(wanted)
    decoded = REALTIME.decode(run.machine.reading, run.layout, run.window())
    assert decoded.tapes == configuration.tapes
