"""What a batch needs of a device: memory, copies, launches of kernels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tapeformer.faults import TapeformerError

Address = int


class Device(Protocol):
    """Memory that kernels work on, and the kernels of one module."""

    @property
    def name(self) -> str:
        """What the device is called."""

    def free_memory(self) -> int:
        """Return the bytes that can be allocated."""

    def load(self, module: bytes, shared_bytes: int) -> None:
        """Load a module of kernels, each of which may use so many bytes of shared memory."""

    def concurrent_blocks(self, threads: int) -> int:
        """Return how many blocks of so many threads run side by side."""

    def allocate(self, size: int) -> Address:
        """Return the address of so many bytes, all 0."""

    def release(self, address: Address) -> None:
        """Give memory back."""

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
        """Run a kernel to its end: pointers first, then unsigned numbers of 32 bits."""

    def close(self) -> None:
        """Give back everything."""


@contextmanager
def allocated(device: Device, sizes: Iterable[int]) -> Iterator[list[Address]]:
    """Have arrays of so many bytes for a while; where there is no room for one, none is kept."""
    addresses: list[Address] = []
    try:
        for size in sizes:
            addresses.append(device.allocate(size))
        yield addresses
    except BaseException:
        with suppress(TapeformerError):  # a device that has failed fails again: the first says why
            _release(device, addresses)
        raise
    _release(device, addresses)


def _release(device: Device, addresses: Iterable[Address]) -> None:
    for address in addresses:
        device.release(address)
