"""The command `recframe` and its commands."""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import Any

import click
import polars as pl

import recframe as rf
from recframe import demo as simulated
from recframe.api.splits import Splits
from recframe.cli import inputs
from recframe.cli.options import PATH, option, options_of, options_of_files
from recframe.cli.output import (
    FORMATS,
    PARTS,
    Options,
    form_of,
    give,
    print_findings,
    print_frame,
    say,
    write,
)
from recframe.engines.scans import default_memory
from recframe.errors import readable
from recframe.statistics.requirements import is_unmet

FULLY = "--help-all"
INTERRUPTED, LEFT = 130, 141
"""Exit statuses after Ctrl-C, and where the reader of stdout leaves, as `head` does: 128 and the signal's number."""
ALL_AT_ONCE = {"audit", "table", "report"}
"""Methods that take all users at once; of the others plans are sums over users, which need no more than they are given."""
METRICS = ("ndcg", "recall", "precision", "hit_rate", "mrr", "map")
"""Metrics of a command that names none."""
OF_RUNS = ("fingerprint", "std", "n_runs")
"""Columns that tables of runs go without."""
OF_NAMES = pl.col("^(name|aliases|formula|profile|metrics)$")
"""Columns of metrics and profiles that a table has."""


class Commands(click.Group):
    """Commands whose errors are a line, without a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command, and say in a line what is wrong with its files, or why its output cannot be written."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)
        except click.UsageError as error:
            wrong = error
        except (rf.RecframeError, pl.exceptions.PolarsError) as error:
            wrong = click.UsageError(str(error))
        except OSError as error:
            # so that what is left to write does not fail at the end once more
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            if isinstance(error, BrokenPipeError):
                ctx.exit(LEFT)
            wrong = click.UsageError(
                f"cannot write to {error.filename or 'stdout'}: {error.strerror}"
            )
        # NOTE: the text is final to type checkers, and what show() prints
        wrong.message = " ".join(readable(wrong.message).split())  # type: ignore[misc]
        raise wrong


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help", FULLY]})
@click.version_option(rf.__version__, prog_name="recframe")
def main() -> None:
    """Recommender metrics from tables of recommendations.

    RECS has the columns user, item and rank (from 1) or score; TRUTH has user, item and, if graded, relevance. RECS alone is a
    judged table with a column relevance. Each is a Parquet, CSV, TSV, JSON, NDJSON, Arrow or TREC file, a folder, a pattern in
    quotes, or - for the standard input. The result alone goes to stdout, notes and errors to stderr.

    \b
    recframe demo --save shop
    recframe evaluate shop/recs.parquet shop/truth.parquet --model model
    """  # noqa: D301  click reads the backspace as: leave these lines as they are
    # a terminal that cannot show a character shows a question mark; NOTE: it is a file, which type checkers do not know
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]


# Results


def run(make: Any, show: Any, pages: Mapping[str, Any], **options: Any) -> None:
    """Make a result of files and options and show it, or save the page that a file's ending names."""
    paths = inputs.paths_of(options)
    with inputs.reading(paths):
        known = [*FORMATS] * ("form" in options) + [*pages]
        read = [*paths.values(), str(options.get("last"))]
        options["form"] = form_of(options, known, read)
        if options["form"] in pages:
            make, show = pages[options["form"]], give
        result = make(paths, options)
    show(result, options)


def called(function: Any, _: object, options: Options) -> Any:
    """Return the result of a function on the options that are its arguments."""
    known = inspect.signature(function).parameters.keys() - {"metrics"}
    return function(
        *options.get("metrics", ()), **{name: options[name] for name in known & options.keys()}
    )


def of_method(name: str, paths: Options, options: Options) -> Any:
    """Return the result of a method of `rec` on files; what is not met does not raise."""
    rec = inputs.bound(inputs.scanned(paths, options), options)
    if name not in ALL_AT_ONCE and options["memory"] is None:
        rec = rec(memory=default_memory())
    options = {"raises": False, **options}
    if options.get("metrics", ()) is None:
        options |= {"metrics": METRICS, "k": options["k"] or [10]}
    if last := options.get("last"):
        if Path(last).is_dir():
            options["last"] = rf.history(last)
        else:
            options |= inputs.scanned({"last": last}, {"columns": None})
    return called(getattr(rec._in_polars(), name), paths, options)  # noqa: SLF001  whatever was scanned


def of_rule(name: str, paths: Options, options: Options) -> Any:
    """Return the split of a log by a rule."""
    log: Any = inputs.scanned(paths, options)["log"].collect(engine="streaming")
    return called(getattr(log.rec(**inputs.columns_of(options)).split, name), paths, options)


def show_findings(found: pl.DataFrame, options: Options) -> None:
    """Show findings, and exit with 1 where one is of severity error."""
    give(found, options, print_findings)
    sys.exit("error" in found["severity"])


def show_names(known: pl.DataFrame, options: Options) -> None:
    """Show names by what tells them apart, or write all that is known of them."""
    give(known, options, lambda _: print_frame(known.select(OF_NAMES)))


def show_runs(runs: pl.DataFrame, options: Options) -> None:
    """Show runs by what tells them apart, the latest first, or write all that is known of them."""
    if options.get("changed"):
        runs = runs.filter(verdict="changed")
    ends = {"low": "value_low", "high": "value_high"}
    shown = runs.drop(OF_RUNS, strict=False).rename(ends, strict=False)
    shown = shown.sort("as_of", descending=True, maintain_order=True)
    give(runs, options, lambda _: print_frame(shown))


def explain(metric: str, profiles: Sequence[str]) -> None:
    """Print an explanation."""
    say(str(rf.explain(metric, *profiles)))


def requirements(ctx: click.Context, _: object, given: Sequence[str]) -> Sequence[str]:
    """Return requirements without the truth, which can be the first of what is given."""
    if re.search("[<>=≥≤]", given[0]):
        return given
    ctx.params["truth"] = given[0]
    return given[1:]


def show_states(result: pl.DataFrame, options: Options) -> None:
    """Show states and how many there are of each, and exit with 1 where requirements are not met."""
    give(result, options)
    states = result["state"].value_counts().sort("state").rows()
    say(", ".join(f"{state} {n}" for state, n in states), err=True)
    unmet = is_unmet(strict=options["strict"], min_users=options["min_users"])
    sys.exit(len(result.filter(unmet)) > 0)


def show_split(split: Any, options: Options) -> None:
    """Print what came out of a split with its audit, and write the parts."""
    findings = split.audit()
    say(str(split))
    print_frame(split.describe())
    print_findings(findings)
    folder, form = options["output"], options["form"]
    for name in PARTS * (folder is not None):
        part = getattr(split, name)
        if len(part) or name != "fold_in":
            folder.mkdir(exist_ok=True)
            write(part, folder / f"{name}.{form}", form)
    sys.exit("error" in findings["severity"])


def run_demo(save: Path | None, **options: Any) -> None:
    """Simulate a shop, evaluate its models, and write its tables."""
    simulation = simulated.simulate(**options)
    answers = [*simulated.answers(simulation)]
    say(f"A simulated shop, and three recommenders:\n\n{simulated.python_lines(**options)}")
    for question, line, frame in answers:
        say(f"{question}\n{line}\n")
        print_frame(frame)
        say("")
    if save is not None:
        simulation.save(save)
        say(
            f"Wrote recs, truth, train, users, items and log into {save}. Try there:\n\n"
            "recframe evaluate recs.parquet truth.parquet \\\n"
            "    --model model --users users.parquet --by activity -m ndcg@10\n"
        )
    say(simulated.conclusion(answers[0][-1]))


# The commands

RECS, LOG, HISTORY = (click.Argument([name], type=PATH) for name in ("recs", "log", "history"))
TRUTH = click.Argument(["truth"], type=PATH, required=False)
FOLDER = click.Path(file_okay=False, path_type=Path)
OF_FILES = options_of_files()
OF_RECS = [
    *options_of(
        rf.Rec.__call__,
        named="users items train reference model training memory profile universe "
        "no_relevant min_relevance min_relevance_for relevant_from ties decimals",
    ),
    *OF_FILES,
]
OUTPUT = partial(option, ["-o", "--output"])
OUTPUTS = (
    option(
        ["--format", "form"],
        help="What stands on stdout, in full precision; without it there is a table to look at.",
        type=click.Choice([*FORMATS]),
    ),
    OUTPUT(
        help="Write in full precision to a file, in the format that its ending names; - is stdout, as CSV or as --format says.",
        type=PATH,
    ),
)
NO_PAGES: Options = {}
DOCUMENTED = (rf.Rec.track, rf.Rec.compare, rf.Rec.summarize, rf.Rec.evaluate)
"""Methods whose docstrings hold for parameters of the same name elsewhere, the last first."""


class Command(click.Command):
    """A command that explains the options that many share in its full help alone."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Hide the shared options where the help is wanted that is not full."""
        for one in OF_RECS:
            one.hidden = not {"-h", "--help"}.isdisjoint(args)
        return super().parse_args(ctx, args)


def command(
    name: str,
    make: Any,
    takes: Sequence[Any],
    text: str,
    show: Any = give,
    pages: Options = NO_PAGES,
) -> Command:
    """Return a command that shows a result, or writes one of its pages."""
    shared = ", ".join(one.opts[-1] for one in takes if one in OF_RECS)
    words = fill(f"{FULLY} says more: {shared}", 78, break_on_hyphens=False)
    return Command(
        name,
        params=[*takes],
        callback=partial(run, make, show, pages),
        help=text,
        epilog=shared and f"\b\n{words}",
    )


def method(
    name: str,
    text: str,
    show: Any = give,
    pages: Options = NO_PAGES,
    takes: Sequence[Any] = (TRUTH,),
    outputs: Sequence[Any] = OUTPUTS,
) -> Command:
    """Return the command of a method of `rec` on files."""
    own = options_of(getattr(rf.Rec, name), *DOCUMENTED, but="tidy requirements last raises")
    # a report is no sum over users
    shared = [one for one in OF_RECS if (name, one.name) != ("report", "memory")]
    takes = [RECS, *takes, *own, *outputs, *shared]
    return command(name, partial(of_method, name), takes, text, show, pages)


METHODS = (
    method(
        "evaluate",
        """Compute metrics of the recommendations in RECS, compared with TRUTH.

        \b
        Examples:
          recframe evaluate recs.parquet truth.parquet -m ndcg@10 -m recall@20
          recframe evaluate recs.csv truth.csv --columns user=user_id,item=movie_id
          recframe evaluate 'recs/*.parquet' truth.parquet --model model \\
              --users users.csv --by country
          recframe evaluate r.txt t.txt --separator tab \\
              --header recs=user,item,rank --header truth=user,item
          recframe evaluate judged.parquet -m ndcg,recall -k 5,10,20 -o table.md
          recframe evaluate recs.parquet truth.parquet --model model -o paper.tex
        """,
        pages=dict.fromkeys(("tex", "html", "md"), partial(of_method, "table")),
    ),
    method(
        "audit",
        """Check the data quality of RECS and TRUTH. Within --memory no checks of all users at once are made.

        Exit status: 1 for a finding of severity error; 2 for options and files that cannot be read; else 0.

        \b
        Examples:
          recframe audit recs.parquet truth.parquet -k 10 \\
              --train train.parquet --items items.parquet
        """,
        show_findings,
    ),
    method(
        "summarize",
        """Compute metrics with their intervals, overall or by segment.

        \b
        Examples:
          recframe summarize recs.parquet truth.parquet -m ndcg@10 \\
              --by country --users users.parquet
          recframe summarize recs.parquet truth.parquet --model model -o last.parquet
        """,
    ),
    method(
        "compare",
        """Compare the models in RECS, user by user: their differences, with intervals and verdicts.

        \b
        Examples:
          recframe compare recs.parquet truth.parquet -m ndcg@10 \\
              --model model --baseline popularity
          recframe compare recs.parquet truth.parquet --model model --baseline svd \\
              --margin 0.01 --by country --users users.csv
          recframe compare 'runs/*.run' test.qrels --model model -m map
        """,
    ),
    method(
        "power",
        """Compute the smallest difference that the users can show, and the users that a wanted one needs.

        \b
        Examples:
          recframe power recs.parquet truth.parquet -m ndcg@10 \\
              --model model --baseline svd --wanted 0.01
        """,
    ),
    method(
        "gaps",
        """Find the best and the worst segment of each --by column, and the gap between them.

        \b
        Examples:
          recframe gaps recs.parquet truth.parquet -m ndcg@10 \\
              --users users.parquet --by country,device
        """,
    ),
    method(
        "slices",
        """Compare the segments of the --by columns, alone and crossed, with all other users, the worst first.

        \b
        Examples:
          recframe slices recs.parquet truth.parquet -m ndcg@10 \\
              --users users.parquet --by country,device,age
        """,
    ),
    method(
        "report",
        """Write a page: values, models compared, segments, curves, costs, findings and real cases.

        \b
        Examples:
          recframe report recs.parquet truth.parquet --model model \\
              --baseline popularity -o report.html
        """,
        pages={"html": partial(of_method, "report")},
        outputs=[OUTPUT(help="The page to write.", type=PATH, default="report.html")],
    ),
    method(
        "track",
        """Compute metrics with intervals, and append them to a history.

        \b
        Examples:
          recframe track recs.parquet truth.parquet -m ndcg@10 \\
              --history history --as-of 2026-11-22
        """,
        show_runs,
    ),
    method(
        "require",
        """Require values of metrics, and fail where they are not met.

        A bound is a number, a share of a model's value, 'ndcg@10 >= 0.99 * popularity', or of an earlier result,
        'ndcg@10 >= 0.99 * last'. Each row holds, fails or is open: too few users to tell. Quotes keep a shell from writing to
        files by >. Exit status: 0 if nothing fails; 1 if a requirement fails, a row is missing or nothing was judged (with
        --strict also if a row is open); 2 for options, files and data that cannot be judged.

        \b
        Examples:
          recframe require recs.parquet truth.parquet 'ndcg@10 >= 0.28' 'mrr >= 0.2'
          recframe require recs.parquet truth.parquet 'ndcg@10 >= 0.99 * popularity' \\
              --model model --by country --users users.csv
          recframe require recs.parquet truth.parquet 'ndcg@10 >= 0.99 * last' \\
              --last history
        """,
        show_states,
        takes=[
            click.Argument(
                ["metrics"],
                nargs=-1,
                required=True,
                metavar="[TRUTH] REQUIREMENT...",
                callback=requirements,
            ),
            option(
                ["--last"],
                help="An earlier result, a file of recframe summarize or a history of recframe track, that 'last' stands for.",
                type=PATH,
            ),
        ],
    ),
)
RULES = {name: rule for name, rule in vars(Splits).items() if not name.startswith("_")}
OF_SPLITS = (
    OUTPUT(
        help="The folder for the files train and truth (and fold_in), which is made where it is missing.",
        type=FOLDER,
    ),
    option(
        ["--format", "form"],
        help="The format of the files.",
        type=click.Choice([*FORMATS]),
        default="parquet",
    ),
    *OF_FILES,
)
SPLIT = click.Group(
    "split",
    help="""Split a log into train and truth, and audit the split.

    LOG has a row for each interaction; --columns time=NAME names the times, which all rules but random need. What came out is
    printed, with its audit. Exit status: 1 for a finding of severity error; 2 for options and files that cannot be read.
    """,
    commands=[
        command(
            name.replace("_", "-"),
            partial(of_rule, name),
            [LOG, *options_of(rule, *RULES.values(), Splits), *OF_SPLITS],
            str(inspect.getdoc(rule)).partition("\n")[0],
            show_split,
        )
        for name, rule in RULES.items()
    ],
)
OTHERS = (
    command(
        "history",
        partial(called, rf.history),
        [HISTORY, *OUTPUTS],
        """Print the runs of a history, the latest first. A --format, or -o FILE, has all columns.

        \b
        Examples:
          recframe history history -o runs.csv
        """,
        show_runs,
    ),
    command(
        "changes",
        partial(called, rf.changes),
        [
            HISTORY,
            *options_of(rf.changes, but="history"),
            option(["--changed"], help="Print what changed, and nothing else.", is_flag=True),
            *OUTPUTS,
        ],
        """Print each number of a history with the band of the runs before it, and whether it changed, the latest first.

        Of many numbers some change by chance. With -o FILE.html it is a page of them.

        \b
        Examples:
          recframe changes history --changed
          recframe changes history -o dashboard.html
        """,
        show_runs,
        {"html": partial(called, rf.dashboard)},
    ),
    command(
        "metrics",
        partial(called, rf.list_metrics),
        OUTPUTS,
        """List the metrics; a --format, or -o FILE, has all that is known of them.

        A metric is written name(parameter=value)@k: ndcg@10, 'f_score(beta=2)@5'; recframe explain says what it means.

        \b
        Examples:
          recframe metrics --format json
        """,
        show_names,
    ),
    command(
        "profiles",
        partial(called, rf.list_profiles),
        OUTPUTS,
        """List the conventions of other libraries; a --format, or -o FILE, has all that is known of them.

        \b
        Examples:
          recframe profiles --format json
        """,
        show_names,
    ),
    click.Command(
        "explain",
        params=[
            click.Argument(["metric"]),
            click.Argument(["profiles"], nargs=-1, metavar="[PROFILE]..."),
        ],
        callback=explain,
        help="""Explain a metric, or why two profiles differ in it. In Python rec.explain(...) says in numbers of your own data
        what each switch adds to the value.

        \b
        Examples:
          recframe explain map@10 trec_eval
          recframe explain precision@10 ranx jurity
        """,
    ),
    click.Command(
        "demo",
        params=[
            *options_of(simulated.simulate),
            option(
                ["--save"],
                help="Write the tables as Parquet files, to try commands on.",
                type=FOLDER,
            ),
        ],
        callback=run_demo,
        help="""Simulate a shop with three recommenders, and evaluate them overall and by segment.

        \b
        Examples:
          recframe demo --save shop
        """,
    ),
)
for each in (*METHODS, SPLIT, *OTHERS):
    main.add_command(each)
