"""`rec.table`: what stands in a table that people publish, in HTML, LaTeX and Markdown."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import polars as pl
import pytest

import recframe as rf
from recframe.charts.table import Table

# a cut-off above all lists is named in charts and tables, too
pytestmark = pytest.mark.filterwarnings("ignore:short_lists")

N = 400
PEOPLE = pl.select(user=pl.int_range(N), item=pl.lit(1, pl.Int64))
USERS = PEOPLE.select(
    "user",
    country=pl.when(pl.col("user") < 100)
    .then(None)
    .when(pl.col("user") < 200)
    .then(pl.lit("a|b_<i>"))
    .otherwise(pl.lit("FR")),
)


def lists(rank: pl.Expr) -> pl.DataFrame:
    return PEOPLE.with_columns(rank=rank.cast(pl.Int64))


# the mean of 1 / rank is 3/4, 1/2 and 1/4: within 1 of users, every other user is one place off
POPULAR = lists(pl.lit(2))
BETTER = lists(pl.col("user") % 2 + 1)
WORSE = lists(pl.lit(4))
MODELS = {"popular": POPULAR, "svd_&<b>": BETTER, "worse": WORSE}
REC = rf.rec(MODELS, PEOPLE, users=USERS)


def rows(table: Table) -> list[list[str]]:
    """Return the cells of the Markdown of a table."""
    lines = [line for line in table.markdown().splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def test_models_are_rows_and_metrics_columns_and_the_best_is_bold():
    head, rules, popular, better, worse = rows(REC.table("mrr", "first_rank", intervals=False))

    assert head == ["model", "mrr", "first_rank"]
    assert rules == [":---", "---:", "---:"]
    # of first_rank the lowest is the best
    assert popular == ["popular", "0.500", "2.000"]
    assert better == ["svd\\_&amp;&lt;b&gt;", "**0.750**", "**1.500**"]
    assert worse == ["worse", "0.250", "4.000"]


def test_what_looks_alike_is_equally_good_and_a_metric_without_direction_has_no_best():
    near = BETTER.with_columns(rank=pl.when(pl.col("user") == 0).then(2).otherwise("rank"))
    rec = rf.rec({"a": BETTER, "b": near, "c": WORSE}, PEOPLE)

    def cells(decimals: int) -> list[str]:
        table = rec.table("mrr", decimals=decimals, intervals=False)
        return [row[1] for row in rows(table)[2:]]

    # 0.75 and 0.75 - 1/800
    assert cells(2) == ["**0.75**", "**0.75**", "0.25"]
    assert cells(4) == ["**0.7500**", "0.7488", "0.2500"]
    assert "**" not in rec.table("list_length").markdown()
    assert "Bold: the best model." in rec.table("mrr", "first_rank").notes


def test_where_all_look_alike_none_is_the_best():
    rec = rf.rec({"a": BETTER, "b": WORSE}, PEOPLE)

    # all have the only item among four places
    assert [row[1:] for row in rows(rec.table("recall@4", "mrr", intervals=False))[2:]] == [
        ["1.0000", "**0.750**"],
        ["1.0000", "0.250"],
    ]
    assert "Bold" not in rec.table("recall@4").markdown()


def test_intervals_are_those_of_summarize_and_marks_the_verdicts_against_the_baseline():
    table = REC.table("mrr", baseline="popular", intervals=False)
    low, high = REC.summarize("mrr", level=0.9).select("value_low", "value_high").row(1)

    assert rows(REC.table("mrr", level=0.9))[3][1] == f"**0.750** [{low:.3f}, {high:.3f}]"
    assert [row[1] for row in rows(table)[2:]] == ["0.500", "**0.750**\\*", "0.250†"]
    assert table.notes[-1] == (
        "* better, † worse than popular: paired t test, p of at most 0.05 after Holm's correction for the 2 tests of the table."
    )
    assert "† worse than popular" in table.markdown()


def test_segments_are_groups_of_models_in_the_order_of_the_segments():
    table = REC.table("mrr", by="country", baseline="popular")
    found = rows(table)

    assert found[0][:2] == ["country", "model"]
    assert [row[:2] for row in found[2:]] == [
        [country, model]
        for country in ("FR", "a\\|b\\_&lt;i&gt;", "(none)")
        for model in ("popular", "svd\\_&amp;&lt;b&gt;", "worse")
    ]
    assert all(row[2].startswith("**") == row[1].startswith("svd") for row in found[2:])


def test_without_a_model_segments_are_rows_and_without_both_there_is_one():
    rec = POPULAR.rec(PEOPLE, users=USERS)

    assert [row[0] for row in rows(rec.table("mrr", by="country"))] == [
        "country", ":---", "FR", "a\\|b\\_&lt;i&gt;", "(none)",
    ]  # fmt: skip
    head, _, *found = rows(rec.table("mrr", intervals=False))
    assert head == ["mrr"]
    assert found == [["0.500"]]
    assert "Bold" not in rec.table("mrr", by="country").markdown()


@pytest.mark.filterwarnings("ignore:short_lists")  # of one item each
def test_every_kind_of_frame_has_the_same_table(kind):
    rec = rf.rec({name: kind(one) for name, one in MODELS.items()}, kind(PEOPLE), users=kind(USERS))

    made = rec.table("mrr", "ndcg@10", by="country", baseline="popular")

    assert made == REC.table("mrr", "ndcg@10", by="country", baseline="popular")


def test_notes_say_of_how_many_users_numbers_speak():
    none = REC.table("auc", baseline="popular")
    assert [row[1] for row in rows(none)[2:]] == ["\N{EN DASH}"] * 3
    large = pl.select(user=pl.int_range(20_001), item=1, rank=1)

    assert none.notes[0] == "Users: 0."
    assert REC.table("mrr").notes[0] == "Users: 400."
    assert REC.table("mrr", "auc").notes[0] == "Users: 0 to 400."
    assert REC.table("mrr", by="country").notes[0] == "Users: 100 to 200."
    assert large.rec(large.select("user", "item")).table("mrr").notes[0] == "Users: 20,001."


def test_the_spread_over_trainings_stands_behind_each_value():
    # the share of hits is 0.6, 0.5 and 0.4 of three trainings, whose standard deviation is 0.1
    item = lambda hits: pl.when(pl.col("user") < hits).then(1).otherwise(2)  # noqa: E731
    trainings = [
        PEOPLE.with_columns(item=item(hits), seed=hits, rank=1) for hits in (240, 200, 160)
    ]
    fixed = PEOPLE.with_columns(seed=pl.lit(None, pl.Int64), rank=1)
    rec = rf.rec(
        {"fixed": fixed, "knn": pl.concat(trainings)}, PEOPLE, users=USERS, training="seed"
    )
    table = rec.table("hit_rate@1", "mrr", std=True, decimals=2)

    assert rows(table)[2:] == [
        ["fixed", "**1.00**", "**1.00**"],
        ["knn", "0.50 ± 0.10", "0.50 ± 0.10"],
    ]
    assert "±: the standard deviation over the trainings." in table.notes
    segments = rows(rec.table("hit_rate@1", by="country", std=True, decimals=2))
    assert segments[3][:2] == ["FR", "knn"]
    # of users 200 to 399 in FR 40, none and none have a hit: 0.2, 0 and 0
    assert segments[3][2] == "0.07 ± 0.12"


def test_markdown_is_written_without_great_tables(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "great_tables", None)
    table = REC.table("mrr")

    table.save(tmp_path / "table.md")

    assert (tmp_path / "table.md").read_text(encoding="utf-8") == table.markdown() == str(table)
    assert table._repr_html_() is None


def test_html_and_latex_have_what_markdown_has_and_names_are_text():
    pytest.importorskip("great_tables")
    html = REC.table("mrr", "mrr@1", baseline="popular", by="country", caption="A <b> & c").html()
    latex = REC.table("mrr", "first_rank", baseline="popular", intervals=False).latex()
    named = r"svd\_\&\textless{}b\textgreater{}"

    assert "<b>" not in html
    for text in (
        *("svd_&amp;&lt;b&gt;", "a|b_&lt;i&gt;", "A &lt;b&gt; &amp; c", "0.250†"),
        *("<strong>0.750</strong>* [0.7", "* better, † worse than popular"),
    ):
        assert text in html
    for text in (
        *(rf"{named} & \textbf{{0.750}}* & \textbf{{1.500}}* \\", r"worse & 0.250† & 4.000† \\"),
        *(r"first\_rank", "† worse than popular"),
    ):
        assert text in latex


def test_columns_have_titles_of_ones_own():
    table = REC.table("mrr", k=[1, 10], header={"mrr@1": "first", "model": "System"}, caption="A")

    assert rows(table)[0] == ["System", "first", "mrr@10"]
    assert table.markdown().startswith("**A**\n")


def test_the_best_has_a_star_where_it_beats_the_runner_up_and_no_other():
    table = REC.table("mrr", "recall@4", stars=True, intervals=False)

    # of recall@4 all have 1
    assert [row[1:] for row in rows(table)[2:]] == [
        ["0.500", "1.0000"],
        ["**0.750**\\*", "1.0000"],
        ["0.250", "1.0000"],
    ]
    assert table.notes[-1].startswith("* better than the runner-up: paired t test")


@pytest.mark.parametrize("name", ["t.html", "t.tex", "t.MD"])
def test_a_table_is_saved_by_the_ending(name, tmp_path):
    pytest.importorskip("great_tables")
    table = REC.table("mrr")
    text = {"t.html": table.html, "t.tex": table.latex, "t.MD": table.markdown}[name]()
    table.save(tmp_path / name)
    written = (tmp_path / name).read_text(encoding="utf-8")
    # Great Tables gives every table in HTML another id
    found, expected = (re.sub('id="[a-z]+"|#[a-z]+ ', "", one) for one in (written, text))

    assert found == expected


TRICKY = {
    "a_b & 50% #1 $x$ \\foo {}": r"a\_b \& 50\% \#1 \$x\$ \textbackslash{}foo \{\}",
    "[a] ~ ^": r"[a] \textasciitilde{} \textasciicircum{}",
}


@pytest.mark.parametrize(("name", "written"), TRICKY.items())
def test_names_are_read_in_latex_as_they_are(name, written, tmp_path):
    pytest.importorskip("great_tables")
    lists = PEOPLE.with_columns(pl.lit(name).alias(name))
    rec = rf.rec({name: POPULAR, "b": WORSE}, PEOPLE, users=lists.drop("item"))
    latex = rec.table("mrr", "first_rank", by=name, baseline=name, caption=name).latex()

    # above the table, as the column of two segments, as a model, and as the baseline in the legend
    assert latex.count(written) == 6
    assert name not in latex
    compiler = shutil.which("pdflatex")
    if compiler:
        document = "\\documentclass{article}\\usepackage{booktabs}\\begin{document}\n"
        page = tmp_path / "page.tex"
        page.write_text(document + latex + "\\end{document}", encoding="utf-8")
        options = ["-interaction=nonstopmode", "-halt-on-error", page.name]
        found = subprocess.run([compiler, *options], cwd=tmp_path, capture_output=True, check=False)  # noqa: S603
        assert found.returncode == 0, found.stdout.decode(errors="replace")[-2000:]


def test_rows_that_read_alike_are_told_apart():
    half = pl.col("user") < N // 2
    users = PEOPLE.select(
        "user",
        x=pl.when(half).then(pl.lit("a, b")).otherwise(pl.lit("a")),
        y=pl.when(half).then(pl.lit("c")).otherwise(pl.lit("b, c")),
    )
    rec = rf.rec({"null": POPULAR, "b": WORSE}, PEOPLE, users=users)

    assert [above for above, *_ in rec.table("mrr", by=["x", "y"]).rows] == [
        *["a · b, c"] * 2,
        *["a, b · c"] * 2,
    ]
