"""What a call warns of in the ids of two frames: hardly any in common, users that are absent, the same frame twice."""

from __future__ import annotations

import polars as pl

from recframe.audit.seen import Seen
from recframe.frames.hints import NAMED, FrameOf, Given, bind
from recframe.frames.rows.joins import beside_one_another

HARDLY = 0.01
"""So small a share of the ids, or a number below it, leaves a doubt whether two frames have the same ids."""
SIDES = {"user": ("truth", "train", "users"), "item": ("truth", "train", "items")}
"""The frames whose ids are to be those of the lists."""
MANY = 300
"""So many ids of each frame mostly show one that both have."""
MOST_ABSENT = 0.5
LIKELY = 0.7
"""Where there seem to be lists of so many users or fewer, judged by the length of one list, they are counted."""


def truth_is_the_lists(seen: Seen) -> str | None:
    """The frame of recommendations was given as the truth too."""
    truth = seen.inputs.sides.get("truth")
    if truth is None or truth.kind.frame is not seen.main.kind.frame:
        return None
    return (
        f"{FrameOf('truth')} is {seen.title} itself, so that every recommended item counts as relevant; give the rows that "
        "users liked, or no truth, if the lists have a relevance"
    )


def hardly_any_in_common(seen: Seen) -> str | None:
    """Nothing was found, and the lists share no ids with another frame, or fewer than one in a hundred."""
    sides = (
        [*SIDES["user"], *SIDES["item"]]
        if seen.found_nothing
        else ["truth"] * seen.found_hardly_anything(HARDLY)
    )
    if not sides:
        return None
    for role, names in SIDES.items():
        for name in names:
            side = getattr(seen.inputs, name)
            if name in sides and side is not None and not _some_in_common(seen, name, role):
                found = seen.run(in_common(seen.inputs.lists, side, role)).row(0, named=True)
                if min(found["here"], found["there"]) > 0 and found["common"] < HARDLY * min(
                    found["here"], found["there"]
                ):
                    return _apart(seen, name, role, found)
    return None


def in_common(
    rows: pl.LazyFrame,
    others: pl.LazyFrame,
    role: str,
    known: tuple[pl.LazyFrame, pl.LazyFrame] | None = None,
) -> pl.LazyFrame:
    """Return one row: how many ids two frames have, `here` and `there`, how many in `common`, and one of each.

    `known` are the ids of both, each once, where they are at hand.
    """
    here, there = (one.select(role).drop_nulls() for one in (rows, others))
    ids_here, ids_there = known or (here.unique(), there.unique())
    counts = [
        ids_here.select(here=pl.len()),
        here.select(such_here=pl.col(role).first()),
        ids_there.select(there=pl.len()),
        there.select(such_there=pl.col(role).first()),
        ids_here.join(ids_there, on=role, how="semi").select(common=pl.len()),
    ]
    return beside_one_another(counts)


def _some_in_common(seen: Seen, name: str, role: str) -> bool:
    """Return whether the first rows of two eager frames show an id that both have, and more than one in a hundred."""
    lists, others = (seen.inputs.given.get(one) for one in ("recommendations", name))
    if lists is None or others is None or lists.schema[role] != others.schema[role]:
        return False
    if not lists.schema[role].is_integer() and lists.schema[role] != pl.String:
        return False
    here, there = (some_of(frame[role]) for frame in (lists, others))
    return len(here & there) > HARDLY * len(here)


def some_of(ids: pl.Series) -> set[object]:
    """Return some of a column's values, from all over it."""
    step = max(1, len(ids) // MANY)
    return set((ids if step == 1 else ids.gather_every(step)).to_list()) - {None}


def _apart(seen: Seen, name: str, role: str, found: dict[str, object]) -> str:
    many = "no" if not found["common"] else f"hardly any ({found['common']:,})"
    here, there = (seen.inputs.sides[one].context.names[role] for one in ("recommendations", name))
    columns = f"column {here!r} holds" if here == there else f"columns {here!r} and {there!r} hold"
    return (
        f"{seen.title} and {FrameOf(name)} have {many} {role} ids in common: {found['here']:,} in the lists, such as "
        f"{found['such_here']!r}, and {found['there']:,} in the other, such as {found['such_there']!r}; look whether "
        f"{columns} the same ids in both, or name the column that does: {bind(**{role: NAMED})}"
    )


def most_users_without_a_list(seen: Seen) -> str | None:
    """Most users of the truth have no list, as where the lists are those of one segment, and nobody said who counts."""
    if seen.inputs.context.universe is not None:
        return None
    n_users = _n_users(seen)
    if n_users is None or not _may_be_few(seen, n_users):
        return None
    users = seen.inputs.counted("truth").select("user").unique()
    absent = users.join(
        seen.inputs.identified("recommendations").select("user").unique(), on="user", how="anti"
    )
    counts = beside_one_another([users.select(all=pl.len()), absent.select(absent=pl.len())])
    n_all, n_absent = seen.run(counts).row(0)
    if n_absent <= MOST_ABSENT * n_all or n_absent == n_all:
        return None
    return (
        f"{n_absent:,} of the {n_all:,} users of {FrameOf('truth')} have no list in {seen.title}, and count with an "
        f"empty one; if these are the lists of one segment, ask for all of them with {Given('by', '...')}; with "
        f"{bind(universe=repr('recs'))} only users with a list count"
    )


def _n_users(seen: Seen) -> int | None:
    """Return how many users the means run over, where the result shows it."""
    if "n_users" not in seen.result.columns or any(
        one.owner not in {"users", "user id"} for one in seen.inputs.segments
    ):
        return None
    n_models = (
        seen.result[seen.inputs.context.names["model"]].n_unique() if seen.inputs.model else 1
    )
    return int(seen.result["n_users"].sum()) // max(n_models, 1)


def _may_be_few(seen: Seen, n_users: int) -> bool:
    """Return whether the lists may be those of half of the users, judged by the length of some."""
    n_rows, length = seen.lengths()
    return not length or n_rows / length < LIKELY * n_users
