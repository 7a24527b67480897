"""trec_eval itself, as Pyserini's wheel brings it: over the users with both, and with -c over all users of the truth."""

from __future__ import annotations

import os
import subprocess
import tempfile
import zipfile
from importlib.metadata import files
from pathlib import Path

from answers import answer
from scenes import KS

PROGRAM = "trec_eval/trec_eval-linux-amd64"
CUT = {
    "success": "hit_rate",
    "P": "precision",
    "recall": "recall",
    "map_cut": "map",
    "ndcg_cut": "ndcg",
}
WHOLE = {
    "map": "map", "ndcg": "ndcg", "recip_rank": "mrr", "Rprec": "r_precision", "bpref": "bpref",
    "set_F": "f_score",
}  # fmt: skip
BOTH = {"universe": "both"}


def answers(name, scene):
    """Give every metric that both have, as the program prints it; and on grades from the relevance 2 up."""
    if name not in {"fixture", "graded", "tied", "numbered"}:
        return
    with tempfile.TemporaryDirectory() as folder:
        program = _program(Path(folder))
        for options, bound in (((), BOTH), (("-c",), {})):
            yield from _answers(name, _evaluated(program, scene, options), " ".join(options), bound)
        if name == "graded":
            yield from _answers(
                name, _evaluated(program, scene, ("-c", "-l2")), "-c -l2", {"min_relevance": 2}
            )


def _program(folder):
    """Unpack the program: it lies in the jar of Pyserini, which is not imported."""
    jar = next(file for file in files("pyserini") if file.suffix == ".jar")
    with zipfile.ZipFile(jar.locate()) as archive:
        program = Path(archive.extract(PROGRAM, folder))
    program.chmod(0o755)
    return program


def _evaluated(program, scene, options):
    """Return what is printed for all users together."""
    truth, run = program.parent / "truth", program.parent / "run"
    truth.write_text(
        "".join(f"{user} 0 {item} {grade}{os.linesep}" for user, item, grade in scene.truth)
    )
    run.write_text(
        "".join(f"{user} Q0 {item} 0 {score!r} run{os.linesep}" for user, item, score in scene.recs)
    )
    asked = [*(f"-m{one}.{','.join(map(str, KS))}" for one in CUT), *(f"-m{one}" for one in WHOLE)]
    printed = subprocess.run(  # noqa: S603
        [program, *options, *asked, truth, run], check=True, stdout=subprocess.PIPE
    )
    rows = (line.split() for line in printed.stdout.decode().splitlines())
    return {measure: float(value) for measure, _, value in rows}


def _answers(name, found, told, bound):
    for one, ours in [*CUT.items(), *WHOLE.items()]:
        values = {k: found[f"{one}_{k}"] for k in KS} if one in CUT else {None: found[one]}
        plain = "" if name not in {"tied", "numbered"} and told == "-c" else None
        call = f"{one} {told}".strip()
        yield answer(
            name, call, ours, values, profile="trec_eval", plain=plain, bound=bound, decimals=4
        )
