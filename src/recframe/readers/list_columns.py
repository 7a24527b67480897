"""`rf.long`: list columns, or lists in text, to long format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from recframe.errors import (
    ColumnError,
    RecframeError,
    dtype_shown,
    fails_if,
    shown,
    shown_in_plan,
    warn,
    worded,
)
from recframe.frames.eager_data import at_hand
from recframe.frames.hints import NAMED, Either
from recframe.frames.kinds.kind import Taken
from recframe.frames.options import Context
from recframe.frames.roles import Side
from recframe.frames.rows.exploding import AS_EVER
from recframe.readers.ids import has_a_score, in_own_dtype

PLACE = "rank"
TEXT = (pl.String, pl.Categorical, pl.Enum)
A_LIST_IN_TEXT = r"(?s)^(\[[^\[\]]*\]|[({][^(){}]*,[^(){}]*[)}])$"
"""Pattern of a list as Python, JSON or NumPy prints it, as in CSV files of pandas."""


def long(
    frame: Any, context: Context, number: str, *, ordered: bool, separator: str | None = None
) -> Any:
    """Return a frame with list columns in long form, as a frame of the same kind.

    `number` is the role of the numbers beside the items, "score" or "relevance"; `ordered` says that a list is a ranking.
    """
    side = Side(str(Either("the frame of lists", "the file of lists")), frame, context)
    call = "rf.from_lists" if ordered else "rf.from_truth"
    named = _named(side, ("item", number), call)
    _check_separator(separator, call)
    others = [name for name in side.columns if name not in named.values()]
    kept = {f"kept {place}": name for place, name in enumerate(others)}
    whole = _taken(side, named, kept, ordered=ordered)
    schema = whole.lazy().collect_schema()
    for inside, name in kept.items():
        _check_kept(name, schema[inside], call, ordered=ordered)
    if ordered:
        _warn_of_two_lists(whole, named["user"], [*kept])
    _, *listed = named
    _check_text(separator, {named[role]: schema[role] for role in listed}, call)
    lists = whole.lazy().with_columns(
        _as_list(role, schema[role], named[role], separator, call) for role in listed
    )
    if separator is not None and (given := at_hand(whole)) is not None:
        _warn_of_no_separator(given, named["item"], schema["item"], separator)
    rows = _exploded(lists, listed, named, [*kept])
    if number in named:
        rows = rows.with_columns(pl.col(number).cast(pl.Float64)).filter(has_a_score(number))
    rows = rows.select(["user", "item", *([PLACE] if ordered else []), *listed[1:], *kept])
    return _given_back(side, rows, named, kept)


def _given_back(side: Side, rows: pl.LazyFrame, named: dict[str, str], kept: dict[str, str]) -> Any:
    """Return long rows as a frame of the kind that came in, under its names."""
    names, schema = {role: side.context.names[role] for role in named}, rows.collect_schema()
    of_users = side.kind.source(named["user"])
    sources = {name: side.kind.source(name) for name in kept.values()} | {names["user"]: of_users}
    # NOTE: a source gives a column back in the dtype it had, whatever it is inside the plan
    ids = ["item"] if of_users is not None else ["user", "item"]
    rows = rows.with_columns(in_own_dtype(pl.col(one), schema[one]) for one in ids)
    return side.kind.give(rows.rename(names | kept), sources)


def _named(side: Side, lists: Sequence[str], call: str) -> dict[str, str]:
    """Return the columns of users, of the lists of items and, where there are some, of the lists of numbers.

    A list column may be in the plural.
    """

    def required(role: str) -> str:
        write = Either(f"{call}(frame, {role}={NAMED})", f"--columns {role}=NAME")
        return side.require(role, f"Name the column of the {role}: {write}")

    named = {"user": required("user")}
    for role in lists:
        name = side.context.names[role]
        found = [one for one in (name, f"{name}s") if one in side.columns]
        if found or role == "item" or getattr(side.context, role) not in {None, role}:
            named[role] = found[0] if found else required(role)
    return named


def _taken(side: Side, named: dict[str, str], kept: dict[str, str], *, ordered: bool) -> Taken:
    objects = side.kind.source(named["item"])
    # Arrow makes lists of them, in any order
    if (
        ordered
        and str(getattr(objects, "dtype", "")) == "object"
        and {*map(type, objects)} & {set, frozenset}
    ):
        msg = f"column {named['item']!r} holds sets, which have no order; give lists, the best item first"
        raise RecframeError(msg)
    try:
        return side.kind.take(named | kept, ids=["user"])
    except ColumnError as error:
        found, mark, _ = str(error).partition("; give it one dtype")
        is_kept = any(found.startswith(f"column {name!r} ") for name in kept.values())
        hint = (
            "; drop it before, or give it one dtype"
            if is_kept
            else "; give all lists ids of one kind: frame[name] = [[str(one) for one in ids] for ids in frame[name]]"
        )
        raise ColumnError(found + (hint if mark else "")) from error


def _check_kept(name: str, dtype: pl.DataType, call: str, *, ordered: bool) -> None:
    """Reject columns next to the lists that cannot be repeated for each item."""
    if isinstance(dtype, pl.List | pl.Array):
        why = "holds lists, which are neither the items nor the numbers beside these"
    elif dtype == pl.Object:
        why = "holds Python objects, which cannot be repeated"
    elif ordered and name == PLACE:
        why = "would stand beside the ranks, which are the places in the lists"
    else:
        return
    drop = Either(f": frame.drop({name!r}), or in pandas frame.drop(columns={name!r})")
    msg = f"column {name!r} {why}, so that {Either(call, '--lists-separator')} cannot keep it; drop it before{drop}"
    raise ColumnError(msg)


def _warn_of_two_lists(whole: Taken, user: str, kept: list[str]) -> None:
    """Warn where a user has two lists that no other column tells apart, so that their items share ranks."""
    rows = at_hand(whole)
    if rows is None:  # nothing of a LazyFrame is collected
        return
    keys = [rows[one] for one in ("user", *kept)]
    twice = pl.DataFrame([one for one in keys if not one.dtype.is_nested()]).is_duplicated()
    found = rows["user"].filter(twice).drop_nulls()
    if len(found):
        warn(
            f"the column {user!r} has the user {found[0]!r} in several rows that no other column tells apart, so that items "
            "of several lists share a rank; keep one list of each user, or give the frame the column that tells the lists "
            "apart, such as their model, and bind it: rec(model='model')"
        )


def _check_separator(separator: object, call: str) -> None:
    if separator is not None and (not isinstance(separator, str) or not separator):
        msg = f"separator={shown(separator)}: separator takes the text between two ids: {call}(frame, separator=' ')"
        raise RecframeError(msg)


def _check_text(separator: str | None, dtypes: dict[str, pl.DataType], call: str) -> None:
    """Reject a separator without text to split."""
    if separator is not None and not any(dtype in TEXT for dtype in dtypes.values()):
        found = " and ".join(
            f"column {name!r} is {dtype_shown(one)}" for name, one in dtypes.items()
        )
        words = Either(f"separator={separator!r}", f"--lists-separator {separator!r}")
        msg = f"{words} is for lists that are written as text, and {found}"
        raise ColumnError(msg + str(Either(f"; leave it out: {call}(frame)", "; leave it out")))


def _warn_of_no_separator(
    whole: pl.DataFrame, name: str, dtype: pl.DataType, separator: str
) -> None:
    if dtype in TEXT and len(whole):
        text = whole["item"].cast(pl.String).str.strip_chars()
        if not text.str.contains(separator, literal=True).any() and text.str.len_chars().sum():
            warn(
                f"no text of the column {name!r} has {separator!r} in it, so that each list has one item, such as "
                f"{text.drop_nulls().first()!r}; {Either('separator=', '--lists-separator')} takes the text between two ids"
            )


def _as_list(role: str, dtype: pl.DataType, name: str, separator: str | None, call: str) -> pl.Expr:
    """Return a list column as one, or say what it is instead."""
    if dtype in TEXT and separator is not None:
        return _split(role, name, separator)
    if isinstance(dtype, pl.Array):
        return pl.col(role).arr.to_list()
    inner = getattr(dtype, "inner", None)
    if dtype == pl.Null:
        return pl.col(role).cast(pl.List(pl.Null))
    if inner is None:
        found = f"column {name!r} is {dtype_shown(dtype)}, not lists"
        msg = f"{found}; where each row has one item, the frame is in long form and needs no more"
        if dtype in TEXT:
            msg += f"; where a text is a list, such as 'a b c', say what stands between its ids: {call}(frame, separator=' ')"
        raise ColumnError(msg)
    if inner.is_nested():
        msg = f"column {name!r} is {dtype_shown(dtype)}, not lists of ids or numbers"
        more = (
            f": write frame.explode({name!r}).unnest({name!r}), which makes columns of them"
            if inner == pl.Struct
            else ""
        )
        raise ColumnError(msg + more)
    return pl.col(role)


def _split(role: str, name: str, separator: str) -> pl.Expr:
    """Split texts at a separator into lists, without surrounding white space.

    White space in a row separates once; of another separator, nothing between two is a missing item, which keeps its place.
    """
    text = pl.col(role).cast(pl.String).str.strip_chars()
    one = pl.element().str.strip_chars()
    is_white = not separator.strip()
    parts = one.filter(one != "") if is_white else pl.when(one != "").then(one)
    lists = pl.when(text != "").then(text).str.split(separator).list.eval(parts)
    in_brackets = worded(
        f"column {name!r} holds the text of a list, ",
        shown_in_plan(text.str.slice(0, 40)),
        ", brackets and all; make lists of it before: in pandas frame[name].map(ast.literal_eval), in Polars "
        "pl.col(name).str.json_decode(pl.List(pl.Int64))",
    )
    checks = [fails_if(text.str.contains(A_LIST_IN_TEXT), in_brackets)]
    if role != "item":
        numbers = lists.list.eval(pl.element().cast(pl.Float64, strict=False))
        lost = lists.list.drop_nulls().list.len() > numbers.list.drop_nulls().list.len()
        words = worded(f"column {name!r} holds ", shown_in_plan(text), ", not numbers")
        checks.append(fails_if(lost, words))
        lists = numbers
    # NOTE: null where a check fails, which it never is: the check has to be read for its list
    return pl.when(pl.sum_horizontal(checks) == 0).then(lists).alias(role)


def _exploded(
    taken: pl.LazyFrame, roles: list[str], named: dict[str, str], kept: list[str]
) -> pl.LazyFrame:
    """Return a row for each item of each list, with its place from 1; empty lists have none."""
    length = pl.col("item").list.len().fill_null(0).cast(pl.Int64)
    start = pl.lit(1, dtype=pl.Int64)
    for other in roles[1:]:
        beside = pl.col(other).list.len().fill_null(0)
        found = worded(
            f"a list of {named['item']!r} has ",
            length,
            f" items, and the one of {named[other]!r} beside it ",
            beside,
        )
        words = worded(found, "; give one for each")
        start = start + fails_if(length != beside, words)
    lists = taken.with_columns(start=start, length=length).filter(pl.col("length") > 0)
    places = pl.int_ranges(pl.col("start"), pl.col("length") + pl.col("start"))
    return (
        lists.with_columns(places.alias(PLACE))
        .select("user", *roles, PLACE, *kept)
        .explode(*roles, PLACE, **AS_EVER)
    )
