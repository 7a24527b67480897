"""Makes pages of the notebooks: their text, their code, and the outputs that they have stored."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterator
from typing import Any

import nbformat
import project

FOLDER = project.ROOT / "notebooks"
ABOUT = """\
# Notebooks

Each tells one story from the data to what may be said of it, with the outputs of its cells. The files are in
[the repository]({there}); `jupyter lab notebooks` in a clone opens them.

{lines}
"""
PICTURES = {"image/svg+xml": "svg", "image/png": "png"}
"""Kinds of stored pictures and their endings, the first one that is there is shown."""


def pages() -> dict[str, str | bytes]:
    """Return an index, a page for each notebook, and its pictures."""
    made: dict[str, str | bytes] = {}
    lines = []
    for path in sorted(FOLDER.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        name = path.stem
        made |= dict(_files(name, notebook))
        title, about = _head(notebook)
        lines.append(f"- [{title}]({name}.md): {about}")
    index = ABOUT.format(there=f"{project.REPOSITORY}/tree/main/notebooks", lines="\n".join(lines))
    return {"notebooks/index.md": index, **made}


def _head(notebook: Any) -> tuple[str, str]:
    """Return the title of a notebook and the sentence below it."""
    title, _, below = notebook.cells[0].source.partition("\n")
    about = " ".join(below.split()).removeprefix("After this notebook you can ")
    return title.lstrip("# "), re.split(r"(?<=\.) ", about)[0]


def _files(name: str, notebook: Any) -> Iterator[tuple[str, str | bytes]]:
    """Walk the files of a notebook: its pictures, then its page."""
    parts: list[str] = []
    for place, cell in enumerate(notebook.cells):
        if cell.cell_type != "code":
            parts.append(_linked(cell.source))
            continue
        parts.append(_fenced("python", cell.source))
        for number, output in enumerate(cell.outputs):
            data = output.get("data", {})
            kind = next((one for one in PICTURES if one in data), None)
            if kind is None:
                parts += [_fenced("text", text)] if (text := _text(output)) else []
                continue
            picture = f"{name}_{place}_{number}.{PICTURES[kind]}"
            yield f"notebooks/{picture}", _bytes(data[kind], kind)
            parts.append(f"![{_said(data)}]({picture})")
    link = f"[The notebook]({project.REPOSITORY}/blob/main/notebooks/{name}.ipynb) to run."
    yield f"notebooks/{name}.md", "\n\n".join([*parts, link]) + "\n"


def _text(output: Any) -> str:
    """Return an output as text."""
    if output.output_type == "error":
        return f"{output.ename}: {output.evalue}"
    text = output.get("text") or output.get("data", {}).get("text/plain", "")
    return re.sub(r"\x1b\[[0-9;]*m", "", "".join(text)).strip("\n")


def _said(data: Any) -> str:
    """Return what a picture shows, in words."""
    of_chart = re.findall(r"[tT]itle text '(.*?)'\"", "".join(data.get("image/svg+xml", "")))
    text = ": ".join(of_chart) or "".join(data.get("text/plain", ""))
    text = " ".join(html.unescape(text).split())
    return re.sub(r"[\[\]]", "", text) or "a chart of the cell above"


def _bytes(stored: str, kind: str) -> bytes:
    text = "".join(stored)
    return text.encode() if kind == "image/svg+xml" else base64.b64decode(text)


def _fenced(language: str, text: str) -> str:
    fence = "`" * max(3, *(len(one) + 1 for one in re.findall("`{3,}", text)), 0)
    return f"{fence}{language}\n{text}\n{fence}"


def _linked(text: str) -> str:
    """Return a text with links to other notebooks and to pages as the site has them."""
    text = re.sub(r"\]\((\d\d_\w+)\.ipynb", r"](\1.md", text)
    return re.sub(r"\]\(\.\./docs/", "](../", text)
