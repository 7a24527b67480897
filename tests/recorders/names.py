"""List the metrics that each library has in `names.json`, read from its installed source: what the page Equivalents has.

    python tests/recorders/names.py --environments DIR    # those of `record.py`

A library's metrics are what its module of metrics exports, registers or defines; `NO_METRICS` are other things beside them.
It wants Python 3.12, in whose words some of the sources are written.
"""

from __future__ import annotations

import argparse
import ast
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

from record import ENVIRONMENTS, environment

HERE = Path(__file__).parent
# library: (environment, file below its packages, how the file tells them)
PLACES = {
    "RecTools": ("rectools", "rectools/metrics/__init__.py", "exported"),
    "RePlay": ("replay", "replay/metrics/__init__.py", "imported"),
    "Microsoft recommenders": (
        "microsoft",
        "recommenders/evaluation/python_evaluation.py",
        "functions",
    ),
    "torchmetrics": ("torchmetrics", "torchmetrics/retrieval/__init__.py", "exported"),
    "LensKit": ("lenskit", "lenskit/metrics/**/__init__.py", "exported"),
    "RecBole": ("recbole", "recbole/evaluator/metrics.py", "classes"),
    "RecPack": ("recpack", "recpack/metrics/__init__.py", "imported"),
    "ir_measures": ("oracles", "ir_measures/measures/__init__.py", "exported"),
    "cwl_eval": ("oracles", "cwl/ruler/measures/*.py", "classes"),
    "ranx": ("oracles", "ranx/metrics/__init__.py", "exported"),
    "ranx, fusion": ("oracles", "ranx/fusion/__init__.py", "exported"),
    "pytrec_eval": ("oracles", "pytrec_eval", "run"),
    "Cornac": ("cornac", "cornac/metrics/__init__.py", "imported"),
    "WarpRec": ("warprec", "warprec/evaluation/metrics/*/*.py", "registered"),
    "Evidently": ("evidently", "evidently/metrics/recsys.py", "classes"),
    "implicit": ("implicit", "implicit.evaluation", "run"),
    "jurity": ("jurity", "jurity/recommenders/__init__.py", "imported"),
}
# of compiled modules
RUN = {
    "pytrec_eval": "pytrec_eval.supported_measures",
    "implicit.evaluation": "n for n in vars(implicit.evaluation) if n.endswith('_k')",
}
NO_METRICS = {
    "RecTools": {
        "calc_metrics",
        "PairwiseDistanceCalculator",
        "PairwiseHammingDistanceCalculator",
        "SparsePairwiseHammingDistanceCalculator",
        "DebiasConfig",
        "debias_interactions",
    },
    "RePlay": {
        "Metric",
        "CalculationDescriptor",
        "ConfidenceInterval",
        "Mean",
        "Median",
        "PerUser",
        "Experiment",
        "OfflineMetrics",
    },
    "Microsoft recommenders": {"merge_rating_true_pred", "merge_ranking_true_pred", "get_top_k_items"},
    "LensKit": {
        *("GeometricRankWeight", "LogRankWeight", "RankWeight", "RankingMetricBase", "ListMetric"),
        *("MeasurementCollector", "Metric", "MetricFunction", "MetricResult", "MetricVal"),
        *("RunAnalysis", "RunAnalysisResult", "RunMetrics", "quick_measure_model"),
    },
    "ir_measures": {
        *("Measure", "BaseMeasure", "ParamInfo", "MeanAgg", "SumAgg", "registry", "register"),
        # the same under a second name
        *(
            "MAP",
            "BPref",
            "\u03b1_DCG",
            "\u03b1_nDCG",
            "MAP_IA",
            "NDCG",
            "Precision",
            "Recall",
            "RPrec",
        ),
        *("MRR", "SetRelP"),
    },
    "cwl_eval": {"CWLMetric"},
    "ranx": {"get_hit_lists"},
    "pytrec_eval": {"runid", "relstring"},
    "Cornac": {"RatingMetric", "RankingMetric"},
    "jurity": {"NamedTuple", "CombinedMetrics"},
}  # fmt: skip


def names_in(source: str, how: str) -> Iterator[str]:
    """Walk the names that a file tells."""
    for node in ast.parse(source).body:
        if how == "exported" and isinstance(node, ast.Assign) and _named(node) == "__all__":
            yield from ast.literal_eval(node.value)
        elif how == "imported" and isinstance(node, ast.ImportFrom) and node.module != "typing":
            yield from (one.name for one in node.names)
        elif how == "functions" and isinstance(node, ast.FunctionDef):
            yield from [node.name] * (not node.name.startswith("_") and "check" not in node.name)
        elif how == "classes" and isinstance(node, ast.ClassDef):
            inner = node.name.endswith(("Calculation", "Base"))
            yield from [node.name] * (not inner)
        elif how == "registered" and isinstance(node, ast.ClassDef):
            calls = [one for one in node.decorator_list if isinstance(one, ast.Call)]
            yield from (ast.literal_eval(one.args[0]) for one in calls if one.args)


def _named(node: ast.Assign) -> str:
    return getattr(node.targets[0], "id", "")


def names_of(library: str, folder: Path) -> list[str]:
    """Return the metrics of a library, in the order of its source."""
    peer, place, how = PLACES[library]
    python = environment(peer, folder)
    if how == "run":
        code = f"import json, {place}; print(json.dumps(sorted({RUN[place]})))"
        done = subprocess.run([python, "-c", code], check=True, stdout=subprocess.PIPE)  # noqa: S603  code of ours
        found = json.loads(done.stdout)
    else:
        packages = next((folder / peer).glob("lib/python*/site-packages"))
        texts = [one.read_text(encoding="utf-8") for one in sorted(packages.glob(place))]
        found = [name for text in texts for name in names_in(text, how)]
    told = [name for name in dict.fromkeys(found) if not name.startswith("_")]
    return [name for name in told if name not in NO_METRICS.get(library, ())]


def main() -> None:
    """Write the file: a line for each library."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--environments", type=Path, default=ENVIRONMENTS)
    folder = parser.parse_args().environments
    found = {library: names_of(library, folder) for library in PLACES}
    lines = ",\n".join(f"  {json.dumps(one)}: {json.dumps(names)}" for one, names in found.items())
    (HERE / "names.json").write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
