"""What tests of workers share: a batch, a way to kill one who works, and who is at work."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from multiprocessing import active_children

from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.gallery import gallery_machine
from tapeformer.inference.batch import Inputs
from tapeformer.workers.processes import WorkerProcess

MACHINE = gallery_machine("palindrome")
INPUTS = Inputs(
    "".join(f"{number:b}\n" for number in range(4000)).translate({48: "a", 49: "b"}).encode()
)
BUNDLE = compile_machine(MACHINE, CompileOptions("paper", levels=1, base=8))


def waited(happened: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.01)


def killing(victims: Callable[[], list[int]]) -> Callable[[int], bool]:
    """A watch that kills one process as soon as something is answered."""
    killed: list[int] = []

    def watch(done: int) -> bool:
        if done and not killed:
            killed.append(victims()[0])
            os.kill(killed[0], signal.SIGKILL)
        return True

    return watch


def running() -> list[WorkerProcess]:
    """Return worker processes that a test has started; those of a cluster, which may run beside them, are left out."""
    return [child for child in active_children() if isinstance(child, WorkerProcess)]
