"""Bundles: the same bytes for the same weights, and every damage is refused with one clear fault."""

from __future__ import annotations

import os
import random
import shlex
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from tapeformer.bundle.files import CONFIG, MACHINE, PARAMETERS
from tapeformer.bundle.load import load_bundle, modified_warning
from tapeformer.bundle.save import bundle_files, save_bundle
from tapeformer.bundle.tensors import parameter_bytes
from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.faults import TapeformerError
from tapeformer.weights.matrices import same
from tapeformer.weights.parameters import with_sign_flipped
from tests.bundle.models import BUNDLE, PARITY, POST, REALTIME, refused, rewritten

WEIGHTS = BUNDLE.weights


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    BUNDLE.save(tmp_path / "bundle")
    return tmp_path / "bundle"


def test_what_is_saved_is_loaded(saved: Path) -> None:
    loaded = load_bundle(saved)
    assert same(loaded.weights, WEIGHTS)
    assert (loaded.layout, loaded.prompt) == (BUNDLE.layout, BUNDLE.prompt)
    assert (loaded.name, loaded.answer) == (BUNDLE.name, BUNDLE.answer)
    assert (loaded.machine, loaded.modified) == (BUNDLE.machine, False)
    assert (loaded.offsets, loaded.window) == ((7, 13), 14)
    assert sorted(path.name for path in saved.parent.iterdir()) == ["bundle"]


def test_other_kinds_of_models_are_loaded_too(tmp_path: Path) -> None:
    normalised = compile_machine(PARITY, CompileOptions("post", space=4, layer_norm=True))
    for place, bundle in enumerate((POST, REALTIME, normalised, replace(POST, machine="é\n"))):
        bundle.save(str(tmp_path / str(place)))
        loaded = load_bundle(str(tmp_path / str(place)))
        assert same(loaded.weights, bundle.weights)
        assert bundle_files(loaded) == bundle_files(bundle)


def test_equal_weights_give_equal_bytes_and_layouts_do_not_matter() -> None:
    longer = compile_machine(PARITY, CompileOptions("paper", levels=1, base=10, layers=2))
    assert bundle_files(longer)[PARAMETERS] == bundle_files(BUNDLE)[PARAMETERS]
    assert bundle_files(longer)[CONFIG] != bundle_files(BUNDLE)[CONFIG]
    assert bundle_files(BUNDLE) == bundle_files(BUNDLE)


@pytest.mark.parametrize("record", [BUNDLE, WEIGHTS, WEIGHTS.layers[1], BUNDLE.prompt])
def test_reprs_fit_a_line(record: object) -> None:
    assert len(repr(record)) < 250
    assert "\n" not in repr(record)


def test_parts_of_a_model_show_their_sizes() -> None:
    layer = WEIGHTS.layers[1]
    assert repr(BUNDLE).startswith("<Bundle 'parity_of_ones': paper, levels=1, base=8, layers=2")
    assert repr(layer.heads[0]).startswith("Head(name='marker', position=1, query=Matrix(shape=(2,")
    assert repr(WEIGHTS.factors[-1]) == "Factor(name='parity', values=('0', '1'))"


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
    assert "allow_modified=True" in refused(saved)
    loaded = load_bundle(saved, allow_modified=True)
    assert loaded.modified
    assert same(loaded.weights, edited)
    assert str(modified_warning(saved)).endswith(
        "warning: the parameters are not those that were compiled"
    )


def test_an_older_version_is_refused_with_the_command_that_renews_it(saved: Path) -> None:
    rewritten(saved, version=1)
    message = refused(saved)
    assert "another version; expected bundle version 2 " in message
    assert "; got 1; " in message
    assert f"its machine is in {MACHINE}" in message
    command = shlex.split(message.split("`")[1])
    assert command[0] == "tapeformer"
    subprocess.run([sys.executable, "-m", *command], check=True, capture_output=True)
    assert load_bundle(saved).name == BUNDLE.name


@pytest.mark.parametrize("name", [PARAMETERS, CONFIG, MACHINE])
def test_what_is_no_regular_file_is_refused_at_once(saved: Path, name: str) -> None:
    (saved / name).unlink()
    os.mkfifo(saved / name)
    assert "is not a file" in refused(saved)
    (saved / name).unlink()
    (saved / name).symlink_to("/dev/zero")
    assert "is not a file" in refused(saved)
    (saved / name).unlink()
    (saved / name).symlink_to(name)
    assert "cannot be read" in refused(saved)


def test_folders_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    for folder, message in (
        (tmp_path / "nowhere", "there is no bundle; expected a folder; got nothing"),
        (tmp_path / "file", "there is no bundle; expected a folder; got something else"),
        (tmp_path, "this folder is not a bundle; expected model.safetensors, .*; got none of them"),
        ("with\0nothing", "a str or a Path"),
        ("half \udcff \ud800", "a str or a Path"),
        ("x" * 5000, "there is no bundle"),
        (None, "a str or a Path; got NoneType"),
        (7, "a str or a Path; got int"),
    ):
        with pytest.raises(TapeformerError, match=message):
            load_bundle(folder)  # type: ignore[arg-type]
        if isinstance(folder, int | None):
            with pytest.raises(TapeformerError, match=message):
                BUNDLE.save(folder)  # type: ignore[arg-type]


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


def test_nothing_is_written_that_could_not_be_loaded(tmp_path: Path) -> None:
    layout = replace(BUNDLE.layout, levels=1 << 31)
    for bundle, message in (
        (replace(BUNDLE, layout=layout), "wrong entry 'layout.levels'.*before saving it"),
        (replace(BUNDLE, answer={}), "wrong entry 'answer"),
        (replace(BUNDLE, answer={"reading": {1, 2}}), "cannot be written as JSON"),
        (replace(BUNDLE, name="\ud800"), "cannot be written as JSON"),
    ):
        with pytest.raises(TapeformerError, match=message):
            bundle.save(tmp_path / "bundle")
    assert list(tmp_path.iterdir()) == []
