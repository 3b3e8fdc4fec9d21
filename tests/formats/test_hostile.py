"""Hostile files: a clear error, promptly, in bounded memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tapeformer import TapeformerError, load, loads

PROBE = """
import json, resource, sys, time
from tapeformer import TapeformerError, load
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
started = time.perf_counter()
try:
    load(sys.argv[1])
    message = ""
except TapeformerError as error:
    message = str(error)
grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
print(json.dumps([message, time.perf_counter() - started, grown]))
"""


def probe(file: Path) -> tuple[str, float, float]:
    """The message, the seconds and the megabytes that reading a file takes, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE, str(file)], capture_output=True, text=True, check=True
    )
    message, seconds, megabytes = json.loads(done.stdout)
    return message, seconds, megabytes


def laughing_yaml() -> str:
    lines = ["blank: _", "start state: a", "x0: &x0 [lol, lol]"]
    lines += [f"x{n}: &x{n} [*x{n - 1}, *x{n - 1}, *x{n - 1}, *x{n - 1}]" for n in range(1, 40)]
    return "\n".join([*lines, "table:", "  a: {*x39 : R}"])


HOSTILE = {
    "laughs.yaml": laughing_yaml(),
    "deep.yaml": "table: " + "[" * 200_000,
    "deep_mapping.yaml": "table:\n" + "\n".join(" " * n + "a:" for n in range(1, 1500)),
    "tag.yaml": "blank: !!python/object/apply:os.system ['true']\ntable: {}\n",
    "deep.jff": "<structure>" + "<a>" * 100_000 + "</a>" * 100_000 + "</structure>",
    "unclosed.jff": "<structure>" + "<a>" * 300_000,
    "wildcards.tm": "#Q={a}\n#q0=a\n#G={"
    + ",".join(chr(200 + n) for n in range(60))
    + "}\n#N=5\n"
    + "".join(f"a _____ {chr(200 + n) * 5} ***** a\n" for n in range(60))
    + "a ***** ***** ***** a\n",
    "states.txt": "".join(f"* * * r s{n}\n" for n in range(20_000)),
    "empty_lines.txt": "\n" * 1_000_000 + " " * 1_000_000,
    "commas.txt": "init: a\n" + "a," * 1_000_000,
    "long_line.txt": "0 " + "1" * 2_000_000,
    "rules.yaml": "blank: _\nstart state: a\ntable:\n"
    + "".join(f"  s{n}: {{0: R, 1: L}}\n" for n in range(30_000)),
    "keys.yaml": "table: {" + ", ".join(f"{n}: {n}" for n in range(100_000)) + "}",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_end_promptly_in_bounded_memory(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_text(HOSTILE[name], encoding="utf-8")
    message, seconds, megabytes = probe(file)
    assert message.count("error:") >= 1
    assert "Traceback" not in message
    assert seconds < 10
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
