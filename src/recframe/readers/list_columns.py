"""`rf.long`: list columns, or lists in text, to long format."""

from __future__ import annotations

from collections.abc import Iterable
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
from recframe.frames.rows.joins import AS_EVER
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
    return _ListColumns(frame, context, number, ordered=ordered).long(separator)


def _numbered_columns(columns: Iterable[object]) -> list[str]:
    """Return the columns whose names differ in a number alone, such as rec_1 and rec_2; none where there are no two."""
    by_stem: dict[str, list[str]] = {}
    for name in map(str, columns):
        if (stem := name.rstrip("0123456789")) not in {"", name}:
            by_stem.setdefault(stem, []).append(name)
    most = max(by_stem.values(), key=len, default=[])
    return most if len(most) > 1 else []


class _ListColumns:
    """Columns of users and of lists, and the others, which are repeated for each item."""

    def __init__(self, frame: Any, context: Context, number: str, *, ordered: bool) -> None:
        self.side = Side(str(Either("the frame of lists", "the file of lists")), frame, context)
        self.call = "rf.from_lists" if ordered else "rf.from_truth"
        self.number, self.ordered = number, ordered
        self.named = {"user": self._required("user")}
        self.named["item"] = self._lists_of("item")
        numbers = self._lists_of(number)
        if numbers is not None:
            self.named[number] = numbers
        others = [name for name in self.side.columns if name not in self.named.values()]
        self.kept = {f"kept {place}": name for place, name in enumerate(others)}

    def _required(self, role: str) -> str:
        call = f"{self.call}(frame, {role}={NAMED})"
        write = Either(call, f"--columns {role}=NAME")
        return self.side.require(role, f"Name the column of the {role}: {write}")

    def _lists_of(self, role: str) -> Any:
        """Return the column of the lists of a role, which may be in the plural; None where no numbers are named."""
        name = self.side.context.names[role]
        found = [one for one in (name, f"{name}s") if one in self.side.columns]
        if found:
            return found[0]
        if role == "item" and (wide := _numbered_columns(self.side.columns)):
            user = self.named["user"]
            msg = (
                f"{self.side.title} has a column for each place of a list, {wide[0]!r} and so on; give its items "
                f"as an array: {self.call}(frame[{wide!r}].to_numpy(), users=frame[{user!r}])"
            )
            raise ColumnError(msg)
        is_named = role == "item" or getattr(self.side.context, role) not in {None, role}
        return self._required(role) if is_named else None

    def long(self, separator: str | None) -> Any:
        """Return a row for each item of each list."""
        if separator is not None and (not isinstance(separator, str) or not separator):
            msg = f"separator={shown(separator)}: separator takes the text between two ids: {self.call}(frame, separator=' ')"
            raise RecframeError(msg)
        named, whole = self.named, self._taken()
        schema, rows = whole.collect_schema(), at_hand(whole)
        for inside, name in self.kept.items():
            self._check_kept(name, schema[inside])
        if self.ordered and rows is not None:  # nothing of a LazyFrame is collected
            self._warn_of_two_lists(rows)
        listed = list(named)[1:]
        if separator is not None:
            self._check_text(separator, {named[role]: schema[role] for role in listed})
            if rows is not None and schema["item"] in TEXT:
                _warn_of_no_separator(rows["item"], named["item"], separator)
        lists = [self._as_list(role, schema[role], separator) for role in listed]
        long = self._exploded(whole.lazy().with_columns(lists), listed)
        if self.number in named:
            number = pl.col(self.number).cast(pl.Float64)
            long = long.with_columns(number).filter(has_a_score(self.number))
        places = [PLACE] if self.ordered else []
        return self._given_back(long.select(["user", "item", *places, *listed[1:], *self.kept]))

    def _given_back(self, rows: pl.LazyFrame) -> Any:
        """Return long rows as a frame of the kind that came in, under its names."""
        named, kind, schema = self.named, self.side.kind, rows.collect_schema()
        names = {role: self.side.context.names[role] for role in named}
        of_users = kind.source(named["user"])
        sources = {name: kind.source(name) for name in self.kept.values()}
        # NOTE: a source gives a column back in the dtype it had, whatever it is inside the plan
        ids = ["item"] if of_users is not None else ["user", "item"]
        rows = rows.with_columns(in_own_dtype(pl.col(id_), schema[id_]) for id_ in ids)
        return kind.give(rows.rename(names | self.kept), sources | {names["user"]: of_users})

    def _taken(self) -> Taken:
        name = self.named["item"]
        objects = self.side.kind.source(name)
        # Arrow makes lists of them, in any order
        holds_objects = self.ordered and str(getattr(objects, "dtype", "")) == "object"
        if holds_objects and {*map(type, objects)} & {set, frozenset}:
            msg = (
                f"column {name!r} holds sets, which have no order; give lists, the best item first"
            )
            raise RecframeError(msg)
        try:
            return self.side.kind.take(self.named | self.kept, ids=["user"])
        except ColumnError as error:
            found, mark, _ = str(error).partition("; give it one dtype")
            is_kept = any(found.startswith(f"column {one!r} ") for one in self.kept.values())
            hint = (
                "; drop it first, or give it one dtype"
                if is_kept
                else "; give all lists ids of one kind: frame[name] = [[str(one) for one in ids] for ids in frame[name]]"
            )
            raise ColumnError(found + (hint if mark else "")) from error

    def _check_kept(self, name: str, dtype: pl.DataType) -> None:
        """Reject columns next to the lists that cannot be repeated for each item."""
        if isinstance(dtype, pl.List | pl.Array):
            why = "holds lists, which are neither items nor their numbers"
        elif dtype == pl.Object:
            why = "holds Python objects, which cannot be repeated"
        elif self.ordered and name == PLACE:
            why = "would be a second column of ranks, beside the places in the lists"
        else:
            return
        drop = Either(f": frame.drop({name!r}), or in pandas frame.drop(columns={name!r})")
        keeps = Either(self.call, "--lists-separator")
        msg = f"column {name!r} {why}, so {keeps} cannot keep it; drop it first{drop}"
        raise ColumnError(msg)

    def _warn_of_two_lists(self, rows: pl.DataFrame) -> None:
        """Warn where a user has two lists that no other column tells apart, so that their items share ranks."""
        keys = [rows[one] for one in ("user", *self.kept)]
        twice = pl.DataFrame([key for key in keys if not key.dtype.is_nested()]).is_duplicated()
        found = rows["user"].filter(twice).drop_nulls()
        if len(found):
            warn(
                f"the column {self.named['user']!r} has the user {found[0]!r} in several rows that no other column "
                "distinguishes, so items of several lists share a rank; keep one list of each user, or add the column that "
                "distinguishes the lists, such as their model, and bind it: rec(model='model')"
            )

    def _check_text(self, separator: str, dtypes: dict[str, pl.DataType]) -> None:
        """Reject a separator without text to split."""
        if any(dtype in TEXT for dtype in dtypes.values()):
            return
        found = " and ".join(
            f"column {name!r} is {dtype_shown(one)}" for name, one in dtypes.items()
        )
        words = Either(f"separator={separator!r}", f"--lists-separator {separator!r}")
        leave = Either(f"; leave it out: {self.call}(frame)", "; leave it out")
        msg = f"{words} is for lists that are written as text, and {found}{leave}"
        raise ColumnError(msg)

    def _as_list(self, role: str, dtype: pl.DataType, separator: str | None) -> pl.Expr:
        """Return a list column as one, or say what it is instead."""
        name, column = self.named[role], pl.col(role)
        if dtype in TEXT and separator is not None:
            return _split(role, name, separator)
        if isinstance(dtype, pl.Array):
            return column.arr.to_list()
        if dtype == pl.Null:
            return column.cast(pl.List(pl.Null))
        found, inner = f"column {name!r} is {dtype_shown(dtype)}", getattr(dtype, "inner", None)
        if inner is None:
            msg = f"{found}, not lists; where each row has one item, the frame is already in long form"
            if dtype in TEXT:
                msg += "; where a text is a list, such as 'a b c', say what separates its ids: "
                msg += f"{self.call}(frame, separator=' ')"
            raise ColumnError(msg)
        if inner.is_nested():
            more = f": write frame.explode({name!r}).unnest({name!r}), which makes columns of them"
            msg = f"{found}, not lists of ids or numbers"
            raise ColumnError(msg + (more if inner == pl.Struct else ""))
        return column

    def _exploded(self, lists: pl.LazyFrame, roles: list[str]) -> pl.LazyFrame:
        """Return a row for each item of each list, with its place from 1; empty lists have none."""
        length = pl.col("item").list.len().fill_null(0).cast(pl.Int64)
        start = pl.lit(1, dtype=pl.Int64)
        for other in roles[1:]:
            beside = pl.col(other).list.len().fill_null(0)
            words = worded(
                f"a list of {self.named['item']!r} has ",
                length,
                f" items, and the one of {self.named[other]!r} beside it ",
                beside,
                "; give one for each",
            )
            start = start + fails_if(length != beside, words)
        lists = lists.with_columns(start=start, length=length).filter(pl.col("length") > 0)
        places = pl.int_ranges(pl.col("start"), pl.col("length") + pl.col("start"))
        columns = lists.with_columns(places.alias(PLACE)).select("user", *roles, PLACE, *self.kept)
        return columns.explode(*roles, PLACE, **AS_EVER)


def _warn_of_no_separator(items: pl.Series, name: str, separator: str) -> None:
    text = items.cast(pl.String).str.strip_chars()
    if not text.str.contains(separator, literal=True).any() and text.str.len_chars().sum():
        warn(
            f"no text of the column {name!r} has {separator!r} in it, so each list has one item, such as "
            f"{text.drop_nulls().first()!r}; {Either('separator=', '--lists-separator')} takes the text between two ids"
        )


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
        ", brackets included; first make lists of it: in pandas frame[name].map(ast.literal_eval), in Polars "
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
