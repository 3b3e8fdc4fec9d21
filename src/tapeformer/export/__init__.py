"""Models in other people's tools: PyTorch, Hugging Face, ONNX, TransformerLens.

Each function needs packages that a plain install leaves out; where they are missing, it says which
install brings them.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

from tapeformer.bundle.record import Bundle
from tapeformer.extras import require

if TYPE_CHECKING:
    from pathlib import Path

    import torch

    from tapeformer.engines.transformer import Transformer

__all__ = ["save_huggingface", "torch_module"]

Model = Bundle | str | os.PathLike[str]
"""A compiled model, or the folder of one."""


def torch_module(
    model: Model,
    *,
    dtype: str | torch.dtype = "float32",
    attention: Literal["scores", "offsets"] = "scores",
    sparse: bool = False,
) -> Transformer:
    """Return a model as a PyTorch module: tokens (B, T, K) in, logits (B, T, K, V) out.

    `module(tokens)` computes a whole sequence; with `cache=module.new_cache()` it goes step by
    step. `attention="offsets"` reads each head's look-back without scoring the window, for long
    sequences; `sparse` multiplies by the nonzero weights only, without gradients for them.
    """
    require("torch", extra="torch", what="the PyTorch module")
    from tapeformer.export.module import loaded, module_for

    return module_for(loaded(model), dtype, attention, sparse)


def save_huggingface(
    model: Model,
    folder: str | os.PathLike[str],
    *,
    dtype: str | torch.dtype = "float32",
    attention: Literal["scores", "offsets"] = "scores",
    overwrite: bool = False,
) -> Path:
    """Write a folder that `AutoModelForCausalLM` and `AutoTokenizer` open, without tapeformer.

    Both need `trust_remote_code=True`: the folder carries the source of the model.
    """
    require("torch", extra="huggingface", what="the export to Hugging Face")
    from tapeformer.export.bundle_to_huggingface import huggingface_folder
    from tapeformer.export.module import dtype_name, loaded

    made = huggingface_folder(loaded(model), dtype_name(dtype), attention)
    return made.write(folder, overwrite)
