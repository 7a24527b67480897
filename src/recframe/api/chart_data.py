"""Numbers of charts, a few hundred rows at the most.

Charts are drawn at once, so that a LazyFrame's plan is collected here, by the streaming engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from recframe.api.bound_metric import Cutoffs
from recframe.api.request import warned_of_truth
from recframe.charts.long_format import WITHOUT_MODELS, Names, models_of, values_of_users
from recframe.charts.themes import GROUPS
from recframe.errors import RecframeError, shown
from recframe.evaluation import metrics_of_lists
from recframe.evaluation.required_columns import needs_of
from recframe.frames.hints import bind
from recframe.frames.inputs import Inputs
from recframe.metrics import catalogue_metrics
from recframe.metrics.language import registry
from recframe.metrics.language.at import At
from recframe.metrics.language.definition import Definition, Metric
from recframe.profiles import under_profile
from recframe.ranking.data_checks import after_checks
from recframe.ranking.judged_frame import PAIR, judge
from recframe.ranking.relevance import is_relevant_row
from recframe.side_info.aggregation_levels import Levels
from recframe.side_info.requirements import check_needs

TRAIN = "train"
ROUNDING = 1e-9
"""Tolerance at the upper end of a bin."""


def _cumulative_gain(at: At) -> pl.Expr:
    """Return the sum of the relevance of the hits."""
    return at.sum(lambda hit: hit.gain)


def _best_gain(at: At) -> pl.Expr:
    """Return the sum of the relevance of the first k relevant items in their best order."""
    return at.best(lambda best: best.sum(lambda hit: hit.gain), "relevant")


GAINS = (
    Metric[...](Definition("gain", _cumulative_gain, range=(0.0, float("inf")), linear=True)),
    Metric[...](Definition("best_gain", _best_gain, range=(0.0, float("inf")), linear=True)),
)
"""Metrics used only in charts."""


def over_cutoffs(call: str, metric: str | Metric[...], k: Cutoffs) -> list[Metric[...]]:
    """Return a metric at the cut-offs of a chart."""
    plain = registry.asked([metric], None)[0]
    if plain.k is not None:
        name = str(plain).rpartition("@")[0]
        msg = f"{call} draws {name!r} over k, and {str(plain)!r} has one: {call}({name!r}, k=range(1, 51))"
        raise RecframeError(msg)
    if k is None:
        msg = f"{call} draws a metric over cut-offs: k=range(1, 51)"
        raise RecframeError(msg)
    return registry.asked([metric], k)


def check_whole(rec: Any, call: str) -> None:
    """Say that a chart shows no segments, where some are bound."""
    by = rec._context.by  # noqa: SLF001  the methods of this room are those of a Rec
    if by:
        msg = f"plot.{call} draws no segments, and by={shown(by[0])} is bound; ask it of a rec without group_by"
        raise RecframeError(msg)


# Sums of the plan


def users_values(
    rec: Any, metric: Metric[...], profile: str | None, bins: int, names: Names
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return how many users have a value in each bin up to and with its upper end, and how many have 0."""
    inputs, values = values_of_users(rec, metric, profile)
    low, high = metric.range
    value, is_zero = pl.col("value"), pl.col("value") == 0
    values = values.with_columns(zero=is_zero)
    if low == float("-inf") or high == float("inf"):
        others = pl.when(~is_zero).then(value)
        ends = values.select(
            least=pl.min_horizontal(others.min(), 0.0), most=pl.max_horizontal(others.max(), 0.0)
        )
        values = values.join(ends, how="cross")
    else:
        values = values.with_columns(least=pl.lit(float(low)), most=pl.lit(float(high)))
    place = (_place(bins) - ROUNDING).ceil() - 1
    bin_of = pl.when(~is_zero).then(_kept_in(place, bins))
    plan = _counted(values.with_columns(bin=bin_of), [*inputs.model, "zero"], bins)
    found = _in_bins(rec, plan, inputs, names)
    n = pl.col("n")
    zeros = found.group_by("model", "model_place").agg(n=n.filter("zero").sum(), users=n.sum())
    zeros = zeros.sort("model_place").with_columns(share=n / pl.col("users"))
    above = found.filter(~pl.col("zero")).drop("zero").join(zeros["model", "users"], on="model")
    return above.with_columns(share=n / pl.col("users")).sort("model_place", "bin"), zeros


def _place(bins: int) -> pl.Expr:
    """Return how many bins a value is above the least one."""
    width = (pl.col("most") - pl.col("least")) / bins
    return (pl.col("value") - pl.col("least")) / width


def _kept_in(place: pl.Expr, bins: int) -> pl.Expr:
    return place.fill_nan(0.0).clip(0, bins - 1).cast(pl.Int64)


def _counted(values: pl.LazyFrame, keys: Sequence[str], bins: int) -> pl.LazyFrame:
    """Return the number of values in each bin."""
    width = (pl.col("most") - pl.col("least")) / bins
    n, least = pl.len().cast(pl.Int64), pl.col("least").first()
    return values.group_by(*keys, "bin").agg(n=n, least=least, width=width.first())


def _in_bins(rec: Any, plan: pl.LazyFrame, inputs: Inputs, names: Names) -> pl.DataFrame:
    """Return bins with their ends, and the names of their models as text, with their places in their own order."""
    found: pl.DataFrame = rec._kind.give(plan, {}, warned_of_truth(inputs))  # noqa: SLF001
    start, model = (
        pl.col("least") + pl.col("bin") * pl.col("width"),
        names.model(bound=bool(inputs.model)),
    )
    found = found.with_columns(low=start, high=start + pl.col("width"), model=model)
    return found.with_columns(model_place=names.place)


def filled(data: pl.DataFrame, keys: Sequence[str], bins: int) -> pl.DataFrame:
    """Return bins completed with empty ones, and a final edge for drawing steps."""
    if data.is_empty():
        return data
    first, width = pl.col("low") - pl.col("bin") * pl.col("width"), pl.col("width")
    ends = data.group_by(keys, maintain_order=True).agg(width.first(), start=first.first())
    every = ends.join(pl.DataFrame({"bin": range(bins + 1)}), how="cross")
    found = every.join(data.select(*keys, "bin", "share", "n"), on=[*keys, "bin"], how="left")
    low = pl.col("start") + pl.col("bin") * width
    high = pl.when(pl.col("bin") < bins).then(low + width).otherwise(low)
    return found.with_columns(pl.col("share", "n").fill_null(0), low=low, high=high)


def exposures(rec: Any, k: int | None, names: Names) -> tuple[pl.DataFrame, int]:
    """Return the number of items per exposure, of models and of train, and the size of the catalogue.

    Train is a model of its own, the last one.
    """
    inputs = under_profile.at_home(rec._inputs(None, None, []))  # noqa: SLF001
    # whose items are the catalogue is what that metric says
    check_needs(inputs, catalogue_metrics.gini, needs_of(catalogue_metrics.gini).facts)
    judged = judge(inputs)
    (cut,) = metrics_of_lists.cuts_of(inputs, Levels(), [], k, rec._run())  # noqa: SLF001
    sides, n = cut.sides, pl.len().cast(pl.Int64)
    # NOTE: lists of users outside the universe are shown too, as in gini, which reads no relevance
    parts = [cut.rows.group_by(*inputs.model, "item").agg(exposure=n, is_train=pl.lit(value=False))]
    if inputs.train is not None:
        popular, model = pl.col("value").cast(pl.Int64), inputs.schema.get("model")
        no_model = [pl.lit(None, model).alias(name) for name in inputs.model]
        is_train = pl.lit(value=True)
        parts.append(
            sides.popularity.select(*no_model, "item", exposure=popular, is_train=is_train)
        )
    items = pl.concat(parts)
    if inputs.items is not None:
        items = items.join(sides.catalogue.select("item"), on="item", how="semi")
    rows = items.group_by(*inputs.model, "is_train", "exposure").agg(items=n)
    size = sides.catalogue.select(catalogue=pl.col("item").n_unique().cast(pl.Int64))
    plan = size.join(rows, how="left", on=pl.lit(1))
    plan = after_checks(plan, judged, "items", pl.Int64, steep=False)
    found = rec._kind.give(plan, {})  # noqa: SLF001
    train = next(one for one in (TRAIN, f"{TRAIN} (data)") if one not in names.order)
    is_train, last = pl.col("is_train"), pl.lit(len(names.order), pl.Int64)
    of_model = names.model(bound=bool(inputs.model))
    rows = found.drop_nulls("exposure").with_columns(model=of_model)
    rows = rows.with_columns(model_place=pl.when(is_train).then(last).otherwise(names.place))
    rows = rows.with_columns(model=pl.when(is_train).then(pl.lit(train)).otherwise("model"))
    return rows, int(found["catalogue"].max() or 0)


def binned_scores(rec: Any, bins: int, names: Names) -> pl.DataFrame:
    """Return the number of rows per score bin, by relevance group of their items."""
    context = rec._context  # noqa: SLF001
    scored = context.having(rank=None, score=context.names["score"], ties="item")
    inputs = rec._with(scored)._inputs(None)  # noqa: SLF001
    inputs = inputs.under(under_profile.own(inputs.context))
    judged, model = judge(inputs), inputs.model
    value = pl.col("value")
    lists = judged.counted(inputs.identified("recommendations"), {"truth", "both"})
    lists = lists.with_columns(value=pl.col("score").cast(pl.Float64)).filter(value.is_finite())
    ends = lists.group_by(model or pl.lit(1).alias("all")).agg(least=value.min(), most=value.max())
    rows = _by_relevance(lists, inputs)
    rows = rows.join(ends, on=model, nulls_equal=True) if model else rows.join(ends, how="cross")
    rows = rows.with_columns(bin=_kept_in(_place(bins).floor(), bins))
    found = _in_bins(rec, _counted(rows, [*model, "group"], bins), inputs, names)
    group = pl.col("group").replace_strict(dict(enumerate(GROUPS)), return_dtype=pl.String)
    share = pl.col("n") / pl.col("n").sum().over("model", "group")
    return found.with_columns(group, share=share).sort("model_place", "group", "bin")


def _by_relevance(lists: pl.LazyFrame, inputs: Inputs) -> pl.LazyFrame:
    """Return list rows with the relevance group of their items: the index in `GROUPS`."""
    if inputs.truth is not None:
        truth = inputs.identified("truth").group_by(PAIR).agg(pl.col("relevance").max())
        lists = lists.join(truth, on=PAIR, how="left")
    relevant, judged = is_relevant_row(inputs), pl.col("relevance").is_not_null()
    group = pl.when(relevant.fill_null(value=False)).then(0).when(judged).then(1).otherwise(2)
    return lists.with_columns(group=group.cast(pl.Int8))


def models_bound(rec: Any, call: str) -> Names:
    """Return the names of the models, or say that none are bound."""
    names = models_of(rec)
    if names == WITHOUT_MODELS:
        msg = (
            f"plot.{call} holds models against one another: {bind(model=repr('model'))}, or a frame for each: "
            "rf.rec({'a': a, 'b': b}, truth=truth)"
        )
        raise RecframeError(msg)
    return names


def of_axis(data: pl.DataFrame, metric: Metric[...], axis: str) -> pl.DataFrame:
    """Return the values of a metric under the names of an axis."""
    named = {"value": axis, "low": f"{axis}_low", "high": f"{axis}_high"}
    columns = (pl.col(name).alias(new) for name, new in named.items())
    return data.filter(pl.col("metric") == str(metric)).select("model", *columns)


def on_front(data: pl.DataFrame, metrics: Sequence[Metric[...]]) -> pl.DataFrame:
    """Return models with whether they are on the Pareto front of x and y."""
    signs = [{"higher": 1, "lower": -1}.get(one.definition.direction) for one in metrics]
    if None in signs:
        return data.with_columns(best=pl.lit(value=False))
    x, y = (pl.col(axis) * sign for axis, sign in zip(("x", "y"), signs, strict=True))
    points = data.select(x, y).rows()
    known = [one for one in points if None not in one]
    best = [one in known and not _is_beaten(one, known) for one in points]
    return data.with_columns(best=pl.Series(best, dtype=pl.Boolean))


def _is_beaten(point: tuple[float, ...], others: Sequence[tuple[float, ...]]) -> bool:
    """Whether another point is no worse in both, and better in one."""
    x, y = point
    return any(one != point and one[0] >= x and one[1] >= y for one in others)


def rows_compared(data: pl.DataFrame, *, margin: float | None) -> pl.DataFrame:
    """Return differences with the words on their rows; of several metrics they are relative."""
    several, has_segments = data["metric"].n_unique() > 1, (data["segment"] != "").any()
    start = "relative" if several else "difference"
    pair = pl.format("{} - {}", "model", "baseline")
    words = [pl.col("metric")] * several + [pl.col("segment")] * has_segments
    is_alone = data.select("metric", "segment").is_unique().all()
    many = data["baseline"].n_unique() > 1
    if many or not words:
        words.append(pair if many else pl.col("model"))
    elif is_alone and data["model"].n_unique() > 1:
        words.append(pl.col("model"))
    size = pl.lit(margin, pl.Float64) * (1.0 if several else pl.col("baseline_value").abs())
    return data.with_columns(
        row=pl.concat_str(words, separator=" · "),
        difference=pl.col(start),
        low=pl.col(f"{start}_low"),
        high=pl.col(f"{start}_high"),
        margin_low=-size,
        margin_high=size,
    )
