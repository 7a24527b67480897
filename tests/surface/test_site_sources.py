"""How pages become the site's: links, code to paste, docstrings and formulas."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import docstrings
import listings
import pytest

import recframe as rf

pytest.importorskip("tomllib", reason="the site is built from Python 3.11 on")
import checks
import links
import navigation
import project

PLACES = {
    "docs/a.md": "a.md",
    "docs/folder/b.md": "folder/b.md",
    "ARCHITECTURE.md": "architecture.md",
}

MADE = {"metrics/ndcg.md", "notebooks/08_a_report.md"}


@pytest.mark.parametrize(
    ("source", "link", "shown"),
    [
        ("docs/a.md", "folder/b.md#there", "folder/b.md#there"),
        ("docs/folder/b.md", "../a.md", "../a.md"),
        ("docs/folder/b.md", "../../ARCHITECTURE.md", "../architecture.md"),
        ("ARCHITECTURE.md", "docs/folder/b.md", "folder/b.md"),
        (
            "docs/folder/b.md",
            f"{project.ON_SITE}metrics/ndcg.html#there",
            "../metrics/ndcg.md#there",
        ),
        ("docs/a.md", "../pyproject.toml", f"{project.REPOSITORY}/blob/main/pyproject.toml"),
        ("docs/a.md", "../notebooks", f"{project.REPOSITORY}/tree/main/notebooks"),
        ("docs/a.md", "../notebooks/08_a_report.ipynb#end", "notebooks/08_a_report.md#end"),
        ("docs/a.md", "https://arxiv.org", "https://arxiv.org"),
        ("docs/a.md", "#here", "#here"),
    ],
)
def test_a_link_of_a_clone_leads_to_the_same_on_the_site(source, link, shown):
    text = links.on_the_site(f"[a]({link})", Path(source), PLACES, MADE)

    assert text == f"[a]({shown})"


@pytest.mark.parametrize("link", ["gone.md", "metrics/ndcg.md", f"{project.ON_SITE}gone.html"])
def test_a_link_that_leads_nowhere_fails(link):
    with pytest.raises(ValueError, match=f"docs/a.md: {link} leads nowhere"):
        links.on_the_site(f"[a]({link})", Path("docs/a.md"), PLACES, MADE)


def test_a_link_in_code_is_no_link():
    code = "`[a](gone.md)`\n\n```text\n[a](gone.md)\n```\n"
    assert links.on_the_site(code, Path("docs/a.md"), PLACES, ()) == code
    short = links.on_the_site("`k` [a](docs/a.md) `n`", Path("ARCHITECTURE.md"), PLACES, ())
    assert short == "`k` [a](a.md) `n`"


def test_examples_become_code_to_paste_and_what_it_shows():
    page = "```python\n>>> a = 1\n>>> if a:\n...     a\n1\n>>> b = 2\n```"
    parts = ("python\na = 1\nif a:\n    a", "text\n1", "python\nb = 2")
    shown = "\n\n".join(f"```{part}\n```" for part in parts)

    for indent in ("", "    "):
        text, expected = (textwrap.indent(one, indent) for one in (page, shown))
        assert listings.to_paste(f"Text\n\n{text}") == f"Text\n\n{expected}\n"


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

    assert (
        docstrings.as_markdown(text, {"level", "n", "m", "other"})
        == """Return it \\* twice.

What it takes:

- `level`: that of &lt;intervals>.
- `n`, `m`: how many.
- `other`: `a * b`.

```python
>>> 1 + 1
2
```

*Source:* Student 1908."""
    )


def test_formulas_are_set_and_a_slip_in_one_fails():
    pytest.importorskip("latex2mathml")
    import finishing  # noqa: PLC0415  it needs what sets formulas

    shown = finishing.with_formulas('<span class="arithmatex">\\(a &lt; \\frac{1}{2}\\)</span>')

    assert "<mfrac>" in shown
    assert "arithmatex" not in shown
    with pytest.raises(ValueError, match="cannot be set"):
        finishing.with_formulas('<span class="arithmatex">\\(\\fraction{1}{2}\\)</span>')


PAGE = """<h1>Title</h1><h2 id="there">A</h2>
<a href="b.html#there">b</a><a href="https://arxiv.org">c</a><img src="a.png" alt="a">
<link rel="canonical" href="https://recframe.example">"""


@pytest.mark.parametrize(
    ("html", "wrong"),
    [
        ("", None),
        ('<a href="gone.html">', "gone.html leads nowhere"),
        ('<img src="gone.png" alt="a">', "gone.png leads nowhere"),
        ('<img src="a.png" alt="">', "a picture without a text: a.png"),
        ('<script src="https://unpkg.com/a"></script>', "asks a network for https://unpkg.com/a"),
        ('<link rel="stylesheet" href="https://fonts.example/a">', "asks a network for https://fonts.example/a"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_page_is_found(html, wrong, tmp_path, monkeypatch):
    monkeypatch.setattr(project, "SITE", tmp_path)
    (tmp_path / "a.png").touch()
    (tmp_path / "b.html").write_text(PAGE)
    (tmp_path / "a.html").write_text(PAGE + html)

    found = [one for one in checks.wrong() if one.startswith("a.html")]
    assert found == ([f"a.html: {wrong}"] if wrong else [])


def test_an_address_that_a_message_names_and_no_page_has_is_found(tmp_path, monkeypatch):
    for name, value in (("SITE", tmp_path), ("ROOT", tmp_path)):
        monkeypatch.setattr(project, name, value)
    monkeypatch.setattr(checks, "ELSEWHERE", [])
    (tmp_path / "a.html").write_text("<p>A page</p>", encoding="utf-8")
    addresses = [f"{project.ON_SITE}{one}" for one in ("a.html#there", "gone.html")]
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "errors.py").write_text(f"{addresses}", encoding="utf-8")

    found = [one for one in checks.wrong() if one.startswith("src")]
    assert found == [f"src/errors.py: {addresses[1]} leads nowhere"]


PAGES = {
    "index.md": "# First\n\nOne sentence. And another.\n",
    "how_to/index.md": "# Tasks\n\n- [b](b.md)\n- [a](a.md)\n",
    "how_to/a.md": "# About a\n\n```python\n1\n```\n\nIt is [here](b.md):\n",
    "how_to/c.md": "# C\n\nText\n",
    "concepts/intervals.md": "# Intervals\n\nText\n",
    "how_to/b.md": "# B\n\n| a |\n|---|\n\nText\n",
    "metrics/ndcg.md": "# `ndcg`\n\nGain.\n",
}


def test_pages_stand_in_the_order_in_which_their_index_links_them_and_nowhere_fails():
    assert len(navigation.SECTIONS) <= 6
    assert navigation.sections(PAGES) == {
        "Start": [{"recframe": "index.md"}],
        "How to": [
            "how_to/index.md", {"B": "how_to/b.md"}, {"About a": "how_to/a.md"},
            {"C": "how_to/c.md"}, {"Concepts": [{"Intervals": "concepts/intervals.md"}]},
        ],
        "Metrics": [{"Accuracy": [{"ndcg": "metrics/ndcg.md"}]}],
    }  # fmt: skip
    with pytest.raises(ValueError, match=r"in no section .*: \['lost.md'\]"):
        navigation.sections({**PAGES, "lost.md": "# Lost\n"})


MEASURED = ("benchmarks.md", "uncertainty.md")
NUMBERS = {6: "six", 7: "seven", 8: "eight", 9: "nine"}


def test_the_proofs_of_home_are_what_other_pages_have_measured():
    home = " ".join((project.DOCS / "index.md").read_text(encoding="utf-8").split())
    docs = {name: (project.DOCS / name).read_text(encoding="utf-8") for name in MEASURED}
    timed = r"^\| {} \| ([\d.]+) \| ([\d.]+)"
    loop, eager = (
        re.search(timed.format(name), docs["benchmarks.md"], re.MULTILINE)
        for name in ("compiled loop, tuned", "recframe, eager")
    )
    front = (project.ROOT / "README.md").read_text(encoding="utf-8").partition("front speed")[2]
    times = sorted(map(float, re.findall(r"^\| [\w ]+ \| ([\d.]+) x", front, re.MULTILINE)))
    covers = re.search(r"`summarize`, 1,000 users: covers \| 95 \| (.*) \|", docs["uncertainty.md"])
    held = sorted(map(float, covers[1].split(" | ")))
    recorded = re.compile(r"^(?:\| `[^`]+` \| [\d.]+ ){2}\|", re.MULTILINE)
    rows = [
        len(recorded.findall(path.read_text(encoding="utf-8")))
        for path in (project.DOCS / "from").glob("*.md")
    ]

    assert f"take {eager[2]} times as long as a compiled loop" in home
    assert f"{float(eager[1]) / float(loop[1]):.1f} times as long as a tuned" in home
    assert f"{NUMBERS[len(times)]} other libraries take {times[0]} to {times[-1]} times" in home
    assert f"held {held[0]} to {held[-1]} %" in home
    assert f"there are {rf.list_profiles().height} profiles" in home
    libraries = sum(count > 0 for count in rows)
    assert f"pages of {libraries} libraries, all {sum(rows)} recorded numbers" in home


@pytest.mark.slow
def test_the_picture_of_the_report_is_of_the_live_one():
    pytest.importorskip("altair")
    import pictures  # noqa: PLC0415  it needs what makes charts

    now = pictures.fingerprint(pictures.front_report())
    assert f"fingerprint\0{now}".encode() in pictures.REPORT.read_bytes(), (
        "write: python tests/surface/pictures.py report.png"
    )


def test_a_notebook_is_a_page_with_its_text_code_tables_and_charts(tmp_path, monkeypatch):
    nbformat = pytest.importorskip("nbformat")
    import notebooks  # noqa: PLC0415  it needs what reads notebooks

    monkeypatch.setattr(notebooks, "FOLDER", tmp_path)
    new = nbformat.v4
    frame = {"text/html": "<table></table>", "text/plain": "shape: (1, 1)"}
    labels = ("Title text 'nDCG [of two]'", "Subtitle text 'a line each'")
    svg = f"<svg>{''.join(f'<g aria-label={chr(34)}{one}{chr(34)}/>' for one in labels)}</svg>"
    chart = {"image/svg+xml": svg, "text/plain": "alt.LayerChart(...)"}
    photo = {"image/png": "cG5n", "text/plain": "A report"}
    outputs = [new.new_output("execute_result", data=data) for data in (frame, chart, photo)]
    code = new.new_code_cell("rec.ndcg()", outputs=[*outputs, new.new_output("stream", text="1\n")])
    head = "# About\n\nAfter this notebook you can say it. And more: [b](02_b.ipynb#c)."
    nbformat.write(
        new.new_notebook(cells=[new.new_markdown_cell(head), code]), tmp_path / "01_a.ipynb"
    )

    made = notebooks.pages()

    assert "- [About](01_a.md): say it." in made["notebooks/index.md"]
    assert made["notebooks/01_a_1_1.svg"] == svg.encode()
    assert made["notebooks/01_a_1_2.png"] == b"png"
    assert made["notebooks/01_a.md"].split("\n\n")[1:-1] == [
        "After this notebook you can say it. And more: [b](02_b.md#c).",
        "```python\nrec.ndcg()\n```", "```text\nshape: (1, 1)\n```",
        "![nDCG of two: a line each](01_a_1_1.svg)", "![A report](01_a_1_2.png)", "```text\n1\n```",
    ]  # fmt: skip


def test_home_start_and_the_readme_install_in_the_same_way_and_have_the_same_proofs():
    home, start = (project.DOCS / name for name in ("index.md", "start.md"))
    texts = [path.read_text(encoding="utf-8") for path in (home, start, project.ROOT / "README.md")]
    install = re.compile(r"^## Install.*?```sh\n(.*?)```", re.MULTILINE | re.DOTALL)
    proofs = re.compile(r"^- \*\*Fast.*?(?=\n\n|\n<!--)", re.MULTILINE | re.DOTALL)

    assert len({install.search(text)[1] for text in texts}) == 1
    assert proofs.search(texts[0])[0] == proofs.search(texts[2])[0].replace("](docs/", "](")
