"""Inputs of a command: files scanned and bound with its options."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
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
from recframe.cli.readers import READERS, ROWS_TO_INFER, ending_of, is_text
from recframe.cli.values import form_of
from recframe.engines.scans import default_memory
from recframe.errors import RecframeError, plan_errors
from recframe.frames.hints import FrameOf
from recframe.frames.options import DEFAULTS
from recframe.frames.roles import listed

Paths: TypeAlias = dict[str, str]
Frames: TypeAlias = dict[str, pl.LazyFrame]
"""The files of a command, and their tables, by their names."""
DEFAULT_K = 10
JUDGED = ("truth", "train")
"""Files with the items that users liked, in no order."""


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
    is_file = reference is None or ending_of(reference) in READERS or Path(reference).exists()
    return bool(options["model"]) and not is_file


def scanned(paths: Paths, options: Options) -> Frames:
    """Return the tables of all files; a file that was given twice is one table.

    Ids are read as text from all text files where those of one file are text.
    """
    for path in paths.values():
        files.lay_down(path)
    _check_text(paths, options)
    columns = columns_of(options)
    frames = {name: _scanned(name, path, [], options) for name, path in paths.items()}
    schemas = {name: frame.collect_schema() for name, frame in frames.items()}
    ids = [columns.get(one, one) for one in ("user", "item")]
    dtypes = [column for schema in schemas.values() for column in schema.items()]
    text = [one for one in ids if (one, pl.String()) in dtypes]
    for name, schema in schemas.items():
        numbers = [one for one in text if schema.get(one, pl.String) != pl.String]
        if numbers and _is_text(name, paths[name], options):
            frames[name] = _scanned(name, paths[name], text, options)
    if "truth" in paths and paths["truth"] == paths.get("recs"):
        frames["truth"] = frames["recs"]
    return frames


def _scanned(name: str, path: str, text: Sequence[str], options: Options) -> pl.LazyFrame:
    """Return the table of a file, whose columns of `text` are read as text."""
    columns = columns_of(options)
    user, item, rank, score = (columns.get(one, one) for one in ("user", "item", "rank", "score"))
    form = form_of(name, options["separator"], options["header"])
    mark = _mark_of(name, options["lists_separator"])
    frame = files.scan(path, text if mark is None else [*text, *_listed(name, columns)], form)
    schema = frame.collect_schema()
    files.check_header(schema, path, item if name == "items" else user, form)
    if mark is not None:
        return _in_long_form(name, frame, mark, columns)
    if name == "recs" and not {rank, score} & set(schema):
        _check_is_long(schema, path, item, rank)
    return frame


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


def _listed(name: str, columns: dict[str, str]) -> list[str]:
    """Return the columns that may have lists in text, which of one id each are numbers to a reader."""
    number = "relevance" if name in JUDGED else "score"
    names = [columns.get(role, role) for role in ("item", number)]
    return [*names, *(f"{one}s" for one in names)]


def _in_long_form(name: str, frame: pl.LazyFrame, mark: str, columns: Paths) -> pl.LazyFrame:
    """Return a file of lists with a row for each item, or say that it has these already."""
    names = {one: columns.get(one, one) for one in ("user", "item")} | {"separator": mark}
    if name in JUDGED:
        return rf.from_truth(frame, columns.get("relevance"), **names)
    rank, score = (columns.get(role, role) for role in ("rank", "score"))
    if rank in frame.collect_schema():
        raise RecframeError(
            f"{FrameOf('recommendations' if name == 'recs' else name)} has a rank {rank!r} in each row, so that it has no "
            "lists in text; say which file has: --lists-separator truth=' '"
        )
    read = partial(rf.from_lists, score=score, **names)
    with noted():
        # the first rows show what a LazyFrame does not, such as a mark that no text has
        read(frame.head(ROWS_TO_INFER).collect())
    long: pl.LazyFrame = read(frame)
    return long


def _check_text(paths: Paths, options: Options) -> None:
    """Say so where an option for text files is for a file that is none, or where there is no text file at all."""
    for option in ("header", "separator"):
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
    form = form_of(name, options["separator"], options["header"])
    return is_text(ending_of(files.places(path)[0]), form)


def columns_of(options: Options) -> dict[str, Any]:
    """Return the names of columns by their roles."""
    named = {role: options[role] for role in ("model", "training") if options.get(role)}
    return {**options["columns"], **named}


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
        text = files.first_line(error)
        hint = ""
        if "could not parse" in text:
            hint = f"; the first {ROWS_TO_INFER} rows are otherwise. Write Parquet"
        raise rf.DataError(f"the files cannot be read: {text}{hint}") from None
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
