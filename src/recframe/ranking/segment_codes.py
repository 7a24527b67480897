"""Integer codes of segments, for bitmap counts and list keys.

No answer changes a number; segments without small codes take the plan that lazy frames take.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import polars as pl

from recframe.frames.collecting import Ask
from recframe.frames.rows.distinct_counts import Coded, n_numbers_of_codes
from recframe.frames.rows.integer_keys import fits_64_bits
from recframe.frames.rows.label_encoding import small_codes
from recframe.frames.rows.lookups import lookup
from recframe.frames.rows.profiling import (
    close_numbers,
    heads,
    marked_sorted,
    may_be_among,
    numbered,
)
from recframe.ranking.judged_frame import Judged
from recframe.ranking.precomputed import Known

NUMBER, CODE = pl.col("number"), pl.col("code")


@dataclass(frozen=True)
class Codes:
    """Rows with an integer code per combination of segments."""

    rows: list[Coded]
    """Each frame of rows, with the expression of its codes."""
    segments: pl.DataFrame
    """Values of the segments for each `code`."""


Coding = Callable[[Sequence[pl.DataFrame]], Codes | None]
"""Type of functions that encode segments; None where there may be too many."""


def coding(judged: Judged, ask: Ask) -> Coding | None:
    """Return the encoder of segments; None for segments of rows and items mixed, or of the item itself."""
    if judged.inputs.inside("items") == judged.rows:
        return _of_items(judged, ask)
    if judged.of_rows == judged.rows:
        return lambda rows: _of_rows(judged.rows, rows)
    return None


def _of_rows(names: Sequence[str], rows: Sequence[pl.DataFrame]) -> Codes | None:
    found = small_codes([one.select(names) for one in rows])
    if found is None:
        return None
    codes, segments = found
    coded = (one.drop(names).with_columns(code=code) for one, code in zip(rows, codes, strict=True))
    return Codes([(one, CODE) for one in coded], segments)


def _of_items(judged: Judged, ask: Ask) -> Coding | None:
    """Return the codes of items, found by the place of an item in a table where items are numbers; 0 is the null segment."""
    names, frame = judged.rows, judged.inputs.items
    if frame is None:
        return None
    (items,) = ask([frame.select("item", *names)])
    unknown = items.select(names).clear(1)
    others = items.select(names).unique().filter(~pl.all_horizontal(pl.col(names).is_null()))
    segments = pl.concat([unknown, others]).with_row_index("code")
    of_items = items.drop_nulls("item").join(segments, on=names, nulls_equal=True)
    codes = of_items.select("item", "code")
    return lambda rows: Codes([_looked_up(codes, one, ask) for one in rows], segments)


def _looked_up(codes: pl.DataFrame, rows: pl.DataFrame, ask: Ask) -> Coded:
    """Return rows of items, in their order, and what gives each its code."""
    key, items, own = "item", rows["item"], codes
    if items.dtype == own.schema["item"] == pl.String:
        # numbered in half of the time of a join; together, since categories that no column has are forgotten
        together = pl.concat([own["item"], items]).cast(pl.Categorical(pl.Categories.random()))
        numbers, key = together.to_physical().alias("number of the item"), "number of the item"
        own, items = own.with_columns(numbers.head(len(own))), numbers.slice(len(own))
        rows = rows.with_columns(items)
    table = lookup(own.select(key, "code"), key, items.dtype)
    if table is not None:
        return rows, table.value("code", 0, items)
    joined = rows.lazy().join(codes.lazy(), on="item", how="left", maintain_order="left")
    return ask([joined.with_columns(CODE.fill_null(0))])[0], CODE


def n_users_of_codes(judged: Judged, ask: Ask) -> pl.LazyFrame | None:
    """Return n_users of each segment that has any; None where other columns are requested too, or users are in no one frame."""
    columns = {one.inside for one in judged.inputs.segments} - {"model"}
    rows, coded = judged.rows_of_users(), coding(judged, ask)
    if not columns or columns != {*judged.rows} or rows is None or coded is None:
        return None
    read = [*judged.of_rows, "user", *(["item"] if judged.inputs.item_keys else [])]
    found = ask([one.select(read) for one in rows])
    codes = coded(found)
    if codes is None:
        return None
    numbers, n_numbers = close_numbers([one["user"] for one, _ in codes.rows])
    numbered_rows = [
        (marked_sorted(one.with_columns(number=number), "number"), code)
        for (one, code), number in zip(codes.rows, numbers, strict=True)
    ]
    n_users = n_numbers_of_codes(numbered_rows, n_numbers, len(codes.segments))
    counts = codes.segments.lazy().with_columns(n_users=n_users)
    return counts.filter(pl.col("n_users") > 0).drop("code")


def cut_by_codes(
    judged: Judged, whole: Judged, coded: Coding, ask: Ask, k: int | None, *, by_hits: bool
) -> Judged | None:
    """Return a judgement of lists that segments cut, keyed by one number; None where the segments have no small codes.

    `whole` has the relevant rows of the lists before items cut them. `by_hits` says that a list without a hit up to k has the
    values of an empty one: its relevant rows are then left out.

    NOTE: a user has several times as many lists as there are hits, and most of the time went into lists without one.
    """
    codes = coded(ask([whole.relevant_rows()]))
    if codes is None:
        return None
    ((rows, code),) = codes.rows
    pairs, size = rows.with_columns(code.alias("code")), len(codes.segments)
    pairs = pairs if whole.key == "number" else numbered(pairs)
    pairs = pairs.with_columns(number=NUMBER * size + CODE.cast(pl.Int64))
    cut = replace(judged, known=_known(whole, pairs, codes.segments))
    # hits of a list's own rows are its relevant ones, up to k or not
    (hits,) = ask([cut.hits(None if judged.context.relevant_from == "list" else k)])
    if by_hits:
        pairs = pairs.filter(may_be_among(pairs["number"], hits["number"]))
    pairs = pairs.sort("number", maintain_order=True)
    known = replace(
        _known(whole, pairs, codes.segments),
        hits=None if judged.truth is None else hits.lazy(),
        in_order=whole.known.in_order and judged.truth is None,
        narrow=fits_64_bits(pairs["number"], pairs["gain"]),
    )
    return replace(judged, known=known)


def _known(whole: Judged, pairs: pl.DataFrame, segments: pl.DataFrame) -> Known:
    """Return the properties of cut lists, by their relevant rows."""
    names = heads(pairs.lazy(), "number", "code", "user").join(segments.lazy(), on="code")
    return Known(
        pairs=pairs.lazy(), distinct=True, packs=whole.known.packs, names=names.drop("code")
    )
