"""Say which of a hundred mistakes in the sources no test notices: `python tests/mutants/run.py SEED [tests ...]`."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import points

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
APART = (
    "surface/test_notebooks.py",
    "surface/test_site_in_a_browser.py",
    "reports/test_report_in_a_browser.py",
)
"""Files whose tests run recframe in another process, or a browser."""


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("seed", type=int, help="which points are drawn")
    asked.add_argument("tests", nargs="*", help="files or folders of tests, all without any")
    asked.add_argument("--number", type=int, default=100, help="how many points")
    asked.add_argument("--most", type=float, default=20, help="CPU seconds for a point")
    asked.add_argument("--kept", type=Path, help="the file that a run goes on from")
    asked.add_argument("--list", action="store_true", help="only say what the points are")
    options = asked.parse_args()
    # the sources of this clone, with the same examples of Hypothesis each time
    sys.path.insert(0, str(points.SOURCES))
    os.environ["CI"] = "true"

    drawn = points.install(options.seed, options.number)
    if options.list:
        sys.stdout.writelines(f"{place} {one.text}\n" for place, one in enumerate(drawn))
        return 0
    # both import recframe, or what tests of it import
    import pytest  # noqa: PLC0415
    from killing import Killing  # noqa: PLC0415

    kept = options.kept or ROOT / "build" / f"mutants-{options.seed}.jsonl"
    kept.parent.mkdir(parents=True, exist_ok=True)
    given = ["-q", "-n", "0", "-p", "no:randomly", "-p", "no:cacheprovider"]
    given += [f"--deselect=tests/{name}" for name in APART]
    return int(pytest.main([*given, *options.tests], [Killing(drawn, kept, options.most)]))


if __name__ == "__main__":
    sys.exit(main())
