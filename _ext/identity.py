"""What a page says about itself to search engines and to people who share it.

Every page has a description: its first paragraph. Where ``BOOK_URL`` names the address of the published book, pages
also have the tags that make a card with a picture out of a shared link, which ``tools/make_card.py`` has drawn.
"""

import html
import os

from docutils import nodes

MOST = 200  # letters of a description
TITLE = "Best-Arm Identification<br>with Unequal Noise"


def text_of(node):
    """The text of a paragraph, without formulas and what only a page can show; none if that leaves holes in it."""
    if any(node.findall(lambda part: isinstance(part, (nodes.math, nodes.raw, nodes.problematic)))):
        return ""
    return " ".join(node.astext().split())


def shortened(text, most=MOST):
    """A text cut after a sentence or, if the first one is too long, after a word.

    >>> shortened("One two. Three four.", 12), shortened("One two three", 8)
    ('One two.', 'One two…')
    """
    if len(text) <= most:
        return text
    sentence = text.rfind(". ", 0, most)
    return text[: sentence + 1] if sentence > 0 else text[: most - 1].rsplit(" ", 1)[0] + "…"


def description(doctree, title):
    """The first paragraph of a page that says something, or its title."""
    paragraphs = (text_of(node) for node in doctree.findall(nodes.paragraph) if isinstance(node.parent, nodes.section))
    return shortened(next((text for text in paragraphs if len(text) >= 40), title))


def add_tags(app, pagename, templatename, context, doctree):
    if doctree is None:
        return
    title = nodes.Text(app.env.titles[pagename].astext()).astext()
    about = description(doctree, title)
    tags = {"name": {"description": about, "author": app.config.author, "generator": "Jupyter Book"}}
    address = os.environ.get("BOOK_URL", "").rstrip("/")
    if address:
        tags["property"] = {
            "og:type": "article",
            "og:site_name": app.config.project,
            "og:title": title,
            "og:description": about,
            "og:url": f"{address}/{pagename}.html",
            "og:image": f"{address}/_static/card.png",
            "og:image:width": "1200",
            "og:image:height": "630",
            "og:image:alt": "Ten arms with unequal noise; the best one is the noisiest.",
        }
        tags["name"]["twitter:card"] = "summary_large_image"
    context["metatags"] = context.get("metatags", "") + "".join(
        f'\n<meta {kind}="{name}" content="{html.escape(content)}">'
        for kind, each in tags.items()
        for name, content in each.items()
    )


def name_the_book(app, config):
    config.html_theme_options |= {"logo": {"text": TITLE, "alt_text": ""}}


def setup(app):
    app.connect("config-inited", name_the_book)
    app.connect("html-page-context", add_tags)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
