"""Few rows in which each two choices of two axes meet: a covering array, made greedily and always the same."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

Row = dict[str, Any]
TRIES = 30


def pairwise(
    axes: Mapping[str, Sequence[Any]], allows: Callable[[Row], bool] = lambda _: True
) -> Iterator[Row]:
    """Yield rows until every two choices that a row allows have met; `allows` is also asked of parts of rows."""
    rng, names = random.Random("pairs"), [*axes]  # noqa: S311  no secret
    places = {name: range(len(values)) for name, values in axes.items()}

    def chosen(row: Mapping[str, int]) -> Row:
        return {name: axes[name][place] for name, place in row.items()}

    left = {
        pair
        for one, other in itertools.combinations(names, 2)
        for pair in itertools.product(_of(one, places), _of(other, places))
        if allows(chosen(dict(pair)))
    }
    while left:
        best: dict[str, int] = {}
        met: set[Any] = set()
        first = rng.choice(sorted(left))
        for _ in range(TRIES):
            row = {name: rng.choice(places[name]) for name in names} | dict(first)
            pairs = {*itertools.combinations(row.items(), 2)} & left
            if len(pairs) > len(met) and allows(chosen(row)):
                best, met = row, pairs
        left -= met or {first}  # three choices may exclude one another where each two do not
        if best:
            yield chosen(best)


def _of(name: str, places: Mapping[str, range]) -> list[tuple[str, int]]:
    return [(name, place) for place in places[name]]
