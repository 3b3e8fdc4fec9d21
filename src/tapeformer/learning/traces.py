"""Traces as arrays: a folder that training reads with NumPy alone, on any machine."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tapeformer.faults import Fault, SourceLocation, TapeformerError
from tapeformer.learning.fields import Factor, TokenFields

ABOUT = "data.json"


@dataclass(frozen=True, eq=False)
class TraceSet:
    """Contexts one after another: all tokens, where each context starts, and its prompt's length.

    `letters` has the length of each word. Factors and levels are those of the model that made it.
    """

    factors: tuple[Factor, ...]
    levels: int
    tokens: NDArray[np.uint8]
    starts: NDArray[np.int64]
    prompts: NDArray[np.int64]
    letters: NDArray[np.int64]

    @property
    def fields(self) -> TokenFields:
        """The factors by role."""
        return TokenFields(self.factors, self.levels)

    @property
    def predicted(self) -> int:
        """How many tokens a model has to predict: all but the prompts."""
        return len(self.tokens) - int(self.prompts.sum())

    def places(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return every place whose next token is generated, and where its context begins."""
        ends = np.append(self.starts[1:], len(self.tokens))
        spans = [
            np.arange(start + prompt - 1, end - 1)
            for start, prompt, end in zip(self.starts, self.prompts, ends, strict=True)
        ]
        sizes = [len(span) for span in spans]
        return np.concatenate(spans), np.repeat(self.starts, sizes)

    def save(self, path: Path) -> None:
        """Write the set as one compressed file."""
        about = {"levels": self.levels, "factors": [asdict(factor) for factor in self.factors]}
        partial = path.with_name(f".{path.name}")
        np.savez_compressed(
            partial,
            about=np.frombuffer(json.dumps(about).encode(), np.uint8),
            tokens=self.tokens,
            starts=self.starts,
            prompts=self.prompts,
            letters=self.letters,
        )
        partial.replace(path)


def load_traces(path: Path) -> TraceSet:
    """Read a set of traces."""
    try:
        with np.load(path) as file:
            about: dict[str, Any] = json.loads(file["about"].tobytes())
            arrays = {name: file[name] for name in ("tokens", "starts", "prompts", "letters")}
    except (OSError, ValueError, KeyError) as error:
        remedy = "prepare the data again: `tapeformer learn CONFIG --prepare DIR`"
        what = f"the traces cannot be read: {error}"
        raise TapeformerError(Fault(what, SourceLocation(str(path)), remedy=remedy)) from None
    factors = tuple(Factor(**factor) for factor in about["factors"])
    return TraceSet(factors, about["levels"], **arrays)


@dataclass(frozen=True, eq=False)
class DeviceTraces:
    """A set of traces on the device where a model runs."""

    fields: TokenFields
    tokens: Tensor
    at: Tensor
    first: Tensor


def on_device(traces: TraceSet, device: torch.device) -> DeviceTraces:
    """Move a set of traces to a device."""
    at, first = traces.places()
    arrays = (traces.tokens, at, first)
    tokens, places, firsts = (torch.from_numpy(array).to(device) for array in arrays)
    return DeviceTraces(traces.fields, tokens, places, firsts)
