"""An exported folder: what it will hold, whether it may be written, and writing it at once."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from tapeformer.bundle.files import folder_path
from tapeformer.bundle.record import Bundle
from tapeformer.engines.weights_to_module import AttentionMode
from tapeformer.export.module import module_for
from tapeformer.faults import Fault, SourceLocation, TapeformerError
from tapeformer.folders import written_at_once
from tapeformer.weights.count import count

Write = Callable[[Path], None]
"""Writes a large file to the path that it is given."""


@dataclass(frozen=True)
class Folder:
    """The files of an export: texts by name, and large files by name with what writes them.

    `size` is the bytes of the large ones, about.
    """

    texts: Mapping[str, str]
    size: int
    writers: Mapping[str, Write] = field(default_factory=dict)

    def write(self, path: str | os.PathLike[str], overwrite: bool) -> Path:
        """Write everything or nothing; an earlier export is replaced only with `overwrite`."""
        target = folder_path(path)
        try:
            self._check(target, overwrite)
            with written_at_once(target) as partial:
                for name, text in self.texts.items():
                    (partial / name).write_text(text, encoding="utf-8")
                for name, write in self.writers.items():
                    write(partial / name)
                    (partial / name).chmod(0o644)
        except OSError as error:
            where = SourceLocation(str(target))
            raise TapeformerError(
                Fault("the model could not be written", where, got=str(error))
            ) from error
        return target

    def described(self, bundle: Bundle, dtype: str) -> str:
        """Say what will be written, before it is."""
        parameters = count(bundle.weights).parameters
        return (
            f"{bundle.name}: {parameters:,} parameters as {dtype}, {self.size / 1e6:,.1f} MB in "
            f"{', '.join(self.writers)}, and {len(self.texts)} small files"
        )

    def _check(self, target: Path, overwrite: bool) -> None:
        known = {*self.texts, *self.writers}
        empty = not target.exists() or (target.is_dir() and not any(target.iterdir()))
        ours = target.is_dir() and {path.name for path in target.iterdir()} <= known
        if not empty and not (overwrite and ours):
            raise _taken(target, ours)
        parent = next(path for path in (target, *target.absolute().parents) if path.exists())
        free = shutil.disk_usage(parent).free
        if free < self.size:
            where, needed = SourceLocation(str(target)), f"{self.size:,} bytes free"
            raise TapeformerError(Fault("the disk is too full", where, needed, f"{free:,}"))


def parameter_file(bundle: Bundle, dtype: str, attention: AttentionMode) -> Write:
    """Return what writes the parameters, named as in the model that transformers makes."""

    def write(path: Path) -> None:
        from safetensors.torch import save_file

        state = module_for(bundle, dtype, attention).state_dict()
        named = {f"model.{name}": value for name, value in state.items()}
        save_file(named, path, metadata={"format": "pt"})

    return write


def parameter_size(bundle: Bundle, dtype: str) -> int:
    """Return the bytes of all parameters."""
    itemsize: int = getattr(torch, dtype).itemsize
    return count(bundle.weights).parameters * itemsize


def json_text(entries: Mapping[str, Any]) -> str:
    """Return a table as the text of a JSON file."""
    return json.dumps(entries, indent=1, ensure_ascii=False) + "\n"


def _taken(target: Path, ours: bool) -> TapeformerError:
    return TapeformerError(
        Fault(
            "the folder is already there",
            SourceLocation(str(target)),
            expected="no such folder, or an empty one",
            got="another export" if ours else "something that is not an export of this kind",
            remedy="choose another name, remove it first, or replace an export with overwrite=True",
        )
    )
