"""Every way in which a driver can fail gives one message that names the native engine."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import tapeformer as tf
from tapeformer.engines.batch import Budget, prompts_of
from tapeformer.engines.gpu.batch import GpuBatch
from tapeformer.engines.gpu.driver import CudaDevice, has_device, opened_ahead
from tapeformer.faults import TapeformerError
from tapeformer.inference.decode import Reader

SOURCE = Path(__file__).with_name("standin.c")
WHEN_FOUND = ("cuInit", "cuDeviceGet", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent")
WHEN_USED = (
    *("cuDeviceGetName", "cuMemGetInfo_v2", "cuModuleLoadDataEx", "cuModuleGetFunction"),
    *("cuOccupancyMaxActiveBlocksPerMultiprocessor", "cuDeviceGetAttribute", "cuMemAlloc_v2"),
    *("cuMemsetD8_v2", "cuMemFree_v2", "cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2", "cuLaunchKernel"),
    *("cuCtxSynchronize", "cuFuncSetAttribute", "cuModuleUnload", "cuDevicePrimaryCtxRelease_v2"),
)


def built(folder: Path, *flags: str) -> str:
    library = folder / "standin.so"
    command = ["gcc", "-shared", "-fPIC", *flags, "-o", str(library), str(SOURCE)]
    subprocess.run(command, check=True)
    return str(library)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    return built(tmp_path_factory.mktemp("driver"))


def used(device: CudaDevice) -> None:
    """Everything that a batch asks of a device."""
    assert device.name == "stand-in 0"
    assert device.free_memory() == 10**9
    device.load(b"a module", 100 << 10)
    assert device.concurrent_blocks(32) == 6
    address = device.allocate(16)
    device.upload(address, np.zeros(4, np.uint32))
    assert len(device.download(address, 16)) == 16
    device.launch("run", 1, 32, [address], [1, 2])
    device.release(address)
    device.close()


def test_a_device_that_never_fails(library: str) -> None:
    used(CudaDevice(library))


@pytest.mark.parametrize("name", [*WHEN_FOUND, *WHEN_USED])
def test_a_function_that_fails(library: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STANDIN", f"{name}=700")
    with pytest.raises(TapeformerError, match="native") as caught:
        used(CudaDevice(library))
    assert f"{name}: error 700, the driver's words" in str(caught.value)
    assert len(caught.value.faults) == 1


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (2, "too little free memory"),
        (100, "no GPU that the NVIDIA driver can use"),
        (999, "the GPU failed.*cuInit: error 999;"),
    ],
)
def test_results_that_have_their_own_words(
    library: str, result: int, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STANDIN", f"cuInit={result}")
    with pytest.raises(TapeformerError, match=words):
        CudaDevice(library)


def test_every_thread_has_the_context(library: str) -> None:
    device = CudaDevice(library)
    for _ in range(9):  # a thread often has the number of the one before, which has ended
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(device.free_memory).result() == 10**9


def test_a_device_that_nobody_uses_gives_its_context_back(tmp_path: Path) -> None:
    library = built(tmp_path)
    retained = ctypes.c_int.in_dll(ctypes.CDLL(library), "retained")
    device = CudaDevice(library)
    device.load(b"a module", 0)
    assert retained.value == 1
    del device
    assert retained.value == 0
    with closing(CudaDevice(library)) as closed:
        assert retained.value == 1
        closed.close()
    del closed
    assert retained.value == 0


@pytest.mark.parametrize("opened", [CudaDevice, opened_ahead])
def test_no_driver(opened: Callable[[str], object]) -> None:
    with pytest.raises(TapeformerError, match=r"there is no NVIDIA driver.*engine='native'"):
        opened("libcuda.so.none")


def test_a_device_opened_ahead_is_used_by_who_waits_for_it(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    used(opened_ahead(library)())
    monkeypatch.setenv("STANDIN", "cuInit=100")
    waiting = opened_ahead(library)
    with pytest.raises(TapeformerError, match="no GPU that the NVIDIA driver can use"):
        waiting()


def test_an_old_driver(tmp_path: Path) -> None:
    device = CudaDevice(built(tmp_path, "-DOLD"))
    with pytest.raises(TapeformerError, match=r"too old.*one with cuMemFree_v2.*engine='native'"):
        device.release(0)


def test_a_window_that_does_not_fit(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STANDIN_FREE", "1000")
    bundle = tf.compile_machine(tf.gallery_machine("busy_beaver_3"), levels=3)
    reader = Reader(bundle)
    batch = GpuBatch(bundle.weights, bundle.offsets, lambda: CudaDevice(library))
    prompts = prompts_of([np.asarray(reader.prompt(()), np.int32)])
    with pytest.raises(TapeformerError, match="too little free memory for a window"):
        list(batch.run(prompts, reader.goes_on, reader.step_values, Budget(9, 9)))


def test_looking_for_a_device_opens_no_context(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("cuDevicePrimaryCtxRetain", "cuCtxSetCurrent"):
        monkeypatch.setenv("STANDIN", f"{name}=700")
        assert has_device(library)
    for name in ("cuInit", "cuDeviceGet"):
        monkeypatch.setenv("STANDIN", f"{name}=100")
        assert not has_device(library)
    assert not has_device("libcuda.so.none")
