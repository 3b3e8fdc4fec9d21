"""tapeformer: an adapter to the construction `realtime`."""

from __future__ import annotations

from functools import partial

from tapeformer.laboratory.compiled import compiled_experiment
from tapeformer.laboratory.preparation import Prepared
from tapeformer.laboratory.row import Bounds, Row

experiment = partial(compiled_experiment, construction="realtime")

ROW = Row(
    name="realtime",
    title="tapeformer",
    source="docs/realtime.md: one token per step",
    provenance="the compiler's own construction realtime, run with its weights and engines",
    printed=Bounds("O(1)", "O(log s)", "O(s)", "t"),
    experiment=experiment,
    prepare=Prepared,
    several_tapes=True,
    construction="realtime",
    ablations={"the longest look-back one shorter": partial(experiment, shorter=1)},
)
