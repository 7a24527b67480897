"""The decision of a report: best model, runner-up and baseline.

Its numbers are rows of `rec.compare`. Best and runner-up are picked by their values, and a test of these two on two sides is
what that takes (Hung and Fithian 2019): it is not corrected. Against the baseline every model is tested, so that this test is
corrected for the models, by Holm; so are the segments of one pair.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import polars as pl

from recframe.charts.formatting import TIMES, counted, number, per_cent
from recframe.charts.long_format import keyed
from recframe.errors import RecframeError, short
from recframe.metrics.language.definition import Metric
from recframe.reports.page_tables import Row

SHOWN = ("better", "worse", "higher", "lower")
"""Verdicts of a significant difference."""
MOST_CONTRARY = 2
"""Most metrics that say the contrary, by name."""


@dataclass(frozen=True)
class Asking:
    """The question that is decided: a `rec`, metrics with a test, and options of `compare`."""

    rec: Any
    metrics: Sequence[Metric[...]]
    """The first one decides."""
    level: float
    cluster: str | None
    margin: float | None
    min_users: int
    """Fewest users of a segment that is judged."""

    def against(self, baseline: str, metrics: Any, **more: Any) -> pl.DataFrame:
        """Return comparisons of models with one, whose rows are a family of tests, as those of `compare`."""
        how = {"level": self.level, "cluster": self.cluster, "margin": self.margin, **more}
        found: pl.DataFrame = self.rec._compared([metrics], baseline, counts=True, **how)  # noqa: SLF001  the counts of users too
        return found

    def in_segments(
        self, pair: tuple[str, str], columns: Mapping[str, Any]
    ) -> dict[str, pl.DataFrame]:
        """Return the first metric's comparisons of a pair by each column, corrected for the segments of that column."""
        model, other = pair
        how = {"model": model, "min_users": self.min_users}
        return {
            name: self.against(other, self.metrics[0], by=column, **how)
            for name, column in columns.items()
        }

    def worst_first(self, frames: Mapping[str, pl.DataFrame]) -> list[dict[str, Any]]:
        """Return comparisons in segments with their column in `by`, those with the least gain first."""
        rows: list[dict[str, Any]] = []
        for name, found in frames.items():
            rows += keyed(self.rec, found).with_columns(by=pl.lit(name)).to_dicts()
        sign = sign_of(self.metrics[0])
        return sorted(
            rows, key=lambda row: (row["difference"] is None, sign * (row["difference"] or 0))
        )

    def users_needed(self, ahead: Row) -> int | None:
        """Return how many users would show a difference of the size found, where that is known."""
        if not ahead["relative"]:
            return None
        wanted = {"wanted": abs(ahead["relative"]), "level": self.level, "cluster": self.cluster}
        with suppress(RecframeError):
            found = self.rec.power(self.metrics[0], baseline=ahead["baseline"], **wanted)
            needed = keyed(self.rec, found).filter(pl.col("model") == ahead["model"])
            n: int | None = needed["users_needed"].max()  # type: ignore[assignment]
            return n if n and n > ahead["n_users"] else None
        return None


def sign_of(metric: Metric[...]) -> int:
    """Return 1 for a metric whose higher values are better, -1 where lower ones are, 0 for one without a direction."""
    return {"higher": 1, "lower": -1}.get(metric.direction or "", 0)


def corrected(rows: pl.DataFrame, level: float) -> pl.DataFrame:
    """Return comparisons with Holm's correction for these rows alone."""
    from recframe.statistics.p_values import adjusted  # noqa: PLC0415  NumPy is an extra

    found = adjusted(rows["p_adjusted"].fill_null(float("nan")).to_numpy(), method="holm")
    p = pl.Series("p_adjusted", found).fill_nan(None)
    is_open = pl.col("verdict").is_in(SHOWN) & (pl.col("p_adjusted") > 1 - level)
    verdict = pl.when(is_open).then(pl.lit("open")).otherwise("verdict").alias("verdict")
    return rows.with_columns(p).with_columns(verdict)


@dataclass(frozen=True)
class Decision:
    """The best model by the first metric, against the runner-up and the baseline."""

    metric: Metric[...]
    signs: Mapping[str, int]
    """1 of a metric whose higher values are better, -1 of one whose lower ones are."""
    at: str
    """The level of the intervals, in words."""
    margin: float | None
    baseline: str | None
    ahead: Sequence[Row]
    """The best against the runner-up, a row for each metric, the first one first."""
    above: Row | None
    """The best against the baseline, where that is another model than these two."""
    users_needed: int | None
    segments: Sequence[Row] = ()
    """The best against the runner-up in each segment, the worst first."""

    @property
    def best(self) -> str:
        """The model with the best value."""
        return str(self.ahead[0]["model"])

    @property
    def runner_up(self) -> str:
        """The model with the best value among the others."""
        return str(self.ahead[0]["baseline"])

    @property
    def is_shown(self) -> bool:
        """Whether the best is shown to be better than the runner-up, and than the baseline."""
        return all(row["verdict"] == "better" for row in (self.ahead[0], self.above) if row)

    @property
    def loser(self) -> str:
        """The model that the best is held against in segments: the baseline, or else the runner-up."""
        return self.runner_up if self.baseline in {None, self.best} else str(self.baseline)

    def text(self, costs: Sequence[Row]) -> str:
        """Return the decision in sentences."""
        best, row, above = short(self.best), self.ahead[0], self.above
        role = "baseline" if self.runner_up == self.baseline else "runner-up"
        beaten = f"the {role}, {short(self.runner_up)}, {self._by(row)}"
        also = f"the baseline, {short(str(self.baseline))}, {self._by(above)}" if above else ""
        if self.best == self.baseline and self.is_shown:
            first = f"Keep {best}, the baseline. It beats {beaten}."
        elif self.best == self.baseline:
            first = f"Keep {best}, the baseline. No model is shown to beat it: {self._untold(row)}."
        elif self.is_shown:
            first = f"Ship {best}. It beats {' and '.join(filter(None, [beaten, also]))}."
        elif row["verdict"] == "better" and above:
            first = f"Do not decide on this: {self._untold(above)}. {best} beats {beaten}."
        else:
            first = f"Do not decide on this: {self._untold(row)}."
            if above and above["verdict"] == "better":
                first += f" {best} beats {also}."
        of_pair = [*self._gains(), *self._shows(costs)] if self.is_shown else self._shows(costs)
        return " ".join(filter(None, [first, self._contrary(), _sentence(of_pair)]))

    def gain(self, row: Row, *, signed: bool = False) -> list[str]:
        """Return how far a model is ahead, and its interval, as numbers of a sentence."""
        sign = self.signs[row["metric"]]
        numbers = [row[f"difference{end}"] for end in ("", "_low", "_high")]
        gain, *interval = (None if one is None else sign * one for one in numbers)
        ends = [one for one in interval[::sign] if one is not None]
        return [
            number(one, ends, sign=signed and place == 0)
            for place, one in enumerate((gain, *interval[::sign]))
        ]

    def _by(self, row: Row | None) -> str:
        """Return by how much a model is ahead: by 13 % in ndcg@10 (0.038, 95 % interval 0.030 to 0.046)."""
        if row is None:
            return ""
        gain, low, high = self.gain(row)
        lower = " lower" if self.signs[row["metric"]] < 0 else ""
        again = row is self.above and self.is_shown
        interval = f"{low} to {high}" if again else f"{self.at} interval {low} to {high}"
        metric = "" if again else f" in {self.metric}"
        relative = row["relative"]
        if relative is None:
            return f"by {gain}{lower}{metric} ({interval})"
        size = f"by {per_cent(abs(relative))}{metric}"
        if relative >= TIMES:
            size = f"with {1 + relative:,.0f} x its {self.metric}"
        return f"{size} ({gain}{lower}, {interval})"

    def _untold(self, row: Row) -> str:
        """Return why two models are not told apart."""
        pair = f"{short(str(row['model']))} and {short(str(row['baseline']))}"
        metric, verdict, users = self.metric, row["verdict"], counted(row["n_users"], "user")
        if row["n_users"] and row["ties"] == row["n_users"]:
            return f"{pair} have the same {metric} for each of {users}"
        gain, low, high = self.gain(row)
        numbers = f"({gain}, {low} to {high})"
        is_clustered = "clusters" in (row["note"] or "")
        few = "there are too few clusters" if is_clustered else f"{users} are too few"
        within = f"within {100 * (self.margin or 0):.3g} %"
        by_verdict = {
            "few": f"{few} to tell {pair} apart in {metric}",
            "worse": f"{pair} differ either way: the first has the better {metric}, but is worse for {users} with both values",
            "same": f"{pair} are the same in {metric}, {within}",
            "not worse": f"{pair} cannot be told apart in {metric}; the first is not worse, {within}",
        }
        if verdict in by_verdict:
            return f"{by_verdict[verdict]} {numbers}"
        told = f"{pair} cannot be told apart in {metric} {numbers}{_reason(row)}"
        if self.users_needed is None or row is not self.ahead[0]:
            return told
        return f"{told}; some {float(f'{self.users_needed:.2g}'):,.0f} users would"

    def _contrary(self) -> str:
        """Return the metrics that say the contrary: those whose interval lies below 0."""
        found = []
        for row in self.ahead[1:]:
            gain, low, high = self.gain(row)
            high_of = row["difference_high" if self.signs[row["metric"]] > 0 else "difference_low"]
            if high_of is not None and self.signs[row["metric"]] * high_of < 0:
                found.append(f"{row['metric']} ({gain}, {low} to {high})")
        more = len(found) - MOST_CONTRARY
        names = [*found[:MOST_CONTRARY], *([counted(more, "more metric")] if more > 0 else [])]
        says = "says" if len(found) == 1 else "say"
        return f"But {' and '.join(names)} {says} the contrary." if found else ""

    def _gains(self) -> list[str]:
        """Return for whom the best is worse, or else gains least, where that is shown; and how many users lose."""
        row, parts = self.ahead[0], []
        judged = [one for one in self.segments if one["verdict"] != "few"]
        worse = [one for one in judged if one["verdict"] == "worse"]
        if worse:
            more = f" and {counted(len(worse) - 1, 'more segment')}" if len(worse) > 1 else ""
            parts.append(f"it is worse for {self._segment(worse[0])}{more}")
        elif len(judged) > 1 and judged[0]["verdict"] == "better":
            parts.append(f"it gains least for {self._segment(judged[0])}")
        if row["losses"]:
            parts.append(f"{per_cent(row['losses'] / row['n_users'])} of users get a worse list")
        return parts

    def _segment(self, row: Row) -> str:
        gain = self.gain(row, signed=True)[0]
        return f"{short(row['by'])} {short(row['segment'])} ({gain})"

    def _shows(self, costs: Sequence[Row]) -> list[str]:
        """Return how much of the catalogue best and runner-up show, or else how popular their items are."""
        who = "it" if self.is_shown else short(self.best)
        phrases = {
            "coverage": "{} shows {} of the catalogue, {} {}",
            "popularity_lift": "{} shows items {} more popular than its users' own, {} {}",
        }
        for name, phrase in phrases.items():
            rows = [row for row in costs if row["metric"].partition("@")[0] == name]
            found = {row["model"]: row["value"] for row in rows}
            values = [found.get(model) for model in (self.best, self.runner_up)]
            if None not in values:
                of_best, of_other = (per_cent(value or 0.0) for value in values)
                return [phrase.format(who, of_best, short(self.runner_up), of_other)]
        return []


def decided(asking: Asking, values: Sequence[Row], baseline: str | None) -> Decision | None:
    """Return the decision between candidates, by rows of `summarize`; None where two are not known, or none is better."""
    of = {str(one): sign_of(one) for one in asking.metrics}
    first = str(asking.metrics[0])
    known = [row for row in values if row["metric"] == first and row["value"] is not None]
    if len(known) < 2 or not of[first]:  # noqa: PLR2004  a pair
        return None
    ranked = sorted(known, key=lambda row: (-of[first] * row["value"], row["model"] != baseline))
    best, runner_up = (row["model"] for row in ranked[:2])
    groups = [asking.metrics[:1], asking.metrics[1:]]
    pairs = [asking.against(runner_up, group, model=best) for group in groups if group]
    ahead = [row for row in keyed(asking.rec, pl.concat(pairs)).to_dicts() if of[row["metric"]]]
    above = None
    if baseline is not None and baseline not in {best, runner_up}:
        found = asking.against(baseline, asking.metrics[0])
        above = keyed(asking.rec, found).row(by_predicate=pl.col("model") == best, named=True)
    needed = asking.users_needed(ahead[0]) if ahead[0]["verdict"] == "open" else None
    metric, margin, at = asking.metrics[0], asking.margin, f"{asking.level * 100:.10g} %"
    return Decision(metric, of, at, margin, baseline, ahead, above, needed)


def _sentence(parts: Sequence[str]) -> str:
    joined = "; ".join(parts)
    # not a model's name
    joined = joined.replace("it ", "It ", 1) if joined.startswith("it ") else joined
    return f"{joined}." if joined else ""


def _reason(row: Row) -> str:
    """Return why a difference is not shown though its interval leaves 0 out."""
    from recframe.statistics.comparison import SELECTED  # noqa: PLC0415  NumPy is an extra

    low, high = row["difference_low"], row["difference_high"]
    if low is None or high is None or low <= 0 <= high:
        return ""
    if row["n_unpaired"] > SELECTED * (row["n_users"] + row["n_unpaired"]):
        return ", since too many users have a value of only one of them"
    return f", since only {counted(row['n_differ'], 'user')} differ"
