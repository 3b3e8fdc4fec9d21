"""Other ways to attend than the leftmost hardmax, and the checks that they change no token.

Softmax stands for hardmax only where its temperature is low: every weight but that of the highest
score must vanish. What is fetched is compared with the hardmax in every token, so a weight that
does not vanish, or a tie whose average is no whole number, is refused and never changes a token.
"""

from __future__ import annotations

from math import floor, log, log2
from typing import Literal, TypeAlias

import torch
from torch import Tensor, nn

from tapeformer.engines.exact import EXACT
from tapeformer.faults import Fault, TapeformerError

Attending: TypeAlias = Literal["leftmost", "rightmost", "averaging", "softmax"]
Position: TypeAlias = Literal["key", "bias"]


class PositionAsBias(nn.Module):
    """The positional term added to the score itself, as in the paper's footnote."""

    def __init__(self, coordinates: tuple[int, ...]) -> None:
        super().__init__()
        self.coordinates = list(coordinates)

    def forward(self, _q: Tensor, encoding: Tensor) -> Tensor:
        """Return (1, heads, 1, distances)."""
        return encoding.T[self.coordinates][None, :, None]


class Leftmost(nn.Module):
    """The module's hardmax in fewer operations: argmax is the first of equal scores."""

    def forward(self, scores: Tensor) -> Tensor:
        """Return the pattern: 1 at the position attended to, else 0."""
        return torch.zeros_like(scores).scatter_(-1, scores.argmax(-1, keepdim=True), 1)


class Rightmost(nn.Module):
    """All of a head's attention on the rightmost of the highest scores."""

    def forward(self, scores: Tensor) -> Tensor:
        """Return the pattern: 1 at the position attended to, else 0."""
        mirrored: Tensor = Leftmost()(scores.flip(-1))
        return mirrored.flip(-1)


class Averaging(nn.Module):
    """Equal attention to all of the highest scores."""

    def forward(self, scores: Tensor) -> Tensor:
        """Return what each position has of a head's attention, 1 in all."""
        highest = _highest(scores).to(scores.dtype)
        return highest / highest.sum(-1, keepdim=True)


class Softmax(nn.Module):
    """Softmax at a temperature."""

    def __init__(self, temperature: float) -> None:
        super().__init__()
        self.temperature = temperature

    def forward(self, scores: Tensor) -> Tensor:
        """Return what each position has of a head's attention, 1 in all."""
        return torch.softmax(scores / self.temperature, -1)


def attending_rule(attending: Attending, temperature: float) -> nn.Module:
    """Return the module that turns scores into a pattern."""
    if attending == "softmax":
        return Softmax(temperature)
    return {"leftmost": Leftmost, "rightmost": Rightmost, "averaging": Averaging}[attending]()


def check_whole(found: Tensor, scores: Tensor, values: Tensor) -> None:
    """Refuse what is not the exact average over the highest scores, or no whole number."""
    highest = _highest(scores).double()
    counts = highest.sum(-1, keepdim=True)
    totals = highest @ values.double()
    same = found.double() * counts == totals
    largest = float(counts.max() * values.double().abs().max()) if totals.numel() else 0.0
    if not bool((same & (found == found.round())).all()) or largest >= EXACT["float64"]:
        raise TapeformerError(
            Fault(
                "a head of this model reads a fraction, which would be rounded",
                expected="one position with the highest score, or values with a whole average",
                remedy="use attention='leftmost' or attention='rightmost'",
            )
        )


def _highest(scores: Tensor) -> Tensor:
    return scores == scores.amax(-1, keepdim=True)


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
                remedy="leave out temperature",
            )
        )
    return asked
