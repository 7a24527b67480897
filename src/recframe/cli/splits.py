"""`recframe split`: a command for each rule, that writes train and truth."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click
import polars as pl

import recframe as rf
from recframe.api.splits import Splits
from recframe.cli.calls import LOG, command
from recframe.cli.inputs import columns_of, reading, scanned
from recframe.cli.options import Command, Option, options_of, options_of_files
from recframe.cli.output import Options, say
from recframe.cli.results import check_place, write
from recframe.cli.tables import cells_of, print_findings, print_frame

PARTS = ("train", "fold_in", "truth")
NOTHING = {"", "null", "0"}
"""Cells of what a split does not have."""
RULES = {name: rule for name, rule in vars(Splits).items() if not name.startswith("_")}
OUTPUTS = (
    Option(
        ["-o", "--output"],
        metavar="DIR",
        type=click.Path(file_okay=False, path_type=Path),
        help="The folder for the files train and truth (and fold_in), which is made where it is missing.",
    ),
    Option(["--labels"], is_flag=True, help="Write each row of LOG with its fold and part too."),
    Option(
        ["--format", "form"],
        type=click.Choice(["parquet", "csv", "tsv", "ndjson", "arrow"]),
        default="parquet",
        show_default=True,
        help="The format of the files.",
    ),
)


def _split(rule: str, log: str, **options: Any) -> None:
    """Split a log, print what came out with its audit, and write the parts."""
    paths = {"log": log}
    places = _places(log, options)
    with reading(paths):
        frame = scanned(paths, options)["log"].collect(engine="streaming")
        rec: Any = rf.rec(frame)
        names = inspect.signature(RULES[rule]).parameters
        arguments = {name: options[name] for name in names if options.get(name) is not None}
        made = getattr(rec(**columns_of(options)).split, rule)(**arguments)
        tables = {part: getattr(made, part) for part in places}
        described, findings = made.describe(), made.audit()
    say(str(made).splitlines()[0])
    facts = cells_of(described)
    folds = [f"fold {fold}" for fold in facts.pop("fold")]
    by_fold = pl.DataFrame(facts).transpose(
        include_header=True, header_name="fact", column_names=folds
    )
    print_frame(by_fold.filter(~pl.all_horizontal(pl.exclude("fact").is_in(NOTHING))))
    print_findings(findings)
    for part, table in tables.items():
        if len(table) or part != "fold_in":
            write(table, places[part])
    if "error" in findings["severity"]:
        click.get_current_context().exit(1)


def _places(log: str, options: Options) -> dict[str, str]:
    """Return the files of parts in the folder, which is made where it is missing."""
    folder = options["output"]
    if folder is None:
        return {}
    folder.mkdir(parents=True, exist_ok=True)
    parts = [*PARTS, "labels"] if options["labels"] else PARTS
    places = {part: str(folder / f"{part}.{options['form']}") for part in parts}
    for place in places.values():
        check_place(place, [log])
    return places


def _command(name: str, rule: Callable[..., Any]) -> Command:
    """Return the command of a rule."""
    return command(
        f"{name.replace('_', '-')}",
        partial(_split, name),
        (inspect.getdoc(rule) or "").partition("\n")[0],
        takes=[
            LOG,
            *options_of(rule, *RULES.values(), Splits, but={"common"}),
            *OUTPUTS,
            *options_of_files(),
        ],
    )


split = click.Group(
    "split",
    short_help="Split a log into train and truth, and audit the split.",
    help="Split LOG, a row for each interaction, into train and truth by a rule; print what came out, and its audit. "
    "--columns time=NAME names the times, which all rules but random need. A row in neither file has a part that says why. "
    "Exit status: 1 for a finding of severity error, and for files that cannot be read; 2 for the options.",
    commands=[_command(name, rule) for name, rule in RULES.items()],
)
