"""A device's memory, served to other processes by the one that opened the device.

Opening a context takes a second and half a gigabyte, and kernels of different processes take turns,
so one process owns the device, and the others read its results through a socket.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener
from threading import Thread
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tapeformer.engines.gpu.device import Address, Device
from tapeformer.faults import OUT_OF_MEMORY, Fault, TapeformerError

KEY_BYTES = 32
BACKLOG = 64
"""Connections that may be pending at once."""

Memory = NDArray[np.uint8]


class DeviceMemory(Protocol):
    """Device memory that can be read."""

    def gathered(self, addresses: Sequence[Address], size: int) -> Memory:
        """Copy `size` bytes from each address, one after another."""


class ServedMemory:
    """Memory read in this process; unpickled in another one, it is read through a socket."""

    def __init__(self, device: Device) -> None:
        self._device, self._open = device, True

    def gathered(self, addresses: Sequence[Address], size: int) -> Memory:
        """Copy `size` bytes from each address, one after another."""
        parts = [self._device.download(address, size) for address in addresses]
        return np.concatenate(parts) if parts else np.zeros(0, np.uint8)

    def __reduce__(self) -> tuple[Callable[[str, bytes], RemoteMemory], tuple[str, bytes]]:
        return RemoteMemory, (self._address, self._key)

    @cached_property
    def _key(self) -> bytes:
        return os.urandom(KEY_BYTES)

    @cached_property
    def _address(self) -> str:
        """The address to connect to; pickling the memory for the first time starts the listener."""
        listener = Listener(backlog=BACKLOG, authkey=self._key)
        address = str(listener.address)
        Thread(target=self._accept, args=(listener,), daemon=True).start()
        return address

    def _accept(self, listener: Listener) -> None:
        """Serve every connection; if that fails stop listening, so later clients fail at once."""
        with listener, suppress(OSError, RuntimeError):
            while self._open:
                with suppress(ConnectionError, EOFError, AuthenticationError):
                    connection = listener.accept()
                    Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: Connection) -> None:
        """Answer requests with bytes, or with the faults of reading them, until the client ends."""
        with connection, suppress(OSError, EOFError):
            while True:
                asked = connection.recv()
                if not self._open:
                    return
                try:
                    found = self.gathered(*asked)
                except TapeformerError as error:
                    connection.send(error.faults)
                except MemoryError:
                    connection.send((OUT_OF_MEMORY,))
                else:
                    connection.send(())
                    connection.send_bytes(found.data)

    def close(self) -> None:
        """Stop serving; a last connection wakes the thread that waits to accept one.

        Open connections end with their clients, or with a client's next request.
        """
        self._open = False
        if "_address" in vars(self):
            with suppress(OSError, EOFError, AuthenticationError):
                Client(self._address, authkey=self._key).close()


class RemoteMemory:
    """The memory of a device that another process has opened."""

    def __init__(self, address: str, key: bytes) -> None:
        self._at = address, key

    def gathered(self, addresses: Sequence[Address], size: int) -> Memory:
        """Copy `size` bytes from each address, one after another."""
        try:
            connection = _connected(*self._at)
            connection.send((addresses, size))
            faults: tuple[Fault, ...] = connection.recv()
            if not faults:
                return np.frombuffer(connection.recv_bytes(), np.uint8)
        except (OSError, EOFError):
            faults = (Fault("the process that has the GPU is gone", remedy="run the same again"),)
        raise TapeformerError(faults)


@lru_cache(maxsize=1)
def _connected(address: str, key: bytes) -> Connection:
    """Connect once to the process that owns the device; a new address drops the old connection."""
    return Client(address, authkey=key)
