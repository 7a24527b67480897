"""Names that the field has for a metric are answered with the name it has here, on every surface."""

from __future__ import annotations

import builtins

import polars as pl
import pytest

import recframe as rf
from recframe.metrics.language.registry import CALLS, FORMS, folded, registered

FRAME = pl.DataFrame({"user": [1], "item": [1], "rank": [1], "relevance": [1]})

SYNONYMS = [
    ("reciprocal_rank", "mrr", "rf.mrr", "mrr()"),
    ("mean_reciprocal_rank", "mrr", "rf.mrr", "mrr()"),
    ("mean_average_precision", "map", "rf.map", "map()"),
    ("average_precision", "map", "rf.map", "map()"),
    ("AveragePrecision", "map", "rf.map", "map()"),
    ("catalog_coverage", "coverage", "rf.coverage", "coverage()"),
    ("catalogue_coverage", "coverage", "rf.coverage", "coverage()"),
    ("aggregate_diversity", "coverage", "rf.coverage", "coverage()"),
    ("hit_ratio", "hit_rate", "rf.hit_rate", "hit_rate()"),
    ("f2", "f_score(beta=2)", "rf.f_score(beta=2)", "f_score(beta=2)"),
    ("gmap", "map(average=geometric)", "rf.map(average='geometric')", "map(average='geometric')"),
    ("success_at_first", "hit_rate@1", "rf.hit_rate @ 1", "hit_rate(k=1)"),
    ("NDCG_10", "ndcg@10", "rf.ndcg @ 10", "ndcg(k=10)"),
    ("recall_at_k", "recall@10", "rf.recall @ 10", "recall(k=10)"),
    ("hitrate_at_5", "hit_rate@5", "rf.hit_rate @ 5", "hit_rate(k=5)"),
]


@pytest.mark.parametrize(
    ("text", "meant"),
    [("Hits@10", "hit_rate@10"), ("ndcg_at_10", "ndcg@10"), ("Precision_at_5", "precision@5")],
)
def test_names_with_their_cut_off_are_taken(text, meant):
    assert str(rf.parse(text)) == meant
    assert rf.parse("n_hits") == rf.n_hits


@pytest.mark.parametrize(("name", "text", "attribute", "method"), SYNONYMS)
def test_a_name_of_the_field_is_answered_with_the_one_here(name, text, attribute, method):
    with pytest.raises(rf.UnknownMetricError) as error:
        FRAME.rec.evaluate(name)
    assert str(error.value) == f"unknown metric {name!r}; that is {text!r}"
    with pytest.raises(AttributeError, match="recframe") as missing:
        getattr(rf, name)
    assert str(missing.value).endswith(f"; that is {attribute!r}")
    for frame in (FRAME, FRAME.lazy(), FRAME.to_pandas()):
        with pytest.raises(AttributeError) as missing:
            getattr(frame.rec, name)
        assert str(missing.value) == f"rec has no method {name!r}; that is {method!r}"


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("rmse", "root_mean_squared_error(rating, prediction)"),
        ("RMSE", "root_mean_squared_error(rating, prediction)"),
        ("mean_absolute_error", "mean_absolute_error(rating, prediction)"),
        ("r2", "r2_score(rating, prediction)"),
        ("log_loss", "log_loss(clicked, probability)"),
        ("pooled_auc", "roc_auc_score(clicked, score)"),
        ("rmse_at_10", "root_mean_squared_error(rating, prediction)"),
    ],
)
def test_a_metric_of_predictions_is_answered_with_where_it_is(name, call):
    told = (
        "not here: recframe measures rankings, not the errors of predictions, row by row; "
        f"use sklearn.metrics.{call}"
    )
    with pytest.raises(rf.UnknownMetricError) as error:
        FRAME.rec.evaluate("ndcg@10", name)
    assert str(error.value) == f"unknown metric {name!r}; {told}"
    with pytest.raises(rf.UnknownMetricError) as error:
        rf.parse(f"{name}@10")
    assert str(error.value) == f"unknown metric '{name}@10'; {told}"
    with pytest.raises(AttributeError) as missing:
        getattr(rf, name)
    assert str(missing.value) == f"module 'recframe' has no attribute {name!r}; {told}"
    with pytest.raises(AttributeError) as missing:
        getattr(FRAME.rec, name)
    assert str(missing.value) == f"rec has no method {name!r}; {told}"


def test_what_is_measured_elsewhere_is_in_the_library_that_is_named():
    sklearn = pytest.importorskip("sklearn.metrics")
    for call in set(CALLS.values()):
        assert hasattr(sklearn, call.removeprefix("sklearn.metrics.").partition("(")[0])
    assert not CALLS.keys() & FORMS.keys()


def test_a_metric_of_ones_own_may_bear_the_name_of_one_that_is_measured_elsewhere():
    @rf.metric
    def median_absolute_error(at):
        return at.n_hits

    assert FRAME.rec.median_absolute_error() == 1


def test_an_alias_is_no_method_and_says_whose_it_is():
    for one in registered().values():
        for alias in one.definition.aliases:
            with pytest.raises(AttributeError, match=f"that is '{one.name}\\(\\)'$"):
                getattr(FRAME.rec, alias)
            with pytest.raises(AttributeError, match=f"that is 'rf.{one.name}'$"):
                getattr(rf, alias)


def test_every_synonym_is_a_metric_and_none_is_a_name_already():
    taken = {
        folded(name)
        for one in registered().values()
        for name in (one.name, *one.definition.aliases)
    }

    assert not taken & FORMS.keys()
    for form in FORMS.values():
        assert str(rf.parse(form)) == form


def test_a_star_import_leaves_the_names_of_python_alone():
    names: dict[str, object] = {}
    exec("from recframe import *", names)  # noqa: S102  the import that is tested

    assert not [name for name in names if hasattr(builtins, name)]
    assert names["ndcg"] is rf.ndcg
    assert str(rf.map @ 10) == "map@10"
