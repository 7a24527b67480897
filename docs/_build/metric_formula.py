"""A metric's formula, typeset: as its definition has it, or made of the one in plain text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from recframe.metrics.language.definition import Definition

SIGNS = {
    "Σ": r"\sum ",
    "Π": r"\prod ",
    "·": r"\cdot ",
    "√": r"\surd ",
    "²": "^2 ",
    "<=": r"\leq ",
    ">=": r"\geq ",
    "∞": r"\infty ",
    "π": r"\pi ",
}
PIECES = re.compile(r"<=|>=|log2|\^\(|[A-Za-z][\w']*(?: [A-Za-z][\w']*)*|\s+|.")


def lines_of(definition: Definition) -> list[str]:
    """Return the displayed formulas of a metric, in LaTeX."""
    if definition.latex:
        return definition.latex.split("\n")
    return ["".join(_typeset(definition.formula)).strip()]


def _typeset(formula: str) -> Iterator[str]:
    """Walk a formula in plain text, its words as words and its signs as signs."""
    ends: list[str] = []
    for piece in PIECES.findall(formula):
        if piece == "^(":
            ends.append("}")
            yield "^{"
        elif piece == "(":
            ends.append(")")
            yield piece
        elif piece == ")" and ends:
            yield ends.pop()
        elif piece == "log2":
            yield r"\log_2 "
        elif piece[0].isalpha() and piece not in SIGNS:
            yield piece if len(piece) == 1 else rf"\text{{{piece}}}".replace("_", " ")
        else:
            yield SIGNS.get(piece, "" if piece in "{}\\$" else r"\;" if piece.isspace() else piece)
    yield "}" * ends.count("}")
