"""Users' values of tracked runs, stored under hashed ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b, sha256
from io import BytesIO

import polars as pl

from recframe.errors import DataError
from recframe.frames.dtypes import as_text
from recframe.tracking import histories
from recframe.tracking.runs import stored_name
from recframe.tracking.time_series import Watched

USER = "user"
CHECKSUM, MARK = 32, 8
"""Bytes of a checksum, and of a salt's mark."""
HASH_BYTES = 8
"""Bytes of a user's hash: of ten million users two collide with a probability of 3 in a million."""
WINDOW = ("window_n", "window_spread", "window_errors")
"""The number of runs in a window, their spread beyond that of users, and the errors of their effects."""


@dataclass(frozen=True)
class UsersOfRuns:
    """Users' mean values over the last runs of a history."""

    salt: bytes
    means: pl.DataFrame
    """The keys as text, as `key 0` and on, `user`, a hash, and under the metric's string the mean of a user's runs."""
    windows: pl.DataFrame
    """The keys, `metric`, the columns of `WINDOW`, and `users_note`: why users are not paired, where they are not."""

    def with_hashes(self, values: pl.DataFrame) -> pl.DataFrame:
        """Return values with the users' hashes in place of the users."""
        return values.with_columns(hashed(values[USER], self.salt))

    @property
    def metrics(self) -> list[str]:
        """The metrics that users have values of."""
        return [name for name in self.means.columns if not name.startswith("key ")][1:]


def hashed(users: pl.Series, salt: bytes) -> pl.Series:
    """Return users as hashes, the same for the same user wherever the salt is the same.

    Ids that match count as one: whole numbers of any width, text and categories.

    NOTE: by a loop of Python, since Polars' own hashes are neither secret nor the same in all of its versions.
    """
    dtype = users.dtype
    is_text = dtype in (pl.String, pl.Categorical, pl.Enum)
    kind = "number" if dtype.is_numeric() else "text" if is_text else str(dtype)
    texts = pl.DataFrame({USER: users}).select(as_text(pl.col(USER), dtype)).to_series()
    before = kind.encode() + b"\0"

    def number(text: str) -> int:
        digest = blake2b(before + text.encode(), digest_size=HASH_BYTES, key=salt).digest()
        return int.from_bytes(digest, "little")

    found = [None if text is None else number(text) for text in texts.to_list()]
    return pl.Series(users.name, found, dtype=pl.UInt64)


def table(values: pl.DataFrame, names: Mapping[str, str], salt: bytes) -> pl.DataFrame:
    """Return users' values as they are kept: segments as text, users hashed, and each metric under its string.

    `names` has the names of the segments' columns, by those that they have here.
    """
    known, schema = values.filter(pl.col(USER).is_not_null()), values.schema
    keys = (
        as_text(pl.col(inside), schema[inside]).alias(stored_name(name, is_split=True))
        for inside, name in names.items()
    )
    numbers = pl.exclude(USER, *names).cast(pl.Float64)
    return known.select(*keys, pl.lit(hashed(known[USER], salt)).alias(USER), numbers)


def packed_users(values: pl.DataFrame, salt: bytes) -> bytes:
    """Return users' values as bytes, with a checksum before them and a mark of their salt."""
    file = BytesIO()
    values.write_parquet(file, compression="zstd")
    content = _mark(salt) + file.getvalue()
    return sha256(content).digest() + content


def unpacked_users(where: str, packed: bytes, salt: bytes) -> pl.DataFrame:
    """Return users' values from their bytes, or say that they are damaged or were hashed with another salt."""
    checksum, content = packed[:CHECKSUM], packed[CHECKSUM:]
    if sha256(content).digest() != checksum:
        msg = f"the values of users in {where!r} were damaged after they were tracked; remove them, or track the run again"
        raise DataError(msg)
    if content[:MARK] != _mark(salt):
        msg = f"the values of users in {where!r} were hashed with another salt than the history has now"
        raise DataError(f"{msg}; restore the old salt, or remove these values")
    return pl.read_parquet(BytesIO(content[MARK:]))


def _mark(salt: bytes) -> bytes:
    return sha256(b"recframe: salt" + salt).digest()[:MARK]


def users_of_runs(
    history: histories.History, rows: pl.DataFrame, split: Sequence[str], how: Watched
) -> UsersOfRuns | None:
    """Return users' means over the last runs of a history; None if it has no users' values of them.

    `rows` are numbers as `numbered` gives them, with `run`, `first`, `place`, `metric` and the keys as text.
    """
    from recframe.statistics.prediction import least  # noqa: PLC0415  NumPy and SciPy are an extra

    keys = [f"key {place}" for place in range(len(split))]
    last = pl.col("place").max().over("series") - how.window
    window = rows.filter("first").filter(pl.col("place") > last)
    taken = histories.users_values(history, window["run"].unique().to_list())
    if not taken:
        return None
    salt = histories.salt_of(history)
    frames = [_named(run, unpacked_users(*one, salt), split) for run, one in taken.items()]
    wide = pl.concat(frames, how="diagonal")
    metrics = [one for one in window["metric"].unique().sort() if one in wide.columns]
    if not metrics:
        return None
    of, index = [*keys, "metric"], [*keys, USER]
    values = wide.unpivot(metrics, index=[*index, "run"], variable_name="metric")
    places = window.select(*of, "run", "place")
    values = values.drop_nulls("value").join(places, on=[*of, "run"], nulls_equal=True)
    # in one order, whose means have the same last bits each time
    counted, windows = _windows(values.sort(*of, USER, "place"), of, how)
    ordered = counted.sort(*of, USER, "place").group_by(*of, USER, maintain_order=True)
    means = ordered.agg(pl.col("value").mean()).pivot("metric", index=index, values="value")
    few, n = pl.lit(least(how.window)), pl.col("window_n").cast(pl.Int64)
    note = pl.format("{} of its runs have users' values, fewer than {}", n, few)
    note = pl.when(n < few).then(note + ", so compared with the band of runs")
    return UsersOfRuns(salt, means, windows.with_columns(users_note=note))


def _named(run: str, values: pl.DataFrame, split: Sequence[str]) -> pl.DataFrame:
    """Return users' values of a run with the keys under the names of their places."""
    stored = {stored_name(name, is_split=True): f"key {at}" for at, name in enumerate(split)}
    return values.rename(stored, strict=False).with_columns(pl.lit(run).alias("run"))


def _windows(
    values: pl.DataFrame, of: Sequence[str], how: Watched
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the values of runs that count, and the window statistics of runs adjusted for users.

    Each user's value is compared with the mean of their other runs; what users of a run have in common are the run's own
    effects, of which the rule of `rf.changes` says how far apart they are and which of them are far off.
    """
    from recframe.statistics.prediction import series_of  # noqa: PLC0415  NumPy and SciPy are an extra

    effects = _effects(values, of)
    series = effects.select(of).unique(maintain_order=True).with_row_index("series")
    effects = effects.join(series, on=of, nulls_equal=True, maintain_order="left")
    age = pl.col("place").rank("dense", descending=True).over("series").cast(pl.Int64)
    effects = effects.with_columns(at=how.window - age)
    places, ids = (effects[one].cast(pl.Int64).to_numpy() for one in ("at", "series"))
    effect, own = (effects[one].cast(pl.Float64).to_numpy() for one in ("effect", "own"))
    found = series_of(places, ids, effect, own, how.window)
    counted = effects.filter(found.counted(how.window)[places, ids]).select(*of, "place")
    said = [
        pl.Series(name, getattr(found.windows, name.removeprefix("window_"))[-1], pl.Float64)
        for name in WINDOW
    ]
    enough = values.join(counted, on=[*of, "place"], nulls_equal=True)
    return enough, series.drop("series").with_columns(said)


def _effects(values: pl.DataFrame, of: Sequence[str]) -> pl.DataFrame:
    """Return how far the users of each run are from the mean of their others, with its squared error."""
    of_user, value = [*of, USER], pl.col("value")
    n = pl.len().over(of_user)
    others = (value.sum().over(of_user) - value) / (n - 1)
    n_runs, apart = pl.col("place").n_unique().over(of), pl.when(n > 1).then(value - others)
    rows = values.with_columns(n_runs=n_runs, apart=apart).group_by(
        *of, "place", maintain_order=True
    )
    share, found = 1.0 - 1.0 / pl.col("n_runs").first(), pl.col("apart")
    return rows.agg(effect=found.mean() * share, own=found.var() * share / found.count())
