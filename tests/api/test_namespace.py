"""What `.rec` promises of itself: where it is registered, what it costs and what it leaves alone."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import polars as pl
import polars.testing
import pytest

import recframe as rf
from own_python import printed
from recframe.demo import simulate
from recframe.metrics.language import registry
from two_users import FRAME, RECS, TRUTH

TRAIN = TRUTH.select("user", "item")
ITEMS = TRUTH.select("item").unique().with_columns(genre=pl.lit("drama"))


USES_PANDAS = """
frame = pandas.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 2], "relevance": [0, 1]})
print(frame.rec.mrr(k=10), type(frame.rec.evaluate("mrr")).__module__.partition(".")[0])
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "imports",
    ["import pandas, recframe", "import recframe, pandas", "import recframe; from pandas import *"],
)
def test_pandas_and_recframe_are_imported_in_any_order(imports):
    assert printed(f"{imports}; import pandas {USES_PANDAS}") == "0.5 pandas"


def test_importing_recframe_imports_polars_and_nothing_heavier():
    heavy = {"pandas", "pyarrow", "numpy", "click", "rich", "scipy", "hypothesis"}
    names = printed(
        "import sys, recframe; print(*{name.partition('.')[0] for name in sys.modules})"
    )

    assert {*names.split()} & (heavy | {"polars"}) == {"polars"}


def test_it_works_where_pandas_is_not_installed_and_asks_for_none():
    script = """
import sys
from importlib.abc import MetaPathFinder

asked = []

class Without(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"pandas", "pyarrow", "numpy"}:
            asked.append(name)
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Without())
import polars
asked.clear()
import recframe
frame = polars.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 2], "relevance": [0, 1], "country": ["FR", "FR"]})
print(frame.rec.mrr(k=10), frame.lazy().rec.evaluate("ndcg", by="country").collect().height, frame.rec.judge().height)
print(frame.rec.evaluate("ndcg", "auc", by="user").columns, asked)
for _ in range(2):
    try:
        import pandas
    except ModuleNotFoundError as error:
        print(error)
"""
    found = ["0.5 1 2", "['user', 'ndcg', 'auc'] []", *["No module named 'pandas'"] * 2]
    assert printed(script).splitlines() == found


def test_the_sources_in_one_archive_track_and_report_without_any_metadata(tmp_path):
    sources = Path(rf.__file__).parents[1]
    with zipfile.ZipFile(tmp_path / "sources.zip", "w") as archive:
        for path in (sources / "recframe").rglob("*.*"):
            if path.suffix != ".pyc":
                archive.write(path, path.relative_to(sources))
    script = f"""
import importlib.metadata, sys

found = importlib.metadata.version

def without_some(name):
    if name in {{"recframe", "vl-convert-python"}}:
        raise importlib.metadata.PackageNotFoundError(name)
    return found(name)

importlib.metadata.version = without_some
sys.path.insert(0, {str(tmp_path / "sources.zip")!r})
import polars as pl, recframe as rf
frame = pl.DataFrame({{"user": [1, 1], "item": [1, 2], "rank": [1, 2], "relevance": [0, 1]}})
history = {str(tmp_path / "history.parquet")!r}
frame.rec.track("mrr", history=history, as_of="2026-11-22")
print("sources.zip" in rf.__file__)
made = [frame.rec.report("mrr").html, rf.dashboard(history).html]
print([f"recframe {{rf.__version__}}" in page for page in made])
"""
    assert printed(script).splitlines() == ["True", "[True, True]"]


@pytest.mark.slow
def test_an_import_of_pandas_leaves_its_loader_and_spec_as_they_were():
    script = """
import sys, importlib.resources
{first}
import pandas
print(type(pandas.__loader__), pandas.__loader__ is pandas.__spec__.loader, pandas.__spec__.origin == pandas.__file__)
print(pandas.__loader__.get_source("pandas") is not None, (importlib.resources.files(pandas) / "__init__.py").is_file())
print([type(finder).__module__ for finder in sys.meta_path if "recframe" in type(finder).__module__])
"""
    plain = printed(script.format(first=""))

    assert printed(script.format(first="import recframe")) == plain
    assert plain.splitlines()[1:] == ["True True", "[]"]


def test_a_frame_that_changed_in_place_gives_the_new_numbers():
    frame = FRAME.clone()
    rec = frame.rec
    assert frame.rec.recall(k=1) == 0.5

    frame.replace_column(frame.get_column_index("rank"), pl.Series("rank", [2, 1, None, 2, 1]))
    frame.insert_column(0, pl.Series("device", ["phone"] * 5))

    assert frame.rec.recall(k=1) == rec.recall(k=1) == 0.75
    assert frame.rec.recall(k=1, by="device")["device"].to_list() == ["phone"]


# the items have a category and no price; lists of other samples are warned of
METRICS = [name for name in registry.registered() if name not in {"value", "corrected"}]


def test_no_frame_is_written_to(kind):
    users = FRAME.select("user", "country").unique(maintain_order=True)
    sides = {"truth": TRUTH, "users": users, "train": TRAIN, "items": ITEMS, "reference": RECS}
    recs, made = kind(RECS), {name: kind(one) for name, one in sides.items()}
    before = [copy.deepcopy(frame) for frame in (recs, *made.values())]

    rec = recs.rec(**made, no_relevant="null")
    for result in (rec.judge(), rec.evaluate(*METRICS, k=[1, 2], by=["country", "user"])):
        kind.read(result)

    for frame, as_it_was in zip((recs, *made.values()), before, strict=True):
        same = pd.testing if isinstance(frame, pd.DataFrame) else pl.testing
        same.assert_frame_equal(frame, as_it_was)


def test_a_frame_keeps_no_trace():
    frame, lazy, pandas = FRAME.clone(), FRAME.lazy(), FRAME.to_pandas()
    before = [set(vars(one)) for one in (frame, lazy, pandas)]
    for one in (frame, lazy, pandas):
        one.rec(truth=TRUTH).ndcg(k=10)

    for one, seen in zip((frame, lazy, pandas), before, strict=True):
        assert set(vars(one)) == seen
    assert vars(frame.rec) == {"_frame": frame}


@pytest.mark.parametrize(
    "name", ["ndcg", "ndcg@10", "f_score(beta=2)@10", "map(normalizer=min)", "rbp(p=0.95)@100"]
)
def test_a_metric_survives_pickle_and_copy(name):
    metric = rf.parse(name)

    for twin in (pickle.loads(pickle.dumps(metric)), copy.copy(metric), copy.deepcopy(metric)):  # noqa: S301  our own bytes
        assert twin == metric
        assert hash(twin) == hash(metric)
        assert str(twin) == name
        assert FRAME.rec.evaluate(twin).equals(FRAME.rec.evaluate(name))


@contextmanager
def without_collector() -> Iterator[None]:
    """Let nothing go that stands in a circle."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


ASKED = {
    "evaluate": lambda rec: rec.evaluate("ndcg@10", by="activity"),
    "compare": lambda rec: rec.compare("ndcg@10", baseline="popularity"),
    "require": lambda rec: rec.require("ndcg@10 >= 0", raises=False),
    "audit": lambda rec: rec.audit(),
    "judge": lambda rec: rec.judge(),
    "explain": lambda rec: rec.explain("ndcg@10", "ranx", "rectools"),
    "plot": lambda rec: rec.plot.curve("ndcg", k=[1, 5]),
    "repr": repr,
}


@pytest.mark.nightly
def test_a_frame_is_gone_with_its_last_name_whatever_it_was_asked(kind):
    shop, n_kept = simulate(n_users=60, n_items=60), {}
    for name, ask in ASKED.items():
        recs, truth, users = (kind(one.clone()) for one in (shop.recs, shop.truth, shop.users))
        held = [weakref.ref(recs), weakref.ref(truth)]
        with without_collector():
            ask(recs.rec(truth, users=users, model="model"))
            del recs, truth
            n_kept[name] = sum(one() is not None for one in held)

    assert n_kept == dict.fromkeys(ASKED, 0)
