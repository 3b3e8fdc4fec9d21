"""Work that is called off ends, and an error of the work itself is raised as it is."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import enumerate as enumerate_threads

import pytest

from tapeformer.faults import Fault, TapeformerError
from tapeformer.gallery import gallery_machine
from tapeformer.inference.batch.answer_writer import alone_with
from tapeformer.inference.batch.run import run_batch_file
from tapeformer.inference.run import run
from tapeformer.simulator.fast import simulate
from tapeformer.simulator.outcome import Outcome
from tapeformer.workers import in_order
from tapeformer.workers.local import ThreadPool
from tapeformer.workers.processes import ProcessPool
from tapeformer.workers.task import WorkerThread, still_wanted
from tests.workers.worker_processes import waited


@dataclass(frozen=True)
class Patient:
    """Works until it is called off."""

    def ready(self) -> Callable[[int], None]:
        def answer(_: int) -> None:
            while still_wanted():
                time.sleep(0.001)

        return answer


def test_a_thread_whose_work_is_called_off_ends() -> None:
    pool = ThreadPool(Patient())
    answers = in_order(pool, iter([1, 2]), lambda: not pool.ready)
    assert list(answers) == []
    waited(lambda: not pool._thread.is_alive())
    assert still_wanted()


def test_a_batch_that_is_stopped_leaves_no_thread_at_work(tmp_path: Path) -> None:
    begun = time.monotonic()
    one, endless = tmp_path / "inputs", "1RB1RB_1LA1LA"
    one.write_text("\n")
    found = run_batch_file(
        endless, one, tmp_path / "answers", watch=lambda _: time.monotonic() < begun + 2, levels=3
    )
    assert found.answered == 0
    waited(lambda: not any(isinstance(thread, WorkerThread) for thread in enumerate_threads()))


@dataclass(frozen=True)
class Wrong:
    """A task with an error of its own."""

    def ready(self) -> Callable[[int], int]:
        return [1].__getitem__


def test_an_error_of_the_work_itself_is_raised_as_it_is() -> None:
    for pool in (ThreadPool(Wrong()), ProcessPool(Wrong(), 1)):
        with pytest.raises(IndexError):
            list(in_order(pool, iter([5]), lambda: True))


def test_a_watch_that_returns_nothing_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "words").write_text("ab\naba\n")
    seen: list[int] = []
    found = run_batch_file(
        "palindrome", tmp_path / "words", tmp_path / "answers", watch=seen.append, levels=4
    )
    assert found.answered == 2
    assert seen
    assert (
        simulate(gallery_machine("palindrome"), "ab", watch=seen.append).outcome is Outcome.REJECT
    )
    assert run("palindrome", "ab", watch=seen.append).outcome is Outcome.REJECT


def test_work_that_is_refused_leaves_no_empty_file(tmp_path: Path) -> None:
    answers = tmp_path / "answers"
    with pytest.raises(TapeformerError), alone_with(answers):
        raise TapeformerError(Fault("no GPU"))
    assert not answers.exists()
    link = tmp_path / "link"
    link.symlink_to(answers)
    for content in (b"", b"{}\n"):
        answers.write_bytes(content)
        with pytest.raises(TapeformerError), alone_with(link):
            raise TapeformerError(Fault("no GPU"))
        assert link.is_symlink()
        assert answers.read_bytes() == content
    with pytest.raises(TapeformerError), alone_with(answers):
        raise TapeformerError(Fault("no GPU"))
    assert answers.read_bytes() == b"{}\n"


WORK = """
import time
from tapeformer.cli.progress import Watch

with Watch("inputs") as watch:
    print("begun", flush=True)
    while watch(0):
        time.sleep(0.01)
print("stopped")
"""


def test_sigterm_stops_like_control_c() -> None:
    command = [sys.executable, "-c", WORK]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.terminate()
        process.terminate()
        assert process.stdout.read() == "stopped\n"
    assert process.returncode == 0
