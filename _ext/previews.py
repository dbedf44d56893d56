"""What a link leads to, shown beside it: theorems and other statements, equations, citations and glossary terms.

When the book is built, all of them are written into one script, which a page loads when a reader first points at such a
link. Nothing is fetched from elsewhere, and it works on a copy of the book that is opened as a file.
"""

import json
import re
from pathlib import Path

START = re.compile(
    r'<div class="(?:proof \w[\w -]*admonition|math notranslate nohighlight|citation)" id="([^"]+)"[^>]*>'
    r'|<dt id="(term-[^"]+)">'
)
DIV = re.compile(r"<(/?)div\b")
DROPPED = re.compile(
    r'<a class="headerlink".*?</a>|<span class="eqno">.*?</span>(?=\s*\\\[)|<button.*?</button>| id="[^"]*"', re.S
)


def end_of_div(page, start):
    """Where the element that starts there ends."""
    depth = 0
    for found in DIV.finditer(page, start):
        depth += -1 if found[1] else 1
        if depth == 0:
            return page.index(">", found.start()) + 1
    return len(page)


def cleaned(element):
    """An element without links and names, which a page can have only once."""
    element = DROPPED.sub("", element)
    return re.sub(r"<a [^>]*>|</a>", "", element)


def previews(page):
    """The elements of a page that are shown beside links to them, by their names."""
    found = {}
    for start in START.finditer(page):
        if start[2]:
            found[start[2]] = cleaned(page[page.index("<dd>", start.end()) + 4 : page.index("</dd>", start.end())])
        else:
            found[start[1]] = cleaned(page[start.start() : end_of_div(page, start.start())])
    return found


def write_previews(app, exception):
    if exception is None and app.builder.format == "html":
        root = Path(app.outdir)
        pages = (path for folder in ("chapters", "reference", ".") for path in sorted(root.glob(f"{folder}/*.html")))
        found = {
            f"{path.relative_to(root).as_posix()}#{name}": element
            for path in pages
            for name, element in previews(path.read_text(encoding="utf-8")).items()
        }
        script = f"window.bookPreviews = {json.dumps(found, ensure_ascii=False)};\n"
        (root / "_static" / "preview-texts.js").write_text(script, encoding="utf-8")


def setup(app):
    app.connect("build-finished", write_previews)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
