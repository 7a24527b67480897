"""Flat results (`rf.flat`): numbers by names that experiment trackers take."""

from __future__ import annotations

import re
from typing import Any

from recframe.errors import RecframeError
from recframe.frames.collecting import stream
from recframe.frames.kinds.lookup import kind_for
from recframe.tracking.histories import keys_of

NOT_TAKEN = re.compile(r"[^\w.-]")
"""Characters that MLflow, Weights & Biases or TensorBoard do not take in a part of a name; a slash stands between parts."""


def flat(result: Any, *, model: str = "model") -> dict[str, float]:
    """Return a tidy result as a dict of numbers, such as `{"svd/ndcg_at_10": 0.33}`, for experiment trackers.

    A name consists of the model, if there is one, the metric, and the segment columns with their values:
    `svd/ndcg_at_10/country_FR`. The interval of `x` is `x_low` and `x_high`; other numbers with an interval have their column's
    name, such as `svd/ndcg_at_10_difference`. `model` is the column of models.

    MLflow, Weights & Biases and TensorBoard take these names: letters, digits, `_`, `.`, `-`, and a slash between parts; any
    other character becomes `_`. Null numbers are left out.

        mlflow.log_metrics(rf.flat(result))     wandb.log(rf.flat(result))
        for name, value in rf.flat(result).items(): writer.add_scalar(name, value, step)

    A run of a history is one too, what `track` returns: its time, name and tags are in no name.

    Raises a RecframeError for a result that is not tidy, and where two numbers would have one name. Of a LazyFrame the plan
    runs.

    >>> import polars as pl, recframe as rf
    >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1], "country": ["FR", "DE"]})
    >>> rf.flat(df.rec.evaluate("mrr", "recall@1", by="country", tidy=True))
    {'mrr/country_DE': 0.5, 'recall_at_1/country_DE': 0.0, 'mrr/country_FR': 1.0, 'recall_at_1/country_FR': 1.0}
    """
    kind = kind_for(result, "the first argument of flat()")
    columns = [*map(str, kind.columns)]
    if not {"metric", "value"} <= {*columns}:
        msg = "flat takes a tidy result, a row for each number: of summarize or compare, or of evaluate(..., tidy=True); found "
        raise RecframeError(f"{msg}the columns {', '.join(columns)}")
    found: dict[str, Any] = {}
    keys = [one for one in keys_of(columns[: columns.index("metric")]) if one != model]
    numbers = [one for one in columns if _is_number(one, columns)]
    taken = [*keys, *({model, "k"} & {*columns}), "metric", *numbers]
    for row in stream(kind.take({one: one for one in taken}).lazy()).iter_rows(named=True):
        name, _, cut = row["metric"].partition("@")
        # in some results the cut-off stands behind the metric, in others in a column of its own
        cut = cut or row.get("k")
        parts = [row[model]] if model in columns else []
        parts.append(_part(name).rstrip("_") + (f"_at_{cut}" if cut else ""))
        parts += [f"{key}_{_shown(row[key])}" for key in keys]
        for number in numbers:
            end = number.removeprefix("value").removeprefix("_")
            name = "/".join(map(_part, parts)) + (f"_{end}" if end else "")
            if name in found:
                msg = f"two numbers of the result would be called {name!r}, where other characters than letters, digits, '_', "
                msg += "'.' and '-' are '_'; rename a value, or take a part of the result, such as one run of a history"
                raise RecframeError(msg)
            found[name] = row[number]
    return {name: float(number) for name, number in found.items() if number is not None}


def _is_number(column: str, columns: list[str]) -> bool:
    """Return whether a column is a value, its interval, or another number that has an interval, or its end."""
    of = re.sub("_(low|high)$", "", column)
    return column in ("value", "low", "high") or {f"{of}_low", f"{of}_high"} <= {*columns}


def _shown(value: object) -> str:
    return "null" if value is None else str(value)


def _part(value: object) -> str:
    """Return a part of a name in characters that are taken; one of dots alone would be a folder's."""
    text = NOT_TAKEN.sub("_", _shown(value))
    return text if text.strip(".") else "_" * max(len(text), 1)
