"""A batch that is killed, or whose workers are, leaves nothing behind and loses no answer."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from distributed import LocalCluster

from tapeformer.bench.sweep import Measurement, swept
from tapeformer.bench.theorem import Point, measure
from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.export.dataset import DatasetOptions, write_dataset
from tapeformer.faults import Fault, TapeformerError
from tapeformer.gallery import gallery_machine
from tapeformer.inference.batch import BatchModel, BatchOptions, Inputs, files, run_file
from tapeformer.inference.workers import Task, Where, in_order, pool_at
from tapeformer.inference.workers.local import LocalPool
from tapeformer.inference.workers.processes import ProcessPool
from tests.campaigns.kills import Place, left_behind, new_place
from tests.inference.batch.worker_processes import running

MACHINE = gallery_machine("palindrome")
INPUTS = Inputs(
    "".join(f"{number:b}\n" for number in range(4000)).translate({48: "a", 49: "b"}).encode()
)
BUNDLE = compile_machine(MACHINE, CompileOptions("paper", levels=1, base=8))


def waited(happened: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.01)


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
    if kind == signal.SIGINT and process.returncode:
        assert process.returncode == 130
        assert errors.count("\n") == 1
        assert "run the same command again to resume" in errors
    assert place.result(batch=True) == whole


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    answers = tmp_path_factory.mktemp("alone") / "answers"
    model = BatchModel(MACHINE, BUNDLE, BatchOptions(cache=answers.parent))
    run_file(model, INPUTS, answers, where=Where(processes=1))
    return answers.read_bytes()


def killing(victims: Callable[[], list[int]]) -> Callable[[int], bool]:
    """A watch that kills one process as soon as something is answered."""
    killed: list[int] = []

    def watch(done: int) -> bool:
        if done and not killed:
            killed.append(victims()[0])
            os.kill(killed[0], signal.SIGKILL)
        return True

    return watch


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
from tapeformer.inference.workers import in_order
from tapeformer.inference.workers.processes import ProcessPool

print(list(in_order(ProcessPool(Measurement(len, ()), 2), iter(["abc", "de"]), lambda: True)))
"""


ORPHANS = """
import time
from tapeformer.bench.sweep import Measurement
from tapeformer.inference.workers.processes import ProcessPool

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


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    made = LocalCluster(  # type: ignore[no-untyped-call]
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    )
    with made:
        yield made


def test_a_cluster_whose_worker_dies_loses_no_answer(
    tmp_path: Path, alone: bytes, cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MOST_LINES", files.FEWEST_LINES)
    model = BatchModel(MACHINE, BUNDLE, BatchOptions(cache=tmp_path))
    where = Where(cluster=cluster.scheduler_address)
    victims = [nanny.process.pid for nanny in cluster.workers.values()]
    found = run_file(
        model, INPUTS, tmp_path / "answers", where=where, watch=killing(lambda: victims)
    )
    assert found.answered == len(INPUTS)
    assert (tmp_path / "answers").read_bytes() == alone


def test_a_cluster_resumes_what_processes_began(
    tmp_path: Path, alone: bytes, cluster: LocalCluster
) -> None:
    model = BatchModel(MACHINE, BUNDLE, BatchOptions(cache=tmp_path))
    answers = tmp_path / "answers"
    begun = run_file(model, INPUTS, answers, watch=lambda done: done == 0)
    assert 0 < begun.answered < len(INPUTS)
    run_file(model, INPUTS, answers, where=Where(cluster=cluster.scheduler_address))
    assert answers.read_bytes() == alone


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_a_cluster_writes_the_same_dataset_and_resumes_it(
    tmp_path: Path, cluster: LocalCluster
) -> None:
    options = DatasetOptions(count=80, lengths=(0, 8), rows_per_shard=20)
    address = cluster.scheduler_address
    write_dataset(["palindrome"], tmp_path / "here", options)
    begun = write_dataset(
        ["palindrome"], tmp_path / "there", options, watch=lambda rows: rows < 50, cluster=address
    )
    assert 0 < sum(split["rows"] for split in begun["palindrome"].values()) < 80
    write_dataset(["palindrome"], tmp_path / "there", options, cluster=address)
    assert files_in(tmp_path / "there") == files_in(tmp_path / "here")


def test_a_cluster_measures_the_points_of_a_sweep_in_order(cluster: LocalCluster) -> None:
    points = [Point("fill_and_drain", "paper", 2, space) for space in (32, 16, 24)]
    measured = list(swept(measure, points, "sparse", cluster=cluster.scheduler_address))
    assert measured == list(swept(measure, points, "sparse"))
    assert len(measured) == 3


def test_a_scheduler_that_is_not_there_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tapeformer.inference.workers.cluster.CONNECT", 1)
    model = BatchModel(MACHINE, BUNDLE, BatchOptions(cache=tmp_path))
    where = Where(cluster="tcp://127.0.0.1:9")
    with pytest.raises(TapeformerError, match="cannot be reached"):
        run_file(model, INPUTS, tmp_path / "answers", where=where)


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
    monkeypatch.setattr("tapeformer.inference.workers.ordered.AHEAD", 3)
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
