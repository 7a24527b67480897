"""Lists what is public, for docs/public_api.txt: `python tests/surface/public_api.py` writes it, and a test compares it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import click

import recframe as rf
from recframe.api.plots import Plot
from recframe.api.split import Split
from recframe.api.splits import Splits
from recframe.charts.table import Table
from recframe.cli.commands import main
from recframe.metrics.language.definition import Metric
from recframe.profiles.explanation import Explanation
from recframe.reports.page import Page

ROOT = Path(__file__).parents[2]
LISTED = ROOT / "docs" / "public_api.txt"
RESULTS = {"table": Table, "report": Page, "explain": Explanation}
"""What methods of `rec` return beside frames, floats and charts."""
MADE = {"Bounds", "Requirement"}
"""Classes whose objects users make."""
ATTRIBUTES = (property, cached_property)
HEAD = """\
What is public in recframe, and what a new version may not take away without a warning first (see docs/releasing.md): names, the
order of arguments that go by position, the names of all, their defaults. Written by `python tests/surface/public_api.py`.
"""


def functions() -> dict[str, Any]:
    """Return what `rf` has beside its metrics, each under its name."""
    found = {name: getattr(rf, name) for name in rf.__all__}
    return {name: one for name, one in found.items() if not isinstance(one, Metric)}


def metrics() -> dict[str, Metric[...]]:
    found = {name: getattr(rf, name) for name in dir(rf)}
    return {name: one for name, one in found.items() if isinstance(one, Metric)}


def members(of: type) -> dict[str, Any]:
    """Return the public methods and properties of a class, metrics left out."""
    found = {name: inspect.getattr_static(of, name) for name in dir(of) if name[0] != "_"}
    return {
        name: one
        for name, one in found.items()
        if isinstance(one, (*ATTRIBUTES, classmethod)) or inspect.isfunction(one)
    }


def signature(name: str, of: Any) -> str:
    """Return a call as it is written: names and defaults, without types."""
    if isinstance(of, ATTRIBUTES):
        return name
    called = of.__func__ if isinstance(of, classmethod) else of
    try:
        parameters = [*inspect.signature(called).parameters.values()]
    except ValueError:
        return name
    plain = [
        one.replace(annotation=inspect.Parameter.empty)
        for one in parameters
        if one.name not in {"self", "cls"}
    ]
    # NOTE: repr of a default such as `range(1, 51)` or `Ellipsis` is how it is written.
    return f"{name}{inspect.Signature(plain)}".replace("'", '"')


def commands() -> dict[str, click.Command]:
    """Return the commands of the shell, in the order in which its help has them."""
    found = dict(main.commands)
    found |= {f"split {name}": one for name, one in found.pop("split").commands.items()}
    return dict(sorted(found.items()))


def usage(name: str, command: click.Command) -> str:
    """Return a command with its arguments and options."""
    hidden = {"help", "help_all"}
    shown = [_parameter(one) for one in command.params if one.name not in hidden]
    return " ".join([f"recframe {name}", *shown])


def _parameter(one: click.Parameter) -> str:
    if isinstance(one, click.Option):
        return "/".join([*one.opts, *one.secondary_opts])
    return one.make_metavar(click.Context(click.Command("recframe")))


def extras() -> list[str]:
    """Return what can be installed beside the package."""
    # NOTE: not from the metadata of the installed package, which are as old as its installation
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    section = text.partition("[project.optional-dependencies]")[2].partition("\n[")[0]
    return sorted({*re.findall(r"^(\w+) = \[", section, re.MULTILINE)} - {"dev", "docs", "test"})


def listed() -> str:
    parts = [HEAD]
    for title, lines in _sections():
        parts.append("\n".join([title, *(f"    {line}" for line in lines)]) + "\n")
    return "\n".join(parts)


def _sections() -> Iterator[tuple[str, list[str]]]:
    yield (
        "recframe, imported as rf",
        [
            signature(f"rf.{name}", one) if name in MADE or not inspect.isclass(one) else f"rf.{name}"
            for name, one in functions().items()
        ],
    )  # fmt: skip
    yield "metrics: objects, strings and methods of rec", [*map(_metric, metrics().values())]
    yield "rec", [signature("rec", rf.Rec.__call__), *_of("rec", rf.Rec)]
    yield "rec.plot", [signature("rec.plot", Plot.__call__), *_of("rec.plot", Plot)]
    yield "rec.split", _of("rec.split", Splits)
    yield "what the rules of rec.split return", _of("split", Split)
    for name, of in RESULTS.items():
        if found := _of(f"rec.{name}(...)", of):
            yield f"what rec.{name} returns", found
    yield "the words of metrics, rf.At", _of("at", rf.At)
    yield "the words of metrics over lists, rf.AtLists", _of("at", rf.AtLists)
    yield "the command line", [usage(name, one) for name, one in commands().items()]
    yield "extras", [f"recframe[{name}]" for name in extras()]


def _of(owner: str, of: type) -> list[str]:
    return [signature(f"{owner}.{name}", one) for name, one in members(of).items()]


def _metric(one: Metric[...]) -> str:
    """Return a metric with its parameters, and its aliases."""
    plain = [
        parameter.replace(annotation=inspect.Parameter.empty, kind=parameter.KEYWORD_ONLY)
        for parameter in one.typed_parameters.values()
    ]
    given = re.sub(r"^\(\*, ", "(", str(inspect.Signature(plain))).replace("'", '"')
    aliases = f"  also {', '.join(one.definition.aliases)}" if one.definition.aliases else ""
    return f"{one.name}{given if plain else ''}{aliases}"


if __name__ == "__main__":
    LISTED.write_text(listed(), encoding="utf-8")
