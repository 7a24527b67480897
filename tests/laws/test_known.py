"""What large eager frames are asked ahead changes no number: with and without it, and lazily, a call has the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from covering import Row, pairwise
from frame_sizes import LARGE, SIZE
from recframe.evaluation import metrics_of_lists
from recframe.metrics.language.definition import Definition, Metric
from recframe.ranking import known

pytestmark = pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
LENGTH, N_ITEMS = 12, 40
# what a list without a hit leaves is not what an empty list leaves
MISSED: Metric[...] = Metric(Definition("missed", lambda at: at.n_relevant - at.n_hits))
METRICS: dict[str, list[Any]] = {
    "of hits": ["ndcg", "recall", "map", "hit_rate"],
    "of one hit": ["err", "f_score", "first_rank", MISSED],
    "of rows": ["auc", "bpref", "judged", "list_length"],
    "of lists": ["miscalibration(of=genre)", "diversity(of=genre)", "novelty", "coverage", "gini"],
}
NUMBER = pl.col("number")
IDS = {
    "small": NUMBER,
    "tiny": (NUMBER - 100).cast(pl.Int8),
    "negative": -NUMBER,
    "lowest": NUMBER + pl.lit(-(2**63), dtype=pl.Int64),
    "wide": NUMBER * 2**40,
    "unsigned": NUMBER.cast(pl.UInt64) + 2**63,
    "fractional": NUMBER.cast(pl.Float64),
    "decimal": NUMBER.cast(pl.Decimal(20, 2)),
    "date": NUMBER.cast(pl.Int32).cast(pl.Date),
    "text": NUMBER.cast(pl.String).str.zfill(5),
    "binary": NUMBER.cast(pl.String).cast(pl.Binary),
    "category": NUMBER.cast(pl.String).cast(pl.Categorical),
    "struct": pl.struct("number", text=NUMBER.cast(pl.String)),
}
PLACE, ITEM = pl.col("rank") - 1, pl.col("number of the item")
RANKS = {
    "ranks": PLACE + 1,
    "one rank": PLACE * 0 + 1,
    "some ranks": pl.when(PLACE % 3 > 0).then(PLACE + 1),
}
SCORES = {
    "all tied": PLACE * 0.0,
    "tied behind 2": -PLACE.clip(0, 2),
    "one in 32 bits": 0.3 + (ITEM % 2 > 0) * 2**-50,
    "zeros": pl.when(PLACE % 2 > 0).then(0.0).otherwise(-0.0),
    "infinite": pl.when(PLACE % 3 > 0).then(-float("inf")).otherwise(1e300),
    "missing": pl.when(PLACE == NUMBER % 5).then(-1e300),
    "NaN": pl.when(PLACE < 2).then(-float("inf")).otherwise(float("nan")),
    "Int128": (PLACE > 4).cast(pl.Int128) + pl.lit(2**100, dtype=pl.Int128),
    "UInt64": (PLACE > 4).cast(pl.UInt64) + pl.lit(2**64 - 2, dtype=pl.UInt64),
    "Decimal": (PLACE % 3).cast(pl.Decimal(38, 2)),
}
ORDERS = {
    "sorted": lambda rows: rows,
    "shuffled": lambda rows: rows.sample(fraction=1, shuffle=True, seed=1),
    "repeating": lambda rows: pl.concat([rows, rows[::7]]),
    "of nobody": lambda rows: rows.with_columns(user=pl.lit(None, dtype=rows.schema["user"])),
}
TIES = [
    "item",
    "item_reverse",
    "item_desc",
    "pessimistic",
    "optimistic",
    "order",
    "last",
    "expected",
]
POLICIES: list[dict[str, Any]] = [
    *({}, {"universe": "recs"}, {"universe": "both", "no_relevant": "skip"}),
    *({"universe": "all"}, {"relevant_from": "list"}, {"no_relevant": "null"}),
    *({"model": "model"}, {"model": "model", "relevant_from": "list"}),
    {"model": "model", "universe": "recs"},
]
SEGMENTS = {
    "of users": NUMBER % 7,
    "of users, some null": pl.when(NUMBER % 5 > 0).then(NUMBER % 7),
    "text of users": pl.format("country {}", NUMBER % 7).cast(pl.Categorical),
    "of rows": PLACE % 5 % 3,
    "of items": ITEM % 3,
    "half null": pl.when(PLACE % 2 == 0).then(NUMBER % 7),
    "null in one row": pl.when((NUMBER != 36) | (PLACE > 0)).then(NUMBER % 7),
}
PARTS: list[Any] = [None, "segment", ["segment", "week"]]
AXES = {
    "call": ["evaluate", "summarize", "compare"],
    "ids": [*IDS],
    "order by": [*RANKS, *SCORES],
    "order": [*ORDERS],
    "ties": TIES,
    "metrics": [*METRICS],
    "policies": POLICIES,
    "segments": [*SEGMENTS],
    "by": [None, "segment", "user", "kind", ["segment", "week"], ["user", "segment"], ["kind", "year"], ["segment", "item"]],
    "frames": ["judged", "both", "lists", "truth"],
    "truth": ["liked", "judged"],
}  # fmt: skip
"""The frames that have the column of segments: the judged one, or of two both, the lists or the truth; and whether a truth has
rows that are not relevant."""


def is_call(row: Row) -> bool:
    call, by, ties = row.get("call", "evaluate"), row.get("by"), row.get("ties", "item")
    frames, policies = row.get("frames", "judged"), row.get("policies", {"model": "model"})
    cuts = row.get("segments") in {"of rows", "of items"} and "segment" in (by or ())
    of_lists = policies.get("universe") in {"recs", "all"} or row.get("metrics") == "of lists"
    refused = [
        # the others are no parts of a sample
        call != "evaluate" and (by not in PARTS or ties == "expected"),
        call == "compare" and ("model" not in policies or row.get("order") == "of nobody"),
        # a column of the lists is a property of their users
        frames == "lists" and cuts,
        # a truth that is filtered says nothing of the users of lists
        frames == "truth" and by and of_lists,
        row.get("order by") in RANKS and ties != "item",
        ties in {"last", "expected"} and row.get("metrics", "of hits") != "of hits",
    ]
    return not any(refused)


ROWS = [*pairwise(AXES, is_call)]


def frames_of(row: Row) -> dict[str, pl.DataFrame]:
    """Return lists, the truth where they have none, users' histories and items."""
    draw, n_users = np.random.default_rng(0), SIZE // LENGTH
    listed = np.concatenate([draw.permutation(N_ITEMS)[:LENGTH] for _ in range(n_users)])
    columns = {"number": np.repeat(np.arange(n_users), LENGTH), "number of the item": listed}
    columns["rank"] = np.tile(np.arange(1, LENGTH + 1), n_users)
    rows = pl.DataFrame(columns | {"relevance": draw.choice([0, 0, 1, 2], SIZE)})
    of_items = [*IDS.values()][[*IDS].index(row["ids"]) - 4]
    items = rows.select(number=ITEM).select(item=of_items)
    rows = rows.with_columns(
        user=IDS[row["ids"]],
        item=items["item"],
        segment=SEGMENTS[row["segments"]].cast(pl.String),
        week=(NUMBER // 2).cast(pl.Int32).cast(pl.Date).dt.truncate("3d"),
        # of a third of the users both models have a list
        model=pl.when((NUMBER + PLACE // 6 * (NUMBER % 3 // 2)) % 2 > 0)
        .then(pl.lit("a"))
        .otherwise(pl.lit("b")),
        score=(RANKS | SCORES)[row["order by"]],
    )
    catalogue = rows.unique("item", keep="first", maintain_order=True)[2:]
    items = catalogue.select(
        "item",
        genre=pl.format("genre {}", ITEM % 6),
        kind=pl.when(ITEM % 4 > 0).then((ITEM % 4).cast(pl.String)),
        year=2000 + ITEM,
    )
    rows = rows.drop("rank", "number", "number of the item")
    rows = rows.rename({"score": "rank"}) if row["order by"] in RANKS else rows
    found = {"lists": rows, "train": rows[::3].select("user", "item"), "items": items}
    if row["frames"] != "judged":
        held = [*(["segment"] if row["frames"] != "lists" else []), *["week"]]
        counts = (pl.col("relevance") > 0) | (row["truth"] == "judged")
        liked = rows.filter(counts, pl.int_range(pl.len()) % 7 > 0)
        found["truth"] = liked.select("user", "item", "relevance", *held)
        found["lists"] = rows.drop("relevance", *["segment"] * (row["frames"] == "truth"))
    return {
        name: one if name == "items" else ORDERS[row["order"]](one) for name, one in found.items()
    }


@pytest.mark.parametrize(
    "place", range(len(ROWS)), ids=["-".join(map(str, row.values())) for row in ROWS]
)
def test_what_is_known_changes_no_number(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    row = ROWS[place]
    frames = frames_of(row)
    scored = {"ties": row["ties"]} if row["order by"] in SCORES else {}

    def found(make: Any = pl.DataFrame.clone) -> Any:
        sides = {name: make(one) for name, one in frames.items() if name != "lists"}
        rec = make(frames["lists"]).rec(**sides, **row["policies"], **scored)
        return getattr(rec, row["call"])(*METRICS[row["metrics"]], k=[3, 10], by=row["by"])

    assert len(frames["lists"]) > LARGE
    expected = found(pl.DataFrame.lazy).collect(engine="in-memory")
    # an interval without width has ends of mere rounding
    same = {"rel_tol": 1e-12 if row["call"] == "evaluate" else 1e-9, "abs_tol": 1e-12}
    assert_frame_equal(found(), expected, **same)
    monkeypatch.setattr(known, "ask", lambda judged, *_: judged.known)
    monkeypatch.setattr(metrics_of_lists, "settled", lambda sides, *_: sides)
    assert_frame_equal(found(), expected, **same)
