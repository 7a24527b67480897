"""The command line: `recframe evaluate` on files, `recframe demo` without any, and `recframe metrics`."""

from __future__ import annotations

import csv
import re
import shlex
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import polars as pl

import recframe as rf
from recframe import files
from recframe.context import ROLES, NoRelevant, RelevantFrom, Ties, Universe
from recframe.errors import plan_errors, suggestion

try:
    import click
    from rich import box
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text
except ModuleNotFoundError as missing:
    message = f"error: the command line needs {missing.name}: pip install 'recframe[cli]'"
    raise SystemExit(message) from None

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

DEFAULT_METRICS = ("ndcg", "recall", "precision", "hit_rate", "mrr", "map")
DEFAULT_K = 10
ROWS_BY_RICH = 500
GAP = 3
INTERRUPTED = 130
SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class Failure(click.ClickException):
    """What went wrong with files, columns, metrics or data, in one line."""

    def show(self, file: Any = None) -> None:
        """Print the line to stderr."""
        click.echo(f"error: {' '.join(self.message.split())}", file=file, err=True)


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
    recframe metrics                                      what can be computed
    """  # noqa: D301  click reads the backspace as: leave these lines as they are
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that cannot show a character shows a question mark
            stream.reconfigure(errors="replace")


def _split(ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> list[str]:
    """Return the values of an option that is repeated, has several separated by commas, or both."""
    del ctx, parameter
    return [name for value in values for name in next(csv.reader([value], skipinitialspace=True), [])]


def _split_metrics(ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> list[str]:
    """Return metrics, which have commas of their own inside brackets."""
    del ctx, parameter
    return [name.strip() for value in values for name in re.split(r",(?![^(]*\))", value)]


def _split_numbers(ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> list[int]:
    names = _split(ctx, parameter, values)
    wrong = [name for name in names if not re.fullmatch(r"[0-9]+", name) or int(name) < 1]
    if wrong:
        raise click.BadParameter(f"{wrong[0]!r} is no cut-off; write whole numbers from 1, such as -k 5,10")
    return [int(name) for name in names]


def _split_columns(ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """Return the names of columns by their roles."""
    columns = {}
    for pair in _split(ctx, parameter, values):
        role, equals, name = pair.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"{pair!r} is no role=name; write for example user=user_id,item=movie_id")
        if role not in ROLES:
            raise click.BadParameter(f"unknown role {role!r}{suggestion(role, ROLES)}; the roles are {', '.join(ROLES)}")
        columns[role] = name
    return columns


def _one_truth(ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> str | None:
    del ctx, parameter
    if len(values) > 1:
        raise click.UsageError(
            f"RECS and TRUTH are one path each, but there are {len(values) + 1}; "
            "put a pattern in quotes, so that the shell leaves it as it is: 'recs/*.parquet'"
        )
    return values[0] if values else None


@main.command(short_help="Compute metrics from files and print or write a table.")
@click.argument("recs")
@click.argument("truth", nargs=-1, callback=_one_truth, metavar="[TRUTH]")
@click.option(
    "-m",
    "--metric",
    "metrics",
    multiple=True,
    callback=_split_metrics,
    metavar="METRIC",
    help="A metric, such as ndcg@10 or 'map(normalizer=min)@10'; see recframe metrics. "
    f"Default: {', '.join(DEFAULT_METRICS)}, each at 10 or at every -k.",
)
@click.option(
    "-k", "cutoffs", multiple=True, callback=_split_numbers, metavar="K", help="A cut-off for the metrics without an @."
)
@click.option(
    "--by",
    multiple=True,
    callback=_split,
    metavar="COLUMN",
    help="A column to split the result by: of RECS, TRUTH, USERS or ITEMS; user gives every user's own values.",
)
@click.option("--users", metavar="USERS", help="A table of users, one row each; its columns serve --by.")
@click.option("--items", metavar="ITEMS", help="A table of items, one row each; its columns serve --by.")
@click.option("--model", metavar="COLUMN", help="The column that tells systems apart; each gets its own rows.")
@click.option(
    "--columns",
    multiple=True,
    callback=_split_columns,
    metavar="ROLE=NAME",
    help=f"The names of your columns, in all files, where they differ from the roles: {', '.join(ROLES)}.",
)
@click.option("--ids-as-text", is_flag=True, help="Read user and item ids as text: where files disagree on their type.")
@click.option("--universe", type=click.Choice(get_args(Universe)), help="The users that count.  [default: those of TRUTH]")
@click.option(
    "--no-relevant",
    type=click.Choice(get_args(NoRelevant)),
    help="What a user without a relevant item counts.  [default: zero]",
)
@click.option("--min-relevance", type=float, metavar="X", help="Rows from this relevance up are relevant.  [default: above 0]")
@click.option(
    "--relevant-from",
    type=click.Choice(get_args(RelevantFrom)),
    help="Where the relevant items come from: the truth, or the list alone.  [default: truth]",
)
@click.option("--ties", type=click.Choice(get_args(Ties)), help="How items of one score are ranked.  [default: item]")
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
    paths = {"recs": recs, "truth": truth, "users": options["users"], "items": options["items"]}
    paths = {name: path for name, path in paths.items() if path is not None}
    with _words_of_the_shell(paths):
        result, notes = _evaluated(paths, options)
    for note in notes:
        click.echo(f"note: {note}", err=True)
    if options["output"] is None:
        _print_frame(result)
    else:
        files.write(result, options["output"])
        click.echo(f"wrote {options['output']} ({result.height} row{'s' * (result.height != 1)})", err=True)


def _evaluated(paths: dict[str, str], options: dict[str, Any]) -> tuple[pl.DataFrame, list[str]]:
    """Return the result, and what is worth a note."""
    if options["output"] is not None:
        files.check_output(options["output"], paths.values())
    metrics, cutoffs = _asked(options["metrics"], options["cutoffs"])
    columns = options["columns"] | ({"model": options["model"]} if options["model"] else {})
    text = [columns.get(role, role) for role in ("user", "item")] if options["ids_as_text"] else []
    frames = {name: files.scan(path, text) for name, path in paths.items()}
    policies = {name: options[name] for name in ("universe", "no_relevant", "min_relevance", "relevant_from", "ties")}
    given = {name: value for name, value in policies.items() if value is not None}
    sides = {name: frame for name, frame in frames.items() if name != "recs"}
    plan = rf.rec(frames["recs"], **sides, **columns, **given).evaluate(*metrics, k=cutoffs, by=options["by"])
    return _collected(plan), list(_notes(frames, columns))


def _asked(metrics: Sequence[str], cutoffs: Sequence[int]) -> tuple[list[rf.Metric[...]], list[int] | None]:
    """Return the metrics and the cut-offs, or those that are sensible where none was asked for."""
    if not metrics:
        return [rf.parse(name) for name in DEFAULT_METRICS], list(cutoffs) or [DEFAULT_K]
    return [rf.parse(name) for name in metrics], list(cutoffs) or None


def _notes(frames: dict[str, pl.LazyFrame], columns: dict[str, str]) -> Iterator[str]:
    """Tell what is allowed but rarely meant: systems put together, and a second file that is no truth."""
    found = frames["recs"].collect_schema()
    if "model" in found and "model" not in columns:
        yield "RECS has a column 'model', but all rows of a user count as one list; --model model keeps models apart"
    rank = columns.get("rank", "rank")
    if "truth" in frames and rank in frames["truth"].collect_schema():
        yield f"TRUTH has a column {rank!r}, as recommendations have; if it comes from a pattern, quote it: 'recs/*.parquet'"


def _collected(plan: pl.LazyFrame) -> pl.DataFrame:
    """Run the plan, once, on the streaming engine."""
    try:
        with plan_errors():
            return plan.collect(engine="streaming")
    except (pl.exceptions.PolarsError, OSError) as error:
        text = files.first_line(error)
        hint = ""
        if "could not parse" in text:
            hint = f"; the first {files.ROWS_TO_INFER} rows are otherwise. Use --ids-as-text for ids, or write Parquet"
        raise rf.DataError(f"the files cannot be read: {text}{hint}") from None


@contextmanager
def _words_of_the_shell(paths: dict[str, str]) -> Iterator[None]:
    """Turn the Python words of an error's hint into options of the command."""
    said = {
        r"(the frame of recommendations|the judged frame)": _literally(repr(paths["recs"])),
        **{rf"the frame {name}=": _literally(repr(path)) for name, path in paths.items()},
        r"rec\((\w+)='\.\.\.'\)": r"--columns \1=NAME",
        r"as a frame: rec\(truth=truth\)": "as a second file",
        r"rec\(model='(.*?)'\)": r"--model '\1'",
        r"rec\(model=\.*\)": "--model COLUMN",
        r"rec\((users|items)=\.*\)": r"--\1 FILE",
        r"\bby='": "--by '",
        r"\bmin_relevance=": "--min-relevance ",
        r"cast them to one dtype, so that they can match": "read them all as text with --ids-as-text",
        r": cast the column before": "; make it one in the file",
        r"(add 1 to them): frame.*": r"\1 in the file",
        r": (users|items)\.unique\('\w+'\)": "",
    }
    try:
        yield
    except rf.RecframeError as error:
        text = str(error)
        for python, shell in said.items():
            text = re.sub(python, shell, text)
        raise type(error)(text) from None


def _literally(text: str) -> str:
    """Return text as a replacement in which a backslash is no more than that."""
    return text.replace("\\", r"\\")


@main.command(short_help="Simulate a shop with three recommenders and evaluate them.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="The same seed gives the same numbers.")
@click.option("--users", "n_users", default=1000, show_default=True, type=click.IntRange(50, 10_000), help="How many users.")
@click.option("--items", "n_items", default=400, show_default=True, type=click.IntRange(50, 2_000), help="How many items.")
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
        _print_frame(answer.frame)
        click.echo(f"{answer.words}\n")
    if save is None:
        click.echo("recframe demo --save DIR writes these tables as Parquet files, to try recframe evaluate on.")
    else:
        _save(simulation, save)


def _save(simulation: Any, folder: Path) -> None:
    """Write the tables of the demo, and print a command that reads them."""
    try:
        simulation.save(folder)
    except OSError as error:
        raise Failure(f"cannot write into {str(folder)!r}: {error.strerror}") from None
    place = {name: shlex.quote(str(folder / f"{name}.parquet")) for name in ("recs", "truth", "users", "items")}
    click.echo(
        f"Wrote recs, truth, train, users and items into {folder}. Try:\n\n"
        f"recframe evaluate {place['recs']} {place['truth']} --model model --users {place['users']} --by activity -m ndcg@10\n"
        f"recframe evaluate {place['recs']} {place['truth']} --model model --items {place['items']} --by genre -m recall@20"
    )


@main.command(short_help="List the metrics, or explain one.")
@click.argument("name", required=False)
def metrics(name: str | None) -> None:
    """List the metrics, or explain the one called NAME; an alias, or a form such as ndcg@10, will do.

    A metric is written name(parameter=value)@k, for example 'map(normalizer=min)@10'; parameters and @k can be left out.
    """
    registry = rf.list_metrics()
    if name is None:
        _print_frame(registry.select("name", "aliases", "parameters", "formula"), wrapped=True)
        click.echo("recframe metrics NAME explains one. Write name(parameter=value)@k: ndcg@10, 'f_score(beta=2)@5'.")
        return
    metric = rf.parse(name)
    about = registry.row(by_predicate=pl.col("name") == metric.name, named=True)
    click.echo(f"{metric.name}{'(' + about['parameters'] + ')' if about['parameters'] else ''}\n")
    for title in ("aliases", "formula", "range", "direction", "shape", "needs"):
        if about[title]:
            click.echo(f"  {title + ':':<11}{about[title]}")
    click.echo(f"\n{metric.__doc__ or 'This metric has no docstring.'}")


def _print_frame(frame: pl.DataFrame, *, wrapped: bool = False) -> None:
    """Print a frame as a table: in full where the output is no terminal, else in blocks of columns that fit side by side.

    `wrapped` breaks long text into lines on a terminal instead.
    """
    columns = {name: _cells(frame[name]) for name in frame.columns}
    widths = {name: max(map(cell_len, [name, *cells])) for name, cells in columns.items()}
    terminal = Console()
    width = terminal.width if terminal.is_terminal else sum(widths.values()) + GAP * len(widths)
    for names in [frame.columns] if wrapped else _blocks(frame, widths, width):
        # Numbers are put to the right here: rich would take away the spaces behind them that align their points.
        sides = {name: widths[name] if frame.schema[name].is_numeric() else 0 for name in names}
        cells = {name: [cell.rjust(sides[name]) for cell in [name, *columns[name]]] for name in names}
        needed = sum(widths[name] + GAP for name in names)
        # The height is given too: rich reads a width alone as 80 on terminals that cannot tell theirs.
        console = Console(width=width if wrapped else max(width, needed), height=terminal.height)
        console.print(_table(cells, widths, wrapped=wrapped))
        for row in zip(*(cells[name][ROWS_BY_RICH + 1 :] for name in names), strict=True):
            padded = (cell + " " * (widths[name] - cell_len(cell)) for name, cell in zip(names, row, strict=True))
            click.echo((" " * GAP).join(padded).rstrip())
        click.echo()


def _table(columns: dict[str, list[str]], widths: dict[str, int], *, wrapped: bool) -> Table:
    """Return the head and the first rows as a table of rich, which takes a millisecond for each row."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name, cells in columns.items():
        # Spaces make the head as wide as all rows; with min_width rich sets edge columns one wider before 14.3.
        head = cells[0] + " " * (0 if wrapped else widths[name] - cell_len(cells[0]))
        table.add_column(Text(head), no_wrap=not wrapped or name == "name")
    for row in zip(*(cells[1 : ROWS_BY_RICH + 1] for cells in columns.values()), strict=True):
        table.add_row(*map(Text, row))
    return table


def _blocks(frame: pl.DataFrame, widths: dict[str, int], width: int) -> Iterator[list[str]]:
    """Give the columns in blocks that fit the width, each with the columns that tell rows apart."""
    keys = [name for name, dtype in frame.schema.items() if dtype != pl.Float64]
    block = list(keys)
    for name in frame.columns:
        if name in keys:
            continue
        if len(block) > len(keys) and sum(widths[one] + GAP for one in [*block, name]) - GAP > width:
            yield block
            block = list(keys)
        block.append(name)
    yield block


def _cells(column: pl.Series) -> list[str]:
    """Return values as text: numbers to six significant digits, with their points one under the other."""
    if not column.dtype.is_float():
        return ["null" if value is None else str(value).replace("\n", "\\n") for value in column]
    cells = ["null" if value is None else f"{value:.6g}" for value in column]
    behind = [len(cell.partition(".")[2]) if "." in cell and "e" not in cell else -1 for cell in cells]
    most = max(behind, default=-1)
    return [cell + " " * (most - digits) for cell, digits in zip(cells, behind, strict=True)]
