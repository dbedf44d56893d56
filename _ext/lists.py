"""Lists made from the notebooks while the book is built: all exercises, and all figures as files.

``{exercise-list}`` lists the exercises by chapter. Each carries its difficulty and its topic as its title::

    ```{exercise} easy: two finalists
    :label: ex-intro-two

``{figure-list}`` shows the stored pictures with their captions. They are written to ``chapters/figures/NAME.svg``,
``NAME.png`` and ``NAME.pdf``, where NAME is the name in the metadata of the cell, and carry the licence in their own
metadata.
"""

import functools
import html
import re
import zlib
from pathlib import Path

import matplotlib
import nbformat
import typst
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parent.parent
FONTS = Path(matplotlib.get_data_path()) / "fonts" / "ttf"  # those of the figures
FORMATS = ("svg", "png", "pdf")
SIZE = re.compile(r'width="([\d.]+)pt" height="([\d.]+)pt"')
LICENCE = "CC BY 4.0, https://creativecommons.org/licenses/by/4.0/"
EXERCISE = re.compile(r"^`{3,}\{exercise(?:-start)?\} *(.*)\n:label: (\S+)$", re.M)


@functools.cache
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
        grid = nodes.container(classes=["figure-grid"])
        for about, _ in figures(notebook):
            name, alt = about["figure"]["name"], html.escape(about["image"]["alt"])
            picture = f'<img src="figures/{name}.svg" alt="{alt}" loading="lazy">'
            links = " ".join(f'<a href="figures/{name}.{ending}" download>{ending.upper()}</a>' for ending in FORMATS)
            card = nodes.container(classes=["figure-card"])
            card += nodes.raw("", picture, format="html")
            card += self.parse_text_to_nodes(f"{{numref}}`{name}`. {about['figure']['caption']}")
            card += nodes.raw("", f'<p class="figure-files">{links}</p>', format="html")
            grid += card
        return [grid] if len(grid) else []


def with_licence(png):
    """The same picture with the licence in its metadata, behind the header of fixed length."""
    text = b"License\0" + LICENCE.encode("latin-1")
    chunk = len(text).to_bytes(4, "big") + b"tEXt" + text + zlib.crc32(b"tEXt" + text).to_bytes(4, "big")
    return png[:33] + chunk + png[33:]


@functools.cache
def compiler(folder):
    """What draws the figures of a folder; it reads its fonts once for all of them."""
    return typst.Compiler(root=str(folder), font_paths=[str(FONTS)], ignore_system_fonts=True)


def write_formats(file, author):
    """Write a drawing also as PDF and as PNG, three pixels per point."""
    width, height = SIZE.search(file.read_text(encoding="utf-8")).groups()
    page = (
        f'#set document(title: "{file.stem}", author: "{author}", keywords: ("{LICENCE}",), date: none)\n'
        f"#set page(width: {width}pt, height: {height}pt, margin: 0pt, fill: white)\n"
        f'#image("{file.name}", width: 100%)\n'
    )
    source = file.with_suffix(".typ")
    source.write_text(page, encoding="utf-8")
    draw = functools.partial(compiler(file.parent).compile, str(source))
    file.with_suffix(".pdf").write_bytes(draw(format="pdf"))
    file.with_suffix(".png").write_bytes(with_licence(draw(format="png", ppi=216)))
    source.unlink()


def write_figures(app, exception):
    if exception is None:
        folder = Path(app.outdir) / "chapters" / "figures"
        folder.mkdir(parents=True, exist_ok=True)
        terms = f"<desc>{html.escape(app.config.author)}, {LICENCE}</desc>"
        for notebook in notebooks().values():
            for about, drawing in figures(notebook):
                file = folder / f"{about['figure']['name']}.svg"
                file.write_text(drawing.replace("<metadata>", f"{terms}\n <metadata>", 1), encoding="utf-8")
                write_formats(file, app.config.author)


def setup(app):
    app.add_directive("exercise-list", ExerciseList)
    app.add_directive("figure-list", FigureList)
    app.connect("build-finished", write_figures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
