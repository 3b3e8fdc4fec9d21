"""Why a token is wrong: which head chose otherwise than in exact arithmetic, or which margin vanished."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tapeformer.faults import counted
from tapeformer.laboratory.arithmetic import Arithmetic
from tapeformer.laboratory.transformer import Run, Transformer

if TYPE_CHECKING:
    from tapeformer.laboratory.experiment import Context

LONGEST = 40
"""Characters of a token that are shown."""


def reason(
    model: Transformer, run: Run, context: Context, place: int, reference: Arithmetic
) -> str:
    """Compare the run, token by token and head by head, with one in the reference arithmetic."""
    right = Run(model, reference)
    expected = context.tokens[place]
    predicted = right.extend(context.tokens[:place])[-1]
    got = f"token {place} should be {spelled(expected)}"
    if predicted != expected:
        return f"{got}: the model itself is wrong, in {reference.name} arithmetic too"
    different = _different_head(run, right, place)
    return f"{got}: {different or _margin(run, place)}"


def spelled(token: object) -> str:
    """Return a token as a short text."""
    text = " ".join(factors_of(token))
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def factors_of(token: object) -> list[str]:
    """Return a token's parts as texts, in order."""
    if isinstance(token, tuple):
        return [text for part in token for text in factors_of(part)]
    return ["" if token is None else str(token)]


def _different_head(run: Run, right: Run, place: int) -> str:
    """Find the first head, layer by layer, whose choice differs at the last place, then before it."""
    for look in (place - 1, None):
        for number, head in enumerate(run.model.heads):
            ours, theirs = _choices(run, number, place), _choices(right, number, place)
            wrong = np.flatnonzero((ours[:3] != theirs[:3]).any(axis=0))
            if look is not None:
                wrong = wrong[wrong == look]
            if len(wrong):
                return _told(head.name, int(wrong[0]), ours[:, wrong[0]], theirs[:, wrong[0]])
    return ""


def _choices(run: Run, number: int, length: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """Return first, last and count of what a head attended to, for each place."""
    seen = run.attended[number]
    parts = [
        np.concatenate([getattr(block, name) for block in seen])
        for name in ("first", "last", "count")
    ]
    return np.stack(parts)[:, :length]


def _told(head: str, at: int, ours: object, theirs: object) -> str:
    first, last, count = (int(value) for value in np.asarray(ours))
    right, _, exact = (int(value) for value in np.asarray(theirs))
    if count > 1:
        tied = f"scores of {counted(count, 'token')} tied, {first} to {last}"
        return f"head '{head}' at token {at}: {tied}; exact is {right}"
    if first == right:
        return f"head '{head}' at token {at} takes one token; exact is a mean of {exact}"
    return f"head '{head}' at token {at} attends to token {first}; exact is {right}"


def _margin(run: Run, place: int) -> str:
    """Name the output with the smallest margin at the wrong token."""
    margins = np.concatenate(run.margins, axis=1)[:, place - 1]
    at = int(np.argmin(margins))
    return f"every head is right; the margin of '{run.model.factors[at].name}' is {margins[at]:.3g}"
