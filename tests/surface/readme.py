"""Writes what is generated, parts of the pages and methods of `.rec`: `python tests/surface/readme.py`; tests compare them."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, get_args, get_origin

import benchmark_tables as tables
import public_api
import recframe as rf
from recframe.audit.checks import SEVERITIES, Check
from recframe.audit.report import CHECKS, CHECKS_OF_SPLITS
from recframe.metrics.language.definition import Metric
from recframe.metrics.language.registry import registered

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
HOME = ROOT / "docs" / "index.md"
UNCERTAINTY = ROOT / "docs" / "uncertainty.md"
OVER_TIME = ROOT / "docs" / "over_time.md"
BENCHMARKS = ROOT / "docs" / "benchmarks.md"
AUDIT = ROOT / "docs" / "audit.md"
ON_ENGINES = ROOT / "docs" / "engines.md"
A_BILLION = ROOT / "docs" / "how_to" / "a_billion_users.md"
PAGES = [README, HOME, UNCERTAINTY, OVER_TIME, BENCHMARKS, AUDIT, ON_ENGINES, A_BILLION]
"""The pages with generated parts."""
METHODS = Path(rf.__file__).parent / "api" / "methods.py"
WARNED = {None: "", "always": "always", "low": "where hardly anything is found"}


def check_table(every: Sequence[Check] = CHECKS) -> str:
    """Return the checks of the audit as a Markdown table, the most severe first."""
    checks = sorted(every, key=lambda check: SEVERITIES.index(check.severity))
    rows = [
        [
            *(f"`{check.name}`", check.severity, check.meaning.rstrip("."), check.treatment),
            WARNED[check.warns],
        ]
        for check in checks
    ]
    titles = ["check", "severity", "what it finds", "what recframe does", "a call warns"]
    return tables.table(titles, rows)


def front_numbers() -> str:
    """Return the table that the five lines of README and home make."""
    from recframe.demo import simulate  # noqa: PLC0415  it takes NumPy

    shop = simulate()
    rec = rf.rec(shop.recs, shop.truth, model="model")
    return str(rec.table("ndcg@10", "recall@10", "mrr", baseline="popularity")).rstrip()


def front_proofs() -> str:
    """Return the proofs of the site's home, which compares them with what was measured."""
    home = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    proofs = home.partition("## Three proofs\n")[2].partition("\n## ")[0].strip()
    return re.sub(r"\]\((?!https?:)", "](docs/", proofs)


PARTS: dict[str, Callable[[], str]] = {
    "checks": check_table,
    "checks of splits": lambda: check_table(CHECKS_OF_SPLITS),
    "speed": tables.speed,
    "front table": front_numbers,
    "front proofs": front_proofs,
    "front speed": tables.front,
    "cases": tables.cases,
    "apart": lambda: tables.apart(tables.figures("apart")),
    "apart day": lambda: tables.apart(tables.figures("apart_day")),
    "large": tables.large,
    "splits": tables.splits,
    "engines": tables.engines,
    "plan": tables.plan,
    **{
        f"simulated {name}": partial(tables.simulations, name)
        for name in ("users", "sets", "trainings", "histories")
    },
}
"""What is generated on pages."""


def written(text: str) -> str:
    """Return a page with its generated parts made anew."""
    for name, made in PARTS.items():
        pattern = rf"(<!-- {name}: [^\n]*-->\n).*?(<!-- end -->)"
        text = re.sub(
            pattern,
            lambda found, made=made: f"{found[1]}{made()}\n{found[2]}",
            text,
            count=1,
            flags=re.DOTALL,
        )
    return text


def methods() -> str:
    """Return `api/methods.py` made anew: a line for each metric of the registry."""
    head = re.sub(r"    \w+ = metrics\.\w+\n", "", METHODS.read_text(encoding="utf-8"))
    return head + "".join(
        f"    {one.name} = metrics.{one.name}\n"
        for one in registered().values()
        if one.definition.builtin
    )


STUB = '''"""What type checkers and editors know of the metrics as methods, written by `python tests/surface/readme.py`."""

# fmt: off
# mypy: disable-error-code="overload-overlap"

from typing import Generic, Literal, overload

import pandas as pd
import polars as pl

from recframe.api.argument_errors import By, Cutoffs, F
'''


def stubs() -> str:
    """Return `api/methods.pyi`: each metric with its own parameters, a float for one number of an eager frame."""
    metrics = [one for one in registered().values() if one.definition.builtin]
    of_frames = "\n".join(
        _stub(one, "Methods[pl.DataFrame] | Methods[pd.DataFrame]") for one in metrics
    )
    of_segments = "\n".join(_stub(one, "") for one in metrics)
    return (
        f"{STUB}\nclass Methods(Generic[F]):\n{of_frames}\n"
        f"\nclass SegmentedMethods(Generic[F]):\n{of_segments}\n"
    )


def _stub(metric: Metric[...], eager: str) -> str:
    """Return a metric as a method; with overloads where it is a float for some frames."""
    parameters = metric.typed_parameters.items()
    own = [f"{name}: {_type(one)} = {_quoted(one.default)}" for name, one in parameters]
    about = " ".join((metric.__doc__ or "").partition("\n\n")[0].split())
    told = f'        """{about}"""'
    kinds = (
        [([f"self: {eager}", "k: int | None = None", "by: None = None"], "float")] if eager else []
    )
    kinds.append((["self", "k: Cutoffs = None", "by: By = None"], "F"))
    lines = []
    for first, result in kinds:
        lines += ["    @overload"] if eager else []
        lines += [f"    def {metric.name}(", f"        {', '.join(first)},"]
        lines += [f"        {one}," for one in [*("*" for _ in own[:1]), *own]]
        lines += [f"    ) -> {result}:", told]
    return "\n".join(lines)


def _type(parameter: inspect.Parameter) -> str:
    """Return a parameter's annotation as a stub has it."""
    annotation = parameter.annotation
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) is Literal:
        return f"Literal[{', '.join(map(_quoted, get_args(annotation)))}]"
    written = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    return written.replace("collections.abc.", "")


def _quoted(value: object) -> str:
    return json.dumps(value) if isinstance(value, str) else repr(value)


if __name__ == "__main__":
    public_api.LISTED.write_text(public_api.listed(), encoding="utf-8")
    METHODS.with_suffix(".pyi").write_text(stubs(), encoding="utf-8")
    METHODS.write_text(methods(), encoding="utf-8")
    for page in PAGES:
        page.write_text(written(page.read_text(encoding="utf-8")), encoding="utf-8")
