"""`recframe report` writes the page that `rec.report` returns, and refuses before it reads."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from planted_shop import shop
from shop_files import failure, run

SHOP = shop(n=60)
FILES = ("lists.parquet", "liked.parquet", "--model", "model", "-m", "ndcg@3")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder that has the tables."""
    monkeypatch.chdir(tmp_path)
    SHOP.recs.write_parquet("lists.parquet")
    SHOP.truth.write_parquet("liked.parquet")
    SHOP.users.with_columns(household=pl.col("user") // 3).write_parquet("people.parquet")
    return tmp_path


def test_a_report_is_written_with_the_numbers_of_the_call(folder):
    given = ["--baseline", "old", "--users", "people.parquet", "--by", "country,age"]
    result = run("report", *FILES, *given, "--title", "A shop", "-o", "shop.html")

    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "wrote shop.html\n")
    page = (folder / "shop.html").read_text(encoding="utf-8")
    rec = SHOP.recs.rec(SHOP.truth, users=SHOP.users, model="model")
    found = rec.report("ndcg@3", baseline="old", by=["country", "age"], title="A shop")
    assert page.partition("<footer")[0] == found.html.partition("<footer")[0]


@pytest.mark.slow
def test_a_report_has_a_name_metrics_and_clusters(folder):
    given = ("--users", "people.parquet", "--cluster", "household", "-k", "2")
    result = run("report", *FILES[:4], *given)

    assert result.exit_code == 0, result.output
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "(users in clusters, by household)" in page
    for metric in ("ndcg@2", "recall@2", "precision@2", "hit_rate@2", "mrr@2", "map@2"):
        assert f">{metric}<" in page


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("--baseline nope", "baseline='nope' is not a model: the column 'model' has new, old"),
        ("--users people.parquet --cluster housold", "--cluster 'housold' is not a column of"),
        ("-o -", "cannot write '-': it has no ending; a page is an .html file"),
    ],
)
def test_what_cannot_be_written_is_refused_in_a_line(folder, given, message):
    assert message in failure("report", *FILES, *given.split())
    assert not [*folder.glob("**/*.html")]
