"""What charts are drawn of: results of `rec` and sums of its plan, a few hundred rows at the most, under names of their own.

Charts are drawn at once, so that a LazyFrame's plan is collected here, by the streaming engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from recframe.conventions import under_profile
from recframe.errors import RecframeError, shown
from recframe.facts.levels import Levels
from recframe.facts.requirements import check_needs
from recframe.facts.sides import Sides
from recframe.frames.hints import bind
from recframe.frames.inputs import Inputs
from recframe.frames.rows.joins import beside_one_another
from recframe.judging.data_checks import after_checks
from recframe.judging.judged_frame import PAIR, judge
from recframe.judging.relevance import is_relevant_row
from recframe.look.themes import ALL, GROUPS
from recframe.metrics import catalogue_metrics
from recframe.metrics.language import registry
from recframe.metrics.language.at import At
from recframe.metrics.language.definition import Definition, Metric
from recframe.namespace import chart_names, warned
from recframe.namespace.bound_metric import By, Cutoffs
from recframe.namespace.chart_names import Names
from recframe.namespace.chart_rows import with_interval
from recframe.plan import of_lists
from recframe.plan.beside import SUPPORT, support_of
from recframe.plan.needs import needs_of
from recframe.plan.segments import keys_of, numbered
from recframe.uncertainty import options

ROUNDING = 1e-9
"""A value on the upper end of a bin is in it, whatever its last bits."""


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
"""Metrics of the charts alone."""


def one_metric(call: str, metric: str | Metric[...], k: int | None = None) -> Metric[...]:
    """Return the only metric of a chart."""
    found = registry.asked([metric], k)
    if len(found) != 1:
        msg = f"{call} takes one cut-off, such as k=10; found k={shown(k)}"
        raise RecframeError(msg)
    return found[0]


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


def keyed(rec: Any, result: pl.DataFrame) -> pl.DataFrame:
    """Return a result in long form with its keys as text, in `model` and `segment`.

    `known` says whether no segment is null, and `place` and `model_place` number segments and models in their own order.
    """
    names, model = chart_names.keys_of_result(result), rec._context.model  # noqa: SLF001
    others = [place for place, name in enumerate(names) if name not in {model, "baseline"}]
    of_models = chart_names.named_in(rec, result)
    named = {
        role: of_models.text(pl.nth(names.index(name)))
        for role, name in (("model", model), ("baseline", "baseline"))
        if name in names and model in names
    }
    parts = [
        result.select(**named) if named else pl.DataFrame({"model": [ALL] * len(result)}),
        chart_names.segments_of(result, others),
        result.select(result.columns[len(names) :]),
    ]
    return beside_one_another(parts).with_columns(model_place=of_models.place)


def summary(
    of: Any,
    metrics: Sequence[Metric[...]],
    level: float,
    cluster: str | None,
    profile: str | None,
    by: By = None,
) -> tuple[pl.DataFrame, pl.DataFrame, str]:
    """Return a result of `summarize`, its rows under the names of charts, and the words for its intervals."""
    rec = of._in_polars()  # noqa: SLF001
    result = rec.summarize(metrics, by=by, level=level, cluster=cluster, profile=profile, wide=True)
    words = interval_words(rec, metrics[0], level, cluster, profile)
    return result, with_interval(keyed(of, result)), words


def interval_words(
    rec: Any, metric: Metric[...], level: float, cluster: str | None, profile: str | None
) -> str:
    """Return at which level intervals are, and of how many clusters of users, in words."""
    told = options.per_cent(level)
    if cluster is None:
        return told
    n = n_clusters(rec, metric, cluster, profile)
    return f"{told} (users in {n:,} cluster{'' if n == 1 else 's'}, by {cluster})"


def n_clusters(rec: Any, metric: Metric[...], cluster: str, profile: str | None) -> int:
    """Return how many clusters of users have a value; a user without a cluster is one by themself."""
    whole = rec._with(replace(rec._context, by=())) if rec._context.by else rec  # noqa: SLF001
    inputs = whole._inputs([cluster], profile, [metric])  # noqa: SLF001
    keys = [inside for inside, _ in keys_of(inputs, [metric])]
    asked = under_profile.asked(inputs.context, [metric])
    plan = numbered(whole._evaluated(inputs, asked, SUPPORT), keys)  # noqa: SLF001
    counts = plan.select(cluster=pl.col(keys[-1]), n=pl.col(support_of(metric)))
    found: pl.DataFrame = whole._kind.run(counts.filter(pl.col("n") > 0))  # noqa: SLF001
    # each model has the same clusters
    alone = found.filter(pl.col("cluster").is_null())["n"].max()
    return found["cluster"].drop_nulls().n_unique() + int(alone or 0)  # type: ignore[arg-type]


def columns_of_segments(rec: Any, result: pl.DataFrame) -> str:
    """Return the names of the columns that make the segments of a result, or ""."""
    names = chart_names.keys_of_result(result)
    return ", ".join(name for name in names if name != rec._context.model)  # noqa: SLF001


def counted(data: pl.DataFrame, column: str = "n_users", noun: str = "user") -> str:
    """Return of how many users a chart speaks, in words."""
    numbers = data[column].drop_nulls()
    most = int(numbers.max() or 0)  # type: ignore[arg-type]
    words = f"{most:,} {noun}{'' if most == 1 else 's'}"
    return words if numbers.n_unique() <= 1 else f"up to {words}"


def noun_of(metric: Metric[...]) -> str:
    """Return what a metric is averaged over."""
    return "list" if metric.definition.over_lists else "user"


# Sums of the plan


def users_values(
    rec: Any, metric: Metric[...], profile: str | None, bins: int, names: Names
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return how many users have a value in each bin, and how many have 0: the bins first, then the zeros."""
    context = rec._context  # noqa: SLF001
    inputs = rec._inputs([context.names["user"]], profile, [metric])  # noqa: SLF001
    values = rec._evaluated(inputs, under_profile.asked(inputs.context, [metric]))  # noqa: SLF001
    keys = [inside for inside, _ in keys_of(inputs, [metric])]
    named = numbered(values, keys).select(*inputs.model, value=pl.col(str(metric)))
    plan = _in_bins(named.drop_nulls("value"), inputs.model, metric, bins)
    found = rec._kind.give(plan, {}, warned.of_truth(inputs))  # noqa: SLF001
    found = _with_model(found, inputs, names)
    zeros = found.group_by("model", "model_place").agg(
        n=pl.col("n").filter("zero").sum(), users=pl.col("n").sum()
    )
    zeros = zeros.sort("model_place").with_columns(share=pl.col("n") / pl.col("users"))
    sizes = zeros.select("model", "users")
    above = found.filter(~pl.col("zero")).drop("zero").join(sizes, on="model")
    above = above.with_columns(share=pl.col("n") / pl.col("users"))
    return above.sort("model_place", "bin"), zeros


def _in_bins(
    values: pl.LazyFrame, model: Sequence[str], metric: Metric[...], bins: int
) -> pl.LazyFrame:
    """Return the number of values in each bin up to and with its upper end, those that are 0 apart."""
    low, high = metric.range
    value, is_zero = pl.col("value"), pl.col("value") == 0
    if low == float("-inf") or high == float("inf"):
        others = values.filter(~is_zero)
        ends = others.select(
            least=pl.min_horizontal(value.min(), 0.0), most=pl.max_horizontal(value.max(), 0.0)
        )
        values = values.join(ends, how="cross")
    else:
        values = values.with_columns(least=pl.lit(float(low)), most=pl.lit(float(high)))
    width = (pl.col("most") - pl.col("least")) / bins
    place = ((value - pl.col("least")) / width - ROUNDING).ceil() - 1
    place = place.fill_nan(0.0).clip(0, bins - 1).cast(pl.Int64)
    grouped = values.with_columns(zero=is_zero, bin=pl.when(~is_zero).then(place)).group_by(
        *model, "zero", "bin"
    )
    found = grouped.agg(
        n=pl.len().cast(pl.Int64), least=pl.col("least").first(), width=width.first()
    )
    start = pl.col("least") + pl.col("bin") * pl.col("width")
    return found.with_columns(low=start, high=start + pl.col("width"))


def _with_model(found: pl.DataFrame, inputs: Inputs, names: Names) -> pl.DataFrame:
    """Return sums with the names of their models as text, and the places of these in their own order."""
    model = names.text(pl.col("model")) if inputs.model else pl.lit(ALL)
    return found.with_columns(model=model).with_columns(model_place=names.place)


def filled(data: pl.DataFrame, keys: Sequence[str], bins: int) -> pl.DataFrame:
    """Return bins with those that nobody is in, and an end at the last one, so that steps can be drawn of them."""
    if data.is_empty():
        return data
    ends = data.group_by(keys, maintain_order=True).agg(
        pl.col("width").first(), start=(pl.col("low") - pl.col("bin") * pl.col("width")).first()
    )
    every = ends.join(pl.DataFrame({"bin": range(bins + 1)}), how="cross")
    found = every.join(data.select(*keys, "bin", "share", "n"), on=[*keys, "bin"], how="left")
    low = pl.col("start") + pl.col("bin") * pl.col("width")
    high = pl.when(pl.col("bin") < bins).then(low + pl.col("width")).otherwise(low)
    return found.with_columns(pl.col("share", "n").fill_null(0), low=low, high=high)


def exposures(rec: Any, k: int | None) -> tuple[pl.DataFrame, int]:
    """Return how many items have each exposure, of models and of train, and how many items the catalogue has."""
    inputs = rec._inputs(None, None, [])  # noqa: SLF001
    inputs = under_profile.at_home(inputs)
    # whose items are the catalogue is what that metric says
    check_needs(inputs, catalogue_metrics.gini, needs_of(catalogue_metrics.gini).facts)
    judged = judge(inputs)
    (cut,) = of_lists.cuts_of(inputs, Levels(), [], k, rec._run())  # noqa: SLF001
    sides = cut.sides
    # NOTE: lists of users outside the universe are shown too, as in gini, which reads no relevance
    lists = cut.rows.group_by(*inputs.model, "item").agg(exposure=pl.len().cast(pl.Int64))
    rows = [_items_of(lists, sides, inputs.model).with_columns(is_train=pl.lit(value=False))]
    if inputs.train is not None:
        popular = sides.popularity.select("item", exposure=pl.col("value").cast(pl.Int64))
        dtype = inputs.schema.get("model")
        rows.append(
            _items_of(popular, sides, []).select(
                *(pl.lit(None, dtype).alias("model") for _ in inputs.model),
                "exposure",
                "items",
                pl.lit(value=True).alias("is_train"),
            )
        )
    size = sides.catalogue.select(catalogue=pl.col("item").n_unique().cast(pl.Int64))
    plan = size.join(pl.concat(rows), how="left", on=pl.lit(1))
    plan = after_checks(plan, judged, "items", pl.Int64, steep=False)
    found = rec._kind.give(plan, {})  # noqa: SLF001
    n = int(found["catalogue"].max() or 0)
    return found.drop_nulls("exposure"), n


def _items_of(items: pl.LazyFrame, sides: Sides, model: Sequence[str]) -> pl.LazyFrame:
    """Return how many items of the catalogue have each exposure."""
    if sides.inputs.items is not None:
        items = items.join(sides.catalogue.select("item"), on="item", how="semi")
    return items.group_by(*model, "exposure").agg(items=pl.len().cast(pl.Int64))


def binned_scores(rec: Any, bins: int, names: Names) -> pl.DataFrame:
    """Return how many rows have a score in each bin, by what is known of their items."""
    context = rec._context  # noqa: SLF001
    scored = context.having(rank=None, score=context.names["score"], ties="item")
    inputs = rec._with(scored)._inputs(None)  # noqa: SLF001
    inputs = inputs.under(under_profile.own(inputs.context))
    judged, model = judge(inputs), inputs.model
    score = pl.col("score").cast(pl.Float64)
    lists = judged.counted(inputs.identified("recommendations"), {"truth", "both"})
    lists = lists.with_columns(score).filter(pl.col("score").is_finite())
    ends = {"least": pl.col("score").min(), "most": pl.col("score").max()}
    of_model = lists.group_by(model).agg(**ends) if model else lists.select(**ends)
    rows = _by_relevance(lists, inputs).select(*model, "group", "score")
    rows = (
        rows.join(of_model, on=model, nulls_equal=True)
        if model
        else rows.join(of_model, how="cross")
    )
    width = (pl.col("most") - pl.col("least")) / bins
    place = ((pl.col("score") - pl.col("least")) / width).floor().fill_nan(0.0)
    rows = rows.with_columns(bin=place.clip(0, bins - 1).cast(pl.Int64))
    plan = rows.group_by(*model, "group", "bin").agg(
        n=pl.len().cast(pl.Int64), least=pl.col("least").first(), width=width.first()
    )
    given = rec._kind.give(plan, {}, warned.of_truth(inputs))  # noqa: SLF001
    found = _with_model(given, inputs, names)
    start = pl.col("least") + pl.col("bin") * pl.col("width")
    share = pl.col("n") / pl.col("n").sum().over("model", "group")
    found = found.with_columns(low=start, high=start + pl.col("width"), share=share)
    group = pl.col("group").replace_strict(dict(enumerate(GROUPS)), return_dtype=pl.String)
    return found.with_columns(group).sort("model_place", "group", "bin")


def _by_relevance(lists: pl.LazyFrame, inputs: Inputs) -> pl.LazyFrame:
    """Return rows of the lists with what is known of their items: the place among `GROUPS`."""
    if inputs.truth is not None:
        truth = inputs.identified("truth").group_by(PAIR).agg(pl.col("relevance").max())
        lists = lists.join(truth, on=PAIR, how="left")
    relevant, judged = is_relevant_row(inputs), pl.col("relevance").is_not_null()
    group = pl.when(relevant.fill_null(value=False)).then(0).when(judged).then(1).otherwise(2)
    return lists.with_columns(group=group.cast(pl.Int8))


def models_bound(rec: Any, call: str) -> Names:
    """Return the names of the models, or say that none are bound."""
    names = chart_names.of_models(rec)
    if names == chart_names.WITHOUT_MODELS:
        msg = (
            f"plot.{call} holds models against one another: {bind(model=repr('model'))}, or a frame for each: "
            "rf.rec({'a': a, 'b': b}, truth=truth)"
        )
        raise RecframeError(msg)
    return names
