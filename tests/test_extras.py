"""A plain install is light; what needs more says which install brings it."""

from __future__ import annotations

import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from tapeformer.engines.registry import make_engine
from tapeformer.extras import require
from tapeformer.faults import TapeformerError
from tests.engines.large_sums import telescoped

PROJECT = Path(__file__).parent.parent / "pyproject.toml"


def test_neither_pytorch_nor_matplotlib_comes_with_a_plain_install() -> None:
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    heavy = ("torch", "matplotlib")
    assert not [name for name in project["dependencies"] if name.startswith(heavy)]
    extras = project["optional-dependencies"]
    assert extras["torch"] == ["torch==2.13.0"]
    assert extras["plots"][0].startswith("matplotlib")
    own = next(name for name in extras["dev"] if name.startswith("tapeformer["))
    assert {"explorer", "plots", "torch"} <= {*own.removeprefix("tapeformer[")[:-1].split(",")}


def test_the_dense_engine_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(
        TapeformerError, match=r"dense engine needs torch.*pip install '\.\[torch\]'"
    ):
        make_engine("dense", telescoped(1), ())


def test_plots_say_what_they_need(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "tapeformer.bench.plots", raising=False)
    with pytest.raises(TapeformerError, match=r"pip install '\.\[plots\]'"):
        import_module("tapeformer.bench.plots")


def test_an_error_inside_a_package_is_not_hidden() -> None:
    assert require("numpy", extra="none", what="a test").__name__ == "numpy"
    with pytest.raises(TapeformerError, match="a test needs no_such_package"):
        require("no_such_package.part", extra="none", what="a test")
