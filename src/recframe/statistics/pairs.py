"""Per-segment sums over paired user values of two models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

import polars as pl

from recframe.errors import RecframeError, fails_whole_if, shown_in_plan, worded
from recframe.evaluation.contributions import Contributions
from recframe.evaluation.execution import Run
from recframe.evaluation.required_columns import is_of_segment
from recframe.evaluation.trainings import PARTS
from recframe.evaluation.user_values import bounded_names
from recframe.frames.dtypes import as_text
from recframe.frames.hints import bind
from recframe.frames.inputs import GROUP
from recframe.frames.kinds.engine import MOST
from recframe.frames.rows.exact_sums import ExactSums
from recframe.frames.rows.joins import joined
from recframe.metrics.language.definition import Metric

MODEL, BASELINE, RUNNER_UP = "model", "baseline", "runner_up"
MOST_NAMED = 20
SUMS = ("n", "a", "d", "aa", "ad", "dd", "dddd", "wins", "ties", "unpaired")
"""Sums over paired users: their number, the baseline's A, d = B - A, squares and products, fourth powers of d for
set metrics, d > 0 and d = 0; and the number of users with only one value."""
ENDS = ("low", "high")
"""Suffixes of the range of users' values, for metrics without a bounded range."""
OF_TRAININGS = (*PARTS, *(f"{BASELINE} {part}" for part in PARTS))
"""Number and variance of trainings, of the model and of the baseline."""
MOST_APART = 60
"""Most pairs with plans of their own; more share one plan, since each takes time to build."""
ROUNDING = 1e-12
"""Relative tolerance below which a difference of two values is 0."""


@dataclass(frozen=True)
class Pairing:
    """Pairs of models: all against a baseline, or each against previous."""

    baseline: str | None
    dtype: pl.DataType
    """Dtype of the model column."""
    column: str
    """Name of the model column."""
    given: str = ""
    """Source of the baseline, where it is not `baseline=`."""
    among_others: bool = False
    """Whether the other models are compared with each other too."""

    def is_baseline(self, model: str) -> pl.Expr:
        """Return whether a column has the baseline's name."""
        return as_text(pl.col(model), self.dtype) == pl.lit(self.baseline)

    def pairs(self) -> pl.Expr:
        """Return whether a row's model is compared with its baseline."""
        if self.baseline is None:
            return pl.col(BASELINE) < pl.col(MODEL)
        is_baseline, others = self.is_baseline(BASELINE), ~self.is_baseline(MODEL)
        if self.among_others:
            is_baseline |= pl.col(BASELINE) < pl.col(MODEL)
        return is_baseline & others

    def checks(self, models: pl.LazyFrame) -> list[pl.LazyFrame]:
        """Return frames of one row that fail when the plan runs, if there are no models to compare, or no baseline."""
        model = as_text(pl.col(MODEL), self.dtype)
        names = model.drop_nulls().sort()
        n_more = names.len().cast(pl.Int64) - MOST_NAMED
        more = pl.when(n_more > 0).then(pl.format(" and {} more", n_more)).otherwise(pl.lit(""))
        found = shown_in_plan(names.slice(0, MOST_NAMED)).str.join(", ") + more
        few = worded(f"there are no two models to compare: the column {self.column!r} has ", found)
        checks = [fails_whole_if(pl.len() < 2, few)]  # noqa: PLR2004  a pair
        if self.baseline is not None:
            named = self.given or f"baseline={self.baseline!r}"
            given = f"{named} is no model: the column {self.column!r} has "
            missing = ~(model == self.baseline).fill_null(value=False).any()
            checks.insert(0, fails_whole_if(missing & (pl.len() > 0), worded(given, found)))
        return [models.select(check=check) for check in checks]


def sums_of_pairs(one: Contributions, pairing: Pairing) -> pl.LazyFrame:
    """Return one row per segment, model and baseline: the keys, and the columns behind `SUMS`.

    These are counts, and the parts of exact sums; with `absent` the users who are absent from both models, whose values are
    those of an empty list.
    """
    keys = [*one.keys, BASELINE]
    summed = _summed(one, pairing).select(*keys, pl.exclude(keys))
    checks = pairing.checks(_models(one))
    if not one.counts_absent:
        return one.checked(summed.drop("present"), f"n {one.names[0]}", *checks)
    every = one.n_users().join(_pairs(one, pairing), on=MODEL)
    if _draws_some(one, pairing):
        some = every.with_columns(_drawn(pairing.is_baseline(BASELINE)))
        every = some.group_by(keys).agg(pl.col("n_users").sum())
    whole = every.join(summed, on=keys, how="left", nulls_equal=True)
    empty = one.empty.rename({name: f"empty {name}" for name in one.names})
    whole = whole.join(empty, how="cross")
    absent = (pl.col("n_users") - pl.col("present").fill_null(0)).cast(pl.Int64)
    counts = [count for name in one.names for count in _with_absent(name, absent)]
    filled = whole.with_columns(*counts, absent=absent).drop("n_users", "present")
    return one.checked(filled, f"n {one.names[0]}", *checks)


def _pairs(one: Contributions, pairing: Pairing) -> pl.LazyFrame:
    """Return the compared pairs: model, baseline."""
    models = _models(one)
    return models.join(models.rename({MODEL: BASELINE}), how="cross").filter(pairing.pairs())


def _models(one: Contributions) -> pl.LazyFrame:
    if one.judged.models is None:
        msg = f"there are no models to compare: {bind(model=repr('model'))}"
        raise RecframeError(msg)
    return one.judged.models.select(MODEL)


def _summed(one: Contributions, pairing: Pairing) -> pl.LazyFrame:
    """Return the sums over users with a row in one of two models.

    NOTE: where the models are known, pair by pair: sums of whole columns take a seventh of the time of sums by group.
    """
    # NOTE: held, so that what tells the two sides apart is not asked of each of the plan's frames twice
    rows = one.rows.cache().select(*one.pairing, MODEL, *one.names)
    pairs = _known_pairs(one, pairing)
    if not 0 < len(pairs) <= MOST_APART:
        drawn = pairing.is_baseline(BASELINE) if _draws_some(one, pairing) else None
        return _sums_by(one, _paired(one, rows, pairing), [*one.keys, BASELINE], drawn)
    keys = [key for key in one.keys if key != MODEL]
    found = []
    for pair in (pairs.slice(place, 1) for place in range(len(pairs))):
        model, baseline = (_is(side, pair, pairing) for side in (MODEL, BASELINE))
        paired = _side_by_side(one, rows.filter(model), rows.filter(baseline), one.pairing)
        is_drawn = not _draws_some(one, pairing) or len(pair.filter(pairing.is_baseline(BASELINE)))
        drawn = None if is_drawn else pl.lit(value=False)
        sums = _sums_by(one, paired.drop(MODEL, BASELINE), keys, drawn)
        found.append(sums.join(pair.lazy(), how="cross"))
    return pl.concat(found)


def _known_pairs(one: Contributions, pairing: Pairing) -> pl.DataFrame:
    """Return the compared pairs, if they are known before the plan runs."""
    if one.known is None:
        return pl.DataFrame()
    others = one.known.rename({MODEL: BASELINE})
    return one.known.join(others, how="cross").filter(pairing.pairs())


def _is(side: str, pair: pl.DataFrame, pairing: Pairing) -> pl.Expr:
    """Return whether rows are of a side's model."""
    name = pair.select(as_text(pl.col(side), pairing.dtype)).item()
    return as_text(pl.col(MODEL), pairing.dtype).eq_missing(pl.lit(name, pl.String))


def _draws_some(one: Contributions, pairing: Pairing) -> bool:
    """Return whether random groups are of users of some pairs alone: of those with the baseline."""
    return pairing.among_others and GROUP in one.keys


def _drawn(is_drawn: pl.Expr) -> pl.Expr:
    """Return the random group, constant where none are drawn."""
    return pl.when(is_drawn).then(GROUP).otherwise(pl.col(GROUP) * 0).alias(GROUP)


def _sums_by(
    one: Contributions, paired: pl.LazyFrame, keys: Sequence[str], drawn: pl.Expr | None
) -> pl.LazyFrame:
    rows = one.described(paired)
    rows = rows if drawn is None else rows.with_columns(_drawn(drawn))
    rows = rows.with_columns(column for name in one.names for column in _differences(name))
    counts = [count for name in one.names for count in _counts(name, one)]
    metrics = zip(one.names, one.metrics, strict=True)
    counts += [end for name, metric in metrics if has_no_ends(metric) for end in _ends(name)]
    return _exact_sums(one).summed(rows, keys, [pl.len().alias("present"), *counts])


def has_no_ends(metric: Metric[...]) -> bool:
    """Return whether a metric has values of users that are in no range with two ends."""
    return not is_of_segment(metric) and not all(map(isfinite, metric.range))


def _ends(name: str) -> list[pl.Expr]:
    """Return the highest of users' values, and of their negatives."""
    a, b = pl.col(f"a {name}"), pl.col(name)
    both = (a + b).is_not_null()
    high, low = pl.max_horizontal(a, b), pl.max_horizontal(-a, -b)
    found = {"high": high, "low": low}
    return [one.filter(both).max().alias(f"{MOST} {end} {name}") for end, one in found.items()]


def _paired(one: Contributions, rows: pl.LazyFrame, pairing: Pairing) -> pl.LazyFrame:
    """Return each user of two models once, with both values."""
    if one.aligned:
        sides = (rows, rows)
        if pairing.baseline is not None and not pairing.among_others:
            sides = (
                rows.filter(~pairing.is_baseline(MODEL)),
                rows.filter(pairing.is_baseline(MODEL)),
            )
        return _side_by_side(one, *sides, one.pairing).filter(pairing.pairs())
    pairs = _pairs(one, pairing)
    base = rows.rename({MODEL: BASELINE}).join(pairs, on=BASELINE)
    others = rows.join(pairs, on=MODEL)
    return _side_by_side(one, others, base, [*one.pairing, MODEL, BASELINE])


def _side_by_side(
    one: Contributions, others: pl.LazyFrame, base: pl.LazyFrame, on: Sequence[str]
) -> pl.LazyFrame:
    """Return rows of two models with both values: `value 0` of the model, `a value 0` of the baseline.

    NOTE: where all models have rows of the same users, neither side can lack one, which takes half the time.
    """
    names = {name: f"a {name}" for name in one.names}
    base = base.rename({**names, **({} if BASELINE in on else {MODEL: BASELINE})})
    if one.aligned:
        return others.join(base, on=on, how="inner", nulls_equal=True)
    here, there = (pl.lit(value=True).alias(side) for side in ("here", "there"))
    joined = others.with_columns(here).join(
        base.with_columns(there), on=on, how="full", nulls_equal=True, coalesce=True
    )
    empty = one.empty.rename({name: f"empty {name}" for name in one.names})
    filled = [
        pl.when(pl.col(side).is_null()).then(f"empty {name}").otherwise(column).alias(column)
        for name in one.names
        for side, column in (("here", name), ("there", f"a {name}"))
    ]
    return joined.join(empty, how="cross").with_columns(filled)


def _differences(name: str) -> list[pl.Expr]:
    """Return the difference of two values, and the baseline's value where both exist, as summand columns."""
    a, b = pl.col(f"a {name}"), pl.col(name)
    return [
        difference(b, a).alias(f"d {name}"),
        pl.when(b.is_not_null()).then(a).alias(f"paired {name}"),
    ]


def _exact_sums(of: Contributions) -> ExactSums:
    """Return the sums of values, differences, their squares and products."""
    values: dict[str, pl.Expr] = {}
    bounded = frozenset[str]() if of.placed is not None else bounded_names(of.metrics)
    for name in of.names:
        a, d = pl.col(f"paired {name}"), pl.col(f"d {name}")
        made = {"a": a, "d": d, "aa": a * a, "ad": a * d, "dd": d * d}
        values |= {f"{part} {name}": one for part, one in made.items()}
    return ExactSums(values, {name for name in values if name.partition(" ")[2] in bounded})


def _counts(name: str, of: Contributions) -> list[pl.Expr]:
    """Return the counts of users, and the fourth powers of differences."""
    d = pl.col(f"d {name}")
    n = d.count().cast(pl.Int64)
    of_either = (pl.col(f"a {name}").count() + pl.col(name).count()).cast(pl.Int64)
    found = {
        "n": n,
        # which tells whether a set metric hangs on few lists
        "dddd": pl.lit(0.0) if of.placed is None else (d**4).sum(),
        "wins": (d > 0).sum().cast(pl.Int64),
        "ties": (d == 0).sum().cast(pl.Int64),
        "unpaired": of_either - 2 * n,
    }
    return [one.alias(f"{part} {name}") for part, one in found.items()]


def difference(b: pl.Expr, a: pl.Expr) -> pl.Expr:
    """Return b - a; 0 where that is rounding, since lists that are worth the same may be summed up in another order."""
    d = b - a
    return pl.when(d.abs() <= ROUNDING * (a + b).abs()).then(0.0).otherwise(d)


def _with_absent(name: str, absent: pl.Expr) -> list[pl.Expr]:
    """Return the counts with the users who are absent from both models: each a tie of the values of an empty list."""
    counted = pl.col(f"empty {name}").is_not_null() * absent
    nobody = pl.lit(0)
    added = {"n": counted, "wins": nobody, "ties": counted, "unpaired": nobody}
    return [pl.col(f"{part} {name}").fill_null(0) + more for part, more in added.items()]


def sums_of_all(
    plans: Sequence[Sequence[Contributions]],
    metrics: Sequence[Metric[...]],
    pairing: Pairing,
    run: Run,
) -> pl.LazyFrame:
    """Return one row for each segment, model and baseline, with the sums of all metrics by their places."""
    places = {str(metric): place for place, metric in enumerate(metrics)}
    keys = [*plans[0][0].keys, BASELINE]
    first, *others = (_of_a_plan(parts, places, pairing, run) for parts in plans)
    for sums in others:
        first = joined(first, sums, keys, "full")
    # in one order, since arrays of them are added up as they stand
    ends = [
        f"{end} {place}" for place, one in enumerate(metrics) if has_no_ends(one) for end in ENDS
    ]
    return first.with_columns(pl.exclude(*keys, *ends).fill_null(0)).sort(keys, nulls_last=True)


def _of_a_plan(
    parts: Sequence[Contributions], places: Mapping[str, int], pairing: Pairing, run: Run
) -> pl.LazyFrame:
    """Return the sums of the metrics of one plan, by their places among all."""
    one = parts[0]
    sums = [sums_of_pairs(part, pairing) for part in parts]
    same = [f"empty {name}" for name in one.names]
    added = run.added(sums, [*one.keys, BASELINE], same if one.counts_absent else ())
    columns = []
    for name, metric in zip(one.names, one.metrics, strict=True):
        found = _totals(name, one) | (_ends_with_absent(name, one) if has_no_ends(metric) else {})
        place = places[str(metric)]
        columns += [column.alias(f"{part} {place}") for part, column in found.items()]
    return added.select(*one.keys, BASELINE, *columns)


def _totals(name: str, one: Contributions) -> dict[str, pl.Expr]:
    """Return the sums of `SUMS`, with those of the users who are absent from both models."""
    exact, empty = _exact_sums(one), pl.col(f"empty {name}")
    absent = {"a": empty, "aa": empty * empty} if one.counts_absent else {}
    found = {part: pl.col(f"{part} {name}") for part in SUMS}
    for part in ("a", "d", "aa", "ad", "dd"):
        more = (absent[part], pl.col("absent")) if part in absent else None
        found[part] = exact.total(f"{part} {name}", more)
    return found


def _ends_with_absent(name: str, one: Contributions) -> dict[str, pl.Expr]:
    """Return the lowest and the highest value of users, of whom those who are absent have that of an empty list."""
    high, low = pl.col(f"{MOST} high {name}"), pl.col(f"{MOST} low {name}")
    if one.counts_absent:
        empty = pl.when(pl.col("absent") > 0).then(f"empty {name}")
        high, low = pl.max_horizontal(high, empty), pl.max_horizontal(low, -empty)
    return {"low": -low, "high": high}
