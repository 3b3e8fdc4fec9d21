"""Records in the cache, pickled: to load one takes a fifth of what reading and checking its file takes.

Loading can run any code that the content names, as machine code from the same folder does: both rest
on nobody else being able to write there. A checksum and a key that covers this package's source say
that an entry is what this version has written.
"""

from __future__ import annotations

import pickle
from contextlib import suppress
from typing import TypeVar

from tapeformer.cache.store import Store

Kept = TypeVar("Kept")


def get_object(store: Store, key: str, kind: type[Kept]) -> Kept | None:
    """Return the record that was put under a key; None where there is none of that kind."""
    content = store.get(key)
    if content is not None:
        with suppress(Exception):  # a pickle that was not written here can raise anything
            found = pickle.loads(content)
            return found if isinstance(found, kind) else None
    return None


def put_object(store: Store, key: str, kept: object) -> None:
    """Keep a record under a key."""
    store.put(key, pickle.dumps(kept, pickle.HIGHEST_PROTOCOL))
