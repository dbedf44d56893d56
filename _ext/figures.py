"""Figures at home on every screen: a light and a dark copy, panels that stack on a phone, a click that enlarges.

Notebooks store figures as SVG with white paper and dark ink. The light copy has no paper. The dark copy has other
colours too: ink and greys change places with the paper, and a colour becomes lighter until it stands out. The panels
of ``bai.plots.panels`` become pictures of their own, which the page lays side by side or one below the other.

A caption that begins with **Figure 5 of the paper.** gets a badge.
"""

import colorsys
import functools
import re
from pathlib import Path

from docutils import nodes

PAPER = "#121212"  # the dark page of the theme
CONTRAST = 4.5
COLOR = re.compile(r"#[0-9a-fA-F]{6}\b")
BOX = re.compile(r'width="([\d.]+)pt" height="([\d.]+)pt" viewBox="0 0 [\d.]+ [\d.]+"')
BACKGROUND = re.compile(r'<g id="patch_1">.*?</g>\s*', re.S)
BADGE = re.compile(r"Figures? [\dA-Za-z() and]+ of the paper")


def channels(color):
    return [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]


def luminance(color):
    red, green, blue = (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in channels(color))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first, second):
    """The contrast of two colours as WCAG defines it, from 1 to 21."""
    low, high = sorted(map(luminance, (first, second)))
    return (high + 0.05) / (low + 0.05)


def mixed(hue, lightness, saturation):
    return "#" + "".join(f"{round(255 * x):02x}" for x in colorsys.hls_to_rgb(hue, lightness, saturation))


@functools.cache
def dark(color):
    """The colour that a dark page shows in place of another."""
    hue, lightness, saturation = colorsys.rgb_to_hls(*channels(color))
    if max(channels(color)) - min(channels(color)) < 0.03:  # grey: from the dark page's paper to its ink
        paper, ink = channels(PAPER), 0.91
        return "#" + "".join(f"{round(255 * (lightness * x + (1 - lightness) * ink)):02x}" for x in paper)
    if lightness > 0.8:  # a tint
        return mixed(hue, 1.1 - lightness, saturation * 0.6)
    while contrast(mixed(hue, lightness, saturation), PAPER) < CONTRAST:
        lightness += 0.01
    return mixed(hue, lightness, saturation)


def on_dark_page(svg):
    """The same drawing for a dark page; what has no colour of its own is black in SVG and gets the ink."""
    svg = COLOR.sub(lambda found: dark(found[0]), svg)
    return svg.replace("<svg ", f'<svg fill="{dark("#000000")}" ', 1)


def panels(svg):
    """The size of a figure or panel in points, and the drawing of each panel, row by row."""
    width, height = map(float, BOX.search(svg).groups())
    grid = re.search(r'id="panel-1-of-(\d+)x(\d+)"', svg)
    rows, columns = map(int, grid.groups()) if grid else (1, 1)
    width, height = width / columns, height / rows
    size = f'width="{width:g}pt" height="{height:g}pt"'
    cut = [
        BOX.sub(f'{size} viewBox="{x * width:g} {y * height:g} {width:g} {height:g}"', svg)
        for y in range(rows)
        for x in range(columns)
    ]
    return width, height, cut


def write_copies(app, uri):
    """Write the copies of a figure beside each other; return the size of a panel and the names of the files."""
    svg = BACKGROUND.sub("", (Path(app.srcdir) / uri).read_text(encoding="utf-8"), count=1)
    stem, folder = Path(uri).stem[:16], Path(app.outdir) / app.builder.imagedir
    folder.mkdir(exist_ok=True)
    width, height, cut = panels(svg)
    names = []
    for number, panel in enumerate(cut, 1):
        for theme, drawing in (("light", panel), ("dark", on_dark_page(panel))):
            name = f"{stem}-{number}-{theme}.svg"
            (folder / name).write_text(drawing, encoding="utf-8")
            names.append((theme, name))
    return width, height, names


def visit_image(translator, node):
    uri = node["uri"]
    if not uri.endswith(".svg") or "jupyter_execute" not in uri:
        return type(translator).visit_image.__wrapped__(translator, node)
    app, builder = translator.builder.app, translator.builder
    width, height, names = write_copies(app, uri)
    alts = {name: node.get("alt", "") if number < 2 else "further panel" for number, (_, name) in enumerate(names)}
    pictures = "".join(
        f'<img class="on-{theme} dark-light" src="{builder.imgpath}/{name}" alt="{translator.attval(alts[name])}" '
        f'width="{width * 4 / 3:.0f}" height="{height * 4 / 3:.0f}" loading="lazy">'
        for theme, name in names
    )
    several = " panels" if len(names) > 2 else ""
    translator.body.append(f'<a class="plot{several}" href="{builder.imgpath}/{builder.images[uri]}">{pictures}</a>')
    raise nodes.SkipNode


def add_badges(app, doctree):
    for caption in doctree.findall(nodes.caption):
        first = next((child for child in caption if child.astext()), None)
        if isinstance(first, nodes.strong) and BADGE.match(first.astext()):
            first["classes"].append("badge-of-the-paper")


def use_pictures(app):
    """Let the translator of the theme, whichever it is, ask us first."""
    if app.builder.format == "html":
        usual = app.builder.get_translator_class()

        class Translator(usual):
            def visit_image(self, node):
                visit_image(self, node)

        Translator.visit_image.__wrapped__ = usual.visit_image
        app.set_translator(app.builder.name, Translator, override=True)


def setup(app):
    app.connect("builder-inited", use_pictures)
    app.connect("doctree-read", add_badges)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
