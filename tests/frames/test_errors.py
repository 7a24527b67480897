"""The words of every error that a user can cause: what is wrong, what was found, what to write instead."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
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
BY_COLUMN = "pl.DataFrame({...}) of columns"
OF_VALUES = {
    "truth": f": rf.from_truth({{...}}) of the items of each user, {BY_COLUMN}",
    "train": f": rf.from_truth({{...}}) of the items of each user, {BY_COLUMN}",
    "reference": f": rf.from_lists({{...}}) of the items of each user, {BY_COLUMN}",
    "users": f": {BY_COLUMN}",
    "items": f": {BY_COLUMN}",
}
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
        ("a.parquet", "text", ", not a path: pl.scan_parquet('a.parquet')"),
        ("a/b.CSV.gz", "text", ", not a path: pl.scan_csv('a/b.CSV.gz')"),
        (
            PurePosixPath("a.b/c.tsv"),
            "a PurePosixPath",
            r", not a path: pl.scan_csv('a.b/c.tsv', separator='\t')",
        ),
        (
            PurePosixPath("c.qrels"),
            "a PurePosixPath",
            ", not a path: rf.read_trec_qrels('c.qrels')",
        ),
        ("truth", "text", ", not a path: pl.scan_parquet(path), pl.scan_csv(path)"),
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
    for side, of_values in OF_VALUES.items() if thing is not None else ():
        if side == "reference" and isinstance(thing, str):  # the name of a model
            continue
        for frame in (FRAME, FRAME.lazy(), FRAME.to_pandas()):
            with says(f"the frame {side}= {give.replace(COLUMNS, of_values)}"):
                frame.rec(**{side: thing})


CAST = "; cast them to one dtype, so that they can match"
MISSING = (
    ". A missing id makes a pandas column Float64: drop the rows without an id and cast to int"
)
NUMBERS = pl.DataFrame({"user": [1], "item": [2], "rank": [1]})
ALL = "'user', 'item', 'rank', 'relevance', 'country', 'genre'"
USER = "Name the column of the user: rec(user='...')"
GRADE = "Name the column: rec(relevance='...'), or give the truth as a frame: rec(truth=truth)"
ORDER = (
    "Name the column of the ranks or of the scores: rec(rank='...') or rec(score='...'); if the rows of each user "
    "are in order, number them: frame.with_columns(rank=pl.int_range(1, pl.len() + 1).over('user')) in Polars, "
    "frame.groupby('user').cumcount() + 1 in pandas"
)
LIKE = f"did you mean 'user_id'? It has 'item', 'rank', 'relevance', 'user_id'. {USER}"
GIVE, OF_ITEMS = "Give the frame that has it: ", "if it describes items, rec(items=items)"
TYPO = FRAME.select("item", "rank", "relevance", user_id="user")
INTS = f"Int64 in {RECS}, Int64 in the frame truth="
TYPO_OF = (
    f"by='contry' is not a column of {JUDGED}; did you mean 'country'? There are {ALL}. {GIVE}"
)
OF_THREE = f"by='zzz' is not a column of {RECS}, the frame truth=, the frame users=. There are "
ONE, OF_ONE = recommended(u="a"), liked(u="a")
BY_NAME = {name: FRAME.rename({"country": name}) for name in ("n_users", "n_lists", "mrr@5")}
WORDS: list[tuple[pl.DataFrame, dict[str, Any], Any, str]] = [
    (FRAME.drop("user"), {}, None, f"{JUDGED} has no column 'user'. It has {ALL[8:]}. {USER}"),
    (FRAME.drop("relevance"), {}, None,
     f"{JUDGED} has no column 'relevance'. It has 'user', 'item', 'rank', 'country', 'genre'. {GRADE}"),
    (FRAME.select("user", "item", "relevance"), {}, None,
     f"{JUDGED} has no column 'rank'. It has 'user', 'item', 'relevance'. {ORDER}"),
    (TYPO, {}, None, f"{JUDGED} has no column 'user'; {LIKE}"),
    (TYPO, {"user": "user_di"}, None, f"{JUDGED} has no column 'user_di'; {LIKE}"),
    (ONE, {"truth": OF_ONE, "relevance": "stars"}, None, "the frame truth= has no column 'stars'. It has 'user', 'item'. ..."),
    (ONE, {"truth": OF_ONE, "score": "none"}, None, f"{RECS} has no column 'none'..."),
    (FRAME.with_columns(place=pl.lit("1")).drop("rank"), {"rank": "place"}, None,
     f"column 'place' of {JUDGED} is String; a rank is a number from 1 up..."),
    (ONE, {"truth": OF_ONE.with_columns(relevance=pl.lit("good"))}, None,
     "column 'relevance' of the frame truth= is String; ..."),
    *(
        (NUMBERS, {"truth": NUMBERS.drop("rank"), side: pl.DataFrame({role: ["1"], "segment": ["x"]})}, "segment",
         f"the {role} ids have different dtypes: {INTS}, String in the frame {side}={CAST}")
        for side, role in (("users", "user"), ("items", "item"))
    ),
    (ONE.with_columns(genre=pl.lit("x")), {"truth": OF_ONE.with_columns(genre=pl.lit(1, pl.Int64))}, "genre",
     f"the values of 'genre' have different dtypes: String in {RECS}, Int64 in the frame truth={CAST}"),
    (FRAME, {}, "contry", f"{TYPO_OF}if it describes users, rec(users=users); {OF_ITEMS}"),
    (ONE, {"truth": OF_ONE, "users": pl.DataFrame({"user": ["u"], "age": [1]})}, "zzz",
     f"{OF_THREE}'user', 'item', 'rank', 'age'. {GIVE}{OF_ITEMS}"),
    *(
        (FRAME, {side: FRAME.select(role, "country").unique()}, "country",
         f"by='country' is a column of {JUDGED} and the frame {side}=; drop or rename it in all but one of them")
        for side, role in (("users", "user"), ("items", "item"))
    ),
    *(
        (frame, {}, name, f"by={name!r} is also the name of a result column; rename the column first")
        for name, frame in BY_NAME.items()
    ),
]  # fmt: skip


@on_plain_kinds
def test_columns_that_are_missing_or_wrong_have_these_words(kind):
    for recs, options, by, words in WORDS:
        made = {
            name: kind(one) if isinstance(one, pl.DataFrame) else one
            for name, one in options.items()
        }
        rest = words.removesuffix("...")
        with says(rest, rf.ColumnError, whole=rest == words):
            kind(recs).rec(**made).evaluate("mrr", k=5, by=by)


def test_columns_of_odd_frames_have_words_too():
    with pytest.raises(rf.ColumnError, match=r"has no column '.*'\. It has no columns\. Name"):
        pl.DataFrame().rec.mrr()
    wide = pl.DataFrame({f"c{number}": [1] for number in range(25)}).with_columns(user=1, item=1)
    with pytest.raises(rf.ColumnError, match=r"'c19' and 7 more\. "):
        wide.rec.mrr()
    frame = pd.DataFrame({"user": [1], "item": [1], 0: [1]})
    with says(f"{JUDGED} has no column 'rank'. It has 'user', 'item', 0. ", whole=False):
        frame.rec.mrr()
    frame.columns = pd.MultiIndex.from_tuples([("user", "x"), ("item", "x"), (0, "x")])
    with says(f"{JUDGED} has no column '", rf.ColumnError, whole=False):
        frame.rec.mrr()
    things = FRAME.with_columns(item=pl.Series([object(), object()], dtype=pl.Object))
    said = f"column 'item' of {JUDGED} holds Python objects, which no frame can join or group; cast it to text"
    with says(said, rf.ColumnError):
        things.rec.mrr()
    with says(f"{JUDGED} has no column 'user_di'; {LIKE}", rf.ColumnError):
        TYPO.rec(user="user_di").judge()


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


@pytest.mark.parametrize("by", [5, 0, 1.5, [None], b"country"])
def test_by_that_is_no_text(by):
    words = "by= takes the names of columns as text, and Polars expressions; found "
    for call in (lambda: FRAME.rec.mrr(by=by), lambda: FRAME.lazy().rec.group_by(by).mrr()):
        with says(words, whole=False):
            call()


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
    [0, -1, True, False, "10", 1.0, 1.5, np.float64(3), np.bool_(1), [], [5, 0], [None], ["5"], range(0), pl.col("k")],
    ids=str,
)  # fmt: skip
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
