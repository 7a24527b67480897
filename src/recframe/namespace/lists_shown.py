"""The lists behind a number: the users with the worst and the best values, each with their list and what it missed."""

from __future__ import annotations

import operator
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic

import polars as pl

from recframe.conventions import under_profile
from recframe.errors import ColumnError, RecframeError, shown
from recframe.frames.inputs import Inputs
from recframe.frames.roles import Segment
from recframe.judging.as_frame import as_frame
from recframe.judging.judged_frame import judge
from recframe.judging.relevance import is_relevant_row
from recframe.metrics.language import registry
from recframe.metrics.language.definition import Metric
from recframe.namespace import calls, warned
from recframe.namespace.bound_metric import By, F
from recframe.plan.segments import keys_of, numbered

PLACE, HIT = "place", "hit"
"""The columns that no role has: the number of a user, from the first one shown, and whether a row is a hit."""


@dataclass(frozen=True)
class Asked:
    """What is asked for: so many users, those with the highest or the lowest values of a metric."""

    metric: Metric[...]
    n: int
    descending: bool


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
        asked = _asked(metric, k, n, worst=True)
        result: F = _given(self, asked, by, profile)
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
        asked = _asked(metric, k, n, worst=False)
        result: F = _given(self, asked, by, profile)
        return result


def _asked(metric: str | Metric[...], k: int | None, n: object, *, worst: bool) -> Asked:
    """Return what is asked for, or say why there is no such thing."""
    found = registry.asked([metric], k)
    if len(found) > 1:
        raise RecframeError(f"k={shown(k)}: one cut-off says who comes first; write k=10")
    one = found[0]
    if one.shape == "set":
        msg = f"{one} is one number for all lists of a segment, and no user has a value of it; ask for one that users have, "
        raise RecframeError(msg + "such as 'ndcg@10'")
    try:
        number = 0 if isinstance(n, bool) else operator.index(n)  # type: ignore[arg-type]
    except TypeError:
        number = 0
    if number < 1:
        raise RecframeError(f"n={shown(n)}: write how many users are to be shown, from 1 up")
    return Asked(one, number, descending=worst == (one.definition.direction == "lower"))


def _given(rec: Any, asked: Asked, by: By, profile: str | None) -> Any:
    """Return the lists of the users who are asked for, as a frame of the same kind."""
    context = rec._context  # noqa: SLF001  the methods of this class are those of a Rec
    user = context.names["user"]
    inputs = rec._inputs([*calls.names(by), user], profile, [asked.metric])  # noqa: SLF001
    convention = under_profile.asked(inputs.context, [asked.metric])
    values = _first(rec._evaluated(inputs, convention), inputs, asked).cache()  # noqa: SLF001
    # The segments are the users' alone: a list is shown whole, and held against all of the truth.
    models = values.select("model") if inputs.model else None
    plain = replace(inputs, segments=(), context=convention[0].context, models=models)
    names = {inside: name for inside, name in keys_of(inputs, [asked.metric]) if inside != "user"}
    shown_items = _columns_of_items(plain, {*names.values()})
    rows = rows_of_lists(plain, asked.metric, values.select("user"))
    lists = _with_items(rows, plain, shown_items)
    names |= {PLACE: PLACE, "user": user, "value": str(asked.metric)}
    names |= {role: context.names[role] for role in ("rank", "item", "relevance")}
    names |= {HIT: HIT} | {one.inside: one.name for one in shown_items}
    _check_names(list(names.values()))
    joined = joined_on(values, lists, [*inputs.model, "user"])
    order = [*list(names)[: list(names).index("user") + 1], "rank", "item"]
    plan = joined.sort(order, nulls_last=True).select(
        pl.col(inside).alias(name) for inside, name in names.items()
    )
    # NOTE: pandas' rows are sorted by these columns once more where it has categories, so that they say the whole order.
    sources = {names[inside]: inputs.sources.get(names[inside]) for inside in order}
    sources[names["item"]] = rec._kind.source(names["item"])  # noqa: SLF001
    return rec._kind.give(plan, sources, warned.of_truth(inputs))  # noqa: SLF001


def _first(values: pl.LazyFrame, inputs: Inputs, asked: Asked) -> pl.LazyFrame:
    """Return the first users of each segment: its keys, the place, the user and the value."""
    keys = [inside for inside, _ in keys_of(inputs, [asked.metric])]
    others = [key for key in keys if key != "user"]
    named = numbered(values, keys).select(*keys, value=pl.col(str(asked.metric)))
    ordered = named.filter(pl.col("value").is_not_null()).sort(
        [*others, "value", "user"],
        descending=[*(False for _ in others), asked.descending, False],
        nulls_last=True,
    )
    place = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    placed = ordered.with_columns((place.over(others) if others else place).alias(PLACE))
    return placed.filter(pl.col(PLACE) <= asked.n)


def rows_of_lists(inputs: Inputs, metric: Metric[...], users: pl.LazyFrame) -> pl.LazyFrame:
    """Return the rows of some users that are listed up to the cut-off or relevant, under the names of their roles.

    The users have values, so that the frames have passed their checks.
    """
    judged = judge(_of(inputs, users.unique()))
    rows = as_frame(replace(judged, known=replace(judged.known, checked=True)))
    roles = [*inputs.model, "user", "item", "rank", "relevance"]
    k = metric.k
    listed = pl.col("rank").is_not_null() if k is None else (pl.col("rank") <= k)
    listed = listed.fill_null(value=False)
    relevant = is_relevant_row(inputs).fill_null(value=False)
    return (
        numbered(rows, roles)
        .filter(listed | relevant)
        .with_columns(hit=listed & relevant, listed=listed)
    )


def _of(inputs: Inputs, users: pl.LazyFrame) -> Inputs:
    """Return the rows of some users, whatever the universe, in the order in which they stand."""
    given = {name: getattr(inputs, name) for name in ("lists", "truth")}
    kept: dict[str, Any] = {
        name: frame.join(users, on="user", how="semi", maintain_order="left")
        for name, frame in given.items()
        if frame is not None
    }
    context = inputs.context.having(universe="all")
    return replace(inputs, **kept, context=context, users=None, checks=())


def _columns_of_items(inputs: Inputs, without: Collection[str]) -> list[Segment]:
    """Return the columns of the items frame beside the item, but those that the result has as segments."""
    if inputs.items is None:
        return []
    without = {inputs.context.names["item"], *without}
    names = [name for name in inputs.sides["items"].columns if name not in without]
    return [Segment(f"shown {place}", name, "items") for place, name in enumerate(names)]


def _with_items(rows: pl.LazyFrame, inputs: Inputs, columns: Sequence[Segment]) -> pl.LazyFrame:
    """Return rows with what is known of their items."""
    if not columns or inputs.items is None:
        return rows
    taken = inputs.sides["items"].take(["item"], columns).lazy().drop_nulls("item")
    return joined_on(rows, taken, ["item"])


def joined_on(rows: pl.LazyFrame, others: pl.LazyFrame, on: list[str]) -> pl.LazyFrame:
    """Return rows with the others' columns; keys that came from frames of other widths match."""
    dtypes = rows.collect_schema()
    keys = [pl.col(key).cast(dtypes[key], strict=False) for key in on]
    return rows.join(others.with_columns(keys), on=on, how="left", nulls_equal=True)


def _check_names(names: Sequence[str]) -> None:
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        msg = f"the result has a column {twice[0]!r} of its own, and {twice[0]!r} is a column of items= or by= too; rename that"
        raise ColumnError(msg)
