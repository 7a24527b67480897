"""Segment and rest values of users in several segments, for `rec.slices`.

The rest of a segment is the same call on frames filtered to what is not in it. A user without a row in it has there the value
of the whole call, and a user who has one that of a list without those rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from recframe.errors import RecframeError
from recframe.evaluation import evaluation
from recframe.evaluation.evaluation import Convention
from recframe.evaluation.execution import Run
from recframe.evaluation.recorder import EXPECTED, HITS, LIST_IDEAL, RELEVANT
from recframe.evaluation.required_columns import needs_of
from recframe.evaluation.segments import described, keys_of, numbered, with_attributes
from recframe.frames.by_expressions import Made
from recframe.frames.collecting import ask as collect
from recframe.frames.inputs import Inputs
from recframe.frames.options import FOLD
from recframe.frames.roles import Segment
from recframe.frames.rows.joins import aggregate, joined, outside
from recframe.ranking.relevance import is_rank, is_relevant_row, rows_of_models
from recframe.side_info.attributes import in_rear
from recframe.side_info.sources import FromSides
from recframe.statistics.pairs import MODEL, Pairing, difference

USER = Segment("user", "user of a slice", "role")
ALONE = {"users", "recommendations", "user id", "user", "constant"}
"""Owners of segments of which each user is in exactly one, with all rows."""
OF_ITEMS = {"items", "item id"}
ITSELF = "slice item"
"""Segment column of the item itself."""
REST, WHOLE, BOTH = "rest", "whole", "both"
SUMS = ("n", "sum", "square")
BESIDE = (
    *(f"{REST} {part}" for part in SUMS),
    *(f"{BOTH} {part}" for part in ("n", "own", "rest", "product")),
)
"""Columns of sums over a segment's rest, and over users of both."""


def by_users(inputs: Inputs, run: Run) -> Inputs:
    """Return inputs with row segments that are constant per user turned into user properties."""
    return described(inputs, collect if inputs.few else run.ask)


def cutting(segments: Sequence[Segment]) -> list[Segment]:
    """Return the segments of which a user may be in several; in folds their lists are whole."""
    others = (segment for segment in segments if segment.inside != FOLD)
    return [segment for segment in others if segment.owner not in ALONE]


def check_places(segments: Sequence[Segment]) -> None:
    """Reject crossed columns whose joint rest is no filter of the frames."""
    found = {_place(one): one.name for one in cutting(segments)}
    if len(found) > 1:
        names = " and ".join(repr(name) for name in found.values())
        msg = (
            f"slices does not cross {names}, which filter different frames (items, the truth alone, or rows of lists and "
            "truth), so the rest is not a filter; give depth=1, or one column at a time"
        )
        raise RecframeError(msg)


def _place(one: Segment) -> str:
    return "items" if one.owner in OF_ITEMS or one.inside == "item" else one.owner


def sums_with_rests(
    inputs: Inputs, conventions: Sequence[Convention], baseline: str | None, run: Run
) -> pl.LazyFrame:
    """Return one row for each segment and model: the sums of its users' values, of the rest's, and of users in both."""
    metrics = [convention.metric for convention in conventions]
    keys = [*keys_of(inputs, metrics)]
    model = [key for key in keys if key == MODEL]
    numbers = range(len(conventions))
    parts, own, whole, rest = _values(inputs, conventions, baseline, run)
    parts = parts.with_columns(in_part=True)
    parts = parts.join(whole.select(MODEL).unique(), how="cross") if model else parts
    on = [*keys, "user"]
    rows = parts.join(own, on=on, how="full", coalesce=True, nulls_equal=True)
    rows = rows.join(whole, on=[*model, "user"], how="left")
    rows = rows.join(rest, on=on, how="left", nulls_equal=True)
    of_rest = [f"{REST} value {number}" for number in numbers]
    rows = rows.with_columns(
        pl.when("in_part").then(one).otherwise(one.replace(REST, WHOLE)).alias(one)
        for one in of_rest
    )
    sums = [sum_ for number in numbers for sum_ in (*_sums(number), *_of_both(number))]
    every = [sum_ for number in numbers for sum_ in _sums(number, [WHOLE])]
    totals = aggregate(whole, model, every).select(*model, pl.exclude(MODEL).name.prefix("all "))
    found = joined(rows.group_by(keys).agg(sums), totals, model)
    rests = [_rest(f"{part} {number}") for part in SUMS for number in numbers]
    names = [f"{part} {number}" for part in (*SUMS, *BESIDE) for number in numbers]
    return found.with_columns(rests).select(*keys, *names)


def _values(
    inputs: Inputs, conventions: Sequence[Convention], baseline: str | None, run: Run
) -> tuple[pl.LazyFrame, ...]:
    """Return users with the segments whose rows change their values, and these values: in each, in the whole call, outside."""
    names = [f"value {number}" for number in range(len(conventions))]
    parts, others = _others(inputs, conventions, run)
    pairing = None
    if baseline is not None:
        pairing = Pairing(baseline, inputs.schema[MODEL], inputs.context.names[MODEL])
        checks = pairing.checks(rows_of_models(inputs).unique())
        inputs = replace(inputs, checks=(*inputs.checks, *checks))
    of_others = run if others.parts is None else replace(run, ask=None)
    found = [parts]
    for kind, one, each in (
        ("own", inputs, run),
        (WHOLE, replace(inputs, segments=()), run),
        (REST, others, of_others),
    ):
        values = _each(one, conventions, each)
        values = values if pairing is None else _differences(values, pairing, names)
        found.append(values.rename({name: f"{kind} {name}" for name in names}).cache())
    return tuple(found)


def _others(
    inputs: Inputs, conventions: Sequence[Convention], run: Run
) -> tuple[pl.LazyFrame, Inputs]:
    """Return users, each once for each segment whose rows change their values; and frames with the rows outside of each."""
    segments = cutting(inputs.segments)
    names, of_items = [segment.inside for segment in segments], _place(segments[0]) == "items"
    if of_items:
        _check_items(conventions)
    is_light = _reads_relevant_alone(inputs, conventions)
    parts, frames = _parts(inputs.under(conventions[0].context), names, is_light=is_light)
    models = rows_of_models(inputs).unique() if inputs.model else None
    if run.ask is not None:
        parts, *found = (one.lazy() for one in run.ask([parts, *frames.values()]))
        frames = dict(zip(frames, found, strict=True))
        models = models if models is None else run.ask([models])[0].lazy()
    whole = with_attributes(parts, inputs)
    others = replace(inputs, **frames, models=models, few=False, given={})
    if of_items:
        return whole, _outside_of_items(others, parts)
    in_order = inputs.context.ties == "order"
    cut: dict[str, Any] = {
        name: outside(rows, parts, names, in_order=in_order) for name, rows in frames.items()
    }
    if run.ask is not None:
        cut = dict(zip(cut, (one.lazy() for one in run.ask([*cut.values()])), strict=True))
    return whole, replace(others, **cut)


def _check_items(conventions: Sequence[Convention]) -> None:
    """Reject values of a catalogue that is cut as well, which are unknown outside of an item segment."""
    for metric in (convention.metric for convention in conventions):
        if any(is_of_segment_items(fact) for fact in needs_of(metric).facts):
            msg = (
                f"slices by properties of items takes no {metric}, whose catalogue is another one outside each segment; "
                f"evaluate({str(metric)!r}, by=...) has the values"
            )
            raise RecframeError(msg)


def is_of_segment_items(fact: FromSides) -> bool:
    """Return whether a fact is of the catalogue of a segment of items, so that every user has another one outside of it."""
    return fact.builder is in_rear or getattr(fact.builder, "kind", "") in {"segment", "category"}


def _parts(
    inputs: Inputs, names: Sequence[str], *, is_light: bool
) -> tuple[pl.LazyFrame, dict[str, Any]]:
    """Return users with the segments whose rows change their values, and the frames that segments cut, of the rows needed."""
    given = {"lists": inputs.lists, "truth": inputs.truth}
    of_truth = bool(inputs.inside("truth"))
    frames: dict[str, Any] = {
        name: rows
        for name, rows in given.items()
        if rows is not None and not (of_truth and name == "lists")
    }
    users = []
    pairs = inputs.lists if inputs.truth is None else inputs.truth
    pairs = pairs.filter(is_relevant_row(inputs)).select("user", "item").unique()
    for name, rows in frames.items():
        if is_light:
            frames[name], found = _lighter(inputs, rows, pairs, names)
        else:
            found = inputs.with_item_keys(rows).select(*names, "user")
        users.append(found)
    return pl.concat(users).drop_nulls("user").unique(), frames


def _reads_relevant_alone(inputs: Inputs, conventions: Sequence[Convention]) -> bool:
    """Return whether non-relevant rows only decide which users count."""
    columns = frozenset[str]().union(
        *(needs_of(convention.metric).columns for convention in conventions)
    )
    others = {column for column in columns if not column.startswith(LIST_IDEAL)}
    return (
        others <= {*HITS, *EXPECTED, *RELEVANT, "steepness"}
        and all(convention.over == "users" for convention in conventions)
        and len({convention.context.min_relevance for convention in conventions}) == 1
        and not inputs.scored
    )


def _lighter(
    inputs: Inputs, rows: pl.LazyFrame, pairs: pl.LazyFrame, names: Sequence[str]
) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """Return those rows of a frame that may be relevant, and enough others to tell which users count outside of any segment.

    With them the users of segments that relevant rows are in, or all rows of a kind.
    """
    columns = rows.collect_schema().names()
    kinds = {}
    if "relevance" in columns:
        kinds["judged"] = pl.col("relevance").is_not_null()
    if "rank" in columns:
        kinds["ranked"] = is_rank(pl.col("rank"))
    on = ["user", *kinds]
    rows = rows.filter(pl.col("user").is_not_null() & pl.col("item").is_not_null())
    relevant = inputs.with_item_keys(rows.join(pairs, on=["user", "item"], how="semi"))
    keyed = inputs.with_item_keys(rows).with_columns(**kinds)
    # of the rows of two segments, one is outside of any
    two = keyed.unique([*on, *names]).group_by(on).head(2).cache()
    alone = two.filter(pl.len().over(on) == 1)
    # each row once, which lets a plan do without asking whose rank is the best
    others = two.select(columns).join(pairs, on=["user", "item"], how="anti")
    kept = pl.concat([relevant.select(columns), others])
    return kept, pl.concat([one.select(*names, "user") for one in (relevant, alone)])


def _outside_of_items(inputs: Inputs, parts: pl.LazyFrame) -> Inputs:
    """Return the same where rows are in the segments, properties of items, that their items are not in."""
    # the item itself stays the item, and has the segment beside it
    itself = Made(b"item", "item", ("item",), pl.col("item"))
    others = {
        segment.inside: replace(segment, inside=ITSELF, owner="item id", made=itself)
        for segment in inputs.segments
        if segment.inside == "item"
    }
    segments = tuple(others.get(segment.inside, segment) for segment in inputs.segments)
    parts = parts.rename({name: one.inside for name, one in others.items()}).cache()
    return replace(inputs, segments=segments, parts=parts)


def _each(inputs: Inputs, conventions: Sequence[Convention], run: Run) -> pl.LazyFrame:
    """Return the metrics' values of each user in each segment: its keys, the user, `value 0`, ..."""
    inputs = replace(inputs, segments=(*inputs.segments, USER))
    metrics = [convention.metric for convention in conventions]
    keys = [inside.removeprefix("slice ") for inside in keys_of(inputs, metrics)]
    wide = numbered(evaluation.evaluate(inputs, conventions, run), keys)
    values = (
        pl.col(str(one)).cast(pl.Float64).alias(f"value {number}")
        for number, one in enumerate(metrics)
    )
    return wide.select(*keys, *values)


def _differences(values: pl.LazyFrame, pairing: Pairing, names: Sequence[str]) -> pl.LazyFrame:
    """Return the models' values minus those of the baseline, of users who have both."""
    values = values.cache()
    is_baseline = pairing.is_baseline(MODEL)
    keys = [name for name in values.collect_schema().names() if name not in {*names, MODEL}]
    base = values.filter(is_baseline).drop(MODEL).rename({name: f"a {name}" for name in names})
    rows = values.filter(~is_baseline).join(base, on=keys, nulls_equal=True)
    differences = (difference(pl.col(name), pl.col(f"a {name}")).alias(name) for name in names)
    return rows.select(MODEL, *keys, *differences)


def _sums(number: int, kinds: Sequence[str] = ("own", REST, WHOLE)) -> Iterator[pl.Expr]:
    for kind in kinds:
        value = pl.col(f"{kind} value {number}")
        found = (value.count().cast(pl.Float64), value.sum(), (value * value).sum())
        before = "" if kind == "own" else f"{kind} "
        for part, one in zip(SUMS, found, strict=True):
            yield one.alias(f"{before}{part} {number}")


def _of_both(number: int) -> Iterator[pl.Expr]:
    """Give sums over the users who have a value in the segment and in its rest."""
    own, rest = pl.col(f"own value {number}"), pl.col(f"{REST} value {number}")
    product = own * rest
    found = {
        "n": product.count().cast(pl.Float64),
        "own": own.filter(rest.is_not_null()).sum(),
        "rest": rest.filter(own.is_not_null()).sum(),
        "product": product.sum(),
    }
    return (one.alias(f"{BOTH} {part} {number}") for part, one in found.items())


def _rest(name: str) -> pl.Expr:
    """Return a sum over the rest: of all users in the whole call, without those of the segment, who have other values."""
    every, own, rest = (pl.col(f"{of} {name}") for of in (f"all {WHOLE}", WHOLE, REST))
    left = every - own
    # what rounding leaves of users who all have 0
    is_rounding = left.abs() <= 1e-12 * pl.max_horizontal(every.abs(), own.abs())
    return (pl.when(is_rounding).then(0.0).otherwise(left) + rest).alias(f"{REST} {name}")
