"""The NVIDIA driver through ctypes: it compiles PTX and runs it, without a toolkit or a package."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p
from threading import local
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tapeformer.faults import Fault, TapeformerError

LIBRARY = "libcuda.so.1"
REMEDY = "use --engine native"

OUT_OF_MEMORY, NO_DEVICE = 2, 100
"""Results of the driver that have a message of their own."""
MULTIPROCESSORS = 16
"""The driver's number for this attribute of a device."""
LARGEST_SHARED = 8
"""The driver's number for this attribute of a kernel: shared memory that a launch may ask for."""
OPTIMISATION = 7, 1
"""The driver's number for this option of its compiler, and the level. With 1 instead of its default 4 a
model of 12 levels is compiled in 1.4 seconds instead of 4.0 and runs 5% faster; smaller ones run 3 to 8%
slower."""
PLAIN_SHARED = 48 << 10
"""Shared memory that every launch may ask for without that attribute."""


class CudaDevice:
    """The first GPU that the driver knows."""

    def __init__(self, library: str = LIBRARY) -> None:
        self._library, self._threads = _opened(library), local()
        self._device, self._context, self._module = c_int(), c_void_p(), c_void_p()
        self._checked("cuInit", 0)
        self._checked("cuDeviceGet", byref(self._device), 0)
        self._checked("cuDevicePrimaryCtxRetain", byref(self._context), self._device)
        self._functions: dict[str, c_void_p] = {}
        self._shared = 0

    @property
    def name(self) -> str:
        """What the device is called."""
        text = ctypes.create_string_buffer(100)
        self._call("cuDeviceGetName", text, 100, self._device)
        return text.value.decode()

    def free_memory(self) -> int:
        """Return the bytes that can be allocated."""
        free, total = c_size_t(), c_size_t()
        self._call("cuMemGetInfo_v2", byref(free), byref(total))
        return free.value

    def load(self, module: bytes, shared_bytes: int) -> None:
        """Load a module of kernels: the driver compiles it for its device."""
        self._unload()
        option, level = OPTIMISATION
        options, values = (c_int * 1)(option), (c_void_p * 1)(level)
        self._call("cuModuleLoadDataEx", byref(self._module), module + b"\0", 1, options, values)
        self._shared = shared_bytes

    def concurrent_blocks(self, threads: int) -> int:
        """Return how many blocks of the kernel `run` the device works on side by side."""
        each, multiprocessors = c_int(), c_int()
        self._call(
            "cuOccupancyMaxActiveBlocksPerMultiprocessor",
            byref(each),
            self._function("run"),
            threads,
            c_size_t(self._shared),
        )
        self._call("cuDeviceGetAttribute", byref(multiprocessors), MULTIPROCESSORS, self._device)
        return max(1, each.value) * multiprocessors.value

    def allocate(self, size: int) -> int:
        """Return the address of so many bytes, all 0."""
        address = c_uint64()
        self._call("cuMemAlloc_v2", byref(address), c_size_t(max(size, 4)))
        self._call("cuMemsetD8_v2", address, c_uint(0), c_size_t(max(size, 4)))
        return address.value

    def release(self, address: int) -> None:
        """Give memory back."""
        self._call("cuMemFree_v2", c_uint64(address))

    def upload(self, address: int, array: NDArray[Any]) -> None:
        """Copy an array to the device."""
        array = np.ascontiguousarray(array)
        size = c_size_t(array.nbytes)
        self._call("cuMemcpyHtoD_v2", c_uint64(address), c_void_p(array.ctypes.data), size)

    def download(self, address: int, size: int) -> NDArray[np.uint8]:
        """Copy bytes from the device."""
        array = np.empty(size, np.uint8)
        data = c_void_p(array.ctypes.data)
        self._call("cuMemcpyDtoH_v2", data, c_uint64(address), c_size_t(size))
        return array

    def launch(
        self,
        kernel: str,
        blocks: int,
        threads: int,
        pointers: Sequence[int],
        numbers: Sequence[int],
    ) -> None:
        """Run a kernel to its end."""
        values = [*map(c_uint64, pointers), *map(c_uint, numbers)]
        addresses = (c_void_p * len(values))(*map(ctypes.addressof, values))
        grid = (blocks, 1, 1, threads, 1, 1)
        self._call(
            "cuLaunchKernel", self._function(kernel), *grid, self._shared, None, addresses, None
        )
        self._call("cuCtxSynchronize")

    def close(self) -> None:
        """Give back everything."""
        self._unload()
        self._call("cuDevicePrimaryCtxRelease_v2", self._device)

    def _unload(self) -> None:
        if self._module:
            self._call("cuModuleUnload", self._module)
        self._module, self._functions = c_void_p(), {}

    def _function(self, kernel: str) -> c_void_p:
        if kernel not in self._functions:
            found = c_void_p()
            self._call("cuModuleGetFunction", byref(found), self._module, kernel.encode())
            if self._shared > PLAIN_SHARED:
                self._call("cuFuncSetAttribute", found, LARGEST_SHARED, self._shared)
            self._functions[kernel] = found
        return self._functions[kernel]

    def _call(self, name: str, *arguments: Any) -> None:
        """Call a function of the driver; a thread's first call makes the context current in it."""
        if not hasattr(self._threads, "context"):
            self._checked("cuCtxSetCurrent", self._context)
            self._threads.context = self._context
        self._checked(name, *arguments)

    def _checked(self, name: str, *arguments: Any) -> None:
        """Call a function of the driver as it is; one that fails becomes one message."""
        function = getattr(self._library, name, None)
        if function is None:
            fault = Fault(
                "the NVIDIA driver is too old", expected=f"one with {name}", remedy=REMEDY
            )
            raise TapeformerError(fault)
        status = function(*arguments)
        if status:
            raise TapeformerError(self._fault(name, status))

    def _fault(self, name: str, status: int) -> Fault:
        got = f"{name}: {self._message(status)}"
        if status == NO_DEVICE:
            return Fault("there is no GPU that the NVIDIA driver can use", got=got, remedy=REMEDY)
        if status == OUT_OF_MEMORY:
            remedy = f"end other programs on the GPU, give fewer --levels, or {REMEDY}"
            return Fault("the GPU has too little free memory", got=got, remedy=remedy)
        return Fault("the GPU failed", got=got, remedy=REMEDY)

    def _message(self, status: int) -> str:
        text = c_char_p()
        describe = getattr(self._library, "cuGetErrorString", None)
        if describe is None or describe(status, byref(text)) or not text.value:
            return f"error {status}"
        return f"error {status}, {text.value.decode()}"


def opened_ahead(library: str = LIBRARY) -> Callable[[], CudaDevice]:
    """Begin to open the GPU and return what waits for it: kernels can be made while the driver starts."""
    _opened(library)
    pool = ThreadPoolExecutor(1)
    opening = pool.submit(CudaDevice, library)
    pool.shutdown(wait=False)
    return opening.result


def has_device(library: str = LIBRARY) -> bool:
    """Say whether the driver knows a GPU; to look opens no context, which takes its time."""
    try:
        driver = _opened(library)
    except TapeformerError:
        return False
    return not driver.cuInit(0) and not driver.cuDeviceGet(byref(c_int()), 0)


def _opened(library: str) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(library)
    except OSError:
        raise TapeformerError(
            Fault("there is no NVIDIA driver", expected=library, remedy=REMEDY)
        ) from None
