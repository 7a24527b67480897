"""Names that the field has for a metric are answered with the name it has here; the words are those of said.txt."""

from __future__ import annotations

import builtins

import polars as pl
import pytest

import recframe as rf
from recframe.metrics.language import registry
from recframe.metrics.language.registry import CALLS, FORMS, folded, registered

FRAME = pl.DataFrame({"user": [1], "item": [1], "rank": [1], "relevance": [1]})
CUT = {"Hits@10": "hit_rate@10", "ndcg_at_10": "ndcg@10", "Precision_at_5": "precision@5"}
CUT |= {"INST": "inst", "INSQ": "insq", "BPM@5": "bpm@5", "SDCG@5": "sdcg@5", "n_hits": "n_hits"}


def test_names_with_their_cut_off_are_taken():
    assert {name: str(rf.parse(name)) for name in CUT} == CUT


def test_what_is_measured_elsewhere_is_in_the_library_that_is_named():
    sklearn = pytest.importorskip("sklearn.metrics")
    for call in set(CALLS.values()):
        assert hasattr(sklearn, call.removeprefix("sklearn.metrics.").partition("(")[0])
    assert not CALLS.keys() & FORMS.keys()


def test_a_metric_of_ones_own_may_bear_the_name_of_one_that_is_measured_elsewhere(monkeypatch):
    monkeypatch.setattr(registry, "_registry", registered())

    @rf.metric
    def median_absolute_error(at):
        return at.n_hits

    assert FRAME.rec.median_absolute_error() == 1


def test_an_alias_is_no_method_and_says_whose_it_is():
    for one in registered().values():
        for alias in one.definition.aliases:
            for frame in (FRAME, FRAME.lazy(), FRAME.to_pandas()):
                with pytest.raises(AttributeError, match=f"that is '{one.name}\\(\\)'$"):
                    getattr(frame.rec, alias)
            with pytest.raises(AttributeError, match=f"that is 'rf.{one.name}'$"):
                getattr(rf, alias)


def test_every_synonym_is_a_metric_and_none_is_a_name_already():
    every = registered().values()
    taken = {folded(name) for one in every for name in (one.name, *one.definition.aliases)}

    assert not taken & FORMS.keys()
    for form in FORMS.values():
        assert str(rf.parse(form)) == form


def test_a_star_import_leaves_the_names_of_python_alone():
    names: dict[str, object] = {}
    exec("from recframe import *", names)  # noqa: S102  the import that is tested

    assert not [name for name in names if hasattr(builtins, name)]
    assert names["ndcg"] is rf.ndcg
    assert str(rf.map @ 10) == "map@10"
