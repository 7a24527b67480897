"""History in a folder: one Parquet file per run, written atomically."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timezone
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from uuid import uuid4

import polars as pl

from recframe.errors import DataError, RecframeError
from recframe.frames.hints import Either
from recframe.tracking.runs import Run, Table, moment, named, time_behind

ENDING, UNFINISHED = ".parquet", ".unfinished"
USERS, VALUES = "users", ".values"
"""Folder and file ending of users' values, which readers of `*.parquet` do not match."""
RUNS = f"run-*{ENDING}"
LEFT_AFTER = 3600.0
"""Seconds after which an unfinished file counts as abandoned."""
SEAL = b"\xffrecframe: tracked at, sha256\xff"
"""Beginning of a seal: the time that a run was tracked, and a checksum of the file's bytes. No text has these bytes."""
CHECKSUM = "recframe.checksum"
"""Key of a file's metadata with the checksum of its rows."""
OWN = ("as_of", "run", "columns", "metric", "k")
"""Columns of every run."""


def append(place: Path, run: Run) -> None:
    """Write a run, in the place of one of the same key.

    NOTE: it is written beside its place and moved there, which a file system does at once. So a reader sees all of a run or
    none of it, two writers never have a file in common, and of one that is killed a file is left that nobody reads.
    """
    with told(place):
        place.mkdir(parents=True, exist_ok=True)
        _check_own(place, f"*{ENDING}")
        _clean(place)
        tracked_at = time_behind(_last(place))
        whole = place / f"run-{run.key}{ENDING}"
        _write(whole, _packed(run.table(tracked_at), tracked_at))
        users = _users_of(place, run.key)
        if run.users is None:
            users.unlink(missing_ok=True)
        else:
            users.parent.mkdir(exist_ok=True)
            _write(users, run.users)


def _write(whole: Path, packed: bytes) -> None:
    unfinished = whole.parent / f".{whole.stem}-{uuid4().hex}{UNFINISHED}"
    try:
        with unfinished.open("wb") as file:
            file.write(packed)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(whole)
    finally:
        unfinished.unlink(missing_ok=True)


def users_values(place: Path, runs: Sequence[str]) -> dict[str, tuple[str, bytes]]:
    """Return stored users' values by run, with their place; runs without any are left out."""
    found = {}
    with told(place, "read"):
        for run in runs:
            path = _users_of(place, run)
            # it may be removed while others are read
            with suppress(FileNotFoundError):
                found[run] = str(path), path.read_bytes()
    return found


def _users_of(place: Path, run: str) -> Path:
    return place / USERS / f"run-{run}{VALUES}"


def salt_place(place: Path) -> Path:
    """Return the file of the salt that users of a history are hashed with."""
    return place / USERS / "salt"


def tables(place: Path) -> tuple[list[Table], list[str]]:
    """Return the runs of a folder, and the errors of those that cannot be read."""
    with told(place, "read"):
        # NOTE: the oldest first, so that columns stand in the order in which they came to the history
        paths = sorted(place.glob(RUNS), key=lambda one: (one.stat().st_mtime_ns, one))
        _check_own(place, "[!.]*")
    found: list[Table] = []
    damaged = []
    for path in paths:
        try:
            found += _read(path)
        except DataError as error:  # noqa: PERF203  the others are read
            damaged.append(str(error))
    return found, damaged


def is_in_a_history(path: Path) -> bool:
    """Return whether a file is a run of a history, or would be taken for one."""
    place = path.resolve()
    return place.match(RUNS) and any(map(_is_run, place.parent.glob(RUNS)))


def _last(place: Path) -> datetime | None:
    """Return when the last run of a folder was tracked; of files that do not say it, when they were written."""
    times = []
    for path in place.glob(RUNS):
        with suppress(DataError), _damage_told(path):
            written = datetime.fromtimestamp(path.stat().st_mtime, timezone.utc)
            times.append(_unharmed(path)[1] or moment(written))
    return max(times, default=None)


def _packed(rows: pl.DataFrame, tracked_at: datetime) -> bytes:
    """Return the file of a run, with a seal before its footer, where readers of Parquet do not look."""
    file = BytesIO()
    rows.write_parquet(file, metadata={CHECKSUM: _checksum(rows)})
    packed = file.getvalue()
    footer = len(packed) - 8 - int.from_bytes(packed[-8:-4], "little")
    time = tracked_at.isoformat(timespec="microseconds").encode()
    return packed[:footer] + SEAL + time + sha256(packed + time).digest() + packed[footer:]


def _unharmed(path: Path) -> tuple[bytes, datetime | None]:
    """Return the bytes of a run, and of one that has a seal when it was tracked; or say that it is damaged.

    NOTE: before Polars reads them, since of some that are damaged it ends the process.
    """
    # at once, since another process may replace the file
    packed = path.read_bytes()
    before, seal, behind = packed.rpartition(SEAL)
    time, checksum, footer = behind[:26], behind[26:58], behind[58:]
    if not seal:
        return packed, None
    if sha256(before + footer + time).digest() != checksum:
        raise DataError(_no_run(path, "it was damaged after it was tracked"))
    return packed, datetime.fromisoformat(time.decode())


def _read(path: Path) -> list[Table]:
    """Return a run, or say that it is damaged."""
    with _damage_told(path):
        packed, sealed = _unharmed(path)
        rows = pl.read_parquet(BytesIO(packed))
        missing = [name for name in OWN if name not in rows.columns]
        if missing:
            raise DataError(_no_run(path, f"it has no column {missing[0]!r}"))
        # without a seal another tool may have written it anew, with the metadata that it had
        said = None if sealed else pl.read_parquet_metadata(BytesIO(packed)).get(CHECKSUM)
        if said is not None and said != _checksum(rows):
            raise DataError(_no_run(path, "its rows are not those that were tracked"))
        return named(rows)


def _checksum(rows: pl.DataFrame) -> str:
    """Return a text that other rows do not have, and that every version of Polars makes of these."""
    said = [rows.height, *map(_canonical, rows.get_columns())]
    return sha256(json.dumps(said, default=str).encode()).hexdigest()


def _canonical(column: pl.Series) -> list[object]:
    unit, zone = (getattr(column.dtype, one, None) for one in ("time_unit", "time_zone"))
    values = (column.to_physical() if column.dtype.is_temporal() else column).to_list()
    # most columns of a run have one value
    alike = bool(values) and values.count(values[0]) == len(values)
    return [column.name, unit, zone, values[:1] if alike else values]


@contextmanager
def _damage_told(path: Path) -> Iterator[None]:
    """Turn any read error into an error that names the damaged file."""
    try:
        yield
    except RecframeError:
        raise
    except (Exception, pl.exceptions.PanicException) as error:  # noqa: BLE001  a panic is no Exception
        raise DataError(_no_run(path, _reason(error))) from None


def _check_own(place: Path, others: str) -> None:
    """Reject folders with other files and no run.

    NOTE: whoever reads the data of a folder as `folder/*.parquet` would read runs that were tracked into it with them.
    """
    found = min((one.name for one in place.glob(others)), default=None)
    if found is not None and not any(place.glob(RUNS)):
        own = Either("history='history.parquet'", "--history history.parquet")
        msg = f"{str(place)!r} is not a history: it has {found!r} and no run; give the history its own folder, such as {own}"
        raise RecframeError(msg)


def _no_run(path: Path, reason: str) -> str:
    return f"{str(path)!r} cannot be read as a run of a history: {reason}; move it elsewhere, or track it again"


def _is_run(path: Path) -> bool:
    with suppress(DataError), _damage_told(path):
        packed, sealed = _unharmed(path)
        return sealed is not None or {*OWN} <= {*pl.read_parquet_schema(BytesIO(packed))}
    return False


def _clean(place: Path) -> None:
    """Remove unfinished files of killed processes."""
    for path in place.glob(f".run-*{UNFINISHED}"):
        # another process may be faster
        with suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime > LEFT_AFTER:
                path.unlink()


@contextmanager
def told(place: Path, what: str = "write") -> Iterator[None]:
    """Turn write or read errors into errors that name the history."""
    try:
        yield
    except OSError as error:
        msg = f"cannot {what} the history {str(place)!r}: {_reason(error)}"
        raise RecframeError(msg) from error


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).partition("\n")[0]
