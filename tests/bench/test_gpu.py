"""The command that checks a GPU, on a device that needs none: it finds a token that is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tapeformer.bench import gpu
from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.gallery import gallery_machine
from tests.engines.gpu.processor_device import ProcessorDevice
from tests.engines.gpu.test_kernels import kernel_text_of

MODEL = ("palindrome", CompileOptions(construction="paper", levels=2, base=4))
TEXT = kernel_text_of(compile_machine(gallery_machine(MODEL[0]), MODEL[1]))


class Faulty(ProcessorDevice):
    """A device whose memory loses a bit now and then."""

    downloads = 0

    def download(self, address: int, size: int) -> NDArray[np.uint8]:
        found = super().download(address, size)
        self.downloads += 1
        found[::64] ^= self.downloads % 50 == 0
        return found


@pytest.mark.parametrize(("device", "right"), [(ProcessorDevice, True), (Faulty, False)])
def test_tokens_that_differ_are_counted(
    device: type[ProcessorDevice], right: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu, "MODELS", {"palindrome": MODEL})
    monkeypatch.setattr(gpu, "CudaDevice", lambda: device(TEXT))
    (row,) = gpu.compared_rows(lambda _: None, inputs=7, tokens=60)
    assert row["tokens compared"] == 7 * 60
    assert (row["wrong"] == 0) == right
