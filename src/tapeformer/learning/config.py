"""Experiments as files: a machine, its data, arms as lines, seeds, and how long to train."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from tapeformer.faults import Fault, SourceLocation, TapeformerError, described, did_you_mean

LOOK_BACKS = ("given", "learned", "rope", "alibi", "nope")
SUPERVISION = ("all", "control")
START = ("random", "compiled")
PRIORS = ("flat", "near")
Record = TypeVar("Record", bound="DataConfig | Arm | Training")


@dataclass(frozen=True)
class DataConfig:
    """Which traces: words up to `train_up_to` letters for training, of the lengths `test` for testing.

    `levels` is the number of levels in training; longer words get the levels that they need. `walks`
    random machines with the same symbols and tapes, of `walk_states` states, make `walk_steps` steps
    each on a word of `walk_letters` (as in training if not told): traces beside those of the machine,
    for arms that ask for them. So are those of `others`, machines with as many symbols and tapes, on
    words drawn like those of training. Of test lengths from `far` on only the first `far_words` words of
    each kind are tried, and only the distinct situations are kept, with how often each occurs. A run is followed
    for `max_steps` steps, in tests for `test_steps`.

    A share `mirrored` of the `count` training words, and if there is any all `test_words`, read the
    same backwards; `near_misses` and `test_near_misses` (up to `near_misses_up_to` letters) add words that do so but for
    one letter, and `test_others` words drawn at random.
    """

    machine: str
    train_up_to: int
    test: tuple[int, ...]
    count: int = 300
    test_words: int = 1
    test_others: int = 0
    test_near_misses: int = 0
    near_misses_up_to: int | None = None
    mirrored: float = 0.9
    near_misses: int = 0
    levels: int = 12
    seed: int = 0
    max_steps: int | None = None
    test_steps: int | None = None
    walks: int = 0
    walk_states: int = 5
    walk_steps: int = 4000
    walk_letters: int | None = None
    others: tuple[str, ...] = ()
    far: int = 10_000
    far_words: int = 1

    def levels_for(self, length: int) -> int:
        """Return the levels of a model that reads words of a length, the last one to spare.

        Training words never come to the last level, so a test must not either.
        """
        return max(self.levels, (length + 1).bit_length() + 2)

    def words_at(self, length: int) -> tuple[int | None, bool]:
        """Return the most test words of each kind at a length, and whether near misses are tried."""
        most = self.far_words if length >= self.far else None
        return most, self.near_misses_up_to is None or length <= self.near_misses_up_to

    def record(self) -> dict[str, Any]:
        """Describe the data."""
        return asdict(self)


@dataclass(frozen=True)
class Arm:
    """One line of an experiment: what is shared, how the model looks back, what it is told.

    `start: compiled` trains the compiled Transformer itself, after noise of a standard deviation
    was added to its weights. Where look-backs are learned, a `prior` of `near` distances starts
    their softmax at weights that fall with the distance. `longest` leaves out test lengths beyond it.
    """

    tied: bool = True
    look_backs: str = "given"
    supervision: str = "all"
    train_up_to: int | None = None
    hidden: int | None = None
    seeds: int | None = None
    walks: bool = False
    others: bool = False
    words: int | None = None
    weight_decay: float | None = None
    steps: int | None = None
    start: str = "random"
    noise: float = 0.0
    prior: str = "flat"
    longest: int | None = None


@dataclass(frozen=True)
class Training:
    """How a model is trained: so many steps, or so many seconds if these come first.

    With `parameters`, every arm that names no width of its own gets the one that brings it nearest
    to this number of parameters.
    """

    steps: int = 20_000
    seconds: float | None = None
    batch: int = 4096
    hidden: int = 512
    parameters: int | None = None
    layers: int = 3
    learning_rate: float = 1e-3
    weight_decay: float = 0.02
    crop: int = 512


@dataclass(frozen=True)
class Experiment:
    """A whole experiment."""

    name: str
    data: DataConfig
    arms: Mapping[str, Arm]
    seeds: tuple[int, ...] = (0,)
    training: Training = field(default_factory=Training)

    def seeds_of(self, arm: Arm) -> tuple[int, ...]:
        """Return the seeds of an arm: the first few, where it asks for fewer."""
        return self.seeds[: arm.seeds]

    def lengths_of(self, arm: Arm) -> tuple[int, ...]:
        """Return the test lengths of an arm."""
        return tuple(n for n in self.data.test if arm.longest is None or n <= arm.longest)

    def record(self) -> dict[str, Any]:
        """Describe the experiment."""
        return asdict(self)


def load_config(path: str | Path) -> Experiment:
    """Read an experiment from YAML or JSON."""
    path = Path(path)
    try:
        found = _parsed(path)
    except (OSError, ValueError) as error:
        raise _refused(path, f"the configuration cannot be read: {error}") from None
    if not isinstance(found, dict) or not isinstance(found.get("arms"), dict):
        raise _refused(path, "this is not an experiment", "data, arms, seeds and training")
    found = {"name": path.stem, "training": {}, "seeds": [0], **found}
    unknown = set(found) - {part.name for part in fields(Experiment)}
    if unknown:
        raise _refused(path, f"there is no part {sorted(unknown)[0]!r} in an experiment")
    experiment = Experiment(
        name=str(found["name"]),
        data=_record(DataConfig, found.get("data"), path, "data"),
        arms={n: _record(Arm, arm or {}, path, f"arm {n}") for n, arm in found["arms"].items()},
        seeds=tuple(found["seeds"]),
        training=_record(Training, found["training"], path, "training"),
    )
    return _checked(experiment, path)


def _parsed(path: Path) -> Any:
    """Read JSON, or YAML where a reader for it is installed."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        return json.loads(text)
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None


def _record(kind: type[Record], found: object, path: Path, where: str) -> Record:
    """Make a record from a table; an unknown key is refused with the nearest."""
    if not isinstance(found, dict):
        raise _refused(path, f"{where} is not a table", got=described(found))
    known = [part.name for part in fields(kind)]
    for key in found:
        if key not in known:
            remedy = did_you_mean(str(key), known) or f"one of {', '.join(known)}"
            raise _refused(path, f"{where} has no entry {key!r}", remedy=remedy)
    entries: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in found.items()}
    hints = get_type_hints(kind)
    for key, entry in entries.items():
        if not _fits(entry, hints[key]):
            told = getattr(hints[key], "__name__", str(hints[key]))
            raise _refused(path, f"{where} has a wrong {key!r}", told, described(entry))
    try:
        return kind(**entries)
    except TypeError as error:
        raise _refused(path, f"{where} is not complete: {error}") from None


def _fits(entry: object, hint: Any) -> bool:
    """Say whether an entry has the type that a record asks for; a whole number is a number too."""
    if get_origin(hint) is UnionType:
        return any(_fits(entry, choice) for choice in get_args(hint))
    if get_origin(hint) is tuple:
        return isinstance(entry, tuple) and all(_fits(part, get_args(hint)[0]) for part in entry)
    return type(entry) in ((int, float) if hint is float else (hint,))


def _checked(experiment: Experiment, path: Path) -> Experiment:
    for name, arm in experiment.arms.items():
        choices = (
            (arm.look_backs, LOOK_BACKS),
            (arm.supervision, SUPERVISION),
            (arm.start, START),
            (arm.prior, PRIORS),
        )
        for given, known in choices:
            if given not in known:
                raise _refused(path, f"arm {name} cannot be {given!r}", " or ".join(known))
        if arm.walks and not experiment.data.walks:
            raise _refused(path, f"arm {name} needs walks", "data with `walks: N`")
        if arm.others and not experiment.data.others:
            raise _refused(path, f"arm {name} needs others", "data with `others: [MACHINE]`")
    numbers = (*experiment.data.test, *experiment.seeds, experiment.data.count)
    if not all(type(number) is int and number >= 0 for number in numbers):
        raise _refused(path, "lengths, seeds and count are whole numbers, 0 or more")
    return experiment


def completed(stored: dict[str, Any]) -> dict[str, Any]:
    """Return a configuration from a file with entries that it does not name at their defaults."""
    kinds = {"arm": Arm, "data": DataConfig, "training": Training}
    found = {
        key: {**_defaults(kinds[key]), **entry} if key in kinds else entry
        for key, entry in stored.items()
    }
    read: dict[str, Any] = json.loads(json.dumps(found))
    return read


def _defaults(kind: type[DataConfig | Arm | Training]) -> dict[str, Any]:
    return {part.name: part.default for part in fields(kind) if part.default is not MISSING}


def _refused(
    path: Path, what: str, expected: str = "", got: str = "", remedy: str = ""
) -> TapeformerError:
    return TapeformerError(Fault(what, SourceLocation(str(path)), expected, got, remedy))
