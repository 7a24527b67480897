"""Lists against reference lists: forms worked by hand, long lists, gaps and ties, cut-offs, and models as references."""

from __future__ import annotations

import polars as pl
import pytest

from asking import ask, ask_one, liked, recommended, rows
from frame_kinds import Kind

THREE = ["overlap", "unexpectedness", "rbo", "rbo(form=truncated)"]
FORMS = {
    ("abcdefg", "bacdefg"): {"rbo": 0.9},
    ("abcd", "badc"): {"rbo": 0.873},
    ("abc", "abdec"): {"rbo": 0.86122},
    # lists of 3 that are the same: 1/9 (3 ln 10 - 2 · 0.9 - 1 · 0.9^2 / 2)
    ("abc", "abc"): {"rbo": 1, "rbo(form=min)": 0.522528},
    # 1 at depth 1, then 2/2: the mean of ones
    ("ab", "abcd"): {"rbo(form=truncated)": 1},
    # depths 1 to 3: 0, 2/2, 2/3, weighed 1, 1/2, 1/4: (1/2 + 1/6) / (7/4)
    ("abc", "bad"): {"rbo(p=0.5,form=truncated)": 8 / 21},
    # X = 1 at both depths: 1/2 (1 + 1/2 · 1/2) + 1/2 · 1/4
    ("ab", "ac"): {"rbo(p=0.5)": 3 / 4},
    # nothing in common is nothing in every form
    ("ab", "cd"): {"rbo": 0, "rbo(form=min)": 0, "rbo(form=truncated)": 0},
}
TIES = rows(("u", "c", 7), ("u", "b", 3), ("u", "a", 3), schema=("user", "item", "rank"))
GAPS = rows(("u", "a", 2), ("u", "b", 5), ("u", "c", 9), schema=("user", "item", "rank"))
TWICE = rows(*(("u", i, r) for r, i in enumerate("abac", 1)), schema=("user", "item", "rank"))
SCORED = recommended(u="abc").select("user", "item", score=-2.0 * pl.col("rank"))
SAME = dict(zip(THREE, [1, 0, 1, 1], strict=True))
ASKED = [
    # gaps close up and repeated ranks follow the items; an item that is listed twice has its best place
    *((one, other, SAME) for one in (GAPS, TWICE, TIES) for other in (GAPS, TWICE, TIES, recommended(u="abc"))),
    (SCORED, recommended(u="abc"), SAME),
    (recommended(u="abc"), SCORED, SAME),
    # the cut-off is of ranks: a, b of one and a, b of the other, c is beyond 5 in both
    (GAPS, TIES, {"overlap@5": 1.0, "overlap@4": 1.0}),
    (TIES, GAPS, {"overlap@4": 0.5}),
    # of a and b up to 3 the reference keeps b, which comes first, and a is at 4
    (recommended(u="abc"), TIES, {"overlap@3": 2 / 3}),
    # ab against dc, dcb, dcba; abcd against d
    (recommended(u="abcd"), recommended(u="dcba"), {"overlap@2": 0.0, "overlap(reference_k=3)@2": 0.5}),
    (recommended(u="abcd"), recommended(u="dcba"), {"overlap(reference_k=4)@2": 1.0, "overlap(reference_k=1)": 0.25}),
]  # fmt: skip


def test_lists_against_others_have_the_numbers_worked_by_hand(kind: Kind):
    asked = [*ASKED]
    for (one, other), values in FORMS.items():
        asked += [
            (recommended(u=a), recommended(u=b), values) for a, b in ((one, other), (other, one))
        ]
    for recs, reference, values in asked:
        found = ask_one(kind, recs, *values, reference=reference)
        assert {name: found[name] for name in values} == pytest.approx(values, abs=1e-6)
    for ties in ("item_desc", "pessimistic", "optimistic", "order"):
        options = {"reference": SCORED, "truth": liked(u="a"), "ties": ties}
        assert ask_one(kind, SCORED, "rbo", **options)["rbo"] == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("p", [0.01, 0.5, 0.9, 0.999, 0.999999])
def test_a_long_list_against_itself_is_one(p: float):
    recs = pl.DataFrame({"user": 1, "item": range(3_000), "rank": range(1, 3_001)})
    rec = recs.rec(reference=recs)

    assert rec.rbo(p=p) == pytest.approx(1, abs=1e-12)
    assert rec.rbo(p=p, form="truncated") == pytest.approx(1, abs=1e-9)
    # what is left out is the weight of the depths beyond 3000
    assert p != 0.9 or rec.rbo(p=p, form="min") == pytest.approx(1, abs=1e-12)


def models(**lists: pl.DataFrame) -> pl.DataFrame:
    return pl.concat([frame.with_columns(model=pl.lit(name)) for name, frame in lists.items()])


def test_a_model_is_the_reference_in_segments_of_rows_and_by_a_number(kind: Kind):
    slots = models(x=recommended(u="abcd")).with_columns(slot=pl.Series(["top", "side"] * 2))
    found = ask(
        kind, slots.with_columns(relevance=1), "rbo", by="slot", model="model", reference="x"
    )
    assert found["rbo"].to_list() == pytest.approx([1, 1], abs=1e-12)
    numbered = [
        recommended(u=items).with_columns(model=n) for n, items in enumerate(("ab", "bc"), 1)
    ]
    found = ask(kind, pl.concat(numbered), "overlap", model="model", reference="2")
    assert found["overlap"].to_list() == [0.5, 1]


def test_lists_of_nobody_have_no_unknown_model():
    none = models(old=recommended(u="ab"))[:0]

    assert none.rec(model="model", reference="old").evaluate("rbo").is_empty()
