"""Where the project stands, on disk and on the network, and where the site is built."""

from __future__ import annotations

import sys
from pathlib import Path

import tomllib

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
BUILD = ROOT / "build"
PAGES = BUILD / "pages"
"""The site's Markdown, as it was gathered."""
SITE = BUILD / "site"

_DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
URLS: dict[str, str] = _DECLARED["urls"]
"""The one place that has them is pyproject.toml."""
DESCRIPTION: str = _DECLARED["description"]
ON_SITE = URLS["Documentation"].rstrip("/") + "/"
REPOSITORY = URLS["Repository"].rstrip("/")

# the tables of the README and of the pages are made by the same functions
sys.path.append(str(ROOT / "tests" / "surface"))
