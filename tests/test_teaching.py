"""Quizzes, slides and reading times come from the chapters and fit them."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

pytest.importorskip("sphinx", reason="the book's tools are not installed")
ROOT = Path(__file__).resolve().parent.parent
sys.path += [str(ROOT / "_ext"), str(ROOT / "tests")]
from lists import notebooks  # noqa: E402
from teaching import CHAPTERS, SLIDES, goal_rows, in_words, quiz_html, quizzes, slides, tasks, title, words  # noqa: E402

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
    stated = re.findall(r'<h2 class="statement">(\w+)', text)
    assert sorted(stated) == sorted(k.capitalize() for k in re.findall(r"\{prf:(\w+)\}(?!`)", before) if k != "proof")
    assert not re.search(r"\{(ref|doc|eq|numref|cite:\w|prf:ref)\}`", text)
    assert not re.search(r"\b(sec|eq|fig|tab|lem|thm|prop|ex)[- ][a-z]+-?[a-z]*\b(?![^<]*>)", shown(text))
    headings = [shown(heading).split() for heading in re.findall("<h2.*?>(.*?)</h2>", text, re.S)]
    assert all(1 <= len(heading) <= 14 for heading in headings) and not re.search("<h2[^>]*><p>", text)
    assert [len(shown(slide).split()) for slide in made if len(shown(slide).split()) > 180] == []


def shown(slide):
    return re.sub("<[^>]*>", " ", slide)


def test_every_core_chapter_has_a_quiz_and_slides():
    from test_words import CORE

    assert set(CORE) <= set(quizzes())


def test_goals_are_mapped_to_all_tasks_of_all_assignments():
    graded = [pair for quiz in quizzes().values() for pair in tasks(quiz["graded"])]
    for file in sorted((ROOT / "chapters" / "assignments" / "source").glob("*/*.ipynb")):
        told = re.findall(r"^\s*\"## Task (\d+):", file.read_text(encoding="utf-8"), re.M)
        asked = {n for number, which in graded for n in which if number == int(file.stem[0])}
        assert asked == {int(n) for n in told} and len(asked) == 8, file.stem
    rows = list(goal_rows(BOOK))
    assert len(rows) == 2 + len(quizzes()) and not any(" 0 exercises" in row or " 0 minutes" in row for row in rows)
    assert "Assignment 1, Tasks 5 to 8; Assignment 3, Task 7 |" in rows[4]
    assert '<a href="slides/sequential_halving.html">slides</a>' in rows[4]
    assert sum("more in `exercises.md`" in row for row in rows) == len(CHAPTERS) and set(CHAPTERS) <= set(quizzes())
    assert in_words([1, 7, 8]) == "Tasks 1, 7 and 8" and in_words([7, 8]) == "Tasks 7 and 8"
    page = (ROOT / "chapters" / "quizzes.md").read_text(encoding="utf-8")
    for name in quizzes():
        assert f"(sec-quiz-{name.replace('_', '-')})=\n## {title(BOOK[f'chapters/{name}'])}\n" in page, name


def opened(browser, text, tmp_path, use):
    """What `use` finds on a page that lies in a file, in a browser without network."""
    (tmp_path / "page.html").write_text(f"<!doctype html>{text}", encoding="utf-8")
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    try:
        page.goto((tmp_path / "page.html").as_uri())
        return use(page)
    finally:
        page.close()


def test_a_quiz_marks_itself_in_a_file_without_server(browser, tmp_path):
    quiz = quizzes()["setting"]
    script = (ROOT / "_static" / "quiz.js").read_text(encoding="utf-8")

    def answer(page):
        for shift, said in ((0, "2 of 2 right"), (1, "0 of 2 right")):
            for number, question in enumerate(quiz["question"], 1):
                choice = (question["right"] + shift) % len(question["options"])
                page.check(f'input[name="setting-{number}"][value="{choice}"]')
            page.click("button")
            assert page.inner_text("output") == said
            words = ("Right. ", "Not quite. ")[shift]
            reasons = [words + question["why"] for question in quiz["question"]]
            assert page.locator(".quiz-answer").all_inner_texts() == reasons
        return page.url

    text = f"{quiz_html('setting', quiz)}<script>{script}</script>"
    assert opened(browser, text, tmp_path, answer).startswith("file:")


def test_keys_turn_the_slides_and_long_ones_fit(browser, tmp_path):
    style, script = ((ROOT / "_ext" / f"slides.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    body = "".join(f"<section>{slide}</section>" for slide in [*slides(BOOK["chapters/analysis"]), "long " * 400])
    text = SLIDES.format(title="", mathjax="", slides=body, style=style, script=script)

    def turn(page):
        count = page.locator("section").count()
        heights = []
        for number in range(1, count + 1):
            assert (
                page.evaluate("[...document.querySelectorAll('section')].findIndex(s => s.offsetHeight)") == number - 1
            )
            heights.append(page.evaluate("document.querySelector('section.now').scrollHeight"))
            page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowLeft")
        assert page.url.endswith(f"#{count - 1}")
        return heights

    assert max(opened(browser, text, tmp_path, turn)) <= 720


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
