"""What the book asks of Sphinx beyond its settings: the paper's numbers, and the repository's address.

Numbers. Theorems, lemmas and algorithms count through the whole book, so that they carry the numbers of the
paper; figures, equations and exercises count by chapter. A theorem titled "Theorem 3, corrected" has the number 3′.
Where a page has sub-pages, those take the section numbers (3.1, 3.2), and the headings of the page itself get letters
(3.a).

Index. The index of statements shows their titles, kind by kind in reading order.

Sidebar. Pages with sub-pages are open in it.

Address. Where ``BOOK_REPOSITORY_URL`` is set, notebooks get launch buttons that open the branch
``BOOK_REPOSITORY_BRANCH`` (``main`` unless set) of that repository. Where it is not, there are none.
``BOOK_JUPYTERHUB_URL`` adds a JupyterHub (with nbgitpuller) to Binder and Colab.

Thebe, which Jupyter Book always loads, is left out: nothing here uses it, and its script is declared twice. So is the
script of Font Awesome, 1.5 MB on every page, which replaces letters of its font by drawings that look the same.
"""

import os
import re
from string import ascii_lowercase

from docutils import nodes
from sphinx import addnodes
from sphinx_proof.domain import ProofIndex
from sphinx_proof.nodes import unenumerable_node

CORRECTED = re.compile(r"Theorems? (\d+)(?: and (\d+))?, corrected")
ICON_SCRIPT = re.compile(r'<script src="[^"]*/fontawesome/[^"]*"></script>')
PAPER_COUNTERS = ("theorem", "lemma", "algorithm")


def add_launch_buttons(app, config):
    url = os.environ.get("BOOK_REPOSITORY_URL")
    if url:
        config.html_theme_options |= {
            "repository_url": url,
            "repository_branch": os.environ.get("BOOK_REPOSITORY_BRANCH") or "main",
            "use_repository_button": True,
            "launch_buttons": {
                "notebook_interface": "jupyterlab",
                "binderhub_url": "https://mybinder.org",
                "colab_url": "https://colab.research.google.com",
                "jupyterhub_url": os.environ.get("BOOK_JUPYTERHUB_URL", ""),
            },
        }


def open_sidebar(app, config):
    config.html_theme_options |= {"show_navbar_depth": 2}


def leave_out_thebe(app):
    for listeners in app.events.listeners.values():
        listeners[:] = [x for x in listeners if not x.handler.__module__.startswith("sphinx_thebe")]
    app.registry.css_files[:] = [x for x in app.registry.css_files if "thebe" not in x[0]]


def leave_out_icon_script(app):
    if app.builder.format == "html":
        render = app.builder.templates.render
        app.builder.templates.render = lambda *page: ICON_SCRIPT.sub("", render(*page))


def split_toc(env, docname):
    """The list of headings in a page, and the sub-pages in it; either may be empty."""
    items = [node for item in env.tocs[docname] for node in item[1:]]  # what is below the title
    headings = [item for node in items for item in node if not isinstance(item, addnodes.toctree)]
    subpages = [item for node in items for item in node if isinstance(item, addnodes.toctree)]
    return headings, subpages


def number_subpages_first(app, env):
    for docname in env.tocs:
        if docname != app.config.root_doc:
            headings, subpages = split_toc(env, docname)
            if headings and subpages:
                subpages[0].parent.children.sort(key=lambda item: not isinstance(item, addnodes.toctree))
    return []


def letter_headings(item, number, letters, secnumbers):
    """Number a heading of a page with sub-pages, and the headings below it: 3.a, then 3.a.1."""
    reference = next(item.findall(nodes.reference))
    reference["secnumber"] = secnumbers[reference["anchorname"]] = (*number, next(letters))
    below = [child for part in item if isinstance(part, nodes.bullet_list) for child in part]
    counter = iter(range(1, len(below) + 1))
    for child in below:
        letter_headings(child, reference["secnumber"], counter, secnumbers)


def renumber(app, env):
    for docname in env.tocs:
        headings, subpages = split_toc(env, docname)
        secnumbers = env.toc_secnumbers.get(docname, {})
        if docname != app.config.root_doc and subpages and secnumbers.get(""):
            letters = iter(ascii_lowercase)
            for item in headings:
                letter_headings(item, secnumbers[""], letters, secnumbers)
    counts = dict.fromkeys(PAPER_COUNTERS, 0)
    for numbers in env.toc_fignumbers.values():  # in reading order
        for kind in PAPER_COUNTERS:
            for label in numbers.get(kind, ()):
                counts[kind] += 1
                numbers[kind][label] = (counts[kind],)
    for label, statement in getattr(env, "proof_list", {}).items():
        if "corrected" in statement:
            statement["nonumber"] = False
            env.toc_fignumbers.setdefault(statement["docname"], {}).setdefault("theorem", {})[label] = (
                statement["corrected"],
            )
    return []


def note_titles(app, doctree):
    """Keep the titles of statements for the index, and write the numbers of corrected theorems."""
    for node in doctree.findall(lambda node: isinstance(node, nodes.Element) and "realtype" in node):
        title = next(iter(node.findall(nodes.title)), None)
        statement = app.env.proof_list.get(node.get("label"))
        if title is None or statement is None:
            continue
        statement["title"] = title.astext().strip().removeprefix("(").removesuffix(")")
        corrected = CORRECTED.fullmatch(statement["title"])
        if corrected and isinstance(node, unenumerable_node):
            statement["corrected"] = "/".join(f"{number}′" for number in corrected.groups() if number)
            title.insert(0, nodes.Text(f"{statement['corrected']} "))


def list_statements(index, docnames=None):
    """What the index of statements shows: for each kind, number, title and page."""
    env = index.domain.env
    place = {docname: number for number, docname in enumerate(env.toc_secnumbers)}
    statements = getattr(env, "proof_list", {}).values()
    kinds = {}
    for statement in sorted(statements, key=lambda each: place.get(each["docname"], len(place))):
        docname, kind, label = statement["docname"], statement["realtype"], statement["label"]
        number = "" if statement["nonumber"] else env.toc_fignumbers[docname][statement["countertype"]][label]
        name = " ".join([kind.title(), *([".".join(map(str, number))] if number else [])])
        title = f" ({statement['title']})" if statement.get("title") else ""
        entry = (name + title, 0, docname, label, env.titles[docname].astext(), "", "")
        kinds.setdefault(kind.title(), []).append(entry)
    return list(kinds.items()), False


def setup(app):
    leave_out_thebe(app)
    ProofIndex.localname, ProofIndex.generate = "Theorems, lemmas and other statements", list_statements
    app.connect("config-inited", add_launch_buttons)
    app.connect("config-inited", open_sidebar)
    app.connect("builder-inited", leave_out_icon_script)
    app.connect("doctree-read", note_titles)
    app.connect("env-get-updated", number_subpages_first, priority=100)  # before Sphinx gives numbers
    app.connect("env-get-updated", renumber, priority=900)  # after
    return {"parallel_read_safe": True, "parallel_write_safe": True}
