"""`rec.pareto`: fronts of models by several metrics at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from typing import Any, NamedTuple

import polars as pl

from recframe.errors import RecframeError
from recframe.evaluation.required_columns import is_of_segment
from recframe.frames.dtypes import as_text
from recframe.metrics.language.definition import Metric
from recframe.statistics.groups import reason_without
from recframe.statistics.sums import BASELINE, MODEL, ROUNDING

COLUMNS = dict.fromkeys(("front", "dominated_by", "note"), pl.String)
"""Columns behind those of `evaluate`."""
TURNED = {"better": "worse", "worse": "better"}
"""Verdicts on the other one of a pair, where they are not the same."""
AT_LEAST = {"better", "same"}
"""Verdicts that show a model to be no worse than the other one."""
AT, VERDICT = "segment", "verdict"
Point = Sequence[Any]


class Placed(NamedTuple):
    """A model of a segment, by its values; None where it has none."""

    segment: int
    name: Any
    text: str
    point: Point


@dataclass(frozen=True)
class Fronts:
    """Metrics of fronts, and those of them that `compare` has verdicts of."""

    metrics: Sequence[Metric[...]]
    tested: Sequence[Metric[...]]

    @classmethod
    def of(cls, metrics: Sequence[Metric[...]]) -> Fronts:
        """Return the fronts of metrics, or say which of them has no better end."""
        if len(metrics) < 2:  # noqa: PLR2004  a trade-off
            msg = "pareto takes two metrics or more, such as rec.pareto('ndcg@10', 'novelty@10')"
            raise RecframeError(msg)
        for metric in metrics:
            if not metric.direction:
                msg = f"{metric} has no better end, so that no model is ahead in it: leave it out of pareto()"
                raise RecframeError(msg)
        return cls(metrics, _with_verdicts(metrics))

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
        rows = [self._row(one, peers[one.segment], said) for one in models]
        return values.drop(AT).hstack(pl.DataFrame(rows, COLUMNS, orient="row"))

    def _row(
        self, one: Placed, peers: Sequence[Placed], said: Mapping[Point, Sequence[str]]
    ) -> Point:
        """Return the columns of a model among those of its segment that have all values."""
        names = map(str, self.metrics)
        lacking = [name for name, value in zip(names, one.point, strict=True) if value is None]
        if lacking:
            return None, None, "; ".join(f"no value of {name}" for name in lacking)
        ahead = [other for other in peers if self._leads(other.point, one.point)]
        shown = [
            other for other in ahead if self._is_shown(said[one.segment, other.name, one.name])
        ]
        untested = [str(metric) for metric in self.metrics if metric not in self.tested]
        is_open = bool(ahead) and not shown
        note = ""
        if untested and is_open:
            note = f"{' and '.join(untested)} cannot be tested, so nothing is shown"
        front = "open" if is_open else "dominated" if shown else "front"
        return front, ", ".join(other.text for other in shown or ahead) or None, note

    def _leads(self, point: Point, over: Point) -> bool:
        gains = [*map(_gain, self.metrics, point, over)]
        return min(gains) >= 0 < max(gains)

    def _is_shown(self, verdicts: Sequence[str]) -> bool:
        is_each = len(verdicts) == len(self.metrics)
        return is_each and "better" in verdicts and AT_LEAST.issuperset(verdicts)


def _with_verdicts(metrics: Sequence[Metric[...]]) -> list[Metric[...]]:
    """Return the metrics that `compare` has verdicts of, none where NumPy and SciPy are not installed."""
    try:
        from recframe.statistics import arrays  # noqa: F401, PLC0415  an extra
    except RecframeError:
        return []
    return [one for one in metrics if not is_of_segment(one) or not reason_without(one)]


def _gain(metric: Metric[...], value: float, over: float) -> float:
    # what rounding leaves between two values is no gain
    gain = 0.0 if isclose(value, over, rel_tol=ROUNDING) else value - over
    return gain if metric.direction == "higher" else -gain
