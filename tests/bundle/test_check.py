"""No configuration, however forged, hangs the loader or ends in anything but one clear fault."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tapeformer.bundle import check
from tapeformer.bundle.check import VERDICTS
from tapeformer.bundle.files import CONFIG
from tapeformer.bundle.load import load_bundle
from tapeformer.bundle.record import Bundle
from tapeformer.faults import TapeformerError
from tapeformer.inference.generation import generate
from tapeformer.simulator.outcome import Outcome
from tests.bundle.models import (
    BUNDLE,
    POST,
    REALTIME,
    config_of,
    forged,
    refused,
    rewritten,
    with_text,
)

SECONDS = 2.0
ABSENT = object()
WRONG: tuple[object, ...] = (
    *(ABSENT, None, True, 0, 1, -1, 1 << 31, 10**9, 10**18, 1.5, "", "x", "run"),
    *([], {}, [[]], [{}], ["x"], [0], {"x": "y"}, {"x": {"x": []}}, [[["x"]]]),
)
"""What may stand in place of an entry: nothing, other kinds, huge numbers, nested things."""

Path_ = tuple[str | int, ...]


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    BUNDLE.save(tmp_path / "bundle")
    return tmp_path / "bundle"


def test_coordinates_are_counted_as_the_model_has_them(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = BUNDLE.weights
    heads = weights.key_width + weights.value_width
    total = sum(
        2 * len(weights.fields)
        + heads * len(layer.heads)
        + sum(len(affine.names) for affine in layer.feed_forward[:-1])
        for layer in weights.layers
    )
    monkeypatch.setattr(check, "MOST_COORDINATES", total)
    load_bundle(saved)
    monkeypatch.setattr(check, "MOST_COORDINATES", total - 1)
    assert f"too many coordinates; expected at most {total - 1}; got {total}" in refused(saved)


def places(entry: object, above: Path_ = ()) -> Iterator[Path_]:
    """Where a configuration can be changed: each key; of long lists and tables the first and last."""
    keys: list[str | int] = []
    if isinstance(entry, dict):
        keys = list(entry) if len(entry) < 20 else [*entry][:2]
    elif isinstance(entry, list):
        keys = sorted({0, len(entry) - 1}) if entry else []
    for key in keys:
        yield (*above, key)
        yield from places(entry[key], (*above, key))  # type: ignore[index]


def changed(config: dict[str, object], place: Path_, value: object) -> dict[str, object]:
    """The configuration with another value at one place, or without it."""
    result = copy.deepcopy(config)
    entry: object = result
    for key in place[:-1]:
        entry = entry[key]  # type: ignore[index]
    if value is ABSENT:
        del entry[place[-1]]  # type: ignore[attr-defined]
    else:
        entry[place[-1]] = value  # type: ignore[index]
    return result


def outcome(directory: Path) -> str:
    """Load a bundle and, if it loads, run it for 5 tokens: say how that ends, in good time."""
    started = time.process_time()
    try:
        generate(load_bundle(directory), [], engine="sparse", max_tokens=5)
        return "runs"
    except TapeformerError:
        return "refused"
    finally:
        assert time.process_time() - started < SECONDS


@pytest.mark.parametrize("bundle", [POST, BUNDLE, REALTIME], ids=lambda b: b.layout.construction)
def test_every_entry_changed_in_turn_is_refused_or_runs(bundle: Bundle, tmp_path: Path) -> None:
    directory = tmp_path / "bundle"
    bundle.save(directory)
    config = config_of(directory)
    generate(load_bundle(directory), [], engine="sparse", max_tokens=5)
    ends = []
    for index, place in enumerate(places(config)):
        for value in WRONG[index % 3 :: 3]:
            forged(directory, changed(config, place, value))
            try:
                ends.append(outcome(directory))
            except Exception as error:
                raise AssertionError(f"{place} = {value!r}: {error!r}") from error
    assert ends.count("refused") > 0.9 * len(ends) > 100


@pytest.mark.parametrize("key", ["unheard", "Version", ""])
def test_unknown_keys_are_named(saved: Path, key: str) -> None:
    rewritten(saved, **{f"layout__{key}": 1})
    assert f"wrong entry 'layout.{key}'; expected no such entry" in refused(saved)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"base": 8', '"base": 8, "base": 8', "the key 'base' appears twice"),
        ('"base": 8', '"base": ' + "8" * 4000, "a number has 4000 digits"),
        ('"base": 8', '"base": ' + "8" * 5000, "a number has 5000 digits"),
        ('"base": 8', '"base": 8.0', "'8.0' is not a whole number"),
        ('"base": 8', '"base": 1e400', "'1e400' is not a whole number"),
        ('"base": 8', '"base": NaN', "'NaN' is not a whole number"),
        ('"base": 8', '"base": ' + "[" * 50_000, "the JSON cannot be read"),
        ('"layers": 2', '"layers": "\\ud800"', "surrogate"),
    ],
)
def test_texts_that_are_no_sound_json(saved: Path, old: str, new: str, message: str) -> None:
    with_text(saved, lambda text: text.replace(old, new))
    assert message in refused(saved)


def test_other_files_are_refused(saved: Path) -> None:
    rewritten(saved, format="other")
    assert "not a bundle" in refused(saved)
    for text in ("[]", "{}", "", "\ufeff{}", "[" * 100_000, "null", "7"):
        (saved / CONFIG).write_text(text, encoding="utf-8")
        assert CONFIG in refused(saved)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("shapes__key_width", 10**9),
        ("shapes__key_width", 1),
        ("shapes__value_width", 10**9),
        ("shapes__value_width", -1),
        ("shapes__d_model", 10**9),
        ("shapes__layers", 3),
        ("shapes__key_width", True),
        ("layout__window", 10**12),
        ("layout__offsets", [7]),
        ("layout__levels", 1 << 31),
        ("layout__levels", 40),
        ("layout__base", 1),
        ("layout__base", 1 << 40),
        ("layout__capacity", 1 << 63),
        ("layout__lengths", {"half1": 0, "marker": 14}),
        ("layout__lengths", {"half1": 8, "marker": 10**18}),
        ("layout__lengths", {"half1": 8, "marker": 14, "unused": 1 << 31}),
        ("layout__lengths", []),
        ("fields", ["x"] * 3),
        ("fields", "x" * 10),
        ("fields", []),
        ("factors", [{"name": "q0", "values": ["0"] * 10}]),
        ("layers", [{"heads": [], "neurons": []}] * 3),
        ("layers", 7),
        ("layer_norm", "yes"),
        ("prompt__receivers", "nobody"),
        ("prompt__receivers", ["parity"]),
        ("prompt__fill", {}),
        ("prompt__start", "unheard"),
        ("prompt__symbols", {"0": "unheard"}),
        ("sha256__parameters", 5),
        ("answer__verdict", "state"),
        ("answer__stepped", "verdict"),
        ("answer__grow", "nobody"),
        ("answer__queue_rules", ["unheard"]),
        ("answer__reading__factors", []),
        ("answer__reading__tapes", 10**9),
        ("answer__reading__blank", 0),
        ("answer__reading__construction", "post"),
    ],
)
def test_hostile_entries_are_refused(saved: Path, path: str, value: object) -> None:
    rewritten(saved, **{path: value})
    started = time.process_time()
    assert path.split("__")[-1] in refused(saved)
    assert time.process_time() - started < SECONDS


def test_hostile_layer_counts_do_not_take_memory(saved: Path) -> None:
    layers: list[dict[str, object]] = [{"heads": [], "neurons": None}] * 4000
    shapes = {"d_model": 40_000, "key_width": 2, "value_width": 23, "layers": 4000}
    rewritten(saved, fields=[f"f{n}" for n in range(40_000)], layers=layers, shapes=shapes)
    assert "too many coordinates" in refused(saved)


def test_the_verdicts_are_the_outcomes_and_run() -> None:
    assert set(VERDICTS) == {"run", *(outcome.value for outcome in Outcome)}


def test_another_construction_is_refused_when_the_answer_is_read(tmp_path: Path) -> None:
    POST.save(tmp_path / "bundle")
    config = json.dumps(config_of(tmp_path / "bundle")).replace('"post"', '"paper"')
    forged(tmp_path / "bundle", json.loads(config))
    with pytest.raises(TapeformerError, match="not what this construction writes"):
        generate(load_bundle(tmp_path / "bundle"), ["1"], engine="sparse", max_tokens=5)
