"""Keys differ where anything differs that an entry depends on."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
