"""What `bai.wasm` is compiled from, piece by piece, so that a test sees a change without compiling anything.

The pieces are the files of this folder and `make_wasm.py`, whole, and of `bai` what they lead to: every function, class
and constant that is named in a piece, wherever it is defined. Comments, docstrings, annotations and the layout of lines
make no difference.
"""

import ast
import functools
import hashlib
from pathlib import Path

TOOLS = Path(__file__).resolve().parent.parent
PACKAGES = {"bai": TOOLS.parent / "bai", "wasm": TOOLS / "wasm"}
WHOLE = ("make_wasm", "wasm.exports", "wasm.generators", "wasm.object")


class Stripped(ast.NodeTransformer):
    """Code without what is not compiled."""

    def visit_FunctionDef(self, node):
        node.returns = None
        return self.visit_Module(node)

    def visit_Module(self, node):
        self.generic_visit(node)
        first = node.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            node.body = node.body[1:]
        return node

    visit_ClassDef = visit_Module

    def visit_arg(self, node):
        node.annotation = None
        return node

    def visit_AnnAssign(self, node):
        node.annotation = ast.Constant(None)
        return self.generic_visit(node)


def source(module):
    """The file of a module of the project, or None."""
    package, _, rest = module.partition(".")
    path = PACKAGES[package].joinpath(*rest.split(".")) if package in PACKAGES else TOOLS / package
    found = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in found if file.is_file()), None)


@functools.cache
def parsed(module):
    """The code of a module, and which statement of it defines each name."""
    file = source(module)
    tree = Stripped().visit(ast.parse(file.read_text(encoding="utf-8")))
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    defined, imported = {}, {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            defined |= {part.id: node for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}
        elif isinstance(node, ast.ImportFrom):
            above = ".".join(package.split(".")[: len(package.split(".")) - node.level + 1]) if node.level else ""
            origin = ".".join(filter(None, [above, node.module]))
            imported |= {name.asname or name.name: (origin, name.name) for name in node.names}
    return tree, defined, imported


def resolved(module, name):
    """The module of the project that defines a name, and its name there; or a module, and no name; or nothing."""
    _, defined, imported = parsed(module)
    if name in defined:
        return module, name
    origin, there = imported.get(name, ("", ""))
    if origin.partition(".")[0] not in PACKAGES:
        return None
    return (f"{origin}.{there}", "") if source(f"{origin}.{there}") else resolved(origin, there)


def named(module, node):
    """What a piece of a module names: the modules and names of the project."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield resolved(module, part.id)
        elif isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            of_module = resolved(module, part.value.id)
            if of_module and not of_module[1]:
                yield resolved(of_module[0], part.attr)


def shape(node):
    """A piece of code in a form that is the same on every version of Python."""
    if isinstance(node, ast.AST):
        parts = {name: value for name, value in ast.iter_fields(node) if value is not None and value != []}
        return [type(node).__name__, *([name, shape(value)] for name, value in parts.items())]
    return [shape(part) for part in node] if isinstance(node, list) else repr(node)


def pieces():
    """A digest of every piece of code that goes into the module, by its name."""
    found = {(module, ""): parsed(module)[0] for module in WHOLE}
    waiting = list(found.items())
    while waiting:
        (module, _), node = waiting.pop()
        for place in named(module, node):
            if place and place[1] and place not in found and place[0] not in WHOLE:
                found[place] = parsed(place[0])[1][place[1]]
                waiting.append((place, found[place]))
    digests = {place: hashlib.sha256(repr(shape(node)).encode()).hexdigest()[:16] for place, node in found.items()}
    return {".".join(filter(None, place)): digest for place, digest in sorted(digests.items())}
