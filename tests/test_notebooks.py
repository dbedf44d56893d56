"""The notebooks as stored: run in order from a fresh kernel, nothing left over, every picture described.

nbval runs the cells and compares what they print; it passes over what was never stored. So these checks
demand that everything was stored. Each check is itself tested on a notebook that breaks it.
"""

import ast
import copy
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted(
    p for where in ("*", "chapters/*", "chapters/assignments/source/*/*") for p in ROOT.glob(f"{where}.ipynb")
)

MACHINE = re.compile(
    r"(?<![\w.:/])/(?:home|root|Users|tmp|work|usr|opt|mnt|var|content)/\w|[A-Z]:\\+Users|site-packages"
)
ADDRESS = re.compile(r"\bat 0x[0-9a-f]{6,}")
SILENT = re.compile(r"^(assert|use|set|style)")  # calls that show nothing, by the start of their name
MOST_LINES = 25
LONGEST_LINE = 88  # what the column of a page holds
# What is for machines: an object's own words, a series of pandas, a number that is none, a chance of exactly nothing.
RAW = re.compile(r"\bPaired\(|\bdtype:|\bNaN\b|\bp ?= ?0(\.0)?(?![.\d])")


def text(parts):
    return "".join(parts)


def shows(node):
    """What a cell that runs this statement is bound to store: 'text', 'picture', 'something', or None."""
    if isinstance(node, (ast.For, ast.With)):
        return next(filter(None, map(shows, node.body)), None) if calls_print(node) else None
    if not isinstance(node, ast.Expr):
        return None
    if not isinstance(node.value, ast.Call):
        return "something" if not isinstance(node.value, (ast.Constant, ast.Yield)) else None
    function = node.value.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return {"print": "text", "show": "picture"}.get(name) or (None if SILENT.match(name) else "something")


def calls_print(node):
    return any(isinstance(n, ast.Call) and getattr(n.func, "id", "") == "print" for n in ast.walk(node))


def plain_python(source):
    """The source without its magics, which ast cannot read."""
    return re.sub(r"^(\s*)[%!].*$", r"\1pass", source, flags=re.M)


def missing_outputs(source, outputs):
    if source.lstrip().startswith("%%"):
        return []
    statements = ast.parse(plain_python(source)).body
    kinds = {shows(s) for s in statements if calls_print(s)} | {shows(statements[-1]) if statements else None}
    stored = {
        "text": any(o["output_type"] == "stream" for o in outputs),
        "picture": any(mime.startswith("image/") for o in outputs for mime in o.get("data", ())),
        "something": bool(outputs),
    }
    return [f"stores no {kind}, though it shows some" for kind in kinds - {None} if not stored[kind]]


def plain_outputs(outputs):
    """What a reader sees of the outputs, as text."""
    data = [o.get("data", {}) for o in outputs]
    seen = [text(d.get("text/html", d.get("text/plain", ""))) for d in data if "image/svg+xml" not in d]
    return "\n".join(seen + [text(o.get("text", "")) for o in outputs])


def code_cell_problems(cell):
    source, outputs = text(cell["source"]), cell["outputs"]
    tags = cell["metadata"].get("tags", [])
    mystnb = cell["metadata"].get("mystnb", {})
    stored = json.dumps(outputs, ensure_ascii=False)
    pictures = [o for o in outputs if any(mime.startswith("image/") for mime in o.get("data", ()))]
    if not source.strip():
        yield "is empty"
    if source.rstrip().endswith(";"):
        yield "ends in ';', which nbval does not see: write '_ = ...'"
    if len(source.splitlines()) > MOST_LINES and "### BEGIN HIDDEN TESTS" not in source:  # which no reader sees
        yield f"has more than {MOST_LINES} lines"
    if any(len(line) > LONGEST_LINE for line in source.splitlines()):
        yield f"has a line of more than {LONGEST_LINE} characters, which the page would cut"
    if "%pip" in source or "REPOSITORY_URL" in source:
        yield "installs something: tools/add_install_cell.py does that where the address is known"
    if any(o.get("name") == "stderr" for o in outputs):
        yield "stores stderr"
    if any(o["output_type"] == "error" for o in outputs) and "raises-exception" not in tags:
        yield "stores an error without the tag raises-exception"
    if "widget-view" in stored:
        yield "stores a widget, which would load scripts from elsewhere"
    if ADDRESS.search(stored):
        yield "stores an address in memory"
    if "execution" in cell["metadata"]:
        yield "stores timing: execute with --ExecutePreprocessor.record_timing=False"
    if len(pictures) > 1:
        yield "stores more than one picture, so that one caption cannot fit"
    if any(mime.startswith("image/") and mime != "image/svg+xml" for o in pictures for mime in o["data"]):
        yield "stores a picture that is no vector graphic: call bai.plots.use_style() first"
    if shown_raw := RAW.search(plain_outputs(outputs)):
        yield f"shows {shown_raw[0]!r}, which is for machines"
    tables = [o for o in outputs if 'class="dataframe"' in text(o.get("data", {}).get("text/html", ""))]
    about = cell["metadata"].get("table", {})
    if (
        tables
        and "remove-cell" not in tags
        and not (about.get("caption", "").strip() and about.get("name", "").strip())
    ):
        yield "shows a table without caption and name (metadata: table.caption, table.name)"
    if len(tables) > 1:
        yield "shows more than one table, so that one caption cannot fit"
    if pictures and not mystnb.get("figure", {}).get("caption", "").strip():
        yield "stores a picture without caption (metadata: mystnb.figure.caption)"
    if pictures and not mystnb.get("figure", {}).get("name", "").strip():
        yield "stores a picture without name (metadata: mystnb.figure.name)"
    if pictures and not mystnb.get("image", {}).get("alt", "").strip():
        yield "stores a picture without alt text (metadata: mystnb.image.alt)"
    yield from missing_outputs(source, outputs)


def markdown_problems(cell):
    source = text(cell["source"])
    if re.search(r"!\[\s*\]\(", source):
        yield "shows an image without alt text"
    for directive in re.findall(r"^\s*(?:```|:::)+\{(?:figure|image)\}.*?(?:```|:::)", source, flags=re.M | re.S):
        if ":alt:" not in directive:
            yield "shows a figure without :alt:"


HIDDEN = {"remove-cell", "remove-input", "hide-cell", "hide-input"}


def names(source):
    """The names that the source defines, and those that it uses."""
    defined, used = set(), set()
    for node in ast.walk(ast.parse(plain_python(source))):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else defined).add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            defined.add(node.name)
        elif isinstance(node, ast.arg):
            defined.add(node.arg)
        elif isinstance(node, ast.alias):
            defined.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.ExceptHandler):
            defined.add(node.name)
    return defined, used


def copying_problems(code):
    """Cells whose code is shown run when a reader copies them: they use no name that only folded cells define."""
    seen, folded = set(), set()
    for cell in code:
        defined, used = names(text(cell["source"]))
        if HIDDEN & set(cell["metadata"].get("tags", [])):
            folded |= defined
            continue
        seen |= defined
        for name in sorted(used & folded - seen):
            yield f"uses {name}, which only a folded cell defines"


FOR_PAGES = ("installs something", "shows a table without")  # assignments are no pages


def problems(notebook):
    """Everything that is wrong with a stored notebook, one line each."""
    found = []
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(notebook["cells"], 1):
        check = {"code": code_cell_problems, "markdown": markdown_problems}.get(cell["cell_type"])
        found += [f"cell {number} {problem}" for problem in (check(cell) if check else ["is raw"])]
        if MACHINE.search(text(cell["source"])) or MACHINE.search(json.dumps(cell.get("outputs", []))):
            found.append(f"cell {number} names a path of one machine")
    if [cell["execution_count"] for cell in code] != list(range(1, len(code) + 1)):
        found.append("was not executed in order from a fresh kernel")
    seen = [text(c["source"]) for c in code if "remove-cell" not in c["metadata"].get("tags", [])]
    if any(re.search(r"\bbai\.", source) for source in seen):
        first = next(number for number, source in enumerate(seen) if re.search(r"\bbai\.", source))
        if not re.search(r"^import bai$", "\n".join(seen[: first + 1]), flags=re.M):
            found.append("uses bai before a cell that readers see imports it")
    found += copying_problems(code)
    if "widgets" in notebook["metadata"]:
        found.append("stores widgets, which would load scripts from elsewhere")
    if notebook["metadata"].get("kernelspec", {}).get("name") != "python3":
        found.append("is not for the kernel python3")
    if not notebook["cells"] or not text(notebook["cells"][0]["source"]).lstrip().startswith(("# ", "(")):
        found.append("does not begin with its title")
    return found


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_notebook_is_stored_as_it_should_be(path):
    found = problems(json.loads(path.read_text(encoding="utf-8")))
    if "assignments" in path.parts:
        found = [problem for problem in found if not any(words in problem for words in FOR_PAGES)]
    assert found == []


# The checks have teeth: a good notebook passes, and each way of spoiling it is noticed.


def code(source, count, outputs=(), **metadata):
    return {
        "cell_type": "code",
        "source": source,
        "execution_count": count,
        "outputs": list(outputs),
        "metadata": metadata,
    }


def stream(content, name="stdout"):
    return {"output_type": "stream", "name": name, "text": content}


def good_notebook():
    picture = {
        "output_type": "display_data",
        "data": {"image/svg+xml": "<svg>", "text/plain": "<Figure>"},
        "metadata": {},
    }
    value = {
        "output_type": "execute_result",
        "data": {"text/plain": "3"},
        "metadata": {},
        "execution_count": 3,
    }
    table = {
        "output_type": "execute_result",
        "data": {"text/html": '<table border="1" class="dataframe">', "text/plain": "0 1"},
        "metadata": {},
        "execution_count": 6,
    }
    figure = {"figure": {"caption": "A line.", "name": "fig-line"}, "image": {"alt": "A rising line."}}
    return {
        "metadata": {"kernelspec": {"name": "python3"}},
        "cells": [
            {"cell_type": "markdown", "source": "# Title\n\n![a line](line.png)", "metadata": {}},
            code("import bai\n\nbai.plots.use_style()", 1),
            code("for i in range(2):\n    print(i)", 2, [stream("0\n1\n")]),
            code("x = 3\nx", 3, [value]),
            code("_ = ax.plot([1, 2])\nplt.show()", 4, [picture], mystnb=figure),
            code("%matplotlib inline\nassert_close(x, 3)", 5),
            code("frame", 6, [table], table={"caption": "Mistakes.", "name": "tab-mistakes"}),
        ],
    }


def test_a_good_notebook_has_no_problem():
    assert problems(good_notebook()) == []


def change(cell, **values):
    return lambda notebook: notebook["cells"][cell].update(values)


BREAKS = {
    "not executed in order": change(3, execution_count=7),
    "fresh kernel": change(3, execution_count=None),
    "is empty": change(3, source=" "),
    "ends in ';'": change(3, source="x = 3;"),
    "more than 25 lines": change(3, source="x = 3\n" * 25 + "x"),
    "stores stderr": change(3, outputs=[stream("careful", "stderr")]),
    "error without the tag": change(3, outputs=[{"output_type": "error", "ename": "E", "evalue": "", "traceback": []}]),
    "stores a widget": change(
        3, outputs=[{"output_type": "display_data", "data": {"application/vnd.jupyter.widget-view+json": {}}}]
    ),
    "address in memory": change(3, outputs=[stream("<object at 0x7f00aa11>")]),
    "stores timing": change(3, metadata={"execution": {"iopub.execute_input": "now"}}),
    "without caption": change(4, metadata={"mystnb": {"image": {"alt": "A line."}}}),
    "without name": change(4, metadata={"mystnb": {"image": {"alt": "A line."}, "figure": {"caption": "A line."}}}),
    "picture without alt text": change(4, metadata={"mystnb": {"figure": {"caption": "A line."}}}),
    "stores no text": change(2, outputs=[]),
    "stores no something": change(3, outputs=[]),
    "stores no picture": change(4, outputs=[]),
    "path of one machine": change(3, source="open('/home/ann/x.csv')"),
    "installs something": change(1, source="import bai\n\n%pip install -q git+https://git.example/owner/name"),
    "uses bai before": lambda notebook: (
        notebook["cells"][1].update(metadata={"tags": ["remove-cell"]})
        or notebook["cells"][3].update(source="bai.SH()")
    ),
    "uses x, which only a folded cell": change(3, metadata={"tags": ["hide-input"]}),
    "more than 88 characters": change(3, source="x = 3  # " + 80 * "-" + "\nx"),
    "no vector graphic": change(4, outputs=[{"output_type": "display_data", "data": {"image/png": "iVBOR"}}]),
    "shows 'Paired('": change(3, outputs=[stream("Paired(difference=0.1)")]),
    "shows 'NaN'": change(3, outputs=[stream("0.5 NaN")]),
    "shows 'p=0'": change(3, outputs=[stream("p=0, n=3")]),
    "table without caption": change(6, metadata={"table": {"name": "tab-mistakes"}}),
    "image without alt": change(0, source="# Title\n\n![](line.png)"),
    "figure without :alt:": change(0, source="# Title\n\n```{figure} line.png\nA line.\n```"),
    "begin with its title": change(0, source="Hello"),
    "stores widgets": lambda notebook: notebook["metadata"].update(widgets={}),
    "kernel python3": lambda notebook: notebook["metadata"].update(kernelspec={"name": "mine"}),
}


@pytest.mark.parametrize("message", BREAKS)
def test_a_spoilt_notebook_is_noticed(message):
    notebook = copy.deepcopy(good_notebook())
    BREAKS[message](notebook)
    assert any(message in problem for problem in problems(notebook)), problems(notebook)
