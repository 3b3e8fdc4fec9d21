"""A bundle as a PyTorch module: which numbers hold it exactly, and its weights dense or sparse."""

from __future__ import annotations

import warnings
from typing import get_args

import torch
from torch import Tensor, nn

from tapeformer.bundle.record import Bundle
from tapeformer.engines.exact import EXACT, check_exact
from tapeformer.engines.stream import check_choice
from tapeformer.engines.transformer import Point, Transformer
from tapeformer.engines.weights_to_module import AttentionMode, module_of, shape_of
from tapeformer.faults import Fault, TapeformerError
from tapeformer.weights.bounds import sum_bounds


def module_for(
    bundle: Bundle,
    dtype: str | torch.dtype,
    attention: AttentionMode,
    sparse: bool = False,
    point: Point = nn.Identity,
    kind: type[Transformer] = Transformer,
) -> Transformer:
    """Return the module of a bundle; a type that would round a parameter is refused."""
    check_choice("attention", attention, get_args(AttentionMode))
    name = dtype_name(dtype)
    check_exact(bundle.weights, sum_bounds(bundle.weights), name)
    _check_learned(bundle, name)
    shape = shape_of(bundle.weights, bundle.offsets, bundle.window)
    module = module_of(bundle.weights, shape, getattr(torch, name), attention, point, kind)
    return with_sparse_weights(module) if sparse else module


def _check_learned(bundle: Bundle, dtype: str) -> None:
    """Refuse a type that would round the large sums of a learned model."""
    if bundle.learned and dtype != "float64":
        what = f"the sums of a learned model are rounded in {dtype}"
        remedy = "use dtype='float64'"
        raise TapeformerError(Fault(what, expected="float64", got=dtype, remedy=remedy))


def dtype_name(dtype: str | torch.dtype) -> str:
    """Return the name of a floating-point type, which a caller may give as the type itself."""
    name = str(dtype).removeprefix("torch.")
    check_choice("dtype", name, tuple(EXACT))
    return name


def exact_dtype(bundle: Bundle) -> str:
    """Return the smallest type that holds every sum of a model exactly, whatever its tokens are."""
    sums = sum_bounds(bundle.weights).sums
    return next((name for name in ("bfloat16", "float32") if sums <= EXACT[name]), "float64")


class SparseLinear(nn.Module):
    """A linear map that multiplies by the nonzero weights only (compressed sparse rows)."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        with warnings.catch_warnings(action="ignore"):  # PyTorch calls the format new
            self.register_buffer("weight", linear.weight.detach().to_sparse_csr())
        self.bias, self.out_features = linear.bias, linear.out_features

    def forward(self, x: Tensor) -> Tensor:
        """Return weight x + bias for every position."""
        flat = x.reshape(-1, x.shape[-1]).T.contiguous()
        product = torch.mm(self.get_buffer("weight"), flat).T
        mapped = product.reshape(*x.shape[:-1], self.out_features)
        return mapped if self.bias is None else mapped + self.bias


def with_sparse_weights(module: Transformer) -> Transformer:
    """Replace every linear map of the blocks by a sparse one."""
    for block in module.layers:
        for name in ("q", "k", "v", "o"):
            setattr(block.attn, name, SparseLinear(getattr(block.attn, name)))
        sparse = [SparseLinear(part) for part in block.mlp.linears if isinstance(part, nn.Linear)]
        block.mlp.linears = nn.ModuleList(sparse)
    return module
