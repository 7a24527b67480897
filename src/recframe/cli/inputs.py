"""Inputs of a command: files scanned and bound with its options."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import click
import polars as pl
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

import recframe as rf
from recframe.cli import files
from recframe.cli.engine_files import ENGINES, EngineOfFiles
from recframe.cli.options import DEFAULT_METRICS, HERE, arguments_of
from recframe.cli.output import (
    Options,
    check_output,
    note,
    noted,
    words_of_the_shell,
)
from recframe.cli.readers import PARQUET, READERS, ROWS_TO_INFER, ending_of, is_address, is_text
from recframe.cli.values import form_of
from recframe.errors import RecframeError, plan_errors
from recframe.frames.collecting import stream
from recframe.frames.hints import FrameOf
from recframe.frames.kinds.lookup import kind_for
from recframe.frames.options import DEFAULTS, Limit
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
    """Return the tables of all files; a file that was given twice is one table."""
    for path in paths.values():
        files.lay_down(path, options["max_bytes"])
    _check_text(paths, options)
    columns = columns_of(options)
    user, item, rank, score = (columns.get(one, one) for one in ("user", "item", "rank", "score"))
    text = [user, item] if options["ids_as_text"] else []
    frames: Frames = {}
    for name, path in paths.items():
        if name == "truth" and path == paths.get("recs"):
            frames[name] = frames["recs"]
            continue
        form = form_of(name, options["separator"], options["header"])
        mark = _mark_of(name, options["lists_separator"])
        names = text if mark is None else [*text, *_listed(name, columns)]
        frame = files.scan(path, names, form, options["max_bytes"])
        schema = frame.collect_schema()
        files.check_header(schema, path, item if name == "items" else user, form)
        if mark is not None:
            frame = _in_long_form(name, frame, mark, columns)
        elif name == "recs" and not {rank, score} & set(schema):
            _check_is_long(schema, path, item, rank)
        frames[name] = frame
    return frames


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
def reading() -> Iterator[Callable[[float], None]]:
    """Read files: show a bar after a moment if stderr is a terminal, and turn errors into ones of data, in one line.

    It gives a function that sets the finished share.
    """
    console = Console(stderr=True)
    shown = Progress(
        TextColumn("reading"), BarColumn(), TimeElapsedColumn(), console=console, transient=True
    )
    task = shown.add_task("reading", total=None)
    timer = threading.Timer(MOMENT, shown.start)
    timer.daemon = True
    if console.is_terminal:
        timer.start()
    try:
        with plan_errors():
            yield lambda share: shown.update(task, total=1.0, completed=share)
    except (pl.exceptions.PolarsError, OSError) as error:
        text = files.first_line(error)
        hint = ""
        if "could not parse" in text:
            hint = f"; the first {ROWS_TO_INFER} rows are otherwise. Use --ids-as-text for ids, or write Parquet"
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
        with noted(ids_as_text=options["ids_as_text"]), reading() as tell:
            if engine_of(options) is not None:
                with _on_engine(paths, options) as rec:
                    yield rec
            elif collected:
                yield bound(tables_of(scanned(paths, options)), options)
            else:
                yield Here(scanned(paths, options), options, tell)


def tables_of(frames: Frames) -> dict[str, pl.DataFrame]:
    """Return tables in memory, each read once."""
    tables: dict[str, pl.DataFrame] = {
        name: frame.collect(engine="streaming") for name, frame in frames.items()
    }
    if "recs" in frames and frames.get("truth") is frames["recs"]:
        tables["truth"] = tables["recs"]
    return tables


IN_BUCKETS = {"evaluate", "summarize", "compare", "winner", "power", "gaps", "slices"}
"""Methods that run in buckets of users without --memory; the other ones read more of all users at once in one plan."""


@dataclass(frozen=True)
class Here:
    """`rec` on tables that Polars reads in this process, with results as DataFrames."""

    frames: Frames
    options: Options
    tell: Callable[[float], None]
    """Takes the finished share."""

    def __getattr__(self, method: str) -> Any:
        """Return a method of `rec`, in buckets of users where its plans are sums over users."""
        rec = bound(self.frames, self.options)
        if method in IN_BUCKETS:
            rec = rec._with(replace(rec._context, buckets=Limit(tell=self.tell)))  # noqa: SLF001  as rec.collect does
        return getattr(rec._collected(), method)  # noqa: SLF001  likewise

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


_OURS = re.compile(r"recframe\.errors\.\w+: (.*)")
ELSEWHERE = {
    "dask": "; Dask's cluster is that of DASK_SCHEDULER_ADDRESS=tcp://host:8786 in the environment",
    "daft": "; Daft's runner is that of DAFT_RUNNER=ray in the environment",
}
"""Hint on where each engine's address is set, for the error on --master without Spark."""


def engine_of(options: Options) -> EngineOfFiles | None:
    """Return the requested engine, None for Polars, or raise an error for missing packages."""
    name = options.get("engine", HERE)
    if name != "spark" and options.get("master") is not None:
        elsewhere = ELSEWHERE.get(name, "; add --engine spark")
        raise RecframeError(f"--master says where Spark is{elsewhere}")
    if name == HERE:
        return None
    if options.get("memory") is not None:
        raise RecframeError(
            f"--memory is for Polars, in this process; {ENGINES[name].name} has settings of its own, so leave it out"
        )
    ENGINES[name].check()
    return ENGINES[name]


@contextmanager
def _on_engine(paths: Paths, options: Options) -> Iterator[Any]:
    """Provide the recommendations on an engine, with methods that return DataFrames."""
    engine = ENGINES[options["engine"]]
    if options["lists_separator"]:
        raise RecframeError(
            "lists in text are read by Polars alone; leave out --engine, or write them in long form before"
        )
    plain = scanned({name: one for name, one in paths.items() if not _is_elsewhere(one)}, options)
    with _words_of_failures(engine), engine.session(options["master"]) as session:
        rec = bound(_frames(engine, session, paths, plain, options), options)
        schemas = bound(plain, options) if len(plain) == len(paths) else None
        yield Answers(rec, engine, schemas, columns_of(options).get("model"))


class Answers:
    """`rec` on an engine's frames, with results as Polars DataFrames."""

    def __init__(
        self, rec: Any, engine: EngineOfFiles, schemas: rf.Rec[Any] | None, model: str | None
    ) -> None:
        self.rec, self.engine, self.schemas, self.model = rec, engine, schemas, model

    def __getattr__(self, method: str) -> Any:
        """Return a method of `rec`."""
        return partial(self._asked, method)

    def _asked(self, method: str, /, *arguments: Any, **options: Any) -> pl.DataFrame:
        """Return the rows of a result, in the dtypes that Polars has for them, and its order."""
        # what a schema can show is said here, before the engine reads a file
        wanted = None
        if self.schemas is not None:
            wanted = getattr(self.schemas, method)(*arguments, **options).collect_schema()
        found = self.engine.rows(getattr(self.rec, method)(*arguments, **options))
        found = found if wanted is None else found.cast(wanted)
        return self._sorted(found, options.get("by") or ()) if method == "evaluate" else found

    def _sorted(self, found: pl.DataFrame, by: Any) -> pl.DataFrame:
        """Return rows by their keys: those of users come as buckets are done."""
        names = {*by}
        n_keys = len(names) + (self.model is not None and not names & {self.model, "model"})
        keys = found.columns[:n_keys]
        return found.sort(keys, nulls_last=True) if keys else found


@contextmanager
def _words_of_failures(engine: EngineOfFiles) -> Iterator[None]:
    """Have a task's failure told in the words of the task, without the machine's."""
    try:
        yield
    except (RecframeError, click.ClickException, click.exceptions.Exit):
        raise
    except Exception as error:  # noqa: BLE001  each engine has errors of its own
        found = _OURS.search(str(error))
        said = files.first_line(error) if found is None else found.group(1)
        raise RecframeError(said if found else f"{engine.name} fails: {said}") from None


def _frames(
    engine: EngineOfFiles, session: Any, paths: Paths, plain: Frames, options: Options
) -> dict[str, Any]:
    """Return the frames of the files: Parquet is read by the engine, others here, where their types are known."""
    columns = columns_of(options)
    ids = [columns.get(one, one) for one in ("user", "item")] if options["ids_as_text"] else []
    found: dict[str, Any] = {}
    for name, path in paths.items():
        places = _parquet(path)
        if places:
            frame = engine.read(session, places, _folder(path, places))
            texts = [column for column in kind_for(frame).columns if column in ids]
            found[name] = engine.with_text(frame, texts) if texts else frame
        elif name == "recs":
            found[name] = engine.made(session, _table(plain[name]))
        else:  # side frames travel from here
            found[name] = plain[name]
    return found


def _is_elsewhere(path: str) -> bool:
    """Return whether a path is a remote address of Parquet files, readable by the engine alone."""
    return is_address(path) and ending_of(path) in {*PARQUET, ""}


def _parquet(path: str) -> list[str]:
    """Return the Parquet files of a path; none where it has others.

    NOTE: whole paths, since a worker, and the JVM of a session that was there, work in folders of their own.
    """
    if is_address(path):
        return [path] if _is_elsewhere(path) else []
    places = files.places(path)
    is_parquet = all(ending_of(place) in PARQUET for place in places)
    return [str(Path(place).absolute()) for place in places] if is_parquet else []


def _folder(path: str, places: list[str]) -> str | None:
    """Return the folder below which names of folders are columns."""
    folders = Path(places[0]).parent.parts
    first = next((n for n, name in enumerate(folders) if "=" in name), None)
    is_one = first is None or places == [str(Path(path).expanduser().absolute())]
    return None if is_one else str(Path(*folders[:first]))


def _table(rows: pl.LazyFrame) -> Any:
    """Return rows as a table of Arrow."""
    from recframe.frames.kinds.pyarrow_frames import table_of  # noqa: PLC0415  pyarrow comes with engines

    return table_of(stream(rows))
