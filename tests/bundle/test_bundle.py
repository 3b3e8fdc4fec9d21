"""Bundles: the same bytes for the same weights, and every damage is refused with one clear fault."""

from __future__ import annotations

import json
import random
import struct
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from tapeformer.bundle.load import load_bundle, modified_warning
from tapeformer.bundle.record import Bundle
from tapeformer.bundle.save import (
    CONFIG,
    MACHINE,
    PARAMETERS,
    bundle_files,
    canonical,
    digest,
    save_bundle,
)
from tapeformer.bundle.tensors import parameter_bytes
from tapeformer.faults import TapeformerError
from tapeformer.layout import Layout
from tapeformer.lowering.queues_to_prompt import prompt_for
from tapeformer.lowering.queues_to_weights import transformer
from tapeformer.lowering.weights_to_normalised import with_layer_norm
from tapeformer.weights.matrices import same
from tapeformer.weights.parameters import with_sign_flipped
from tests.table_machines import table_machine

MADE = table_machine(2, ["a", "b"])
WEIGHTS = transformer(MADE.machine, "queue", 2)
LAYOUT = Layout("post", levels=1, base=2, capacity=5, lengths={"a": 4, "b": 6})
BUNDLE = Bundle("parity", WEIGHTS, LAYOUT, prompt_for(MADE.machine), {"rings": [1]}, "name: é\n")


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    save_bundle(BUNDLE, tmp_path / "bundle")
    return tmp_path / "bundle"


def refused(directory: Path, allow_modified: bool = False) -> str:
    """The one fault that loading gives."""
    with pytest.raises(TapeformerError) as caught:
        load_bundle(directory, allow_modified=allow_modified)
    assert len(caught.value.faults) == 1
    return str(caught.value)


def rewritten(directory: Path, **changes: object) -> None:
    """Changes the configuration and mends its hash, as a forger would."""
    config = json.loads((directory / CONFIG).read_text(encoding="utf-8"))
    for path, value in changes.items():
        *tables, last = path.split("__")
        entry = config
        for table in tables:
            entry = entry[table]
        entry[last] = value
    config["sha256"].pop("config")
    config["sha256"]["config"] = digest(canonical(config))
    (directory / CONFIG).write_text(json.dumps(config), encoding="utf-8")


def test_what_is_saved_is_loaded(saved: Path) -> None:
    loaded = load_bundle(saved)
    assert same(loaded.weights, WEIGHTS)
    assert (loaded.layout, loaded.prompt, loaded.answer) == (LAYOUT, BUNDLE.prompt, {"rings": [1]})
    assert (loaded.name, loaded.machine, loaded.modified) == ("parity", "name: é\n", False)
    assert (loaded.offsets, loaded.window) == ((3, 5), 6)
    assert sorted(path.name for path in saved.parent.iterdir()) == ["bundle"]


def test_other_kinds_of_models_are_loaded_too(tmp_path: Path) -> None:
    for place, weights in enumerate(
        (transformer(MADE.machine, "offset"), with_layer_norm(WEIGHTS))
    ):
        directory = tmp_path / str(place)
        bundle = Bundle("x", weights, LAYOUT, BUNDLE.prompt, {}, "")
        save_bundle(bundle, directory)
        assert same(load_bundle(directory).weights, weights)


def test_equal_weights_give_equal_bytes_and_layouts_do_not_matter() -> None:
    other = Layout("post", levels=1, base=9, capacity=500, lengths={"a": 400, "b": 60})
    longer = Bundle("parity", transformer(MADE.machine, "queue", 2), other, BUNDLE.prompt, {}, "")
    assert bundle_files(longer)[PARAMETERS] == bundle_files(BUNDLE)[PARAMETERS]
    assert bundle_files(longer)[CONFIG] != bundle_files(BUNDLE)[CONFIG]
    assert bundle_files(BUNDLE) == bundle_files(BUNDLE)


def test_the_parameter_file_is_standard_small_and_has_no_zeros(saved: Path) -> None:
    tensors = load_file(saved / PARAMETERS)
    for name, tensor in tensors.items():
        assert tensor.dtype in (np.int8, np.uint16)
        if name.endswith("values"):
            assert tensor.all()
    assert not any("key" in name for name in tensors)


@pytest.mark.parametrize("name", [PARAMETERS, CONFIG, MACHINE])
def test_bit_flips_are_noticed(saved: Path, name: str) -> None:
    content = (saved / name).read_bytes()
    chance = random.Random(3)
    for _ in range(120):
        place, bit = chance.randrange(len(content)), chance.randrange(8)
        flipped = bytearray(content)
        flipped[place] ^= 1 << bit
        (saved / name).write_bytes(flipped)
        assert name in refused(saved)


@pytest.mark.parametrize("name", [PARAMETERS, CONFIG, MACHINE])
def test_missing_and_truncated_files_are_noticed(saved: Path, name: str) -> None:
    content = (saved / name).read_bytes()
    for size in (0, 1, len(content) // 2, len(content) - 2):
        (saved / name).write_bytes(content[:size])
        assert name in refused(saved)
    (saved / name).unlink()
    assert "missing" in refused(saved)
    (saved / name).mkdir()
    assert "not a file" in refused(saved)


def test_truncation_is_noticed_even_where_modification_is_allowed(saved: Path) -> None:
    content = (saved / PARAMETERS).read_bytes()
    for size in (0, 5, 9, 200, len(content) // 2, len(content) - 1):
        (saved / PARAMETERS).write_bytes(content[:size])
        assert PARAMETERS in refused(saved, allow_modified=True)


def test_random_damage_is_never_a_crash_where_modification_is_allowed(saved: Path) -> None:
    content = (saved / PARAMETERS).read_bytes()
    chance = random.Random(5)
    for _ in range(300):
        damaged = bytearray(content)
        for _ in range(chance.randrange(1, 4)):
            damaged[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        (saved / PARAMETERS).write_bytes(damaged)
        with suppress(TapeformerError):
            assert load_bundle(saved, allow_modified=True).modified or damaged == content


def test_modified_parameters_run_only_when_allowed(saved: Path) -> None:
    edited = with_sign_flipped(WEIGHTS, "layer.1.feed_forward.0.matrix", 3)
    (saved / PARAMETERS).write_bytes(parameter_bytes(edited))
    assert "--allow-modified" in refused(saved)
    loaded = load_bundle(saved, allow_modified=True)
    assert loaded.modified
    assert same(loaded.weights, edited)
    assert str(modified_warning(saved)).endswith(
        "warning: the parameters are not those that were compiled"
    )


def test_other_versions_and_other_files_are_refused(saved: Path) -> None:
    rewritten(saved, version=1)
    assert "another version" in refused(saved)
    rewritten(saved, format="other")
    assert "not a bundle" in refused(saved)
    for text in (
        "[]",
        "{}",
        "",
        "[" * 100_000,
        '{"format": NaN}',
        '{"version": 1' + "0" * 9999 + "}",
    ):
        (saved / CONFIG).write_text(text, encoding="utf-8")
        assert CONFIG in refused(saved)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("shapes__key_width", 10**30),
        ("shapes__value_width", -1),
        ("shapes__d_model", 10**9),
        ("shapes__layers", 3),
        ("shapes__key_width", True),
        ("layout__window", 10**12),
        ("layout__offsets", [3]),
        ("layout__levels", 10**40),
        ("layout__lengths", {"a": 0, "b": 6}),
        ("layout__lengths", {"a": 10**18, "b": 6}),
        ("layout__lengths", []),
        ("fields", ["x"] * 3),
        ("fields", "x" * 10),
        ("fields", [1, 2]),
        ("factors", [{"name": "q0", "values": ["0"] * 10}]),
        ("position_rules", ["a"]),
        ("layers", [{"heads": [], "neurons": []}] * 3),
        ("layers", 7),
        ("layer_norm", "yes"),
        ("prompt__receivers", "nobody"),
        ("prompt__fill", {}),
        ("sha256__parameters", 5),
    ],
)
def test_hostile_entries_are_refused(saved: Path, path: str, value: object) -> None:
    rewritten(saved, **{path: value})
    refused(saved)


def test_hostile_layer_counts_do_not_take_memory(saved: Path) -> None:
    layers: list[dict[str, object]] = [{"heads": [], "neurons": None}] * 4000
    rewritten(saved, fields=[f"f{n}" for n in range(40_000)], layers=layers)
    assert "too many layers" in refused(saved)


@pytest.mark.parametrize(
    "header",
    [
        {"x": {"dtype": "I8", "shape": [1 << 61], "data_offsets": [0, 1 << 61]}},
        {"x": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}},
        {"x": {"dtype": "I8", "shape": [4], "data_offsets": [0, 4]}},
        {"output.0.bias.values": {"dtype": "I8", "shape": [4], "data_offsets": [0, 4]}},
        {"output.0.bias.values": {"dtype": "I8", "shape": [-4], "data_offsets": [0, -4]}},
        {"output.0.bias.values": {"dtype": "I8", "shape": [], "data_offsets": [0, 1]}},
        {"output.0.bias.values": 4},
        {"x": {"dtype": ["I8"], "shape": [4], "data_offsets": [0, 4]}},
        {str(n): {"dtype": "I8", "shape": [4], "data_offsets": [0, 4]} for n in range(1000)},
        {},
        [],
    ],
)
def test_hostile_headers_are_refused(saved: Path, header: object) -> None:
    text = json.dumps(header).encode()
    (saved / PARAMETERS).write_bytes(struct.pack("<Q", len(text)) + text + bytes(4))
    assert PARAMETERS in refused(saved, allow_modified=True)
    (saved / PARAMETERS).write_bytes(struct.pack("<Q", 1 << 63) + text)
    assert "truncated or damaged" in refused(saved, allow_modified=True)


def test_saving_does_not_destroy_what_is_there(saved: Path) -> None:
    with pytest.raises(TapeformerError, match="got another bundle; choose another name"):
        save_bundle(BUNDLE, saved)
    save_bundle(BUNDLE, saved, overwrite=True)
    (saved / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(TapeformerError, match="not a bundle"):
        save_bundle(BUNDLE, saved, overwrite=True)
    assert (saved / "notes.txt").read_text(encoding="utf-8") == "mine"
    assert [path.name for path in saved.parent.iterdir()] == ["bundle"]


def test_no_half_bundle_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full_disk(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr("tapeformer.bundle.save.os.fsync", full_disk)
    with pytest.raises(TapeformerError, match="no space left"):
        save_bundle(BUNDLE, tmp_path / "bundle")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(TapeformerError, match="could not be written"):
        save_bundle(BUNDLE, tmp_path / "file" / "bundle")
