"""Traces as arrays: a folder that training reads with NumPy alone, on any machine."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tapeformer.faults import Fault, SourceLocation, TapeformerError
from tapeformer.folders import file_written_at_once
from tapeformer.learning.fields import Factor, TokenFields

ABOUT, TRAIN, WALKS, OTHERS = "data.json", "train", "walks", "others"


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

    @classmethod
    def of(
        cls,
        factors: tuple[Factor, ...],
        levels: int,
        contexts: Sequence[NDArray[np.uint8]],
        prompts: Sequence[int],
        letters: Sequence[int],
    ) -> TraceSet:
        """Put contexts one after another."""
        sizes = [len(context) for context in contexts]
        return cls(
            factors=factors,
            levels=levels,
            tokens=contexts[0] if len(contexts) == 1 else np.concatenate(contexts),
            starts=np.cumsum([0, *sizes[:-1]]),
            prompts=np.array(prompts),
            letters=np.array(letters),
        )

    def chosen(self, contexts: Sequence[int]) -> TraceSet:
        """Return some of the contexts."""
        ends = np.append(self.starts[1:], len(self.tokens))
        return TraceSet.of(
            self.factors,
            self.levels,
            [self.tokens[self.starts[i] : ends[i]] for i in contexts],
            self.prompts[list(contexts)].tolist(),
            self.letters[list(contexts)].tolist(),
        )

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
        """Write the set as one file, a column of tokens after the other: these repeat themselves."""
        about = {"levels": self.levels, "factors": [asdict(factor) for factor in self.factors]}
        with file_written_at_once(path) as partial:
            np.savez_compressed(
                partial,
                about=np.frombuffer(json.dumps(about).encode(), np.uint8),
                columns=np.ascontiguousarray(self.tokens.T),
                starts=self.starts,
                prompts=self.prompts,
                letters=self.letters,
            )


def test_name(length: int) -> str:
    """Name the test traces of words of a length."""
    return f"test-{length}"


def part_name(name: str, number: int) -> str:
    """Name the file of one part of a set of traces."""
    return f"{name}.npz" if number == 0 else f"{name}.{number}.npz"


def load_parts(folder: Path, name: str) -> Iterator[TraceSet]:
    """Read the parts of a set of traces, one after the other."""
    listed = folder / f"{name}.json"
    try:
        count = len(json.loads(listed.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise _unread(listed, error) from None
    for number in range(count):
        yield load_traces(folder / part_name(name, number))


def load_traces(path: Path) -> TraceSet:
    """Read a set of traces."""
    try:
        with np.load(path) as file:
            about: dict[str, Any] = json.loads(file["about"].tobytes())
            arrays = {name: file[name] for name in ("starts", "prompts", "letters")}
            tokens = file["columns"].T if "columns" in file.files else file["tokens"]
    except (OSError, ValueError, KeyError) as error:
        raise _unread(path, error) from None
    factors = tuple(Factor(**factor) for factor in about["factors"])
    return TraceSet(factors, about["levels"], tokens, **arrays)


def _unread(path: Path, error: Exception) -> TapeformerError:
    remedy = "prepare the data again: `tapeformer learn CONFIG --prepare`"
    what = f"the traces cannot be read: {error}"
    return TapeformerError(Fault(what, SourceLocation(str(path)), remedy=remedy))


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
