"""Live parts of pages: `{live} NAME` puts one where it stands, and a static figure or a sentence in its stead.

```{live} laboratory
What readers see where scripts do not run, for example a picture.
```

The part is drawn by `_static/live/figures/NAME.js`; see `_static/live/README.md`. Only pages with a live part load
scripts. Two scripts are made when the book is built: `engine.js`, the worker and the compiled loops as text, because a
page opened from a disk may not read other files; and `policies.js`, how each policy looks.
"""

import base64
import json
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

import bai

LIVE = Path(__file__).resolve().parent.parent / "_static" / "live"
ENGINE = ("seeds", "plans", "machine", "play", "worker")


def engine_script():
    """The script that holds the worker's source and the compiled loops."""
    source = "\n".join((LIVE / "engine" / f"{name}.js").read_text(encoding="utf-8") for name in ENGINE)
    parts = {name: base64.b64encode((LIVE / f"{name}.wasm").read_bytes()).decode() for name in ("bai", "libm")}
    return f"window.baiEngine = {json.dumps({'source': source, **parts})};\n"


def policies_script():
    """The script that says how each policy looks, in the order of the registry."""
    looks = {policy.__name__: {"label": policy.name, **policy.style} for policy in bai.REGISTRY}
    return f"window.baiPolicies = {json.dumps(looks)};\n"
