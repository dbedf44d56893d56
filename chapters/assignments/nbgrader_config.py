"""Settings of nbgrader for this folder: run nbgrader here. The instructor's guide of the book says how."""

import os
import sys
from pathlib import Path

import nbformat
from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbgrader import preprocessors as steps
from nbgrader.converters.generate_assignment import GenerateAssignment

from bai.book.autograde import HideTests, IsolatedExecute, fill_address

# nbgrader calls alembic by its bare name; it lies beside the Python that runs nbgrader.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])


COURSE = Path(__file__).resolve().parent
RELEASE = COURSE / "release"


class PutBackCells(steps.NbGraderPreprocessor):
    """Puts back the cells of an assignment that a student deleted, and what nbgrader notes about each, as released.

    Of a cell that was copied the last one counts. nbgrader's own steps put back tests only, stop where the solution
    before a test is gone too, and end the grading of all students where what one handed in lacks a note.
    """

    def preprocess(self, nb, resources):
        names = resources["nbgrader"]
        released = nbformat.read(RELEASE / names["assignment"] / f"{names['notebook']}.ipynb", as_version=4)
        name = lambda cell: cell.metadata.get("nbgrader", {}).get("grade_id")  # noqa: E731
        missing = {name(cell): cell for cell in released.cells if name(cell)}
        notes = {entry: cell.metadata["nbgrader"] for entry, cell in missing.items()}
        for cell in reversed(nb.cells):
            if missing.pop(noted := name(cell), None):
                cell.metadata["nbgrader"] = notes[noted]
            else:
                cell.metadata.pop("nbgrader", None)
        place = 0
        for entry in notes:
            if entry in missing:
                nb.cells.insert(place, missing[entry])
            place = list(map(name, nb.cells)).index(entry) + 1
        return nb, resources


class FillAddress(steps.NbGraderPreprocessor):
    """Puts the address of the repository into the cell that installs `bai`, or leaves the cell out."""

    def preprocess(self, nb, resources):
        fill_address(nb)
        return nb, resources


c = get_config()  # noqa: F821

c.CourseDirectory.course_id = "bai"
c.ClearSolutions.code_stub = {"python": "# YOUR CODE HERE\nraise NotImplementedError"}
c.IsolatedExecute.course = str(COURSE)
c.IsolatedExecute.seconds = 30  # for all calls of one test; a test that takes longer fails, and grading goes on
c.IsolatedExecute.timeout = 600  # seconds for one cell, whatever happens
c.LimitOutput.max_lines = 200
c.GenerateAssignment.preprocessors = [FillAddress, *GenerateAssignment().preprocessors]
c.Autograde.sanitize_preprocessors = [
    steps.ClearOutput,
    PutBackCells,
    steps.OverwriteKernelspec,
    steps.OverwriteCells,
    steps.CheckCellMetadata,
]
c.Autograde.autograde_preprocessors = [
    IsolatedExecute,
    steps.LimitOutput,
    steps.SaveAutoGrades,
    steps.AssignLatePenalties,
    steps.CheckCellMetadata,
]
c.GenerateFeedback.preprocessors = [steps.GetGrades, HideTests, CSSHTMLHeaderPreprocessor]
# Names of files as Moodle and Canvas make them, for zip_collect: the student's number, and the name of the notebook.
c.FileNameCollectorPlugin.named_regexp = (
    r".*_(?P<student_id>\d+)_(?:assignsubmission_file(?:_/?|/)|\d+_)(?P<file_id>\d_[a-z_]+?)(?:-\d+)?\.ipynb$"
)
