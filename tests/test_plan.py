"""The shape of the plan: what is filtered before what, what is sorted, what is read, and that all of it streams."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

import recframe as rf
from recframe.registry import registered

# NOTE: Polars 1 streams neither a window nor a filter inside an aggregate, so there the calls that need the rows of the
# lists, or a running value, fall back to memory. From Polars 2 on nothing may.
STREAMS_WINDOWS = int(pl.__version__.partition(".")[0]) >= 2
BUILTIN = [metric for metric in registered().values() if metric.definition.builtin]
SIX = ("hit_rate@10", "precision@10", "recall@10", "map@10", "mrr@10", "ndcg@10")
READ_LISTS = {"bpref", "auc", "list_length", "judged"}
NEED_WINDOWS = READ_LISTS | {"err"}
OF_HITS = [metric for metric in BUILTIN if metric.name not in READ_LISTS]
UNUSED = {f"unused_{number}": [0] * 6 for number in range(4)}


@dataclass(frozen=True)
class Files:
    """Lazy frames that stand in files, with columns that nobody asks for."""

    judged: pl.LazyFrame
    recs: pl.LazyFrame
    truth: pl.LazyFrame
    users: pl.LazyFrame
    items: pl.LazyFrame


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    folder = tmp_path_factory.mktemp("plan")
    pairs = {"user": [1, 1, 1, 2, 2, 3], "item": [1, 2, 3, 1, 2, 1]}
    recs = pairs | {"model": list("xxyxyy"), "rank": [1, 2, 1, 1, 1, 1], "score": [0.5] * 6, "device": list("aaabba")}
    frames = {
        "judged": recs | {"relevance": [0, 1, 2, 0, 1, 1]},
        "recs": recs | {"device": list("aaabbc")},
        "truth": pairs | {"relevance": [0, 1, 2, 0, 1, 1]},
        "users": {"user": [1, 2, 3], "country": ["FR", "DE", "FR"]},
        "items": {"item": [1, 2, 3], "genre": ["drama", "drama", "war"]},
    }
    for name, columns in frames.items():
        height = len(next(iter(columns.values())))
        unused = {column: values[:height] for column, values in UNUSED.items()}
        pl.DataFrame(columns | unused).write_parquet(folder / f"{name}.parquet")
    return Files(**{name: pl.scan_parquet(folder / f"{name}.parquet") for name in frames})


Call = Callable[[Files, tuple[str, ...]], pl.LazyFrame]


def call(main: str = "judged", *, by: str | list[str] | None = None, **options: str | float) -> Call:
    """Return a call of evaluate; options whose value is a file's name take that file."""

    def made(files: Files, metrics: tuple[str, ...]) -> pl.LazyFrame:
        bound = {name: getattr(files, value) if name in vars(files) else value for name, value in options.items()}
        return getattr(files, main).rec(**bound).evaluate(*metrics, by=by)

    return made


TWO = {"truth": "truth"}
CALLS: dict[str, Call] = {
    "judged": call(),
    "judged by user": call(by="user"),
    "judged by its own column": call(by="device"),
    "judged by users": call(by="country", users="users"),
    "judged by items": call(by="genre", items="items"),
    "judged by users and items": call(by=["country", "genre"], users="users", items="items"),
    "judged, models": call(model="model"),
    "judged, min_relevance": call(min_relevance=2),
    "judged, skip": call(no_relevant="skip", by="user"),
    "judged, null": call(no_relevant="null"),
    "judged, from the list": call(relevant_from="list"),
    "judged, recs": call(universe="recs"),
    "judged, scored": call(score="score"),
    "two frames": call("recs", **TWO),
    "two frames by user": call("recs", by="user", **TWO),
    "two frames by a column of the recommendations": call("recs", by="device", **TWO),
    "two frames by users": call("recs", by="country", users="users", **TWO),
    "two frames by items": call("recs", by="genre", items="items", **TWO),
    "two frames, models": call("recs", model="model", **TWO),
    "two frames, models by users": call("recs", model="model", by="country", users="users", **TWO),
    "two frames, scored": call("recs", score="score", **TWO),
    **{f"two frames, {one}": call("recs", universe=one, **TWO) for one in ("recs", "both", "all")},
    "two frames, from the list": call("recs", relevant_from="list", **TWO),
}
each_call = pytest.mark.parametrize("made", CALLS.values(), ids=CALLS)
each_metric = pytest.mark.parametrize("metric", BUILTIN, ids=str)
unscored = pytest.mark.parametrize("made", [CALLS[name] for name in CALLS if "scored" not in name])
all_metrics = tuple(f"{metric}@{k}" for metric in registered() for k in (5, 10))


# ---- graphs of plans


@dataclass(frozen=True)
class Node:
    label: str
    color: str
    inputs: list[Node]

    def __hash__(self) -> int:
        return id(self)

    @property
    def kind(self) -> str:
        return re.split(r"\\n|\n|\[", self.label, maxsplit=1)[0]

    def below(self) -> Iterator[Node]:
        """Walk the node and all that feeds it, each once."""
        seen, waiting = set(), [self]
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen.add(node)
                yield node
                waiting += node.inputs


NODE = re.compile(r'^\s*"?([\w-]+)"? ?\[label="(.*?)"(?:,style=filled,fillcolor="([^"]*)")?\];?$', re.MULTILINE | re.DOTALL)
EDGE = re.compile(r'^\s*"?([\w-]+)"? -> "?([\w-]+)"?;?$', re.MULTILINE)


def graph(text: str) -> Node:
    """Return the last node of a graph in dot's words, with all that feeds it."""
    nodes = {name: Node(label, color, []) for name, label, color in NODE.findall(text)}
    edges = EDGE.findall(text)
    for source, target in edges:
        nodes[target].inputs.append(nodes[source])
    (last,) = nodes.keys() - {source for source, _ in edges}
    return nodes[last]


def logical(plan: pl.LazyFrame) -> Node:
    return graph(plan.show_graph(plan_stage="ir", raw_output=True) or "")


def physical(plan: pl.LazyFrame) -> Node:
    return graph(plan.show_graph(plan_stage="physical", engine="streaming", raw_output=True) or "")


def fallbacks(plan: pl.LazyFrame) -> list[str]:
    """Return the nodes that the streaming engine leaves to the other one; its own legend says how they are colored."""
    text = plan.show_graph(plan_stage="physical", engine="streaming", raw_output=True) or ""
    color = re.findall(r'COLOR="([^"]*)">[^<]*</FONT> in-memory engine fallback', text)
    return [node.label for node in graph(text).below() if node.color in color]


def keys(group_by: Node) -> set[str]:
    """Return the columns that a physical group-by runs over, which it knows under names of its own."""
    head = group_by.label.partition("aggs:")[0]
    inside = re.findall(r'col\(\\"(\w+)\\"\)', head)
    defined = [re.search(rf'\b{name} = (?:col\(\\")?(\w+)', group_by.inputs[0].label) for name in inside]
    return {found.group(1) if found else name for name, found in zip(inside, defined, strict=True)}


def is_small(node: Node) -> bool:
    """Whether a physical node gives one row, or one for each model."""
    if node.kind in {"reduce", "input-independent-select"}:
        return True
    if node.kind == "in-memory-source":  # all frames of the calls stand in files, so this one is recframe's own
        return True
    if node.kind == "group-by":
        return keys(node) == {"model"}
    passes = {"select", "with-columns", "filter", "multiplexer", "cross-join", "equi-join"}
    return (node.kind in passes or node.kind.startswith("zip")) and all(is_small(one) for one in node.inputs)


FILTERED = re.compile(r'col\(\\"relevance\\"\)[^&|]*>|col\(\\"rank\\"\)[^&|]*(<=|is_not_null|is_finite)')


def whole_frames(node: Node) -> list[str]:
    """Return the scans that feed a logical node with rows that no filter on relevance or rank, and no group-by, reduced."""
    below, keeps = node.label.partition("\\nBY\\n"), node.kind in {"FILTER BY", "Parquet SCAN", "FILTER BY "}
    if keeps and FILTERED.search(node.label):
        return []
    if node.kind.startswith("AGG") and r"col(\"item\")" not in below[2]:
        return []
    if node.kind.startswith("Parquet SCAN"):
        return [] if FILTERED.search(node.label) else [node.label]
    if node.kind.startswith("FILTER") and FILTERED.search(node.label):
        return []
    return [scan for one in node.inputs for scan in whole_frames(one)]


def sorts(plan: pl.LazyFrame) -> list[Node]:
    return [node for node in logical(plan).below() if node.kind.startswith("SORT")]


def windows(plan: pl.LazyFrame) -> list[Node]:
    return [node for node in logical(plan).below() if ".over(" in node.label]
