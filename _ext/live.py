"""Live parts of pages: `{live} NAME` puts one where it stands, and a sentence or a picture in its stead without scripts.

    ```{live} laboratory
    :label: The laboratory
    What readers see where scripts do not run, and in print.
    ```

The part is drawn by `_static/live/figures/NAME.js`; see `_static/live/README.md`. Only pages with a live part load
scripts. Two scripts are made when the book is built: `engine.js`, the worker and the compiled loops as text, because a
page opened from a disk may not read other files; and `policies.js`, how each policy looks.
"""

import base64
import html
import json
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

import bai

LIVE = Path(__file__).resolve().parent.parent / "_static" / "live"
ENGINE = ("seeds", "plans", "machine", "play", "worker")
SHARED = ("live", "policies", "ui", "chart")  # the scripts of every page with a live part, in this order


def engine_script():
    """The script that holds the worker's source and the compiled loops."""
    source = "\n".join((LIVE / "engine" / f"{name}.js").read_text(encoding="utf-8") for name in ENGINE)
    parts = {name: base64.b64encode((LIVE / f"{name}.wasm").read_bytes()).decode() for name in ("bai", "libm")}
    return f"window.baiEngine = {json.dumps({'source': source, **parts})};\n"


def policies_script():
    """The script that says how each policy looks, in the order of the registry."""
    looks = {policy.__name__: {"label": policy.name, **policy.style} for policy in bai.REGISTRY}
    return f"window.baiPolicies = {json.dumps(looks)};\n"


MADE = {"engine.js": engine_script, "policies.js": policies_script}


class Live(SphinxDirective):
    required_arguments = 1
    option_spec = {"label": directives.unchanged_required}
    has_content = True

    def run(self):
        name = self.arguments[0]
        if not (LIVE / "figures" / f"{name}.js").is_file():
            raise self.error(f"there is no live part {name!r}: _static/live/figures has no {name}.js")
        label = html.escape(self.options.get("label", name))
        opened = f'<div class="bai-live" data-live="{name}" role="group" aria-label="{label}"><div class="bai-live-static">'
        self.env.metadata[self.env.docname].setdefault("live", []).append(name)
        content = self.parse_content_to_nodes()
        return [nodes.raw("", opened, format="html"), *content, nodes.raw("", "</div></div>", format="html")]


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
