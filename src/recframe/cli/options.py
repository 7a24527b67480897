"""Options of commands, from the signatures and docstrings of methods."""

from __future__ import annotations

import codecs
import csv
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from textwrap import fill
from typing import Any, TypeAlias, get_args

import click

import recframe as rf
from recframe.frames import options as of_rec
from recframe.frames.hints import NAMED_COLUMNS

Shared: TypeAlias = Mapping[str, Sequence[click.Option]]
"""Options that many commands have, by the titles of their groups."""
IN_FULL = "recframe: help in full"
"""Key in click's context for help on all groups."""
CLAUSE = re.compile(
    r"^ *((?:\w+, )*\w+): +(?!as in|th(?:at|ose) of)(.+?)(?=[:;.](?:\s|$)|\n\s*\n|\Z)",
    re.MULTILINE | re.DOTALL,
)
"""The names of parameters in a docstring, and the first clause on them."""
FLAGS = {"metrics": ("-m", "--metric"), "k": ("-k",), "tags": ("--tag",)}
"""Flags that are not the name of their parameter."""
NONE = "none"
"""The word of a shell for Python's None, where that is no default."""
PATH = click.Path(readable=False)
"""A path, which a shell completes; what reads it says whether it can be read."""
OF_FILES = ("recs", "truth", "users", "items", "train", "reference", "log")
"""Files of a command, which an option can name, as in --header recs=user,item,rank."""
SEPARATORS = {"tab": "\t", "\\t": "\t", "space": " "}
"""Words for separators that a shell hardly writes."""


# Values


class Value(click.ParamType):  # type: ignore[type-arg]  # which click 8.2 does not know
    """The type of an option that can be repeated, with a function that reads a text."""

    def __init__(self, name: str, read: Callable[[str], Any], example: str) -> None:
        self.name, self.read, self.example = name, read, example

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value of a text, or say what is wrong with it."""
        try:
            return self.read(value)
        except (ValueError, LookupError, csv.Error):
            self.fail(
                f"{value!r} is not {self.name.upper()}; write for example {self.example}",
                param,
                ctx,
            )


def metrics(text: str) -> list[str]:
    """Return metrics between commas, of which a metric has its own inside brackets."""
    return [metric.strip() for metric in re.split(r",(?![^(]*\))", text)]


def names(text: str) -> list[str]:
    """Return names between commas; quotes hold a name with a comma together."""
    return [name.strip(" ") for name in next(csv.reader([text], skipinitialspace=True))]


def numbers(text: str) -> list[int]:
    """Return whole numbers between commas."""
    return [*map(int, names(text))]


def number_or_text(text: str) -> float | str:
    """Return the number that a text is, or the text."""
    if re.fullmatch(r"[-+]?\d+", text):
        return int(text)
    try:
        return float(text)
    except ValueError:
        return text


def pairs(text: str) -> dict[str, str]:
    """Return names with their words."""
    return dict(one.split("=", 1) for one in names(text))


def by_file(read: Callable[[str], Any]) -> Callable[[str], dict[str, Any]]:
    """Return a function of a text, `[file=]value`, that returns the value by its file, "" for all files."""

    def read_of_file(text: str) -> dict[str, Any]:
        file, _, rest = text.partition("=")
        return {file: read(rest)} if file in OF_FILES else {"": read(text)}

    return read_of_file


def columns(text: str) -> dict[str, dict[str, str]]:
    """Return the names of columns by their roles, by file: `user=a,recs=item=b`."""
    found: dict[str, dict[str, str]] = {}
    for part in names(text):
        [(file, (role, _, name))] = by_file(lambda word: word.partition("="))(part).items()
        if role not in NAMED_COLUMNS or not name:
            raise ValueError
        found.setdefault(file, {})[role] = name
    return found


def header(text: str) -> list[str]:
    """Return the names of a header line."""
    if "=" in text:
        raise ValueError
    return names(text)


def _gathered(_: Any, option: click.Option, given: Any) -> Any:
    """Return the value of an option: a list or a dictionary where the option can be repeated."""
    if not option.multiple:
        return None if given == NONE and isinstance(option.type, click.Choice) else given
    if not given or isinstance(given[0], list):
        return [*chain.from_iterable(given)] or None
    found: dict[str, Any] = {}
    for name, value in chain.from_iterable(one.items() for one in given):
        found[name] = found.get(name, {}) | value if isinstance(value, dict) else value
    return found


KINDS: Mapping[str, Any] = {
    "bool": bool,
    "int": int,
    "float": float,
    "Asked": Value("metric", metrics, "ndcg@10,recall@20"),
    "Cutoffs": Value("n", numbers, "5,10"),
    **dict.fromkeys(("By", "str | Sequence[str]"), Value("name", names, "country,device")),
    "Mapping[str, object]": Value("name=word", pairs, "commit=3f,team=a"),
    **dict.fromkeys(("Any", "MinRelevance"), number_or_text),
    **dict.fromkeys(("users", "items", "train", "reference", "history"), PATH),
}
"""Types of options, by the annotations of their parameters, or by their names."""
OF_TEXT: Mapping[str, tuple[Value, str]] = {
    "columns": (
        Value(
            "[file=]role=name",
            columns,
            f"user=user_id,truth=item=movie_id; the roles are {', '.join(NAMED_COLUMNS)}",
        ),
        f"The names of columns, where they differ from the roles: {', '.join(NAMED_COLUMNS)}.",
    ),
    "header": (
        Value("[file=]names", by_file(header), "recs=user,item,rank"),
        "The names of the columns of text without a header line, such as user,item,rank; an empty name leaves a column out.",
    ),
    "separator": (
        Value("[file=]mark", by_file(lambda text: SEPARATORS.get(text, text)), "tab"),
        "The separator of columns in text, such as ';', tab or '::'.",
    ),
    "encoding": (
        Value("[file=]name", by_file(lambda text: codecs.lookup(text).name), "latin-1"),
        "The encoding of text that is not UTF-8, such as latin-1.",
    ),
    "decimal": (
        Value("[file=]point|comma", by_file({"point": ".", "comma": ","}.__getitem__), "comma"),
        "The sign before the decimals in text.",
    ),
    "quotes": (
        Value("[file=]yes|no", by_file({"yes": True, "no": False}.__getitem__), "yes"),
        "Whether quotes hold a value of text together.",
    ),
    "lists-separator": (
        Value("[file=]mark", by_file(lambda text: SEPARATORS.get(text, text)), "' '"),
        "The separator of ids where a column has lists as text, ' ' for 'a b c'; a row is then a user's list.",
    ),
}
"""Options on files, for all or for one, recs=VALUE, each with its help."""


# Options


def clauses_of(documented: object) -> dict[str, str]:
    """Return what a docstring says of parameters: the first clause behind `name:`.

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
    for named, clause in CLAUSE.findall(inspect.getdoc(documented) or ""):
        found |= dict.fromkeys(named.split(", "), " ".join(clause.replace("`", "").split()))
    return found


def options_of(
    method: Callable[..., Any], *documented: object, but: str = ""
) -> list[click.Option]:
    """Return an option for each parameter of a method but some; `documented` have what its docstring leaves out."""
    clauses = dict(chain.from_iterable(clauses_of(one).items() for one in (*documented, method)))
    where = inspect.unwrap(method).__globals__
    return [
        _option(name, one.annotation, clauses.get(name, name), where, one.default)
        for name, one in inspect.signature(method).parameters.items()
        if name not in {"self", *but.split()}
    ]


def options_of_rec(named: str) -> list[click.Option]:
    """Return options of `rec(...)`."""
    clauses, hints = clauses_of(rf.Rec.__call__), of_rec.Options.__annotations__
    return [
        _option(
            name, getattr(hints.get(name), "__forward_arg__", "str"), clauses[name], vars(of_rec)
        )
        for name in named.split()
    ]


def _option(
    name: str, annotation: str, clause: str, where: Mapping[str, Any], default: Any = None
) -> click.Option:
    """Return the option of a parameter; a name in its annotation, of some words, is looked up."""
    kind = annotation.removesuffix(" | None")
    words = [*get_args(where.get(kind)), *[NONE] * bool(kind != annotation and default)]
    reads = KINDS.get(name) or KINDS.get(kind) or (click.Choice(words) if words else str)
    is_needed = default is inspect.Parameter.empty
    # NOTE: to click a default of None is one
    more: dict[str, Any] = {"required": name != "metrics"} if is_needed else {"default": default}
    return click.Option(
        [*FLAGS.get(name, [f"--{name.replace('_', '-')}"]), name],
        # NOTE: of a flag with a type click 8.2.0 has no value
        type=None if reads is bool else reads,
        is_flag=reads is bool,
        multiple=isinstance(reads, Value),
        callback=_gathered,
        show_default=True,
        help=f"{clause[:1].upper()}{clause[1:]}.",
        **more,
    )


def options_of_files() -> list[click.Option]:
    """Return the options that say how files are written."""
    return [
        click.Option([f"--{name}"], type=reads, multiple=True, callback=_gathered, help=text)
        for name, (reads, text) in OF_TEXT.items()
    ]


# Help


class Command(click.Command):
    """A command whose help shows the options of its question, and the shared ones by their names."""

    def __init__(self, *given: Any, shared: Shared | None = None, **settings: Any) -> None:
        super().__init__(*given, **settings)
        self.shared = shared or {}
        self.params += [*chain.from_iterable(self.shared.values()), HELP_ALL]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in their groups."""
        shared = [*chain.from_iterable(self.shared.values())]
        params = (one for one in self.get_params(ctx) if isinstance(one, click.Option))
        own = [one for one in params if one not in shared]
        for title, options in {"Options": own, **self.shared}.items():
            if options is own or IN_FULL in ctx.meta:
                records = filter(None, [one.get_help_record(ctx) for one in options])
                with formatter.section(title):
                    formatter.write_dl([*records])
            else:
                flags = ", ".join(one.opts[-1] for one in options)
                text = f"{title} (--help-all says more): {flags}"
                formatter.write(f"\n{fill(text, formatter.width, break_on_hyphens=False)}\n")


def _show_all(ctx: click.Context, _: click.Parameter, is_given: Any) -> None:
    """Print the help of all options of a command, and end."""
    if is_given:
        ctx.meta[IN_FULL] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


HELP_ALL = click.Option(
    ["--help-all"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_all,
    help="Show the help of all options.",
)
