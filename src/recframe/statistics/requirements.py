"""Requirements as text and objects; gates and their failure messages."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Literal, cast

import polars as pl

from recframe.errors import RecframeError, RequirementError, short, shown
from recframe.frames.dtypes import text_of
from recframe.frames.options import plain_number
from recframe.metrics.language.definition import Metric
from recframe.metrics.language.registry import cutoffs_for, each, parse
from recframe.statistics.stored_results import rounded, with_interval
from recframe.statistics.sums import OF_UNITS, PARTS, PLACE, PROPERTIES, USERS

Direction = Literal[">=", "<="]
AT_LEAST: Direction = ">="
AT_MOST: Direction = "<="
MEANT: dict[str, Direction] = {
    ">": AT_LEAST, "=>": AT_LEAST, "≥": AT_LEAST, "<": AT_MOST, "=<": AT_MOST, "≤": AT_MOST,
}  # fmt: skip
"""Misspelt comparison signs, with the intended ones."""
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
GAP = "   "
MOST_SHOWN = 20
"""Rows shown in an error."""
FOUND = ("requirement", "state", "value", "bound", "difference", "n_users")
NO_ROW = "no model and no segment has a row for it"

# the metric has signs of equality of its own, inside brackets
_PARTS = re.compile(r"([^<>=≥≤(]*(?:\([^)]*\))?[^<>=≥≤(]*)([<>=≥≤]+)(.*)", re.DOTALL)
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_QUOTED = r"""'[^']+'|"[^"]+\""""
_NAME = rf"""{_QUOTED}|[^\W\d][^\s*'"<>=≥≤]*"""
_NO_NAMES = ("nan", "inf", "infinity")
"""Words that Python reads as a number; a model of such a name stands in quotes."""
_BOUND = re.compile(rf"(?:({_NUMBER})|(?:({_NUMBER})\s*\*\s*)?({_NAME}))")
_TURNED = re.compile(rf"({_NAME})\s*\*\s*({_NUMBER})")


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
    model: str | None = None
    """The other model, or `last` for an earlier result."""

    def __init__(
        self,
        metric: str | Metric[...],
        direction: Direction,
        bound: float,
        model: object = None,
    ) -> None:
        number = plain_number(bound)
        if direction not in {AT_LEAST, AT_MOST}:
            msg = f"direction={shown(direction)}: a requirement has '>=' or '<='"
            raise RecframeError(msg)
        if number is None or not math.isfinite(number):
            msg = f"bound={shown(bound)}: a requirement has a number as its bound, such as 0.28"
            raise RecframeError(msg)
        named = metric if isinstance(metric, Metric) else parse(metric)
        other = None if model is None else _name_of(model)
        given = {"metric": named, "direction": direction, "bound": float(number), "model": other}
        for name, value in given.items():
            object.__setattr__(self, name, value)
        if self.model is None:
            self._check_range()
        elif self.bound <= 0:
            msg = (
                f"{str(self)!r}: the factor is a number above 0, such as 0.99 for at most 1 % less"
            )
            raise RecframeError(msg)

    def _check_range(self) -> None:
        """Reject bounds that can never hold or never fail, most often percentages."""
        low, high = self.metric.range
        if low <= self.bound <= high:
            return
        never = self.bound > high if self.direction == AT_LEAST else self.bound < low
        msg = f"{str(self)!r} can {'never hold' if never else 'never fail'}: {self.metric.name} is from {low:g} to {high:g}"
        if high == 1 and 1 < self.bound <= 100:  # noqa: PLR2004  a percentage
            msg += f"; {self.bound:g} % is {self.bound / 100:g}"
        raise RecframeError(msg)

    @classmethod
    def parse(cls, text: str) -> Requirement:
        """Return the requirement that a text states; names of models with spaces stand in quotes.

        Raises an UnknownMetricError that gives the closest name, and a RecframeError for what is no bound.

        >>> import recframe as rf
        >>> str(rf.Requirement.parse("gini@10<=.9"))
        'gini@10 <= 0.9'
        """
        parts = _PARTS.fullmatch(text) if isinstance(text, str) else None
        if parts is None:
            raise RecframeError(_without_sign(text))
        left, sign, right = (part.strip() for part in parts.groups())
        if sign not in {AT_LEAST, AT_MOST}:
            raise RecframeError(_wrong_sign(text, left, sign, right))
        if re.search("[<>=≥≤]", re.sub(_QUOTED, "", right)):
            each = re.split(r"\s+and\s+|\s*&+\s*|\s*[,;]\s*", text.strip())
            are_whole = len(each) > 1 and all(map(_PARTS.fullmatch, each))
            write = f": {', '.join(map(repr, each))}" if are_whole else f", as in {EXAMPLE}"
            msg = f"{text!r}: write two requirements, each with the metric first{write}"
            raise RecframeError(msg)
        if re.fullmatch(_NUMBER, left):
            turned = AT_LEAST if sign == AT_MOST else AT_MOST
            msg = f"{text!r}: the metric comes first, as in {f'{right} {turned} {left}'!r}"
            raise RecframeError(msg)
        metric = parse(left)
        bound = _BOUND.fullmatch(right)
        if bound is None:
            raise RecframeError(_wrong_bound(text, f"{left} {sign}", right))
        number, factor, name = bound.groups()
        if name is not None and name.casefold() in _NO_NAMES:
            number, name = name, None
        model = name[1:-1] if name and name[0] in {"'", '"'} else name
        return cls(metric, cast("Direction", sign), float(number or factor or 1), model)

    def __str__(self) -> str:
        bound = str(plain_number(self.bound))
        if self.model is not None:
            factor = "" if self.bound == 1 else f"{bound} * "
            bound = f"{factor}{_quoted(self.model)}"
        return f"{self.metric} {self.direction} {bound}"

    def __repr__(self) -> str:
        return f"Requirement({str(self)!r})"

    def at(self, k: int | None) -> Requirement:
        """Return the requirement with a cut-off, unless its metric has one of its own."""
        return (
            self
            if k is None or self.metric.k is not None
            else replace(self, metric=self.metric @ k)
        )


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


def _name_of(model: object) -> str:
    """Return the name of a model as text, also where the models are numbers or days."""
    if is_name(model):
        return text_of(model)
    msg = f"model={shown(model)}: a requirement takes the name of the other model, such as 'popularity'"
    raise RecframeError(msg)


def _quoted(name: str) -> str:
    if re.fullmatch(_NAME, name) and name.casefold() not in _NO_NAMES:
        return name
    return f'"{name}"' if "'" in name else f"'{name}'"


def _without_sign(text: object) -> str:
    """Return the error of a text without a bound, or of another object; a misspelt metric comes first."""
    if not isinstance(text, str):
        as_metric = f"{str(text)!r}" if isinstance(text, Metric) else shown(text)
        return f"{as_metric} is not a requirement; write {EXAMPLE}"
    metric = parse(text)
    sign = AT_MOST if metric.direction == "lower" else AT_LEAST
    return f"{text!r} has no bound; write for example '{metric} {sign} 0.5'"


def _wrong_sign(text: str, left: str, sign: str, right: str) -> str:
    meant = MEANT.get(sign)
    if meant is None:
        return f"{text!r}: write >= or <= in place of {sign}, as in {EXAMPLE}"
    because = "; a bound may be met" if sign in {"<", ">"} else ""
    return (
        f"{text!r}: write {meant} in place of {sign}, as in {f'{left} {meant} {right}'!r}{because}"
    )


def _wrong_bound(text: str, before: str, right: str) -> str:
    """Return the error of an invalid bound after the sign, with advice."""
    if not right:
        return f"{text!r} has no bound; write for example '{before} 0.5'"
    if turned := _TURNED.fullmatch(right):
        return f"{text!r}: the factor comes first, as in '{before} {turned[2]} * {turned[1]}'"
    if percentage := re.fullmatch(rf"({_NUMBER})\s*%", right):
        return (
            f"{text!r}: write the percentage as a number: '{before} {float(percentage[1]) / 100:g}'"
        )
    if less := re.fullmatch(rf"({_NAME})\s*([+-])\s*({_NUMBER})\s*%", right):
        factor = 1 + float(f"{less[2]}{less[3]}") / 100
        return f"{text!r}: write the share as a factor: '{before} {factor:.6g} * {less[1]}'"
    _, star, name = right.rpartition("*")
    if star and name.strip() and "'" not in name:
        return f"{text!r}: put a name that does not begin with a letter in quotes: 0.99 * '{name.strip()}'"
    return f"{text!r}: {right!r} is neither a number nor a share of a model's value, as in '0.99 * popularity'"


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
    unmet = result.filter(is_unmet(gate))
    if unmet.is_empty() and not without_rows(result, gate):
        return None
    names = {key: key for key in keys_of(result)} if names is None else names
    told = [*_of_nothing(result, gate), *_counted(unmet, names, result.height)]
    sentence = "; ".join(told)
    if unmet.is_empty():
        return sentence
    shown = unmet.head(MOST_SHOWN)
    keys = [[name, *map(_text, shown[inside])] for inside, name in names.items()]
    columns = [*keys, *_cells(shown)]
    widths = [max(map(len, column)) for column in columns]
    lines = [GAP.join(map(str.ljust, row, widths)).rstrip() for row in zip(*columns, strict=True)]
    n_more = unmet.height - MOST_SHOWN
    more = [f"and {n_more} more"] * (n_more > 0)
    return "\n  ".join([f"{sentence}:", *lines, *more])


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
    n = pl.col("n_users")
    return ((n > 0) & (n < gate.min_users)).fill_null(value=False)


def _is_nowhere(gate: Gate) -> pl.Expr:
    """Return whether a row is of a requirement that no row of enough users decides, or of a gate without such a row.

    NOTE: one requirement without a value beside others that have one is open, as its note says.
    """
    small = _is_small(gate)
    none = pl.col("value").is_null() | small
    return none.all() | (none.all() & small.any()).over("requirement")


def without_rows(result: pl.DataFrame, gate: Gate) -> list[str]:
    """Return the requirements without a row, such as those of models left out by `models=`."""
    there = set(result["requirement"])
    return [name for name in map(str, gate.requirements) if name not in there]


def _counted(unmet: pl.DataFrame, names: Mapping[str, str], n_rows: int) -> list[str]:
    """Return the number of unmet rows, by state."""
    states = []
    for state in (FAILS, MISSING, OPEN):
        n = int((unmet["state"] == state).sum())
        is_state = (
            f"fail{'s' * (n == 1)}" if state == FAILS else f"{'is' if n == 1 else 'are'} {state}"
        )
        states += [f"{n} {is_state}"] * (n > 0)
    if not states:
        return []
    # with keys a requirement has several rows
    what = ("row" if names else "requirement") + "s" * (n_rows != 1)
    *others, last = states
    told = f"{', '.join(others)} and {last}" if others else last
    return [f"of {n_rows} {what}, {told}"]


def _of_nothing(result: pl.DataFrame, gate: Gate) -> list[str]:
    """Return the requirements that were tested nowhere, and the reason."""
    absent = without_rows(result, gate)
    if result.is_empty():
        return ["nothing was judged: no model and no segment has a requirement"]
    rows = result.filter(_is_nowhere(gate) & (pl.col("state") != MISSING))
    names = rows["requirement"].unique(maintain_order=True).to_list()
    n = "a user" if gate.min_users == 1 else f"{gate.min_users} users"
    told = [f"nothing was judged of {name!r}: no row has {n} with a value" for name in names]
    return [*told, *(f"nothing was judged of {name!r}: {NO_ROW}" for name in absent)]


def _cells(shown: pl.DataFrame) -> list[list[str]]:
    difference = map(with_interval, *(shown[f"difference{end}"] for end in ("", "_low", "_high")))
    value, bound = (map(rounded, shown[name]) for name in ("value", "bound"))
    n_users = (f"{one or 0:,}" for one in shown["n_users"])
    named = (shown["requirement"], shown["state"])
    cells: list[Iterable[str]] = [*named, value, bound, difference, n_users]
    return [[name, *column] for name, column in zip(FOUND, cells, strict=True)]


def _text(value: Any) -> str:
    return "null" if value is None else short(str(value))
