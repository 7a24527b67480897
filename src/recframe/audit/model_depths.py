"""Warnings on single models: foreign ids, and lists that end early."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from recframe.audit.call_context import Seen
from recframe.audit.suspects import ranked
from recframe.audit.warnings_of_truth import in_common, some_in_common
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
    if not seen.found_a_hit:
        return None
    for model in _without_hits(seen):
        for role in reversed(PAIR):
            lists = ranked(seen.inputs).filter(pl.col("model") == model)
            if some_in_common(seen, "truth", role, model=model):
                continue
            found = seen.run(in_common(lists, _judged(seen.inputs), role)).row(0, named=True)
            if min(found["here"], found["there"]) >= LEAST_IDS and not found["common"]:
                frame = FrameOf("judged" if seen.inputs.truth is None else "truth")
                judged = f"the judged rows of {frame}" if seen.inputs.truth is None else str(frame)
                return (
                    f"model {text_of(model)!r}: none of its {found['here']:,} {role} ids, such as {found['such_here']!r}, is "
                    f"among the {found['there']:,} of {judged}, such as {found['such_there']!r}, so it has no hit; give its "
                    f"rows the {role} ids of the other models"
                )
    return None


def _without_hits(seen: Seen) -> list[Any]:
    """Return the models of a result in whose rows every metric that counts hits is 0 or null."""
    name = seen.inputs.context.names["model"]
    if name not in seen.result.columns:
        return []
    # by place, since a column may have any name
    highest = [seen.result[str(one)].fill_null(0.0) for one in seen.counting_hits]
    columns = [column.alias(f"value {place}") for place, column in enumerate(highest)]
    rows = pl.DataFrame([seen.result[name].alias("model"), *columns])
    of_models = rows.group_by("model").agg(
        pl.max_horizontal(pl.exclude("model").max()).alias("most")
    )
    return of_models.filter(most=0)["model"].drop_nulls().sort().to_list()


def _judged(inputs: Inputs) -> pl.LazyFrame:
    """Return the judged rows, whichever frame has them."""
    return inputs.identified("truth").filter(pl.col("relevance").is_not_null())


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
        f"what a model does not list is a miss, so give every model {k} items, or compare them up to {least}: "
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
    columns = {"own depth": "model"} | ({"other depth": "baseline"} if "baseline" in schema else {})
    for name, role in columns.items():
        models = pl.Series(role, [*depths], dtype=schema[role])
        rows = pl.DataFrame([models, pl.Series(name, [*depths.values()], dtype=pl.Int64)])
        plan = joined(plan, rows.lazy(), [role], in_order=True)
    own, other = (
        pl.min_horizontal(pl.col(name).fill_null(k), k) for name in ("own depth", [*columns][-1])
    )
    if len(columns) > 1:
        is_noted = own != other
        note = pl.format("up to k its longest list has {} items, the baseline's {}", own, other)
    else:
        is_noted = own < k
        note = pl.format("its lists end at {}, before k, and other models' at another depth", own)
    noted = pl.concat_str(["note", pl.when(is_noted).then(note)], separator="; ", ignore_nulls=True)
    return plan.with_columns(note=noted.replace("", None)).select(schema.names())
