"""Running an experiment: arm after arm, each result kept, so that the same call resumes."""

from __future__ import annotations

import csv
import io
import json
import platform
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch

from tapeformer import __version__
from tapeformer.faults import Fault, SourceLocation, TapeformerError, did_you_mean
from tapeformer.folders import write_text_at_once
from tapeformer.learning.arms import Task, Trained, run_arm
from tapeformer.learning.checkpoint import FORMAT, Checkpoint
from tapeformer.learning.config import Arm, DataConfig, Experiment, completed
from tapeformer.learning.distributed import team
from tapeformer.learning.evaluate import Score
from tapeformer.learning.given_arm import scored_again
from tapeformer.learning.plots import can_plot, exactness
from tapeformer.learning.traces import ABOUT
from tapeformer.learning.weights import load_weights, save_weights

Watch = Callable[[str], None]
_TESTED = ("test", "far", "far_words", "near_misses_up_to")
"""Entries of the data on which training does not depend."""
COLUMNS = ("arm", "seed", "length", "tokens", "wrong")


def run_experiment(
    experiment: Experiment,
    data: Path,
    output: Path,
    *,
    arms: Sequence[str] | None = None,
    longest: int | None = None,
    device: str | None = None,
    watch: Watch | None = None,
) -> dict[str, Any]:
    """Train and score the arms of an experiment; return and write what they came to.

    `data` is a folder that `prepare` has written. An arm whose result is in `output` is not trained
    again; test lengths that were left out, as by `longest`, are scored with the weights it saved.
    """
    chosen = list(experiment.arms) if arms is None else list(arms)
    for name in chosen:
        known_arm(experiment, name)
    where = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    torch.set_float32_matmul_precision("highest")
    output.mkdir(parents=True, exist_ok=True)
    _data_record(experiment, data)
    for name in chosen:
        task = _task(experiment, name, data, where, _prefixed(watch, name))
        _check_together(name, task)
        alone = team().size == 1  # several processes would have to go on from the same step
        place = Checkpoint(_checkpoint_stem(experiment, name, output) if alone else None)
        lengths = _up_to(task.lengths, longest)
        _run(experiment, name, replace(task, lengths=lengths, checkpoint=place), output)
    return summary(experiment, output)


def _checkpoint_stem(experiment: Experiment, name: str, output: Path) -> Path:
    """Name checkpoints so that another configuration or format does not take them up."""
    told = json.dumps([FORMAT, _config(experiment, name)], sort_keys=True)
    return output / f"{file_name(name)}.{sha256(told.encode()).hexdigest()[:8]}"


def _check_together(name: str, task: Task) -> None:
    """Refuse to train an arm in several processes that only one can train."""
    if team().size > 1 and not scores_again(task.arm):
        what = f"arm {name!r} is trained by one process"
        raise TapeformerError(Fault(what, expected="given look-backs", remedy="leave out torchrun"))


def _run(experiment: Experiment, name: str, task: Task, output: Path) -> None:
    """Train and score an arm; if it is trained already, score what is missing."""
    stem = output / file_name(name)
    path = stem.with_suffix(".json")
    about = {"experiment": experiment.name, "arm": name, "config": _config(experiment, name)}
    record = _done(path, about)
    if record is None:
        trained = run_arm(task)
        if team().rank:
            return
        save_weights(trained.models, task.seeds, stem)
        record = {**about, **_made_with(task.device)}
        record |= _trained_record(name, trained, task.seeds)
    else:
        there = {row["length"] for row in record["results"]}
        left = tuple(length for length in task.lengths if length not in there)
        if not left or not scores_again(task.arm):
            return
        weights = [load_weights(stem, seed) for seed in task.seeds]
        found = scored_again(replace(task, lengths=left), weights)
        record["results"] += _rows(name, found, task.seeds)
        again = {"lengths": list(left), **_made_with(task.device)}
        record["scored_again"] = [*record.get("scored_again", []), again]
    record["data"] = _data_record(experiment, task.data)
    write_text_at_once(path, json.dumps(record, indent=1) + "\n")


def known_arm(experiment: Experiment, arm: str) -> str:
    """Return the name of an arm, if there is such an arm."""
    if arm not in experiment.arms:
        remedy = did_you_mean(arm, list(experiment.arms))
        raise TapeformerError(Fault(f"there is no arm {arm!r} in the experiment", remedy=remedy))
    return arm


def scores_again(arm: Arm) -> bool:
    """Say whether the weights that an arm saves are all that it needs to be scored."""
    return arm.start == "random" and arm.look_backs == "given"


def _up_to(lengths: tuple[int, ...], longest: int | None) -> tuple[int, ...]:
    return tuple(length for length in lengths if longest is None or length <= longest)


def summary(experiment: Experiment, output: Path) -> dict[str, Any]:
    """Collect the results of all arms that are done, and write them as CSV."""
    results: list[dict[str, Any]] = []
    for name in experiment.arms:
        path = output / f"{file_name(name)}.json"
        if path.exists():
            results += json.loads(path.read_text(encoding="utf-8"))["results"]
    table = io.StringIO()
    writer = csv.DictWriter(table, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(results)
    write_text_at_once(output / "results.csv", table.getvalue())
    if results and can_plot():
        exactness(results, experiment.data.train_up_to, output / "results.svg")
    return {
        "experiment": experiment.name,
        "machine": experiment.data.machine,
        "trained_on": experiment.data.train_up_to,
        "results": [{column: row[column] for column in COLUMNS} for row in results],
    }


def _task(
    experiment: Experiment, name: str, data: Path, device: torch.device, watch: Watch
) -> Task:
    arm = experiment.arms[name]
    return Task(
        arm=arm,
        config=experiment.data,
        given=experiment.training,
        seeds=list(experiment.seeds_of(arm)),
        lengths=experiment.lengths_of(arm),
        data=data,
        device=device,
        watch=watch,
        checkpoint=Checkpoint(),
    )


def _trained_record(name: str, trained: Trained, seeds: list[int]) -> dict[str, Any]:
    """Describe every seed at every length, and what the arm says beside."""
    about = {"parameters": trained.parameters, "seconds": trained.seconds, **trained.about}
    return {"results": _rows(name, trained.scores, seeds), **about}


def _rows(name: str, found: dict[int, list[Score]], seeds: list[int]) -> list[dict[str, Any]]:
    return [
        {"arm": name, "seed": seed, "length": length, **asdict(score)}
        for length, scores in found.items()
        for seed, score in zip(seeds, scores, strict=True)
    ]


def _config(experiment: Experiment, name: str) -> dict[str, Any]:
    """Return what the result of an arm depends on, as JSON has it."""
    arm = experiment.arms[name]
    found = {
        "arm": asdict(arm),
        "data": experiment.data.record(),
        "training": asdict(experiment.training),
        "seeds": list(experiment.seeds_of(arm)),
    }
    read: dict[str, Any] = json.loads(json.dumps(found))
    return read


def _data_record(experiment: Experiment, data: Path) -> dict[str, Any]:
    """Return what the data says of itself; it must be that of the experiment."""
    try:
        found: dict[str, Any] = json.loads((data / ABOUT).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        remedy = "`tapeformer learn CONFIG --prepare DIR` writes it"
        what = f"the data cannot be read: {error}"
        raise TapeformerError(Fault(what, SourceLocation(str(data)), remedy=remedy)) from None
    if completed(found)["data"] != json.loads(json.dumps(experiment.data.record())):
        remedy = "prepare it again, in another folder"
        what = "the data is that of another experiment"
        raise TapeformerError(Fault(what, SourceLocation(str(data)), remedy=remedy))
    return found


def _done(path: Path, about: dict[str, Any]) -> dict[str, Any] | None:
    """Return the record of an arm that is trained; it must be of the same experiment."""
    if not path.exists():
        return None
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    stored = {**found, "config": completed(found.get("config", {}))}
    scored = {row["length"] for row in found.get("results", [])}
    if _fixed(stored, scored, about) != _fixed(about, scored, about):
        remedy = "choose another folder, or remove this file"
        what = "the file is the result of another experiment"
        raise TapeformerError(Fault(what, SourceLocation(str(path)), remedy=remedy))
    return found | about


def _fixed(record: dict[str, Any], scored: set[int], keys: Iterable[str]) -> dict[str, Any]:
    """Return what results at scored lengths depend on; further lengths can be asked for later."""
    data = record["config"].get("data", {})
    fixed = {key: entry for key, entry in data.items() if key not in _TESTED}
    words = {n: DataConfig(**data).words_at(n) for n in scored if data}
    found = {key: record.get(key) for key in keys}
    return found | {"config": record["config"] | {"data": fixed, "words": words}}


def _made_with(device: torch.device) -> dict[str, str]:
    """Return versions, a hash of this package's code, and the hardware."""
    cuda = device.type == "cuda"
    name = torch.cuda.get_device_name(device) if cuda else platform.processor() or "CPU"
    code, package = sha256(), Path(__file__).parents[1]
    for path in sorted(package.rglob("*.py")):
        code.update(path.relative_to(package).as_posix().encode() + path.read_bytes())
    versions = {"tapeformer": __version__, "code_sha256": code.hexdigest()}
    return {**versions, "torch": torch.__version__, "device": name}


def file_name(arm: str) -> str:
    """Return how the files of an arm begin."""
    return "".join(letter if letter.isalnum() else "_" for letter in arm)


def _prefixed(watch: Watch | None, name: str) -> Watch:
    return lambda text: None if watch is None else watch(f"{name}: {text}")
