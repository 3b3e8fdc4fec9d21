from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tapeformer import TapeformerError
from tapeformer.laboratory.arithmetic import Exact, Ieee, Rounded, arithmetic


def nearest_even(value: Fraction, bits: int) -> Fraction:
    """Round a rational to `bits` bits, ties to even: the definition."""
    if not value:
        return value
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    while Fraction(2) ** exponent > size:
        exponent -= 1
    while Fraction(2) ** (exponent + 1) <= size:
        exponent += 1
    unit = Fraction(2) ** (exponent + 1 - bits)
    return round(value / unit) * unit


@pytest.mark.parametrize("bits", [2, 3, 5, 11, 24, 25, 40])
def test_every_result_is_rounded_to_nearest_even(bits: int) -> None:
    numbers = Rounded(bits)
    for value in (*range(-200, 200), 12345, 2**30 + 3, 3 * 2**20 + 1):
        rounded = numbers.rounded(np.array([value], numbers.dtype))[0]
        assert Fraction(int(rounded)) == nearest_even(Fraction(value), bits), value


def test_twenty_four_bits_are_single_precision() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((2, 2000)).astype(np.float32)
    numbers = Rounded(24)
    wide = [part.astype(numbers.dtype) for part in (x, y)]
    for single, exact in ((x * y, wide[0] * wide[1]), (x + y, wide[0] + wide[1])):
        assert (numbers.rounded(exact) == single).all()
    assert (numbers.root(abs(wide[0])) == np.sqrt(abs(x))).all()


def test_rationals_have_no_roots() -> None:
    with pytest.raises(TapeformerError, match="not rational"):
        Exact().root(np.array([Fraction(2)]))


def test_arithmetics_are_found_by_name() -> None:
    assert isinstance(arithmetic("exact"), Exact)
    assert isinstance(arithmetic("half"), Ieee)
    assert arithmetic(17).name == "17 bits"
    for wrong in ("1", "63", "quarter", "-3"):
        with pytest.raises(TapeformerError):
            arithmetic(wrong)
