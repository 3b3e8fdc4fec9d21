"""A model on disk: `model.safetensors`, `config.json`, `machine.yaml`.

The first holds the learnable parameters only and nothing that depends on n, so it is byte for byte
the same for every layout; what depends on n stands in `config.json`, with every name.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

from tapeformer import __version__
from tapeformer.bundle.record import Bundle
from tapeformer.bundle.tensors import parameter_bytes
from tapeformer.faults import Fault, SourceLocation, TapeformerError
from tapeformer.weights.record import Layer, TransformerWeights
from tapeformer.weights.tokens import Prompt
from tapeformer.weights.verify import checked

PARAMETERS, CONFIG, MACHINE = "model.safetensors", "config.json", "machine.yaml"
FORMAT, VERSION = "tapeformer-bundle", 2


def save_bundle(bundle: Bundle, directory: Path, *, overwrite: bool = False) -> None:
    """Writes a bundle at once or not at all; another bundle is replaced only if told so."""
    checked(bundle.weights)
    _check_target(directory, overwrite)
    files = bundle_files(bundle)
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{directory.name}.", dir=directory.parent))
        try:
            _write(partial, files)
            _put_in_place(partial, directory)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    except OSError as error:
        raise TapeformerError(
            Fault("the bundle could not be written", SourceLocation(str(directory)), got=str(error))
        ) from error


def bundle_files(bundle: Bundle) -> dict[str, bytes]:
    """The content of each file of a bundle; equal bundles give equal bytes."""
    parameters = parameter_bytes(bundle.weights)
    machine = bundle.machine.encode("utf-8")
    hashes = _hashes(bundle, parameters, machine)
    config = {**_config(bundle), "sha256": hashes}
    text = json.dumps(config, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    return {PARAMETERS: parameters, CONFIG: text.encode("utf-8"), MACHINE: machine}


def model_digest(bundle: Bundle) -> str:
    """One hash for all of a bundle: the one that `config.json` has for itself."""
    machine = bundle.machine.encode("utf-8")
    return _hashes(bundle, parameter_bytes(bundle.weights), machine)["config"]


def _hashes(bundle: Bundle, parameters: bytes, machine: bytes) -> dict[str, str]:
    """The hash of each file; that of the configuration covers the other two."""
    hashes = {"parameters": digest(parameters), "machine": digest(machine)}
    return {**hashes, "config": digest(canonical({**_config(bundle), "sha256": hashes}))}


def digest(content: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return sha256(content).hexdigest()


def canonical(config: Mapping[str, object]) -> bytes:
    """A configuration as the bytes that are hashed."""
    return json.dumps(config, sort_keys=True, separators=(",", ":")).encode("utf-8")


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
        "shapes": shapes(weights),
        "layer_norm": weights.layer_norm,
        "prompt": _prompt_config(bundle.prompt),
        "answer": dict(bundle.answer),
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
    """Names of heads and neurons; without a network there is nothing to name."""
    hidden = [affine.names for affine in layer.feed_forward[:-1]]
    return {
        "heads": [{"name": head.name, "position": head.position} for head in layer.heads],
        "neurons": hidden if layer.feed_forward else None,
    }


def shapes(weights: TransformerWeights) -> dict[str, int]:
    """The widths that names do not tell, and those that they do."""
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
                "the bundle's directory is already there",
                SourceLocation(str(directory)),
                expected="no such directory, or an empty one",
                got="another bundle" if known else "something that is not a bundle",
                remedy="choose another name, or remove it first",
            )
        )


def _write(directory: Path, files: Mapping[str, bytes]) -> None:
    for name, content in files.items():
        with (directory / name).open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    directory.chmod(0o755)


def _put_in_place(partial: Path, directory: Path) -> None:
    """Renames the finished directory; an old bundle steps aside first and is then removed."""
    if not directory.exists() or not any(directory.iterdir()):
        partial.rename(directory)
        return
    aside = Path(tempfile.mkdtemp(prefix=f".{directory.name}.old.", dir=directory.parent))
    directory.rename(aside)
    try:
        partial.rename(directory)
    except OSError:
        aside.rename(directory)
        raise
    shutil.rmtree(aside, ignore_errors=True)
