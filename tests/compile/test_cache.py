"""A model from the cache is the one that was compiled, and nothing damaged is ever used."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from tapeformer.bundle.record import Bundle
from tapeformer.bundle.save import bundle_files
from tapeformer.cache.store import Store
from tapeformer.compile.cache import cached
from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.faults import Fault, TapeformerError
from tapeformer.gallery import gallery_machine

OPTIONS = [
    CompileOptions(levels=2, base=2),
    CompileOptions(levels=2, base=2, heads="queue", layers=2),
    CompileOptions(levels=2, base=2, layer_norm=True),
    CompileOptions("paper", levels=1, base=4),
    CompileOptions("post", space=4),
]
MODEL = compile_machine(gallery_machine("parity_of_ones"), OPTIONS[0])


def never() -> Bundle:
    pytest.fail("it was made again")


@pytest.mark.parametrize("options", OPTIONS, ids=repr)
def test_the_second_time_it_is_the_same_model(options: CompileOptions, tmp_path: Path) -> None:
    store = Store("model", tmp_path)
    machine = gallery_machine("parity_of_ones")
    made = cached("text", repr(options), lambda: compile_machine(machine, options), store)
    found = cached("text", repr(options), never, store)
    assert found is not made
    assert bundle_files(found) == bundle_files(made)
    assert (found.offsets, found.window, found.modified) == (made.offsets, made.window, False)
    assert found.layout == made.layout
    assert found.prompt == made.prompt


def test_another_machine_or_option_is_another_model(tmp_path: Path) -> None:
    store = Store("model", tmp_path)
    for machine in ("one", "two"):
        for options in ("one", "two"):
            cached(machine, options, lambda: MODEL, store)
    assert len(list(tmp_path.iterdir())) == 4


@pytest.mark.parametrize("place", [0, 9, 40, 2000, -1])
@pytest.mark.parametrize("damage", ["flipped", "cut"])
def test_what_is_damaged_is_made_again(place: int, damage: str, tmp_path: Path) -> None:
    store = Store("model", tmp_path)
    cached("text", "options", lambda: MODEL, store)
    (file,) = tmp_path.iterdir()
    content = file.read_bytes()
    broken = bytearray(content)
    broken[place] ^= 1
    file.write_bytes(bytes(broken) if damage == "flipped" else content[:place])
    assert cached("text", "options", lambda: MODEL, store) is MODEL
    assert file.read_bytes() == content


@pytest.mark.parametrize("content", [b"", b"{}", pickle.dumps(None), pickle.dumps(MODEL)[:-9]])
def test_what_is_no_model_under_a_valid_hash_is_a_miss(content: bytes, tmp_path: Path) -> None:
    store = Store("model", tmp_path)
    cached("text", "options", lambda: MODEL, store)
    (file,) = tmp_path.iterdir()
    store.put(file.stem, content)
    assert cached("text", "options", lambda: MODEL, store) is MODEL


def test_the_digest_is_kept_with_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store("model", tmp_path)
    made = cached("text", "options", lambda: MODEL, store)
    monkeypatch.setattr("tapeformer.bundle.save.model_digest", lambda _: pytest.fail("again"))
    assert cached("text", "options", never, store).digest == made.digest


def test_an_error_is_not_kept(tmp_path: Path) -> None:
    def fail() -> Bundle:
        raise TapeformerError(Fault("too large"))

    with pytest.raises(TapeformerError, match="too large"):
        cached("text", "options", fail, Store("model", tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_without_a_cache_it_is_made_each_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    for _ in range(2):
        assert cached("text", "", lambda: MODEL, Store("model", tmp_path / "file")) is MODEL
