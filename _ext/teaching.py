"""What teachers and students get from the same sources while the book is built: quizzes, slides and reading times.

``{quiz} PAGE`` shows the questions of ``chapters/quizzes.toml`` about a page; a small script marks them in the browser.
``{slide-list}`` links to slides, one file for each page that has a quiz: its headings, the first paragraph and the
statements of each section, and its figures. ``{reading-times}`` counts the words of the pages. ``{goal-map}`` says what
serves each learning goal.
"""

import html
import re
import sys
import tomllib
from functools import cache
from pathlib import Path

from docutils import nodes
from lists import ROOT, exercises, notebooks
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from sphinx.util.docutils import SphinxDirective

sys.path.append(str(ROOT / "tools"))
from make_exercises import CHAPTERS

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


SPOKEN = {"eq": "the displayed equation", "numref": "the figure"}
KINDS = {"lem": "lemma", "thm": "theorem", "prop": "proposition", "cor": "corollary", "alg": "algorithm"}


@cache
def titles():
    """The headings behind labels, such as ``sec-sh``, of all notebooks."""
    text = "\n".join(cell.source for notebook in notebooks().values() for cell in notebook.cells)
    return {label: name.strip() for label, name in re.findall(r"^\(([\w-]+)\)=\n+#+ (.*)", text, re.M)}


def authors(keys):
    """Who wrote these works, as one says it."""
    names = []
    for key in keys.split(","):
        entry = re.search(
            rf"@\w+\{{{key.strip()},.*?^\}}", (ROOT / "references.bib").read_text(encoding="utf-8"), re.M | re.S
        )
        people = re.split(r"\s+and\s+", re.search(r"author\s*=\s*\{(.*?)\},?\n", entry[0], re.S)[1])
        last = [re.sub(r"[{}]", "", p.partition(",")[0] if "," in p else p.split()[-1]) for p in people]
        names.append(last[0] if len(last) == 1 else " and ".join(last) if len(last) == 2 else f"{last[0]} et al.")
    return " and ".join(names)


def spoken(role, target):
    """What a slide says in place of a reference."""
    kind = target.partition("-")[0]
    if role == "prf:ref":
        return f"the {KINDS.get(kind, 'statement')}"
    if role == "numref" and kind == "tab":
        return "the table"
    if role in ("ref", "doc"):
        return f"*{titles()[target]}*" if target in titles() else "an exercise" if kind == "ex" else "the chapter"
    return SPOKEN.get(role, target)


def plain(text):
    """Markdown without the roles and labels that only Sphinx knows."""
    text = re.sub(r"^\([\w-]+\)=\n|^:[\w-]+:.*\n|^%.*\n", "", text, flags=re.M)
    text = re.sub(r"(\$\$)\s*\([\w-]+\)", r"\1", text)
    text = re.sub(r" *\{cite:p\}`[^`]*`", "", text)
    text = re.sub(r"\{cite:t\}`([^`]*)`", lambda m: authors(m[1]), text)
    text = re.sub(r"\{[\w:]+\}`([^`<]*?) <[^`]*>`", r"\1", text)
    text = re.sub(r"(?<!\bin)(?<!\b[Bb]y)(?<!\bof)(?<!\bfrom) \{eq\}`[^`]*`", "", text)  # "the bound (3)"
    text = re.sub(r"\{([\w:]+)\}`([^`]*)`", lambda m: spoken(m[1], m[2]), text)
    return re.sub(r"(^|[.!?)] )the (?=figure|table|lemma|theorem|prop|displayed)", r"\1The ", text)


def rendered(text):
    return MarkdownIt("commonmark", {"html": False}).use(dollarmath_plugin, renderer=tex).render(plain(text))


def line(text):
    """A heading: one line, without a paragraph of its own."""
    return re.sub(r"^<p>|</p>\s*$", "", rendered(text))


def tex(content, options):
    left, right = (r"\[", r"\]") if options["display_mode"] else (r"\(", r"\)")
    return f"{left}{html.escape(content, quote=False)}{right}"


STATEMENT = re.compile(r"^(`{3,})\{prf:(\w+)\} ?([^\n]*)\n(.*?)^\1\s*$", re.M | re.S)


def opening(section):
    """The first paragraph of a section, with the formulas in which it goes on up to the end of its sentence."""
    blocks = []
    for block in re.split(r"\n\n+", section.partition("\n")[2].strip())[:4]:
        if not block or block.startswith(("```", "|", "#", "(", "!", ":::")):
            break
        blocks.append(block)
        if re.search(r"[.!?)](\*|`|\s|\$|\\,|\([\w-]+\))*$", re.sub(r"\\end\{\w+\}", "", block)):
            break
    return "\n\n".join(blocks)


def slides(notebook):
    """The slides of a page: for each section its heading, first paragraph and statements; then its figures."""
    found = [f"<h1>{html.escape(plain(title(notebook)))}</h1>"]
    for cell in notebook.cells:
        text = cell.source.split("## Exercises")[0] if cell.cell_type == "markdown" else ""
        if re.search(r"^## Exercises", cell.source, re.M) and not text.strip():
            break
        for section in re.split(r"(?=^## )", text, flags=re.M):
            statements = [entry[1:] for entry in STATEMENT.findall(section) if entry[1] != "proof"]
            first = opening(section) if section.startswith("## ") else ""
            if section.startswith("## ") and (first or not statements):
                found.append(f"<h2>{line(section[3:].partition(chr(10))[0])}</h2>{rendered(first)}")
            for kind, name, body in statements:
                found.append(f'<h2 class="statement">{kind.capitalize()} {line(name)}</h2>{rendered(body)}')
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


# --- learning goals


def tasks(graded):
    """The tasks of a goal: from "1: 5-8; 3: 7" the pairs of an assignment and the numbers of its tasks."""
    for part in graded.split(";"):
        assignment, numbers = part.split(":")
        spans = [[int(n) for n in span.split("-")] for span in numbers.split(",")]
        yield int(assignment), [n for span in spans for n in range(span[0], span[-1] + 1)]


def in_words(numbers):
    """Numbers of tasks as text: ``Tasks 5 to 8``."""
    if len(numbers) == 1:
        return f"Task {numbers[0]}"
    if numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"Tasks {numbers[0]} {'to' if len(numbers) > 2 else 'and'} {numbers[-1]}"
    return f"Tasks {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def goal_rows(found):
    yield "| students can | read | show | check | practise | graded |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for name, quiz in quizzes().items():
        notebook = found[f"chapters/{name}"]
        read = f"{{doc}}`/chapters/{name}`, {round(words(notebook) / WORDS_A_MINUTE)} minutes"
        show = f'<a href="slides/{name}.html">slides</a>'
        check = f"{{ref}}`two questions <sec-quiz-{name.replace('_', '-')}>`"
        practise = f"{len(exercises(notebook))} exercises there{', more in `exercises.md`' * (name in CHAPTERS)}"
        graded = "; ".join(f"Assignment {number}, {in_words(which)}" for number, which in tasks(quiz["graded"]))
        yield f"| {quiz['goal']} | {read} | {show} | {check} | {practise} | {graded} |"


class GoalMap(SphinxDirective):
    def run(self):
        self.env.note_dependency(str(QUIZZES))
        for name in quizzes():
            self.env.note_dependency(str(ROOT / "chapters" / f"{name}.ipynb"))
        return self.parse_text_to_nodes("\n".join(goal_rows(notebooks())))


def setup(app):
    found = {"quiz": Quiz, "slide-list": SlideList, "reading-times": ReadingTimes, "goal-map": GoalMap}
    for name, directive in found.items():
        app.add_directive(name, directive)
    app.connect("build-finished", write_slides)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
