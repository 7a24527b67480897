"""Columns that a metric's words require, recorded once, and columns of results."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import count
from operator import attrgetter
from typing import Any

import polars as pl

from recframe.errors import ColumnError
from recframe.frames.hints import Given
from recframe.frames.inputs import Frames
from recframe.frames.options import Context, Sharing
from recframe.metrics.language.at import (
    BEST_BY_CATEGORY,
    BEST_BY_VALUE,
    HITS_BY_CATEGORY,
    HITS_BY_VALUE,
    RELEVANT_BY_CATEGORY,
    At,
    Source,
)
from recframe.metrics.language.at_lists import AtLists
from recframe.metrics.language.definition import Definition, Metric, Metrics, Over, Value
from recframe.side_info import attributes
from recframe.side_info.aggregation_levels import Level, Levels
from recframe.side_info.sources import Fact

# Names of columns

HITS = {"rank", "gain", "discount", "hits_so_far", "place_in_best_order"}
EXPECTED = {"hit", "first_hit", "exp_gain"}
BEST_ORDER = {"ideal_gain", "ideal_rank", "ideal_discount"}
RELEVANT = {"relevant_gain"} | BEST_ORDER
ABOVE = {"misses_above", "judged_misses_above", "graded_misses_above", "hits_above"}
PROPENSITIES = {"given_propensity", "popularity_share"}
"""Columns of hits."""
RELEVANT_PROPENSITIES = {f"relevant_{name}" for name in PROPENSITIES}
LISTED_PROPENSITIES = {f"listed_{name}" for name in PROPENSITIES}
OF_PROPENSITIES = PROPENSITIES | RELEVANT_PROPENSITIES | LISTED_PROPENSITIES
OF_LISTED_RELEVANT = {"relevant_rank", "listed_tied", *ABOVE, *LISTED_PROPENSITIES}
"""Columns of listed rows that only relevant rows need."""
WHOLE = {"whole_rank"}
"""Columns of whole lists, without a cut-off."""
PLACES = {"listed_place"}
PLACED = PLACES | ABOVE
"""Columns of listed rows that depend on other rows of the list."""
LISTED = OF_LISTED_RELEVANT | WHOLE | PLACES | {"listed_rank", "listed_judged"}
CUT = {"cut_rank", "catalogue_cut_rank"}
CATALOGUE_HITS, CATALOGUE_RELEVANT = {"catalogue_hit_rank"}, {"catalogue_relevant"}
N_CATALOGUE = "each_n_catalogue"
OF_LISTS = CUT | CATALOGUE_HITS | CATALOGUE_RELEVANT | {N_CATALOGUE}
"""Columns of lists, and of their items in the catalogue."""
OF_CATALOGUE = OF_LISTS - {"cut_rank"}
"""Columns that need a catalogue."""
USER_WEIGHT = "user_weight"
LIST_IDEAL = "list_ideal_rank@"
TOTALS = ("each_n_relevant", "each_n_not_relevant")
OF_TWO_FRAMES = {*HITS, *EXPECTED, *RELEVANT, *LISTED, *TOTALS, "steepness"} - LISTED_PROPENSITIES
"""Columns that no side frame has a part in."""
BY_WORTH = "by worth "
OF_HITS, OF_VALUES = (HITS_BY_CATEGORY, HITS_BY_VALUE), (HITS_BY_VALUE, BEST_BY_VALUE)
OF_FEATURES = (*OF_HITS, BEST_BY_CATEGORY, RELEVANT_BY_CATEGORY, BEST_BY_VALUE)
"""Prefixes of columns of an item feature, which its settings and a word follow."""
DTYPES = {
    "hits_so_far": pl.Int64,
    **dict.fromkeys(("listed_judged", "catalogue_relevant"), pl.Boolean),
}
"""Dtypes of columns other than Float64."""
KINDS = (
    RELEVANT,
    WHOLE,
    PLACES,
    PLACES | {"listed_rank"},
    CUT,
    CATALOGUE_HITS,
    CATALOGUE_RELEVANT,
    RELEVANT_PROPENSITIES,
)
"""Columns of one kind of rows, whose values are computed first."""


def columns_of_features(names: set[str]) -> dict[str, set[str]]:
    """Return the columns of item features by their row source, which is their common prefix."""
    found: dict[str, set[str]] = {}
    for name in sorted(names):
        if name.startswith(OF_FEATURES):
            found.setdefault(name.rpartition(" ")[0], set()).add(name)
    return found


def settings_of(source: str) -> list[Any]:
    """Return the settings in the name of a row source by an item feature."""
    settings: list[Any] = json.loads(source[source.index("[") :])
    return settings


def _facts(names: set[str]) -> tuple[Fact, ...]:
    """Return the facts of side frames that columns need."""
    found = [Fact(attributes.n_catalogue)] if names & OF_CATALOGUE else []
    if names & OF_PROPENSITIES:
        found.append(Fact(attributes.popularity_share))
    for source in columns_of_features(names):
        kind = attributes.number if source.startswith(OF_VALUES) else attributes.n_categories
        found.append(Fact(kind, (settings_of(source)[0],)))
    return tuple(dict.fromkeys(found))


# Recorded words

MOST_EXPRESSIONS = 10_000
_numbers = count()
_numbered: dict[str, list[tuple[pl.Expr, int]]] = {}


def _number_of(expression: pl.Expr) -> int:
    """Return the number of an expression: the same for equal ones, so that metrics share their column."""
    if len(_numbered) > MOST_EXPRESSIONS:
        _numbered.clear()
    alike = _numbered.setdefault(str(expression), [])
    for one, number in alike:
        if one.meta.eq(expression):
            return number
    number = next(_numbers)
    alike.append((expression, number))
    return number


@dataclass
class Recorder:
    """Column source that records requests, so nothing else is built."""

    name: str = ""
    """Metric that is recorded, if only one."""
    asked: set[str] = field(default_factory=set)
    """Row columns that words of `At` read."""
    windows: dict[str, pl.Expr] = field(default_factory=dict)
    """Cumulative expressions of hits, by their columns."""
    values: dict[str, pl.Expr] = field(default_factory=dict)
    """Values computed first, list by list, from one kind of rows, such as relevant ones."""
    worths: dict[str, pl.Expr] = field(default_factory=dict)
    """Worth of relevant rows, the most first, by the prefix of their columns."""
    means: list[Metric[...]] = field(default_factory=list)
    """Metrics whose means are requested."""

    def add(self, other: Recorder) -> None:
        """Add the requests of another recorder."""
        self.asked |= other.asked
        self.windows |= other.windows
        self.values |= other.values
        self.worths |= other.worths

    def column(self, name: str) -> pl.Expr:
        """Return the column of a name."""
        self.asked.add(name)
        return pl.lit(0) if name == "steepness" else pl.col(name)

    def running(self, expression: pl.Expr) -> pl.Expr:
        """Return the column of a cumulative expression."""
        name = f"running {_number_of(expression)}"
        self.windows[name] = expression
        return pl.col(name)

    def by_worth(self, worth: Callable[[Source], pl.Expr]) -> str:
        """Return the prefix of the columns of an order of the relevant rows."""
        inner = Recorder()
        expression = worth(inner)
        self.asked |= inner.asked & {"steepness"}
        prefix = f"{BY_WORTH}{_number_of(expression)}"
        self.worths[prefix] = expression
        return prefix

    def of_rows(self, value: Callable[[Source], pl.Expr]) -> pl.Expr:
        """Return the sum of a column that has the value on one row of each list."""
        inner = Recorder()
        expression = value(inner)
        names = inner.asked - {"steepness"}
        if inner.windows or inner.values or not _are_of_one_kind(names):
            return value(self)
        self.asked |= inner.asked - names
        name = f"of list {_number_of(expression)}"
        self.values[name] = expression
        return pl.col(name).sum()

    def mean(self, metric: Any, at: At) -> pl.Expr:
        """Return the column of another metric's mean."""
        label = f"mean {len(self.means)} of {self.name}"
        self.means.append(replace(metric, label=label, k=at.k))
        return pl.col(label)

    @property
    def read(self) -> set[str]:
        """The columns that are read, for a value or row by row."""
        names = set(self.asked)
        for value in (*self.values.values(), *self.worths.values()):
            names.update(value.meta.root_names())
        return names

    def reads_lists(self) -> bool:
        """Whether a word needs more than the hits and the relevant rows."""
        others = LISTED | OF_LISTS | OF_PROPENSITIES | {"each_n_not_relevant", USER_WEIGHT}
        return not others.isdisjoint(self.read) or bool(columns_of_features(self.read))

    def values_of(self, names: set[str]) -> list[pl.Expr]:
        """Return the values that are worked out from some columns, each under the name of its own column."""
        found = []
        for name, value in self.values.items():
            if names.issuperset(value.meta.root_names()):
                found.append(value.alias(name))
        return found

    def branches(
        self, keys: Sequence[str], rows: pl.LazyFrame, kind: set[str]
    ) -> list[pl.LazyFrame]:
        """Return the requests for one kind of rows: values per list, and columns read row by row."""
        values, columns = self.values_of(kind), sorted(self.asked & kind)
        branches = [rows.group_by(keys).agg(values)] if values else []
        return [*branches, rows.select(*keys, *columns)] if columns else branches


def _are_of_one_kind(names: set[str]) -> bool:
    """Return whether columns are all of one row source, such as relevant rows, or those by what they are worth."""
    for kind in KINDS:
        if names <= kind:
            return True
    by_category = [*columns_of_features(names).values()] == [names]
    return by_category or all(name.startswith(BY_WORTH) for name in names)


def recorded(
    metric: Metric[...], *, cut: bool, sharing: Sharing | None
) -> tuple[pl.Expr, Recorder]:
    """Return the value of a metric for a list, and the words that it reads.

    `cut` says that the hits are already cut at k. A metric of recframe's own is recorded once in a process; what a user's
    metric depends on nobody knows.
    """
    record = _recorded if metric.definition.builtin else _recorded.__wrapped__
    return record(metric.definition, metric.settings, metric.k, metric.text, cut, sharing)


@lru_cache(maxsize=2048)  # all metrics at many cut-offs
def _recorded(
    definition: Definition,
    settings: tuple[tuple[str, Value], ...],
    k: int | None,
    name: str,
    cut: bool,  # noqa: FBT001
    sharing: Sharing | None,
) -> tuple[pl.Expr, Recorder]:
    """Return the value of a metric with the recorder of the words that it reads."""
    recorder, metric = Recorder(name), Metric[...](definition, settings)
    return metric.value(At(k, recorder, cut=cut, sharing=sharing)), recorder


# Needs of a metric


@dataclass(frozen=True)
class Needs:
    """Columns, facts and levels that one metric requires."""

    columns: frozenset[str]
    """Row columns that words of `At` read, including those of metrics whose means are requested."""
    facts: tuple[Fact, ...]
    """Facts requested from side frames."""
    levels: frozenset[str]
    """Levels on which words of `AtLists` request columns."""
    means: tuple[Metric[...], ...]
    """Metrics whose means are read, with their column names."""
    value: pl.Expr
    """Expression of the metric over those columns."""
    over: Over
    """Users of the universe, or lists: decides which plan has the sums."""
    reads_ranks: bool
    """Whether the ranks inside a list change the number."""

    @property
    def sources(self) -> list[str]:
        """Names of the side frames that facts are made of, of the catalogue and relevance too."""
        return sorted({need for fact in self.facts for need in fact.builder.needs})

    @property
    def reads_relevance(self) -> bool:
        """Whether relevance must be known: the metric then runs over the users of the universe."""
        return self.over == "users" or "relevance" in self.sources


def needs_of(metric: Metric[...]) -> Needs:
    """Return the requirements of a metric."""
    return _needs(metric.definition, metric.settings, metric.k, metric.text)


def is_of_segment(metric: Metric[...]) -> bool:
    """Return whether a metric is one function of a segment, of all its lists or of means, and no mean of values."""
    return metric.shape == "set" or bool(needs_of(metric).means)


def has_interval(metric: Metric[...]) -> bool:
    """Return whether a metric has an interval: not if it compares each list with all others, so that no sums have it."""
    return needs_of(metric).levels.isdisjoint((Level.ALONG, Level.ALONG_ALL))


@lru_cache(maxsize=2048)
def _needs(
    definition: Definition, settings: tuple[tuple[str, Value], ...], k: int | None, name: str
) -> Needs:
    """Return what a metric requires, once for each of its forms."""
    if definition.over_lists:
        return _needs_of_lists(Metric(definition, settings), k)
    value, recorder = _recorded(definition, settings, k, name, True, None)  # noqa: FBT003
    columns = recorder.read
    for mean in recorder.means:
        columns |= needs_of(mean).columns
    return Needs(
        columns=frozenset(columns),
        facts=() if columns <= OF_TWO_FRAMES else _facts(columns),
        levels=frozenset(),
        means=tuple(recorder.means),
        value=value,
        over="users",
        reads_ranks=True,
    )


def _needs_of_lists(metric: Metric[...], k: int | None) -> Needs:
    """Return what a metric requires that is written in the words of `AtLists`."""
    levels = Levels()
    value = metric.value(AtLists(k, levels))
    of_rows = [one for asked in levels.columns.values() for one in asked]
    return Needs(
        columns=frozenset(),
        facts=tuple(levels.of_sides),
        levels=frozenset({*levels.columns, *levels.speaks_of.values()}),
        means=(),
        value=value,
        over="lists",
        reads_ranks=any("rank" in one.meta.root_names() for one in of_rows),
    )


@dataclass(frozen=True)
class Convention:
    """Metric with its full context; its string form names the column."""

    context: Context
    metric: Metric[...]

    @cached_property
    def needs(self) -> Needs:
        """The columns and facts that the metric needs."""
        return needs_of(self.metric)

    @property
    def over(self) -> Over:
        """The units that the metric runs over: users or lists."""
        return self.needs.over

    @property
    def of_users(self) -> tuple[Context, Metrics]:
        """The metrics whose means over users make this one, with their context."""
        return self.context, self.needs.means or (self.metric,)


Conventions = Sequence[Convention]
"""Type of the metrics of a call, with their policies."""


# Columns of results


def n_keys(inputs: Frames) -> int:
    """Return the number of key columns: the `by` columns, and a bound model that is none of them."""
    return len(inputs.segments) + (
        bool(inputs.model) and all(segment.inside != "model" for segment in inputs.segments)
    )


def numbered(result: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Return a result with plain names for its key columns; it goes by position, since they may have any name."""
    names = result.collect_schema().names()
    return result.select(
        pl.nth(place).alias(name) for place, name in enumerate([*keys, *names[len(keys) :]])
    )


def keys_of(inputs: Frames, metrics: Metrics) -> dict[str, str]:
    """Return the result's key columns, by their names inside the plan; a model that nobody names comes first."""
    by = dict(map(attrgetter("inside", "name"), inputs.segments))
    if inputs.model and "model" not in by:
        by = {"model": inputs.context.names["model"], **by}
    for name in by.values():
        if name in {"n_users", "n_lists", *map(attrgetter("text"), metrics)}:
            raise ColumnError(
                f"{Given('by', name)} is also the name of a result column; rename the column first"
            )
    return by


N, TOTAL = "n", "total"
SUPPORT = (N,)
"""Column suffixes of the support: the number of users or lists averaged over."""


def name_beside(part: str, metric: Metric[...]) -> str:
    """Return the name of a metric's extra column."""
    return f"{part} {metric}"


def support_of(metric: Metric[...]) -> str:
    """Return the name of a metric's support column."""
    return name_beside(N, metric)
