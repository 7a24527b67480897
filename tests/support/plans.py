"""Lazy frames in files, calls on them, and their plans: what is scanned, and what does not stream."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import polars as pl

# NOTE: Polars 1 streams neither a window nor a filter inside an aggregate, so there the calls that need the rows of the
# lists, or a running value, fall back to memory; and it pushes nothing through one shared part of a plan inside another.
# From Polars 2 on every call is held to all of it.
POLARS_2 = int(pl.__version__.partition(".")[0]) >= 2


SIX = ("hit_rate@10", "precision@10", "recall@10", "map@10", "mrr@10", "ndcg@10")


UNUSED = {f"unused_{number}": [0] * 6 for number in range(4)}


@dataclass(frozen=True)
class Files:
    """Lazy frames that stand in files, with columns that nobody asks for."""

    judged: pl.LazyFrame
    recs: pl.LazyFrame
    truth: pl.LazyFrame
    graded: pl.LazyFrame
    users: pl.LazyFrame
    items: pl.LazyFrame


Call = Callable[[Files, tuple[str, ...]], pl.LazyFrame]


def call(
    main: str = "judged", *, by: str | list[str] | None = None, **options: str | float
) -> Call:
    """Return a call of evaluate, which makes a plan once; options whose value is a file's name take that file."""
    plans: dict[tuple[int, tuple[str, ...]], tuple[Files, pl.LazyFrame]] = {}

    def made(files: Files, metrics: tuple[str, ...]) -> pl.LazyFrame:
        key = (id(files), metrics)
        if key not in plans:
            bound = {
                name: getattr(files, value) if name in vars(files) else value
                for name, value in options.items()
            }
            plan = getattr(files, main).rec(**bound).evaluate(*metrics, by=by)
            # the files are held, so that no others have their id
            plans[key] = files, plan
        return plans[key][1]

    return made


@dataclass(frozen=True)
class Node:
    label: str
    color: str
    inputs: list[Node]

    def __hash__(self) -> int:
        return id(self)

    def below(self) -> Iterator[Node]:
        """Walk the node and all that feeds it, each once."""
        seen, waiting = set(), [self]
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen.add(node)
                yield node
                waiting += node.inputs


NODE = re.compile(
    r'^\s*"?([\w-]+)"? ?\[label="(.*?)"(?:,style=filled,fillcolor="([^"]*)")?\];?$',
    re.MULTILINE | re.DOTALL,
)
EDGE = re.compile(r'^\s*"?([\w-]+)"? -> "?([\w-]+)"?;?$', re.MULTILINE)


def graph(text: str) -> Node:
    """Return the last node of a graph in dot's words, with all that feeds it."""
    nodes = {name: Node(label, color, []) for name, label, color in NODE.findall(text)}
    edges = EDGE.findall(text)
    for source, target in edges:
        nodes[target].inputs.append(nodes[source])
    (last,) = nodes.keys() - {source for source, _ in edges}
    return nodes[last]


def fallbacks(plan: pl.LazyFrame) -> list[str]:
    """Return the nodes that the streaming engine leaves to the other one; its own legend says how they are colored."""
    text = plan.show_graph(plan_stage="physical", engine="streaming", raw_output=True) or ""
    color = re.findall(r'COLOR="([^"]*)">[^<]*</FONT> in-memory engine fallback', text)
    return [node.label for node in graph(text).below() if node.color in color]


def python_functions(plan: pl.LazyFrame) -> list[str]:
    """Return the lines of the plan that hold a Python function."""
    text = re.sub(r"SCAN \[.*\]", "SCAN", plan.explain())
    return [line for line in text.splitlines() if "python" in line.casefold()]


def scans(plan: pl.LazyFrame) -> list[tuple[str, str, str]]:
    """Return each scan's file, the number of columns it reads, and its predicate."""
    scan = re.compile(
        r"Parquet SCAN \[\S*?(\w+)\.parquet\]\s+PROJECT (\S+)/(\d+) COLUMNS(?:\s+SELECTION: (.*))?"
    )
    found = scan.findall(plan.explain())
    return [(file, of_all if read == "*" else read, where) for file, read, of_all, where in found]
