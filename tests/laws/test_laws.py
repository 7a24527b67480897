"""Laws that hold for every metric on any frames: four metrics an example, of frames that a seed makes."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import random_cases
import recframe as rf
from buckets_of_users import in_buckets
from forms import BEYOND, EVERYTHING
from random_cases import GENRES, TAGS, same, seeded

# random frames may have no rank at all, or a `by` column on some rows of a user alone
pytestmark = pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
EVERY = [rf.parse(str(one)) for one in (*EVERYTHING, *BEYOND) if one.k in {None, 1, 3}]
N_METRICS, N_PARTS = 4, 4
SEGMENTS = [None, "user", "country", "genre", ["country", "genre"]]
"""Segments of users and of items; that those are filters is a law of its own."""

law = settings(phases=[Phase.explicit, Phase.generate])
"""Examples are seeds, which have no smaller form."""
seeds = st.integers(0, 2**32)
Frames = dict[str, Any]


def some(seed: int, every: list[Any]) -> tuple[random.Random, list[Any], Frames]:
    """Return metrics and frames with duplicates, nulls, repeated ranks, and ids that only some of them have."""
    rng = seeded(f"law {seed}")
    size = rng.randint(1, 30), rng.randint(1, 5)
    policy = random_cases.Policy(model=rng.random() < 0.5)
    case = random_cases.two_frames(rng.choice, size, policy=policy)
    case = random_cases.with_sides(rng.choice, case, size)
    rows = [{"user": f"u{number:03}", "country": rng.choice("AB")} for number in range(4)]
    lists, options = random_cases.given(replace(case, users=rows), pl.DataFrame.clone)
    return rng, rng.sample(every, N_METRICS), {"lists": lists, **options}


def bound(frames: Frames, make: Callable[[pl.DataFrame], Any] = pl.DataFrame.clone) -> Any:
    made = {
        name: make(one) if isinstance(one, pl.DataFrame) else one for name, one in frames.items()
    }
    return rf.rec(made.pop("lists"), **made)


def changed(frames: Frames, change: Callable[[pl.DataFrame], pl.DataFrame]) -> Frames:
    return {
        name: change(one) if isinstance(one, pl.DataFrame) else one for name, one in frames.items()
    }


def assert_same(found: pl.DataFrame, expected: pl.DataFrame) -> None:
    assert_frame_equal(found, expected, rel_tol=1e-12, abs_tol=1e-12, check_dtypes=False)


@law
@given(seeds)
def test_a_metric_stays_in_its_range(seed: int):
    rng, metrics, frames = some(seed, EVERY)
    found = bound(frames).evaluate(*metrics, by=rng.choice(SEGMENTS))

    for metric in metrics:
        low, high = metric.range
        values = found[str(metric)].drop_nulls()
        assert values.is_finite().all(), metric
        assert values.is_between(low - 1e-12, high + 1e-12).all(), metric


BEST = ["hit_rate", "recall(denominator=capped)", "map(normalizer=min)", "mrr", "ndcg", "ncrr"]
BEST += ["ndcg(ideal=list)", "map(normalizer=list)", "ncrr(denominator=list)"]
BEST += ["ndcg(discount=unshifted)", "ndcg(gain=exp,offset=1)", "value(of=price,normalizer=best)"]
# a cut-off cuts the list before these; infap smooths by 0.00001
BEST_OF_WHOLE_LISTS = ["r_precision", "bpref", "compatibility", "recall", "map"]


@law
@given(seeds)
def test_a_perfect_order_scores_the_best(seed: int):
    """Every relevant item listed, best first, and nothing else."""
    rng = seeded(f"best {seed}")
    gains = [(u, i, rng.choice([0.5, 1, 2, 3])) for u in range(4) for i in rng.sample(range(9), 5)]
    truth = pl.DataFrame(gains, ["user", "item", "relevance"], orient="row")
    rank = pl.col("relevance").rank("ordinal", descending=True).over("user")
    # a price for each item of a user, in the order of their gains
    lists = truth.with_columns(rank=rank).drop("relevance")
    items = lists.select("item").unique().with_columns(price=1.0)

    rec = lists.rec(truth=truth, items=items)
    found = rec.evaluate(*(rf.parse(name) @ k for name in BEST for k in (1, 3, 10)))
    whole = rec.evaluate(*BEST_OF_WHOLE_LISTS)

    for one in (found, whole):
        assert one.drop("n_users").row(0) == pytest.approx([1] * (len(one.columns) - 1), abs=1e-12)


@law
@given(seeds)
def test_neither_the_order_of_rows_nor_the_plan_changes_a_number(seed: int):
    rng, metrics, frames = some(seed, EVERY)
    by = rng.choice(SEGMENTS)
    expected = bound(frames).evaluate(*metrics, by=by)

    shuffled = changed(frames, lambda one: one.sample(fraction=1, shuffle=True, seed=seed))
    assert_same(bound(shuffled).evaluate(*metrics, by=by), expected)
    lazy = bound(frames, pl.DataFrame.lazy)
    for engine in ("in-memory", "streaming"):
        assert_same(lazy.evaluate(*metrics, by=by).collect(engine=engine), expected)
    whole = [one for one in metrics if one.name != "personalization"]
    if whole:
        found = in_buckets(lazy, *whole, by=by)
        # without a metric of lists none counts lists
        names = [name for name in expected.columns if name in found.columns]
        assert found.columns == names
        assert_same(found, expected.select(names))


@law
@given(seeds)
def test_new_names_of_users_items_and_categories_change_nothing(seed: int):
    """The new names keep the order of items, which decides between repeated ranks."""
    _, metrics, frames = some(seed, EVERY)
    genres = dict(zip([*filter(None, GENRES)], "zyx", strict=True))
    tags = dict(zip(TAGS, TAGS[::-1], strict=True))

    def renamed(one: pl.DataFrame) -> pl.DataFrame:
        names = {
            "user": lambda col: "user " + col.str.reverse(),
            "item": lambda col: "item " + col,
            "genre": lambda col: col.replace(genres),
            "tags": lambda col: col.list.eval(pl.element().replace(tags)),
        }
        made = {name: new(pl.col(name)) for name, new in names.items() if name in one}
        return one.with_columns(**made)

    found = bound(changed(frames, renamed)).evaluate(*metrics)
    assert_same(found, bound(frames).evaluate(*metrics))


VALUES: list[tuple[pl.DataType, list[Any]]] = [
    (pl.String(), ["a", "b", None]),
    (pl.Float64(), [1.0, math.nan, None, -0.0, 0.0]),
    (pl.Enum(["z", "a"]), ["z", "a", None]),
    (pl.Boolean(), [True, False, None]),
]
PLACES: dict[str, dict[str, str]] = {
    "users": {"land": "user"},
    "items": {"kind": "item"},
    "rows": {"week": ""},
    "users and items": {"land": "user", "kind": "item"},
    "rows and items": {"week": "", "kind": "item"},
    "rows and users": {"week": "", "land": "user"},
    "ids": {"early": "user", "first": "item"},
    "users and ids": {"land": "user", "item": "item"},
    "ids and items": {"user": "user", "kind": "item"},
}
"""The columns of `by`, and whose properties they are; of rows of lists and truth, nobody's."""
MADE = {
    "early": (pl.col("user") < "u002").alias("early"),
    "first": (pl.col("item") < "D").alias("first"),
}
HOLDERS = {"land": ["users"], "kind": ["items"], "week": ["lists", "truth"]}
CUT = {"user": ["lists", "truth", "users"], "item": ["lists", "truth", "items", "reference"]}
OF_HISTORY = ("miscalibration", "repeat_rate", "serendipity(of")
"""Metrics of what a user had, of which a part of the items keeps its own; train is else never cut."""
OF_ALL = ("serendipity(against=popularity", "popularity_lift", "exposure_share", "corrected")
"""Metrics that ask more of a part of the items than its items."""
OWN = [one for one in EVERY if not str(one).startswith(OF_ALL) and "against=all" not in str(one)]


def with_segments(rng: random.Random, frames: Frames, names: Iterable[str]) -> Frames:
    """Put columns of some dtype on users, on items, or on the rows of lists and truth."""
    dtype, values = rng.choice(VALUES)
    found = dict(frames)
    for name in names:
        for holder in HOLDERS.get(name, []):
            drawn = [rng.choice(values) for _ in range(len(found[holder]))]
            found[holder] = found[holder].with_columns(pl.Series(name, drawn, dtype))
    return found


def is_value(value: Any, dtype: pl.DataType) -> Callable[[pl.Expr], pl.Expr]:
    """Return the condition of a value of a segment, of which NaN is null and -0.0 is 0."""
    wanted = pl.lit(value, dtype=dtype)
    return lambda col: (col.fill_nan(None) if dtype.is_float() else col).eq_missing(wanted)


def part_of(frames: Frames, place: dict[str, str], row: dict[str, Any], *, train: bool) -> Frames:
    """Filter the frames by hand to the part of a row."""
    found = dict(frames)
    for name, role in place.items():
        if not role:
            holds = is_value(row[name], frames["lists"].schema[name])(pl.col(name))
            found |= {one: found[one].filter(holds).drop(name) for one in HOLDERS[name]}
            continue
        ids = [frames[one].select(role) for one in ("lists", "truth", "train", CUT[role][2])]
        everyone = pl.concat(ids).unique().drop_nulls()
        if name in HOLDERS:
            side = frames[HOLDERS[name][0]].select(role, name)
            known = everyone.join(side, on=role, how="left")
        else:
            known = everyone.with_columns(MADE.get(name, pl.col(role)).alias("value"))
            known = known.select(role, pl.col("value").alias("of"))
        column = known.columns[-1]
        kept = known.filter(is_value(row[name], known.schema[column])(pl.col(column)))
        for one in [*CUT[role], *["train"] * (train and role == "item")]:
            found[one] = found[one].join(kept.select(role), on=role, how="semi")
    return found


@law
@given(seeds)
def test_a_segment_is_what_the_same_call_says_of_filtered_frames(seed: int):
    rng, metrics, frames = some(seed, OWN)
    place = PLACES[rng.choice([*PLACES])]
    reference = frames["reference"]
    frames["reference"] = (
        frames["train"].with_columns(rank=1) if isinstance(reference, str) else reference
    )
    frames = with_segments(rng, frames, place)
    frames |= {"universe": rng.choice(["truth", "both", "recs", "all"])}
    found = bound(frames).evaluate(*metrics, by=[MADE.get(name, name) for name in place])

    rows = found.to_dicts()
    for row in rng.sample(rows, min(N_PARTS, len(rows))):
        for train in (False, True):
            own = [one for one in metrics if str(one).startswith(OF_HISTORY) == train]
            part = part_of(frames, place, row, train=train)
            if not own or part["items"].is_empty():  # which is an error of the whole
                continue
            result = bound(part).evaluate(*own)
            if "model" in row:
                result = result.filter(model=row["model"])
            names = [*map(str, own), *({"n_users", "n_lists"} & {*result.columns} & {*row})]
            for wanted in result.to_dicts():
                differ = {n: (row[n], wanted[n]) for n in names if not same(row[n], wanted[n])}
                assert not differ, row


OF_MEANS = {"gauc", "recall_at_precision"}
MEANS = [
    one
    for one in EVERY
    if one.shape == "user" and "average=" not in str(one) and one.name not in OF_MEANS
]
"""Metrics whose value of a segment is the mean of its users' own values."""


@law
@given(seeds)
def test_values_of_users_average_to_those_of_segments_and_are_counted(seed: int):
    _, metrics, frames = some(seed, MEANS)
    names, rec = [*map(str, metrics)], bound(frames)
    users = rec.evaluate(*metrics, by="user")
    users = users.join(frames["users"], on="user", how="left", nulls_equal=True)
    model = ["model"] * ("model" in users.columns)

    for by in (None, "country"):
        keys = [*model, *([by] if by else [])]
        found = rec.evaluate(*metrics, by=by, support=True)
        values = users.group_by(keys) if keys else users.group_by(pl.lit(1))
        counts = {f"n {name}": pl.col(name).count() for name in names}
        averages = values.agg(pl.col(names).mean(), **counts).select(*keys, *names, *counts)
        same = {"on": keys, "how": "left", "nulls_equal": True, "maintain_order": "left"}
        expected = found.select(keys).join(averages, **same) if keys else averages
        expected = expected.with_columns(pl.col([*counts]).fill_null(0))
        if len(users):
            assert_same(found.select(*keys, *names, *counts), expected)


def test_a_metric_survives_its_own_string():
    for metric in {one(**dict(one.settings)) for one in EVERY}:
        for k in (1, 10, 250):
            assert rf.parse(str(metric @ k)) == metric @ k
            assert hash(rf.parse(str(metric @ k))) == hash(metric @ k)
        assert metric @ 3 != metric @ 4


@pytest.mark.parametrize("n_items", [1, 7, 30])
def test_the_head_and_the_tail_of_the_items_are_what_their_shares_say(n_items: int):
    # RecBole's tail_ratio, which is what the head leaves: 1 - 0.9 is less than 0.1 by a bit
    items = pl.DataFrame({"item": [f"i{number:02}" for number in range(n_items)]})
    recs = items.with_columns(user=pl.lit("u"), rank=pl.int_range(1, n_items + 1))
    rec = recs.rec(items=items, train=recs.select("user", "item"))
    for tenths in range(1, 10):
        found = rec.long_tail_count(tail="items", share=1 - tenths / 10)
        assert found == max(int(tenths / 10 * n_items), 1)
