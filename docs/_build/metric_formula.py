"""A metric's formula, typeset: as its definition has it, or made of the one in plain text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from recframe.metrics.language.definition import Definition

SIGNS = {
    "Σ": r"\sum ",
    "Π": r"\prod ",
    "·": r"\cdot ",
    "²": "^2 ",
    "<=": r"\leq ",
    ">=": r"\geq ",
    "∞": r"\infty ",
    "π": r"\pi ",
    "log2": r"\log_2 ",
}
OPENINGS = {"(": ("(", ")"), "^(": ("^{", "}"), "_(": ("_{(", ")}"), "√(": (r"\sqrt{", "}")}
"""What opens a group, and what closes it then."""
SYMBOL = r"[A-Za-z](?:_[A-Za-z0-9]+)?(?![A-Za-z0-9_'])"
WORD = r"[A-Za-z][A-Za-z0-9'_-]*[A-Za-z0-9]"
SUMS = re.compile(r"([ΣΠ]) over (?:the )?(.+?(?: of [A-Za-z])?) of (?=\S)")
PIECES = re.compile(
    rf"<=|>=|log2|[\^_√]?\(|\^?{SYMBOL}|\^?{WORD}(?: (?:a )?(?!{SYMBOL}){WORD})*|\s+|."
)


def lines_of(definition: Definition) -> list[str]:
    """Return the displayed formulas of a metric, in LaTeX."""
    if definition.latex:
        return definition.latex.split("\n")
    return ["".join(_typeset(definition.formula)).strip()]


def _typeset(formula: str) -> Iterator[str]:
    """Walk a formula in plain text; what a sum runs over stands below its sign."""
    end = 0
    for sum_ in SUMS.finditer(formula):
        yield from _pieces(formula[end : sum_.start()])
        yield f"{SIGNS[sum_[1]].strip()}_{{{''.join(_pieces(sum_[2]))}}} "
        end = sum_.end()
    yield from _pieces(formula[end:])


def _pieces(formula: str) -> Iterator[str]:
    """Walk what no sum begins in, its words as words and its signs as signs."""
    ends: list[str] = []
    for piece in PIECES.findall(formula):
        if piece in OPENINGS:
            opening, end = OPENINGS[piece]
            ends.append(end)
            yield opening
        elif piece == ")" and ends:
            yield ends.pop()
        else:
            yield SIGNS.get(piece) or _piece(piece)
    yield "".join(reversed(ends))


def _piece(piece: str) -> str:
    """Return words, a symbol, or what stands between them."""
    if piece[0] == "^":
        return f"^{{{_piece(piece[1:] or ' ')}}}"
    if re.fullmatch(SYMBOL, piece):
        name, _, below = piece.partition("_")
        return f"{name}_{{{_word(below)}}}" if below else name
    if piece[0].isalpha():
        return _word(piece)
    return "" if piece in "{}\\$#%&_√" else r"\;" if piece.isspace() else piece


def _word(text: str) -> str:
    return text if len(text) == 1 else rf"\text{{{text.replace('_', ' ')}}}"
