"""Two models' contributions, user by user, summed up by segment: what comparisons are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from recframe.frames.dtypes import as_text
from recframe.frames.rows.joins import aggregate, joined
from recframe.metrics.language.definition import Metric
from recframe.plan.contributions import Contributions
from recframe.plan.runs import Run

MODEL, BASELINE = "model", "baseline"
SUMS = ("n", "b", "a", "d", "aa", "ad", "dd", "dddd", "wins", "ties", "unpaired")
"""What is summed up over users with both values: their number, B and the baseline A, d = B - A, squares and products, of set
metrics the fourth powers of d, d > 0 and d = 0; and how many users have but one of the two."""
ROUNDING = 1e-12
"""A difference of two values below this share of their sum is none."""


@dataclass(frozen=True)
class Pairing:
    """Which models are held against which: all others against a baseline, or each against those before it."""

    baseline: str | None
    dtype: pl.DataType
    """The dtype of the model's column."""

    def is_baseline(self, model: str) -> pl.Expr:
        """Return whether a column has the baseline's name."""
        return as_text(pl.col(model), self.dtype) == pl.lit(self.baseline)

    def pairs(self) -> pl.Expr:
        """Return whether a row's model is to be held against its baseline."""
        if self.baseline is None:
            return pl.col(BASELINE) < pl.col(MODEL)
        return self.is_baseline(BASELINE) & ~self.is_baseline(MODEL)


def sums_of_pairs(one: Contributions, pairing: Pairing) -> pl.LazyFrame:
    """Return one row for each segment, model and baseline: the keys, and for each metric the sums of `SUMS`."""
    keys = [*one.keys, BASELINE]
    rows = _paired(one, pairing)
    summed = aggregate(
        one.described(rows),
        keys,
        [pl.len().alias("present"), *(sum_ for name in one.names for sum_ in _sums(name, one))],
    )
    if not one.counts_absent:
        return one.checked(summed.drop("present"), f"n {one.names[0]}")
    models = _models(one).rename({MODEL: BASELINE})
    every = one.n_users().join(models, how="cross").filter(pairing.pairs())
    joined = every.join(summed, on=keys, how="left", nulls_equal=True)
    empty = one.empty.rename({name: f"empty {name}" for name in one.names})
    joined = joined.join(empty, how="cross")
    absent = pl.col("n_users") - pl.col("present").fill_null(0)
    filled = [sum_ for name in one.names for sum_ in _with_absent(name, absent.cast(pl.Int64))]
    return one.checked(joined.select(*keys, *filled), f"n {one.names[0]}")


def _models(one: Contributions) -> pl.LazyFrame:
    models = one.judged.models
    assert models is not None  # noqa: S101  a comparison asks for a model
    return models.select(MODEL)


def _paired(one: Contributions, pairing: Pairing) -> pl.LazyFrame:
    """Return each user of two models once, with both values: `value 0` of the model, `a value 0` of the baseline.

    NOTE: where all models have rows of the same users, one side of the join has them all, which takes half the time.
    """
    names = {name: f"a {name}" for name in one.names}
    on = one.pairing
    # NOTE: held, so that what tells the two sides apart is not asked of each of the plan's frames twice.
    rows = one.rows.select(*on, MODEL, *one.names).cache()
    others = rows if pairing.baseline is None else rows.filter(~pairing.is_baseline(MODEL))
    base = rows if pairing.baseline is None else rows.filter(pairing.is_baseline(MODEL))
    base = base.rename({MODEL: BASELINE, **names})
    if one.aligned:
        joined = others.join(base, on=on, how="inner", nulls_equal=True)
        return joined.filter(pairing.pairs()) if pairing.baseline is None else joined
    models = _models(one)
    all_pairs = models.join(models.rename({MODEL: BASELINE}), how="cross").filter(pairing.pairs())
    others = others.join(all_pairs, on=MODEL).with_columns(pl.lit(value=True).alias("here"))
    base = base.join(all_pairs, on=BASELINE).with_columns(pl.lit(value=True).alias("there"))
    joined = others.join(
        base, on=[*on, MODEL, BASELINE], how="full", nulls_equal=True, coalesce=True
    )
    empty = one.empty.rename({name: f"empty {name}" for name in one.names})
    filled = [
        pl.when(pl.col(side).is_null()).then(f"empty {name}").otherwise(column).alias(column)
        for name in one.names
        for side, column in (("here", name), ("there", f"a {name}"))
    ]
    return joined.join(empty, how="cross").with_columns(filled)


def _sums(name: str, of: Contributions) -> list[pl.Expr]:
    a, b = pl.col(f"a {name}"), pl.col(name)
    d = _difference(b, a)
    both = d.is_not_null()
    paired = pl.when(both).then(a)
    found = {
        "n": both.sum().cast(pl.Int64),
        "b": pl.when(both).then(b).sum(),
        "a": paired.sum(),
        "d": d.sum(),
        "aa": (paired * paired).sum(),
        "ad": (a * d).sum(),
        "dd": (d * d).sum(),
        # which tells whether a set metric hangs on few lists
        "dddd": pl.lit(0.0) if of.placed is None else (d**4).sum(),
        "wins": (d > 0).sum().cast(pl.Int64),
        "ties": (d == 0).sum().cast(pl.Int64),
        "unpaired": (a.is_null() != b.is_null()).sum().cast(pl.Int64),
    }
    return [found[part].alias(f"{part} {name}") for part in SUMS]


def _difference(b: pl.Expr, a: pl.Expr) -> pl.Expr:
    """Return b - a; 0 where that is rounding, since lists that are worth the same may be summed up in another order."""
    d = b - a
    return pl.when(d.abs() <= ROUNDING * (a + b).abs()).then(0.0).otherwise(d)


def _with_absent(name: str, absent: pl.Expr) -> list[pl.Expr]:
    """Return the sums with the users who are absent from both models: each a tie of the values of an empty list."""
    empty = pl.col(f"empty {name}")
    added = {
        "n": empty.is_not_null() * absent,
        "a": empty.fill_null(0) * absent,
        "b": empty.fill_null(0) * absent,
        "aa": empty.fill_null(0) ** 2 * absent,
        "ties": empty.is_not_null() * absent,
    }
    columns = ((part, pl.col(f"{part} {name}").fill_null(0)) for part in SUMS)
    return [
        (column + added[part] if part in added else column).alias(f"{part} {name}")
        for part, column in columns
    ]


def sums_of_all(
    plans: Sequence[Sequence[Contributions]],
    metrics: Sequence[Metric[...]],
    pairing: Pairing,
    run: Run,
) -> pl.LazyFrame:
    """Return one row for each segment, model and baseline, with the sums of all metrics by their places."""
    places = {str(metric): place for place, metric in enumerate(metrics)}
    found: pl.LazyFrame | None = None
    keys = [*plans[0][0].keys, BASELINE]
    for parts in plans:
        named = {
            f"{part} {name}": f"{part} {places[str(metric)]}"
            for name, metric in zip(parts[0].names, parts[0].metrics, strict=True)
            for part in SUMS
        }
        sums = run.added([sums_of_pairs(part, pairing) for part in parts], keys).rename(named)
        found = sums if found is None else joined(found, sums, keys, "full")
    assert found is not None  # noqa: S101  a call has a metric
    return found.with_columns(pl.exclude(keys).fill_null(0))
