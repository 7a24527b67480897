"""`rec.pareto`: models by several metrics at once."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import ge
from typing import Any, NamedTuple

import polars as pl

from recframe.errors import RecframeError, shown
from recframe.evaluation.jackknife import reason_without
from recframe.evaluation.required_columns import is_of_segment
from recframe.frames.dtypes import as_text
from recframe.frames.options import plain_number
from recframe.metrics.language import registry
from recframe.metrics.language.definition import Metric
from recframe.statistics.pairs import BASELINE, MODEL, ROUNDING

COLUMNS: dict[str, type[pl.DataType]] = {
    "front": pl.String,
    "dominated_by": pl.String,
    "hypervolume": pl.Float64,
    "hypervolume_of_all": pl.Float64,
    "distance": pl.Float64,
    "note": pl.String,
}
"""Columns behind those of `evaluate`."""
TURNED = {
    "better": "worse",
    "worse": "better",
    "not better": "not worse",
    "not worse": "not better",
}
"""Verdicts on the other one of a pair, where they are not the same."""
AT_LEAST = {"better", "same", "not worse"}
"""Verdicts that show a model to be no worse than the other one."""
AT, VERDICT = "segment", "verdict"
Point = Sequence[Any]


def with_verdicts(metrics: Sequence[Metric[...]]) -> list[Metric[...]]:
    """Return the metrics that `compare` has verdicts of, none where NumPy and SciPy are not installed."""
    try:
        from recframe.statistics import arrays  # noqa: F401, PLC0415  an extra
    except RecframeError:
        return []
    return [one for one in metrics if not is_of_segment(one) or not reason_without(one)]


class Placed(NamedTuple):
    """A model of a segment, by its values; None where it has none."""

    segment: int
    name: Any
    text: str
    point: Point


@dataclass(frozen=True)
class Fronts:
    """Metrics of fronts, and the worst and the ideal point; a coordinate is None where the metric's range does not end."""

    metrics: Sequence[Metric[...]]
    worst: Point
    ideal: Point
    untested: Collection[str] = ()
    """Metrics that no verdicts are known of."""

    @classmethod
    def of(
        cls, metrics: Sequence[Metric[...]], worst: object, ideal: object, untested: Collection[str]
    ) -> Fronts:
        """Return fronts with the points that are given, and the ends of the metrics' ranges elsewhere."""
        if len(metrics) < 2:  # noqa: PLR2004  a trade-off
            msg = "pareto takes two metrics or more, such as rec.pareto('ndcg@10', 'novelty@10')"
            raise RecframeError(msg)
        for metric in metrics:
            if not metric.direction:
                msg = f"{metric} has no better end, so that no model is ahead in it: leave it out of pareto()"
                raise RecframeError(msg)
        bad, good = _corner("worst", worst, metrics), _corner("ideal", ideal, metrics)
        for metric, low, high in zip(metrics, bad, good, strict=True):
            if high is None and ideal is not None:
                msg = f"ideal= has no {str(metric)!r}, and its range has no good end: ideal={{{str(metric)!r}: ...}}"
                raise RecframeError(msg)
            if None not in (low, high) and _gain(metric, high, low) <= 0:
                msg = f"{metric}: worst={low:g} is not worse than ideal={high:g}; {metric.direction} values are better"
                raise RecframeError(msg)
        return cls(metrics, bad, good, untested)

    def rows(self, cells: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
        """Return a row for each segment and model, from rows of metrics' values and rows of pairs' verdicts."""
        segments = [key for key in keys if key != MODEL]
        cells = cells.with_columns(
            (pl.struct(segments).rank("dense") if segments else pl.lit(0)).alias(AT)
        )
        said: dict[Point, list[str]] = defaultdict(list)
        values = cells
        if VERDICT in cells.columns:
            values = cells.filter(pl.col(VERDICT).is_null()).drop(BASELINE, "metric", VERDICT)
            pairs = cells.drop_nulls(VERDICT).select(AT, MODEL, BASELINE, VERDICT)
            for at, one, other, verdict in pairs.rows():
                said[at, one, other].append(verdict)
                said[at, other, one].append(TURNED.get(verdict, verdict))
        text = as_text(pl.col(MODEL), values.schema[MODEL]).alias("text")
        point = pl.concat_list(map(str, self.metrics))
        models = [Placed(*row) for row in values.select(AT, MODEL, text, point).rows()]
        peers: dict[int, list[Placed]] = defaultdict(list)
        for model in models:
            peers[model.segment] += [model] * (None not in model.point)
        unknown = None in self.worst
        volumes = {
            at: None if unknown else volume(map(self._box, some)) for at, some in peers.items()
        }
        rows = [self._row(one, peers[one.segment], said, volumes[one.segment]) for one in models]
        return values.drop(AT).hstack(pl.DataFrame(rows, COLUMNS, orient="row"))

    def _row(
        self,
        one: Placed,
        peers: Sequence[Placed],
        said: Mapping[Point, Sequence[str]],
        of_all: float | None,
    ) -> Point:
        """Return the columns of a model among those of its segment that have all values."""
        names = [str(metric) for metric in self.metrics]
        notes = [f"no value of {name}" for name in _lacking(names, one.point)]
        known = not notes
        ahead = [other for other in peers if known and self._leads(other.point, one.point)]
        shown = [
            other for other in ahead if self._is_shown(said[one.segment, other.name, one.name])
        ]
        front = ("dominated" if shown else "open" if ahead else "front") if known else None
        for what, option, corner in (
            ("hypervolume", "worst", self.worst),
            ("distance", "ideal", self.ideal),
        ):
            if lacks := _lacking(names, corner):
                given = ", ".join(f"{name!r}: ..." for name in lacks)
                notes.append(f"no {what}, as a range does not end: {option}={{{given}}}")
        if self.untested and front == "open":
            notes.append(f"{' and '.join(self.untested)} cannot be tested, so nothing is shown")
        return (
            front,
            ", ".join(other.text for other in shown or ahead) or None,
            math.prod(self._box(one)) if known and None not in self.worst else None,
            of_all,
            math.dist(one.point, self.ideal) if known and None not in self.ideal else None,
            "; ".join(notes),
        )

    def _box(self, one: Placed) -> tuple[float, ...]:
        """Return by how much a model is better than the worst point, metric by metric."""
        return tuple(max(gain, 0.0) for gain in self._gains(one.point, self.worst))

    def _gains(self, point: Point, over: Point) -> list[float]:
        return list(map(_gain, self.metrics, point, over))

    def _leads(self, point: Point, over: Point) -> bool:
        gains = self._gains(point, over)
        return min(gains) >= 0 < max(gains)

    def _is_shown(self, verdicts: Sequence[str]) -> bool:
        is_each = len(verdicts) == len(self.metrics)
        return is_each and "better" in verdicts and AT_LEAST.issuperset(verdicts)


def _gain(metric: Metric[...], value: float, over: float) -> float:
    # what rounding leaves between two values is no gain
    gain = 0.0 if math.isclose(value, over, rel_tol=ROUNDING) else value - over
    return gain if metric.direction == "higher" else -gain


def _lacking(names: Sequence[str], point: Point) -> list[str]:
    return [name for name, one in zip(names, point, strict=True) if one is None]


def _corner(name: str, given: object, metrics: Sequence[Metric[...]]) -> Point:
    """Return a point as it is given, and at the ends of the metrics' ranges elsewhere; None where a range does not end."""
    found: dict[Metric[...], float | None] = {}
    for metric in metrics:
        end = metric.range[(metric.direction == "higher") == (name == "ideal")]
        found[metric] = end if math.isfinite(end) else None
    pairs = given.items() if isinstance(given, Mapping) else [] if given is None else [("", given)]
    for key, value in pairs:
        number = plain_number(value)
        (metric,) = registry.asked([key], None) if key else metrics[:1]
        if metric not in found or number is None or not math.isfinite(number) or not key:
            names = ", ".join(map(str, metrics))
            msg = (
                f"{name}={shown(given)}: {name} takes finite numbers by the call's metrics: {names}"
            )
            raise RecframeError(msg)
        found[metric] = number
    return [*found.values()]


def volume(corners: Iterable[tuple[float, ...]]) -> float:
    """Return the volume of the union of boxes from the origin to some corners.

    Each corner adds its own box but for what the boxes of the corners behind it cover of that. Source: While, Bradstreet and
    Barone 2012, A fast way of calculating exact hypervolumes.
    """
    points = sorted({*corners}, reverse=True)
    outer = [one for one in points if not _is_inside(one, points)]
    total = 0.0
    for place, one in enumerate(outer):
        covered = (tuple(map(min, one, two)) for two in outer[place + 1 :])
        total += math.prod(one) - volume(covered)
    return total


def _is_inside(one: Point, others: Sequence[Point]) -> bool:
    return any(other != one and all(map(ge, other, one)) for other in others)
