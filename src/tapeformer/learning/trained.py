"""A trained model as a bundle, which every command takes that takes a compiled one."""

from __future__ import annotations

from pathlib import Path

from tapeformer.bundle.record import Bundle
from tapeformer.compile.options import CompileOptions
from tapeformer.faults import Fault, TapeformerError
from tapeformer.inference.model import find_model
from tapeformer.learning.config import Experiment
from tapeformer.learning.experiment import file_name, known_arm, scores_again
from tapeformer.learning.fields import TokenFields
from tapeformer.learning.level_model import LevelModel
from tapeformer.learning.model_to_bundle import bundle_of
from tapeformer.learning.prepare import factors_of
from tapeformer.learning.weights import load_weights


def trained_bundle(
    experiment: Experiment,
    output: Path,
    arm: str,
    seed: int | None = None,
    levels: int | None = None,
) -> Bundle:
    """Return the model of a trained arm, of its first seed unless another is named.

    It has as many levels as in training, or as many as asked for: tied levels are all alike.
    """
    chosen = experiment.arms[known_arm(experiment, arm)]
    if not scores_again(chosen) or chosen.supervision != "all":
        what = f"arm {arm!r} makes no bundle"
        raise TapeformerError(Fault(what, expected="given look-backs, all fields supervised"))
    data, number = experiment.data, experiment.seeds[0] if seed is None else seed
    weights = load_weights(output / file_name(arm), number)
    fields, _ = _compiled(data.machine, data.levels)
    hidden = weights["blocks.control.networks.layers.0.weight"].shape[-1]
    model = LevelModel(fields, chosen.tied, [number], hidden, experiment.training.layers)
    model.load_state_dict(weights)
    longest = chosen.train_up_to or data.train_up_to
    learned = f"{experiment.name}, arm {arm}, seed {number}: words of up to {longest} letters"
    return bundle_of(model, *_compiled(data.machine, levels or data.levels), learned)


def _compiled(machine: str, levels: int) -> tuple[TokenFields, Bundle]:
    """Return the compiled model whose tokens a trained one makes, and their fields."""
    bundle = find_model(machine, CompileOptions(levels=levels)).for_words(0)
    return TokenFields(factors_of(bundle), levels), bundle
