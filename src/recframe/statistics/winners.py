"""`rec.winner`: the best of several models, from paired sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from recframe.metrics.language.definition import Metric
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
from recframe.statistics.pairs import BASELINE, MODEL, ROUNDING, RUNNER_UP, Pairing
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
    metrics: Sequence[Metric[...]],
    pairing: Pairing,
    how: Comparing,
) -> pl.DataFrame:
    """Return a row for each segment and metric, from the sums of all pairs of models; see `Sums`."""
    sums = Sums(cells, keys, metrics)
    if sums.rows.is_empty():
        columns: dict[str, Any] = {**COLUMNS, RUNNER_UP: sums.rows.schema[MODEL]}
        return sums.rows.with_columns(
            pl.lit(None, one).alias(name) for name, one in columns.items()
        )
    moments = sums.moments(how.cluster)
    field = Field(sums, pairing, Direction.of(metrics))
    numbers = {
        "value": ratio(moments.a + moments.d, moments.n),
        "baseline_value": ratio(moments.a, moments.n),
        "difference": moments.difference,
        "error": moments.standard_error,
        "freedom": moments.freedom,
        "units": moments.units,
        "ties": sums.column("ties"),
        "n_users": moments.n,
        "n_differ": moments.differ,
        "n_unpaired": sums.column("unpaired"),
    }
    ranked = _ranked(field, numbers)
    winner = {name: field.of_winner(ranked, one) for name, one in numbers.items()}
    ahead = {
        name: field.of_both(ranked, one, name == "difference") for name, one in numbers.items()
    }
    n_models = ranked.known.sum(axis=1)
    half = t_quantile(how.level ** (1.0 / n_models.clip(1)), winner["freedom"]) * winner["error"]
    found = winner | {
        "n_models": n_models,
        # one that would hold for all models at once, whichever was picked
        "difference_low": winner["difference"] - half,
        "difference_high": winner["difference"] + half,
        "difference_shrunk": field.of(ranked.winner, _shrunk(field, numbers)),
        "first": field.of(ranked.winner, _first(field, ranked.known, how)),
        "n_users": np.nan_to_num(winner["n_users"]),
        **_of_runner_up(field, ranked, ahead, how),
    }
    found["note"] = _notes(found, winner, ahead, field.direction, how)
    return _long(field, ranked, found)


@dataclass(frozen=True)
class Field:
    """Models per segment, and the rows of their pairs' sums."""

    sums: Sums
    pairing: Pairing
    direction: Direction

    @cached_property
    def segments(self) -> pl.DataFrame:
        """The keys of the segments, in order."""
        return self.sums.rows.select(pl.lit(0).alias(""), *self.sums.keys).unique(
            maintain_order=True
        )

    @cached_property
    def models(self) -> pl.Series:
        """The models but the baseline, in order."""
        return self.sums.rows.filter(~self.pairing.is_baseline(MODEL))[MODEL].unique().sort()

    @cached_property
    def _pairs(self) -> Labels:
        """The row of each pair, segments x models x models, 0 being none; a model by itself is against the baseline."""
        places = self.models.to_frame().with_row_index("of")
        others = places.rename({MODEL: BASELINE, "of": "to"})
        found = self.sums.rows.with_row_index("row", offset=1).with_columns(pl.lit(0).alias(""))
        found = found.join(
            self.segments.with_row_index("segment"), on=self.segments.columns, nulls_equal=True
        )
        found = found.join(places, on=MODEL).join(others, on=BASELINE, how="left")
        found = found.with_columns(pl.col("to").fill_null(pl.col("of")))
        rows = np.zeros((len(self.segments), len(self.models), len(self.models)), dtype=np.int64)
        at = found.select("segment", "of", "to", "row").cast(pl.Int64).to_numpy().T
        rows[at[0], at[2], at[1]] = -at[3]
        rows[at[0], at[1], at[2]] = at[3]
        return rows

    def pairs(self, of_rows: Numbers, *, signed: bool = False) -> Numbers:
        """Return numbers of rows x metrics as segments x models x models x metrics, NaN where there is no such pair.

        The sign of a difference is turned where the row has it the other way round.
        """
        sign = np.sign(self._pairs)[..., None]
        found = of_rows[np.abs(self._pairs) - 1]
        return np.where(sign == 0, np.nan, found * sign if signed else found)

    def against_baseline(self, of_rows: Numbers) -> Numbers:
        """Return numbers of rows x metrics as segments x models x metrics."""
        each = np.arange(len(self.models))
        return self.pairs(of_rows)[:, each, each]

    @property
    def rows_against_baseline(self) -> Labels:
        """The rows of the models against the baseline, segments x models, -1 being none."""
        each = np.arange(len(self.models))
        return self._pairs[:, each, each] - 1

    @staticmethod
    def of(model: Labels, numbers: Numbers) -> Numbers:
        """Return a model's numbers, segments x metrics, from segments x models x metrics; NaN where there is no model."""
        found = np.take_along_axis(numbers, np.maximum(model, 0)[:, None], axis=1)[:, 0]
        return np.where(model < 0, np.nan, found)

    def of_winner(self, ranked: Ranked, of_rows: Numbers) -> Numbers:
        """Return the winner's numbers against the baseline, segments x metrics."""
        return self.of(ranked.winner, self.against_baseline(of_rows))

    def of_both(self, ranked: Ranked, of_rows: Numbers, signed: bool) -> Numbers:  # noqa: FBT001  as in `pairs`
        """Return the winner's numbers against the runner-up, segments x metrics."""
        winner = np.maximum(ranked.winner, 0)[:, None, None]
        pairs = np.take_along_axis(self.pairs(of_rows, signed=signed), winner, axis=1)[:, 0]
        return self.of(ranked.runner_up, pairs)


@dataclass(frozen=True)
class Ranked:
    """Best model and runner-up per segment and metric; -1 is none."""

    winner: Labels
    runner_up: Labels
    known: Flags


def _ranked(field: Field, numbers: Mapping[str, Numbers]) -> Ranked:
    lead = field.against_baseline(numbers["difference"])
    lead = np.where(field.direction.higher, lead, -lead)
    # what rounding leaves between two leads is none
    values = np.nan_to_num(field.against_baseline(numbers["value"]))
    within = ROUNDING * np.abs(values).max(axis=1)
    winner = _best(lead, within)
    others = np.arange(len(field.models))[:, None] != winner[:, None]
    return Ranked(winner, _best(np.where(others, lead, np.nan), within), ~np.isnan(lead))


def _best(lead: Numbers, within: Numbers) -> Labels:
    """Return the first of the models with the greatest lead, -1 where no model has one."""
    known = np.where(np.isnan(lead), -np.inf, lead)
    best = known.max(axis=1)
    first = np.argmax(known >= (best - within)[:, None], axis=1)
    return np.where(np.isneginf(best), -1, first).astype(np.int64)


def _shrunk(field: Field, numbers: Mapping[str, Numbers]) -> Numbers:
    """Return the differences to the baseline drawn towards their centre, segments x models x metrics.

    What all of them share, such as the error of the baseline, picks no winner: so a model's error is its own part v of the
    errors of pairs, which are v + v' of two models. With P the sum of those of a model and S = Σ v, P = (m - 2) v + S.
    """
    lead = field.against_baseline(numbers["difference"])
    squared = field.pairs(numbers["error"] ** 2)
    each = np.arange(len(field.models))
    unsure = np.isnan(squared[:, each, each])
    squared[:, each, each] = 0.0
    of_model, n_models = np.nansum(squared, axis=2), np.sum(~np.isnan(lead), axis=1)
    enough = np.where(n_models >= FEWEST_SHRUNK, n_models, np.nan)
    of_all = ratio(of_model.sum(axis=1), 2.0 * (enough - 1.0))
    own = ratio(of_model - of_all[:, None], (enough - 2.0)[:, None])
    # by chance, or of models that are nearly the same, it may come out at nothing, and no model is certain
    own = np.maximum(own, LEAST_SHARE * ratio(of_all, enough)[:, None])
    # models are the rows there
    by_model = (np.where(unsure, np.nan, one).swapaxes(0, 1) for one in (lead, np.sqrt(own)))
    return drawn_to_centre(*by_model).swapaxes(0, 1)


def _first(field: Field, known: Flags, how: Comparing) -> Numbers:
    """Return each model's share of first places among resamples, segments x models x metrics; ties share."""
    of_baseline = field.pairing.is_baseline(BASELINE)
    groups = groups_of(*(one.filter(of_baseline) for one in (field.sums.cells, field.sums.rows)))
    d, n = (groups.matrix(field.sums.names(part)) for part in ("d", "n"))
    # where a segment lacks a model, that of another is taken, and is not known
    rows = (
        np.cumsum(field.sums.rows.select(of_baseline).to_series())[field.rows_against_baseline] - 1
    )
    n_metrics, sign = len(field.sums.metrics), np.where(field.direction.higher, 1.0, -1.0)
    columns = (rows[..., None] * n_metrics + np.arange(n_metrics)).reshape(-1)
    drawn = resampled_means(
        d[:, columns], n[:, columns], n_resamples=how.n_resamples, seed=how.seed, tell=how.tell
    )
    first, seen = np.zeros(known.shape), np.zeros((known.shape[0], 1, n_metrics))
    for means in drawn:
        lead = np.where(known, means.reshape(-1, *known.shape) * sign, np.nan)
        lead = np.where(np.isnan(lead), -np.inf, lead)
        best = lead.max(axis=2, keepdims=True)
        equal = (lead >= best - ROUNDING * np.abs(best)) & np.isfinite(best)
        first += ratio(equal, np.maximum(equal.sum(axis=2, keepdims=True), 1)).sum(axis=0)
        seen += np.isfinite(best).sum(axis=0)
    return ratio(first, seen)


def _of_runner_up(
    field: Field, ranked: Ranked, ahead: Mapping[str, Numbers], how: Comparing
) -> dict[str, Any]:
    """Return the comparison of the winner with the runner-up.

    NOTE: it was picked, and so was the other. The test on two sides allows for that by itself: had the other led, the question
    would have been turned round, and of more models than two the first two lie closer together than any two that are named
    before. Source: Gutmann and Maymin 1987; Hung and Fithian 2019.
    """
    t = t_statistic(ahead["difference"], ahead["error"])
    p_value = np.maximum(p_two_sided(t, ahead["freedom"]), least_p(ahead["n_differ"]))
    few = (ahead["n_users"] > 0) & (ahead["units"] < how.min_users)
    p_adjusted = adjusted(np.where(few, np.nan, p_value).reshape(-1), method="holm")
    found = {"p_value": p_value, "p_adjusted": p_adjusted.reshape(p_value.shape), "few": few}
    words = verdicts({**ahead, **found}, None, field.direction, 1.0 - how.level)
    return found | {
        "ahead": ahead["difference"] + 0.0,
        "n_differ": ahead["n_differ"],
        "n_unpaired": ahead["n_unpaired"],
        "verdict": np.where(ranked.runner_up < 0, "", words),
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
    kind = "users" if how.cluster is None else "clusters"
    n_models, difference = found["n_models"], found["difference"]
    behind = np.where(of.higher, difference <= 0, difference >= 0)
    rough = (winner["n_differ"] < FEW_VALUES) & (found["n_users"] > 1)
    words = {
        "one user, so no interval": found["n_users"] == 1,
        "hardly any list changes it, so no interval is known to hold": np.isnan(winner["units"]),
        "no other model is better than the baseline": behind,
        "one model beside the baseline, so there is no runner-up": n_models == 1,
        "fewer than three models, so none is shrunk": n_models == FEWEST_SHRUNK - 1,
        "the runner-up is as good, and comes behind by its name alone": found["ahead"] == 0,
        f"fewer than {how.min_users} {kind}, so not judged": found["few"],
        SELECTED_NOTE: is_selected(winner, of) | is_selected(ahead, of) & (n_models > 1),
        f"by itself, not among {tests} rows": alone & (found["verdict"] == "open"),
        f"fewer than {FEW_VALUES} {kind} differ, so the interval is rough": rough,
    }
    return first_or_joined({"nobody has both values": n_models == 0}, words)


def _long(field: Field, ranked: Ranked, found: Mapping[str, Any]) -> pl.DataFrame:
    """Return a row for each metric of each segment."""
    sums, every = field.sums, np.repeat(np.arange(len(field.segments)), len(field.sums.metrics))
    made = as_columns(found, {name: one for name, one in COLUMNS.items() if name != RUNNER_UP})
    named = [
        _names(field.models, places, name)
        for name, places in ((MODEL, ranked.winner), (RUNNER_UP, ranked.runner_up))
    ]
    baseline = sums.rows.filter(field.pairing.is_baseline(BASELINE))[BASELINE].head(1)
    keys = field.segments[every]
    rows = keys.hstack([*named, *sums.metrics_beside(made)]).join(baseline.to_frame(), how="cross")
    return rows.select(*sums.keys, MODEL, BASELINE, *COLUMNS)


def _names(models: pl.Series, places: Labels, name: str) -> pl.Series:
    """Return the models of places, null where there is none."""
    at = pl.Series(
        [place if place >= 0 else None for place in places.reshape(-1).tolist()], dtype=pl.Int64
    )
    return models.gather(at).alias(name)
