"""Flat results (`rf.flat`): numbers by names that experiment trackers take."""

from __future__ import annotations

import re
from typing import Any

import polars as pl

from recframe.errors import RecframeError
from recframe.frames.collecting import stream
from recframe.frames.kinds.lookup import kind_for

NOT_TAKEN = re.compile(r"[^\w.-]")
"""Characters that MLflow, Weights & Biases or TensorBoard do not take in a part of a name; a slash stands between parts."""
ENDS = ("", "_low", "_high")


def flat(result: Any, *, model: str = "model") -> dict[str, float]:
    """Return a tidy result as a dict of numbers, such as `{"svd/ndcg_at_10": 0.33}`, for experiment trackers.

    A name consists of the model, if there is one, the metric, and the segment columns with their values:
    `svd/ndcg_at_10/country_FR`. The interval of `x` is `x_low` and `x_high`; other numbers with an interval have their column's
    name, such as `svd/ndcg_at_10_difference`. `model` is the column of models.

    MLflow, Weights & Biases and TensorBoard take these names: letters, digits, `_`, `.`, `-`, and a slash between parts; any
    other character becomes `_`. Null numbers are left out.

        mlflow.log_metrics(rf.flat(result))     wandb.log(rf.flat(result))
        for name, value in rf.flat(result).items(): writer.add_scalar(name, value, step)

    Raises a RecframeError for a result that is not tidy, and where two numbers would have one name. Of a LazyFrame the plan
    runs.

    >>> import polars as pl, recframe as rf
    >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1], "country": ["FR", "DE"]})
    >>> rf.flat(df.rec.evaluate("mrr", "recall@1", by="country", tidy=True))
    {'mrr/country_DE': 0.5, 'recall_at_1/country_DE': 0.0, 'mrr/country_FR': 1.0, 'recall_at_1/country_FR': 1.0}
    """
    kind = kind_for(result, "the first argument of flat()")
    columns = kind.columns
    numbers = _numbers(columns)
    if "metric" not in columns or not numbers:
        msg = (
            "flat takes a tidy result, a row for each number: of summarize or compare, or of evaluate(..., tidy=True); "
            f"found the columns {', '.join(map(str, columns))}"
        )
        raise RecframeError(msg)
    if "as_of" in columns and "fingerprint" in columns:
        msg = (
            "flat takes the result of one run, but found a history with the column 'as_of': rf.flat(rec.summarize(...)), or "
            "what rec.track(...) returns"
        )
        raise RecframeError(msg)
    keys = [one for one in columns[: columns.index("metric")] if one != model]
    others = [one for one in (model, "k") if one in columns]
    taken = [*keys, *others, "metric", *numbers]
    rows = stream(kind.take({one: one for one in taken}).lazy())
    if rows.is_empty():
        return {}
    names, found = _names(rows, keys, model), dict[str, float | None]()
    for column in numbers:
        end = column.removeprefix("value") if column.startswith("value") else f"_{column}"
        for row, value in zip(names, rows[column], strict=True):
            name = row + end
            if name in found:
                msg = (
                    f"two numbers of the result would be called {name!r}, where other characters than letters, digits, '_', "
                    "'.' and '-' are '_'; first rename one of the values, or take a part of the result"
                )
                raise RecframeError(msg)
            found[name] = value
    return {name: float(value) for name, value in found.items() if value is not None}


def _numbers(columns: list[str]) -> list[str]:
    """Return the columns that become numbers: the value, and whatever has an interval, with it."""
    sure = [
        column for column in columns if f"{column}_low" in columns and f"{column}_high" in columns
    ]
    asked = dict.fromkeys([*(["value"] if "value" in columns else []), *sure])
    return [one + end for one in asked for end in ENDS if one + end in columns]


def _names(rows: pl.DataFrame, keys: list[str], model: str) -> list[str]:
    """Return the name of each row's value."""
    parts = [list(map(_part, rows[model]))] if model in rows.columns else []
    cutoffs = rows["k"] if "k" in rows.columns else [None] * len(rows)
    parts.append([*map(_metric, rows["metric"], cutoffs)])
    parts += [_segments(rows[key]) for key in keys]
    return ["/".join(row) for row in zip(*parts, strict=True)]


def _segments(column: pl.Series) -> list[str]:
    return [_part(f"{column.name}_{_shown(value)}") for value in column]


def _metric(metric: str, k: int | None) -> str:
    name, _, cut = metric.partition("@")
    # in some results the cut-off stands behind the metric, in others in a column of its own
    cut = cut or ("" if k is None else str(k))
    return _part(name).rstrip("_") + (f"_at_{cut}" if cut else "")


def _shown(value: object) -> str:
    return "null" if value is None else str(value)


def _part(value: object) -> str:
    """Return a part of a name in characters that are taken; one of dots alone would be a folder's."""
    text = NOT_TAKEN.sub("_", _shown(value))
    return text if text.strip(".") else "_" * max(len(text), 1)
