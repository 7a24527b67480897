"""Item features as numbers: categories, category lists and embedding vectors.

A feature is a column of the frame of items: one category, a list of categories (a vector of 0 and 1) or a vector of floats.
Nulls, empty lists, and vectors of zeros or with a missing or infinite number are no feature.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import polars as pl

from recframe.errors import ColumnError, dtype_shown, fails_if, fails_whole_if
from recframe.frames.hints import FrameOf
from recframe.frames.inputs import Frames
from recframe.frames.kinds.kind import Ask, Taken, at_hand
from recframe.frames.rows.joins import AS_EVER

Shape = Literal["category", "categories", "vector", "number"]
CATEGORIES: tuple[Shape, ...] = ("category", "categories")
ANY: tuple[Shape, ...] = (*CATEGORIES, "vector")
NUMBERS: tuple[Shape, ...] = ("number",)
"""Shape of plain number columns such as prices, which are no features and must be requested as numbers."""
VALUE = pl.col("value")
BELOW_0 = "an item's value is below 0, but with normalizer= values must be 0 or more; leave out normalizer=, or set it to 0"
_FIRST = 1_000
_SAID = {
    "category": "one category",
    "categories": "a list of categories",
    "vector": "a vector (an Array or a List of floats)",
    "number": "a number",
}


def shape_of(dtype: pl.DataType) -> Shape | None:
    """Return the shape of feature of a dtype; None if it is no feature."""
    inner = getattr(dtype, "inner", dtype)
    if isinstance(dtype, pl.Array):
        return "vector" if len(dtype.shape) == 1 and dtype.size and inner.is_float() else None
    if inner.is_nested() or inner == pl.Object or inner.is_decimal():
        return None
    if isinstance(dtype, pl.List):
        return "vector" if inner.is_float() else "categories"
    return None if dtype.is_float() else "category"


def check_feature(inputs: Frames, of: str, call: str, takes: tuple[Shape, ...]) -> None:
    """Reject a column that cannot be a feature, from the schema alone."""
    dtype = _rows(inputs, of, call).collect_schema()["value"]
    if takes == NUMBERS and dtype.is_numeric():
        return
    if shape_of(dtype) in takes:
        _check_bits(inputs, of, call, takes)
        return
    wanted = " or ".join(_SAID[shape] for shape in takes)
    column, hint = _shown(of), _hint(dtype, of, call, takes)
    raise ColumnError(
        f"{call} takes {wanted}; {column} of {FrameOf('items')} is {dtype_shown(dtype)}: {hint}"
    )


def _shown(of: str) -> str:
    return repr(of) if of else "the column beside the item"


def _hint(dtype: pl.DataType, of: str, call: str, takes: tuple[Shape, ...]) -> str:
    """Return what to write instead of a column of a dtype that is no such feature."""
    other = f"name another one: {call}(of='...')"
    if takes == NUMBERS:
        cast = f"cast it: pl.col({of or '...'!r}).cast(pl.Float64), or "
        return f"{cast if dtype == pl.String else ''}{other}"
    if dtype.is_float() or dtype.is_decimal():
        name = of or "price"
        return (
            f"a number is not a category; put it into bins, (pl.col({name!r}) // 10).cast(pl.Int64) or in pandas "
            f"pd.qcut(items[{name!r}], 4), or cast it to text if it is a name, or {other}"
        )
    if not of or not isinstance(dtype, pl.Array) or len(dtype.shape) > 1:
        return other
    lists = f"pl.List({dtype.inner})"
    wanted = f"pl.Array(pl.Float64, {dtype.size})" if "vector" in takes else lists
    return f"cast it: pl.col({of!r}).cast({wanted})"


def _are_bits(value: pl.Expr) -> pl.Expr:
    """Return whether lists all have one length and hold 0 and 1 alone, and one of them a value twice.

    NOTE: that is a vector of 0 and 1 for each item, and no list of categories, since these name none twice. Two categories 0
    and 1, of which each item has one or both, are left alone.
    """
    numbers = value.cast(pl.List(pl.Int64), strict=False)
    length = numbers.list.len()
    complete = numbers.list.drop_nulls().list.len() == length
    bits = (numbers.list.min() >= 0) & (numbers.list.max() <= 1) & complete
    listed = length > 0
    one_length = length.filter(listed).n_unique() == 1
    repeats = (numbers.list.n_unique() < length).filter(listed).any()
    return one_length & bits.filter(listed).all() & repeats


def _check_bits(inputs: Frames, of: str, call: str, takes: tuple[Shape, ...]) -> None:
    """Say that a column holds vectors of 0 and 1, where it would be read as the categories 0 and 1; of eager items alone."""
    column = at_hand(inputs.feature(of, call))
    if column is None:
        return
    dtype = column.schema["value"]
    inner = dtype.inner if isinstance(dtype, pl.List) else None
    if inner is None or not (inner.is_integer() or inner == pl.Boolean):
        return
    column = column.filter(VALUE.list.len() > 0)
    # most others are told by a few rows
    first = column.head(_FIRST).select(_are_bits(VALUE)).item()
    if not (first and column.select(_are_bits(VALUE)).item()):
        return
    width = column.select(VALUE.list.len().max()).item()
    vector = (
        f"cast it to a vector: pl.col({of or '...'!r}).cast(pl.Array(pl.Float64, {width})), or "
        if "vector" in takes
        else ""
    )
    raise ColumnError(
        f"{call} would read {_shown(of)} of {FrameOf('items')} as the categories 0 and 1: it is {dtype}, {width} values of 0 "
        f"and 1 for each item, which looks like a vector; {vector}give the names of each item's categories as a list"
    )


@dataclass(frozen=True)
class Feature:
    """Feature column of the items frame: item, value."""

    rows: pl.LazyFrame
    shape: Shape | None
    width: int | None
    """Number of dimensions of its vectors, where the schema says it."""
    known: pl.DataFrame | None = None
    """Its categories in memory, as numbers in place of names."""

    @property
    def dimensions(self) -> list[str]:
        """The columns of `wide`, one for each dimension."""
        return [f"dimension {number}" for number in range(self.width or 0)]

    def wide(self) -> pl.LazyFrame:
        """Return the unit vectors of the items that have one: item, and a column for each dimension.

        NOTE: each is divided by its largest number first, since the squares of large ones have no end.
        """
        columns = [pl.col(name) for name in self.dimensions]
        numbered = enumerate(self.dimensions)
        values = [VALUE.arr.get(place).cast(pl.Float64).alias(name) for place, name in numbered]
        rows = self.rows.select("item", *(value.fill_null(math.nan) for value in values))
        largest = pl.max_horizontal(column.abs() for column in columns)
        for length in (largest, pl.sum_horizontal(column**2 for column in columns).sqrt()):
            rows = rows.with_columns(length=length).with_columns(
                column / pl.col("length") for column in columns
            )
        return rows.filter(pl.col("length").is_finite()).drop("length")

    def parts(self) -> pl.LazyFrame:
        """Return the parts of the items that have a feature: item, part, unit; of categories also share, 1 / their number."""
        if self.known is not None:
            return self.known.lazy()
        if self.shape == "vector":
            return _dimensions(self.rows)
        dtype, is_list = self.rows.collect_schema()["value"], self.shape == "categories"
        part = VALUE
        if getattr(dtype, "inner", dtype) == pl.Categorical:
            part = VALUE.cast(pl.List(pl.String) if is_list else pl.String)
        if not is_list:
            rows, one = self.rows.filter(VALUE.is_not_null()), pl.lit(1.0, dtype=pl.Float64)
            return rows.select("item", part=part, unit=one, share=one)
        rows = self.rows.select("item", part=part.list.unique())
        # NOTE: a null list without its nulls is a list of another dtype to Polars 1, so they go one by one.
        size = pl.col("part").list.drop_nulls().list.len().cast(pl.Float64)
        rows = rows.with_columns(unit=1 / size.sqrt(), share=1 / size)
        rows = rows.filter(pl.col("share").is_finite())
        return rows.explode("part", **AS_EVER).filter(pl.col("part").is_not_null())

    def numbered(self, ask: Ask) -> Feature:
        """Return the feature with its categories in memory, as numbers."""
        (parts,) = ask([self.parts()])
        names = parts.select("part").unique().with_row_index("number")
        parts = parts.join(names, on="part").drop("part").rename({"number": "part"})
        return replace(self, known=parts)

    def numbers(self, least: float | None = None) -> pl.LazyFrame:
        """Return the items that have a finite number: item, value; one below the `least` fails when the plan runs."""
        number = VALUE.cast(pl.Float64)
        rows = self.rows.select("item", value=pl.when(number.is_finite()).then(number)).drop_nulls()
        if least is None:
            return rows
        return rows.with_columns(VALUE + fails_if(pl.col("value") < least, BELOW_0))

    def described(self) -> pl.LazyFrame:
        """Return the items that have a feature, each once."""
        if self.width is not None:
            return self.wide().select("item")
        if self.shape == "category":
            return self.rows.filter(VALUE.is_not_null()).select("item")
        if self.shape == "categories":
            return self.rows.filter(VALUE.list.drop_nulls().list.len() > 0).select("item")
        return _scaled(self.rows).select("item")


def read(inputs: Frames, of: str) -> Feature:
    """Return a feature that was checked before."""
    rows = _rows(inputs, of, "")
    dtype = rows.collect_schema()["value"]
    return Feature(rows, shape_of(dtype), dtype.size if isinstance(dtype, pl.Array) else None)


def _rows(inputs: Frames, of: str, call: str) -> pl.LazyFrame:
    """Return a column of the items in the dtype that its values suggest: item, value."""
    rows = _with_own_dtype(inputs.feature(of, call), "value").lazy()
    dtype = pl.Null() if inputs.items is None else inputs.items.collect_schema()["item"]
    return rows.with_columns(pl.col("item").cast(dtype)).drop_nulls("item")


def _scaled(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return vectors whose largest number is 1, with their lengths; those that have no direction are left out."""
    lengths = rows.filter(VALUE.list.len() > 0).select(
        check=fails_whole_if(
            VALUE.list.len().n_unique() > 1,
            "the vectors of the items have different lengths; give all of them one length",
        )
    )
    element = pl.element().cast(pl.Float64)
    scaled = VALUE.list.eval(element.fill_null(math.nan) / element.abs().max())
    rows = rows.filter(VALUE.list.len() > 0).select("item", value=scaled)
    rows = rows.with_columns(length=VALUE.list.eval(pl.element() ** 2).list.sum().sqrt())
    rows = (
        rows.join(lengths, how="cross")
        .with_columns(pl.col("length") + pl.col("check"))
        .drop("check")
    )
    return rows.filter(pl.col("length").is_finite() & (pl.col("length") > 0))


def _dimensions(rows: pl.LazyFrame) -> pl.LazyFrame:
    rows = _scaled(rows).with_columns(part=pl.int_ranges(0, VALUE.list.len(), dtype=pl.UInt32))
    rows = rows.explode("value", "part", **AS_EVER)
    return rows.select("item", "part", unit=VALUE / pl.col("length"))


def _with_own_dtype(taken: Taken, name: str) -> Taken:
    """Return a frame with a column in the dtype that its values suggest.

    Lists of floats of one length become arrays, and empty ones null. Whole numbers in floats become integers, since pandas
    has integers as floats where one is missing.
    """
    here = at_hand(taken)
    if here is None:
        return taken
    dtype, column = here.schema[name], pl.col(name)
    if isinstance(dtype, pl.List) and dtype.inner.is_float():
        widths = here[name].list.len().unique().drop_nulls()
        widths = widths.filter(widths > 0)
        present = pl.when(column.list.len() > 0).then(column)
        return taken.with_columns(present.list.to_array(widths[0])) if len(widths) == 1 else taken
    if dtype.is_float():
        numbers = here[name].drop_nulls().drop_nans()
        whole = (numbers == numbers.floor()).all() and numbers.is_between(-(2**53), 2**53).all()
        return taken.with_columns(column.fill_nan(None).cast(pl.Int64)) if whole else taken
    return taken
