"""The words of an experiment: drawn at random, or the same backwards, or the same but for one letter."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from random import Random

from tapeformer.export.dataset.words import Drawn, Word
from tapeformer.learning.config import DataConfig

SHORTEST_MISS = 4
"""The letters of the shortest word that is the same backwards but for one."""


def training_words(config: DataConfig, alphabet: tuple[str, ...]) -> Iterator[Word]:
    """Yield the words of training."""
    longest, seed = config.train_up_to, config.seed
    yield from Drawn(alphabet, config.count, 0, longest, seed, config.mirrored)
    yield from _near_misses(alphabet, config.near_misses, (SHORTEST_MISS, longest), seed + 3)


def test_words(config: DataConfig, alphabet: tuple[str, ...], length: int) -> Iterator[Word]:
    """Yield test words of one length, of a far one only the first few of each kind."""
    most, with_misses = config.words_at(length)
    for words in _kinds(config, alphabet, length, with_misses):
        yield from islice(words, most)


def _kinds(
    config: DataConfig, alphabet: tuple[str, ...], length: int, with_misses: bool
) -> Iterator[Iterator[Word]]:
    """Yield test words of each kind; those for training are shorter, or drawn with another seed."""
    share, seed, lengths = 1.0 if config.mirrored else 0.0, config.seed, (length, length)
    yield iter(Drawn(alphabet, config.test_words, *lengths, seed + 1, share))
    if with_misses:
        yield _near_misses(alphabet, config.test_near_misses, lengths, seed + 4)
    yield iter(Drawn(alphabet, config.test_others, *lengths, seed + 2))


def _near_misses(
    alphabet: tuple[str, ...], count: int, lengths: tuple[int, int], seed: int
) -> Iterator[Word]:
    """Yield words of some lengths that read the same backwards but for one letter."""
    chance = Random(seed)
    for word in Drawn(alphabet, count, *lengths, seed, 1.0) if count else ():
        place = chance.randrange(len(word) // 2)
        letter = chance.choice([other for other in alphabet if other != word[place]])
        yield (*word[:place], letter, *word[place + 1 :])
