"""What so many users can show, and how many it takes: what `rec.power` returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from recframe.errors import DataError
from recframe.metrics.language.definition import Metric
from recframe.plan.needs import is_of_segment
from recframe.uncertainty.arrays import Flags, Given, Numbers, np, numbers, ratio
from recframe.uncertainty.comparison import OF_TRAININGS, Direction, of_both
from recframe.uncertainty.moments import Ends, Sums, Trainings, as_columns
from recframe.uncertainty.paired_power import (
    Between,
    Gap,
    chance_to_hold,
    detectable_difference,
    users_needed,
    users_to_hold,
)

COLUMNS = {
    "metric": pl.String,
    "k": pl.Int64,
    "value": pl.Float64,
    "n_users": pl.Int64,
    "std": pl.Float64,
    "n_trainings": pl.Int64,
    "std_trainings": pl.Float64,
    "n_baseline_trainings": pl.Int64,
    "std_baseline_trainings": pl.Float64,
    "detectable": pl.Float64,
    "detectable_relative": pl.Float64,
    "margin": pl.Float64,
    "wanted": pl.Float64,
    "chance": pl.Float64,
    "users_needed": pl.Int64,
    "note": pl.String,
}
"""What follows the keys; of a difference what is detectable, and of a margin the chance to hold."""
SHORT = (
    *("metric", "users_needed", "wanted", "margin", "chance", "detectable", "detectable_relative"),
    *("value", "n_users", "note"),
)
"""What follows the keys in the short form."""
OF_DIFFERENCE = ("detectable", "detectable_relative")
OF_MARGIN = ("margin", "chance")
MORE_TRAININGS = (
    "more trainings, not more users: theirs alone are further apart than what is wanted"
)
ONE_TRAINING = "a model has one training, which says nothing of another"
MOST = 2**62
"""More users than that are no number of users."""
FEWEST_JUDGED = 5.0
"""Of fewer users, or clusters, nothing is judged."""


@dataclass(frozen=True)
class Power:
    """What is asked of a test: a difference that is wanted, as a share of the value, and how sure it has to be.

    With a margin it is asked of a gate, and what is wanted is how much better the model really is.
    """

    wanted: float = 0.01
    margin: float | None = None
    power: float = 0.8
    level: float = 0.95
    correlation: float = 0.5
    """Between two systems' values of one user, where there is no second system."""
    cluster: str | None = None
    rows: int = 1
    """How many rows are corrected together."""
    trainings: int | None = None
    """How many trainings each model is to have; None is as many as it has."""
    has_baseline: bool = True
    over_trainings: bool = False
    """Whether models have trainings, which are a sample beside that of users."""

    @property
    def columns(self) -> dict[str, type[pl.DataType]]:
        """The columns of the result behind its keys."""
        dropped = {*(OF_MARGIN if self.margin is None else OF_DIFFERENCE)}
        dropped |= set() if self.over_trainings else {*OF_TRAININGS}
        # of one model there is no baseline
        dropped |= set() if self.has_baseline else {*OF_TRAININGS[2:]}
        return {name: dtype for name, dtype in COLUMNS.items() if name not in dropped}

    @property
    def asked(self) -> dict[str, float]:
        """How sure a test has to be, of so many rows by Bonferroni, and how often it shows what is there."""
        return {"level": 1.0 - (1.0 - self.level) / self.rows, "power": self.power}


def of_pairs(
    cells: pl.DataFrame, keys: Sequence[str], metrics: Sequence[Metric[...]], how: Power
) -> pl.DataFrame:
    """Return what the differences at hand can show, from the sums over pairs of users' values."""
    sums = Sums(cells, keys, metrics)
    moments = sums.moments(how.cluster)
    value, n = ratio(moments.a, moments.n), moments.n
    if moments.trainings is not None:
        found = _over_trainings(value, n, moments.std, _wanted(moments.trainings, how), how)
    elif how.margin is None:
        found = _found(value, n, moments.std, how)
    else:
        of = Direction.of(metrics)
        std = moments.with_share(np.where(of.higher, how.margin, -how.margin)).std
        sizes = {"size": ratio(n, moments.units), "effective": ratio(moments.effective, n)}
        gap = _gap(value, std, of.higher, sums.ends, how)._replace(**sizes)
        found = _held(value, n, gap, of.directed, how)
    return sums.long(found, how.columns)


def of_one(long: pl.DataFrame, metrics: Sequence[Metric[...]], how: Power) -> pl.DataFrame:
    """Return what differences to a second system could show, from a summary of the first.

    With the correlation r of two systems' values of a user and the same spread s in both, b - f a has the standard deviation
    s · √(1 + f² - 2 f r): of a difference, where f is 1, s · √(2 (1 - r)).
    """
    # where no interval is known, the spread of the contributions is none to go by
    known = pl.col("value_low").is_not_null()
    value, n = (long[name].to_numpy() for name in ("value", "n_users"))
    own = long.select(pl.when(known).then("std")).to_series().to_numpy()
    if how.over_trainings:
        n_trainings, apart = (long[name].cast(pl.Float64).to_numpy() for name in OF_TRAININGS[:2])
        # a second system's are as far apart
        trainings = _wanted(Trainings(*(n_trainings, apart**2) * 2), how)
        found = _over_trainings(value, n, own * _spread(1.0, how.correlation), trainings, how)
    elif how.margin is None:
        found = _found(value, n, own * _spread(1.0, how.correlation), how)
    else:
        places = {str(metric): place for place, metric in enumerate(metrics)}
        at = np.array([places[name] for name in long["metric"]], dtype=np.int64)
        of = Direction.of(metrics)
        higher = of.higher[at]
        std = own * _spread(np.where(higher, 1.0 - how.margin, 1.0 + how.margin), how.correlation)
        ends = Ends(*(of_metrics[at] for of_metrics in _known_ends(metrics)))
        found = _held(value, n, _gap(value, std, higher, ends, how), of.directed[at], how)
    keys = long.columns[: long.columns.index("metric")]
    return long.with_columns(as_columns(found, how.columns)).select(*keys, *how.columns)


def _wanted(at_hand: Trainings, how: Power) -> Trainings:
    """Return trainings that are as far apart as those at hand, as many as are asked about."""
    if how.trainings is None:
        return at_hand
    fewest = np.fmin(at_hand.n, at_hand.n_baseline)
    if np.any(fewest == 1):
        msg = (
            f"trainings={how.trainings} goes by how far trainings of a model are apart, and a model has one; give two or more "
            "of each model, or leave trainings= out"
        )
        raise DataError(msg)
    n = np.where(np.isnan(at_hand.n), np.nan, float(how.trainings))
    return at_hand._replace(n=n, n_baseline=n)


def _over_trainings(
    value: Given, n: Given, std: Given, trainings: Trainings, how: Power
) -> Mapping[str, Any]:
    """Return the columns of the result where trainings differ too, which no number of users makes up for."""
    value, n, std = numbers(value), numbers(n), numbers(std)
    nobody = np.zeros_like(std)
    between = Between(trainings.squared_error, trainings.freedom(nobody, nobody + 1.0))
    needed = between.users_needed(how.wanted * np.abs(value), std, **how.asked)
    detectable = between.detectable(n, np.where(std > 0, std, np.nan), **how.asked)
    hidden = np.isposinf(needed) & (value != 0) & (std > 0)
    single = (trainings.n == 1) | (trainings.n_baseline == 1)
    notes = _notes(value, n, std, np.where(hidden, np.nan, needed))
    notes = np.where(hidden, MORE_TRAININGS, np.where((notes == "") & single, ONE_TRAINING, notes))
    of_trainings = of_both(trainings)
    return {
        **_found(value, n, std, how),
        **of_trainings,
        "detectable": detectable,
        "detectable_relative": np.where(value == 0, np.nan, ratio(detectable, np.abs(value))),
        "users_needed": np.where(needed < MOST, needed, np.nan),
        "note": notes,
    }


def _spread(factor: Given, correlation: float) -> Numbers:
    """Return the standard deviation of b - f a, as a share of that of a and of b."""
    f = numbers(factor)
    return np.sqrt(1.0 + f**2 - 2.0 * f * correlation)


def _known_ends(metrics: Sequence[Metric[...]]) -> Ends:
    """Return the ends of the metrics' ranges, where both are known."""
    nothing = (np.nan, np.nan)
    found = [nothing if is_of_segment(one) else one.range for one in metrics]
    found = [one if np.isfinite(one).all() else nothing for one in found]
    return Ends(*np.array(found, dtype=np.float64).reshape(-1, 2).T)


def _gap(value: Given, std: Numbers, higher: Flags, ends: Ends, how: Power) -> Gap:
    """Return how far users are above what the margin allows, by a model that is better by what is wanted."""
    margin = how.margin or 0.0
    low, high = ends.of_gap(np.where(higher, 1.0 - margin, 1.0 + margin))
    low, high = np.where(higher, low, -high), np.where(higher, high, -low)
    return Gap((margin + how.wanted) * numbers(value), std, low, high)


def _found(value: Given, n: Given, std: Given, how: Power) -> Mapping[str, Any]:
    """Return the columns of the result, as arrays of one shape."""
    value, n, std = numbers(value), numbers(n), numbers(std)
    detectable = detectable_difference(n, np.where(std > 0, std, np.nan), **how.asked)
    needed = users_needed(how.wanted * np.abs(value), std, **how.asked)
    return {
        "value": value,
        "n_users": n,
        "std": std,
        "detectable": detectable,
        "detectable_relative": np.where(value == 0, np.nan, ratio(detectable, np.abs(value))),
        "wanted": np.full(np.shape(value), how.wanted),
        "users_needed": np.where(needed < MOST, needed, np.nan),
        "note": _notes(value, n, std, needed),
    }


def _held(value: Given, n: Given, gap: Gap, directed: Flags, how: Power) -> Mapping[str, Any]:
    """Return the columns of the result of a margin."""
    value, n, std = numbers(value), numbers(n), numbers(gap.std)
    known = directed & (value > 0) & (std > 0)
    gap = gap._replace(mean=np.where(known, gap.mean, np.nan))
    needed = users_to_hold(gap, **how.asked)
    needed = np.maximum(needed, np.ceil(FEWEST_JUDGED * numbers(gap.size)))
    chance = chance_to_hold(gap, n, level=how.asked["level"])
    lacks = {
        "neither end of the metric is the better one, so nothing is not worse": ~directed,
        "the value is not above 0, of which a margin is no share": value <= 0,
    }
    return {
        "value": value,
        "n_users": n,
        "std": std,
        "margin": np.full(np.shape(value), how.margin),
        "wanted": np.full(np.shape(value), how.wanted),
        "chance": np.where(n < FEWEST_JUDGED * numbers(gap.size), 0.0 * chance, chance),
        "users_needed": np.where(needed < MOST, needed, np.nan),
        "note": _notes(value, n, std, needed, lacks),
    }


def _notes(
    value: Any, n: Any, std: Any, needed: Any, lacks: Mapping[str, Flags] | None = None
) -> Any:
    words = {
        "nobody has a value": n == 0,
        "one user, so no spread": n == 1,
        **(lacks or {}),
        "no spread of this metric is known": np.isnan(std),
        "no difference between users, so nothing to go by": std == 0,
        "the value is 0, of which no share is wanted": value == 0,
        "what is wanted takes more users than there are": needed >= MOST,
    }
    return np.select(list(words.values()), list(words), "")
