"""`recframe metrics`, `profiles` and `explain`: what can be computed, what it means, and why two numbers differ."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import polars as pl

import recframe as rf
from recframe.cli import completion
from recframe.cli.given import bound, paths_of, scanned
from recframe.cli.options import (
    COLUMNS,
    FORMAT,
    OF_NAMES,
    OUTPUT,
    POLICIES,
    SIDES,
    argument,
    declared,
    option,
)
from recframe.cli.printing import is_terminal, print_frame, say
from recframe.cli.readers import READERS, ending_of
from recframe.cli.results import STDOUT, check_output, give, is_table
from recframe.cli.shell import noted, read_errors, words_of_the_shell
from recframe.conventions.explanation import Explanation

OWN = "recframe"


@click.command(short_help="List the metrics, or explain one.")
@click.argument("name", required=False, shell_complete=completion.metrics)
@FORMAT
def metrics(name: str | None, form: str | None) -> None:
    """List the metrics, or explain the one called NAME; an alias, or a form such as ndcg@10, will do.

    A metric is written name(parameter=value)@k, for example 'map(normalizer=min)@10'; parameters and @k can be left out.
    """
    registry = rf.list_metrics()
    if name is not None:
        metric = rf.parse(name)
        registry = registry.filter(name=metric.name)
    if not is_table(None, form):
        give(registry, None, form)
    elif name is None:
        print_frame(registry.select("name", "aliases", "parameters", "formula"), wrapped=True)
        said = "recframe metrics NAME explains one. Write name(parameter=value)@k: ndcg@10, 'f_score(beta=2)@5'."
        if is_terminal():
            say(said)
    else:
        _print_metric(metric, registry.row(0, named=True))


def _print_metric(metric: rf.Metric[...], about: dict[str, Any]) -> None:
    say(f"{metric.name}{'(' + about['parameters'] + ')' if about['parameters'] else ''}\n")
    for title in ("aliases", "formula", "range", "direction", "shape", "needs"):
        if about[title]:
            say(f"  {title + ':':<11}{about[title]}")
    say(f"\n{metric.__doc__ or 'This metric has no docstring.'}")


@click.command(short_help="List the conventions of other libraries.")
@click.argument("name", required=False, shell_complete=completion.profiles)
@FORMAT
def profiles(name: str | None, form: str | None) -> None:
    """List the conventions that --profile takes, or what the one called NAME sets."""
    table = rf.list_profiles()
    if name is not None:
        rf.rec(pl.DataFrame(), profile=name)  # an unknown name is said to be one
        table = table.filter(profile=name)
    if not is_table(None, form):
        give(table, None, form)
    elif name is None:
        print_frame(table.select("profile", "metrics"), wrapped=True)
        said = "recframe profiles NAME shows the policies, the notes and the source of one."
        if is_terminal():
            say(said)
    else:
        _print_profile(table)


def _print_profile(table: pl.DataFrame) -> None:
    for about in table.iter_rows(named=True):
        for title, value in about.items():
            if value:
                say(f"  {title + ':':<19}{value}")


@click.command(short_help="Explain a metric, or why two libraries differ in it.")
@declared(
    argument("metric", shell_complete=completion.metrics),
    argument(
        "names",
        nargs=-1,
        metavar="[PROFILE]... [RECS [TRUTH]]",
        shell_complete=completion.profiles_or_files,
    ),
    option(
        "--profile profile_names",
        "A library's conventions, once or twice; its name alone, behind METRIC, is the same.",
        "NAME",
        multiple=True,
        shell_complete=completion.profiles,
    ),
    OF_NAMES["by"],
    option("--recs", "RECS, where its name does not show that it is a file.", "RECS"),
    option("--truth", "TRUTH, likewise.", "TRUTH"),
    SIDES,
    COLUMNS,
    POLICIES,
    OUTPUT,
)
def explain(metric: str, names: Sequence[str], **options: Any) -> None:
    """Say what METRIC means, under a PROFILE, or how it differs between two; recframe is one of the profiles.

    With the files RECS and TRUTH, as of recframe evaluate, also in numbers: what each switch adds to the value when one is
    switched after the other. In a --format other than the table the rows of it stand alone on stdout.

    \b
    Examples:
      recframe explain map@10 trec_eval
      recframe explain ndcg@10 elliot recbole
      recframe explain precision@10 ranx jurity recs.parquet truth.parquet
    """  # noqa: D301  click reads the backspace as: leave these lines as they are
    asked, given = _profiles_and_files(names, options)
    with words_of_the_shell(given):
        if "recs" not in given:
            if "truth" in given:
                raise click.UsageError("there is a TRUTH, but no RECS that it is about")
            check_output(options["output"] or STDOUT, options["form"])
            _show(rf.explain(metric, *asked), options, has_numbers=False)
            return
        frames = scanned(given, options)
        with read_errors(), noted(ids_as_text=options["ids_as_text"]):
            read: dict[str, pl.DataFrame] = {
                name: frame.collect(engine="streaming") for name, frame in frames.items()
            }
            if frames.get("truth") is frames["recs"]:
                read["truth"] = read["recs"]
            told = bound(read, options).explain(metric, *asked, by=options["by"])
        _show(told, options, has_numbers=True)


def _profiles_and_files(
    names: Sequence[str], options: dict[str, Any]
) -> tuple[list[str], dict[str, str]]:
    """Return the profiles, and the files: what has an ending or is there, if it is no profile's name."""
    known = {OWN, *rf.list_profiles()["profile"]}
    paths = [name for name in names if name not in known and _is_file(name)]
    missing = [name for name in ("recs", "truth") if options[name] is None]
    if len(paths) > len(missing):
        raise click.UsageError(
            f"RECS and TRUTH are one path each, but there are {len(paths)}; "
            "put a pattern in quotes, so that the shell leaves it as it is: 'recs/*.parquet'"
        )
    given = {name: options[name] for name in ("recs", "truth")}
    given |= dict(zip(missing, paths, strict=False))
    asked = [name for name in names if name not in paths] + list(options["profile_names"])
    if given["recs"] is None:
        return asked, {name: path for name, path in given.items() if path is not None}
    return asked, paths_of(given["recs"], given["truth"], options)


def _is_file(name: str) -> bool:
    return ending_of(name) in READERS or "/" in name or "*" in name or Path(name).exists()


def _show(told: Explanation[pl.DataFrame], options: dict[str, Any], *, has_numbers: bool) -> None:
    """Show an explanation as its words, and below them the numbers, or its table alone."""
    if not is_table(options["output"], options["form"]):
        give(told.frame, options["output"], options["form"])
        return
    say(told.text)
    if has_numbers:
        say()
        print_frame(told.frame)
