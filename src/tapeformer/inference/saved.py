"""What a checkpoint holds, and the bytes of its file: a record, a window of tokens, a hash of both.

The hash finds damage. It is no signature: whoever writes such a file also writes its hash, so
every entry is checked. Faults have no location here; who reads the file knows it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tapeformer.arguments import bad_argument, check_count
from tapeformer.bundle.files import digest
from tapeformer.dataclass import dataclass
from tapeformer.faults import Fault, TapeformerError, described, quoted
from tapeformer.inference.generation import Counters

FORMAT, VERSION = "tapeformer-checkpoint", 2
MOST = 1 << 62
"""The largest number in a record: no run is so long, and every such number can be printed."""
NONE = "this is not a checkpoint, or it is damaged"

Kind = TypeVar("Kind")


@dataclass(frozen=True, eq=False)
class Saved:
    """A run that can be resumed: its model in words and as a hash, its input, and how far it came.

    `grows` says that its model gets more levels while it runs.
    """

    about: str
    model: str
    word: tuple[str, ...]
    levels: int
    base: int
    grows: bool
    counts: Counters
    margin: float | None
    window: NDArray[np.int32]


def packed(saved: Saved) -> bytes:
    """Return the bytes of a checkpoint's file."""
    from safetensors.numpy import save

    window = np.ascontiguousarray(saved.window, "<i4")
    entries = {name: value for name, value in vars(saved).items() if name != "window"}
    record = {"format": FORMAT, "version": VERSION, **entries, "counts": vars(saved.counts)}
    text = json.dumps(record)
    content: bytes = save({"window": window}, {"checkpoint": text, "sha256": _hash(text, window)})
    return content


def unpacked(content: bytes) -> Saved:
    """Return what the bytes of a file hold, or refuse them."""
    notes, tensors = _parts(content)
    text = notes.get("checkpoint", "")
    record = _record(text)
    window = _window(tensors)
    if notes.get("sha256") != _hash(text, window):
        expected = "the content whose SHA-256 it names"
        raise _refused("the checkpoint is damaged", expected, "other content")
    return _saved(record, window)


def _parts(content: bytes) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the texts and the tensors of a file."""
    import safetensors

    parse: Any = safetensors.deserialize
    try:
        tensors = dict(parse(content))
    except safetensors.SafetensorError as error:
        raise _refused(NONE, got=str(error)) from None
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    return header.get("__metadata__") or {}, tensors


def _record(text: str) -> dict[str, Any]:
    """Return the entries of a checkpoint of this version."""
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise _refused(NONE, f"the format {FORMAT}")
    version = record.get("version", 1)
    if version != VERSION or type(version) is not int:
        what, expected = "the checkpoint is of another version", f"checkpoint version {VERSION}"
        raise _refused(what, expected, described(version))
    return record


def _refused(what: str, expected: str = "", got: str = "") -> TapeformerError:
    shown = got if got.isprintable() and len(got) <= 100 else quoted(got, 100)
    return TapeformerError(Fault(what, expected=expected, got=shown))


def _hash(text: str, window: NDArray[np.int32]) -> str:
    """Return one hash for a record and a window, whose shape it covers too."""
    return digest(f"{text}\n{window.shape}\n".encode() + window.tobytes())


def _window(tensors: Mapping[str, Any]) -> NDArray[np.int32]:
    """Return the tokens: numbers of 32 bits, a row for each token."""
    kinds = {name: (tensor["dtype"], len(tensor["shape"])) for name, tensor in tensors.items()}
    if kinds != {"window": ("I32", 2)}:
        expected = "one table of numbers of 32 bits, `window`"
        got = ", ".join(f"{name} of {dtype}" for name, (dtype, _) in kinds.items())
        raise _refused("the checkpoint has no window of tokens", expected, got)
    found = tensors["window"]
    return np.frombuffer(found["data"], "<i4").reshape(found["shape"])


def _saved(record: Mapping[str, Any], window: NDArray[np.int32]) -> Saved:
    """Return a record whose entries are checked, each for its kind."""
    word = _of_kind("word", record.get("word"), list, "a list")
    for number in ("levels", "base"):
        _check_number(number, record.get(number), 1)
    return Saved(
        about=_of_kind("about", record.get("about"), str, "a text"),
        model=_of_kind("model", record.get("model"), str, "a text"),
        word=tuple(_of_kind("word", symbol, str, "a list of texts") for symbol in word),
        levels=record["levels"],
        base=record["base"],
        grows=_of_kind("grows", record.get("grows"), bool, "true or false"),
        counts=_counts(_of_kind("counts", record.get("counts"), dict, "an object")),
        margin=_margin(record.get("margin")),
        window=window,
    )


def _of_kind(name: str, value: object, kind: type[Kind], expected: str) -> Kind:
    if not isinstance(value, kind):
        raise bad_argument(name, expected, value)
    return value


def _check_number(name: str, value: object, least: int = 0) -> None:
    check_count(name, value, least)
    if isinstance(value, int) and value > MOST:
        raise bad_argument(name, f"at most {MOST}", value)


def _counts(entries: dict[str, Any]) -> Counters:
    """Return the counts; only where the machine has not begun, `boot` is null."""
    values: dict[str, Any] = {name: entries.get(name) for name in vars(Counters())}
    for name, value in values.items():
        if name != "boot" or value is not None:
            _check_number(f"counts.{name}", value)
    counts = Counters(**values)
    if (counts.boot or 0) > counts.tokens:
        raise bad_argument("counts.boot", "no more than the tokens", counts.boot)
    return counts


def _margin(value: object) -> float | None:
    """Return the smallest margin seen; None where no token was made."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST:
        raise bad_argument("margin", "a number, at least 0, or null", value)
    return value
