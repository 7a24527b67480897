"""The lists behind a number: the users with the worst and the best values, each with their list and what it missed."""

from __future__ import annotations

import operator
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, Generic

import polars as pl

from recframe.conventions import under_profile
from recframe.errors import ColumnError, RecframeError, shown
from recframe.frames.inputs import Inputs
from recframe.frames.roles import Segment
from recframe.look.results import (
    check_of_users,
    joined_on,
    rows_of_lists,
    values_of_users,
    with_columns_of_items,
)
from recframe.metrics.language import registry
from recframe.metrics.language.definition import Metric
from recframe.namespace import calls, warned
from recframe.namespace.bound_metric import By, F
from recframe.plan.segments import keys_of

PLACE, HIT = "place", "hit"
"""The columns that no role has: the number of a user, from the first one shown, and whether a row is a hit."""


class ListsShown(Generic[F]):
    """The methods of `rec` that show lists of users."""

    @calls.understood
    def worst(
        self,
        metric: str | Metric[...],
        *,
        n: int = 20,
        k: int | None = None,
        by: By = None,
        profile: str | None = None,
    ) -> F:
        """Return the users with the worst values of a metric, with their lists against their truth.

        A row for each item of such a user that is recommended, up to the metric's cut-off, or relevant. Columns: `by` columns
        (a bound model first), `place` (1 is the worst user), the user, the metric, the rank (null: relevant, but never
        recommended; beyond the cut-off: recommended too low), the item, the relevance, `hit` (relevant, and recommended up to
        the cut-off), and the columns of `items`, which may name what it is. Rows stand in the order of `by`, place, rank and
        item; users of one value by user. Users without a value are left out.

        The `n` users are counted in each `by` segment and each model; a user's whole list is shown, whatever the segment. The
        worst are those with the lowest values, with a metric whose direction is "lower" those with the highest.

        Raises a RecframeError for a metric of whole segments, such as coverage, of which no user has a value.

        >>> import polars as pl, recframe
        >>> recs = pl.DataFrame({"user": [1, 1, 2], "item": [10, 11, 10], "rank": [1, 2, 1]})
        >>> truth = pl.DataFrame({"user": [1, 2], "item": [12, 10]})
        >>> films = pl.DataFrame({"item": [10, 11, 12], "title": ["Emma", "Dune", "Jaws"]})
        >>> recs.rec(truth=truth, items=films).worst("ndcg@10", n=1)
        shape: (3, 8)
        ┌───────┬──────┬─────────┬──────┬──────┬───────────┬───────┬───────┐
        │ place ┆ user ┆ ndcg@10 ┆ rank ┆ item ┆ relevance ┆ hit   ┆ title │
        │ ---   ┆ ---  ┆ ---     ┆ ---  ┆ ---  ┆ ---       ┆ ---   ┆ ---   │
        │ i64   ┆ i64  ┆ f64     ┆ i64  ┆ i64  ┆ i64       ┆ bool  ┆ str   │
        ╞═══════╪══════╪═════════╪══════╪══════╪═══════════╪═══════╪═══════╡
        │ 1     ┆ 1    ┆ 0.0     ┆ 1    ┆ 10   ┆ null      ┆ false ┆ Emma  │
        │ 1     ┆ 1    ┆ 0.0     ┆ 2    ┆ 11   ┆ null      ┆ false ┆ Dune  │
        │ 1     ┆ 1    ┆ 0.0     ┆ null ┆ 12   ┆ 1         ┆ false ┆ Jaws  │
        └───────┴──────┴─────────┴──────┴──────┴───────────┴───────┴───────┘
        """
        result: F = _shown(self, metric, k, n, by, profile, worst=True)
        return result

    @calls.understood
    def best(
        self,
        metric: str | Metric[...],
        *,
        n: int = 20,
        k: int | None = None,
        by: By = None,
        profile: str | None = None,
    ) -> F:
        """Return the users with the best values of a metric, with their lists against their truth; otherwise as `worst`.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 2], "item": [10, 10], "rank": [1, 2], "relevance": [1, 1]})
        >>> df.rec.best("mrr", n=1)
        shape: (1, 7)
        ┌───────┬──────┬─────┬──────┬──────┬───────────┬──────┐
        │ place ┆ user ┆ mrr ┆ rank ┆ item ┆ relevance ┆ hit  │
        │ ---   ┆ ---  ┆ --- ┆ ---  ┆ ---  ┆ ---       ┆ ---  │
        │ i64   ┆ i64  ┆ f64 ┆ i64  ┆ i64  ┆ i64       ┆ bool │
        ╞═══════╪══════╪═════╪══════╪══════╪═══════════╪══════╡
        │ 1     ┆ 1    ┆ 1.0 ┆ 1    ┆ 10   ┆ 1         ┆ true │
        └───────┴──────┴─────┴──────┴──────┴───────────┴──────┘
        """
        result: F = _shown(self, metric, k, n, by, profile, worst=False)
        return result


def _shown(  # noqa: PLR0913  those of both methods
    rec: Any,
    metric: str | Metric[...],
    k: int | None,
    n: object,
    by: By,
    profile: str | None,
    *,
    worst: bool,
) -> Any:
    """Return the lists of the first users, as a frame of the same kind."""
    one, number = _checked(metric, k, n)
    context = rec._context  # noqa: SLF001  the methods of this class are those of a Rec
    user = context.names["user"]
    inputs, values = values_of_users(rec, one, profile, calls.names(by))
    keys = dict(keys_of(inputs, [one]))
    segments = [key for key in keys if key != "user"]
    lower_is_better = one.definition.direction == "lower"
    order = {**dict.fromkeys(segments, False), "value": worst == lower_is_better, "user": False}
    ordered = values.sort(*order, descending=[*order.values()], nulls_last=True)
    place = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    ordered = ordered.with_columns((place.over(segments) if segments else place).alias(PLACE))
    values = ordered.filter(pl.col(PLACE) <= number).cache()
    # The segments are the users' alone: a list is shown whole, and compared with all of the truth.
    models = values.select("model") if inputs.model else None
    convention = under_profile.asked(inputs.context, [one])[0]
    plain = replace(inputs, segments=(), context=convention.context, models=models)
    names = {key: keys[key] for key in segments}
    shown_items = _columns_of_items(plain, {*names.values()})
    lists = rows_of_lists(plain, one, values.select("user"))
    lists = with_columns_of_items(lists, plain, shown_items)
    names |= {PLACE: PLACE, "user": user, "value": str(one)}
    names |= {role: context.names[role] for role in ("rank", "item", "relevance")}
    names |= {HIT: HIT} | {column.inside: column.name for column in shown_items}
    _check_names(list(names.values()))
    by_list = [*segments, PLACE, "user", "rank", "item"]
    plan = joined_on(values, lists, [*inputs.model, "user"]).sort(by_list, nulls_last=True)
    plan = plan.select(pl.col(inside).alias(name) for inside, name in names.items())
    # NOTE: pandas' rows are sorted by these columns once more where it has categories, so that they say the whole order.
    sources = {names[inside]: inputs.sources.get(names[inside]) for inside in by_list}
    sources[names["item"]] = rec._kind.source(names["item"])  # noqa: SLF001
    return rec._kind.give(plan, sources, warned.of_truth(inputs))  # noqa: SLF001


def _checked(metric: str | Metric[...], k: int | None, n: object) -> tuple[Metric[...], int]:
    """Return the metric and the number of users, or say why there is no such thing."""
    found = registry.asked([metric], k)
    if len(found) > 1:
        raise RecframeError(f"k={shown(k)}: one cut-off says who comes first; write k=10")
    check_of_users(found[0])
    try:
        number = 0 if isinstance(n, bool) else operator.index(n)  # type: ignore[arg-type]
    except TypeError:
        number = 0
    if number < 1:
        raise RecframeError(f"n={shown(n)}: write how many users are to be shown, from 1 up")
    return found[0], number


def _columns_of_items(inputs: Inputs, without: Collection[str]) -> list[Segment]:
    """Return the columns of the items frame beside the item, but those that the result has as segments."""
    if inputs.items is None:
        return []
    without = {inputs.context.names["item"], *without}
    names = [name for name in inputs.sides["items"].columns if name not in without]
    return [Segment(f"shown {place}", name, "items") for place, name in enumerate(names)]


def _check_names(names: Sequence[str]) -> None:
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        msg = f"the result has a column {twice[0]!r} of its own, and {twice[0]!r} is a column of items= or by= too; rename that"
        raise ColumnError(msg)
