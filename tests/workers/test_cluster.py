"""Batches, datasets and sweeps on a real Dask cluster of two processes."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from distributed import Client, LocalCluster

from tapeformer.bench.sweep import Measurement, swept
from tapeformer.bench.theorem import Point, measure
from tapeformer.export.dataset import DatasetOptions, write_dataset
from tapeformer.faults import TapeformerError
from tapeformer.inference.batch import BatchModel, BatchOptions, files, run_file
from tapeformer.workers import Where, in_order
from tapeformer.workers import cluster as workers_of_a_cluster
from tapeformer.workers.cluster import ClusterPool, servers
from tests.workers.worker_processes import BUNDLE, INPUTS, MACHINE, killing, waited


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


def test_workers_of_a_cluster_drop_a_task_that_is_done(cluster: LocalCluster) -> None:
    pool = ClusterPool(Measurement(len, ()), cluster.scheduler_address)
    with Client(cluster, set_as_default=False) as client:  # type: ignore[no-untyped-call]
        assert list(in_order(pool, iter(["abc"]), lambda: True)) == [3]
        assert set(client.run(lambda: len(servers)).values()) == {0}


def test_workers_of_a_cluster_are_counted_again(
    cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(ClusterPool(Measurement(len, ()), cluster.scheduler_address)) as pool:
        pool.room = 0
        pool.check()
        assert pool.room == 0
        monkeypatch.setattr(workers_of_a_cluster, "COUNT_AGAIN", 0.0)

        def counted() -> bool:
            pool.check()
            return pool.room == 4

        waited(counted)  # a worker that another test has killed may still be starting


class Unknown:
    """A task that only this process can load."""

    def __reduce__(self) -> tuple[Any, ...]:
        return loaded_in, (os.getpid(),)

    def ready(self) -> Callable[[int], int]:
        raise NotImplementedError


def loaded_in(process: int) -> Unknown:
    if os.getpid() != process:
        raise ImportError("no module named tapeformer")
    return Unknown()


def test_a_task_that_workers_of_a_cluster_cannot_load_is_told(cluster: LocalCluster) -> None:
    with Client(cluster, set_as_default=False) as client:  # type: ignore[no-untyped-call]

        def plugins() -> list[str]:
            found = client.run_on_scheduler(
                lambda dask_scheduler: list(dask_scheduler.worker_plugins)
            )
            return list(found)

        before = plugins()
        with pytest.raises(TapeformerError, match=r"cannot load the work.*no module.*same ver"):
            ClusterPool(Unknown(), cluster.scheduler_address)
        assert plugins() == before


def test_a_cluster_measures_the_points_of_a_sweep_in_order(cluster: LocalCluster) -> None:
    points = [Point("fill_and_drain", "paper", 2, space) for space in (32, 16, 24)]
    measured = list(swept(measure, points, "sparse", cluster=cluster.scheduler_address))
    assert measured == list(swept(measure, points, "sparse"))
    assert len(measured) == 3


def test_a_scheduler_that_is_not_there_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tapeformer.workers.cluster.CONNECT", 1)
    model = BatchModel(MACHINE, BUNDLE, BatchOptions(cache=tmp_path))
    where = Where(cluster="tcp://127.0.0.1:9")
    with pytest.raises(TapeformerError, match="cannot be reached"):
        run_file(model, INPUTS, tmp_path / "answers", where=where)


def test_an_error_of_the_work_itself_is_raised_once(cluster: LocalCluster, tmp_path: Path) -> None:
    pool = ClusterPool(Measurement(failing, (tmp_path / "tried",)), cluster.scheduler_address)
    with pytest.raises(ZeroDivisionError):
        list(in_order(pool, iter([1]), lambda: True))
    assert (tmp_path / "tried").read_text() == "x"


def failing(_: int, tried: Path) -> float:
    with tried.open("a") as file:
        file.write("x")
    return 1 / 0


def test_a_scheduler_without_workers_is_told(caplog: pytest.LogCaptureFixture) -> None:
    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as alone,  # type: ignore[no-untyped-call]
        closing(ClusterPool(Measurement(len, ()), alone.scheduler_address)) as pool,
    ):
        pool._count()
        (warning,) = (text for text in caplog.messages if "has no workers" in text)
        assert f"start one with `dask worker {alone.scheduler_address}`" in warning


def test_a_server_that_is_no_scheduler_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers_of_a_cluster, "CONNECT", 1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(TapeformerError, match=r"cannot be reached.*running dask scheduler"):
            ClusterPool(Measurement(len, ()), address)
