"""`tapeformer learn`: train models on chains of thought, and see how far they carry."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tapeformer.cli import options as shared
from tapeformer.extras import require

if TYPE_CHECKING:
    from tapeformer.learning.config import Experiment

Config = Annotated[
    Path,
    typer.Argument(metavar="CONFIG", help="An experiment in YAML or JSON.", show_default=False),
]
Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", help="The folder for results.", show_default="results/NAME"),
]
Data = Annotated[
    Path | None,
    typer.Option("--data", help="The folder for traces.", show_default="data/NAME"),
]
Prepare = Annotated[bool, typer.Option("--prepare", help="Make the traces only.")]
Arms = Annotated[
    list[str] | None, typer.Option("--arm", help="An arm to run (repeatable); all by default.")
]
Longest = Annotated[
    int | None,
    typer.Option("--longest", help="Leave out longer test words; a later call can score them."),
]
BundleFolder = Annotated[
    Path | None,
    typer.Option("--bundle", help="Write the model of --arm as a bundle to this folder."),
]
Seed = Annotated[int | None, typer.Option("--seed", help="The seed of --bundle; the first one.")]
Levels = Annotated[
    int | None, typer.Option("--levels", help="The levels of --bundle; as in training.")
]
Device = Annotated[
    str | None, typer.Option("--device", help="cpu or cuda; a GPU if there is one by default.")
]


def learn(
    config: Config,
    output: Output = None,
    data: Data = None,
    prepare: Prepare = False,
    arms: Arms = None,
    longest: Longest = None,
    device: Device = None,
    bundle: BundleFolder = None,
    seed: Seed = None,
    levels: Levels = None,
    as_json: shared.Json = False,
) -> None:
    """Train models on chains of thought; count wrong tokens.

    Trains the arms of an experiment and scores them at every test length. Run the same command
    again to resume: arms that are done are kept.
    """
    require("torch", extra="learning", what="learning")
    from tapeformer.learning.config import load_config
    from tapeformer.learning.experiment import run_experiment
    from tapeformer.learning.prepare import prepare as prepare_data

    experiment = load_config(config)
    traces = data or Path("data") / experiment.name
    prepare_data(experiment.data, traces, _tell, longest)
    if prepare:
        return
    results = output or Path("results") / experiment.name
    chosen: Any = {"arms": arms, "longest": longest, "device": device, "watch": _tell}
    found = run_experiment(experiment, traces, results, **chosen)
    if bundle is not None:
        _save(experiment, results, arms, (seed, levels), bundle)
    if as_json:
        print(json.dumps(found))
    else:
        _print(found)


def _save(
    experiment: Experiment,
    results: Path,
    arms: list[str] | None,
    chosen: tuple[int | None, int | None],
    folder: Path,
) -> None:
    """Write the model of the one arm that was named, or of the first."""
    from tapeformer.learning.trained import trained_bundle

    arm = (arms or list(experiment.arms))[0]
    trained_bundle(experiment, results, arm, *chosen).save(folder, overwrite=True)
    _tell(f"{arm}: written to {folder}")


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _print(found: dict[str, Any]) -> None:
    print(f"{found['machine']}, trained on words of up to {found['trained_on']} letters")
    for row in found["results"]:
        told = "exact" if not row["wrong"] else f"{row['wrong']:,} wrong"
        print(
            f"{row['arm']}, seed {row['seed']}, {row['length']} letters,"
            f" {row['tokens']:,} tokens: {told}"
        )
