"""Affine forms over the bits of a model, and what its matrices turn them into."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tapeformer.weights.record import Integers, Matrix

Term = tuple[int, int]
"""A node and its coefficient."""


class AffineForm(NamedTuple):
    """constant + the sum of coefficient * node, over distinct nodes in increasing order."""

    constant: int = 0
    terms: tuple[Term, ...] = ()


ZERO = AffineForm()


def linear_combination(constant: int, parts: Sequence[tuple[int, AffineForm]]) -> AffineForm:
    """Return constant + the sum of factor * form."""
    if len(parts) == 1 and constant == 0 and parts[0][0] == 1:
        return parts[0][1]
    totals: dict[int, int] = {}
    for factor, form in parts:
        constant += factor * form.constant
        for node, coefficient in form.terms:
            totals[node] = totals.get(node, 0) + factor * coefficient
    return AffineForm(constant, tuple([term for term in sorted(totals.items()) if term[1]]))


def affine_map(
    matrix: Matrix, bias: Integers | None, forms: Sequence[AffineForm]
) -> list[AffineForm]:
    """Return matrix * forms + bias, row by row."""
    parts: list[list[tuple[int, AffineForm]]] = [[] for _ in range(matrix.shape[0])]
    entries = (matrix.rows.tolist(), matrix.columns.tolist(), matrix.values.tolist())
    for row, column, value in zip(*entries, strict=True):
        if forms[column] is not ZERO:
            parts[row].append((value, forms[column]))
    constants = [0] * len(parts) if bias is None else bias.tolist()
    return [
        linear_combination(constant, part) if constant or part else ZERO
        for constant, part in zip(constants, parts, strict=True)
    ]


def vector_sum(left: Sequence[AffineForm], right: Sequence[AffineForm]) -> list[AffineForm]:
    """Return the sums of two vectors of forms."""
    return [
        a if b is ZERO else b if a is ZERO else linear_combination(0, [(1, a), (1, b)])
        for a, b in zip(left, right, strict=True)
    ]


NodeGroup = tuple[int, ...]
"""Nodes that are always read together, most likely because they are parts of one sum."""


def read_together(matrix: Matrix, forms: Sequence[AffineForm]) -> list[list[NodeGroup]]:
    """Return, for each row, the nodes read by one column or by columns equal in two or more rows."""
    entries_of: list[list[tuple[int, int]]] = [[] for _ in range(matrix.shape[1])]
    entries = (matrix.rows.tolist(), matrix.columns.tolist(), matrix.values.tolist())
    for row, column, value in zip(*entries, strict=True):
        entries_of[column].append((row, value))
    equal: dict[tuple[object, ...], list[int]] = {}
    for column, found in enumerate(entries_of):
        own = () if len(found) > 1 else (column,)
        equal.setdefault((*own, *found), []).append(column)
    groups: list[list[NodeGroup]] = [[] for _ in range(matrix.shape[0])]
    for columns in equal.values():
        nodes = {node for column in columns for node, _ in forms[column].terms}
        if len(nodes) > 1:
            for row, _ in entries_of[columns[0]]:
                groups[row].append(tuple(sorted(nodes)))
    return groups
