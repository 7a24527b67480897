"""What the demo promises: a shop with structure, recommenders that are real, tables that anyone can make again."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from polars.testing import assert_frame_equal

import recframe as rf
from lanes import thorough
from recframe import demo
from recframe.cli.commands import main

SMALL = ["demo", "--n-users", "120", "--n-items", "80"]


@pytest.fixture(scope="module")
def shop() -> demo.Simulation:
    return demo.simulate(seed=3, n_users=300, n_items=150)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_same_seed_gives_the_same_frames_and_another_seed_others():
    first, second, other = (demo.simulate(seed, 60, 50) for seed in (1, 1, 2))
    for name in ("recs", "truth", "train", "users", "items"):
        assert_frame_equal(getattr(first, name), getattr(second, name))
    assert not first.truth.equals(other.truth)


def test_lists_are_whole_and_what_was_trained_on_is_neither_in_them_nor_in_the_truth(shop):
    pair, train = ["user", "item"], shop.train.group_by("item").len()["len"]
    lists = shop.recs.group_by("model", "user").agg(
        pl.col("rank").sort(), n_items=pl.col("item").n_unique()
    )

    assert shop.train.join(shop.truth, on=pair).is_empty()
    assert shop.recs.join(shop.train, on=pair).is_empty()
    users = {frame["user"].n_unique() for frame in (shop.train, shop.truth, shop.users, shop.recs)}
    assert users == {300}
    assert lists["rank"].to_list() == [list(range(1, demo.LIST_LENGTH + 1))] * 3 * 300
    assert lists["n_items"].unique().to_list() == [demo.LIST_LENGTH]
    # few items make up a third of the rows
    assert train.top_k(round(0.15 * shop.items.height)).sum() > train.sum() / 3


@pytest.mark.parametrize("seed", thorough([0, 1, 2], 1))
def test_the_personalised_models_beat_popularity_clearly(seed):
    shop = demo.simulate(seed, n_users=500, n_items=200)
    found = rf.rec(shop.recs, truth=shop.truth, model="model").ndcg(k=10)
    values = dict(found.select("model", "ndcg@10").iter_rows())
    assert values["item_neighbours"] > 1.2 * values["popularity"]
    assert values["matrix_factorisation"] > 1.2 * values["popularity"]


# Users 1 and 2 kept items 1 and 2, user 3 kept items 3 and 4, user 4 kept item 1 alone.
TRAIN = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 0]], dtype=float)


def test_popularity_scores_by_the_number_of_users():
    assert demo.popularity(TRAIN).tolist() == [[3, 2, 1, 1]] * 4


def test_item_neighbours_score_by_the_cosine_with_the_items_kept():
    # cosine of items 1 and 2: 2 users in common / sqrt(3 * 2); of items 3 and 4: 1 / 1; of all others 0
    cosine = 2 / np.sqrt(6)
    expected = [[cosine, cosine, 0, 0], [cosine, cosine, 0, 0], [0, 0, 1, 1], [0, cosine, 0, 0]]
    np.testing.assert_allclose(demo.item_neighbours(TRAIN), expected, atol=1e-6)


def test_a_matrix_factorisation_scores_what_similar_users_kept_above_the_rest(monkeypatch):
    monkeypatch.setattr(demo, "N_FACTORS", 2)
    scores = demo.matrix_factorisation(TRAIN)
    assert scores[3, 1] > scores[3, 2] + 0.1


@pytest.mark.parametrize(
    "arguments",
    thorough([["--n-users", "50", "--n-items", "50"], ["--n-users", "50", "--n-items", "300"]], 1),
)
def test_small_shops_work(arguments):
    result = CliRunner().invoke(main, ["demo", *arguments])
    assert result.exit_code == 0, result.output


def test_the_demo_prints_every_table_with_the_python_lines_that_give_it():
    shown = CliRunner().invoke(main, [*SMALL, "--seed", "5"]).stdout
    lines = demo.python_lines(5, 120, 80)
    assert lines in shown
    names: dict[str, Any] = {}
    exec(lines, names)  # noqa: S102  it is what a reader does
    answers = list(demo.answers(demo.simulate(5, 120, 80)))
    assert [frame.columns[1] for *_, frame in answers] == ["n_users", "n_users", "country"]
    assert shown.splitlines()[-1] == demo.conclusion(answers[0][-1])
    for question, line, frame in answers:
        assert f"{question}\n{line}\n" in shown
        assert_frame_equal(eval(line, names), frame)  # noqa: S307  likewise


def test_the_conclusion_names_the_best_model():
    frame = pl.DataFrame({"model": ["a", "popularity"], "n_users": [9, 9], "ndcg@10": [0.3, 0.2]})
    best = "its ndcg@10 is 0.300, that of popularity, the runner-up, 0.200."
    assert demo.conclusion(frame[::-1]) == f"a is the best model: {best}"


def test_the_side_effects_are_those_of_the_lists_and_of_what_the_users_kept():
    shop = demo.simulate(2, 200, 100)
    _, (*_, price), _ = demo.answers(shop)
    lists = shop.recs.filter(pl.col("rank") <= 10)
    known = shop.train.group_by("item").len("users")
    expected = (
        lists.join(known, on="item", how="left")
        .group_by("model")
        .agg(pl.col("item").n_unique() / shop.items.height, pl.col("users").fill_null(0).mean())
        .sort("model")
    )
    assert price["coverage@10"].to_list() == pytest.approx(expected["item"].to_list())
    assert price["popularity@10"].to_list() == pytest.approx(expected["users"].to_list())
    of_model = dict(price.select("model", "novelty@10").iter_rows())
    assert of_model["popularity"] == min(of_model.values())


def test_a_folder_that_cannot_be_made_is_one_line():
    Path("taken").write_text("a file")
    result = CliRunner().invoke(main, [*SMALL, "--save", "taken/shop"])
    assert result.exit_code == 2
    assert result.stderr == "Error: cannot write to taken/shop: Not a directory\n"


def test_saved_frames_give_the_numbers_of_the_demo_by_the_command_it_prints(monkeypatch):
    shown = CliRunner().invoke(main, [*SMALL, "--save", "a shop"]).stdout
    written = shown.partition("Try there:\n\n")[2].partition("\n\n")[0]
    command = shlex.split(written.replace("\\\n", ""))
    monkeypatch.chdir("a shop")
    result = CliRunner().invoke(main, [*command[1:], "-o", "table.parquet"])
    assert result.exit_code == 0, result.output
    shop = demo.simulate(0, 120, 80)
    expected = rf.rec(shop.recs, truth=shop.truth, users=shop.users, model="model").evaluate(
        "ndcg@10", by="activity"
    )
    assert_frame_equal(pl.read_parquet("table.parquet"), expected, rel_tol=1e-12, abs_tol=0)
