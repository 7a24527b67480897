"""The data of an audit, and its rules: frames, findings and checks."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Protocol, TypeAlias

import polars as pl

from recframe.audit.call_context import traits_of
from recframe.audit.split_rows import SplitRows, in_frames
from recframe.audit.suspects import ranked
from recframe.errors import readable, short, shown_in_plan
from recframe.frames.dtypes import as_text
from recframe.frames.hints import Either, Text, bind, text
from recframe.frames.inputs import Inputs
from recframe.frames.options import Context
from recframe.frames.rows.integer_keys import key_hash, repeated
from recframe.ranking.relevance import is_rank, is_relevant

user, item, rank, relevance = (pl.col(name) for name in ("user", "item", "rank", "relevance"))
n_rows, value = pl.col("rows"), pl.col("value")
ROWS = pl.len().cast(pl.Int64).alias("rows")
TIES = Either("ties=", "--ties")
LISTED_AND_JUDGED = text("leave the user out: ", bind(universe="'both'"))
EMPTY = {
    "zero": "the user counts, with 0",
    "skip": "the user is left out",
    "null": "the user's values are null",
}


TEXT = (pl.String, pl.Categorical, pl.Enum)  # a tuple: an Enum's hash is not that of pl.Enum


@dataclass(frozen=True)
class Audited:
    """Input frames of the audit, with queries that several checks share."""

    inputs: Inputs
    k: int | None = None
    clashes: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def traits(self) -> set[str]:
        """Traits of the frames and options, by which checks that cannot apply are left out."""
        inputs = self.inputs
        return traits_of(inputs) | {
            name for name in ("users", "items", "train") if getattr(inputs, name) is not None
        }

    @property
    def context(self) -> Context:
        """The options that `rec(...)` bound."""
        return self.inputs.context

    @property
    def is_judged(self) -> bool:
        """Whether a judged frame was given."""
        return self.inputs.truth is None

    @property
    def main(self) -> str:
        """The name of the frame that has the lists."""
        return "judged" if self.is_judged else "recommendations"

    @property
    def judging(self) -> str:
        """The name of the frame that has the relevance."""
        return "judged" if self.is_judged else "truth"

    @property
    def keys(self) -> list[str]:
        """The keys of a list."""
        return [*self.parts, *self.inputs.model, "user"]

    @property
    def parts(self) -> list[str]:
        """The keys of the segments that both lists and truth have as columns, or a judged frame."""
        return self.inputs.inside("row")

    @property
    def judged_keys(self) -> list[str]:
        """The keys of a judged user within a part, of parts of the truth alone too."""
        return [*self.inputs.inside("row", "truth"), "user"]

    # The frames

    @property
    def pairs(self) -> dict[str, pl.LazyFrame]:
        """The frames of users and items, by their names."""
        inputs = self.inputs
        frames = {self.main: inputs.lists, "truth": inputs.truth, "train": inputs.train}
        return {name: frame for name, frame in frames.items() if frame is not None}

    def having(self, role: str) -> dict[str, pl.LazyFrame]:
        """Return the frames that have the column of a role, by their names."""
        side = self.inputs.users if role == "user" else self.inputs.items
        return {**self.pairs, **({} if side is None else {f"{role}s": side})}

    @cached_property
    def lists(self) -> pl.LazyFrame:
        """The rows of the lists: with a user, an item, and a rank or a score."""
        return ranked(self.inputs)

    @property
    def ranked(self) -> pl.Expr:
        """Whether a row is in a list."""
        if self.inputs.scored:
            return pl.lit(value=True)
        return is_rank(rank, self.inputs.lists.collect_schema()["rank"])

    @property
    def relevance_dtype(self) -> pl.DataType:
        """The dtype of the relevance."""
        return self.pairs[self.judging].collect_schema()["relevance"]

    @property
    def relevant(self) -> pl.Expr:
        """Whether a row counts as relevant."""
        return is_relevant(relevance, self.context.min_relevance, self.relevance_dtype)

    @property
    def relevant_rows(self) -> pl.LazyFrame:
        """The judged rows that count as relevant."""
        return self.truth.filter(self.relevant)

    @cached_property
    def truth(self) -> pl.LazyFrame:
        """The judged rows."""
        return self.judged_pairs.filter(relevance.is_not_null())

    @property
    def judged_pairs(self) -> pl.LazyFrame:
        """The rows of the frame of the relevance that have a user and an item."""
        return self.inputs.identified("truth")

    @cached_property
    def split(self) -> dict[int, SplitRows]:
        """Train and truth as folds of a split, where the time of their rows is bound; none of some users alone."""
        train, name = self.inputs.train, "recommendations" if self.is_judged else "truth"
        if train is None or self.inputs.tables is not None or "time" not in train.collect_schema():
            return {}
        sides = (self.inputs.sides["train"], self.inputs.sides[name])
        numbers = () if self.inputs.folds is None else self.inputs.folds.numbers
        folds = in_frames(train, self.relevant_rows, sides, numbers)
        of = self.context.split
        order = None if of is None else of.rule.parted_by
        return {fold: replace(rows, order=order) for fold, rows in folds.items()}

    # What several checks ask. Cached are plans that read a frame once: Polars 2 panics at some caches of one joined to itself.

    @cached_property
    def lengths(self) -> pl.LazyFrame:
        """The lists: their keys, their number of rows as `rows`, and without scores their `first` and `last` rank."""
        ends = {} if self.inputs.scored else {"first": rank.min(), "last": rank.max()}
        return self.lists.group_by(self.keys).agg(ROWS, **ends).cache()

    @cached_property
    def judged_users(self) -> pl.LazyFrame:
        """The judged users, with `rows`, the number of relevant ones, and of those in no list."""
        beyond = self.relevant & ~self.ranked if self.is_judged else pl.lit(value=False)
        rows = self.truth.select(*self.judged_keys, relevant=self.relevant, beyond=beyond)
        return rows.group_by(self.judged_keys).agg(ROWS, pl.col("relevant", "beyond").sum()).cache()

    @cached_property
    def same_pairs(self) -> pl.LazyFrame:
        """The rows of the frame of the lists that may share their list and item with another one."""
        return sharing(self.pairs_of_lists, [*self.keys, "item"])

    @cached_property
    def same_places(self) -> pl.LazyFrame:
        """The rows of lists that may share their rank, or their score, with another one of the list."""
        order = "score" if self.inputs.scored else "rank"
        return sharing(self.lists, [*self.keys, order])

    @cached_property
    def same_judged_pairs(self) -> pl.LazyFrame:
        """The pairs with several judged rows of any model: `rows`, `lowest` and `highest` relevance."""
        if not self.is_judged:
            rows = sharing(self.truth, [*self.judged_keys, "item"])
        elif self.inputs.model:  # each has rows of most pairs
            rows = self.truth
        else:
            rows = self.same_pairs.filter(relevance.is_not_null())
        counts = [ROWS, relevance.min().alias("lowest"), relevance.max().alias("highest")]
        return rows.group_by([*self.judged_keys, "item"]).agg(counts).filter(n_rows > 1)

    @property
    def pairs_of_lists(self) -> pl.LazyFrame:
        """The rows of the frame of the lists that have a user and an item."""
        return self.inputs.identified("recommendations")


def sharing(rows: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Return the rows with a repeated hash of their keys; hashes may collide."""
    number = key_hash([pl.col(key) for key in keys], rows.collect_schema())
    numbers = repeated(rows, number).unique().cache()
    return rows.join(numbers, left_on=number, right_on="number", how="semi")


def example(shown: Sequence[str], schema: pl.Schema) -> pl.Expr:
    """Return the first row as text, such as `user 1, item 'a', rank 0`."""
    if isinstance(shown, str):
        return pl.lit(readable(shown))
    text = {name: pl.col(name).cast(pl.String) for name in shown if schema[name] in TEXT}
    # NOTE: Polars 1.35 streams no structs that hold categories.
    first = pl.struct(text.get(name, pl.col(name)) for name in shown).first().struct
    parts = []
    for name in shown:
        value = first.field(name)
        is_text = name in text
        shown_value = shown_in_plan(value if is_text else as_text(value, schema[name]))
        value = "'" + shown_value + "'" if is_text else shown_value
        parts.append(pl.concat_str(pl.lit(f"{short(name)} "), value.fill_null("null")))
    return pl.concat_str(parts, separator=", ")


Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")


@dataclass(frozen=True)
class Finding:
    """Rows of one frame that break a rule.

    A column `rows` says of how many rows of the frame a row speaks, where that is not one. A frame that is summed up already
    may have `concerned_users`, and counts of further rows: `needed`, without which nothing is found, and `against`, with
    which nothing is. What is not given is the check's own.
    """

    frame: str
    rows: pl.LazyFrame
    shown: Sequence[str] = ("user", "item")
    """Columns shown in the example, or its text."""
    severity: Severity | None = None
    treatment: str | None = None
    remedy: str | Text | None = None
    always: bool = False
    """Whether the schemas alone make it a finding, whatever the rows."""


Findings: TypeAlias = Iterator[Finding]
Rule = Callable[[Any], Findings]


class HasTraits(Protocol):
    """Data of an audit, with traits by which checks that cannot apply are left out."""

    @property
    def traits(self) -> set[str]:
        """The traits."""
        raise NotImplementedError


@dataclass(frozen=True)
class Check:
    """One audit check; its docstring's first sentence says what it finds."""

    function: Rule
    severity: Severity
    treatment: str
    remedy: str | Text
    traits: AbstractSet[str]
    """Traits without which it cannot apply."""
    of_all: bool = False
    """Whether it asks of all users at once, so that what it finds among some of them does not add up."""

    @property
    def name(self) -> str:
        """The name of the check in findings."""
        return self.function.__name__

    @property
    def meaning(self) -> str:
        """The first sentence of its docstring."""
        return (inspect.getdoc(self.function) or "").partition("\n")[0]

    def findings(self, data: HasTraits) -> Findings:
        """Give what the check may have found, each with a severity, a treatment and a remedy."""
        for one in self.function(data) if self.traits <= data.traits else ():
            yield replace(
                one,
                severity=one.severity or self.severity,
                treatment=one.treatment or self.treatment,
                remedy=str(one.remedy or self.remedy),
            )


def check(
    severity: Severity, treatment: str, remedy: str | Text, *traits: str, of_all: bool = False
) -> Callable[[Rule], Check]:
    """Turn a function into a check of frames with some traits."""
    return lambda rule: Check(rule, severity, treatment, remedy, {*traits}, of_all)
