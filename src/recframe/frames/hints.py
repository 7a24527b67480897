"""Hints in messages, in words of Python or of a shell."""

from __future__ import annotations

import ast
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from recframe.errors import folded, shown

ROLES = ("user", "item", "rank", "score", "relevance", "model", "training", "propensity")
NAMED_COLUMNS = (*ROLES, "weight", "time")
"""The options that name a column; a weight is one of the users frame alone. Both it and a time are read only if named."""


_WORDS_OF_OTHERS = {
    "k": "ks, top k, k top, top, top n, at, at k, k at, cut off, cut, n, k list, k values, max k, k max, depth, num items",
    "by": "group by, grouped by, groups, group, group cols, group columns, segment, segments, segment by, slice by, "
    "split by, partition by, per, over",
    "truth": "ground truth, gt, labels, targets, y true, test, test set, test data, test df, qrels, actual, gold, "
    "rating true, holdout, relevant items",
    "relevance": "label, target, label col, relevance col, rating col, col rating, grade, grades, rel",
    "min_relevance": "threshold, relevance threshold, rel threshold, rating threshold, positive threshold, relevance level",
    "score": "preds, predictions, prediction, pred, y pred, y score, col prediction, prediction col, score col, scores",
    "rank": "rank col, ranks, position, position col",
    "user": "user col, user id, user column, col user, users col, uid, query, query col, query id, qid",
    "item": "item col, item id, item column, col item, items col, iid, doc, doc id, document",
    "model": "models, system, systems, algorithm, variant, model col",
    "train": "train set, train data, train df, interactions, history, seen",
    "items": "catalog, catalogue, item features, item data",
    "users": "user features, user data",
    "profile": "library, framework, convention, like",
}
"""Own names of arguments and options, each with the words that other libraries have for it."""
_WRITE = {folded(word): own for own, words in _WORDS_OF_OTHERS.items() for word in words.split(",")}


def own_word(name: str) -> str:
    """Return the argument or option that a word of another library means, in Python and in a shell; nothing for others."""
    return name if name in {"k", "by"} else _WRITE.get(folded(name), "")


class Hint:
    """Part of a message with its own wording in each surface."""

    python = elsewhere = ""

    def __str__(self) -> str:
        return WORDS.get()(self)


@dataclass(frozen=True)
class Bound(Hint):
    """Options of `rec(...)` to write, with values in Python syntax."""

    options: Mapping[str, str]


@dataclass(frozen=True)
class Given(Hint):
    """Argument or option, as the user gave it."""

    name: str
    value: object


@dataclass(frozen=True)
class FrameOf(Hint):
    """Frame of the call, by its option, "judged" or "recommendations"."""

    name: str


@dataclass(frozen=True)
class SideFrame(Hint):
    """Side frame to bind, by its option."""

    name: str


@dataclass(frozen=True)
class Either(Hint):
    """Python words, and their replacement in other surfaces."""

    python: str
    elsewhere: str = ""


@dataclass(frozen=True)
class Text:
    """Words and hints of a message, rendered on demand."""

    parts: tuple[str | Hint | Text, ...]

    def __str__(self) -> str:
        return "".join(map(str, self.parts))


NAMED = "'...'"
"""Placeholder of a column name."""
A_FRAME = Either("frame", "file")
A_FRAME_EACH = Either(", or a frame for each: rf.rec({'a': a, 'b': b}, truth=truth)")
"""Another way to bind models."""


def bind(**options: str) -> Bound:
    """Return the hint to bind options."""
    return Bound(options)


def text(*parts: str | Hint | Text) -> Text:
    """Return a text of words and hints."""
    return Text(parts)


ASKED = {"judged": "the judged frame", "recommendations": "the frame of recommendations"}
"""The names of the frame that is asked."""


def in_python(hint: Hint) -> str:
    """Return a hint in words of Python."""
    match hint:
        case Bound(options):
            return f"rec({', '.join([f'{name}={value}' for name, value in options.items()])})"
        case Given(name, value):
            return f"{name}={shown(value)}"
        case FrameOf(name):
            return ASKED.get(name, f"the frame {name}=")
        case SideFrame(name):
            return "a reference" if name == "reference" else f"the {name} frame"
    return hint.python


WORDS: ContextVar[Callable[[Hint], str]] = ContextVar("words", default=in_python)
"""The function that words hints."""


@contextmanager
def in_words(words: Callable[[Hint], str]) -> Iterator[None]:
    """Word hints for another surface than Python, within a context."""
    token = WORDS.set(words)
    try:
        yield
    finally:
        WORDS.reset(token)


FRAMES = ("users", "items", "train", "reference")
ALL_RELEVANT = "--columns relevance="
"""Option for relevance=False."""
PLACE = "..."
"""Placeholder of a value."""


@dataclass(frozen=True)
class InShell:
    """Callable that words hints for a shell; sent to engine workers."""

    paths: Mapping[str, str]
    """Paths of the command's files, by name."""

    def __call__(self, hint: Hint) -> str:
        """Return a hint in words of the command."""
        match hint:
            case Bound(options):
                return ", ".join(_option(name, value) for name, value in options.items())
            case Given(name, value):
                return _given(name, value)
            case FrameOf(name):
                return _file(name, self.paths)
            case SideFrame(name):
                return _option(name, "")
        return hint.elsewhere


def _given(name: str, value: object) -> str:
    """Return the command's option for an argument; column names go into `--columns`."""
    if value is False:
        return ALL_RELEVANT
    if name in NAMED_COLUMNS and name not in {"model", "training"}:
        return f"--columns {name}={value}"
    if isinstance(value, list):  # which a shell has between commas
        value = ",".join(map(str, value))
        return f"-{name} {value}" if len(name) == 1 else f"--{_dashed(name)} {value}"
    return f"--{_dashed(name)} {'COLUMN' if value == PLACE else shown(value)}"


def _file(name: str, paths: Mapping[str, str]) -> str:
    """Return the path of a file, or its place in the command where two have one path."""
    recs = paths.get("recs", "RECS")
    is_twice = name == "truth" and paths.get("truth") == recs
    return "TRUTH" if is_twice else repr(paths.get(name, recs))


def _option(name: str, value: str) -> str:
    """Return a command's option for an option of `rec(...)` with its Python value."""
    if name == "truth":
        return "the truth as a second file"
    if name in FRAMES:
        return f"--{name} FILE"
    if (name, value) == ("relevance", "False"):
        return ALL_RELEVANT
    if name in {"model", "training"}:
        return f"--{name} {_written(value, 'COLUMN')}"
    if name in NAMED_COLUMNS:
        return f"--columns {name}={_written(value, 'NAME')}"
    return f"--{_dashed(name)} {_written(value, 'X')}"


def _written(value: str, place: str) -> str:
    """Return a value in shell syntax, or a placeholder."""
    text = str(ast.literal_eval(value)) if value[:1] in {"'", '"'} else value
    return place if text == PLACE else shlex.quote(text)


def _dashed(name: str) -> str:
    return name.replace("_", "-")


# Frames

OF_ENGINES = ("pyspark.sql.DataFrame", "dask.dataframe.DataFrame")
"""The classes of the frames that engines hold."""
READERS = {
    ".parquet": "pl.scan_parquet({})",
    ".csv": "pl.scan_csv({})",
    ".tsv": "pl.scan_csv({}, separator='\\t')",
    ".arrow": "pl.scan_ipc({})",
    ".ipc": "pl.scan_ipc({})",
    ".feather": "pl.scan_ipc({})",
    ".jsonl": "pl.scan_ndjson({})",
    ".ndjson": "pl.scan_ndjson({})",
    ".json": "pl.read_json({})",
    ".qrels": "rf.read_trec_qrels({})",
    ".run": "rf.read_trec_run({})",
}
"""The calls that read files, by the files' suffixes."""
OF_COLUMNS = (
    ", with columns of users, items and ranks or scores: pl.DataFrame({...}); rf.from_lists(...) makes it of items by user, "
    "rf.from_scores(...) of a matrix of scores"
)
"""How lists, dictionaries and arrays become recommendations."""


def is_loaded(frame_class: str) -> bool:
    """Whether the library of an engine's frames is loaded, as it is where there is one."""
    return frame_class.rpartition(".")[0] in sys.modules


def made_a_frame(thing: Any, of_values: str, *, is_stream: bool) -> str:
    """Return how something else becomes a frame, where that is known."""
    library, kind = type(thing).__module__.partition(".")[0], type(thing).__name__
    if is_stream:
        return str(Either(": rf.rec(frame) reads it"))
    if isinstance(thing, str | os.PathLike):
        return _read_from(os.fsdecode(thing))
    known = {
        "recframe": ", not what recframe makes of it",
        "pyarrow": ": one column of a table is none",
        "NamedFrame": str(Either(", and name its columns in the call: rf.rec(frame, user='...')")),
        "Series": ": series.reset_index()" if library == "pandas" else ": series.to_frame()",
    }
    rows = ": spark.createDataFrame(rdd, ['user', 'item', 'rank'])"
    known |= dict.fromkeys(("RDD", "PipelinedRDD"), rows)
    known |= dict.fromkeys(("list", "dict", "ndarray", "Tensor"), of_values)
    if "Group" in kind:
        return ": the one that was grouped, with the groups as by='...'"
    return known.get(kind) or known.get(library, "")


def _read_from(path: str) -> str:
    """Return how the file of a path is read, by its suffix."""
    for suffix in reversed(PurePath(path).suffixes):  # that of data.csv.gz is before the last
        if call := READERS.get(suffix.lower()):
            return f", not a path: {call.format(shown(path))}"
    or_table = ", or a table's name: spark.table(name)" if is_loaded(OF_ENGINES[0]) else ""
    return f", not a path: pl.scan_parquet(path), pl.scan_csv(path){or_table}"
