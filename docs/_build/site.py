"""Builds the site: `python docs/_build/site.py` writes its Markdown to build/pages and its pages to build/site.

What is wrong with a page (a link that leads nowhere, a formula that cannot be set) fails the build.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import checks
import finishing
import navigation
import project
import sources


def build() -> None:
    """Write the site anew."""
    files, assets = sources.pages(), sources.assets()
    pages = {name: text for name, text in files.items() if name.endswith(".md")}
    # NOTE: the folder of the site stays, and what is in it goes, so that a server which serves it goes on.
    for folder in (project.PAGES, project.SITE):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    for name, made in files.items():
        path = project.PAGES / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(made if isinstance(made, bytes) else made.encode())
    for name, source in assets.items():
        path = project.PAGES / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, path)
    config = project.BUILD / "zensical.toml"
    config.write_text(navigation.config(pages), encoding="utf-8")
    generate(config)
    finishing.finish(pages)
    if wrong := checks.wrong():
        sys.exit("\n".join(["the site is not right:", *wrong]))
    sys.stdout.write(f"{project.SITE}: {len([*project.SITE.rglob('*.html')])} pages\n")


def generate(config: Path) -> None:
    """Run the generator, which fails where a link leads to no page or anchor."""
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    colours = {} if sys.stderr.isatty() else {"NO_COLOR": "1"}
    done = subprocess.run(  # noqa: S603
        [*command, "--config-file", str(config)],
        cwd=project.BUILD,
        check=False,
        env={**os.environ, **colours},
    )
    if done.returncode:
        sys.exit("the generator found what is written above; line numbers are those of build/pages")


if __name__ == "__main__":
    build()
