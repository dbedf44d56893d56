"""Lists of the API page that are made from the package while the book is built.

``{class-list} policies`` documents every policy of the package, first those of the registry, in its order;
``{class-list} problems`` every public ensemble; ``{class-list} bounds`` every variance bound. ``{module-list}`` names
the modules of ``bai.book`` and says what each is for.
"""

import ast
import re
from pathlib import Path

from sphinx.util.docutils import SphinxDirective

import bai

BOOK = Path(bai.__file__).parent / "book"


def public_classes(module, base):
    """The classes of a module below a base class that people use, in the order of the source."""
    found = (value for name, value in vars(module).items() if isinstance(value, type) and not name.startswith("_"))
    return [value.__name__ for value in found if issubclass(value, base) and value is not base]


def listed(kind):
    """The names of the classes in a list, as people import them."""
    if kind == "policies":
        return [f"bai.{policy.__name__}" for policy in bai.REGISTRY + bai.FIELD]
    if kind == "problems":
        return [f"bai.{name}" for name in public_classes(bai.problems, bai.Bandits) if name in bai.__all__]
    bounds = public_classes(bai.variance_bounds, bai.variance_bounds.VarianceBound)
    return [f"bai.variance_bounds.{name}" for name in bounds]


def book_modules():
    """The modules of the book, each with the first paragraph of its docstring."""
    sources = {path.stem: path.read_text(encoding="utf-8") for path in sorted(BOOK.glob("[!_]*.py"))}
    paragraphs = {name: ast.get_docstring(ast.parse(source)).split("\n\n")[0] for name, source in sources.items()}
    return {f"bai.book.{name}": re.sub(r"\s+", " ", text) for name, text in paragraphs.items()}


class ClassList(SphinxDirective):
    required_arguments = 1

    def run(self):
        for module in (bai, bai.policies, bai.problems, bai.variance_bounds):
            self.env.note_dependency(module.__file__)
        lines = "".join(f".. autoclass:: {name}\n" for name in listed(self.arguments[0]))
        return self.parse_text_to_nodes(f"```{{eval-rst}}\n{lines}```")


class ModuleList(SphinxDirective):
    def run(self):
        for path in BOOK.glob("*.py"):
            self.env.note_dependency(str(path))
        lines = "\n".join(f"- `{name}`: {about}" for name, about in book_modules().items())
        return self.parse_text_to_nodes(lines)


def setup(app):
    app.add_directive("class-list", ClassList)
    app.add_directive("module-list", ModuleList)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
