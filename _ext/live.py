"""Live parts of pages: `{live} NAME` puts one where it stands, and something in its stead where scripts do not run.

    ```{live} laboratory
    :label: The laboratory
    What readers see where scripts do not run, and in print.
    ```

The part is drawn by `_static/live/figures/NAME.js`; see `_static/live/README.md`. Only pages with a live part load
scripts. Two scripts are made when the book is built: `engine.js`, the worker and the compiled loops as text, because a
page opened from a disk may not read other files; and `book.js`, what live parts take from the book: how policies look,
and the problems and policies of the leaderboard.
"""

import ast
import base64
import dataclasses
import html
import json
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from figures import dark
from sphinx.util.docutils import SphinxDirective

import bai
from bai.book import families, leaderboard, paper

LIVE = Path(__file__).resolve().parent.parent / "_static" / "live"
ENGINE = ("seeds", "plans", "machine", "play", "worker")
SHARED = ("live", "book", "ui", "chart", "stats")  # the scripts of every page with a live part, in this order


def engine_script():
    """The script that holds the worker's source and the compiled loops."""
    source = "\n".join((LIVE / "engine" / f"{name}.js").read_text(encoding="utf-8") for name in ENGINE)
    parts = {name: base64.b64encode((LIVE / f"{name}.wasm").read_bytes()).decode() for name in ("bai", "libm")}
    return f"window.baiEngine = {json.dumps({'source': source, **parts})};\n"


def as_given(value):
    """A policy, or the bound of SHAdaVar, as the engine takes it: the name of its class and its arguments."""
    if not dataclasses.is_dataclass(value):
        return value
    given = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    changed = {name: as_given(part) for name, part in given.items() if part is not None}
    return {"name": type(value).__name__, **changed}


def in_python(value):
    """A policy, or a bound, as one writes it in Python, without what is so by default."""
    if not dataclasses.is_dataclass(value):
        return repr(value)
    fields = [field for field in dataclasses.fields(value) if getattr(value, field.name) != field.default]
    inside = ", ".join(f"{field.name}={in_python(getattr(value, field.name))}" for field in fields)
    bound = isinstance(value, bai.variance_bounds.VarianceBound)
    return f"bai.{'variance_bounds.' if bound else ''}{type(value).__name__}({inside})"


def as_problem(name, family):
    """A Gaussian family of the leaderboard as the engine takes it."""
    sample = family.make(1, 0)
    if isinstance(family.make, families.Scattered):
        parts = {key: part for key, part in family.make._asdict().items() if part is not None}
        return {"kind": "uniform", "arms": sample.n_arms, **parts}
    if name == "equal variances":
        return {"kind": "equal", "arms": sample.n_arms, "variance": float(sample.variances[0, 0])}
    return {"kind": "synthetic", "arms": sample.n_arms, "best": "quiet" if "quiet" in name else "noisy"}


def published(figure):
    """The points of a figure of the paper, by policy."""
    points = paper.published().query("figure == @figure")
    return {
        name: [{"budget": int(row.budget), "rate": row.mistake_rate} for row in rows.itertuples()]
        for name, rows in points.groupby("policy", sort=False)
    }


def movies():
    """The audience of the introduction, read from the cell that invents it: names, means and variances."""
    cells = json.loads((LIVE.parents[1] / "chapters" / "introduction.ipynb").read_text(encoding="utf-8"))["cells"]
    (source,) = (text for cell in cells if (text := "".join(cell["source"])).startswith("audience = {"))
    audience = ast.literal_eval(ast.parse(source).body[0].value)
    found = []
    for name, people in audience.items():
        mean = sum(stars * count for stars, count in enumerate(people, 1)) / sum(people)
        variance = sum((stars - mean) ** 2 * count for stars, count in enumerate(people, 1)) / sum(people)
        found.append({"name": name, "mean": round(mean, 4), "variance": round(variance, 4)})
    return found


def watched():
    """Eight arms with the means of Section 5.1: every other one is noisy, from the best on or from the second on."""
    means = [round(1 - (arm / 8) ** 0.5, 4) for arm in range(8)]
    noise = [0.9, 0.1] * 4
    return {"means": means, "noisy": noise, "quiet": noise[::-1]}


def board():
    """The table of the leaderboard: mistake rates by family, policy and budget; which policies are told something."""
    table = leaderboard.stored()
    rows = {}
    for row in table.itertuples():
        rows.setdefault(row.family, {}).setdefault(row.policy, {})[int(row.budget)] = row.mistake_rate
    return {
        "families": [
            {"name": name, "budgets": list(map(int, family.budgets))} for name, family in leaderboard.FAMILIES.items()
        ],
        "policies": [{"label": name, "told": leaderboard.knowledge(p)} for name, p in leaderboard.POLICIES.items()],
        "rows": rows,
    }


def look(policy):
    """How a policy looks, on light and on dark pages."""
    return {"label": policy.name, **policy.style, "dark": dark(policy.style["color"])}


def book_script():
    """The script that says what live parts take from the book."""
    book = {
        "policies": {policy.__name__: look(policy) for policy in bai.REGISTRY},
        "variants": [
            {"label": label, "policy": as_given(policy), "python": in_python(policy)}
            for label, policy in leaderboard.POLICIES.items()
            if type(policy) in bai.REGISTRY
        ],
        "families": [
            {"name": name, "about": family.about, "budgets": family.budgets, "problem": as_problem(name, family)}
            for name, family in families.DESIGN.items()
            if isinstance(family.make(1, 0), bai.GaussianBandits)
        ],
        "figure2": {"arms": paper.FIGURES[2][1][0], "budgets": paper.FIGURES[2][2], "published": published(2)},
        "movies": movies(),
        "watch": watched(),
        "board": board(),
    }
    return f"window.baiBook = {json.dumps(book)};\n"


MADE = {"engine.js": engine_script, "book.js": book_script}


class Live(SphinxDirective):
    required_arguments = 1
    option_spec: ClassVar = {"label": directives.unchanged_required}
    has_content = True

    def run(self):
        name = self.arguments[0]
        if not (LIVE / "figures" / f"{name}.js").is_file():
            raise self.error(f"there is no live part {name!r}: _static/live/figures has no {name}.js")
        label = html.escape(self.options.get("label", name))
        group = f'<div class="bai-live" data-live="{name}" role="group" aria-label="{label}">'
        self.env.metadata[self.env.docname].setdefault("live", []).append(name)
        content = self.parse_content_to_nodes()
        opened = nodes.raw("", f'{group}<div class="bai-live-static">', format="html")
        return [opened, *content, nodes.raw("", "</div></div>", format="html")]


def leave_to_pages(app, config):
    """Jupyter Book would load every script and style sheet of `_static` on every page."""
    for kind in ("html_js_files", "html_css_files"):
        setattr(config, kind, [file for file in getattr(config, kind) if "live/" not in str(file)])


def add_scripts(app, pagename, templatename, context, doctree):
    parts = app.env.metadata.get(pagename, {}).get("live", ())
    if doctree is not None and parts:
        app.add_css_file("live/live.css")
        for name in (*SHARED, *(f"figures/{part}" for part in dict.fromkeys(parts))):
            app.add_js_file(f"live/{name}.js", loading_method="defer")


def write_scripts(app, exception):
    if exception is None and app.builder.format == "html":
        folder = Path(app.outdir) / "_static" / "live"
        for name, script in MADE.items():
            (folder / name).write_text(script(), encoding="utf-8")


def setup(app):
    app.add_directive("live", Live)
    app.connect("config-inited", leave_to_pages, priority=900)
    app.connect("html-page-context", add_scripts)
    app.connect("build-finished", write_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
