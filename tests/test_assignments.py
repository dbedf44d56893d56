"""The graders are fair: right answers get all points, wrong ones lose those they should, and nothing stops the grading.

`tests/assignments/NAME.py` holds what students might hand in for the assignment NAME: `RIGHT` has correct answers in
another style, `WRONG` the mistakes, each with the tests it must fail. They are graded in this process, by the rule of
nbgrader: a test earns its points if and only if it raises nothing. One run of the real nbgrader shows that both agree.
"""

import ast
import csv
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tools"))

pytest.importorskip("nbgrader", reason="nbgrader is not installed")
from make_assignments import FOLDER, SOURCES, points, student_version  # noqa: E402

NAMES = [source.stem for source in SOURCES]
VARIANTS = {name: runpy.run_path(str(ROOT / "tests" / "assignments" / f"{name}.py")) for name in NAMES}


def source(name):
    return nbformat.read(FOLDER / "source" / name / f"{name}.ipynb", as_version=4)


def grader(cell):
    return cell.metadata.get("nbgrader", {})


def graded(notebook):
    """Points of the cells that grade themselves, by their name. Written answers are not among them."""
    return {
        grader(cell)["grade_id"]: grader(cell)["points"]
        for cell in notebook.cells
        if grader(cell).get("grade") and not grader(cell)["solution"]
    }


def solutions_of(notebook):
    """The cells in which students write code, by their name."""
    return {
        grader(cell)["grade_id"]: cell.source
        for cell in notebook.cells
        if grader(cell).get("solution") and cell.cell_type == "code"
    }


def failed(name, answers):
    """The tests that fail when these solution cells replace the reference, with the errors."""
    plt.switch_backend("agg")
    notebook, namespace, errors = source(name), {"__name__": "__main__"}, {}
    assert set(answers) <= set(solutions_of(notebook)), "an answer to no task"
    for cell in notebook.cells:
        if cell.cell_type == "code":
            code = answers.get(grader(cell).get("grade_id"), cell.source)
            try:
                exec(compile(TransformerManager().transform_cell(code), "cell", "exec"), namespace)
            except (Exception, SystemExit) as error:
                errors[grader(cell).get("grade_id")] = error
    plt.close("all")
    return {test: errors[test] for test in graded(notebook) if test in errors}


# --- the notebooks


@pytest.mark.parametrize("name", NAMES)
def test_students_get_no_solution_and_no_hidden_test(name):
    theirs, ours = student_version(FOLDER / "source" / name / f"{name}.ipynb"), source(name)
    text = "\n".join(cell.source for cell in theirs.cells)
    assert not re.search("(BEGIN|END) (SOLUTION|HIDDEN|MARK)", text)
    assert not any(cell.get("outputs") for cell in theirs.cells)
    secret = re.findall(r"### BEGIN .*?\n(.*?)### END", "\n".join(cell.source for cell in ours.cells), re.S)
    secret += [cell.source for cell in ours.cells if grader(cell).get("solution") and cell.cell_type == "markdown"]
    lines = [line.strip() for part in secret for line in part.splitlines() if len(line.strip()) > 25]
    shown = {line.strip() for line in text.splitlines()}
    assert len(lines) > 20 and [line for line in lines if line in shown] == []


@pytest.mark.parametrize("name", NAMES)
def test_source_is_well_formed(name):
    notebook = source(name)
    cells = [cell for cell in notebook.cells if grader(cell)]
    names = [grader(cell)["grade_id"] for cell in cells]
    assert len(names) == len(set(names))
    for cell in cells:
        kind = grader(cell)
        if kind["solution"] and cell.cell_type == "code":
            assert "### BEGIN SOLUTION" in cell.source and "### END SOLUTION" in cell.source, kind["grade_id"]
        if kind["grade"] and not kind["solution"]:  # a number as last value would count as partial credit
            assert not isinstance(ast.parse(cell.source).body[-1], ast.Expr), kind["grade_id"]


@pytest.mark.parametrize("name", NAMES)
def test_points_add_up_to_what_the_text_says(name):
    notebook = source(name)
    assert f" {points(notebook)} points" in notebook.cells[0].source
    promised = [int(n) for cell in notebook.cells for n in re.findall(r"^## Task .*?(\d+) point", cell.source, re.M)]
    promised += [int(n) for cell in notebook.cells for n in re.findall(r"^## Task .* and (\d+) for", cell.source, re.M)]
    assert sum(promised) == points(notebook)


def test_every_assignment_is_on_its_page():
    page = (ROOT / "chapters" / "assignments.md").read_text(encoding="utf-8")
    assert re.findall(r"^```\{assignment\} (\S+)$", page, re.M) == NAMES


def test_links_to_binder_and_colab_appear_only_where_the_address_is_known(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "_ext")
    from assignments import links

    monkeypatch.delenv("BOOK_REPOSITORY_URL", raising=False)
    assert list(links("1_halving").values()) == ["assignments/1_halving.ipynb"]
    monkeypatch.setenv("BOOK_REPOSITORY_URL", "https://github.com/owner/name")
    monkeypatch.setenv("BOOK_REPOSITORY_BRANCH", "launch")
    _, binder, colab = links("1_halving").values()
    file = "chapters/assignments/release/1_halving/1_halving.ipynb"
    assert binder == f"https://mybinder.org/v2/gh/owner/name/launch?urlpath=lab%2Ftree%2F{file.replace('/', '%2F')}"
    assert colab == f"https://colab.research.google.com/github/owner/name/blob/launch/{file}"
    setup = student_version(SOURCES[0]).cells[1].source
    assert "git+https://github.com/owner/name" in setup and "REPOSITORY_URL" not in setup


# --- the marks


@pytest.mark.parametrize("name", NAMES)
def test_reference_gets_all_points(name):
    assert failed(name, {}) == {}


@pytest.mark.parametrize("name", NAMES)
def test_untouched_version_gets_no_point(name):
    untouched = solutions_of(student_version(FOLDER / "source" / name / f"{name}.ipynb"))
    assert set(failed(name, untouched)) == set(graded(source(name)))


@pytest.mark.parametrize(("name", "style"), [(n, v) for n in NAMES for v in VARIANTS[n]["RIGHT"]])
def test_another_style_loses_no_point(name, style):
    assert failed(name, VARIANTS[name]["RIGHT"][style]) == {}


@pytest.mark.parametrize(("name", "mistake"), [(n, v) for n in NAMES for v in VARIANTS[n]["WRONG"]])
def test_mistake_loses_exactly_its_points(name, mistake):
    answers, lost = VARIANTS[name]["WRONG"][mistake]
    errors = failed(name, answers)
    assert set(errors) == lost, errors


@pytest.mark.parametrize("name", NAMES)
def test_enough_mistakes_are_tried_and_every_test_catches_one(name):
    caught = [lost for _, lost in VARIANTS[name]["WRONG"].values()]
    assert len(caught) >= 8 and len(VARIANTS[name]["RIGHT"]) >= 2
    assert set().union(*caught) == set(graded(source(name)))


# --- the real nbgrader, from the first command of the instructor's guide to the last

ANSWERS = {  # what students hand in: solution cells that replace the stubs
    "reference": {},
    "looping": VARIANTS["1_halving"]["WRONG"]["half rounded down"][0]
    | {"score": "import time\n\ndef score(means, named):\n    while True:\n        time.sleep(0.1)"},
    "careless": {
        "averages": "raise RuntimeError('left over from debugging')",
        "mistake": "def mistake_probability(means, variances, pulls:",
        "needed": "def how_many_pulls(gap, variances, delta):\n    return 22",
        "score": "open('notes.txt', 'w').write('x')\nimport sys\n\ndef score(means, named):\n    sys.exit(1)",
    },
}


LIMITS = """

def limit(cell, loops={}):
    name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
    if name == "score":
        loops["now"] = "while True" in cell.source
    return 2 if name in ("score-test", "score-hidden") and loops["now"] else 600


c.Execute.timeout_func = limit  # seconds: few for tests that never end, plenty for the others on a busy machine
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course folder in which six students have been graded, and what nbgrader said."""
    folder = tmp_path_factory.mktemp("course")
    shutil.copytree(FOLDER / "source" / "1_halving", folder / "source" / "1_halving")
    config = (FOLDER / "nbgrader_config.py").read_text(encoding="utf-8")
    (folder / "nbgrader_config.py").write_text(config + LIMITS, encoding="utf-8")
    said = {}

    def nbgrader(*arguments):
        command = [sys.executable, "-m", "nbgrader", *arguments]
        said[arguments[0]] = subprocess.run(command, cwd=folder, capture_output=True, text=True)

    nbgrader("generate_assignment", "1_halving")
    release = nbformat.read(folder / "release" / "1_halving" / "1_halving.ipynb", as_version=4)
    reference = solutions_of(source("1_halving"))
    for student in [*ANSWERS, "untouched", "deleted", "unreadable"]:
        notebook = nbformat.from_dict(release)
        answers = {} if student == "untouched" else reference | ANSWERS.get(student, {})
        for cell in notebook.cells:
            cell.source = answers.get(grader(cell).get("grade_id"), cell.source)
            if student == "careless" and grader(cell).get("grade_id") == "needed-test":
                cell.source = "assert True"
        if student == "deleted":
            gone = {"mistake-hidden", "plan", "plan-test"}
            notebook.cells = [cell for cell in notebook.cells if grader(cell).get("grade_id") not in gone]
        handed_in = folder / "submitted" / student / "1_halving" / "1_halving.ipynb"
        handed_in.parent.mkdir(parents=True)
        nbformat.write(notebook, handed_in)
    handed_in.write_text("not a notebook")
    nbgrader("autograde", "1_halving")
    nbgrader("generate_feedback", "1_halving")
    nbgrader("export")
    return folder, release, said


def test_generate_assignment_gives_the_student_version(course):
    _, release, said = course
    assert said["generate_assignment"].returncode == 0, said["generate_assignment"].stderr
    assert release == student_version(FOLDER / "source" / "1_halving" / "1_halving.ipynb")


def test_every_student_gets_a_mark_and_grading_goes_on(course, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # one of the answers writes a file
    folder, release, said = course
    worth = graded(source("1_halving"))
    marks = {
        row["student_id"]: (float(row["score"]), float(row["max_score"]))
        for row in csv.DictReader((folder / "grades.csv").open())
    }

    def mark(lost):
        return (sum(worth.values()) - sum(worth[test] for test in lost), points(source("1_halving")))

    expected = {
        "reference": [],
        "careless": failed("1_halving", ANSWERS["careless"]),
        "untouched": failed("1_halving", solutions_of(release)),
        "looping": {"score-test", "score-hidden"} | VARIANTS["1_halving"]["WRONG"]["half rounded down"][1],
        "deleted": ["plan-test", "plan-hidden", "halving-test", "halving-hidden"],  # the solution of one task
        "unreadable": worth,
    }
    assert marks == {student: mark(lost) for student, lost in expected.items()}
    assert "student 'unreadable'" in said["autograde"].stderr
    assert said["autograde"].stderr.count("error processing assignment '") == 1


@pytest.mark.parametrize(
    ("student", "message"),
    [
        ("looping", "CellTimeoutError"),
        ("careless", "left over from debugging"),
        ("careless", "SyntaxError"),
        ("careless", "name 'pulls_needed' is not defined"),
        ("deleted", "NotImplementedError"),
        ("looping", "two of three go on"),
    ],
)
def test_feedback_tells_what_went_wrong(course, student, message):
    folder, _, said = course
    assert said["generate_feedback"].returncode == 0, said["generate_feedback"].stderr
    assert message in (folder / "feedback" / student / "1_halving" / "1_halving.html").read_text()


def test_files_written_by_a_student_stay_in_their_folder(course):
    written = [path.relative_to(course[0]).parts[:2] for path in course[0].rglob("notes.txt")]
    assert sorted(written) == [("autograded", "careless"), ("feedback", "careless")]
