"""The methods of `rec` that say how sure numbers are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, get_args

import polars as pl

from recframe.conventions import under_profile
from recframe.errors import RecframeError
from recframe.frames.hints import bind
from recframe.frames.inputs import GROUP
from recframe.namespace import calls
from recframe.namespace.bound_metric import Asked, By, Cutoffs, F
from recframe.namespace.question import Question, question
from recframe.plan.beside import SPREAD
from recframe.plan.contributions import contributions
from recframe.plan.runs import Run
from recframe.plan.segments import keys_of, numbered
from recframe.uncertainty import options, summary
from recframe.uncertainty.pairs import BASELINE, MODEL, Pairing, sums_of_all
from recframe.uncertainty.summary import Method

if TYPE_CHECKING:
    from recframe.uncertainty.comparison import Comparing, Correction, Family, Test


class Uncertain(Generic[F]):
    """The methods of `rec` that say how sure numbers are."""

    @calls.understood
    def summarize(  # noqa: PLR0913  those of evaluate, and how intervals are made
        self,
        *metrics: Asked,
        k: Cutoffs = None,
        by: By = None,
        level: float = 0.95,
        method: Method = "auto",
        cluster: str | None = None,
        n_resamples: int = 2000,
        seed: int = 0,
        profile: str | None = None,
    ) -> F:
        """Return metrics with their intervals, a row for each segment, model and metric.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 1, 2], "item": [1, 2, 1], "rank": [1, 2, 1], "relevance": [0, 1, 1]})
        >>> df.rec.summarize("mrr").select("metric", "value", "value_low", "value_high", "n_users")
        """
        level = options.share("level", level, "0.95")
        options.one_of("method", method, get_args(Method))
        asked = question(self, metrics, k, by, cluster, profile)
        result: F = _summarized(asked, summary.Intervals(level, method))
        return result

    @calls.understood
    def compare(  # noqa: PLR0913  those of evaluate, and how models are held against one another
        self,
        *metrics: Asked,
        baseline: object = None,
        k: Cutoffs = None,
        by: By = None,
        level: float = 0.95,
        margin: float | None = None,
        test: Test = "t",
        correction: Correction | None = "holm",
        family: Family = "table",
        cluster: str | None = None,
        n_resamples: int = 9999,
        seed: int = 0,
        profile: str | None = None,
    ) -> F:
        """Return models held against a baseline."""
        from recframe.uncertainty import comparison  # noqa: PLC0415  NumPy and SciPy are an extra

        options.one_of("test", test, get_args(comparison.Test))
        options.one_of("correction", correction, (*get_args(comparison.Correction), None))
        options.one_of("family", family, get_args(comparison.Family))
        how = comparison.Comparing(
            level=options.share("level", level, "0.95"),
            margin=None if margin is None else options.share("margin", margin, "0.01"),
            test=test,
            correction=correction,
            family=family,
            n_resamples=options.whole("n_resamples", n_resamples, 1),
            seed=options.whole("seed", seed, 0),
        )
        asked = question(self, metrics, k, by, cluster, profile)
        result: F = _compared(asked, None if baseline is None else str(baseline), how)
        return result


def _summarized(asked: Question, how: summary.Intervals) -> Any:
    """Return metrics with their intervals."""
    names = asked.by
    wide = asked.rec._evaluated(asked.inputs, asked.conventions, SPREAD)  # noqa: SLF001
    inside = [inside for inside, _ in keys_of(asked.inputs, asked.metrics)]
    wide = numbered(wide, inside)
    if asked.cluster is not None:
        wide = summary.of_clusters(wide, inside, asked.metrics)
    long = summary.summarized(wide, list(names), asked.metrics, how)
    return asked.given(long, names, list(summary.COLUMNS))


def _compared(asked: Question, baseline: str | None, how: Comparing) -> Any:
    """Return models held against one another."""
    from recframe.uncertainty import comparison, resampling  # noqa: PLC0415

    if not asked.inputs.model:
        msg = (
            f"compare needs a column that tells models apart: {bind(model=repr('model'))}, "
            "or a frame for each: rf.rec({'a': a, 'b': b}, truth=truth)"
        )
        raise RecframeError(msg)
    keys = [inside for inside in asked.by if inside != MODEL]
    inputs = under_profile.at_home(asked.inputs).with_models_to_compare(baseline)
    if asked.cluster is not None:
        how = replace(how, unit=asked.cluster, of_clusters=True)
    elif how.resamples:
        n_groups = resampling.MOST_GROUPS_BY_SEGMENT if keys else resampling.MOST_GROUPS
        inputs, how = inputs.drawn(n_groups), replace(how, unit=GROUP)
    run = Run(asked.rec._kind.asks)  # noqa: SLF001
    pairing = Pairing(baseline, inputs.schema[MODEL])
    plans = contributions(inputs, asked.conventions, run)
    sums = sums_of_all(plans, asked.metrics, pairing, run)
    schema = sums.collect_schema()
    by: dict[str, Any] = {key: schema[key] for key in [*keys, MODEL, BASELINE]}

    def finished(frame: pl.DataFrame) -> pl.DataFrame:
        return comparison.compared(frame, keys, asked.metrics, how)

    whole = asked.rec._kind.applied(sums, finished, pl.Schema({**by, **how.columns}))  # noqa: SLF001
    names = {key: asked.by[key] for key in [*keys, MODEL]} | {BASELINE: BASELINE}
    return asked.given(whole, names, list(how.columns))
