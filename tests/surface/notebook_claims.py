"""What is claimed of the notebooks' cells: run after each cell, with its names, and not shown to readers."""

from __future__ import annotations

CLAIMS: dict[str, dict[str, str]] = {
    "01_first_look_polars": {
        "cell-06": """\
assert math.isclose(ann.rec.dcg(k=5), dcg)
assert math.isclose(ann.rec.ndcg(k=5), dcg / best)
""",
        "cell-14": """\
assert df.rec.ndcg(k=10, by="country").sort("ndcg@10")["country"][0] == "Portugal"
""",
        "cell-18": """\
assert math.isclose(by_user["ndcg@10"].mean(), df.rec.ndcg(k=10))
""",
        "cell-26": """\
assert two_frames["n_users"][0] < one_frame["n_users"][0] == 200
assert math.isclose(
    (one_frame["n_users"] * one_frame["ndcg@10"])[0],
    (two_frames["n_users"] * two_frames["ndcg@10"])[0],
)
""",
        "cell-32": """\
compared = both.evaluate("ndcg@10", "recall@20")
assert math.isclose(*compared["recall@20"]), "the same twenty items: only their order differs"
""",
        "cell-35": """\
assert isinstance(plan, pl.LazyFrame)
""",
        "cell-37": """\
assert (own["ndcg@10"] - by_user["ndcg@10"]).abs().max() < 1e-12
""",
        "cell-41": """\
assert rf.parse("nDCG(gain=exp)@10") == rf.ndcg(gain="exp") @ 10
assert str(rf.parse("P@5")) == "precision@5"
""",
        "cell-45": """\
assert math.isclose(rf.rec(df).ndcg(k=10), df.rec.ndcg(k=10))
""",
    },
    "02_first_look_pandas": {
        "cell-04": """\
import math

expected = {
    "precision@5": [2 / 5, 2 / 5],
    "recall@5": [1, 1],
    "mrr": [1, 1 / 4],
    "map@5": [1, (1 / 4 + 2 / 5) / 2],
}
for metric, values in expected.items():
    assert all(map(math.isclose, by_hand[metric], values))
""",
        "cell-11": """\
by_country = df.rec.ndcg(k=10, by="country")
assert by_country.loc[by_country["ndcg@10"].idxmin(), "country"] == "Portugal"
""",
        "cell-14": """\
import math

assert math.isclose(by_user["ndcg@10"].mean(), df.rec.ndcg(k=10))
""",
        "cell-21": """\
assert rec(universe="all").evaluate("ndcg@10")["n_users"].item() == 200
""",
        "cell-23": """\
import math

before = shuffled.copy()
assert math.isclose(shuffled.rec.ndcg(k=10), df.rec.ndcg(k=10), rel_tol=1e-12)
pd.testing.assert_frame_equal(shuffled, before)
assert isinstance(shuffled.rec.ndcg(k=10, by="device").index, pd.RangeIndex)
""",
        "cell-25": """\
assert by_age["age_group"].dtype == "Int8"
assert by_age["age_group"].isna().tolist() == [False, False, False, True]
""",
        "cell-27": """\
import math

assert math.isclose(weighted, df.rec.ndcg(k=10))
""",
        "cell-29": """\
assert by_habit["habit"].dtype == habits
assert by_habit["habit"].tolist() == ["rare", "weekly", "daily"]
""",
    },
    "03_segments": {
        "cell-04": """\
import math

assert all(map(math.isclose, small["mrr"], [3 / 4, 1 / 4]))
""",
        "cell-06": """\
import math

assert math.isclose(dee.rec.ndcg(k=3), 1)
assert math.isclose(by_genre["ndcg@3"][0], 1 / math.log2(3))
""",
        "cell-14": """\
overall = rec.evaluate("ndcg@10", "recall@20")
for metric in ["ndcg@10", "recall@20"]:
    assert (averaged[metric] - overall[metric]).abs().max() < 1e-12
""",
        "cell-18": """\
overall = rec.evaluate("ndcg@10", "recall@20")
assert overall["ndcg@10"][0] > overall["ndcg@10"][1]
assert wins.row(by_predicate=pl.col("activity").cast(pl.String) == "up to 10")[1] < 0
""",
        "cell-20": """\
assert (paired["difference"] - wins["difference"]).abs().max() < 1e-12
""",
        "cell-24": """\
low = rec(universe="all").evaluate("recall@20", by="genre")
assert low["n_users"].min() == 300
shares = low.group_by("genre").agg(pl.col("recall@20").mean()).sort("recall@20")
assert shares["genre"][0] == "documentary"
skipping = rec(universe="all", no_relevant="skip").evaluate("recall@20", by="genre")
assert skipping.equals(wanted)
""",
        "cell-26": """\
assert wanted.filter(pl.col("model") == "popular")["n_users"].to_list() == fans["user"].to_list()
assert fans["user"].sum() > truth["user"].n_unique()
""",
    },
    "04_lazy_pipeline": {
        "cell-06": """\
assert isinstance(plan, pl.LazyFrame)
""",
        "cell-08": """\
assert by_day.sort("ndcg@10")["day"][0] == "wednesday"
""",
        "cell-12": """\
for metric in ["ndcg@5", "ndcg@10", "recall@5", "recall@10"]:
    assert (by_day[metric] - in_memory[metric]).abs().max() < 1e-12
""",
        "cell-14": """\
assert not any("title" in line for line in scans)
assert any(line.startswith("SELECTION") and "tuesday" in line for line in scans)
""",
        "cell-16": """\
misses = rec.evaluate("hit_rate@10").select("day", share=1 - pl.col("hit_rate@10")).collect()
assert (worst["share_of_users_without_a_hit"] - misses["share"]).abs().max() < 1e-12
""",
        "cell-20": """\
assert (kept["ndcg@10"] - by_day["ndcg@10"]).abs().max() < 1e-12
""",
    },
    "05_your_own_metric": {
        "cell-06": """\
assert df.rec.first_screen_hits(by="user")["first_screen_hits"].to_list() == [2, 1]
""",
        "cell-10": """\
import math

expected = [(1 + 1 / 8 + 1 / 64) / (1 + 1 / 2 + 1 / 4 + 1 / 8), 1 / 2]
assert all(map(math.isclose, values["half_life_utility(half_life=2)"], expected))
""",
        "cell-12": """\
import math

assert math.isclose(at_four.item(0, 1), (1 + 1 / 8) / (1 + 1 / 2 + 1 / 4 + 1 / 8))
""",
        "cell-14": """\
assert droughts["longest_drought"].to_list() == [2, 1]
""",
        "cell-18": """\
import math

assert math.isclose(weighted, overall)
assert 0 <= overall <= 1
""",
        "cell-20": """\
assert isinstance(plan, pl.LazyFrame)
assert (
    streamed["half_life_utility(half_life=10)@20"] - report["half_life_utility(half_life=10)@20"]
).abs().max() < 1e-12
""",
        "cell-24": """\
asked = large.rec.evaluate("half_life_utility@20", "longest_drought@20", by="user")
for metric in ["half_life_utility@20", "longest_drought@20"]:
    assert own[metric].null_count() == asked[metric].null_count()
    assert (own[metric] - asked[metric]).abs().max() < 1e-12
assert own["longest_drought@20"].null_count() > 0
""",
        "cell-27": """\
assert rf.parse("HLU(half_life=10)@20") == half_life_utility(half_life=10) @ 20
""",
    },
    "06_beyond_accuracy": {
        "cell-06": """\
assert small.coverage() == 1 / 2
assert math.isclose(small.popularity(), (5 / 3 + 2) / 2)
assert math.isclose(small.novelty(), (ann + bob) / 2)
assert math.isclose(small.repeat_rate(), (1 / 3 + 1 / 2) / 2)
""",
        "cell-20": """\
weighed = (by_activity["novelty@10"] * by_activity["n_lists"]).sum() / by_activity["n_lists"].sum()
assert math.isclose(weighed, overall["novelty@10"].item())
assert by_activity["popularity_lift@10"].to_list() == sorted(by_activity["popularity_lift@10"])
assert by_activity["coverage@10"].max() < overall["coverage@10"].item()
""",
        "cell-22": """\
assert of_users.filter(user=601)["popularity_lift@10"].item() is None
""",
        "cell-29": """\
value = {name: dict(compared.select("model", name).iter_rows()) for name in compared.columns[3:]}
assert max(value["ndcg@10"], key=value["ndcg@10"].get) == "matrix_factorisation"
assert max(value["coverage@10"], key=value["coverage@10"].get) == "item_neighbours"
assert value["coverage@10"]["popularity"] < 0.2
""",
        "against-popularity": """\
found = against.filter(model="popularity").select(pl.col(pl.Float64).round(12)).row(0)
assert found == (1.0, 1.0, 0.0)
""",
        "cell-31": """\
assert added["ndcg@10"][0] > 0 > added["ndcg@10"][2]
assert added["coverage@10"][0] < 0 < added["coverage@10"][2]
assert added["novelty@10"].min() > 0
""",
    },
    "07_what_may_we_claim": {
        "cell-09": """\
assert overall["verdict"].to_list() == ["better", "worse"]
""",
        "cell-12": """\
verdicts = dict(by_country.select("country", "verdict").iter_rows())
assert verdicts == {
    "France": "open",
    "Germany": "better",
    "Italy": "open",
    "Malta": "open",
    "Portugal": "worse",
}
""",
        "cell-15": """\
verdicts = dict(within_margin.select("country", "verdict").iter_rows())
assert verdicts["France"] == verdicts["Italy"] == "not worse"
assert verdicts["Malta"] == "open"
""",
        "cell-18": """\
assert possible.row(by_predicate=pl.col("country") == "Malta", named=True)["users_needed"] > 2000
""",
        "cell-21": """\
assert gaps["gap_low"][0] > 0
assert gaps["p_value"][1] > 0.05
""",
        "cell-24": """\
assert all("Portugal" in segment for segment in worst["segment"][:4])
""",
        "cell-27": """\
states = dict(gate.select("country", "state").iter_rows())
assert states["Portugal"] == "fails"
assert states["Malta"] == "open"
""",
    },
    "08_a_report": {
        "cell-07": """\
import math

asked = rec.summarize("ndcg@10", "recall@20")
assert all(map(math.isclose, summary["value"], asked["value"]))
""",
        "cell-10": """\
verdicts = dict(compared.select(pl.concat_str("model", "metric", separator=" "), "verdict").rows())
assert verdicts["popularity ndcg@10"] == verdicts["popularity recall@20"] == "worse"
assert verdicts["matrix_factorisation ndcg@10"] == "open"
""",
        "cell-14": """\
assert [section.name for section in few.sections][:2] == ["overview", "cases"]
""",
        "cell-16": """\
assert "Content-Security-Policy" in page
""",
    },
}
"""By notebook and id of the cell."""
