"""Models held against a baseline: from sums over pairs of their users' values to verdicts. What `rec.compare` returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import polars as pl

from recframe.metrics.language.definition import Metric
from recframe.uncertainty.arrays import Flags, Labels, Numbers, np, ratio
from recframe.uncertainty.corrections import adjusted
from recframe.uncertainty.groups import groups_of
from recframe.uncertainty.p_values import p_above, p_below, p_two_sided, t_quantile, t_statistic
from recframe.uncertainty.pairs import BASELINE, MODEL, SUMS
from recframe.uncertainty.relative_difference import Estimate, PairedSums, relative_difference
from recframe.uncertainty.resampling import Tested, bootstrap_test, sign_flip_test
from recframe.uncertainty.summary import FEW, ROUNDING

Test = Literal["t", "permutation", "bootstrap"]
Correction = Literal["holm", "max_t", "bonferroni", "benjamini-hochberg"]
Family = Literal["table", "metric", "segment"]
COLUMNS = {
    "metric": pl.String,
    "k": pl.Int64,
    "value": pl.Float64,
    "baseline_value": pl.Float64,
    "difference": pl.Float64,
    "difference_low": pl.Float64,
    "difference_high": pl.Float64,
    "relative": pl.Float64,
    "relative_low": pl.Float64,
    "relative_high": pl.Float64,
    "p_value": pl.Float64,
    "p_adjusted": pl.Float64,
    "effect_size": pl.Float64,
    "wins": pl.Int64,
    "ties": pl.Int64,
    "losses": pl.Int64,
    "n_users": pl.Int64,
    "n_unpaired": pl.Int64,
    "p_not_worse": pl.Float64,
    "p_equivalent": pl.Float64,
    "verdict": pl.String,
    "note": pl.String,
}
"""What follows the keys, the model and the baseline; without a margin there are no p values against it."""
OF_MARGIN = ("p_not_worse", "p_equivalent")
MANY_UNPAIRED = 0.05
"""From this share of the users on, those with but one of two values are worth a note."""


@dataclass(frozen=True)
class Comparing:
    """How models are compared."""

    level: float = 0.95
    margin: float | None = None
    test: Test = "t"
    correction: Correction | None = "holm"
    family: Family = "table"
    n_resamples: int = 9999
    seed: int = 0
    cluster: str | None = None
    """The column of the sums that names clusters, whose users hang together."""
    tell: Callable[[int, int], None] | None = None

    @property
    def columns(self) -> dict[str, type[pl.DataType]]:
        """The columns of the result behind its keys."""
        dropped = OF_MARGIN if self.margin is None else ()
        return {name: dtype for name, dtype in COLUMNS.items() if name not in dropped}

    @property
    def resamples(self) -> bool:
        """Whether p values come from resamples."""
        return self.test != "t" or self.correction == "max_t"


@dataclass(frozen=True)
class Moments:
    """Sums over the users of each row of the result, rows x metrics; of clusters, the squares and products are of theirs."""

    n: Numbers
    """The users with both values."""
    a: Numbers
    """Of the baseline's values, and `d` of the differences."""
    d: Numbers
    aa: Numbers
    """Of products over units: users, or clusters whose values are summed up before."""
    ad: Numbers
    dd: Numbers
    an: Numbers
    """Of products with the number of users in a unit."""
    dn: Numbers
    nn: Numbers
    units: Numbers
    """The number of users, or of clusters."""

    @property
    def difference(self) -> Numbers:
        """The mean difference."""
        return ratio(self.d, self.n)

    @property
    def freedom(self) -> Numbers:
        """The degrees of freedom."""
        return self.units - 1.0

    @property
    def standard_error(self) -> Numbers:
        """The standard error of the mean difference: that of independent users, or CR1 of clusters."""
        mean = self.difference
        rest = self.dd - 2.0 * mean * self.dn + mean**2 * self.nn
        # what rounding leaves of a difference that is the same for all is 0
        rest = np.where(rest > ROUNDING * self.dd, rest, 0.0 * rest)
        free = np.where(self.units > 1, self.units - 1.0, np.nan)
        return np.sqrt(ratio(self.units, free) * rest) / np.where(self.n > 0, self.n, np.nan)

    def with_share(self, share: float) -> Moments:
        """Return the moments of d + share · a in place of d."""
        return replace(
            self,
            d=self.d + share * self.a,
            ad=self.ad + share * self.aa,
            dd=self.dd + 2.0 * share * self.ad + share**2 * self.aa,
            dn=self.dn + share * self.an,
        )

    def relative(self, level: float) -> Estimate:
        """Return the difference as a share of the baseline, with its interval."""
        sums = PairedSums(self.units, self.a, self.d, self.aa, self.ad, self.dd)
        return relative_difference(sums, level=level)


def compared(
    sums: pl.DataFrame, keys: Sequence[str], metrics: Sequence[Metric[...]], how: Comparing
) -> pl.DataFrame:
    """Return a row for each segment, model and metric, from the sums over pairs of users' values.

    `sums` has the keys of the segments, `model`, `baseline`, where it has units that of the unit, and for each metric, by its
    place, the sums of `pairs.SUMS`.
    """
    by = [*keys, MODEL, BASELINE]
    numbers = range(len(metrics))
    totals = sums.group_by(by, maintain_order=True).agg(
        pl.col(f"{part} {number}").sum() for part in SUMS for number in numbers
    )
    totals = totals.sort(by, nulls_last=True)

    def column(part: str, frame: pl.DataFrame = totals) -> Numbers:
        names = [f"{part} {number}" for number in numbers]
        return frame.select(names).to_numpy().astype(np.float64).reshape(len(totals), len(metrics))

    users = _of_users(column)
    moments = _of_clusters(sums, totals.select(by), users, numbers, how) if how.cluster else users
    tested = _tested(sums, totals.select(by), numbers, moments, how)
    found = _numbers(column, users, moments, how) | tested
    higher = np.array([one.definition.direction != "lower" for one in metrics])
    directed = np.array([one.definition.direction != "" for one in metrics])
    within = None if how.margin is None else _within(moments, how.margin, higher)
    if within is not None:
        found["p_not_worse"] = np.where(directed, within.not_worse, np.nan)
        found["p_equivalent"] = np.maximum(within.not_worse, within.not_better)
    found["note"] = _notes(found, moments)
    found["verdict"] = _verdicts(found, within, higher, directed, 1.0 - how.level)
    long = {name: np.asarray(found[name]).reshape(-1) for name in how.columns if name in found}
    every = totals.select(by).select(pl.all().repeat_by(len(metrics)).explode())
    named = pl.DataFrame(
        {
            "metric": [str(one) for one in metrics] * len(totals),
            "k": pl.Series([one.k for one in metrics] * len(totals), dtype=pl.Int64),
        }
    )
    columns = pl.DataFrame(long).with_columns(
        pl.col(name).fill_nan(None) if dtype == pl.Float64 else pl.col(name).cast(dtype)
        for name, dtype in how.columns.items()
        if name in long
    )
    columns = columns.with_columns(pl.col("note").replace("", None))
    return pl.concat([every, named, columns], how="horizontal").select(*by, *how.columns)


def _of_users(column: Callable[[str], Numbers]) -> Moments:
    n, a, d = column("n"), column("a"), column("d")
    return Moments(n, a, d, column("aa"), column("ad"), column("dd"), a, d, n, n)


def _of_clusters(
    sums: pl.DataFrame, rows: pl.DataFrame, users: Moments, numbers: range, how: Comparing
) -> Moments:
    """Return the moments whose squares and products are of clusters; users without a cluster are clusters of their own."""
    alone = pl.col(str(how.cluster)).is_null()

    def of_unit(number: int) -> dict[str, pl.Expr]:
        n, a, d = (pl.col(f"{part} {number}").cast(pl.Float64) for part in ("n", "a", "d"))
        of_one = {"aa": "aa", "ad": "ad", "dd": "dd", "an": "a", "dn": "d", "nn": "n", "units": "n"}
        of_many = {
            "aa": a * a, "ad": a * d, "dd": d * d, "an": a * n, "dn": d * n, "nn": n * n, "units": n > 0,
        }  # fmt: skip
        return {
            f"{name} {number}": pl.when(alone).then(f"{of_one[name]} {number}").otherwise(product)
            for name, product in of_many.items()
        }

    by = rows.columns
    columns = {name: one for number in numbers for name, one in of_unit(number).items()}
    found = sums.group_by(by).agg(one.sum().alias(name) for name, one in columns.items())
    found = rows.join(found, on=by, how="left", nulls_equal=True, maintain_order="left")
    taken = {
        part: found.select(f"{part} {number}" for number in numbers).to_numpy().astype(np.float64)
        for part in ("aa", "ad", "dd", "an", "dn", "nn", "units")
    }
    return replace(users, **taken)


def _numbers(
    column: Callable[[str], Numbers], users: Moments, moments: Moments, how: Comparing
) -> dict[str, Any]:
    """Return what the moments say by themselves."""
    difference, error = moments.difference, moments.standard_error
    half = t_quantile(how.level, moments.freedom) * error
    relative = moments.relative(how.level)
    std = users.standard_error * np.sqrt(users.n)
    found: dict[str, Any] = {
        "value": ratio(column("b"), users.n),
        "baseline_value": ratio(users.a, users.n),
        "difference": difference,
        "difference_low": difference - half,
        "difference_high": difference + half,
        "relative": relative.value,
        "relative_low": relative.low,
        "relative_high": relative.high,
        "effect_size": np.where(std > 0, ratio(difference, std), np.nan),
        "wins": column("wins"),
        "ties": column("ties"),
        "losses": users.n - column("wins") - column("ties"),
        "n_users": users.n,
        "n_unpaired": column("unpaired"),
    }
    return found


def _tested(
    sums: pl.DataFrame, rows: pl.DataFrame, numbers: range, moments: Moments, how: Comparing
) -> dict[str, Any]:
    """Return the p values, by themselves and for their families."""
    shape = moments.n.shape
    families = _families(rows, shape, how)
    t = t_statistic(moments.difference, moments.standard_error)
    p_value = p_two_sided(t, moments.freedom)
    resampled = _resampled(sums, rows, numbers, families, how) if how.resamples else None
    if resampled is not None and how.test != "t":
        p_value = resampled.p_value.reshape(shape)
    if how.correction is None:
        p_adjusted = p_value
    elif how.correction == "max_t" and resampled is not None:
        p_adjusted = np.maximum(resampled.p_max_t.reshape(shape), p_value)
    else:
        flat = adjusted(p_value.reshape(-1), method=str(how.correction), families=families)
        p_adjusted = flat.reshape(shape)
    return {"p_value": p_value, "p_adjusted": p_adjusted}


def _families(rows: pl.DataFrame, shape: tuple[int, ...], how: Comparing) -> Labels | None:
    """Return which tests are corrected together, as labels; None where all are."""
    n_rows, n_metrics = shape
    if how.family == "metric":
        return np.tile(np.arange(n_metrics), n_rows)
    keys = [name for name in rows.columns if name not in {MODEL, BASELINE}]
    if how.family == "segment" and keys:
        labels = rows.select(pl.struct(keys).rank("dense")).to_series().to_numpy()
        return np.repeat(labels.astype(np.int64), n_metrics)
    return None


def _resampled(
    sums: pl.DataFrame, rows: pl.DataFrame, numbers: range, families: Labels | None, how: Comparing
) -> Tested:
    """Return the p values by resamples of random groups of users, or of clusters."""
    groups = groups_of(sums, rows)
    test = bootstrap_test if how.test == "bootstrap" else sign_flip_test
    return test(
        groups.matrix(f"d {number}" for number in numbers),
        groups.matrix(f"n {number}" for number in numbers),
        n_resamples=how.n_resamples,
        seed=how.seed,
        families=families,
        tell=how.tell,
    )


class Within(NamedTuple):
    """P values of B being no worse, and no better, than the baseline by a margin that is a share of it."""

    not_worse: Numbers
    not_better: Numbers


def _within(moments: Moments, margin: float, higher: Flags) -> Within:
    """Return the p values against a margin: of the mean of b - (1 - margin) a, and of b - (1 + margin) a, so of no ratio."""
    above, below = (
        t_statistic(one.difference, one.standard_error)
        for one in (moments.with_share(margin), moments.with_share(-margin))
    )
    at_least, at_most = p_above(above, moments.freedom), p_below(below, moments.freedom)
    return Within(np.where(higher, at_least, at_most), np.where(higher, at_most, at_least))


def _verdicts(
    found: Mapping[str, Any], within: Within | None, higher: Flags, directed: Flags, alpha: float
) -> Any:
    """Return what each row shows, in a word or two."""
    difference, shown = found["difference"], found["p_adjusted"] <= alpha
    good = np.where(higher, difference > 0, difference < 0)
    words = np.where(good, "better", "worse")
    words = np.where(directed, words, np.where(difference > 0, "higher", "lower"))
    same = (found["n_users"] > 0) & (found["ties"] == found["n_users"])
    if within is None:
        return np.select([same, shown], ["same", words], "open")
    alike = found["p_equivalent"] <= alpha
    not_worse, not_better = (directed & (p <= alpha) for p in within)
    return np.select(
        [same | alike, shown, not_worse, not_better],
        ["same", words, "not worse", "not better"],
        "open",
    )


def _notes(found: Mapping[str, Any], moments: Moments) -> Any:
    """Return what is to be known of each row, in words."""
    n, ties = found["n_users"], found["ties"]
    unpaired = found["n_unpaired"]
    many = unpaired > MANY_UNPAIRED * (n + unpaired)
    return np.select(
        [
            n == 0,
            n == 1,
            moments.units <= 1,
            ties == n,
            moments.standard_error == 0,
            many,
            moments.units < FEW,
        ],
        [
            "nobody has both values",
            "one user, so no interval",
            "one cluster, so no interval",
            "both have the same value for all users",
            "the difference is the same for all users",
            "many users have but one of the two values, and are left out",
            f"fewer than {FEW} users or clusters, so the interval is rough",
        ],
        "",
    )
