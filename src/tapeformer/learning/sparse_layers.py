"""Building a layer of neurons one after another: names, biases and entries, then one sparse map."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from tapeformer.weights.record import Affine, Matrix


class LayerBuilder:
    """Collects neurons that read the named units of the layer before; `ending` ends their names."""

    def __init__(self, reads: Mapping[str, int], ending: str = "") -> None:
        self.reads, self.number, self.ending = reads, dict[str, int](), ending
        self.biases: list[int] = []
        self.parts: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]] = []

    def neuron(self, name: str, weights: Mapping[str, int], bias: int = 0) -> None:
        """Add one neuron."""
        row = self._new([name], [bias])
        columns = np.array([self.reads[read] for read in weights], np.int64)
        rows = np.full(len(columns), row, np.int64)
        self.parts.append((rows, columns, np.array(list(weights.values()), np.int64)))

    def dense(self, names: list[str], reads: list[str], weights: NDArray[np.int64]) -> None:
        """Add neurons that read the same units, by a matrix (neurons, units)."""
        row = self._new(names, [0] * len(names))
        columns = np.array([self.reads[read] for read in reads], np.int64)
        at, of = np.nonzero(weights)
        self.parts.append((at + row, columns[of], weights[at, of]))

    def _new(self, names: list[str], biases: list[int]) -> int:
        first = len(self.number)
        self.number |= {name: first + place for place, name in enumerate(names)}
        self.biases += biases
        return first

    def affine(self) -> Affine:
        """Return the layer as an affine map."""
        rows, columns, values = (
            np.concatenate([part[place] for part in self.parts]) for place in range(3)
        )
        shape = (len(self.number), len(self.reads))
        return Affine(
            sorted_matrix(shape, rows, columns, values),
            np.array(self.biases, np.int32),
            tuple(name + self.ending for name in self.number),
        )


def sorted_matrix(
    shape: tuple[int, int],
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    values: NDArray[np.int64],
) -> Matrix:
    """Return a matrix from entries in any order; entries of the same place are added up."""
    places, inverse = np.unique(rows * shape[1] + columns, return_inverse=True)
    sums = np.bincount(inverse, values, len(places)).astype(np.int64)
    kept = sums != 0
    row, column = np.divmod(places[kept], shape[1])
    return Matrix(shape, row.astype(np.int32), column.astype(np.int32), sums[kept].astype(np.int32))
