"""Requirements as text and objects; gates and their failure messages."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any, Literal, cast

import polars as pl

from recframe.errors import RecframeError, RequirementError, shown
from recframe.frames.dtypes import text_of
from recframe.frames.options import plain_number
from recframe.metrics.language.definition import Metric
from recframe.metrics.language.registry import cutoffs_for, each, parse
from recframe.statistics.options import one_of
from recframe.statistics.stored_results import with_interval
from recframe.statistics.sums import OF_UNITS, PARTS, PLACE, PROPERTIES, USERS

Direction = Literal[">=", "<="]
AT_LEAST: Direction = ">="
AT_MOST: Direction = "<="
EARLIER = ("last", "reference")
"""Names of an earlier result, where one is given; otherwise they are model names."""
EXAMPLE = "'ndcg@10 >= 0.28' or 'ndcg@10 >= 0.99 * popularity'"

HOLDS, FAILS, OPEN, MISSING = "holds", "fails", "open", "missing"
COLUMNS = {
    **dict.fromkeys(("requirement", "state"), pl.String),
    **dict.fromkeys(("value", "bound", "difference", "difference_low"), pl.Float64),
    **dict.fromkeys(("difference_high", "p_adjusted"), pl.Float64),
    "n_users": pl.Int64,
    "note": pl.String,
}
"""Columns behind the keys; `difference` is that of the value to the bound."""
OF_METRIC = {"metric": pl.String, "k": pl.Int64}
"""Columns of the metric, which the result does not show."""
ROW = {
    **{name: PROPERTIES[name] for name in (PLACE, "share", "of_each", "least", "most")},
    **PARTS,
    **dict.fromkeys(OF_UNITS, pl.Float64),
    "value": pl.Float64,
    USERS: pl.Int64,
    "missing": pl.Boolean,
    "note": pl.String,
    **dict.fromkeys(("other", "other_low", "other_high", "other_n"), pl.Float64),
}
"""Columns of the rows that are judged, behind the keys: sums of one model's values or of pairs; the value and its number of
users; whether an earlier result has the row and today's does not, and a note on that; and the earlier value with its interval
and its number of users."""
MOST_SHOWN = 20
"""Rows shown in an error."""
WIDEST, LONGEST = 10_000, 60
"""Most characters of a line and of a cell of them."""
NO_ROW = "no model and no segment has a row for it"

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_NAME = r"[^\W\d][^\s*'\"<>=]*"
# the metric has signs of equality of its own, inside brackets
_METRIC = r"[^<>=≥≤(]*(?:\([^)]*\))?[^<>=≥≤(]*"
_TEXT = re.compile(
    rf"""
    (?P<metric>{_METRIC}) (?P<direction>>=|<=) \s*
    (?: (?P<number>{_NUMBER})
      | (?: (?P<factor>{_NUMBER}) \s* \* \s* )?
        (?: '(?P<single>[^']+)' | "(?P<double>[^"]+)" | (?P<name>{_NAME}) ) ) \s*
    """,
    re.VERBOSE,
)


@dataclass(frozen=True)
class Requirement:
    """A bound that a metric has to keep: a number, or a share of another model's value.

    `Requirement("ndcg@10", ">=", 0.28)` is the text `"ndcg@10 >= 0.28"`, and `Requirement("ndcg@10", ">=", 0.99,
    "popularity")` is `"ndcg@10 >= 0.99 * popularity"`: at most 1 % below it. The direction is ">=" or "<=".

    Raises an UnknownMetricError for a metric that is none, and a RecframeError for a bound that every value keeps, or none.

    >>> import recframe as rf
    >>> rf.Requirement.parse("nDCG@10 >= .99*popularity")
    Requirement('ndcg@10 >= 0.99 * popularity')
    """

    metric: Metric[...]
    direction: Direction
    bound: float
    """Number, or factor of the other model's value."""
    model: str | None = None
    """The other model, or `last` for an earlier result."""

    if TYPE_CHECKING:

        def __init__(
            self,
            metric: str | Metric[...],
            direction: Direction,
            bound: float,
            model: object = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        number, model = plain_number(self.bound), self.model
        named = self.metric if isinstance(self.metric, Metric) else parse(self.metric)
        one_of("direction", self.direction, (AT_LEAST, AT_MOST))
        if number is None or not math.isfinite(number):
            msg = (
                f"bound={shown(self.bound)}: a requirement has a number as its bound, such as 0.28"
            )
            raise RecframeError(msg)
        if model is not None and not is_name(model):
            msg = f"model={shown(model)}: a requirement takes the name of the other model, such as 'popularity'"
            raise RecframeError(msg)
        object.__setattr__(self, "metric", named)
        object.__setattr__(self, "bound", float(number))
        object.__setattr__(self, "model", None if model is None else text_of(model))
        low, high = named.range if model is None else (0.0, math.inf)
        if not low <= number <= high or (number == 0 and model is not None):
            what = f"{named.name} is" if model is None else "the factor of a model's value is"
            percentage = f"; {number:g} % is {number / 100:g}" if high == 1 < number else ""
            msg = f"{str(self)!r} says nothing: {what} from {low:g} to {high:g}{percentage}"
            raise RecframeError(msg)

    @classmethod
    def parse(cls, text: str) -> Requirement:
        """Return the requirement that a text states; names of models with spaces stand in quotes.

        Raises an UnknownMetricError that gives the closest name, and a RecframeError for what is no bound.

        >>> import recframe as rf
        >>> str(rf.Requirement.parse("gini@10<=.9"))
        'gini@10 <= 0.9'
        """
        found = _TEXT.fullmatch(text) if isinstance(text, str) else None
        if found is None:
            raise RecframeError(_no_requirement(text))
        of = found.groupdict()
        model = of["single"] or of["double"] or of["name"]
        bound = float(of["number"] or of["factor"] or 1)
        return cls(of["metric"].strip(), cast("Direction", of["direction"]), bound, model)

    def __str__(self) -> str:
        bound = f"{plain_number(self.bound)}"
        if self.model is not None:
            quote = '"' if "'" in self.model else "'"
            is_plain = re.fullmatch(_NAME, self.model)
            model = self.model if is_plain else f"{quote}{self.model}{quote}"
            bound = model if self.bound == 1 else f"{bound} * {model}"
        return f"{self.metric} {self.direction} {bound}"

    def __repr__(self) -> str:
        return f"Requirement({str(self)!r})"

    def at(self, k: int | None) -> Requirement:
        """Return the requirement with a cut-off, unless its metric has one of its own."""
        if k is None or self.metric.k is not None:
            return self
        return replace(self, metric=self.metric @ k)


@dataclass(frozen=True)
class Gate:
    """Requirements with the options that decide when a row fails."""

    requirements: Sequence[Requirement]
    level: float = 0.95
    strict: bool = False
    """Open rows raise, too."""
    min_users: int = 5
    """Minimum users, or clusters, per row to be tested; below, it is open."""
    models: Sequence[str] | None = None
    """Models to be tested; None for all."""
    raises: bool = True
    earlier: bool = False
    """Values are compared with an earlier result."""

    def is_earlier(self, one: Requirement) -> bool:
        """Return whether a requirement is about an earlier result."""
        return self.earlier and one.model in EARLIER


def required(given: Iterable[object], k: object = None) -> list[Requirement]:
    """Return the distinct requirements, each at each cut-off, in the order requested."""
    found = [
        one if isinstance(one, Requirement) else Requirement.parse(cast("str", one))
        for one in each(given)
    ]
    if not found:
        msg = f"no requirement was given; write for example require({EXAMPLE.partition(' or ')[0]})"
        raise RecframeError(msg)
    ks = cutoffs_for([one.metric for one in found], k)
    return list({str(asked := one.at(cut)): asked for one in found for cut in ks}.values())


def metrics_of(requirements: Iterable[Requirement]) -> list[Metric[...]]:
    """Return the metrics of requirements, each once."""
    return list({requirement.metric: requirement.metric for requirement in requirements}.values())


def is_name(model: object) -> bool:
    """Return whether something may be the name of a model: text, a number or a day."""
    return isinstance(model, str | int | float | date) or plain_number(model) is not None


def _no_requirement(given: object) -> str:
    """Return the error of what is no requirement, after that of a misspelt metric."""
    text = str(given) if isinstance(given, str | Metric) else ""
    if begin := re.match(r"\s*[a-zA-Z]" + _METRIC, text):
        parse(begin[0].strip())
    several = re.split(r"\s+and\s+|\s*[,;&]\s*", text)
    are_whole = len(several) > 1 and all(map(_TEXT.fullmatch, several))
    example = ", ".join(map(repr, several)) if are_whole else EXAMPLE
    what = f"{shown(text or given)} is not a requirement"
    return f"{what}: write a metric, >= or <=, and a number or a share of a model, as {example}"


def check(result: pl.DataFrame, gate: Gate, names: Mapping[str, str] | None = None) -> pl.DataFrame:
    """Return a gate's result, or raise a RequirementError with the failure message; see `failure_message`."""
    message = failure_message(result, gate, names)
    if message is not None:
        raise RequirementError(message)
    return result


def failure_message(
    result: pl.DataFrame, gate: Gate, names: Mapping[str, str] | None = None
) -> str | None:
    """Return the failure message, None if all requirements are met.

    It is a sentence, and below it a table of what was found, the bound and the number of users. `names` has the keys' own
    names; without it they have these.
    """
    nowhere = result.filter(_is_nowhere(gate) & (pl.col("state") != MISSING))["requirement"]
    reasons = dict.fromkeys(nowhere, f"no row has {gate.min_users} users with a value")
    reasons |= dict.fromkeys(without_rows(result, gate), NO_ROW)
    told = [f"nothing was judged of {name!r}: {reason}" for name, reason in reasons.items()]
    unmet = result.filter(is_unmet(gate))
    if unmet.is_empty():
        return "; ".join(told) or None
    states = unmet["state"].value_counts().sort("state").rows()
    counts = ", ".join(f"{state} {n}" for state, n in states)
    told.append(f"requirements are not met in {unmet.height} of {result.height} rows ({counts})")
    names = {key: key for key in keys_of(result)} if names is None else names
    n_more = unmet.height - MOST_SHOWN
    more = f"\n  and {n_more} more" if n_more > 0 else ""
    return f"{'; '.join(told)}:\n{_table(unmet.head(MOST_SHOWN), names)}{more}"


def _table(rows: pl.DataFrame, names: Mapping[str, str]) -> str:
    """Return a table of rows as text."""
    ends = (rows[f"difference{end}"] for end in ("", "_low", "_high"))
    shown_rows = rows.select(
        *(pl.col(key).alias(name) for key, name in names.items()),
        *("requirement", "state", "value", "bound"),
        pl.Series("difference", [*map(with_interval, *ends)], dtype=pl.String),
        pl.col("n_users").fill_null(0),
    )
    plain: dict[str, Any] = {
        **dict.fromkeys(("tbl_rows", "tbl_cols"), -1),
        **dict.fromkeys(("tbl_hide_dataframe_shape", "tbl_hide_column_data_types"), True),
        "tbl_formatting": "NOTHING",
        "tbl_cell_alignment": "LEFT",
        "tbl_width_chars": WIDEST,
        "fmt_str_lengths": LONGEST,
        "float_precision": 4,
    }
    with pl.Config(**plain):
        return "\n".join(f" {line}".rstrip() for line in str(shown_rows).splitlines())


def keys_of(result: pl.DataFrame) -> list[str]:
    """Return the names of a result's keys."""
    return result.columns[: result.columns.index("requirement")]


def is_unmet(gate: Gate) -> pl.Expr:
    """Return whether a row fails, is missing or is of a requirement that was judged nowhere; of a strict gate also if open.

    NOTE: a segment below `min_users` is open by the caller's own word, so that it is unmet only where a requirement was
    judged in no segment at all.
    """
    state = pl.col("state")
    unmet = state.is_in([FAILS, MISSING]) | _is_nowhere(gate)
    return unmet | ((state == OPEN) & ~_is_small(gate)) if gate.strict else unmet


def _is_small(gate: Gate) -> pl.Expr:
    """Return whether a row has users with a value, but fewer than the minimum."""
    return pl.col("n_users").fill_null(0).is_between(1, gate.min_users - 1)


def _is_nowhere(gate: Gate) -> pl.Expr:
    """Return whether a row is of a requirement that no row of enough users decides, or of a gate without such a row.

    NOTE: one requirement without a value beside others that have one is open, as its note says.
    """
    small = _is_small(gate)
    none = pl.col("value").is_null() | small
    return none.all() | (none.all() & small.any()).over("requirement")


def without_rows(result: pl.DataFrame, gate: Gate) -> list[str]:
    """Return the requirements without a row, such as those of models left out by `models=`."""
    there = {*result["requirement"]}
    return [name for name in map(str, gate.requirements) if name not in there]
