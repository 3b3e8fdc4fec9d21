"""Linear forms over the bits of a model, and the forms that an affine map makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tapeformer.engines.logic.mutual_exclusion import Term
from tapeformer.weights.record import Integers, Matrix


@dataclass(frozen=True)
class Form:
    """constant + the sum of coefficient * node, over different nodes in order."""

    constant: int = 0
    terms: tuple[Term, ...] = ()


ZERO = Form()


def combined(constant: int, parts: Sequence[tuple[int, Form]]) -> Form:
    """The sum of multiples of forms."""
    if len(parts) == 1 and constant == 0 and parts[0][0] == 1:
        return parts[0][1]
    totals: dict[int, int] = {}
    for times, form in parts:
        constant += times * form.constant
        for node, coefficient in form.terms:
            totals[node] = totals.get(node, 0) + times * coefficient
    return Form(constant, tuple(sorted((n, c) for n, c in totals.items() if c)))


def applied(matrix: Matrix, bias: Integers | None, forms: Sequence[Form]) -> list[Form]:
    """matrix * forms + bias, row by row."""
    parts: list[list[tuple[int, Form]]] = [[] for _ in range(matrix.shape[0])]
    entries = (matrix.rows.tolist(), matrix.columns.tolist(), matrix.values.tolist())
    for row, column, value in zip(*entries, strict=True):
        if forms[column] is not ZERO:
            parts[row].append((value, forms[column]))
    constants = [0] * len(parts) if bias is None else bias.tolist()
    return [
        combined(constant, part) if constant or part else ZERO
        for constant, part in zip(constants, parts, strict=True)
    ]


def added(left: Sequence[Form], right: Sequence[Form]) -> list[Form]:
    """The sums of two vectors of forms."""
    return [
        a if b is ZERO else b if a is ZERO else combined(0, [(1, a), (1, b)])
        for a, b in zip(left, right, strict=True)
    ]


Bundle = tuple[int, ...]
"""Nodes that are always read together: most likely parts of one sum."""


def bundles(matrix: Matrix, forms: Sequence[Form]) -> list[list[Bundle]]:
    """For each row the nodes that come by one column, or by columns equal in two rows or more."""
    uses: list[list[tuple[int, int]]] = [[] for _ in range(matrix.shape[1])]
    entries = (matrix.rows.tolist(), matrix.columns.tolist(), matrix.values.tolist())
    for row, column, value in zip(*entries, strict=True):
        uses[column].append((row, value))
    classes: dict[tuple[object, ...], list[int]] = {}
    for column, use in enumerate(uses):
        own = () if len(use) > 1 else (column,)
        classes.setdefault((*own, *use), []).append(column)
    found: list[list[Bundle]] = [[] for _ in range(matrix.shape[0])]
    for columns in classes.values():
        nodes = {node for column in columns for node, _ in forms[column].terms}
        if len(nodes) > 1:
            for row, _ in uses[columns[0]]:
                found[row].append(tuple(sorted(nodes)))
    return found
