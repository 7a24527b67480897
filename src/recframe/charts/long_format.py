"""Results in long form, and as rows of charts and reports."""

from __future__ import annotations

from typing import Any, NamedTuple

import polars as pl

from recframe.charts.themes import ALL
from recframe.errors import RecframeError, shown
from recframe.frames import options
from recframe.frames.dtypes import as_text
from recframe.metrics.language import registry
from recframe.metrics.language.definition import Metric, Metrics
from recframe.metrics.language.registry import By
from recframe.ranking.judged_frame import rows_of_models

OneMetric = str | Metric[...]
NOBODY = "(none)"
"""The name of a null, where nothing else has it."""


class Names(NamedTuple):
    """Unique labels of values in their own order, nulls last."""

    order: list[str]
    none: str = NOBODY
    """The name of a null among them."""

    @classmethod
    def of(cls, *columns: pl.Series) -> Names:
        """Return the names of the values of some columns."""
        each = pl.concat([column.alias("name") for column in columns]).unique().sort()
        text = texts(each.drop_nulls())
        none = NOBODY
        while none in text:
            none = f"({none})"
        return cls([*text, *[none] * each.has_nulls()], none)

    def text(self, values: pl.Series) -> pl.Series:
        """Return values as their names."""
        return texts(values).fill_null(self.none)


def texts(values: pl.Series) -> pl.Series:
    """Return values as text."""
    column = values.alias("text").to_frame()
    return column.select(as_text(pl.col("text"), values.dtype)).to_series()


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
    return Names.of(rec._kind.give(models, {})["model"])  # noqa: SLF001


class Result(NamedTuple):
    """A result in long form under the names of charts."""

    data: pl.DataFrame
    """Keys as text in `model`, `baseline` and `segment`, the `place` of the segment, and the numbers."""
    models: Names
    by: str = ""
    """Names of the columns that make the segments, or ""."""
    at: str = ""
    """The level of the intervals, in words."""


def named(rec: Any, result: pl.DataFrame) -> Result:
    """Return a result in long form with its keys as text."""
    return with_names(result, rec._context.model)  # noqa: SLF001  the methods of this room are those of a Rec


def with_names(result: pl.DataFrame, model: str | None) -> Result:
    """Return rows whose keys, the columns before `metric`, are text: segments, the model and the baseline."""
    n = result.columns.index("metric")
    keys = {key.name: key for key in result.get_columns()[:n]}
    roles = {"model": model, "baseline": "baseline"} if model in keys else {}
    named = {role: keys.pop(name) for role, name in roles.items() if name in keys}
    models = Names.of(*named.values()) if named else WITHOUT_MODELS
    text = {role: models.text(key) for role, key in named.items()}
    # "a" with "b · c" is not "a · b" with "c"
    parts = [
        Names.of(key).text(key).str.replace_all(" · ", " \u2219 ", literal=True)
        for key in keys.values()
    ]
    words = [" · ".join(row) for row in zip(*parts, strict=True)]
    segment = pl.Series(words, dtype=pl.String) if keys else pl.lit("")
    # NOTE: some names, such as "^.*$", are patterns to Polars
    safe = {f"key {place}": key for place, key in enumerate(keys.values())}
    data = pl.DataFrame(result.get_columns()[n:])
    data = data.with_columns(model=pl.lit(ALL), segment=segment).with_columns(**text, **safe)
    data = data.sort(*safe, nulls_last=True, maintain_order=True) if safe else data
    place = pl.col("segment").rle_id().cast(pl.Int64)
    return Result(data.drop(*safe).with_columns(place=place), models, ", ".join(keys))


def each_value(rec: Any, metric: Metric[...], by: str) -> Result:
    """Return the value of each user or item of each model that has it, with its id in `key`."""
    context = rec._context  # noqa: SLF001  the methods of this room are those of a Rec
    names = models_of(rec)
    key = context.names[by]
    found = rec.evaluate(metric, by=key)
    model = pl.lit(ALL) if context.model is None else names.text(found[context.model])
    rows = pl.DataFrame({"key": found[key], "value": found.to_series(found.width - 1)})
    rows = rows.with_columns(model=model, segment=pl.lit(""), place=0, n_users=1)
    return Result(rows.drop_nulls("value"), names)


def reached(rec: Any, metrics: Metrics) -> list[Metric[...]]:
    """Return the metrics whose cut-offs the longest list reaches, and those with the first cut-off."""
    inputs = rec._inputs(None, [])  # noqa: SLF001  the methods of this room are those of a Rec
    rows = inputs.identified("recommendations")
    keys = [*inputs.model, *inputs.training, "user"]
    # lists by score have no ranks
    ranks = rows.group_by(keys).len("rank") if inputs.scored else rows
    longest = rec._kind.run(ranks.select(pl.col("rank").max()))["rank"].drop_nulls()  # noqa: SLF001
    last = max([*longest, min(one.k or 0 for one in metrics)])
    return [one for one in metrics if (one.k or 0) <= last]


def at_level(level: float, cluster: str | None = None) -> str:
    """Return the level of intervals, and the column of clusters, as a sentence has them."""
    clusters = "" if cluster is None else f" (users in clusters, by {cluster})"
    return options.per_cent(level) + clusters


def summary(rec: Any, metrics: Metrics, level: float, cluster: str | None, by: By = None) -> Result:
    """Return a result of `summarize` for a chart, with the cut-off of each row in `k`."""
    found = named(rec, rec.summarize(metrics, by=by, level=level, cluster=cluster))
    cutoffs = {str(metric): metric.k for metric in metrics}
    k = pl.col("metric").replace_strict(cutoffs, return_dtype=pl.Int64)
    data = found.data.rename({"value_low": "low", "value_high": "high"}).with_columns(k=k)
    return found._replace(data=data, at=at_level(level, cluster))


def one_metric(call: str, metric: OneMetric, k: int | None) -> Metric[...]:
    """Return the only metric of a chart."""
    found = registry.asked([metric], k)
    if len(found) != 1:
        raise RecframeError(f"{call} takes one cut-off, such as k=10; found k={shown(k)}")
    return found[0]


def check_of_users(metric: Metric[...]) -> None:
    """Say that no user has a value of a metric of whole segments."""
    if metric.shape == "set":
        raise RecframeError(
            f"{metric} is one number for all lists of a segment, and no user has a value of it; ask for one that users have, "
            "such as 'ndcg@10'"
        )
