"""Models that were compiled before: the files of a bundle in one entry of the cache.

They are loaded as a bundle in a folder is, with all checks: what is damaged is compiled again.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tapeformer.bundle.files import CONFIG
from tapeformer.bundle.load import bundle_from
from tapeformer.bundle.record import Bundle
from tapeformer.cache.key import key_for
from tapeformer.cache.store import Store
from tapeformer.faults import TapeformerError


def cached(
    machine: str, options: str, make: Callable[[], Bundle], store: Store | None = None
) -> Bundle:
    """Return the model of a machine's text and options, from the cache or made now and kept.

    The two texts must name all that `make` depends on, beside this package's source.
    """
    store = Store("model") if store is None else store
    key = key_for(np.__version__, machine, options)
    content = store.get(key)
    found = None if content is None else _loaded(content)
    if found is None:
        from tapeformer.bundle.save import bundle_files

        found = make()
        store.put(key, _packed(bundle_files(found)))
    return found


def _packed(files: dict[str, bytes]) -> bytes:
    """Return the length of a header, the header (each file's size), and the files."""
    header = json.dumps({name: len(content) for name, content in files.items()}).encode()
    return b"".join([len(header).to_bytes(8, "little"), header, *files.values()])


def _loaded(content: bytes) -> Bundle | None:
    """Return the bundle of an entry; None where it is not one that was written."""
    end = 8 + int.from_bytes(content[:8], "little")
    try:
        files = {}
        for name, size in json.loads(content[8:end]).items():
            files[name], end = content[end : end + size], end + size
        bundle = bundle_from(files, Path("cache"))
        vars(bundle)["digest"] = json.loads(files[CONFIG])["sha256"]["config"]
        return bundle
    except (TapeformerError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
