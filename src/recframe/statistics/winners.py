"""`rec.winner`: the best of several models, from paired sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from recframe.statistics.arrays import Flags, Labels, Numbers, np, ratio
from recframe.statistics.comparison import (
    SELECTED_NOTE,
    Comparing,
    Direction,
    first_or_joined,
    is_selected,
    verdicts,
)
from recframe.statistics.moments import Sums, as_columns
from recframe.statistics.p_values import adjusted, least_p, p_two_sided, t_quantile, t_statistic
from recframe.statistics.pairs import (
    BASELINE,
    MODEL,
    PLACE,
    PROPERTIES,
    ROUNDING,
    RUNNER_UP,
    USERS,
    Pairing,
)
from recframe.statistics.resampling import groups_of, resampled_means
from recframe.statistics.shrinkage import drawn_to_centre
from recframe.statistics.summary import FEW_VALUES, columns_of

COLUMNS = columns_of(
    "metric k n_models value baseline_value difference difference_low difference_high difference_shrunk "
    "first runner_up ahead p_value p_adjusted n_users n_differ n_unpaired verdict note"
)
"""Columns after the keys, the winner and the baseline; the runner-up has the models' dtype."""
SHORT = (
    *("metric", "verdict", RUNNER_UP, "value", "baseline_value"),
    *("difference", "difference_low", "difference_high", "difference_shrunk", "first"),
    *("p_adjusted", "n_users", "note"),
)
"""Columns after the keys in the short form."""
FEWEST_SHRUNK = 3
"""Fewest models for shrinkage: with fewer, the chance part of their differences is unknown."""
LEAST_SHARE = 0.1
"""Lower limit of a model's error, as a share of the mean error."""


def winners(
    cells: pl.DataFrame,
    keys: Sequence[str],
    pairing: Pairing,
    how: Comparing,
) -> pl.DataFrame:
    """Return a row for each segment and metric, from the sums of all pairs of models; see `Sums`."""
    sums = Sums(cells, keys)
    if sums.rows.is_empty():
        columns: dict[str, Any] = {**COLUMNS, RUNNER_UP: sums.rows.schema[MODEL]}
        nothing = (pl.lit(None, one).alias(name) for name, one in columns.items())
        return sums.rows.select(*keys, MODEL, BASELINE, *nothing)
    moments = sums.moments(how.cluster)
    numbers = sums.numbers(moments)
    numbers |= {
        "n_users": numbers[USERS],
        "error": moments.standard_error,
        "freedom": moments.freedom,
        "units": moments.units,
    }
    field = Field.of(sums, pairing, numbers)
    winner = {name: at_rows(field.of_winner, one) for name, one in numbers.items()}
    ahead = {name: at_rows(field.ahead, one) for name, one in numbers.items()}
    ahead["difference"] = ahead["difference"] * np.sign(field.ahead)
    n_models = field.known.sum(axis=0)
    half = t_quantile(how.level ** (1.0 / n_models.clip(1)), winner["freedom"]) * winner["error"]
    found = winner | {
        "n_models": n_models,
        # one that would hold for all models at once, whichever was picked
        "difference_low": winner["difference"] - half,
        "difference_high": winner["difference"] + half,
        "difference_shrunk": _of_model(field.winner, _shrunk(field, numbers)),
        "first": _of_model(field.winner, _first(field, sums, pairing, how)),
        "n_users": np.nan_to_num(winner["n_users"]),
        **_of_runner_up(field, ahead, how),
    }
    found["note"] = _notes(found, winner, ahead, field.direction, how)
    return _named(field, sums, pairing, found)


@dataclass(frozen=True)
class Field:
    """Models of each contest, a metric in a segment, with the rows of their pairs' sums, the winner and the runner-up."""

    contests: pl.DataFrame
    """Keys of the segments, and the metrics' properties, in order."""
    models: pl.Series
    """The models but the baseline, in order."""
    rows: Labels
    """The row of each pair counted from 1, models x models x contests; of a model by itself that against the baseline.

    It is negative where the row has the difference the other way round, and 0 where there is no row.
    """
    direction: Direction
    """Of the contests' metrics."""
    lead: Numbers
    """The differences to the baseline, higher ones better, models x contests; NaN where there is none."""
    winner: Labels
    """The index of the best model in each contest, -1 being none."""
    runner_up: Labels

    @classmethod
    def of(cls, sums: Sums, pairing: Pairing, numbers: Mapping[str, Numbers]) -> Field:
        """Return the field of all rows of sums."""
        contests = sums.rows.select(*sums.keys, *PROPERTIES).unique(maintain_order=True)
        direction = Direction.of(contests)
        models = sums.rows.filter(~pairing.is_baseline(MODEL))[MODEL].unique().sort()
        rows = _rows_of_pairs(sums, contests, models)
        against = _against_baseline(rows)
        lead = at_rows(against, numbers["difference"]) * np.where(direction.higher, 1.0, -1.0)
        # what rounding leaves between two leads is none
        within = ROUNDING * np.abs(np.nan_to_num(at_rows(against, numbers["value"]))).max(axis=0)
        winner = _best(lead, within)
        others = np.where(np.arange(len(models))[:, None] == winner, np.nan, lead)
        return cls(contests, models, rows, direction, lead, winner, _best(others, within))

    @property
    def known(self) -> Flags:
        """Whether a model has a difference to the baseline, models x contests."""
        return ~np.isnan(self.lead)

    @property
    def against_baseline(self) -> Labels:
        """The rows of the models against the baseline, models x contests."""
        return _against_baseline(self.rows)

    @property
    def of_winner(self) -> Labels:
        """The rows of the winners against the baseline."""
        return np.where(self.winner < 0, 0, self._at(self.winner, self.winner))

    @property
    def ahead(self) -> Labels:
        """The rows of the winners against the runners-up."""
        return np.where(self.runner_up < 0, 0, self._at(self.winner, self.runner_up))

    def _at(self, model: Labels, other: Labels) -> Labels:
        return np.asarray(self.rows[model, other, np.arange(len(self.contests))])


def _rows_of_pairs(sums: Sums, contests: pl.DataFrame, models: pl.Series) -> Labels:
    """Return the `rows` of a field."""
    places = models.to_frame().with_row_index("of")
    others = places.rename({MODEL: BASELINE, "of": "to"})
    found = sums.rows.with_row_index("row", offset=1)
    at = contests.select(*sums.keys, PLACE).with_row_index("at")
    found = found.join(at, on=[*sums.keys, PLACE], nulls_equal=True)
    found = found.join(places, on=MODEL).join(others, on=BASELINE, how="left")
    found = found.with_columns(pl.col("to").fill_null(pl.col("of")))
    row, at, of, to = found.select("row", "at", "of", "to").cast(pl.Int64).to_numpy().T
    rows = np.zeros((len(models), len(models), len(contests)), dtype=np.int64)
    rows[to, of, at] = -row
    rows[of, to, at] = row
    return rows


def _against_baseline(rows: Labels) -> Labels:
    each = np.arange(len(rows))
    return np.asarray(rows[each, each])


def at_rows(rows: Labels, numbers: Numbers) -> Numbers:
    """Return the numbers of rows, which are counted from 1 and may be negative; NaN for row 0."""
    return np.where(rows == 0, np.nan, numbers[np.abs(rows) - 1])


def _of_model(model: Labels, numbers: Numbers) -> Numbers:
    """Return each contest's number of a model, from those of models x contests; NaN where there is no model."""
    return np.where(model < 0, np.nan, numbers[model, np.arange(len(model))])


def _best(lead: Numbers, within: Numbers) -> Labels:
    """Return the first of the models with the greatest lead, -1 where no model has one."""
    known = np.where(np.isnan(lead), -np.inf, lead)
    best = known.max(axis=0)
    return np.where(np.isneginf(best), -1, np.argmax(known >= best - within, axis=0))


def _shrunk(field: Field, numbers: Mapping[str, Numbers]) -> Numbers:
    """Return the differences to the baseline drawn towards their centre, models x contests.

    What all of them share, such as the error of the baseline, picks no winner: so a model's error is its own part v of the
    errors of pairs, which are v + v' of two models. With P the sum of those of a model and S = Σ v, P = (m - 2) v + S.
    """
    squared = at_rows(field.rows, numbers["error"] ** 2)
    each = np.arange(len(field.models))
    unsure = np.isnan(squared[each, each])
    squared[each, each] = 0.0
    of_model, n_models = np.nansum(squared, axis=1), field.known.sum(axis=0)
    enough = np.where(n_models >= FEWEST_SHRUNK, n_models, np.nan)
    of_all = ratio(of_model.sum(axis=0), 2.0 * (enough - 1.0))
    own = ratio(of_model - of_all, enough - 2.0)
    # by chance, or of models that are nearly the same, it may come out at nothing, and no model is certain
    own = np.maximum(own, LEAST_SHARE * ratio(of_all, enough))
    differences = at_rows(field.against_baseline, numbers["difference"])
    return drawn_to_centre(differences, np.where(unsure, np.nan, np.sqrt(own)))


def _first(field: Field, sums: Sums, pairing: Pairing, how: Comparing) -> Numbers:
    """Return each model's share of first places among resamples, models x contests; ties share."""
    of_baseline = pairing.is_baseline(BASELINE)
    rows = sums.rows.with_row_index("row", offset=1).filter(of_baseline)
    groups = groups_of(sums.cells.filter(of_baseline), rows.select(sums.by))
    # where a segment lacks a model, that of another is taken, and is not known
    known, columns = field.known, np.searchsorted(rows["row"].to_numpy(), field.against_baseline)
    d, n = (groups.matrix([part])[:, columns.reshape(-1)] for part in ("d", "n"))
    drawn = resampled_means(d, n, n_resamples=how.n_resamples, seed=how.seed, tell=how.tell)
    sign = np.where(field.direction.higher, 1.0, -1.0)
    first, seen = np.zeros(known.shape), np.zeros((1, known.shape[1]))
    for means in drawn:
        lead = np.where(known, means.reshape(-1, *known.shape) * sign, np.nan)
        lead = np.where(np.isnan(lead), -np.inf, lead)
        best = lead.max(axis=1, keepdims=True)
        equal = (lead >= best - ROUNDING * np.abs(best)) & np.isfinite(best)
        first += ratio(equal, np.maximum(equal.sum(axis=1, keepdims=True), 1)).sum(axis=0)
        seen += np.isfinite(best).sum(axis=0)
    return ratio(first, seen)


def _of_runner_up(field: Field, ahead: Mapping[str, Numbers], how: Comparing) -> dict[str, Any]:
    """Return the comparison of the winner with the runner-up.

    NOTE: it was picked, and so was the other. The test on two sides allows for that by itself: had the other led, the question
    would have been turned round, and of more models than two the first two lie closer together than any two that are named
    before. Source: Gutmann and Maymin 1987; Hung and Fithian 2019.
    """
    t = t_statistic(ahead["difference"], ahead["error"])
    p_value = np.maximum(p_two_sided(t, ahead["freedom"]), least_p(ahead["n_differ"]))
    few = (ahead["n_users"] > 0) & (ahead["units"] < how.min_users)
    p_adjusted = adjusted(np.where(few, np.nan, p_value), method="holm")
    found = {"p_value": p_value, "p_adjusted": p_adjusted, "few": few}
    words = verdicts({**ahead, **found}, field.direction, 1.0 - how.level)
    return found | {
        "ahead": ahead["difference"] + 0.0,
        "n_differ": ahead["n_differ"],
        "n_unpaired": ahead["n_unpaired"],
        "verdict": np.where(field.runner_up < 0, "", words),
    }


def _notes(
    found: Mapping[str, Any],
    winner: Mapping[str, Numbers],
    ahead: Mapping[str, Numbers],
    of: Direction,
    how: Comparing,
) -> Any:
    """Return the notes of each row, in words."""
    alpha, tests = 1.0 - how.level, np.count_nonzero(~np.isnan(found["p_adjusted"]))
    alone = (found["p_value"] <= alpha) & (found["p_adjusted"] > alpha)
    kind = how.units
    n_models, difference = found["n_models"], found["difference"]
    behind = np.where(of.higher, difference <= 0, difference >= 0)
    rough = (winner["n_differ"] < FEW_VALUES) & (found["n_users"] > 1)
    words = {
        "one user, so no interval": found["n_users"] == 1,
        "depends on too few lists, so no interval": np.isnan(winner["units"]),
        "no other model is better than the baseline": behind,
        "one model beside the baseline, so there is no runner-up": n_models == 1,
        "fewer than three models, so no shrinkage": n_models == FEWEST_SHRUNK - 1,
        "the runner-up is equally good, and second only by its name": found["ahead"] == 0,
        f"fewer than {how.min_users} {kind}, so not judged": found["few"],
        SELECTED_NOTE: is_selected(winner, of) | is_selected(ahead, of) & (n_models > 1),
        f"significant alone, not after correcting for {tests} comparisons": alone
        & (found["verdict"] == "open"),
        f"fewer than {FEW_VALUES} {kind} differ, so the interval is rough": rough,
    }
    return first_or_joined({"nobody has both values": n_models == 0}, words)


def _named(field: Field, sums: Sums, pairing: Pairing, found: Mapping[str, Any]) -> pl.DataFrame:
    """Return arrays of the contests as columns, with the keys and the names of metrics and models."""
    columns = {name: dtype for name, dtype in COLUMNS.items() if name != RUNNER_UP}
    baseline = sums.rows.filter(pairing.is_baseline(BASELINE))[BASELINE]
    models = [
        field.models.gather(pl.Series(places).replace(-1, None)).alias(name)
        for name, places in ((MODEL, field.winner), (RUNNER_UP, field.runner_up))
    ]
    rows = field.contests.hstack([*models, *as_columns(found, columns)])
    rows = rows.join(baseline.head(1).to_frame(), how="cross")
    return rows.select(*sums.keys, MODEL, BASELINE, *COLUMNS)
