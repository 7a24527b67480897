"""`--memory`: the numbers of one plan in memory."""

from __future__ import annotations

import io
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import recframe as rf
from shop_files import failure, run

pytestmark = pytest.mark.usefixtures("in_buckets")
N = 300
LISTS = pl.DataFrame(
    [
        {"model": model, "user": user, "item": (user * step + rank) % 17, "rank": rank}
        for model, step in (("old", 3), ("new", 5))
        for user in range(N)
        for rank in range(1, 5)
    ]
)
LIKED = pl.DataFrame({"user": range(N), "item": [7 * user % 17 for user in range(N)]})
PEOPLE = pl.DataFrame({"user": range(N), "country": ["DE", "FR", None] * (N // 3)})
FILES = {"lists": LISTS, "liked": LIKED, "people": PEOPLE}
BOUND = ("--model", "model", "--users", "people.parquet", "--memory", "50MB", "--format", "json")
CALLS = {
    "evaluate": (["-m", "ndcg@3", "--by", "country"], ["ndcg@3"], {"by": "country"}),
    "summarize": (["-m", "ndcg@3"], ["ndcg@3"], {}),
    "compare": (["-m", "mrr", "--baseline", "old"], ["mrr"], {"baseline": "old"}),
    "power": (["-m", "mrr", "--baseline", "old"], ["mrr"], {"baseline": "old"}),
    "gaps": (["-m", "mrr", "--by", "country"], ["mrr"], {"by": "country"}),
    "slices": (["-m", "mrr", "--by", "country"], ["mrr"], {"by": "country"}),
    "require": (["mrr >= 0"], ["mrr >= 0"], {}),
    "audit": ([], [], {}),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder that has the tables as Parquet files."""
    monkeypatch.chdir(tmp_path)
    for name, frame in FILES.items():
        frame.write_parquet(f"{name}.parquet")


@pytest.mark.parametrize("command", CALLS)
def test_a_command_within_a_bound_has_the_numbers_of_frames_in_memory(command):
    given, asked, options = CALLS[command]

    result = run(command, "lists.parquet", "liked.parquet", *given, *BOUND)

    rec = rf.rec(LISTS, truth=LIKED, users=PEOPLE, model="model")
    in_memory = getattr(rec, command)(*asked, **options)
    assert result.exit_code == 0, result.output
    expected = pl.read_json(io.StringIO(in_memory.write_json()))
    assert_frame_equal(pl.read_json(io.StringIO(result.stdout)), expected, check_exact=True)


@pytest.mark.parametrize("written", ["2GiB", "2gb", "2G", "2000000000"])
def test_a_bound_is_a_number_of_bytes_in_any_unit(written):
    result = run("evaluate", "lists.parquet", "liked.parquet", *BOUND[:4], "--memory", written)

    assert result.exit_code == 0, result.output


def test_a_bound_that_one_user_is_above_is_told_as_the_option():
    bot = pl.DataFrame({"user": 1, "item": range(100_000), "rank": range(1, 100_001)})
    bot.write_parquet("bot.parquet")

    said = failure("evaluate", "bot.parquet", "liked.parquet", "-m", "ndcg", "--memory", "5MB")

    assert said.startswith(
        "--memory '5MB' is too little for the user with the most rows and those who are read"
    )
    more = said.rpartition("write --memory '")[2].partition("'")[0]
    assert run("evaluate", "bot.parquet", "liked.parquet", "--memory", more).exit_code == 0
