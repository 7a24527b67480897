"""The audit: every check, and their findings as one lazy frame."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import inf
from operator import attrgetter
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
)
from recframe.audit.split_rows import SplitRows
from recframe.errors import fails_whole_if, readable, warn
from recframe.evaluation.folds import in_folds
from recframe.evaluation.plan import Run
from recframe.evaluation.required_columns import needs_of
from recframe.evaluation.trainings import one_of_each
from recframe.frames.inputs import Frames, label_columns
from recframe.frames.kinds.kind import Collect, run_by_size
from recframe.frames.options import FOLD
from recframe.metrics.language.definition import Metric

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
"""Doubts that the first ranks may settle; an audit and a LazyFrame have all of them."""
_FIRST = 1_000
"""Rows that mostly show that ranks are in order."""
EVIDENCE = {"needed", "against"}
"""Row counts that decide whether a finding holds."""
NUMBERS = ("rows", "users", "example", *sorted(EVIDENCE))
HOLDS = (
    (pl.col("needed") > 0)
    & (pl.col("against") == 0)
    & (pl.col("without rows") | (pl.col("rows") > 0))
)
COLUMNS = ("check", "severity", "frame", "rows", "users", "example", "treatment", "remedy")


def meanings_of_checks() -> dict[str, str]:
    """Return the meaning of each check, by name."""
    return {check.name: check.meaning for check in [*CHECKS_OF_SPLITS, *CHECKS]}


def audit(data: Data, run: Run) -> pl.LazyFrame:
    """Return one row for each finding, the most severe first."""
    return _table(_findings(data), run).select(COLUMNS)


def audit_split(folds: Mapping[int, SplitRows]) -> pl.LazyFrame:
    """Return one row for each finding about a split, the most severe first."""
    return _table(_over_folds(CHECKS_OF_SPLITS, folds)).select(COLUMNS)


def _over_folds(
    checks: Sequence[Check], folds: Mapping[int, Data | SplitRows]
) -> dict[str, tuple[Check, Finding]]:
    """Return what checks may find in the data of folds, over all of them; examples name theirs."""
    several = len(folds) > 1
    found: dict[str, tuple[Check, Finding]] = {}
    rows: dict[str, list[pl.LazyFrame]] = {}
    for fold, data in folds.items():
        for name, (check, one) in _found(checks, data).items():
            rows.setdefault(name, []).append(one.rows.with_columns(pl.lit(fold).alias(FOLD)))
            shown = one.shown
            if several and shown and not isinstance(shown, str):
                shown = (FOLD, *shown)
            found[name] = check, replace(one, shown=shown, rows=pl.concat(rows[name]))
    return found


def _findings(data: Data) -> dict[str, tuple[Check, Finding]]:
    """Return what checks may find, without those of splits where train and truth are one.

    Of some of the users those that read all users at once are left out.
    """
    own = {check.name for check in CHECKS_OF_SPLITS} if data.split else set()
    some = data.inputs.all_users is not None
    checks = [one for one in CHECKS if not (one.name in own or (some and "all users" in one.needs))]
    of_split = _over_folds(CHECKS_OF_SPLITS, data.split)
    if data.inputs.folds is None:
        return _found(checks, data) | of_split
    each = zip(data.inputs.folds.numbers, in_folds(data.inputs, Run()), strict=True)
    of_folds = {fold: replace(data, inputs=inputs) for fold, inputs in each}
    return _over_folds(checks, of_folds) | of_split


def _found(checks: Sequence[Check], data: Data | SplitRows) -> dict[str, tuple[Check, Finding]]:
    """Return what checks may find in some data that has what they need.

    NOTE: a finding is known by its check and its place among the check's, since buckets differ in what they can leave out.
    """
    held = needs_met(data) if isinstance(data, Data) else data.needs_met
    found = {}
    for check in checks:
        if check.needs <= held:
            for place, one in enumerate(check.function(data)):
                found[f"{check.name} {place}"] = (check, one)
    return found


def needs_met(data: Data) -> set[str]:
    """Return the needs of checks that the frames and options meet."""
    inputs, call = data.inputs, data.of_call
    ranked = not inputs.scored
    holds = {
        "all users": inputs.all_users is None or call is not None,
        "scores": inputs.scored,
        "ranks": ranked,
        "fractions": ranked and inputs.schema["rank"].is_float(),
        "labels": label_columns(inputs.sides["recommendations"], inputs.segments),
        "judged": inputs.truth is None,
        "truth": inputs.truth is not None,
        # a call on a judged frame is not told of users and items that it alone can have
        "truth of a call": inputs.truth is not None or call is None,
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
        holds |= dict.fromkeys(DOUBTS, True)
    else:
        is_parted = inputs.model or (inputs.segments and inputs.inside("rows"))
        n_groups = max(call.n_rows, 1) if is_parted else 1
        if inputs.scored or not _first_rows_show_all(lists, data.k, n_groups):
            holds |= data.doubts(lists, n_groups)
    return set(filter(holds.get, holds))


def _first_rows_show_all(lists: pl.DataFrame, k: int | None, n_groups: int) -> bool:
    """Return whether a few rows leave nothing open: a first rank, ranks that repeat in a group, a rank at k or behind."""
    few = lists.head(_FIRST)
    ranks = few.get_column("rank")
    n_ranks = len(ranks) - ranks.null_count()
    if few.get_column("user").null_count() or few.get_column("item").null_count() or not n_ranks:
        return False
    lowest: Any = ranks.min()
    highest: Any = ranks.max()
    # NOTE: to count different ranks takes as long as all else here
    most = highest - lowest + 1 if ranks.dtype.is_integer() else ranks.n_unique()
    return (
        n_ranks > n_groups * most and -inf < lowest < BEHIND_FIRST and (k is None or highest >= k)
    )


def _table(findings: Mapping[str, tuple[Check, Finding]], run: Run | None = None) -> pl.LazyFrame:
    """Return the findings of which there are rows, in order, summed up over buckets of users; those of items are of all."""
    counts = {name: _counts(name, one) for name, (_, one) in findings.items()}
    words = [_words(place, name, *one) for place, (name, one) in enumerate(findings.items())]
    frames = [*counts.values()]
    if run is not None and run.is_divided:
        of_items = [counts.pop(name) for name, (_, one) in findings.items() if one.frame == ITEMS]
        frames = [run.added([pl.concat(counts.values())], ["finding"], ["example"]), *of_items]
    table = pl.concat(frames).join(pl.LazyFrame(words, infer_schema_length=None), on="finding")
    return table.filter(HOLDS).sort("severity order", "place")


def tell(
    inputs: Frames,
    metrics: Sequence[Metric[...]],
    result: pl.DataFrame | list[pl.DataFrame],
    run: Collect,
    looks: dict[str, pl.DataFrame] | None = None,
    without: Collection[Check] = (),
) -> None:
    """Warn of what is rarely meant, and where there are hardly any hits, of why; of bounds nothing is said.

    The result has a column for each metric, or is the frames of `OfCall.numbers`. Of several trainings one is looked at.
    """
    if inputs.training or inputs.folds is not None:
        inputs = one_of_each(inputs)
    inputs = inputs.candidates if inputs.context.bounds else inputs
    if isinstance(result, list):
        numbers = [*map(pl.DataFrame.to_dict, result)]
        call = OfCall(metrics, inputs.given, numbers, max(map(len, result), default=0))
    else:
        call = OfCall(metrics, inputs.given, _by_metric(inputs, metrics, result), len(result))
    frames: dict[str, Any] = {LISTS: inputs.lists, "truth": inputs.truth, "users": inputs.users}
    given = {} if inputs.all_users is not None else inputs.given
    lazy = (frames.keys() & inputs.sides.keys()) - given.keys()
    is_here = not lazy
    if lazy and inputs.all_users is None and call.n_users is not None:
        is_here = call.n_users <= MANY_USERS
    if is_here and lazy:  # a bound of memory or the shell has the plan collected
        call = replace(call, given={**given, **{name: run(frames[name]) for name in lazy}})
    k = max(filter(None, map(attrgetter("k"), metrics)), default=None)
    data = Data(inputs, k, of_call=call, looks={} if looks is None else looks)
    is_low = _may_be_low(call) and call.are_hits_low and _may_show_why(data)
    checks = (ALWAYS if is_here else []) + (LOW if is_low else [])
    if left_out := [*without, *(OF_SCHEMAS if lazy else ())]:
        checks = [check for check in checks if check not in left_out]
    if not metrics:
        checks = [check for check in checks if check in OF_JUDGING]
    found = _found(checks, data)
    if found:
        rows = run(_table(found)).unique("check", keep="first", maintain_order=True)
        for row in rows.rows(named=True):
            warn(_told(inputs, *found[row["finding"]], row))


def _may_be_low(call: OfCall) -> bool:
    """Return whether no metric of hits has a value of 1 % or more, or of models only such values."""
    for metric, rows in zip(call.metrics, call.numbers, strict=False):
        if rows and needs_of(metric).columns & OF_HITS:
            value = rows["value"]
            known: Any = value.max()
            if "model" in rows:
                known = None if value.has_nulls() else value.min()
            if known is not None and known >= HARDLY:
                return False
    return True


def _may_show_why(data: Data) -> bool:
    """Return whether checks may show why hardly anything was found: of many users some show it first."""
    some, looks = data.of_some_users, data.looks.get("recommendations", ())
    return some is None or len(run_by_size(_table(_found(LOW, some)), len(looks))) > 0


def _by_metric(
    inputs: Frames, metrics: Sequence[Metric[...]], result: pl.DataFrame
) -> list[Numbers]:
    """Return the numbers of a result that has a column for each metric, none of one that it lacks."""
    columns, keys = result.to_dict(), dict[str, pl.Series]()
    model = inputs.context.names["model"]
    if "n_users" in columns:
        keys["n_users"] = columns["n_users"]
    if inputs.model and model in columns:
        keys["model"] = columns[model]
    numbers: list[Numbers] = []
    for metric in metrics:
        value = columns.get(metric.text)
        numbers.append({} if value is None else {"value": value, **keys})
    return numbers


def tell_of_schemas(inputs: Frames) -> None:
    """Warn of what schemas show of lists that are not in memory."""
    for check, one in _found(OF_SCHEMAS, Data(inputs)).values():
        meaning, remedy = check.meaning.rstrip("."), readable(str(one.remedy or check.remedy))
        warn(f"{check.name}: {meaning}; {readable(check.treatment)}; {remedy}")


def _told(inputs: Frames, check: Check, finding: Finding, row: Mapping[str, Any]) -> str:
    """Return the words of a warning."""
    if not finding.shown:
        return f"{check.name}: {row['example']}; {row['remedy']}"
    side = inputs.sides.get("recommendations" if finding.frame == "judged" else finding.frame)
    title = "the frame" if side is None else side.title
    column = side.context.names.get(finding.column, finding.column) if side else finding.column
    where = f"{row['rows']:,} row{'s' * (row['rows'] != 1)} of {title}"
    where += f", column {column!r}" * bool(column)
    found = f"{(finding.meaning or check.meaning).rstrip('.').partition('; ')[0]} ({where}, such as {row['example']})"
    return f"{check.name}: {found}; {row['treatment']}; {row['remedy']}"


def errors(inputs: Frames) -> pl.LazyFrame:
    """Return a frame of one row that fails when the plan runs and a check finds an error."""
    findings = _findings(Data(inputs))
    errors = {
        name: (check, one)
        for name, (check, one) in findings.items()
        if (one.severity or check.severity) == "error"
    }
    table = _table(errors)
    rows_of = pl.when(pl.col("rows") == 1).then(pl.lit(" row of ")).otherwise(pl.lit(" rows of "))
    line = pl.format("{}: {}{}{} ({})", "check", "rows", rows_of, "frame", "example")
    message = pl.format(
        "strict=True finds errors in the data: {}; rec.audit() says what to do", line.str.join("; ")
    )
    return table.select(message=message, errors=pl.len()).select(
        check=fails_whole_if(pl.col("errors") > 0, pl.col("message"))
    )


def _counts(name: str, finding: Finding) -> pl.LazyFrame:
    """Return the numbers of a finding as one row, or none where no row is concerned, or speaks against it."""
    schema = finding.rows.collect_schema()
    counts = {"rows": pl.len(), "users": pl.lit(0), "needed": pl.lit(1), "against": pl.lit(0)}
    if "user" in schema:
        counts["users"] = pl.col("user").n_unique() - pl.col("user").is_null().any()
    sums = {"rows": "rows", "users": "concerned_users", "needed": "needed", "against": "against"}
    counts |= {name: pl.col(one).sum() for name, one in sums.items() if one in schema}
    row = finding.rows.select(
        *(count.cast(pl.Int64).alias(name) for name, count in counts.items()),
        example=example(finding.shown, schema),
    )
    is_kept = pl.lit(finding.without_rows) | pl.any_horizontal(
        pl.col("rows", *EVIDENCE & {*schema}) > 0
    )
    return row.filter(is_kept).select(pl.lit(name).alias("finding"), *NUMBERS)


def _words(place: int, name: str, check: Check, finding: Finding) -> dict[str, str | int | bool]:
    """Return the text columns of a finding, and its sort order."""
    severity = finding.severity or check.severity
    return {
        "finding": name,
        "check": check.name,
        "frame": finding.frame,
        "treatment": readable(finding.treatment or check.treatment),
        "remedy": readable(str(finding.remedy or check.remedy)),
        "severity": severity,
        "severity order": SEVERITIES.index(severity),
        "place": place,
        "without rows": finding.without_rows,
    }
