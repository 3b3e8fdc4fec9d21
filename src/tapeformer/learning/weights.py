"""The weights of trained models on disk: one file for each seed, 16 bits for each number."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tapeformer.faults import Fault, SourceLocation, TapeformerError


def save_weights(state: Mapping[str, Tensor], seeds: list[int], stem: Path) -> None:
    """Write the part of each seed; seeds are the outermost dimension of every tensor."""
    for number, seed in enumerate(seeds):
        arrays: dict[str, Any] = {
            name: tensor.chunk(len(seeds))[number].to(torch.float16).cpu().numpy()
            for name, tensor in state.items()
        }
        if arrays:
            np.savez(stem.with_name(f"{stem.name}-{seed}.npz"), **arrays)


def load_weights(stem: Path, seed: int) -> dict[str, Tensor]:
    """Read the weights of one seed, as numbers of 32 bits."""
    path = stem.with_name(f"{stem.name}-{seed}.npz")
    try:
        with np.load(path) as file:
            return {name: torch.from_numpy(file[name]).float() for name in file.files}
    except (OSError, ValueError) as error:
        what, remedy = f"there are no trained weights: {error}", "train the arm first"
        raise TapeformerError(Fault(what, SourceLocation(str(path)), remedy=remedy)) from None
