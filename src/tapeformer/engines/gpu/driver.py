"""The NVIDIA driver through ctypes: compiles and runs PTX, needs no CUDA toolkit or package."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p
from threading import local
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tapeformer.faults import Fault, TapeformerError

LIBRARY = "libcuda.so.1"
REMEDY = "use engine='native'"

OUT_OF_MEMORY, NO_DEVICE = 2, 100
"""Driver result codes with an error message of their own."""
MULTIPROCESSORS = 16
"""CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT of the driver API."""
LARGEST_SHARED = 8
"""CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: shared memory that a launch may ask for."""
OPTIMISATION = 7, 1
"""CU_JIT_OPTIMIZATION_LEVEL, and the level. At 1 instead of the default 4, a model of 12 levels
compiles two to five times faster and runs 5 to 7% faster; smaller ones run 5 to 12% slower."""
PLAIN_SHARED = 48 << 10
"""Bytes of shared memory that any launch may ask for without setting that attribute."""


class CudaDevice:
    """The first GPU that the driver lists."""

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
        """The device's name."""
        text = ctypes.create_string_buffer(100)
        self._call("cuDeviceGetName", text, 100, self._device)
        return text.value.decode()

    def free_memory(self) -> int:
        """Return how many bytes are free."""
        free, total = c_size_t(), c_size_t()
        self._call("cuMemGetInfo_v2", byref(free), byref(total))
        return free.value

    def load(self, module: bytes, shared_bytes: int) -> None:
        """Load a PTX module; the driver compiles it for this GPU."""
        self._unload()
        option, level = OPTIMISATION
        options, values = (c_int * 1)(option), (c_void_p * 1)(level)
        self._call("cuModuleLoadDataEx", byref(self._module), module + b"\0", 1, options, values)
        self._shared = shared_bytes

    def concurrent_blocks(self, threads: int) -> int:
        """Return how many blocks of the kernel `run` the device runs concurrently."""
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
        """Allocate zeroed memory and return its address."""
        address = c_uint64()
        self._call("cuMemAlloc_v2", byref(address), c_size_t(max(size, 4)))
        self._call("cuMemsetD8_v2", address, c_uint(0), c_size_t(max(size, 4)))
        return address.value

    def release(self, address: int) -> None:
        """Free memory."""
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
        """Launch a kernel and wait for it."""
        values = [*map(c_uint64, pointers), *map(c_uint, numbers)]
        addresses = (c_void_p * len(values))(*map(ctypes.addressof, values))
        grid = (blocks, 1, 1, threads, 1, 1)
        self._call(
            "cuLaunchKernel", self._function(kernel), *grid, self._shared, None, addresses, None
        )
        self._call("cuCtxSynchronize")

    def close(self) -> None:
        """Unload the module and release the context; closing again does nothing."""
        if self._context:
            self._unload()
            self._call("cuDevicePrimaryCtxRelease_v2", self._device)
            self._context = c_void_p()

    def __del__(self) -> None:
        """Release the context once nobody uses the device, so that it does not outlive a batch."""
        with suppress(TapeformerError, AttributeError):  # one that never opened has no context
            self.close()

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
        """Call a driver function; on a thread's first call, make the context current in it."""
        if not hasattr(self._threads, "context"):
            self._checked("cuCtxSetCurrent", self._context)
            self._threads.context = self._context
        self._checked(name, *arguments)

    def _checked(self, name: str, *arguments: Any) -> None:
        """Call a driver function as is; raise a TapeformerError if it fails."""
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
            remedy = f"end other programs on the GPU, give fewer levels, or {REMEDY}"
            return Fault("the GPU has too little free memory", got=got, remedy=remedy)
        return Fault("the GPU failed", got=got, remedy=REMEDY)

    def _message(self, status: int) -> str:
        text = c_char_p()
        describe = getattr(self._library, "cuGetErrorString", None)
        if describe is None or describe(status, byref(text)) or not text.value:
            return f"error {status}"
        return f"error {status}, {text.value.decode()}"


def opened_ahead(library: str = LIBRARY) -> Callable[[], CudaDevice]:
    """Open the GPU in the background, while kernels are made; return what waits for it."""
    _opened(library)
    pool = ThreadPoolExecutor(1)
    opening = pool.submit(CudaDevice, library)
    pool.shutdown(wait=False)
    return opening.result


def has_device(library: str = LIBRARY) -> bool:
    """Say whether the driver finds a GPU, without opening a context, which is slow."""
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
