"""Results in long form, and as rows of charts and reports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count
from typing import Any, NamedTuple

import polars as pl

from recframe.audit.report import tell
from recframe.charts.themes import ALL
from recframe.errors import ColumnError, RecframeError, shown, worded
from recframe.evaluation.segments import keys_of, n_keys, numbered, support_of
from recframe.evaluation.trainings import one_of_each
from recframe.frames.collecting import Collect
from recframe.frames.dtypes import as_text
from recframe.frames.hints import A_FRAME_EACH, Given, bind
from recframe.frames.inputs import Inputs
from recframe.frames.kinds.kind import Seen as WhatIsTold
from recframe.frames.roles import Segment
from recframe.frames.rows.joins import AS_EVER
from recframe.metrics.language import registry
from recframe.metrics.language.definition import Metric
from recframe.profiles import under_profile
from recframe.ranking.data_checks import as_frame
from recframe.ranking.judged_frame import judge
from recframe.ranking.relevance import is_relevant_row, rows_of_models
from recframe.statistics import options

NOBODY = "(none)"
"""The name of a null, where nothing else has it."""


class Names(NamedTuple):
    """Unique labels of values in their own order, nulls last."""

    order: list[str]
    none: str = NOBODY
    """The name of a null among them."""
    dtype: pl.DataType = pl.String()

    @classmethod
    def of(cls, columns: Iterable[pl.Series]) -> Names:
        """Return the names of the values of some columns."""
        each = pl.concat([column.alias("name") for column in columns])
        each = each.unique().sort(nulls_last=True)
        text = each.to_frame().select(as_text(pl.col("name"), each.dtype)).to_series()
        others = chain([NOBODY, "(null)"], (f"(null {n})" for n in count(2)))
        none = next(name for name in others if name not in {*text})
        return cls(text.fill_null(none).to_list(), none, each.dtype)

    def text(self, values: pl.Expr) -> pl.Expr:
        """Return values as their names."""
        return as_text(values, self.dtype).fill_null(self.none)


WITHOUT_MODELS = Names([ALL])


def models_of(rec: Any) -> Names:
    """Return the names of all models that are bound, whether or not a chart has numbers of each of them.

    NOTE: the colour of a model is by its place among these, so that it is the same in all charts of a `rec`.
    """
    inputs = rec._inputs(None, [])  # noqa: SLF001  the methods of this room are those of a Rec
    if not inputs.model:
        return WITHOUT_MODELS
    # those that are held are trainings, where these are bound
    models = None if inputs.training else rec._run().models(inputs)  # noqa: SLF001
    if models is None:
        models = rows_of_models(inputs).unique()
    return Names.of([rec._kind.give(models, {})["model"]])  # noqa: SLF001


class Result(NamedTuple):
    """A result in long form under the names of charts."""

    data: pl.DataFrame
    """Keys as text in `model`, `baseline` and `segment`, the `place` of the segment, and the numbers."""
    models: Names
    by: str = ""
    """Names of the columns that make the segments, or ""."""
    own_order: bool = False
    """Whether segments have an order of their own, that of an enum."""


def named(rec: Any, result: pl.DataFrame) -> Result:
    """Return a result in long form with its keys as text.

    The keys are the columns before `metric`: segments, the model and the baseline.
    """
    keys, model = result.columns[: result.columns.index("metric")], rec._context.model  # noqa: SLF001
    data = result.clone()
    # NOTE: some names, such as "^.*$", are patterns to Polars
    inside = {name: f"key {place}" for place, name in enumerate(keys)}
    data.columns = [*inside.values(), *result.columns[len(keys) :]]
    roles = {"model": model, "baseline": "baseline"}
    roles = {role: inside[name] for role, name in roles.items() if name in inside and model}
    models = Names.of(data[key] for key in roles.values()) if roles else WITHOUT_MODELS
    texts = {role: models.text(pl.col(key)) for role, key in roles.items()}
    texts = {"model": pl.lit(ALL), **texts}
    of_segments = {name: key for name, key in inside.items() if key not in roles.values()}
    data = with_segments(data, [*of_segments.values()]).with_columns(**texts)
    own = all(isinstance(result.schema[name], pl.Enum) for name in of_segments)
    data = data.select(*texts, "segment", "place", *result.columns[len(keys) :])
    return Result(data, models, ", ".join(of_segments), own)


def keyed(rec: Any, result: pl.DataFrame) -> pl.DataFrame:
    """Return a result in long form with its keys as text, in `model`, `baseline` and `segment`."""
    return named(rec, result).data


def with_segments(rows: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Return rows with their segment in words, and its place in the order of the rows.

    Two segments that read alike, "a" with "b · c" and "a · b" with "c", are told apart by a number.
    """
    if not keys:
        return rows.with_columns(segment=pl.lit(""), place=pl.lit(0, pl.Int64))
    texts = [Names.of([rows[key]]).text(pl.col(key)) for key in keys]
    # NOTE: sums, since Polars 1 panics where it concatenates columns with an empty chunk
    words = worded(*[part for text in texts for part in (" · ", text)][1:])
    each = rows.select(keys).unique(maintain_order=True)
    each = each.with_columns(segment=words, place=pl.int_range(pl.len(), dtype=pl.Int64))
    again = pl.int_range(pl.len(), dtype=pl.Int64).over("segment")
    number = pl.when(again > 0).then(worded(" (", again + 1, ")")).otherwise(pl.lit(""))
    each = each.with_columns(segment=pl.col("segment") + number)
    return rows.join(each, on=keys, how="left", nulls_equal=True, maintain_order="left")


def labelled(data: pl.DataFrame) -> pl.DataFrame:
    """Return rows with the label of their segment: its name and its number of users."""
    users = data.select(pl.col("n_users").max().over("segment")).to_series()
    names = zip(data["segment"], users, strict=True)
    labels = [f"{name} ({n:,})" if name and n is not None else name for name, n in names]
    return data.with_columns(label=pl.Series(labels, dtype=pl.String))


def longest_list(rec: Any) -> int | None:
    """Return the length of the longest list: its last rank, or of lists by score its number of rows."""
    inputs = rec._inputs(None, [])  # noqa: SLF001  the methods of this room are those of a Rec
    rows = inputs.identified("recommendations")
    keys = [*inputs.model, *inputs.training, "user"]
    lengths = rows.group_by(keys).len("rank") if inputs.scored else rows
    found = rec._kind.run(lengths.select(pl.col("rank").max().cast(pl.Int64)))["rank"]  # noqa: SLF001
    return found.item() if len(found) else None


class Intervals(NamedTuple):
    """Options of intervals: their level and the column of clusters."""

    level: float
    cluster: str | None = None

    @property
    def words(self) -> str:
        """The level, and the column of clusters, as a sentence has them."""
        clusters = "" if self.cluster is None else f" (users in clusters, by {self.cluster})"
        return options.per_cent(self.level) + clusters


def summary(rec: Any, metrics: Sequence[Metric[...]], how: Intervals, by: Any = None) -> Result:
    """Return a result of `summarize` for a chart, with the cut-off of each row in `k`."""
    found = named(rec, rec.summarize(metrics, by=by, **how._asdict()))
    cutoffs = {str(metric): metric.k for metric in metrics}
    k = pl.col("metric").replace_strict(cutoffs, return_dtype=pl.Int64)
    data = found.data.rename({"value_low": "low", "value_high": "high"}).with_columns(k=k)
    return found._replace(data=data)


def in_columns(
    data: pl.DataFrame, columns: Mapping[str, tuple[str, str]], *keys: str
) -> pl.DataFrame:
    """Return numbers of several metrics side by side, in columns of a metric and of a number of it."""
    made = (
        pl.col(number).filter(pl.col("metric") == metric).first().alias(name)
        for name, (metric, number) in columns.items()
    )
    grouped = data.group_by("model", "segment", "place", *keys, maintain_order=True)
    return grouped.agg(*made, pl.col("n_users").max())


def check_whole(rec: Any, call: str) -> None:
    """Say that a chart shows no segments, where some are bound."""
    by = rec._context.by  # noqa: SLF001  the methods of this room are those of a Rec
    if by:
        msg = f"plot.{call} draws no segments, and by={shown(by[0])} is bound; ask it of a rec without group_by"
        raise RecframeError(msg)


def one_metric(call: str, metric: str | Metric[...], k: int | None = None) -> Metric[...]:
    """Return the only metric of a chart."""
    found = registry.asked([metric], k)
    if len(found) != 1:
        msg = f"{call} takes one cut-off, such as k=10; found k={shown(k)}"
        raise RecframeError(msg)
    return found[0]


def check_of_users(metric: Metric[...]) -> None:
    """Say that no user has a value of a metric of whole segments."""
    if metric.shape == "set":
        msg = f"{metric} is one number for all lists of a segment, and no user has a value of it; ask for one that users have, "
        raise RecframeError(msg + "such as 'ndcg@10'")


def values_of_users(
    rec: Any, metric: Metric[...], by: Sequence[Any] = ()
) -> tuple[Inputs, pl.LazyFrame]:
    """Return the frames by user, and each user's value, in `value` beside the keys; without those who have none."""
    inputs = rec._inputs([*by, rec._context.names["user"]], [metric])  # noqa: SLF001
    values = rec._evaluated(inputs, under_profile.asked(inputs.context, [metric]))  # noqa: SLF001
    keys = [*keys_of(inputs, [metric])]
    named = numbered(values, keys).select(*keys, pl.col(str(metric)).alias("value"))
    return inputs, named.drop_nulls("value")


def warned_of_truth(inputs: Inputs) -> WhatIsTold:
    """Return a callback that warns about the truth, for results that are no tables of metrics."""

    def told(result: pl.DataFrame, run: Collect) -> None:
        tell(one_of_each(under_profile.at_home(inputs)), [], result, run)

    return told


def rows_of_lists(inputs: Inputs, metric: Metric[...], users: pl.LazyFrame) -> pl.LazyFrame:
    """Return the rows of some users that are listed up to the cut-off or relevant, under the names of their roles.

    The users have values, so that the frames have passed their checks. Rows stand in their own order, whatever the universe.
    """
    frames = {"lists": inputs.lists, "truth": inputs.truth}
    kept: dict[str, Any] = {
        name: frame.join(users.unique(), on="user", how="semi", maintain_order="left")
        for name, frame in frames.items()
        if frame is not None
    }
    context = inputs.context.having(universe="all")
    judged = judge(replace(inputs, **kept, context=context, users=None, checks=()))
    rows = as_frame(replace(judged, precomputed=replace(judged.precomputed, checked=True)))
    rank = pl.col("rank")
    listed = rank.is_not_null() if metric.k is None else rank <= metric.k
    listed = listed.fill_null(value=False)
    relevant = is_relevant_row(inputs).fill_null(value=False)
    rows = numbered(rows, [*inputs.model, "user", "item", "rank", "relevance"])
    return rows.filter(listed | relevant).with_columns(hit=listed & relevant, listed=listed)


def with_columns_of_items(
    rows: pl.LazyFrame, inputs: Inputs, columns: Sequence[Segment]
) -> pl.LazyFrame:
    """Return rows with columns of the frame of items."""
    if not columns:
        return rows
    taken = inputs.sides["items"].take(["item"], columns).lazy().drop_nulls("item")
    return joined_on(rows, taken, ["item"])


def joined_on(rows: pl.LazyFrame, others: pl.LazyFrame, on: list[str]) -> pl.LazyFrame:
    """Return rows with the others' columns; keys that came from frames of other widths match."""
    dtypes = rows.collect_schema()
    keys = [pl.col(key).cast(dtypes[key], strict=False) for key in on]
    return rows.join(others.with_columns(keys), on=on, how="left", nulls_equal=True)


def check_models(rec: Any, call: str) -> None:
    """Say that a call is of several models, where no column of them is bound."""
    if rec._context.model is None:  # noqa: SLF001  the methods of this room are those of a Rec
        msg = f"{call} holds models against one another: {bind(model=repr('model'))}{A_FRAME_EACH}"
        raise RecframeError(msg)


def noun_of(metric: Metric[...]) -> str:
    """Return the noun of what a metric is averaged over."""
    return "list" if metric.definition.over_lists else "user"


COLUMNS = {"metric": pl.String, "k": pl.Int64, "value": pl.Float64, "n": pl.Int64}
"""The columns after those of `by`."""


def tidy(values: pl.LazyFrame, inputs: Inputs, metrics: Sequence[Metric[...]]) -> pl.LazyFrame:
    """Return a result with support as one row for each segment and metric, in the order of both.

    NOTE: lists of one struct for each metric, since a concatenation would read the plan once for each.
    """
    n = n_keys(inputs)
    names, keys = values.collect_schema().names()[:n], [f"key {place}" for place in range(n)]
    for name in names:
        if name in COLUMNS:
            msg = (
                f"{Given('by', name)} is also the name of a result column; rename the column first"
            )
            raise ColumnError(msg)
    rows = pl.concat_list([_row(metric) for metric in metrics]).alias("rows")
    long = numbered(values, keys).select(*keys, rows).explode("rows", **AS_EVER)
    named = (pl.col(key).alias(name) for key, name in zip(keys, names, strict=True))
    return long.unnest("rows").select(*named, *COLUMNS)


def _row(metric: Metric[...]) -> pl.Expr:
    """Return a metric's columns as one struct."""
    values = {
        "metric": pl.lit(str(replace(metric, k=None))),
        "k": pl.lit(metric.k),
        "value": pl.col(str(metric)),
        "n": pl.col(support_of(metric)),
    }
    return pl.struct(values[name].cast(dtype).alias(name) for name, dtype in COLUMNS.items())


def wide(result: pl.DataFrame, metrics: Sequence[Metric[...]]) -> pl.DataFrame:
    """Return a collected result in long form as one with a column for each metric, for whoever looks at the numbers."""
    every, n = len(metrics), result.width - len(COLUMNS)
    parts = [result.gather_every(every, place) for place in range(every)]
    # by their names, since among columns in a list an empty name is replaced
    columns = {column.name: column for column in parts[0].get_columns()[:n]}
    counts = {
        str(place): part["n"]
        for place, part in enumerate(parts)
        if not metrics[place].definition.over_lists
    }
    if counts:
        columns["n_users"] = pl.DataFrame(counts).max_horizontal()
    values = {str(one): part["value"] for one, part in zip(metrics, parts, strict=True)}
    return pl.DataFrame({**columns, **values})
