"""Li and Wang 2025a: an adapter to the construction `post`."""

from __future__ import annotations

from functools import partial

from tapeformer.laboratory.compiled import compiled_experiment
from tapeformer.laboratory.preparation import Prepared
from tapeformer.laboratory.row import Bounds, Row

experiment = partial(compiled_experiment, construction="post")

ROW = Row(
    name="constant",
    title="Li and Wang 2025a",
    source="Li, Wang: Constant Bit-size Transformers Are Turing Complete (2025)",
    provenance="the compiler's own construction post, run with its weights and engines",
    printed=Bounds("O(1)", "O(1)", "s", "O(t s)"),
    experiment=experiment,
    prepare=Prepared,
    several_tapes=True,
    construction="post",
    ablations={"the longest look-back one shorter": partial(experiment, shorter=1)},
)
