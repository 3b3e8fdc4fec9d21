"""What the library says in Python the command line says in options."""

from __future__ import annotations

import pytest

from tapeformer.cli.wording import in_options


@pytest.mark.parametrize(
    ("python", "option"),
    [
        ("give levels=8 or more", "give --levels 8 or more"),
        ("use engine='dense'", "use --engine dense"),
        ("or run with allow_modified=True", "or run with --allow-modified"),
        ("give format_name=NAME to see", "give --format NAME to see"),
        ("use tf.CompileOptions(levels=5)", "use tf.CompileOptions(levels=5)"),
        ("use only these symbols", "use only these symbols"),
        ("tf.Conventions(symbols=NAMES) adds some", "--symbols NAMES adds some"),
    ],
)
def test_arguments_become_options(python: str, option: str) -> None:
    assert in_options(python) == option
