"""Words: one character per symbol, or spaced."""

from __future__ import annotations

import pytest

from tapeformer import TapeformerError, loads, parse_word
from tapeformer.formats import OWN_FORMAT

MANY = loads("blank: _\nstart state: a\ntable:\n  a: {'b>': R, c: R}\n", format_name=OWN_FORMAT)
PLAIN = loads("1RB1LB_1LA1RZ")


def test_characters_and_spaced() -> None:
    assert parse_word(PLAIN, "0110") == ("0", "1", "1", "0")
    assert parse_word(PLAIN, "") == ()
    assert parse_word(MANY, "b> c b>", spaced=True) == ("b>", "c", "b>")


def test_messages_name_the_place_and_the_remedy() -> None:
    with pytest.raises(TapeformerError, match=r"character 3: error: symbol '2'.*one of '0', '1'"):
        parse_word(PLAIN, "012")
    with pytest.raises(TapeformerError, match="give spaced=True"):
        parse_word(MANY, "b>")
    with pytest.raises(TapeformerError, match="leave out spaced=True"):
        parse_word(PLAIN, "010", spaced=True)
