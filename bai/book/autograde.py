"""Steps of nbgrader: students' code is graded in a process of its own, and feedback shows no hidden test.

`IsolatedExecute` stands in `autograde` for nbgrader's own step, `HideTests` in `generate_feedback`; nbgrader's
configuration names both.
"""

from __future__ import annotations

import builtins
import os
import re
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.preprocessors import Execute, NbGraderPreprocessor
from traitlets import Bool, Integer, Unicode

from bai.book import sandbox
from bai.book.grading import HIDDEN, SECONDS, about, isolate


def fill_address(notebook: Any) -> None:
    """Put the address of the repository into the cell that installs `bai`; without one, leave the cell out."""
    address = os.environ.get("BOOK_REPOSITORY_URL")
    if address:
        for cell in notebook.cells:
            cell.source = cell.source.replace("REPOSITORY_URL", address)
    else:
        notebook.cells = [cell for cell in notebook.cells if "REPOSITORY_URL" not in cell.source]


NO_LOCK = (
    "this system cannot keep students' code away from your files and the network, which takes Linux 5.13 or newer on "
    "x86_64 or aarch64. Grade in the container of deploy/Containerfile; or, if you trust the code, set "
    "c.IsolatedExecute.unlocked = True in nbgrader_config.py"
)


class IsolatedExecute(Execute):
    """Executes a submission with the student's code in a process of its own; the notebook shows the code as it was."""

    course = Unicode(help="The folder of the course, with `source`.").tag(config=True)
    seconds = Integer(SECONDS, help="For all calls of one test together.").tag(config=True)
    unlocked = Bool(False, help="Grade also where students' code can read files and use the network.").tag(config=True)

    def preprocess(self, nb: Any, resources: Any = None, km: Any = None) -> tuple[Any, Any]:
        if not (self.unlocked or sandbox.can_lock()):
            raise RuntimeError(NO_LOCK)
        names = resources["nbgrader"]
        file = Path(self.course) / "source" / names["assignment"] / f"{names['notebook']}.ipynb"
        source = nbformat.read(file, as_version=4)
        tests = {about(cell)["grade_id"]: cell.source for cell in source.cells if about(cell).get("locked")}
        written = [tests.get(about(cell).get("grade_id"), cell.source) for cell in nb.cells]
        for cell, text in zip(nb.cells, isolate(nb, source, self.seconds), strict=True):
            cell.source = text
            cell.metadata.pop("tags", None)  # one of them lets a cell be skipped, and a test that is skipped has passed
        with tempfile.TemporaryDirectory() as empty:  # not where files that were handed in would pass for modules
            nb, _ = super().preprocess(nb, resources | {"metadata": {"path": empty}}, km)
        for cell, text in zip(nb.cells, written, strict=True):
            cell.source = text
            for output in cell.get("outputs", ()):
                if output.output_type == "error":
                    output.traceback = [f"{output.ename}: {output.evalue}"]
        return nb, resources


class HideTests(NbGraderPreprocessor):
    """Takes hidden tests, and what their messages tell about the cases, out of a page of feedback."""

    def preprocess_cell(self, cell: Any, resources: Any, index: int) -> tuple[Any, Any]:
        if cell.cell_type == "code" and HIDDEN.search(cell.source):
            cell.source = HIDDEN.sub("# (hidden tests)", cell.source)
            for output in cell.outputs:
                if output.output_type == "error":
                    output.evalue = hint(output.evalue)
                    output.traceback = [output.evalue]
        return cell, resources


def hint(message: str) -> str:
    """The part of a message that a student may see: the likely mistake and where to look, not the case.

    >>> hint("gap 0.5: expected 22, got 21\\nLook at: Task 3.")
    'A hidden case fails.\\nLook at: Task 3.'
    >>> hint("`score` raised ValueError: (0.5, [1, 1])")
    'A hidden case fails: `score` raised ValueError.'
    """
    told = re.match(r"(`\w+` (?:raised (\w+)|was stopped|ended the process|gives something))", message)
    if told:
        known = not told[2] or isinstance(getattr(builtins, told[2], None), type)  # a name of its own may tell the case
        return f"A hidden case fails: {told[1] if known else 'an error was raised'}."
    lines = [line for line in message.splitlines()[1:] if line.startswith(("This is what you get", "Look at: "))]
    return "\n".join(["A hidden case fails.", *lines])
