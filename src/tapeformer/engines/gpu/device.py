"""The device operations that a batch needs: memory, copies, kernel launches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tapeformer.faults import TapeformerError

Address = int


class Device(Protocol):
    """A device: its memory, and the kernels of one loaded module."""

    @property
    def name(self) -> str:
        """The device's name."""

    def free_memory(self) -> int:
        """Return how many bytes are free."""

    def load(self, module: bytes, shared_bytes: int) -> None:
        """Load a module of kernels, each launched with this much shared memory per block."""

    def concurrent_blocks(self, threads: int) -> int:
        """Return how many blocks of this many threads run concurrently."""

    def allocate(self, size: int) -> Address:
        """Allocate zeroed memory and return its address."""

    def release(self, address: Address) -> None:
        """Free memory."""

    def upload(self, address: Address, array: NDArray[Any]) -> None:
        """Copy an array to the device."""

    def download(self, address: Address, size: int) -> NDArray[np.uint8]:
        """Copy bytes from the device."""

    def launch(
        self,
        kernel: str,
        blocks: int,
        threads: int,
        pointers: Sequence[Address],
        numbers: Sequence[int],
    ) -> None:
        """Launch a kernel and wait for it; arguments are the pointers, then numbers as uint32."""

    def close(self) -> None:
        """Release the device."""


@contextmanager
def allocated(device: Device, sizes: Iterable[int]) -> Iterator[list[Address]]:
    """Allocate arrays of these sizes within a `with`; if one does not fit, free all of them."""
    addresses: list[Address] = []
    try:
        for size in sizes:
            addresses.append(device.allocate(size))
        yield addresses
    except BaseException:
        with suppress(TapeformerError):  # a failed device fails again here: raise the first error
            _release(device, addresses)
        raise
    _release(device, addresses)


def _release(device: Device, addresses: Iterable[Address]) -> None:
    for address in addresses:
        device.release(address)
