"""BB(5) at 10 levels through `generate`: `python -m tests.export.long_generation [TOKENS]`.

The tokens must be those of the native engine, and memory must not grow but for the tokens themselves.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

import torch

import tapeformer as tf
from tests.export.models import chain_of
from tests.export.open_folders import opened


def peak() -> float:
    """Return the largest memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(tokens: int) -> None:
    """Generate a fifth of the tokens, then all of them, and compare."""
    torch.set_num_threads(1)
    options = tf.CompileOptions(levels=10)
    bundle = tf.compile_machine(tf.gallery_machine("busy_beaver_5"), options)
    known = chain_of(bundle, "", max_tokens=tokens, engine="native").tokens
    with tempfile.TemporaryDirectory() as name:
        tf.export.save_huggingface(bundle, Path(name) / "model")
        tokenizer, model = opened(Path(name) / "model")
    given = tokenizer("", return_tensors="pt")
    for count in (tokens // 5, tokens):
        started = time.perf_counter()
        ids = model.generate(**given, max_new_tokens=count)
        seconds = time.perf_counter() - started
        assert torch.equal(ids, known[:, : ids.shape[1]])
        held = ids.numel() * ids.element_size() / 2**20
        print(
            f"{count} tokens equal, {count / seconds:.0f} a second, peak {peak():.0f} MB,"
            f" of which tokens {held:.0f} MB",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
