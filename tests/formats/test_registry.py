"""The registry names formats without importing them: what it says must be what their modules say."""

from __future__ import annotations

import pytest

from tapeformer.faults import TapeformerError
from tapeformer.formats import FORMATS, OWN_FORMAT, WRITERS, busy_beaver, tapeformer_yaml
from tapeformer.formats.conventions import Conventions
from tapeformer.formats.reading import MOST_FAULTS
from tapeformer.formats.registry import format_module
from tapeformer.gallery import gallery_machine
from tapeformer.sources import BUSY_BEAVER


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_has_the_name_of_its_module(name: str) -> None:
    assert name == format_module(name).NAME


def test_writers_are_the_modules_that_write() -> None:
    assert tuple(name for name in FORMATS if hasattr(format_module(name), "write")) == WRITERS


def test_formats_that_are_named_elsewhere_have_the_names_of_their_modules() -> None:
    assert (tapeformer_yaml.NAME, busy_beaver.NAME) == (OWN_FORMAT, BUSY_BEAVER)


def test_no_more_faults_are_told_than_are_of_use() -> None:
    unknown = Conventions(accepting=tuple(f"state{n}" for n in range(3 * MOST_FAULTS)))
    with pytest.raises(TapeformerError) as refused:
        unknown.applied(gallery_machine("palindrome"))
    assert len(refused.value.faults) == MOST_FAULTS
