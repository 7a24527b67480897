"""The audit: every check's findings as one lazy frame, and those of severity error as a reason to fail."""

from __future__ import annotations

import polars as pl

from recframe.audit.audited import Audited, example
from recframe.audit.checks import CHECKS
from recframe.audit.rule import SEVERITIES, Check, Found
from recframe.errors import fails_whole_if
from recframe.frames.inputs import Inputs

COLUMNS = ("check", "severity", "frame", "rows", "users", "example", "treatment", "remedy")


def audit(data: Audited) -> pl.LazyFrame:
    """Return one row for each finding, the most severe first."""
    found = [(check, one) for check in CHECKS for one in check.findings(data)]
    return _table(found).select(COLUMNS)


def errors(inputs: Inputs) -> pl.LazyFrame:
    """Return a frame of one row that fails when the plan runs and a check finds an error."""
    data = Audited(inputs)
    found = [
        (check, one) for check in CHECKS for one in check.findings(data) if one.severity == "error"
    ]
    rows_of = pl.when(pl.col("rows") == 1).then(pl.lit(" row of ")).otherwise(pl.lit(" rows of "))
    told = pl.format("{}: {}{}{} ({})", "check", "rows", rows_of, "frame", "example")
    table = (
        _table(found).select(told=told).select(told=pl.col("told").str.join("; "), errors=pl.len())
    )
    head, tail = (
        pl.lit("strict=True finds errors in the data: "),
        pl.lit("; rec.audit() says what to do"),
    )
    return table.select(
        check=fails_whole_if(pl.col("errors") > 0, pl.concat_str(head, "told", tail))
    )


def _table(found: list[tuple[Check, Found]]) -> pl.LazyFrame:
    """Return the findings of which there are rows, in order."""
    rows = [_row(place, check, one) for place, (check, one) in enumerate(found)]
    return pl.concat(rows).sort("severity order", "place")


def _row(place: int, check: Check, found: Found) -> pl.LazyFrame:
    """Return a finding as one row, or none where no row is concerned."""
    schema = found.rows.collect_schema()
    users = (
        pl.col("user").n_unique() - pl.col("user").is_null().any()
        if "user" in schema
        else pl.lit(0)
    )
    one = found.rows.select(
        rows=(pl.col("rows").sum() if "rows" in schema else pl.len()).cast(pl.Int64),
        users=users.cast(pl.Int64),
        example=example(found.shown, schema),
    )
    words = {
        "check": check.name,
        "frame": found.frame,
        "treatment": found.treatment,
        "remedy": found.remedy,
    }
    return one.filter(pl.lit(found.always) | (pl.col("rows") > 0)).select(
        *(pl.lit(text).alias(name) for name, text in words.items()),
        pl.lit(found.severity).alias("severity"),
        pl.lit(SEVERITIES.index(found.severity or check.severity)).alias("severity order"),
        pl.lit(place).alias("place"),
        "rows",
        "users",
        "example",
    )
