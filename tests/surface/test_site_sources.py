"""How pages become the site's: links, code to paste, docstrings and formulas."""

from __future__ import annotations

import inspect
from pathlib import Path

import docstrings
import listings
import pytest

pytest.importorskip("tomllib", reason="the site is built from Python 3.11 on")
import links
import project

PLACES = {
    "docs/a.md": "a.md",
    "docs/folder/b.md": "folder/b.md",
    "ARCHITECTURE.md": "architecture.md",
}


@pytest.mark.parametrize(
    ("source", "link", "shown"),
    [
        ("docs/a.md", "folder/b.md#there", "folder/b.md#there"),
        ("docs/folder/b.md", "../a.md", "../a.md"),
        ("docs/folder/b.md", "../../ARCHITECTURE.md", "../architecture.md"),
        ("ARCHITECTURE.md", "docs/folder/b.md", "folder/b.md"),
        ("docs/a.md", "metrics/ndcg.md", "metrics/ndcg.md"),
        ("docs/a.md", "../pyproject.toml", f"{project.REPOSITORY}/blob/main/pyproject.toml"),
        ("docs/a.md", "../notebooks", f"{project.REPOSITORY}/tree/main/notebooks"),
        ("docs/a.md", "https://arxiv.org", "https://arxiv.org"),
        ("docs/a.md", "#here", "#here"),
    ],
)
def test_a_link_of_a_clone_leads_to_the_same_on_the_site(source, link, shown):
    text = links.on_the_site(f"[a]({link})", Path(source), PLACES, {"metrics/ndcg.md"})

    assert text == f"[a]({shown})"


def test_a_link_that_leads_nowhere_fails_and_one_in_code_is_no_link():
    with pytest.raises(ValueError, match=r"docs/a.md: gone.md leads nowhere"):
        links.on_the_site("[a](gone.md)", Path("docs/a.md"), PLACES, ())

    code = "`[a](gone.md)`\n\n```text\n[a](gone.md)\n```\n"
    assert links.on_the_site(code, Path("docs/a.md"), PLACES, ()) == code


def test_examples_become_code_to_paste_and_what_it_shows():
    page = """\
        Text

            ```python
            >>> a = 1
            >>> if a:
            ...     a
            1
            >>> b = 2
            ```
    """

    assert listings.to_paste(inspect.cleandoc(page)) == inspect.cleandoc("""\
        Text

            ```python
            a = 1
            if a:
                a
            ```

            ```text
            1
            ```

            ```python
            b = 2
            ```
    """) + "\n"  # fmt: skip


def test_a_docstring_has_lists_of_arguments_examples_and_a_source():
    text = """Return it * twice.

    What it takes:

        level: that of <intervals>. n, m: how
            many.
        other: `a * b`.

    >>> 1 + 1
    2

    Source: Student 1908.
    """

    assert docstrings.as_markdown(text, {"level", "n", "m", "other"}).splitlines() == [
        "Return it \\* twice.",
        "",
        "What it takes:",
        "",
        "- `level`: that of &lt;intervals>.",
        "- `n`, `m`: how many.",
        "- `other`: `a * b`.",
        "",
        "```python",
        ">>> 1 + 1",
        "2",
        "```",
        "",
        "*Source:* Student 1908.",
    ]


def test_formulas_are_set_and_a_slip_in_one_fails():
    pytest.importorskip("latex2mathml")
    import finishing  # noqa: PLC0415  it needs what sets formulas

    shown = finishing.with_formulas('<span class="arithmatex">\\(a &lt; \\frac{1}{2}\\)</span>')

    assert "<mfrac>" in shown
    assert "arithmatex" not in shown
    with pytest.raises(ValueError, match="cannot be set"):
        finishing.with_formulas('<span class="arithmatex">\\(\\fraction{1}{2}\\)</span>')
