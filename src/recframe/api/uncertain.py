"""Statistical methods of `rec`: intervals, comparisons and power."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Generic, get_args

import polars as pl

from recframe.api import argument_errors
from recframe.api.argument_errors import Asked, By, Cutoffs, F
from recframe.api.request import question
from recframe.errors import UnknownMetricError
from recframe.frames import options
from recframe.frames.dtypes import as_text
from recframe.frames.options import Correction
from recframe.statistics.stored_results import COMPARISON, OF_MARGIN, OF_USERS, POWER, SUMMARY
from recframe.statistics.sums import MODEL


class Uncertain(Generic[F]):
    """Statistical methods of `rec`: intervals, comparisons and power."""

    @argument_errors.understood
    def summarize(
        self,
        *metrics: Asked,
        k: Cutoffs = None,
        by: By = None,
        level: float = 0.95,
        cluster: str | None = None,
    ) -> F:
        """Return metrics with the intervals of their values, a row for each segment, model and metric.

        The interval is for another sample of as many users, from the same population, catalogue and time: for metrics from 0 to
        1 Wilson's, on the effective number of users n_eff = p (1 - p) / se^2; for others t, value ± t(n - 1) · std / √n. The
        arguments `metrics`, `k` and `by` are those of `evaluate`, and `value` is its number.

            level: the probability that an interval holds, for each row alone.
            cluster: a column of clusters of users, such as households: the error is then that of leaving out one cluster at a
                time, with (sum n)^2 / sum n^2 - 1 degrees of freedom for clusters of n users. A user without a cluster is a
                cluster.

        Over the folds of a split, `value` is the mean over (fold, user), of a set metric that of the folds' values. Each user
        is a cluster, with all folds: the interval is for other users in these folds. `n_users` counts users once. by="fold"
        gives each fold.

        The interval of a set metric, such as coverage, is made of its values without each of 20 random groups of users (or of
        clusters), with Student's t of 19 degrees of freedom. The interval of a metric that grows with the number of users
        (coverage, tail_coverage, gini, entropy) is for this number of users only.

        Columns: the `by` columns (a bound model among them), `metric` (its string), `value`, `value_low`, `value_high`, `std`
        (between users; of a set metric the error times √n), `n_users` (with a value: the metric's own support), `n_lists`
        (where a metric over lists was requested: its lists) and `note`. Rows are in the order of `evaluate`, then of the
        metrics. A LazyFrame gives a LazyFrame, whose last step is a function of each row's sums. It needs recframe[stats].

        Without a user, with one, or without a known spread, the interval is null and `note` says why. With fewer than 15 users
        with a value above 0 intervals under-cover, which is noted too. Of a metric with `weights` w of its hits, `note` says if
        they weigh as fewer than 30 alike, or than a tenth of their number: (Σ w)² / Σ w².

        Raises what `evaluate` raises, and a RecframeError for by="user" and for options that it does not know.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 1, 2, 3], "item": [1, 2, 1, 1], "rank": [1, 2, 1, 1], "relevance": [0, 1, 1, 0]})
        >>> df.rec.summarize("mrr").drop("note")
        shape: (1, 6)
        ┌────────┬───────┬───────────┬────────────┬─────┬─────────┐
        │ metric ┆ value ┆ value_low ┆ value_high ┆ std ┆ n_users │
        │ ---    ┆ ---   ┆ ---       ┆ ---        ┆ --- ┆ ---     │
        │ str    ┆ f64   ┆ f64       ┆ f64        ┆ f64 ┆ i64     │
        ╞════════╪═══════╪═══════════╪════════════╪═════╪═════════╡
        │ mrr    ┆ 0.5   ┆ 0.036171  ┆ 0.963829   ┆ 0.5 ┆ 3       │
        └────────┴───────┴───────────┴────────────┴─────┴─────────┘

        Source: Wilson 1927; Busing, Meijer and van der Leeden 1999, Delete-m jackknife for unequal m; Bell and McCaffrey 2002.
        """
        from recframe.statistics.comparison import summarized  # noqa: PLC0415  NumPy and SciPy are an extra

        asked = question(self, metrics, k, by, cluster)
        is_listed = any(one.over == "lists" for one in asked.conventions)
        columns = {name: SUMMARY[name] for name in SUMMARY if is_listed or name != "n_lists"}
        result: F = asked.answer(lambda rows: summarized(rows, asked.metrics, level), columns)
        return result

    @argument_errors.understood
    def compare(  # noqa: PLR0913  those of evaluate, and how models are compared
        self,
        *metrics: Asked,
        baseline: object = None,
        k: Cutoffs = None,
        by: By = None,
        level: float = 0.95,
        margin: float | None = None,
        correction: Correction | None = "holm",
        cluster: str | None = None,
        min_users: int = 5,
    ) -> F:
        """Compare models with a baseline: a row for each segment, model and metric, with a verdict.

        Both values of a user are paired: d = value - baseline's value, and the t test is whether the mean of d is 0. Models are
        in the column that `rec(model=...)` binds, or are frames: `rf.rec({"a": a, "b": b}, truth)`.

            baseline: the name of the model that all others are compared with; None compares all pairs.
            level: the confidence level of the intervals, each alone; a verdict needs `p_adjusted` of at most 1 - level.
            margin: a share of the baseline's value, such as 0.01, that does not matter: "not worse" is shown by the mean of b -
                (1 - margin) a, "same" by that and b - (1 + margin) a, where p is at most (1 - level) / 2, of the users and two
                added ones with the most extreme differences, or of 30 users who differ where the metric lacks an end. These two
                verdicts are not corrected for many rows.
            correction: how p values are corrected for all rows of the result: "holm"; "benjamini-hochberg", of the share of
                false findings; None.
            min_users: with fewer users (or clusters) a row has its numbers, but no `p_adjusted` and the verdict "few".
            cluster: as in `summarize`.

        Columns: the model, its `baseline`, the `by` columns; `metric`, `verdict`, `difference` with `_low` and `_high`, `value`
        and `baseline_value` (over users with both), `relative` (difference / baseline_value), `p_value`, `p_adjusted`, with a
        margin `p_not_worse` and `p_equivalent`; `n_users` and `note`. Where m users, or clusters, have unequal values, no p is
        below 2^(1 - m).

        Verdicts: "better", "worse" ("higher", "lower" for a metric without a direction): significant. "same": equal for all
        users, or with a margin significantly within it. "not worse", "not better": significant up to the margin. "few": fewer
        than `min_users`. "open": the data cannot tell, which does not mean that models are equal (see `power`); also a row
        where more than a fifth of the users have only one value, since those with both are a biased selection, and a row of
        a model with one named training.

        It needs recframe[stats]. A LazyFrame gives a LazyFrame, whose last step is a function of each row's sums.

        Raises what `evaluate` raises; a RecframeError without a column of models, for by="user" and for a metric without an
        interval (see `summarize`); a DataError for a baseline that is not a model, and with a single model.

        >>> import polars as pl, recframe
        >>> recs = pl.DataFrame({"model": ["a"] * 4 + ["b"] * 4, "user": [1, 2, 3, 4] * 2,
        ...     "item": [1, 2, 3, 4, 1, 2, 9, 9], "rank": [1] * 8})
        >>> truth = pl.DataFrame({"user": [1, 2, 3, 4], "item": [9, 2, 9, 9]})
        >>> found = recs.rec(truth=truth, model="model").compare("hit_rate@1", baseline="a")
        >>> found.select("model", "verdict", "difference", "difference_low", "difference_high", "n_users")
        shape: (1, 6)
        ┌───────┬─────────┬────────────┬────────────────┬─────────────────┬─────────┐
        │ model ┆ verdict ┆ difference ┆ difference_low ┆ difference_high ┆ n_users │
        │ ---   ┆ ---     ┆ ---        ┆ ---            ┆ ---             ┆ ---     │
        │ str   ┆ str     ┆ f64        ┆ f64            ┆ f64             ┆ i64     │
        ╞═══════╪═════════╪════════════╪════════════════╪═════════════════╪═════════╡
        │ b     ┆ few     ┆ 0.5        ┆ -0.418693      ┆ 1.418693        ┆ 4       │
        └───────┴─────────┴────────────┴────────────────┴─────────────────┴─────────┘

        Source: Student 1908; Fisher 1935; Holm 1979; Benjamini and Hochberg 1995; Urbano, Lima and Hanjalic 2019, Statistical
        significance testing in information retrieval; Schuirmann 1987 (margins).
        """
        options.one_of("correction", correction, (*get_args(Correction), None))
        how: Any = {"level": level, "correction": correction, "min_users": min_users}
        result: F = self._compared(metrics, baseline, k, by, cluster, margin, **how)
        return result

    def _compared(  # noqa: PLR0913  those of compare, and what reports need
        self,
        metrics: Sequence[Asked],
        baseline: object,
        k: Cutoffs = None,
        by: By = None,
        cluster: str | None = None,
        margin: float | None = None,
        *,
        model: str | None = None,
        counts: bool = False,
        **options: Any,
    ) -> Any:
        """Return the result of `compare`, of one `model` alone where it is named; `counts` gives numbers of users too.

        Its rows are the family of tests that a verdict allows for.
        """
        from recframe.statistics.comparison import Comparing, compared  # noqa: PLC0415  NumPy and SciPy are an extra

        rec = self._candidates(baseline)  # type: ignore[attr-defined]  # of a Rec
        try:
            asked = question(rec, metrics, k, by, cluster)
        except UnknownMetricError as error:
            if baseline is not None:
                raise
            end = "" if str(error).endswith("?") else "."
            raise UnknownMetricError(
                f"{error}{end} If it is a model to compare with, write baseline="
            ) from None
        pairing, columns = asked.pairs(baseline), COMPARISON | (OF_USERS if counts else {})
        for name in OF_MARGIN if margin is None else ():
            del columns[name]
        # over folds a user is a cluster
        units = "clusters" if cluster else "users"
        how = Comparing(margin=margin, units=units, **options)
        only = None if model is None else as_text(pl.col(MODEL), pairing.dtype) == model
        made = partial(compared, metrics=asked.metrics, how=how)
        return asked.answer(made, columns, pairing, only)

    @argument_errors.understood
    def power(
        self,
        *metrics: Asked,
        baseline: object = None,
        k: Cutoffs = None,
        by: By = None,
        wanted: float = 0.01,
        level: float = 0.95,
        cluster: str | None = None,
    ) -> F:
        """Return the smallest difference that these users can show, and how many users a wanted one needs.

        That of the paired, two-sided t test at `level`, which finds the difference with a probability of 80 %. The spread is
        that of users' differences between two models; with `cluster`, of clusters'.

            wanted: the wanted difference, as a share of the baseline's value.
            level: the confidence level of the test.

        Columns: the model, its `baseline`, the `by` columns, `metric`, `users_needed` for the difference `wanted`,
        `detectable` (the smallest that n_users show), `detectable_relative` (as a share of `baseline_value`),
        `baseline_value`, the `std` of the differences, `n_users` and `note`. The other arguments are those of `compare`. It
        needs recframe[stats]. Raises what `compare` raises, and a RecframeError where trainings are bound.

        >>> import polars as pl, recframe
        >>> recs = pl.DataFrame({"model": ["a"] * 4 + ["b"] * 4, "user": [1, 2, 3, 4] * 2,
        ...     "item": [1, 2, 3, 4, 1, 2, 9, 9], "rank": [1] * 8})
        >>> truth = pl.DataFrame({"user": [1, 2, 3, 4], "item": [9, 2, 9, 9]})
        >>> found = recs.rec(truth=truth, model="model").power("hit_rate@1", baseline="a", wanted=0.5)
        >>> found.select("model", "users_needed", "wanted", "detectable")
        shape: (1, 4)
        ┌───────┬──────────────┬────────┬────────────┐
        │ model ┆ users_needed ┆ wanted ┆ detectable │
        │ ---   ┆ ---          ┆ ---    ┆ ---        │
        │ str   ┆ i64          ┆ f64    ┆ f64        │
        ╞═══════╪══════════════╪════════╪════════════╡
        │ b     ┆ 170          ┆ 0.5    ┆ 1.228572   │
        └───────┴──────────────┴────────┴────────────┘

        Source: Cohen 1988, Statistical power analysis for the behavioral sciences.
        """
        from recframe.statistics.comparison import powered  # noqa: PLC0415  NumPy and SciPy are an extra

        rec = self._candidates(baseline)  # type: ignore[attr-defined]  # of a Rec
        asked = question(rec, metrics, k, by, cluster)
        made = partial(powered, metrics=asked.metrics, wanted=wanted, level=level)
        result: F = asked.answer(made, POWER, asked.pairs(baseline))
        return result
