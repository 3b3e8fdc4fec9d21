"""Li and Wang 2025b: an adapter to the construction `paper`."""

from __future__ import annotations

from functools import partial

from tapeformer.laboratory.compiled import compiled_experiment
from tapeformer.laboratory.preparation import Prepared
from tapeformer.laboratory.row import Bounds, Row

experiment = partial(compiled_experiment, construction="paper")

ROW = Row(
    name="li_wang",
    title="Li and Wang 2025b",
    source="Li, Wang: Efficient Turing Machine Simulation with Transformers (2025), repaired",
    provenance="the compiler's own construction paper, run with its weights and engines",
    printed=Bounds("O(1)", "O(1)", "O(s)", "O(t s^c)"),
    experiment=experiment,
    prepare=Prepared,
    several_tapes=True,
    construction="paper",
    ablations={"the longest look-back one shorter": partial(experiment, shorter=1)},
)
