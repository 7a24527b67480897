"""Simulations of what docs/uncertainty.md promises, each through recframe's own calls, where the truth is known.

    python tests/benchmarks/simulations.py --json tests/benchmarks/simulations.json
    python tests/benchmarks/simulations.py --only trainings --samples 100

With `--only`, other tables stay in the file as they were stored. It needs the `[stats]` extra.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import product
from typing import Any, NamedTuple

import bench
import numpy as np
import polars as pl

import recframe as rf

Random = np.random.Generator
Values = np.ndarray
"""Values of samples x users x models."""
MARGIN = 0.05
"""Share by which the new model is worse where a gate is at its bound."""
FEW = 5
"""Fewest users of an interval of a set metric."""
BATCH = 300_000
"""Most users of one call."""
DIFFERS = pl.col("verdict").is_in(["better", "worse"])
PROMISES = {
    "≤ 2.5": (0.0, 0.035),
    "≤ 5": (0.0, 0.06),
    "≤ 8": (0.0, 0.08),
    "95": (0.93, 1.0),
    "": (0.0, 1.0),
}
"""Ends between which a share in per cent is kept, but for the chance of so many samples."""


class Row(NamedTuple):
    """Share of samples in which something happens, in a column of a table, and the ends between which it keeps the promise."""

    table: str
    what: str
    column: str
    share: float
    samples: int
    promised: str = ""
    least: float = 0.0
    most: float = 1.0


class Scene(NamedTuple):
    """Users' values by models of the same mean, and how many users a cluster has."""

    name: str
    draw: Callable[[Random, tuple[int, int], int], Values]
    mean: float
    sizes: Callable[[Random, int], np.ndarray]


def rare(random: Random, shape: tuple[int, int], models: int) -> Values:
    """Draw reciprocal ranks of which 4 % are not 0, seven tenths of them alike in all models."""
    drawn = random.random((*shape, models + 1)) < 0.04
    placed = drawn / random.integers(1, 7, drawn.shape)
    return np.where(random.random((*shape, models)) < 0.7, placed[..., :1], placed[..., 1:])


def skewed(random: Random, shape: tuple[int, int], models: int) -> Values:
    """Draw values with a lump at 0, of which by each model but the first a fifth rises and the others fall."""
    gains = np.where(random.random(shape) < 0.4, 0.0, 0.6 * random.beta(0.7, 3.5, shape))
    changed = np.where(random.random((*shape, models)) < 0.2, 1.6, 0.85)
    changed[..., 0] = 1.0
    return gains[..., None] * changed


def heavy(random: Random, shape: tuple[int, int], models: int) -> Values:
    """Draw precisions of lists of unlike lengths: those of few heavy users rise, and those of all others fall a little."""
    is_heavy = random.random(shape) < 0.1
    length = np.where(is_heavy, random.integers(40, 61, shape), random.geometric(0.3, shape))
    old = np.where(is_heavy, random.beta(6, 4, shape), 0.05)
    new = np.where(is_heavy, old + 0.18 * (1 - old), 0.042)
    chance = np.stack([old, *[new] * (models - 1)], axis=-1)
    return random.binomial(length[..., None], chance) / length[..., None]


def pareto_sizes(random: Random, n: int) -> np.ndarray:
    """Draw sizes of clusters of one to 80 users."""
    return np.minimum(1 + random.pareto(1.3, n).astype(int), 80)


def few_large(random: Random, n: int) -> np.ndarray:
    """Draw sizes of clusters, of which one in 25 has 40 users and the others have one to three."""
    return np.where(np.arange(n) % 25 == 0, 40, random.integers(1, 4, n))


def geometric_sizes(random: Random, n: int) -> np.ndarray:
    """Draw sizes of clusters of four users on average."""
    return random.geometric(0.25, n)


SCENES = (
    Scene("rare hits", rare, 0.04 * (1 / np.arange(1, 7)).mean(), pareto_sizes),
    Scene("skewed gains", skewed, 0.6 * 0.6 * 0.7 / 4.2, few_large),
    Scene("few heavy users", heavy, 0.1 * 0.6 + 0.9 * 0.05, geometric_sizes),
)


def bound(values: Values, columns: dict[str, Any] | None = None, model: str = "model") -> rf.Rec:
    """Return `rec` of users' values by sample and model, and of more columns of samples x users.

    A value v is the reciprocal rank of an item at the rank 1 / v. With `model="sample"` each sample is a model, of the same
    users.
    """
    samples, users, models = values.shape
    user = np.arange(samples * users) % users if model == "sample" else np.arange(samples * users)
    frame = pl.DataFrame({"sample": np.repeat(np.arange(samples), users), "user": user})
    given = (columns or {}).items()
    frame = frame.with_columns(pl.Series(name, np.ravel(one)) for name, one in given)
    if model == "model":
        frame = frame.join(
            pl.DataFrame({"model": [f"m{one}" for one in range(models)]}), how="cross"
        )
    value = pl.Series("value", values.ravel())
    rank = pl.when(value > 0).then(1.0 / value)
    return rf.rec(frame.with_columns(rank=rank, item=1, relevance=1), model=model)


def in_batches(samples: int, users: int, call: Callable[[int], pl.DataFrame]) -> pl.DataFrame:
    """Return the rows of all samples, of so many in a call."""
    most = max(BATCH // users, 1)
    return pl.concat(call(min(most, samples - start)) for start in range(0, samples, most))


def share(rows: pl.DataFrame, happens: pl.Expr) -> tuple[float, int]:
    """Return the share of rows for which an expression holds, and the number of rows."""
    found = rows.select(happens.fill_null(value=False)).to_series()
    return float(found.mean()), len(found)


def covers(name: str, truth: float | pl.Expr) -> pl.Expr:
    low, high = pl.col(f"{name}_low"), pl.col(f"{name}_high")
    return (low <= truth) & (high >= truth)


def users(random: Random, samples: int) -> Iterator[Row]:
    """Simulate verdicts, gates and intervals of users, clusters and segments, on each scene."""
    parts = (of_equal_models, at_the_bound, of_means, of_clusters, of_segments, of_cluster_segments)
    for part in parts:
        for scene in SCENES:
            for what, rows, happens, promised in part(random, scene, samples):
                found, ends = share(rows, happens), PROMISES[promised]
                yield Row("users", what, scene.name, *found, promised, *ends)


Found = Iterator[tuple[str, pl.DataFrame, pl.Expr, str]]
"""What is simulated, rows of samples, what may happen in them, and what is promised of its share in per cent."""


def of_equal_models(random: Random, scene: Scene, samples: int) -> Found:
    for n in (12, 40, 300):

        def call(batch: int, n: int = n) -> pl.DataFrame:
            rec = bound(scene.draw(random, (batch, n), 2))
            return rec.compare("mrr", baseline="m0", by="sample", correction=None)

        yield f"`compare`, {n} users: differs", in_batches(samples, n, call), DIFFERS, "≤ 5"


def at_the_bound(random: Random, scene: Scene, samples: int) -> Found:
    for n in (30, 300):

        def call(batch: int, n: int = n) -> pl.DataFrame:
            rec = bound(lowered(random, scene.draw(random, (batch, n), 2)))
            return rec.require(f"mrr >= {1 - MARGIN} * m0", by="sample", raises=False)

        rows = in_batches(samples, n, call)
        yield f"`require`, {n} users: holds", rows, pl.col("state") == "holds", "≤ 2.5"
        # by itself, since states are corrected for all samples of the call
        yield f"`require`, {n} users: fails", rows, pl.col("difference_high") < 0, "≤ 5"


def of_means(random: Random, scene: Scene, samples: int) -> Found:
    for n in (30, 300, 1_000):

        def call(batch: int, n: int = n) -> pl.DataFrame:
            return bound(scene.draw(random, (batch, n), 1)).summarize("mrr", by="sample")

        what, rows = f"`summarize`, {n:,} users: covers", in_batches(samples, n, call)
        yield what, rows, covers("value", scene.mean), "95"


def of_clusters(random: Random, scene: Scene, samples: int) -> Found:
    for clusters in (40, 200):

        def call(batch: int, clusters: int = clusters) -> pl.DataFrame:
            values, cluster = clustered(random, scene, batch, clusters)
            rec = of_rows(lowered(random, values), cluster)
            how = {"baseline": "m0", "by": "sample", "correction": None}
            whole = rec.compare("mrr", cluster="cluster", **how)
            value = rec.summarize("mrr", by="sample", cluster="cluster").filter(model="m0")
            return whole.join(value, on="sample", suffix="_of")

        rows, of = in_batches(samples, clusters * 8, call), f"{clusters} clusters: covers"
        difference = covers("difference", -MARGIN * scene.mean)
        yield f"`compare(cluster=)`, {of}", rows, difference, "95"
        yield f"`summarize(cluster=)`, {of}", rows, covers("value", scene.mean), "95"


def of_segments(random: Random, scene: Scene, samples: int) -> Found:
    segment = np.repeat(np.arange(20), np.geomspace(30, 300, 20).astype(int))

    def call(batch: int) -> pl.DataFrame:
        values = scene.draw(random, (batch, len(segment)), 1)
        rec = bound(values, {"segment": np.tile(segment, batch)}, model="sample")
        return verdicts_of_segments(rec)

    rows = in_batches(samples, len(segment), call)
    yield "`gaps`, 20 segments: a gap", rows, pl.col("gap_low") > 0, "≤ 5"
    yield "`slices`, 20 segments: one differs", rows, pl.col("apart"), "≤ 5"


def verdicts_of_segments(rec: rf.Rec, cluster: str | None = None) -> pl.DataFrame:
    """Return each sample's gap, and whether one of its slices differs by Sidak's correction for its own slices."""
    gaps = rec.gaps("mrr", by="segment", cluster=cluster)
    slices = rec.slices("mrr", by="segment", cluster=cluster)
    p_value = pl.col("p_value")
    apart = p_value.min() <= 1 - 0.95 ** (1 / p_value.len())
    return gaps.join(slices.group_by("sample").agg(apart=apart), on="sample", how="left")


def of_cluster_segments(random: Random, scene: Scene, samples: int) -> Found:
    """Simulate how often five equal segments, each of whole clusters, are said to differ."""
    found = []
    for _ in range(samples // 2):
        values, cluster = clustered(random, scene, 1, 300)
        columns = {"cluster": cluster, "segment": cluster % 5}
        rec = bound(values[..., :1], columns, model="sample")
        alone = rec.gaps("mrr", by="segment").select("sample", alone="gap_low")
        found.append(verdicts_of_segments(rec, "cluster").join(alone, on="sample"))
    rows = pl.concat(found, how="vertical_relaxed")
    yield "`gaps(cluster=)`, 5 segments: a gap", rows, pl.col("gap_low") > 0, "≤ 5"
    yield "`gaps` without `cluster=`, 5 segments: a gap", rows, pl.col("alone") > 0, ""
    yield "`slices(cluster=)`, 5 segments: one differs", rows, pl.col("apart"), "≤ 5"


def lowered(random: Random, values: Values) -> Values:
    """Return the first two models; values of the second are lost so often that their mean is lower by the margin."""
    kept = random.random(values.shape[:2]) >= MARGIN
    return np.stack([values[..., 0], values[..., 1] * kept], axis=-1)


def clustered(
    random: Random, scene: Scene, samples: int, clusters: int
) -> tuple[Values, np.ndarray]:
    """Draw users of clusters of unlike sizes, half of whom are as the first of their cluster, and their clusters.

    Samples are filled up to one number of users; those who fill up have the cluster -1.
    """
    sizes = np.stack([scene.sizes(random, clusters) for _ in range(samples)])
    cluster = np.full((samples, sizes.sum(axis=1).max()), -1)
    for row, of in zip(cluster, sizes, strict=True):
        row[: of.sum()] = np.repeat(np.arange(clusters), of)
    values = scene.draw(random, cluster.shape, 2)
    firsts = scene.draw(random, (samples, clusters), 2)
    alike = np.take_along_axis(firsts, np.maximum(cluster, 0)[..., None], axis=1)
    copied = random.random(cluster.shape)[..., None] < 0.5
    return np.where(copied, alike, values), cluster


def of_rows(values: Values, cluster: np.ndarray) -> rf.Rec:
    """Return `rec` of samples of clusters, without the users who fill up."""
    there, sample = cluster >= 0, np.arange(len(cluster))[:, None]
    names = cluster + (cluster.max() + 1) * sample
    columns = {"sample": np.broadcast_to(sample, cluster.shape)[there], "cluster": names[there]}
    return bound(values[there][None], columns)


def trainings(random: Random, samples: int) -> Iterator[Row]:
    """Simulate how often two sets of trainings of equal models are *better* or *worse*.

    Trainings have a standard deviation of so many standard errors of the users' mean difference.
    """
    n, sd = 200, 0.1
    error = sd * (2 / n) ** 0.5
    for (new, old), spread in product(((5, 5), (2, 2), (2, 5)), (0.0, 0.5, 1.0, 3.0)):

        def call(
            batch: int, new: int = new, old: int = old, spread: float = spread
        ) -> pl.DataFrame:
            of_users = random.normal(0.5, sd, (batch, n, 2)).repeat([old, new], axis=2)
            lucky = random.normal(0, spread * error, (batch, 1, old + new))
            # values are reciprocal ranks
            return compared(np.clip(of_users + lucky, 0.01, 1.0), old)

        found = share(in_batches(samples, n * (new + old), call), DIFFERS)
        what, ends = f"{new} against {old}", PROMISES["≤ 8"]
        yield Row("trainings", what, f"{spread:g}", *found, "≤ 8", *ends)


def compared(values: Values, old: int) -> pl.DataFrame:
    """Compare the first trainings, those of the old model, with the others, by sample."""
    _, n, _ = values.shape
    sample, user, training = (one.ravel() for one in np.indices(values.shape))
    frame = pl.DataFrame({"sample": sample, "user": sample * n + user, "seed": training})
    model = pl.when(pl.col("seed") < old).then(pl.lit("old")).otherwise(pl.lit("new"))
    judged = frame.with_columns(model=model, item=1, rank=1 / values.ravel(), relevance=1)
    rec = rf.rec(judged, model="model", training="seed")
    return rec.compare("mrr", baseline="old", by="sample", correction=None)


SETS = (
    "coverage@3", "tail_coverage@3", "gini@3", "entropy@3", "personalization@3", "popularity_lift@3",
    "f_score(average=means)@3", "recall(average=pooled)@3",
)  # fmt: skip


def sets(random: Random, samples: int) -> Iterator[Row]:
    """Simulate how often intervals of set metrics cover what samples of as many users have on average."""
    for n in (5, 60, 300):
        most = 10_000 // n
        starts = range(0, samples, most)
        calls = (lists_of(random, min(most, samples - start), n) for start in starts)
        rows = pl.concat(rec.summarize(*SETS, by="sample") for rec in calls)
        mean = pl.col("value").mean().over("metric")
        known = rows.with_columns(covers=covers("value", mean)).drop_nulls("value_low")
        ends = (0.85, 1.0) if n == FEW else (0.93, 0.995)
        for (metric,), found in known.group_by("metric", maintain_order=True):
            yield Row("sets", str(metric), f"{n} users", *share(found, pl.col("covers")), "", *ends)


def lists_of(random: Random, samples: int, n: int) -> rf.Rec:
    """Return `rec` of lists of three of 400 items: popular ones are in more lists, and are liked more often.

    Each user likes one more item, which is in no list, and bought two.
    """
    users = np.arange(samples * n)
    weight = np.log(1 / np.arange(1, 401) ** 0.8)
    drawn = weight + random.gumbel(size=(len(users), 400))
    best = np.argpartition(-drawn, 6, axis=1)[:, :6]
    liked = random.random(best.shape) < 0.1 + 0.4 * (best < 40)
    liked[:, 3] = True
    rows = pl.DataFrame(
        {"user": users.repeat(6), "item": best.ravel(), "relevance": 1 * liked.ravel()}
    )
    place = pl.Series(np.tile(np.arange(6), len(users)))
    rows = rows.with_columns(sample=pl.col("user") // n, rank=pl.when(place < 3).then(place + 1))
    judged, train = rows.filter(place <= 3), rows.filter(place > 3).select("user", "item")
    return rf.rec(judged, items=pl.DataFrame({"item": np.arange(400)}), train=train)


def histories(random: Random, samples: int) -> Iterator[Row]:
    """Simulate how often runs change of which none changed, and after a fall of the newest, in sd between runs.

    Runs depend on the one before, AR(1), or do not, and have a standard error of a share of that sd.
    """
    for depends, error in product((0.0, 0.5), (0.0, 0.5, 1.0)):
        what = f"AR(1) {depends:g}, e / sd {error:g}"
        for fall in (0, 3, 5, 8):
            found = rf.changes(runs(random, samples, depends, error, fall)).group_by("trial")
            changed = pl.col("verdict") == "changed"
            each = found.agg(newest=changed.last(), ever=changed.any())
            newest, ever = (share(each, pl.col(name)) for name in ("newest", "ever"))
            if fall:
                yield Row("histories", what, f"fall of {fall} sd", *newest)
            else:
                yield Row("histories", what, "newest run", *newest, "", 0.0, 0.025)
                yield Row("histories", what, "any run", *ever, "", 0.0, 0.25)


def runs(random: Random, samples: int, depends: float, error: float, fall: float) -> pl.DataFrame:
    """Draw histories of 8 to 30 runs of an sd of 1 about 100, of which the newest is lower by a fall."""
    rows = []
    for trial, length in enumerate(random.integers(8, 31, samples).tolist()):
        value = random.normal()
        for run in range(length):
            value = depends * value + (1 - depends**2) ** 0.5 * random.normal()
            rows.append((trial, run, 100 + value - fall * (run == length - 1)))
    drawn = pl.DataFrame(rows, schema=["trial", "run", "value"], orient="row")
    first = datetime(2026, 10, 1)  # noqa: DTZ001  as a history has it
    value, half, nothing = pl.col("value"), 1.96 * error, pl.lit(None, pl.String)
    return drawn.select(
        "trial", "value", low=value - half, high=value + half, std=0.0, n=10_000, name=nothing,
        fingerprint=nothing, as_of=first + pl.duration(days="run"), metric=pl.lit("ndcg@10"),
    )  # fmt: skip


TABLES: dict[str, tuple[int, Callable[[Random, int], Iterator[Row]]]] = {
    "users": (2_000, users),
    "sets": (2_000, sets),
    "trainings": (4_000, trainings),
    "histories": (2_000, histories),
}
"""What is simulated, by table, with the number of samples."""


def main() -> None:
    """Simulate, print, and store; other tables stay as they were stored."""
    parser = bench.parser(__doc__)
    parser.add_argument("--only", choices=TABLES, nargs="+", default=[*TABLES])
    parser.add_argument("--samples", type=int, help="samples, in place of 2,000 or 4,000")
    options = parser.parse_args()
    rows = []
    for place, (name, (most, simulate)) in enumerate(TABLES.items()):
        if name in options.only:
            for row in simulate(np.random.default_rng([40, place]), options.samples or most):
                rows.append(row._asdict())
                bench.say(f"{row.column:16} {row.what:70} {row.share:.4f} {row.samples}")
    kept = bench.stored(options.json).get("rows", [])
    rows += [row for row in kept if row["table"] not in options.only]
    result = {
        "machine": bench.machine(),
        "versions": bench.versions(["recframe", "numpy", "scipy", "polars"]),
        "rows": sorted(rows, key=lambda row: [*TABLES].index(row["table"])),
    }
    bench.store(options.json, result)


if __name__ == "__main__":
    main()
