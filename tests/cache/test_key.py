"""Keys differ where anything differs that an entry depends on."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from time import sleep

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapeformer.cache import key
from tapeformer.cache.key import PACKAGE, key_for, source_digest

PARTS = st.lists(st.text(max_size=3) | st.binary(max_size=3), max_size=3)


@given(PARTS, PARTS)
def test_different_parts_have_different_keys(
    one: list[str | bytes], other: list[str | bytes]
) -> None:
    coded = [[p.encode() if isinstance(p, str) else p for p in parts] for parts in (one, other)]
    assert (key_for(*one) == key_for(*other)) == (coded[0] == coded[1])


@pytest.fixture
def package(tmp_path: Path) -> Path:
    (tmp_path / "package" / "inner").mkdir(parents=True)
    (tmp_path / "package" / "a.py").write_text("x = 1\n")
    (tmp_path / "package" / "inner" / "b.py").write_text("y = 2\n")
    return tmp_path / "package"


def digest(package: Path) -> str:
    source_digest.cache_clear()
    return source_digest(package)


def test_an_edit_changes_the_digest_though_time_and_size_stay(package: Path) -> None:
    before, status = digest(package), (package / "a.py").stat()
    (package / "a.py").write_text("x = 3\n")
    os.utime(package / "a.py", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert digest(package) != before
    (package / "a.py").write_text("x = 1\n")
    assert digest(package) == before


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Lets files that were written just now count as old, and gives them an empty cache."""
    monkeypatch.setattr(key, "SETTLED", -60.0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.mark.usefixtures("settled")
def test_files_are_not_read_again(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = digest(package)
    monkeypatch.setattr(key, "_content_digest", lambda *_: pytest.fail("they were read"))
    assert digest(package) == before


@pytest.mark.usefixtures("settled")
def test_a_write_is_noticed_though_time_and_size_stay(package: Path) -> None:
    before, status = digest(package), (package / "a.py").stat()
    sleep(0.05)  # longer than a tick of the file system's clock
    (package / "a.py").write_text("x = 3\n")
    os.utime(package / "a.py", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert digest(package) != before


def test_what_was_written_just_now_is_read_again(
    package: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    digest(package)
    assert not (tmp_path / "cache").exists()


def test_names_and_folders_count_and_bytecode_does_not(package: Path) -> None:
    before = digest(package)
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "a.pyc").write_bytes(b"code")
    assert digest(package) == before
    (package / "a.py").rename(package / "c.py")
    moved = digest(package)
    (package / "c.py").rename(package / "inner" / "c.py")
    assert len({before, moved, digest(package)}) == 3


def test_the_place_of_the_package_does_not_count(package: Path, tmp_path: Path) -> None:
    assert digest(package) == digest(Path(shutil.copytree(package, tmp_path / "copy")))


def test_a_package_in_a_zip_file_never_finds_what_another_process_made(tmp_path: Path) -> None:
    archive = shutil.make_archive(str(tmp_path / "package"), "zip", PACKAGE.parent)
    program = "from tapeformer.cache.key import key_for; print(key_for() == key_for(), key_for())"
    command = [sys.executable, "-c", program]
    lines = [
        subprocess.run(
            command, env={"PYTHONPATH": archive}, capture_output=True, text=True, check=True
        ).stdout.split()
        for _ in range(2)
    ]
    assert [line[0] for line in lines] == ["True", "True"]
    assert lines[0][1] != lines[1][1]
