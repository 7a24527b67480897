"""The foot of a report: fingerprint, versions, and its call."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from datetime import datetime
from inspect import signature
from typing import Any

import polars as pl

import recframe
from recframe.frames.inputs import Inputs
from recframe.frames.options import SIDES
from recframe.metrics.language.definition import Metric
from recframe.tracking.definitions import fingerprint


def footer(inputs: Inputs, metrics: Sequence[Metric[...]]) -> str:
    """Return when and by which versions a page was made, and of which data."""
    day = datetime.now().astimezone()
    versions = f"recframe {recframe.__version__}, Polars {pl.__version__} and Python {platform.python_version()}"
    made = f"Made by {versions} on {day.day} {day:%B %Y}"
    data = f"of the data with the fingerprint {fingerprint(inputs, metrics)}"
    return f"{made}, {data}. This page is one file and loads nothing from any network."


def call(rec: Any, asked: Mapping[str, Any], metrics: Sequence[Metric[...]]) -> str:
    """Return the call that makes a page again, with frames by their names, without what is left at its default."""
    context = rec._context  # noqa: SLF001  the methods of this room are those of a Rec
    of_split = {*SIDES, "user", "item"} if context.split is not None else {*SIDES}
    sides = [f"{name}={name}" for name in SIDES if getattr(context, name) is not None]
    given = [name for name in sorted(context.given) if name not in {*of_split, "by"}]
    options = [f"{name}={getattr(context, name)!r}" for name in given]
    defaults = {name: one.default for name, one in signature(rec.report).parameters.items()}
    told = [
        f"{name}={value!r}" for name, value in asked.items() if value not in (defaults[name], [])
    ]
    names = [repr(str(metric)) for metric in metrics]
    asked_of = f"recs.rec({', '.join([*sides, *options])})"
    if context.split is not None:
        log, rule = context.split.log, context.split.rule
        roles = [
            f"{role}={name!r}" for role, name in log.names.items() if role != name or role == "time"
        ]
        asked_of = (
            f"log.rec({', '.join(roles)}).split.{rule.words}.rec({', '.join(['lists', *options])})"
        )
    return f"{asked_of}.report({', '.join([*names, *told])})"
