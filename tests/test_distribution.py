"""The wheel and the source distribution hold all that running needs, and nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = ("src", "README.md", "LICENSE", "pyproject.toml", "MANIFEST.in")
BUILD = "from setuptools import build_meta as b; print(b.build_{}(r'{}'))"


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Both, built as pip builds them, from a copy of the sources."""
    folder = tmp_path_factory.mktemp("sources")
    for name in SOURCES:
        source, ignored = ROOT / name, shutil.ignore_patterns("*.egg-info", "__pycache__")
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=ignored)
        elif source.exists():
            shutil.copy(source, folder / name)
    built = {}
    for kind in ("wheel", "sdist"):
        code = BUILD.format(kind, folder)
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True
        )
        built[kind] = folder / done.stdout.strip().splitlines()[-1]
    return built


def modules_and_data() -> set[str]:
    package = ROOT / "src" / "tapeformer"
    kept = (path for path in package.rglob("*") if path.is_file())
    return {
        f"tapeformer/{path.relative_to(package).as_posix()}"
        for path in kept
        if "__pycache__" not in path.parts
    }


def test_the_wheel_holds_every_module_and_every_data_file(distributions: dict[str, Path]) -> None:
    names = set(zipfile.ZipFile(distributions["wheel"]).namelist())
    assert {name for name in names if ".dist-info/" not in name} == modules_and_data()


def test_the_source_distribution_holds_them_too(distributions: dict[str, Path]) -> None:
    with tarfile.open(distributions["sdist"]) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    assert {f"src/{name}" for name in modules_and_data()} <= names
    assert {"README.md", "LICENSE", "pyproject.toml"} <= names


def test_the_wheel_runs(distributions: dict[str, Path], tmp_path: Path) -> None:
    zipfile.ZipFile(distributions["wheel"]).extractall(tmp_path / "site")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    code = (
        "import sys, tapeformer as tf; assert tf.__file__.startswith(sys.argv[1]), tf.__file__;"
        "print(tf.run('palindrome', 'abba'), tf.run_queue_table('balanced', 'ab'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "<Answer accept: palindrome" in done.stdout
