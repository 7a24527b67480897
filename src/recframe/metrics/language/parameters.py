"""The numbers that a parameter may take, and the ranges that metrics have."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Annotated


@dataclass(frozen=True, repr=False)
class Bounds:
    """The numbers that a parameter may take, between two ends that are left out unless they are closed."""

    above: float = -math.inf
    below: float = math.inf
    closed: bool = False

    def __contains__(self, value: float) -> bool:
        return self.above < value < self.below or (
            self.closed and value in (self.above, self.below)
        )

    def __repr__(self) -> str:
        given = {one.name: getattr(self, one.name) for one in fields(self)}
        told = [
            f"{one.name}={given[one.name]!r}"
            for one in fields(self)
            if given[one.name] != one.default
        ]
        return f"Bounds({', '.join(told)})"

    def __str__(self) -> str:
        if self.closed:
            return f"a number from {self.above:g} to {self.below:g}"
        ends = [f"above {self.above:g}"] * (self.above > -math.inf) + [f"below {self.below:g}"] * (
            self.below < math.inf
        )
        return "a number " + " and ".join(ends)


Positive = Annotated[float, Bounds(above=0)]
Share = Annotated[float, Bounds(above=0, below=1)]
Closed = Annotated[float, Bounds(0, 1, closed=True)]
"""A share that may be nothing, or all."""
LogBase = Annotated[float, Bounds(above=1)]
UNIT, COUNT = (0.0, 1.0), (0.0, math.inf)
"""The ranges of shares and of counts."""
