"""How long the pages are: the words that stand before the exercises, in the text and not in the cells."""

import json
import re
from pathlib import Path

import pytest

import bai

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


# --- the advice, and where it is shown -------------------------------------------------------------------

ADVICE = (
    "needs no knowledge of the arms, does not depend on the unit of the rewards, and plays with any budget of at "
    "least one pull per arm. Of all such policies it makes the fewest mistakes"
)
ADVISERS = ("README.md", "index.ipynb", *(f"chapters/{name}.ipynb" for name in ("in_short", "own_arms", "conclusions")))
LINK = re.compile(r"\{(ref|term|prf:ref|numref|cite:p|doc)\}`")


def text_of(path):
    text = (ROOT / path).read_text(encoding="utf-8")
    if path.endswith(".ipynb"):
        text = "\n".join("".join(c["source"]) for c in json.loads(text)["cells"] if c["cell_type"] == "markdown")
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("path", [*ADVISERS, "chapters/leaderboard.ipynb"])
def test_pages_that_advise_recommend_the_default_in_the_same_words(path):
    named = type(bai.identify(pull=float, n_arms=2, budget=4).policy).__name__
    before, *after = text_of(path).split(ADVICE)
    assert after and named in before[-120:]


def unlinked(notebook):
    """The sentences without a link, questions and tables aside."""
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
    text = re.sub(r"^(#|\||\([a-z-]+\)=).*$", "\n", "\n\n".join(cells), flags=re.M)
    for paragraph in re.split(r"\n\s*\n|^- ", text, flags=re.M):
        for sentence in re.split(r"(?<=[.?])\s+(?=[A-Z`{*])", paragraph.strip()):
            if sentence and not sentence.endswith("?") and not LINK.search(sentence):
                yield " ".join(sentence.split())


def test_sentences_without_a_link_are_found():
    source = ["(sec-x)=\n# Title\n\nThis {ref}`links <sec-y>`. This does not. Does this?\n- Nor `this`.\n"]
    assert list(unlinked({"cells": [{"cell_type": "markdown", "source": source}]})) == ["This does not.", "Nor `this`."]


def test_every_sentence_of_in_short_links_to_where_it_is_shown():
    assert list(unlinked(stored("in_short"))) == []
