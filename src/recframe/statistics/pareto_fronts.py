"""`rec.pareto`: fronts of models by several metrics at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from typing import Any

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
VERDICT, TEXT = "verdict", "text of a model"
Row = Mapping[str, Any]


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
        peers: dict[Any, list[Row]] = defaultdict(list)
        verdicts: dict[Any, list[str]] = defaultdict(list)
        text = as_text(pl.col(MODEL), cells.schema[MODEL]).alias(TEXT)
        rows = cells.with_columns(text).to_dicts()
        at_rows = [tuple(map(row.get, segments)) for row in rows]
        for at, row in zip(at_rows, rows, strict=True):
            if (verdict := row.get(VERDICT)) is None:
                peers[at].append(row)
            else:
                one, other = row[MODEL], row[BASELINE]
                verdicts[at, one, other].append(verdict)
                verdicts[at, other, one].append(TURNED.get(verdict, verdict))
        found = []
        for at, own in zip(at_rows, rows, strict=True):
            if own.get(VERDICT) is None:
                ahead = [other for other in peers[at] if self._leads(other, own)]
                shown = [
                    one for one in ahead if self._is_shown(verdicts[at, one[MODEL], own[MODEL]])
                ]
                found.append(self._front(own, ahead, shown))
        if VERDICT in cells.columns:
            cells = cells.filter(pl.col(VERDICT).is_null()).drop(BASELINE, "metric", VERDICT)
        return cells.hstack(pl.DataFrame(found, COLUMNS, orient="row"))

    def _leads(self, row: Row, over: Row) -> bool:
        """Return whether a row is no worse in all metrics, and better in one; of a row without a value nothing is known."""
        gains = []
        for metric in self.metrics:
            value, other = row[str(metric)], over[str(metric)]
            if value is None or other is None:
                return False
            # what rounding leaves between two values is no gain
            gain = 0.0 if isclose(value, other, rel_tol=ROUNDING) else value - other
            gains.append(gain if metric.direction == "higher" else -gain)
        return min(gains) >= 0 < max(gains)

    def _is_shown(self, verdicts: Sequence[str]) -> bool:
        is_each = len(verdicts) == len(self.metrics)
        return is_each and "better" in verdicts and AT_LEAST.issuperset(verdicts)

    def _front(self, row: Row, ahead: Sequence[Row], shown: Sequence[Row]) -> Sequence[str | None]:
        """Return the columns of a model, from the rows of models that are ahead, and that are shown to be."""
        lacking = [str(metric) for metric in self.metrics if row[str(metric)] is None]
        if lacking:
            return None, None, "; ".join(f"no value of {name}" for name in lacking)
        names = ", ".join(one[TEXT] for one in shown or ahead) or None
        if shown or not ahead:
            return "dominated" if shown else "front", names, ""
        untested = [str(metric) for metric in self.metrics if metric not in self.tested]
        note = f"{' and '.join(untested)} cannot be tested, so nothing is shown"
        return "open", names, note if untested else ""


def _with_verdicts(metrics: Sequence[Metric[...]]) -> list[Metric[...]]:
    """Return the metrics that `compare` has verdicts of, none where NumPy and SciPy are not installed."""
    try:
        from recframe.statistics import arrays  # noqa: F401, PLC0415  an extra
    except RecframeError:
        return []
    return [one for one in metrics if not is_of_segment(one) or not reason_without(one)]
