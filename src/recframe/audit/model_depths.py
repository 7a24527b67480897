"""Warnings on single models: foreign ids, and lists that end early."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from recframe.audit.call_context import Seen
from recframe.audit.suspects import ranked
from recframe.frames.collecting import LARGE
from recframe.frames.dtypes import text_of
from recframe.frames.hints import Either, FrameOf
from recframe.frames.inputs import Inputs
from recframe.frames.rows.joins import joined
from recframe.ranking.judged_frame import PAIR

LEAST_IDS = 5
"""Minimum ids; of fewer none may be among those of the truth by chance."""
MOST_NAMED = 5


def model_without_common_ids(seen: Seen) -> str | None:
    """Warn of a model none of whose users or items is one of the truth's, where other models have hits."""
    without = _without_hits(seen) if seen.found_a_hit else None
    if without is None or without.is_empty():
        return None
    is_judged = seen.inputs.truth is None
    frame = f"the judged rows of {FrameOf('judged')}" if is_judged else FrameOf("truth")
    judged = seen.inputs.identified("truth").filter(pl.col("relevance").is_not_null())
    for role in reversed(PAIR):
        models = foreign_ids(ranked(seen.inputs), judged, role)
        models = models.filter(pl.col("model").is_in(without.implode()))
        for model, here, such_here, there, such_there in seen.run(models.sort("model")).rows():
            return (
                f"model {text_of(model)!r}: none of its {here:,} {role} ids, such as {such_here!r}, is among the {there:,} of "
                f"{frame}, such as {such_there!r}, so it has no hit; give its rows the {role} ids of the other models"
            )
    return None


def foreign_ids(lists: pl.LazyFrame, judged: pl.LazyFrame, role: str) -> pl.LazyFrame:
    """Return models none of whose ids is one of the judged rows', where other models have some: numbers and examples."""
    ids, there = lists.select("model", role).drop_nulls(), judged.select(role).drop_nulls()
    common = ids.unique().join(there, on=role, how="semi").select("model").unique()
    n_ids, first = pl.col(role).n_unique(), pl.col(role).first()
    models = ids.group_by("model").agg(here=n_ids, such_here=first)
    models = models.join(common, on="model", how="anti")
    models = models.join(there.select(there=n_ids, such_there=first), how="cross")
    models = models.join(common.select(n_others=pl.len()), how="cross")
    is_enough = pl.min_horizontal("here", "there") >= LEAST_IDS
    return models.filter(is_enough & (pl.col("n_others") > 0)).drop("n_others")


def _without_hits(seen: Seen) -> pl.Series | None:
    """Return the models of a result in whose rows every metric that counts hits is 0 or null; None where it has no models."""
    name = seen.inputs.context.names["model"]
    if name not in seen.result.columns:
        return None
    # by place, since a column may have any name
    values = [seen.result[str(counting_hit)].fill_null(0.0) for counting_hit in seen.counting_hits]
    columns = [column.alias(f"value {place}") for place, column in enumerate(values)]
    rows = pl.DataFrame([seen.result[name].alias("model"), *columns])
    highest = rows.group_by("model").max()
    return highest.filter(pl.all_horizontal(pl.exclude("model") == 0))["model"].drop_nulls()


def models_of_unequal_depth(seen: Seen) -> str | None:
    """Warn of models whose lists end at different depths, below the largest cut-off."""
    depths = unequal_depths(seen)
    if not depths:
        return None
    k, least = seen.deepest, min(depths.values())
    named = [f"{text_of(model)!r} at {depth}" for model, depth in depths.items()]
    more = f" and {len(named) - MOST_NAMED} more" * (len(named) > MOST_NAMED)
    others = ", others later" * (len({*depths.values()}) == 1)
    return (
        f"the lists of models end at different depths below {k}: those of {', '.join(named[:MOST_NAMED])}{more}{others}; "
        f"items that are not listed are misses, so give every model {k} items, or compare up to {least}: "
        f"{Either(f'k={least}', f'-k {least}')}"
    )


LEAST_LISTS = 10
"""Fewest lists of a model whose depth is compared."""
ALIKE = 0.95
"""Ratio of the lowest to the highest depth from which depths count as equal: a few items were only filtered out."""
ROUGHLY = 2
"""The ratio of depths, by a few lists of different lengths, from which all lists are read."""


def unequal_depths(seen: Seen) -> Mapping[Any, int]:
    """Return the models whose lists end before the largest cut-off, unless all models end at about one depth.

    A model's depth is that of its longest list, so that users with short lists make no difference.
    """
    if seen.depths is not None:
        return seen.depths
    inputs, k = seen.inputs, seen.deepest
    if k is None or not {"models", "lists at hand"} <= seen.traits or inputs.tables is not None:
        return {}
    if len(seen.lists) > LARGE and not _may_differ(seen, k):
        return {}
    rows = ranked(inputs).filter(pl.col("model").is_not_null())
    depths = depths_of(_lists(rows, inputs, seen.parts)).filter(pl.col("n_lists") >= LEAST_LISTS)
    found = seen.run(depths.sort("model"))
    short = found.filter(pl.col("depth") < k)
    if _are_alike(found["depth"], k):
        return {}
    return dict(zip(short["model"].to_list(), short["depth"].to_list(), strict=True))


def _are_alike(depths: pl.Series, k: int) -> bool:
    """Return whether depths are nearly equal, up to a cut-off."""
    ends: list[int] = depths.clip(upper_bound=k).to_list()
    return len(ends) < 2 or min(ends) >= ALIKE * max(ends)  # noqa: PLR2004  a pair


def _may_differ(seen: Seen, k: int) -> bool:
    """Return whether sampled rows of a large frame suggest different list depths of models.

    Where the lists of a model have different lengths, those of a few users tell of its depth only roughly.
    """
    inputs = seen.inputs
    some = seen.rows_of_some_users.drop_nulls("model").lazy()
    lists = seen.run(_lists(some, inputs, seen.parts))
    length = pl.col("rows").cast(pl.Int64)
    shown = lists.group_by("model").agg(depth=length.max(), least=length.min())
    if _are_alike(shown["depth"], k):
        return False
    ends: list[int] = shown["depth"].clip(upper_bound=k).to_list()
    return bool((shown["depth"] == shown["least"]).all()) or max(ends) >= ROUGHLY * min(ends)


def _lists(rows: pl.LazyFrame, inputs: Inputs, parts: list[str]) -> pl.LazyFrame:
    """Return each list with its number of rows, `rows`, and without scores its last rank, `last`."""
    last = [] if inputs.scored else [pl.col("rank").max().alias("last")]
    return rows.group_by(*parts, "model", "user").agg(pl.len().alias("rows"), *last)


def depths_of(lists: pl.LazyFrame) -> pl.LazyFrame:
    """Return each model with the depth of its longest list, `depth`, and its number of lists.

    Ranks with gaps are those of a few items among others, which say nothing of the lists' length.
    """
    last = "last" if "last" in lists.collect_schema() else "rows"
    depths = lists.group_by("model").agg(
        pl.col(last).max().cast(pl.Int64).alias("depth"),
        longest=pl.col("rows").max(),
        n_lists=pl.col("user").n_unique(),
    )
    return depths.filter(pl.col("longest") >= pl.col("depth")).drop("longest")


def with_notes(plan: pl.LazyFrame, depths: Mapping[Any, int]) -> pl.LazyFrame:
    """Return a result of models with a note where their lists end at different `depths` below its cut-off, `k`.

    Of a model and a baseline these are their own depths.
    """
    if not depths:
        return plan
    k, schema = pl.col("k"), plan.collect_schema()
    roles = [role for role in ("model", "baseline") if role in schema]
    for role in roles:
        models = pl.Series(role, [*depths], dtype=schema[role])
        rows = pl.DataFrame([models, pl.Series(f"{role} depth", depths.values(), dtype=pl.Int64)])
        plan = joined(plan, rows.lazy(), [role], in_order=True)
    ends = [pl.min_horizontal(pl.col(f"{role} depth").fill_null(k), k) for role in roles]
    is_noted = ends[0] != ends[-1]
    text = "up to k its longest list has {} items, the baseline's {}"
    if len(roles) == 1:
        is_noted = ends[0] < k
        text = "its lists end at {}, before k, other models' elsewhere"
    note = pl.when(is_noted).then(pl.format(text, *ends))
    noted = pl.concat_str(["note", note], separator="; ", ignore_nulls=True)
    return plan.with_columns(note=noted.replace("", None)).select(schema.names())
