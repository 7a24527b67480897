"""Tables of files by their kinds, with a row for each item."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import polars as pl

import recframe as rf
from recframe.cli.files import (
    ARROW_STREAM,
    BINARY,
    JSON,
    KNOWN,
    PARQUET,
    RANKED,
    TREC,
    Given,
    Source,
)
from recframe.cli.output import note
from recframe.cli.text_dtypes import ROWS
from recframe.cli.text_files import Dtypes, Table, text_table
from recframe.errors import RecframeError, short, wrong_ending
from recframe.readers.trec_files import QRELS, RUN, scan_lines

SEPARATORS = {".csv": ",", ".tsv": "\t"}
NO_KEY = "__HIVE_DEFAULT_PARTITION__"
"""Hive's word for a value that is missing."""
ROLES = {"user", "item", "items", "rank", "relevance"}
"""Names by which a JSON dictionary is one of columns, and not of users."""
WITHOUT_LISTS = {"users", "items", "last"}
IN_BRACKETS = r"(?s)^(\[.*\]|[({].*,.*[)}])$"
"""Pattern of a list as Python, JSON or NumPy prints it, as in CSV files of pandas."""


def table_of(given: Given, sources: Sequence[Source]) -> Table:
    """Return the table of a path's files, with a row for each item."""
    kinds = [*dict.fromkeys(source.kind for source in sources)]
    if len(kinds) > 1:
        raise RecframeError(
            f"{given.path!r} stands for files of several kinds ({', '.join(kinds)}); give a pattern of one kind"
        )
    tables = (_table(given, source, is_alone=len(sources) == 1) for source in sources)
    parts = [table for table in tables if table is not None and table.schema]
    if not parts:
        raise RecframeError(
            f"cannot read {given.path!r}: it is empty; a table without rows has a header line"
        )
    return parts[0] if len(parts) == 1 else _joined(given, parts)


def _table(given: Given, source: Source, *, is_alone: bool) -> Table | None:
    """Return the table of a file, None for an empty one."""
    name, kind = source.name, source.kind
    mark = given.option("separator") or SEPARATORS.get(kind)
    if mark is not None and kind not in (*BINARY, *JSON):
        table = text_table(given, source, mark)
        return table and _in_long_form(source, table)
    keys = _keys(name) if kind in BINARY and name != given.path else {}
    if kind in PARQUET:
        rows = pl.scan_parquet(source.content, hive_partitioning=False)
    elif kind == ARROW_STREAM:
        rows = pl.read_ipc_stream(source.read()).lazy()
    elif kind in BINARY:
        rows = pl.scan_ipc(source.content)
    elif kind in JSON:
        rows = _json(given, source)
    elif kind in TREC:
        is_run = kind == TREC[0]
        rows = scan_lines(source.content, name, RUN if is_run else QRELS)
        if is_run and not is_alone:
            model = Path(name).name.removesuffix(".gz").removesuffix(".run")
            rows = rows.with_columns(model=pl.lit(model))
    else:
        raise RecframeError(
            f"cannot read {name!r}: {wrong_ending(kind)}; known are {', '.join(KNOWN)}. If it is text in columns, say what "
            "stands between them: --separator tab"
        )
    rows = rows.with_columns(**keys)
    names = given.names(source, rows.collect_schema().names())
    rows = rows.select(pl.col(old).alias(new) for old, new in names.items())
    return _in_long_form(source, _in_plan(given, source, rows, [names.get(key) for key in keys]))


def _in_plan(
    given: Given, source: Source, rows: pl.LazyFrame, texts: Collection[str | None]
) -> Table:
    """Return rows as a table; of a binary file only `texts` get dtypes by their values, of others all text."""
    is_text = source.kind not in BINARY
    written = [
        column
        for column, dtype in rows.collect_schema().items()
        if dtype == pl.String and (is_text or column in texts)
    ]
    return Table(given, source.name, lambda _: rows, written)


def _joined(given: Given, parts: Sequence[Table]) -> Table:
    """Return the rows of files, by the names of their columns and in the common dtypes of these."""
    names = {name for part in parts for name in part.schema}
    for part in parts:
        for column in given.roles:
            if column in names and column not in part.schema:
                raise RecframeError(
                    f"{part.name!r} has no column {column!r}, which other files of {given.path!r} have; give files of the same "
                    "columns"
                )

    def scan(dtypes: Dtypes) -> pl.LazyFrame:
        return pl.concat([part.scan(dtypes) for part in parts], how="diagonal_relaxed")

    texts = {name for part in parts for name in part.written}
    schema = scan({}).collect_schema()
    written = [name for name in schema if name in texts and schema[name] == pl.String]
    return Table(given, given.path, scan, written, lambda: [part.check() for part in parts], parts)


def _keys(place: str) -> dict[str, pl.Expr]:
    """Return the columns that Hive's folders of a file are, `column=value`."""
    folders = (unquote(folder).partition("=") for folder in Path(place).parent.parts)
    return {
        name: pl.lit(None if value == NO_KEY else value, pl.String)
        for name, is_key, value in folders
        if name and is_key
    }


def _json(given: Given, source: Source) -> pl.LazyFrame:
    """Return the rows of a JSON file: one in each line, a list of them, or a dictionary of users' items."""
    if source.kind == JSON[0]:
        with suppress(pl.exceptions.ComputeError):
            frame = pl.read_json(source.read(), infer_schema_length=None)
            if frame.height != 1 or not all(dtype.is_nested() for dtype in frame.dtypes):
                return frame.lazy()
            users = frame.row(0, named=True)
            if ROLES.isdisjoint(users):
                read: Any = rf.from_lists if given.name in RANKED else rf.from_truth
                lists: pl.DataFrame = read(users)
                return lists.lazy()
            raise RecframeError(
                f'cannot read {source.name!r}: it is no list of rows such as [{{"user": 1, "item": 2, "rank": 1}}]; pandas '
                "writes one with to_json(orient='records')"
            )
    return pl.scan_ndjson(source.content, infer_schema_length=None)


def _in_long_form(source: Source, table: Table) -> Table:
    """Return a table of lists with a row for each item, or one that has a row for each as it is."""
    given, schema, item = table.given, table.schema, table.given.column("item")
    lists, mark = item if item in schema else f"{item}s", given.option("lists_separator")
    if given.name in WITHOUT_LISTS:
        return table
    is_ranked = given.name in RANKED
    rows, texts = table.rows, table.written
    if not isinstance(schema[lists], pl.List | pl.Array):
        if mark is None or (is_ranked and given.column("rank") in schema):
            if lists != item:
                raise RecframeError(given.lacks(source, "item", item, [*schema]))
            return table
        rows, texts = _cut(table, lists, mark), [*schema]
    read: Any = rf.from_lists if is_ranked else rf.from_truth
    number = "score" if is_ranked else "relevance"
    names = {"user": given.column("user"), "item": item, number: given.columns.get(number)}
    return _in_plan(given, source, read(rows, **names), texts)


def _cut(table: Table, lists: str, mark: str) -> pl.LazyFrame:
    """Return a table whose lists in text are list columns, of the items and of numbers of theirs.

    White space separates once; of another mark, nothing between two is a missing item, which keeps its place.
    """
    is_ranked = table.given.name in RANKED
    texts = table.rows.select(pl.col(lists).cast(pl.String)).head(ROWS).collect()[lists]
    in_brackets = texts.filter(texts.str.contains(IN_BRACKETS))
    if len(in_brackets):
        raise RecframeError(
            f"column {lists!r} of {table.name!r} holds {short(in_brackets[0])}, a list in brackets, where text with {mark!r} "
            "between ids is expected; write list columns to Parquet or NDJSON"
        )
    if is_ranked and texts.count() and not texts.str.contains(mark, literal=True).any():
        note(
            f"no text of the column {lists!r} has {mark!r} in it, so each list has one item, such as "
            f"{short(texts.drop_nulls()[0])!r}; --lists-separator takes the text between two ids"
        )
    number = table.given.column("score" if is_ranked else "relevance")
    cuts = {}
    for name in {lists, number, f"{number}s"} & {*table.schema}:
        text = pl.col(name).cast(pl.String).replace("", None)
        values = pl.element().str.strip_chars().replace("", None)
        is_space = not mark.strip()
        cut = text.str.extract_all(f"[^{mark}]+") if is_space else text.str.split(mark)
        cut = cut.list.eval(values)
        cuts[name] = cut if name == lists else cut.cast(pl.List(pl.Float64))
    return table.rows.with_columns(**cuts)
