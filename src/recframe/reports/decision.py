"""The decision of a report: best model, runner-up and baseline.

Its numbers are rows of `rec.compare`. Best and runner-up are picked by their values, and a test of these two on two sides is
what that takes (Hung and Fithian 2019): it is not corrected. Against the baseline, and by segment, every model is tested, so
that these tests are corrected by Holm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recframe.charts.formatting import counted, listed, number, per_cent
from recframe.charts.long_format import Result
from recframe.errors import short
from recframe.metrics.language.definition import Metric
from recframe.reports.tables import Row

NEAR = ("same", "not worse")
"""Verdicts within a margin."""


def sign_of(metric: Metric[...]) -> int:
    """Return 1 for a metric whose higher values are better, -1 where lower ones are, 0 for one without a direction."""
    return {"higher": 1, "lower": -1}.get(metric.direction or "", 0)


@dataclass(frozen=True)
class Decision:
    """The best model by the first metric, against the runner-up and the baseline."""

    metric: str
    signs: Mapping[str, int]
    """1 of a metric whose higher values are better, -1 of one whose lower ones are."""
    level: float
    margin: float | None
    baseline: str | None
    ahead: Sequence[Row]
    """The best against the runner-up, a row for each metric, the first one first."""
    above: Mapping[str, Row]
    """Best and runner-up against the baseline, where that is a third model."""
    by_column: Mapping[str, Result]
    """The best against the runner-up in the segments of each column."""

    @property
    def best(self) -> str:
        """The model with the best value."""
        return str(self.ahead[0]["model"])

    @property
    def runner_up(self) -> str:
        """The model with the best value among the others."""
        return str(self.ahead[0]["baseline"])

    @property
    def named(self) -> list[str]:
        """Best, runner-up and baseline."""
        return [one for one in (self.best, self.runner_up, self.baseline) if one]

    @property
    def segments(self) -> list[Row]:
        """The best against the runner-up in each segment, whose column is in `by`."""
        each = self.by_column.items()
        return [{**row, "by": by} for by, of in each for row in of.data.to_dicts()]

    @property
    def is_shown(self) -> bool:
        """Whether the best is shown to be better than the runner-up, and than the baseline."""
        rows = [self.ahead[0], *(self.above[one] for one in self.above if one == self.best)]
        return all(row["verdict"] == "better" for row in rows)

    def text(self, shares: Mapping[str, float]) -> str:
        """Return the decision in sentences; `shares` are those of the catalogue that models show."""
        return " ".join(
            filter(None, [self._verdict(), self._contrary(), self._split(), self._costs(shares)])
        )

    def _verdict(self) -> str:
        """Return what to do, and why."""
        ahead = self.ahead[0]
        above = self.above.get(self.best)
        old = short(self.baseline or "")
        best = short(self.best)
        other = short(self.runner_up)
        role = "baseline" if self.runner_up == self.baseline else "runner-up"
        beaten = f"the {role}, {other}, {self._by(ahead)}"
        if self.best == self.baseline:
            why = (
                f"It beats {beaten}"
                if self.is_shown
                else f"No model is shown to beat it: {self._open(ahead)}"
            )
            return f"Keep {best}, the baseline. {why}."
        if self.is_shown:
            also = f" and the baseline, {old}, {self._by(above)}" if above else ""
            return f"Ship {best}. It beats {beaten}{also}."
        better = [row for row in self.above.values() if row["verdict"] == "better"]
        if better and ahead["verdict"] != "better":
            names = " or ".join(short(str(row["model"])) for row in better)
            by = " and ".join(
                f"{short(str(row['model']))} beats it {self._by(row)}" for row in better
            )
            return f"Replace {old}, the baseline, by {names}: {by}. But {self._open(ahead)}."
        if above and ahead["verdict"] == "better":
            return f"Do not decide on this: {self._open(above)}. {best} beats {beaten}."
        return f"Do not decide on this: {self._open(ahead)}."

    def gain(self, row: Row) -> tuple[float | None, list[float]]:
        """Return how far a model is ahead, and the ends of its interval, of which there may be none."""
        sign = self.signs[row["metric"]]
        gain, *ends = (row[f"difference{end}"] for end in ("", "_low", "_high"))
        known = sorted(sign * end for end in ends if end is not None)
        return None if gain is None else sign * gain, known

    def written(self, row: Row) -> tuple[str, str]:
        """Return how far a model is ahead, and its interval, as a sentence has them."""
        gain, ends = self.gain(row)
        return number(gain, ends), " to ".join(number(end, ends) for end in ends) or "no interval"

    def _by(self, row: Row) -> str:
        """Return by how much a model is ahead: by 13 % in ndcg@10 (0.038, 95 % interval 0.030 to 0.046)."""
        gain, ends = self.written(row)
        lower = " lower" if self.signs[self.metric] < 0 else ""
        interval = f"{self.level * 100:.10g} % interval {ends}"
        if row["relative"] is None:
            return f"by {gain}{lower} in {self.metric} ({interval})"
        return f"by {per_cent(abs(row['relative']))} in {self.metric} ({gain}{lower}, {interval})"

    def _open(self, row: Row) -> str:
        """Return why neither of two models is shown to be better."""
        one = short(str(row["model"]))
        other = short(str(row["baseline"]))
        pair = f"{one} and {other}"
        users = counted(row["n_users"], "user")
        numbers = f"({', '.join(self.written(row))})"
        if row["n_users"] and row["ties"] == row["n_users"]:
            return f"{pair} have the same {self.metric} for each of {users}"
        if row["verdict"] == "worse":
            return f"{one} has the better {self.metric}, but is worse for {users} with both values {numbers}"
        is_same = "are the same" if row["verdict"] == "same" else "cannot be told apart"
        within = f", within {100 * (self.margin or 0):.3g} %" * (row["verdict"] in NEAR)
        note = f": {row['note']}" if row["note"] else ""
        return f"{pair} {is_same} in {self.metric}{within} {numbers}{note}"

    def _split(self) -> str:
        """Return for whom each of two models is shown to be better, unless that is the best everywhere."""
        rows = sorted(self.segments, key=lambda row: -abs(row["difference"] or 0.0))
        said = []
        for verdict, model in (("better", self.best), ("worse", self.runner_up)):
            of = [self._segment(row) for row in rows if row["verdict"] == verdict]
            said += [f"{short(model)} is better for {listed(of, 3)}"] * bool(of)
        is_known = self.is_shown and not any(row["verdict"] == "worse" for row in rows)
        return "" if is_known or not said else f"{', '.join(said)}."

    def _contrary(self) -> str:
        """Return the metrics that say the contrary: those whose interval lies below 0."""
        against = [row for row in self.ahead[1:] if max(self.gain(row)[1], default=0) < 0]
        names = [f"{row['metric']} ({', '.join(self.written(row))})" for row in against]
        says = "says" if len(against) == 1 else "say"
        return f"But {listed(names, 3)} {says} the contrary." if against else ""

    def _segment(self, row: Row) -> str:
        gain, ends = self.gain(row)
        return f"{short(row['by'])} {short(row['segment'])} (by {number(abs(gain or 0.0), ends)})"

    def _costs(self, shares: Mapping[str, float]) -> str:
        """Return how many users lose by the best model, and how much of the catalogue it shows."""
        row = self.ahead[0]
        other = short(self.runner_up)
        said = []
        if self.is_shown and row["losses"]:
            share = per_cent(row["losses"] / row["n_users"])
            said.append(f"{share} of users get a worse list than with {other}")
        if {self.best, self.runner_up} <= {*shares}:
            of_best, of_other = (per_cent(shares[one]) for one in (self.best, self.runner_up))
            said.append(f"{short(self.best)} shows {of_best} of the catalogue, {other} {of_other}")
        return f"{'; '.join(said)}." if said else ""
