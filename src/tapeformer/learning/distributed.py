"""Several processes that train one model: `torchrun -m tapeformer.learning CONFIG DATA OUTPUT`.

Each draws its own part of a batch; DistributedDataParallel averages the gradients.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import torch
from torch import distributed, nn


class Team:
    """The processes of a training; one alone where torchrun has not started several."""

    def __init__(self) -> None:
        self.rank, self.size = 0, 1
        if distributed.is_available() and distributed.is_initialized():
            self.rank, self.size = distributed.get_rank(), distributed.get_world_size()

    def parallel(self, module: nn.Module) -> Callable[..., Any]:
        """Return a module whose gradients are averaged over all processes."""
        if self.size == 1:
            return module
        from torch.nn.parallel import DistributedDataParallel

        return DistributedDataParallel(module)

    def agreed(self, done: float) -> float:
        """Return the share of the training that is done, the same for all processes."""
        if self.size == 1:
            return done
        device = "cuda" if distributed.get_backend() == "nccl" else "cpu"
        told = torch.tensor([done], dtype=torch.float64, device=device)
        distributed.broadcast(told, 0)
        return float(told)


def team() -> Team:
    """Return the processes that this one belongs to."""
    return Team()


def join() -> torch.device | None:
    """Join the processes that torchrun has started; return this one's device, None without torchrun."""
    if "LOCAL_RANK" not in os.environ:
        return None
    cuda = torch.cuda.is_available()
    distributed.init_process_group("nccl" if cuda else "gloo")
    if not cuda:
        return torch.device("cpu")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    return device
