"""The audit: every check, and their findings as one lazy frame."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import filterfalse
from math import inf, isfinite
from operator import attrgetter, itemgetter
from typing import Any

import polars as pl

from recframe.audit import (
    checks_of_ids,
    checks_of_lists,
    checks_of_models,
    checks_of_splits,
    checks_of_truth,
    checks_of_users,
)
from recframe.audit.checks import SEVERITIES, Check, Finding
from recframe.audit.data import (
    BEHIND_FIRST,
    HARDLY,
    MANY_USERS,
    OF_HITS,
    Data,
    Numbers,
    OfCall,
    example,
    highest,
)
from recframe.audit.split_rows import SplitRows
from recframe.errors import fails_whole_if, readable, warn
from recframe.evaluation.folds import in_folds
from recframe.evaluation.plan import Run
from recframe.evaluation.required_columns import needs_of
from recframe.evaluation.trainings import one_of_each
from recframe.frames.inputs import Frames, label_columns
from recframe.frames.kinds.kind import Collect, run_as_it_is
from recframe.frames.options import FOLD
from recframe.metrics.language.definition import Metrics

PAGES = (checks_of_ids, checks_of_lists, checks_of_truth, checks_of_users, checks_of_models)
CHECKS = [var for page in PAGES for var in vars(page).values() if isinstance(var, Check)]
"""Every check, page by page, in the order of each page."""
CHECKS_OF_SPLITS = [var for var in vars(checks_of_splits).values() if isinstance(var, Check)]
"""The checks of train and truth, of a split and of frames with times."""
ALWAYS = [check for check in CHECKS if check.warns == "always"]
LOW = [check for check in CHECKS if check.warns == "low"]
"""The checks of all calls, and those of calls with hardly any hits."""
OF_SCHEMAS = [checks_of_truth.truth_is_the_lists, checks_of_lists.models_of_the_truth]
"""The checks of calls on lists that are not in memory: schemas alone show what is wrong."""
OF_JUDGING = [checks_of_truth.unbound_two_values, checks_of_truth.unbound_grades]
"""The checks of calls that have no metrics."""

LISTS, ITEMS = "recommendations", "items"
"""The frame of the lists, and that which every bucket of users has in full."""
DOUBTS = ("no place", "late starts", "no repeats", "all below k")
"""Doubts that ranks may settle; an audit and a LazyFrame have all of them."""
_FIRST = 1_000
"""Rows that mostly settle them."""
COUNTS = {"rows": "rows", "users": "concerned_users", "needed": "needed", "against": "against"}
"""The counts of a finding, each with the column of frames of sums that has it."""
COLUMNS = ("check", "severity", "frame", "rows", "users", "example", "treatment", "remedy")


Found = dict[str, tuple[Check, Finding]]
"""What checks may find, each finding by its name."""


def meanings_of_checks() -> dict[str, str]:
    """Return the meaning of each check, by name."""
    return {check.name: check.meaning for check in [*CHECKS_OF_SPLITS, *CHECKS]}


def audit(data: Data, run: Run) -> pl.LazyFrame:
    """Return one row for each finding, the most severe first."""
    return _table(_findings(data), run).select(COLUMNS)


def audit_split(folds: Mapping[int, SplitRows]) -> pl.LazyFrame:
    """Return one row for each finding about a split, the most severe first."""
    return _table(_over_folds(CHECKS_OF_SPLITS, folds)).select(COLUMNS)


def _findings(data: Data) -> Found:
    """Return what checks may find, without those of splits where train and truth are one."""
    own = {check.name for check in CHECKS_OF_SPLITS} if data.split else set()
    checks = [check for check in CHECKS if check.name not in own]
    folds = {0: data}
    if data.inputs.folds is not None:
        each = zip(data.inputs.folds.numbers, in_folds(data.inputs, Run()), strict=True)
        folds = {fold: replace(data, inputs=inputs) for fold, inputs in each}
    return _over_folds(checks, folds) | _over_folds(CHECKS_OF_SPLITS, data.split)


def _over_folds(checks: Sequence[Check], folds: Mapping[int, Data | SplitRows]) -> Found:
    """Return what checks may find in the data of folds, over all of them; examples of several name theirs."""
    found: Found = {}
    for fold, data in folds.items():
        for name, (check, one) in _found(checks, data).items():
            rows, shown = one.rows.with_columns(pl.lit(fold).alias(FOLD)), one.shown
            if name in found:
                rows = pl.concat([found[name][1].rows, rows])
            if len(folds) > 1 and shown and not isinstance(shown, str):
                shown = (FOLD, *shown)
            found[name] = check, replace(one, shown=shown, rows=rows)
    return found


def _found(checks: Sequence[Check], data: Data | SplitRows) -> Found:
    """Return what checks may find in some data that has what they need.

    NOTE: a finding is known by its check and its place among the check's, since buckets differ in what they can leave out.
    """
    met = needs_met(data) if isinstance(data, Data) else data.needs_met
    found = {}
    for check in checks:
        if check.needs <= met:
            for place, one in enumerate(check.function(data)):
                found[f"{check.name} {place}"] = check, one
    return found


def needs_met(data: Data) -> set[str]:
    """Return the needs of checks that the frames and options meet."""
    inputs, call = data.inputs, data.of_call
    is_audit, is_judged, ranked = call is None, inputs.truth is None, not inputs.scored
    holds = {
        "all users": inputs.all_users is None or not is_audit,
        "scores": inputs.scored,
        "ranks": ranked,
        "fractions": ranked and inputs.schema["rank"].is_float(),
        "labels": label_columns(inputs.sides[LISTS], inputs.segments),
        "truth": not is_judged,
        # a call on a judged frame is not told of users and items that it alone can have
        "truth of a call": is_audit or not is_judged,
        "models": inputs.model,
        "segments": inputs.segments,
        "users": inputs.users is not None,
        "items": inputs.items is not None,
        "train": inputs.train is not None,
        "weights": inputs.context.weight is not None,
        "level": inputs.context.min_relevance not in {None, "any"} and inputs.judged,
    }
    lists = None if call is None else data.looks.get(LISTS, call.given.get(LISTS))
    if call is None or lists is None:
        return {*filter(holds.get, holds), *DOUBTS}
    is_parted = inputs.model or (inputs.segments and inputs.inside("rows"))
    n_groups = call.n_rows if is_parted else 1
    doubts = _doubts(data, lists.head(_FIRST), n_groups)
    if any(doubts.values()):
        doubts = _doubts(data, lists, n_groups)
    return {*filter(holds.get, holds), *filter(doubts.get, doubts)}


def _doubts(data: Data, lists: pl.DataFrame, n_groups: int) -> dict[str, bool]:
    """Return what the ranks of some eager lists of a call leave open; more rows leave less."""
    if data.inputs.scored:
        has_place = lists["user"].null_count() < len(lists)
        return {"no place": not has_place, "all below k": data.k is not None}
    ranks = lists["rank"]
    low: Any = ranks.min()
    high: Any = ranks.max()
    lowest, highest = (-inf, -inf) if low is None else (low, high)
    return {
        "no place": not isfinite(lowest),
        "late starts": lowest >= BEHIND_FIRST,
        # else they are so low that some must be there twice
        "no repeats": highest * n_groups >= len(ranks) - ranks.null_count(),
        "all below k": data.k is not None and highest < data.k,
    }


def tell_of_columns(inputs: Frames, metrics: Metrics, result: pl.DataFrame, run: Collect) -> None:
    """Warn of what a result shows that has a column for each metric, see `tell`; of one that it lacks there are no numbers."""
    columns, numbers = result.to_dict(), list[Numbers]()
    names = {"n_users": "n_users"} | (
        {"model": inputs.context.names["model"]} if inputs.model else {}
    )
    keys = {inside: columns[name] for inside, name in names.items() if name in columns}
    for metric in metrics:
        value = columns.get(metric.text)
        numbers.append({} if value is None else {"value": value, **keys})
    tell(inputs, metrics, numbers, run)


def tell(
    inputs: Frames,
    metrics: Metrics,
    numbers: Sequence[Numbers],
    run: Collect,
    looks: dict[str, pl.DataFrame] | None = None,
    without: Collection[Check] = (),
) -> None:
    """Warn of what is rarely meant, and where there are hardly any hits, of why; of bounds nothing is said.

    The numbers are those of `OfCall`. Of several trainings one is looked at.
    """
    if inputs.training or inputs.folds is not None:
        inputs = one_of_each(inputs)
    inputs = inputs.candidates if inputs.context.bounds else inputs
    call = OfCall(metrics, inputs.given, numbers)
    is_whole = inputs.all_users is None
    given = inputs.given if is_whole else {}
    frames: dict[str, Any] = {LISTS: inputs.lists, "truth": inputs.truth, "users": inputs.users}
    lazy = (frames.keys() & inputs.sides.keys()) - given.keys()
    is_here = not lazy or (is_whole and call.n_users <= MANY_USERS)
    if is_here and lazy:  # a bound of memory or the shell has the plan collected
        call = replace(call, given={**given, **{name: run(frames[name]) for name in lazy}})
    k = max(filter(None, map(attrgetter("k"), metrics)), default=None)
    data = Data(inputs, k, of_call=call, looks={} if looks is None else looks)
    is_low = _are_hits_low(call) and _may_show_why(data)
    always = (ALWAYS if metrics else OF_JUDGING) if is_here else []
    left_out = [*without, *(OF_SCHEMAS if lazy else ())]
    checks = filterfalse(left_out.__contains__, [*always, *(LOW if is_low else [])])
    if found := _found([*checks], data):
        rows = run(_table(found)).unique("check", keep="first", maintain_order=True)
        for row in rows.rows(named=True):
            _tell(inputs, *found[row["finding"]], row)


def _are_hits_low(call: OfCall) -> bool:
    """Return whether less than 1 % of the users, or of those of a model, have a hit, or every value is 0 or null.

    NOTE: a mean of values up to 1 is at most the share of users with a hit. Most calls have one that is not low.
    """
    for metric, rows in zip(call.metrics, call.numbers, strict=False):
        if rows and needs_of(metric).columns & OF_HITS:
            value, has_models = rows["value"], "model" in rows
            known: Any = value.min() if has_models else value.max()
            if known is not None and known >= HARDLY and not (has_models and value.has_nulls()):
                return False
    of_hits = call.of_hits
    if not of_hits:
        return bool(call.known) and highest(call.known) == 0
    if "model" not in of_hits[0]:
        return any(map(len, map(itemgetter("value"), of_hits)))
    every = pl.concat(
        [pl.DataFrame({"model": one["model"], "value": one["value"]}) for one in of_hits]
    )
    of_models = every.drop_nulls("model").group_by("model").agg(pl.col("value").max().fill_null(0))
    return bool((of_models["value"] < HARDLY).any())


def _may_show_why(data: Data) -> bool:
    """Return whether checks may show why hardly anything was found: of many users some show it first."""
    some = data.of_some_users
    # the optimizer takes as long as the few rows do
    return some is None or not run_as_it_is(_table(_found(LOW, some))).is_empty()


def tell_of_schemas(inputs: Frames) -> None:
    """Warn of what schemas show of lists that are not in memory."""
    for check, one in _found(OF_SCHEMAS, Data(inputs)).values():
        _tell(inputs, check, one, _words(check, one))


def _tell(inputs: Frames, check: Check, finding: Finding, row: Mapping[str, Any]) -> None:
    """Warn of a finding, with its rows and an example where they are counted."""
    found = (finding.meaning or check.meaning).rstrip(".").partition("; ")[0]
    end = f"{row['treatment']}; {row['remedy']}"
    if not finding.shown:
        found, end = row["example"], row["remedy"]
    elif "rows" in row:
        side = inputs.sides.get(LISTS if finding.frame == "judged" else finding.frame)
        where = f"{row['rows']:,} row{'s' * (row['rows'] != 1)} of "
        where += "the frame" if side is None else str(side.title)
        names = {} if side is None else side.context.names
        if finding.column:
            where += f", column {names.get(finding.column, finding.column)!r}"
        found = f"{found} ({where}, such as {row['example']})"
    warn(f"{check.name}: {found}; {end}")


def errors(inputs: Frames) -> pl.LazyFrame:
    """Return a frame of one row that fails when the plan runs and a check finds an error."""
    findings = _findings(Data(inputs)).items()
    table = _table({
        name: (check, one)
        for name, (check, one) in findings
        if (one.severity or check.severity) == "error"
    })  # fmt: skip
    rows_of = pl.when(pl.col("rows") == 1).then(pl.lit(" row of ")).otherwise(pl.lit(" rows of "))
    line = pl.format("{}: {}{}{} ({})", "check", "rows", rows_of, "frame", "example")
    message = pl.format(
        "strict=True finds errors in the data: {}; rec.audit() says what to do", line.str.join("; ")
    )
    return table.select(message=message, errors=pl.len()).select(
        check=fails_whole_if(pl.col("errors") > 0, pl.col("message"))
    )


def _table(findings: Found, run: Run | None = None) -> pl.LazyFrame:
    """Return the findings of which there are rows, in order, summed up over buckets of users; those of items are of all."""
    counts = {name: _counts(name, one) for name, (_, one) in findings.items()}
    words = [
        {"finding": name, "place": place, **_words(*found)}
        for place, (name, found) in enumerate(findings.items())
    ]
    frames = [*counts.values()]
    if run is not None and run.is_divided:
        of_items = [counts.pop(name) for name, (_, one) in findings.items() if one.frame == ITEMS]
        frames = [run.added([pl.concat(counts.values())], ["finding"], ["example"]), *of_items]
    table = pl.concat(frames).join(pl.LazyFrame(words, infer_schema_length=None), on="finding")
    has_rows = pl.col("without rows") | (pl.col("rows") > 0)
    holds = has_rows & (pl.col("needed") > 0) & (pl.col("against") == 0)
    return table.filter(holds).sort("severity order", "place")


def _counts(name: str, finding: Finding) -> pl.LazyFrame:
    """Return the numbers of a finding as one row, or none where no row is concerned, or speaks against it."""
    schema, user = finding.rows.collect_schema(), pl.col("user")
    none, one = pl.lit(0, pl.Int64), pl.lit(1, pl.Int64)
    counts = [pl.len(), none, one, none]
    if "user" in schema:
        counts[1] = user.n_unique() - user.is_null().any()
    sums = {
        name: (pl.col(one).sum() if one in schema else count).cast(pl.Int64)
        for (name, one), count in zip(COUNTS.items(), counts, strict=True)
    }
    row = finding.rows.select(**sums, example=example(finding.shown, schema))
    counted = pl.any_horizontal(pl.col("rows", *{"needed", "against"} & {*schema}) > 0)
    row = row.filter(counted | finding.without_rows)
    return row.select(pl.lit(name).alias("finding"), *COUNTS, "example")


def _words(check: Check, finding: Finding) -> dict[str, str | int | bool]:
    """Return the words of a finding, and its place among others by severity."""
    severity = finding.severity or check.severity
    return {
        "check": check.name,
        "frame": finding.frame,
        "treatment": readable(finding.treatment or check.treatment),
        "remedy": readable(str(finding.remedy or check.remedy)),
        "severity": severity,
        "severity order": SEVERITIES.index(severity),
        "without rows": finding.without_rows,
    }
