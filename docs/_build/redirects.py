"""Makes the pages at addresses that pages have moved from, which lead to where they are now."""

from __future__ import annotations

import json
import posixpath

import project
import reference

MOVED = {
    "reference/words.html": "reference/metric_names.html",
    "reference/rec.html": "reference/rec/index.html",
    "reference/plot.html": "reference/plot/index.html",
}
"""Addresses that pages had, and those that they have. What was linked once must lead on: add lines, take none away."""
OF_METHODS = {"reference/rec.html": "rec", "reference/plot.html": "rec.plot"}
"""Pages whose headings have become pages."""


def pages() -> dict[str, str]:
    """Return a page for each address that one has moved from."""
    return {old: _page(old, new) for old, new in MOVED.items()}


def anchors(old: str) -> dict[str, str]:
    """Return where the headings of a page have gone, by their anchors, seen from the page."""
    owner = OF_METHODS.get(old)
    if owner is None:
        return {}
    folder = owner.rpartition(".")[2]
    names = reference.methods() if owner == "rec" else reference.charts()
    own = {posixpath.basename(path).removesuffix(".md") for path in names} - {"index"}
    return {
        f"#{reference.anchor(f'{owner}.{name}')}": f"{folder}/{name}.html" for name in sorted(own)
    }


def _page(old: str, new: str) -> str:
    to = posixpath.relpath(new, posixpath.dirname(old))
    moved = json.dumps(anchors(old))
    return f"""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Moved</title>
<link rel="canonical" href="{project.ON_SITE}{new}">
<meta name="robots" content="noindex">
<noscript><meta http-equiv="refresh" content="0;url={to}"></noscript>
<script>
const moved = {moved};
location.replace(moved[location.hash] || "{to}" + location.hash);
</script>
</head>
<body><h1>Moved</h1><p>This page is now <a href="{to}">here</a>.</p></body>
</html>
"""
