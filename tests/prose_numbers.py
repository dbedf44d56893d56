"""Find the numbers in the prose of a page, and tie each to what its section prints or to a declared source.

CONTRIBUTING.md, section "Numbers in the text", says how an author satisfies this.
"""

import ast
import json
import math
import re
from collections.abc import Container
from dataclasses import dataclass, replace
from functools import cache, cached_property
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import bai
from bai.book import claims, leaderboard, paper, readings, scoreboard, selecting

ROOT = Path(__file__).resolve().parent.parent
SMALL = 12  # whole numbers up to here are small talk, unless they count ("10 of 15 points") or are a percentage
NOT_CHECKED = ("definition", "paper", "measured")  # a choice or a constant; printed in the paper; a time

UNITS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen"""
TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
UNITS, TENS = UNITS.split(), {word: 10 * n for n, word in enumerate(TENS.split(), start=2)}
WORDS = {word: n for n, word in enumerate(UNITS)} | TENS
WORDS |= {f"{ten}-{unit}": TENS[ten] + n for ten in TENS for n, unit in enumerate(UNITS[1:10], start=1)}
SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}

NAMES = {name: getattr(math, name) for name in ("log", "log2", "log10", "sqrt", "exp", "floor", "ceil", "comb", "erfc")}
NAMES |= {f.__name__: f for f in (abs, len, max, min, range, round, sorted, sum)}
NAMES |= {"bai": bai, "claims": claims, "leaderboard": leaderboard, "paper": paper, "readings": readings}
NAMES |= {"scoreboard": scoreboard, "selecting": selecting, "__builtins__": {}}

WORD = "|".join(sorted(WORDS, key=len, reverse=True))
POWER = r"\s*(?:\\times|\\cdot|×)\s*10\^\{?(?P<power>-?\d+)\}?"
NUMBER = re.compile(
    rf"""(?<![\w.\\])(?<![A-Za-z]-)(?:(?<=[\s(\[=$,])(?P<sign>[-−+]))?
    (?:10\^\{{?(?P<ten>-?\d+)\}}?
    |(?P<digits>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d*\.\d+|\d+)(?:[eE](?P<exponent>[-+]?\d+)|{POWER})?
    |(?P<word>{WORD}))
    (?:\ (?P<scale>{"|".join(SCALES)})\b)?
    (?P<percent>(?:\\,|~|\ )?(?:\\?%|per\ cent\b|percent\b))?
    (?![\w])(?!\.\d)""",
    re.X | re.I,
)
JOINED = re.compile(r"\s*(?:,|and|or|to|,\s*and|–|against|instead of|versus)\s*")
LARGE = "|".join(word for word in sorted(WORDS, key=len, reverse=True) if WORDS[word] > SMALL)
COUNTS = re.compile(rf"\b(\d+|{WORD}) (?:out )?of (?:the |its |our |all |their )*(\d[\d,]*|{LARGE})\b(?! *%)", re.I)
HEDGE = re.compile(
    r"\b(?:about|roughly|nearly|almost|around|some|close to|near|approximately)\s+(?:\w+ )?\$?$|(?:≈|\\approx)\s*$"
)

ONE = rf"\b(?P<count>\d+|{WORD})"
COUNTED = {  # what pages state about the book's own lists, and what it must be
    rf"{ONE}\s+(?:policies|strategies|algorithms|of\s+them)\s+on\s+\S+\s+kinds\s+of\s+problems": "leaderboard.POLICIES",
    rf"{ONE}\s+(?:kinds\s+of\s+problems|problem\s+families)": "leaderboard.FAMILIES",
    rf"(?:plays|all|the)\s+{ONE}\s+(?:algorithms|policies)(?=\s+(?:on\s+two|at\s+its|are\s+those)|,\s+5,000)": (
        "paper.policies()"
    ),
}
COUNTED = {re.compile(pattern, re.I | re.M): f"= len({what})" for pattern, what in COUNTED.items()}


@dataclass(frozen=True)
class Number:
    """A number as it is written: its size, the unit of its last digit, and where it stands."""

    text: str
    value: float
    unit: float
    percent: bool = False
    sign: str = ""
    start: int = 0
    whole: bool = False  # written without point and exponent
    about: bool = False  # the prose says that it is rounded
    side: str = ""  # "above" or "below" the printed number, by less than a unit of the last digit

    def __str__(self) -> str:
        return self.text

    @property
    def key(self) -> tuple[float, bool]:
        return (float(f"{self.value:.12g}"), self.percent)

    @property
    def last_digit(self) -> float:
        """The unit of the last digit that is not an empty zero: 100 for 5,500."""
        digits = f"{self.value:.0f}"
        return 10.0 ** (len(digits) - len(digits.rstrip("0"))) if self.whole and self.value else self.unit

    def equals(self, other: "Number") -> bool:
        """Tell whether this number is `other`, rounded to the digits shown here.

        One or two digits are no rounding unless the prose or a declared source says so: too many numbers round to 0.15.
        """
        if self.sign == "-" and other.sign != "-":
            return False
        value = other.value
        if self.percent != other.percent:
            value = value * 100 if self.percent else value / 100
        if self.side:
            gap = (self.value - value) * (1 if self.side == "above" else -1)
            return -1e-9 * self.value <= gap < self.unit
        rounds = self.about or self.value >= 99.5 * self.unit
        return abs(value - self.value) <= (self.unit / 2 if rounds else 0) * (1 + 1e-9) + 1e-9 * self.value


def read(match: re.Match[str]) -> Number:
    """Return the number that a match of `NUMBER` found."""
    found = match.groupdict()
    whole, unit = False, 1.0
    if found["ten"]:
        value = unit = 10.0 ** int(found["ten"])
    elif found["word"]:
        value, whole = float(WORDS[found["word"].lower()]), True
    else:
        digits = found["digits"].replace(",", "")
        exponent = int(found["exponent"] or found["power"] or 0)
        decimals = len(digits.partition(".")[2])
        value, unit = float(f"{digits}e{exponent}"), float(f"1e{exponent - decimals}")
        whole = digits.isdigit() and not exponent
    scale = SCALES.get((found["scale"] or "").lower(), 1)
    sign = (found["sign"] or "").replace("−", "-").replace("+", "")
    return Number(match[0], value * scale, unit * scale, bool(found["percent"]), sign, match.start(), whole)


def numbers_in(text: str) -> list[Number]:
    """Return all numbers of a text."""
    return [read(match) for match in NUMBER.finditer(text)]


def key_of(text: str) -> tuple[float, bool]:
    """Return how a number that somebody declares is compared with those of the prose."""
    found = numbers_in(text)
    if len(found) != 1 or found[0].text.strip() != text.strip():
        raise ValueError(f"a declaration must name one number as the prose writes it, got {text!r}")
    return found[0].key


# --- prose -----------------------------------------------------------------------------------------------


def blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


CODE_BODIES = r"(?:code|code-block|code-cell|eval-rst|bibliography|class-list|module-list|toctree)"
NOT_PROSE = [
    re.compile(r"<!--.*?-->", re.S),
    re.compile(
        rf"^(?P<f>```+)(?!\{{|`)[^\n]*\n.*?^(?P=f)[ \t]*$|^(?P<g>```+)\{{{CODE_BODIES}\}}.*?^(?P=g)[ \t]*$", re.M | re.S
    ),
    re.compile(r"(?:(?<=\n\n)|\A)(?:(?: {4}|\t).*\n?)+"),  # indented code
    re.compile(r"^[`:]{3,}\{[^}]*\}", re.M),  # the name of a directive
    re.compile(r"^ *:[\w-]+:.*$", re.M),  # its options
    re.compile(r"\{[\w:.-]+\}`[^`]*`"),  # roles
    re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.S),  # code
    re.compile(r"\]\([^)]*\)|<?https?://\S+"),  # links
    re.compile(r"^\([\w-]+\)=$|(?<=\$\$) \([\w-]+\)", re.M),  # labels
    re.compile(r"^#+ \d+\.(?= )|^ *\d+\.(?= )", re.M),  # numbering of headings and lists
    re.compile(r"\\(?:label|tag|text|hspace|begin|end)\{[^}]*\}|_\{?\d+\}?"),  # labels and subscripts in formulas
    re.compile(
        r"\b(?:Section|Figure|Theorem|Lemma|Algorithm|Appendix|Equation|Chapter|Assignment|Python|page|claim)s?"
        r"[  ]\d+(?:\.\d+)*(?:(?:, | and | to |, and )\d+(?:\.\d+)*)*(?!\d|%| %)",
        re.I,
    ),
    re.compile(r"\b\d+\.\d+\.\d+\b|\bCC BY \d\.\d|\bBSD \d"),  # versions and licences
    re.compile(r"\bMovieLens 1M\b|\bUAI \d{4}\b|\((?:19|20)\d\d\)"),  # names and years
    re.compile(r"\b95 ?(?:%|per cent|percent)(?=[\s-]+(?:\w+\s+){0,2}(?:interval|confidence|range|bar))", re.I),
]


def plain_thousands(source: str) -> str:
    """Return a text with thousands in formulas written as 4,998."""
    return re.sub(r"(?<=\d)\{,\}(?=\d)|(?<=\d)\\,(?=\d{3}\b)", ",", source)


def readable(source: str) -> str:
    """Return the prose of a markdown text, everything else blanked, each character at its place."""
    text = plain_thousands(source)
    for pattern in NOT_PROSE:
        text = pattern.sub(blank, text)
    return text


def stated(text: str, keys: Container[tuple[float, bool]] = (), starts: Container[int] = ()) -> list[Number]:
    """Return the numbers of a prose text that must have a source, and those with these keys or at these places."""
    found = numbers_in(text)
    counts = {match.start(i) for match in (COUNTS.finditer(text) if " of " in text else ()) for i in (1, 2)}
    for i in range(len(found) - 2, -1, -1):  # "5.5 to 6.8 %": both are percentages
        number, after = found[i], found[i + 1]
        if after.percent and JOINED.fullmatch(text, number.start + len(number.text), after.start):
            found[i] = replace(number, percent=True)
    for i, number in enumerate(found):
        if HEDGE.search(text, max(0, number.start - 40), number.start):
            found[i] = replace(number, unit=number.last_digit, about=True)
    small = [n.whole and not n.percent and n.value <= (2 if n.start in counts else SMALL) for n in found]
    return [n for n, is_small in zip(found, small, strict=True) if not is_small or n.key in keys or n.start in starts]


def places(pattern: re.Pattern[str], text: str) -> list[int]:
    """Return where the counts of a pattern stand. Most texts speak of none of these things, which is quickly seen."""
    speaks = any(thing in text for thing in ("policies", "strategies", "algorithms", "families", "problems"))
    return [match.start("count") for match in pattern.finditer(text)] if speaks else []


def sentence(text: str, at: int) -> str:
    """Return the sentence around a position."""
    ends = [0, *(m.end() for m in re.finditer(r"[.?!]\)?\s+(?=[A-Z*$(])|\n\n|\n- ", text)), len(text)]
    return next(" ".join(text[a:b].split()) for a, b in pairwise(ends) if a <= at < b or b == len(text))


# --- outputs and code ------------------------------------------------------------------------------------


class Rows(HTMLParser):
    """The rows of HTML tables as lines of text, with cells that span several rows repeated."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.cells: list[str] = []
        self.spanning: list[tuple[int, str]] = []
        self.feed(source)

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.cells = [text for _, text in self.spanning]
            self.spanning = [(n - 1, text) for n, text in self.spanning if n > 1]
        elif tag in ("td", "th"):
            self.span = int(dict(attrs).get("rowspan", 1))
            self.cells.append("")

    def handle_data(self, data):
        if self.cells:
            self.cells[-1] += data.strip()

    def handle_endtag(self, tag):
        if tag in ("td", "th") and self.span > 1:
            self.spanning.append((self.span - 1, self.cells[-1]))
        elif tag == "tr":
            self.lines.append("  ".join(self.cells))
            self.cells = []


def output_lines(cell: dict) -> list[str]:
    """Return what a code cell printed, line by line, rows of tables as lines."""
    lines: list[str] = []
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if "text/html" in data:
            lines += Rows("".join(data["text/html"])).lines
        elif "image/png" not in data and "image/svg+xml" not in data:
            lines += "".join(output.get("text", data.get("text/plain", ""))).splitlines()
    return lines


def code_numbers(source: str) -> list[Number]:
    """Return the numbers that a code cell is written with, and those of ranges with a large step."""
    source = "\n".join(line for line in source.splitlines() if not line.lstrip().startswith(("%", "!")))
    found: set[float] = set()
    try:
        tree = ast.parse(source)
    except SyntaxError:  # only magics, or `try:` around one
        return []
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            found.add(float(node.value))
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "range" and len(node.args) == 3:
            try:
                start, stop, step = map(ast.literal_eval, node.args)
            except ValueError:
                continue
            found.update(map(float, range(start, stop, step) if step >= 10 else ()))
    return [Number(f"{value:g}", abs(value), 0.0) for value in found]


@cache
def computed(expression: str, page: "Page") -> list[Number]:
    """Return the value of an expression, or its values if it gives several; `printed` finds a number of the page."""
    value = eval(expression, NAMES | {"printed": lambda text: page.printed(text=text)[0].value})
    values = value if hasattr(value, "__iter__") else [value]
    return [Number(f"{v:g}", abs(v), 0.0, sign="-" if v < 0 else "") for v in values]


# --- pages -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stated:
    """A number that a page states, with its section and what is declared about it."""

    page: "Page"
    cell: int
    section: int
    number: Number
    sentence: str
    declared: str | None

    def candidates(self) -> list[Number]:
        """Return the numbers that this one may be: those of its section, or of its declared source."""
        source = self.declared
        if source is not None and self.number.side:
            source = source.removeprefix(f"{self.number.side} ")
        if source is None:
            return [*self.page.printed(self.section), *self.page.written(self.section)]
        if source == "code" or source.startswith("code: "):
            return self.page.written(text=source[6:])
        if source.startswith("="):
            return computed(source[1:].strip(), self.page)
        name, _, text = source.partition(": ")
        page = self.page if name == "page" else Page.read(name)
        return page.printed(text=text)

    def holds(self) -> bool:
        return self.declared in NOT_CHECKED or any(self.number.equals(other) for other in self.candidates())

    def moved(self, units: int) -> "Stated | None":
        """Return what the page would state if the last digit had been changed by some units."""
        value = self.number.value + units * self.number.unit
        return replace(self, number=replace(self.number, value=value)) if value > 0 else None

    def ambiguous(self) -> bool:
        """Tell whether the next number up or down would pass as well, so that a drift could go unnoticed.

        Parameters that the code of the section has as they are written, need no more.
        """
        value = self.number.value / 100 if self.number.percent else self.number.value
        written = any(abs(other.value - value) <= 1e-12 * value for other in self.page.written(self.section))
        if self.declared or (written and not self.number.about):
            return False
        return any(other and other.holds() for other in (self.moved(-1), self.moved(1)))

    def explain(self) -> str:
        """Return a sentence that says what is wrong, with the printed number that comes nearest."""
        if self.holds():
            return f"{self.place}: the next number up or down would pass as well; declare the line that prints it"
        near = sorted(self.candidates(), key=lambda other: abs(other.value - self.number.value))[:1]
        where = f"in {self.declared!r}" if self.declared else "in its section"
        found = f"the nearest number {where} is {near[0].text.strip()}" if near else f"there is no number {where}"
        return f"{self.place}: {found}"

    @property
    def place(self) -> str:
        return f"{self.page.name}, cell {self.cell}: {self.number.text.strip()!r} in {self.sentence!r}"


class Page:
    """A notebook or a markdown file: what it states, what it prints, what its code says."""

    def __init__(self, name: str, cells: list[dict], declared: dict[str, str] | None = None) -> None:
        self.name, self.cells, self.declared = name, cells, declared or {}
        self._printed: dict[object, list[Number]] = {}

    @staticmethod
    @cache
    def read(name: str) -> "Page":
        """Return the page of that name, for example `chapters/analysis` or `README.md`."""
        path = ROOT / name
        if path.suffix == ".md":
            text = path.read_text(encoding="utf-8")
            if path.name == "CHANGELOG.md":  # what older versions state, stays
                text = "\n## ".join(text.split("\n## ")[:2])
            return Page.of_markdown(name, text)
        path = path if path.suffix == ".ipynb" else path.with_name(f"{path.name}.ipynb")
        if not path.is_file():
            raise ValueError(f"a declaration names {name!r}, which is no page of the book")
        notebook = json.loads(path.read_text(encoding="utf-8"))
        return Page(name, notebook["cells"], notebook["metadata"].get("numbers"))

    @staticmethod
    def of_markdown(name: str, text: str) -> "Page":
        """Return a page with one cell; what it declares stands in a comment: `<!-- numbers: {...} -->`."""
        comments = re.findall(r"<!-- numbers: (\{.*?\}) -->", text, re.S)
        declared = {key: source for comment in comments for key, source in json.loads(comment).items()}
        return Page(name, [{"cell_type": "markdown", "metadata": {}, "source": text}], declared)

    @cached_property
    def parts(self) -> list[tuple[int, int, str]]:
        """Cell, section and prose of every stretch of text. A heading or an exercise starts a section."""
        found, section = [], 0
        for i, cell in enumerate(self.cells):
            source = plain_thousands("".join(cell["source"]))
            if cell["cell_type"] == "markdown":
                fenced = NOT_PROSE[1].sub(blank, source)
                cuts = [m.start() for m in re.finditer(r"^#{1,3} |^[`:]{3,}\{exercise(?:-start)?\}", fenced, re.M)]
                text = readable(source)
                for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
                    section += start in cuts
                    found.append((i, section, text[start:end]))
            else:
                shown = cell["metadata"].get("mystnb", {})
                for text in (shown.get("figure", {}).get("caption", ""), shown.get("image", {}).get("alt", "")):
                    found.append((i, section, readable(text)))
        return found

    @cached_property
    def section_of(self) -> dict[int, int]:
        return {i: section for i, section, _ in self.parts}

    @cached_property
    def lines(self) -> dict[int, list[str]]:
        return {i: output_lines(cell) for i, cell in enumerate(self.cells)}

    def code_cells(self, section: int | None = None) -> list[tuple[int, dict]]:
        cells = [(i, cell) for i, cell in enumerate(self.cells) if cell["cell_type"] == "code"]
        return [(i, cell) for i, cell in cells if section in (None, self.section_of[i])]

    def printed(self, section: int | None = None, text: str = "") -> list[Number]:
        """Return the numbers that cells printed, in one section or in lines with some text; where it has {}, if so."""
        key = ("printed", section, text)
        if key not in self._printed:
            pattern = re.escape(text).replace(r"\{\}", r"\s*(\S+)").replace(r"\.\.\.", ".*?")
            lines = [line for i, _ in self.code_cells(section) for line in self.lines[i]]
            found = [match for line in lines if (match := re.search(pattern, line))]
            texts = [match[1] if match.re.groups else match.string for match in found]
            self._printed[key] = [n for text in texts for n in numbers_in(text) if not n.text[0].isalpha()]
        return self._printed[key]

    def written(self, section: int | None = None, text: str = "") -> list[Number]:
        """Return the numbers in the code of cells, or those that the code after some text starts with."""
        key = ("written", section, text)
        if key not in self._printed:
            sources = ["".join(cell["source"]) for _, cell in self.code_cells(section)]
            if text:
                after = [source[match.end() :] for source in sources for match in re.finditer(re.escape(text), source)]
                found = [match for code in after if (match := re.match(r"\s*[=(]?\s*([\d._e]+)", code))]
                self._printed[key] = [n for match in found for n in code_numbers(match[1].rstrip("._e"))]
            else:
                self._printed[key] = [n for source in sources for n in code_numbers(source)]
        return self._printed[key]

    @cached_property
    def stated(self) -> list[Stated]:
        """The numbers of the prose that need a source, each with the one that is declared, if any.

        A declaration in the metadata of a cell holds for its numbers; one of the page for those that would fail.
        """
        whole_page = {key_of(key): source for key, source in self.declared.items()}
        found = []
        sources = {
            i: {key_of(k): v for k, v in c["metadata"].get("numbers", {}).items()} for i, c in enumerate(self.cells)
        }
        turns = {(i, k): iter(v) for i, own in sources.items() for k, v in own.items() if isinstance(v, list)}
        for i, section, text in self.parts:
            own = sources[i]
            counts = {start: what for pattern, what in COUNTED.items() for start in places(pattern, text)}
            for number in stated(text, own, counts):
                source = own.get(number.key) or counts.get(number.start)
                if isinstance(source, list):  # one for each time that the number occurs
                    source = next(turns[i, number.key], "page: is declared fewer times than it occurs")
                for side in ("above", "below"):
                    if source is not None and source.startswith(f"{side} "):
                        number = replace(number, side=side, unit=number.last_digit)
                number = replace(number, about=number.about or source is not None)
                item = Stated(self, i, section, number, sentence(text, number.start), source)
                if source is None and number.key in whole_page and (not item.holds() or item.ambiguous()):
                    item = replace(item, number=replace(number, about=True), declared=whole_page[number.key])
                found.append(item)
        return found

    def problems(self) -> list[str]:
        """Return what is wrong with the numbers of the page, one line each."""
        found = [item.explain() for item in self.stated if not item.holds() or item.ambiguous()]
        used = {(cell, item.number.key) for item in self.stated if item.declared for cell in (None, item.cell)}
        cells = {i: cell["metadata"].get("numbers", {}) for i, cell in enumerate(self.cells)}
        for i, declared in {None: self.declared, **cells}.items():
            where = "the page" if i is None else f"cell {i}"
            unused = [key for key in declared if (i, key_of(key)) not in used]
            found += [f"{self.name}, {where}: the declaration of {key!r} is not needed" for key in unused]
            for key, sources in declared.items():
                times = sum(item.cell == i and item.number.key == key_of(key) for item in self.stated)
                if isinstance(sources, list) and len(sources) != times:
                    found.append(f"{self.name}, {where}: {key!r} has {len(sources)} sources and occurs {times} times")
        return found
