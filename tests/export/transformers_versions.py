"""Exported folders in other environments: `python -m tests.export.transformers_versions PYTHON...`.

Each PYTHON has torch and some version of transformers, and no tapeformer. Three machines (one with
two tapes), 20 words each, must give the chain of thought of the native engine, token by token.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

from safetensors.torch import save_file

import tapeformer as tf
from tests.export import open_folders
from tests.export.models import chain_of

MACHINES = {
    "palindrome": ("ab", 4),
    "palindrome_two_tapes": ("ab", 4),
    "binary_increment": ("10", 4),
}
"""The symbols of the words, and the levels."""


def write_folder(data: Path, name: str, levels: int, words: list[str]) -> None:
    """Export a machine, and beside the folder the chains of thought of some words."""
    bundle = tf.compile_machine(tf.gallery_machine(name), tf.CompileOptions(levels=levels))
    tf.export.save_huggingface(bundle, data / name)
    made = {word: chain_of(bundle, word, engine="native").tokens[0] for word in words}
    chains = {f"word:{word}": tokens.contiguous() for word, tokens in made.items()}
    save_file(chains, data / f"{name}.chains")


def _words(symbols: str) -> list[str]:
    """Return words of all lengths up to 6, short and long ones in turn."""
    words = ["".join(w) for length in range(7) for w in product(symbols, repeat=length)]
    return [word for pair in zip(words, reversed(words), strict=True) for word in pair]


def main(interpreters: list[str]) -> int:
    """Check every interpreter; return how many failed."""
    with tempfile.TemporaryDirectory() as name:
        for machine, (symbols, levels) in MACHINES.items():
            write_folder(Path(name), machine, levels, _words(symbols)[:20])
        script = str(Path(open_folders.__file__).absolute())
        runs = [subprocess.run([python, script, name], cwd=name) for python in interpreters]
    return sum(run.returncode != 0 for run in runs)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
