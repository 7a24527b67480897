"""The command `recframe` and its commands."""

from __future__ import annotations

import inspect
import os
import re
import shlex
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import click
import polars as pl

import recframe as rf
from recframe import demo as simulated
from recframe.api.splits import Splits
from recframe.cli import inputs
from recframe.cli.options import FULLY, OF_TEXT, PATH, Command, option, options_of, options_of_files
from recframe.cli.output import (
    FORMATS,
    TABLE,
    cells_of,
    form_of,
    give,
    note,
    print_findings,
    print_frame,
    say,
    show_page,
    write,
)
from recframe.engines.scans import default_memory
from recframe.errors import readable
from recframe.statistics.requirements import is_unmet

INTERRUPTED, LEFT = 130, 141
"""Exit statuses after Ctrl-C, and where the reader of stdout leaves, as `head` does: 128 and the number of the signal."""
WITHOUT_MEMORY = {"report", "track"}
"""Commands that take no bound of memory."""
NOT_IN_BUCKETS = {"audit", "table", *WITHOUT_MEMORY}
"""Methods that take all users at once; of the others plans are sums over users, which need no more than they are given."""
DEFAULTS = {"metrics": ("ndcg", "recall", "precision", "hit_rate", "mrr", "map"), "k": [10]}
"""What is computed where no metric is named; a cut-off can be."""
SIGNS = re.compile("[<>=≥≤]")
OF_RUNS = {"fingerprint", "std", "n_runs"}
OF_NAMES = {
    *("range", "direction", "family", "shape", "over", "needs"),
    *("universe", "no_relevant", "relevant_from", "min_relevance", "min_relevance_for"),
    *("ties", "decimals", "notes", "source"),
}
"""Columns that tables of runs, and those of metrics and profiles, go without."""
TRY = """\
recframe evaluate SHOP/recs.parquet SHOP/truth.parquet \\
    --model model --users SHOP/users.parquet --by activity -m ndcg@10
"""
"""A command on the files of the demo."""
Given: TypeAlias = dict[str, Any]
"""The options of a command, or the paths of its files, by their names."""


class Commands(click.Group):
    """Commands whose errors are a line, without a traceback."""

    def main(self, *args: Any, **settings: Any) -> Any:
        """Run a command, and end with its status."""
        try:
            sys.exit(super().main(*args, **settings | {"standalone_mode": False}))
        except click.Abort:
            sys.exit(INTERRUPTED)
        except click.ClickException as error:
            # click repeats what was written; NOTE: the text is final to type checkers, and what show() prints
            error.message = readable(error.message)  # type: ignore[misc]
            error.show()
            sys.exit(error.exit_code)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command, and say in a line what is wrong with its files, or why its output cannot be written."""
        try:
            return super().invoke(ctx)
        except OSError as error:
            # so that what is left to write does not fail at the end once more
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            if isinstance(error, BrokenPipeError):
                ctx.exit(LEFT)
            text = f"cannot write to {error.filename or 'stdout'}: {error.strerror}"
        except (rf.RecframeError, pl.exceptions.PolarsError) as error:
            text = readable(str(error))
        say(f"error: {' '.join(text.split())}", err=True)
        # of a gate 1 says that a requirement fails
        return ctx.exit(2 if ctx.invoked_subcommand == "require" else 1)


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
    for stream in (sys.stdout, sys.stderr):
        # a terminal that cannot show a character shows a question mark
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]  # they are files


# Results


def run(make: Any, show: Any, pages: Given, **options: Any) -> None:
    """Show the result of a function, or of a method of `rec` by its name, or write the page that a file's ending names."""
    truth = options.get("truth")
    paths = inputs.paths_of(options["recs"], truth, options) if "recs" in options else {}
    with inputs.reading(paths):
        known = [*FORMATS] * ("form" in options) + [*pages]
        read = filter(None, [*paths.values(), options.get("last")])
        form = options["form"] = form_of(options, known, read)
        if form in pages:
            make, show = pages[form], show_page
        result = (
            of_method(make, options, paths)
            if isinstance(make, str)
            else make(**arguments_of(make, options))
        )
    show(result, options)


def arguments_of(function: Any, options: Given) -> Given:
    """Return the options that are arguments of a function."""
    known = inspect.signature(function).parameters.keys() - {"metrics", *OF_TEXT}
    return {name: options[name] for name in known & options.keys()}


def of_method(name: str, options: Given, paths: Given) -> Any:
    """Return the result of a method of `rec` on files; what is not met does not raise."""
    rec = inputs.bound(scanned(paths, options), options)
    if name not in NOT_IN_BUCKETS and options["memory"] is None:
        rec = rec(memory=default_memory())
    method = getattr(rec._in_polars(), name)  # noqa: SLF001  whatever was scanned
    options = {"metrics": (), "last": None, "raises": False, **options}
    if options["metrics"] is None:
        options |= DEFAULTS | ({"k": options["k"]} if options["k"] else {})
    last = options["last"]
    if last is not None:
        options["last"] = rf.history(last) if Path(last).is_dir() else inputs.scan(last)
    return method(*options["metrics"], **arguments_of(method, options))


def scanned(paths: Given, options: Given) -> Given:
    """Return the tables of a command's files; an option for another file is an error."""
    for name in OF_TEXT:
        for file in {*(options[name] or {})} - {"", *paths}:
            flag = f"--{name.replace('_', '-')} {file}=..."
            raise rf.RecframeError(
                f"{flag} is for a file that the command does not have; it has {', '.join(paths)}"
            )
    return inputs.scanned(paths, options)


def show_findings(found: pl.DataFrame, options: Given) -> None:
    """Show findings, and exit with 1 where one is of severity error."""
    if options["memory"] is not None:
        note("within --memory no checks of all users at once are made")
    give(found, options, print_findings)
    fail_if("error" in found["severity"])


def fail_if(is_failure: object) -> None:
    """End a command with the status of a failure."""
    if is_failure:
        click.get_current_context().exit(1)


def show_known(hidden: set[str], known: pl.DataFrame, options: Given) -> None:
    """Show runs or names by what tells them apart, or write all that is known of them."""
    if options.get("since"):
        known = known.filter(pl.col("as_of") >= options["since"])
    if options.get("changed"):
        known = known.filter(verdict="changed")
    if options["form"] == TABLE:
        known = known.rename({"low": "value_low", "high": "value_high"}, strict=False)
        known = known.select(one for one in known if one.name not in hidden and one.count())
    give(known, options)
    if "as_of" in options:
        say(f"tracked in {options['history']}", err=True)


def show_explained(found: Any, options: Given) -> None:
    """Show an explanation as text, or write its rows."""
    give(found.frame, options, lambda *_: say(str(found)))


# Gates, splits and the demo


def requirements(ctx: click.Context, _: object, given: Sequence[str]) -> Sequence[str]:
    """Return requirements without the truth, which can be the first of what is given."""
    if SIGNS.search(given[0]):
        return given
    ctx.params["truth"] = given[0]
    return given[1:]


def show_states(result: pl.DataFrame, options: Given) -> None:
    """Show states and how many there are of each, and exit with 1 where requirements are not met."""
    give(result, options)
    states = result["state"].value_counts().sort("state").rows()
    say(", ".join(f"{state} {n}" for state, n in states), err=True)
    unmet = is_unmet(strict=options["strict"], min_users=options["min_users"])
    fail_if(len(result.filter(unmet)))


def run_split(rule: str, log: str, output: Path | None, **options: Any) -> None:
    """Split a log, print what came out with its audit, and write the parts."""
    names = [f"{part}.{options['form']}" for part in ("train", "fold_in", "truth")]
    places = [output / name for name in names if output]
    with inputs.reading({"log": log}):
        for place in places:
            place.parent.mkdir(parents=True, exist_ok=True)
            form_of(options | {"output": place}, (), [log])
        frame = scanned({"log": log}, options)["log"].collect(engine="streaming")
        split = getattr(frame.rec(**inputs.columns_of(options)).split, rule)
        made = split(**arguments_of(split, options))
        facts, findings = pl.DataFrame(cells_of(made.describe())), made.audit()
    say(str(made).splitlines()[0])
    print_frame(facts.transpose(include_header=True, header_name="fold", column_names="fold"))
    print_findings(findings)
    for place in places:
        part = getattr(made, place.stem)
        if len(part) or place.stem != "fold_in":
            write(part, place, options["form"])
    fail_if("error" in findings["severity"])


def run_demo(save: Path | None, **options: Any) -> None:
    """Simulate a shop, evaluate its models, and write its tables."""
    simulation = simulated.simulate(**options)
    say(f"A simulated shop, and three recommenders:\n\n{simulated.python_lines(**options)}")
    answers = [*simulated.answers(simulation)]
    for question, line, frame in answers:
        say(f"{question}\n{line}\n")
        print_frame(frame)
        say("")
    if save is not None:
        simulation.save(save)
        say(f"Wrote recs, truth, train, users, items and log into {save}. Try:\n")
        say(TRY.replace("SHOP", shlex.quote(str(save))))
    say(simulated.conclusion(answers[0][-1]))


# The commands

RECS, LOG, HISTORY = (click.Argument([name], type=PATH) for name in ("recs", "log", "history"))
TRUTH = click.Argument(["truth"], type=PATH, required=False)
DIR = click.Path(file_okay=False, path_type=Path)
OF_FILES = options_of_files()
of_rec = partial(options_of, rf.Rec.__call__)
OF_RECS = (
    *of_rec(named="users items train reference model training", group="Files"),
    *OF_FILES,
    *of_rec(named="memory", group="Files"),
    *of_rec(
        named="profile universe no_relevant min_relevance min_relevance_for relevant_from ties decimals",
        group="Policies",
    ),
    option(
        ["--all-relevant"],
        bool,
        "Every row of TRUTH counts 1, whatever its columns say.",
        "Policies",
    ),
)
OUTPUT = partial(option, ["-o", "--output"])
OUTPUTS = (
    option(
        ["--format", "form"],
        click.Choice([TABLE, *FORMATS]),
        "What stands on stdout: a table to look at, or all in full precision.  [default: table]",
    ),
    OUTPUT(
        PATH,
        "Write in full precision to a file, in the format that its ending names; - is stdout, as CSV or as --format says.",
    ),
)
DOCUMENTED = (rf.Rec.track, rf.Rec.compare, rf.Rec.summarize, rf.Rec.evaluate)
"""Methods whose docstrings hold for parameters of the same name elsewhere, the last first."""


def command(
    name: str,
    make: Any,
    takes: Sequence[click.Parameter],
    text: str,
    show: Any = give,
    pages: Given | None = None,
) -> Command:
    """Return a command that shows a result, or writes one of its pages."""
    run_it = partial(run, make, show, pages or {})
    return Command(name, params=[*takes], callback=run_it, help=text)


def method(
    name: str,
    text: str,
    show: Any = give,
    pages: Given | None = None,
    takes: Sequence[click.Parameter] = (TRUTH,),
    outputs: Sequence[click.Parameter] = OUTPUTS,
) -> Command:
    """Return the command of a method of `rec` on files."""
    own = options_of(getattr(rf.Rec, name), *DOCUMENTED, but="tidy requirements last raises")
    shared = [one for one in OF_RECS if one.name != "memory" or name not in WITHOUT_MEMORY]
    return command(name, name, [RECS, *takes, *own, *outputs, *shared], text, show, pages)


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
        pages={"tex": "table", "html": "table"},
    ),
    method(
        "audit",
        """Check the data quality of RECS and TRUTH.

        Exit status: 1 for a finding of severity error, and for files that cannot be read; 2 for the options; else 0.

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
        pages={"html": "report"},
        outputs=[OUTPUT(PATH, "The page to write; - is stdout.", default="report.html")],
    ),
    method(
        "track",
        """Compute metrics with intervals, and append them to a history.

        \b
        Examples:
          recframe track recs.parquet truth.parquet -m ndcg@10 \\
              --history history --as-of 2026-11-22
        """,
        partial(show_known, OF_RUNS),
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
                PATH,
                "An earlier result, a file of recframe summarize or a history of recframe track, that 'last' stands for.",
            ),
        ],
    ),
)
RULES = {name: rule for name, rule in vars(Splits).items() if not name.startswith("_")}
OF_SPLITS = (
    OUTPUT(
        DIR,
        "The folder for the files train and truth (and fold_in), which is made where it is missing.",
    ),
    option(
        ["--format", "form"],
        click.Choice(["parquet", "csv", "tsv", "ndjson", "arrow"]),
        "The format of the files.",
        default="parquet",
    ),
    *OF_FILES,
)
SPLIT = click.Group(
    "split",
    help="""Split a log into train and truth, and audit the split.

    LOG has a row for each interaction; --columns time=NAME names the times, which all rules but random need. What came out is
    printed, with its audit. Exit status: 1 for a finding of severity error, and for files that cannot be read; 2 for the
    options.
    """,
    commands=[
        Command(
            name.replace("_", "-"),
            params=[LOG, *options_of(rule, *RULES.values(), Splits), *OF_SPLITS],
            callback=partial(run_split, name),
            help=(inspect.getdoc(rule) or "").partition("\n")[0],
        )
        for name, rule in RULES.items()
    ],
)
SINCE = option(
    ["--since"],
    click.DateTime(),
    "The first day or time to show, such as 2026-11-22.",
)
OTHERS = (
    command(
        "history",
        rf.history,
        [HISTORY, SINCE, *OUTPUTS],
        """Print the runs of a history. A --format, or -o FILE, has all columns.

        \b
        Examples:
          recframe history history --since 2026-11-01 -o month.csv
        """,
        partial(show_known, OF_RUNS),
    ),
    command(
        "changes",
        rf.changes,
        [
            HISTORY,
            SINCE,
            *options_of(rf.changes, but="history"),
            option(["--changed"], bool, "Print what changed, and nothing else."),
            *OUTPUTS,
        ],
        """Print each number of a history with the band of the runs before it, and whether it changed.

        Of many numbers some change by chance. With -o FILE.html it is a page of them.

        \b
        Examples:
          recframe changes history --changed
          recframe changes history -o dashboard.html
        """,
        partial(show_known, OF_RUNS),
        {"html": rf.dashboard},
    ),
    command(
        "metrics",
        rf.list_metrics,
        OUTPUTS,
        """List the metrics; a --format, or -o FILE, has all that is known of them.

        A metric is written name(parameter=value)@k: ndcg@10, 'f_score(beta=2)@5'; recframe explain says what it means.

        \b
        Examples:
          recframe metrics --format json
        """,
        partial(show_known, OF_NAMES),
    ),
    command(
        "profiles",
        rf.list_profiles,
        OUTPUTS,
        """List the conventions of other libraries; a --format, or -o FILE, has all that is known of them.

        \b
        Examples:
          recframe profiles --format json
        """,
        partial(show_known, OF_NAMES),
    ),
    command(
        "explain",
        lambda metric, profiles: rf.explain(metric, *profiles),
        [
            click.Argument(["metric"]),
            click.Argument(["profiles"], nargs=-1, metavar="[PROFILE]..."),
            *OUTPUTS,
        ],
        """Explain a metric, or why two profiles differ in it. In Python rec.explain(...) says in numbers of your own data what
        each switch adds to the value.

        \b
        Examples:
          recframe explain map@10 trec_eval
          recframe explain precision@10 ranx jurity
        """,
        show_explained,
    ),
    Command(
        "demo",
        params=[
            *options_of(simulated.simulate),
            option(["--save"], DIR, "Write the tables as Parquet files, to try commands on."),
        ],
        callback=run_demo,
        help="""Simulate a shop with three recommenders, and evaluate them overall and by segment.

        \b
        Examples:
          recframe demo --save shop
        """,
    ),
)
for one in (*METHODS, SPLIT, *OTHERS):
    main.add_command(one)
