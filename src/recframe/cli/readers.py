"""Tables of files by their kinds, with a row for each item."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

import recframe as rf
from recframe.cli.files import (
    BINARY,
    JSON,
    KNOWN,
    OF_NO_PAIRS,
    PARQUET,
    RANKED,
    TREC,
    Given,
    Source,
)
from recframe.cli.text_files import Part, Table, text_part
from recframe.errors import RecframeError, wrong_ending
from recframe.readers.trec_files import QRELS, RUN, scan_lines

SEPARATORS = {".csv": ",", ".tsv": "\t"}
KEY = re.compile(r"([^/\\=]+)=[^/\\]*[/\\]")
"""Pattern of a folder of Hive's, whose column Polars reads."""


def table_of(given: Given, sources: Sequence[Source]) -> Table:
    """Return the table of a path's files, with a row for each item."""
    parts = [_part(given, source) for source in sources]
    # of files with dtypes only folders have dtypes by their values
    keys = KEY.findall(sources[0].name) if sources[0].kind in BINARY else None
    table = Table(given, given.path, [*filter(None, parts)], keys)
    if not table.parts:
        raise RecframeError(
            f"cannot read {given.path!r}: it is empty; a table without rows has a header line"
        )
    for part in table.parts:
        lacking = (given.roles.keys() & table.schema) - {*part.scan({}).collect_schema()}
        if lacking:
            raise RecframeError(
                f"{part.name!r} has no column {min(lacking)!r}, which other files of {given.path!r} have; give files of the "
                "same columns"
            )
    return table if given.name in OF_NO_PAIRS else _in_long_form(sources[0], table)


def _part(given: Given, source: Source) -> Part | None:
    """Return a file of a table, None for an empty one."""
    name, kind = source.name, source.kind
    mark = given.option("separator") or SEPARATORS.get(kind)
    if mark is not None and kind not in (*BINARY, *JSON):
        return text_part(given, source, mark)
    rows = _scanned(given, source)
    if kind == TREC[0] and name != given.path:
        model = Path(name).name.removesuffix(".gz").removesuffix(kind)
        rows = rows.with_columns(model=pl.lit(model))
    names = given.names(source, rows.collect_schema().names())
    rows = rows.select([*names]).rename(names)
    return Part(name, lambda _: rows)


def _scanned(given: Given, source: Source) -> pl.LazyFrame:
    """Return the rows of a file that is no text in columns."""
    kind = source.kind
    if kind in BINARY:
        read: Any = pl.scan_parquet if kind in PARQUET else pl.scan_ipc
        names = KEY.findall(source.name) if source.name != given.path else []
        keys = dict.fromkeys(names, pl.String) or None
        rows: pl.LazyFrame = read(source.content, hive_partitioning=bool(keys), hive_schema=keys)
        return rows
    if kind in JSON:
        return _json(given, source)
    if kind in TREC:
        return scan_lines(source.content, source.name, RUN if kind == TREC[0] else QRELS)
    raise RecframeError(
        f"cannot read {source.name!r}: {wrong_ending(kind)}; known are {', '.join(KNOWN)}. If it is text in columns, say what "
        "stands between them: --separator tab"
    )


def _json(given: Given, source: Source) -> pl.LazyFrame:
    """Return the rows of a JSON file: one in each line, a list of them, or a dictionary of users' items."""
    if source.kind == JSON[0]:
        with suppress(pl.exceptions.ComputeError):
            frame = pl.read_json(source.read(), infer_schema_length=None)
            if frame.height != 1 or not all(dtype.is_nested() for dtype in frame.dtypes):
                return frame.lazy()
            read: Any = rf.from_lists if given.name in RANKED else rf.from_truth
            lists: pl.LazyFrame = read(frame.row(0, named=True)).lazy()
            return lists
    return pl.scan_ndjson(source.content, infer_schema_length=None)


def _in_long_form(source: Source, table: Table) -> Table:
    """Return a table of lists with a row for each item, or one that has a row for each as it is."""
    given, schema, item = table.given, table.schema, table.given.column("item")
    lists = item if item in schema else f"{item}s"
    is_ranked = given.name in RANKED
    number, rows = "score" if is_ranked else "relevance", table.rows
    if not isinstance(schema.get(lists), pl.List | pl.Array):
        mark = given.option("lists_separator")
        if mark is None or (is_ranked and given.column("rank") in schema):
            if lists != item:
                raise given.lacks(source, "item", item, [*schema])
            return table
        rows = _cut(table, lists, mark)
    read: Any = rf.from_lists if is_ranked else rf.from_truth
    names = {"user": given.column("user"), "item": item, number: given.columns.get(number) or None}
    long = read(rows, **names)
    return replace(table, parts=[Part(table.name, lambda _: long, table.check)])


def _cut(table: Table, lists: str, mark: str) -> pl.LazyFrame:
    """Return a table whose lists in text, as Python, JSON or NumPy prints them or without brackets, are list columns.

    White space separates once; of another mark, nothing between two is a missing item, which keeps its place.
    """
    text = pl.col(lists).cast(pl.String).str.strip_chars("[] ").replace("", None)
    cut = text.str.split(mark) if mark.strip() else text.str.extract_all(f"[^{mark}]+")
    ids = pl.element().str.strip_chars(" '\"").replace("", None)
    return table.rows.with_columns(cut.list.eval(ids))
