"""What pictures of lists are drawn with: cells, rows of numbers, marks and lines, in the colours of the page around them."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

WIDTH = 360
"""As wide as a phone; a picture is scaled up from there."""
LEFT, STEP, CELL = 80, 40, 30
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"
GOOD, BAD = "#2da44e", "#d1593b"
"""Colours that stand out from white and from black."""
FAINT = 0.4


@dataclass
class Drawing:
    """A picture that grows downwards, row by row."""

    title: str
    told: str
    """What is drawn, for those who do not see it."""
    name: str
    parts: list[str] = field(default_factory=list)
    y: float = 8

    def text(
        self, x: float, words: str, *, size: float = 11, anchor: str = "start", more: str = ""
    ) -> None:
        """Write words on the line that the picture has come to; nothing where there are none."""
        if not words:
            return
        at = f'x="{x:g}" y="{self.y:g}" font-size="{size:g}" text-anchor="{anchor}"'
        self.parts.append(f"<text {at}{' ' * bool(more)}{more}>{escape(words)}</text>")

    def line(self, words: str, *, size: float = 11, more: str = "") -> None:
        """Write words on a line of their own."""
        self.y += size + 5
        self.text(4, words, size=size, more=more)
        self.y += 2

    def cells(self, label: str, items: str, marks: dict[str, str], k: int) -> None:
        """Draw a list, each item in a box, with its mark; what stands behind k is faint."""
        top = self.y
        self.y += CELL / 2 + 4
        self.text(4, label)
        for place, item in enumerate(items):
            middle = LEFT + STEP * place + STEP / 2
            shade = f' opacity="{FAINT}"' if place >= k else ""
            self.parts.append(f"<g{shade}>{_box(middle, top, marks.get(item, ''))}")
            self.text(middle, item, size=15, anchor="middle")
            self.parts.append("</g>")
        if len(items) > k:
            x = LEFT + STEP * k
            self.parts.append(
                f'<line x1="{x}" x2="{x}" y1="{top - 14:g}" y2="{top + CELL + 4:g}" '
                'stroke="currentColor" stroke-dasharray="3 3"/>'
            )
        self.y = top + CELL + 2

    def numbers(self, label: str, values: list[str], *, more: str = "", size: float = 10.5) -> None:
        """Write a number under each place of the lists."""
        self.y += 13
        self.text(4, label, size=10, more=more)
        for place, value in enumerate(values):
            middle = LEFT + STEP * place + STEP / 2
            self.text(middle, value, size=size, anchor="middle", more=more)
        self.y += 3

    def small_cells(
        self, items: list[str], rows: list[tuple[str, list[str]]], marks: dict[str, str]
    ) -> None:
        """Draw the catalogue: small boxes, six in a line, with rows of numbers under each line."""
        for start in range(0, len(items), SIX):
            some = items[start : start + SIX]
            self.y += 6
            self.cells("catalogue" if start == 0 else "", "".join(some), marks, SIX)
            for label, values in rows:
                self.numbers(label, values[start : start + SIX])

    def legend(self, sign: str, words: str) -> None:
        """Say what a mark means."""
        self.y += 16
        self.parts.append(_sign(10, self.y - 4, sign))
        self.text(22, words)

    @property
    def svg(self) -> str:
        """The picture, to stand in a page."""
        height = self.y + 10
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" role="img" '
            f'aria-labelledby="{self.name}-title {self.name}-told" fill="currentColor" font-family="{FONT}" '
            'style="width: 100%; max-width: 34rem; height: auto">'
        )
        said = (
            f'<title id="{self.name}-title">{escape(self.title)}</title>'
            f'<desc id="{self.name}-told">{escape(self.told)}</desc>'
        )
        return "\n".join([head, said, *self.parts, "</svg>"])


SIX = 6


def standalone(svg: str) -> str:
    """Return a picture as a file of its own, which has no page to take its colours from."""
    style = (
        "<style>svg { color: #1f2328; background: #ffffff }"
        " @media (prefers-color-scheme: dark) { svg { color: #e6edf3; background: #0d1117 } }</style>"
    )
    head, end, rest = svg.partition(">\n")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{head}{end}{style}\n{rest}\n'


def _box(middle: float, top: float, sign: str) -> str:
    colour = {"good": GOOD, "bad": BAD}.get(sign, "currentColor")
    fill = f'fill="{GOOD}" fill-opacity="0.25"' if sign == "good" else 'fill="none"'
    width = 2 if sign == "good" else 1
    box = (
        f'<rect x="{middle - CELL / 2:g}" y="{top:g}" width="{CELL}" height="{CELL}" rx="5" {fill} '
        f'stroke="{colour}" stroke-width="{width}" stroke-opacity="{1 if sign else 0.55}"/>'
    )
    return box + (_sign(middle + CELL / 2 - 1, top + 2, sign) if sign else "")


def _sign(x: float, y: float, sign: str) -> str:
    """Return a tick or a cross, drawn, since fonts may lack them, and each in its own colour."""
    path = (
        f"M{x - 3:g} {y:g}l2.2 2.6l4 -5"
        if sign == "good"
        else f"M{x - 2.5:g} {y - 2.5:g}l5 5m0 -5l-5 5"
    )
    colour = GOOD if sign == "good" else BAD
    return (
        f'<circle cx="{x:g}" cy="{y:g}" r="6" fill="{colour}"/>'
        f'<path d="{path}" fill="none" stroke="#ffffff" stroke-width="1.6" stroke-linecap="round"/>'
    )
