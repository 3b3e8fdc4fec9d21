"""A model on disk: `model.safetensors`, `config.json`, `machine.yaml`.

The first holds the learnable parameters only. At a fixed number of levels it is byte for byte the
same for every base above 2, and so for every space; in base 2 some heads may coincide and are
merged. The offsets stand in `config.json`, with every name.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path

from tapeformer import __version__
from tapeformer.bundle.check import checked_config
from tapeformer.bundle.files import (
    CONFIG,
    FORMAT,
    MACHINE,
    PARAMETERS,
    VERSION,
    config_digest,
    digest,
    folder_path,
)
from tapeformer.bundle.record import Bundle
from tapeformer.bundle.tensors import parameter_bytes
from tapeformer.faults import Fault, SourceLocation, TapeformerError, described
from tapeformer.folders import written_at_once
from tapeformer.weights.record import Layer, TransformerWeights
from tapeformer.weights.tokens import Prompt
from tapeformer.weights.verify import checked


def save_bundle(bundle: Bundle, folder: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write a bundle at once or not at all; another bundle is replaced only with `overwrite`."""
    if not isinstance(bundle, Bundle):
        got, remedy = described(bundle), "compile one with tf.compile_machine(machine)"
        raise TapeformerError(Fault("not a model", expected="a tf.Bundle", got=got, remedy=remedy))
    path = folder_path(folder)
    files = _checked_files(bundle, path)
    try:
        _check_target(path, overwrite)
        with written_at_once(path) as partial:
            _write(partial, files)
    except OSError as error:
        raise TapeformerError(
            Fault("the bundle could not be written", SourceLocation(str(path)), got=str(error))
        ) from error


def _checked_files(bundle: Bundle, path: Path) -> dict[str, bytes]:
    """Return the files, after the check that loading them makes: what is written can be loaded."""
    checked(bundle.weights)
    try:
        files = bundle_files(bundle)
        checked_config(files[CONFIG], path / CONFIG)
    except TapeformerError as error:
        remedy = "change the model before saving it"
        raise TapeformerError(replace(fault, remedy=remedy) for fault in error.faults) from None
    except (TypeError, ValueError, RecursionError) as error:
        raise TapeformerError(
            Fault("the model cannot be written as JSON", SourceLocation(str(path)), got=str(error))
        ) from None
    return files


def bundle_files(bundle: Bundle) -> dict[str, bytes]:
    """Return the content of each file of a bundle; equal bundles give equal bytes."""
    parameters, machine = parameter_bytes(bundle.weights), bundle.machine.encode("utf-8")
    config = {**_config(bundle), "sha256": _hashes(bundle, parameters, machine)}
    text = json.dumps(config, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    return {PARAMETERS: parameters, CONFIG: text.encode("utf-8"), MACHINE: machine}


def model_digest(bundle: Bundle) -> str:
    """Return one hash for all of a bundle: the one that `config.json` has for itself."""
    machine = bundle.machine.encode("utf-8")
    return _hashes(bundle, parameter_bytes(bundle.weights), machine)["config"]


def _hashes(bundle: Bundle, parameters: bytes, machine: bytes) -> dict[str, str]:
    """Return the hash of each file; that of the configuration covers the other two."""
    hashes = {"parameters": digest(parameters), "machine": digest(machine)}
    return {**hashes, "config": config_digest({**_config(bundle), "sha256": hashes})}


def _config(bundle: Bundle) -> dict[str, object]:
    weights = bundle.weights
    return {
        "format": FORMAT,
        "version": VERSION,
        "tapeformer": __version__,
        "name": bundle.name,
        "layout": _layout_config(bundle),
        "factors": [asdict(factor) for factor in weights.factors],
        "fields": weights.fields,
        "position_rules": weights.position_rules,
        "layers": [_layer_config(layer) for layer in weights.layers],
        "shapes": _shapes_config(weights),
        "layer_norm": weights.layer_norm,
        "prompt": _prompt_config(bundle.prompt),
        "answer": dict(bundle.answer),
        "rules": [asdict(rule) for rule in bundle.rules],
        **({"learned": bundle.learned} if bundle.learned else {}),
    }


def _layout_config(bundle: Bundle) -> dict[str, object]:
    layout = bundle.layout
    return {
        "construction": layout.construction,
        "levels": layout.levels,
        "base": layout.base,
        "capacity": layout.capacity,
        "lengths": dict(layout.lengths),
        "offsets": bundle.offsets,
        "window": bundle.window,
    }


def _prompt_config(prompt: Prompt) -> dict[str, object]:
    return {
        "receivers": list(prompt.receivers),
        "start": prompt.start,
        "symbols": dict(prompt.symbols),
        "fill": dict(prompt.fill),
        "parity": prompt.parity,
    }


def _layer_config(layer: Layer) -> dict[str, object]:
    """Return the names of heads and neurons; None in place of neurons without a network."""
    hidden = [affine.names for affine in layer.feed_forward[:-1]]
    return {
        "heads": [{"name": head.name, "position": head.position} for head in layer.heads],
        "neurons": hidden if layer.feed_forward else None,
    }


def _shapes_config(weights: TransformerWeights) -> dict[str, int]:
    """Return the widths of heads, and what the names imply."""
    return {
        "d_model": len(weights.fields),
        "key_width": weights.key_width,
        "value_width": weights.value_width,
        "layers": len(weights.layers),
    }


def _check_target(directory: Path, overwrite: bool) -> None:
    if not directory.exists() or (directory.is_dir() and not any(directory.iterdir())):
        return
    known = directory.is_dir() and {path.name for path in directory.iterdir()} <= {
        PARAMETERS,
        CONFIG,
        MACHINE,
    }
    if not (overwrite and known):
        raise TapeformerError(
            Fault(
                "the bundle's folder is already there",
                SourceLocation(str(directory)),
                expected="no such folder, or an empty one",
                got="another bundle" if known else "something that is not a bundle",
                remedy="choose another name, remove it first, or replace a bundle with overwrite=True",
            )
        )


def _write(directory: Path, files: Mapping[str, bytes]) -> None:
    for name, content in files.items():
        with (directory / name).open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
