"""What each user contributes to a set metric: how the number of the segment changes without the user's list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from recframe.errors import without_order
from recframe.facts.levels import Level, Levels
from recframe.facts.requirements import check_needs
from recframe.frames.inputs import Inputs
from recframe.frames.rows.exact_sums import ExactSums
from recframe.frames.rows.joins import distinct_names, joined
from recframe.judging.judged_frame import judge
from recframe.metrics.language.at import ratio
from recframe.metrics.language.definition import Metric
from recframe.plan.beside import FOURTH, SQUARE, SUPPORT, TOTAL, N
from recframe.plan.needs import Needs, needs_of
from recframe.plan.of_lists import Lists, check, cuts_of, value_of
from recframe.plan.removal import Removal, less
from recframe.plan.runs import Run
from recframe.plan.segments import deepest_of, keys_of
from recframe.plan.user_values import values_of_users

_BEYOND = {
    Level.ALONG: "it holds each list against all others",
    Level.ALONG_ALL: "it holds each list against those of other segments",
    Level.EVERYWHERE: "it holds the lists of a segment against those of others",
    Level.IN_ALL: "it holds the lists of a segment against those of others",
    Level.ACROSS: "it holds a segment of items against the others",
    Level.OVER_GROUPS: "it holds groups of items against one another",
}
"""Why a metric that asks for columns on some levels has no contributions: lists of others, or few groups, decide too."""


OF_CONTRIBUTIONS = (N, TOTAL, SQUARE, FOURTH)


def reason_without(metric: Metric[...]) -> str | None:
    """Return why a metric has no contributions of single lists; None of one that has them.

    A metric made of means has them by `contributions_of_means`, any other by `contributions`.
    """
    needs = needs_of(metric)
    if needs.means:
        return None
    if needs.over == "users" or metric.shape == "user":
        return "it is a mean over the users, whose values they are"
    for level, reason in _BEYOND.items():
        if level in needs.levels:
            return reason
    if Level.PLACE in needs.levels and not metric.definition.builtin:
        return "it reads the places of items, which may move in any way without a list"
    return None


def contributions(inputs: Inputs, metrics: Sequence[Metric[...]], run: Run) -> pl.LazyFrame:
    """Return what each list contributes to set metrics: the keys and the user, by their names inside, and `value 0`, ...

    A list u contributes T + (n - 1) (T - T without u), shifted so that the mean is T, the metric's value of the segment. n is
    the number of lists with an item up to k: these alone have a contribution, and a row where k is the largest of the
    metrics'. It is null where there is no T without the list, and T where there is no other list. Without a list its rows
    are gone; the catalogue, the truth and the side frames stay.

    NOTE: gini alone is not exact. What its items lose is added up as if each fell alone, so that a contribution is off by
    2 / (N k) for each pair of the list's items that stand in equally many lists: their standard deviation is off by 3 % with
    30 lists and by 0.5 % with 300. With other weights an item passes others one by one, and pairs with close exposures count.
    """
    check(inputs, metrics)
    keys = [inside for inside, _ in keys_of(inputs, metrics)]
    most, asked = deepest_of(metrics), Levels()
    made = [value_of(metric, asked, most, SUPPORT) for metric in metrics]
    removal = Removal(cuts_of(inputs, asked, keys, most, run), asked, keys, run)
    return _of_lists(removal, [value for value, _ in made], [beside[N] for _, beside in made])


def with_spread(lists: Lists, metrics: Sequence[Metric[...]], run: Run) -> Lists:
    """Return what metrics over lists are made of, with the sums of what lists contribute to those of a segment beside them.

    Segments of clusters or random groups are none that a metric has a value of: they have contributions of their own.
    """
    served = [metric for metric in metrics if metric.shape == "set" and not reason_without(metric)]
    if not served or lists.cuts[0].held.inputs.units or "user" in lists.keys:
        return lists
    values = [lists.values[str(metric)] for metric in served]
    counts = [lists.beside[str(metric)][N] for metric in served]
    rows = _of_lists(Removal(lists.cuts, lists.asked, lists.keys, run), values, counts)
    names = [f"of contributions {place}" for place in range(len(served))]
    beside = dict(lists.beside)
    for metric, name in zip(served, names, strict=True):
        beside[str(metric)] = {part: pl.col(f"{part} {name}") for part in OF_CONTRIBUTIONS}
    numbered = {key: f"key {place}" for place, key in enumerate(lists.keys)}
    sums = sums_of_contributions(rows, lists.keys, names).rename(numbered)
    frame = joined(lists.frame, sums, list(numbered.values()))
    return replace(lists, frame=frame, beside=beside)


def sums_of_contributions(
    rows: pl.LazyFrame,
    keys: Sequence[str],
    names: Sequence[str],
    parts: Sequence[str] = OF_CONTRIBUTIONS,
) -> pl.LazyFrame:
    """Return what is summed up of the contributions to metrics and stands beside them: `n`, ... and the metric's name.

    Fourth powers are those about the mean of the rows with the same keys.
    """
    exact: dict[str, pl.Expr] = {}
    others: list[pl.Expr] = []
    for place, name in enumerate(names):
        value = pl.col(f"value {place}")
        apart = (value - value.mean()) ** 2
        exact |= {f"{TOTAL} {name}": value, f"{SQUARE} {name}": value * value}
        counts = {N: value.count().cast(pl.Int64), FOURTH: (apart * apart).sum()}
        others += [one.alias(f"{part} {name}") for part, one in counts.items() if part in parts]
    sums = ExactSums({name: one for name, one in exact.items() if name.partition(" ")[0] in parts})
    return sums.of(rows, keys, others)


def _of_lists(
    removal: Removal, values: Sequence[pl.Expr], counts: Sequence[pl.Expr]
) -> pl.LazyFrame:
    """Return the contributions of lists to values of their segments, which so many lists enter."""
    rows = removal.rows(values, counts).with_columns(removal.remaining())
    # a count without the list is one less where it was counted
    entered = [less(count.meta.root_names()[0]) > 0 for count in counts]
    return _contributed(rows, removal.keys, values, entered)


def contributions_of_means(
    inputs: Inputs, metrics: Sequence[Metric[...]], run: Run
) -> pl.LazyFrame:
    """Return the same of metrics made of means over users, all under the policies of the inputs.

    Without a user the means run over the others. Each user of the universe has a row, and a contribution where any of the
    metric's means has a value of theirs.
    """
    asked = [needs_of(metric) for metric in metrics]
    for metric, needs in zip(metrics, asked, strict=True):
        check_needs(inputs, metric, needs.facts)
        if inputs.sharing == "expected":
            reason = "it is made of means, which are uncertain together"
            raise without_order(str(metric), inputs.sharing, reason)
    keys = [inside for inside, _ in keys_of(inputs, metrics)]
    means = {str(mean): mean for needs in asked for mean in needs.means}
    of_user = {label: pl.col(f"value {number}") for number, label in enumerate(means)}
    rows = _users(inputs, list(means.values()), keys, run)
    values = [_of_means(needs) for needs in asked]
    entered = [_has_any(needs, of_user) for needs in asked]
    sums = ExactSums({f"sum of {label}": value for label, value in of_user.items()})
    counts = [value.count().alias(f"n of {label}") for label, value in of_user.items()]
    n_users = [one.sum().alias(f"n {number}") for number, one in enumerate(entered)]
    segments = sums.of(rows, keys, [*counts, *n_users])
    segments = segments.with_columns(_mean(label) for label in means)
    segments = segments.with_columns(
        value.alias(f"whole {number}") for number, value in enumerate(values)
    )
    rows = joined(rows, segments, keys)
    rows = rows.with_columns(_mean(label, value) for label, value in of_user.items())
    return _contributed(rows, keys, values, entered)


def _users(
    inputs: Inputs, means: Sequence[Metric[...]], keys: Sequence[str], run: Run
) -> pl.LazyFrame:
    """Return every user of each segment with their values of the metrics whose means are asked for."""
    models = run.models(inputs)
    judged = [judge(part, models) for part in run.parts(inputs)]
    users = [values_of_users(one, means, keys, run.ask, run.held).each() for one in judged]
    return run.added(users, distinct_names(*keys, "user"))


def _has_any(needs: Needs, of_user: Mapping[str, pl.Expr]) -> pl.Expr:
    """Return whether a user has a value in any of the means."""
    return pl.any_horizontal(of_user[str(mean)].is_not_null() for mean in needs.means)


def _of_means(needs: Needs) -> pl.Expr:
    """Return the value of a metric made of means; null where one of them is."""
    known = [pl.col(str(mean)).is_not_null() for mean in needs.means]
    return pl.when(*known).then(needs.value.cast(pl.Float64))


def _mean(label: str, without: pl.Expr | None = None) -> pl.Expr:
    """Return a mean of a segment, or of its users without one who has a value."""
    total, count = pl.col(f"sum of {label}"), pl.col(f"n of {label}").cast(pl.Float64)
    if without is not None:
        total, count = total - without.fill_null(0.0), count - without.is_not_null()
    return ratio(total, count, empty=None).alias(label)


def _contributed(
    rows: pl.LazyFrame, keys: Sequence[str], values: Sequence[pl.Expr], entered: Sequence[pl.Expr]
) -> pl.LazyFrame:
    """Return the contributions; rows have the whole values, their numbers of users, and what values are made of without one."""
    names = [f"value {number}" for number in range(len(values))]
    made = [_contribution(*one) for one in zip(range(len(values)), values, entered, strict=True)]
    rows = rows.with_columns(made).cache()
    counts = [pl.col(name).count().name.prefix("n of ") for name in names]
    means = ExactSums({f"sum of {name}": pl.col(name) for name in names}).of(rows, keys, counts)
    shifted = (
        pl.col(name) - pl.col(f"sum of {name}") / pl.col(f"n of {name}") + pl.col(f"whole {number}")
        for number, name in enumerate(names)
    )
    return joined(rows, means, keys).select(*distinct_names(*keys, "user"), *shifted)


def _contribution(number: int, without: pl.Expr, enters: pl.Expr) -> pl.Expr:
    whole, n = pl.col(f"whole {number}"), pl.col(f"n {number}").cast(pl.Float64)
    value = pl.when(n > 1).then(whole + (n - 1) * (whole - without)).otherwise(whole)
    return pl.when(enters).then(value).alias(f"value {number}")
