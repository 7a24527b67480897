"""What a finding of the audit says, on frames of any size and dtype."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from audited_frames import ITEMS, JUDGED, POOLED, RECS, TRAIN, TRUTH, audit, found, with_row
from frame_sizes import SIZE
from lanes import in_turn
from recframe.audit.checks import SEVERITIES


def test_the_remedy_names_the_column_that_seems_to_tell_systems_apart(kind):
    first = audit(kind, POOLED, truth=TRUTH).row(0, named=True)

    assert first["check"] == "pooled_lists"
    assert "model='system'" in first["remedy"]
    assert "pooled_lists" not in audit(kind, POOLED, truth=TRUTH, model="system", k=1)["check"]


def test_errors_come_before_warnings_and_those_before_the_rest(kind):
    frame = with_row(RECS[:3], ("u", "z", 2), ("u", "y", 0), ("w", "a", 1))

    severities = audit(kind, frame, truth=TRUTH)["severity"].to_list()
    assert severities == sorted(severities, key=SEVERITIES.index)
    assert set(severities) == set(SEVERITIES)


def test_what_is_done_depends_on_what_is_bound(kind):
    def said(name: str, **options: Any) -> str:
        result = audit(kind, RECS[:2], truth=TRUTH[1:].with_columns(relevance=pl.lit(0)), **options)
        return result.filter(check=name)["treatment"].item()

    assert said("users_without_relevant") == "the user counts, with 0"
    assert said("users_without_relevant", no_relevant="skip") == "the user is left out"
    assert said("users_without_relevant", no_relevant="null") == "the user's values are null"
    assert said("users_without_lists") == "the user counts, with 0"
    assert said("users_without_lists", universe="both") == "the user is left out"


def test_repeated_ranks_say_what_becomes_of_them(kind):
    frame = RECS.with_columns(rank=1)

    (finding,) = audit(kind, frame, truth=TRUTH).filter(check="repeated_ranks").to_dicts()
    assert finding["treatment"].startswith("all of them count at this rank")
    assert "rec(score='...')" in finding["remedy"]


def test_columns_are_named_as_in_a_metric(kind):
    names = {"user": "user_id", "item": "*", "rank": "^.*$"}
    options = {name: value for name, value in names.items() if name != "rank"}

    result = audit(
        kind, with_row(RECS, ("u", "z", 0)).rename(names), truth=TRUTH.rename(options), k=1, **names
    )

    assert result["check"].to_list() == ["rank_below_1"]


def test_train_serves_no_segment(kind):
    described = TRAIN.with_columns(genre=pl.lit("x"))
    result = kind.read(
        kind(RECS)
        .rec(truth=kind(TRUTH), train=kind(described), items=kind(ITEMS))
        .recall(k=2, by="genre")
    )
    assert result["genre"].to_list() == ["x", "y"]


def test_bound_segments_are_audited(kind):
    lists, truth = (
        kind(one.with_columns(country=pl.lit(name))) for one, name in ((RECS, "FR"), (TRUTH, "DE"))
    )
    bound = lists.rec(truth=truth).group_by("country")

    assert "by_without_common_values" in kind.read(bound.audit())["check"]


def test_a_lazy_frame_is_audited_by_a_plan_without_python(monkeypatch):
    collected: list[object] = []
    monkeypatch.setattr(pl.LazyFrame, "collect", lambda *_, **__: collected.append(1))
    frame = with_row(RECS, ("u", "z", 0)).lazy()

    plan = frame.rec(truth=TRUTH.lazy(), train=TRAIN, items=ITEMS.lazy()).audit(10)
    text = plan.explain()
    monkeypatch.undo()

    assert isinstance(plan, pl.LazyFrame)
    assert not collected
    assert "python" not in text.lower()
    assert plan.collect()["check"][0] == "rank_below_1"


def test_an_empty_frame_has_no_lists_and_users_who_get_nothing(kind):
    no_lists = ("no_lists", "error")
    assert found(kind, JUDGED.clear(), k=10) == [(*no_lists, "judged", 0, 0)]
    assert found(kind, RECS.clear(), truth=TRUTH, k=10) == [
        (*no_lists, "recommendations", 0, 0),
        ("users_without_lists", "warning", "truth", 4, 2),
    ]


@pytest.mark.parametrize("dtype", [pl.Boolean, pl.UInt8, pl.Decimal(10, 2), pl.Float32])
def test_a_relevance_of_any_dtype_is_audited(kind, dtype):
    if dtype == pl.Decimal(10, 2) and kind.name == "pandas":
        pytest.skip("a Decimal is a Python object there")
    relevance = pl.Series([True, False] if dtype == pl.Boolean else [1, 0], dtype=dtype)
    truth = pl.DataFrame({"user": ["u", "u"], "item": ["a", "a"], "relevance": relevance})

    assert found(kind, RECS[:2], truth=truth) == [("conflicting_truth", "error", "truth", 2, 1)]
    assert found(kind, RECS[:2], truth=pl.concat([truth[:1], truth[:1]])) == [
        ("duplicate_truth", "warning", "truth", 2, 1)
    ]


def of_models() -> pl.DataFrame:
    """Return the lists of two models, of ten items each."""
    row = pl.int_range(SIZE)
    model, user, place = row // (SIZE // 2), row % (SIZE // 2) // 10, row % 10
    item = (user + 3 * place + model) % 40
    return pl.select(model=pl.format("m{}", model), user=user, item=item, rank=place + 1)


def beside(lists: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return the truth, train and items of the lists' users."""
    user = pl.col("user")
    users = lists.select(user.unique())
    return {
        "truth": users.select("user", item=user % 40),
        "train": users.select("user", item=(user + 5) % 40),
        "items": pl.select(item=pl.int_range(45)),
    }


def with_ids(frame: pl.DataFrame, ids: str) -> pl.DataFrame:
    """Return a frame with other ids: at an end of their dtype, or of another one."""
    roles = pl.col(*({"user", "item"} & set(frame.columns)))
    ends = {"lowest": (1, -(2**63)), "highest": (-1, 2**63 - 1), "beyond 31 bits": (-1, 2**31)}
    if ids in ends:
        sign, end = ends[ids]
        return frame.with_columns((roles * sign + end).cast(pl.Int64))
    through = pl.String if ids in {"Categorical", "Binary"} else pl.Int64
    return frame.with_columns(roles.cast(through).cast(getattr(pl, ids)))


DEFECTS = {
    "repeated_ranks": {"rank": 9},
    "rank_gaps": {"rank": 99},
    "missing_ranks": {"rank": None},
    "duplicate_items": {"item": 24},
    "null_ids": {"item": None},
    "unknown_items": {"item": 50},
    "cold_items": {"item": 42},
    "recommended_in_train": {"item": 4},
    "users_without_truth": {"user": 500},
    "users_without_lists": {"model": "m2"},
}
"""What the last row is changed to, so that no few first rows show it."""


ENDS = ["lowest", "highest", "beyond 31 bits"]
IDS = [*ENDS, "Int64", "UInt64", "Int16", "String", "Categorical", "Binary"]
ORDERS = ["model by model", "user by user", "shuffled"]


@pytest.mark.parametrize(
    ("defect", "ids", "order", "judged"), in_turn(["", *DEFECTS], IDS, ORDERS, [False, True])
)
def test_large_lists_of_models_have_the_findings_of_lazy_ones(defect, ids, order, judged):
    lists = of_models()
    frames = {name: with_ids(one, ids) for name, one in beside(lists).items()}
    columns = ["check", "severity", "frame", "rows", "users", "treatment", "remedy"]
    last = lists[-1:].with_columns(
        pl.lit(one).alias(name) for name, one in DEFECTS.get(defect, {}).items()
    )
    recs = pl.concat([lists[:-1], last.cast(lists.schema)])
    if order != "model by model":
        recs = recs.sort("user", "model", "rank", nulls_last=True)
        recs = recs.sample(fraction=1, shuffle=True, seed=1) if order == "shuffled" else recs
    recs = with_ids(recs, ids)
    if judged:
        truth = frames.pop("truth").with_columns(relevance=1)
        recs = recs.join(truth, on=["user", "item"], how="left")

    found = recs.rec(model="model", **frames).audit(10).select(columns)

    plain = recs.lazy().rec(model="model", **frames).audit(10).select(columns)
    for engine in ("in-memory", "streaming"):
        assert_frame_equal(found, plain.collect(engine=engine))
    # in a judged frame a null rank is no list's
    assert not defect or defect in found["check"] or (judged and defect == "missing_ranks")
