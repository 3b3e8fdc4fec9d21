"""The file of parameters: its vectors lie side by side, and every hostile header is refused."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tapeformer.bundle.files import PARAMETERS
from tapeformer.bundle.load import load_bundle
from tapeformer.weights.parameters import parameters
from tests.bundle.models import POST, refused

Header = dict[str, dict[str, Any]]


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    POST.save(tmp_path / "bundle")
    return tmp_path / "bundle"


def parts_of(saved: Path) -> tuple[Header, bytes]:
    """The header of the file and the bytes after it."""
    content = (saved / PARAMETERS).read_bytes()
    length = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def write(saved: Path, header: object, body: bytes) -> None:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    (saved / PARAMETERS).write_bytes(struct.pack("<Q", len(text)) + text + body)


def in_order(header: Header) -> list[tuple[str, int, int]]:
    """The vectors as they lie in the file: name, start and end."""
    spans = [(entry["data_offsets"], name) for name, entry in header.items()]
    return [(name, start, end) for (start, end), name in sorted(spans)]


def gap(header: Header, body: bytes) -> bytes:
    """A byte that belongs to no vector, in the middle; the last vector ends with the file."""
    middle = in_order(header)[len(header) // 2][1]
    for name, start, end in in_order(header):
        if start >= middle:
            header[name]["data_offsets"] = [start + 1, end + 1]
    return body[:middle] + b"\1" + body[middle:]


def overlap(header: Header, body: bytes) -> bytes:
    """Two vectors share bytes; the last one ends with the file."""
    size = None
    for name, start, end in in_order(header):
        if size is not None:
            header[name]["data_offsets"] = [start - size, end - size]
        elif end - start > 1 and header[name]["dtype"] == "I8":
            size = 1
    assert size
    return body[:-size]


def same_twice(header: Header, body: bytes) -> bytes:
    """Two vectors of one type and size lie at the same place; some bytes belong to none."""
    spans = in_order(header)
    pairs = [
        (one, two)
        for one, two in pairwise(spans)
        if one[2] - one[1] == two[2] - two[1] and header[one[0]]["dtype"] == header[two[0]]["dtype"]
    ]
    one, two = pairs[0]
    header[two[0]]["data_offsets"] = list(one[1:])
    return body


def trailing(_: Header, body: bytes) -> bytes:
    """Bytes after the last vector."""
    return body + b"\0"


def leading(header: Header, body: bytes) -> bytes:
    """A byte before the first vector."""
    for name, start, end in in_order(header):
        header[name]["data_offsets"] = [start + 1, end + 1]
    return b"\0" + body


@pytest.mark.parametrize("damage", [gap, overlap, same_twice, trailing, leading])
def test_gaps_and_overlaps_are_refused(
    saved: Path, damage: Callable[[Header, bytes], bytes]
) -> None:
    header, body = parts_of(saved)
    write(saved, header, body)
    load_bundle(saved, allow_modified=True)
    body = damage(header, body)
    write(saved, header, body)
    assert "the tensors do not fill the file" in refused(saved, allow_modified=True)


@pytest.mark.parametrize("wrong", ["twice", "falling", "behind the end"])
def test_places_of_a_vector_increase_and_are_in_it(saved: Path, wrong: str) -> None:
    header, body = parts_of(saved)
    name = next(n for n in header if n.endswith(".places") and header[n]["shape"][0] > 1)
    assert header[name]["dtype"] == "U16"
    path = name.removesuffix(".places")
    size = next(part.shape[0] for part in parameters(POST.weights) if part.path == path)
    start, end = header[name]["data_offsets"]
    places = list(struct.unpack(f"<{(end - start) // 2}H", body[start:end]))
    places = {
        "twice": [*places[:-1], places[-2]],
        "falling": [*places[:-2], places[-1], places[-2]],
        "behind the end": [*places[:-1], size],
    }[wrong]
    written = struct.pack(f"<{len(places)}H", *places)
    write(saved, header, body[:start] + written + body[end:])
    assert f"expected increasing places from 0 to {size - 1}" in refused(saved, True)


@pytest.mark.parametrize("more", [1, 8, 16])
def test_a_header_that_ends_behind_the_file_is_refused(saved: Path, more: int) -> None:
    content = (saved / PARAMETERS).read_bytes()
    length = len(content) - 8 + more
    (saved / PARAMETERS).write_bytes(struct.pack("<Q", length) + content[8:])
    assert "truncated or damaged" in refused(saved, allow_modified=True)


def test_a_name_twice_is_refused(saved: Path) -> None:
    header, body = parts_of(saved)
    name = next(iter(header))
    text = json.dumps(header)
    again = f"{text[:-1]}, {json.dumps(name)}: {json.dumps(header[name])}}}"
    write(saved, again.encode(), body)
    assert "appears twice" in refused(saved, allow_modified=True)


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
        {"x": {"dtype": "I8", "shape": [10**4000], "data_offsets": [0, 4]}},
        {},
        [],
    ],
)
def test_hostile_headers_are_refused(saved: Path, header: object) -> None:
    write(saved, json.dumps(header).encode() if header != {} else b"{}", bytes(4))
    assert PARAMETERS in refused(saved, allow_modified=True)
    (saved / PARAMETERS).write_bytes(struct.pack("<Q", 1 << 63) + b"{}")
    assert "truncated or damaged" in refused(saved, allow_modified=True)
