"""The gallery: commented machines with worked cases, each a YAML file in this folder."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tapeformer.faults import Fault, TapeformerError, described, did_you_mean, quoted
from tapeformer.formats.conventions import Conventions
from tapeformer.formats.registry import OWN_FORMAT, loads
from tapeformer.machine.record import TuringMachine

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


def _folder() -> Traversable:
    """Return this folder; one in a zip file takes longer to open."""
    here = Path(__file__).parent
    if here.is_dir():
        return here
    from importlib.resources import files

    return files(__name__)


@cache
def gallery_names() -> tuple[str, ...]:
    """Return the names of all machines in the gallery, in alphabetical order."""
    names = (entry.name for entry in _folder().iterdir())
    return tuple(sorted(name.removesuffix(".yaml") for name in names if name.endswith(".yaml")))


def gallery_text(name: str) -> str:
    """Return the text of the file of a machine in the gallery."""
    names = gallery_names()
    if name not in names:
        raise TapeformerError(_unknown(name, names))
    return _folder().joinpath(f"{name}.yaml").read_text(encoding="utf-8")


def gallery_source(name: str) -> str:
    """Return what the file of a machine in the gallery is called in messages."""
    return f"gallery/{name}.yaml"


def gallery_machine(name: str, conventions: Conventions | None = None) -> TuringMachine:
    """Return a machine of the gallery."""
    return loads(gallery_text(name), gallery_source(name), OWN_FORMAT, conventions, stem=name)


def _unknown(name: object, names: tuple[str, ...]) -> Fault:
    if not isinstance(name, str):
        return Fault("bad gallery name", None, "a str", described(name), 'such as "palindrome"')
    nearest = did_you_mean(name, names)
    remedy = "tf.gallery_names() and `tapeformer machines` list the gallery"
    what = f"no machine {quoted(name)} in the gallery"
    return Fault(what, remedy=f"{nearest} {remedy}".strip())
