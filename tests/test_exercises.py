"""Exercises and figures as teachers need them: rated, solved, the solution checked by a cell, two figures or more."""

import re
import sys
from pathlib import Path

import pytest

pytest.importorskip("sphinx", reason="the book's tools are not installed")
sys.path.append(str(Path(__file__).resolve().parent.parent / "_ext"))
from lists import exercises, figures, notebooks

BOOK = notebooks()
WITH_EXERCISES = [page for page, notebook in BOOK.items() if exercises(notebook)]


def cells_of_solutions(notebook):
    """How many code cells the solution of each exercise has, by the exercise's label."""
    found, current = {}, None
    for cell in notebook.cells:
        if cell.cell_type == "code":
            if current:
                found[current] += 1
            continue
        for gate, label in re.findall(r"^`{3,}\{solution(-start|-end|)\} *(\S*)$", cell.source, re.M):
            current = label if gate == "-start" else None
            if label:
                assert label not in found, f"two solutions of {label}"
                found[label] = 0
    return found


def test_the_book_has_exercises():
    assert len(WITH_EXERCISES) > 5


@pytest.mark.parametrize("page", WITH_EXERCISES)
def test_title_of_an_exercise_gives_difficulty_and_topic(page):
    rated = re.compile(r"(easy|medium|hard): \w.*")
    assert [label for title, label in exercises(BOOK[page]) if not rated.fullmatch(title)] == []


@pytest.mark.parametrize("page", WITH_EXERCISES)
def test_every_exercise_has_a_solution_with_a_cell_that_checks_it(page):
    cells = cells_of_solutions(BOOK[page])
    assert list(cells) == [label for _, label in exercises(BOOK[page])]
    assert [label for label, count in cells.items() if not count] == []


@pytest.mark.parametrize("page", [page for page, notebook in BOOK.items() if any(figures(notebook))])
def test_a_chapter_with_figures_offers_at_least_two(page):
    assert len(list(figures(BOOK[page]))) >= 2
