"""Every configuration of every token with several steps equals the direct simulation's."""

from __future__ import annotations

import pytest

from tapeformer import gallery_machine
from tapeformer.constructions import construction
from tapeformer.machine.record import TapeKind, TuringMachine
from tapeformer.queues.run import factor_names
from tapeformer.queues.verify import verify, verify_layout
from tests.campaigns.speedup import wrong_counts
from tests.constructions.follow import MismatchError
from tests.constructions.machines import LEFT_RUNNER, RUNNER, letters, one_tape, random_machine
from tests.constructions.realtime.speedup.cases import (
    SpeedupCase,
    as_case,
    boot_tokens,
    followed,
    speedup_case,
)
from tests.constructions.realtime.workloads import excursions, sweeper, zigzag


@pytest.mark.parametrize("seed", range(0, 300, 25))
def test_a_sample_of_the_random_machines(seed: int) -> None:
    case = speedup_case(seed)
    assert not wrong_counts(case, followed(case, most=60))


@pytest.mark.parametrize("seed", [2, 4, 13])
def test_every_promise_of_the_circuit_is_kept(seed: int) -> None:
    case = speedup_case(seed)
    fixed = SpeedupCase(case.machine, case.word, case.steps_per_token, case.layout, grows=False)
    followed(fixed, most=40, slow=True)


@pytest.mark.parametrize("name", ["palindrome", "left_end"])
def test_a_sample_of_the_gallery(name: str) -> None:
    machine = gallery_machine(name)
    for number, case in enumerate(machine.cases[:2]):
        made = as_case(machine, case.word, 3 + number, levels=5)
        assert not wrong_counts(made, followed(made, most=80))


@pytest.mark.parametrize("base", [2, 4])
@pytest.mark.parametrize(
    "machine", [sweeper(TapeKind.ONE_WAY), excursions(1), zigzag(7, 5)], ids=lambda m: m.name
)
def test_sweeps_and_excursions(machine: TuringMachine, base: int) -> None:
    followed(as_case(machine, (), 4, levels=3, base=base), most=300)


@pytest.mark.parametrize(
    ("base", "levels", "steps"), [(2, 5, 2), (2, 4, 3), (4, 3, 2), (8, 2, 3), (10, 2, 2)]
)
def test_every_length_of_input_is_loaded(base: int, levels: int, steps: int) -> None:
    """In larger bases a block may find no room: the rest of the prompt goes round once more."""
    machine = one_tape("still", "q x x S q", "p a b S p")
    realtime = construction("realtime", steps)
    layout = realtime.layout(machine, levels, base)
    longest = realtime.longest_word(layout)
    for length in range(0, longest + 1, 1 if longest < 10 else 3):
        case = SpeedupCase(machine, letters(length), steps, layout, grows=False)
        ended = followed(case, most=1)
        assert (ended.verdict, ended.steps) == ("halt", 0)
        assert base > 2 or ended.boot == boot_tokens(length, steps)


def test_a_prompt_goes_round_more_than_once_in_a_large_base() -> None:
    machine = one_tape("still", "q x x S q", "p a b S p")
    case = as_case(machine, letters(30), 2, levels=2, base=40)
    assert followed(case, most=1).boot > 2 * 40


@pytest.mark.parametrize("machine", [RUNNER, LEFT_RUNNER], ids=lambda m: m.name)
@pytest.mark.parametrize("steps", [2, 3, 4])
def test_out_of_space_at_every_remainder(machine: TuringMachine, steps: int) -> None:
    """The runner starts at every place of a block, and stops with all its cells where it was."""
    for length in range(steps):
        case = as_case(machine, (), steps, levels=2)
        shifted = one_tape(
            "late runner",
            *(f"s{i} _ _ R s{i + 1}" for i in range(length)),
            *(f"s{length} _ a {'R' if machine is RUNNER else 'L'} s{length}",),
        )
        case = SpeedupCase(shifted, (), steps, case.layout, grows=False)
        ended = followed(case, most=10**4)
        assert ended.verdict == "out_of_space"
        assert ended.steps % steps == 0
        assert ended.steps >= case.layout.capacity


@pytest.mark.parametrize("tapes", [1, 3])
def test_the_machine_is_legal(tapes: int) -> None:
    machine = random_machine(tapes, tapes, TapeKind.ONE_WAY)
    realtime = construction("realtime", 3)
    built = realtime.queue_machine(machine, 3)
    assert not verify(built)
    for base in (2, 4):
        assert not verify_layout(built, realtime.layout(machine, 3, base))


def test_a_changed_bit_of_the_window_is_seen() -> None:
    case = as_case(sweeper(TapeKind.TWO_WAY), (), 3, levels=3)
    run = case.run()
    right, names = run.step, factor_names(run.machine)
    place = names.index("tape1/window4.bit0")
    run.step = lambda values: (*(made := right(values))[:place], "0", *made[place + 1 :])
    with pytest.raises(MismatchError):
        followed(case, most=200, run=run)
