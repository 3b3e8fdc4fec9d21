"""Every configuration of every run equals the direct simulation's."""

from __future__ import annotations

import itertools

import pytest

from tapeformer.constructions import construction
from tapeformer.faults import TapeformerError
from tapeformer.machine.record import AcceptOn, Move, Rule, TapeKind, TuringMachine
from tapeformer.queues.run import QueueRun, factor_names
from tapeformer.queues.verify import verify, verify_layout
from tests.constructions.follow import follow
from tests.constructions.machines import RUNNER, one_tape, random_machine, stopping_machines
from tests.constructions.realtime.workloads import (
    REALTIME,
    excursions,
    random_case,
    sweeper,
    zigzag,
)


@pytest.mark.parametrize(
    "seeds",
    [range(0, 32), range(32, 64), pytest.param(range(64, 200), marks=pytest.mark.slow)],
)
def test_random_machines(seeds: range) -> None:
    for seed in seeds:
        case = random_case(seed)
        ended = follow("realtime", case.machine, case.word, case.layout, steps=40)
        assert ended.tokens >= ended.steps


@pytest.mark.parametrize("seed", range(1000, 1012))
def test_at_every_token_with_every_promise_checked(seed: int) -> None:
    case = random_case(seed)
    follow(
        *("realtime", case.machine, case.word, case.layout), steps=25, slow=True, every_token=True
    )


@pytest.mark.parametrize("seed", range(4000, 4016))
def test_symbols_kept_as_bits(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.setattr("tapeformer.constructions.realtime.code.SMALL", 1)
    case = random_case(seed)
    assert any(queue.name.endswith(".bit0") for queue in case.built().queues)
    follow("realtime", case.machine, case.word, case.layout, steps=40, every_token=True)


@pytest.mark.parametrize(("levels", "base"), [(3, 2), (6, 2), (3, 4), (2, 6), (2, 8)])
@pytest.mark.parametrize(
    "machine",
    [
        *(sweeper(TapeKind.TWO_WAY), sweeper(TapeKind.ONE_WAY)),
        *(excursions(1), zigzag(3, 1), zigzag(7, 5), zigzag(20, 18)),
    ],
    ids=lambda machine: f"{machine.name} {machine.tape_kind.value}",
)
def test_workloads_up_to_the_capacity(machine: TuringMachine, levels: int, base: int) -> None:
    layout = REALTIME.layout(machine, levels, base)
    follow("realtime", machine, (), layout, steps=400)


@pytest.mark.parametrize(("levels", "base"), [(2, 2), (5, 2), (2, 4), (3, 4), (2, 6), (2, 8)])
def test_every_length_of_input_is_loaded(levels: int, base: int) -> None:
    machine = one_tape("still", "q x x S q")
    layout = REALTIME.layout(machine, levels, base)
    built = REALTIME.queue_machine(machine, levels)
    for length in range(REALTIME.longest_word(layout) + 1):
        word = ("a", "_", "_", "a", "a")[:length] + ("a",) * (length - 5)
        ended = follow("realtime", machine, word, layout, steps=1, every_token=True, built=built)
        assert (ended.verdict, ended.steps) == ("halt", 0)


def test_symbols_that_look_like_the_machine_s_own() -> None:
    odd = (".", "$", "-", "0", "1", ".'", "none", "push", "two words")
    rules = [Rule("q", (s,), (t,), (Move.RIGHT,), "q") for s, t in itertools.pairwise(odd)]
    machine = TuringMachine("odd names", 1, " ", "q", tuple(rules), more_symbols=odd)
    layout = REALTIME.layout(machine, 5)
    ended = follow("realtime", machine, odd, layout, steps=20, slow=True, every_token=True)
    assert (ended.verdict, ended.steps) == ("halt", len(odd) - 1)


@pytest.mark.parametrize("accept_on", AcceptOn)
@pytest.mark.parametrize("no_rule_rejects", [False, True])
def test_every_way_to_stop(accept_on: AcceptOn, no_rule_rejects: bool) -> None:
    for machine in stopping_machines(accept_on, no_rule_rejects):
        layout = REALTIME.layout(machine, 2)
        follow("realtime", machine, (), layout, steps=3, slow=True, every_token=True)


@pytest.mark.parametrize("machine", [RUNNER, one_tape("two steps", "a _ x R b", "b _ x R c")])
def test_a_stopped_machine_stays_as_it_is(machine: TuringMachine) -> None:
    layout = REALTIME.layout(machine, 3)
    run = QueueRun(REALTIME.queue_machine(machine, 3), layout, ())
    verdict = factor_names(run.machine).index("verdict")
    while (last := run.advance())[verdict] == "run":
        pass
    stopped = REALTIME.decode(run.machine.reading, layout, run.window())
    for _ in range(50):
        assert run.advance()[verdict] == last[verdict]
        assert REALTIME.decode(run.machine.reading, layout, run.window()) == stopped


@pytest.mark.parametrize("tapes", [1, 2, 3])
@pytest.mark.parametrize("levels", [2, 3, 4])
def test_the_machine_is_legal_and_has_4kk_columns(tapes: int, levels: int) -> None:
    machine = random_machine(tapes, tapes, TapeKind.ONE_WAY)
    built = REALTIME.queue_machine(machine, levels)
    assert len({queue.in_column for queue in built.queues}) == 4 * tapes * levels
    assert not verify(built)
    for base in (2, 4, 6, 8):
        assert not verify_layout(built, REALTIME.layout(machine, levels, base))


@pytest.mark.parametrize("name", ["mark", "track0"])
def test_a_window_that_no_run_leaves_is_refused(name: str) -> None:
    layout = REALTIME.layout(RUNNER, 3)
    run = QueueRun(REALTIME.queue_machine(RUNNER, 3), layout, ())
    for _ in range(40):
        run.advance()
    blanks = {q.name: q.blank for q in run.machine.queues if q.name.endswith(name)}
    names = factor_names(run.machine)
    spoilt = [
        tuple(blanks.get(n, value) for n, value in zip(names, token, strict=True))
        for token in run.window()
    ]
    with pytest.raises(TapeformerError, match="the window cannot be read"):
        construction("realtime").decode(run.machine.reading, layout, spoilt)
