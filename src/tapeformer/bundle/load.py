"""Loading a bundle: everything is checked, nothing is executed, sizes are bounded by the files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

import numpy as np

from tapeformer import __version__
from tapeformer.bundle.record import Bundle
from tapeformer.bundle.save import CONFIG, FORMAT, MACHINE, PARAMETERS, VERSION, canonical, digest
from tapeformer.bundle.table import Table
from tapeformer.bundle.tensors import with_stored
from tapeformer.faults import Fault, Severity, SourceLocation, TapeformerError, quoted
from tapeformer.layout import Layout
from tapeformer.weights.matrices import zeros
from tapeformer.weights.record import Affine, Factor, Head, Layer, TransformerWeights
from tapeformer.weights.tokens import Prompt, prompt_tokens
from tapeformer.weights.verify import verify

MOST_BYTES = {PARAMETERS: 256 << 20, CONFIG: 128 << 20, MACHINE: 16 << 20}
MOST = 1 << 31
"""No width, length or count in a sound bundle is larger."""

MOST_COORDINATES = 1 << 27
"""Residual coordinates over all layers."""


def load_bundle(directory: Path, *, allow_modified: bool = False) -> Bundle:
    """The bundle in a directory; with `allow_modified` its parameters may differ from the hash."""
    contents = {name: _content(directory / name) for name in MOST_BYTES}
    return bundle_from(contents, directory, allow_modified=allow_modified)


def bundle_from(
    contents: Mapping[str, bytes], directory: Path, *, allow_modified: bool = False
) -> Bundle:
    """Return the bundle of the files' contents, with all checks; `directory` is for messages."""
    config = _config(contents[CONFIG], directory / CONFIG)
    hashes = config.table("sha256")
    _check_hash(directory / MACHINE, contents[MACHINE], hashes.text("machine"))
    modified = digest(contents[PARAMETERS]) != hashes.text("parameters")
    if modified and not allow_modified:
        _check_hash(directory / PARAMETERS, contents[PARAMETERS], hashes.text("parameters"))
    weights = with_stored(_skeleton(config), contents[PARAMETERS], directory / PARAMETERS)
    _check_weights(weights, directory)
    bundle = Bundle(
        name=config.text("name"),
        weights=weights,
        layout=_layout(config.table("layout")),
        prompt=_prompt(config.table("prompt")),
        answer=config.table("answer").entries,
        machine=_text(contents[MACHINE], directory / MACHINE),
        modified=modified,
    )
    try:
        _check_consistent(bundle, config)
    except TapeformerError as error:
        first = error.faults[0]
        _refuse(config.path, first.what, first.expected, first.got)
    return bundle


def modified_warning(directory: Path) -> Fault:
    """What is said when a bundle with other parameters is run all the same."""
    return Fault(
        "the parameters are not those that were compiled",
        SourceLocation(str(directory / PARAMETERS)),
        severity=Severity.WARNING,
    )


def _content(path: Path) -> bytes:
    """A file of a bundle, no larger than one may be."""
    try:
        size = path.stat().st_size
        if not path.is_file():
            _refuse(path, "a part of the bundle is not a file", "a file", "something else")
        if size > MOST_BYTES[path.name]:
            _refuse(path, "the file is too large", f"at most {MOST_BYTES[path.name]} bytes", size)
        with path.open("rb") as file:
            return file.read(MOST_BYTES[path.name])
    except FileNotFoundError:
        _refuse(path, "a file of the bundle is missing", ", ".join(MOST_BYTES), "no such file")
    except OSError as error:
        _refuse(path, "a file of the bundle cannot be read", "", error)


def _text(content: bytes, path: Path) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        _refuse(path, "the file is not text", "UTF-8", error)


def _config(content: bytes, path: Path) -> Table:
    """The configuration, of this version and as it was written."""
    try:
        entries = json.loads(content.decode("utf-8"), parse_constant=_no_constant)
        config = Table(path, "", entries if isinstance(entries, dict) else {})
        found = digest(canonical(_without_own_hash(config.entries)))
    except (ValueError, RecursionError) as error:
        _refuse(path, "the file is not JSON", "the text of an object", error)
    if config.entries.get("format") != FORMAT:
        _refuse(path, "this is not a bundle", quoted(FORMAT), config.entries.get("format"))
    if config.entries.get("version") != VERSION:
        version = f"bundle version {VERSION} (tapeformer {__version__})"
        _refuse(path, "the bundle is of another version", version, config.entries.get("version"))
    if config.table("sha256").text("config") != found:
        _refuse(path, "the file was altered", "the content whose SHA-256 it names", "another")
    return config


def _without_own_hash(entries: Mapping[str, object]) -> dict[str, object]:
    """What the configuration's own hash is taken of."""
    hashes = entries.get("sha256")
    rest = dict(hashes) if isinstance(hashes, dict) else {}
    rest.pop("config", None)
    return {**entries, "sha256": rest}


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def _check_hash(path: Path, content: bytes, expected: str) -> None:
    if digest(content) != expected:
        remedy = "compile again, or run with --allow-modified" if path.name == PARAMETERS else ""
        raise TapeformerError(
            Fault(
                "the file was altered or truncated",
                SourceLocation(str(path)),
                expected=f"SHA-256 {expected}",
                got=digest(content),
                remedy=remedy or "compile again",
            )
        )


def _skeleton(config: Table) -> TransformerWeights:
    """The model with all names and shapes, every parameter zero."""
    fields = config.texts("fields")
    factors = tuple(
        Factor(entry.text("name"), entry.texts("values")) for entry in config.tables("factors")
    )
    shapes = config.table("shapes")
    key, value = (shapes.integer(name, 0, MOST) for name in ("key_width", "value_width"))
    d, layers = len(fields), config.tables("layers")
    if d * len(layers) > MOST_COORDINATES:
        _refuse(
            config.path, "too many layers for so many fields", MOST_COORDINATES, d * len(layers)
        )
    return TransformerWeights(
        factors=factors,
        fields=fields,
        embeddings=tuple(zeros(len(factor.values), d) for factor in factors),
        layers=tuple(_layer(entry, fields, key, value) for entry in layers),
        outputs=tuple(_affine(factor.values, d) for factor in factors),
        position_rules=config.texts("position_rules"),
        key_width=key,
        value_width=value,
        layer_norm=config.flag("layer_norm"),
    )


def _layer(entry: Table, fields: tuple[str, ...], key: int, value: int) -> Layer:
    d = len(fields)
    heads = tuple(
        Head(
            name=head.text("name"),
            position=head.integer("position", 0, MOST),
            query=zeros(key, d),
            key=zeros(key, d),
            value=zeros(value, d),
        )
        for head in entry.tables("heads")
    )
    return Layer(
        heads, zeros(d, len(heads) * value), np.zeros(d, np.int32), _network(entry, fields)
    )


def _network(entry: Table, fields: tuple[str, ...]) -> tuple[Affine, ...]:
    if entry.entries.get("neurons") is None:
        return ()
    affines, width = [], len(fields)
    for names in (*entry.text_lists("neurons"), fields):
        affines.append(_affine(names, width))
        width = len(names)
    return tuple(affines)


def _affine(names: tuple[str, ...], width: int) -> Affine:
    return Affine(zeros(len(names), width), np.zeros(len(names), np.int32), names)


def _layout(entry: Table) -> Layout:
    lengths = entry.table("lengths")
    return Layout(
        construction=entry.text("construction"),
        levels=entry.integer("levels", 0, MOST),
        base=entry.integer("base", 0, MOST),
        capacity=entry.integer("capacity", 0, 1 << 62),
        lengths={rule: lengths.integer(rule, 1, MOST) for rule in lengths.entries},
    )


def _prompt(entry: Table) -> Prompt:
    return Prompt(
        receivers=entry.texts("receivers"),
        start=entry.text("start"),
        symbols=entry.table("symbols").mapping(),
        fill=entry.table("fill").mapping(),
        parity=entry.text("parity"),
    )


def _check_weights(weights: TransformerWeights, directory: Path) -> None:
    """The first fault of the weights, placed in the file that has it."""
    for fault in verify(weights)[:1]:
        expected = fault.expected or "sound weights"
        _refuse(directory / PARAMETERS, fault.what, expected, fault.got or "others")


def _check_consistent(bundle: Bundle, config: Table) -> None:
    """What the configuration says twice must agree, and every prompt symbol must be a token."""
    layout, shapes = config.table("layout"), config.table("shapes")
    said: Mapping[str, object] = {**layout.entries, **shapes.entries}
    true: Mapping[str, object] = {
        "offsets": list(bundle.offsets),
        "window": bundle.window,
        "d_model": len(bundle.weights.fields),
        "layers": len(bundle.weights.layers),
    }
    for name, expected in true.items():
        if said.get(name) != expected:
            _refuse(config.path, f"wrong {name}", expected, said.get(name))
    names = [factor.name for factor in bundle.weights.factors]
    for name in (*bundle.prompt.receivers, bundle.prompt.parity):
        if name not in names:
            _refuse(config.path, "the prompt names a factor that a token lacks", names, name)
    prompt_tokens(bundle.prompt, bundle.weights.factors, tuple(bundle.prompt.symbols))


def _refuse(path: Path, what: str, expected: object, got: object) -> NoReturn:
    shown = quoted(got) if isinstance(got, str) else quoted(str(got))[1:-1]
    remedy = "compile the machine again"
    raise TapeformerError(Fault(what, SourceLocation(str(path)), str(expected), shown, remedy))
