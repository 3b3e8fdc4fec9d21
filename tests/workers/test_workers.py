"""A batch that is killed, or whose workers are, leaves nothing behind and loses no answer."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from errno import EAGAIN
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NoReturn

import pytest

from tapeformer.bench.sweep import Measurement
from tapeformer.faults import Fault, TapeformerError
from tapeformer.inference.batch import BatchModel, BatchOptions, files, run_file
from tapeformer.workers import Task, Where, in_order, local, pool_at
from tapeformer.workers.local import LocalPool
from tapeformer.workers.processes import ProcessPool
from tests.campaigns.kills import Place, left_behind, new_place
from tests.workers.worker_processes import (
    BUNDLE,
    INPUTS,
    MACHINE,
    killing,
    running,
    waited,
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return new_place(tmp_path_factory.mktemp("kills"), "place")


@pytest.fixture(scope="module")
def whole(place: Place) -> bytes:
    return place.result(batch=True)


@pytest.mark.parametrize("kind", [signal.SIGKILL, signal.SIGINT])
def test_killed_in_the_middle_the_next_run_is_right(
    kind: signal.Signals, place: Place, whole: bytes
) -> None:
    place.answers.unlink(missing_ok=True)
    process = place.started(batch=True)
    waited(lambda: place.answers.exists() and place.answers.stat().st_size > 0)
    (os.killpg if kind == signal.SIGINT else os.kill)(process.pid, kind)
    _, errors = process.communicate()
    assert left_behind(process.pid) == []
    if process.returncode == 0:
        assert place.answers.read_bytes() == whole
    elif kind == signal.SIGINT:
        assert process.returncode == 130
        assert errors.count("\n") == 1
        assert "run the same command again to resume" in errors
    assert place.result(batch=True) == whole


def test_a_process_that_dies_costs_no_answer(
    tmp_path: Path, alone: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MOST_LINES", files.FEWEST_LINES)
    model = BatchModel(MACHINE, BUNDLE, BatchOptions(cache=tmp_path))

    def victims() -> list[int]:
        return [child.pid for child in running() if child.pid]

    monkeypatch.setattr(files, "pool_at", lambda _, task: ProcessPool(task, 2))
    found = run_file(model, INPUTS, tmp_path / "answers", watch=killing(victims))
    assert found.answered == len(INPUTS)
    assert (tmp_path / "answers").read_bytes() == alone


SCRIPT = """
print("begun")
from tapeformer.bench.sweep import Measurement
from tapeformer.workers import in_order
from tapeformer.workers.processes import ProcessPool

print(list(in_order(ProcessPool(Measurement(len, ()), 2), iter(["abc", "de"]), lambda: True)))
"""


ORPHANS = """
import time
from tapeformer.bench.sweep import Measurement
from tapeformer.workers.processes import ProcessPool

pool = ProcessPool(Measurement(len, ()), 2)
for loaded in pool.loading():
    loaded.result()
print("loaded", flush=True)
time.sleep(100)
"""


def test_processes_end_when_the_one_that_started_them_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(ORPHANS)
    command = [sys.executable, str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"loaded\n"
        process.kill()
    assert left_behind(process.pid) == []


def test_a_task_that_fails_is_not_recovered() -> None:
    pool, failed = LocalPool(Measurement(len, ()), 2), Future[Any]()
    failed.set_exception(ValueError())
    assert not pool.recover(failed)
    pool._processes = ProcessPool(Measurement(len, ()), 1)
    assert not pool.recover(failed)
    pool.close()


def test_a_group_that_was_cancelled_is_lost_with_its_process() -> None:
    pool, cancelled = ProcessPool(Measurement(len, ()), 1), Future[Any]()
    cancelled.cancel()
    assert pool.recover(cancelled)
    pool.close()
    assert not pool.recover(cancelled)


def failing(kind: type[Exception]) -> Callable[..., NoReturn]:
    def no_process(*_: object) -> NoReturn:
        raise kind(EAGAIN, "Resource temporarily unavailable")

    return no_process


@pytest.mark.parametrize("method", ["__init__", "loading"])
@pytest.mark.parametrize("kind", [OSError, RuntimeError])
def test_where_no_process_can_start_the_thread_goes_on(
    kind: type[Exception],
    method: str,
    tmp_path: Path,
    alone: bytes,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(ProcessPool, method, failing(kind))
    monkeypatch.setattr(local, "PATIENCE", 0.0)
    monkeypatch.setattr(files, "MOST_LINES", files.FEWEST_LINES)
    model = BatchModel(MACHINE, BUNDLE, BatchOptions(cache=tmp_path))
    run_file(model, INPUTS, tmp_path / "answers", where=Where(processes=2))
    assert (tmp_path / "answers").read_bytes() == alone
    (warning,) = caplog.messages
    assert "one process does all the work" in warning
    assert "Resource temporarily unavailable" in warning


def answered_by_a_daemon(folder: Path) -> None:
    local.PATIENCE, files.MOST_LINES = 0.0, files.FEWEST_LINES
    model, two = BatchModel(MACHINE, BUNDLE, BatchOptions(cache=folder)), Where(processes=2)
    run_file(model, INPUTS, folder / "answers", where=two)


def test_a_daemon_which_may_start_no_process_answers_alone(tmp_path: Path, alone: bytes) -> None:
    with get_context("spawn").Pool(1) as pool:
        pool.apply(answered_by_a_daemon, (tmp_path,))
    assert (tmp_path / "answers").read_bytes() == alone


def test_the_thread_ends_once_processes_have_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "PATIENCE", 0.0)
    pool = LocalPool(Measurement(len, ()), 2)
    answers = in_order(pool, iter(["ab"] * 10**6), lambda: True)
    waited(lambda: next(answers) == 2 and pool._pool is pool._processes)
    waited(lambda: not pool._thread._thread.is_alive())
    next(answers)
    assert pool._thread._groups.empty()
    answers.close()


def test_processes_that_were_closed_are_not_started_again() -> None:
    pool = ProcessPool(Measurement(len, ()), 2)
    for loaded in pool.loading():
        loaded.result()
    for child in running():
        child.kill()
    with pytest.raises(BrokenProcessPool):
        pool.submit("abc").result()
    pool.close()
    for start in (lambda: pool.submit("abc"), pool.loading):
        with pytest.raises(CancelledError):
            start()
    assert running() == []


def test_threads_that_start_processes_leave_the_script_in_its_place() -> None:
    script, pools = sys.modules["__main__"], [ProcessPool(Measurement(len, ()), 3) for _ in "ab"]
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(ProcessPool.loading, pools))
    for pool in pools:
        pool.close()
    assert sys.modules["__main__"] is script


def test_a_script_needs_no_guard(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, str(script)]
    found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert (found.stdout, found.stderr) == ("begun\n[3, 2]\n", "")


@dataclass(frozen=True)
class Refusing:
    def ready(self) -> Callable[[int], int]:
        raise TapeformerError((Fault("one thing"), Fault("another")))


@dataclass(frozen=True)
class Dying:
    def ready(self) -> Callable[[int], int]:
        return lambda _: os._exit(3)


@dataclass(frozen=True)
class Slow:
    """Answers the first groups last."""

    def ready(self) -> Callable[[int], int]:
        def answer(group: int) -> int:
            time.sleep(0.03 if group % 3 else 0.1)
            return group

        return answer


@pytest.mark.parametrize("processes", [1, 2])
def test_groups_come_out_in_the_order_they_went_in(
    processes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tapeformer.workers.ordered.AHEAD", 3)
    pool = pool_at(Where(processes), Slow())
    assert list(in_order(pool, iter(range(20)), lambda: True)) == list(range(20))


@pytest.mark.parametrize(
    ("task", "message"), [(Refusing(), "one thing\nerror: another"), (Dying(), "has ended before")]
)
def test_a_worker_that_fails_is_told(task: Task[int, int], message: str) -> None:
    with pytest.raises(TapeformerError, match=message):
        list(in_order(ProcessPool(task, 2), iter([1]), lambda: True))


@dataclass(frozen=True)
class Endless:
    """Says in a file that it has begun, and goes on for longer than anybody waits."""

    begun: Path

    def ready(self) -> Callable[[int], None]:
        def answer(_: int) -> None:
            self.begun.touch()
            time.sleep(600)

        return answer


def test_processes_that_are_at_work_end_at_once(tmp_path: Path) -> None:
    pool = ProcessPool(Endless(tmp_path / "begun"), 1)
    pool.submit(1)
    waited((tmp_path / "begun").exists)
    begun = time.monotonic()
    pool.close()
    assert time.monotonic() - begun < 60
    assert running() == []
