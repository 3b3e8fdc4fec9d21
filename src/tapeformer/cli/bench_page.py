"""What the measurements of `tapeformer bench` share: the folder, progress, and the page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from tapeformer.bench.report import Section

Folder = Annotated[
    Path, typer.Option("-o", "--output", help="The folder for the page, tables and plots.")
]


def say(text: str) -> None:
    """Tell what is being measured."""
    print(text, file=sys.stderr, flush=True)


def write(
    output: Path, name: str, sections: list[Section], options: str = "", shown: int | None = None
) -> None:
    """Write a page, and print its first sections."""
    from tapeformer.bench.report import markdown, write_report

    page = write_report(output, name, f"tapeformer bench {name}{options}", sections)
    for section in sections[:shown]:
        print(f"{markdown(section.rows)}\n")
    print(f"written to {page}")
