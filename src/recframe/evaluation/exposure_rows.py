"""Sums of a user's exposures against those that relevance targets.

Symbols: E the exposure of an item, p^(r - 1) at the rank r and 0 where it is not listed; T the one that it would have on
average over all orders of the catalogue by grade, in which an item that is not relevant has the last grade; T0 the target of
these. Of a group of items E and T are sums over its items, and its size is their number in the catalogue.
"""

from __future__ import annotations

import json
import math

import polars as pl

from recframe.frames.rows.exact_sums import ExactSums
from recframe.frames.rows.joins import distinct_names, joined
from recframe.metrics.language.at import EXPOSURE, geometric_discount
from recframe.ranking.judged_frame import Judged
from recframe.side_info import attributes
from recframe.side_info.sources import Fact, Sides

N_CATALOGUE = Fact(attributes.n_catalogue)
E, T, T0, SIZE = (pl.col(name) for name in ("e", "t", "t0", "size"))
NOTHING, WHOLE = (pl.lit(value, dtype=pl.Float64) for value in (0, 1))


def rows_of(branch: str, judged: Judged, sides: Sides) -> pl.LazyFrame:
    """Return the sums of each list of a user with relevant items: the keys, and columns that begin with the branch.

    NOTE: t is what a target is above T0, so that groups without a listed or relevant item need no row: of these T is T0 times
    their size.
    """
    of, p, k, sample = json.loads(branch.removeprefix(EXPOSURE))
    items_of = distinct_names(*judged.list_keys, "item")
    keys, segment, items = judged.list_keys, sides.item_keys, sides.items.select("item")
    parts = sides.feature(of).parts() if of else items.with_columns(part="item", share=WHOLE)
    parts = parts.select("item", "part", "share")
    listed = judged.samples(sample) if sample else judged.cut(k).with_columns(n=1, sample=0)
    listed = listed.filter(pl.col("rank") <= (k or math.inf))
    ranks = listed.group_by(*items_of, "sample").agg(pl.col("rank").min(), pl.col("n").first())
    exposed = geometric_discount(pl.col("rank"), p) / pl.col("n")
    exposures = ranks.select(*items_of, t=NOTHING, e=exposed)
    relevant = judged.relevant("item").join(items, on="item", how="semi")
    targets = _targets(sides.joined(relevant, [N_CATALOGUE], "segment"), keys, p)
    lists = targets.select(*keys, "t0").unique()
    rows = pl.concat([targets.select(*items_of, "t", e=NOTHING), exposures])
    shares = {name: pl.col(name) * pl.col("share") for name in ("e", "t")}
    groups = ExactSums(shares).of(rows.join(parts, on="item"), [*keys, "part"])
    catalogue = sides.catalogue.select(distinct_names("item", *segment)).join(parts, on="item")
    sizes = ExactSums({"size": pl.col("share")}).of(catalogue, [*segment, "part"])
    groups = joined(joined(groups, sizes, [*segment, "part"]), lists, keys, "inner")
    sums = {"disparity": E * E, "relevance": E * (T + T0 * SIZE), "target": T * (T + 2 * T0 * SIZE)}
    found = joined(lists, ExactSums(sums).of(groups, keys), keys)
    found = joined(found, ExactSums({"size": SIZE * SIZE}).of(sizes, segment), segment)
    found = found.with_columns(pl.col(*sums, "size").fill_null(0.0))
    found = found.with_columns(target=pl.col("target") + T0 * T0 * SIZE)
    return found.select(*keys, pl.col([*sums]).name.prefix(f"{branch} "))


def _targets(relevant: pl.LazyFrame, keys: list[str], p: float) -> pl.LazyFrame:
    """Return relevant items with T0, and with what their own targets are above it: keys, item, t, t0."""
    gain, n_items = pl.col("gain"), pl.col(N_CATALOGUE.name)
    m, n = (pl.len().over(names).cast(pl.Float64) for names in ([*keys, "gain"], keys))
    after = gain.rank("max", descending=True).over(keys).cast(pl.Float64)
    others = _mean_exposure(n, n_items, p)
    relevant = relevant.with_columns(t0=pl.when(n_items > n).then(others).otherwise(NOTHING))
    return relevant.with_columns(t=_mean_exposure(after - m, after, p) - T0)


def _mean_exposure(first: pl.Expr, last: pl.Expr, p: float) -> pl.Expr:
    """Return the mean of p^(r - 1) over the places behind the first up to the last."""
    start, end = (pl.lit(p, dtype=pl.Float64) ** place for place in (first, last))
    return (start - end) / ((last - first) * (1 - p))
