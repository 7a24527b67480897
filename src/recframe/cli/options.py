"""Options of commands, from the signatures and docstrings of methods."""

from __future__ import annotations

import codecs
import inspect
import re
from ast import literal_eval
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import Any, get_args

import click

from recframe.frames import options as of_rec
from recframe.frames.hints import NAMED_COLUMNS

CLAUSE = re.compile(
    r"^ *((?:\w+, )*\w+): +(?!as in|th(?:at|ose) of)(.+?)(?=[:;.](?:\s|$)|\n\s*\n|\Z)",
    re.MULTILINE | re.DOTALL,
)
"""The names of parameters in a docstring, and the first clause on them."""
FLAGS = {"metrics": ("-m", "--metric"), "k": ("-k",), "tags": ("--tag",)}
"""Flags that are not the name of their parameter."""
PATH = click.Path(readable=False)
PATH.name = "file"
OF_PATH = {"type": PATH}
"""Settings of an option with a path, which a shell completes; what reads it says whether it can be read."""
OF_FILES = ("recs", "truth", "users", "items", "train", "reference", "log")
"""Files of a command, which an option can name, as in --header recs=user,item,rank."""
COMMA = r',(?=(?:[^"]*"[^"]*")*[^"]*$)(?![^(]*\))'
"""Pattern of a comma between names, outside of quotes and brackets."""
NO_NAME = {("", "relevance"): False}
"""Values of an empty column name, by file and role."""
FILE = rf"(?s)\A(?:({'|'.join(OF_FILES)})=)?"
"""Pattern of the file that a value is for."""


# Values


def values(kind: str, read: Any, gather: Any = list) -> dict[str, Any]:
    """Return the settings of an option that can be repeated, whose text is a value or several."""
    return {"metavar": kind, "multiple": True, "callback": partial(_values, read, gather)}


def _values(read: Any, gather: Any, ctx: click.Context, option: Any, given: Any) -> Any:
    """Return the values of all texts, None without one, or say what is wrong with them."""
    try:
        return gather(chain.from_iterable(map(read, given))) or None
    except (ValueError, LookupError):
        raise click.BadParameter(
            f"{', '.join(given)!r} is not {option.metavar}: {option.help}", ctx, option
        ) from None


def names(text: str) -> list[str]:
    """Return the names between commas, without quotes."""
    return [name.strip(' "') for name in re.split(COMMA, text)]


def number_or_text(text: str) -> Any:
    """Return the number that a text is, or the text."""
    with suppress(ValueError, SyntaxError):
        return literal_eval(text)
    return text


def of_file(read: Any, text: str) -> Any:
    """Yield the file that a value is for, "" for all files, and the value."""
    [(file, rest)] = re.findall(rf"{FILE}([^=]+|=+)\Z", text)
    yield file, read(rest)


def columns(text: str) -> Any:
    """Yield the file, "" for all files, with a role, and the name of its column; a relevance can have none."""
    for part in names(text):
        [(file, role, name)] = re.findall(rf"{FILE}({'|'.join(NAMED_COLUMNS)})=(.*)", part)
        yield (file, role), name or NO_NAME[file, role]


MARKS = {"tab": "\t", "\\t": "\t", "space": " "}
"""Words for separators that a shell hardly writes."""


def mark(text: str) -> str:
    """Return the separator that a word is for."""
    return MARKS.get(text, text)


PER_FILE: Mapping[str, tuple[str, Any, str]] = {
    "header": (
        "NAMES",
        names,
        "The names of the columns of text without a header line, such as user,item,rank; an empty name leaves a column out.",
    ),
    "separator": (
        "MARK",
        mark,
        "The separator of columns in text, such as ';', tab or '::'.",
    ),
    "encoding": (
        "NAME",
        lambda text: codecs.lookup(text).name,
        "The encoding of text that is not UTF-8, such as latin-1.",
    ),
    "decimal": (
        "POINT|COMMA",
        {"point": ".", "comma": ","}.__getitem__,
        "The sign before the decimals in text.",
    ),
    "quotes": (
        "YES|NO",
        {"yes": True, "no": False}.__getitem__,
        "Whether quotes hold a value of text together.",
    ),
    "lists_separator": (
        "MARK",
        mark,
        "The separator of ids where a column has lists as text, ' ' for 'a b c'; a row is then a user's list.",
    ),
}
"""Options on files of text, for all or for one: what a value is, the function that reads it, the help."""
KINDS: Mapping[str, Any] = {
    "bool": {"is_flag": True},
    "int": {"type": int},
    "float": {"type": float},
    "memory": {"type": str},
    "Asked": values("METRIC", names),
    "Cutoffs": values("INTEGER", lambda text: map(int, names(text))),
    **dict.fromkeys(("By", "str | Sequence[str]"), values("NAME", names)),
    "Mapping[str, object]": values(
        "NAME=WORD", lambda text: [one.split("=", 1) for one in names(text)], dict
    ),
    "Any": {"type": number_or_text},
    "MinRelevance": {"type": number_or_text},
    **dict.fromkeys(("users", "items", "train", "reference", "history"), OF_PATH),
}
"""Settings of options, by the names of their parameters, or by their annotations."""


# Options


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


option = partial(click.Option, show_default=True)


def clauses_of(*documented: object) -> dict[str, str]:
    """Return what docstrings say of parameters: the first clause behind `name:`, in the last docstring that has it.

    >>> def rule(n, share):
    ...     '''Draw rows.
    ...
    ...         n, share: the rows to draw; a share
    ...             is below 1.
    ...     '''
    >>> clauses_of(rule)
    {'n': 'the rows to draw', 'share': 'the rows to draw'}
    """
    found: dict[str, str] = {}
    text = "\n\n".join(inspect.getdoc(one) or "" for one in documented)
    for named, clause in CLAUSE.findall(text):
        found |= dict.fromkeys(named.split(", "), " ".join(clause.replace("`", "").split()))
    return found


def options_of(
    method: Any, *documented: object, named: str = "", but: str = ""
) -> list[click.Option]:
    """Return options of the parameters of a method, of some or but some; `documented` have what its docstring leaves out."""
    clauses = clauses_of(*documented, method)
    parameters = inspect.signature(method).parameters
    where = vars(of_rec) | inspect.unwrap(method).__globals__
    chosen = named.split() or [name for name in parameters if name not in {"self", *but.split()}]
    return [_of_parameter(parameters[name], clauses[name], where) for name in chosen]


def _of_parameter(parameter: inspect.Parameter, clause: str, where: Any) -> click.Option:
    """Return the option of a parameter; a name in its annotation, of some words, is looked up."""
    name, default = parameter.name, parameter.default
    kind = parameter.annotation.removesuffix(" | None")
    words = get_args(where.get(kind))
    if words and default and kind != parameter.annotation:
        # NOTE: a shell has a word for None where it is no default
        words += (None,)
    choice = {"type": click.Choice(words, case_sensitive=False)} if words else {}
    settings = KINDS.get(name) or KINDS.get(kind, choice)
    # NOTE: to click a default of None is one
    is_needed = default is parameter.empty
    more = {"required": name != "metrics"} if is_needed else {"default": default}
    flags = [*FLAGS.get(name, [_flag(name)]), name]
    return option(flags, help=f"{clause[:1].upper()}{clause[1:]}.", **settings, **more)


def options_of_files() -> list[click.Option]:
    """Return the options that say how files are written."""
    roles = (
        f"The names of columns, where they differ from the roles: {', '.join(NAMED_COLUMNS)}; with relevance= each row of "
        "TRUTH counts 1."
    )
    return [option(["--columns"], help=roles, **values("[FILE=]ROLE=NAME", columns, dict))] + [
        option([_flag(name)], help=text, **values(f"[FILE=]{kind}", partial(of_file, read), dict))
        for name, (kind, read, text) in PER_FILE.items()
    ]
