"""A random order of any number of things that takes no memory: position to thing, by a key."""

from __future__ import annotations

from hashlib import shake_128

ROUNDS = 6


def permuted(index: int, size: int, key: str) -> int:
    """Return where a permutation of 0 .. size - 1, chosen by a key, takes a number.

    A Feistel network permutes the next even power of two; it is applied until it lands below
    `size`. So samples without repetition need no memory of what was drawn.
    """
    half = max(1, ((size - 1).bit_length() + 1) // 2)
    number = index
    while True:
        number = _feistel(number, half, key)
        if number < size:
            return number


def _feistel(number: int, half: int, key: str) -> int:
    left, right = number >> half, number & ((1 << half) - 1)
    for turn in range(ROUNDS):
        left, right = right, left ^ _noise(right, half, f"{key}/{turn}")
    return left << half | right


def _noise(number: int, bits: int, key: str) -> int:
    octets = (bits + 7) // 8
    digest = shake_128(f"{key}/{number:x}".encode()).digest(octets)
    return int.from_bytes(digest, "big") & ((1 << bits) - 1)
