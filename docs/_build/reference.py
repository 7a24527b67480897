"""Makes the reference: every public function, method and word, from its docstring."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any

import docstrings
import gallery
from metric_text import code, table

import public_api
import recframe as rf
from recframe.api.plots import Plot
from recframe.api.splits import Split, Splits

NARROW = 76
"""A call that is longer has a line for each argument."""
GROUPS = {
    "Frames in": ["rec", "frame", "register"],
    "Several models": ["fuse"],
    "Load your data": [
        "from_scores",
        "from_lists",
        "from_truth",
        "read_trec_run",
        "read_trec_qrels",
    ],
    "Metrics": ["parse", "list_metrics", "metric", "ratio", "Bounds", "Metric"],
    "Training loops": ["accumulator", "Accumulator"],
    "Conventions": ["explain", "list_profiles"],
    "Over time": ["history", "changes", "dashboard", "flat"],
    "Gates": ["Requirement"],
    "Errors and warnings": [
        *("RecframeError", "ColumnError", "DataError", "RequirementError", "UnknownMetricError"),
        "RecframeWarning",
    ],
}
METHODS = {
    "Binding": ["group_by"],
    "Numbers": ["evaluate", "judge", "explain"],
    "Models together": ["pareto"],
    "How sure they are": ["summarize", "compare", "power", "gaps", "slices", "require"],
    "To look at": ["worst", "best", "audit", "plot", "report", "table"],
    "Over time": ["track", "fingerprint"],
    "A log": ["split", "core"],
}
AND = """\
- [What methods return](results.md) beside frames, numbers and charts.
- [Profiles](profiles.md) of other libraries.
- [Metric names](metric_names.md): the names that a metric of your own is written in.
- [The command line](command_line.md).
- [What is public](../public_api.txt), in one list, and [how long a name stays](../releasing.md).
"""
ELSEWHERE = {"At", "AtLists", "Rec"}


def pages() -> dict[str, str]:
    """Return the pages of the reference, but that of the command line."""
    return {
        "reference/index.md": overview(),
        "reference/functions.md": functions(),
        "reference/results.md": results(),
        "reference/metric_names.md": metric_names(),
        **methods(),
        **charts(),
        **splits(),
    }


def overview() -> str:
    """Return the page that names everything."""
    parts = [
        "# Reference",
        "Made from the docstrings, which `help(rf.rec)` and editors show too.",
        "## `rf`",
        _table(
            {name: public_api.functions()[name] for name in _all(GROUPS)}, "functions.md", "rf."
        ),
        "## `rec`",
        "`df.rec`, or `rf.rec(df)`: [how options are bound](rec/index.md#rec), and the methods.",
        _table({name: _of_rec()[name] for name in _all(METHODS)}, "rec/", "rec."),
        _metrics(),
        "## `rec.plot`",
        _table(public_api.members(Plot), "plot/", "rec.plot."),
        "## `rec.split`",
        _table(public_api.members(Splits), "split/", "rec.split."),
        _table(public_api.members(Split), "split/index.md", "split."),
        "## And",
        AND,
    ]
    return _page(parts)


def functions() -> str:
    """Return the page of what `rf` has beside metrics."""
    found = public_api.functions()
    if lost := found.keys() ^ {*_all(GROUPS), *ELSEWHERE}:
        msg = f"docs/_build/reference.py has these in no group, or they are gone: {sorted(lost)}"
        raise ValueError(msg)
    parts = [
        "# Functions",
        "What `import recframe as rf` gives, beside [metrics](../reference/index.md#metrics).",
    ]
    for title, names in GROUPS.items():
        parts += [f"## {title}", *(_entry(f"rf.{name}", found[name]) for name in names)]
    return _page(parts)


def methods() -> dict[str, str]:
    """Return the page of `rec` and one for each of its methods."""
    found = _of_rec()
    if lost := found.keys() ^ {*_all(METHODS)}:
        msg = f"docs/_build/reference.py has these in no group, or they are gone: {sorted(lost)}"
        raise ValueError(msg)
    parts = [
        "# Methods of rec",
        "`df.rec` is on Polars and pandas frames; `rf.rec(df)` is the same.",
    ]
    for title, names in METHODS.items():
        parts += [f"## {title}", _table({name: found[name] for name in names}, "", "rec.")]
    parts += ["## Options", _entry("rec", rf.Rec.__call__)]
    own = {f"reference/rec/{name}.md": _own_page(f"rec.{name}", one) for name, one in found.items()}
    return {"reference/rec/index.md": _page(parts), **own}


def charts() -> dict[str, str]:
    """Return the page of `rec.plot` and one for each chart, with its picture."""
    found = public_api.members(Plot)
    parts = [
        "# Charts",
        docstrings.as_markdown(Plot.__doc__ or ""),
        "[The gallery](../../gallery.md) shows them all.",
        _table(found, "", "rec.plot."),
    ]
    own = {
        f"reference/plot/{name}.md": _own_page(
            f"rec.plot.{name}", one, f"## Example\n\n{gallery.shown(name, '../../')}"
        )
        for name, one in found.items()
    }
    return {"reference/plot/index.md": _page(parts), **own}


def splits() -> dict[str, str]:
    """Return the page of `rec.split` with what its rules return, and one for each rule."""
    rules, found = public_api.members(Splits), public_api.members(Split)
    parts = [
        "# Splits",
        docstrings.as_markdown(Splits.__doc__ or ""),
        _table(rules, "", "rec.split."),
    ]
    parts += ["## `Split`", docstrings.as_markdown(Split.__doc__ or "")]
    parts += [_entry(f"split.{name}", one) for name, one in found.items()]
    own = {
        f"reference/split/{name}.md": _own_page(f"rec.split.{name}", one)
        for name, one in rules.items()
    }
    return {"reference/split/index.md": _page(parts), **own}


def _own_page(name: str, of: Any, *more: str) -> str:
    """Return the page of a method."""
    return _page(
        [f"# `{name}`", _called(name, of), docstrings.as_markdown(_doc(of), _names(of)), *more]
    )


def results() -> str:
    """Return the page of what methods return."""
    parts = [
        "# What methods return",
        "Beside frames, numbers and charts, some return an object of their own.",
    ]
    for name, of in public_api.RESULTS.items():
        parts += [f"## `rec.{name}(...)`", docstrings.as_markdown(of.__doc__ or "")]
        parts += [
            _entry(f"rec.{name}(...).{member}", one)
            for member, one in public_api.members(of).items()
        ]
    return _page(parts)


def metric_names() -> str:
    """Return the page of the names that metrics are written in."""
    about = (
        "A metric of your own is one function of `at`, with `@rf.metric`, and this page has the names of `at`. "
        "[Metrics](../metrics/index.md) have theirs on pages of their own."
    )
    parts = ["# Metric names", about]
    for name, of in {"At": rf.At, "AtLists": rf.AtLists}.items():
        parts += [f"## `rf.{name}`", docstrings.as_markdown(of.__doc__ or "")]
        parts += [
            _entry(f"at.{word}", one, prefix=f"{name}.")
            for word, one in public_api.members(of).items()
        ]
    return _page(parts)


def _metrics() -> str:
    names = sorted(public_api.metrics())
    about = (
        'Each is an object, `rf.ndcg`, and a method, `df.rec.ndcg(k=10, by=None, gain="exp")`; '
        "[by family](../metrics/index.md)."
    )
    shown = " · ".join(f"[`{name}`](../metrics/{name}.md)" for name in names)
    return f"### Metrics\n\n{about}\n\n{shown}"


def _of_rec() -> dict[str, Any]:
    return public_api.members(rf.Rec)


def _all(groups: Mapping[str, list[str]]) -> list[str]:
    return [name for names in groups.values() for name in names]


def _table(found: Mapping[str, Any], page: str, prefix: str) -> str:
    """Return a table of calls, with links into a page, or to a page of a folder for each."""
    rows = []
    for name, one in found.items():
        goal = f"{page}#{anchor(prefix + name)}" if page.endswith(".md") else f"{page}{name}.md"
        rows.append([f"[{code(prefix + name)}]({goal})", docstrings.first_sentence(_doc(one))])
    return table(["call", "what it does"], rows)


def anchor(name: str) -> str:
    """Return what a heading of that name is linked by."""
    return re.sub(r"[^\w-]+", "-", name).strip("-").lower()


def _entry(name: str, of: Any, *, prefix: str = "") -> str:
    """Return an object with its call and what its docstring says."""
    kind = f"class {name}" if inspect.isclass(of) else name
    head = f"### `{kind}` {{#{anchor(prefix + name)}}}"
    return "\n\n".join([head, _called(name, of), docstrings.as_markdown(_doc(of), _names(of))])


def _called(name: str, of: Any) -> str:
    """Return the call of an object as a block of code."""
    called = public_api.signature(name, of)
    if inspect.isclass(of) and name.removeprefix("rf.") not in public_api.MADE:
        called = name
    return f"```python\n{_folded(called)}\n```"


def _folded(called: str) -> str:
    """Return a call, in a line for each argument where it is long."""
    name, bracket, inner = called.partition("(")
    if len(called) <= NARROW or not bracket:
        return called
    arguments = re.split(r", (?![^(]*\))", inner.removesuffix(")"))
    return "\n".join([f"{name}(", *(f"    {one}," for one in arguments), ")"])


def _doc(of: Any) -> str:
    return inspect.getdoc(of.fget if isinstance(of, property) else of) or ""


def _names(of: Any) -> list[str]:
    return [*inspect.signature(of).parameters] if inspect.isfunction(of) else []


def _page(parts: list[str]) -> str:
    return "\n\n".join(parts) + "\n"
