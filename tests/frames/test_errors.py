"""The words of every error that a user can cause: what is wrong, what was found, what to write instead."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recframe as rf
from asking import liked, ranking, recommended, rows
from frame_kinds import KINDS

FRAME = ranking([0, 1]).with_columns(country=pl.Series(["FR", "FR"]), genre=pl.Series(["x", "y"]))
JUDGED, RECS = "the judged frame", "the frame of recommendations"
# what only the way in and out decides; the others are made of these
PLAIN = ["polars", "lazy", "pandas"]
on_plain_kinds = pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind.name in PLAIN], ids=repr
)


def says(text: str, error: type[Exception] = rf.RecframeError, *, whole: bool = True) -> Any:
    """Expect an error of these words, which is a ValueError too."""
    assert issubclass(error, ValueError)
    return pytest.raises(error, match=f"^{re.escape(text)}" + "$" * whole)


def fails_with(kind: Any, text: str, call: Any) -> None:
    """Expect what only the data shows: a DataError of these words, or from a LazyFrame Polars' error when it is collected."""
    if kind.name in {"lazy", "streaming"}:
        with pytest.raises(pl.exceptions.PolarsError, match=re.escape(text)):
            kind.read(call())
    else:
        with says(text, rf.DataError):
            call()


COLUMNS = ", with columns of users, items and ranks or scores: pl.DataFrame({...})"
GROUPED = ": the one that was grouped, with the groups as by='...'"


@pytest.mark.parametrize(
    ("thing", "said", "instead"),
    [
        ([1], "a list", COLUMNS),
        ({"user": [1]}, "a dict", COLUMNS),
        (np.zeros((2, 2)), "a NumPy array", COLUMNS),
        (None, "None", ""),
        (3, "an int", ""),
        (object(), "an object", ""),
        ("a.parquet", "text", ", not a path: pl.scan_parquet(path), pl.scan_csv(path)"),
        (pl.Series([1]), "a Polars Series", ": series.to_frame()"),
        (pd.Series([1]), "a pandas Series", ": series.reset_index()"),
        (FRAME.to_arrow()["user"], "a pyarrow ChunkedArray", ": one column of a table is none"),
        (FRAME.to_struct().to_arrow(), "a pyarrow StructArray", ": one column of a table is none"),
        (FRAME.group_by("user"), "a Polars GroupBy", GROUPED),
        (FRAME.lazy().group_by("user"), "a Polars LazyGroupBy", GROUPED),
        (FRAME.to_pandas().groupby("user"), "a pandas DataFrameGroupBy", GROUPED),
        (rf.rec(FRAME), "a Rec", ", not what recframe makes of it"),
    ],
    ids=lambda one: type(one).__name__ if not isinstance(one, str) else "",
)
def test_what_is_no_frame(thing, said, instead):
    give = f"is {said}; give a polars.DataFrame, a polars.LazyFrame, a pandas.DataFrame or an Arrow table{instead}"

    with says(f"the first argument of rec() {give}"):
        rf.rec(thing)
    for side in ("truth", "users", "items") if thing is not None else ():
        with says(f"the frame {side}= {give}"):
            rf.rec(FRAME, **{side: thing}).mrr()


@on_plain_kinds
@pytest.mark.parametrize("role", ["user", "relevance"])
def test_a_missing_column_of_the_judged_frame(kind, role):
    hint = {
        "relevance": "Name the column: rec(relevance='...'), or give the truth as a frame: rec(truth=truth)"
    }
    columns = ", ".join(repr(name) for name in FRAME.columns if name != role)
    expected = f"{JUDGED} has no column {role!r}. It has {columns}. "

    with says(
        expected + hint.get(role, f"Name the column of the {role}: rec({role}='...')"),
        rf.ColumnError,
    ):
        kind(FRAME.drop(role)).rec.evaluate("mrr")


@on_plain_kinds
def test_a_missing_rank(kind):
    frame = kind(FRAME.select("user", "item", "relevance"))

    hint = "Name the column of the ranks or of the scores: rec(rank='...') or rec(score='...')"
    with says(
        f"{JUDGED} has no column 'rank'. It has 'user', 'item', 'relevance'. {hint}", rf.ColumnError
    ):
        frame.rec.evaluate("mrr")


@on_plain_kinds
def test_a_missing_column_with_a_name_like_it(kind):
    frame = kind(FRAME.select("item", "rank", "relevance", pl.col("user").alias("user_id")))

    found = "It has 'item', 'rank', 'relevance', 'user_id'. Name the column of the user: rec(user='...')"
    with says(f"{JUDGED} has no column 'user'; did you mean 'user_id'? {found}", rf.ColumnError):
        frame.rec.mrr()
    with says(f"{JUDGED} has no column 'user_di'; did you mean 'user_id'? {found}", rf.ColumnError):
        frame.rec(user="user_di").mrr()
    with says(f"{JUDGED} has no column 'user_di'; did you mean 'user_id'? {found}", rf.ColumnError):
        frame.rec(user="user_di").judge()


@on_plain_kinds
@pytest.mark.parametrize(
    ("side", "role"), [("truth", "user"), ("truth", "item"), ("users", "user"), ("items", "item")]
)
def test_a_missing_column_of_a_side_frame(kind, side, role):
    rec = kind(recommended(u="a")).rec(
        **{"truth": kind(liked(u="a"))} | {side: kind(pl.DataFrame({"x": [1]}))}
    )
    missing = "user" if side == "truth" else role  # the first one that is missed

    hint = f"Name the column of the {missing}: rec({missing}='...'), or of this frame alone: "
    hint += f"{side}=rf.frame({side}, {missing}='...')"
    with says(f"the frame {side}= has no column {missing!r}. It has 'x'. {hint}", rf.ColumnError):
        rec.evaluate("mrr")


@on_plain_kinds
@pytest.mark.parametrize("role", ["user", "item", "rank", "score", "relevance", "model"])
def test_a_bound_column_that_is_missing(kind, role):
    # what judge() returns has a rank and no score, so a judged frame with ranks may lack the score that is bound
    frame = FRAME.drop("rank") if role == "score" else FRAME
    with says(f"{JUDGED} has no column 'none'. It has 'user', ", rf.ColumnError, whole=False):
        kind(frame).rec(**{role: "none"}).evaluate("mrr")


def test_a_relevance_that_is_bound_and_not_in_the_truth():
    with says(
        "the frame truth= has no column 'stars'. It has 'user', 'item'. ",
        rf.ColumnError,
        whole=False,
    ):
        recommended(u="a").rec(truth=liked(u="a"), relevance="stars").mrr()


def test_a_frame_without_columns():
    with pytest.raises(
        rf.ColumnError, match=f"^{JUDGED} has no column '.*'. It has no columns. Name the column"
    ):
        pl.DataFrame().rec.mrr()


def test_a_wide_frame_is_not_listed_whole():
    wide = pl.DataFrame({f"c{number}": [1] for number in range(25)})

    with says(f"{JUDGED} has no column 'rank'", rf.ColumnError, whole=False) as caught:
        wide.with_columns(user=1, item=1).rec.mrr()
    assert "'c19' and 7 more. " in str(caught.value)


def test_pandas_columns_that_are_no_text():
    frame = pd.DataFrame({"user": [1], 0: [1]})
    with says(
        f"{JUDGED} has no column 'rank'. It has 'user', 'item', 0. ", rf.ColumnError, whole=False
    ):
        frame.assign(item=1)[["user", "item", 0]].rec.mrr()
    frame.columns = pd.MultiIndex.from_tuples([("user", "x"), ("item", "x")])
    with says(f"{JUDGED} has no column '", rf.ColumnError, whole=False):
        frame.rec.mrr()


@pytest.mark.parametrize("role", ["user", "item", "rank", "relevance", "country"])
def test_pandas_columns_of_one_name(role):
    frame = FRAME.to_pandas()
    frame = pd.concat([frame, frame[[role]]], axis=1)

    with says(
        f"the pandas frame has 2 columns named {role!r}; drop or rename all but one", rf.ColumnError
    ):
        frame.rec.mrr(by="country")


@on_plain_kinds
@pytest.mark.parametrize(
    ("role", "wanted", "values", "shown"),
    [
        ("rank", "a number from 1 up", ["1", "2"], "String"),
        ("rank", "a number from 1 up", [True, False], "Boolean"),
        ("score", "a number", ["1", "2"], "String"),
        ("score", "a number", [True, False], "Boolean"),
        ("relevance", "a number or Boolean", ["1", "0"], "String"),
    ],
)
def test_a_column_that_is_no_number(kind, role, wanted, values, shown):
    frame = FRAME.drop("rank" if role == "score" else []).with_columns(pl.Series(role, values))

    with says(
        f"column {role!r} of {JUDGED} is {shown}; a {role} is {wanted}: cast the column first",
        rf.ColumnError,
    ):
        kind(frame).rec.evaluate("mrr")


def test_a_bound_column_that_is_no_number_has_its_own_name():
    frame = FRAME.lazy().rename({"rank": "place"}).with_columns(place=pl.lit("1"))

    with says(
        f"column 'place' of {JUDGED} is String; a rank is a number from 1 up",
        rf.ColumnError,
        whole=False,
    ):
        frame.rec(rank="place").mrr()


def test_a_relevance_of_the_truth_that_is_no_number():
    truth = liked(u="a").with_columns(relevance=pl.lit("good"))

    with says("column 'relevance' of the frame truth= is String; ", rf.ColumnError, whole=False):
        recommended(u="a").rec(truth=truth).mrr()


def test_python_objects_as_ids():
    frame = FRAME.with_columns(item=pl.Series([object(), object()], dtype=pl.Object))

    with says(
        f"column 'item' of {JUDGED} holds Python objects, which no frame can join; cast it to text",
        rf.ColumnError,
    ):
        frame.rec.mrr()


def test_a_pandas_column_of_mixed_objects():
    frame = FRAME.to_pandas()
    frame["user"] = pd.Series([1, "u"], dtype=object)

    with says(
        "column 'user' of the pandas frame cannot go through Arrow (", rf.ColumnError, whole=False
    ) as caught:
        frame.rec.mrr()
    assert str(caught.value).endswith(
        "); give it one dtype, for example frame['user'] = frame['user'].astype('string')"
    )


CAST = "; cast them to one dtype, so that they can match"
MISSING = (
    ". A missing id makes a pandas column Float64: drop the rows without an id and cast to int"
)
NUMBERS = pl.DataFrame({"user": [1], "item": [2], "rank": [1]})


@on_plain_kinds
@pytest.mark.parametrize("role", ["user", "item"])
@pytest.mark.parametrize(
    ("dtype", "shown", "hint"),
    [(pl.String, "String", ""), (pl.Float64, "Float64", MISSING), (pl.Boolean, "Boolean", "")],
)
def test_ids_of_two_frames_that_cannot_match(kind, role, dtype, shown, hint):
    truth = NUMBERS.select("user", "item").with_columns(pl.col(role).cast(dtype))

    expected = f"the {role} ids have different dtypes: Int64 in {RECS}, {shown} in the frame truth={CAST}{hint}"
    with says(expected, rf.ColumnError):
        kind(NUMBERS).rec(truth=kind(truth)).evaluate("mrr")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (pl.Date, pl.Datetime("us")),
        (pl.Datetime("us"), pl.Datetime("ms")),
        (pl.String, pl.Binary),
        (pl.Float32, pl.Float64),
    ],
)
def test_other_ids_that_cannot_match(left, right):
    recs, truth = (
        pl.DataFrame({"user": [None], "item": ["a"], "rank": [1]}, schema_overrides={"user": one})
        for one in (left, right)
    )
    dtypes = f"{recs.schema['user']} in {RECS}, {truth.schema['user']} in the frame truth="
    expected = f"the user ids have different dtypes: {dtypes}{CAST}"

    with says(expected, rf.ColumnError, whole=not left.is_float()):
        recs.lazy().rec(truth=truth).mrr()


def test_a_dtype_of_many_categories_is_named_without_them():
    truth = NUMBERS.select(pl.format("u{}", "user").alias("user"), "item")
    categories = pl.Enum([f"u{number}" for number in range(3_000)])

    expected = (
        f"the user ids have different dtypes: Int64 in {RECS}, Enum in the frame truth={CAST}"
    )
    with says(expected, rf.ColumnError):
        NUMBERS.rec(truth=truth.cast({"user": categories})).evaluate("mrr")


@pytest.mark.parametrize(("side", "role"), [("users", "user"), ("items", "item")])
def test_ids_of_a_side_frame_that_cannot_match(side, role):
    frame = pl.DataFrame({role: ["1"], "segment": ["x"]})

    with says(
        f"the {role} ids have different dtypes: Int64 in {RECS}, Int64 in the frame truth=, String in the frame {side}={CAST}"
    ):
        NUMBERS.lazy().rec(truth=NUMBERS, **{side: frame}).mrr(by="segment")


def test_a_missing_id_of_pandas_names_the_usual_cause():
    truth = pd.DataFrame({"user": [1, None], "item": [2, 2]})

    expected = f"the user ids have different dtypes: Int64 in {RECS}, Float64 in the frame truth={CAST}{MISSING}"
    with says(expected, rf.ColumnError):
        NUMBERS.to_pandas().rec(truth=truth).mrr()


@on_plain_kinds
def test_a_segment_of_two_frames_of_two_dtypes(kind):
    recs, truth = (
        recommended(u="a").with_columns(genre=pl.lit("x")),
        liked(u="a").with_columns(genre=pl.lit(1, pl.Int64)),
    )

    expected = f"the values of 'genre' have different dtypes: String in {RECS}, Int64 in the frame truth={CAST}"
    with says(expected, rf.ColumnError):
        kind(recs).rec(truth=kind(truth)).evaluate("mrr", by="genre")


@pytest.mark.parametrize("by", [5, 0, 1.5, [None], b"country"])
def test_by_that_is_no_text(by):
    words = "by= takes the names of columns as text, and Polars expressions; found "
    for call in (lambda: FRAME.rec.mrr(by=by), lambda: FRAME.lazy().rec.group_by(by).mrr()):
        with says(words, whole=False):
            call()


@on_plain_kinds
def test_by_that_no_frame_has(kind):
    expected = f"by='contry' is not a column of {JUDGED}; did you mean 'country'? "
    expected += "There are 'user', 'item', 'rank', 'relevance', 'country', 'genre'. Give the frame that has it: "
    expected += "if it describes users, rec(users=users); if it describes items, rec(items=items)"
    with says(expected, rf.ColumnError):
        kind(FRAME).rec.evaluate("mrr", by="contry")

    rec = kind(recommended(u="a")).rec(
        truth=kind(liked(u="a")), users=kind(pl.DataFrame({"user": ["u"], "age": [1]}))
    )
    expected = (
        f"by='zzz' is not a column of {RECS}, the frame truth=, the frame users=. There are 'user', 'item', 'rank', 'age'. "
        "Give the frame that has it: if it describes items, rec(items=items)"
    )
    with says(expected, rf.ColumnError):
        rec.evaluate("mrr", by="zzz")


@on_plain_kinds
@pytest.mark.parametrize(("side", "role"), [("users", "user"), ("items", "item")])
def test_by_that_two_frames_have(kind, side, role):
    rec = kind(FRAME).rec(**{side: kind(FRAME.select(role, "country").unique())})

    expected = f"by='country' is a column of {JUDGED} and the frame {side}=; drop or rename it in all but one of them"
    with says(expected, rf.ColumnError):
        rec.evaluate("mrr", by="country")


@on_plain_kinds
@pytest.mark.parametrize("name", ["n_users", "n_lists", "mrr@5"])
def test_by_that_is_the_name_of_a_result_column(kind, name):
    frame = kind(FRAME.rename({"country": name}))

    with says(
        f"by={name!r} is also the name of a result column; rename the column first", rf.ColumnError
    ):
        frame.rec.evaluate("mrr", k=5, by=name)


def test_group_by_nothing():
    with says("group_by() needs the name of at least one column: group_by('country')"):
        FRAME.rec.group_by()


BELOW_1 = (
    "a rank is below 1, but ranks start at 1; "
    "if they count from 0, add 1 to them: frame.with_columns(pl.col('rank') + 1), or pandas_frame['rank'] += 1"
)


@pytest.mark.parametrize("ranks", [[0, 1], [1, 0], [-3, 1], [0.5, 1.0]], ids=str)
def test_a_rank_below_1(kind, ranks):
    frame = ranking([0, 1]).with_columns(rank=pl.Series(ranks))
    truth = kind(liked(v="z"))  # the row need not count for anything

    fails_with(kind, BELOW_1, lambda: kind(frame).rec.evaluate("mrr"))
    fails_with(kind, BELOW_1, lambda: kind(frame).rec.evaluate("n_hits", by="user"))
    fails_with(kind, BELOW_1, lambda: kind(frame).rec(truth=truth).evaluate("recall"))
    fails_with(kind, BELOW_1, lambda: kind(frame).rec(truth=truth).judge())


def test_a_rank_of_0_in_small_and_unsigned_integers(kind):
    for dtype in (pl.UInt8, pl.Int8, pl.UInt64, pl.Float32):
        frame = kind(ranking([0, 1], [1, 2]).with_columns((pl.col("rank") - 1).cast(dtype)))
        fails_with(kind, BELOW_1, lambda frame=frame: frame.rec.evaluate("mrr"))


def test_a_rank_below_1_in_an_expression():
    with pytest.raises(pl.exceptions.PolarsError, match=re.escape(BELOW_1)):
        ranking([0, 1], [1, 0]).group_by("user").agg(rf.mrr.expr())


@on_plain_kinds
# pandas 2's convert_dtypes
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
def test_an_infinite_relevance(kind):
    frame = ranking([0, float("inf")])
    text = "a relevance is infinite; replace it with the highest grade"

    fails_with(kind, text, lambda: kind(frame).rec.evaluate("recall"))
    truth = kind(frame.drop("rank"))
    fails_with(kind, text, lambda: kind(recommended(u="z")).rec(truth=truth).evaluate("mrr"))


@on_plain_kinds
@pytest.mark.parametrize(
    "metric", ["dcg(gain=exp)", "ndcg(gain=exp)", "ndcg(gain=exp,ideal=list)@1"]
)
def test_a_relevance_too_steep_for_the_exponential_gain(kind, metric):
    text = (
        "a relevance is above 1000, too steep for gain='exp' (2^relevance - 1); write gain='linear'"
    )

    fails_with(kind, text, lambda: kind(ranking([1001, 0])).rec.evaluate(metric))
    assert kind.read(kind(ranking([1001, 0])).rec.evaluate("ndcg")).rows() == [(1, 1.0)]


@on_plain_kinds
def test_two_values_of_a_property_of_the_user(kind):
    recs, truth = recommended(u="ab").with_columns(system=pl.Series(["x", "y"])), liked(u="ab")
    text = (
        "by='system': a user has two values of this column, so it is not a property of the user. "
        "If it names systems, write rec(model='system'); if it describes items, give it as rec(items=...); if it "
        "cuts lists and truth into parts, such as weeks, give the truth the column too: each part is then a list"
    )

    fails_with(kind, text, lambda: kind(recs).rec(truth=kind(truth)).evaluate("mrr", by="system"))


@on_plain_kinds
@pytest.mark.parametrize(("side", "role"), [("users", "user"), ("items", "item")])
def test_a_key_twice_in_a_side_frame(kind, side, role):
    key = FRAME[role][0]
    frame = rows((key, "x"), (key, "x"), schema=(role, "segment"))
    article = {"user": "a", "item": "an"}[role]
    once = f"{side}.unique('{role}'), or in pandas {side}.drop_duplicates('{role}')"
    text = f"the frame {side}= has {article} {role} twice; it takes one row for each: {once}"

    fails_with(
        kind, text, lambda: kind(FRAME).rec(**{side: kind(frame)}).evaluate("mrr", by="segment")
    )
    fails_with(kind, text, lambda: kind(FRAME).rec(**{side: kind(frame)}).evaluate("mrr"))


@pytest.mark.parametrize("role", ["user", "item", "rank", "score", "relevance", "model"])
def test_the_name_of_a_column_that_is_no_text(role):
    rename = f"rename it first: frame.rename(columns={{3: '{role}'}})"
    or_false = ", or False, so that each row counts" * (role == "relevance")
    with says(f"{role}= takes the name of a column as text{or_false}; found 3; {rename}"):
        FRAME.rec(**{role: 3})


@on_plain_kinds
@pytest.mark.parametrize(
    ("option", "value", "close", "choices"),
    [
        ("universe", "recss", "; did you mean 'recs'?", "'truth', 'recs', 'both', 'all'"),
        ("universe", "x", ".", "'truth', 'recs', 'both', 'all'"),
        ("universe", 3, ".", "'truth', 'recs', 'both', 'all'"),
        ("no_relevant", "skipp", "; did you mean 'skip'?", "'zero', 'skip', 'null'"),
        ("relevant_from", "lists", "; did you mean 'list'?", "'truth', 'list'"),
        ("relevant_from", True, ".", "'truth', 'list'"),
        ("no_relevant", ["skip"], ".", "'zero', 'skip', 'null'"),
    ],
)
def test_an_unknown_value_of_a_policy(kind, option, value, close, choices):
    with says(f"{option}={value!r} is not known{close} Write one of {choices}"):
        kind(FRAME).rec(**{option: value})


@pytest.mark.parametrize(
    "value", [0, -1, float("nan"), float("inf"), True, "1", [1], np.float64(0)], ids=repr
)
def test_a_relevance_that_is_no_threshold(value):
    with says(
        f"min_relevance={value!r}: write a number above 0; rows with at least this relevance are relevant"
    ):
        FRAME.rec(min_relevance=value)


@on_plain_kinds
@pytest.mark.parametrize(
    "k",
    [
        0,
        -1,
        True,
        False,
        "10",
        1.0,
        1.5,
        np.float64(3),
        np.bool_(1),
        [],
        [5, 0],
        [None],
        ["5"],
        range(0),
        pl.col("k"),
    ],
    ids=str,
)
def test_a_cut_off_that_is_none(kind, k):
    with says(
        "k is a positive whole number, a list or range of them, or None for the whole list; found ",
        whole=False,
    ):
        kind(FRAME).rec.mrr(k=k)


@pytest.mark.parametrize("k", [0, -1, True, 1.5, None, "10"], ids=repr)
def test_a_cut_off_behind_an_at_that_is_none(k):
    with says(
        f"k is a positive whole number, a list or range of them, or None for the whole list; found {k!r}"
    ):
        rf.mrr @ k


@on_plain_kinds
def test_a_bound_score_that_is_missing_beside_a_truth(kind):
    recs, truth = FRAME.drop("relevance"), FRAME.select("user", "item")
    with says("the frame of recommendations has no column 'none'", rf.ColumnError, whole=False):
        kind(recs).rec(truth=kind(truth), score="none").evaluate("mrr")
