"""Definitions of tracked numbers, and fingerprints of their data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256

import polars as pl

from recframe.errors import RecframeError
from recframe.evaluation.evaluation import Convention
from recframe.frames.collecting import stream
from recframe.frames.inputs import Inputs
from recframe.frames.options import DEFAULTS, plain_number
from recframe.frames.rows.joins import beside_one_another
from recframe.metrics.language.definition import Metric
from recframe.metrics.language.registry import parse

PARTS = "; by "
"""Separator before the columns that filter rows, items or the truth; those of users are never named."""
FILTERED = {
    "row": "rows",
    "items": "items",
    "item": "items",
    "role": "items",
    "truth": "the truth",
}
"""Filtered rows in words, by the owner of a `by` column; models and users filter none."""


def definitions(conventions: Sequence[Convention], inputs: Inputs) -> dict[str, str]:
    """Return the definition of each metric, by its string: parameters, policies and filtering columns."""
    parts = _parts(inputs)
    return {
        str(convention.metric): f"{convention.metric.in_full}; {_policies(convention)}{parts}"
        for convention in conventions
    }


def _policies(convention: Convention) -> str:
    context = convention.context
    given = {name: getattr(context, name) for name in DEFAULTS}
    if context.universe is None and context.truth is None:
        # every user of a judged frame counts
        del given["universe"]
    elif context.universe is None:
        given["universe"] = DEFAULTS["universe"]
    return _written(given | {"profile": context.profile})


def _written(policies: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={value}" for name, value in policies.items() if value is not None)


def _parts(inputs: Inputs) -> str:
    """Return the columns that filter rows, items or the truth, in the order of their names."""
    found = [
        f"{segment.name!r} of {FILTERED[segment.owner]}"
        for segment in sorted(inputs.segments, key=lambda one: one.name)
        if segment.owner in FILTERED and segment.inside not in {"user", "model", *inputs.units}
    ]
    return f"{PARTS}{', '.join(found)}" if found else ""


def read_definition(definition: str) -> str:
    """Return a definition in the present notation, whichever version wrote it: 4.0 is 4, unknown parts are defaults.

    Of a metric that nobody knows now the parameters stay as they are.
    """
    whole, by, parts = definition.partition(PARTS)
    metric, about, policies = whole.rpartition("; ")
    if not about:
        # a result at hand, of which nothing but the metric is known
        return definition
    given = dict(one.partition("=")[::2] for one in policies.split(", "))
    known = {name: value for name, value in DEFAULTS.items() if name != "universe"} | given
    ordered = {name: known.pop(name) for name in DEFAULTS if name in known} | known
    plain = {name: _number(value) for name, value in ordered.items()}
    return f"{_in_full(metric)}{about}{_written(plain)}{by}{parts}"


def _in_full(metric: str) -> str:
    try:
        return parse(metric).in_full
    except RecframeError:
        return metric


def _number(value: object) -> object:
    try:
        number = plain_number(float(value)) if isinstance(value, str) else None
    except ValueError:
        return value
    return value if number is None else number


def as_now(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of a history with their definitions as they are written now."""
    known = rows["definition"].drop_nulls().unique().to_list()
    now = {one: read_definition(one) for one in known}
    return rows.with_columns(pl.col("definition").replace(now))


SEED = 20_261
HALF = 2**32
DIGITS = 16
"""Digits of the fingerprint; of a million, two collide once in forty million times."""
NUMBERS = ("rank", "score", "relevance", "propensity")
"""Numeric roles, whatever their dtype."""


def fingerprint(inputs: Inputs, metrics: Sequence[Metric[...]] = ()) -> str:
    """Return the fingerprint of the frames of a call, by the columns that it reads: roles, and those of `by`.

    Where a metric reads what is known of items, all their columns count.

    The rows of each frame become numbers, which are summed up: so their order, chunks and threads change nothing, and it
    streams. Ids count as what they say, whatever the dtype: whole numbers of any width, categories as text.
    """
    frames = {
        # numbers of rows are in the order in which these stand
        "lists": inputs.lists.drop("item") if inputs.without_items else inputs.lists,
        "truth": inputs.truth,
        "users": inputs.users,
        "items": inputs.items,
        "train": inputs.train,
    }
    if inputs.items is not None and any("items" in metric.definition.needs for metric in metrics):
        items = inputs.sides["items"].kind
        named = {f"feature {place}": name for place, name in enumerate(sorted(items.columns))}
        frames["features"] = items.take(named).lazy()
    reference = inputs.reference
    frames |= {} if isinstance(reference, str) else {"reference": reference}
    taken = {name: rows for name, rows in frames.items() if rows is not None}
    said = [f"reference is {reference}"] if isinstance(reference, str) else []
    sums = stream(beside_one_another([_sums(name, rows) for name, rows in taken.items()]))
    said += [f"{name}: {sorted(rows.collect_schema())}" for name, rows in taken.items()]
    said += [f"{name}={value or 0}" for name, value in sums.row(0, named=True).items()]
    return sha256("\n".join(said).encode()).hexdigest()[:DIGITS]


def _sums(name: str, rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return the number of rows, and the sums of the halves of each row's number, which none of them overflows."""
    schema = rows.collect_schema()
    number = pl.lit(SEED, pl.UInt64)
    # NOTE: one after the other, since a sum or a xor of the columns' own numbers would not tell which stand together.
    for seed, column in enumerate(sorted(schema), SEED):
        number = (number ^ _plain(column, schema[column]).hash(seed)).hash(seed)
    both = {"n": pl.len(), "low": (number % HALF).sum(), "high": (number // HALF).sum()}
    return rows.select(one.alias(f"{name} {part}") for part, one in both.items())


def _plain(column: str, dtype: pl.DataType) -> pl.Expr:
    """Return a column's values in one canonical dtype."""
    if isinstance(dtype, pl.List | pl.Array) and dtype.inner in (
        pl.String,
        pl.Categorical,
        pl.Enum,
    ):
        # Polars 1 has no hash of a list of text
        listed = pl.col(column) if isinstance(dtype, pl.List) else pl.col(column).arr.to_list()
        texts = listed.list.eval(pl.element().cast(pl.String).fill_null("\x00"))
        return texts.list.join("\x1f")
    value = pl.col(column)
    if dtype in (pl.Categorical, pl.Enum):
        return value.cast(pl.String)
    if column in NUMBERS or dtype.is_float() or dtype.is_decimal():
        # where 0.0 and -0.0 are one number, and so are all that are none
        return value.cast(pl.Float64) + 0.0
    # UInt64 has numbers that Int64 does not
    return value.cast(pl.Int64) if dtype.is_integer() and dtype != pl.UInt64 else value
