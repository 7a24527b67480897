"""The data of an audit, and its rules: frames, findings and checks."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import polars as pl

from recframe.audit.suspects import ranked
from recframe.errors import readable, short, shown_in_plan
from recframe.frames.dtypes import as_text
from recframe.frames.hints import Either, Text, bind, text
from recframe.frames.inputs import Inputs
from recframe.frames.kinds.engine import MODELS, POPULARITY
from recframe.frames.options import Context
from recframe.frames.roles import Segment
from recframe.frames.rows.integer_keys import key_hash, repeated
from recframe.ranking.judged_frame import PAIR
from recframe.ranking.relevance import is_rank, is_relevant

user, item, rank, relevance = (pl.col(name) for name in ("user", "item", "rank", "relevance"))
ROWS = pl.len().cast(pl.Int64).alias("rows")
TIES = Either("ties=", "--ties")
LISTED_AND_JUDGED = text("leave the user out: ", bind(universe="'both'"))
EMPTY = {
    "zero": "the user counts, with 0",
    "skip": "the user is left out",
    "null": "the user's values are null",
}


def is_float(frame: pl.LazyFrame, name: str) -> bool:
    """Return whether a column is one of floats."""
    return frame.collect_schema()[name].is_float()


def is_missing(frame: pl.LazyFrame, name: str) -> pl.Expr:
    """Return whether a value is null or NaN."""
    column = pl.col(name)
    return column.is_null() | column.is_nan() if is_float(frame, name) else column.is_null()


TEXT = (pl.String, pl.Categorical, pl.Enum)  # a tuple: an Enum's hash is not that of pl.Enum


@dataclass(frozen=True)
class Audited:
    """Input frames of the audit, with queries that several checks share."""

    inputs: Inputs
    k: int | None = None
    clashes: Mapping[str, str] = field(default_factory=dict)

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

    @property
    def judged_pair(self) -> list[str]:
        """The keys of a judged pair."""
        return [*self.judged_keys, "item"]

    # The frames

    @property
    def pairs(self) -> dict[str, pl.LazyFrame]:
        """The frames of users and items, by their names."""
        found = {
            self.main: self.inputs.lists,
            "truth": self.inputs.truth,
            "train": self.inputs.train,
        }
        return {name: frame for name, frame in found.items() if frame is not None}

    def having(self, role: str) -> dict[str, pl.LazyFrame]:
        """Return the frames that have the column of a role, by their names."""
        side = self.inputs.users if role == "user" else self.inputs.items
        return {**self.pairs, **({} if side is None else {f"{role}s": side})}

    @property
    def judging(self) -> tuple[str, pl.LazyFrame]:
        """The frame with the relevance, and its name."""
        return (
            (self.main, self.inputs.lists)
            if self.inputs.truth is None
            else ("truth", self.inputs.truth)
        )

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
    def relevant(self) -> pl.Expr:
        """Whether a row counts as relevant."""
        dtype = self.judging[1].collect_schema()["relevance"]
        return is_relevant(relevance, self.context.min_relevance, dtype)

    @cached_property
    def truth(self) -> pl.LazyFrame:
        """The judged rows."""
        return self.judged_pairs.filter(relevance.is_not_null())

    @property
    def judged_pairs(self) -> pl.LazyFrame:
        """The rows of the frame of the relevance that have a user and an item."""
        return self.inputs.identified("truth")

    @cached_property
    def scores_beside_ranks(self) -> pl.LazyFrame | None:
        """The lists' keys, ranks and scores, if they have both."""
        side = self.inputs.sides["recommendations"]
        is_beside = not self.inputs.scored and self.context.names["score"] in side.kind.numbers()
        # which would be those of several trainings
        if not is_beside or self.inputs.sides["recommendations"].context.training is not None:
            return None
        parts = [one for one in self.inputs.segments if one.inside in self.parts]
        names = [*self.inputs.model, "user", "rank", "score"]
        rows = side.take(names, parts).lazy().drop_nulls(names)
        return rows if rows.collect_schema()["score"].is_numeric() else None

    def items_of_train(self) -> pl.LazyFrame:
        """Return the items that anybody has in train, each once."""
        if self.inputs.tables is not None:
            dtypes = {"item": self.inputs.schema["item"]}
            return self.inputs.tables.get(POPULARITY, dtypes)
        train = self.inputs.train
        return self.lists.clear() if train is None else train.select("item").drop_nulls().unique()

    def models(self) -> pl.LazyFrame:
        """Return the models that have a list, without the null of ranked rows that name none."""
        if self.inputs.tables is not None:
            found = self.inputs.tables.get(MODELS, {"model": self.inputs.schema["model"]})
            return found.drop_nulls()
        return self.lengths.select("model").unique().drop_nulls()

    @property
    def features(self) -> dict[str, pl.LazyFrame]:
        """The columns of items that may be categories or embeddings, by their names: item, value; arrays as lists."""
        side = self.inputs.sides.get("items")
        if side is None:
            return {}
        found, item = {}, side.context.names["item"]
        for name in side.columns:
            rows = side.take(["item"], [Segment("value", name, "items")]).lazy().drop_nulls("item")
            dtype = rows.collect_schema()["value"]
            if isinstance(dtype, pl.Array):
                rows = rows.with_columns(pl.col("value").arr.to_list())
            is_category = dtype in {*TEXT, pl.Boolean} or dtype.is_integer()
            if name != item and (isinstance(dtype, pl.List | pl.Array) or is_category):
                found[name] = rows
        return found

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
    def spellings(self) -> dict[str, pl.LazyFrame]:
        """Ids that are another one's but for how they are spelled, by their role; where ids are text in all frames."""
        return {role: self._spellings(role) for role in PAIR if self.is_text(role)}

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
            rows = sharing(self.truth, self.judged_pair)
        elif self.inputs.model:  # each has rows of most pairs
            rows = self.truth
        else:
            rows = self.same_pairs.filter(relevance.is_not_null())
        counts = [ROWS, relevance.min().alias("lowest"), relevance.max().alias("highest")]
        return rows.group_by(self.judged_pair).agg(counts).filter(pl.col("rows") > 1)

    @property
    def pairs_of_lists(self) -> pl.LazyFrame:
        """The rows of the frame of the lists that have a user and an item."""
        return self.inputs.identified("recommendations")

    def is_text(self, role: str) -> bool:
        """Return whether the ids of a role are text in all frames that have them."""
        dtypes = [frame.collect_schema()[role] for frame in self.having(role).values()]
        return all(dtype in TEXT for dtype in dtypes)

    def _spellings(self, role: str) -> pl.LazyFrame:
        """Return ids that are another one's but for blanks around them or a point and noughts behind them."""
        spelled = pl.col(role).cast(pl.String).alias("spelling")
        frames = [one.select(spelled).drop_nulls().unique() for one in self.having(role).values()]
        texts = pl.concat(frames).cache()
        spelling, plain = pl.col("spelling"), pl.col("plain")
        stripped = spelling.str.strip_chars()
        # NOTE: a pattern takes ten times as long as these, and few ids are left for it
        pointed = stripped.str.ends_with("0") & stripped.str.contains(".", literal=True)
        some = texts.filter((spelling != stripped) | pointed).unique()
        odd = some.with_columns(plain=stripped.str.replace(r"^([+-]?\d+)\.0+$", "$1"))
        odd = odd.filter(spelling != plain)
        # all others are plain
        same = texts.join(odd, left_on="spelling", right_on="plain", how="semi").unique()
        spellings = pl.concat([odd.select("plain"), same.select(plain="spelling")])
        several = spellings.group_by("plain").len().filter(pl.col("len") > 1)
        return odd.join(several, on="plain", how="semi")


def sharing(rows: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Return the rows with a repeated hash of their keys; hashes may collide."""
    number = key_hash([pl.col(key) for key in keys], rows.collect_schema())
    numbers = repeated(rows, number).unique().cache()
    return rows.join(numbers, left_on=number, right_on="number", how="semi")


def example(shown: Sequence[str], schema: pl.Schema) -> pl.Expr:
    """Return the first row as text, such as `user 1, item 'a', rank 0`."""
    if isinstance(shown, str):
        return pl.lit(readable(shown))
    is_text = {name: schema[name] in TEXT for name in shown}
    # NOTE: Polars 1.35 streams no structs that hold categories.
    columns = [pl.col(name).cast(pl.String) if is_text[name] else pl.col(name) for name in shown]
    first = pl.struct(columns).first().struct
    parts = []
    for name in shown:
        text = first.field(name) if is_text[name] else as_text(first.field(name), schema[name])
        text = shown_in_plan(text)
        if is_text[name]:
            text = pl.concat_str(pl.lit("'"), text, pl.lit("'"))
        parts.append(pl.concat_str(pl.lit(f"{short(name)} "), text.fill_null("null")))
    return pl.concat_str(parts, separator=", ")


Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")


@dataclass(frozen=True)
class Found:
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


Finding = Callable[[Audited], Iterator[Found]]


@dataclass(frozen=True)
class Check:
    """One audit check; its docstring's first sentence says what it finds."""

    function: Finding
    severity: Severity
    treatment: str
    remedy: str | Text
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

    def findings(self, data: Audited) -> list[Found]:
        """Return what the check may have found, each with a severity, a treatment and a remedy."""
        return [
            replace(
                found,
                severity=found.severity or self.severity,
                treatment=found.treatment or self.treatment,
                remedy=str(found.remedy or self.remedy),
            )
            for found in self.function(data)
        ]


def check(
    severity: Severity, treatment: str, remedy: str | Text, *, of_all: bool = False
) -> Callable[[Finding], Check]:
    """Turn a function into a check; it yields nothing where the rule does not apply."""
    return lambda function: Check(function, severity, treatment, remedy, of_all)
