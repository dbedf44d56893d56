"""Quizzes, slides and reading times come from the chapters and fit them."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

pytest.importorskip("sphinx", reason="the book's tools are not installed")
ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "_ext"))
from lists import notebooks  # noqa: E402
from teaching import quiz_html, quizzes, slides, words  # noqa: E402

BOOK = notebooks()


@pytest.mark.parametrize("page", quizzes())
def test_a_quiz_has_a_goal_and_questions_with_one_right_answer_and_a_reason(page):
    quiz = quizzes()[page]
    assert f"chapters/{page}" in BOOK and quiz["goal"] and len(quiz["question"]) >= 2
    for question in quiz["question"]:
        assert len(set(question["options"])) == len(question["options"]) >= 3
        assert 0 <= question["right"] < len(question["options"]) and question["why"]
    text = quiz_html(page, quiz)
    assert text.count("<fieldset") == text.count("<legend>") == len(quiz["question"])
    assert (ROOT / "chapters" / "quizzes.md").read_text(encoding="utf-8").count(f"{{quiz}} {page}\n") == 1


@pytest.mark.parametrize("page", quizzes())
def test_slides_hold_the_figures_and_statements_of_their_chapter(page):
    notebook = BOOK[f"chapters/{page}"]
    made = slides(notebook)
    text = "".join(made)
    before = "\n".join(cell.source for cell in notebook.cells).split("## Exercises")[0]
    assert len(made) >= 5 and text.count("<figure>") >= 1
    assert text.count("<h2>Lemma ") + text.count("<h2>Theorem ") == len(
        re.findall(r"\{prf:(?:lemma|theorem)\}", before)
    )
    assert not re.search(r"\{(ref|doc|eq|numref|cite:\w|prf:ref)\}`", text)


def test_reading_times_count_the_words_before_the_exercises():
    assert all(200 < words(BOOK[f"chapters/{page}"]) < 4000 for page in quizzes())


def test_reasons_for_survivors_belong_to_mutants_that_exist():
    pytest.importorskip("nbgrader", reason="nbgrader is not installed")
    import nbformat

    sys.path.append(str(ROOT / "tests" / "assignments"))
    from mutate import mutants

    listed = tomllib.loads((ROOT / "tests" / "assignments" / "survivors.toml").read_text(encoding="utf-8"))
    for name, reasons in listed.items():
        file = ROOT / "chapters" / "assignments" / "source" / name / f"{name}.ipynb"
        texts = {
            c.metadata.get("nbgrader", {}).get("grade_id"): c.source for c in nbformat.read(file, as_version=4).cells
        }
        for label, reason in reasons.items():
            task, line = label.split(": ", 1)
            assert line in {changed for _, changed in mutants(texts[task])} and ast.parse(texts[task]), label
            assert reason.startswith(("same: ", "differs "))
