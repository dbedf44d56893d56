"""The scoreboard as HTML: a picture of the counts, and a table with small plots that reads as a list of cards.

Both are complete without scripts and without a style sheet. ``_static/scoreboard.css`` gives them their looks, and
``_static/scoreboard.js`` lets readers filter the table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

from ..policies import REGISTRY
from .claims import Curves
from .scoreboard import EVERY, NO, OPEN, SOME, UNTESTABLE, WORDS, Row, Shown

KINDS = {  # a name for each kind of verdict in the style sheet, and an icon, so that colour is not all
    EVERY: ("every", "✓"),
    SOME: ("some", "◐"),
    NO: ("no", "✗"),
    OPEN: ("open", "?"),
    UNTESTABLE: ("untestable", "⊘"),
}
ICONS = {"holds": "✓", "fails": "✗", "open": "?"}
COLUMNS = (("noisy", "movies"), ("quiet",), ("wide",), ("published",))
WIDTH, HEIGHT, EDGE = 240, 130, 8  # of a small plot, in half pixels
COLOURS = {policy.name: policy.style["color"] for policy in REGISTRY}
INK = "#000000"  # drawn in the colour of the text


def picture(board: Sequence[Row]) -> str:
    """Return the counts of the five kinds of verdicts as HTML, with a tile for each claim that leads to its row."""
    numbered = list(enumerate(board, 1))
    groups = []
    for kind, (name, icon) in KINDS.items():
        rows = [(number, row) for number, row in numbered if row.kind == kind]
        tiles = "".join(
            f'<li><a href="#claim-{number}" title="{escape(row.claim.words)}">{number}</a></li>' for number, row in rows
        )
        groups.append(
            f'<li class="score-{name}" style="--count: {len(rows)}"><strong>{len(rows)}</strong> '
            f'<span><span aria-hidden="true">{icon}</span> {kind}</span>\n<ol>{tiles}</ol></li>'
        )
    return '<ul class="score-picture">\n' + "\n".join(groups) + "\n</ul>"


def table(board: Sequence[Row]) -> str:
    """Return the scoreboard as an HTML table: a row for each claim, a column for each reading."""
    titles = ["claim", *(" or ".join(names) for names in COLUMNS)]
    head = "".join(f'<th scope="col">{title}</th>' for title in titles)
    rows = "\n".join(_row(number, row) for number, row in enumerate(board, 1))
    return f'<table class="scoreboard">\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>'


def _row(number: int, row: Row) -> str:
    name, icon = KINDS[row.kind]
    claim = row.claim
    answers = {reading: WORDS[shown.answer.holds] for reading, shown in row.shown.items()}
    found = " ".join(f"{reading}-{answer}" for reading, answer in answers.items())
    evidence = row.evidence[0].upper() + row.evidence[1:]
    links = {"figure or cell": _address(claim.cell), "in the book": _address(claim.place)}
    anchors = " · ".join(f'<a href="{address}">{text}</a>' for text, address in links.items() if address)
    about = "".join(
        (
            f'<p class="score-verdict score-{name}"><span aria-hidden="true">{icon}</span> {escape(row.verdict)}</p>',
            f'<p class="score-words"><a href="#claim-{number}">{number}</a> {_sentence(claim.words)} '
            f"<small>Section {escape(claim.section)}</small></p>".replace("Section Abstract", "Abstract"),
            f'<p class="score-test">Test: {_sentence(claim.test)}. {_sentence(evidence)}. {anchors}</p>',
            f'<p class="score-key">{_key(next(iter(row.shown.values())).curves)}</p>',
        )
    )
    limits = _limits(shown.curves for shown in row.shown.values())
    cells = "\n".join(_cell(names, row, limits) for names in COLUMNS)
    return (
        f'<tr id="claim-{number}" data-kind="{name}" data-sections="{escape(claim.section)}" data-answers="{found}">'
        f'\n<th scope="row">{about}</th>\n{cells}</tr>'
    )


def _cell(names: Sequence[str], row: Row, limits: tuple[float, float]) -> str:
    """Return the cell of the reading that this row has of these, or an empty one."""
    found = [name for name in names if name in row.shown]
    if not found:
        return '<td class="score-none">–</td>'
    shown = row.shown[found[0]]
    word = WORDS[shown.answer.holds]
    return (
        f'<td data-reading="{found[0]}">{sparkline(shown, found[0], limits)}'
        f'<span class="score-{word}"><span aria-hidden="true">{ICONS[word]}</span> {word}</span></td>'
    )


def _address(place: str) -> str:
    page, _, anchor = place.partition("#")
    return f"{page}.html#{anchor}" if page else ""


def _sentence(text: str) -> str:
    return re.sub(r"\b(SHVar|SHAdaVar)\b", r"<code>\1</code>", escape(text, quote=False))


# --- small plots -----------------------------------------------------------------------------------------


def _pen(name: str) -> str:
    """Return the attributes of a line: the colour of its policy; dashes for a second version of the same."""
    policy = name.rstrip("*").partition(",")[0]
    colour = COLOURS.get(policy, INK)
    dashes = ' stroke-dasharray="4 2"' if policy != name or name == "n = 1000" else ""
    return f'stroke="{"currentColor" if colour == INK else colour}"{dashes}'


def _key(curves: Curves) -> str:
    """Return which line is what."""
    swatch = '<svg width="18" height="8" aria-hidden="true"><path d="M0 4H18" stroke-width="2" {}/></svg> {}'
    items = [swatch.format(_pen(name), escape(name)) for name in curves.lines if name not in curves.pale]
    if curves.pale:
        items.append(swatch.format('stroke="currentColor" opacity="0.4"', "the others"))
    if curves.target is not None:
        items.append(swatch.format('stroke="currentColor" stroke-dasharray="1 3"', f"{curves.target:g}"))
    return f"{' '.join(items)}; {escape(curves.over)}" if items else ""


def _limits(curves: Iterable[Curves]) -> tuple[float, float]:
    """Return the lowest and the highest value of several plots, which share an axis."""
    drawn = list(curves)
    values = [y for each in drawn for line in each.lines.values() for y in line if y is not None]
    values += [each.target for each in drawn if each.target is not None]
    values += [0.0 for each in drawn if each.from_zero]
    return min(values, default=0.0), max(values, default=1.0)


def sparkline(shown: Shown, reading: str, limits: tuple[float, float]) -> str:
    """Return a small plot of the lines behind an answer, as SVG; its name says what the answer rests on.

    Examples
    --------
    >>> from bai.book.evidence import Answer
    >>> shown = Shown(Answer(True, "rises"), Curves({"SH": [0.0, None, 0.5, 1.0]}, "budgets"))
    >>> print(sparkline(shown, "noisy", (0, 1)))
    <svg class="score-plot" viewBox="0 0 240 130" role="img" aria-label="noisy: rises">
    <path d="M8 122h0M157 65h0L232 8" stroke="#0072B2"/></svg>
    """
    answer, curves = shown
    low, high = limits
    count = max((len(line) for line in curves.lines.values()), default=0)
    right, down = (WIDTH - 2 * EDGE) / max(count - 1, 1), (HEIGHT - 2 * EDGE) / ((high - low) or 1)

    def height(y: float) -> str:
        return f"{HEIGHT - EDGE - (y - low) * down:.0f}"

    def path(line: Sequence[float | None]) -> str:
        steps = []
        for i, y in enumerate(line):
            if y is not None:
                starts = i == 0 or line[i - 1] is None
                place = f"{EDGE + i * right:.0f} {height(y)}"
                steps.append(f"M{place}h0" if starts else f"L{place}")  # h0: a dot if the line ends there
        return "".join(steps)

    paths = []
    if curves.target is not None:
        paths.append(f'<path d="M0 {height(curves.target)}H{WIDTH}" class="score-target"/>')
    for name, line in curves.lines.items():
        pen = 'class="score-pale"' if name in curves.pale else _pen(name)
        paths.append(f'<path d="{path(line)}" {pen}/>')
    label = escape(f"{reading}: {answer.said}")
    opening = f'<svg class="score-plot" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">'
    return opening + "".join(f"\n{each}" for each in paths) + "</svg>"
