"""Gates of `rec`: `require`, for tests and releases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, Literal, TypedDict, overload

import polars as pl

from recframe.api import argument_errors
from recframe.api.argument_errors import By, Cutoffs, F
from recframe.api.previous_results import earlier_rows, with_earlier
from recframe.api.request import Question, question
from recframe.charts.long_format import texts
from recframe.errors import DataError, RecframeError
from recframe.evaluation.required_columns import Conventions
from recframe.frames.dtypes import text_of
from recframe.frames.hints import A_FRAME_EACH, Either, bind
from recframe.frames.kinds.kind import Taken, collected
from recframe.frames.roles import listed
from recframe.statistics.requirements import (
    COLUMNS,
    EARLIER,
    Requirement,
    asked_of,
    check,
    metrics_of,
    required,
)
from recframe.statistics.sums import BASELINE, MODEL, PLACE, Pairing

if TYPE_CHECKING:
    from typing_extensions import Unpack

Required = str | Requirement | Sequence[str | Requirement]
"""A requirement, or several in a list."""


class GateOptions(TypedDict, total=False):
    """The options of `require`, but `raises`."""

    k: Cutoffs
    by: By
    last: Any
    models: str | Sequence[str] | None
    strict: bool
    min_users: int
    level: float
    cluster: str | None


class Gates(Generic[F]):
    """The method that requires something."""

    @overload
    def require(
        self: Gates[pl.LazyFrame],
        *requirements: Required,
        raises: Literal[True] = ...,
        **options: Unpack[GateOptions],
    ) -> pl.DataFrame: ...
    @overload
    def require(
        self, *requirements: Required, raises: bool = ..., **options: Unpack[GateOptions]
    ) -> F: ...
    @argument_errors.understood
    def require(  # noqa: PLR0913  those of evaluate, and when a row fails
        self,
        *requirements: Required,
        k: Cutoffs = None,
        by: By = None,
        last: Any = None,
        models: str | Sequence[str] | None = None,
        strict: bool = False,
        min_users: int = 5,
        level: float = 0.95,
        cluster: str | None = None,
        raises: bool = True,
    ) -> Any:
        """Raise if a requirement fails, and return a row for each segment, model and requirement.

        A requirement is a text such as `"ndcg@10 >= 0.28"`, `"gini@10 <= 0.9"` or `"ndcg@10 >= 0.99 * popularity"` (at most 1 %
        below that model), or a `rf.Requirement`. `k` applies to metrics without an `@`, `by` is that of `evaluate`. A
        number is required of every model, a share of a model of all the others, paired by user.

            models: the models that something is required of, if not of all.
            strict: fails for open rows too, except rows below `min_users` if others were judged.
            min_users: the fewest users of a row that is tested.
            level: the confidence level of intervals and tests.
            last: an earlier result, of `summarize` or a history, that "0.99 * last" means.

        Each row has a state, with the interval `difference_low` to `difference_high` of the value's difference to
        the bound (that of the value itself, or of the users' differences b - f a, with f the factor):

            fails: significantly on the wrong side. The interval is beyond the bound, and `p_adjusted`, corrected by Holm for
                all rows of the table, is at most 1 - level. So many segments make no false alarm.
            holds: significantly on the right side. The interval reaches at most to the bound, also with two added users at the
                ends of the metric; of a metric without two ends it takes 30 users whose values differ from 0, or from the
                other model's.
            open: the data cannot tell. Rows of no user, one user, or fewer than `min_users`, which are not tested, are open.
            missing: the model or segment is in `last`, with at least `min_users` users, but not in today's result; or no model
                and no segment has a row for the requirement.

        It raises for what fails or is missing, and for a requirement that no row of `min_users` users decides.
        `raises=False` returns the frame and does not raise. `cluster` is that of `summarize`. A set metric that few groups of
        users change is open.

        Values are shown rounded by `decimals=` or a profile, and judged unrounded; half a unit of the last decimal is no
        difference to an earlier value.

        `last` is an earlier result for comparison, as in `"ndcg@10 >= 0.99 * last"`: of `summarize`, or `rf.history(path)`, of
        which the latest run counts that was split by the same columns, and is not of today's data. Its intervals count as if of
        other users, so that less can be shown than of two models in one call.

        Columns: the `by` columns and a bound model; `requirement`, `state`, `value`, `bound` (times the other's value),
        `difference` with its interval, `p_adjusted` (on the wrong side alone), `n_users`, `note`. It needs NumPy
        and SciPy, the extra recframe[stats].

        Raises a RequirementError, which is an AssertionError too, with a table of the failed rows. So that no gate passes
        unseen, a LazyFrame, or a frame of an engine, runs at once, and the result is a Polars DataFrame; `raises=False` gives a
        plan, which runs when it is collected and does not raise. Raises what `evaluate` raises, and a RecframeError for an
        invalid requirement, and where `training=` is bound.

        In a test of pytest:

            def test_the_new_model_is_good_enough():
                rec = rf.rec(pl.read_parquet("recs.parquet"), pl.read_parquet("truth.parquet"), model="model")
                rec.require("ndcg@10 >= 0.28", "ndcg@10 >= 0.99 * popularity")

        Source: Newcombe 1998 (intervals of differences); Holm 1979.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": range(100), "item": 1, "rank": 1, "relevance": [0, 1, 1, 1] * 25})
        >>> df.rec.require("mrr >= 0.6", "mrr >= 0.7").select("requirement", "state", "value", "difference_low", "n_users")
        shape: (2, 5)
        ┌─────────────┬───────┬───────┬────────────────┬─────────┐
        │ requirement ┆ state ┆ value ┆ difference_low ┆ n_users │
        │ ---         ┆ ---   ┆ ---   ┆ ---            ┆ ---     │
        │ str         ┆ str   ┆ f64   ┆ f64            ┆ i64     │
        ╞═════════════╪═══════╪═══════╪════════════════╪═════════╡
        │ mrr >= 0.6  ┆ holds ┆ 0.75  ┆ 0.055215       ┆ 100     │
        │ mrr >= 0.7  ┆ open  ┆ 0.75  ┆ -0.044785      ┆ 100     │
        └─────────────┴───────┴───────┴────────────────┴─────────┘
        """
        asked = {"k": k, "by": by, "last": last, "models": models, "cluster": cluster}
        result = self._states(*requirements, **asked, level=level, min_users=min_users)
        if not raises:
            return result
        rows = collected(result)
        check(rows, strict=strict, min_users=min_users)
        rec: Any = self
        return rows if rec._kind.is_lazy else result  # noqa: SLF001  the methods of this room are those of a Rec

    def _states(  # noqa: PLR0913  those of require
        self,
        *requirements: Required,
        k: Cutoffs,
        by: By,
        last: Any,
        models: Any,
        cluster: str | None,
        level: float,
        min_users: int,
    ) -> Any:
        """Return the states of requirements as a frame of the kind that came in."""
        from recframe.statistics.gates import states  # noqa: PLC0415  NumPy and SciPy are an extra

        needed = required(requirements, k)
        given = models if isinstance(models, list | tuple) else [models]
        names = None if models is None else [*map(text_of, given)]
        mentioned = [*(one.model for one in needed), *(names or [])]
        rec = self._candidates(*mentioned)  # type: ignore[attr-defined]  # of a Rec
        of = question(rec, metrics_of(needed), None, by, cluster)
        asked = asked_of(needed, of.decimals, has_last=last is not None)
        if names is not None and MODEL not in of.by:
            raise RecframeError(_without_model("models="))
        # as the profile has them
        conventions = {one.metric.text: one for one in of.conventions}
        stated = [conventions[name] for name in asked["metric"]]
        keys, metrics = [*of.by], [one.metric for one in stated]
        sums = _sums(of, asked, stated)
        earlier = earlier_rows(last, of, sums.collect_schema())

        def finished(rows: pl.DataFrame) -> pl.DataFrame:
            rows = with_earlier(rows, earlier, asked, min_users)
            rows = rows if names is None else _of_models(rows, names, asked)
            return states(rows, keys, asked, metrics, level=level, min_users=min_users)

        columns = {"metric": pl.String, **COLUMNS}
        return of.result(sums, finished, of.by, columns, notes=of.notes, hidden=["metric"])


def _sums(of: Question, asked: pl.DataFrame, stated: Conventions) -> Taken:
    """Return the sums of values, and those of pairs with each model that a bound is a share of."""
    found = []
    for (model,), of_model in asked.group_by(BASELINE, maintain_order=True):
        pairing = None if model is None else _pairing(of, str(model), of_model["requirement"][0])
        places = {at: stated[at] for at in of_model[PLACE]}
        found.append(of.sums(pairing, places).drop(BASELINE, strict=False))
    sums: Any = found  # all plans, or all their results
    rows: Taken = pl.concat(sums, how="diagonal_relaxed")
    return rows


def _pairing(of: Question, model: str, requirement: str) -> Pairing:
    """Return the pairs with a model, or say that there are no models."""
    if not of.inputs.model:
        raise RecframeError(_without_model(repr(requirement), model))
    without = f"without {Either('last=', '--last')} " if model in EARLIER else ""
    given = f"{requirement!r}: {without}{model!r}"
    return Pairing(model, of.inputs.schema[MODEL], of.by[MODEL], given)


def _of_models(rows: pl.DataFrame, models: Sequence[str], asked: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the requested models, or raise an error for unknown ones."""
    text = texts(rows[MODEL])
    known = text.drop_nulls().unique().sort().to_list()
    # of a baseline nothing may be required
    for unknown in (one for one in models if one not in [*known, *asked[BASELINE]]):
        raise DataError(
            f"models={unknown!r}: no requirement is about this model; those with one are {listed(known)}"
        )
    return rows.filter(text.is_in(models))


def _without_model(what: str, model: str = "") -> str:
    """Return what a requirement about another model lacks: the models, or the earlier result."""
    result = Either("require(..., last=frame)", "--last FILE")
    msg = f"{what} needs a column of models: {bind(model=repr('model'))}{A_FRAME_EACH}"
    return msg + f"; or an earlier result: {result}" * (model in EARLIER)
