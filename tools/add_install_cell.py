"""Give notebooks a first cell that installs `bai` where it is missing, such as on Colab.

    python tools/add_install_cell.py https://git.example/owner/name

The notebooks of the repository have no such cell: it needs an address, which is known only where the book is published.
The workflows call this before they publish.
"""

import sys
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parent.parent
SOURCE = """\
try:
    import bai
except ModuleNotFoundError:  # on Colab, where it is not installed yet
    %pip install -q git+{address}"""


def add_install_cell(notebook, address):
    """Put the cell before the first code cell; the pages of the book do not show it."""
    first = next(place for place, cell in enumerate(notebook.cells) if cell.cell_type == "code")
    cell = nbformat.v4.new_code_cell(SOURCE.format(address=address), metadata={"tags": ["remove-cell"]}, id="install")
    notebook.cells.insert(first, cell)


def main(address):
    for path in [ROOT / "index.ipynb", *(ROOT / "chapters").glob("*.ipynb")]:
        notebook = nbformat.read(path, as_version=4)
        if any(cell.cell_type == "code" for cell in notebook.cells):
            add_install_cell(notebook, address)
            nbformat.write(notebook, path)


if __name__ == "__main__":
    main(*sys.argv[1:])
