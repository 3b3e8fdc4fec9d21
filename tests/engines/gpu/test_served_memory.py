"""A device's memory read by who has not opened the device; here both are in one process."""

from __future__ import annotations

import pickle
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from errno import EMFILE
from multiprocessing.connection import Listener
from typing import NoReturn

import numpy as np
import pytest
from numpy.typing import NDArray

from tapeformer.engines.gpu.served_memory import RemoteMemory, ServedMemory
from tapeformer.faults import Fault, TapeformerError
from tests.engines.gpu.processor_device import ProcessorDevice

MOST = 1 << 20


class Numbers(ProcessorDevice):
    """Memory in which every place has its own number."""

    def __init__(self) -> None:
        """Need no kernels."""

    def download(self, address: int, size: int) -> NDArray[np.uint8]:
        """Count upwards; fail below 0, and have no memory for more than is likely."""
        if size > MOST:
            raise MemoryError
        if address < 0:
            raise TapeformerError(Fault("no such place", got=str(address), remedy="go up"))
        return np.arange(address, address + size).astype(np.uint8)


def remote(served: ServedMemory) -> RemoteMemory:
    found = pickle.loads(pickle.dumps(served))
    assert isinstance(found, RemoteMemory)
    return found


def test_many_read_at_the_same_time() -> None:
    served = ServedMemory(Numbers())
    others = [remote(served) for _ in range(4)]
    with ThreadPoolExecutor(1) as pool:
        for size in (0, 1, 7, MOST):
            for number, memory in enumerate(others):
                found = pool.submit(memory.gathered, [number, 9], size).result()
                assert (found == served.gathered([number, 9], size)).all()
                assert found.shape == (2 * size,)
    served.close()


def test_a_fault_of_the_device_is_told_as_it_is() -> None:
    served = ServedMemory(Numbers())
    memory = remote(served)
    with pytest.raises(TapeformerError) as caught:
        memory.gathered([1, -1], 1)
    assert caught.value.faults == (Fault("no such place", got="-1", remedy="go up"),)
    with pytest.raises(TapeformerError, match="out of memory"):
        memory.gathered([1], MOST + 1)
    assert memory.gathered([5], 1) == 5
    served.close()


def test_memory_that_is_served_no_longer() -> None:
    served = ServedMemory(Numbers())
    early, late = remote(served), remote(served)
    assert early.gathered([3], 1) == 3
    served.close()
    for memory in (early, late):
        with pytest.raises(TapeformerError, match="the process that has the GPU is gone"):
            memory.gathered([3], 1)


def test_memory_after_memory_leaves_no_connection_behind() -> None:
    before = set(threading.enumerate())
    for number in range(20):
        served = ServedMemory(Numbers())
        assert remote(served).gathered([number], 1) == number
        mine = set(threading.enumerate()) - before
        assert mine
        assert all(thread.daemon for thread in mine), "the end of the program would wait for it"
        served.close()
    end = time.monotonic() + 10
    while len(set(threading.enumerate()) - before) > 1:  # the last connection is kept
        assert time.monotonic() < end
        time.sleep(0.01)


def test_who_cannot_be_served_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: Listener) -> NoReturn:
        raise OSError(EMFILE, "Too many open files")

    monkeypatch.setattr(Listener, "accept", full)
    served = ServedMemory(Numbers())
    with pytest.raises(TapeformerError, match="the process that has the GPU is gone"):
        remote(served).gathered([3], 1)
    served.close()


def test_nobody_is_served_who_does_not_ask() -> None:
    served = ServedMemory(Numbers())
    assert served.gathered([3], 1) == 3
    served.close()
    assert "_address" not in vars(served)
