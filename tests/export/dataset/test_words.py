"""The words of a dataset: distinct, repeatable, of the lengths and kinds asked for."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapeformer import TapeformerError, gallery_machine
from tapeformer.export.dataset.permutation import permuted
from tapeformer.export.dataset.splits import SplitRule
from tapeformer.export.dataset.words import Drawn, Listed, letters_of


@given(st.integers(1, 300), st.text(max_size=5))
def test_a_permutation_meets_every_number_once(size: int, key: str) -> None:
    assert sorted(permuted(index, size, key) for index in range(size)) == list(range(size))


@given(st.integers(1, 60), st.integers(0, 6), st.integers(0, 4), st.integers(0, 9))
def test_drawn_words_are_distinct_and_in_range(count: int, low: int, more: int, seed: int) -> None:
    there_are = sum(2**n for n in range(low, low + more + 1))
    words = list(Drawn(("a", "b"), min(count, there_are), low, low + more, seed))
    assert len(set(words)) == min(count, there_are)
    assert all(low <= len(word) <= low + more for word in words)


@given(st.integers(0, 9), st.floats(0.05, 1))
def test_all_words_come_when_as_many_are_asked_for_as_there_are(seed: int, share: float) -> None:
    assert len(set(Drawn(("a", "b", "c"), 40, 0, 3, seed, share))) == 40


def test_mirrored_words_have_their_share() -> None:
    words = list(Drawn(("a", "b"), 400, 20, 40, 1, 0.75))
    assert sum(word == word[::-1] for word in words) == pytest.approx(300, abs=25)
    spread = Counter(map(len, words))
    assert max(spread.values()) - min(spread.values()) <= 1


def test_a_seed_repeats_and_another_differs() -> None:
    first, again, other = (list(Drawn(("a", "b"), 50, 8, 30, seed)) for seed in (3, 3, 4))
    assert first == again
    assert not set(first) & set(other)


def test_more_words_than_there_are_is_a_fault() -> None:
    with pytest.raises(TapeformerError, match="only 7 words"):
        list(Drawn(("a", "b"), 8, 0, 2))


def test_a_listed_word_that_comes_twice_is_taken_once() -> None:
    machine = gallery_machine("palindrome")
    assert list(Listed(machine, "ab\n\nab\nba\n")) == [("a", "b"), (), ("b", "a")]
    with pytest.raises(TapeformerError, match="words:2"):
        list(Listed(machine, "ab\nabx\n"))


def test_random_words_have_input_symbols_only() -> None:
    assert letters_of(gallery_machine("palindrome")) == ("a", "b")
    assert "_" not in letters_of(gallery_machine("binary_increment"))


@given(st.lists(st.sampled_from("ab"), max_size=12))
def test_a_word_has_one_split_whatever_else_is_there(word: list[str]) -> None:
    rule = SplitRule(train_up_to=6, held_out=0.3)
    assert (rule.split_of(word) == "test") == (len(word) > 6)
    assert rule.split_of(word) == rule.split_of(tuple(word))
