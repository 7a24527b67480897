"""Tables to publish, in HTML, LaTeX and Markdown."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from recframe.charts.formatting import MINUS, number
from recframe.charts.long_format import named
from recframe.errors import RecframeError, visible, wrong_ending
from recframe.frames import atomic_write
from recframe.frames.dtypes import text_of
from recframe.metrics.language.definition import Metric

MARKS = {"better": r"\*", "higher": r"\*", "worse": "†", "lower": "†"}
"""The marks behind values, by their verdicts, in Markdown."""
TURNED = {"better": "worse", "higher": "lower", "worse": "better", "lower": "higher"}
"""The verdict on the other model of a pair."""
SIGNS = r"[\\`*{}\[\]|~$]|(?<![^\W_])_|_(?![^\W_])"
"""Characters with a meaning in Markdown."""
FORMS = {".html": "html", ".tex": "latex", ".md": "markdown"}
"""The forms of tables, by the endings of files."""


@dataclass(frozen=True)
class Table:
    """A result as a table: `html()`, `latex()`, `markdown()`, `save(path)`, and `gt`, one of Great Tables to style further."""

    columns: tuple[str, ...]
    """The titles of the segments and of the models, "" where there are none, and of the metrics."""
    rows: tuple[tuple[str, ...], ...]
    """Segment, model, and values in Markdown."""
    notes: tuple[str, ...]
    caption: str = ""

    @property
    def gt(self) -> Any:
        """The table as an object of Great Tables."""
        try:
            from great_tables import GT  # noqa: PLC0415  an extra
        except ModuleNotFoundError as missing:
            msg = f"this needs {missing.name}, which is not installed; write: pip install 'recframe[table]'"
            raise RecframeError(msg) from None
        columns = {f"column {place}": title for place, title in enumerate(self.columns)}
        (group, row, *numbers) = columns
        frame = pl.DataFrame(self.rows, dict.fromkeys(columns, pl.String), orient="row")
        above = pl.lit(f"{self.columns[0]}: ") + pl.col(group)
        frame = frame.with_columns(above.alias(group)).drop(
            key for key in (group, row) if not columns[key]
        )
        keys: dict[str, Any] = {"rowname_col": row, "groupname_col": group}
        made = GT(frame, **{name: key for name, key in keys.items() if columns[key]})
        made = made.fmt_markdown(columns=numbers).cols_align("right", columns=numbers)
        made = made.cols_label({key: columns[key] for key in numbers})
        made = made.tab_stubhead(self.columns[1]) if self.columns[1] else made
        made = made.tab_header(self.caption) if self.caption else made
        for note in self.notes:
            made = made.tab_source_note(note)
        return made

    def html(self) -> str:
        """Return the table as HTML; it needs recframe[table]."""
        text: str = self.gt.as_raw_html()
        return text

    def latex(self) -> str:
        """Return the table as LaTeX, which needs the package booktabs alone; it needs recframe[table]."""
        found: str = self.gt.as_latex()
        # after the end of a line a star and a bracket are arguments of it
        found = re.sub(r"(?<=\\\\\n)(?=[*\[])", "{}", found)
        # caption* takes a package
        found = re.sub(r"\\caption\*\{\n\{\\large (.*)\}\n\}", r"\\caption{\1}", found)
        # a table stands in the letters of the text around it
        return re.sub(r"\\fontsize\{.*?\}\{.*?\}\\selectfont\n+", "", found)

    def markdown(self) -> str:
        """Return the table as Markdown."""
        shown = [bool(title) or place > 1 for place, title in enumerate(self.columns)]
        rules = [":---", ":---", *("---:" for _ in self.columns[2:])]
        rows = [[*map(plain, row[:2]), *row[2:]] for row in self.rows]
        lines = ([*compress(line, shown)] for line in ([*map(plain, self.columns)], rules, *rows))
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        above = f"**{plain(self.caption)}**\n\n" if self.caption else ""
        return above + table + "\n\n" + "  \n".join(map(plain, self.notes)) + "\n"

    def save(self, path: str) -> None:
        """Write the table to a file, in the form that its ending names: `.html`, `.tex` or `.md`."""
        ending = Path(path).suffix.lower()
        if ending not in FORMS:
            known = f"known are {', '.join(FORMS)}"
            raise RecframeError(f"cannot write {str(path)!r}: {wrong_ending(ending)}; {known}")
        atomic_write.write_text(path, getattr(self, FORMS[ending])())

    def __repr__(self) -> str:
        names = ", ".join(map("".join, self.columns))
        return f"<table of {counted(len(self.rows), 'row')} by {names}; print() shows it, .save('table.tex') writes it>"

    def __str__(self) -> str:
        return self.markdown()

    def _repr_html_(self) -> str | None:
        """Return HTML, or without Great Tables nothing: a notebook then shows Markdown."""
        try:
            return self.html()
        except RecframeError:
            return None

    def _repr_markdown_(self) -> str:
        return self.markdown()


def plain(text: str) -> str:
    """Return text in one line that Markdown, and the HTML of it, show as it is."""
    # within a word, as in n_users, a line below is no sign of Markdown's
    signs = re.sub(SIGNS, r"\\\g<0>", escape(" ".join(text.split()), quote=False))
    return visible(signs)


class Columns(NamedTuple):
    """Cells of metrics, marked by verdicts on a segment, metric, model and rival."""

    verdicts: Mapping[tuple[str, ...], str]
    baseline: str
    """The model that all others are marked against; "" for the best and the runner-up."""
    decimals: int | None
    intervals: bool

    def of(self, metric: Metric[...], rows: pl.DataFrame) -> list[str]:
        """Return the cells of a metric in the order of its rows."""
        width = pl.col("value_high") - pl.col("value_low")
        narrow = rows.filter(width > 0).sort(width).select("value_low", "value_high").rows()[:1]
        write = partial(self._number, ends=narrow[0] if narrow else ())
        cells = []
        for _, group in rows.group_by("place", maintain_order=True):
            order = group.drop_nulls("value").sort("value", descending=metric.direction != "lower")
            ranked, texts = order["model"].to_list(), [*map(write, order["value"])]
            # where all look alike, none is better
            best = texts[0] if metric.direction and len({*texts}) > 1 else None
            for row in group.to_dicts():
                text, is_first = write(row["value"]), ranked[:1] == [row["model"]]
                rival = self.baseline or "".join(ranked[1:2] * is_first)
                key = row["segment"], str(metric), row["model"], rival
                cell = f"**{text}**" if text == best else text
                ends = [row[end] for end in ("value_low", "value_high") if row[end] is not None]
                interval = f" [{', '.join(map(write, ends))}]" if self.intervals and ends else ""
                cells.append(cell + MARKS.get(self.verdicts.get(key, ""), "") + interval)
        return cells

    def _number(self, value: float | None, ends: Sequence[float]) -> str:
        """Return a number with so many decimals, or with the digits of an interval."""
        if value is None or self.decimals is None:
            return number(value, ends).replace(MINUS, "-")
        return f"{round(value, self.decimals) + 0.0:.{self.decimals}f}"


def table(  # noqa: PLR0913  how a table looks
    rec: Any,
    metrics: Sequence[Metric[...]],
    tested: Sequence[Metric[...]],
    lacks: Sequence[str],
    *,
    baseline: object,
    by: Any,
    level: float,
    decimals: int | None,
    intervals: bool,
    stars: bool,
    header: Mapping[str, str],
    caption: str,
) -> Table:
    """Return a row for each model, in groups by segment; or for each segment, without models.

    `lacks` are sentences on models whose lists are of other users.
    """
    found, model = named(rec, rec.summarize(metrics, by=by, level=level)), rec._context.model  # noqa: SLF001
    verdicts: dict[tuple[str, ...], str] = {}
    if tested and (baseline is not None or stars):
        pairs = named(rec, rec.compare(*tested, baseline=baseline, by=by, level=level))
        for row in pairs.data.to_dicts():
            of, pair = (row["segment"], row["metric"]), (row["model"], row["baseline"])
            verdicts[of + pair] = row["verdict"]
            verdicts[of + pair[::-1]] = TURNED.get(row["verdict"], "")
    other = "" if baseline is None else text_of(baseline)
    columns = Columns(verdicts, other, decimals, intervals)
    data = found.data.sort("place", maintain_order=True)
    rows = {metric: data.filter(metric=str(metric)) for metric in metrics}
    heads = rows[metrics[0]].select("segment", "model").rows()
    heads = heads if model else [("", segment) for segment, _ in heads]
    cells = zip(*(columns.of(metric, of) for metric, of in rows.items()), strict=True)
    lines = [head + of for head, of in zip(heads, cells, strict=True)]
    titles = [*((found.by, model) if model else ("", found.by)), *map(str, metrics)]
    counts = found.data["n_users"].unique().sort().to_list() or [0]
    notes = [f"Users: {' to '.join(f'{n:,}' for n in dict.fromkeys((counts[0], counts[-1])))}."]
    notes += [f"In brackets: the interval at {level:.10g} of each value."] * intervals
    notes += lacks
    lowest = ", ".join(str(metric) for metric in metrics if metric.direction == "lower")
    best = f"Bold: the best model{f'; of {lowest} the lowest' if lowest else ''}."
    notes += [best] * any("**" in cell for line in lines for cell in line[2:])
    notes += _about_marks({*verdicts.values()}, other, level) if verdicts else []
    untested = ", ".join(str(metric) for metric in metrics if metric not in tested)
    notes += [f"Not tested: {untested}."] * bool(verdicts and untested)
    return Table(tuple(header.get(one, one) for one in titles), tuple(lines), tuple(notes), caption)


def _about_marks(verdicts: Collection[str], other: str, level: float) -> list[str]:
    """Return the meaning of the marks of a table."""
    better = (
        "better (higher, of a metric without a direction)" if "higher" in verdicts else "better"
    )
    of = f"{better}, † worse than {other}" if other else f"{better} than the runner-up"
    test = f"paired t test, p of at most {1 - level:.6g} after Holm's correction for all tests"
    return [f"* {of}: {test} of the table."]
