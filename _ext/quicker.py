"""What makes building the book quicker and changes nothing in it.

Sphinx reads the whole stored page of a figure, table or section for every reference to its number: here each page is
read once. For the sidebar of every page it copies the headings of all pages, and then throws them away: here they are
thrown away once. Its search stems the words of every page: here a word is stemmed once. pybtex looks through all
installed packages for its plugins at every citation: here once for each plugin. And Python does not look for garbage;
pages are trees of a million objects, nearly all of them in use.
"""

import functools
import gc

import pybtex.plugin
from sphinx import addnodes
from sphinx.domains.std import StandardDomain
from sphinx.search.en import SearchEnglish


class ReadOnce:
    """The environment of Sphinx, which remembers the pages that it was asked for. Nothing may be changed in them."""

    def __init__(self, env):
        self.env = env
        self.get_doctree = functools.cache(env.get_doctree)

    def __getattr__(self, name):
        return getattr(self.env, name)


class English(SearchEnglish):
    """Sphinx's own search in English, which remembers the stems of words."""

    def init(self, options):
        super().init(options)
        self.stem = functools.cache(self.stem)


class References(StandardDomain):
    """Sphinx's own references, by number without reading a page again."""

    @functools.cached_property
    def read_once(self):
        return ReadOnce(self.env)

    def resolve_xref(self, env, fromdocname, builder, typ, target, node, contnode):
        env = self.read_once if typ == "numref" else env
        return super().resolve_xref(env, fromdocname, builder, typ, target, node, contnode)


def title(toc):
    """The contents of a page without its headings: its title, and which pages are below it."""
    toc = toc.deepcopy()
    for item in toc:
        if len(item) > 1:
            item[1][:] = list(item.findall(addnodes.toctree))
            if not item[1].children:
                item.pop(1)
    return toc


@functools.cache
def titles(env):
    return {name: title(toc) for name, toc in env.tocs.items()}


def sidebar_of_titles(app, pagename, templatename, context, doctree):
    usual = context["toctree"]

    def toctree(**options):
        if not options.get("titles_only"):
            return usual(**options)
        tocs = app.env.tocs
        app.env.tocs = titles(app.env)
        try:
            return usual(**options)
        finally:
            app.env.tocs = tocs

    context["toctree"] = toctree


def setup(app):
    gc.disable()
    if hasattr(pybtex.plugin, "_load_entry_point"):  # not public, so another version may lack it
        pybtex.plugin._load_entry_point = functools.cache(pybtex.plugin._load_entry_point)
    app.add_domain(References, override=True)
    app.add_search_language(English)
    app.connect("html-page-context", sidebar_of_titles)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
