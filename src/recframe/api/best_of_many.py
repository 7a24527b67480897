"""`rec.winner`: the best of several models."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic

from recframe.api import argument_errors, progress
from recframe.api.bound_metric import Asked, By, Cutoffs, F
from recframe.api.request import Question, question
from recframe.api.uncertain import of_pairs
from recframe.errors import RecframeError
from recframe.frames.dtypes import text_of
from recframe.statistics.pairs import MODEL, RUNNER_UP

if TYPE_CHECKING:
    from recframe.statistics.comparison import Comparing


class BestOfMany(Generic[F]):
    """`rec.winner`: the best of several models."""

    @argument_errors.understood
    def winner(  # noqa: PLR0913  those of evaluate, and how the best is found
        self,
        *metrics: Asked,
        baseline: object,
        k: Cutoffs = None,
        by: By = None,
        level: float = 0.95,
        min_users: int = 5,
        cluster: str | None = None,
        n_resamples: int = 2000,
        seed: int = 0,
        wide: bool = False,
        profile: str | None = None,
    ) -> F:
        """Return the best of several models beside a baseline, a row for each segment and metric, and what it may claim.

        The best of many looks better than it is, since it was picked for its luck too. Other arguments are those of `compare`.

            baseline: the model that the others are held against; it cannot win itself.
            n_resamples, seed: of the resamples of random groups of users, or of clusters, that `first` counts.

        Columns: the `by` columns; the model (the winner: of the best mean difference to the baseline, the first by name of
        equal ones; of a metric without a direction the highest); `metric`; the `verdict` on winner and `runner_up`, in the
        words of `compare`; `value`, `baseline_value`, `difference` and `n_users` of users with both values; `difference_low`
        and `_high` at level^(1/m), of m models without the baseline, so that they hold at `level` whichever model is picked;
        `difference_shrunk`, what empirical Bayes leaves of it: drawn towards the mean of all m as far as users cannot tell
        models apart (null of fewer than three); `first`, in which share of resamples the winner is first (equal ones share
        it); `p_adjusted` of winner and runner-up (by Holm over the rows of the table); `note`, which says where the winner is
        no better than the baseline. With `wide=True` there are `baseline`, `k`, `n_models` (m), and of winner and runner-up
        `ahead` (the mean difference), `p_value`, `n_differ` and `n_unpaired` too, in the order of earlier versions.

        The test of winner and runner-up is on two sides, which is what it takes that both were picked: the other could have
        led, and the first two of many lie closer together than two that are named before. It speaks of one look, and has no
        `looks`: as users are added another model may lead. It needs recframe[stats]. Of a LazyFrame it is a LazyFrame. Raises
        what `compare` raises.

        >>> import polars as pl, recframe as rf
        >>> truth = pl.DataFrame({"user": range(60), "item": 0})
        >>> ranks = {"old": 5, "a": 3, "b": 4, "c": 6}
        >>> recs = {model: truth.with_columns(rank=pl.col("user") % n + 1) for model, n in ranks.items()}
        >>> found = rf.rec(recs, truth=truth).winner("mrr", baseline="old")
        >>> found.select("model", "difference", "difference_shrunk", "first", "runner_up", "verdict")
        shape: (1, 6)
        ┌───────┬────────────┬───────────────────┬─────────┬───────────┬─────────┐
        │ model ┆ difference ┆ difference_shrunk ┆ first   ┆ runner_up ┆ verdict │
        │ ---   ┆ ---        ┆ ---               ┆ ---     ┆ ---       ┆ ---     │
        │ str   ┆ f64        ┆ f64               ┆ f64     ┆ str       ┆ str     │
        ╞═══════╪════════════╪═══════════════════╪═════════╪═══════════╪═════════╡
        │ a     ┆ 0.154444   ┆ 0.14641           ┆ 0.95025 ┆ b         ┆ open    │
        └───────┴────────────┴───────────────────┴─────────┴───────────┴─────────┘

        Source: Gutmann and Maymin 1987, Is the selected population the best?; Hung and Fithian 2019, Rank verification for
        exponential families; Efron and Morris 1975 (shrinking); Šidák 1967 (intervals).
        """
        from recframe.statistics.comparison import Comparing  # noqa: PLC0415  NumPy and SciPy are an extra

        if baseline is None:
            msg = "baseline=None: winner takes the name of the model that the others are held against, such as baseline='old'"
            raise RecframeError(msg)
        how = Comparing(
            level=level,
            min_users=min_users,
            n_resamples=n_resamples,
            seed=seed,
            tell=progress.of_resamples(),
        )
        asked = question(self, metrics, k, by, cluster, profile, wide=wide)
        result: F = _picked(asked, text_of(baseline), how)
        return result


def _picked(asked: Question, baseline: str, how: Comparing) -> Any:
    """Return the best of the models, compared with a baseline."""
    from recframe.statistics.winners import COLUMNS, SHORT, winners  # noqa: PLC0415

    how = replace(how, cluster=asked.cluster)
    models = asked.inputs.schema.get(MODEL)
    return of_pairs(
        asked,
        baseline,
        lambda sums, keys, pairing: winners(sums, keys, asked.metrics, pairing, how),
        {**COLUMNS, RUNNER_UP: models},
        SHORT,
        drawn=True,
        among_others=True,
    )
