"""What `rec`, its metrics and the package show of themselves: reprs, cards, names to complete."""

from __future__ import annotations

import inspect
import types

import pandas as pd
import polars as pl
import pytest

import recframe as rf
from recframe.metrics.language.registry import registered

RECS = pl.DataFrame(
    {"user": [1, 1, 2, None], "movie": [1, 2, 3, 1], "rank": [1, 2, 1, 2], "m": [*"aabb"]}
)
TRUTH = pl.DataFrame({"user": [1], "movie": [2]})


def bound(frame):
    return frame.rec(truth=TRUTH, item="movie", model="m", universe="recs").group_by("movie")


@pytest.mark.parametrize("make", [lambda frame: frame, lambda frame: frame.to_pandas()])
def test_a_rec_shows_what_is_bound_and_how_much_there_is(make):
    kind = "pandas" if isinstance(make(RECS), pd.DataFrame) else "polars"

    assert repr(bound(make(RECS))) == (
        f"rec of a {kind}.DataFrame of 4 rows; truth a polars.DataFrame of 1 row; item='movie'; model='m'; "
        "universe='recs'; by 'movie'"
    )


def test_every_object_that_calls_give_shows_itself_in_a_line():
    log = pl.DataFrame({"user": [1, 2, 1], "item": [1, 2, 3], "t": [1, 2, 3]}).rec(time="t")
    things = [RECS.rec, RECS.rec.mrr, RECS.rec.plot, log.split, log.split.by_time(share=0.3)]
    things += [rf.accumulator("mrr"), rf.Bounds(0, 1), rf.Requirement("mrr", ">=", 0.1), rf.ndcg]
    things.append(rf.frame(RECS, item="movie"))

    for thing in things:
        assert len(repr(thing).splitlines()) == 1
        assert "object at 0x" not in repr(thing)


def test_nothing_of_a_lazy_frame_is_collected_to_show_it():
    def fails(_frame):
        raise AssertionError

    lazy = RECS.lazy().map_batches(fails, schema=RECS.schema)

    assert repr(lazy.rec) == "rec of a polars.LazyFrame"
    assert repr(lazy.rec(truth=lazy)) == "rec of a polars.LazyFrame; truth a polars.LazyFrame"


def test_a_frame_that_no_metric_takes_is_shown_all_the_same():
    objects = pl.DataFrame({"user": [object()]}, schema={"user": pl.Object})
    mixed, levels = pd.DataFrame({"user": [1, "a", (2,)]}), pd.DataFrame({("user", "a"): [1]})
    for frame in (pl.DataFrame(), objects, mixed, levels, pd.concat([mixed, mixed], axis=1)):
        assert repr(frame.rec).startswith("rec of a ")


def test_the_package_lists_what_users_may_use_and_nothing_else():
    names = [name for name in dir(rf) if not name.startswith("_")]

    assert {*names} == {*rf.__all__, "map"}
    assert "explain" in names
    assert not [name for name in names if isinstance(getattr(rf, name), types.ModuleType)]


def test_a_rec_lists_its_methods_and_nothing_else():
    for frame in (RECS, RECS.lazy(), RECS.to_pandas()):
        names = dir(frame.rec)
        assert {*names} > registered().keys() | {
            "evaluate",
            "judge",
            "audit",
            "explain",
            "group_by",
        }
        assert all(callable(getattr(frame.rec, name)) for name in names if name != "split")
        assert not [name for name in names if name.startswith("_")]


@pytest.mark.parametrize("metric", registered().values(), ids=str)
def test_parameters_of_a_metric_have_their_types_by_name_alone(metric):
    signature = inspect.signature(metric).parameters
    of_frame = inspect.signature(getattr(RECS.rec, metric.name)).parameters

    assert [*signature] == [*metric.definition.parameters] == [*of_frame][2:]
    for name, one in signature.items():
        assert one.kind is inspect.Parameter.KEYWORD_ONLY
        assert one.annotation is not one.empty, name
        assert not isinstance(one.annotation, str), name
        assert of_frame[name].annotation == one.annotation


def test_the_source_of_a_metric_is_that_of_its_function():
    for thing in (rf.mrr, RECS.rec.mrr):
        assert inspect.unwrap(thing) is rf.mrr.definition.function
        assert "def mrr(" in inspect.getsource(inspect.unwrap(thing))
    # the classes keep their own
    assert [*inspect.signature(rf.Metric).parameters][:2] == ["definition", "settings"]
