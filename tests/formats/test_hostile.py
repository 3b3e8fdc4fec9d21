"""Hostile files: a clear error, promptly, in bounded memory."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tapeformer import TapeformerError, load, loads

PROBE = """
import json, resource, sys
from tapeformer import TapeformerError, load
resource.setrlimit(resource.RLIMIT_CPU, (120, 120))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
calls = 0
def count(frame, event, argument):
    global calls
    calls += event in ("call", "c_call")
sys.setprofile(count if sys.argv[2] == "count" else None)
try:
    load(sys.argv[1])
    message = ""
except TapeformerError as error:
    message = str(error)
sys.setprofile(None)
grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
print(json.dumps([message, calls, grown]))
"""
"""Loads a file; reports the message, the number of calls, and the megabytes that memory grew by.

Calls are the same on an idle and a loaded machine, unlike seconds. A limit on CPU time, which does
not count waiting either, ends what loops inside one call."""


def probe(file: Path, count: bool = False) -> tuple[str, int, float]:
    """Read a file in a process of its own."""
    command = [sys.executable, "-c", PROBE, str(file), "count" if count else "plain"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    message, calls, megabytes = json.loads(done.stdout)
    return message, calls, megabytes


def laughing_yaml(size: int) -> str:
    lines = ["blank: _", "start state: a", "x0: &x0 [lol, lol]"]
    lines += [f"x{n}: &x{n} [*x{n - 1}, *x{n - 1}, *x{n - 1}, *x{n - 1}]" for n in range(1, size)]
    return "\n".join([*lines, "table:", f"  a: {{*x{size - 1} : R}}"])


def wildcards_nju(size: int) -> str:
    symbols = [chr(200 + n) for n in range(size)]
    head = f"#Q={{a}}\n#q0=a\n#G={{{','.join(symbols)}}}\n#N=5\n"
    return head + "".join(f"a _____ {s * 5} ***** a\n" for s in symbols) + "a ***** ***** ***** a\n"


HOSTILE: dict[str, tuple[Callable[[int], str], int]] = {
    "laughs.yaml": (laughing_yaml, 20),
    "deep.yaml": (lambda n: "table: " + "[" * n, 50_000),
    "deep_mapping.yaml": (
        lambda n: "table:\n" + "\n".join(" " * i + "a:" for i in range(1, n)),
        700,
    ),
    "tag.yaml": (
        lambda n: "blank: !!python/object/apply:os.system ['true']\n" + "table: {}\n" * n,
        1000,
    ),
    "deep.jff": (
        lambda n: "<structure>" + "<a>" * n + "</a>" * n + "</structure>",
        20_000,
    ),
    "unclosed.jff": (lambda n: "<structure>" + "<a>" * n, 50_000),
    "wildcards.tm": (wildcards_nju, 30),
    "states.txt": (lambda n: "".join(f"* * * r s{i}\n" for i in range(n)), 5_000),
    "empty_lines.txt": (lambda n: "\n" * n + " " * n, 200_000),
    "commas.txt": (lambda n: "init: a\n" + "a," * n, 200_000),
    "long_line.txt": (lambda n: "0 " + "1" * n, 500_000),
    "rules.yaml": (
        lambda n: (
            "blank: _\nstart state: a\ntable:\n"
            + "".join(f"  s{i}: {{0: R, 1: L}}\n" for i in range(n))
        ),
        4_000,
    ),
    "targets.yaml": (
        lambda n: (
            "blank: _\nstart state: s0\ntable:\n"
            + "".join(f"  s{i}: {{0: {{R: t{i}}}}}\n" for i in range(n))
        ),
        3_000,
    ),
    "keys.yaml": (lambda n: "table: {" + ", ".join(f"{i}: {i}" for i in range(n)) + "}", 20_000),
}
"""Texts that grow with a number, and the number to start from."""


@pytest.mark.parametrize("name", HOSTILE)
def test_work_on_hostile_texts_grows_no_faster_than_they_do(name: str, tmp_path: Path) -> None:
    make, size = HOSTILE[name]
    file = tmp_path / name
    file.write_text(make(size), encoding="utf-8")
    _, calls, _ = probe(file, count=True)
    file.write_text(make(2 * size), encoding="utf-8")
    message, twice, megabytes = probe(file, count=True)
    assert message.count("error:") >= 1
    assert "Traceback" not in message
    assert twice < 2.3 * calls + 20_000
    assert megabytes < 500


def test_fifty_megabytes_are_refused_without_being_read(tmp_path: Path) -> None:
    file = tmp_path / "big.yaml"
    with file.open("wb") as stream:
        stream.truncate(50 * 2**20)
    message, _, megabytes = probe(file)
    assert "the file is too large; expected at most 4 MiB" in message
    assert megabytes < 50


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (bytes(range(256)) * 40, "not text"),
        ("naïve: 1".encode("latin-1"), r"m\.yaml:1: error: the file is not text; expected UTF-8"),
        (b"0 1 1 r 0\n0 \xff 1 r 0\n", r"m\.yaml:2: error: the file is not text"),
        (b"", "the file is empty"),
        (b"  \n\n", "the file is empty"),
        (b"dear diary\n", "no known machine format"),
        (b"\x00" * 100, "not text"),
    ],
)
def test_bytes_that_are_no_text(data: bytes, expected: str, tmp_path: Path) -> None:
    file = tmp_path / "m.yaml"
    file.write_bytes(data)
    with pytest.raises(TapeformerError, match=expected):
        load(file)


def test_byte_order_marks_and_line_ends_do_not_matter(tmp_path: Path) -> None:
    text = "init: a\r\naccept: b\r\n\r\na,1\r\nb,1,>\r\n"
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        file = tmp_path / "m.txt"
        file.write_bytes(text.encode(encoding))
        assert load(file).accepting == {"b"}


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(TapeformerError, match="there is no such file"):
        load(tmp_path / "missing.txt")
    with pytest.raises(TapeformerError, match="directory"):
        load(tmp_path)


def test_unknown_format() -> None:
    with pytest.raises(TapeformerError, match="unknown format 'xml'; expected one of"):
        loads("", format_name="xml")
