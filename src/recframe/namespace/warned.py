"""Warnings of a call whose result is collected."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from recframe.audit import call_warnings
from recframe.audit.call_context import Seen
from recframe.conventions import under_profile
from recframe.frames.collecting import Collect
from recframe.frames.inputs import Inputs
from recframe.frames.kinds import kind
from recframe.look import results as long
from recframe.metrics.language.definition import Metric
from recframe.plan import trainings


def of_metrics(
    home: Inputs,
    metrics: Sequence[Metric[...]],
    result: pl.DataFrame,
    run: Collect,
    *,
    tidy: bool = False,
) -> None:
    """Warn of what a result of metrics and its frames, under their profile's policies, show."""
    result = long.wide(result, metrics) if tidy else result
    call_warnings.tell(Seen(trainings.one_of_each(home), metrics, result, run))


def of_truth(inputs: Inputs) -> kind.Seen:
    """Return what warns of a truth once a result is there that is no table of metrics."""

    def told(result: pl.DataFrame, run: Collect) -> None:
        seen = Seen(trainings.one_of_each(under_profile.at_home(inputs)), [], result, run)
        call_warnings.tell(seen, call_warnings.OF_JUDGING)

    return told
