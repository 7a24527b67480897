"""Promises of verdicts and intervals, each asked of recframe's own calls on scenes in which the truth is known.

    python tests/benchmarks/promises_in_trials.py --json tests/benchmarks/promises_in_trials.json
    python tests/benchmarks/promises_in_trials.py --only means --trials 100

With `--only`, other promises stay in the file as they were stored. It needs the `[stats]` extra.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import machine
import numpy as np
import polars as pl
from scenes_in_trials import (
    SCENES,
    Scene,
    Seen,
    asked,
    covers,
    in_batches,
    lowered,
    of_clusters,
    seen,
    together,
)

from recframe.statistics.estimates import adjusted

ALPHA = 0.05
MARGIN = 0.05
ROUGH = pl.col("note").str.contains("rough")


def few_who_differ(random: np.random.Generator, scene: Scene, trials: int) -> Iterator[Seen]:
    """Say how often equal models are said to differ: one row, and some of forty, of which thirty have few users."""
    for users in (12, 40, 300):
        rows = in_batches(
            trials,
            users,
            lambda samples, users=users: asked(scene.draw(random, (samples, users), 2)).compare(
                "mrr", baseline="m0", by="sample", correction=None
            ),
        )
        yield seen(f"`compare`, {users} users, differs", rows, pl.col("p_value") <= ALPHA, 0.05)
    sizes = np.repeat([8, 200], [30, 10])
    segment = np.repeat(np.arange(len(sizes)), sizes)

    def ask(samples: int) -> pl.DataFrame:
        rec = asked(
            scene.draw(random, (samples, len(segment)), 2), segment=np.tile(segment, (samples, 1))
        )
        rows = rec.compare("mrr", baseline="m0", by=["sample", "segment"], correction=None)
        # by sample, as the rows are sorted
        p = rows["p_value"].to_numpy().reshape(samples, len(sizes))
        return pl.DataFrame({"shown": [(adjusted(one, method="holm") <= ALPHA).any() for one in p]})

    rows = in_batches(trials, len(segment), ask)
    yield seen(
        "`compare`, some of 40 segments, 30 of 8 users, differs", rows, pl.col("shown"), 0.05
    )


def gates(random: np.random.Generator, scene: Scene, trials: int) -> Iterator[Seen]:
    """Say how often gates and margins hold at the very bound."""
    requirement = f"mrr >= {1 - MARGIN} * m0"
    for users in (10, 30, 100, 300):

        def ask(samples: int, users: int = users) -> pl.DataFrame:
            rec = asked(lowered(random, scene.draw(random, (samples, users), 2), MARGIN))
            gate = rec.require(requirement, by="sample", raises=False)
            gate = gate.select("sample", "state", shown_low=pl.col("difference_high") < 0)
            beside = rec.compare("mrr", baseline="m0", by="sample", margin=MARGIN, correction=None)
            return gate.join(beside, on="sample")

        rows = in_batches(trials, users, ask)
        yield seen(
            f"`require`, {users} users at the bound, holds", rows, pl.col("state") == "holds", 0.025
        )
        if users in {30, 300}:
            fails = pl.col("shown_low")
            yield seen(f"`require`, {users} users at the bound, one row fails", rows, fails, 0.05)
        shown = pl.col("p_not_worse") <= ALPHA / 2
        if users in {30, 300}:
            yield seen(
                f"`compare(margin=)`, {users} users at the bound, not worse", rows, shown, 0.025
            )


def means(random: np.random.Generator, scene: Scene, trials: int) -> Iterator[Seen]:
    """Say how often intervals of means cover, and how many are noted as rough."""
    for users in (30, 300, 1_000):
        rows = in_batches(
            trials,
            users,
            lambda samples, users=users: asked(scene.draw(random, (samples, users), 1)).summarize(
                "mrr", by="sample"
            ),
        )
        of = f"`summarize`, {users:,} users"
        yield seen(f"{of}, covers", rows, covers("value", scene.mean), 0.95)
        yield seen(f"{of}, is noted as rough", rows, ROUGH)


def households(random: np.random.Generator, scene: Scene, trials: int) -> Iterator[Seen]:
    """Say how often intervals and gates of clusters of unlike sizes are right."""
    for clusters in (40, 200):

        def ask(samples: int, clusters: int = clusters) -> pl.DataFrame:
            values, cluster = together(random, scene, samples, clusters)
            rec, _ = of_clusters(lowered(random, values, MARGIN), cluster)
            whole = rec.compare(
                "mrr", baseline="m0", by="sample", cluster="cluster", correction=None
            )
            alone = rec.compare("mrr", baseline="m0", by="sample", correction=None)
            value = rec.summarize("mrr", by="sample", cluster="cluster").filter(model="m0")
            gate = rec.require(
                f"mrr >= {1 - MARGIN} * m0", by="sample", cluster="cluster", raises=False
            )
            return (
                whole.join(alone, on="sample", suffix="_alone")
                .join(value, on="sample", suffix="_of")
                .join(gate.select("sample", "state"), on="sample")
            )

        rows = in_batches(trials, clusters * 8, ask)
        truth = -MARGIN * scene.mean
        of = f"{clusters} clusters"
        yield seen(f"`compare(cluster=)`, {of}, covers", rows, covers("difference", truth), 0.95)
        without = (pl.col("difference_low_alone") <= truth) & (
            pl.col("difference_high_alone") >= truth
        )
        yield seen(f"`compare` without `cluster=`, {of}, covers", rows, without)
        yield seen(f"`summarize(cluster=)`, {of}, covers", rows, covers("value", scene.mean), 0.95)
        noted = pl.col("note_of").str.contains("rough")
        yield seen(f"`summarize(cluster=)`, {of}, is noted as rough", rows, noted)
        yield seen(
            f"`require(cluster=)`, {of} at the bound, holds",
            rows,
            pl.col("state") == "holds",
            0.025,
        )


def segments(random: np.random.Generator, scene: Scene, trials: int) -> Iterator[Seen]:
    """Say how often equal segments are said to differ."""
    for name, sizes in (
        ("12 equal of 30 to 1,000 users", np.geomspace(30, 1_000, 12).astype(int)),
        ("200 equal of 50 users", np.repeat(50, 200)),
    ):
        found = pl.DataFrame([of_segments(random, scene, sizes) for _ in range(trials)])
        yield seen(f"`gaps`, {name}, a gap", found, pl.col("gap") > 0, 0.05)
        yield seen(f"`slices`, {name}, some differs", found, pl.col("p") <= ALPHA, 0.05)


def of_segments(
    random: np.random.Generator, scene: Scene, sizes: np.ndarray
) -> dict[str, float | None]:
    """Return what is said of segments of some sizes."""
    segment = np.repeat(np.arange(len(sizes)), sizes)
    rec = asked(scene.draw(random, (1, len(segment)), 1), segment=segment)
    return {
        "gap": rec.gaps("mrr", by="segment")["gap_low"].fill_null(0.0).item(),
        "p": rec.slices("mrr", by="segment")["p_adjusted"].min(),
    }


def of_households(random: np.random.Generator, scene: Scene, trials: int) -> Iterator[Seen]:
    """Say how often five equal segments, each of whole clusters, are said to differ."""
    found = []
    for _ in range(trials):
        values, cluster = together(random, scene, 1, 300)
        rec = asked(values[..., :1], cluster=cluster, segment=cluster % 5)
        found.append(
            {
                name: rec.gaps("mrr", by="segment", **told)["gap_low"].fill_null(0.0).item() > 0
                for name, told in (("whole", {"cluster": "cluster"}), ("alone", {}))
            }
            | {
                "slice": rec.slices("mrr", by="segment", cluster="cluster")["p_adjusted"].min()
                <= ALPHA
            }
        )
    found = pl.DataFrame(found)
    yield seen("`gaps(cluster=)`, 5 of 60 clusters, a gap", found, pl.col("whole"), 0.05)
    yield seen("`gaps` without `cluster=`, 5 of 60 clusters, a gap", found, pl.col("alone"))
    yield seen("`slices(cluster=)`, 5 of 60 clusters, some differs", found, pl.col("slice"), 0.05)


def trainings_apart(random: np.random.Generator, scene: Scene, trials: int) -> Iterator[Seen]:
    """Say how often two sets of trainings of one algorithm, each of which loses a share of its own, are said to differ."""

    def ask(samples: int, each: int) -> pl.DataFrame:
        # the first model of a scene differs from the others
        values = scene.draw(random, (samples, 100), 2 * each + 1)[..., 1:]
        quality = random.uniform(0.6, 1.0, (samples, 1, 2 * each))
        values *= random.random(values.shape) < quality
        how = {"baseline": "m0", "by": "sample", "correction": None}
        both = asked(values, trainings=each).compare("mrr", **how)
        one = asked(values[..., ::each]).compare("mrr", **how)
        return both.join(one, on="sample", suffix="_alone")

    for each in (2, 4):
        rows = in_batches(trials, 100 * 2 * each, lambda samples, each=each: ask(samples, each))
        of = f"{each} trainings of each, 100 users"
        yield seen(f"`training=`, {of}, differs", rows, pl.col("p_value") <= ALPHA, 0.05)
        alone = pl.col("p_value_alone") <= ALPHA
        yield seen(f"one training of each ({each}), 100 users, differs", rows, alone)


PROMISES: dict[str, tuple[int, Callable[[np.random.Generator, Scene, int], Iterator[Seen]]]] = {
    "few who differ": (0, few_who_differ),
    "gates and margins": (1, gates),
    "means": (2, means),
    "clusters": (3, households),
    "segments": (4, segments),
    "segments of clusters": (5, of_households),
    "trainings": (12, trainings_apart),
}
"""What was seen of a promise on a scene, by functions, each with the number of its draws, which stays when others go."""


def promises(seed: int, trials: int, names: list[str] | None = None) -> Iterator[dict[str, Any]]:
    """Give what was seen of each promise on each scene, with the error of so many samples."""
    for name in names or PROMISES:
        for place, scene in enumerate(SCENES):
            number, draw = PROMISES[name]
            random = np.random.default_rng([seed, number, place])
            for row in draw(random, scene, trials):
                yield {"promise": name, "scene": scene.name, **row._asdict()}


def main() -> None:
    """Draw, print, and store."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", choices=PROMISES, nargs="+", default=[*PROMISES])
    parser.add_argument("--trials", type=int, default=2_000, help="samples (%(default)s)")
    parser.add_argument("--seed", type=int, default=40)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything to a JSON file")
    options = parser.parse_args()
    rows = []
    for row in promises(options.seed, options.trials, options.only):
        rows.append(row)
        sys.stdout.write(f"{row['scene']:16} {row['what']:70} {row['share']:.3f}\n")
        sys.stdout.flush()
    if options.json is not None:
        stored = options.json.exists() and json.loads(options.json.read_text(encoding="utf-8"))
        kept = stored["promises"] if stored else []
        result = {
            "machine": machine.describe(),
            "versions": {name: version(name) for name in ("recframe", "numpy", "scipy", "polars")},
            "promises": [row for row in kept if row["promise"] not in options.only] + rows,
        }
        options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
