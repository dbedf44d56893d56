"""Names of policies, set in one type wherever they stand: text, titles, captions, tables, links, the sidebar.

Writers put them between backticks or not. Either way a page shows ``<code class="policy">``. A call such as
``SHAdaVar(reuse=True)`` is code, also where it is written without backticks. In formulas, words inside ``\\text`` are
treated alike.

It is done twice: when a page has been read, since the sidebar takes the titles from there, and when links to other
pages have got their texts.
"""

import re

from docutils import nodes
from sphinx import addnodes

from bai.policies import REGISTRY

NAMES = sorted((policy.name for policy in REGISTRY), key=len, reverse=True)  # A-GapE-V before A-GapE
NAME = re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, NAMES))})(?!\w)(?:\([^()\s]*\))?")
WORDS = re.compile(r"\\text\{([^{}]*)\}")
CODED = re.compile(rf"<code>({'|'.join(map(re.escape, NAMES))})</code>")
TAG = re.compile(r"(<[^>]*>)")
LEFT_ALONE = (
    nodes.literal,
    nodes.literal_block,
    nodes.raw,
    nodes.math,
    nodes.math_block,
    nodes.comment,
    nodes.citation,
    nodes.label,
    addnodes.pending_xref,
    addnodes.desc_signature,
    addnodes.index,
)
CODE = ("code", "pre", "script", "style", "svg", "title", "textarea", "option", "button")


def literal(text):
    return nodes.literal(text, text, classes=[] if text.endswith(")") else ["policy"])


def parts(text):
    """A text as nodes, with its names set apart.

    >>> [type(part).__name__ for part in parts("SHVar's and SH-like")]
    ['literal', 'Text', 'literal', 'Text']
    """
    found, end = [], 0
    for name in NAME.finditer(text):
        found += [nodes.Text(text[end : name.start()]), literal(name[0])]
        end = name.end()
    return [part for part in [*found, nodes.Text(text[end:])] if part.astext()]


def in_formula(tex):
    r"""A formula whose words set the names apart.

    >>> print(in_formula(r"x \text{for SH}"))
    x \text{for }\texttt{SH}
    """

    def split(words):
        return "".join(rf"\text{'tt' * isinstance(part, nodes.literal)}{{{part.astext()}}}" for part in parts(words[1]))

    return WORDS.sub(lambda words: split(words) if NAME.search(words[1]) else words[0], tex)


def in_html(html):
    """HTML that a cell has made, with the names in its text set apart.

    >>> in_html('<p title="SH">SH <code>SH</code></p>')
    '<p title="SH"><code class="policy">SH</code> <code class="policy">SH</code></p>'
    """
    inside = 0
    pieces = TAG.split(CODED.sub(r"\1", html))
    for place, piece in enumerate(pieces):
        tag = re.match(r"<(/?)([a-z]+)", piece)
        if tag and tag[2] in CODE:
            inside += -1 if tag[1] else 1
        elif not tag and not inside:
            pieces[place] = NAME.sub(lambda name: f'<code class="policy">{name[0]}</code>', piece)
    return "".join(pieces)


def left_alone(text):
    while text := text.parent:
        if isinstance(text, LEFT_ALONE):
            return True
    return False


def set_names(app, doctree, docname=None):
    for code in list(doctree.findall(nodes.literal)):
        if code.astext() in NAMES and "policy" not in code["classes"]:
            code["classes"].append("policy")
    for text in list(doctree.findall(nodes.Text)):
        if NAME.search(text) and not left_alone(text):
            text.parent.replace(text, parts(text))
        elif isinstance(text.parent, (nodes.math, nodes.math_block)) and r"\text{" in text:
            text.parent.replace(text, nodes.Text(in_formula(text)))
    if docname is not None:  # once, since it would find its own work in HTML again
        for raw in list(doctree.findall(nodes.raw)):
            if raw.get("format") == "html" and NAME.search(raw.astext()):
                raw.children = [nodes.Text(in_html(raw.astext()))]


def setup(app):
    app.connect("doctree-read", set_names, priority=100)  # before Sphinx collects the titles
    app.connect("doctree-resolved", set_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
