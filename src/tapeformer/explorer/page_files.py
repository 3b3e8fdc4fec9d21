"""The page's own files, read from the package; nothing else is ever served."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

INDEX = "index.html"
MAIN, STYLE, SCRIPT = "main.js", "style.css", "explorer.js"
"""The first module, the style sheet, and all modules as the one script that pages load."""
IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./(\w+)\.js";$', re.MULTILINE)
EXPORT = re.compile(r"^export ((?:async )?(?:function|const|class) (\w+))", re.MULTILINE)


@dataclass(frozen=True)
class PageFile:
    """The content of a file and its media type."""

    content: str
    kind: str


def page_file(name: str) -> PageFile | None:
    """Return one of the page's files by its name; None for any other name."""
    if name == SCRIPT:
        return PageFile(joined_script(), "text/javascript")
    return PageFile(_text(STYLE), "text/css") if name == STYLE else None


def index_page(prefix: str) -> str:
    """Return the page, with the address of its files."""
    return _text(INDEX).replace("{prefix}", prefix)


@cache
def joined_script() -> str:
    """Return all modules as one script: each a function of its own, imported ones first."""
    done: list[str] = []
    _gather(MAIN.removesuffix(".js"), done)
    return "\n".join(_scoped(name) for name in done)


def _gather(name: str, done: list[str]) -> None:
    for _, other in IMPORT.findall(_text(f"{name}.js")):
        if other not in done:
            _gather(other, done)
    if name not in done:
        done.append(name)


def _scoped(name: str) -> str:
    """Return a module as a constant that holds what it exports."""
    text = _text(f"{name}.js")
    exported = ", ".join(found for _, found in EXPORT.findall(text))
    body = EXPORT.sub(r"\1", IMPORT.sub(r"const \1 = \2_module;", text))
    return f"const {name}_module = (() => {{\n{body}\nreturn {{ {exported} }};\n}})();"


@cache
def _text(name: str) -> str:
    return files("tapeformer.explorer").joinpath("page", name).read_text(encoding="utf-8")
