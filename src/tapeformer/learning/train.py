"""Training a block: batches of distinct situations, half of them those it finds hardest."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from tapeformer.learning.config import Training
from tapeformer.learning.distributed import team
from tapeformer.learning.hard_rows import HardRows
from tapeformer.learning.level_model import Block
from tapeformer.learning.optimise import cosine
from tapeformer.learning.tables import Table

KEPT_EVERY = 200
"""Steps between two states that are kept."""
REFRESH, HARD = 500, 4
"""Steps between two searches for hard rows, and how many batches of them are found."""
AVERAGED_EVERY, AVERAGE = 10, 0.02
"""Steps between two updates of the running average, and the share of each; at first it is larger."""
Watch = Callable[[str], None]


@dataclass
class Progress:
    """How far a training is."""

    step: int = 0
    loss: float = math.nan
    seconds: float = 0.0


class BlockTrainer:
    """Trains one block of a model on its table; all seeds and copies side by side."""

    def __init__(self, block: Block, rows: Table, training: Training, seeds: list[int]) -> None:
        self.block, self.rows, self.training, self.seeds = block, rows, training, seeds
        self.device = rows.inputs.device
        self.dtype = torch.bfloat16 if self.device.type == "cuda" else torch.float32
        self.team = team()
        drawn = [seed + 1_000_003 * self.team.rank for seed in seeds]
        self.generators = [torch.Generator(self.device).manual_seed(seed) for seed in drawn]
        self.batch = max(8, training.batch // block.copies // self.team.size)
        self.losses = self.team.parallel(block)
        self.counts = rows.counts(block.copies)
        self.starts = rows.starts(block.copies)
        self.parameters = list[Tensor](block.parameters())
        self.optimiser = torch.optim.AdamW(
            self.parameters,
            lr=training.learning_rate,
            betas=(0.9, 0.98),
            weight_decay=training.weight_decay,
            fused=self.device.type == "cuda",
        )
        self.averages = [parameter.detach().clone() for parameter in self.parameters]
        self.hard = HardRows(block, rows, HARD * self.batch, self.team.rank, self.dtype)
        self.progress = Progress()

    def run(
        self,
        steps: int,
        seconds: float | None,
        watch: Watch | None = None,
        keep: Callable[[dict[str, Any]], None] | None = None,
    ) -> None:
        """Train, then take the running average of the parameters.

        `keep` is given the state of the training now and then, for `resume`.
        """
        started, done = time.perf_counter() - self.progress.seconds, 0.0
        while done < 1:
            self.progress.seconds = time.perf_counter() - started
            step = self.progress.step
            timed = self.progress.seconds / seconds if seconds else 0.0
            done = self.team.agreed(max(step / steps, timed))
            if keep is not None and step % KEPT_EVERY == 0 and step:
                keep(self.state())
            if step % REFRESH == 0:
                if step:
                    self.hard.search(step // REFRESH - 1)
                if watch is not None:
                    watch(f"step {step:,}, loss {self.progress.loss:.2e}")
            self._step(min(done, 1.0))
        with torch.no_grad():
            torch._foreach_copy_(self.parameters, self.averages)

    def state(self) -> dict[str, Any]:
        """Return all that is needed to go on from here as if nothing had happened."""
        return {
            "block": self.block.state_dict(),
            "averages": self.averages,
            "optimiser": self.optimiser.state_dict(),
            "generators": [generator.get_state() for generator in self.generators],
            "hard": self.hard.found,
            "progress": vars(self.progress),
        }

    def resume(self, state: dict[str, Any]) -> None:
        """Go on from a state that was kept."""
        self.block.load_state_dict(state["block"])
        self.averages = [average.to(self.device) for average in state["averages"]]
        self.optimiser.load_state_dict(state["optimiser"])
        for generator, kept in zip(self.generators, state["generators"], strict=True):
            generator.set_state(kept.cpu())
        self.hard.found = None if state["hard"] is None else state["hard"].to(self.device)
        self.progress = Progress(**state["progress"])

    def _step(self, done: float) -> None:
        for group in self.optimiser.param_groups:
            group["lr"] = self.training.learning_rate * cosine(self.progress.step, done)
        rows = self._drawn()
        losses, _ = self.losses(self.rows.inputs[rows], self.rows.outputs[rows], self.dtype)
        loss = losses.mean(-1).sum()
        self.optimiser.zero_grad(set_to_none=True)
        torch.autograd.backward(loss)
        self.optimiser.step()
        self.progress.step += 1
        if self.progress.step % AVERAGED_EVERY == 0:
            number = self.progress.step // AVERAGED_EVERY
            with torch.no_grad():
                share = max(AVERAGE, 10 / (number + 9))
                torch._foreach_lerp_(self.averages, self.parameters, share)
        if self.progress.step % REFRESH == 0:
            self.progress.loss = float(loss.detach()) / len(self.generators)

    def _drawn(self) -> Tensor:
        """Draw rows (seeds * copies, batch): of each copy's own, half at random and half hard ones."""
        copies, half = self.block.copies, self.batch // 2
        size = (copies, self.batch)
        random = torch.stack(
            [torch.rand(size, generator=g, device=self.device) for g in self.generators]
        )
        counts, starts = self.counts[:, None], self.starts[:, None]
        rows = starts + (random * counts).long().clamp(max=counts - 1)
        if self.hard.found is not None:
            number = (random[..., :half] * self.hard.size).long()
            rows[..., :half] = self.hard.found.gather(-1, number)
        return rows.flatten(0, 1)
