"""Running an experiment: arm after arm, each result kept, so that the same call resumes."""

from __future__ import annotations

import csv
import json
import platform
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from tapeformer import __version__
from tapeformer.faults import Fault, SourceLocation, TapeformerError
from tapeformer.learning.arms import Task, Trained, run_arm
from tapeformer.learning.config import Arm, Experiment
from tapeformer.learning.traces import ABOUT, load_traces

Watch = Callable[[str], None]
COLUMNS = ("arm", "seed", "length", "tokens", "wrong")


def run_experiment(
    experiment: Experiment,
    data: Path,
    output: Path,
    *,
    arms: Sequence[str] | None = None,
    device: str | None = None,
    watch: Watch | None = None,
) -> dict[str, Any]:
    """Train and score the arms of an experiment; return and write what they came to.

    `data` is a folder that `prepare` has written. An arm whose result is in `output` is not run
    again. Only NumPy and PyTorch are needed here.
    """
    chosen = list(experiment.arms) if arms is None else list(arms)
    for name in chosen:
        if name not in experiment.arms:
            raise TapeformerError(Fault(f"there is no arm {name!r} in the experiment"))
    where = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    torch.set_float32_matmul_precision("highest")
    output.mkdir(parents=True, exist_ok=True)
    made = _data_record(experiment, data)
    for name in chosen:
        path = output / f"{_file_name(name)}.json"
        about = {"experiment": experiment.name, "arm": name, "config": _config(experiment, name)}
        about |= {"data": made, "tapeformer": __version__}
        if _is_done(path, about):
            continue
        task = _task(experiment, experiment.arms[name], data, where, _prefixed(watch, name))
        trained = run_arm(task)
        torch.save(trained.models, output / f"{_file_name(name)}.pt")
        record = {**about, **_hardware(where), **_trained_record(name, trained, task.seeds)}
        path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return summary(experiment, output)


def summary(experiment: Experiment, output: Path) -> dict[str, Any]:
    """Collect the results of all arms that are done, and write them as CSV."""
    results: list[dict[str, Any]] = []
    for name in experiment.arms:
        path = output / f"{_file_name(name)}.json"
        if path.exists():
            results += json.loads(path.read_text(encoding="utf-8"))["results"]
    with (output / "results.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(results)
    return {
        "experiment": experiment.name,
        "machine": experiment.data.machine,
        "trained_on": experiment.data.train_up_to,
        "results": [{column: row[column] for column in COLUMNS} for row in results],
    }


def _task(experiment: Experiment, arm: Arm, data: Path, device: torch.device, watch: Watch) -> Task:
    return Task(
        arm=arm,
        training=experiment.training,
        seeds=list(experiment.seeds_of(arm)),
        train=load_traces(data / "train.npz"),
        tests={n: load_traces(data / f"test-{n}.npz") for n in experiment.data.test},
        device=device,
        watch=watch,
    )


def _trained_record(name: str, trained: Trained, seeds: list[int]) -> dict[str, Any]:
    """Describe every seed at every length, and what the arm says beside."""
    results = [
        {"arm": name, "seed": seed, "length": length, **asdict(score)}
        for length, scores in trained.scores.items()
        for seed, score in zip(seeds, scores, strict=True)
    ]
    about = {"parameters": trained.parameters, "seconds": trained.seconds, **trained.about}
    return {"results": results, **about}


def _config(experiment: Experiment, name: str) -> dict[str, Any]:
    """Return what the result of an arm depends on, as JSON has it."""
    arm = experiment.arms[name]
    found = {
        "arm": asdict(arm),
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
    if found["data"] != json.loads(json.dumps(experiment.data.record())):
        remedy = "prepare it again, in another folder"
        what = "the data is that of another experiment"
        raise TapeformerError(Fault(what, SourceLocation(str(data)), remedy=remedy))
    return found


def _is_done(path: Path, about: dict[str, Any]) -> bool:
    if not path.exists():
        return False
    found = json.loads(path.read_text(encoding="utf-8"))
    if any(found.get(key) != value for key, value in about.items()):
        remedy = "choose another folder, or remove this file"
        what = "the file is the result of another experiment"
        raise TapeformerError(Fault(what, SourceLocation(str(path)), remedy=remedy))
    return True


def _hardware(device: torch.device) -> dict[str, str]:
    cuda = device.type == "cuda"
    name = torch.cuda.get_device_name(device) if cuda else platform.processor() or "CPU"
    return {"device": name, "torch": torch.__version__}


def _file_name(arm: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in arm)


def _prefixed(watch: Watch | None, name: str) -> Watch:
    return lambda text: None if watch is None else watch(f"{name}: {text}")
