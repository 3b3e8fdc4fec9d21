"""Batches on a GPU whose windows other processes read, here with kernels that run on the processor."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from functools import partial
from pathlib import Path
from threading import get_ident
from typing import Any, ClassVar, NoReturn

import numpy as np
import pytest
from numpy.typing import NDArray

import tapeformer as tf
from tapeformer.engines import gpu
from tapeformer.engines.batch import BatchEngine, Ended
from tapeformer.engines.gpu import batch, blocks, driver
from tapeformer.engines.gpu.batch import GpuBatch
from tapeformer.engines.gpu.kernel import kernel_of
from tapeformer.engines.gpu.served_memory import ServedMemory
from tapeformer.faults import Fault, TapeformerError
from tapeformer.inference.batch import engine_choice, readers, recorder, runner
from tapeformer.inference.batch.answer_lines import LineMaker, Lines
from tapeformer.inference.batch.readers import ReaderPool, Readers, useful_readers
from tapeformer.inference.decode import Reader
from tests.engines.gpu.processor_device import ProcessorDevice
from tests.engines.gpu.test_driver import built
from tests.workers.worker_processes import running

WORDS = [f"{number:b}" for number in range(1, 700)] + ["x", "1" * 600]
MIXED = random.Random(5).sample(WORDS, len(WORDS))
GROUP = 256
LEVELS = 7


class FailingDevice(ProcessorDevice):
    """A device that fails when another thread reads it than the one that has made it."""

    def __init__(self, text: str, blocks: int) -> None:
        super().__init__(text, blocks=blocks)
        self.thread = get_ident()

    def download(self, address: int, size: int) -> NDArray[np.uint8]:
        """Fail in the threads that serve readers."""
        if get_ident() == self.thread:
            return super().download(address, size)
        raise TapeformerError(Fault("the GPU failed", got="cuMemcpyDtoH_v2"))


def on(device: type[ProcessorDevice]) -> Callable[..., BatchEngine]:
    """Return the GPU's engine on a device that needs no GPU."""

    def engine(reader: Reader, _: runner.BatchOptions) -> BatchEngine:
        bundle = reader.bundle
        kernel = kernel_of(bundle.weights, bundle.offsets, reader.goes_on, reader.step_values)
        return GpuBatch(bundle.weights, bundle.offsets, lambda: device(kernel.text, blocks=8))

    return engine


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of words for more than one group, each block read by a process of its own."""
    monkeypatch.setattr(gpu, "INPUTS", GROUP)
    monkeypatch.setattr(blocks, "READ_BLOCKS", 1)
    monkeypatch.setattr(readers, "FEWEST_INPUTS", 1)
    return written(tmp_path, WORDS)


def written(folder: Path, words: Sequence[str]) -> Path:
    path = folder / "words"
    path.write_text("".join(f"{word}\n" for word in words))
    return path


@pytest.fixture
def read_here(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many inputs this process has read itself, part by part."""
    lines, counts = LineMaker.lines, list[int]()

    def counted(self: LineMaker, block: runner.Block, texts: Sequence[str]) -> Lines:
        counts.append(len(texts))
        return lines(self, block, texts)

    monkeypatch.setattr(LineMaker, "lines", counted)
    return counts


def answered(words: Path, name: str, **options: Any) -> bytes:
    answers = words.with_name(name)
    tf.run_batch_file("binary_increment", words, answers, levels=LEVELS, **options)
    return answers.read_bytes()


@pytest.fixture
def native(words: Path) -> bytes:
    return answered(words, "native", engine="native").replace(b"native", b"gpu")


def test_processes_read_what_the_native_engine_answers(
    words: Path, native: bytes, read_here: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "batch_engine", on(ProcessorDevice))
    found = answered(words, "gpu", engine="gpu")
    assert found.count(b'"engine": "gpu"') > GROUP
    assert found == native
    assert sum(read_here) < len(WORDS) // 2
    assert not running()
    words.with_name("gpu").write_bytes(found[: len(found) // 2])
    assert answered(words, "gpu", engine="gpu") == found


@pytest.mark.parametrize("given", [WORDS, MIXED, [*MIXED, *MIXED[:9]]])
def test_many_lines_come_in_the_order_of_their_words(
    given: Sequence[str], words: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "batch_engine", on(ProcessorDevice))
    monkeypatch.setattr(recorder, "MOST_KEPT", GROUP // 8)
    content = answered(written(words.parent, given), "gpu", engine="gpu")
    assert [json.loads(line)["input"] for line in content.splitlines()] == list(given)
    assert content == answered(words, "native", engine="native").replace(b"native", b"gpu")


def test_a_reader_that_dies_costs_no_answer(
    words: Path, native: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "batch_engine", on(ProcessorDevice))
    lines, killed = ReaderPool.lines, list[int]()

    def killing(self: ReaderPool, parts: Sequence[readers.Part]) -> Iterator[Lines | None]:
        for found in lines(self, parts):
            if not killed:
                killed.append(running()[0].pid or 0)
                os.kill(killed[0], signal.SIGKILL)
            yield found

    monkeypatch.setattr(ReaderPool, "lines", killing)
    assert answered(words, "gpu", engine="gpu") == native
    assert killed


def no_folder(**_: str) -> NoReturn:
    raise FileNotFoundError("no usable temporary directory")


def no_part(_: ReaderPool, file: Path, part: readers.Part) -> Path:
    assert part
    return file


def too_long(_: ServedMemory) -> NoReturn:
    raise OSError("AF_UNIX path too long")


@pytest.mark.parametrize(
    ("place", "failing", "told"),
    [
        ((readers, "TemporaryDirectory"), no_folder, "no usable temporary directory"),
        ((ReaderPool, "_written"), no_part, "No such file"),
        ((ServedMemory, "__reduce__"), too_long, "AF_UNIX path too long"),
    ],
)
def test_what_others_cannot_read_is_read_here(
    place: tuple[Any, str],
    failing: Callable[..., Any],
    told: str,
    words: Path,
    native: bytes,
    read_here: list[int],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(runner, "batch_engine", on(ProcessorDevice))
    monkeypatch.setattr(*place, failing)
    assert answered(words, "gpu", engine="gpu") == native
    assert sum(read_here) > len(WORDS) // 2
    (warning,) = caplog.messages
    assert told in warning
    assert not running()


def test_what_inputs_came_to_elsewhere_is_told_as_it_is(
    words: Path, native: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def known(_: runner.BatchRunner, __: object, ended: Ended) -> list[runner.Found] | None:
        if ended.tokens.max() % 4 < 2:
            return None
        return [TapeformerError(Fault("the window cannot be read"))] * len(ended.inputs)

    monkeypatch.setattr(runner, "batch_engine", on(ProcessorDevice))
    monkeypatch.setattr(runner.BatchRunner, "_known", known)
    lines, others = answered(words, "gpu", engine="gpu").splitlines(), native.splitlines()
    other = [(a, b) for a, b in zip(lines, others, strict=True) if a != b]
    assert 10 < len(other) < len(lines) - 10
    assert {json.loads(line)["error"] for line, _ in other} == {"error: the window cannot be read"}


class CountingDevice(ProcessorDevice):
    """Devices that are in use, and how often one of them was."""

    devices: ClassVar[list[CountingDevice]] = []
    launches = 0

    def __init__(self, text: str, blocks: int) -> None:
        super().__init__(text, blocks=blocks)
        self.devices.append(self)

    def launch(self, *given: Any) -> None:
        self.launches += 1
        time.sleep(0.05)
        super().launch(*given)


@pytest.mark.parametrize("least", [1, 10**6])
def test_a_run_that_is_stopped_leaves_the_device(
    least: int, words: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "batch_engine", on(CountingDevice))
    monkeypatch.setattr(readers, "FEWEST_INPUTS", least)
    monkeypatch.setattr(batch, "MOST_TOKENS", 1)
    monkeypatch.setattr(batch, "FIRST_TOKENS", 1)
    monkeypatch.setattr(CountingDevice, "devices", [])

    def watch(_: int) -> bool:
        return not (CountingDevice.devices and CountingDevice.devices[0].launches)

    answered(words, "gpu", engine="gpu", watch=watch)
    (device,) = CountingDevice.devices
    end, launches = time.monotonic() + 10, device.launches
    while device.arrays:
        assert time.monotonic() < end
        time.sleep(0.01)
    assert device.launches <= launches + 2
    assert not running()


def test_readers_that_come_too_late_are_not_started(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = tf.gallery_machine("binary_increment")
    model = runner.BatchModel(machine, tf.compile_machine(machine, levels=2))
    with Readers(model, 2) as ended:
        monkeypatch.setattr(readers, "ThreadPoolExecutor", None)
    ended.begin()
    with pytest.raises(CancelledError):
        ended.lines([], LineMaker(model, Reader(model.bundle), "gpu"))


def test_a_device_that_fails_while_it_is_read(words: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "batch_engine", on(FailingDevice))
    with pytest.raises(TapeformerError, match="cuMemcpyDtoH_v2") as caught:
        answered(words, "gpu", engine="gpu")
    assert len(caught.value.faults) == 1
    assert not running()


@pytest.mark.parametrize(
    "failing",
    [
        "cuInit=100",
        pytest.param("cuMemAlloc_v2=2", marks=pytest.mark.slow),
        pytest.param("cuLaunchKernel=700", marks=pytest.mark.slow),
    ],
)
def test_a_driver_that_fails(
    words: Path, tmp_path: Path, failing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "opened_ahead", partial(driver.opened_ahead, built(tmp_path)))
    monkeypatch.setenv("STANDIN", failing)
    with pytest.raises(TapeformerError, match=failing.split("=")[0]) as caught:
        answered(words, "gpu", engine="gpu")
    assert len(caught.value.faults) == 1
    monkeypatch.setattr(engine_choice, "has_gpu", lambda: True)
    monkeypatch.setattr(engine_choice, "LEAST_INPUTS", 1)
    monkeypatch.setattr(engine_choice, "LEAST_TOKENS", 1)
    assert b'"engine": "gpu"' not in answered(words, "auto", engine="auto")


@pytest.mark.parametrize(
    ("cores", "inputs", "count"), [(16, 1000, 0), (16, 10**6, 12), (2, 10**6, 2), (1, 10**6, 0)]
)
def test_how_many_processes_read(
    cores: int, inputs: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(cores), raising=False)
    assert useful_readers(inputs) == count
