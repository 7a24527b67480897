"""The command line: `recframe evaluate` and `audit` on files, beside `demo`, `metrics`, `profiles` and `explain`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
import polars as pl

import recframe as rf
from recframe.audit.report import CHECKS
from recframe.cli import files
from recframe.cli.demonstration import demo
from recframe.cli.engines import answering, engine_of
from recframe.cli.given import bound, columns_of, metrics_and_cutoffs, n_parts, paths_of, scanned
from recframe.cli.options import (
    DECIMALS,
    ENGINE,
    FRAMES,
    OUTPUT,
    RECS,
    TRUTH,
    arguments_of,
    declared,
    options_of,
)
from recframe.cli.over_time import changes, history, report, track
from recframe.cli.pages import explain, metrics, profiles
from recframe.cli.printing import print_frame, say
from recframe.cli.process import INTERRUPTED, UnwrittenError, status_of
from recframe.cli.progress import bar
from recframe.cli.require import require
from recframe.cli.results import give, is_table
from recframe.cli.shell import Failure, note, noted, read_errors, words_of_the_shell
from recframe.cli.statistics import compare, gaps, power, slices, summarize, winner
from recframe.errors import plan_errors, readable
from recframe.frames.atomic_write import is_utf8

OF_ENGINES = ("--engine", "--master")
SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class Commands(click.Group):
    """A group of commands whose errors are one line each, without a traceback."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read what stands before the name of a command, and take its words, which are to be text."""
        wrong = next((one for one in args if not is_utf8(one)), None)
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
            if error.option_name in OF_ENGINES:
                raise click.UsageError(self._without_engine(error.option_name), error.ctx) from None
            raise
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)
        except UnwrittenError as error:
            ctx.exit(status_of(error))

    def _without_engine(self, option: str) -> str:
        """Return what is said of an option of engines where a command has none."""
        names = [name for name, one in self.commands.items() if "engine" in _options(one)]
        return f"{option} is an option of {', '.join(names[:-1])} and {names[-1]}"


@contextmanager
def _words_of_usage() -> Iterator[None]:
    """Have click's own errors, which repeat what was written, be fit for a terminal."""
    try:
        yield
    except click.UsageError as error:
        # NOTE: it is final to type checkers, and what its own show() prints
        error.message = readable(error.message)  # type: ignore[misc]
        raise


def _options(command: click.Command) -> list[str]:
    return [one.name or "" for one in command.params]


@click.group(cls=Commands, context_settings=SETTINGS)
@click.version_option(rf.__version__, prog_name="recframe")
def main() -> None:
    """Recommender metrics from tables of recommendations.

    \b
    recframe demo                                         see it work, without any file
    recframe evaluate recs.parquet truth.parquet          your own files
    recframe audit recs.parquet truth.parquet             what is odd about them
    recframe summarize recs.parquet truth.parquet         how sure the numbers are
    recframe compare recs.parquet truth.parquet --model model --baseline svd
    recframe require recs.parquet truth.parquet 'ndcg@10 >= 0.28'
    recframe report recs.parquet truth.parquet            all of it in one page
    recframe track recs.parquet truth.parquet ...         keep results from run to run
    recframe metrics                                      what can be computed
    recframe profiles                                     as which other library
    recframe explain ndcg@10 elliot recbole               why two libraries differ
    """  # noqa: D301  click reads the backspace as: leave these lines as they are
    for stream in (sys.stdout, sys.stderr):
        # a terminal that cannot show a character shows a question mark
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


@main.command(short_help="Compute metrics from files and print or write a table.")
@declared(RECS, TRUTH, options_of(rf.Rec.evaluate), FRAMES, DECIMALS, ENGINE, OUTPUT)
def evaluate(recs: str, truth: str | None, **options: Any) -> None:
    """Compute metrics of the recommendations in RECS, held against TRUTH.

    RECS has the columns user, item and rank (from 1) or score; TRUTH has user, item and, if graded, relevance. RECS alone is
    a judged table: it has a column relevance of its own, and a row without a rank is an item that was not recommended.

    Both are a file, a directory of Parquet files, or a pattern in quotes. The ending tells the format: .parquet, .csv, .tsv,
    .json, .ndjson, .jsonl, .arrow, .ipc, .feather, and of TREC files .run, .qrels, .qrel, .trec; those of text may end in .gz
    or .zst too. Ids of TREC files are text, and several runs have a column model with each file's name. Text with another
    ending is read with --separator. A pipe, such as /dev/stdin or <(...), is a file too.

    Options that take several values are repeated, or have them separated by commas. The result alone goes to stdout, notes
    and errors to stderr. Exit status: 0, 1 for files, columns, metrics or data, 2 for the options.

    \b
    Examples:
      recframe evaluate recs.parquet truth.parquet
      recframe evaluate recs.csv truth.csv --columns user=user_id,item=movie_id
      recframe evaluate 'recs/*.parquet' truth.parquet -m ndcg@10 -m recall@20
      recframe evaluate recs.parquet truth.parquet --model model --users users.csv --by country
      recframe evaluate r.txt t.txt --separator tab --header recs=user,item,rank --header truth=user,item
      recframe evaluate svd.run test.qrels -m ndcg@10 --format json
      recframe evaluate judged.parquet -m ndcg,recall -k 5,10,20 -o table.md
      recframe evaluate s3a://bucket/recs s3a://bucket/truth --engine spark --master yarn
    """  # noqa: D301  click reads the backspace as: leave these lines as they are
    paths = paths_of(recs, truth, options)
    with words_of_the_shell(paths):
        asked, cutoffs = metrics_and_cutoffs(options["metrics"], options["k"])
        arguments = arguments_of(rf.Rec.evaluate, options) | {"k": cutoffs}
        if engine_of(options) is None:
            result = _here(paths, options, asked, arguments)
        else:
            with bar("reading"), answering(paths, options) as rec:
                result = rec.evaluate(*asked, **arguments)
    give(result, options["output"], options["form"])


def _here(
    paths: dict[str, str], options: dict[str, Any], asked: Any, arguments: dict[str, Any]
) -> pl.DataFrame:
    """Return what Polars evaluates in this process."""
    frames = scanned(paths, options)
    rec = bound(frames, options)
    rec.evaluate(*asked, **arguments)  # what a schema can show is said before a file is read
    with noted(ids_as_text=options["ids_as_text"]):
        with read_errors(), bar("reading") as tell:
            result = rec.collect(*asked, **arguments, parts=n_parts(frames), tell=tell)
        for text in _notes(frames, options):
            note(text)
    return result


def _notes(frames: dict[str, pl.LazyFrame], options: dict[str, Any]) -> Iterator[str]:
    """Tell what is allowed but rarely meant, and nothing that the library warns of: a second file that is no truth."""
    rank, truth = columns_of(options).get("rank", "rank"), frames.get("truth")
    if truth is not None and truth is not frames["recs"] and rank in truth.collect_schema():
        yield f"TRUTH has a column {rank!r}, as recommendations have; if it comes from a pattern, quote it: 'recs/*.parquet'"


@main.command(short_help="Say what is odd about files before they are evaluated.")
@declared(RECS, TRUTH, options_of(rf.Rec.audit), FRAMES, ENGINE, OUTPUT)
def audit(recs: str, truth: str | None, **options: Any) -> None:
    """Say what is odd about the recommendations in RECS and the TRUTH that they are held against.

    The files and columns are those of recframe evaluate, which does with each finding what is said here. Exit status: 1 for a
    finding of severity error, and for files or columns that cannot be read; 2 for the options; else 0.

    \b
    Examples:
      recframe audit recs.parquet truth.parquet
      recframe audit recs.parquet truth.parquet --train train.parquet --items items.parquet -k 10 -o findings.csv
    """  # noqa: D301  click reads the backspace as: leave these lines as they are
    paths = paths_of(recs, truth, options)
    with words_of_the_shell(paths):
        with read_errors(), plan_errors(), bar("reading"), answering(paths, options) as rec:
            found = rec.audit(**arguments_of(rf.Rec.audit, options))
        engine = engine_of(options)
        if engine is not None:
            left = ", ".join(one.name for one in CHECKS if one.of_all)
            note(f"{engine.name} makes no checks of all users at once: {left}")
    if is_table(options["output"], options["form"]):
        _print_findings(found)
    else:
        give(found, options["output"], options["form"])
    if "error" in found["severity"]:
        click.get_current_context().exit(1)


def _print_findings(found: pl.DataFrame) -> None:
    """Print what was found as a table, and below it what is done about each and how to mend it."""
    if found.is_empty():
        say("nothing odd was found")
        return
    print_frame(found.drop("treatment", "remedy"))
    checks = found.select("check", "treatment", "remedy").unique(maintain_order=True)
    for check, treatment, remedy in checks.iter_rows():
        say(f"{check}: {treatment}. To mend: {remedy}.")


ALL = (
    summarize,
    compare,
    winner,
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
