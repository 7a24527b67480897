"""What the text of a notebook says of its cells: run after each cell, with its names, and not shown to readers.

Numbers that a cell shows are compared with its stored output; here is what a reader is told of them.
"""

from __future__ import annotations

CLAIMS: dict[str, dict[str, str]] = {
    "01_first_look_polars": {
        "cell-14": """
assert df.rec.ndcg(k=10, by="country").sort("ndcg@10")["country"][0] == "Portugal"
""",
        "cell-26": """
assert two_frames["n_users"][0] < one_frame["n_users"][0] == 200
sums = [(one["n_users"] * one["ndcg@10"])[0] for one in (one_frame, two_frames)]
assert math.isclose(*sums)
""",
        "cell-32": """
compared = both.evaluate("ndcg@10", "recall@20")
assert math.isclose(*compared["recall@20"]), "the same twenty items: only their order differs"
""",
    },
    "02_first_look_pandas": {
        "cell-11": """
by_country = df.rec.ndcg(k=10, by="country")
assert by_country.loc[by_country["ndcg@10"].idxmin(), "country"] == "Portugal"
""",
    },
    "03_segments": {
        "cell-24": """
low = rec(universe="all").evaluate("recall@20", by="genre")
assert low["n_users"].min() == 300
shares = low.group_by("genre").agg(pl.col("recall@20").mean()).sort("recall@20")
assert shares["genre"][0] == "documentary"
skipping = rec(universe="all", no_relevant="skip").evaluate("recall@20", by="genre")
assert skipping.equals(wanted)
""",
        "cell-26": """
assert wanted.filter(pl.col("model") == "popular")["n_users"].to_list() == fans["user"].to_list()
assert fans["user"].sum() > truth["user"].n_unique()
""",
    },
    "04_lazy_pipeline": {
        "cell-14": """
assert not any("title" in line for line in scans)
assert any(line.startswith("SELECTION") and "tuesday" in line for line in scans)
""",
    },
    "06_beyond_accuracy": {
        "cell-20": """
assert by_activity["popularity_lift@10"].to_list() == sorted(by_activity["popularity_lift@10"])
assert by_activity["coverage@10"].max() < overall["coverage@10"].item()
""",
        "cell-29": """
value = {name: dict(compared.select("model", name).iter_rows()) for name in compared.columns[3:]}
assert max(value["ndcg@10"], key=value["ndcg@10"].get) == "matrix_factorisation"
assert max(value["coverage@10"], key=value["coverage@10"].get) == "item_neighbours"
assert value["coverage@10"]["popularity"] < 0.2
""",
    },
    "07_what_may_we_claim": {
        "cell-12": """
words = [f"{country} {verdict}" for country, verdict in by_country["country", "verdict"].rows()]
told = ["France open", "Germany better", "Italy open", "Malta open", "Portugal worse"]
assert sorted(words) == told
""",
        "cell-27": """
states = dict(gate.select("country", "state").iter_rows())
assert states["Portugal"] == "fails"
assert states["Malta"] == "open"
""",
    },
    "08_a_report": {
        "cell-10": """
verdicts = dict(compared.select(pl.concat_str("model", "metric", separator=" "), "verdict").rows())
assert verdicts["popularity ndcg@10"] == verdicts["popularity recall@20"] == "worse"
assert verdicts["matrix_factorisation ndcg@10"] == "open"
""",
    },
}
"""By notebook and id of the cell."""
