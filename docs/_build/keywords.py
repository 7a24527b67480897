"""Words that people search for and titles do not have: a line below the title shows them, and the search has each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

OF_PAGES: Mapping[str, tuple[str, ...]] = {
    "start.md": ("offline evaluation", "pandas", "Polars"),
    "ways_in.md": ("matrix factorization", "two-tower model", "dictionaries"),
    "benchmarks.md": ("speed", "run time"),
    "gallery.md": ("chart gallery", "plots"),
    "concepts/intervals.md": ("confidence interval", "error bars", "standard error"),
    "concepts/sampled_evaluation.md": ("negative sampling", "sampled metrics"),
    "concepts/ties.md": ("equal scores",),
    "concepts/universe.md": ("missing users", "NaN", "empty lists"),
    "from/kaggle.md": ("Kaggle", "submission", "MAP@12", "competition"),
    "from/lightgbm.md": ("LightGBM", "learning to rank", "LambdaMART"),
    "how_to/beyond_accuracy.md": ("popularity bias", "embeddings"),
    "how_to/check_the_data.md": ("data leakage", "train-test leakage", "duplicates"),
    "how_to/compare_models.md": ("significance", "p value", "paired t-test"),
    "how_to/gate_in_ci.md": ("CI", "regression test", "quality gate"),
    "how_to/history.md": ("dashboard", "monitoring"),
    "how_to/larger_than_memory.md": ("memory", "streaming"),
    "how_to/other_tests.md": ("bootstrap", "permutation test", "Wilcoxon"),
    "how_to/segments.md": ("fairness", "subgroups"),
    "how_to/spark.md": ("PySpark", "Databricks"),
    "metrics/hit_rate.md": ("hit ratio", "top-k accuracy"),
}
"""Pages and their keywords."""
LABEL = "Keywords: "


def shown(name: str, text: str) -> str:
    """Return a page with its keywords in a line below its title."""
    if name not in OF_PAGES:
        return text
    title, _, below = text.partition("\n")
    return f"{title}\n\n<small>{LABEL}{', '.join(OF_PAGES[name])}</small>\n{below}"


def without(text: str) -> str:
    """Return what the search has of a page, without the line of keywords, each of which it has by itself."""
    return re.sub(rf"<p><small>{LABEL}.*?</small></p>", "", text, count=1)


def searched(items: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Walk what the search has beside its pages: an item for each keyword, which leads to its page."""
    pages = {one["location"]: one for one in items}
    for name, words in OF_PAGES.items():
        page = pages[name.replace(".md", ".html")]
        yield from ({**page, "title": word} for word in words)
