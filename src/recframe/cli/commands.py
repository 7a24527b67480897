"""Commands without statistics: `evaluate`, `audit`, `explain`, `metrics`, `profiles` and `demo`."""

from __future__ import annotations

import errno
import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import polars as pl

import recframe as rf
from recframe.audit.report import CHECKS
from recframe.cli import files
from recframe.cli.inputs import on_files
from recframe.cli.options import (
    COLUMNS,
    DECIMALS,
    FORMAT,
    MEMORY,
    OF_NAMES,
    OUTPUT,
    POLICIES,
    SIDES,
    argument,
    declared,
    option,
)
from recframe.cli.output import (
    Failure,
    Options,
    check_output,
    fit_behind,
    give,
    in_lines,
    in_long_lines,
    is_table,
    is_terminal,
    note,
    print_findings,
    print_frame,
    say,
    tell,
    words_of_the_shell,
)
from recframe.cli.over_time import changes, history, report, track
from recframe.cli.require import require
from recframe.cli.splits import split
from recframe.cli.statistics import command_of, compare, gaps, power, slices, summarize
from recframe.cli.values import complete_metrics, complete_profiles, one_path_each
from recframe.errors import readable
from recframe.frames.atomic_write import is_utf8
from recframe.frames.hints import NAMED, InShell, bind, own_word

DECIMALS_OF_DEMO = 3


@click.command(short_help="Simulate a shop with three recommenders and evaluate them.")
@declared(
    option(
        "--seed",
        "The same seed gives the same numbers.",
        type=click.IntRange(min=0),
        default=0,
        show_default=True,
    ),
    option(
        "--users n_users",
        "How many users.",
        type=click.IntRange(50, 10_000),
        default=1000,
        show_default=True,
    ),
    option(
        "--items n_items",
        "How many items.",
        type=click.IntRange(50, 2_000),
        default=400,
        show_default=True,
    ),
    option(
        "--save",
        "Write the simulated tables as Parquet files, to try recframe evaluate on.",
        "DIR",
        type=click.Path(file_okay=False, path_type=Path),
    ),
)
def demo(seed: int, n_users: int, n_items: int, save: Path | None) -> None:
    """Simulate a shop with three recommenders and evaluate them, overall and by segment.

    The catalogue has a long tail, users have tastes, and a quarter of what they kept is held out as the truth. Popularity, item
    neighbours and a matrix factorisation are fitted on the rest. Every table comes with its Python line, and the last sentence
    says which model is best.
    """
    try:
        from recframe import demo as simulated  # noqa: PLC0415  only the demo needs NumPy
    except ModuleNotFoundError as missing:
        raise Failure(f"the demo needs {missing.name}: pip install 'recframe[cli]'") from None
    simulation = simulated.simulate(seed, n_users, n_items)
    tell(
        f"A simulated shop: {n_users:,} users, {n_items:,} items, {simulation.train.height:,} rows to train on, "
        f"{simulation.truth.height:,} held out as the truth."
    )
    say(f"\n{simulated.python_lines(seed, n_users, n_items)}")
    answers = [*simulated.answers(simulation)]
    for answer in answers:
        tell(answer.question)
        say(f"{answer.line}\n")
        print_frame(answer.frame.with_columns(pl.col(pl.Float64).round(DECIMALS_OF_DEMO)))
    if save is None:
        tell(
            "recframe demo --save DIR writes these tables as Parquet files, to try recframe evaluate on."
        )
    else:
        _save(simulation, save)
    say()
    tell(simulated.conclusion(answers[0].frame))


def _save(simulation: Any, folder: Path) -> None:
    """Write the tables of the demo, and print a command that reads them."""
    try:
        simulation.save(folder)
    except OSError as error:
        raise Failure(f"cannot write into {str(folder)!r}: {error.strerror}") from None
    place = {
        name: shlex.quote(str(folder / f"{name}.parquet"))
        for name in ("recs", "truth", "train", "users", "items")
    }
    tell(f"Wrote recs, truth, train, users and items into {folder}. Try:\n")
    lists = f"recframe evaluate {place['recs']} {place['truth']} --model model"
    alone = f"recframe evaluate {place['recs']} --model model --train {place['train']}"
    for command in (
        f"{lists} --users {place['users']} --by activity -m ndcg@10",
        f"{lists} --items {place['items']} --by genre -m recall@20",
        f"{alone} --items {place['items']} -m novelty@10 -m coverage@10",
    ):
        say(in_lines(command))


OWN = "recframe"


@click.command(short_help="List the metrics, or explain one.")
@click.argument("name", required=False, shell_complete=complete_metrics)
@FORMAT
def metrics(name: str | None, **options: Any) -> None:
    """List the metrics, or explain the metric NAME; an alias, or a form such as ndcg@10, works too.

    A metric is written name(parameter=value)@k, for example 'map(normalizer=min)@10'; parameters and @k can be left out.
    """
    registry = rf.list_metrics()
    if name is not None:
        metric = rf.parse(name)
        registry = registry.filter(name=metric.name)
    if not is_table(options):
        give(registry, options)
    elif name is None:
        others = ("formula", "parameters") if is_terminal() else ("parameters", "formula")
        print_frame(registry.select("name", "aliases", *others))
        said = "recframe metrics NAME explains one. Write name(parameter=value)@k: ndcg@10, 'f_score(beta=2)@5'."
        if is_terminal():
            tell(said)
    else:
        about = registry.row(0, named=True)
        tell(f"{metric.name}{'(' + about['parameters'] + ')' if about['parameters'] else ''}\n")
        titles = ("aliases", "formula", "range", "direction", "shape", "needs")
        _print_fields({title: about[title] for title in titles}, 11)
        text = metric.__doc__ or "This metric has no docstring."
        tell(f"\n{in_long_lines(text) if is_terminal() else text}")


def _print_fields(fields: dict[str, Any], width: int) -> None:
    for title, value in fields.items():
        if value:
            tell(f"  {title + ':':<{width}}{value}", hanging=width + 2)


@click.command(short_help="List the conventions of other libraries.")
@click.argument("name", required=False, shell_complete=complete_profiles)
@FORMAT
def profiles(name: str | None, **options: Any) -> None:
    """List the conventions that --profile takes, or what the profile NAME sets."""
    table = rf.list_profiles()
    if name is not None:
        rf.rec(pl.DataFrame(), profile=name)  # an unknown name is said to be one
        table = table.filter(profile=name)
    if not is_table(options):
        give(table, options)
    elif name is None:
        print_frame(table.select("profile", "metrics"))
        said = "recframe profiles NAME shows the policies, the notes and the source of one."
        if is_terminal():
            tell(said)
    else:
        for about in table.iter_rows(named=True):
            _print_fields(about, 19)


@click.command(short_help="Explain a metric, or why two libraries differ in it.")
@declared(
    argument("metric", shell_complete=complete_metrics),
    argument(
        "names",
        nargs=-1,
        metavar="[PROFILE]... [RECS [TRUTH]]",
        shell_complete=complete_profiles,
    ),
    OF_NAMES["by"],
    SIDES,
    COLUMNS,
    POLICIES,
    OUTPUT,
)
def explain(metric: str, names: Sequence[str], **options: Any) -> None:
    """Say what METRIC means, under a PROFILE, or how it differs between two; recframe is one of the profiles.

    With the files RECS and TRUTH, as for recframe evaluate, also in numbers: what each switch adds to the value, one after
    another. With a --format other than the table, stdout has only the rows.

    \b
    Examples:
      recframe explain map@10 trec_eval
      recframe explain ndcg@10 elliot recbole
      recframe explain precision@10 ranx jurity recs.parquet truth.parquet
    """  # noqa: D301  click reads the backspace as: leave these lines as they are
    known = {OWN, *rf.list_profiles()["profile"]}
    paths = [name for name in names if name not in known and _is_file(name)]
    profiles = [name for name in names if name not in paths]
    if len(paths) > 2:  # noqa: PLR2004  RECS and TRUTH
        raise one_path_each(len(paths))
    if paths:
        recs, truth = paths if len(paths) > 1 else (paths[0], None)
        with on_files(recs, truth, options, collected=True) as rec:
            explanation = rec.explain(metric, *profiles, by=options["by"])
    else:
        check_output(options["output"], options["form"])
        with words_of_the_shell({}):
            explanation = rf.explain(metric, *profiles)
    if not is_table(options):
        give(explanation.frame, options)
        return
    tell(explanation.text)
    if paths:
        say()
        print_frame(explanation.frame)


def _is_file(name: str) -> bool:
    """Whether a word is a file, by its ending or since it is there."""
    return files.ending_of(name) in files.KNOWN or "/" in name or "*" in name or Path(name).exists()


INTERRUPTED, LEFT = 130, 141
"""Exit statuses after Ctrl-C, and where the reader of stdout leaves, as `head` does: 128 and the number of the signal."""
SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class Commands(click.Group):
    """Group of commands with one-line errors, without tracebacks."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read what stands before the name of a command, and take its words, which are to be text."""
        wrong = next((arg for arg in args if not is_utf8(arg)), None)
        if wrong is not None:
            msg = f"{files.with_bytes(wrong)} is no UTF-8, in which words of a command are; rename what is called so"
            raise click.UsageError(msg, ctx)
        with _words_of_usage():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        try:
            with _words_of_usage():
                return super().invoke(ctx)
        except rf.RecframeError as error:
            raise Failure(str(error)) from None
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            raise Failure(f"Polars cannot read the files: {files.first_line(error)}") from None
        except click.NoSuchOption as error:
            if error.option_name == "--memory":
                names = [name for name, one in self.commands.items() if "memory" in _options(one)]
                of = f"{', '.join(names[:-1])} and {names[-1]}"
                raise click.UsageError(f"--memory is an option of {of}", error.ctx) from None
            if own := own_word(error.option_name.lstrip("-")):
                of_call = {"k": "-k", "by": "--by"}
                write = of_call.get(own) or InShell({})(bind(**{own: NAMED}))
                msg = f"{error.option_name} is {write} here"
                raise click.UsageError(msg, error.ctx) from None
            raise
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)
        except OSError as error:
            # so that what is left to write does not fail at the end once more
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            if error.errno == errno.EPIPE:
                ctx.exit(LEFT)
            raise Failure(f"cannot write to stdout: {error.strerror}") from None


@contextmanager
def _words_of_usage() -> Iterator[None]:
    """Have click's own errors, which repeat what was written, be fit for a terminal."""
    try:
        yield
    except click.UsageError as error:
        # NOTE: it is final to type checkers, and what its own show() prints
        error.message = fit_behind("Error: ", readable(error.message))  # type: ignore[misc]
        raise


def _options(command: click.Command) -> list[str]:
    return [param.name or "" for param in command.params]


@click.group(cls=Commands, context_settings=SETTINGS)
@click.version_option(rf.__version__, prog_name="recframe")
def main() -> None:
    """Recommender metrics from tables of recommendations.

    \b
    recframe demo                                   see it work, without any file
    recframe evaluate recs.parquet truth.parquet    your own files
    recframe audit recs.parquet truth.parquet       data quality findings
    recframe split log.parquet --by-time 7d -o DIR  train and truth from a log
    recframe summarize recs.parquet truth.parquet   how sure the numbers are
    recframe compare recs.parquet truth.parquet --model model --baseline svd
    recframe require recs.parquet truth.parquet 'ndcg@10 >= 0.28'
    recframe report recs.parquet truth.parquet      all of it in one page
    recframe track recs.parquet truth.parquet ...   keep results from run to run
    recframe metrics                                what can be computed
    recframe profiles                               as which other library
    recframe explain ndcg@10 elliot recbole         why two libraries differ
    """  # noqa: D301  click reads the backspace as: leave these lines as they are
    for stream in (sys.stdout, sys.stderr):
        # a terminal that cannot show a character shows a question mark
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


@command_of(
    rf.Rec.evaluate,
    "Compute metrics from files and print or write a table.",
    DECIMALS,
    MEMORY,
    show=give,
)
def evaluate() -> None:
    """Compute metrics of the recommendations in RECS, compared with TRUTH.

    RECS has the columns user, item and rank (from 1) or score; TRUTH has user, item and, if graded, relevance. RECS alone is
    a judged table: it has a column relevance, and a row without a rank is an item that was not recommended.

    Both are a file, a directory of Parquet files, or a pattern in quotes. The ending gives the format: .parquet, .csv, .tsv,
    .json, .ndjson, .jsonl, .arrow, .ipc, .feather, and of TREC files .run, .qrels, .qrel; those of text may end in .gz
    or .zst too. Ids of TREC files are text, and several runs have a column model with each file's name. Text with another
    ending is read with --separator. A pipe, such as /dev/stdin or <(...), is a file too.

    Options that take several values are repeated, or have them separated by commas. The result alone goes to stdout, notes
    and errors to stderr. Exit status: 0, 1 for files, columns, metrics or data, 2 for the options.

    \b
    Examples:
      recframe evaluate recs.parquet truth.parquet
      recframe evaluate recs.csv truth.csv --columns user=user_id,item=movie_id
      recframe evaluate 'recs/*.parquet' truth.parquet -m ndcg@10 -m recall@20
      recframe evaluate recs.parquet truth.parquet --model model \\
        --users users.csv --by country
      recframe evaluate r.txt t.txt --separator tab \\
        --header recs=user,item,rank --header truth=user,item
      recframe evaluate svd.run test.qrels -m ndcg@10 --format json
      recframe evaluate judged.parquet -m ndcg,recall -k 5,10,20 -o table.md
    """  # noqa: D301  click reads the backspace as: leave these lines as they are


def _show_findings(found: pl.DataFrame, options: Options) -> None:
    """Show findings, and end with an error where one is."""
    if options["memory"] is not None:
        left = ", ".join(check.name for check in CHECKS if "all users" in check.needs)
        note(f"a call within --memory makes no checks of all users at once: {left}")
    if is_table(options):
        print_findings(found)
    else:
        give(found, options)
    if "error" in found["severity"]:
        click.get_current_context().exit(1)


@command_of(
    rf.Rec.audit,
    "Data quality findings of files, before they are evaluated.",
    MEMORY,
    show=_show_findings,
)
def audit() -> None:
    """Check the data quality of RECS and TRUTH.

    The files and columns are those of recframe evaluate; each finding says what that command does about it. Exit status: 1 for
    a finding of severity error, and for files or columns that cannot be read; 2 for the options; else 0.

    \b
    Examples:
      recframe audit recs.parquet truth.parquet
      recframe audit recs.parquet truth.parquet --train train.parquet \\
        --items items.parquet -k 10 -o findings.csv
    """  # noqa: D301  click reads the backspace as: leave these lines as they are


ALL = (
    evaluate,
    split,
    audit,
    summarize,
    compare,
    power,
    gaps,
    slices,
    require,
    report,
    track,
    history,
    changes,
    demo,
    metrics,
    profiles,
    explain,
)
for command in ALL:
    main.add_command(command)
