"""History in a DuckDB file: a table, written in transactions."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import polars as pl

from recframe.errors import DataError, RecframeError
from recframe.frames.hints import Either
from recframe.tracking.folder import told
from recframe.tracking.runs import Run, Table, named, text, time_behind

TABLE, USERS = "history", "history_users"
WHOLE = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}
NUMBERS = {"UBIGINT", "FLOAT", "DOUBLE"}
PATIENCE = 60.0
"""Seconds to wait for other processes, since DuckDB opens a file for one at a time."""
PAUSE = 0.02
IN_THE_WAY = ("lock on file", "different configuration", "onflict")
"""Parts of DuckDB's errors where another process or connection has the file, or another transaction the table."""
OWN = {"as_of": "TIMESTAMP", "run": "VARCHAR", "tracked_at": "TIMESTAMP", "columns": "VARCHAR"}
"""Columns that identify a history's table."""
T = TypeVar("T")
_ONE = Lock()
"""Lock for threads of this process, since DuckDB connections to one file must not start together."""


def append(place: Path, run: Run) -> None:
    """Write a run in the place of one of the same key: both at once, or neither."""
    with told(place):
        place.parent.mkdir(parents=True, exist_ok=True)

    def write(connection: Any) -> None:
        connection.execute("BEGIN")
        there = _own_table(connection, place)
        asked = f"SELECT max(tracked_at) FROM {TABLE}"  # noqa: S608
        last = connection.execute(asked).fetchall()[0][0] if there else None
        # NOTE: Polars reads no durations from DuckDB; DuckDB 2 takes no column without a dtype from pyarrow 18 or 19
        columns = [
            text(one) if "Duration" in str(one.dtype) else one
            for one in run.table(time_behind(last))
        ]
        without = [column.name for column in columns if column.dtype == pl.Null]
        of_dtypes = pl.DataFrame([column for column in columns if column.dtype != pl.Null])
        connection.register("run", _Stream(of_dtypes))
        connection.execute(f"CREATE TABLE IF NOT EXISTS {TABLE} AS FROM run LIMIT 0")
        _widen(connection, without)
        connection.execute(f"DELETE FROM {TABLE} WHERE run = ?", [run.key])  # noqa: S608
        connection.execute(f"INSERT INTO {TABLE} BY NAME FROM run")
        _keep_users(connection, run)
        connection.execute("COMMIT")

    _when_free(place, write, read_only=False)


def _keep_users(connection: Any, run: Run) -> None:
    """Write the values of a run's users in place of those that are there."""
    if run.users is not None:
        connection.execute(f"CREATE TABLE IF NOT EXISTS {USERS} (run VARCHAR, packed BLOB)")
    elif not _columns_of(connection, USERS):
        return
    connection.execute(f"DELETE FROM {USERS} WHERE run = ?", [run.key])  # noqa: S608
    if run.users is not None:
        connection.execute(f"INSERT INTO {USERS} VALUES (?, ?)", [run.key, run.users])  # noqa: S608


def users_values(place: Path, runs: Sequence[str]) -> dict[str, tuple[str, bytes]]:
    """Return stored users' values by run, with their place; runs without any are left out."""

    def read(connection: Any) -> dict[str, tuple[str, bytes]]:
        if not _columns_of(connection, USERS):
            return {}
        asked = f"SELECT run, packed FROM {USERS} WHERE list_contains(?, run)"  # noqa: S608
        rows = connection.execute(asked, [list(runs)]).fetchall()
        return {run: (f"{place}, table {USERS}, run {run}", packed) for run, packed in rows}

    return _when_free(place, read, read_only=True)


def salt_place(place: Path) -> Path:
    """Return the file of the salt for users' hashes, next to the history's file."""
    return place.with_name(f"{place.name}.salt")


def tables(place: Path) -> tuple[list[Table], list[str]]:
    """Return the tables of a history; DuckDB checks for damage itself."""

    def read(connection: Any) -> list[Table]:
        if not _own_table(connection, place):
            return []
        rows = pl.DataFrame(connection.sql(f"FROM {TABLE}"))
        try:
            return named(rows)
        except (TypeError, ValueError):
            msg = f"the table {TABLE!r} in {str(place)!r} has rows of no run, without 'columns'; delete them"
            raise DataError(msg) from None

    return _when_free(place, read, read_only=True), []


def _own_table(connection: Any, place: Path) -> dict[str, str]:
    """Return the columns of the history's table with their types, none where there is no table; or say that it is another's."""
    found = _columns_of(connection, TABLE)
    if found and not OWN.items() <= found.items():
        own = Either(
            f"history={str(place.with_stem(f'{place.stem}_runs'))!r}", "--history FILE.duckdb"
        )
        msg = f"{str(place)!r} has a table {TABLE!r} that is not a history of recframe; name another file, such as {own}"
        raise RecframeError(msg)
    return found


def _columns_of(connection: Any, table: str) -> dict[str, str]:
    asked = (
        "SELECT column_name, data_type FROM duckdb_columns() WHERE database_name = current_database() "
        "AND schema_name = current_schema() AND lower(table_name) = ? ORDER BY column_index"
    )
    return dict(connection.execute(asked, [table]).fetchall())


def _widen(connection: Any, without: Sequence[str]) -> None:
    """Give the table the columns of a run that it lacks, and make text of one that has other values there.

    Some columns are `without` values, so that they are of whatever dtype the table has.
    """
    own = dict(_described(connection, TABLE))
    empty = [(name, "INTEGER") for name in without if name not in own]
    for name, dtype in [*_described(connection, "run"), *empty]:
        change = f"ALTER TABLE {TABLE} "
        if name not in own:
            connection.execute(f"{change}ADD COLUMN {_quoted(name)} {dtype}")
        elif own[name] not in {dtype, "VARCHAR"}:
            wider = _wider({own[name], dtype})
            connection.execute(f"{change}ALTER COLUMN {_quoted(name)} TYPE {wider}")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _wider(dtypes: set[str]) -> str:
    """Return the type that takes the values of two."""
    if dtypes <= WHOLE:
        return "BIGINT"
    return "DOUBLE" if dtypes <= WHOLE | NUMBERS else "VARCHAR"


def _described(connection: Any, table: str) -> list[tuple[str, str]]:
    return [row[:2] for row in connection.execute(f"DESCRIBE {table}").fetchall()]


def _when_free(place: Path, work: Callable[[Any], T], *, read_only: bool) -> T:
    """Return a function's result with a connection, once no other process or thread has the file.

    A connection that is closed before its transaction is committed leaves the file as it was.
    """
    try:
        import duckdb  # noqa: PLC0415  an extra
    except ModuleNotFoundError:
        msg = "a history in a .duckdb file needs duckdb, which is not installed; write: pip install 'recframe[duckdb]'"
        raise RecframeError(msg) from None
    until = time.monotonic() + PATIENCE
    with _ONE, told(place, "read" if read_only else "write"), _alone(place, until):
        while True:
            try:
                with duckdb.connect(str(place), read_only=read_only) as connection:
                    return work(connection)
            except duckdb.Error as error:
                words = str(error).partition("\n")[0]
                if not any(one in words for one in IN_THE_WAY):
                    what = "read" if read_only else "write"
                    msg = f"cannot {what} the history {str(place)!r}: {words}"
                    raise RecframeError(msg) from error
            _wait(place, until)


@contextmanager
def _alone(place: Path, until: float) -> Iterator[None]:
    """Keep other processes that track into a file out, where the system has locks that go with the process that holds them.

    NOTE: DuckDB's own lock does not cover all of opening and closing a file: one of some hundred runs by three processes at
    once found the file shorter than its head said. So there is a lock around it, on a file beside it.
    """
    try:
        import fcntl  # noqa: PLC0415  which Windows does not have
    except ModuleNotFoundError:
        yield
        return
    with ExitStack() as files:
        # who may read alone, and not write beside the file, is in nobody's way
        with suppress(PermissionError):
            file = files.enter_context(place.with_name(f"{place.name}.lock").open("a"))
            while True:
                with suppress(BlockingIOError):
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                _wait(place, until)
        yield


def _wait(place: Path, until: float) -> None:
    """Wait a moment, or say that it has been long enough."""
    if time.monotonic() > until:
        msg = (
            f"the history {str(place)!r} has been locked by another process for more than {PATIENCE:g} seconds: DuckDB opens "
            "a file for one process at a time. Close it there, or track into a folder, which takes several at once: "
            f"history={str(place.with_suffix('.parquet'))!r}"
        )
        raise RecframeError(msg)
    time.sleep(PAUSE)


class _Stream:
    """Arrow-only frame, so that DuckDB needs no further library."""

    def __init__(self, rows: pl.DataFrame) -> None:
        self._rows = rows

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._rows.__arrow_c_stream__(requested_schema)
