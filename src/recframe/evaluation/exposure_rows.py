"""Sums of a user's exposures against those that relevance targets.

Symbols: E the exposure of an item, p^(r - 1) at the rank r and 0 where it is not listed; T the one that it would have on
average over all orders of the catalogue by grade, in which an item that is not relevant has the last grade. Of a group both
are sums over its items.
"""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from recframe.frames.rows.exact_sums import ExactSums
from recframe.frames.rows.joins import distinct_names, joined
from recframe.metrics.language.at import EXPOSURE, geometric_discount
from recframe.ranking.judged_frame import Judged
from recframe.side_info import attributes
from recframe.side_info.sources import Fact, Sides

IN_CATALOGUE, N_CATALOGUE = Fact(attributes.in_catalogue), Fact(attributes.n_catalogue)
E, T, ONE, T0 = (pl.col(name) for name in ("e", "t", "one", "t0"))
"""Exposures, targets and numbers of relevant items, of items or groups, and the target of an item that is not relevant."""


def rows_of(branch: str, judged: Judged, sides: Sides) -> pl.LazyFrame:
    """Return the sums of each list of a user with relevant items: the keys, and columns that begin with the branch."""
    of, p, k = json.loads(branch.removeprefix(EXPOSURE))
    keys = judged.list_keys
    relevant = _inside(sides, judged.relevant("item"))
    grades = _grades(relevant, keys, p)
    lists = _lists(sides, grades, keys, p)
    targets = joined(relevant, grades, [*keys, "gain"], "inner")
    listed = _inside(sides, judged.cut(k))
    listed = listed if k is None else listed.filter(pl.col("rank") <= k)
    listed = joined(listed, lists.select(keys), keys, "inner")
    nothing, one = pl.lit(0.0, dtype=pl.Float64), pl.lit(1.0, dtype=pl.Float64)
    of_items = [
        targets.select(*keys, "item", e=nothing, t=T, one=one),
        listed.select(
            *keys, "item", e=geometric_discount(pl.col("rank"), p), t=nothing, one=nothing
        ),
    ]
    groups = _groups(sides, pl.concat(of_items), keys, of)
    groups = joined(groups, lists, keys).with_columns(t=T + T0 * (pl.col("size") - ONE))
    # groups that no listed or relevant item is in have the target of their size
    rest = T0 * T0 * pl.col("size") ** 2
    sums = {"disparity": E * E, "relevance": E * T, "target": T * T - rest}
    # a list may have no item of a group
    found = joined(lists, ExactSums(sums).of(groups, keys), keys)
    found = found.with_columns(pl.col([*sums]).fill_null(0.0))
    found = _with_sizes(sides, found, of)
    found = found.with_columns(target=pl.col("target") + T0 * T0 * pl.col("squares").fill_null(0.0))
    return found.select(*keys, *(pl.col(word).alias(f"{branch} {word}") for word in sums))


def _inside(sides: Sides, rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return rows of items of the catalogue."""
    inside = pl.col(IN_CATALOGUE.name).fill_null(value=False)
    return sides.joined(rows, [IN_CATALOGUE], "item").filter(inside).drop(IN_CATALOGUE.name)


def _grades(relevant: pl.LazyFrame, keys: list[str], p: float) -> pl.LazyFrame:
    """Return each grade of each list's relevant items with their number and the target of each: keys, gain, m, t."""
    m, after = pl.col("m"), pl.col("after")
    grades = relevant.group_by(*keys, "gain").agg(m=pl.len().cast(pl.Float64))
    grades = grades.with_columns(after=m.cum_sum().over(keys, order_by="gain", descending=True))
    share = (_power(p, after - m) - _power(p, after)) / (m * (1 - p))
    return grades.with_columns(t=share)


def _lists(sides: Sides, grades: pl.LazyFrame, keys: list[str], p: float) -> pl.LazyFrame:
    """Return each list with the target of an item that is not relevant: keys, t0."""
    n, n_items = pl.col("n"), pl.col(N_CATALOGUE.name)
    lists = grades.group_by(keys).agg(n=pl.col("m").sum())
    lists = sides.joined(lists, [N_CATALOGUE], "segment")
    share = (_power(p, n) - _power(p, n_items)) / ((n_items - n) * (1 - p))
    return lists.select(*keys, t0=pl.when(n_items > n).then(share).otherwise(0.0))


def _groups(sides: Sides, rows: pl.LazyFrame, keys: list[str], of: str) -> pl.LazyFrame:
    """Return the sums over each group's items, and its number of items in the catalogue: keys, e, t, one, size."""
    if not of:
        sums = ExactSums({name: pl.col(name) for name in ("e", "t", "one")})
        return sums.of(rows, [*keys, "item"]).with_columns(size=pl.lit(1.0))
    parts = sides.feature(of).parts().select("item", "part", "share")
    shares = {name: pl.col(name) * pl.col("share") for name in ("e", "t", "one")}
    groups = ExactSums(shares).of(rows.join(parts, on="item"), [*keys, "part"])
    return joined(groups, _sizes(sides, of), [*sides.item_keys, "part"])


def _sizes(sides: Sides, of: str) -> pl.LazyFrame:
    """Return the number of items of each category, one of several counts in each by its share; in each segment of items."""
    items = sides.catalogue.select(distinct_names("item", *sides.item_keys))
    items = items.join(sides.feature(of).parts(), on="item")
    return ExactSums({"size": pl.col("share")}).of(items, [*sides.item_keys, "part"])


def _with_sizes(sides: Sides, lists: pl.LazyFrame, of: str) -> pl.LazyFrame:
    """Return lists with the sum of the squared sizes of all groups of the catalogue."""
    if not of:
        lists = sides.joined(lists, [N_CATALOGUE], "segment")
        return lists.rename({N_CATALOGUE.name: "squares"})
    squares = ExactSums({"squares": pl.col("size") ** 2}).of(_sizes(sides, of), sides.item_keys)
    return joined(lists, squares, sides.item_keys)


def _power(p: float, exponent: pl.Expr) -> Any:
    return pl.lit(p, dtype=pl.Float64) ** exponent
