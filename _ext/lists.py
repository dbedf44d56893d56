"""Lists made from the notebooks while the book is built: all exercises, and all figures as files.

``{exercise-list}`` lists the exercises by chapter. Each carries its difficulty and its topic as its title::

    ```{exercise} easy: two finalists
    :label: ex-intro-two

``{figure-list}`` shows the stored pictures with their captions. They are written to ``chapters/figures/NAME.svg``,
where NAME is the name in the metadata of the cell, and carry the licence in their own metadata.
"""

import html
import re
from pathlib import Path

import nbformat
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parent.parent
LICENCE = "CC BY 4.0, https://creativecommons.org/licenses/by/4.0/"
EXERCISE = re.compile(r"^`{3,}\{exercise(?:-start)?\} *(.*)\n:label: (\S+)$", re.M)


def notebooks():
    """The notebooks of the book in reading order, by the names of their pages."""
    toc = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    paths = {page: ROOT / f"{page}.ipynb" for page in re.findall(r"^\s*- file: (\S+)", toc, re.M)}
    return {page: nbformat.read(path, as_version=4) for page, path in paths.items() if path.exists()}


def exercises(notebook):
    """Title and label of each exercise."""
    return [match for cell in notebook.cells for match in EXERCISE.findall(cell.source)]


def figures(notebook):
    """The metadata of each figure, and its drawing."""
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if "image/svg+xml" in output.get("data", ()):
                yield cell.metadata["mystnb"], output.data["image/svg+xml"]


class NotebookList(SphinxDirective):
    def run(self):
        found = []
        for page, notebook in notebooks().items():
            self.env.note_dependency(str(ROOT / f"{page}.ipynb"))
            if items := self.items(notebook):
                found += [*self.parse_text_to_nodes(f"**{{doc}}`/{page}`**"), *items]
        return found


class ExerciseList(NotebookList):
    def items(self, notebook):
        rows = [(label, *title.partition(": ")[::2]) for title, label in exercises(notebook)]
        table = "| exercise | difficulty | topic |\n| --- | --- | --- |\n"
        table += "\n".join(f"| {{ref}}`{label}` | {difficulty} | {topic} |" for label, difficulty, topic in rows)
        return self.parse_text_to_nodes(table) if rows else []


class FigureList(NotebookList):
    def items(self, notebook):
        found = []
        for about, _ in figures(notebook):
            name, alt = about["figure"]["name"], html.escape(about["image"]["alt"])
            picture = f'<img src="figures/{name}.svg" alt="{alt}" style="width: 24rem">'
            found.append(nodes.raw("", f'<p><a href="figures/{name}.svg" download>{picture}</a></p>', format="html"))
            found += self.parse_text_to_nodes(f"{{numref}}`{name}`. {about['figure']['caption']}")
        return found


def write_figures(app, exception):
    if exception is None:
        folder = Path(app.outdir) / "chapters" / "figures"
        folder.mkdir(parents=True, exist_ok=True)
        terms = f"<desc>{html.escape(app.config.author)}, {LICENCE}</desc>"
        for notebook in notebooks().values():
            for about, drawing in figures(notebook):
                file = folder / f"{about['figure']['name']}.svg"
                file.write_text(drawing.replace("<metadata>", f"{terms}\n <metadata>", 1), encoding="utf-8")


def setup(app):
    app.add_directive("exercise-list", ExerciseList)
    app.add_directive("figure-list", FigureList)
    app.connect("build-finished", write_figures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
