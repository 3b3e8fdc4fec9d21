"""The values of all factors by number, for decoders of many inputs: equal names have one number."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tapeformer.constructions.record import Domains
from tapeformer.windows import Flags, Integers, Tokens


class ValueNames:
    """The names of values, `known` ones first; factors by their names in `reading`."""

    def __init__(
        self, reading: Mapping[str, Any], domains: Domains, known: Sequence[str] = ()
    ) -> None:
        self.factor = {name: index for index, name in enumerate(reading["factors"])}
        values = (value for domain in domains for value in domain)
        self.names = tuple(dict.fromkeys([*known, *values]))
        self.number = {name: index for index, name in enumerate(self.names)}
        self.domains = domains
        self._number_of = np.zeros((len(domains), max(map(len, domains))), np.int64)
        for factor, domain in enumerate(domains):
            self._number_of[factor, : len(domain)] = [self.number[value] for value in domain]

    def factors(self, names: Sequence[str]) -> Integers:
        """Return factors by their names."""
        return np.array([self.factor[name] for name in names], np.int64)

    def at(self, tokens: Tokens, factors: Integers | int) -> Integers:
        """Return the numbers of the values that tokens have; all broadcast."""
        found: Integers = self._number_of[factors, tokens.values(factors)]
        return found

    def where(self, holds: Callable[[str], bool]) -> Flags:
        """Say of each name whether something holds."""
        return np.array([holds(name) for name in self.names], bool)

    def changed(self, change: Callable[[str], str]) -> Integers:
        """Return the number of each name's changed form; of a name that is not known, its own."""
        forms = (self.number.get(change(name)) for name in self.names)
        return np.array([own if form is None else form for own, form in enumerate(forms)], np.int64)
