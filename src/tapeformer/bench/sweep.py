"""A sweep: the same measurement at many points, in this process or by the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tapeformer.workers import Where, in_order, pool_at


@dataclass(frozen=True)
class Measurement:
    """The task of a sweep: a function of this package, and what it is given beside a point."""

    function: Callable[..., Any]
    given: tuple[object, ...]

    def ready(self) -> Callable[[Any], Any]:
        """Return what measures a point."""
        return lambda point: self.function(point, *self.given)


def swept(
    function: Callable[..., Any], points: Iterable[Any], *given: object, cluster: str | None = None
) -> Iterator[Any]:
    """Yield what the function measures at each point, in order; `cluster` is a scheduler's address."""
    measured = Measurement(function, given)
    if cluster is None:
        yield from map(measured.ready(), points)
        return
    yield from in_order(pool_at(Where(cluster=cluster), measured), iter(points), lambda: True)
