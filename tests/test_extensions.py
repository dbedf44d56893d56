"""What the extensions of the book make of text: formulas of docstrings, descriptions of pages, previews of links."""

import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "_ext"))

pytest.importorskip("sphinx_proof", reason="the extensions of the book are not installed")
import book  # noqa: E402
import formulas  # noqa: E402
import identity  # noqa: E402
import policies  # noqa: E402
import previews  # noqa: E402
import quicker  # noqa: E402
import tables  # noqa: E402
from docutils import nodes  # noqa: E402

TYPESET = {
    "Return H = Σ_i b²/Δ_i², the rest.": r"Return :math:`H = \sum _i b^2/\Delta _i^2`, the rest.",
    "With μ̂_i ≥ μ̂_1 it fails.": r"With :math:`\hat{\mu }_i \ge  \hat{\mu }_1` it fails.",
    "at most n log K of `max_i σ_i` pulls": "at most n log K of `max_i σ_i` pulls",
    "k_s = K/2^(s-1) arms": ":math:`k_s = K/2^{s-1}` arms",
    "a σ² and n_arms": r"a :math:`\sigma ^2` and n_arms",
    "for (σ_1 and": "for (σ_1 and",  # a bracket that stays open
    "w_i = (sigma_i)": r":math:`w_i` = (sigma_i)",  # not all of it is a formula
}


@pytest.mark.parametrize("text", TYPESET)
def test_formulas_of_docstrings_are_typeset_and_words_are_not(text):
    assert formulas.typeset(text) == TYPESET[text]


def test_formulas_across_lines_are_one_and_examples_are_left_alone():
    lines = ["with p_i =", "σ_i²/n, so", "", "    >>> σ_i", "    σ_i"]
    formulas.typeset_docstring(None, "function", "", None, None, lines)
    assert lines == [r"with :math:`p_i = \sigma _i^2/n`, so", "", "    >>> σ_i", "    σ_i"]


def test_a_call_in_a_table_is_code_and_other_words_are_not():
    cells = ["GapEV(scaling='paper')", "0.52 (0.51 to 0.53)", "A/B (two arms)"]
    row = "".join(f"<td>{cell}</td>" for cell in cells)
    head = "<thead><tr><th>a</th><th>b</th><th>c</th></tr></thead>"
    table = tables.table_node(f'<table class="dataframe">{head}<tbody><tr>{row}</tr></tbody></table>')
    assert [code.astext() for code in table.findall(nodes.literal)] == cells[:1]
    assert [entry.astext() for entry in table.findall(nodes.entry)] == ["a", "b", "c", *cells]


def page_with(*paragraphs):
    return nodes.document(None, None, "", nodes.section("", *paragraphs))


def test_description_is_the_first_paragraph_without_formulas():
    formula = nodes.paragraph("", "Some arms have the budget ", nodes.math("", "n"), nodes.Text(" in all."))
    words = nodes.paragraph("", "You have several options. " * 20)
    assert identity.description(page_with(formula, words), "Title") == " ".join(["You have several options."] * 7)
    assert identity.description(page_with(nodes.paragraph("", "Short.")), "Title") == "Title"


@pytest.mark.parametrize("address", ["", "https://book.example/"])
def test_cards_for_shared_links_need_the_address_of_the_book(address, monkeypatch):
    monkeypatch.setenv("BOOK_URL", address)
    env = SimpleNamespace(titles={"chapters/x": nodes.title("", "A <title>")})
    app = SimpleNamespace(env=env, config=SimpleNamespace(author="Us", project="Book"))
    context = {}
    identity.add_tags(app, "chapters/x", "", context, page_with())
    assert '<meta name="description" content="A &lt;title&gt;">' in context["metatags"]
    assert ("https://book.example/chapters/x.html" in context["metatags"]) == bool(address)
    assert ("og:" in context["metatags"]) == bool(address)


def test_the_card_has_the_size_that_its_tags_state():
    from PIL import Image

    with Image.open(ROOT / "_static" / "card.png") as card:
        assert card.size == (1200, 630)


def test_previews_hold_whole_statements_without_links_and_names():
    page = (
        '<div class="proof theorem admonition" id="thm"><p><a href="x">T</a></p><div id="in">a</div></div><p>after</p>'
        '<div class="proof admonition" id="proof"><p>P</p></div>'
        '<dt id="term-arm">arm<a class="headerlink" href="#term-arm">#</a></dt><dd><p>A choice.</p></dd>'
    )
    assert previews.previews(page) == {
        "thm": '<div class="proof theorem admonition"><p>T</p><div>a</div></div>',
        "term-arm": "<p>A choice.</p>",
    }


def test_corrected_theorems_carry_the_number_of_the_printed_one():
    found = [
        book.CORRECTED.fullmatch(title) for title in ("Theorem 3, corrected", "Theorems 1 and 2, corrected", "Other")
    ]
    assert [match and [number for number in match.groups() if number] for match in found] == [["3"], ["1", "2"], None]


def test_scripts_of_the_book_ask_no_other_host():
    scripts = sorted((ROOT / "_static").glob("*.js"))
    assert scripts
    assert [path.name for path in scripts if re.search(r"https?:|\bimport\(|XMLHttp", path.read_text())] == []


def test_names_of_policies_are_set_apart_and_calls_and_other_code_are_left_alone():
    def looks(text):
        return [
            (part.astext(), part.get("classes")) for part in policies.parts(text) if isinstance(part, nodes.literal)
        ]

    assert looks("SHVar's, A-GapE-V, SHE and bai.SH") == [("SHVar", ["policy"]), ("A-GapE-V", ["policy"])]
    assert looks("SHAdaVar(reuse=True) and GapE (old)") == [("SHAdaVar(reuse=True)", []), ("GapE", ["policy"])]
    assert policies.in_formula(r"x \text{for SH} \text{or}") == r"x \text{for }\texttt{SH} \text{or}"
    name = '<code class="policy">SH</code>'
    assert policies.in_html('<p title="SH">SH <code>SH</code> <pre>SH</pre></p>') == (
        f'<p title="SH">{name} {name} <pre>SH</pre></p>'
    )


def test_pages_are_read_once_for_all_references_by_number_and_the_rest_of_the_environment_is_sphinxs_own():
    read = []
    env = SimpleNamespace(get_doctree=lambda name: read.append(name) or nodes.paragraph(name), config="its own")
    once = quicker.ReadOnce(env)
    assert once.get_doctree("a") is once.get_doctree("a") is not once.get_doctree("b")
    assert read == ["a", "b"] and once.config == "its own"
