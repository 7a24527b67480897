"""Users whose earlier values are known: their differences summed up, and rows that are held against these or the runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from recframe.errors import fails_whole_if
from recframe.frames.dtypes import as_text
from recframe.frames.rows.exact_sums import ExactSums
from recframe.frames.rows.joins import aggregate
from recframe.metrics.language.definition import Metric
from recframe.metrics.language.formulas import ratio as ratio_of
from recframe.uncertainty.distances import (
    ROW,
    Decimals,
    Places,
    are_rounded,
    metrics_at,
    rows_of,
    text_key,
    with_texts,
)
from recframe.uncertainty.pairs import difference, has_no_ends

PAIRED = "{} of {} users, each against their own mean of {} runs"


FEW_KNOWN = "the history knows {} of {} users, fewer than half, so held against the band of runs"


TWICE = "the earlier result has a user twice in one segment; ask both by the same columns"


def by_user_or_run(
    rows: pl.LazyFrame,
    paired: pl.LazyFrame,
    keys: Sequence[str],
    required: Places,
    windows: pl.DataFrame,
) -> pl.LazyFrame:
    """Return rows of `from_pairs` where half of the users, or more, are known from the runs before, else those of runs.

    `rows` are those of `with_predictions`; `windows` has what is said of the runs once users are allowed for, with the keys as
    text, as `key 0` and on, `metric`, some of the columns that begin with `window_`, and `users_note`.
    """
    own, on = rows.collect_schema(), [*map(text_key, keys), "place"]
    said = windows.lazy().join(metrics_at(required), on="metric").drop("metric")
    said = said.rename({f"key {at}": text_key(key) for at, key in enumerate(keys)})
    known = [name for name in windows.columns if name in ROW]
    texts = [as_text(pl.col(key), own[key]).alias(text_key(key)) for key in keys]
    enough = (pl.col("n_users") >= pl.col("unpaired")) & (pl.col("n_users") > 0)
    now = paired.with_columns(texts).drop(known)
    now = now.join(said, on=on, how="inner", nulls_equal=True).with_columns(
        told=_told(enough), is_paired=pl.col("users_note").is_null() & enough
    )
    is_paired = pl.col("is_paired").fill_null(value=False)
    both = rows.with_columns(texts).join(
        now.select(*on, "is_paired", by_runs=pl.when(~is_paired).then("told")),
        on=on,
        how="left",
        nulls_equal=True,
    )
    by_user = now.filter(is_paired).with_columns(note=_joined("told", "note"))
    by_runs = both.filter(~is_paired).with_columns(note=_joined("by_runs", "note"))
    return pl.concat([rows_of(by_user, keys), rows_of(by_runs, keys)])


def _joined(*notes: str) -> pl.Expr:
    whole = pl.concat_str(*notes, separator="; ", ignore_nulls=True)
    return pl.when(whole != "").then(whole)


def _told(enough: pl.Expr) -> pl.Expr:
    """Return how many users are held against their own means, or why none are."""
    n = pl.col("n_users")
    every, runs = (n + pl.col("unpaired")).cast(pl.Int64), pl.col("window_n").cast(pl.Int64)
    return (
        pl.when(pl.col("users_note").is_not_null())
        .then("users_note")
        .when(enough)
        .then(pl.format(PAIRED, n, every, runs))
        .otherwise(pl.format(FEW_KNOWN, n, every))
    )


def sums_with_earlier(
    now: pl.LazyFrame,
    then: pl.LazyFrame,
    keys: Sequence[str],
    metrics: Sequence[Metric[...]],
    decimals: Decimals,
) -> pl.LazyFrame:
    """Return the sums of `pairs.SUMS` over users who have a value now and had one then, and whether those are rounded.

    Both have the keys (`then` some of them), `user` and for each metric, by its place, its value.
    """
    schema, own = then.collect_schema(), now.collect_schema()
    common = [name for name in [*keys, "user"] if name in schema]
    differ = [name for name in common if schema[name] != own[name]]
    now = now.with_columns(_on(common, differ, own))
    values = (pl.col(f"value {place}").alias(f"a value {place}") for place in range(len(metrics)))
    then = then.select(*_on(common, differ, schema), *values)
    on = [f"on {name}" for name in common]
    twice = fails_whole_if(pl.struct(on).is_duplicated().any(), TWICE)
    then = then.with_columns(pl.col(f"a value {place}") + twice for place in range(len(metrics)))
    # NOTE: of users who had a value then and have no row now nothing is known of their segments, so they do not count.
    joined = now.join(then, on=on, how="left", nulls_equal=True)
    places = range(len(metrics))
    counts = [one for place in places for one in _counts(f"value {place}")]
    counts += [
        are_rounded(pl.col(f"a value {place}"), metric, decimals).all().alias(f"rounded {place}")
        for place, metric in enumerate(metrics)
    ]
    counts += [
        one for place in places if has_no_ends(metrics[place]) for one in _ends_of_users(place)
    ]
    sums = {name: one for place in places for name, one in _sums(f"value {place}").items()}
    return ExactSums(sums).of(joined, list(keys), counts)


def _on(names: Sequence[str], as_texts: Sequence[str], dtypes: pl.Schema) -> list[pl.Expr]:
    """Return the columns that users are joined on, some as text."""
    return [
        (as_text(pl.col(name), dtypes[name]) if name in as_texts else pl.col(name)).alias(
            f"on {name}"
        )
        for name in names
    ]


def _ends_of_users(place: int) -> list[pl.Expr]:
    """Return the lowest and the highest value of users with both."""
    then, now = pl.col(f"a value {place}"), pl.col(f"value {place}")
    both = (then + now).is_not_null()
    low, high = pl.min_horizontal(then, now), pl.max_horizontal(then, now)
    return [
        low.filter(both).min().alias(f"low {place}"),
        high.filter(both).max().alias(f"high {place}"),
    ]


def had_by_users(
    then: pl.LazyFrame, keys: Sequence[str], numbers: Mapping[int, int], dtypes: pl.Schema
) -> pl.LazyFrame:
    """Return what users had then, as `with_missing` takes it; `numbers` has the number of each place's value."""
    common = [key for key in keys if key in then.collect_schema()]
    found = []
    for place, number in numbers.items():
        value = pl.col(f"value {number}")
        n = value.count().cast(pl.Int64).alias("n")
        rows = ExactSums({"other": value}).of(then, common, [n])
        rows = rows.with_columns(other=ratio_of(pl.col("other"), pl.col("n"), empty=None))
        rows = with_texts(rows, common, dtypes)
        found.append(rows.select(*map(text_key, common), _place(place), "n", "other"))
    return pl.concat(found)


def present_users(
    now: pl.LazyFrame, keys: Sequence[str], numbers: Mapping[int, int]
) -> pl.LazyFrame:
    """Return the keys and places of which a user has a value now."""
    found = []
    for place, number in numbers.items():
        rows = aggregate(now, keys, [pl.col(f"value {number}").count().alias("n")])
        found.append(rows.filter(pl.col("n") > 0).select(*keys, _place(place)))
    return pl.concat(found)


def _place(place: int) -> pl.Expr:
    return pl.lit(place, pl.Int64).alias("place")


def _sums(name: str) -> dict[str, pl.Expr]:
    """Return what is summed up over users for a distance, as `pairs.SUMS` has it, of the values now and then."""
    a, place = pl.col(f"a {name}"), name.rpartition(" ")[2]
    d = difference(pl.col(name), a)
    then = pl.when(d.is_not_null()).then(a)
    found = {"a": then, "d": d, "aa": then * then, "ad": a * d, "dd": d * d}
    return {f"{part} {place}": one for part, one in found.items()}


def _counts(name: str) -> list[pl.Expr]:
    """Return what is counted of the same users."""
    a, b, place = pl.col(f"a {name}"), pl.col(name), name.rpartition(" ")[2]
    found = {
        "n": (b - a).is_not_null().sum().cast(pl.Int64),
        # they are users' own values, of as many as there are
        "dddd": pl.lit(0.0),
        "ties": (difference(b, a) == 0).sum().cast(pl.Int64),
        "unpaired": (a.is_null() != b.is_null()).sum().cast(pl.Int64),
    }
    return [one.alias(f"{part} {place}") for part, one in found.items()]
