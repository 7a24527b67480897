"""The command that writes a report: `recframe report`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

import recframe as rf
from recframe.cli import completion
from recframe.cli.declared import BY, METRICS, TRUTH, WINDOW, declared, history_option
from recframe.cli.given import bound_at_once, metrics_and_cutoffs, paths_of, scanned
from recframe.cli.printing import put, say
from recframe.cli.progress import bar
from recframe.cli.results import STDOUT, check_place
from recframe.cli.shell import noted, read_errors, words_of_the_shell
from recframe.cli.tracking import of_metrics
from recframe.cli.uncertain import BASELINE, CLUSTER, FRAMES, LEVEL, MIN_USERS, some
from recframe.errors import plan_errors
from recframe.look.pages.page import Page, check_ending
from recframe.tracking import kept

OUTPUT = click.option(
    "-o",
    "--output",
    default="report.html",
    show_default=True,
    metavar="FILE",
    shell_complete=completion.files,
    help="The page to write, a file that ends in .html; - is the standard output.",
)
KILO = 1000
OF_A_HISTORY = {"history", "output", "title", "window", "model", "metrics", "level"}
"""The options of the page of a history."""


@click.command(short_help="Write a page with everything, which works offline.")
@declared(
    click.argument("recs", required=False, shell_complete=completion.files),
    TRUTH,
    METRICS,
    BASELINE,
    BY,
    LEVEL,
    MIN_USERS,
    CLUSTER,
    click.option("--title", metavar="TEXT", help="What stands above the page."),
    click.option("--title-of", metavar="COLUMN", help="The column of ITEMS that names an item."),
    history_option("Write a page of the runs that recframe track has put there, in place of RECS."),
    WINDOW,
    FRAMES,
    OUTPUT,
)
def report(recs: str | None, truth: str | None, **options: Any) -> None:
    """Write a page in one file: values with intervals, models compared, segments, curves, costs, findings and real cases.

    The files and options are those of recframe evaluate. The page works offline and asks nothing of any network. It needs
    pip install 'recframe[report]'.

    With --history, and without RECS, it is a page of all runs of a history: the newest numbers, what was flagged as a change,
    each metric over time, and the runs behind them. --level is then that of the flags.  [default: 0.99]

    \b
    Examples:
      recframe report recs.parquet truth.parquet -m ndcg@10 -o report.html
      recframe report recs.parquet truth.parquet --model model --baseline popularity --users users.parquet --by country
      recframe report recs.parquet truth.parquet --items items.parquet --train train.parquet --title 'Week 47'
      recframe report --history history.parquet -o dashboard.html
    """  # noqa: D301  click reads the backspace as: leave these lines as they are
    if options["history"] is not None:
        _of_history(recs, options)
        return
    if recs is None:
        raise click.UsageError("Missing argument 'RECS'; or write --history DIR.")
    paths, output = paths_of(recs, truth, options), options["output"]
    with words_of_the_shell(paths):
        _check_output(output, paths.values())
        metrics, cutoffs = metrics_and_cutoffs(options["metrics"], options["cutoffs"])
        frames = scanned(paths, options | {"output": None, "form": None})
        given = some(options, "baseline", "level", "min_users", "cluster", "title", "title_of")
        ask = partial(bound_at_once(frames, options).report, *metrics, k=cutoffs, by=options["by"])
        with (
            noted(ids_as_text=options["ids_as_text"]),
            read_errors(),
            plan_errors(),
            bar("reading"),
        ):
            page = ask(**given)
        _write(page, output)


def _of_history(recs: str | None, options: dict[str, Any]) -> None:
    """Write the page of a history."""
    if recs is not None:
        raise click.UsageError(f"--history makes a page of its own; leave out {recs!r}")
    written = _written()
    beyond = [one for one in written if one not in OF_A_HISTORY]
    if beyond:
        name = beyond[0].replace("_", "-")
        raise click.UsageError(f"--history makes a page of its own, which takes no --{name}")
    output, given = options["output"], some(options, "title", "window", "model")
    # intervals have another default than flags
    given |= some(options, "level") if "level" in written else {}
    with words_of_the_shell({}):
        _check_output(output, [])
        runs = kept.runs(options["history"])
        runs = of_metrics(runs, options["metrics"])
        with plan_errors():
            page = rf.dashboard(runs, **given)
        _write(page, output)


def _written() -> list[str]:
    """Return the names of the options that stand in the command."""
    context = click.get_current_context()
    # click 8.2 says of an argument that is left out that it stands there
    given = [one for one, value in context.params.items() if value is not None]
    sources = {one: context.get_parameter_source(one) for one in given}
    return [one for one, source in sources.items() if source is ParameterSource.COMMANDLINE]


def _check_output(output: str, inputs: Iterable[str]) -> None:
    """Say what is wrong with where the page is to be written."""
    if output != STDOUT:
        check_ending(output)
        check_place(output, inputs)


def _write(page: Page, output: str) -> None:
    """Write the page, and say so."""
    if output == STDOUT:
        put(page.html + "\n")
        return
    page.save(output)
    size = Path(output).expanduser().stat().st_size
    say(f"wrote {output} ({size / KILO:,.0f} kB)", err=True)
