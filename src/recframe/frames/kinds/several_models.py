"""Frames of several models, combined into one with a model column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

import polars as pl

from recframe.errors import ColumnError, RecframeError, kind_of, shown, warn
from recframe.frames.dtypes import common, in_frames
from recframe.frames.hints import ROLES, Either
from recframe.frames.kinds.kind import Kind, Named, Names, Taken, in_memory, is_number, kind_for
from recframe.frames.options import check_option, is_side


@dataclass(frozen=True)
class Models:
    """Frames by model name, and the name of the model column."""

    KIND: ClassVar[type[Kind]]
    frames: Mapping[str, Any]
    model: str


class SeveralModels(Kind):
    """Concatenated frames of several models."""

    frame: Models

    def __init__(self, frame: Models) -> None:
        super().__init__(frame)
        self.kinds = {name: kind_for(one, _title(name)) for name, one in frame.frames.items()}
        self.first = next(iter(self.kinds.values()))
        self.results, self.size = self.first, sum(kind.size for kind in self.kinds.values())
        self.is_lazy, self.collects = self.first.is_lazy, self.first.collects
        self.index_names, self.engine = self.first.index_names, self.first.engine

    @property
    def columns(self) -> list[str]:
        """The names of the columns, of which a frame may lack some."""
        names = chain.from_iterable(kind.columns for kind in self.kinds.values())
        return list(dict.fromkeys([self.frame.model, *names]))

    def labels(self) -> list[str]:
        """Return no names: the models have theirs."""
        return []

    def numbers(self) -> list[str]:
        """Return the names of the columns of numbers that all frames have."""
        common_names = set.intersection(*(set(kind.numbers()) for kind in self.kinds.values()))
        return [name for name in self.first.numbers() if name in common_names]

    def take(self, named: Named, ids: Names = (), numbers: Names = ()) -> Taken:
        """Return some columns of all frames, one below the other, in dtypes that match."""
        taken = {name: self._taken(name, named, ids, numbers) for name in self.kinds}
        schemas = {name: one.collect_schema() for name, one in taken.items()}
        wanted = {inside: _dtype(inside, named[inside], schemas, ids) for inside in named}
        rows: Taken = pl.concat(
            [one.select(_columns(wanted, schemas[name])) for name, one in taken.items()]
        )
        return rows

    def _taken(self, name: str, named: Named, ids: Names, numbers: Names) -> Any:
        """Return the columns that a model's frame has, and its name; without one of a role it says which frame lacks it."""
        kind, model = self.kinds[name], self.frame.model
        present: dict[str, str] = {}
        for inside, column in named.items():
            if column in kind.columns:
                present[inside] = column
            elif inside in ROLES and column != model:
                which = [shown(one) for one, other in self.kinds.items() if column in other.columns]
                raise ColumnError(
                    f"{_title(name)} has no column {column!r}, which that of {', '.join(which)} has; give the frames of all "
                    "models the same columns"
                )
        models = (inside for inside, column in named.items() if column == model)
        return kind.take(present, ids, numbers).with_columns(map(pl.lit(name).alias, models))

    def source(self, name: str) -> Any:
        """Return the data needed to restore a column, from the first frame that has it."""
        for kind in self.kinds.values():
            if name in kind.columns:
                return kind.source(name)
        return None


def _title(name: str) -> str:
    return f"the frame of the model {name!r}"


def _dtype(inside: str, name: str, schemas: Mapping[str, pl.Schema], ids: Names) -> pl.DataType:
    """Return the dtype that a column has in all frames, or say that theirs cannot match."""
    dtypes = {_title(one): schema[inside] for one, schema in schemas.items() if inside in schema}
    found = common(dtypes)
    if found is not None:
        return found
    if inside not in ids and all(map(is_number, dtypes.values())):
        return pl.Float64()
    cast = Either("; cast them to one dtype")
    raise ColumnError(f"column {name!r} has different dtypes: {in_frames(dtypes)}{cast}")


def _columns(wanted: Mapping[str, pl.DataType], schema: pl.Schema) -> list[pl.Expr]:
    """Return the columns of a frame in the dtypes of all frames, null where it lacks one."""
    return [
        pl.col(inside).cast(dtype) if inside in schema else pl.lit(None, dtype).alias(inside)
        for inside, dtype in wanted.items()
    ]


def held(frame: Any, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the frame and the options of a call; a dict of frames as one frame, with the model bound that tells them apart."""
    is_models = isinstance(frame, Mapping) and (not frame or any(map(is_side, frame.values())))
    if not is_models:
        return frame, options
    model = options.get("model") or "model"
    check_option("model", model)
    if not frame:
        give = Either("; give each model's frame: rf.rec({'svd': recs, ...})")
        raise RecframeError(f"the dict of models is empty{give}")
    return Models(_checked(frame, model), model), options | {"model": model}


def _checked(frames: Mapping[Any, Any], model: str) -> dict[str, Any]:
    """Return the frames of the models in memory, after a check of what they are."""
    found = {}
    for name, frame in frames.items():
        if not isinstance(name, str):
            raise RecframeError(
                f"a model has a text as its name; found {shown(name)}: {{str(name): frame for name, frame in models.items()}}"
            )
        found[name] = in_memory(frame, _title(name))
    kinds = {name: kind_for(frame, _title(name)) for name, frame in found.items()}
    first, *_ = kinds
    for name, kind in kinds.items():
        if type(kind) is not type(kinds[first]):
            different = (
                f"{kind_of(found[first])} for {first!r} and {kind_of(found[name])} for {name!r}"
            )
            raise RecframeError(f"the frames of all models must be of one kind; found {different}")
    for name, kind in kinds.items():
        if model in kind.columns:
            rename = Either(", or name another one for the models: rf.rec({...}, model='...')")
            raise ColumnError(f"{_title(name)} has a column {model!r} of its own; drop it{rename}")
        if not kind.size and not kind.is_lazy:
            warn(
                f"{_title(name)} has no rows, so no result has the model; leave it out, or look for its rows"
            )
    return found


Models.KIND = SeveralModels
