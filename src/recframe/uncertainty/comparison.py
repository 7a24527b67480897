"""Models held against a baseline: from sums over pairs of their users' values to verdicts. What `rec.compare` returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import polars as pl

from recframe.errors import warn
from recframe.metrics.language.definition import Metric
from recframe.plan.needs import is_of_segment
from recframe.uncertainty.arrays import Flags, Labels, Numbers, np, ratio
from recframe.uncertainty.corrections import adjusted
from recframe.uncertainty.groups import groups_of
from recframe.uncertainty.moments import Moments, Sums
from recframe.uncertainty.p_values import p_above, p_below, p_two_sided, t_quantile, t_statistic
from recframe.uncertainty.resampling import Tested, bootstrap_test, sign_flip_test
from recframe.uncertainty.summary import FEW

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
FEWEST_DRAWN = 5
"""Draws of fewer users or clusters are often all of one kind, so that a bootstrap of them tests nothing."""


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


def compared(
    cells: pl.DataFrame, keys: Sequence[str], metrics: Sequence[Metric[...]], how: Comparing
) -> pl.DataFrame:
    """Return a row for each segment, model and metric, from sums over pairs of users' values; see `Sums`."""
    sums = Sums(cells, keys, metrics)
    moments = sums.of_clusters(how.cluster) if how.cluster else sums.of_users()
    found = _numbers(sums, moments, how) | _tested(sums, moments, how)
    higher = np.array([one.definition.direction != "lower" for one in metrics])
    directed = np.array([one.definition.direction != "" for one in metrics])
    within = None if how.margin is None else _within(moments, how.margin, higher)
    if within is not None:
        found["p_not_worse"] = np.where(directed, within.not_worse, np.nan)
        found["p_equivalent"] = np.maximum(within.not_worse, within.not_better)
    found["note"] = _notes(found, moments, how)
    found["verdict"] = _verdicts(found, within, higher, directed, 1.0 - how.level)
    of_segments = np.array([is_of_segment(one) for one in metrics])
    for name in ("wins", "ties", "losses"):  # of values that users have
        found[name] = np.where(of_segments, np.nan, found[name])
    return sums.long(found, how.columns)


def _numbers(sums: Sums, moments: Moments, how: Comparing) -> dict[str, Any]:
    """Return what the moments say by themselves."""
    n, difference = moments.n, moments.difference
    half = t_quantile(how.level, moments.freedom) * moments.standard_error
    relative = moments.relative(how.level)
    std = sums.of_users().std
    wins, ties = sums.column("wins"), sums.column("ties")
    return {
        "value": ratio(moments.a + moments.d, n),
        "baseline_value": ratio(moments.a, n),
        "difference": difference,
        "difference_low": difference - half,
        "difference_high": difference + half,
        "relative": relative.value,
        "relative_low": relative.low,
        "relative_high": relative.high,
        "effect_size": np.where(std > 0, ratio(difference, std), np.nan),
        "wins": wins,
        "ties": ties,
        "losses": n - wins - ties,
        "n_users": n,
        "n_unpaired": sums.column("unpaired"),
    }


def _tested(sums: Sums, moments: Moments, how: Comparing) -> dict[str, Any]:
    """Return the p values, by themselves and for their families."""
    shape = moments.n.shape
    families = _families(sums, how)
    t = t_statistic(moments.difference, moments.standard_error)
    p_value = p_two_sided(t, moments.freedom)
    resampled = _resampled(sums, families, how) if how.resamples else None
    if resampled is not None and how.test != "t":
        untested = np.isnan(p_value) | (how.test == "bootstrap") & (moments.units < FEWEST_DRAWN)
        p_value = np.where(untested, np.nan, resampled.p_value.reshape(shape))
    if resampled is not None:
        _warn_of_few_resamples(p_value, families, how)
    if how.correction is None:
        p_adjusted = p_value
    elif how.correction == "max_t" and resampled is not None:
        p_adjusted = np.maximum(resampled.p_max_t.reshape(shape), p_value)
    else:
        flat = adjusted(p_value.reshape(-1), method=str(how.correction), families=families)
        p_adjusted = flat.reshape(shape)
    return {"p_value": p_value, "p_adjusted": p_adjusted}


def _families(sums: Sums, how: Comparing) -> Labels | None:
    """Return which tests are corrected together, as labels; None where all are."""
    n_metrics = len(sums.metrics)
    if how.family == "metric":
        return np.tile(np.arange(n_metrics), len(sums.rows))
    if how.family == "segment" and sums.keys:
        labels = sums.rows.select(pl.struct(sums.keys).rank("dense")).to_series().to_numpy()
        return np.repeat(labels.astype(np.int64), n_metrics)
    return None


def _resampled(sums: Sums, families: Labels | None, how: Comparing) -> Tested:
    """Return the p values by resamples of random groups of users, or of clusters."""
    groups = groups_of(sums.cells, sums.rows)
    test = bootstrap_test if how.test == "bootstrap" else sign_flip_test
    return test(
        groups.matrix(sums.names("d")),
        groups.matrix(sums.names("n")),
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
    same = (found["n_users"] > 1) & (found["ties"] == found["n_users"])
    if within is None:
        return np.select([same, shown], ["same", words], "open")
    alike = found["p_equivalent"] <= alpha
    not_worse, not_better = (directed & (p <= alpha) for p in within)
    return np.select(
        [same | alike, shown, not_worse, not_better],
        ["same", words, "not worse", "not better"],
        "open",
    )


def _notes(found: Mapping[str, Any], moments: Moments, how: Comparing) -> Any:
    """Return what is to be known of each row, in words: what numbers it lacks for comes first."""
    n, units, unpaired = found["n_users"], moments.units, found["n_unpaired"]
    without_spread = moments.standard_error == 0
    words = {
        "nobody has both values": n == 0,
        "one user, so no interval": n == 1,
        "hardly any list changes it, so no interval is known to hold": np.isnan(units),
        "one cluster, so no interval": units <= 1,
        "both have the same value for all users": found["ties"] == n,
        _too_few(how): np.isnan(found["p_adjusted"]),
        "all clusters have the same mean difference": without_spread
        & (found["effect_size"] != 0)
        & ~np.isnan(found["effect_size"]),
        "the difference is the same for all users": without_spread,
        "the baseline is 0, of which a difference is no share": moments.a == 0,
        "many users have but one of the two values, and are left out": unpaired
        > MANY_UNPAIRED * (n + unpaired),
        f"fewer than {FEW} users or clusters, so the interval is rough": units < FEW,
    }
    return np.select(list(words.values()), list(words), "")


def _too_few(how: Comparing) -> str:
    """Say why resamples test nothing: all users may be in one group, and a bootstrap wants more than a few."""
    fewest = f"fewer than {FEWEST_DRAWN} users or clusters, which are " * (how.test == "bootstrap")
    return f"{fewest}too few to resample"


def _warn_of_few_resamples(p_value: Numbers, families: Labels | None, how: Comparing) -> None:
    """Warn where no p value of so many resamples shows anything, after a correction for so many rows."""
    tests = ~np.isnan(p_value.reshape(-1))
    labels = np.zeros(len(tests), np.int64) if families is None else families
    rows = int(np.bincount(labels[tests], minlength=1).max())
    corrects = how.correction in {"holm", "bonferroni"}
    rows = rows if corrects else min(rows, 1)
    alpha, least = 1.0 - how.level, 1.0 / (how.n_resamples + 1.0)
    if rows * least <= alpha * (1 + 1e-9):
        return
    needed = int(np.ceil(rows / alpha * (1 - 1e-9))) - 1
    over = f" over {rows} rows with correction={how.correction!r}" * corrects
    instead = ", or correction='max_t'" * (corrects and least <= alpha)
    warn(
        f"n_resamples={how.n_resamples}: no p value is below {least:.2g}, which shows nothing at level={how.level:g}{over}; "
        f"write n_resamples={needed}{instead}"
    )
