"""Write the student versions of the assignments: no solution, no hidden test, no output.

    python tools/make_assignments.py chapters/assignments/release

The steps are nbgrader's own, with the settings of ``chapters/assignments/nbgrader_config.py``; only the gradebook is
left out. ``nbgrader generate_assignment`` gives the same notebooks.
"""

import sys
from pathlib import Path

import nbformat
from nbgrader.converters.generate_assignment import GenerateAssignment
from nbgrader.preprocessors import SaveCells
from traitlets.config.loader import PyFileConfigLoader

from bai.book.autograde import fill_address

FOLDER = Path(__file__).resolve().parent.parent / "chapters" / "assignments"
SOURCES = sorted(FOLDER.glob("source/*/*.ipynb"))


def student_version(source):
    """The notebook that students get, from the one with solutions and tests."""
    config = PyFileConfigLoader("nbgrader_config.py", path=str(FOLDER)).load_config()
    notebook, resources = nbformat.read(source, as_version=4), {}
    fill_address(notebook)
    for step in GenerateAssignment().preprocessors:
        if step is not SaveCells:  # writes to the gradebook
            notebook, resources = step(config=config).preprocess(notebook, resources)
    return notebook


def points(notebook):
    """The points of an assignment, those for written answers included."""
    return sum(cell.metadata.get("nbgrader", {}).get("points", 0) for cell in notebook.cells)


def main(folder):
    for source in SOURCES:
        target = Path(folder) / source.stem / source.name
        target.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(student_version(source), target)


if __name__ == "__main__":
    main(*sys.argv[1:])
