"""RePlay on Polars, beyond accuracy."""

from __future__ import annotations

import polars as pl
from answers_beyond import answer
from replay.metrics import (
    CategoricalDiversity,
    Coverage,
    Novelty,
    PerUser,
    Surprisal,
    Unexpectedness,
)
from scenes_beyond import KS

RECS = ["query_id", "item_id", "rating"]


def answers(name, scene):
    """Give every metric that both have."""
    recs = pl.DataFrame(scene.recs, schema=RECS, orient="row")
    reference = pl.DataFrame(scene.reference, schema=RECS, orient="row")
    train = pl.DataFrame(scene.train, schema=RECS[:2], orient="row")
    genre = {item: row[0] for item, row in scene.items.items()}
    categories = recs.select(
        "query_id", pl.col("item_id").replace_strict(genre).alias("category_id"), "rating"
    )
    known = {user for user, _ in scene.train}
    with_history = recs.filter(pl.col("query_id").is_in(known))
    coverage = Coverage([*KS])(recs, train)
    yield answer(
        name,
        "Coverage",
        "coverage",
        {k: coverage[f"Coverage@{k}"] for k in KS},
        sides=["items of train"],
    )
    calls = [
        (
            CategoricalDiversity,
            (categories,),
            "category_coverage(of=genre, denominator=k)",
            ["items"],
        )
    ]
    calls += [
        (Surprisal, (recs, train), "novelty(normalized=True, denominator=k)", ["train"]),
        (
            Unexpectedness,
            (recs, reference),
            "unexpectedness(denominator=k, without_reference=zero)",
            ["reference"],
        ),
    ]
    if name == "full":
        calls += [(Novelty, (with_history, train), "repeat_rate", ["train"])]
    for metric, told, ours, sides in calls:
        values = {k: metric([k])(*told)[f"{metric.__name__}@{k}"] for k in KS}
        users = {
            k: metric([k], mode=PerUser())(*told)[f"{metric.__name__}-PerUser@{k}"] for k in KS
        }
        if metric is Novelty:
            values = {k: 1 - value for k, value in values.items()}
            users = {
                k: {user: 1 - value for user, value in own.items()} for k, own in users.items()
            }
        yield answer(
            name,
            "1 - Novelty" if metric is Novelty else metric.__name__,
            ours,
            values,
            users=users,
            sides=sides,
        )
