"""What makes building the book quicker and changes nothing in it.

Sphinx reads the whole stored page of a figure, table or section for every reference to its number: here each page is
read once. pybtex looks through all installed packages for its plugins at every citation: here once for each plugin. And
Python looks for garbage far less often; pages are trees of a million objects, nearly all of them in use.
"""

import functools
import gc

import pybtex.plugin
from sphinx.domains.std import StandardDomain


class ReadOnce:
    """The environment of Sphinx, which remembers the pages that it was asked for. Nothing may be changed in them."""

    def __init__(self, env):
        self.env = env
        self.get_doctree = functools.cache(env.get_doctree)

    def __getattr__(self, name):
        return getattr(self.env, name)


class References(StandardDomain):
    """Sphinx's own references, by number without reading a page again."""

    @functools.cached_property
    def read_once(self):
        return ReadOnce(self.env)

    def resolve_xref(self, env, fromdocname, builder, typ, target, node, contnode):
        env = self.read_once if typ == "numref" else env
        return super().resolve_xref(env, fromdocname, builder, typ, target, node, contnode)


def setup(app):
    gc.set_threshold(100_000, 50, 50)
    if hasattr(pybtex.plugin, "_load_entry_point"):  # not public, so another version may lack it
        pybtex.plugin._load_entry_point = functools.cache(pybtex.plugin._load_entry_point)
    app.add_domain(References, override=True)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
