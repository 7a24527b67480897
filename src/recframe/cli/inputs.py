"""Inputs of a command: files scanned and bound with its options."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

import recframe as rf
from recframe.cli import files
from recframe.cli.options import DEFAULT_METRICS, arguments_of
from recframe.cli.output import (
    Options,
    check_output,
    note,
    noted,
    words_of_the_shell,
)
from recframe.cli.readers import FramePart, Table, is_text, reading_of, table_of
from recframe.cli.text_dtypes import Role, typed
from recframe.cli.text_files import Form, TextPart, check_is_header
from recframe.cli.values import FORM_OPTIONS, OF_LISTS, form_of
from recframe.engines.memory_bound import default_memory
from recframe.errors import RecframeError, plan_errors
from recframe.frames.hints import FrameOf
from recframe.frames.options import DEFAULTS
from recframe.frames.roles import listed

Paths: TypeAlias = dict[str, str]
Frames: TypeAlias = dict[str, pl.LazyFrame]
"""The files of a command, and their tables, by their names."""
DEFAULT_K = 10
JUDGED = ("truth", "train", "log")
"""Files with the items that users liked, in no order."""
ONLY_NAMED = ("weight", "time")
"""Roles whose columns are read only where they are named."""


def paths_of(recs: str, truth: str | None, options: Options) -> Paths:
    """Return a command's files by name."""
    paths = {"recs": recs, "truth": truth}
    paths |= {name: options[name] for name in ("users", "items", "train", "reference")}
    if _names_a_model(options):
        del paths["reference"]
    return {name: path for name, path in paths.items() if path is not None}


def _names_a_model(options: Options) -> bool:
    """Return whether --reference is the name of a model, and no file."""
    reference = options["reference"]
    is_file = (
        reference is None or files.ending_of(reference) in files.KNOWN or Path(reference).exists()
    )
    return bool(options["model"]) and not is_file


def scan(path: str) -> pl.LazyFrame:
    """Return the table of a path, whose columns have the dtypes of their values."""
    files.lay_down(path)
    return typed({path: table_of(path, files.places(path))}, {path: {}})[path]


def scanned(paths: Paths, options: Options) -> Frames:
    """Return the tables of all files, with dtypes that match; a file that was given twice is one table."""
    for path in paths.values():
        files.lay_down(path)
    _check_text(paths, options)
    is_twice = "truth" in paths and paths["truth"] == paths.get("recs")
    read = {name: path for name, path in paths.items() if not (is_twice and name == "truth")}
    roles = {name: _roles(name, options, is_judged=len(paths) == 1 or is_twice) for name in read}
    tables = {name: _table(name, path, options, [*roles[name]]) for name, path in read.items()}
    frames = typed(tables, roles)
    return frames | ({"truth": frames["recs"]} if is_twice else {})


def _roles(name: str, options: Options, *, is_judged: bool) -> dict[str, Role]:
    """Return what the columns of a file are for that the call reads."""
    named = columns_of(options)
    is_list = name in {"recs", "reference"}
    ids = ["user", "item", *(role for role in ("model", "training") if is_list and role in named)]
    numbers = ["rank", "score"] if is_list else []
    if is_judged or name in JUDGED:
        numbers += ["relevance", "propensity"]
    if name == "users" and "weight" in named:
        numbers.append("weight")
    segments = [*(options.get("by") or ()), *filter(None, [options.get("cluster")])]
    roles: dict[str, Role] = dict.fromkeys(
        [*(named.get(role, role) for role in ids), *segments], "id"
    )
    return roles | dict.fromkeys([named.get(role, role) for role in numbers], "number")


def _table(name: str, path: str, options: Options, read: Sequence[str]) -> Table:
    """Return the table of a file under the names of all files, with a row for each item; columns to `read` are in all parts."""
    columns, form = columns_of(options), form_of(name, options)
    of_users = rf.from_truth if name in JUDGED else rf.from_lists
    table = _renamed(name, table_of(path, files.places(path), form, of_users), options)
    user, item, rank, score = (columns.get(one, one) for one in ("user", "item", "rank", "score"))
    _check_header(table, item if name == "items" else user, form)
    lacking = next((column for column in read if column in table.lacking), None)
    if lacking is not None:
        raise RecframeError(
            f"{table.lacking[lacking]!r} has no column {lacking!r}, which other files of {path!r} have; give files of the same "
            "columns"
        )
    schema, mark = table.schema, _mark_of(name, options["lists_separator"])
    lists = next((one for one in (item, f"{item}s") if one in schema), None)
    if lists is not None and name in OF_LISTS:
        is_nested = isinstance(schema[lists], pl.List | pl.Array)
        if is_nested or mark is not None:
            return _in_long_form(name, table, None if is_nested else mark, columns)
    if name == "recs" and not {rank, score} & set(schema):
        _check_is_long(schema, path, item, rank)
    return table


def _renamed(name: str, table: Table, options: Options) -> Table:
    """Return a file's table under the names that the columns have in all files, or say which it lacks."""
    own = options["columns"].of_files.get(name, {})
    columns, schema = columns_of(options) | {role: role for role in own}, table.schema
    names = {column: columns.get(role, role) for role, column in own.items()}
    if files.ending_of(files.places(table.path)[0]) in (*files.TREC, ".json"):
        # TREC files and dictionaries of users have no names of their own
        names |= {role: columns[role] for role in columns if role in schema}
    needed = {"item": columns["item"]} if name in OF_LISTS and "item" in columns else {}
    for role, column in {**needed, **own}.items():
        if column not in schema and f"{column}s" not in schema and column not in names.values():
            raise RecframeError(
                f"{table.path!r} has no column {column!r}. It has {listed(schema)}. Name the column of the {role}: "
                f"--columns {role}=NAME, or in this file alone --columns {name}={role}=NAME"
            )
    return replace(table, names={one: shown for one, shown in names.items() if one != shown})


def _check_header(table: Table, wanted: str, form: Form) -> None:
    """Reject text files whose first line is a row, and no header."""
    is_text = any(isinstance(part, TextPart) for part in table.parts)
    if not is_text or form.names is not None or wanted in table.schema:
        return
    check_is_header(table.path, table.schema)


def _check_is_long(schema: pl.Schema, path: str, item: str, rank: str) -> None:
    """Say so where items are text and nothing orders them, as where each text is a list."""
    lists = next((one for one in (item, f"{item}s") if one in schema), None)
    if lists is not None and schema[lists] == pl.String:
        raise RecframeError(
            f"{path!r} has no column {rank!r}. It has {listed(schema)}. Name the column of the ranks or of the scores: "
            f"--columns rank=NAME or --columns score=NAME; where each text of {lists!r} is a list, such as 'a b c', say "
            "what separates its ids: --lists-separator ' '"
        )


def _mark_of(name: str, marks: dict[str, str]) -> str | None:
    """Return the separator of ids in a file's lists; an unnamed one applies to lists, truth and reference."""
    return marks.get(name, marks.get("") if name in {"recs", "truth", "reference"} else None)


def _in_long_form(name: str, table: Table, mark: str | None, columns: Paths) -> Table:
    """Return a table of lists with a row for each item, or say that it has these already."""
    names = {one: columns.get(one, one) for one in ("user", "item")} | {"separator": mark}
    rank, score = (columns.get(role, role) for role in ("rank", "score"))
    if name in JUDGED:
        read = partial(rf.from_truth, relevance=columns.get("relevance"), **names)
    elif rank in table.schema:
        raise RecframeError(
            f"{FrameOf('recommendations' if name == 'recs' else name)} has a rank {rank!r} in each row, so that it has no "
            "lists in text; say which file has: --lists-separator truth=' '"
        )
    else:
        read = partial(rf.from_lists, score=score, **names)
    frame = table.scan()
    if name not in JUDGED:
        with noted(), reading_of(table.path, table.parts):
            # the first rows show what a LazyFrame does not, such as a mark that no text has
            read(table.head().collect())
    long: pl.LazyFrame = read(frame)
    texts = [column for column, dtype in long.collect_schema().items() if dtype == pl.String]
    is_text = mark is not None or not table.is_binary
    written = [one for one in texts if one in table.written or (is_text and one == names["item"])]
    part = FramePart((table.path,), lambda _: long, written)
    return replace(table, parts=[part], names={})


def _check_text(paths: Paths, options: Options) -> None:
    """Say so where an option for text files is for a file that is none, or where there is no text file at all."""
    for option in FORM_OPTIONS:
        for name in options[option]:
            named = {one: path for one, path in paths.items() if name in {"", one}}
            if not named:
                raise RecframeError(
                    f"--{option} {name}=...: there is no file {name.upper()} in the command"
                )
            if not any(_is_text(one, path, options) for one, path in named.items()):
                places = ", ".join(map(repr, named.values()))
                raise RecframeError(
                    f"--{option} is for text files, such as .csv; none is: {places}"
                )


def _is_text(name: str, path: str, options: Options) -> bool:
    return is_text(files.ending_of(files.places(path)[0]), form_of(name, options))


def columns_of(options: Options) -> dict[str, Any]:
    """Return the names of columns by their roles."""
    named = {role: options[role] for role in ("model", "training") if options.get(role)}
    of_files = options["columns"].of_files.values()
    only_named = {role: role for of_file in of_files for role in of_file if role in ONLY_NAMED}
    return {**only_named, **options["columns"], **named}


def bound(frames: Mapping[str, Any], options: Options) -> Any:
    """Return the recommendations with all side frames and options bound."""
    given = {name: options.get(name) for name in (*DEFAULTS, "profile", "reference", "memory")}
    given = {name: value for name, value in given.items() if value is not None} | dict(frames)
    if options.get("all_relevant"):
        named = options["columns"].get("relevance")
        if named is not None:
            raise RecframeError(
                f"--all-relevant says that no column tells what is relevant, and --columns relevance={named} names one; leave "
                "one of them out"
            )
        given["relevance"] = False
    return rf.rec(given.pop("recs"), **given, **columns_of(options))


def arguments_of_call(
    method: Callable[..., Any], options: Options
) -> tuple[list[rf.Metric[...]], dict[str, Any]]:
    """Return a method's metrics, the default ones where none are named, and its other arguments by name."""
    arguments, names = arguments_of(method, options), options.get("metrics")
    if names is None:
        return [], arguments
    cutoffs = options["k"] or (None if names else [DEFAULT_K])
    return [rf.parse(name) for name in names or DEFAULT_METRICS], arguments | {"k": cutoffs}


MOMENT = 1.5
"""Seconds after which a bar is shown."""


@contextmanager
def reading() -> Iterator[None]:
    """Read files: show a bar after a moment if stderr is a terminal, and turn errors into ones of data, in one line."""
    console = Console(stderr=True)
    shown = Progress(
        TextColumn("reading"), BarColumn(), TimeElapsedColumn(), console=console, transient=True
    )
    shown.add_task("reading", total=None)
    timer = threading.Timer(MOMENT, shown.start)
    timer.daemon = True
    if console.is_terminal:
        timer.start()
    try:
        with plan_errors():
            yield
    except (pl.exceptions.PolarsError, OSError) as error:
        raise rf.DataError(f"the files cannot be read: {files.first_line(error)}") from None
    finally:
        timer.cancel()
        if shown.live.is_started:
            shown.stop()


@contextmanager
def call_of(
    method: Callable[..., Any], recs: str, truth: str | None, options: Options
) -> Iterator[Callable[..., Any]]:
    """Provide a method of the recommendations on a command's files, with its options."""
    with words_of_the_shell(paths_of(recs, truth, options)):
        metrics, arguments = arguments_of_call(method, options)
        with on_files(recs, truth, options) as rec:
            yield partial(getattr(rec, method.__name__), *metrics, **arguments)


@contextmanager
def on_files(
    recs: str, truth: str | None, options: Options, *, collected: bool = False
) -> Iterator[Any]:
    """Provide the recommendations bound to a command's files, in words of the shell; warnings are notes at the end.

    With `collected` the files are read first, each once.
    """
    paths = paths_of(recs, truth, options)
    with words_of_the_shell(paths):
        check_output(options["output"], options["form"], paths.values())
        with noted(), reading():
            frames = scanned(paths, options)
            yield bound(tables_of(frames), options) if collected else Here(frames, options)


def tables_of(frames: Frames) -> dict[str, pl.DataFrame]:
    """Return tables in memory, each read once."""
    tables: dict[str, pl.DataFrame] = {
        name: frame.collect(engine="streaming") for name, frame in frames.items()
    }
    if "recs" in frames and frames.get("truth") is frames["recs"]:
        tables["truth"] = tables["recs"]
    return tables


IN_BUCKETS = {"evaluate", "summarize", "compare", "power", "gaps", "slices"}
"""Methods that run in buckets of users without --memory; the other ones read more of all users at once in one plan."""


@dataclass(frozen=True)
class Here:
    """`rec` on tables that Polars reads in this process, with results as DataFrames."""

    frames: Frames
    options: Options

    def __getattr__(self, method: str) -> Any:
        """Return a method of `rec`, in buckets of users where its plans are sums over users."""
        rec = bound(self.frames, self.options)
        if method in IN_BUCKETS and self.options.get("memory") is None:
            rec = rec(memory=default_memory())
        return getattr(rec._collected(), method)  # noqa: SLF001  of a shell, which shows tables of Polars

    def evaluate(self, *metrics: Any, **arguments: Any) -> pl.DataFrame:
        """Return the values of metrics, with a note on a truth that may be lists."""
        found: pl.DataFrame = self.__getattr__("evaluate")(*metrics, **arguments)
        recs, truth = self.frames["recs"], self.frames.get("truth")
        rank = columns_of(self.options).get("rank", "rank")
        if truth is not None and truth is not recs and rank in truth.collect_schema():
            note(
                f"TRUTH has a column {rank!r}, as recommendations have; if it comes from a pattern, quote it: 'recs/*.parquet'"
            )
        return found
