"""Hostile bundles: lies in a rehashed config.json are refused in good time, with one kind of error."""

from __future__ import annotations

import contextlib
import copy
import random
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tapeformer.bundle.load import load_bundle
from tapeformer.faults import TapeformerError
from tapeformer.inference.generation import generate
from tests.bundle.models import BUNDLE, POST, REALTIME, config_of, forged
from tests.campaigns.soak.trial import Checked, WrongError

SECONDS = 2.0
LIES: tuple[object, ...] = (
    *(None, True, False, 0, 1, -1, 2, 1 << 31, 1 << 62, 10**9, 10**30, 1.5, 1e308),
    *("", "x", "run", "\0", "a" * 5000, [], {}, [[]], [{}], ["x"], [0] * 50, {"x": {"x": []}}),
)
Place = tuple[str | int, ...]


@dataclass(frozen=True)
class Lie:
    """A value, and where in a configuration it is put."""

    place: Place
    value: object


class ConfigTrial:
    """One to four lies at random places of a configuration; its parts are the lies."""

    def __init__(self, seed: int) -> None:
        chance = random.Random(f"config {seed}")
        self.bundle = chance.choice((BUNDLE, POST, REALTIME))
        with tempfile.TemporaryDirectory() as name:
            self.bundle.save(Path(name) / "model")
            self.config: dict[str, Any] = config_of(Path(name) / "model")
        places = _places(self.config, ())
        count = chance.randint(1, 4)
        self.parts: Sequence[object] = [
            Lie(chance.choice(places), chance.choice(LIES)) for _ in range(count)
        ]

    def run(self, parts: Sequence[object]) -> Checked:
        """Load and run the bundle for a few tokens."""
        config = copy.deepcopy(self.config)
        for lie in parts:
            assert isinstance(lie, Lie)
            _put(config, lie)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "model"
            self.bundle.save(folder)
            forged(folder, config)
            started = time.process_time()
            with contextlib.suppress(TapeformerError):
                generate(load_bundle(folder), [], engine="sparse", max_tokens=5)
            taken = time.process_time() - started
            if taken > SECONDS:
                raise WrongError(f"it took {taken:.1f} seconds")
        return Checked(files=1)


def _places(entry: object, above: Place) -> list[Place]:
    """List where a configuration can be changed: every key, and the ends of long lists."""
    keys: list[str | int] = []
    if isinstance(entry, dict):
        keys = list(entry)[:40]
    elif isinstance(entry, list) and entry:
        keys = sorted({0, len(entry) // 2, len(entry) - 1})
    found = [(*above, key) for key in keys]
    for key in keys:
        found += _places(entry[key], (*above, key))  # type: ignore[index]
    return found


def _put(config: dict[str, Any], lie: Lie) -> None:
    """Replace what is at a place, if an earlier lie has left it there."""
    entry: Any = config
    for key in lie.place[:-1]:
        try:
            entry = entry[key]
        except (KeyError, IndexError, TypeError):
            return
    try:
        entry[lie.place[-1]] = lie.value
    except (IndexError, TypeError):
        return
