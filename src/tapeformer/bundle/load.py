"""Loading a bundle: everything is checked, nothing is executed, sizes are bounded by the files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from tapeformer.arguments import check_flag
from tapeformer.bundle.check import Config, LayerNames, checked_config
from tapeformer.bundle.files import (
    CONFIG,
    MACHINE,
    PARAMETERS,
    digest,
    folder_path,
    read_files,
    refuse,
    text_of,
)
from tapeformer.bundle.record import Bundle
from tapeformer.bundle.tensors import with_stored
from tapeformer.faults import Fault, Severity, SourceLocation, TapeformerError
from tapeformer.weights.matrices import zeros
from tapeformer.weights.record import Affine, Head, Layer, TransformerWeights
from tapeformer.weights.verify import verify


def load_bundle(folder: str | os.PathLike[str], *, allow_modified: bool = False) -> Bundle:
    """Return the bundle in a folder; with `allow_modified` its parameters may differ from the hash."""
    check_flag("allow_modified", allow_modified)
    path = folder_path(folder)
    return bundle_from(read_files(path), path, allow_modified=allow_modified)


def bundle_from(
    contents: Mapping[str, bytes], path: Path, *, allow_modified: bool = False
) -> Bundle:
    """Return the bundle of the files' contents, with all checks; `path` is for messages."""
    config = checked_config(contents[CONFIG], path / CONFIG)
    _check_hash(path / MACHINE, contents[MACHINE], config.hashes["machine"])
    modified = digest(contents[PARAMETERS]) != config.hashes["parameters"]
    if modified and not allow_modified:
        _check_hash(path / PARAMETERS, contents[PARAMETERS], config.hashes["parameters"])
    weights = with_stored(_skeleton(config), contents[PARAMETERS], path / PARAMETERS)
    _check_weights(weights, path)
    return Bundle(
        name=config.name,
        weights=weights,
        layout=config.layout,
        prompt=config.prompt,
        answer=config.answer,
        machine=text_of(contents[MACHINE], path / MACHINE),
        modified=modified,
        rules=config.rules,
        learned=config.learned,
    )


def modified_warning(folder: str | os.PathLike[str]) -> Fault:
    """Return the warning for a bundle with other parameters that is run all the same."""
    return Fault(
        "the parameters are not those that were compiled",
        SourceLocation(str(folder_path(folder) / PARAMETERS)),
        severity=Severity.WARNING,
    )


def _check_hash(path: Path, content: bytes, expected: str) -> None:
    if digest(content) != expected:
        remedy = "compile again, or run with allow_modified=True"
        raise TapeformerError(
            Fault(
                "the file was altered or truncated",
                SourceLocation(str(path)),
                expected=f"SHA-256 {expected}",
                got=digest(content),
                remedy=remedy if path.name == PARAMETERS else "compile again",
            )
        )


def _skeleton(config: Config) -> TransformerWeights:
    """Return the model with all names and shapes, every parameter zero."""
    d = len(config.fields)
    return TransformerWeights(
        factors=config.factors,
        fields=config.fields,
        embeddings=tuple(zeros(len(factor.values), d) for factor in config.factors),
        layers=tuple(_layer(names, config) for names in config.layers),
        outputs=tuple(_affine(factor.values, d) for factor in config.factors),
        position_rules=config.position_rules,
        key_width=config.key_width,
        value_width=config.value_width,
        layer_norm=config.layer_norm,
    )


def _layer(names: LayerNames, config: Config) -> Layer:
    d, key, value = len(config.fields), config.key_width, config.value_width
    heads = tuple(
        Head(name, position, zeros(key, d), zeros(key, d), zeros(value, d))
        for name, position in names.heads
    )
    mix, bias = zeros(d, len(heads) * value), np.zeros(d, np.int32)
    return Layer(heads, mix, bias, _network(names, config.fields))


def _network(names: LayerNames, fields: tuple[str, ...]) -> tuple[Affine, ...]:
    if names.neurons is None:
        return ()
    affines, width = [], len(fields)
    for rows in (*names.neurons, fields):
        affines.append(_affine(rows, width))
        width = len(rows)
    return tuple(affines)


def _affine(names: tuple[str, ...], width: int) -> Affine:
    return Affine(zeros(len(names), width), np.zeros(len(names), np.int32), names)


def _check_weights(weights: TransformerWeights, folder: Path) -> None:
    """Raise the first fault of the weights, placed in the file that has it."""
    for fault in verify(weights)[:1]:
        expected = fault.expected or "sound weights"
        refuse(folder / PARAMETERS, fault.what, expected, fault.got or "others")
