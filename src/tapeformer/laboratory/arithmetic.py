"""Arithmetics: exact rationals, every operation rounded to p bits, and the IEEE types.

A model is written once and computed in any of them: an arithmetic makes arrays and rounds the
result of one operation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tapeformer.faults import Fault, TapeformerError

Array: TypeAlias = NDArray[Any]
Number: TypeAlias = int | Fraction

FEWEST_BITS, MOST_BITS = 2, min(62, int(np.finfo(np.longdouble).nmant) - 1)
"""The mantissas that can be asked for; two bits of the widest hardware type are kept in reserve."""
NARROW = 24
"""Up to here float64 holds an operation's result well enough to round it once (53 >= 2p + 2)."""


class Arithmetic(ABC):
    """How numbers are kept, and how the result of one operation is rounded."""

    name: str
    dtype: np.dtype[Any]
    lowest: Any

    def __init__(self) -> None:
        self._constants: dict[Number, Any] = {}

    @abstractmethod
    def rounded(self, values: Array) -> Array:
        """Return results of one operation each, rounded."""

    def array(self, values: Iterable[Number]) -> Array:
        """Return numbers of this arithmetic."""
        return np.array([self.constant(value) for value in values], self.dtype)

    def zeros(self, *shape: int) -> Array:
        """Return zeros of this arithmetic."""
        return np.zeros(shape, self.dtype)

    def constant(self, value: Number) -> Any:
        """Return one number of this arithmetic."""
        if value not in self._constants:
            self._constants[value] = self._converted(Fraction(value))
        return self._constants[value]

    def _converted(self, value: Fraction) -> Any:
        """Round the quotient of numerator and denominator once."""
        wide = np.longdouble(value.numerator) / np.longdouble(value.denominator)
        return self.rounded(np.array([wide])).astype(self.dtype)[0]

    def root(self, values: Array) -> Array:
        """Return square roots, rounded."""
        return self.rounded(np.sqrt(values))


class Exact(Arithmetic):
    """Rational numbers: nothing is rounded. There are no square roots."""

    name = "exact"
    dtype = np.dtype(object)
    lowest = Fraction(-(10**80))

    def rounded(self, values: Array) -> Array:
        """Return the values themselves."""
        return values

    def _converted(self, value: Fraction) -> Any:
        return value

    def root(self, values: Array) -> Array:  # noqa: ARG002
        """Refuse: layer normalisation leaves the rationals."""
        raise TapeformerError(Fault("square roots are not rational", remedy="use p-bit arithmetic"))


class Rounded(Arithmetic):
    """A mantissa of p bits, rounded to nearest after every operation; the exponent is unbounded."""

    def __init__(self, bits: int) -> None:
        super().__init__()
        if not FEWEST_BITS <= bits <= MOST_BITS:
            raise TapeformerError(
                Fault(
                    "such a precision cannot be computed here",
                    expected=f"{FEWEST_BITS} to {MOST_BITS} bits, or half, single, double, exact",
                    got=str(bits),
                )
            )
        self.bits, self.name = bits, f"{bits} bits"
        self.dtype = np.dtype(np.float64 if bits <= NARROW else np.longdouble)
        self.lowest = self.dtype.type(-np.inf)
        self._splitter = self._split(self.dtype)
        self._wide_splitter = self._split(np.dtype(np.longdouble))

    def _split(self, dtype: np.dtype[Any]) -> Any:
        kept = int(np.finfo(dtype).nmant) + 1
        return dtype.type(2) ** (kept - self.bits) + dtype.type(1)

    def rounded(self, values: Array) -> Array:
        """Round to nearest by Veltkamp's splitting: three operations of the hardware."""
        splitter = self._splitter if values.dtype == self.dtype else self._wide_splitter
        spread = values * splitter
        return np.asarray(spread - (spread - values))


class Ieee(Arithmetic):
    """A type of the hardware: half, single or double precision."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name, self.dtype = name, np.dtype(IEEE_TYPES[name])
        self.lowest = self.dtype.type(-np.inf)
        self.bits = int(np.finfo(self.dtype).nmant) + 1

    def rounded(self, values: Array) -> Array:
        """Return the values: the hardware has rounded them."""
        return values


IEEE_TYPES: dict[str, Any] = {"half": np.float16, "single": np.float32, "double": np.float64}


def arithmetic(name: str | int) -> Arithmetic:
    """Return an arithmetic by its name: exact, half, single, double, or a number of bits."""
    text = str(name)
    if text == Exact.name:
        return Exact()
    if text in IEEE_TYPES:
        return Ieee(text)
    if text.isdigit():
        return Rounded(int(text))
    expected = f"exact, {', '.join(IEEE_TYPES)}, or {FEWEST_BITS} to {MOST_BITS} bits"
    raise TapeformerError(Fault("there is no such precision", expected=expected, got=repr(name)))
