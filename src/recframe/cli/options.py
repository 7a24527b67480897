"""Options of commands, from the signatures and docstrings of methods."""

from __future__ import annotations

import builtins
import inspect
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from textwrap import fill
from typing import Any, Literal, get_args, get_origin, get_type_hints

import click

import recframe as rf
from recframe.cli import values
from recframe.frames.options import SIDES, Options

QUESTION, FILES, POLICIES = "Options", "Files", "Policies"
"""Groups of options, of which help shows the first in full."""
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


class Option(click.Option):
    """An option of a group."""

    def __init__(self, *names: Any, group: str = QUESTION, **settings: Any) -> None:
        super().__init__(*names, **settings)
        self.group = group


class Value(click.ParamType):  # type: ignore[type-arg]  # which click 8.2 does not know
    """The type of an option whose text a function reads."""

    def __init__(self, name: str, read: Callable[[str], Any]) -> None:
        self.name, self.read = name, read

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value of a text, or say what is wrong with it."""
        try:
            return self.read(value) if isinstance(value, str) else value
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Command(click.Command):
    """A command whose help shows the options of its question, and the others by their names."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in their groups."""
        for group in (QUESTION, FILES, POLICIES):
            options = [one for one in self.get_params(ctx) if _group_of(one) == group]
            if options and (group == QUESTION or IN_FULL in ctx.meta):
                with formatter.section(group):
                    formatter.write_dl([one.get_help_record(ctx) or ("", "") for one in options])
            elif options:
                names = ", ".join(one.opts[-1] for one in options)
                text = f"{group} (--help-all says more): {names}"
                lines = fill(text, formatter.width, break_on_hyphens=False)
                formatter.write(f"\n{lines}\n")


def _group_of(parameter: click.Parameter) -> str:
    """Return the group of an option; that of click's own help is the question's, and arguments have none."""
    if isinstance(parameter, Option):
        return parameter.group
    return QUESTION if isinstance(parameter, click.Option) else ""


def _show_all(ctx: click.Context, _: click.Parameter, value: Any) -> None:
    """Print the help of all options of a command, and end."""
    if value:
        ctx.meta[IN_FULL] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


HELP_ALL = Option(
    ["--help-all"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_all,
    help="Show the help of all options.",
)


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
    for names, clause in CLAUSE.findall(inspect.getdoc(documented) or ""):
        found |= dict.fromkeys(names.split(", "), " ".join(clause.replace("`", "").split()))
    return found


def options_of(
    method: Callable[..., Any], *documented: object, but: Collection[str] = ()
) -> list[Option]:
    """Return an option for each parameter of a method but some; `documented` have what its docstring leaves out."""
    clauses: dict[str, str] = {}
    for one in (*documented, method):
        clauses |= clauses_of(one)
    # what is imported for type checkers alone is text here, such as a path
    names = defaultdict(lambda: str, vars(builtins) | inspect.unwrap(method).__globals__)
    return [
        _option(name, eval(one.annotation, {}, names), one.default, clauses.get(name, name))  # noqa: S307  our own
        for name, one in inspect.signature(method).parameters.items()
        if name not in {"self", *but}
    ]


def options_of_rec(*names: str, group: str) -> list[Option]:
    """Return options of `rec(...)`."""
    clauses, hints = clauses_of(rf.Rec.__call__), get_type_hints(Options) | {"model": str | None}
    hints |= dict.fromkeys(SIDES, Path)
    return [_option(name, hints[name], None, clauses[name], group) for name in names]


def _option(name: str, annotation: Any, default: Any, clause: str, group: str = QUESTION) -> Option:
    """Return the option of a parameter."""
    flags = FLAGS.get(name, (f"--{name.replace('_', '-')}",))
    is_needed = default is inspect.Parameter.empty
    settings: dict[str, Any] = {"is_flag": True}
    if name == "metrics":
        settings = gathered("metric", values.metrics)
    elif annotation is not bool:
        settings = _type_of(annotation, default)
        if is_needed:
            settings["required"] = True
        else:
            settings["default"] = default
            settings["show_default"] = default not in (None, "")
    text = f"{clause[:1].upper()}{clause[1:]}."
    return Option([*flags, name], group=group, help=text, **settings)


def _type_of(annotation: Any, default: Any) -> dict[str, Any]:
    """Return the settings of an option that follow from its parameter's annotation."""
    kinds = {annotation, *get_args(annotation)}
    origins = {get_origin(kind) for kind in kinds}
    words = [word for kind in kinds if get_origin(kind) is Literal for word in get_args(kind)]
    plain = [kind for kind in (str, float, int) if kind in kinds]
    if Mapping in origins:
        return gathered("name=word", values.pairs, dict)
    if origins & {Iterable, Sequence}:
        is_text = str in kinds
        return gathered("name", values.texts) if is_text else gathered("n", values.whole_numbers)
    if annotation is Any or (words and plain):
        return {"type": Value("|".join(["value", *words]), values.number_or_text)}
    if words:
        has_none = type(None) in kinds and default is not None
        choice = click.Choice([*words, NONE] if has_none else words)
        return {"type": choice, "callback": _without_none}
    return {"type": PATH if annotation is Path else [*plain, str][0]}


def gathered(
    metavar: str, read: Callable[[str], Any], kind: Callable[[Any], Any] = list
) -> dict[str, Any]:
    """Return the settings of an option that is repeated, or has several values in one, as a list or a dictionary."""

    def gather(_: click.Context, __: click.Parameter, given: Iterable[Any]) -> Any:
        found = kind(chain.from_iterable(given))
        return None if found == [] else found

    return {"type": Value(metavar, read), "multiple": True, "callback": gather}


def _without_none(_: click.Context, __: click.Parameter, given: str) -> str | None:
    """Return a word, None for that of nothing."""
    return None if given == NONE else given


def options_of_files() -> list[Option]:
    """Return the options that say how files are written."""
    options = []
    for name, (metavar, read, text) in values.OF_TEXT.items():
        kind: Callable[[Any], Any] = values.by_role if name == "columns" else dict
        settings = gathered(f"[file=]{metavar}", read, kind)
        options.append(Option([f"--{name}"], group=FILES, help=text, **settings))
    return options
