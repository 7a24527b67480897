"""Frames of several folds, and those of one fold, filtered by hand."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import polars as pl

import recframe as rf
from recframe.frames.options import Folds

FOLDS = Folds((0, 1, 2))
Frames = Mapping[str, pl.DataFrame]


def as_it_is(frame: Any) -> Any:
    return frame


def folded(seed: int, n_users: int = 14, *, scored: bool = False) -> dict[str, pl.DataFrame]:
    """Lists of two models, truth, train, users, items and reference of three folds."""
    choose = random.Random(seed)  # noqa: S311  test data
    rows: dict[str, list[dict[str, Any]]] = {
        name: [] for name in ("recs", "truth", "train", "users", "items", "reference")
    }
    for fold in FOLDS.numbers:
        for item in choose.sample(range(15), 12):
            row = {"item": item, "genre": choose.choice("xyz"), "price": choose.randint(0, 4) / 2}
            rows["items"].append(row | {"fold": fold})
        for user in range(n_users):
            land = choose.choice("FD")
            rows["users"].append(
                {"user": user, "land": land, "fold": fold, "sales": choose.random()}
            )
            for model in ("a", "b", "reference"):
                if choose.random() < 0.2:
                    continue
                items = choose.sample(range(15), choose.randint(1, 6))
                named = {} if model == "reference" else {"model": model}
                order = [choose.randint(0, 2) if scored else place + 1 for place in range(6)]
                column = "score" if scored else "rank"
                rows["recs" if named else "reference"] += [
                    {**named, "user": user, "item": item, column: at, "fold": fold}
                    for item, at in zip(items, order, strict=False)
                ]
            for name, most in {"truth": choose.choice([0, 4]), "train": 4}.items():
                graded = {"relevance": choose.randint(0, 2)} if name == "truth" else {}
                rows[name] += [
                    {"user": user, "item": item, **graded, "fold": fold}
                    for item in choose.sample(range(15), choose.randint(0, most))
                ]
    return {name: pl.DataFrame(some) for name, some in rows.items()}


def of_fold(frames: Frames, fold: int) -> dict[str, pl.DataFrame]:
    """The frames filtered to a fold."""
    return {
        name: frame.filter(fold=fold).drop("fold") if "fold" in frame.columns else frame
        for name, frame in frames.items()
    }


def rec_of(frames: Frames, make: Callable[[Any], Any] = as_it_is, **options: Any) -> Any:
    """The frames bound, with their models."""
    sides = {name: make(frame) for name, frame in frames.items() if name != "recs"}
    return rf.rec(make(frames["recs"]), **sides, **{"model": "model", **options})


def over_folds(
    frames: Frames, make: Callable[[Any], Any] = as_it_is, folds: Folds = FOLDS, **options: Any
) -> Any:
    """The same over the folds."""
    rec = rec_of(frames, make, **options)
    return rec._with(replace(rec._context, folds=folds))
