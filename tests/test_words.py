"""How long the pages are: the words that stand before the exercises, in the text and not in the cells."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MOST_WORDS = 2000
MOST_IN_SHORT = 700
CORE = (
    "introduction",
    "setting",
    "sequential_halving",
    "known_variances",
    "unknown_variances",
    "analysis",
    "experiments",
    "synthetic",
    "movielens",
    "conclusions",
)


def words(notebook):
    """The number of words in the text before the exercises, counted between blanks."""
    text = "\n".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown")
    seen = re.sub(r"^```\{live\}.*?^```", "", text, flags=re.M | re.S)  # what stands there is for pages without scripts
    return len(seen.split("## Exercises")[0].split())


def shown(notebook):
    """The number of words that a reader sees: links count by their text, a formula is one word."""
    text = "\n".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown")
    text = re.sub(r"^\([a-z-]+\)=$|^\| ---.*$|[|#]|^- ", "", text, flags=re.M)
    text = re.sub(r"\{[a-z:]+\}`([^`<]*?)\s*(<[^>]*>)?`", r"\1", text)
    return len(re.sub(r"\$[^$]*\$", "x", text).split())


def stored(name):
    return json.loads((ROOT / "chapters" / f"{name}.ipynb").read_text(encoding="utf-8"))


def test_the_count_takes_the_text_and_stops_at_the_exercises():
    cells = [
        ("markdown", ["# One two\n", "three"]),
        ("code", ["four = 5"]),
        ("markdown", ["```{live} figure\nno words\n```\n", "six\n\n## Exercises\nseven"]),
    ]
    assert words({"cells": [{"cell_type": kind, "source": source} for kind, source in cells]}) == 5


@pytest.mark.parametrize("name", CORE)
def test_a_core_page_can_be_read_in_ten_minutes(name):
    counts = {path.stem: words(stored(path.stem)) for path in sorted((ROOT / "chapters").glob("*.ipynb"))}
    print(*(f"{count:6,d} {page}" for page, count in counts.items()), sep="\n")
    assert counts[name] <= MOST_WORDS


def test_a_link_counts_by_its_text_and_a_formula_is_one_word():
    source = [
        "(sec-x)=\n",
        "# In short\n\n",
        "- {ref}`two words <sec-y>` and $a + b$\n\n",
        "| what | use |\n| --- | --- |\n",
    ]
    assert shown({"cells": [{"cell_type": "markdown", "source": source}]}) == 8


def test_in_short_is_short():
    page = stored("in_short")
    figures = [cell for cell in page["cells"] if "figure" in cell["metadata"].get("mystnb", {})]
    print(shown(page), "words in short")
    assert shown(page) <= MOST_IN_SHORT and len(figures) <= 3
