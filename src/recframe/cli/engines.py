"""What computes a command's answer: Polars in this process, or an engine that reads the files and gives rows of results."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import click
import polars as pl

import recframe as rf
from recframe.cli import files
from recframe.cli.engine_files import ENGINES, EngineOfFiles
from recframe.cli.given import bound, bound_at_once, columns_of, scanned
from recframe.cli.options import HERE
from recframe.cli.readers import ending_of, is_address
from recframe.errors import RecframeError
from recframe.frames.collecting import stream
from recframe.frames.kinds.lookup import kind_for

PARQUET = {".parquet", ".pq"}
_OURS = re.compile(r"recframe\.errors\.\w+: (.*)")
ELSEWHERE = {
    "dask": "; Dask's cluster is that of DASK_SCHEDULER_ADDRESS=tcp://host:8786 in the environment",
    "daft": "; Daft's runner is that of DAFT_RUNNER=ray in the environment",
}
"""Where the other engines are."""


def engine_of(options: Mapping[str, Any]) -> EngineOfFiles | None:
    """Return the engine that is to compute, none where it is Polars, or say what is missing for it."""
    name = options.get("engine", HERE)
    if name != "spark" and options.get("master") is not None:
        msg = "--master says where Spark is"
        raise RecframeError(msg + ELSEWHERE.get(name, "; add --engine spark"))
    if name == HERE:
        return None
    ENGINES[name].check()
    return ENGINES[name]


@contextmanager
def answering(paths: dict[str, str], options: dict[str, Any]) -> Iterator[Any]:
    """Give the recommendations with all that is bound to them, whose methods give DataFrames."""
    engine = engine_of(options)
    if engine is None:
        yield bound_at_once(scanned(paths, options), options)
        return
    if options["lists_separator"]:
        msg = "lists in text are read by Polars alone; leave out --engine, or write them in long form before"
        raise RecframeError(msg)
    plain = scanned({name: one for name, one in paths.items() if not _is_elsewhere(one)}, options)
    with _words_of_failures(engine), engine.session(options["master"]) as session:
        rec = bound(_frames(engine, session, paths, plain, options), options)
        schemas = bound(plain, options) if len(plain) == len(paths) else None
        yield Answers(rec, engine, schemas, columns_of(options).get("model"))


class Answers:
    """The methods of a `rec` on an engine's frames, whose results are DataFrames as Polars would give them."""

    def __init__(
        self, rec: Any, engine: EngineOfFiles, schemas: rf.Rec[Any] | None, model: str | None
    ) -> None:
        self.rec, self.engine, self.schemas, self.model = rec, engine, schemas, model

    def __getattr__(self, method: str) -> Any:
        """Return a method of `rec`."""
        return partial(self._asked, method)

    def _asked(self, method: str, *arguments: Any, **options: Any) -> pl.DataFrame:
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
    engine: EngineOfFiles,
    session: Any,
    paths: dict[str, str],
    plain: Mapping[str, pl.LazyFrame],
    options: dict[str, Any],
) -> dict[str, Any]:
    """Return the frames of the files: Parquet is read by the engine, others here, where their types are known."""
    columns = columns_of(options)
    ids = {columns.get(role, role) for role in ("user", "item")} if options["ids_as_text"] else ()
    found: dict[str, Any] = {}
    for name, path in paths.items():
        places = _parquet(path)
        if places:
            frame = engine.read(session, places, _folder(path, places))
            texts = [one for one in kind_for(frame).columns if one in ids]
            found[name] = engine.with_text(frame, texts) if texts else frame
        else:
            # side frames travel from here
            is_lists = name == "recs"
            found[name] = engine.made(session, _table(plain[name])) if is_lists else plain[name]
    return found


def _is_elsewhere(path: str) -> bool:
    """Return whether a path is an address of Parquet files, which may be one of the engine's alone."""
    return is_address(path) and ending_of(path) in {*PARQUET, ""}


def _parquet(path: str) -> list[str]:
    """Return the Parquet files of a path; none where it has others.

    NOTE: whole paths, since a worker, and the JVM of a session that was there, work in folders of their own.
    """
    if is_address(path):
        return [path] if _is_elsewhere(path) else []
    places = files.places(path)
    is_parquet = all(ending_of(one) in PARQUET for one in places)
    return [str(Path(one).absolute()) for one in places] if is_parquet else []


def _folder(path: str, places: list[str]) -> str | None:
    """Return the folder below which names of folders are columns."""
    folders = Path(places[0]).parent.parts
    first = next((n for n, name in enumerate(folders) if "=" in name), None)
    is_one = first is None or places == [str(Path(path).expanduser().absolute())]
    return None if is_one else str(Path(*folders[:first]))


def _table(rows: pl.LazyFrame) -> Any:
    """Return rows as a table of Arrow."""
    from recframe.frames.kinds.plain_tables import table_of  # noqa: PLC0415  pyarrow comes with engines

    return table_of(stream(rows))
