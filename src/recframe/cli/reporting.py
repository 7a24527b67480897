"""The command that writes a report: `recframe report`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from recframe.cli import completion
from recframe.cli.declared import BY, METRICS, RECS, TRUTH, declared
from recframe.cli.given import bound_at_once, metrics_and_cutoffs, paths_of, scanned
from recframe.cli.progress import bar
from recframe.cli.results import check_place
from recframe.cli.shell import noted, read_errors, words_of_the_shell
from recframe.cli.uncertain import BASELINE, FRAMES, LEVEL, MIN_USERS, some
from recframe.errors import plan_errors
from recframe.look.pages.page import check_ending

OUTPUT = click.option(
    "-o",
    "--output",
    default="report.html",
    show_default=True,
    metavar="FILE",
    shell_complete=completion.files,
    help="The page to write, a file that ends in .html.",
)
KILO = 1000


@click.command(short_help="Write a page with everything, which works offline.")
@declared(
    RECS,
    TRUTH,
    METRICS,
    BASELINE,
    BY,
    LEVEL,
    MIN_USERS,
    click.option("--title", metavar="TEXT", help="What stands above the page."),
    click.option("--title-of", metavar="COLUMN", help="The column of ITEMS that names an item."),
    FRAMES,
    OUTPUT,
)
def report(recs: str, truth: str | None, **options: Any) -> None:
    """Write a page in one file: values with intervals, models compared, segments, curves, costs, findings and real cases.

    The files and options are those of recframe evaluate. The page works offline and asks nothing of any network. It needs
    pip install 'recframe[report]'.

    \b
    Examples:
      recframe report recs.parquet truth.parquet -m ndcg@10 -o report.html
      recframe report recs.parquet truth.parquet --model model --baseline popularity --users users.parquet --by country
      recframe report recs.parquet truth.parquet --items items.parquet --train train.parquet --title 'Week 47'
    """  # noqa: D301  click reads the backspace as: leave these lines as they are
    paths, output = paths_of(recs, truth, options), options["output"]
    with words_of_the_shell(paths):
        check_ending(output)
        check_place(output, paths.values())
        metrics, cutoffs = metrics_and_cutoffs(options["metrics"], options["cutoffs"])
        frames = scanned(paths, options | {"output": None, "form": None})
        given = some(options, "baseline", "level", "min_users", "title", "title_of")
        ask = partial(bound_at_once(frames, options).report, *metrics, k=cutoffs, by=options["by"])
        with (
            noted(ids_as_text=options["ids_as_text"]),
            read_errors(),
            plan_errors(),
            bar("reading"),
        ):
            page = ask(**given)
        page.save(output)
    size = Path(output).expanduser().stat().st_size
    click.echo(f"wrote {output} ({size / KILO:,.0f} kB)", err=True)
