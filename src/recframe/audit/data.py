"""The frames of checks, and queries that several checks share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isfinite
from typing import Any

import polars as pl

from recframe.audit.split_rows import SplitRows, in_frames
from recframe.errors import readable, short, shown_in_plan
from recframe.evaluation.recorder import EXPECTED, HITS
from recframe.evaluation.required_columns import needs_of
from recframe.evaluation.trainings import is_first
from recframe.frames.dtypes import as_text
from recframe.frames.hints import Either, bind, text
from recframe.frames.inputs import Inputs, without_models
from recframe.frames.options import Context
from recframe.frames.roles import Segment, label_columns
from recframe.metrics.language.definition import Metric
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


MANY_USERS, SAMPLED = 10_000, 64
"""Users beyond whom a call looks at those of one hash in so many."""
TEXT = (pl.String, pl.Categorical, pl.Enum)  # a tuple: an Enum's hash is not that of pl.Enum


HARDLY = 0.01
"""Share of users, or of ids, below which hardly any are left."""
BEHIND_FIRST = 2
"""The lowest rank behind those of a first item."""
NEARLY_ALL = 0.95
"""Share from which nearly all are there."""


@dataclass(frozen=True)
class OfCall:
    """The metrics of a call, its numbers and its eager frames."""

    metrics: Sequence[Metric[...]]
    given: Mapping[str, pl.DataFrame]
    """The eager frames, by name."""
    numbers: Sequence[pl.DataFrame] = ()
    """Of each metric `value`, a row for each segment, beside `n_users` and `model` where these are known; or no column."""
    n_rows: int = 0

    @property
    def cutoff(self) -> int | None:
        """The largest cut-off of the metrics; None where all of them read whole lists."""
        return max([metric.k for metric in self.metrics if metric.k is not None], default=None)

    @property
    def reads_relevance(self) -> bool:
        """Whether relevance changes the answer: `judge()` has no metric, and gives all of it."""
        return not self.metrics or any(needs_of(one).reads_relevance for one in self.metrics)

    @cached_property
    def n_users(self) -> int | None:
        """The number of counted users, of each model; None where the result does not have it."""
        most = None
        for rows in self.numbers:
            if "n_users" in rows.columns:
                known, n_models = rows.drop_nulls("n_users"), 1
                if "model" in rows.columns:
                    n_models = known["model"].n_unique() - known["model"].has_nulls()
                most = max(most or 0, int(known["n_users"].sum()) // max(n_models, 1))
        return most

    @cached_property
    def of_hits(self) -> list[pl.DataFrame]:
        """The numbers of metrics that are above 0 only where a list has a relevant item."""
        return [
            rows
            for one, rows in zip(self.metrics, self.numbers, strict=False)
            if rows.width and needs_of(one).columns & (HITS | EXPECTED)
        ]

    @cached_property
    def are_hits_low(self) -> bool:
        """Whether less than 1 % of the users, or of those of a model, have a hit, or every value is 0 or null.

        NOTE: a mean of values up to 1 is at most the share of users with a hit.
        """
        rows = self.of_hits
        if not rows:
            known = [one for one in self.numbers if one.width]
            return bool(known) and not any(map(_highest, known))
        if max(map(len, rows)) == 0 or max(map(_lowest, rows)) >= HARDLY:
            return False
        if "model" not in rows[0].columns:
            return max(map(_highest, rows)) < HARDLY
        every = pl.concat([one.select("model", "value") for one in rows]).drop_nulls("model")
        highest = every.group_by("model").agg(pl.col("value").max().fill_null(0.0))
        return bool((highest["value"] < HARDLY).any())

    @property
    def has_a_hit(self) -> bool:
        """Whether the result shows that a list has a relevant item."""
        return any(_highest(rows) > 0 for rows in self.of_hits)

    @cached_property
    def may_be_perfect(self) -> bool:
        """Whether a metric of hits is nearly 1."""
        return any(_highest(rows) >= NEARLY_ALL for rows in self.of_hits)


def _highest(rows: pl.DataFrame) -> float:
    """Return the largest value, 0 where there is none."""
    highest: Any = rows["value"].max()
    return float(highest or 0.0)


def _lowest(rows: pl.DataFrame) -> float:
    """Return the smallest value, 0 where one is missing."""
    lowest: Any = 0.0 if rows["value"].has_nulls() else rows["value"].min()
    return float(lowest)


@dataclass(frozen=True)
class Data:
    """Input frames of the checks, with queries that several of them share."""

    inputs: Inputs
    k: int | None = None
    """The cut-off of the audit, or the largest of a call; None for whole lists."""
    clashes: Mapping[str, str] = field(default_factory=dict)
    """What is said of ids that cannot match, by role."""
    of_call: OfCall | None = None
    """The metrics and the result of a call; None in an audit."""
    looks: dict[str, pl.DataFrame] = field(default_factory=dict, init=False)

    @cached_property
    def held(self) -> set[str]:
        """Needs of checks that the frames and options meet."""
        inputs, call = self.inputs, self.of_call
        ranked = not inputs.scored
        holds = {
            "all users": inputs.tables is None or call is not None,
            "scores": inputs.scored,
            "ranks": ranked,
            "fractions": ranked and inputs.schema["rank"].is_float(),
            "labels": self.labels,
            "judged": inputs.truth is None,
            "truth": inputs.truth is not None,
            # a call on a judged frame is not told of users and items that it alone can have
            "truth of a call": inputs.truth is not None or call is None,
            "models": inputs.model,
            "segments": inputs.segments,
            "users": inputs.users is not None,
            "items": inputs.items is not None,
            "train": inputs.train is not None,
            "weights": inputs.context.weight is not None,
            "level": inputs.context.min_relevance not in {None, "any"} and inputs.judged,
        }
        holds |= self._doubts()
        return set(filter(holds.get, holds))

    def _doubts(self) -> dict[str, bool]:
        """Return what the ranks of eager lists of a call leave open: all of it in an audit and of LazyFrames."""
        call = self.of_call
        lists = None if call is None else call.given.get("recommendations")
        if call is None or lists is None:
            return dict.fromkeys(("no place", "late starts", "no repeats", "all below k"), True)
        if self.inputs.scored:
            has_place = lists["user"].null_count() < len(lists)
            return {"no place": not has_place, "all below k": self.k is not None}
        lowest: Any = lists["rank"].min()
        highest: Any = lists["rank"].max()
        n_ranks = len(lists) - lists["rank"].null_count()
        is_parted = self.inputs.model or (self.inputs.segments and self.parts)
        n_groups = max(call.n_rows, 1) if is_parted else 1
        return {
            "no place": lowest is None or not isfinite(lowest),
            "late starts": lowest is not None and lowest >= BEHIND_FIRST,
            # else they are so low that some must be there twice
            "no repeats": highest is not None and highest * n_groups >= n_ranks,
            "all below k": self.k is not None and (highest or 0) < self.k,
        }

    def look(self, name: str) -> pl.DataFrame | None:
        """Return rows of an eager frame of a call, to look at before a plan is made; None in an audit.

        Of more than ten thousand users those of one hash in 64.
        """
        call = self.of_call
        frame = None if call is None else call.given.get(name)
        if (
            call is None
            or frame is None
            or (call.n_users or 0) <= MANY_USERS
            or "user" not in frame
        ):
            return frame
        if name not in self.looks:
            number = pl.col("user").cast(self.inputs.schema["user"]).hash()
            self.looks[name] = frame.filter(number % SAMPLED == 0)
        return self.looks[name]

    def looks_well(self, name: str, holds: Callable[[pl.DataFrame], bool]) -> bool:
        """Return whether rows of an eager frame of a call show that a check finds nothing."""
        frame = self.look(name)
        return frame is not None and holds(frame)

    @cached_property
    def labels(self) -> Sequence[Segment]:
        """The unbound columns of the lists that may name systems, which a call has not read."""
        inputs = self.inputs
        if self.of_call is None:
            return [
                Segment(inside, name, "recommendations") for inside, name in inputs.labels.items()
            ]
        return label_columns(inputs.sides["recommendations"], inputs.segments)

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
        taken = without_models(side.take(roles, [*parts, *self.labels]), inputs.context).lazy()
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
        return [*self.parts, *self.inputs.model, "user"]

    def keys_of(self, rows: pl.DataFrame) -> list[str]:
        """Return the keys of a list that eager rows have; segments that expressions make are none."""
        return [key for key in self.keys if key in rows.columns]

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
        rows = self.pairs_of_lists
        return rows if self.inputs.scored else rows.filter(self.ranked)

    @property
    def ranked(self) -> pl.Expr:
        """Whether a row is in a list."""
        if self.inputs.scored:
            return pl.lit(value=True)
        return is_rank(rank, self.inputs.schema["rank"])

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
    def same_judged_pairs(self) -> pl.LazyFrame:
        """The pairs with several judged rows of any model: `rows`, `lowest` and `highest` relevance."""
        counts = [ROWS, relevance.min().alias("lowest"), relevance.max().alias("highest")]
        return self.truth.group_by([*self.judged_keys, "item"]).agg(counts).filter(n_rows > 1)

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
    # NOTE: Polars 1.35 streams no structs that hold categories, and sorts no nested values
    texts = {name for name in shown if schema[name] in TEXT}
    columns = {
        name: pl.col(name).cast(pl.String)
        if name in texts
        else as_text(pl.col(name), schema[name])
        if schema[name].is_nested()
        else pl.col(name)
        for name in shown
    }
    lowest = columns[shown[0]].min()
    among = columns[shown[0]].eq_missing(lowest)
    order = [column.filter(among) for column in columns.values()]
    row = pl.struct(columns[name].alias(name) for name in shown).filter(among)
    row = row.sort_by(order, nulls_last=True).first()
    parts = []
    for name in shown:
        value = row.struct.field(name)
        is_text = name in texts
        is_made = is_text or schema[name].is_nested()
        value = shown_in_plan(value if is_made else as_text(value, schema[name]))
        value = "'" + value + "'" if is_text else value
        parts.append(pl.concat_str(pl.lit(f"{short(name)} "), value.fill_null("null")))
    return pl.concat_str(parts, separator=", ")
