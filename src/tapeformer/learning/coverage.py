"""What training has shown a block of the situations of a test, and what its errors have in common."""

from __future__ import annotations

from collections import Counter
from typing import Any

from torch import Tensor

from tapeformer.learning.keys import looked_up
from tapeformer.learning.tables import Table, input_keys

EXAMINED = 200
"""Wrong situations that are compared with all of training."""


def coverage(trained: Table, tested: Table, right: Tensor, names: list[str]) -> dict[str, Any]:
    """Count situations of a test that training has not shown, and errors among these and the others.

    For errors in new situations: in how many inputs the nearest situation of training differs, and
    in which. For errors in known ones: how often training has shown them.
    """
    keys = input_keys(trained.inputs, trained.copies).sort()
    seen, place = looked_up(keys.values, input_keys(tested.inputs, tested.copies))
    known = ~right & seen
    shown = trained.times[keys.indices[place[known]]]
    found: dict[str, Any] = {
        "situations": len(tested),
        "new": int((~seen).sum()),
        "new_wrong": int((~right & ~seen).sum()),
        "known_wrong": int(known.sum()),
        "times_known_wrong_were_shown": sorted(shown.tolist())[:20],
    }
    return found | _nearest(trained, tested.inputs[~right & ~seen][:EXAMINED], names)


def _nearest(trained: Table, rows: Tensor, names: list[str]) -> dict[str, Any]:
    """Compare situations with the nearest of training."""
    distances: Counter[int] = Counter()
    inputs: Counter[str] = Counter()
    for row in rows:
        differs = trained.inputs != row
        counts = differs.sum(1)
        nearest = int(counts.argmin())
        distances[int(counts[nearest])] += 1
        inputs.update(names[i] for i in differs[nearest].nonzero()[:, 0].tolist())
    return {"nearest": dict(sorted(distances.items())), "differ_in": dict(inputs.most_common(8))}
