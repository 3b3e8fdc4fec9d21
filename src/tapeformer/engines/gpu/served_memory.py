"""A device's memory for other processes: they ask the one that has opened the device.

A context takes a second and half a gigabyte, and kernels of different processes take turns; so one
process has the device, and others read what it has made through a socket.
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
from tapeformer.faults import Fault, TapeformerError

KEY_BYTES = 32
BACKLOG = 64
"""Processes that may ask to be connected at the same moment."""

Memory = NDArray[np.uint8]


class DeviceMemory(Protocol):
    """What can be read of a device."""

    def gathered(self, addresses: Sequence[Address], size: int) -> Memory:
        """Copy so many bytes from each address, one copy after another."""


class ServedMemory:
    """Memory that is read here; where it is pickled, the other process asks this one for it."""

    def __init__(self, device: Device) -> None:
        self._device, self._open = device, True

    def gathered(self, addresses: Sequence[Address], size: int) -> Memory:
        """Copy so many bytes from each address, one copy after another."""
        parts = [self._device.download(address, size) for address in addresses]
        return np.concatenate(parts) if parts else np.zeros(0, np.uint8)

    def __reduce__(self) -> tuple[Callable[[str, bytes], RemoteMemory], tuple[str, bytes]]:
        return RemoteMemory, (self._address, self._key)

    @cached_property
    def _key(self) -> bytes:
        return os.urandom(KEY_BYTES)

    @cached_property
    def _address(self) -> str:
        """Where others connect, from when the memory is first pickled."""
        listener = Listener(backlog=BACKLOG, authkey=self._key)
        address = str(listener.address)
        Thread(target=self._accept, args=(listener,), daemon=True).start()
        return address

    def _accept(self, listener: Listener) -> None:
        """Serve whoever connects; where nobody more can be served, who tries is told so."""
        with listener, suppress(OSError, RuntimeError):
            while self._open:
                with suppress(ConnectionError, EOFError, AuthenticationError):
                    connection = listener.accept()
                    Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: Connection) -> None:
        """Send what is asked for, or why it cannot be read, until the other process has ended."""
        with connection, suppress(OSError, EOFError):
            while True:
                asked = connection.recv()
                if not self._open:
                    return
                try:
                    found = self.gathered(*asked)
                except TapeformerError as error:
                    connection.send(error.faults)
                else:
                    connection.send(())
                    connection.send_bytes(found.data)

    def close(self) -> None:
        """Serve nobody any more: a last connection wakes the thread that waits for one.

        Connections end with those that have made them.
        """
        self._open = False
        if "_address" in vars(self):
            with suppress(OSError, EOFError, AuthenticationError):
                Client(self._address, authkey=self._key).close()


class RemoteMemory:
    """Memory of a device that another process has opened."""

    def __init__(self, address: str, key: bytes) -> None:
        self._at = address, key

    def gathered(self, addresses: Sequence[Address], size: int) -> Memory:
        """Copy so many bytes from each address, one copy after another."""
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
    """Connect to the process that has the device, once; the connection before is closed."""
    return Client(address, authkey=key)
