"""Tokens in slices: a few hundred at a time, compressed, so that a run of a million fits a page.

A slice holds consecutive tokens of one model as columns, one for each field, then the rule of the
direct simulation for each step that they make, and for each token whether the two agree.
"""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tapeformer.explorer.truth import Moment

SIZE = 2048
"""The most tokens in a slice."""
NO_RULE = 0xFFFF
QUICKLY = 1
"""The level of compression: the columns hardly change, so more effort gains little."""


@dataclass(frozen=True)
class Slice:
    """Tokens `start` to `stop` of a run, made by its model number `model`.

    `steps` is the number of steps before the first of them, `truth` the tapes at that time, and
    `content` the compressed columns, each value `width` bytes wide.
    """

    start: int
    stop: int
    model: int
    steps: int
    width: int
    truth: Moment
    content: bytes

    def header(self) -> dict[str, Any]:
        """Return all but the content, as plain data."""
        return {
            "start": self.start,
            "stop": self.stop,
            "model": self.model,
            "steps": self.steps,
            "width": self.width,
            "tapes": [asdict(tape) for tape in self.truth.tapes],
        }

    def message(self) -> bytes:
        """Return one message: the length of the header in four bytes, the header, the content."""
        header = json.dumps(self.header(), separators=(",", ":")).encode()
        return len(header).to_bytes(4, "little") + header + self.content

    def embedded(self) -> dict[str, Any]:
        """Return the same as an object of JSON, the content in base 64."""
        return {**self.header(), "content": base64.b64encode(self.content).decode()}

    def rows(self, fields: int) -> NDArray[np.int32]:
        """Return the tokens again, a row for each."""
        count = self.stop - self.start
        numbers = np.frombuffer(
            zlib.decompress(self.content), _kind(self.width), fields * count
        ).reshape(fields, count)
        return np.ascontiguousarray(numbers.T).astype(np.int32)


def packed(
    rows: NDArray[np.int32], width: int, rules: NDArray[np.int32], agree: NDArray[np.bool_]
) -> bytes:
    """Compress the columns of some tokens, the rules of their steps and whether they agree."""
    columns = np.ascontiguousarray(rows.T.astype(_kind(width))).tobytes()
    numbers = np.where(rules < 0, NO_RULE, rules).astype("<u2").tobytes()
    return zlib.compress(columns + numbers + agree.astype(np.uint8).tobytes(), QUICKLY)


def width_of(domains: list[int]) -> int:
    """Return how many bytes a value needs."""
    return 1 if max(domains, default=0) <= 256 else 2


def _kind(width: int) -> np.dtype[Any]:
    return np.dtype(np.uint8) if width == 1 else np.dtype("<u2")
