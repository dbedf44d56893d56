"""What teachers and students get from the same sources while the book is built: quizzes, slides and reading times.

``{quiz} PAGE`` shows the questions of ``chapters/quizzes.toml`` about a page; a small script marks them in the browser.
``{slide-list}`` links to slides, one file for each page that has a quiz: its headings, the first paragraph and the
statements of each section, and its figures. ``{reading-times}`` counts the words of the pages.
"""

import html
import re
import tomllib
from pathlib import Path

from docutils import nodes
from lists import ROOT, notebooks
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from sphinx.util.docutils import SphinxDirective

QUIZZES = ROOT / "chapters" / "quizzes.toml"
WORDS_A_MINUTE = 200


def quizzes():
    """The questions of each page, with its learning goal."""
    return {c["page"]: c for c in tomllib.loads(QUIZZES.read_text(encoding="utf-8"))["chapter"]}


def words(notebook):
    """How many words of text the notebook has before its exercises, formulas as one word each."""
    text = "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown").split("## Exercises")[0]
    text = re.sub(r"\$\$.*?\$\$|\$[^$]*\$", " formula ", text, flags=re.S)
    return len(re.findall(r"[A-Za-z][\w'-]*", text))


def title(notebook):
    return next(m[1] for c in notebook.cells if (m := re.search(r"^# (.*)", c.source, re.M)))


# --- quizzes


def quiz_html(page, quiz):
    parts = []
    for number, question in enumerate(quiz["question"], 1):
        name = f"{page}-{number}"
        options = "".join(
            f'<label><input type="radio" name="{name}" value="{place}"> {html.escape(text)}</label>'
            for place, text in enumerate(question["options"])
        )
        parts.append(
            f'<fieldset class="quiz-question" data-right="{question["right"]}" '
            f'data-why="{html.escape(question["why"])}">'
            f"<legend>{html.escape(question['text'])}</legend>{options}<p class='quiz-answer' hidden></p></fieldset>"
        )
    return (
        f'<form class="quiz" aria-label="Quiz: {html.escape(quiz["goal"])}">{"".join(parts)}'
        '<button type="submit">Check</button> <output role="status"></output></form>'
    )


class Quiz(SphinxDirective):
    required_arguments = 1

    def run(self):
        self.env.note_dependency(str(QUIZZES))
        page = self.arguments[0]
        return [nodes.raw("", quiz_html(page, quizzes()[page]), format="html")]


# --- slides


def plain(text):
    """Markdown without the roles and labels that only Sphinx knows."""
    text = re.sub(r"^\([\w-]+\)=\n|^:[\w-]+:.*\n|^%.*\n", "", text, flags=re.M)
    text = re.sub(r"\{cite:[pt]\}`[^`]*`", "", text)
    return re.sub(r"\{[\w:]+\}`(?:([^`<]*?) <[^`]*>|([^`]*))`", lambda m: m[1] or m[2].replace("-", " "), text)


def rendered(text):
    return MarkdownIt("commonmark", {"html": False}).use(dollarmath_plugin, renderer=tex).render(plain(text))


def tex(content, options):
    left, right = (r"\[", r"\]") if options["display_mode"] else (r"\(", r"\)")
    return f"{left}{html.escape(content, quote=False)}{right}"


STATEMENT = re.compile(r"^(`{3,})\{prf:(\w+)\} ?([^\n]*)\n(.*?)^\1\s*$", re.M | re.S)


def slides(notebook):
    """The slides of a page: for each section its heading, first paragraph and statements; then its figures."""
    found = [f"<h1>{html.escape(plain(title(notebook)))}</h1>"]
    for cell in notebook.cells:
        text = cell.source.split("## Exercises")[0] if cell.cell_type == "markdown" else ""
        if re.search(r"^## Exercises", cell.source, re.M) and not text.strip():
            break
        for section in re.split(r"(?=^## )", text, flags=re.M):
            heading = re.match(r"## (.*)\n+(.*?)(\n\n|\Z)", section, re.S)
            if heading and not heading[2].startswith(("`", "|", "#")):
                found.append(f"<h2>{rendered(heading[1])}</h2>{rendered(heading[2])}")
            elif heading:
                found.append(f"<h2>{rendered(heading[1])}</h2>")
            for _, kind, name, body in STATEMENT.findall(section):
                found.append(f"<h2>{kind.capitalize()} {rendered(name)}</h2>{rendered(body)}")
        if "mystnb" in cell.metadata and "figure" in cell.metadata["mystnb"]:
            about = cell.metadata["mystnb"]
            image = f'<img src="../figures/{about["figure"]["name"]}.png" alt="{html.escape(about["image"]["alt"])}">'
            found.append(f"<figure>{image}<figcaption>{rendered(about['figure']['caption'])}</figcaption></figure>")
    return found


SLIDES = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<link rel="icon" href="../../_static/favicon.svg">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>{style}</style>{mathjax}</head>
<body><main>{slides}</main><p class="help">Arrow keys or a tap turn the page; print gives a PDF.</p>
<script>{script}</script></body></html>"""


def write_slides(app, exception):
    if exception is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir) / "chapters" / "slides"
    folder.mkdir(parents=True, exist_ok=True)
    page = (Path(app.outdir) / "chapters" / "setting.html").read_text(encoding="utf-8")
    scripts = re.findall(
        r"<script[^>]*>window\.MathJax.*?</script>|<script[^>]*[Mm]ath[Jj]ax[^>]*></script>", page, re.S
    )
    mathjax = "".join(scripts).replace('src="../_static', 'src="../../_static')
    style, script = (Path(__file__).with_name(f"slides.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    for name in quizzes():
        notebook = notebooks()[f"chapters/{name}"]
        body = "".join(f"<section>{slide}</section>" for slide in slides(notebook))
        text = SLIDES.format(
            title=html.escape(plain(title(notebook))), mathjax=mathjax, slides=body, style=style, script=script
        )
        (folder / f"{name}.html").write_text(text, encoding="utf-8")


class SlideList(SphinxDirective):
    def run(self):
        found = notebooks()
        rows = [
            f'<li><a href="slides/{name}.html">{html.escape(plain(title(found[f"chapters/{name}"])))}</a></li>'
            for name in quizzes()
        ]
        return [nodes.raw("", f"<ul>{''.join(rows)}</ul>", format="html")]


# --- reading times


class ReadingTimes(SphinxDirective):
    def run(self):
        rows = ["| chapter | words | minutes | learning goal |", "| --- | --- | --- | --- |"]
        for name, quiz in quizzes().items():
            self.env.note_dependency(str(ROOT / "chapters" / f"{name}.ipynb"))
            count = words(notebooks()[f"chapters/{name}"])
            rows.append(f"| {{doc}}`/chapters/{name}` | {count} | {round(count / WORDS_A_MINUTE)} | {quiz['goal']} |")
        return self.parse_text_to_nodes("\n".join(rows))


def setup(app):
    for name, directive in (("quiz", Quiz), ("slide-list", SlideList), ("reading-times", ReadingTimes)):
        app.add_directive(name, directive)
    app.connect("build-finished", write_slides)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
