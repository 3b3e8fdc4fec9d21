"""Pictures of an exported page, made by a browser without a window."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

from tapeformer.faults import Fault, TapeformerError

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--virtual-time-budget=8000",
)
VIEWS = ("rings", "strip", "attention")
PATIENCE = 60


@dataclass(frozen=True)
class Shot:
    """What a picture shows: a view (for SVG), a token, a theme, and the size of the page."""

    view: str = "rings"
    token: int | None = None
    theme: str = "light"
    size: tuple[int, int] = (1280, 800)
    hash: str = ""

    @property
    def address(self) -> str:
        """What stands behind the # of the page's address."""
        asked = {"theme": self.theme, "still": "1"}
        if self.view == "attention":
            asked["view"] = "attention"
        if self.token is not None:
            asked["number"] = str(self.token)
        return urlencode(asked) + (f"&{self.hash}" if self.hash else "")


def page_png(page: str, target: Path, shot: Shot) -> None:
    """Write a picture of a whole page."""
    if target.is_dir() or not target.parent.is_dir():
        raise TapeformerError(Fault(f"{target} cannot be written", remedy="give a file's name"))
    wide, high = shot.size
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "page.png"
        _run(page, Path(folder), shot, f"--screenshot={made}", f"--window-size={wide},{high}")
        if not made.is_file():
            raise TapeformerError(Fault("the browser made no picture", remedy="use --export"))
        shutil.copyfile(made, target)


def view_svg(page: str, shot: Shot) -> str:
    """Return the text of an SVG file with one view."""
    if shot.view not in VIEWS:
        raise TapeformerError(
            Fault("no such view", expected=", ".join(VIEWS), got=shot.view, remedy="give --view")
        )
    wide, high = shot.size
    with tempfile.TemporaryDirectory() as folder:
        asked = Shot(shot.view, shot.token, shot.theme, shot.size, f"svg={shot.view}")
        found = _run(page, Path(folder), asked, "--dump-dom", f"--window-size={wide},{high}")
    svg = re.search(r'<pre id="picture">(.*?)</pre>', found, re.DOTALL)
    if svg is None:
        raise TapeformerError(Fault("the browser made no picture", remedy="use --export"))
    return unescape(svg[1])


def _run(page: str, folder: Path, shot: Shot, *more: str) -> str:
    source = folder / "page.html"
    source.write_text(page, encoding="utf-8")
    profile = f"--user-data-dir={folder / 'profile'}"
    command = [browser(), *FLAGS, profile, *more, f"{source.as_uri()}#{shot.address}"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        raise TapeformerError(Fault("the browser took too long", remedy="use --export")) from None
    return done.stdout.decode(errors="replace")


def browser() -> str:
    """Return the path of a Chromium; the message says what to do where there is none."""
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        raise TapeformerError(
            Fault(
                "pictures need Chromium or Chrome, which is not installed",
                expected="one of " + ", ".join(BROWSERS),
                remedy="install it, or use --export and a browser of your own",
            )
        )
    return found
