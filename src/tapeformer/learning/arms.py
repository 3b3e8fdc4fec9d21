"""What an arm of an experiment is given, and what it comes to."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tapeformer.faults import Fault, SourceLocation, TapeformerError
from tapeformer.learning.checkpoint import Checkpoint
from tapeformer.learning.config import Arm, DataConfig, Training
from tapeformer.learning.evaluate import Score
from tapeformer.learning.traces import (
    OTHERS,
    TRAIN,
    WALKS,
    DeviceTraces,
    TraceSet,
    load_parts,
    on_device,
    test_name,
)

Watch = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Task:
    """What an arm is given: traces, test lengths, seeds, and how to train."""

    arm: Arm
    config: DataConfig
    given: Training
    seeds: list[int]
    lengths: tuple[int, ...]
    data: Path
    device: torch.device
    watch: Watch
    checkpoint: Checkpoint

    @property
    def training(self) -> Training:
        """How to train, with what the arm has of its own."""
        given, arm = self.given, self.arm
        decay = given.weight_decay if arm.weight_decay is None else arm.weight_decay
        return replace(given, weight_decay=decay, steps=arm.steps or given.steps)

    @cached_property
    def train(self) -> DeviceTraces:
        """The training traces of the machine itself, as many and as long as the arm may see."""
        (traces,) = load_parts(self.data, TRAIN)
        return on_device(_allowed(traces, self.arm), self.device)

    @cached_property
    def level_traces(self) -> list[DeviceTraces]:
        """The traces from which levels are learned: those of other machines too, where asked for."""
        asked = {WALKS: self.arm.walks, OTHERS: self.arm.others}
        sets = [part for name in asked if asked[name] for part in load_parts(self.data, name)]
        return [self.train, *(self._beside(traces) for traces in sets)]

    def _beside(self, traces: TraceSet) -> DeviceTraces:
        """Return traces of another machine; they must have the fields of this one's."""
        names = [[f.name for f in every] for every in (traces.factors, self.train.fields.factors)]
        if names[0] != names[1]:
            what = "another machine has other fields than the machine"
            raise TapeformerError(Fault(what, SourceLocation(str(self.data))))
        return on_device(traces, self.device)

    def test(self, length: int) -> Iterator[DeviceTraces]:
        """Yield the test traces of a length in parts."""
        for part in load_parts(self.data, test_name(length)):
            yield on_device(part, self.device)

    @property
    def near(self) -> list[int]:
        """The test lengths whose traces are kept."""
        return [length for length in self.lengths if length < self.config.far]

    @property
    def far(self) -> list[int]:
        """The test lengths of which only the situations are kept."""
        return [length for length in self.lengths if length >= self.config.far]

    def tell(self, part: str) -> Watch:
        """Return a watch that names a part of the arm."""
        return lambda text: self.watch(f"{part}: {text}")


@dataclass
class Trained:
    """What an arm came to: for each length the score of each seed, and what else there is to say."""

    scores: dict[int, list[Score]]
    parameters: int
    seconds: float = 0.0
    models: dict[str, Tensor] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)


def run_arm(task: Task) -> Trained:
    """Train and score an arm."""
    from tapeformer.learning.attention_arm import attention_arm
    from tapeformer.learning.compiled_arm import compiled_arm
    from tapeformer.learning.given_arm import given_arm
    from tapeformer.learning.learned_arm import learned_arm

    started = time.perf_counter()
    kinds = {"given": given_arm, "learned": learned_arm}
    kind = kinds.get(task.arm.look_backs, attention_arm)
    found = (compiled_arm if task.arm.start == "compiled" else kind)(task)
    found.seconds = round(time.perf_counter() - started, 1)
    return found


def _allowed(traces: TraceSet, arm: Arm) -> TraceSet:
    """Return the traces that an arm may train on: words up to a length, or the first so many."""
    longest = max(traces.letters) if arm.train_up_to is None else arm.train_up_to
    kept = [i for i, letters in enumerate(traces.letters.tolist()) if letters <= longest]
    return traces.chosen(kept[: arm.words])
