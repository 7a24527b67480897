"""Rows of requirements: values joined with bounds, models, earlier results and runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from recframe.errors import fails_whole_if, shown_in_plan
from recframe.frames.dtypes import as_text
from recframe.frames.rows.exact_sums import ExactSums
from recframe.metrics.language.at import ratio as ratio_of
from recframe.metrics.language.definition import Metric
from recframe.statistics.pairs import MODEL, OF_TRAININGS, OF_UNITS, PairedValues
from recframe.statistics.requirements import Requirement
from recframe.statistics.summary import FEWEST, joined_notes, with_intervals

OF_PAIRS = ("a", "d", *OF_UNITS, *OF_TRAININGS)
"""Of users with two values what `moments.Moments` has."""
WINDOW = tuple(f"window_{part}" for part in ("n", "mean", "spread", "errors", "own"))
"""Predictions from the last runs of a history; see `prediction.Windows`."""
ROW = {
    "place": pl.Int64,
    **dict.fromkeys(("value", "value_low", "value_high", "mean", "error"), pl.Float64),
    **dict.fromkeys(("freedom", "own_freedom"), pl.Float64),
    **dict.fromkeys(("n_trainings", "n_users", "unpaired", "other_n"), pl.Int64),
    **dict.fromkeys(("of_each", "share", "few", "missing", "rounded", "present"), pl.Boolean),
    **dict.fromkeys(("note", "window_note"), pl.String),
    **dict.fromkeys(("other", "other_low", "other_high", "least", "most"), pl.Float64),
    **dict.fromkeys((*OF_PAIRS, *WINDOW), pl.Float64),
}
"""Columns behind the keys: the place of the requirement; the value with its interval, squared standard error and degrees of
freedom; how many users there are, and how many have but one of two values; whether a value hangs on so few lists that no
interval is known to hold, whether earlier numbers have the row and today's do not, whether they are rounded, and whether a
user has a value now; the other value, of an earlier result with its interval; the lowest and the highest value that a user
can have, and the sums over users with both values; and of a history what its last runs predict."""
BEFORE = "in the earlier result, of {} users, but not in today's"
IN_EACH_RUN = "in each of the last {} runs of the history, but not in today's result"
NO_SUCH_RUN = "the history has no such number"
PAIRED = "{} of {} users, each compared with their own mean over {} runs"
FEW_KNOWN = "the history knows {} of {} users, fewer than half, so compared with the band of runs"
TWICE = "the earlier result has a user twice in one segment; use the same by= for both"
TEXTUAL = (pl.String, pl.Categorical, pl.Enum)  # a tuple: an Enum's hash is not that of pl.Enum
"""Dtypes other than numbers to which text can be cast."""
Places = Mapping[int, Requirement]
"""Requirements by place."""
Decimals = Mapping[str, int]
"""Decimals that the values of some metrics are shown with."""
ROUNDING = 1e-12
"""Tolerance within which a value meets its bound."""


def from_bounds(long: pl.LazyFrame, keys: Sequence[str], level: float) -> pl.LazyFrame:
    """Return the rows of values compared with a number, from rows by the requirements' places; see `summary.with_errors`."""
    return rows_of(with_intervals(long, level), keys)


def from_pairs(sums: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Return the rows of values that are compared with another model's, with the sums over users with both values.

    `sums` are those of `pairs.by_metric` by the requirements' places, with those of `pairs.OF_UNITS`.
    """
    n, few = pl.col("n"), pl.col("dd").cast(pl.Float64) ** 2 < FEWEST * pl.col("dddd")
    few = (~pl.col("share") & few).fill_null(value=False)
    rows = sums.with_columns(
        value=pl.when(n > 0).then((pl.col("a") + pl.col("d")) / n),
        n_users=n,
        few=few,
        units=pl.when(~few).then("units"),
    )
    if OF_TRAININGS[0] in sums.collect_schema():
        rows = rows.with_columns(n_trainings=OF_TRAININGS[0])
    return rows_of(rows, keys)


def rows_of(rows: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Return rows with their keys, the columns of `ROW`, null for those that they lack, and the keys as text.

    NOTE: keys are matched with those of files as text, since these keep no dtypes.
    """
    schema = rows.collect_schema()
    texts = (as_text(pl.col(key), schema[key]).alias(f"key {at}") for at, key in enumerate(keys))
    columns = (
        (pl.col(name) if name in schema else pl.lit(None)).cast(dtype).alias(name)
        for name, dtype in ROW.items()
    )
    return rows.select(*keys, *texts, *columns)


def _on(then: pl.LazyFrame) -> list[str]:
    """Return what earlier rows are matched by: the texts of the keys that they have, and the place."""
    names = then.collect_schema().names()
    return [name for name in names if name == "place" or name.startswith("key ")]


def _beside(rows: pl.LazyFrame, then: pl.LazyFrame) -> pl.LazyFrame:
    """Return rows with the columns that earlier ones have."""
    on = _on(then)
    replaced = [name for name in then.collect_schema() if name not in on]
    return rows.drop(replaced, strict=False).join(then, on=on, how="left", nulls_equal=True)


def with_earlier(rows: pl.LazyFrame, keys: Sequence[str], had: pl.LazyFrame) -> pl.LazyFrame:
    """Return rows of `from_bounds` with what `had_in_summary` has of the same metrics."""
    return rows_of(_beside(rows, had.rename({"n": "other_n"})), keys)


def had_in_summary(
    earlier: pl.LazyFrame, keys: Sequence[str], required: Places, dtypes: pl.Schema
) -> pl.LazyFrame:
    """Return an earlier result's rows: keys as text, `place`, the value `other` with its ends, and `n` users.

    `earlier` has some of the keys, `metric`, `value`, `value_low`, `value_high` and `n_users`.
    """
    numbers = {"other": "value", "other_low": "value_low", "other_high": "value_high"}
    rows = earlier.select(
        *_texts(earlier, keys, dtypes),
        "metric",
        *(pl.col(name).cast(pl.Float64).alias(new) for new, name in numbers.items()),
        n=pl.col("n_users").cast(pl.Int64),
    )
    once = rows.unique([*_on(rows), "metric"], keep="first", maintain_order=True)
    return at_places(once, required)


def with_predictions(
    rows: pl.LazyFrame, keys: Sequence[str], required: Places, predicted: pl.DataFrame
) -> pl.LazyFrame:
    """Return rows of `from_bounds` joined with a history's predictions of the same numbers.

    `predicted` has the keys as text, as `key 0` and on, `metric`, the columns of `ROW` that begin with `window_`, and
    `in_each`: in how many runs a number stands that each run of the window has.
    """
    found = _beside(rows, at_places(predicted.lazy().drop("in_each"), required))
    nothing = pl.when(pl.col("window_n").is_null()).then(pl.lit(NO_SUCH_RUN))
    return rows_of(found.with_columns(pl.coalesce("window_note", nothing)), keys)


def with_missing(
    rows: pl.LazyFrame, keys: Sequence[str], had: pl.LazyFrame, words: str
) -> pl.LazyFrame:
    """Return rows extended by those that only earlier numbers have.

    `had` has some of the keys as text, `place`, the number of users (or runs) `n`, which may be null, and if known the value
    `other`. `words` is the note of such a row, with a place for the number.
    """
    dtypes, on = rows.collect_schema(), _on(had)
    there = rows.filter(pl.col("value").is_not_null() | pl.col("present"))
    told = pl.format(words, pl.col("n").cast(pl.Int64).cast(pl.String).fill_null("some"))
    then = pl.col("other") if "other" in had.collect_schema() else pl.lit(None, pl.Float64)
    gone = had.join(there, on=on, how="anti", nulls_equal=True)
    gone = gone.select(*on, told=told, then=then).unique(on)
    here = rows.with_columns(here=True)
    both = here.join(gone, on=on, how="full", coalesce=True, nulls_equal=True)
    texts = {key: pl.col(f"key {at}") for at, key in enumerate(keys) if f"key {at}" in on}
    both = both.with_columns(
        pl.coalesce(key, _of_text(text, dtypes[key])).alias(key) for key, text in texts.items()
    )
    is_new = pl.col("here").is_null()
    return rows_of(
        both.with_columns(
            note=pl.coalesce(_naming(texts), "note"),
            missing=pl.col("told").is_not_null() | pl.col("missing").fill_null(value=False),
            other=pl.when(is_new).then("then").otherwise("other"),
            n_users=pl.when(is_new).then(0).otherwise("n_users"),
        ),
        keys,
    )


def without_baseline(had: pl.LazyFrame, keys: Sequence[str], baseline: str | None) -> pl.LazyFrame:
    """Return earlier rows without those of the model that others are compared with."""
    text = f"key {keys.index(MODEL)}" if MODEL in keys else ""
    if baseline is None or text not in _on(had):
        return had
    return had.filter(pl.col(text).ne_missing(baseline))


def _naming(texts: Mapping[str, pl.Expr]) -> pl.Expr:
    """Return the note of a row that is missing, with its keys where one is no value of today's dtype."""
    if not texts:
        return pl.col("told")
    lost = [pl.col(key).is_null() & text.is_not_null() for key, text in texts.items()]
    names = pl.concat_str(map(shown_in_plan, texts.values()), separator=", ", ignore_nulls=True)
    named = pl.format("{}: {}", "told", names)
    return pl.when(pl.any_horizontal(lost)).then(named).otherwise("told")


def _texts(
    earlier: pl.LazyFrame, keys: Sequence[str], dtypes: Mapping[str, pl.DataType]
) -> list[pl.Expr]:
    """Return the texts of the keys that earlier rows have, as those of today's dtypes are written.

    NOTE: a file may have 2026-11-01T10:00 or 1.0 as text, which a column writes in another way.
    """
    schema, found = earlier.collect_schema(), []
    for at, key in enumerate(keys):
        if key in schema:
            text = as_text(pl.col(key), schema[key])
            if schema[key] != dtypes[key]:
                text = pl.coalesce(as_text(_of_text(text, dtypes[key]), dtypes[key]), text)
            found.append(text.alias(f"key {at}"))
    return found


def _of_text(text: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Return a key in its dtype from its text, null where the dtype has no such value, as a category that is gone."""
    if dtype == pl.Boolean:
        return pl.when(text.is_in(["true", "false"])).then(text == "true")
    if isinstance(dtype, pl.Datetime):
        read = text.str.to_datetime(time_unit=dtype.time_unit, strict=False)
        return read.dt.replace_time_zone(dtype.time_zone)
    if dtype == pl.Date:
        return text.str.to_date("%Y-%m-%d", strict=False)
    if dtype.is_numeric() or dtype in TEXTUAL:
        return text.cast(dtype, strict=False)
    return pl.lit(None).cast(dtype)


def at_places(rows: pl.LazyFrame, required: Places) -> pl.LazyFrame:
    """Return rows of metrics once for each requirement of them, with its place."""
    places = pl.LazyFrame(
        {"place": list(required), "metric": [str(one.metric) for one in required.values()]},
        schema={"place": pl.Int64, "metric": pl.String},
    )
    return rows.join(places, on="metric").drop("metric")


def by_user_or_run(
    rows: pl.LazyFrame,
    paired: pl.LazyFrame,
    keys: Sequence[str],
    required: Places,
    windows: pl.DataFrame,
) -> pl.LazyFrame:
    """Return rows of `from_pairs` where half of the users, or more, are known from the runs before, else those of runs.

    `rows` are those of `with_predictions`; `windows` has what is said of the runs once users are allowed for, with the keys as
    text, as `key 0` and on, `metric`, some of the columns that begin with `window_`, and `users_note`.
    """
    said = at_places(windows.lazy(), required)
    n, unpaired, note = pl.col("n_users"), pl.col("unpaired"), pl.col("users_note")
    enough, runs = (n >= unpaired) & (n > 0), pl.col("window_n").cast(pl.Int64)
    every = (n + unpaired).cast(pl.Int64)
    counted = pl.when(enough).then(pl.format(PAIRED, n, every, runs))
    told = pl.coalesce(note, counted.otherwise(pl.format(FEW_KNOWN, n, every)))
    now = _beside(paired, said).filter(pl.col("window_n").is_not_null())
    now = now.with_columns(told=told, is_paired=note.is_null() & enough)
    is_paired = pl.col("is_paired").fill_null(value=False)
    both = _beside(rows, now.select(*_on(now), "is_paired", "told"))
    found = [now.filter(is_paired), both.filter(~is_paired)]
    note = joined_notes(["told", "note"])
    return pl.concat(rows_of(one.with_columns(note=note), keys) for one in found)


def sums_with_earlier(
    now: pl.LazyFrame,
    then: pl.LazyFrame,
    keys: Sequence[str],
    metrics: Sequence[Metric[...]],
    decimals: Decimals,
) -> pl.LazyFrame:
    """Return the sums of `pairs.SUMS` over users who have a value now and had one then, and whether those are rounded.

    Both have the keys (`then` some of them), `user` and for each metric, by its place, its value.
    """
    schema, own = then.collect_schema(), now.collect_schema()
    common = [name for name in [*keys, "user"] if name in schema]
    on = [f"on {name}" for name in common]

    def keyed(rows: pl.LazyFrame, dtypes: pl.Schema) -> pl.LazyFrame:
        return rows.with_columns(
            (
                pl.col(name) if schema[name] == own[name] else as_text(pl.col(name), dtypes[name])
            ).alias(of)
            for name, of in zip(common, on, strict=True)
        )

    twice = fails_whole_if(pl.struct(on).is_duplicated().any(), TWICE)
    names = [f"value {place}" for place in range(len(metrics))]
    then = keyed(then, schema).select(*on, **{f"a {name}": pl.col(name) + twice for name in names})
    # NOTE: of users who had a value then and have no row now nothing is known of their segments, so they do not count.
    joined = keyed(now, own).join(then, on=on, how="left", nulls_equal=True)
    values, also = PairedValues(names, metrics), []
    for place, metric in enumerate(metrics):
        a, n_decimals = pl.col(f"a value {place}"), decimals.get(str(metric))
        is_rounded = pl.lit(value=False)
        if n_decimals is not None:
            is_rounded = ((a.round(n_decimals) - a).abs() <= ROUNDING).all()
        is_present = pl.col(f"value {place}").is_not_null().any()
        also += [is_rounded.alias(f"rounded {place}"), is_present.alias(f"present {place}")]
    sums = values.summed(joined, list(keys), also)
    totals = values.totals(range(len(metrics)))
    return sums.select(*keys, pl.col("^(rounded|present) .*$"), *totals)


def had_by_users(
    users: pl.LazyFrame, keys: Sequence[str], required: Places, dtypes: pl.Schema
) -> pl.LazyFrame:
    """Return earlier users' rows for `with_missing`, from some of the keys and the metrics' values under their strings."""
    common = [key for key in keys if key in users.collect_schema()]
    found = []
    for place, one in required.items():
        value = pl.col(str(one.metric))
        n = value.count().cast(pl.Int64).alias("n")
        rows = ExactSums({"other": value}).of(users, common, [n])
        mean = ratio_of(pl.col("other"), pl.col("n"), empty=None)
        texts = _texts(rows, keys, dtypes)
        found.append(rows.select(*texts, pl.lit(place).alias("place"), "n", other=mean))
    return pl.concat(found)
