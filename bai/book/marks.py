"""Marks as learning platforms take them, and what still waits for a person::

    nbgrader export --exporter bai.book.marks.Moodle --assignment 1_halving --to moodle.csv
    nbgrader export --exporter bai.book.marks.Canvas --assignment 1_halving --to canvas.csv
    nbgrader export --exporter bai.book.marks.Waiting --to waiting.csv

Students are known by the number that their platform puts into the names of files, as `nbgrader zip_collect` reads it.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from nbgrader.api import MissingEntry
from nbgrader.plugins import ExportPlugin


class Marks(ExportPlugin):
    """Writes one line for each student and assignment; subclasses say which columns."""

    file = "marks.csv"

    def row(self, student: Any, assignment: Any, submission: Any) -> dict[str, Any] | None:
        """The columns of a line, or None for no line. `submission` is None where nothing was handed in."""
        raise NotImplementedError

    def rows(self, gradebook: Any) -> Iterator[dict[str, Any]]:
        for assignment in gradebook.assignments:
            for student in gradebook.students:
                if self.assignment and assignment.name not in self.assignment:
                    continue
                try:
                    submission = gradebook.find_submission(assignment.name, student.id)
                except MissingEntry:
                    submission = None
                row = self.row(student, assignment, submission)
                if row:
                    yield row

    def export(self, gradebook: Any) -> None:
        """Write the file."""
        rows = list(self.rows(gradebook))
        with open(self.to or self.file, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]) if rows else ["nothing to export"])
            writer.writeheader()
            writer.writerows(rows)


def score(submission: Any) -> float:
    return 0.0 if submission is None else max(0.0, submission.score - submission.late_submission_penalty)


class Moodle(Marks):
    """A grading worksheet: *Upload grading worksheet* of a Moodle assignment takes it.

    Moodle refuses a file without the columns of the identifier, the grade and the time of the grade, under these names
    in English. It leaves grades alone that it thinks are newer, so the time is that of the export.
    """

    file = "moodle.csv"

    def row(self, student: Any, assignment: Any, submission: Any) -> dict[str, Any] | None:
        names = f"{student.first_name or ''} {student.last_name or ''}".strip()
        return {
            "Identifier": f"Participant {student.id}",
            "Full name": names,
            "Grade": f"{score(submission):.2f}",
            "Maximum grade": f"{assignment.max_score:.2f}",
            "Last modified (grade)": f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S +0000}",
        }


class Canvas(Marks):
    """A file for *Import* in the gradebook of Canvas: students by their ID, and a column for the assignment."""

    file = "canvas.csv"

    def row(self, student: Any, assignment: Any, submission: Any) -> dict[str, Any] | None:
        names = f"{student.last_name or ''}, {student.first_name or ''}".strip(", ")
        return {"Student": names, "ID": student.id, "Section": "", assignment.name: f"{score(submission):.2f}"}


class Waiting(Marks):
    """The answers that a person has yet to grade, with the points that are open."""

    file = "waiting.csv"

    def row(self, student: Any, assignment: Any, submission: Any) -> dict[str, Any] | None:
        grades = (
            [] if submission is None else [g for n in submission.notebooks for g in n.grades if g.needs_manual_grade]
        )
        return {
            "assignment": assignment.name,
            "student_id": student.id,
            "handed in": "no" if submission is None else "yes",
            "score": f"{score(submission):g}",
            "max_score": f"{assignment.max_score:g}",
            "waits for a person": " ".join(grade.name for grade in grades),
            "open points": f"{sum(grade.max_score for grade in grades):g}",
        }
