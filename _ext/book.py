"""What the book asks of Sphinx beyond its settings: the paper's numbers, and the repository's address.

Numbers. Theorems, lemmas and algorithms count through the whole book, so that they carry the numbers of the
paper; figures, equations and exercises count by chapter. Where a page has sub-pages, those take the section
numbers (3.1, 3.2) and the headings of the page itself go without.

Address. Where ``BOOK_REPOSITORY_URL`` is set, notebooks get launch buttons that open the branch
``BOOK_REPOSITORY_BRANCH`` (``main`` unless set) of that repository. Where it is not, there are none. ``BOOK_JUPYTERHUB_URL`` adds a
JupyterHub of your own (with nbgitpuller) to Binder and Colab.

Thebe, which Jupyter Book always loads, is left out: nothing here uses it, and its script is declared twice.
"""

import os

from docutils import nodes
from sphinx import addnodes

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


def leave_out_thebe(app):
    for listeners in app.events.listeners.values():
        listeners[:] = [x for x in listeners if not x.handler.__module__.startswith("sphinx_thebe")]
    app.registry.css_files[:] = [x for x in app.registry.css_files if "thebe" not in x[0]]


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


def renumber(app, env):
    for docname in env.tocs:
        headings, subpages = split_toc(env, docname)
        if docname != app.config.root_doc and subpages:
            for reference in (r for item in headings for r in item.findall(nodes.reference)):
                reference["secnumber"] = None
                env.toc_secnumbers.get(docname, {})[reference["anchorname"]] = ()
    counts = dict.fromkeys(PAPER_COUNTERS, 0)
    for numbers in env.toc_fignumbers.values():  # in reading order
        for kind in PAPER_COUNTERS:
            for label in numbers.get(kind, ()):
                counts[kind] += 1
                numbers[kind][label] = (counts[kind],)
    return []


def setup(app):
    leave_out_thebe(app)
    app.connect("config-inited", add_launch_buttons)
    app.connect("env-get-updated", number_subpages_first, priority=100)  # before Sphinx gives numbers
    app.connect("env-get-updated", renumber, priority=900)  # after
    return {"parallel_read_safe": True, "parallel_write_safe": True}
