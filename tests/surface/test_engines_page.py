"""The page on engines shows what the benchmark on Spark has stored."""

from __future__ import annotations

import engine_tables
import readme

TEXT = readme.ON_ENGINES.read_text(encoding="utf-8")
SIX = ["hit_rate", "precision", "recall", "map", "mrr", "ndcg"]


def entry(name, **others):
    figures = {
        "name": name,
        "ids": "int",
        "rows": 2_000_000,
        "metrics": SIX,
        "universe": "truth",
        "first": [9.0, 8.0],
        "seconds": [2.5, 2.0],
        "minimum": 2.0,
        "minimum_ratio": 1.0,
        "cpu_seconds": 4.0,
        "cpu_seconds_ratio": 1.0,
        "stages": 5,
        "shuffle_bytes": 30e6,
        "shuffle_records": 1_000,
        "python_peak_bytes": 250e6,
        "scale": 1.0,
        "differences": dict.fromkeys(SIX, 1e-16),
    }
    return figures | others


def result(*others):
    ours = entry("recframe")
    return {
        "settings": {
            "k": 10,
            "length": 20,
            "metrics": SIX,
            "spark": {"spark.master": "local[2]", "spark.driver.host": "127.0.0.1"},
        },
        "machine": {"threads": "2"},
        "versions": {"sql": {"pyspark": "4.3.0"}},
        "contenders": [ours, *others],
        "slopes": [ours, entry("recframe", ids="string", minimum=3.0)],
    }


def test_the_generated_part_is_up_to_date():
    assert "<!-- engines:" in TEXT
    assert readme.written(TEXT) == TEXT, "run: python tests/surface/readme.py"


def test_a_contender_has_multiples_and_says_what_it_lacks_and_where_it_was_scaled():
    other = entry(
        "Other",
        rows=500_000,
        scale=4.0,
        minimum_ratio=7.04,
        cpu_seconds_ratio=9.0,
        metrics=["precision", "map(normalizer=min)"],
        universe="both",
        differences={"precision": 1e-15, "map(normalizer=min)": 0.25},
    )

    alone = entry("alone", stages=0, shuffle_bytes=0, minimum_ratio=0.25, cpu_seconds_ratio=12.34)

    text = engine_tables.tables(result(alone, other))

    assert "2,000,000 recommendations, 20 a user" in text
    assert "(`spark.master=local[2]`); the fastest of 2 runs" in text
    assert "| recframe | 2.00 s | 4.0 s | 8.0 s | 30 MB | all six |" in text
    lacks = "no hit_rate, recall, mrr, ndcg; as `map(normalizer=min)`; users with a list and truth alone"
    assert "| alone | 0.25 x | 12 x | 8.0 s |  | all six |" in text
    assert f"| Other | ~7 x | ~9 x | ~32.0 s | ~120 MB | {lacks} |" in text
    assert "but for Other: `map(normalizer=min)@10` by 2.5e-01." in text
    assert "~: run on 500,000 recommendations" in text


def test_slopes_have_a_column_for_each_kind_of_ids():
    text = engine_tables.tables(result())

    assert "| recommendations | whole numbers | text |\n|---|---|---|" in text
    cells = [f"{seconds} s, 30 MB in 1,000 records, 250 MB" for seconds in ("2.0", "3.0")]
    assert f"| 2,000,000 | {' | '.join(cells)} |" in text
    assert "~" not in text
