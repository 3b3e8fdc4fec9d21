"""File formats: one module each, with NAME, TITLE, recognises, read and, for some, write."""

from tapeformer.formats.conventions import Conventions
from tapeformer.formats.registry import (
    FORMATS,
    OWN_FORMAT,
    WRITERS,
    dumps,
    load,
    loads,
    losses,
    recognise,
)

__all__ = [
    "FORMATS",
    "OWN_FORMAT",
    "WRITERS",
    "Conventions",
    "dumps",
    "load",
    "loads",
    "losses",
    "recognise",
]
