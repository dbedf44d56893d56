"""Tables of results as tables of the book: with a number and a caption, text to the left, numbers to the right.

A cell that shows a DataFrame says in its metadata what the table is about::

    {"table": {"caption": "Mistakes of two policies.", "name": "tab-page-topic"}}

Row numbers that pandas adds are left out, and the two lines in which it writes the names of columns and of rows become
one where they can.
"""

import re

from bs4 import BeautifulSoup
from docutils import nodes
from myst_nb.core.render import NbElementRenderer

# A number, with an interval, a unit or a bound: what is read digit below digit.
NUMBER = re.compile(r"([<>≤≥≈±+−–—()\[\], /:%×^·]|to|of|e-|[-+]?\d[\d.,]*(e[-+]?\d+)?|µs|ms|ns|s|MB|kB)*")

# A call such as GapEV(scaling='paper'), which is set as code, with straight quotes.
CALL = re.compile(r"[A-Z]\w*\(.*\)")


def grid(rows):
    """The cells of lines of HTML as a list per line: text, lines and columns that the cell takes."""
    return [
        [(cell.get_text(" ", strip=True), int(cell.get("rowspan", 1)), int(cell.get("colspan", 1))) for cell in row]
        for row in (line.find_all(["th", "td"], recursive=False) for line in rows)
    ]


def without_row_numbers(head, body):
    """Leave out the first column if it only counts the rows and has no name."""
    counts = [line[0] for line in body] == [(str(number), 1, 1) for number in range(len(body))]
    if counts and len(head) == 1 and head[0][0][0] == "":
        return [line[1:] for line in head], [line[1:] for line in body]
    return head, body


def one_head(head):
    """The names of columns and of rows in one line, where the first has no name for all columns together."""
    if len(head) != 2 or any(span > 1 for line in head for _, _, span in line):
        return head
    columns, rows = head
    names = sum(1 for text, _, _ in rows if text)
    if any(text for text, _, _ in rows[names:]) or len(columns) != len(rows):
        return head
    together = columns[names - 1][0]
    if not together:
        return [[*rows[:names], *columns[names:]]]
    spread = [(text, 2, 1) for text, _, _ in rows[:names]]
    return [[*spread, (together, 1, len(columns) - names)], columns[names:]]


def line_node(line, classes):
    row = nodes.row()
    place = 0
    for text, rows, columns in line:
        entry = nodes.entry(classes=[] if classes is None else [classes[min(place, len(classes) - 1)]])
        if rows > 1:
            entry["morerows"] = rows - 1
        if columns > 1:
            entry["morecols"] = columns - 1
            entry["classes"] = ["text-center"]
        entry += nodes.paragraph(text, "", nodes.literal(text, text) if CALL.fullmatch(text) else nodes.Text(text))
        row += entry
        place += columns
    return row


def alignment(body):
    """The class of each column: numbers stand at the right."""
    width = max(sum(columns for *_, columns in line) for line in body)
    seen = [[] for _ in range(width)]
    for line in body:
        for place, (text, *_) in enumerate(line, width - len(line)):  # cells that span rows are the first ones
            seen[place].append(text)
    return ["text-right" if all(map(NUMBER.fullmatch, texts)) else "text-left" for texts in seen]


def table_node(html):
    """The table of a DataFrame as a node, or None if the output is none."""
    table = BeautifulSoup(html, "html.parser").find("table", class_="dataframe")
    if table is None or table.tbody is None or not table.tbody.find("tr"):
        return None
    head, body = grid(table.thead.find_all("tr")), grid(table.tbody.find_all("tr"))
    head, body = without_row_numbers(one_head(head), body)
    classes = alignment(body)
    group = nodes.tgroup(cols=len(classes))
    group += [nodes.colspec(colwidth=1) for _ in classes]
    group += nodes.thead("", *(line_node(line, classes if len(head) == 1 else None) for line in head))
    width = len(classes)
    lines = [line_node(line, classes[width - sum(c for *_, c in line) :]) for line in body]
    group += nodes.tbody("", *lines)
    return nodes.table("", group, classes=["results"])


def render_text_html(renderer, data):
    table = table_node(data.string)
    if table is None:
        return usual(renderer, data)
    about = data.cell_metadata.get("table")
    if about:
        holder = nodes.Element()
        with renderer.renderer.current_node_context(holder):
            renderer.renderer.nested_render_text(about["caption"], data.line or 0, inline=True)
        table.insert(0, nodes.title("", "", *holder.children))
        table["names"].append(nodes.fully_normalize_name(about["name"]))
        renderer.renderer.document.note_explicit_target(table, table)
    # A wide table scrolls, so the keyboard must reach it.
    start = '<div class="output table-scroll" tabindex="0" role="group" aria-label="Table">'
    return [nodes.raw("", start, format="html"), table, nodes.raw("", "</div>", format="html")]


usual = NbElementRenderer.render_text_html


def setup(app):
    NbElementRenderer.render_text_html = render_text_html
    return {"parallel_read_safe": True, "parallel_write_safe": True}
