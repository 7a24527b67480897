"""Frames of odd shapes for the benchmark of growth, each beside a plain one of as many rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain

import growth_data
import polars as pl
from growth_data import as_sorted, judged, shuffled

import recframe as rf

RANK, RELEVANCE, USER = pl.col("rank"), pl.col("relevance"), pl.col("user")
GRADES = pl.col("item") % 5 + 1


@dataclass(frozen=True)
class Shape:
    """A frame, what is bound to it, and a plain frame with what is bound to that."""

    name: str
    frame: pl.DataFrame
    plain: pl.DataFrame
    truth: pl.DataFrame | None = None
    plain_truth: pl.DataFrame | None = None

    @property
    def run(self) -> partial[object]:
        """The call on the frame."""
        return _asked(self.frame, self.truth)

    @property
    def run_plain(self) -> partial[object]:
        """The same call on the plain frame."""
        return _asked(self.plain, self.plain_truth)

    @property
    def rows(self) -> tuple[int, int]:
        """How many rows there are, and how many there are in the plain frames."""
        return _n_rows(self.frame, self.truth), _n_rows(self.plain, self.plain_truth)

    @property
    def relevant(self) -> tuple[int, int]:
        """How many of these are relevant."""
        return _n_relevant(self.frame, self.truth), _n_relevant(self.plain, self.plain_truth)


def _asked(frame: pl.DataFrame, truth: pl.DataFrame | None) -> partial[object]:
    rec = rf.rec(frame) if truth is None else rf.rec(frame)(truth=truth)
    return partial(rec.evaluate, *growth_data.SIX)


def _n_rows(*frames: pl.DataFrame | None) -> int:
    return sum(len(frame) for frame in frames if frame is not None)


def _n_relevant(frame: pl.DataFrame, truth: pl.DataFrame | None) -> int:
    return int((((frame if truth is None else truth)["relevance"]) > 0).sum())


def shapes(rows: int) -> Iterator[Shape]:
    """Yield the shapes, of about so many rows each."""
    plain = judged(rows)
    for name, frame in chain(of_lists(plain), of_rows(plain), of_ids(plain)):
        yield Shape(name, frame, plain)
    mixed = shuffled(plain)
    yield Shape("shuffled", mixed, plain)
    for name, frame in of_ids(mixed):
        yield Shape(f"shuffled, {name}", frame, mixed)
    for name, frame in of_scores(plain):
        yield Shape(name, frame, plain)
        yield Shape(f"shuffled, {name}", shuffled(frame), mixed)
    yield from of_two_frames(plain)
    yield from of_two_shuffled_frames(mixed)


def of_lists(plain: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield frames of other lists, known to be sorted."""
    rows = len(plain)
    yield "one user", one_list(plain)
    others = plain.tail(rows // 2).with_columns(USER + 1)
    yield (
        "one user of half of the rows",
        as_sorted(pl.concat([one_list(plain.head(rows // 2)), others])),
    )
    yield "lists of 1,000, 0.1 % relevant", judged(rows, 1_000, 0.001)
    yield "lists of one row", judged(rows, 1)
    yield "all rows relevant", plain.with_columns(relevance=GRADES)
    yield "no row relevant", plain.with_columns(relevance=RELEVANCE * 0)


def one_list(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame as the list of one user, of as many items as there are rows."""
    listed = RANK.is_not_null()
    one = frame.with_columns(
        user=USER * 0,
        item=pl.int_range(pl.len()),
        rank=pl.when(listed).then(listed.cast(pl.Int64).cum_sum()),
    )
    return as_sorted(one.sort("rank", nulls_last=True))


def of_rows(plain: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield frames of other values, and frames with one odd row."""
    row = pl.int_range(pl.len())
    yield "relevance of 0 and 1", plain.with_columns(RELEVANCE.clip(0, 1))
    yield "relevance of halves", plain.with_columns(RELEVANCE / 2)
    yield "ranks as Float64", plain.with_columns(RANK.cast(pl.Float64))
    yield "ids and ranks of 32 bits", plain.with_columns(pl.all().cast(pl.Int32))
    yield "no rank missing", plain.with_columns(RANK.fill_null(RANK.max() + 1))
    twice = plain.filter(RELEVANCE > 0, RANK <= 10).tail(1)
    twice = twice.with_columns(user=pl.lit(plain["user"].max(), dtype=pl.Int64))
    yield "one item twice", as_sorted(pl.concat([plain, twice, twice]))
    two = plain.with_columns(
        rank=pl.when(row < 2).then(1).otherwise(RANK),
        relevance=pl.when(row < 2).then(1).otherwise(RELEVANCE),
    )
    yield "one rank twice", as_sorted(two)
    yield "one row out of place", pl.concat([plain.tail(-1), plain.head(1)]).rechunk()
    yield "users in descending order", plain.sort("user", descending=True, maintain_order=True)


def of_ids(frame: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the same rows with other ids."""
    yield "users far apart", frame.with_columns(USER * 1_000)
    yield "negative users", frame.with_columns(USER - 1_000)
    yield "ids of 40 bits", wide(frame)
    yield "ids as UInt64", frame.with_columns(pl.col("user", "item").cast(pl.UInt64))
    text = frame.with_columns(pl.format("user {}", "user").alias("user"))
    yield "users as text", text
    yield "users as categories", text.with_columns(USER.cast(pl.Categorical))


def of_scores(plain: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the same rows with scores in place of ranks; a row without a rank has the lowest one."""
    score = -RANK.cast(pl.Float64).fill_null(plain["rank"].max() + 1)
    scored = plain.with_columns(score=score).drop("rank")
    yield "rank from a score", scored
    yield "rank from a score, all behind 5 tied", scored.with_columns(pl.col("score").clip(-5))


def wide(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the same rows with ids that 31 bits do not hold."""
    return frame.with_columns(pl.col("user", "item") + 2**39)


def of_two_frames(plain: pl.DataFrame) -> Iterator[Shape]:
    """Yield recommendations and a truth."""
    recs, truth = growth_data.two_frames(plain)
    beside = partial(Shape, plain=recs, plain_truth=truth)
    yield beside("two frames, ids of 40 bits", wide(recs), truth=wide(truth))
    twice = as_sorted(pl.concat([truth, truth.tail(1)]))
    yield beside("two frames, one pair of the truth twice", recs, truth=twice)
    ten = plain.select("user", "item", relevance=GRADES)
    first = plain.filter(RANK <= 10).select("user", "item", "rank")
    yield beside("truth ten times the lists", first, truth=ten)
    yield beside("large truth, 10,000 rows of lists", first.head(10_000), truth=ten)
    yield beside("truth of 10,000 rows", recs, truth=truth.head(10_000))


def of_two_shuffled_frames(mixed: pl.DataFrame) -> Iterator[Shape]:
    """Yield recommendations and a truth in any order, with other ids."""
    recs, truth = growth_data.two_frames(mixed)
    for (name, lists), (_, judgements) in zip(of_ids(recs), of_ids(truth), strict=True):
        yield Shape(f"two frames, shuffled, {name}", lists, recs, judgements, truth)
