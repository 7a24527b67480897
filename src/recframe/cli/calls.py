"""Functions that run commands, and show their results."""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import click
import polars as pl

import recframe as rf
from recframe import demo as simulated
from recframe.cli.inputs import bound, columns_of, paths_of, reading, scan, scanned
from recframe.cli.output import NotJudgedError, Options, note, put, say
from recframe.cli.results import STDOUT, check_output, check_place, give, is_table, write
from recframe.cli.tables import cells_of, print_findings, print_frame
from recframe.engines.scans import default_memory
from recframe.errors import RecframeError
from recframe.statistics.requirements import is_unmet

PAGE = (".html",)
ENDINGS: Mapping[object, Sequence[str]] = {None: (), "table": (".tex", *PAGE)}
"""Endings of what is published: nothing, a table, and else a page."""
NOT_IN_BUCKETS = {"audit", "report", "track", "table"}
"""Methods that take all users at once; of the others plans are sums over users, which need no more than they are given."""
DEFAULT_METRICS = ("ndcg", "recall", "precision", "hit_rate", "mrr", "map")
DEFAULT_K = 10
SIGNS = re.compile("[<>=≥≤]")
HIDDEN = {"fingerprint", "std", "expected", "n_runs"}
"""Columns of a history that its table goes without."""


# Results


def arguments_of(function: Callable[..., Any], options: Options) -> dict[str, Any]:
    """Return the options that are arguments of a function."""
    known = inspect.signature(function).parameters.keys() - {"metrics"}
    return {name: options[name] for name in known & options.keys()}


def of_method(name: str, options: Options, endings: Iterable[str], *first: Any, **more: Any) -> Any:
    """Return the result of a method of `rec` on files; `endings` are those of further kinds of output."""
    paths = paths_of(options["recs"], options["truth"], options)
    with reading(paths):
        check_output(options, [*paths.values(), *filter(None, [options.get("last")])], endings)
        rec = bound(scanned(paths, options), options)
        if name not in NOT_IN_BUCKETS and options["memory"] is None:
            rec = rec(memory=default_memory())
        method = getattr(rec._in_polars(), name)  # noqa: SLF001  whatever was scanned
        arguments = arguments_of(method, options)
        if "metrics" in options:
            first = tuple(options["metrics"] or DEFAULT_METRICS)
            arguments["k"] = options["k"] or (None if options["metrics"] else DEFAULT_K)
        return method(*first, **arguments | more)


Make: TypeAlias = str | Callable[..., Any]
"""The name of a method of `rec`, or a function."""
Show: TypeAlias = Callable[[Any, Options], None]


def run(make: Make, show: Show, published: Make | None = None, **options: Any) -> None:
    """Make a result and show it, or what is to be published instead."""
    endings = ENDINGS.get(published, PAGE)
    ending = Path(options["output"] or "").suffix.lower()
    if published and ending in endings and options.get("form") is None:
        make, show = published, show_saved
    if isinstance(make, str):
        result = of_method(make, options, endings)
    else:
        check_output(options, endings=endings)
        with reading({}):
            result = make(**arguments_of(make, options))
    show(result, options)


def show_result(result: pl.DataFrame, options: Options) -> None:
    """Show a result, with the options that its reader has to know."""
    words = [
        f"{name} {options[name]}"
        for name in ("baseline", "correction", "level")
        if options.get(name) is not None and name not in result.columns
    ]
    give(result, options, words)


def show_saved(page: Any, options: Options) -> None:
    """Write a page, or a table to publish."""
    path = options["output"]
    if path == STDOUT:
        put(f"{page.html}\n".encode())
    else:
        page.save(path)
        say(f"wrote {path}", err=True)


def show_findings(found: pl.DataFrame, options: Options) -> None:
    """Show findings, and exit with 1 where one is of severity error."""
    if options["memory"] is not None:
        note("within --memory no checks of all users at once are made")
    if is_table(options):
        print_findings(found)
    else:
        give(found, options)
    fail_if("error" in found["severity"])


def fail_if(is_failure: object) -> None:
    """End a command with the status of a failure."""
    if is_failure:
        click.get_current_context().exit(1)


def show_runs(runs: pl.DataFrame, options: Options) -> None:
    """Show runs by their numbers, or write all that is known of them."""
    if "since" in options:
        runs = runs.filter(pl.col("as_of") >= options["since"])
    if options.get("changed"):
        runs = runs.filter(verdict="changed")
    if is_table(options):
        runs = runs.rename({"low": "value_low", "high": "value_high"})
        runs = runs.select(one for one in runs if one.name not in HIDDEN and one.count())
    give(runs, options)
    if "as_of" in options:  # an option of track alone
        say(f"tracked in {options['history']}", err=True)


def show_known(names: Sequence[str], known: pl.DataFrame, options: Options) -> None:
    """List what is known by some columns, or write all of it."""
    give(known.select(names) if is_table(options) else known, options)


def show_explained(found: Any, options: Options) -> None:
    """Show an explanation as text, or its rows."""
    if is_table(options):
        say(str(found))
    else:
        give(found.frame, options)


# Gates, splits and the demo


def run_gate(given: Sequence[str], last: str | None, **options: Any) -> None:
    """Require something of the recommendations, show the states, and exit with 1 where it is not met."""
    truth, *requirements = given if not SIGNS.search(given[0]) else (None, *given)
    options |= {"truth": truth, "last": last}
    earlier: Any = last
    try:
        if last is not None:
            earlier = rf.history(last) if Path(last).is_dir() else scan(last)
        result = of_method("require", options, (), *requirements, last=earlier, raises=False)
    except RecframeError as error:
        raise NotJudgedError(error) from None
    show_result(result, options)
    states = result["state"].value_counts().sort("state").rows()
    say(", ".join(f"{state} {n}" for state, n in states), err=True)
    strict, min_users = options["strict"], options["min_users"]
    fail_if(len(result.filter(is_unmet(strict=strict, min_users=min_users))))


def run_split(rule: str, log: str, output: Path | None, **options: Any) -> None:
    """Split a log, print what came out with its audit, and write the parts."""
    places: dict[str, str] = {}
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        parts = ("train", "fold_in", "truth")
        places = {part: str(output / f"{part}.{options['form']}") for part in parts}
    for place in places.values():
        check_place(place, [log])
    with reading({"log": log}):
        frame: Any = scanned({"log": log}, options)["log"].collect(engine="streaming")
        split = getattr(frame.rec(**columns_of(options)).split, rule)
        made = split(**arguments_of(split, options))
        facts, findings = cells_of(made.describe()), made.audit()
    say(str(made).splitlines()[0])
    folds = ["fold", *facts.pop("fold")]
    print_frame(pl.DataFrame([[*facts], *zip(*facts.values(), strict=True)], folds))
    print_findings(findings)
    for part, place in places.items():
        if part != "fold_in" or len(made.fold_in):
            write(getattr(made, part), place)
    fail_if("error" in findings["severity"])


def run_demo(save: Path | None, **options: Any) -> None:
    """Simulate a shop, evaluate its models, and write its tables."""
    simulation = simulated.simulate(**options)
    say(
        f"A simulated shop: {options['n_users']:,} users, {options['n_items']:,} items, {simulation.train.height:,} rows to "
        f"train on, {simulation.truth.height:,} held out as the truth.\n\n{simulated.python_lines(**options)}"
    )
    answers = [*simulated.answers(simulation)]
    for question, line, frame in answers:
        say(f"{question}\n{line}\n")
        print_frame(frame)
        say("")
    if save is not None:
        simulation.save(save)
        place = shlex.quote(str(save))
        say(
            f"Wrote recs, truth, train, users, items and log into {save}. Try:\n\n"
            f"recframe evaluate {place}/recs.parquet {place}/truth.parquet \\\n"
            f"    --model model --users {place}/users.parquet --by activity -m ndcg@10\n"
        )
    say(simulated.conclusion(answers[0][-1]))
