"""Matrix products that skip the zeros."""

from __future__ import annotations

import warnings

import numpy as np
import torch
from torch import Tensor

from tapeformer.weights.record import Affine, Integers, Matrix


class Product:
    """x -> matrix x + bias, at a cost in proportion to the nonzero entries."""

    def __init__(self, matrix: Matrix, bias: Integers | None, dtype: torch.dtype) -> None:
        height = matrix.shape[0]
        start = np.zeros(height) if bias is None else bias.astype(float)
        self.bias = torch.as_tensor(start).to(dtype)
        self.csr = _compressed(matrix, dtype) if dtype in (torch.float32, torch.float64) else None
        self.rows = torch.as_tensor(matrix.rows)
        self.columns = torch.as_tensor(matrix.columns)
        self.values = torch.as_tensor(matrix.values).to(dtype)

    def __call__(self, x: Tensor) -> Tensor:
        """The product; bfloat16 has no compressed rows, so it gathers and adds."""
        if self.csr is not None:
            return torch.addmv(self.bias, self.csr, x)
        terms = x.index_select(0, self.columns).mul_(self.values)
        return self.bias.clone().index_add_(0, self.rows, terms)


def _compressed(matrix: Matrix, dtype: torch.dtype) -> Tensor:
    """The matrix by compressed rows."""
    counts = np.bincount(matrix.rows, minlength=matrix.shape[0])
    pointers = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support")
        return torch.sparse_csr_tensor(
            torch.as_tensor(pointers),
            torch.as_tensor(matrix.columns),
            torch.as_tensor(matrix.values).to(dtype),
            size=matrix.shape,
            check_invariants=True,
        )


class Network:
    """A ReLU network of sparse products."""

    def __init__(self, affines: tuple[Affine, ...], dtype: torch.dtype) -> None:
        self.products = [Product(affine.matrix, affine.bias, dtype) for affine in affines]

    def __call__(self, x: Tensor) -> Tensor:
        """A ReLU after every affine map but the last."""
        for product in self.products[:-1]:
            x = product(x).relu_()
        return self.products[-1](x)
