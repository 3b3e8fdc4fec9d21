"""A model's residual coordinates, and the maps and small networks that rows are written with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tapeformer.laboratory.coordinates import Fields, Map, Network, Row, clipped, fields, row


class Residual:
    """What a row's model is made of: networks from its coordinates and back to them."""

    def __init__(self, coordinates: Fields) -> None:
        self.fields = coordinates

    def map(self, target: Fields, *rows: Row) -> Map:
        """Return a map from the residual coordinates."""
        return Map(self.fields, target, rows)

    def added(self, *rows: Row) -> Network:
        """Return linear forms that are added to coordinates."""
        return (self.map(self.fields, *rows),)

    def linear(self, **forms: Mapping[Any, int]) -> Network:
        """Return new coordinates as linear forms; the term 1 is a bias."""
        return self.added(*_rows(forms))

    def bits(self, **forms: Mapping[Any, int]) -> Network:
        """Return new coordinates as clipped linear forms; the term 1 is a bias."""
        return self.units(fields(**dict.fromkeys(forms)), _rows(forms))

    def units(
        self, hidden: Fields, rows: Iterable[Row], out: Iterable[Row] | None = None
    ) -> Network:
        """Return one layer of clipped units; without `out` each goes to the coordinate of its name."""
        back = [row(key, {key: 1}) for key in hidden.keys] if out is None else out
        return (self.map(hidden, *rows), clipped, Map(hidden, self.fields, back))


def _rows(forms: Mapping[str, Mapping[Any, int]]) -> list[Row]:
    return [
        row(to, {key: c for key, c in form.items() if key != 1}, form.get(1, 0))
        for to, form in forms.items()
    ]
