"""Offers the student versions of the assignments: they are made while the book is built, never kept.

``{assignment} NAME`` shows the points of ``chapters/assignments/source/NAME``, a link that downloads what students get
and, where ``BOOK_REPOSITORY_URL`` is set, links that open it on Binder and Colab. These open the branch
``BOOK_REPOSITORY_BRANCH``, on which the student versions must lie in ``chapters/assignments/release``.
"""

import os
import sys
from pathlib import Path
from urllib.parse import quote, urlsplit

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

sys.path.append(str(Path(__file__).resolve().parent.parent / "tools"))
from make_assignments import FOLDER, SOURCES, nbformat, points, student_version


def links(name):
    """What the page offers for an assignment: names and addresses, seen from ``chapters/``."""
    found = {"Download the notebook": f"assignments/{name}.ipynb"}
    url = os.environ.get("BOOK_REPOSITORY_URL")
    if url:
        repository = urlsplit(url).path.strip("/")
        branch = os.environ.get("BOOK_REPOSITORY_BRANCH") or "main"
        file = f"chapters/assignments/release/{name}/{name}.ipynb"
        binder = f"https://mybinder.org/v2/gh/{repository}/{branch}?urlpath={quote(f'lab/tree/{file}', safe='')}"
        found["Binder"] = binder
        found["Colab"] = f"https://colab.research.google.com/github/{repository}/blob/{branch}/{file}"
    return found


class Assignment(SphinxDirective):
    required_arguments = 1

    def run(self):
        name = self.arguments[0]
        source = FOLDER / "source" / name / f"{name}.ipynb"
        self.env.note_dependency(str(source))
        total = points(nbformat.read(source, as_version=4))
        anchors = [
            f'<a href="{url}"{"" if ":" in url else " download"}>{text}</a>' for text, url in links(name).items()
        ]
        html = f"<p><strong>{total} points.</strong> {' · '.join(anchors)}</p>"
        return [nodes.raw("", html, format="html")]


def write_student_versions(app, exception):
    if exception is None:
        folder = Path(app.outdir) / "chapters" / "assignments"
        folder.mkdir(parents=True, exist_ok=True)
        for source in SOURCES:
            nbformat.write(student_version(source), folder / source.name)


def setup(app):
    app.add_directive("assignment", Assignment)
    app.connect("build-finished", write_student_versions)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
