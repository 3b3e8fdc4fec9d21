"""Points, boxes and curves of a diagram."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Point:
    """A point of the picture; y grows downwards."""

    x: float
    y: float

    def polar(self, angle: float, distance: float) -> Point:
        """Return the point at an angle and a distance from here."""
        return Point(self.x + distance * math.cos(angle), self.y + distance * math.sin(angle))

    def angle_to(self, other: Point) -> float:
        """Return the direction of another point."""
        return math.atan2(other.y - self.y, other.x - self.x)

    def distance_to(self, other: Point) -> float:
        """Return the distance of another point."""
        return math.dist((self.x, self.y), (other.x, other.y))

    def halfway(self, other: Point) -> Point:
        """Return the point in the middle between here and another."""
        return Point((self.x + other.x) / 2, (self.y + other.y) / 2)

    def __str__(self) -> str:
        return f"{self.x:.1f} {self.y:.1f}"


@dataclass(frozen=True)
class Box:
    """A rectangle around a centre, by half of its width and of its height."""

    centre: Point
    across: float
    down: float

    def overlaps(self, other: Box, gap: float = 0.0) -> bool:
        """Return whether two boxes are closer than a gap."""
        apart_x = abs(self.centre.x - other.centre.x) - self.across - other.across
        apart_y = abs(self.centre.y - other.centre.y) - self.down - other.down
        return apart_x < gap and apart_y < gap

    def holds(self, point: Point) -> bool:
        """Return whether a point is inside."""
        inside = abs(point.x - self.centre.x) <= self.across
        return inside and abs(point.y - self.centre.y) <= self.down

    def edge(self, angle: float, gap: float = 0.0) -> Point:
        """Return the point where a ray from the centre leaves the box, or a gap further out."""
        ways = [(self.across, abs(math.cos(angle))), (self.down, abs(math.sin(angle)))]
        distance = min(half / part for half, part in ways if part > 1e-9)
        return self.centre.polar(angle, distance + gap)

    def beyond(self, point: Point, angle: float) -> Box:
        """Return the box moved so that it begins at a point and lies beyond it in a direction."""
        x = point.x + self.across * math.cos(angle)
        return Box(Point(x, point.y + self.down * math.sin(angle)), self.across, self.down)


@dataclass(frozen=True)
class Curve:
    """A Bézier curve, quadratic or cubic, from its first to its last point."""

    points: tuple[Point, ...]

    def at(self, part: float) -> Point:
        """Return the point at a part of the way, from 0 to 1."""
        points = self.points
        while len(points) > 1:
            pairs = pairwise(points)
            points = tuple(
                Point(a.x + (b.x - a.x) * part, a.y + (b.y - a.y) * part) for a, b in pairs
            )
        return points[0]

    def samples(self, count: int = 24) -> Iterator[Point]:
        """Yield points along the curve, its ends included."""
        return (self.at(number / count) for number in range(count + 1))

    @property
    def path(self) -> str:
        """Return the curve as the data of an SVG path."""
        first, *others = self.points
        letter = {1: "L", 2: "Q", 3: "C"}[len(others)]
        return f"M{first} {letter}{' '.join(map(str, others))}"
