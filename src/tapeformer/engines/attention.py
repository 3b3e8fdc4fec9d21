"""How the dense engine scores positions and fetches from them: everything that is no parameter.

Softmax stands for hardmax only where its temperature is low: every weight but that of the highest
score must vanish. What is fetched is compared with the hardmax in every token, so a weight that
does not vanish, or a tie whose average is no whole number, is refused and never changes a token.
"""

from __future__ import annotations

from math import floor, log, log2
from typing import Literal, TypeAlias

import torch
from torch import Tensor, nn

from tapeformer.engines.exact import EXACT, SumCheck
from tapeformer.faults import Fault, TapeformerError
from tapeformer.weights.bounds import HIGHEST_POSITION

Attending: TypeAlias = Literal["leftmost", "rightmost", "averaging", "softmax"]
Position: TypeAlias = Literal["key", "bias"]


class Attention:
    """The rule of all heads of a model, from the rows of its positional encoding.

    `attending` is the kind of hardmax, or softmax at `temperature`; `position` says whether the
    positional term is added inside the key, as in the paper, or to the score, as in its footnote.
    """

    def __init__(
        self,
        encoding: Tensor,
        attending: Attending,
        position: Position,
        temperature: float,
        check: SumCheck,
    ) -> None:
        self.backwards = encoding.flip(0)
        self.attending, self.position, self.temperature = attending, position, temperature
        self.check = check

    def fetched(self, query: Tensor, keys: Tensor, values: Tensor, coordinates: Tensor) -> Tensor:
        """Return what each head reads, from queries (heads x width) and the window of each head."""
        scores = self._scores(query, keys, coordinates)
        if self.attending in ("leftmost", "rightmost"):
            return torch.bmm(self._hardmax(scores)[:, None, :], values)
        found = torch.bmm(self._shares(scores)[:, None, :], values)
        _check_whole(found, scores, values)
        return found

    def _scores(self, query: Tensor, keys: Tensor, coordinates: Tensor) -> Tensor:
        """Heads x positions."""
        rows = self.backwards[-keys.shape[1] :]
        if not self.check.idle and keys.numel():
            largest = int(keys.abs().max()) + HIGHEST_POSITION
            self.check.below_limit(int(query.double().abs().sum(dim=1).max() + 1) * largest)
        if self.position == "key":
            return torch.bmm(keys + rows, query[:, :, None]).squeeze(2)
        return torch.bmm(keys, query[:, :, None]).squeeze(2) + rows[:, coordinates].T

    def _hardmax(self, scores: Tensor) -> Tensor:
        """1 for the leftmost or rightmost of the highest scores."""
        highest = _highest(scores)
        if self.attending == "rightmost":
            highest = highest.flip(1)
        first = nn.functional.one_hot(highest.int().argmax(dim=1), scores.shape[1])
        return (first.flip(1) if self.attending == "rightmost" else first).to(scores.dtype)

    def _shares(self, scores: Tensor) -> Tensor:
        """What each position has of a head's attention, 1 in all."""
        if self.attending == "softmax":
            return torch.softmax(scores / self.temperature, dim=1)
        highest = _highest(scores)
        return highest.to(scores.dtype) / highest.sum(dim=1, keepdim=True)


def _highest(scores: Tensor) -> Tensor:
    return scores == scores.max(dim=1, keepdim=True).values


def _check_whole(found: Tensor, scores: Tensor, values: Tensor) -> None:
    """Refuse what is not the exact average over the highest scores, or no whole number."""
    highest = _highest(scores).double()
    counts = highest.sum(dim=1)[:, None, None]
    totals = torch.bmm(highest[:, None, :], values.double())
    same = found.double() * counts == totals
    largest = float(counts.max() * values.double().abs().max()) if totals.numel() else 0.0
    if not bool((same & (found == found.round())).all()) or largest >= EXACT["float64"]:
        raise TapeformerError(
            Fault(
                "a head of this model reads a fraction, which would be rounded",
                expected="one position with the highest score, or values with a whole average",
                remedy="use --attention leftmost or rightmost",
            )
        )


def allowed_temperature(dtype: torch.dtype, window: int, scores: int, asked: float | None) -> float:
    """Return a temperature at which softmax is hardmax: the one asked for, else a power of two.

    Scores are whole numbers up to `scores`, so two that differ are at least 1 apart. All weights
    but the highest vanish if the others' sum over the window is below the smallest number.
    """
    info = torch.finfo(dtype)
    largest = 1 / (log(2 * window) - log(info.smallest_normal) - log(info.eps))
    smallest = scores / info.max
    if asked is None:
        asked = 2.0 ** floor(log2(largest))
    if not smallest < asked <= largest:
        raise TapeformerError(
            Fault(
                f"softmax is no hardmax at this temperature in {str(dtype).removeprefix('torch.')}",
                expected=f"more than {smallest:.3g} and at most {largest:.6g}"
                f" for a window of {window} tokens",
                got=str(asked),
                remedy="leave --temperature out",
            )
        )
    return asked
