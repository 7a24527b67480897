"""Rows of segments on charts: their choice, order and intervals."""

from __future__ import annotations

import polars as pl

from recframe.errors import RecframeError

FEW_USERS = 10
"""Users below which a segment's interval does not stretch an axis."""
TIMES = 4
"""Width from which an interval does not stretch an axis, as a multiple of the median width."""
BEYOND = 0.03
"""Room for the arrows at both ends of an axis, as a share of its length."""
LOW, HIGH = pl.col("low"), pl.col("high")


def with_pooled(data: pl.DataFrame) -> pl.DataFrame:
    """Return segments with the pooled estimates of `slices`: place, model_place, known, n_users, value, std.

    Without NumPy and SciPy there are none; nor has a segment one whose value of the `by` column is null.
    """
    try:
        from recframe.statistics import shrinkage  # noqa: PLC0415  NumPy and SciPy are an extra
        from recframe.statistics.arrays import np, ratio  # noqa: PLC0415
    except RecframeError:
        return data.with_columns(pooled=pl.lit(None, pl.Float64))
    shape = [data[name].n_unique() for name in ("place", "model_place")]
    at = data["place"].to_numpy(), data["model_place"].to_numpy()
    n, mean, variance = np.zeros(shape), np.full(shape, np.nan), np.zeros(shape)
    n[at] = data.select(pl.when("known").then("n_users").otherwise(0)).to_series().to_numpy()
    mean[at] = data["value"].fill_null(float("nan")).to_numpy()
    variance[at] = (data["std"].fill_null(0.0) ** 2).to_numpy()
    borrowed = shrinkage.borrowed_variances(variance, n)
    mean = np.where(n > 0, mean, np.nan)
    found = shrinkage.pooled(mean, np.sqrt(ratio(borrowed, n))).value
    return data.with_columns(pooled=pl.Series(found[at]).fill_nan(None))


def largest(data: pl.DataFrame, most: int) -> pl.DataFrame:
    """Return the segments with the most users, with labels of name and number of users."""
    sizes = data.group_by("place").agg(pl.col("n_users").max()).sort("n_users", "place")
    kept = sizes.tail(most)["place"]
    found = data.filter(pl.col("place").is_in(kept.implode()))
    found = found.with_columns(users=pl.col("n_users").max().over("place"))
    counts = found["users"].unique().to_list()
    written = pl.col("users").replace_strict(
        counts, [f"{count:,}" for count in counts], return_dtype=pl.String
    )
    return found.with_columns(label=pl.format("{} ({})", "segment", written)).drop("users")


def segments_shown(n: int, most: int) -> str:
    """Return the words of a chart that does not show all segments."""
    return f" {most} of {n:,} segments, those with the most users." if n > most else ""


def in_order(
    data: pl.DataFrame, value: str = "value", *, own: bool, lower: bool = False
) -> pl.DataFrame:
    """Return rows with their segments in an order of their own, an enum's, or by the mean of a value, the best first."""
    if own:
        return data.sort("place", maintain_order=True)
    mean = pl.col(value).mean().over("place")
    sorted_rows = data.with_columns(_mean=mean).sort(
        "_mean", "place", descending=[not lower, False], nulls_last=True, maintain_order=True
    )
    return sorted_rows.drop("_mean")


def clipped(
    data: pl.DataFrame, value: str = "value", *, zero: bool = False
) -> tuple[pl.DataFrame, list[float] | None]:
    """Return rows with the part of their intervals that is drawn, and the ends of their axis where some go on beyond it.

    An axis has all values and all intervals, but for those of few users and those that are much wider than the others;
    `_beyond_low` and `_beyond_high` say which of them go on.
    """
    width, is_known = HIGH - LOW, LOW.is_not_null()
    has_users = pl.col("n_users") >= FEW_USERS
    usual = width.filter(has_users).median()
    kept = data.filter(is_known & has_users & ((width <= TIMES * usual).fill_null(value=True)))
    ends: list[float] | None = None
    if len(kept):
        every = pl.concat([kept["low"], kept["high"], data[value].drop_nulls()])
        every = pl.concat([every, pl.Series([0.0])]) if zero else every
        ends = [every.min(), every.max()]  # type: ignore[list-item]
    low, high = ends or [float("-inf"), float("inf")]
    data = data.with_columns(
        _low=LOW.clip(lower_bound=low),
        _high=HIGH.clip(upper_bound=high),
        _beyond_low=(low > LOW).fill_null(value=False),
        _beyond_high=(high < HIGH).fill_null(value=False),
    )
    goes_on = bool(data.select(pl.any_horizontal("_beyond_low", "_beyond_high").any()).item())
    if not goes_on or low >= high:
        return data, None
    margin = (high - low) * BEYOND
    return data, [low - margin * bool(low or not zero), high + margin]


CLIPPED = f" Arrows: intervals that go on (fewer than {FEW_USERS} users, or {TIMES} times as wide as most)."
