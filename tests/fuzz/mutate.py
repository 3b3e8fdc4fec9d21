"""Mutated machine files: seeds in each format, changed at random places."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tapeformer import dumps, gallery_machine
from tapeformer.formats import OWN_FORMAT
from tests.formats.test_jflap import new, old, transition
from tests.formats.test_morphett import COPY
from tests.formats.test_tapeformer_yaml import COMPARE
from tests.formats.test_text_formats import NJU, SIMULATOR
from tests.formats.test_turingmachine_io import INCREMENT
from tests.simulator.test_published import DATA

_STEPS = (transition(0, 1, ("a", "b", "R")), transition(1, 2, ("!a", "~", "S")))
SEEDS: dict[str, tuple[str, ...]] = {
    "turingmachine.io": (INCREMENT, dumps(gallery_machine("busy_beaver_3"), "turingmachine.io")),
    "morphett": (COPY, dumps(gallery_machine("binary_increment"), "morphett")),
    "turingmachinesimulator": (SIMULATOR, (DATA / "addition_3tape.txt").read_text()),
    "nju": (NJU,),
    "jflap": (
        old(*_STEPS),
        new(*_STEPS),
        old(transition(0, 2, ("a", "b", "R"), ("", "~", "L")), tapes=2),
        dumps(gallery_machine("palindrome"), "jflap"),
    ),
    "busy-beaver": (
        "1RB1LC_1RC1RB_1RD0LE_1LA1LD_1RZ0LA",
        "1RB2LA1RZ3LA_2LA2RB3RB2LB",
        "1RB---_1RZ---",
    ),
    OWN_FORMAT: (COMPARE, dumps(gallery_machine("palindrome"), OWN_FORMAT)),
}
TOKENS = (
    *(
        "~",
        "*",
        "!",
        "&a ",
        "*a ",
        "<<: ",
        "[",
        "]",
        "{",
        "}",
        ":",
        ": ",
        "- ",
        "'",
        '"',
        "|",
        ">",
        "%",
    ),
    *("#N = 99999999", "#Q = {", "tapes: 16", "tapes: 99999999999999999999", "<tapes>5</tapes>"),
    *(
        "<",
        ">",
        "</",
        "/>",
        "&amp;",
        "&x;",
        "]]>",
        "<!--",
        "<![CDATA[",
        "\t",
        "\r",
        "\n",
        "\n\n",
        "\x00",
    ),
    *(
        "halt",
        "init:",
        "accept:",
        "table:",
        "é",
        "😀",
        "\ufeff",
        "\u2028",
        "\ud7ff",
        "---",
        "...",
        "?",
        ",",
    ),
    *("0", "1", "_", " ", "L", "R", "S", "l", "r", "-1", "1e999", "!!int ", "null", "true"),
)


def mutants(format_name: str, count: int, seed: int) -> Iterator[bytes]:
    """Files made by one to eight random changes of a seed in the format."""
    rng = random.Random(f"{format_name} {seed}")
    for _ in range(count):
        data = rng.choice(SEEDS[format_name]).encode()
        for _ in range(rng.choice((1, 1, 2, 3, 5, 8))):
            data = rng.choice(_CHANGES)(rng, data)
        yield data


def _cut(rng: random.Random, data: bytes) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.choice((0, 1, 2, 5, 20, 100)))


def _delete(rng: random.Random, data: bytes) -> bytes:
    start, end = _cut(rng, data)
    return data[:start] + data[end:]


def _repeat(rng: random.Random, data: bytes) -> bytes:
    start, end = _cut(rng, data)
    return data[:end] + data[start:end] * rng.choice((1, 2, 10, 300)) + data[end:]


def _insert(rng: random.Random, data: bytes) -> bytes:
    start, _ = _cut(rng, data)
    return data[:start] + rng.choice(TOKENS).encode() * rng.choice((1, 1, 1, 2, 200)) + data[start:]


def _flip(rng: random.Random, data: bytes) -> bytes:
    if not data:
        return data
    at = rng.randrange(len(data))
    return data[:at] + bytes((data[at] ^ (1 << rng.randrange(8)),)) + data[at + 1 :]


def _swap_lines(rng: random.Random, data: bytes) -> bytes:
    lines = data.split(b"\n")
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


def _truncate(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


_CHANGES = (_delete, _repeat, _insert, _insert, _flip, _flip, _swap_lines, _truncate)
