"""The methods of `rec` that say how sure numbers are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, get_args

import polars as pl

from recframe.conventions import under_profile
from recframe.errors import RecframeError
from recframe.frames.hints import bind
from recframe.metrics.language.definition import Metric
from recframe.namespace import calls, progress
from recframe.namespace.bound_metric import Asked, By, Cutoffs, F
from recframe.namespace.question import Question, question
from recframe.plan.beside import SPREAD
from recframe.plan.contributions import contributions
from recframe.plan.leave_one_out import reason_without
from recframe.plan.needs import is_of_segment
from recframe.plan.runs import Run
from recframe.plan.segments import keys_of, numbered
from recframe.uncertainty import options, summary
from recframe.uncertainty.pairs import BASELINE, MODEL, Pairing, sums_of_all
from recframe.uncertainty.sets import with_spread_of_sets
from recframe.uncertainty.summary import Method

if TYPE_CHECKING:
    from recframe.uncertainty.bootstrapped import Bootstrap
    from recframe.uncertainty.comparison import Comparing, Correction, Family, Test
    from recframe.uncertainty.powered import Power


Made = Callable[[pl.DataFrame, list[str]], pl.DataFrame]
"""Makes a result of sums over pairs and the keys of their segments."""


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
        n_resamples = options.whole("n_resamples", n_resamples, 1)
        seed = options.whole("seed", seed, 0)
        asked = question(self, metrics, k, by, cluster, profile)
        if method != "bootstrap":
            long = _summary(asked, summary.Intervals(level, method))
            result: F = asked.given(long, asked.by, list(summary.COLUMNS))
            return result
        from recframe.uncertainty.bootstrapped import Bootstrap  # noqa: PLC0415  NumPy is an extra

        _check_resampled(asked.metrics)
        how = Bootstrap(level, n_resamples, seed, asked.cluster, progress.of_resamples())
        drawn: F = _bootstrapped(asked, how)
        return drawn

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
            tell=progress.of_resamples(),
        )
        asked = question(self, metrics, k, by, cluster, profile)
        result: F = _compared(asked, None if baseline is None else str(baseline), how)
        return result

    @calls.understood
    def power(  # noqa: PLR0913  those of evaluate, and what is asked of a test
        self,
        *metrics: Asked,
        baseline: object = None,
        k: Cutoffs = None,
        by: By = None,
        wanted: float = 0.01,
        power: float = 0.8,
        level: float = 0.95,
        correlation: float = 0.5,
        cluster: str | None = None,
        profile: str | None = None,
    ) -> F:
        """Return the smallest difference that so many users can show, and how many users a wanted one needs."""
        from recframe.uncertainty.powered import Power  # noqa: PLC0415  NumPy and SciPy are an extra

        how = Power(
            wanted=options.share("wanted", wanted, "0.01"),
            power=options.share("power", power, "0.8"),
            level=options.share("level", level, "0.95"),
            correlation=options.share("correlation", correlation, "0.5"),
        )
        asked = question(self, metrics, k, by, cluster, profile)
        result: F = _powered(asked, None if baseline is None else str(baseline), how)
        return result


def _summary(asked: Question, how: summary.Intervals) -> pl.LazyFrame:
    """Return metrics with their intervals, in expressions alone, under the names of the keys inside the plan."""
    inside = [inside for inside, _ in keys_of(asked.inputs, asked.metrics)]
    wide = numbered(asked.rec._evaluated(asked.inputs, asked.conventions, SPREAD), inside)  # noqa: SLF001
    home, run = under_profile.at_home(asked.inputs), Run(asked.rec._kind.asks)  # noqa: SLF001
    wide = with_spread_of_sets(wide, inside, home, asked.conventions, run)
    if asked.cluster is not None:
        wide = summary.of_clusters(wide, inside, asked.metrics)
    return summary.summarized(wide, list(asked.by), asked.metrics, how)


def _bootstrapped(asked: Question, how: Bootstrap) -> Any:
    """Return metrics with intervals by resampling."""
    from recframe.uncertainty.bootstrapped import bootstrapped  # noqa: PLC0415

    keys = list(asked.by)
    drawn = asked.inputs.drawn(_most_groups(keys), asked.cluster)
    inside = [inside for inside, _ in keys_of(drawn, asked.metrics)]
    wide = numbered(asked.rec._evaluated(drawn, asked.conventions, SPREAD), inside)  # noqa: SLF001
    schema = wide.collect_schema()
    made: dict[str, Any] = {key: schema[key] for key in keys} | summary.COLUMNS
    long = asked.rec._kind.applied(  # noqa: SLF001
        wide, lambda sums: bootstrapped(sums, keys, asked.metrics, how), pl.Schema(made)
    )
    return asked.given(long, asked.by, list(summary.COLUMNS))


def _check_resampled(metrics: Sequence[Metric[...]]) -> None:
    for one in metrics:
        if is_of_segment(one):
            msg = (
                f"{one} is one function of all lists: a resample has lists twice, and its bootstrap intervals hold seldom; "
                "method='auto' goes by what each list contributes"
            )
            raise RecframeError(msg)


def _most_groups(keys: Sequence[str]) -> int:
    from recframe.uncertainty import resampling  # noqa: PLC0415

    of_segments = set(keys) - {MODEL}
    return resampling.MOST_GROUPS_BY_SEGMENT if of_segments else resampling.MOST_GROUPS


def _compared(asked: Question, baseline: str | None, how: Comparing) -> Any:
    """Return models held against one another."""
    from recframe.uncertainty.comparison import compared  # noqa: PLC0415

    how = replace(how, cluster=asked.cluster)
    return _of_pairs(
        asked,
        baseline,
        lambda sums, keys: compared(sums, keys, asked.metrics, how),
        how.columns,
        drawn=how.resamples,
    )


def _of_pairs(
    asked: Question, baseline: str | None, made: Made, columns: Mapping[str, Any], *, drawn: bool
) -> Any:
    """Return what a function makes of the sums over pairs of models' users, and the keys of the segments."""
    if not asked.inputs.model:
        msg = (
            f"there is nothing to compare without a column that tells models apart: {bind(model=repr('model'))}, "
            "or a frame for each: rf.rec({'a': a, 'b': b}, truth=truth)"
        )
        raise RecframeError(msg)
    for one in asked.metrics:
        if is_of_segment(one) and (reason := reason_without(one)):
            msg = f"{one} cannot be compared, since {reason}; evaluate() has its values"
            raise RecframeError(msg)
    keys = [inside for inside in asked.by if inside != MODEL]
    inputs = under_profile.at_home(asked.inputs).with_models_to_compare(baseline)
    inputs = inputs.drawn(_most_groups(keys), asked.cluster) if drawn else inputs
    kind = asked.rec._kind  # noqa: SLF001
    run = Run(kind.asks)
    plans = contributions(inputs, asked.conventions, run)
    sums = sums_of_all(plans, asked.metrics, Pairing(baseline, inputs.schema[MODEL]), run)
    schema = sums.collect_schema()
    result: dict[str, Any] = {key: schema[key] for key in [*keys, MODEL, BASELINE]}
    whole = kind.applied(sums, lambda cells: made(cells, keys), pl.Schema(result | {**columns}))
    names = {key: asked.by[key] for key in [*keys, MODEL]} | {BASELINE: BASELINE}
    return asked.given(whole, names, list(columns))


def _powered(asked: Question, baseline: str | None, how: Power) -> Any:
    """Return what can be shown: of differences at hand, or of those to a second system like the first."""
    from recframe.uncertainty import powered  # noqa: PLC0415

    how = replace(how, cluster=asked.cluster)
    if baseline is not None:
        return _of_pairs(
            asked,
            baseline,
            lambda sums, keys: powered.of_pairs(sums, keys, asked.metrics, how),
            powered.COLUMNS,
            drawn=False,
        )
    long = _summary(asked, summary.Intervals())
    schema = long.collect_schema()
    result: dict[str, Any] = {key: schema[key] for key in asked.by} | powered.COLUMNS
    kind = asked.rec._kind  # noqa: SLF001
    whole = kind.applied(long, lambda one: powered.of_one(one, how), pl.Schema(result))
    return asked.given(whole, asked.by, list(powered.COLUMNS))
