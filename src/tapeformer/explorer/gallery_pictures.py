"""Make the pictures of the documentation: `python -m tapeformer.explorer.gallery_pictures FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from tapeformer.compile.options import CompileOptions
from tapeformer.explorer.export import exported
from tapeformer.explorer.open import opened_session
from tapeformer.explorer.pictures import Shot, page_png

Source = tuple[str, str, dict[str, Any], int | None]
PICTURES: dict[str, tuple[Source, Shot]] = {
    "palindrome": (
        ("palindrome_two_tapes", "abbaabbabaabbabbabbaababbaabba", {}, None),
        Shot(token=112, size=(1280, 800), hash="tape=2"),
    ),
    "busy_beaver": (
        ("busy_beaver_5", "", {}, 21_000),
        Shot(token=20_062, theme="dark", size=(1280, 800), hash="side=both"),
    ),
    "paper": (
        ("palindrome", "abba", {"construction": "paper", "levels": 2}, None),
        Shot(token=178, size=(1280, 800), hash="side=right"),
    ),
}
"""For each picture the machine, its input, options and limit, and what of its run is shown."""


def main(folder: str) -> None:
    """Write every picture to a folder."""
    for name, ((machine, word, options, most), shot) in PICTURES.items():
        session = opened_session(machine, word, CompileOptions(**options), max_tokens=most)
        session.record()
        target = Path(folder) / f"{name}.png"
        page_png(exported(session), target, shot)
        print(target)


if __name__ == "__main__":
    main(sys.argv[1])
