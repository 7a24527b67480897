"""`recframe demo`: a simulated shop, evaluated without any file."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click

from recframe.cli.printing import print_frame, say
from recframe.cli.shell import Failure


@click.command(short_help="Simulate a shop with three recommenders and evaluate them.")
@click.option(
    "--seed",
    default=0,
    show_default=True,
    type=click.IntRange(min=0),
    help="The same seed gives the same numbers.",
)
@click.option(
    "--users",
    "n_users",
    default=1000,
    show_default=True,
    type=click.IntRange(50, 10_000),
    help="How many users.",
)
@click.option(
    "--items",
    "n_items",
    default=400,
    show_default=True,
    type=click.IntRange(50, 2_000),
    help="How many items.",
)
@click.option(
    "--save",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write the simulated tables as Parquet files, to try recframe evaluate on.",
)
def demo(seed: int, n_users: int, n_items: int, save: Path | None) -> None:
    """Simulate a shop with three recommenders and evaluate them, overall and by segment.

    The catalogue has a long tail, users have tastes, and a quarter of what they kept is held out as the truth. Popularity,
    item neighbours and a matrix factorisation are fitted on the rest. Every table comes with the Python line that gives it.
    """
    try:
        from recframe import demo as simulated  # noqa: PLC0415  only the demo needs NumPy
    except ModuleNotFoundError as missing:
        raise Failure(f"the demo needs {missing.name}: pip install 'recframe[cli]'") from None
    simulation = simulated.simulate(seed, n_users, n_items)
    say(
        f"A simulated shop: {n_users} users, {n_items} items, {simulation.train.height} rows to train on, "
        f"{simulation.truth.height} held out as the truth.\n\n{simulated.python_lines(seed, n_users, n_items)}"
    )
    for answer in simulated.answers(simulation):
        say(f"{answer.question}\n{answer.line}\n")
        print_frame(answer.frame)
        say(f"{answer.words}\n")
    if save is None:
        say(
            "recframe demo --save DIR writes these tables as Parquet files, to try recframe evaluate on."
        )
    else:
        _save(simulation, save)


def _save(simulation: Any, folder: Path) -> None:
    """Write the tables of the demo, and print a command that reads them."""
    try:
        simulation.save(folder)
    except OSError as error:
        raise Failure(f"cannot write into {str(folder)!r}: {error.strerror}") from None
    place = {
        name: shlex.quote(str(folder / f"{name}.parquet"))
        for name in ("recs", "truth", "train", "users", "items")
    }
    say(
        f"Wrote recs, truth, train, users and items into {folder}. Try:\n\n"
        f"recframe evaluate {place['recs']} {place['truth']} --model model --users {place['users']} --by activity -m ndcg@10\n"
        f"recframe evaluate {place['recs']} {place['truth']} --model model --items {place['items']} --by genre -m recall@20\n"
        f"recframe evaluate {place['recs']} --model model --train {place['train']} --items {place['items']} "
        "-m novelty@10 -m coverage@10"
    )
