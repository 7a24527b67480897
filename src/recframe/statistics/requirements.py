"""Requirements as text and objects; gates and their failure messages."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, Literal, cast

import polars as pl

from recframe.errors import RecframeError, RequirementError, shown
from recframe.frames.dtypes import text_of
from recframe.frames.options import one_of, plain_number
from recframe.metrics.language.definition import Metric, cutoffs_for
from recframe.metrics.language.registry import each, parse
from recframe.statistics.stored_results import columns_of
from recframe.statistics.sums import BASELINE, PLACE

Direction = Literal[">=", "<="]
AT_LEAST, AT_MOST = ">=", "<="
EARLIER = ("last", "reference")
"""Names of an earlier result, where one is given; otherwise they are model names."""
ASKED = {
    PLACE: pl.Int64,
    **dict.fromkeys(("requirement", "metric", BASELINE), pl.String),
    "earlier": pl.Boolean,
    **dict.fromkeys(("bound", "sign", "unit"), pl.Float64),
}
EXAMPLE = "'ndcg@10 >= 0.28' or 'ndcg@10 >= 0.99 * popularity'"

HOLDS, FAILS, OPEN, MISSING = "holds", "fails", "open", "missing"
COLUMNS = dict.fromkeys(("requirement", "state"), pl.String) | columns_of(
    "value bound difference difference_low difference_high p_adjusted n_users note"
)
"""Columns behind the keys; `difference` is that of the value to the bound."""
GONE = "gone"
"""Column of the note on rows that only an earlier result has, or none at all."""
TABLE: dict[str, Any] = {
    "tbl_rows": 20,
    "tbl_cols": -1,
    "tbl_width_chars": 10_000,
    "fmt_str_lengths": 60,
    "float_precision": 4,
    "tbl_formatting": "NOTHING",
    "tbl_cell_alignment": "LEFT",
    "tbl_hide_dataframe_shape": True,
    "tbl_hide_column_data_types": True,
}
"""Form of the table in an error."""

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


@dataclass(frozen=True, init=False)
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
    model: str | None
    """The other model, or `last` for an earlier result."""

    def __init__(
        self,
        metric: str | Metric[...],
        direction: Direction,
        bound: float,
        model: object = None,
    ) -> None:
        named = metric if isinstance(metric, Metric) else parse(metric)
        one_of("direction", direction, (AT_LEAST, AT_MOST))
        number = plain_number(bound)
        if number is None or not math.isfinite(number):
            raise RecframeError(
                f"bound={shown(bound)}: a requirement has a number as its bound, such as 0.28"
            )
        name = None if model is None else text_of(model)
        vars(self).update(metric=named, direction=direction, bound=float(number), model=name)
        low, high = named.range if name is None else (0.0, math.inf)
        if not low <= number <= high or (number == 0 and name is not None):
            what = f"{named.name} is" if name is None else "the factor of a model's value is"
            percentage = f"; {number:g} % is {number / 100:g}" if high == 1 < number else ""
            raise RecframeError(
                f"{str(self)!r} says nothing: {what} from {low:g} to {high:g}{percentage}"
            )

    @classmethod
    def parse(cls, text: str) -> Requirement:
        """Return the requirement that a text states; names of models with spaces stand in quotes.

        Raises an UnknownMetricError that gives the closest name, and a RecframeError for what is no bound.

        >>> import recframe as rf
        >>> str(rf.Requirement.parse("gini@10<=.9"))
        'gini@10 <= 0.9'
        """
        parts = _TEXT.fullmatch(text) if isinstance(text, str) else None
        if parts is None:
            raise RecframeError(_no_requirement(text))
        direction = cast("Direction", parts["direction"])
        model = parts["single"] or parts["double"] or parts["name"]
        bound = float(parts["number"] or parts["factor"] or 1)
        return cls(parts["metric"].strip(), direction, bound, model)

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


def required(given: Iterable[object], k: object = None) -> list[Requirement]:
    """Return the distinct requirements, each at each cut-off, in the order requested."""
    asked = [
        one if isinstance(one, Requirement) else Requirement.parse(cast("str", one))
        for one in each(given)
    ]
    if not asked:
        raise RecframeError(
            f"no requirement was given; write for example {EXAMPLE.partition(' or ')[0]}"
        )
    cuts = cutoffs_for([one.metric for one in asked], k)
    at_cuts = (
        one if cut is None or one.metric.k is not None else replace(one, metric=one.metric @ cut)
        for one in asked
        for cut in cuts
    )
    return list(dict.fromkeys(at_cuts))


def asked_of(
    requirements: Iterable[Requirement], decimals: Mapping[str, int], *, has_last: bool
) -> pl.DataFrame:
    """Return a row for each requirement by its place; `decimals` are those that some metrics are shown with.

    `baseline` is the model that it is about; `bound` is the number, or the factor of that model's or an `earlier` value;
    `sign` is -1 where a value should be low, else 1; `unit` is that of an earlier value's last decimal.
    """
    rows = []
    for place, one in enumerate(requirements):
        earlier, metric = has_last and one.model in EARLIER, str(one.metric)
        model, unit = one.model, None
        if earlier:
            model, unit = None, 10.0 ** -decimals.get(metric, math.inf)
        sign = 1.0 if one.direction == AT_LEAST else -1.0
        rows.append((place, str(one), metric, model, earlier, one.bound, sign, unit))
    return pl.DataFrame(rows, ASKED, orient="row")


def metrics_of(requirements: Iterable[Requirement]) -> list[Metric[...]]:
    """Return the metrics of requirements, each once."""
    return list(dict.fromkeys(map(attrgetter("metric"), requirements)))


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


def check(result: pl.DataFrame, *, strict: bool = False, min_users: int = 5) -> None:
    """Raise a RequirementError with a table of the rows that are not met, if there are some."""
    rows = result.filter(is_unmet(strict=strict, min_users=min_users))
    if rows.is_empty():
        return
    states = rows["state"].value_counts().sort("state").rows()
    counts = ", ".join(f"{state} {n}" for state, n in states)
    told = f"requirements are not met in {rows.height} of {result.height} rows ({counts}):"
    with pl.Config(**TABLE):
        shown_rows = rows.drop("p_adjusted").with_columns(pl.col("note").fill_null(""))
        lines = str(shown_rows).splitlines()
    raise RequirementError("\n".join([told, *map(str.rstrip, lines)]))


def is_unmet(*, strict: bool, min_users: int) -> pl.Expr:
    """Return whether a row fails, is missing, or is of a requirement that no row of enough users decides.

    If strict also whether it is open. A segment below `min_users` is so by the caller's own word, and is met.
    """
    state, small = pl.col("state"), pl.col("n_users") < min_users
    unmet = state.is_in([FAILS, MISSING]) | small.all().over("requirement")
    return unmet | ((state == OPEN) & ~small) if strict else unmet
