"""Training on runs of consecutive tokens: AdamW, a cosine schedule, steps or seconds."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from tapeformer.faults import Fault, TapeformerError
from tapeformer.learning.config import Training
from tapeformer.learning.traces import DeviceTraces

WARM_UP = 200
"""Steps of rising learning rate."""
Watch = Callable[[str], None]


def cosine(step: int, done: float) -> float:
    """Return how much of the learning rate to use: rising at first, then falling to a hundredth."""
    return min(1.0, (step + 1) / WARM_UP) * max(0.01, 0.5 * (1 + math.cos(math.pi * done)))


@dataclass
class Clock:
    """How far a training is: by steps, or by seconds where these are limited."""

    training: Training
    step: int = 0
    started: float = 0.0

    seconds: float = 0.0

    def done(self) -> float:
        """Return the share that is done; 1 or more at the end."""
        if not self.started:
            self.started = time.perf_counter()
        self.seconds = time.perf_counter() - self.started
        most = self.training.seconds
        return max(self.step / self.training.steps, self.seconds / most if most else 0.0)

    def record(self) -> dict[str, float]:
        """Describe how far the training came."""
        return {"steps": self.step, "training_seconds": round(self.seconds, 1)}


Loss = Callable[[float], Tensor]
"""The loss of one step, given the share of the training that is done."""


def optimise(
    optimisers: list[torch.optim.Optimizer],
    loss: Loss,
    training: Training,
    watch: Watch,
    *,
    low_precision: bool = True,
) -> Clock:
    """Minimise a loss and return how far it came; each group of parameters has its own `rate`."""
    clock, done = Clock(training), 0.0
    groups = [group for optimiser in optimisers for group in optimiser.param_groups]
    parameters = [parameter for group in groups for parameter in group["params"]]
    while (done := clock.done()) < 1:
        for group in groups:
            group["lr"] = group["rate"] * cosine(clock.step, done)
        with arithmetic(parameters[0].device, low_precision):
            found = loss(done)
        for optimiser in optimisers:
            optimiser.zero_grad(set_to_none=True)
        torch.autograd.backward(found)
        nn.utils.clip_grad_norm_(parameters, 1.0)
        for optimiser in optimisers:
            optimiser.step()
        if clock.step % 500 == 0:
            watch(f"step {clock.step:,}, loss {float(found.detach()):.2e}")
        clock.step += 1
    return clock


def arithmetic(device: torch.device, low_precision: bool = True) -> torch.autocast:
    """Return the arithmetic in which a model is trained and scored: bfloat16 on a GPU."""
    return torch.autocast("cuda", torch.bfloat16, enabled=device.type == "cuda" and low_precision)


def adam(model: nn.Module, training: Training) -> torch.optim.Optimizer:
    """Return AdamW for all parameters of a model."""
    groups = [{"params": list(model.parameters()), "rate": training.learning_rate}]
    return torch.optim.AdamW(groups, betas=(0.9, 0.98), weight_decay=training.weight_decay)


class RowAdam(torch.optim.Optimizer):
    """Adam whose step sizes are shared by a whole row (the last dimension).

    In a softmax over distances most gradients are noise; a step size of its own for each would
    make as much of them as of the one that matters.
    """

    def __init__(self, parameters: list[nn.Parameter], rate: float) -> None:
        super().__init__([{"params": parameters, "rate": rate}], {"lr": rate})

    @torch.no_grad()
    def step(self) -> None:  # type: ignore[override]
        """Move every parameter."""
        for group in self.param_groups:
            for parameter in group["params"]:
                state = self.state[parameter]
                if not state:
                    state["mean"] = torch.zeros_like(parameter)
                    state["square"] = torch.zeros_like(parameter[..., :1])
                    state["decay"] = 1.0
                gradient = parameter.grad
                assert gradient is not None
                state["decay"] *= 0.98
                state["mean"].lerp_(gradient, 0.1)
                state["square"].lerp_(gradient.square().amax(-1, keepdim=True), 0.02)
                size = (state["square"] / (1 - state["decay"])).sqrt() + 1e-12
                parameter -= group["lr"] * state["mean"] / size


def runs(
    traces: DeviceTraces, count: int, size: int, generators: list[torch.Generator]
) -> tuple[Tensor, Tensor]:
    """Draw runs of consecutive places for each seed (seeds, count, size), each within one context."""
    device = traces.at.device
    if len(traces.at) <= size:
        what = f"the training traces have {len(traces.at):,} tokens, a run of them {size:,}"
        raise TapeformerError(Fault(what, remedy="ask for more words, or for a shorter `crop`"))
    parts = []
    for generator in generators:
        starts = torch.randint(
            0, len(traces.at) - size, (4 * count,), generator=generator, device=device
        )
        whole = traces.first[starts] == traces.first[starts + size - 1]
        order = torch.argsort(whole.int(), descending=True, stable=True)[:count]
        parts.append(starts[order])
    rows = torch.stack(parts)[..., None] + torch.arange(size, device=device)
    return traces.at[rows], traces.first[rows]
