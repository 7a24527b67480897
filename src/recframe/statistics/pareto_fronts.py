"""`rec.pareto`: models by several metrics at once."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import ge

import polars as pl

from recframe.errors import RecframeError, shown
from recframe.frames.dtypes import as_text
from recframe.frames.options import plain_number
from recframe.metrics.language import registry
from recframe.metrics.language.definition import Metric
from recframe.statistics.pairs import BASELINE, MODEL

COLUMNS: dict[str, type[pl.DataType]] = {
    "front": pl.String,
    "dominated_by": pl.String,
    "hypervolume": pl.Float64,
    "hypervolume_of_all": pl.Float64,
    "distance": pl.Float64,
    "note": pl.String,
}
"""Columns behind those of `evaluate`."""
AT_LEAST = {MODEL: ("better", "same", "not worse"), BASELINE: ("worse", "same", "not better")}
"""Verdicts that show a model, or its baseline, to be no worse than the other one."""
AHEAD = {MODEL: "better", BASELINE: "worse"}
AT, ROW, VERDICT = "segment", "row", "verdict"
Corner = Sequence[float | None]
Point = tuple[float, ...]


@dataclass(frozen=True)
class Fronts:
    """Metrics of fronts, and the worst and the ideal point; a coordinate is None where the metric's range does not end."""

    metrics: Sequence[Metric[...]]
    worst: Corner
    ideal: Corner
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
        bad, good = (
            _given(name, one, metrics) for name, one in (("worst", worst), ("ideal", ideal))
        )
        ends = [one.range if one.direction == "higher" else one.range[::-1] for one in metrics]
        found = cls(
            metrics,
            [bad.get(str(one), _finite(end[0])) for one, end in zip(metrics, ends, strict=True)],
            [good.get(str(one), _finite(end[1])) for one, end in zip(metrics, ends, strict=True)],
            untested,
        )
        for metric, low, high in zip(metrics, found.worst, found.ideal, strict=True):
            if high is None and ideal is not None:
                msg = f"ideal= has no {str(metric)!r}, and its range has no good end: ideal={{{str(metric)!r}: ...}}"
                raise RecframeError(msg)
            if low is not None and high is not None and not _sign(metric) * (high - low) > 0:
                msg = f"{metric}: worst={low:g} is not worse than ideal={high:g}; {metric.direction} values are better"
                raise RecframeError(msg)
        return found

    def rows(self, cells: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
        """Return a row for each segment and model, from rows of metrics' values and rows of pairs' verdicts."""
        segments = [key for key in keys if key != MODEL]
        at = pl.struct(segments).rank("dense") if segments else pl.lit(0)
        cells = cells.with_columns(at.cast(pl.Int64).alias(AT)).with_row_index(ROW)
        values = cells.filter(pl.col(VERDICT).is_null()).drop(BASELINE, VERDICT)
        values = values.with_columns(known=pl.all_horizontal(self._columns.is_not_null()))
        pairs = self._ahead(values, cells.filter(pl.col(VERDICT).is_not_null()))
        sides = self._differences(self.worst)
        box = [side.clip(lower_bound=0.0) for side in sides]
        gaps = self._differences(self.ideal)
        values = values.join(pairs, on=ROW, how="left", maintain_order="left").with_columns(
            front=pl.when("known").then(pl.col("front").fill_null("front")),
            hypervolume=math.prod(box[1:], start=box[0]),
            distance=sum((gap**2 for gap in gaps), start=pl.lit(0.0)).sqrt(),
            box=pl.concat_list(box),
        )
        volumes = _of_all(values)
        of_all = pl.col(AT).replace_strict(volumes, default=None, return_dtype=pl.Float64)
        values = values.with_columns(hypervolume_of_all=of_all, note=self._notes)
        return values.select(pl.exclude(ROW, AT, "known", "box", *COLUMNS), *COLUMNS)

    @property
    def _columns(self) -> pl.Expr:
        return pl.col([f"value {place}" for place in range(len(self.metrics))])

    def _differences(self, corner: Corner) -> list[pl.Expr]:
        """Return by how much values are better than a point, metric by metric; null where it has no coordinate."""
        return [
            _sign(metric) * (pl.col(f"value {place}") - pl.lit(end, pl.Float64))
            for place, (metric, end) in enumerate(zip(self.metrics, corner, strict=True))
        ]

    def _ahead(self, values: pl.DataFrame, verdicts: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of models that others dominate by their values, with the others' names and what is shown."""
        known = values.filter("known").select(ROW, AT, MODEL, self._columns)
        others = known.select(AT, pl.col(MODEL).alias(BASELINE), self._columns)
        pairs = known.join(others, on=AT, suffix=" of other")
        leads = [
            _sign(metric) * (pl.col(f"value {place} of other") - pl.col(f"value {place}"))
            for place, metric in enumerate(self.metrics)
        ]
        no_worse = pl.all_horizontal(lead >= 0 for lead in leads)
        pairs = pairs.filter(no_worse & pl.any_horizontal(lead > 0 for lead in leads))
        on = [AT, MODEL, BASELINE]
        pairs = pairs.join(self._shown(verdicts), on=on, how="left", nulls_equal=True)
        pairs = pairs.sort(ROW, BASELINE)
        name = as_text(pl.col(BASELINE), pairs.schema[BASELINE]).fill_null("null")
        is_shown = pl.col("shown").fill_null(value=False)
        shown_names, every = (one.str.join(", ") for one in (name.filter(is_shown), name))
        of_shown = pl.when(is_shown.any())
        return pairs.group_by(ROW).agg(
            front=of_shown.then(pl.lit("dominated")).otherwise(pl.lit("open")),
            dominated_by=of_shown.then(shown_names).otherwise(every),
        )

    def _shown(self, verdicts: pl.DataFrame) -> pl.DataFrame:
        """Return pairs of a model and one that verdicts show to be no worse in each metric: `shown`, if better in one."""
        sides = []
        for winner, loser in ((MODEL, BASELINE), (BASELINE, MODEL)):
            rows = verdicts.filter(pl.col(VERDICT).is_in(AT_LEAST[winner]))
            better = (pl.col(VERDICT) == AHEAD[winner]).alias("shown")
            sides.append(
                rows.select(AT, pl.col(loser).alias(MODEL), pl.col(winner).alias(BASELINE), better)
            )
        pairs = pl.concat(sides).group_by(AT, MODEL, BASELINE)
        found = pairs.agg(pl.col("shown").any(), n=pl.len())
        return found.filter(pl.col("n") == len(self.metrics)).drop("n")

    @property
    def _notes(self) -> pl.Expr:
        """Return the notes of rows, in words."""
        names = [str(one) for one in self.metrics]
        words = {
            f"no value of {name}": pl.col(f"value {place}").is_null()
            for place, name in enumerate(names)
        }
        for what, option, corner in (
            ("hypervolume", "worst", self.worst),
            ("distance", "ideal", self.ideal),
        ):
            lacks = [name for name, one in zip(names, corner, strict=True) if one is None]
            if lacks:
                given = ", ".join(f"{name!r}: ..." for name in lacks)
                note = f"no {what}, as a range does not end: {option}={{{given}}}"
                words[note] = pl.lit(value=True)
        if self.untested:
            note = f"{' and '.join(self.untested)} cannot be tested, so nothing is shown to be dominated"
            words[note] = pl.col("front") == "open"
        notes = [pl.when(holds).then(pl.lit(note)) for note, holds in words.items()]
        return pl.concat_str(notes, separator="; ", ignore_nulls=True)


def _sign(metric: Metric[...]) -> float:
    return 1.0 if metric.direction == "higher" else -1.0


def _finite(end: float) -> float | None:
    return end if math.isfinite(end) else None


def _given(name: str, given: object, metrics: Sequence[Metric[...]]) -> dict[str, float]:
    """Return the coordinates of a point that were given, by the metrics' strings."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        msg = f"{name}={shown(given)}: {name} takes numbers by metrics, such as {{{str(metrics[0])!r}: 0.5}}"
        raise RecframeError(msg)
    found: dict[str, float] = {}
    for key, value in given.items():
        (metric,) = registry.asked([key], None)
        number = plain_number(value)
        if metric not in metrics:
            names = ", ".join(map(str, metrics))
            msg = f"{name}= has {str(metric)!r}, which is none of the metrics: they are {names}"
            raise RecframeError(msg)
        if number is None or not math.isfinite(number):
            msg = f"{name}={{{str(metric)!r}: {shown(value)}}}: write a finite number"
            raise RecframeError(msg)
        found[str(metric)] = float(number)
    return found


def _of_all(values: pl.DataFrame) -> dict[int, float]:
    """Return the volume of all models' boxes together, by segment."""
    boxes: dict[int, list[Point]] = {}
    for at, box in values.filter(pl.col("hypervolume").is_not_null()).select(AT, "box").rows():
        boxes.setdefault(at, []).append(tuple(box))
    return {at: volume(points) for at, points in boxes.items()}


def volume(corners: Iterable[Point]) -> float:
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
