"""Tables of files by their kinds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import polars as pl

import recframe as rf
from recframe.cli.files import ARROW_STREAM, BINARY, JSON, KNOWN, PARQUET, TREC, Source
from recframe.cli.text_files import SEPARATORS, Dtypes, Form, Table, text_table
from recframe.errors import RecframeError, wrong_ending
from recframe.readers.trec_files import QRELS, RUN, scan_lines

NO_KEY = "__HIVE_DEFAULT_PARTITION__"
"""Hive's word for a value that is missing."""
NO_FORM = Form()
ROLES = {"user", "item", "items", "rank", "relevance"}
"""Names by which a JSON dictionary is one of columns, and not of users."""


def table_of(
    path: str,
    sources: Sequence[Source],
    form: Form = NO_FORM,
    of_users: Callable[[Any], pl.DataFrame] = rf.from_lists,
) -> Table:
    """Return the table of a path's files; a function reads a dictionary of users' items, as JSON has it."""
    kinds = [*dict.fromkeys(source.kind for source in sources)]
    if len(kinds) > 1:
        msg = f"{path!r} stands for files of several kinds ({', '.join(kinds)}); give a pattern of one kind"
        raise RecframeError(msg)
    found = [_table(source, path, form, of_users, is_alone=len(sources) == 1) for source in sources]
    parts = [table for table in found if table is not None and table.schema]
    if not parts:
        msg = f"cannot read {path!r}: it is empty; a table without rows has a header line"
        raise RecframeError(msg)
    return parts[0] if len(parts) == 1 else _joined(path, parts)


def _table(
    source: Source,
    path: str,
    form: Form,
    of_users: Callable[[Any], pl.DataFrame],
    *,
    is_alone: bool,
) -> Table | None:
    """Return the table of a file of a path, None for an empty one."""
    name, kind = source.name, source.kind
    if kind in BINARY:
        keys = _keys(name) if name != path else {}
        rows = _binary(source).with_columns(**keys)
        return Table(name, kind, lambda _: rows, [*keys])
    if kind in JSON:
        return in_plan(name, kind, _json(source, of_users))
    mark = form.separator or SEPARATORS.get(kind)
    if mark is not None:
        return text_table(source, form, mark)
    if kind not in TREC:
        msg = (
            f"cannot read {name!r}: {wrong_ending(kind)}; known are {', '.join(KNOWN)}. If it is text in columns, say what "
            "stands between them: --separator tab"
        )
        raise RecframeError(msg)
    is_run = kind == TREC[0]
    rows = scan_lines(source.content, name, RUN if is_run else QRELS)
    if is_run and not is_alone:
        model = Path(name).name.removesuffix(".gz").removesuffix(".run")
        rows = rows.with_columns(model=pl.lit(model))
    return in_plan(name, kind, rows)


def in_plan(name: str, kind: str, rows: pl.LazyFrame) -> Table:
    """Return rows as a table, whose texts get dtypes later."""
    schema = rows.collect_schema()
    texts = [column for column, dtype in schema.items() if dtype == pl.String]
    return Table(name, kind, lambda _: rows, texts)


def _joined(path: str, parts: Sequence[Table]) -> Table:
    """Return the rows of files, by the columns that all of them have, in their common dtypes."""
    of_all = set.intersection(*({*part.schema} for part in parts))
    names = [name for name in parts[0].schema if name in of_all]

    def scan(dtypes: Dtypes) -> pl.LazyFrame:
        frames = [part.scan(dtypes).select(names) for part in parts]
        return pl.concat(frames, how="vertical_relaxed")

    def check() -> None:
        for part in parts:
            part.check()

    of_parts = {name for part in parts for name in part.written}
    texts = [name for name, dtype in scan({}).collect_schema().items() if dtype == pl.String]
    written = [name for name in texts if name in of_parts]
    return Table(path, parts[0].kind, scan, written, parts[0].decimal, check, parts)


def _keys(place: str) -> dict[str, pl.Expr]:
    """Return the columns that Hive's folders of a file are, `column=value`."""
    folders = (unquote(folder).partition("=") for folder in Path(place).parent.parts)
    return {
        name: pl.lit(None if value == NO_KEY else value, pl.String)
        for name, is_key, value in folders
        if name and is_key
    }


def _binary(source: Source) -> pl.LazyFrame:
    """Return the rows of a file that holds its columns in bytes."""
    if source.kind in PARQUET:
        return pl.scan_parquet(source.content, hive_partitioning=False)
    if source.kind == ARROW_STREAM:
        is_piped = isinstance(source.content, bytes)
        return pl.read_ipc_stream(source.content if is_piped else source.name).lazy()
    return pl.scan_ipc(source.content)


def _json(source: Source, of_users: Callable[[Any], pl.DataFrame]) -> pl.LazyFrame:
    """Return the rows of a JSON file: one in each line, a list of them, or a dictionary of users' items."""
    frame: pl.DataFrame | None = None
    if source.kind == JSON[0]:
        with suppress(pl.exceptions.ComputeError):
            is_piped = isinstance(source.content, bytes)
            place = source.content if is_piped else source.name
            frame = pl.read_json(place, infer_schema_length=None)
    if frame is None:
        return pl.scan_ndjson(source.content, infer_schema_length=None)
    if frame.height != 1 or not all(dtype.is_nested() for dtype in frame.dtypes):
        return frame.lazy()
    users = frame.row(0, named=True)
    if not ROLES.isdisjoint(users):
        msg = (
            f'cannot read {source.name!r}: it is no list of rows such as [{{"user": 1, "item": 2, "rank": 1}}]; pandas writes '
            "one with to_json(orient='records')"
        )
        raise RecframeError(msg)
    return of_users(users).lazy()
