"""Readers of files by their kinds."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import polars as pl

import recframe as rf
from recframe.cli.files import ARROW_STREAM, JSON, KNOWN, PARQUET, TABLES, TREC, Source
from recframe.cli.text_files import SEPARATORS, Dtypes, Form, Table, renamed, text_table
from recframe.errors import RecframeError, wrong_ending
from recframe.readers.trec_files import QRELS, RUN, scan_lines

NO_KEY = "__HIVE_DEFAULT_PARTITION__"
"""Hive's word for a value that is missing."""
NO_FORM = Form()
NO_NAMES: Mapping[str, str] = {}
ROLES = {"user", "item", "items", "rank", "relevance"}
"""Names by which a JSON dictionary is one of columns, and not of users."""


def table_of(
    path: str,
    sources: Sequence[Source],
    form: Form = NO_FORM,
    roles: Mapping[str, str] = NO_NAMES,
    of_users: Any = rf.from_lists,
) -> Table:
    """Return the table of a path's files.

    roles: the names of roles' columns, for files that have no names of their own
    of_users: the function that reads a dictionary of users' items, as JSON has it
    """
    kind, *others = dict.fromkeys(source.kind for source in sources)
    if others:
        kinds = ", ".join([kind, *others])
        msg = f"{path!r} stands for files of several kinds ({kinds}); give a pattern of one kind"
        raise RecframeError(msg)
    is_binary = kind in TABLES
    mark = None if is_binary or kind in JSON else form.separator or SEPARATORS.get(kind)
    if mark is None and kind not in KNOWN:
        msg = (
            f"cannot read {path!r}: {wrong_ending(kind)}; known are {', '.join(KNOWN)}. If it is text in columns, say what "
            "stands between them: --separator tab"
        )
        raise RecframeError(msg)
    found = []
    for source in sources:
        if mark is not None:
            found.append(text_table(source, form, mark))
            continue
        rows = _rows(source, roles, of_users, is_alone=len(sources) == 1)
        keys = _keys(source.name) if is_binary and source.name != path else {}
        rows = rows.with_columns(**keys) if keys else rows
        found.append(in_plan(source.name, kind, rows, form.names, keys if is_binary else None))
    parts = [table for table in found if table is not None and table.schema]
    if not parts:
        msg = f"cannot read {path!r}: it is empty; a table without rows has a header line"
        raise RecframeError(msg)
    return parts[0] if len(parts) == 1 else _joined(path, parts)


def in_plan(
    name: str,
    kind: str,
    rows: pl.LazyFrame,
    names: Mapping[str, str] = NO_NAMES,
    written: Collection[str] | None = None,
) -> Table:
    """Return rows as a table under the names of all files; texts of columns that are as written, or all, get dtypes later."""
    schema = rows.collect_schema()
    columns = renamed(schema, names)
    if columns != {column: column for column in schema}:
        rows = rows.select(pl.col(column).alias(new) for column, new in columns.items())
    texts = [
        new
        for column, new in columns.items()
        if schema[column] == pl.String and (written is None or column in written)
    ]
    return Table(name, kind, lambda _: rows, texts)


def _joined(path: str, parts: Sequence[Table]) -> Table:
    """Return the rows of files, by the columns that all of them have, in their common dtypes."""
    names = [name for name in parts[0].schema if all(name in part.schema for part in parts)]

    def scan(dtypes: Dtypes) -> pl.LazyFrame:
        frames = [part.scan(dtypes).select(names) for part in parts]
        return pl.concat(frames, how="vertical_relaxed")

    of_parts = {name for part in parts for name in part.written}
    schema = scan({}).collect_schema()
    written = [name for name in names if name in of_parts and schema[name] == pl.String]
    return Table(path, parts[0].kind, scan, written, parts[0].decimal, parts=parts)


def _keys(place: str) -> dict[str, pl.Expr]:
    """Return the columns that Hive's folders of a file are, `column=value`."""
    found = {}
    for folder in Path(place).parent.parts:
        name, is_key, value = unquote(folder).partition("=")
        if name and is_key:
            found[name] = pl.lit(None if value == NO_KEY else value, pl.String)
    return found


def _rows(
    source: Source, roles: Mapping[str, str], of_users: Any, *, is_alone: bool
) -> pl.LazyFrame:
    """Return the rows of a file that is no text in columns."""
    if source.kind in PARQUET:
        return pl.scan_parquet(source.content, hive_partitioning=False)
    if source.kind == ARROW_STREAM:
        return pl.read_ipc_stream(source.place).lazy()
    if source.kind in TABLES:
        return pl.scan_ipc(source.content)
    if source.kind in JSON:
        return _json(source, roles, of_users)
    return _trec(source, roles, is_alone=is_alone)


def _json(source: Source, roles: Mapping[str, str], of_users: Any) -> pl.LazyFrame:
    """Return the rows of a JSON file: one in each line, a list of them, or a dictionary of users' items."""
    frame: pl.DataFrame | None = None
    if source.kind == JSON[0]:
        with suppress(pl.exceptions.ComputeError):
            frame = pl.read_json(source.place, infer_schema_length=None)
    if frame is None:
        return pl.scan_ndjson(source.content, infer_schema_length=None)
    is_dictionary = frame.height == 1 and all(dtype.is_nested() for dtype in frame.dtypes)
    if not is_dictionary:
        return frame.lazy()
    users = frame.row(0, named=True)
    if not ROLES.isdisjoint(users):
        msg = (
            f'cannot read {source.name!r}: it is no list of rows such as [{{"user": 1, "item": 2, "rank": 1}}]; pandas writes '
            "one with to_json(orient='records')"
        )
        raise RecframeError(msg)
    found: pl.DataFrame = of_users(users)
    return found.lazy().rename(roles, strict=False)


def _trec(source: Source, roles: Mapping[str, str], *, is_alone: bool) -> pl.LazyFrame:
    """Return the rows of a TREC file; a run among several has a column `model` with the file's name."""
    is_run = source.kind == TREC[0]
    rows = scan_lines(source.content, source.name, RUN if is_run else QRELS)
    if is_run and not is_alone:
        name = Path(source.name).name.removesuffix(".gz").removesuffix(".run")
        rows = rows.with_columns(model=pl.lit(name))
    return rows.rename(roles, strict=False)
