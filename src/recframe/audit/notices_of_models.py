"""Warnings on one of several models: ids that are none of the truth's, and lists that end before those of the others do."""

from __future__ import annotations

from typing import Any

import polars as pl

from recframe.audit.depths import unequal_depths
from recframe.audit.listed_truth import ranked
from recframe.audit.notices_of_ids import in_common, some_of
from recframe.audit.seen import Seen
from recframe.frames.dtypes import text_of
from recframe.frames.hints import Either, FrameOf
from recframe.frames.inputs import Inputs
from recframe.judging.judged_frame import PAIR

LEAST_IDS = 5
"""With fewer ids it may be by chance that none is among those of the truth."""
MOST_NAMED = 5


def model_without_common_ids(seen: Seen) -> str | None:
    """Warn of a model none of whose users or items is one of the truth's, where other models have hits."""
    if not seen.found_a_hit:
        return None
    for model in _without_hits(seen):
        for role in reversed(PAIR):
            lists = ranked(seen.inputs).filter(pl.col("model") == model)
            if _some_in_common(seen, model, role):
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


def _some_in_common(seen: Seen, model: Any, role: str) -> bool:
    """Return whether sampled rows of eager frames show an id that the model and the truth have in common."""
    if not {"lists at hand", "truth at hand"} <= seen.traits or seen.sample[role].dtype.is_nested():
        return False
    mine = seen.sample.filter(pl.col("model") == model)[role]
    return bool(some_of(mine) & some_of(seen.truth[role]))


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
