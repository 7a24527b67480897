"""What a command was given: its files scanned, and bound with its options to the recommendations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

import recframe as rf
from recframe.cli import files, pipes
from recframe.cli.options import DEFAULT_METRICS
from recframe.cli.readers import READERS, ROWS_TO_INFER, ending_of, is_text
from recframe.cli.results import check_output
from recframe.cli.shell import noted
from recframe.cli.values import form_of
from recframe.errors import RecframeError
from recframe.frames.context import DEFAULTS
from recframe.frames.hints import FrameOf
from recframe.frames.kinds.recframe_streamed import Streamed
from recframe.frames.roles import listed

F = TypeVar("F", pl.LazyFrame, pl.DataFrame)
DEFAULT_K = 10
JUDGED = ("truth", "train")
"""The files that say what users liked, in no order."""
TRUTH_ROWS = 8_000_000


def paths_of(recs: str, truth: str | None, options: dict[str, Any]) -> dict[str, str]:
    """Return the files that a command was given, by their names."""
    paths = {"recs": recs, "truth": truth} | {
        name: options[name] for name in ("users", "items", "train")
    }
    paths |= {} if _names_a_model(options) else {"reference": options["reference"]}
    return {name: path for name, path in paths.items() if path is not None}


def _names_a_model(options: dict[str, Any]) -> bool:
    """Return whether --reference is the name of a model, and no file."""
    reference = options["reference"]
    is_file = reference is None or ending_of(reference) in READERS or Path(reference).exists()
    return bool(options["model"]) and not is_file


def scanned(paths: dict[str, str], options: dict[str, Any]) -> dict[str, pl.LazyFrame]:
    """Return the tables of all files; a file that was given twice is one table."""
    check_output(options["output"] or "-", options["form"], paths.values())
    for path in paths.values():
        pipes.lay_down(path, options["max_bytes"])
    _check_text(paths, options)
    columns = columns_of(options)
    ids = {role: columns.get(role, role) for role in ("user", "item")}
    text = list(ids.values()) if options["ids_as_text"] else []
    frames: dict[str, pl.LazyFrame] = {}
    for name, path in paths.items():
        form = form_of(name, options["separator"], options["header"])
        mark = _mark_of(name, options["lists_separator"])
        names = text if mark is None else [*text, *_listed(name, columns)]
        frame = files.scan(path, names, form, options["max_bytes"])
        wanted = ids["item" if name == "items" else "user"]
        files.check_header(frame.collect_schema(), path, wanted, form)
        if name == "recs" and mark is None:
            _check_is_long(frame.collect_schema(), path, columns)
        frame = frame if mark is None else _in_long_form(name, frame, mark, columns)
        is_same = name == "truth" and path == paths.get("recs")
        frames[name] = frames["recs"] if is_same else frame
    return frames


def _check_is_long(schema: pl.Schema, path: str, columns: dict[str, str]) -> None:
    """Say so where items are text and nothing orders them, as where each text is a list."""
    item, rank, score = (columns.get(role, role) for role in ("item", "rank", "score"))
    lists = next((one for one in (item, f"{item}s") if one in schema), None)
    if lists is not None and schema[lists] == pl.String and not {rank, score} & set(schema):
        found = listed(schema)
        msg = (
            f"{path!r} has no column {rank!r}. It has {found}. Name the column of the ranks or of the scores: "
            f"--columns rank=NAME or --columns score=NAME; where each text of {lists!r} is a list, such as 'a b c', say "
            "what stands between its ids: --lists-separator ' '"
        )
        raise RecframeError(msg)


def _mark_of(name: str, marks: dict[str, str]) -> str | None:
    """Return what stands between the ids of a file's lists; one for all files is that of lists, truth and reference."""
    return marks.get(name, marks.get("") if name in {"recs", "truth", "reference"} else None)


def _listed(name: str, columns: dict[str, str]) -> list[str]:
    """Return the columns that may have lists in text, which of one id each are numbers to a reader."""
    number = "relevance" if name in JUDGED else "score"
    names = [columns.get(role, role) for role in ("item", number)]
    return [*names, *(f"{one}s" for one in names)]


def _in_long_form(
    name: str, frame: pl.LazyFrame, mark: str, columns: dict[str, str]
) -> pl.LazyFrame:
    """Return a file of lists with a row for each item, or say that it has these already."""
    user, item = (columns.get(role, role) for role in ("user", "item"))
    has = set(frame.collect_schema())
    if name in JUDGED:
        relevance = columns.get("relevance")
        return rf.from_truth(frame, relevance, user=user, item=item, separator=mark)
    rank, score = (columns.get(role, role) for role in ("rank", "score"))
    if rank in has:
        msg = f"{FrameOf('recommendations' if name == 'recs' else name)} has a rank {rank!r} in each row, so that it has no "
        msg += "lists in text; say which file has: --lists-separator truth=' '"
        raise RecframeError(msg)
    read = partial(rf.from_lists, user=user, item=item, score=score, separator=mark)
    with noted():
        # the first rows show what a LazyFrame does not, such as a mark that no text has
        read(frame.head(ROWS_TO_INFER).collect())
    long: pl.LazyFrame = read(frame)
    return long


def _check_text(paths: dict[str, str], options: dict[str, Any]) -> None:
    """Say so where an option for text files is for a file that is none, or where there is no text file at all."""
    for option in ("header", "separator"):
        for name in options[option]:
            asked = {one: path for one, path in paths.items() if name in {"", one}}
            if not asked:
                msg = f"--{option} {name}=...: there is no file {name.upper()} in the command"
                raise RecframeError(msg)
            if not any(_is_text(one, path, options) for one, path in asked.items()):
                msg = f"--{option} is for text files, such as .csv; none is: "
                raise RecframeError(msg + ", ".join(map(repr, asked.values())))


def _is_text(name: str, path: str, options: dict[str, Any]) -> bool:
    form = form_of(name, options["separator"], options["header"])
    return is_text(ending_of(files.places(path)[0]), form)


def columns_of(options: dict[str, Any]) -> dict[str, Any]:
    """Return the names of columns by their roles."""
    columns: dict[str, Any] = options["columns"]
    return columns | {role: options[role] for role in ("model", "training") if options.get(role)}


def bound_at_once(frames: Mapping[str, pl.LazyFrame], options: dict[str, Any]) -> Any:
    """Return the same, whose methods give DataFrames, and tell what is rarely meant."""
    streamed: dict[str, Any] = {**frames, "recs": Streamed(frames["recs"])}
    return bound(streamed, options)


def bound(frames: Mapping[str, F], options: dict[str, Any]) -> rf.Rec[F]:
    """Return the recommendations with all that is bound to them."""
    policies = {name: options.get(name) for name in (*DEFAULTS, "profile")}
    given = {name: value for name, value in policies.items() if value is not None}
    given |= _relevance(options)
    given |= {name: frame for name, frame in frames.items() if name != "recs"}
    if options["reference"] is not None and "reference" not in frames:
        given["reference"] = options["reference"]
    found: rf.Rec[F] = rf.rec(frames["recs"], **given, **columns_of(options))
    return found


def _relevance(options: dict[str, Any]) -> dict[str, Any]:
    """Return that no column says what is relevant, where that was said."""
    if not options.get("all_relevant"):
        return {}
    named = options["columns"].get("relevance")
    if named is not None:
        msg = f"--all-relevant says that no column tells what is relevant, and --columns relevance={named} names one; leave "
        raise RecframeError(msg + "one of them out")
    return {"relevance": False}


def n_parts(frames: dict[str, pl.LazyFrame]) -> int:
    """Return into how many parts the users are split, so that the truth of one takes a gigabyte or two."""
    rows = frames.get("truth", frames["recs"]).select(pl.len()).collect(engine="streaming").item()
    return -(-rows // (TRUTH_ROWS if "truth" in frames else 10 * TRUTH_ROWS)) or 1


def metrics_and_cutoffs(
    names: Sequence[str], cutoffs: Sequence[int]
) -> tuple[list[rf.Metric[...]], list[int] | None]:
    """Return the metrics and the cut-offs, or those that are sensible where none was asked for."""
    if not names:
        return [rf.parse(name) for name in DEFAULT_METRICS], list(cutoffs) or [DEFAULT_K]
    return [rf.parse(name) for name in names], list(cutoffs) or None
