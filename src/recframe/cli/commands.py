"""The command line: `recframe evaluate` and `audit` on files, `demo` without any, and `metrics`, `profiles` and `explain`."""

from __future__ import annotations

import shlex
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click
import polars as pl

import recframe as rf
from recframe.cli import files
from recframe.cli.options import one_truth, split, split_columns, split_metrics, split_numbers
from recframe.cli.printing import print_frame
from recframe.cli.progress import bar
from recframe.cli.shell import Failure, read_errors, words_of_the_shell
from recframe.errors import plan_errors
from recframe.frames.context import MOST_DECIMALS, ROLES, NoRelevant, RelevantFrom, Ties, Universe

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


DEFAULT_METRICS = ("ndcg", "recall", "precision", "hit_rate", "mrr", "map")
DEFAULT_K = 10
TRUTH_ROWS = 8_000_000
POLICIES = (
    "universe",
    "no_relevant",
    "min_relevance",
    "relevant_from",
    "ties",
    "decimals",
    "profile",
)
SIDES = ("users", "items", "train")
INTERRUPTED = 130
SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class Commands(click.Group):
    """A group of commands whose errors are one line each, without a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except rf.RecframeError as error:
            raise Failure(str(error)) from None
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            raise Failure(f"Polars cannot read the files: {files.first_line(error)}") from None
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)


@click.group(cls=Commands, context_settings=SETTINGS)
@click.version_option(rf.__version__, prog_name="recframe")
def main() -> None:
    """Recommender metrics from tables of recommendations.

    \b
    recframe demo                                         see it work, without any file
    recframe evaluate recs.parquet truth.parquet          your own files
    recframe audit recs.parquet truth.parquet             what is odd about them
    recframe metrics                                      what can be computed
    recframe profiles                                     as which other library
    recframe explain ndcg@10 elliot recbole               why two libraries differ
    """  # noqa: D301  click reads the backspace as: leave these lines as they are
    for stream in (sys.stdout, sys.stderr):
        if hasattr(
            stream, "reconfigure"
        ):  # a terminal that cannot show a character shows a question mark
            stream.reconfigure(errors="replace")


@main.command(short_help="Compute metrics from files and print or write a table.")
@click.argument("recs")
@click.argument("truth", nargs=-1, callback=one_truth, metavar="[TRUTH]")
@click.option(
    "-m",
    "--metric",
    "metrics",
    multiple=True,
    callback=split_metrics,
    metavar="METRIC",
    help="A metric, such as ndcg@10 or 'map(normalizer=min)@10'; see recframe metrics. "
    f"Default: {', '.join(DEFAULT_METRICS)}, each at 10 or at every -k.",
)
@click.option(
    "-k",
    "cutoffs",
    multiple=True,
    callback=split_numbers,
    metavar="K",
    help="A cut-off for the metrics without an @.",
)
@click.option(
    "--by",
    multiple=True,
    callback=split,
    metavar="COLUMN",
    help="A column to split the result by: of RECS, TRUTH, USERS or ITEMS; user gives every user's own values.",
)
@click.option(
    "--users", metavar="USERS", help="A table of users, one row each; its columns serve --by."
)
@click.option(
    "--items",
    metavar="ITEMS",
    help="A table of items, one row each: the catalogue of coverage and others; its columns serve --by.",
)
@click.option(
    "--train",
    metavar="TRAIN",
    help="What the systems were fitted on, user and item: for novelty, popularity and others.",
)
@click.option(
    "--reference",
    metavar="REFERENCE",
    help="A table of recommendations to compare with, or with --model the name of a model.",
)
@click.option(
    "--model", metavar="COLUMN", help="The column that tells systems apart; each gets its own rows."
)
@click.option(
    "--columns",
    multiple=True,
    callback=split_columns,
    metavar="ROLE=NAME",
    help=f"The names of your columns, in all files, where they differ from the roles: {', '.join(ROLES)}.",
)
@click.option(
    "--ids-as-text",
    is_flag=True,
    help="Read user and item ids as text: where files disagree on their type.",
)
@click.option(
    "--universe",
    type=click.Choice(get_args(Universe)),
    help="The users that count.  [default: those of TRUTH]",
)
@click.option(
    "--no-relevant",
    type=click.Choice(get_args(NoRelevant)),
    help="What a user without a relevant item counts.  [default: zero]",
)
@click.option(
    "--min-relevance",
    type=float,
    metavar="X",
    help="Rows from this relevance up are relevant.  [default: above 0]",
)
@click.option(
    "--relevant-from",
    type=click.Choice(get_args(RelevantFrom)),
    help="Where the relevant items come from: the truth, or the list alone.  [default: truth]",
)
@click.option(
    "--decimals",
    type=click.IntRange(0, MOST_DECIMALS),
    metavar="N",
    help="Round means to so many decimals.",
)
@click.option(
    "--profile",
    metavar="NAME",
    help="The conventions of another library, such as trec_eval or recbole; see recframe profiles.",
)
@click.option(
    "--ties",
    type=click.Choice(get_args(Ties)),
    help="How items of one score, or of one rank, stand.  [default: item]",
)
@click.option(
    "--support",
    is_flag=True,
    help="Put behind each metric the number of users or lists that it was averaged over.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help=f"Write the table in full precision instead of printing it: {', '.join(files.WRITERS)}.",
)
def evaluate(recs: str, truth: str | None, **options: Any) -> None:
    """Compute metrics of the recommendations in RECS, held against TRUTH.

    RECS has the columns user, item and rank (from 1) or score; TRUTH has user, item and, if graded, relevance. RECS alone is
    a judged table: it has a column relevance of its own, and a row without a rank is an item that was not recommended.

    Both are a file, a directory of Parquet files, or a pattern in quotes. The ending tells the format: .parquet, .csv, .tsv
    (both also .gz), .ndjson, .jsonl, .arrow, .ipc, .feather. Options that take several values are repeated, or have them
    separated by commas. Exit status: 0, 1 for files, columns, metrics or data, 2 for the options.

    \b
    Examples:
      recframe evaluate recs.parquet truth.parquet
      recframe evaluate recs.csv truth.csv --columns user=user_id,item=movie_id
      recframe evaluate 'recs/*.parquet' truth.parquet -m ndcg@10 -m recall@20
      recframe evaluate recs.parquet truth.parquet --model model --users users.csv --by country
      recframe evaluate judged.parquet -m ndcg,recall -k 5,10,20 -o table.md
    """  # noqa: D301  click reads the backspace as: leave these lines as they are
    paths = {"recs": recs, "truth": truth} | {name: options[name] for name in SIDES}
    paths |= {} if _names_a_model(options) else {"reference": options["reference"]}
    paths = {name: path for name, path in paths.items() if path is not None}
    with words_of_the_shell(paths):
        metrics, cutoffs = _metrics_and_cutoffs(options["metrics"], options["cutoffs"])
        rec, frames = _bound(paths, options)
        arguments = {"k": cutoffs, "by": options["by"], "support": options["support"]}
        rec.evaluate(*metrics, **arguments)  # what a schema can show is said before a file is read
        with read_errors(), _warnings() as found, bar("reading") as tell:
            result = rec.collect(*metrics, **arguments, parts=_parts(frames), tell=tell)
    for note in [*_notes(frames, options), *found]:
        click.echo(f"note: {note}", err=True)
    if options["output"] is None:
        print_frame(result)
    else:
        _write(result, options["output"])


def _names_a_model(options: dict[str, Any]) -> bool:
    """Return whether --reference is the name of a model, and no file."""
    reference = options["reference"]
    is_file = (
        reference is None or files.ending_of(reference) in files.READERS or Path(reference).exists()
    )
    return bool(options["model"]) and not is_file


def _write(result: pl.DataFrame, path: str) -> None:
    files.write(result, path)
    click.echo(f"wrote {path} ({result.height} row{'s' * (result.height != 1)})", err=True)


def _bound(
    paths: dict[str, str], options: dict[str, Any]
) -> tuple[rf.Rec[pl.LazyFrame], dict[str, pl.LazyFrame]]:
    """Return the recommendations with all that is bound to them, and all frames by their names."""
    if options["output"] is not None:
        files.check_output(options["output"], paths.values())
    columns = options["columns"] | ({"model": options["model"]} if options["model"] else {})
    text = [columns.get(role, role) for role in ("user", "item")] if options["ids_as_text"] else []
    frames = {name: files.scan(path, text) for name, path in paths.items()}
    given = {name: options[name] for name in POLICIES if options[name] is not None}
    sides: dict[str, Any] = {name: frame for name, frame in frames.items() if name != "recs"}
    if options.get("reference") is not None and "reference" not in frames:
        sides["reference"] = options["reference"]
    return rf.rec(frames["recs"], **sides, **columns, **given), frames


def _parts(frames: dict[str, pl.LazyFrame]) -> int:
    """Return into how many parts the users are split, so that the truth of one takes a gigabyte or two."""
    rows = frames.get("truth", frames["recs"]).select(pl.len()).collect(engine="streaming").item()
    return -(-rows // (TRUTH_ROWS if "truth" in frames else 10 * TRUTH_ROWS)) or 1


@main.command(
    short_help="Say what is odd about files before they are evaluated.",
    params=[
        one
        for one in evaluate.params
        if one.name not in {"metrics", "cutoffs", "reference", "support"}
    ],
)
@click.option(
    "-k", type=click.IntRange(min=1), metavar="K", help="Find lists with fewer than K rows."
)
def audit(recs: str, truth: str | None, k: int | None, **options: Any) -> None:
    """Say what is odd about the recommendations in RECS and the TRUTH that they are held against.

    The files and columns are those of recframe evaluate, which does with each finding what is said here. Exit status: 1 for a
    finding of severity error, and for files or columns that cannot be read; 2 for the options; else 0.

    \b
    Examples:
      recframe audit recs.parquet truth.parquet
      recframe audit recs.parquet truth.parquet --train train.parquet --items items.csv -k 10 -o findings.csv
    """  # noqa: D301  click reads the backspace as: leave these lines as they are
    paths = {"recs": recs, "truth": truth} | {name: options[name] for name in SIDES}
    paths = {name: path for name, path in paths.items() if path is not None}
    with words_of_the_shell(paths):
        rec, _ = _bound(paths, options)
        with read_errors(), plan_errors(), bar("reading"):
            found = rec.audit(k, by=options["by"]).collect(engine="streaming")
    if options["output"] is not None:
        _write(found, options["output"])
    else:
        _print_findings(found)
    if "error" in found["severity"]:
        click.get_current_context().exit(1)


def _print_findings(found: pl.DataFrame) -> None:
    """Print what was found as a table, and below it what is done about each and how to mend it."""
    if found.is_empty():
        click.echo("nothing odd was found")
        return
    print_frame(found.drop("treatment", "remedy"))
    checks = found.select("check", "treatment", "remedy").unique(maintain_order=True)
    for check, treatment, remedy in checks.iter_rows():
        click.echo(f"{check}: {treatment}. To mend: {remedy}.")


def _metrics_and_cutoffs(
    metrics: Sequence[str], cutoffs: Sequence[int]
) -> tuple[list[rf.Metric[...]], list[int] | None]:
    """Return the metrics and the cut-offs, or those that are sensible where none was asked for."""
    if not metrics:
        return [rf.parse(name) for name in DEFAULT_METRICS], list(cutoffs) or [DEFAULT_K]
    return [rf.parse(name) for name in metrics], list(cutoffs) or None


def _notes(frames: dict[str, pl.LazyFrame], options: dict[str, Any]) -> Iterator[str]:
    """Tell what is allowed but rarely meant: systems put together, and a second file that is no truth."""
    found, columns = frames["recs"].collect_schema(), options["columns"]
    if "model" in found and not options["model"] and "model" not in columns:
        yield "RECS has a column 'model', but all rows of a user count as one list; --model model keeps models apart"
    rank = columns.get("rank", "rank")
    if "truth" in frames and rank in frames["truth"].collect_schema():
        yield f"TRUTH has a column {rank!r}, as recommendations have; if it comes from a pattern, quote it: 'recs/*.parquet'"


@contextmanager
def _warnings() -> Iterator[list[str]]:
    """Give the words of recframe's warnings; others are shown as they are."""
    found: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", rf.RecframeWarning)
        yield found
    for one in caught:
        if issubclass(one.category, rf.RecframeWarning):
            found.append(str(one.message))
        else:
            warnings.showwarning(one.message, one.category, one.filename, one.lineno)


@main.command(short_help="Simulate a shop with three recommenders and evaluate them.")
@click.option(
    "--seed",
    default=0,
    show_default=True,
    type=click.IntRange(min=0),
    help="The same seed gives the same numbers.",
)
@click.option(
    "--users",
    "n_users",
    default=1000,
    show_default=True,
    type=click.IntRange(50, 10_000),
    help="How many users.",
)
@click.option(
    "--items",
    "n_items",
    default=400,
    show_default=True,
    type=click.IntRange(50, 2_000),
    help="How many items.",
)
@click.option(
    "--save",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write the simulated tables as Parquet files, to try recframe evaluate on.",
)
def demo(seed: int, n_users: int, n_items: int, save: Path | None) -> None:
    """Simulate a shop with three recommenders and evaluate them, overall and by segment.

    The catalogue has a long tail, users have tastes, and a quarter of what they kept is held out as the truth. Popularity,
    item neighbours and a matrix factorisation are fitted on the rest. Every table comes with the Python line that gives it.
    """
    try:
        from recframe import demo as simulated  # noqa: PLC0415  only the demo needs NumPy
    except ModuleNotFoundError as missing:
        raise Failure(f"the demo needs {missing.name}: pip install 'recframe[cli]'") from None
    simulation = simulated.simulate(seed, n_users, n_items)
    click.echo(
        f"A simulated shop: {n_users} users, {n_items} items, {simulation.train.height} rows to train on, "
        f"{simulation.truth.height} held out as the truth.\n\n{simulated.python_lines(seed, n_users, n_items)}"
    )
    for answer in simulated.answers(simulation):
        click.echo(f"{answer.question}\n{answer.line}\n")
        print_frame(answer.frame)
        click.echo(f"{answer.words}\n")
    if save is None:
        click.echo(
            "recframe demo --save DIR writes these tables as Parquet files, to try recframe evaluate on."
        )
    else:
        _save(simulation, save)


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
    click.echo(
        f"Wrote recs, truth, train, users and items into {folder}. Try:\n\n"
        f"recframe evaluate {place['recs']} {place['truth']} --model model --users {place['users']} --by activity -m ndcg@10\n"
        f"recframe evaluate {place['recs']} {place['truth']} --model model --items {place['items']} --by genre -m recall@20\n"
        f"recframe evaluate {place['recs']} --model model --train {place['train']} --items {place['items']} "
        "-m novelty@10 -m coverage@10"
    )


@main.command(short_help="List the metrics, or explain one.")
@click.argument("name", required=False)
def metrics(name: str | None) -> None:
    """List the metrics, or explain the one called NAME; an alias, or a form such as ndcg@10, will do.

    A metric is written name(parameter=value)@k, for example 'map(normalizer=min)@10'; parameters and @k can be left out.
    """
    registry = rf.list_metrics()
    if name is None:
        print_frame(registry.select("name", "aliases", "parameters", "formula"), wrapped=True)
        click.echo(
            "recframe metrics NAME explains one. Write name(parameter=value)@k: ndcg@10, 'f_score(beta=2)@5'."
        )
        return
    metric = rf.parse(name)
    about = registry.row(by_predicate=pl.col("name") == metric.name, named=True)
    click.echo(f"{metric.name}{'(' + about['parameters'] + ')' if about['parameters'] else ''}\n")
    for title in ("aliases", "formula", "range", "direction", "shape", "needs"):
        if about[title]:
            click.echo(f"  {title + ':':<11}{about[title]}")
    click.echo(f"\n{metric.__doc__ or 'This metric has no docstring.'}")


@main.command(short_help="List the conventions of other libraries.")
@click.argument("name", required=False)
def profiles(name: str | None) -> None:
    """List the conventions that --profile takes, or what the one called NAME sets."""
    table = rf.list_profiles()
    if name is None:
        print_frame(table.select("profile", "metrics"), wrapped=True)
        click.echo("recframe profiles NAME shows the policies, the notes and the source of one.")
        return
    rf.rec(pl.DataFrame(), profile=name)  # an unknown name is said to be one
    for about in table.filter(profile=name).iter_rows(named=True):
        for title, value in about.items():
            if value:
                click.echo(f"  {title + ':':<19}{value}")


@main.command(short_help="Explain a metric, or why two libraries differ in it.")
@click.argument("metric")
@click.argument("names", nargs=-1, metavar="[PROFILE]...")
@click.option(
    "--recs",
    metavar="RECS",
    help="A table of recommendations, or a judged table, to give the numbers of.",
)
@click.option("--truth", metavar="TRUTH", help="A table of what users really liked.")
@click.option(
    "--columns",
    multiple=True,
    callback=split_columns,
    metavar="ROLE=NAME",
    help="As in recframe evaluate.",
)
def explain(
    metric: str, names: Sequence[str], recs: str | None, truth: str | None, columns: dict[str, str]
) -> None:
    """Say what METRIC means, under a PROFILE, or how it differs between two; recframe is one of the profiles.

    With RECS also in numbers: what each switch adds when one is switched after the other.
    """
    if recs is None:
        click.echo(rf.explain(metric, *names).text)
        return
    paths = {"recs": recs} | ({} if truth is None else {"truth": truth})
    with words_of_the_shell(paths):
        with read_errors():
            frames = {
                name: files.scan(path).collect(engine="streaming") for name, path in paths.items()
            }
        told = rf.rec(frames.pop("recs"), **frames, **columns).explain(metric, *names)
    click.echo(f"{told.text}\n")
    print_frame(told.frame)
