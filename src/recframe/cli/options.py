"""Options of commands, from the signatures and docstrings of methods."""

from __future__ import annotations

import codecs
import csv
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from textwrap import fill
from typing import Any, get_args

import click

from recframe.frames import options as of_rec
from recframe.frames.hints import NAMED_COLUMNS

IN_FULL = "recframe: help in full"
"""Key in click's context for help on all groups."""
FULLY = "--help-all"
CLAUSE = re.compile(
    r"^ *((?:\w+, )*\w+): +(?!as in|th(?:at|ose) of)(.+?)(?=[:;.](?:\s|$)|\n\s*\n|\Z)",
    re.MULTILINE | re.DOTALL,
)
"""The names of parameters in a docstring, and the first clause on them."""
FLAGS = {"metrics": ("-m", "--metric"), "k": ("-k",), "tags": ("--tag",)}
"""Flags that are not the name of their parameter."""
PATH = click.Path(readable=False)
PATH.name = "file"
"""A path, which a shell completes; what reads it says whether it can be read."""
OF_FILES = ("recs", "truth", "users", "items", "train", "reference", "log")
"""Files of a command, which an option can name, as in --header recs=user,item,rank."""
FILE = rf"(?s)\A(?:({'|'.join(OF_FILES)})=)?"
"""Pattern of the file that a value is for."""
SEPARATORS = {"tab": "\t", "\\t": "\t", "space": " "}
"""Words for separators that a shell hardly writes."""


# Values


@dataclass(eq=False)
class Value(click.ParamType):  # type: ignore[type-arg]  # which click 8.2 does not know
    """The type of an option that can be repeated, whose text is a value or several."""

    name: str
    example: str
    read: Callable[[str], Any]
    gather: Any = list

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the values of a text, or say what is wrong with it."""
        try:
            return [*self.read(value)]
        except (ValueError, LookupError, csv.Error):
            words = f"{value!r} is not {self.name.upper()}; write for example {self.example}"
            self.fail(words, param, ctx)

    def gathered(self, _: object, __: object, given: Any) -> Any:
        """Return the values of all texts, None without one."""
        return self.gather(chain.from_iterable(given)) or None


def metrics(text: str) -> list[str]:
    """Return metrics between commas, of which a metric has its own inside brackets."""
    return re.split(r" *,(?![^(]*\)) *", text.strip())


def names(text: str) -> list[str]:
    """Return names between commas; quotes hold a name with a comma together."""
    return [name.strip(" ") for name in next(csv.reader([text], skipinitialspace=True))]


def number_or_text(text: str) -> float | str:
    """Return the number that a text is, or the text."""
    for read in (int, float):
        with suppress(ValueError):
            return read(text)
    return text


def pairs(text: str) -> Any:
    """Return names with their words."""
    return dict(one.split("=", 1) for one in names(text)).items()


def columns(text: str) -> Any:
    """Yield the file, "" for all files, and the name of a column by its role."""
    for part in names(text):
        [(file, role, name)] = re.findall(rf"{FILE}({'|'.join(NAMED_COLUMNS)})=(.+)", part)
        yield file, {role: name}


def of_file(read: Callable[[str], Any], text: str) -> Any:
    """Yield the file that a value is for, "" for all files, and the value."""
    [(file, rest)] = re.findall(rf"{FILE}([^=]+|=+)\Z", text)
    yield file, read(rest)


def by_file(given: Any) -> Any:
    """Return values by their files, those of columns together."""
    found: dict[str, Any] = {}
    for file, value in given:
        found[file] = found.get(file, {}) | value if isinstance(value, dict) else value
    return found


def separator(text: str) -> str:
    """Return what a separator's word stands for."""
    return SEPARATORS.get(text, text)


KINDS: Mapping[str, Any] = {
    "bool": bool,
    "int": int,
    "float": float,
    "memory": str,
    "Asked": Value("metric", "ndcg@10,recall@20", metrics),
    "Cutoffs": Value("n", "5,10", lambda text: map(int, names(text))),
    **dict.fromkeys(("By", "str | Sequence[str]"), Value("name", "country,device", names)),
    "Mapping[str, object]": Value("name=word", "commit=3f,team=a", pairs, dict),
    **dict.fromkeys(("Any", "MinRelevance"), number_or_text),
    **dict.fromkeys(("users", "items", "train", "reference", "history"), PATH),
}
"""Types of options, by the names of their parameters, or by their annotations."""
ROLES = ", ".join(NAMED_COLUMNS)
OF_TEXT: Mapping[str, tuple[str, str, Callable[[str], Any], str]] = {
    "columns": (
        "role=name",
        f"user=user_id,truth=item=movie_id; the roles are {ROLES}",
        columns,
        f"The names of columns, where they differ from the roles: {ROLES}.",
    ),
    "header": (
        "names",
        "recs=user,item,rank",
        partial(of_file, names),
        "The names of the columns of text without a header line, such as user,item,rank; an empty name leaves a column out.",
    ),
    "separator": (
        "mark",
        "tab",
        partial(of_file, separator),
        "The separator of columns in text, such as ';', tab or '::'.",
    ),
    "encoding": (
        "name",
        "latin-1",
        partial(of_file, lambda text: codecs.lookup(text).name),
        "The encoding of text that is not UTF-8, such as latin-1.",
    ),
    "decimal": (
        "point|comma",
        "comma",
        partial(of_file, {"point": ".", "comma": ","}.__getitem__),
        "The sign before the decimals in text.",
    ),
    "quotes": (
        "yes|no",
        "yes",
        partial(of_file, {"yes": True, "no": False}.__getitem__),
        "Whether quotes hold a value of text together.",
    ),
    "lists_separator": (
        "mark",
        "' '",
        partial(of_file, separator),
        "The separator of ids where a column has lists as text, ' ' for 'a b c'; a row is then a user's list.",
    ),
}
"""Options on files, for all or for one, [FILE=]VALUE: what a value is, an example, the function that reads it, the help."""


# Options


class Option(click.Option):
    """An option of the command's question, or of a group that many commands have."""

    group = "Options"


def option(
    flags: Sequence[str], reads: Any, text: str, group: str = Option.group, **more: Any
) -> Option:
    """Return an option with its type and its help."""
    made = Option(
        flags,
        # NOTE: of a flag with a type click 8.2.0 has no value
        type=None if reads is bool else reads,
        is_flag=reads is bool,
        multiple=isinstance(reads, Value),
        callback=getattr(reads, "gathered", None),
        help=text,
        show_default=True,
        **more,
    )
    made.group = group
    return made


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
    method: Any, *documented: object, named: str = "", but: str = "", group: str = Option.group
) -> list[Option]:
    """Return options of the parameters of a method, of some or but some; `documented` have what its docstring leaves out."""
    clauses = clauses_of(*documented, method)
    parameters = inspect.signature(method).parameters
    where = vars(of_rec) | inspect.unwrap(method).__globals__
    chosen = named.split() or [name for name in parameters if name not in {"self", *but.split()}]
    return [
        _of_parameter(parameters[name], clauses.get(name, name), where, group) for name in chosen
    ]


def _of_parameter(
    parameter: inspect.Parameter, clause: str, where: Mapping[str, Any], group: str
) -> Option:
    """Return the option of a parameter; a name in its annotation, of some words, is looked up."""
    name, default = parameter.name, parameter.default
    kind = parameter.annotation.removesuffix(" | None")
    words = get_args(where.get(kind))
    if words and default and kind != parameter.annotation:
        # NOTE: a shell has a word for None where it is no default
        words += (None,)
    return option(
        [*FLAGS.get(name, [f"--{name.replace('_', '-')}"]), name],
        KINDS.get(name)
        or KINDS.get(kind)
        or (words and click.Choice(words, case_sensitive=False))
        or str,
        f"{clause[:1].upper()}{clause[1:]}.",
        group,
        # NOTE: to click a default of None is one
        **{"required": name != "metrics"} if default is parameter.empty else {"default": default},
    )


def options_of_files() -> list[Option]:
    """Return the options that say how files are written."""
    return [
        option(
            [f"--{name.replace('_', '-')}"],
            Value(f"[file=]{kind}", example, read, by_file),
            text,
            "Files",
        )
        for name, (kind, example, read, text) in OF_TEXT.items()
    ]


class Command(click.Command):
    """A command whose help shows the options of its question, and those of other groups by their names."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Note whether help on all options is wanted."""
        ctx.meta[IN_FULL] = FULLY in args
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in their groups."""
        groups: dict[str, list[Any]] = {}
        for one in self.get_params(ctx):
            if isinstance(one, click.Option):
                groups.setdefault(getattr(one, "group", Option.group), []).append(one)
        for title, options in groups.items():
            if title == Option.group or ctx.meta.get(IN_FULL):
                records = (one.get_help_record(ctx) for one in options)
                with formatter.section(title):
                    formatter.write_dl([*filter(None, records)])
            else:
                flags = ", ".join(one.opts[-1] for one in options)
                text = f"{title} ({FULLY} says more): {flags}"
                formatter.write(f"\n{fill(text, formatter.width, break_on_hyphens=False)}\n")
