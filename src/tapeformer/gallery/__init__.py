"""The gallery: commented machines with worked cases, each a YAML file beside this one."""

from __future__ import annotations

from importlib.resources import files

from tapeformer.formats.reading import Conventions
from tapeformer.formats.registry import loads
from tapeformer.machine.record import TuringMachine


def gallery_names() -> tuple[str, ...]:
    """The names of all machines in the gallery, in order."""
    names = (entry.name for entry in files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(".yaml") for name in names if name.endswith(".yaml")))


def gallery_text(name: str) -> str:
    """The file of a machine in the gallery."""
    return files(__name__).joinpath(f"{name}.yaml").read_text(encoding="utf-8")


def gallery_machine(name: str, conventions: Conventions | None = None) -> TuringMachine:
    """A machine of the gallery, by name."""
    return loads(gallery_text(name), f"gallery/{name}.yaml", "native", conventions, stem=name)
