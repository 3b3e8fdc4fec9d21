"""Models in other people's tools: PyTorch, Hugging Face, ONNX, TransformerLens; and their role table.

Functions that need packages which a plain install leaves out say which install brings them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tapeformer.export.models import Model, loaded
from tapeformer.export.role_scores import RoleScore, fetching_heads, rule_neurons, score_roles
from tapeformer.export.roles import Role, roles, roles_text
from tapeformer.export.targets import TARGETS, target
from tapeformer.extras import require

if TYPE_CHECKING:
    from pathlib import Path

    import torch

    from tapeformer.engines.transformer import Transformer
    from tapeformer.engines.weights_to_module import AttentionMode
    from tapeformer.export.hooked_tapeformer import HookedTapeformer

__all__ = [
    "TARGETS",
    "Role",
    "RoleScore",
    "fetching_heads",
    "hooked_module",
    "register_bridge",
    "roles",
    "roles_text",
    "rule_neurons",
    "save",
    "save_huggingface",
    "score_roles",
    "torch_module",
]


def torch_module(
    model: Model,
    *,
    dtype: str | torch.dtype = "float32",
    attention: AttentionMode = "scores",
    sparse: bool = False,
) -> Transformer:
    """Return a model as a PyTorch module: tokens (B, T, K) in, logits (B, T, K, V) out.

    `module(tokens)` computes a whole sequence; with `cache=module.new_cache()` it goes step by
    step. `attention="offsets"` reads each head's look-back without scoring the window, for long
    sequences; `sparse` multiplies by the nonzero weights only, without gradients for them.
    """
    require("torch", extra="torch", what="the PyTorch module")
    from tapeformer.export.module import module_for

    return module_for(loaded(model), dtype, attention, sparse)


def hooked_module(model: Model, *, dtype: str | torch.dtype = "float32") -> HookedTapeformer:
    """Return the same module with TransformerLens's hooks: `run_with_cache`, `run_with_hooks`."""
    require("transformer_lens", extra="lens", what="the module with hooks")
    from transformer_lens.hook_points import HookPoint

    from tapeformer.export.hooked_tapeformer import HookedTapeformer
    from tapeformer.export.module import module_for

    made = module_for(loaded(model), dtype, "scores", point=HookPoint, kind=HookedTapeformer)
    assert isinstance(made, HookedTapeformer)
    return made


def register_bridge() -> None:
    """Let TransformerLens's `TransformerBridge.boot_transformers` open exported folders."""
    require("transformer_lens", extra="lens", what="the bridge of TransformerLens")
    from tapeformer.export.bridge_tapeformer import register

    register()


def save(
    model: Model,
    folder: str | os.PathLike[str],
    *,
    to: str = "torch",
    dtype: str | torch.dtype = "float32",
    attention: AttentionMode = "scores",
    overwrite: bool = False,
    tell: Callable[[str], None] | None = None,
) -> Path:
    """Write a folder for `to`: torch, huggingface, onnx or transformer-lens.

    No folder needs tapeformer to be opened; each has a page that shows how. `tell` is given the
    sizes before anything is written.
    """
    chosen = target(to)
    for package in chosen.packages:
        require(package, extra=chosen.extra, what=f"the export to {to}")
    from tapeformer.export.module import dtype_name

    make: Any = getattr(import_module(chosen.module), chosen.function)
    bundle = loaded(model)
    made = make(bundle, dtype_name(dtype), attention)
    if tell is not None:
        tell(made.described(bundle, dtype_name(dtype)))
    written: Path = made.write(folder, overwrite)
    return written


def save_huggingface(
    model: Model,
    folder: str | os.PathLike[str],
    *,
    dtype: str | torch.dtype = "float32",
    attention: AttentionMode = "scores",
    overwrite: bool = False,
) -> Path:
    """Write a folder that `AutoModelForCausalLM` and `AutoTokenizer` open, without tapeformer.

    Both need `trust_remote_code=True`: the folder carries the source of the model.
    """
    options: Any = {"dtype": dtype, "attention": attention, "overwrite": overwrite}
    return save(model, folder, to="huggingface", **options)
