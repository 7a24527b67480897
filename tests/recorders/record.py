"""Run every peer on the same users, each in an environment of its own, and store what they answer in `values.json`.

    python tests/recorders/record.py                      # all of them: makes the environments, about 8 GB
    python tests/recorders/record.py --beyond             # their metrics beyond accuracy, in `values_beyond.json`
    python tests/recorders/record.py --splits             # the rows of their splits, in `values_splits.json`
    python tests/recorders/record.py --cases              # 300 cases of what few have, in `values_cases.json`
    python tests/recorders/record.py rectools replay      # these alone; the lines of the others stay
    python tests/recorders/record.py --environments DIR   # where the environments are, or are to be made

It wants Python 3.11, for LensKit and WarpRec `python3.12` beside it, and Java for Spark. The tests read what is stored and need
none of this. For peers that bring torch, its CPU build is enough, and much smaller: set PIP_EXTRA_INDEX_URL to where it comes
from.

Elliot is not among them: it is not on PyPI.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ASKED = {
    "accuracy": "ask_{}.py",
    "beyond": "ask_{}_beyond.py",
    "splits": "ask_{}_splits.py",
    "cases": "ask_{}_cases.py",
}
VALUES = {
    "accuracy": HERE / "values.json",
    "beyond": HERE / "values_beyond.json",
    "splits": HERE / "values_splits.json",
    "cases": HERE / "values_cases.json",
}
ENVIRONMENTS = HERE.parents[1] / "build" / "peers"

# The first four are benchmarked too (`benchmarks/apart.py`), from Polars and pandas frames.
PEERS = {
    "rectools": ["rectools==0.19.0", "pandas==2.3.3", "polars==2.1.0", "pyarrow==22.0.0", "numpy==1.26.4"],
    "replay": [
        "torch==2.13.0",
        "replay-rec==0.22.0",
        "polars==1.44.2",
        "pandas==2.3.3",
        "pyarrow==22.0.0",
        "numpy==2.4.6",
    ],
    "microsoft": ["recommenders==1.2.1", "pandas==2.3.3", "polars==2.1.0", "pyarrow==26.0.1", "numpy==2.4.6"],
    "torchmetrics": ["torch==2.13.0", "torchmetrics==1.9.0", "polars==2.1.0", "pandas==2.3.3", "pyarrow==26.0.1"],
    "lenskit": ["torch==2.6.0", "lenskit==2026.4.0", "pandas==2.3.3"],
    "recbole": ["torch==2.13.0", "recbole==1.2.1", "numpy==2.4.6"],
    "recpack": ["torch==2.13.0", "recpack==0.3.6", "scipy==1.17.1", "numpy==1.26.4"],
    "jurity": ["jurity==2.1.0", "pandas==2.3.3"],
    "evidently": ["evidently==0.7.23", "pandas==2.3.3"],
    "spark": ["pyspark==4.0.1", "numpy==2.4.6"],
    "implicit": ["implicit==0.7.3", "scipy==1.17.1", "numpy==2.4.6"],
    "kaggle": ["setuptools==57.5.0", "ml-metrics==0.1.4", "numpy==2.4.6"],
    "lightgbm": ["lightgbm==4.7.0", "scipy==1.17.1", "numpy==2.4.6"],
    "ndeval": ["pyndeval==0.0.8"],
    "recmetrics": ["recmetrics==0.1.5", "numpy==1.26.4", "scipy==1.11.4", "scikit-learn==1.4.2", "matplotlib==3.8.4"],
    "warprec": ["torch==2.15.0", "warprec==2.2.8"],
    "cornac": ["cornac==3.0.1", "numpy==2.4.6"],
    "trec_eval": ["pyserini==0.40.0"],
    "oracles": [
        "cwl-eval==1.0.12",
        "pytrec-eval-terrier==0.5.11",
        "ir-measures==0.4.3",
        "ranx==0.3.21",
        "scikit-learn==1.9.1",
    ],
    # these three are benchmarked alone (`benchmarks/engines.py`), on Spark
    "recframe_spark": ["pyspark[sql]==4.3.0", "polars==2.1.0", "pandas==2.3.3", "pyarrow==26.0.1", "numpy==2.4.6"],
    "replay_spark": [
        "replay-rec[spark]==0.22.0",
        "pyspark==4.3.0",
        "polars==1.44.2",
        "pandas==2.3.3",
        "pyarrow==22.0.0",
        "numpy==2.4.6",
    ],
    # what else it depends on is not needed
    "microsoft_spark": [
        "recommenders==1.2.1",
        "pyspark==4.0.0",
        "pandas==2.3.3",
        "pyarrow==22.0.0",
        "numpy==2.4.6",
        "py4j==0.10.9.9",
        "python-dateutil==4.0.0",
        "pytz==2026.6",
        "tzdata==2026.6",
    ],
}  # fmt: skip
PYTHONS = {"lenskit": "python3.12", "warprec": "python3.12"}
# which is a file in that wheel; what the wheel itself depends on is not needed
ALONE = {"trec_eval", "microsoft_spark"}
# whose last release is older than the setuptools that pip would build it with
BUILT_HERE = {"kaggle"}


def environment(peer: str, folder: Path) -> Path:
    """Return the Python of a peer's environment; make it where it is missing."""
    python = folder / peer / "bin" / "python"
    if not python.exists():
        made_by = PYTHONS.get(peer, sys.executable)
        subprocess.run([made_by, "-m", "venv", folder / peer], check=True)  # noqa: S603  named here
        # torch first, or its dependants choose another build
        for requirements in (PEERS[peer][:1], PEERS[peer]):
            options = ["-q", *(["--no-deps"] if peer in ALONE else [])]
            options += ["--no-build-isolation"] if peer in BUILT_HERE else []
            subprocess.run([python, "-m", "pip", "install", *options, *requirements], check=True)  # noqa: S603  pinned above
    return python


def asked(peer: str, about: str, python: Path) -> dict[str, Any]:
    """Return the versions of a peer and its answers."""
    distributions = [requirement.partition("==")[0] for requirement in PEERS[peer]]
    command = [python, HERE / "ask.py", about, peer, *distributions]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)  # noqa: S603  a script of ours
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def written(found: dict[str, dict[str, Any]]) -> str:
    """Return the file: a line for each answer."""
    peers = []
    for peer, told in found.items():
        rows = ",\n".join(f"      {json.dumps(row)}" for row in told["rows"])
        peers.append(
            f'  "{peer}": {{\n    "versions": {json.dumps(told["versions"])},\n    "rows": [\n{rows}\n    ]\n  }}'
        )
    return "{\n" + ",\n".join(peers) + "\n}\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Ask the peers and write the file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("peers", nargs="*", help=f"some of {', '.join(PEERS)}")
    told_of = {
        "beyond": "the metrics beyond accuracy",
        "splits": "the splits",
        "cases": "300 cases of metrics that few have",
    }
    for about, told in told_of.items():
        parser.add_argument(
            f"--{about}", dest="about", action="store_const", const=about, help=f"ask for {told}"
        )
    parser.add_argument(
        "--environments",
        type=Path,
        default=ENVIRONMENTS,
        help="folder of the environments (%(default)s)",
    )
    options = parser.parse_args(arguments)
    about = options.about or "accuracy"
    wanted = options.peers or [
        peer for peer in PEERS if (HERE / ASKED[about].format(peer)).exists()
    ]
    before = json.loads(VALUES[about].read_text(encoding="utf-8")) if VALUES[about].exists() else {}
    found = {}
    for peer in PEERS:
        if peer in wanted:
            sys.stderr.write(f"{peer}\n")
            found[peer] = asked(peer, about, environment(peer, options.environments))
        elif peer in before:
            found[peer] = before[peer]
    VALUES[about].write_text(written(found), encoding="utf-8")


if __name__ == "__main__":
    main()
