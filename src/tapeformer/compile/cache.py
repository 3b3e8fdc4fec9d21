"""Models that were compiled before, by the same version of this package."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tapeformer.bundle.record import Bundle
from tapeformer.cache.key import key_for
from tapeformer.cache.objects import get_object, put_object
from tapeformer.cache.store import Store


def cached(
    machine: str, options: str, make: Callable[[], Bundle], store: Store | None = None
) -> Bundle:
    """Return the model of a machine's text and options, from the cache or made now and kept.

    The two texts must name all that `make` depends on, beside this package's source. The model's
    digest is kept with it: to find it takes as long as to save the model.
    """
    store = Store("model") if store is None else store
    key = key_for(np.__version__, machine, options)
    found = get_object(store, key, Bundle)
    if found is None:
        from tapeformer.bundle.save import model_digest

        found = make()
        vars(found)["digest"] = model_digest(found)
        put_object(store, key, found)
    return found
