"""The frames of checks, and queries that several checks share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import itemgetter
from typing import Any

import polars as pl

from recframe.audit.split_rows import SplitRows, in_frames
from recframe.errors import readable, short, shown_in_plan
from recframe.evaluation.required_columns import EXPECTED, HITS, needs_of
from recframe.evaluation.trainings import is_first
from recframe.frames.dtypes import as_text
from recframe.frames.hints import Either, bind, text
from recframe.frames.inputs import Frames, label_columns, without_models
from recframe.frames.kinds.kind import run_as_it_is, stream
from recframe.frames.options import Context
from recframe.frames.rows.integer_keys import key_hash, repeated
from recframe.frames.segments import Segment
from recframe.metrics.language.definition import Metrics
from recframe.ranking.data_checks import FEW_ROWS, OF_SOME_USERS
from recframe.ranking.judged_frame import is_rank, is_relevant_row

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


MANY_USERS = 10_000
"""Users beyond whom a call looks at some, see `OF_SOME_USERS`."""
FEWEST_USERS = 100
"""Fewest of these who say something of all."""
ENOUGH_USERS = 200
"""Users to look at where these are too few, of whom hardly ever fewer than `FEWEST_USERS` are drawn."""
A_FEW = 8
"""Users of the truth who are looked at first; where all of them have a list, hardly ever do less than half of all users."""
SHARE = 64
"""One in how many users is among `OF_SOME_USERS`."""
WHOLE_LOOK = 50_000
"""Rows up to which all are looked at."""
TEXT = (pl.String, pl.Categorical, pl.Enum)  # a tuple: an Enum's hash is not that of pl.Enum


HARDLY = 0.01
"""Share of users, or of ids, below which hardly any are left."""
BEHIND_FIRST = 2
"""The lowest rank behind those of a first item."""
NEARLY_ALL = 0.95
"""Share from which nearly all are there."""
PLANS = {"recommendations", "truth"}
"""The frames whose rows are looked at."""


OF_HITS = HITS | EXPECTED
"""Columns of metrics that are above 0 only where a list has a relevant item."""
Numbers = Mapping[str, pl.Series]
"""Type of columns of a result. NOTE: to make a frame of each takes half of a small call."""


@dataclass(frozen=True)
class OfCall:
    """The metrics of a call, its numbers and its eager frames."""

    metrics: Metrics
    given: Mapping[str, pl.DataFrame]
    """The eager frames, by name."""
    numbers: Sequence[Numbers] = ()
    """Of each metric `value` and, where these are known, its `model` and `n_users`; or no column."""

    @property
    def reads_relevance(self) -> bool:
        """Whether relevance changes the answer: `judge()` has no metric, and gives all of it."""
        return not self.metrics or any(needs_of(one).reads_relevance for one in self.metrics)

    @property
    def n_users(self) -> int:
        """The number of counted users, of all models on average; many where the result does not have it."""
        for one in self.known:
            if "n_users" in one:
                n_models = one["model"].n_unique() if "model" in one else 1
                return int(one["n_users"].sum()) // max(n_models, 1)
        return MANY_USERS + 1

    @property
    def n_rows(self) -> int:
        """The number of rows of the result."""
        return max(map(len, map(itemgetter("value"), self.known)), default=1)

    @cached_property
    def known(self) -> list[Numbers]:
        """The numbers of the metrics that have some."""
        return [*filter(None, self.numbers)]

    @cached_property
    def of_hits(self) -> list[Numbers]:
        """The numbers of metrics that are above 0 only where a list has a relevant item."""
        found = []
        for metric, one in zip(self.metrics, self.numbers, strict=False):
            if one and needs_of(metric).columns & OF_HITS:
                found.append(one)
        return found

    @property
    def highest(self) -> float:
        """The highest of these values, 0 without one."""
        return highest(self.of_hits)


def highest(numbers: Sequence[Numbers]) -> float:
    """Return the largest value, 0 where there is none."""
    ends = []
    for one in numbers:
        largest: Any = one["value"].max()
        ends.append(largest or 0.0)
    return max(ends, default=0.0)


def _n_users(frames: Iterable[pl.DataFrame]) -> int:
    """Return the number of users of the frame that has the most."""
    return max(rows["user"].n_unique() for rows in frames)


@dataclass(frozen=True)
class Data:
    """Input frames of the checks, with queries that several of them share."""

    inputs: Frames
    k: int | None = None
    """The cut-off of the audit, or the largest of a call; None for whole lists."""
    clashes: Mapping[str, str] = field(default_factory=dict)
    """Words on ids that cannot match, by role."""
    of_call: OfCall | None = None
    """The metrics and the result of a call; None in an audit."""
    looks: dict[str, pl.DataFrame] = field(default_factory=dict)
    """Rows to look at of the frames of a call, which all checks of the call share; see `look`."""

    def look(self, name: str) -> pl.DataFrame | None:
        """Return rows of the eager lists or truth of a call, to look at before a plan is made; None in an audit.

        Of large frames they are those of some users, which are read once for all checks of a call.
        """
        if self.of_call is not None and not self.looks:
            given = self.of_call.given
            for one in filter(PLANS.__contains__, given):
                self.looks[one] = given[one]
            if max(map(len, self.looks.values()), default=0) > WHOLE_LOOK:
                self.looks.update(self._of_some_users())
        return self.looks.get(name)

    def _of_some_users(self) -> dict[str, pl.DataFrame]:
        """Return the rows of some users of eager lists and truth, none where these would be few."""
        rows: dict[str, Any] = {"recommendations": self.inputs.lists, "truth": self.inputs.truth}

        def of_one_in(n: int) -> dict[str, pl.DataFrame]:
            return {name: stream(rows[name].filter(user.hash() % n == 0)) for name in self.looks}

        some = of_one_in(SHARE)
        n_users = _n_users(some.values())
        if n_users >= FEWEST_USERS:
            return some
        # lists of several models, or long ones, are many rows of few users
        n = n_users * SHARE // ENOUGH_USERS
        return of_one_in(n) if n > 1 else {}

    @cached_property
    def of_a_few(self) -> list[pl.DataFrame]:
        """Lists and truth of a few users, where both frames of a call are large and eager; else empty.

        NOTE: a few integers in a frame take less than half of the time of the hashes, and a few texts far more.
        """
        given = {} if self.of_call is None else self.of_call.given
        dtype = self.inputs.schema["user"]
        if not (given.keys() >= PLANS and dtype.is_integer()) or self.inputs.model:
            return []
        users = given["truth"]["user"]
        if len(users) <= WHOLE_LOOK:
            return []
        users = users.gather_every(1 + len(users) // A_FEW).unique().cast(dtype)
        of_these = user.is_in(users.implode())
        frames: list[Any] = [self.inputs.lists, self.inputs.truth]
        return [stream(rows.filter(of_these)) for rows in frames]

    @property
    def of_some_users(self) -> Data | None:
        """The same of some users alone, where a call has many; None where it has few, or LazyFrames."""
        call, judging = self.of_call, self.inputs.truth
        lists, truth = self.look("recommendations"), self.look("truth")
        if call is None or lists is None:
            return None
        # what is said of fewer rows, or of one in fewer users, is of all
        looks = [rows.filter(OF_SOME_USERS) for rows in (lists, truth) if rows is not None]
        is_few = max(len(call.given[name]) for name in PLANS & {*self.looks}) <= FEW_ROWS
        if is_few or _n_users(looks) < FEWEST_USERS:
            return None
        if judging is not None:
            judging = judging.filter(OF_SOME_USERS) if truth is None else truth.lazy()
        return replace(self, inputs=replace(self.inputs, lists=lists.lazy(), truth=judging))

    def lists_of_look(self) -> pl.DataFrame | None:
        """Return the lists among the rows that are looked at, as `lengths` has them."""
        rows = self.look("recommendations")
        if rows is not None and "lengths" not in self.looks:
            keys = [*filter(rows.columns.__contains__, self.keys)]
            lists = rows.lazy() if self.inputs.scored else rows.lazy().filter(self.ranked)
            self.looks["lengths"] = run_as_it_is(lists.group_by(keys).agg(*self.sizes))
        return self.looks.get("lengths")

    def looks_well(self, name: str, holds: Callable[[pl.DataFrame], bool]) -> bool:
        """Return whether rows of an eager frame of a call show that a check finds nothing."""
        frame = self.look(name)
        return frame is not None and holds(frame)

    @cached_property
    def labels(self) -> Sequence[Segment]:
        """The unbound columns of the lists that may name systems, which a call has not read."""
        return label_columns(self.inputs.sides["recommendations"], self.inputs.segments)

    @property
    def labelled(self) -> pl.LazyFrame:
        """The rows of the lists with these columns."""
        if self.of_call is None:
            return self.lists
        side, inputs = self.inputs.sides["recommendations"], self.inputs
        parts = [segment for segment in inputs.segments if segment.inside in self.parts]
        place = "score" if inputs.scored else "rank"
        training = ["training"] * (side.context.training is not None)
        roles = [*inputs.model, *training, "user", "item", place]
        taken = side.take(roles, [*parts, *self.labels]).lazy()
        if inputs.context.without and inputs.model:
            taken = without_models(taken, inputs.context.without).lazy()
        taken = taken.filter(is_first(inputs.model)) if training else taken  # each has a list
        return taken.filter(self.ranked)

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
        return [*self.inputs.inside("rows"), *self.inputs.model, "user"]

    @property
    def parts(self) -> list[str]:
        """The keys of the segments that both lists and truth have as columns, or a judged frame."""
        return self.inputs.inside("rows")

    @property
    def judged_keys(self) -> list[str]:
        """The keys of a judged user within a part, of parts of the truth alone too."""
        return [*self.inputs.inside("rows", "truth"), "user"]

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
        rows = self.pairs_of_lists
        return rows if self.inputs.scored else rows.filter(self.ranked)

    @property
    def ranked(self) -> pl.Expr:
        """Whether a row is in a list."""
        if self.inputs.scored:
            return pl.lit(value=True)
        return is_rank(rank, self.inputs.schema["rank"])

    @property
    def relevant(self) -> pl.Expr:
        """Whether a row counts as relevant."""
        return is_relevant_row(self.inputs)

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
        if (
            train is None
            or self.inputs.all_users is not None
            or "time" not in train.collect_schema()
        ):
            return {}
        sides = (self.inputs.sides["train"], self.inputs.sides[name])
        numbers = () if self.inputs.folds is None else self.inputs.folds.numbers
        of = self.context.split
        order = None if of is None else of.rule.parted_by
        return in_frames(train, self.relevant_rows, sides, order, numbers)

    # What several checks ask. Cached are plans that read a frame once: Polars 2 panics at some caches of one joined to itself.

    @cached_property
    def lengths(self) -> pl.LazyFrame:
        """The lists: their keys, their number of rows as `rows`, and without scores their `first` and `last` rank."""
        return self.lists.group_by(self.keys).agg(*self.sizes).cache()

    @property
    def sizes(self) -> list[pl.Expr]:
        """The number of rows of a list, and its first and last rank."""
        ends = [] if self.inputs.scored else [rank.min().alias("first"), rank.max().alias("last")]
        return [ROWS, *ends]

    @cached_property
    def judged_users(self) -> pl.LazyFrame:
        """The judged users, with `rows`, the number of relevant ones, and of those in no list."""
        beyond = self.relevant & ~self.ranked if self.is_judged else pl.lit(value=False)
        rows = self.truth.select(*self.judged_keys, relevant=self.relevant, beyond=beyond)
        return rows.group_by(self.judged_keys).agg(ROWS, pl.col("relevant", "beyond").sum()).cache()

    @cached_property
    def same_judged_pairs(self) -> pl.LazyFrame:
        """The pairs with several judged rows of any model: `rows`, `lowest` and `highest` relevance."""
        return self.same_pairs(self.judged_keys)

    def same_pairs(self, keys: Sequence[str], **also: pl.Expr) -> pl.LazyFrame:
        """Return the items with several judged rows of some keys, with their `lowest` and `highest` relevance, and more."""
        ends = {"lowest": relevance.min(), "highest": relevance.max()}
        return self.repeats(self.truth, keys, "item", **ends, **also)

    @staticmethod
    def repeats(
        rows: pl.LazyFrame, keys: Sequence[str], column: str, **values: pl.Expr
    ) -> pl.LazyFrame:
        """Return the values of a column that several rows of some keys have: their number of rows, and other values of these.

        NOTE: to sort a number of each row takes half of the time of grouping all rows, and few rows have one in common.
        """
        pair = [*keys, column]
        number = key_hash(pair, rows.collect_schema())
        again = repeated(rows, number).unique()
        rows = rows.join(again, left_on=number, right_on="number", how="semi")
        return rows.group_by(pair).agg(ROWS, **values).filter(n_rows > 1)

    @property
    def pairs_of_lists(self) -> pl.LazyFrame:
        """The rows of the frame of the lists that have a user and an item."""
        return self.inputs.identified("recommendations")


def example(shown: Sequence[str] | str, schema: pl.Schema) -> pl.Expr:
    """Return the smallest row as text, such as `user 1, item 'a', rank 0`: the same for every order of the rows."""
    if isinstance(shown, str):
        return pl.lit(readable(shown))
    if not shown:
        return pl.col("example").first()
    # NOTE: text, since Polars 1.35 sorts no nested values
    texts = {name for name in shown if schema[name] in TEXT}
    made = {name for name in shown if schema[name].is_nested()} | texts
    columns = {
        name: as_text(pl.col(name), schema[name]) if name in made else pl.col(name)
        for name in shown
    }
    first = columns[shown[0]]
    among = first.eq_missing(first.min())
    order = [column.filter(among) for column in columns.values()]
    parts = []
    for name, column in zip(shown, order, strict=True):
        value = column.sort_by(order, nulls_last=True).first()
        value = shown_in_plan(value if name in made else as_text(value, schema[name]))
        value = "'" + value + "'" if name in texts else value
        parts.append(pl.concat_str(pl.lit(f"{short(name)} "), value.fill_null("null")))
    return pl.concat_str(parts, separator=", ")
