"""A history as a table `history` in a DuckDB file, which a run enters in a transaction."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from recframe.errors import RecframeError
from recframe.tracking.folder import told
from recframe.tracking.tracked_run import Run, Table, keys_of

TABLE = "history"
KEYS = "keys"
"""The column with the names of those that say what a number is about: a table has those of all runs, in no such order."""
WHOLE = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}
NUMBERS = {"UBIGINT", "FLOAT", "DOUBLE"}
PATIENCE = 60.0
"""Seconds that a process waits for others who have the file open: DuckDB gives it to one at a time."""
PAUSE = 0.05


def append(place: Path, run: Run) -> None:
    """Write a run in the place of one of the same key: both at once, or neither."""
    with told(place):
        place.parent.mkdir(parents=True, exist_ok=True)
    keys = json.dumps(keys_of(run.rows.columns), ensure_ascii=False)
    rows = run.table().with_columns(pl.lit(keys).alias(KEYS))
    with _connected(place) as connection:
        connection.register("run", _Stream(rows))
        connection.execute("BEGIN")
        connection.execute(f"CREATE TABLE IF NOT EXISTS {TABLE} AS FROM run LIMIT 0")
        _widen(connection)
        connection.execute(f"DELETE FROM {TABLE} WHERE run = ?", [run.key])  # noqa: S608
        connection.execute(f"INSERT INTO {TABLE} BY NAME FROM run")
        connection.execute("COMMIT")


def tables(place: Path) -> list[Table]:
    """Return what a DuckDB file has of a history."""
    with _connected(place, read_only=True) as connection:
        if TABLE not in _named(connection, "SHOW TABLES"):
            return []
        rows = pl.DataFrame(connection.sql(f"FROM {TABLE}"))
    found = (json.loads(one) for one in rows[KEYS].unique(maintain_order=True))
    keys = dict.fromkeys(chain.from_iterable(found))
    return [(rows.lazy().drop(KEYS), list(keys))]


def _widen(connection: Any) -> None:
    """Give the table the columns of a run that it lacks, and make text of one that has other values there."""
    own = dict(_described(connection, TABLE))
    for name, dtype in _described(connection, "run"):
        quoted = '"' + name.replace('"', '""') + '"'
        if name not in own:
            connection.execute(f"ALTER TABLE {TABLE} ADD COLUMN {quoted} {dtype}")
        elif own[name] not in {dtype, "VARCHAR"}:
            wider = _wider({own[name], dtype})
            connection.execute(f"ALTER TABLE {TABLE} ALTER COLUMN {quoted} TYPE {wider}")


def _wider(dtypes: set[str]) -> str:
    """Return the type that takes the values of two."""
    if dtypes <= WHOLE:
        return "BIGINT"
    return "DOUBLE" if dtypes <= WHOLE | NUMBERS else "VARCHAR"


def _described(connection: Any, table: str) -> list[tuple[str, str]]:
    return [row[:2] for row in connection.execute(f"DESCRIBE {table}").fetchall()]


def _named(connection: Any, question: str) -> set[str]:
    return {row[0] for row in connection.execute(question).fetchall()}


@contextmanager
def _connected(place: Path, *, read_only: bool = False) -> Iterator[Any]:
    """Give a connection to a file, which is closed at the end: a transaction that is not committed is undone."""
    connection = _connection(place, read_only=read_only)
    try:
        yield connection
    finally:
        connection.close()


def _connection(place: Path, *, read_only: bool) -> Any:
    """Return a connection, as soon as no other process has the file open."""
    try:
        import duckdb  # noqa: PLC0415  an extra
    except ModuleNotFoundError:
        msg = "a history in a .duckdb file needs duckdb, which is not installed; write: pip install 'recframe[duckdb]'"
        raise RecframeError(msg) from None
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return duckdb.connect(str(place), read_only=read_only)
        except duckdb.Error as error:
            if "lock" not in str(error).casefold():
                msg = f"cannot open the history {str(place)!r}: {str(error).partition(chr(10))[0]}"
                raise RecframeError(msg) from None
            if time.monotonic() > until:
                msg = (
                    f"the history {str(place)!r} is held by another process for more than {PATIENCE:.0f} seconds: DuckDB gives "
                    "a file to one at a time. Close it there, or track into a folder, which takes several at once: "
                    f"history={str(place.with_suffix('.parquet'))!r}"
                )
                raise RecframeError(msg) from None
        time.sleep(PAUSE)


class _Stream:
    """A frame known by Arrow's interface alone, which takes DuckDB no further library."""

    def __init__(self, rows: pl.DataFrame) -> None:
        self._rows = rows

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._rows.__arrow_c_stream__(requested_schema)
