"""`rec.pareto`: fronts of models by several metrics at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import isclose
from typing import Any

import polars as pl

from recframe.errors import RecframeError
from recframe.frames.dtypes import text_of
from recframe.metrics.language.definition import Metrics
from recframe.statistics.sums import BASELINE, MODEL, ROUNDING

COLUMNS = dict.fromkeys(("front", "dominated_by", "note"), pl.String)
"""Columns behind those of `evaluate`."""
TURNED = {"better": "worse", "worse": "better"}
"""Verdicts on the other one of a pair, where they are not the same."""
AT_LEAST = {"better", "same"}
"""Verdicts that show a model to be no worse than the other one."""
VERDICT = "verdict"
Row = Mapping[str, Any]


def check_fronts(metrics: Metrics) -> None:
    """Say which of some metrics has no better end, or that there are too few."""
    if len(metrics) < 2:  # noqa: PLR2004  a trade-off
        raise RecframeError(
            "pareto takes two metrics or more, such as rec.pareto('ndcg@10', 'novelty@10')"
        )
    for metric in metrics:
        if not metric.direction:
            raise RecframeError(
                f"{metric} has no better end, so that no model is ahead in it: leave it out of pareto()"
            )


def fronts(cells: pl.DataFrame, keys: Sequence[str], metrics: Metrics) -> pl.DataFrame:
    """Return the rows of metrics' values with `COLUMNS`, from these and from rows of pairs' verdicts."""
    segments = [key for key in keys if key != MODEL]
    rows, peers = [], defaultdict[Any, list[Row]](list)
    verdicts = defaultdict[Any, list[str]](list)
    for row in cells.to_dicts():
        at = tuple(map(row.__getitem__, segments))
        if (verdict := row[VERDICT]) is None:
            rows.append((at, row))
            peers[at].append(row)
        else:
            one, other = row[MODEL], row[BASELINE]
            verdicts[at, one, other].append(verdict)
            verdicts[at, other, one].append(TURNED.get(verdict, verdict))
    found = []
    for at, own in rows:
        ahead, shown = [one for one in peers[at] if _leads(one, own, metrics)], []
        for one in ahead:
            words = verdicts[at, one[MODEL], own[MODEL]]
            is_each = len(words) == len(metrics) and "better" in words
            shown += [one] * (is_each and AT_LEAST.issuperset(words))
        front: dict[str, str | None] = {"front": "front", "note": ""}
        if ahead:
            names = ", ".join(text_of(one[MODEL]) for one in shown or ahead)
            front |= {"front": "dominated" if shown else "open", "dominated_by": names}
        lacking = [f"no value of {metric}" for metric in metrics if own[metric.text] is None]
        found.append({"note": "; ".join(lacking)} if lacking else front)
    values = cells.filter(pl.col(VERDICT).is_null()).drop(BASELINE, "metric", VERDICT)
    return values.hstack(pl.DataFrame(found, COLUMNS))


def _leads(row: Row, over: Row, metrics: Metrics) -> bool:
    """Return whether a row is no worse in all metrics, and better in one; of a row without a value nothing is known."""
    gains = []
    for metric in metrics:
        value, other = row[metric.text], over[metric.text]
        if value is None or other is None:
            return False
        # what rounding leaves between two values is no gain
        gain = 0.0 if isclose(value, other, rel_tol=ROUNDING) else value - other
        gains.append(gain if metric.direction == "higher" else -gain)
    return min(gains) >= 0 < max(gains)
