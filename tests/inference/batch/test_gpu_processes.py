"""Batches on a GPU that several processes share, here with kernels that run on the processor."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import tapeformer as tf
from tapeformer.engines import gpu
from tapeformer.engines.batch import BatchEngine
from tapeformer.engines.gpu.batch import GpuBatch
from tapeformer.engines.gpu.kernel import kernel_of
from tapeformer.faults import TapeformerError
from tapeformer.inference.batch import BatchModel, engine_choice, files, recorder, runner
from tapeformer.inference.decode import Reader
from tapeformer.inference.workers import Where, places
from tapeformer.inference.workers.processes import ProcessPool
from tests.engines.gpu.processor_device import ProcessorDevice
from tests.engines.gpu.test_driver import built

WORDS = [f"{number:b}" for number in range(1, 700)] + ["x", "1" * 600]
GROUP = 256


def on_processor(reader: Reader, options: runner.BatchOptions) -> BatchEngine:  # noqa: ARG001
    """Return the GPU's engine on a device that needs no GPU."""
    bundle = reader.bundle
    kernel = kernel_of(bundle.weights, bundle.offsets, reader.goes_on, reader.step_values)
    return GpuBatch(bundle.weights, bundle.offsets, lambda: ProcessorDevice(kernel.text))


@dataclass(frozen=True)
class ProcessorLines:
    """The task of a batch in a worker without a GPU; workers leave their numbers in a folder."""

    model: BatchModel

    def ready(self) -> Callable[[Sequence[str]], recorder.Answered]:
        """Load the model for the processor."""
        runner.batch_engine = on_processor
        answer = recorder.AnswerLines(self.model).ready()
        workers = Path(os.environ["WORKERS"])

        def answered(texts: Sequence[str]) -> recorder.Answered:
            (workers / f"{texts[0]}.{os.getpid()}").touch()
            return answer(texts)

        return answered


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of words for more than one group, all of them answered in processes."""
    monkeypatch.setattr(gpu, "INPUTS", GROUP)
    monkeypatch.setattr(places, "LocalPool", ProcessPool)
    path = tmp_path / "words"
    path.write_text("".join(f"{word}\n" for word in WORDS))
    return path


def answered(words: Path, name: str, **options: Any) -> bytes:
    answers = words.with_name(name)
    tf.run_batch_file("binary_increment", words, answers, levels=7, **options)
    return answers.read_bytes()


def test_processes_answer_in_order_what_the_native_engine_answers(
    words: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers = tmp_path / "workers"
    workers.mkdir()
    monkeypatch.setenv("WORKERS", str(workers))
    native = answered(words, "native", engine="native")
    monkeypatch.setattr(files, "AnswerLines", ProcessorLines)
    found = answered(words, "gpu", engine="gpu")
    assert found.count(b'"engine": "gpu"') > GROUP
    assert found.replace(b'"engine": "gpu"', b'"engine": "native"') == native
    assert len(list(workers.iterdir())) == 3
    assert not list(workers.glob(f"*.{os.getpid()}"))
    half = found[: len(found) // 2]
    words.with_name("gpu").write_bytes(half)
    assert answered(words, "gpu", engine="gpu") == found


@pytest.mark.parametrize(
    "failing",
    [
        "cuInit=100",
        pytest.param("cuMemAlloc_v2=2", marks=pytest.mark.slow),
        pytest.param("cuLaunchKernel=700", marks=pytest.mark.slow),
    ],
)
def test_a_driver_that_fails_in_a_process(
    words: Path, tmp_path: Path, failing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.rename(built(tmp_path), tmp_path / "libcuda.so.1")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    monkeypatch.setenv("STANDIN", failing)
    with pytest.raises(TapeformerError, match=failing.split("=")[0]) as caught:
        answered(words, "gpu", engine="gpu")
    assert len(caught.value.faults) == 1
    monkeypatch.setattr(engine_choice, "has_gpu", lambda: True)
    monkeypatch.setattr(engine_choice, "LEAST_INPUTS", 1)
    monkeypatch.setattr(engine_choice, "LEAST_TOKENS", 1)
    assert b'"engine": "gpu"' not in answered(words, "auto", engine="auto")


@pytest.mark.parametrize(
    ("cores", "groups", "count"), [(16, 1, 1), (16, 2.1, 3), (16, 9, 4), (2, 9, 2), (1, 9, 2)]
)
def test_how_many_processes(
    cores: int, groups: float, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    assert files._processes(Where(), groups, on_gpu=True) == count
    assert files._processes(Where(), groups, on_gpu=False) == (1 if groups <= 1 else 2)
