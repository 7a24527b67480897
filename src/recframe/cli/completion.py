"""What a shell completes: files, metrics, profiles, and the columns of the files that a command has by then."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import click
import polars as pl
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    add_completion_class,
    split_arg_string,
)

import recframe as rf
from recframe.cli import files as tables
from recframe.cli.readers import COMPRESSED, READERS, ending_of
from recframe.cli.values import FILES, form_of
from recframe.errors import visible
from recframe.frames.context import NAMED_COLUMNS
from recframe.frames.rows.exploding import AS_EVER

GLUE = "=@:"
"""Signs at which bash cuts the words of a line, so that `item=movie_id` comes as three."""

MOST_BYTES = 20_000_000

# as text, since the class takes a type in brackets in later versions of click alone
Items: TypeAlias = "list[CompletionItem[str]]"


def files(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> Items:
    """Leave it to the shell."""
    del ctx, parameter
    return [CompletionItem(incomplete, type="file")]


def metrics(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> Items:
    """Complete the last of several metrics that are separated by commas; aliases where no name begins so."""
    del ctx, parameter
    before, begun = _last_of_several(incomplete)
    table = rf.list_metrics()
    names = dict(table.select("name", "formula").iter_rows())
    found = [one for one in names if one.startswith(begun)]
    if not found:
        aliases = table.select(pl.col("aliases").str.split(", ").explode(**AS_EVER)).to_series()
        found = [one for one in aliases if one and one.startswith(begun)]
    return [CompletionItem(before + one, help=names.get(one)) for one in found]


def profiles(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> Items:
    """Complete the name of a library's conventions."""
    del ctx, parameter
    return [CompletionItem(one) for one in _profiles() if one.startswith(incomplete)]


def profiles_or_files(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> Items:
    """Complete the name of a profile, or where none begins so leave it to the shell as a file."""
    known = [one for one in ["recframe", *_profiles()] if one.startswith(incomplete)]
    return [CompletionItem(one) for one in known] or files(ctx, parameter, incomplete)


def _profiles() -> list[str]:
    return list(dict.fromkeys(rf.list_profiles()["profile"]))


def columns(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> Items:
    """Complete the last of several columns, of all files that stand before."""
    del parameter
    before, begun = _last_of_several(incomplete)
    return [CompletionItem(before + one) for one in _columns(ctx) if one.startswith(begun)]


def roles(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> Items:
    """Complete a role, and behind its sign of equality a column."""
    del parameter
    before, begun = _last_of_several(incomplete)
    role, equals, name = begun.partition("=")
    if not equals:
        return [CompletionItem(f"{before}{one}=") for one in NAMED_COLUMNS if one.startswith(role)]
    found = [one for one in _columns(ctx) if one.startswith(name)]
    return [CompletionItem(f"{before}{role}={one}") for one in found]


def _last_of_several(incomplete: str) -> tuple[str, str]:
    before, comma, begun = incomplete.rpartition(",")
    return before + comma, begun


def _columns(ctx: click.Context) -> list[str]:
    """Return the names of the columns of all files on the command line, each once."""
    given = {name: value for name, value in ctx.params.items() if value}
    # NOTE: click leaves the arguments in ctx.args, where the option that is completed has no value yet.
    words = [*ctx.args, *given.get("names", ())]
    paths = [word for word in words if ending_of(word) in READERS or Path(word).exists()]
    missing = [name for name in ("recs", "truth") if name not in given]
    found = dict.fromkeys(_columns_of_files(given | dict(zip(missing, paths, strict=False))))
    # a shell shows what it may complete
    return [one for one in found if one == visible(one)]


def _columns_of_files(given: dict[str, Any]) -> Iterator[str]:
    for name in FILES:
        path = given.get(name)
        if not isinstance(path, str) or _is_slow(path):
            continue
        form = form_of(name, given.get("separator") or {}, given.get("header") or {})
        try:
            yield from tables.scan(path, form=form).collect_schema()
        except (rf.RecframeError, pl.exceptions.PolarsError, OSError):
            continue  # what is wrong with a file is said by the command itself


def _is_slow(path: str) -> bool:
    """Return whether a path is a pipe, which is for the command alone, or a long file that is read whole or unpacked."""
    place = Path(path)
    if not place.is_file():
        return place.exists() and not place.is_dir()
    is_whole = ending_of(path) == ".json" or place.suffix.lower() in COMPRESSED
    return is_whole and place.stat().st_size > MOST_BYTES


class Bash(BashComplete):
    """Completion in bash of words that it cuts at signs of equality and others."""

    name = "bash"
    source_template = BashComplete.source_template.replace(
        "COMPREPLY+=($value)", "COMPREPLY+=($value); [[ $value == *= ]] && compopt -o nospace"
    )

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the one that is completed, and that one, as they are on the line."""
        pieces = self._pieces()
        found = [*pieces[:1]]
        for piece in pieces[1:]:
            is_sign = bool(piece) and set(piece) <= set(GLUE)
            if len(found) > 1 and (is_sign or found[-1].endswith(tuple(GLUE))):
                found[-1] += piece
            else:
                found.append(piece)
        return found[:-1], found[-1]

    def format_completion(self, item: CompletionItem[str]) -> str:
        """Return what stands in the place of the last piece of a word, which is all that bash replaces."""
        whole, piece = self.get_completion_args()[1], self._pieces()[-1]
        kept = whole if piece and set(piece) <= set(GLUE) else whole.removesuffix(piece)
        while not item.value.startswith(kept):
            kept = kept[1:]
        return f"{item.type},{item.value.removeprefix(kept)}"

    def _pieces(self) -> list[str]:
        words = split_arg_string(os.environ["COMP_WORDS"])
        place = int(os.environ["COMP_CWORD"])
        return [*words[1:place], words[place] if place < len(words) else ""]


add_completion_class(Bash)
