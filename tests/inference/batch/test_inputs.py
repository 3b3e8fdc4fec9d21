"""Lines of a file are read piece by piece, as often as they are asked for."""

from __future__ import annotations

import os
import tracemalloc
from itertools import islice
from pathlib import Path
from threading import Thread

import pytest

from tapeformer.faults import TapeformerError
from tapeformer.inference.batch import Inputs, inputs
from tapeformer.inference.batch.inputs import opened


@pytest.mark.parametrize("piece", [1, 2, 3, 5, 100])
@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"\n\n", ["", ""]),
        (b"ab\n\nb", ["ab", "", "b"]),
        (b"ab\r\nb\r\n", ["ab", "b"]),
        (b"a long line\n" * 3, ["a long line"] * 3),
        ("a\x0bé\x85\u2028b\n".encode(), ["a\x0bé\x85\u2028b"]),
        (b"a\xffb\n\xe2\x82\nb", ["a\ufffdb", "\ufffd", "b"]),
    ],
)
def test_lines_end_where_a_person_ends_them(
    content: bytes, lines: list[str], piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "PIECE", piece)
    assert list(Inputs(content)) == lines
    assert len(Inputs(content)) == len(lines)
    assert list(Inputs(content).first(1)) == lines[:1]


@pytest.mark.parametrize("content", [b"\xef\xbb\xbfab\n", b"\xef\xbb\xbf"])
def test_a_mark_before_the_first_line_is_no_part_of_it(content: bytes) -> None:
    assert list(Inputs(content)) == ["ab"] * (len(content) > 3)
    assert len(Inputs(content)) == (len(content) > 3)


def test_readers_do_not_disturb_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "PIECE", 4)
    path = tmp_path / "inputs"
    path.write_text("a\nb\nc\n")
    with opened(path) as lines:
        first, second = iter(lines), iter(lines)
        assert [next(first), next(second), next(second), next(first)] == ["a", "a", "b", "b"]
        with path.open("a") as file:
            file.write("later\n")
        assert (list(first), list(second), len(lines)) == (["c"], ["c"], 3)


def test_a_pipe_can_be_read_twice(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = Thread(target=pipe.write_text, args=("a\nb\n",))
    writer.start()
    with opened(pipe) as lines:
        assert (list(lines), list(lines), len(lines)) == (["a", "b"], ["a", "b"], 2)
    writer.join()


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(TapeformerError, match="the file cannot be read"):
            opened(path)


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "inputs"
    path.write_bytes(b"0101010101\n" * 10**6)
    with opened(path) as lines:
        tracemalloc.start()
        try:
            assert sum(1 for _ in lines) == len(lines) == 10**6
            assert next(islice(lines, 10**6 - 1, None)) == "0101010101"
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert most < 8 << 20
