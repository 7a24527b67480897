"""Checks of ids: missing, spelt otherwise, of other dtypes, of other spaces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl

from recframe.audit.checks import Check, Finding, Findings, Rule, check
from recframe.audit.data import HARDLY, ROWS, TEXT, Data, item, n_rows, user
from recframe.frames.dtypes import as_text
from recframe.frames.hints import NAMED, Either, bind, text
from recframe.frames.rows.joins import beside_one_another
from recframe.ranking.data_checks import may_lack_models
from recframe.ranking.judged_frame import PAIR, lacks_model


@check("error", "the row is ignored", "drop the row, or find out why its id is missing")
def null_ids(data: Data) -> Findings:
    """Rows without a user or an item."""
    for name, rows in data.pairs.items():
        yield Finding(name, rows.filter(user.is_null() | item.is_null()))


@check(
    "error",
    "a metric raises",
    "give each ranked row the name of its model, or drop the row; a judged row without a rank needs no model",
)
def null_models(data: Data) -> Findings:
    """Ranked rows without a model, where one is bound."""
    if may_lack_models(data.inputs):
        yield Finding(data.main, data.pairs_of_lists.filter(lacks_model(data.inputs)))


@check("error", "a metric raises", "cast the column to one dtype in all frames")
def id_dtypes(data: Data) -> Findings:
    """Ids of a dtype that cannot match the lists' ids, such as 1 and '1'."""
    for inside, message in data.clashes.items():
        rows = data.inputs.lists.filter(pl.col(inside).is_not_null())
        yield Finding(data.main, rows, message, without_rows=True)


SPELLING, PLAIN = pl.col("spelling"), pl.col("plain")
NUMBER = r"^([+-]?\d+)\.0+$"


@check(
    "error",
    "they count as different ids, which do not match",
    "write the ids the same way in all frames: strip and case the text, keep zeros in front, and cast floats to integers "
    "before they become text",
    needs=("all users",),
    warns="low",
)
def id_spellings(data: Data) -> Findings:
    """Ids that differ only by spaces or a trailing `.0`, or from the lists' only by case or zeros in front: 'U7' and 'u7'."""
    for role in PAIR:
        frames = data.having(role)
        if not all(rows.collect_schema()[role] in TEXT for rows in frames.values()):
            continue
        column = pl.col(role).cast(pl.String)
        ids = {
            name: rows.select(spelling=column).drop_nulls().unique()
            for name, rows in frames.items()
        }
        spaced = _spaced(pl.concat(ids.values()).cache())
        for name, rows in frames.items():
            odd = spaced
            if name != data.main:
                odd = pl.concat([odd, _cased(ids[name].cache(), ids[data.main].cache())])
            odd = rows.join(odd, left_on=column, right_on="spelling", how="semi")
            yield Finding(name, odd, (role,), column=role)


def _spaced(texts: pl.LazyFrame) -> pl.LazyFrame:
    """Return ids that differ from another id only by spaces or a trailing `.0`."""
    stripped = SPELLING.str.strip_chars()
    # NOTE: a pattern takes ten times as long as these, and few ids are left for it
    pointed = stripped.str.ends_with("0") & stripped.str.contains(".", literal=True)
    some = texts.filter((stripped != SPELLING) | pointed).unique()
    odd = some.with_columns(plain=stripped.str.replace(NUMBER, "$1")).filter(SPELLING != PLAIN)
    again = odd.filter(pl.len().over("plain") > 1)
    is_plain = odd.join(texts, left_on="plain", right_on="spelling", how="semi")
    return pl.concat([again, is_plain]).select("spelling")


def _cased(ids: pl.LazyFrame, lists: pl.LazyFrame) -> pl.LazyFrame:
    """Return ids of a frame that are in the lists with other letters' cases or zeros in front alone.

    Neither frame has the other's id, and they are 1 % of the frame's ids: codes of few letters differ by chance.
    """
    without_zeros = SPELLING.str.replace(r"^0+(\d)", "$1")
    plain = without_zeros.str.to_lowercase().alias("plain")
    alone, others = (
        some.join(rest, on="spelling", how="anti").with_columns(plain)
        for some, rest in ((ids, lists), (lists, ids))
    )
    odd = alone.join(others, on="plain", how="semi").select("spelling")
    # codes of which two differ by case are meant
    kinds = ids.select(few=HARDLY * pl.len(), less=pl.len() - plain.n_unique())
    counts = beside_one_another([odd.select(n=pl.len()), kinds])
    enough = counts.filter(pl.col("n") >= pl.col("few"), pl.col("less") <= pl.col("few"))
    return odd.join(enough, how="cross").select("spelling")


NO_NAMES = ("nan", "NaN", "None", "null", "NULL", "<NA>")


@check(
    "warning",
    "all rows without a user count as those of one user",
    "drop the rows, or read the column so that what is missing is null",
)
def users_named_null(data: Data) -> Findings:
    """Users whose id is the text of a missing value: 'nan', 'None', 'null'."""
    for name, rows in data.having("user").items():
        if rows.collect_schema()["user"] in TEXT:
            yield Finding(name, rows.filter(user.cast(pl.String).is_in(NO_NAMES)), ("user",))


def smallest(rows: pl.LazyFrame, role: str) -> pl.Expr:
    """Return the smallest id, of nested ones the smallest text."""
    dtype = rows.collect_schema()[role]
    return (as_text(pl.col(role), dtype) if dtype.is_nested() else pl.col(role)).min()


FEWER = pl.min_horizontal("here", "there")
"""The smaller number of ids."""


def apart(
    rows: pl.LazyFrame,
    others: pl.LazyFrame,
    role: str,
    share: float = 0.0,
    least: pl.Expr = FEWER,
) -> pl.LazyFrame:
    """Return a row `rows`, `lists` and `other` of frames with no id in common, or with less than a share of the fewer."""
    here, there = (frame.select(role).drop_nulls().unique() for frame in (rows, others))
    counts = beside_one_another([
        here.select(here=pl.len(), lists=smallest(here, role)),
        there.select(there=pl.len(), other=smallest(there, role)),
        here.join(there, on=role, how="semi").select(common=pl.len()),
    ])  # fmt: skip
    common = pl.col("common")
    found = counts.filter((least > 0) & ((common == 0) | (common < share * FEWER)))
    return found.select("lists", "other", rows=pl.col("there").clip(1).cast(pl.Int64))


def _apart(data: Data, role: str) -> Findings:
    """Find frames with hardly an id in common with the lists: fewer than one in a hundred of the fewer ones."""
    frames = {} if role in data.clashes else data.having(role)
    for name, rows in frames.items():
        if name == data.main:
            continue
        ids = apart(data.inputs.lists, rows, role, HARDLY).rename({"other": name})
        # new users and new items have no history
        meant = "nothing, if users and items are meant to be new"
        words: Any = {"severity": "warning", "remedy": meant} if name == "train" else {}
        yield Finding(name, ids, ("lists", name), column=role, **words)


def _no_common(role: str) -> Callable[[Rule], Check]:
    """Return the declaration of a check of ids of a role."""
    same = "give both frames the same ids, or name the column that has them: "
    remedy = text(same, bind(**{role: NAMED}))
    meaning = "nothing or hardly anything is found"
    return check("error", meaning, remedy, needs=("all users",), warns="low")


@_no_common("user")
def no_common_users(data: Data) -> Findings:
    """Frames with hardly any user id in common with the lists; `rows` counts their ids."""
    return _apart(data, "user")


@_no_common("item")
def no_common_items(data: Data) -> Findings:
    """Frames with hardly any item id in common with the lists; `rows` counts their ids."""
    return _apart(data, "item")


@check("error", "a metric raises", text("keep one row for each", Either(": frame.unique(...)")))
def repeated_keys(data: Data) -> Findings:
    """Users or items with two rows in the frame that describes them."""
    frames = {"user": data.inputs.users, "item": data.inputs.items}
    for role, frame in frames.items():
        if frame is not None:
            counts = frame.filter(pl.col(role).is_not_null()).group_by(role).agg(ROWS)
            yield Finding(f"{role}s", counts.filter(n_rows > 1), (role, "rows"))


LEAST_IDS = 5
"""Minimum ids; of fewer none may be among those of the truth by chance."""


@check(
    "error",
    "the model has no hit",
    "give the model the ids of the other models",
    needs=("models", "all users"),
    warns="low",
)
def model_without_common_ids(data: Data) -> Findings:
    """Models without a user or item id in common with the truth, unlike other models; `rows` counts their ids."""
    for role in PAIR:
        there = data.truth.select(role).drop_nulls().unique()
        ids = data.lists.select("model", role).drop_nulls().unique()
        ids = ids.join(there.with_columns(known=pl.lit(1, pl.Int64)), on=role, how="left")
        known, n_ids = pl.col("known"), pl.len().cast(pl.Int64)
        models = ids.group_by("model").agg(known.sum(), rows=n_ids, lists=smallest(ids, role))
        models = models.join(there.select(there=n_ids, truth=smallest(there, role)), how="cross")
        is_enough = pl.min_horizontal("rows", "there") >= LEAST_IDS
        models = models.filter((known == 0) & (known.max() > 0) & is_enough)
        yield Finding(data.main, models, ("model", "lists", "truth"), column=role)


@check(
    "error",
    "no segment has rows of both frames, so nothing is found",
    text(
        "write the values the same way in both frames, or give the column once, in ",
        bind(users="users"),
    ),
    needs=("segments", "truth", "all users"),
    warns="low",
)
def by_without_common_values(data: Data) -> Findings:
    """Columns of `by` without a value that lists and truth have in common; `rows` counts the values."""
    for segment in data.inputs.segments:
        if segment.inside in data.parts:
            # of a column that is null in all rows of a frame too, as where a join failed
            more = pl.max_horizontal("here", "there")
            values = apart(data.inputs.lists, data.pairs["truth"], segment.inside, least=more)
            values = values.rename({"other": "truth"})
            yield Finding("truth", values, ("lists", "truth"), column=segment.name)
