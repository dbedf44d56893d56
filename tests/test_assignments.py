"""The graders are fair: right answers get all points, wrong ones lose those they should, and nothing stops the grading.

`tests/assignments/NAME.py` holds what students might hand in for the assignment NAME: `RIGHT` has correct answers in
another style, `WRONG` the mistakes, each with the tests it must fail. They are graded in this process, by the rule of
nbgrader: a test earns its points if and only if it raises nothing. One run of the real nbgrader shows that both agree.
"""

import ast
import base64
import contextlib
import csv
import html
import io
import json
import os
import re
import runpy
import shutil
import struct
import subprocess
import sys
import tempfile
import tomllib
import traceback
import zipfile
from datetime import UTC, datetime
from functools import cache
from multiprocessing import forkserver
from pathlib import Path
from unittest import mock

import kernels
import nbformat
import numpy as np
import pytest
from IPython.core.inputtransformer2 import TransformerManager
from traitlets.config import Config

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tools"))

pytest.importorskip("nbgrader", reason="nbgrader is not installed")
from make_assignments import FOLDER, SOURCES, points, student_version  # noqa: E402

from bai.book import autograde, grading, sandbox  # noqa: E402

NAMES = [source.stem for source in SOURCES]
VARIANTS = {name: runpy.run_path(str(ROOT / "tests" / "assignments" / f"{name}.py")) for name in NAMES}


@cache
def source(name):
    """The instructor's notebook. Copy it before you change it."""
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


def concerned(notebook, answers):
    """The tasks whose result these answers can change: their own, and those that call what they define."""
    tasks = {grader(c)["grade_id"]: (answers.get(grader(c)["grade_id"], c.source), c.metadata["bai"]["answers"])
             for c in notebook.cells if "bai" in c.metadata}  # fmt: skip
    changed = [entry for task in answers for entry in tasks[task][1]]
    return {
        task for task, (text, _) in tasks.items() if task in answers or re.search(rf"\b({'|'.join(changed)})\b", text)
    }


def failed(name, answers, notebook=None, seconds=grading.SECONDS):
    """The tests that fail when these cells replace the reference, with the errors, run as `autograde` does."""
    original, errors, namespace = notebook or source(name), {}, {"__name__": "__main__"}
    handed_in = nbformat.from_dict(original)
    assert set(answers) <= set(solutions_of(original)), "an answer to no task"
    for cell in handed_in.cells:
        cell.source = answers.get(grader(cell).get("grade_id"), cell.source)
    tasks = concerned(original, answers) if answers else set(solutions_of(original))
    for cell, text in zip(handed_in.cells, grading.isolate(handed_in, original, seconds), strict=True):
        test = grader(cell).get("grade_id", "")
        wanted = test.rpartition("-")[0] in tasks if grader(cell).get("grade") else bool(test)
        if cell.cell_type == "code" and wanted:
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    exec(compile(TransformerManager().transform_cell(text), "cell", "exec"), namespace)
            except Exception as error:
                errors[test] = error
    namespace["_session"].close()
    return {test: errors[test] for test in graded(original) if test in errors}


def tasks_of(tests):
    return {test.rpartition("-")[0] for test in tests}


# --- the notebooks


def open_part(notebook):
    """What is neither a solution nor a hidden test; a hidden test may repeat lines of it."""
    return re.sub("### BEGIN .*?### END", "", "\n".join(cell.source for cell in notebook.cells), flags=re.S)


@pytest.mark.parametrize("name", NAMES)
def test_students_get_no_solution_and_no_hidden_test(name):
    theirs, ours = student_version(FOLDER / "source" / name / f"{name}.ipynb"), source(name)
    text = "\n".join(cell.source for cell in theirs.cells)
    assert not re.search("(BEGIN|END) (SOLUTION|HIDDEN|MARK)", text)
    assert not any(cell.get("outputs") for cell in theirs.cells)
    secret = re.findall(r"### BEGIN .*?\n(.*?)### END", "\n".join(cell.source for cell in ours.cells), re.S)
    secret += [cell.source for cell in ours.cells if grader(cell).get("solution") and cell.cell_type == "markdown"]
    lines = [line.strip() for part in secret for line in part.splitlines() if len(line.strip()) > 25]
    shown = {line.strip() for line in text.splitlines()} - {line.strip() for line in open_part(ours).splitlines()}
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
            names = {node.id for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.Name)}
            names |= {node.name for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.FunctionDef)}
            assert set(cell.metadata["bai"]["answers"]) <= names and "may_use" in cell.metadata["bai"], kind["grade_id"]
        if kind["grade"] and not kind["solution"]:  # a test is named after the cell that it tests
            assert kind["grade_id"].rpartition("-")[0] in names_of_tasks(notebook), kind["grade_id"]


def names_of_tasks(notebook):
    return {grader(cell)["grade_id"] for cell in notebook.cells if "bai" in cell.metadata}


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
    monkeypatch.delenv("BOOK_REPOSITORY_URL")
    assert not any("%pip" in cell.source for cell in student_version(SOURCES[0]).cells)


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


def renamed(text):
    """The same functions with other names for their parameters: tests call by position."""
    tree = ast.parse(text)
    for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
        names = {entry.arg: f"parameter_{place}" for place, entry in enumerate(function.args.args)}
        for node in ast.walk(function):
            if isinstance(node, ast.arg):
                node.arg = names.get(node.arg, node.arg)
            if isinstance(node, ast.Name):
                node.id = names.get(node.id, node.id)
    return ast.unparse(tree)


@pytest.mark.parametrize("name", NAMES)
def test_other_names_of_parameters_lose_no_point(name):
    answers = {task: renamed(text) for task, text in solutions_of(source(name)).items() if "def " in text}
    assert "parameter_0" in "".join(answers.values()) and failed(name, answers) == {}


NAMED = {  # usual mistakes that a message names, with the test and the name
    "biased variance": ("bound-hidden", "biased variance"),
    "rounded down, one pull short": ("needed-hidden", "rounded down"),
    "samples of earlier stages kept": ("halving-hidden", "samples of earlier stages kept"),
    "warm-up with log2": ("warmup-hidden", "logarithm to base 2"),
}


@pytest.mark.parametrize(("name", "mistake"), [(n, v) for n in NAMES for v in VARIANTS[n]["WRONG"]])
def test_mistake_loses_hidden_points_of_its_tasks_only_and_the_message_helps(name, mistake):
    answers, lost = VARIANTS[name]["WRONG"][mistake]
    errors = failed(name, answers)
    hidden = set(graded(source(name))) - set(visible(source(name)))
    assert tasks_of(errors) == lost, errors
    assert {task for task in lost if tasks_of(hidden) >= {task}} <= tasks_of(set(errors) & hidden), errors
    for test, error in errors.items():
        text = str(error)
        assert re.search("expected .*got .*Look at: |raised|is not defined", text, re.S), (test, text)
    if mistake in NAMED:
        test, told = NAMED[mistake]
        assert f"if you make the mistake: {told}" in str(errors[test])


def test_named_mistakes_exist():
    assert set(NAMED) <= {mistake for name in NAMES for mistake in VARIANTS[name]["WRONG"]}


@pytest.mark.parametrize("name", NAMES)
def test_enough_mistakes_are_tried_and_every_task_loses_points_by_one(name):
    caught = [lost for _, lost in VARIANTS[name]["WRONG"].values()]
    assert len(caught) >= 8 and len(VARIANTS[name]["RIGHT"]) >= 2
    assert set().union(*caught) == tasks_of(graded(source(name)))


def visible(notebook):
    return {
        grader(c)["grade_id"]: grader(c)["points"]
        for c in notebook.cells
        if grader(c).get("grade") and not grader(c)["solution"] and "HIDDEN TESTS" not in c.source
    }


@pytest.mark.parametrize("name", NAMES)
def test_visible_tests_carry_at_most_a_fifth_of_the_points(name):
    assert 5 * sum(visible(source(name)).values()) <= points(source(name))


def words_of(node, cell):
    """The text in an expression, and in what the cell assigns to the names in it."""
    parts, names = list(ast.walk(node)), set()
    for part in parts:  # grows
        if isinstance(part, ast.Name) and part.id not in names:
            names.add(part.id)
            for entry in (entry for entry in ast.walk(cell) if isinstance(entry, ast.Assign)):
                if part.id in {
                    name.id
                    for name in ast.walk(entry)
                    if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
                }:
                    parts += ast.walk(entry.value)
    return " ".join(str(part.value) for part in parts if isinstance(part, ast.Constant))


@pytest.mark.parametrize("name", NAMES)
def test_every_assertion_says_what_was_expected_what_came_and_where_to_look(name):
    count = 0
    for cell in source(name).cells:
        if grader(cell).get("grade") and not grader(cell)["solution"]:
            tree = ast.parse(cell.source)
            for entry in (node for node in ast.walk(tree) if isinstance(node, ast.Assert)):
                count += 1
                if getattr(getattr(entry.test, "func", None), "id", "") == "check":  # which says the first two
                    assert len(entry.test.args) >= 4, ast.unparse(entry)
                else:
                    told = words_of(entry.msg, tree) if entry.msg else ""
                    assert all(word in told for word in ("expected", "got", "Look at: ")), ast.unparse(entry)
    assert count >= 15


def test_a_slip_is_charged_once_also_where_later_tasks_use_it():
    slip = {"survivors": "def survivors(arms, averages):\n    return sorted(arms)[: (len(arms) + 2) // 3]"}
    assert tasks_of(failed("1_halving", slip)) == {"survivors"}


# --- students' code and the tests do not meet


def answer(text, *arguments, may_use=(), seconds=5, shared="import numpy as np\nimport bai"):
    """What a function `f` of a student gives, in its process."""
    tasks = {"f": {"answers": ["f"], "may_use": list(may_use)}}
    session = grading.Session(tasks, [], grading.open_doors(tasks), seconds)
    session.add("imports", shared)
    namespace = {}
    try:
        session.submit("f", text, namespace)
        return namespace["f"](*arguments)
    finally:
        session.close()


ATTACKS = {
    "reads a file": f"def f(x):\n    return open({str(ROOT / 'conftest.py')!r}).read()",
    "lists the processes": "import os\ndef f(x):\n    return os.listdir('/proc')",
    "starts a program": "import subprocess\ndef f(x):\n    return subprocess.run(['/bin/ls', '/']).returncode",
    "kills its parent": "import os\ndef f(x):\n    return os.kill(os.getppid(), 9)",
    "opens a connection": "import socket\ndef f(x):\n    socket.create_connection(('127.0.0.1', 80))",
    "sends a datagram": """
import socket
def f(x):
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 9))
""",
    "opens a socket of the machine": "import socket\ndef f(x):\n    return socket.socket(socket.AF_UNIX).fileno()",
    "forks": "import os\ndef f(x):\n    return os.fork()",
    "starts a pool": "import multiprocessing\ndef f(x):\n    return multiprocessing.Pool(2).map(abs, [1, 2])",
    "asks about its parent": "import os\ndef f(x):\n    return os.kill(os.getppid(), 0)",
    "slows its parent down": "import os\ndef f(x):\n    return os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)",
    "limits its parent": """
import os, resource
def f(x):
    return resource.prlimit(os.getppid(), resource.RLIMIT_CPU, (1, 1))
""",
    "changes the rights of a file": f"import os\ndef f(x):\n    return os.chmod({str(ROOT / 'conftest.py')!r}, 0o600)",
    "shares memory": "import ctypes\ndef f(x):\n    assert ctypes.CDLL(None).shmget(1234, 4096, 0o1600) >= 0",
    "traces its parent": """
import ctypes, os
def f(x):
    assert ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0) == 0
""",
    "reads its environment": "def f(x):\n    return open('/proc/self/environ').read()",
    "reads its memory": "def f(x):\n    return open('/proc/self/mem', 'rb').read(1)",
    "takes all memory": "def f(x):\n    return np.empty(6 << 30, bool).size",  # at once, where it is allowed
    "gives a huge result": "def f(x):\n    return 'x' * 10**8",
    "gives a subclass of arrays": """
class A(np.ndarray):
    __eq__ = lambda *a: True
    tolist = lambda self: self
def f(x):
    return np.zeros(2).view(A)
""",
    "patches the encoding": """
import json
def f(x):
    json.dumps = lambda *a, **k: "[]"
    return 1
""",
    "imports the library": "import importlib\ndef f(x):\n    return importlib.import_module('bai.theory').stages(8)",
    "asks the library": "def f(x):\n    return bai.theory.stages(8)",
    "finds the library anew": f"""
import sys
def f(x):
    sys.modules.pop("bai"), sys.meta_path.pop(0), sys.path.append({str(ROOT)!r})
    return __import__("bai").theory.stages(8)
""",
    "asks the notebook for its cells": "def f(x):\n    return get_ipython().user_ns['In'][1]",
    "equals everything": "class A:\n    __eq__ = lambda *a: True\ndef f(x):\n    return A()",
    "leaves": "import sys\ndef f(x):\n    sys.exit(0)",
    "dies": "import os\ndef f(x):\n    os._exit(0)",
    "never ends": "def f(x):\n    while True:\n        pass",
    "yields for ever": "import itertools\ndef f(x):\n    return itertools.count()",
    "is too deep": "def f(x):\n    y = []\n    for _ in range(10**5):\n        y = [y]\n    return y",
    "writes a large file": "def f(x):\n    open('y', 'w').write('x' * 10**8)\n    return 1",
    "gives a set that takes for ever": """
import __main__
def f(x):
    return __main__.Encoded(["set", [n * (2**61 - 1) for n in range(50_000)]])
""",
    "cuts a file": f"""
import os
def f(x):
    return os.truncate({str(ROOT / "conftest.py")!r}, {(ROOT / "conftest.py").stat().st_size})
""",
    "speaks for the process": """
import json, os
def f(x):
    for number in range(3, 64):
        try:
            os.write(number, b"\\x05" + bytes(7) + b"[1,2]")
        except OSError:
            pass
    return 1
""",
}


ENDLESS = ("never ends", "yields for ever", "gives a set that takes for ever")  # these use up the time that they have


@pytest.mark.skipif(not sandbox.can_lock(), reason="this system has no Landlock")
@pytest.mark.parametrize("attack", ATTACKS)
def test_code_that_reaches_out_fails_with_a_message(attack):
    with pytest.raises(grading.Failed):
        answer(ATTACKS[attack], 1, seconds=0.5 if attack in ENDLESS else 2)


def test_patched_libraries_and_comparisons_make_no_wrong_answer_right():
    patched = """
import builtins, json, math, sys
class Yes(float):
    __eq__ = __ge__ = __le__ = lambda *a: True
math.isclose = np.isclose = np.allclose = np.array_equal = lambda *a, **k: True
np.ndarray = np.float64 = Yes
def pulls_needed(gap, variances, delta):
    return Yes(1)
"""
    assert "needed" in tasks_of(failed("1_halving", {"needed": patched}))


def test_tests_come_from_the_instructor_and_not_from_what_was_handed_in():
    original = source("1_halving")
    handed_in = nbformat.from_dict(original)
    for cell in handed_in.cells:
        if grader(cell).get("locked"):
            cell.source = "forged = True"
    assert not any(text.startswith("forged") or "'forged" in text for text in grading.isolate(handed_in, original))


@pytest.mark.parametrize("tells", ["print(seen)", "raise ValueError(str(seen))"])
def test_what_hidden_tests_ask_can_be_told_nowhere_else(tells):
    tasks = {name: {"answers": [name], "may_use": []} for name in ("f", "g")}
    session, namespace, said = grading.Session(tasks, [], grading.open_doors(tasks), 5), {}, io.StringIO()
    with contextlib.redirect_stdout(said):
        session.submit("f", "seen = []\ndef f(x):\n    seen.append(x)\n    return x", namespace)
        session.test("f-hidden", "### BEGIN HIDDEN TESTS\nassert f(4711) == 4711\n### END HIDDEN TESTS", namespace)
        session.test("f-test", "assert f(1) == 1", namespace)
        session.submit("g", f"print('seen', seen)\ndef g(x):\n    {tells}", namespace)
        with contextlib.suppress(grading.Failed):
            namespace["g"](2)
        with pytest.raises(Exception) as error:
            session.test("g-test", "assert g(2) == 2", namespace)
    session.close()
    assert "seen [1]" in said.getvalue() and "4711" not in said.getvalue() + str(error.value)


def test_a_test_that_was_moved_behind_later_tasks_is_not_passed_with_what_the_reference_said_there():
    tasks = {name: {"answers": [name], "may_use": []} for name in ("f", "g")}
    session, namespace = grading.Session(tasks, ["def f(x):\n    return x + 1"], grading.open_doors(tasks), 5), {}
    session.submit("f", "noted = {}\ndef f(x):\n    return noted.get(x)", namespace)
    session.submit("g", "def g(x):\n    noted[x] = f(x)\n    return noted[x]", namespace)
    session.test("g-test", "assert g(1) == 2", namespace)  # with the reference for f
    with pytest.raises(grading.Failed, match="this test stands behind tests of later tasks"):
        session.test("f-test", "assert f(1) == 2", namespace)
    session.close()


def test_lines_of_hidden_cases_stay_hidden_however_long_they_are():
    message = "variances [1 2\n 3 4]: expected 5, got 6\nThis is what you get if you ...\nLook at: Task 1."
    assert autograde.hint(message) == "A hidden case fails.\nThis is what you get if you ...\nLook at: Task 1."


@pytest.mark.parametrize("machine", sandbox.REFUSED_CALLS)
def test_the_filter_of_system_calls_refuses_what_it_should(machine):
    program = list(struct.iter_unpack("<HBBI", sandbox.call_filter(machine)))
    processor, *refused = sandbox.REFUSED_CALLS[machine]
    clone, limits = sandbox.SPLIT[machine]

    def verdict(number, argument=0, arch=processor):
        data, value, place = {0: number, 4: arch, 16: argument}, 0, 0
        while True:
            code, yes, no, k = program[place]
            if code == 0x06:
                return {0x7FFF0000: "allowed", 0x00050001: "refused", 0x00050026: "unknown"}[k]
            if code == 0x20:
                value, place = data[k], place + 1
            else:
                holds = {0x15: value == k, 0x35: value >= k, 0x45: bool(value & k)}[code]
                place += 1 + (yes if holds else no)

    assert {verdict(number) for number in refused} == {"refused"} and len(refused) > 40
    assert verdict(clone, 0x3D0F00) == "allowed" and verdict(clone, 0x1200011) == "refused"  # a thread; a process
    assert verdict(limits, 0) == "allowed" and verdict(limits, 4711) == "refused" and verdict(435) == "unknown"
    assert verdict(0, arch=0x40000003) == "refused" and verdict(0x40000029) == "refused"  # other tables of calls
    plain = {"x86_64": [0, 1, 3, 9, 11, 202, 231, 257], "aarch64": [56, 57, 63, 64, 93, 98, 215, 222]}[machine]
    assert {verdict(number) for number in plain} == {"allowed"}


def test_without_a_lock_nothing_is_graded_unless_the_teacher_says_so(monkeypatch):
    monkeypatch.setattr(sandbox, "can_lock", lambda: False)
    with pytest.raises(RuntimeError, match=r"deploy/Containerfile; or, .* c\.IsolatedExecute\.unlocked = True"):
        autograde.IsolatedExecute().preprocess(None, {})


DRIPS = """
import os, time
def f(x):
    for byte in b"\\x40" + bytes(7) + b" " * 64:  # a message that arrives byte by byte
        for number in range(3, 64):
            try:
                os.write(number, bytes([byte]))
            except OSError:
                pass
        time.sleep(0.1)
"""


@pytest.mark.parametrize("text", ["import time\ndef f(x):\n    while True:\n        time.sleep(0.01)", DRIPS])
def test_a_time_limit_is_explained(text):
    with pytest.raises(grading.Failed, match="`f` was stopped: one test has 1 seconds"):
        answer(text, 1, seconds=1)


def test_what_took_too_long_does_not_answer_the_next_request():
    tasks = {"f": {"answers": ["f"], "may_use": []}}
    session, namespace = grading.Session(tasks, [], grading.open_doors(tasks), 2), {}
    session.submit("f", "import time\ndef f(x):\n    time.sleep(3 * (x == 1))\n    return x", namespace)
    with pytest.raises(grading.Failed, match="`f` was stopped"):
        session.test("f-test", "f(1)", namespace)
    session.test("f-again", "assert f(2) == 2", namespace)
    session.close()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(x):\n    print('noise' * 10**5)\n    return np.float32(2)", 2.0),
        ("def f(x):\n    return (i * i for i in range(3))", [0, 1, 4]),
        ("def f(x):\n    return {'a': (1, None), 2: {3}}", {"a": (1, None), 2: {3}}),
        ("%matplotlib inline\n!ls\ndef f(x):\n    return helper(x)\ndef helper(x):\n    return x is True", False),
        ("%%time\ndef f(x):\n    return x", 1),
        ("def f(y):\n    open('notes.txt', 'w').write('a')\n    return open('notes.txt').read()", "a"),
        ("from fractions import Fraction\ndef f(x):\n    return Fraction(1, 2)", 0.5),
        ("def f(x):\n    return x\nraise RuntimeError('left over')", None),
    ],
)
def test_ordinary_code_gives_plain_results(text, expected):
    if expected is None:
        with pytest.raises(grading.Failed, match="left over"):
            answer(text, 1)
    else:
        assert answer(text, 1) == expected


def test_figures_of_students_are_shown_and_nothing_else_passes_for_one(monkeypatch):
    seen = []
    monkeypatch.setattr(grading, "display", lambda image: seen.append(image.data))
    draw = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\ndef f(x):\n    return x"
    assert answer(draw, 1, seconds=20) == 1 and len(seen) == 1 and seen[0].startswith(b"\x89PNG")
    for forged in ("PHN2Zz4=", "no base 64", base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(2_000_000)).decode()):
        with pytest.raises(ValueError):
            grading.png(forged)


def test_functions_and_generators_pass_as_arguments():
    rng, same = np.random.default_rng(1), np.random.default_rng(1)
    text = "def f(pull, rng):\n    return [pull(1), rng.random(), pull(rng)]"
    got = answer(text, lambda x: x + 1 if isinstance(x, int) else x.random(), rng)
    assert got == [2, same.random(), same.random()] and rng.random() == same.random()


def test_functions_of_ours_are_not_asked_for_ever():
    with pytest.raises(grading.Failed, match="an argument above 10000000"):
        answer("def f(pull):\n    return pull(10**12)", lambda n: np.zeros(n).sum())

    def slow(n):
        while True:
            n += 1

    with pytest.raises(grading.Failed, match="`f` was stopped: one test has 1 seconds"):
        answer("def f(pull):\n    return pull(1)", slow, seconds=1)
    with pytest.raises(grading.Failed, match="`f` was stopped: one test has 1 seconds"):
        answer("def f(pull):\n    while True:\n        pull(1)", lambda n: n, seconds=1)


def test_what_a_task_allows_may_be_used():
    text = "def f(v, n):\n    return bai.theory.greedy_allocation(v, n)"
    assert list(answer(text, [1.0, 2.0], 6, may_use=["theory.greedy_allocation"])) == [2, 4]
    with pytest.raises(grading.Failed, match="may not be used in this task; of `bai` it allows nothing"):
        answer(text, [1.0, 2.0], 6)
    assert answer("def f(k):\n    return bai.theory.stages(k)", 8, may_use=["bai"]) == 3


@pytest.mark.parametrize("text", ['["list", 3]', '["array", [], "V"]', '["what"]', '["dict", [[["list", []], 1]]]'])
def test_results_made_by_hand_are_refused(text):
    with pytest.raises((ValueError, TypeError)):
        sandbox.decode(json.loads(text))


# --- the real nbgrader, from the first command of the instructor's guide to the last

ANSWERS = {  # what students hand in: solution cells that replace the stubs
    "reference": {"explanation": "With four arms the two cannot be told apart."},
    "looping": VARIANTS["1_halving"]["WRONG"]["a third rounded down"][0]
    | {"score": "import time\n\ndef score(means, named):\n    while True:\n        time.sleep(0.1)"},
    "careless": {
        "averages": "raise RuntimeError('left over from debugging \\ud800')",
        "mistake": "def mistake_probability(means, variances, pulls:",
        "needed": "def how_many_pulls(gap, variances, delta):\n    return 22",
        "score": "open('notes.txt', 'w').write('x')\nimport sys\n\ndef score(means, named):\n    sys.exit(1)",
        "plan": "print('half a character: \\ud800')\n"
        "def stage_plan(*arguments):\n    raise ValueError(f'I was asked {arguments}')",
    },
}


ARCHIVES = {  # as the platforms name the files in what they offer for download
    "CS-Assignment 1-4711.zip": [
        "Ann Lee_1001_assignsubmission_file/1_halving.ipynb",
        "Bo Li_1002_assignsubmission_file_1_halving.ipynb",
        "Cy Ray_1003_assignsubmission_file_/1_halving.ipynb",  # older versions of Moodle
    ],
    "submissions.zip": ["diazeva_2001_90001_1_halving.ipynb", "poefay_LATE_2002_90002_1_halving-2.ipynb"],
}


def forged(release):
    """A notebook in which nothing is solved, with what might earn points all the same."""
    notebook = nbformat.from_dict(release)
    for place, cell in enumerate(cell for cell in notebook.cells if grader(cell).get("locked")):
        cell.metadata["tags"] = ["skip-execution"]  # a test that is skipped would have passed
        cell.source = "1000"  # the result of a test may stand for its points
        changes = [{"locked": False}, {"points": 1000}, {"solution": True}, {"grade": False}, {"schema_version": 1}]
        cell.metadata["nbgrader"] |= changes[place % len(changes)]
    twice = nbformat.from_dict(next(cell for cell in notebook.cells if grader(cell).get("grade_id") == "plan-hidden"))
    more = nbformat.v4.new_code_cell("1000", metadata={"nbgrader": {**twice.metadata["nbgrader"], "grade_id": "more"}})
    text = nbformat.v4.new_markdown_cell("done", metadata=notebook.cells.pop().metadata)
    twice.id = "twice"
    return nbformat.v4.new_notebook(cells=[twice, *reversed(notebook.cells), more, text], metadata=notebook.metadata)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course folder in which six students have been graded, and what nbgrader said."""
    folder = tmp_path_factory.mktemp("course")
    shutil.copytree(FOLDER / "source" / "1_halving", folder / "source" / "1_halving")
    config = (FOLDER / "nbgrader_config.py").read_text(encoding="utf-8")
    (folder / "nbgrader_config.py").write_text(config + "\nc.IsolatedExecute.seconds = 4\n", encoding="utf-8")
    said = {}

    def nbgrader(*arguments, quick=False):
        """Run a command in a fork of this process, which has imported nbgrader; if `quick`, so are its kernels."""
        with tempfile.TemporaryFile("w+") as file:
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    for number in (1, 2):
                        os.dup2(file.fileno(), number)
                    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
                    os.chdir(folder)
                    for zygote in grading.Zygote.running.values():
                        zygote.process.poll = lambda: None  # it runs, but only the process that started it can ask
                    if quick:
                        forkserver.ensure_running.__self__.__init__()  # that of our parent is not ours
                        kernels.use()
                    status = command(arguments)
                finally:
                    sys.stderr.flush()
                    os._exit(status)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            file.seek(0)
            before = said[arguments[0]].stderr if arguments[0] in said else ""
            said[arguments[0]] = subprocess.CompletedProcess(arguments, status, stderr=before + file.read())

    def command(arguments):
        from nbgrader.apps import NbGraderApp

        try:
            NbGraderApp.launch_instance(list(arguments))
        except SystemExit as end:
            return int(end.code or 0)
        except BaseException:
            traceback.print_exc()
            return 1
        return 0

    with mock.patch.dict(os.environ, BOOK_REPOSITORY_URL="https://github.com/owner/name"):
        nbgrader("generate_assignment", "1_halving")
    release = nbformat.read(folder / "release" / "1_halving" / "1_halving.ipynb", as_version=4)
    reference = solutions_of(source("1_halving"))
    for student in [*ANSWERS, "deleted", "intruder", "unreadable"]:
        notebook = nbformat.from_dict(release)
        answers = reference | ANSWERS.get(student, {})
        for cell in notebook.cells:
            cell.source = answers.get(grader(cell).get("grade_id"), cell.source)
            if student == "careless" and grader(cell).get("grade_id") == "needed-test":
                cell.source = "assert True"
        if student == "intruder":
            notebook = forged(release)
        if student == "deleted":
            gone = {"mistake-hidden", "plan", "plan-test"}
            notebook.cells = [cell for cell in notebook.cells if grader(cell).get("grade_id") not in gone]
        handed_in = folder / "submitted" / student / "1_halving" / "1_halving.ipynb"
        handed_in.parent.mkdir(parents=True)
        nbformat.write(notebook, handed_in)
        if student == "intruder":  # files that would be imported in the place of modules
            for name in ("ipykernel_launcher", "IPython", "bai", "numpy"):
                handed_in.with_name(f"{name}.py").write_text(f"open({str(folder / 'was here')!r}, 'w')")
    handed_in.write_text("not a notebook")
    nbgrader("autograde", "1_halving", "--student", "intruder")  # whose kernel starts as others do outside of tests
    nbgrader("autograde", "1_halving", quick=True)  # all that are left
    nbgrader("generate_feedback", "1_halving")
    nbgrader("export")
    archives = folder / "downloaded" / "1_halving" / "archive"
    archives.mkdir(parents=True)
    for file, names in ARCHIVES.items():
        with zipfile.ZipFile(archives / file, "w") as archive:
            for name in names:
                archive.write(folder / "submitted" / "reference" / "1_halving" / "1_halving.ipynb", name)
    nbgrader("zip_collect", "1_halving", "--force")
    return folder, release, said


def test_generate_assignment_gives_the_student_version_with_the_address(course, monkeypatch):
    _, release, said = course
    monkeypatch.setenv("BOOK_REPOSITORY_URL", "https://github.com/owner/name")
    assert said["generate_assignment"].returncode == 0, said["generate_assignment"].stderr
    assert release == student_version(FOLDER / "source" / "1_halving" / "1_halving.ipynb")
    assert "%pip install -q git+https://github.com/owner/name\n" in release.cells[1].source


def test_every_student_gets_a_mark_and_grading_goes_on(course):
    folder, _, said = course
    worth = graded(source("1_halving"))
    marks = {
        row["student_id"]: (float(row["score"]), float(row["max_score"]))
        for row in csv.DictReader((folder / "grades.csv").open())
    }

    third = VARIANTS["1_halving"]["WRONG"]["a third rounded down"][0]

    def mark(lost):
        return (sum(worth.values()) - sum(worth[test] for test in lost), points(source("1_halving")))

    expected = {
        "reference": [],
        "careless": failed("1_halving", ANSWERS["careless"]),
        "looping": {"score-test", "score-hidden"} | set(failed("1_halving", third)),
        "deleted": ["plan-test", "plan-hidden"],  # the solution of one task, charged once
        "intruder": worth,
        "unreadable": worth,
    }
    assert marks == {student: mark(lost) for student, lost in expected.items()}
    assert "student 'unreadable'" in said["autograde"].stderr
    assert said["autograde"].stderr.count("error processing assignment '") == 1


@pytest.mark.parametrize(
    ("student", "message"),
    [
        ("looping", "`score` was stopped: one test has 4 seconds for all its calls"),
        ("careless", "half a character: ?"),
        ("careless", "left over from debugging ?"),
        ("careless", "SyntaxError"),
        ("careless", "name &#39;pulls_needed&#39; is not defined"),
        ("deleted", "NotImplementedError"),
        ("looping", "A hidden case fails."),
        ("looping", "Look at: Task 6: a third, rounded up"),
        ("careless", "A hidden case fails: `stage_plan` raised ValueError."),
    ],
)
def test_feedback_tells_what_went_wrong(course, student, message):
    folder, _, said = course
    assert said["generate_feedback"].returncode == 0, said["generate_feedback"].stderr
    page = (folder / "feedback" / student / "1_halving" / "1_halving.html").read_text()
    assert message in page or message.replace("&#39;", "'") in page


def test_feedback_reveals_no_hidden_test(course):
    text = "\n".join(cell.source for cell in source("1_halving").cells)
    hidden = "\n".join(re.findall("BEGIN HIDDEN TESTS\n(.*?)### END", text, re.S))
    theirs = "\n".join(solutions_of(source("1_halving")).values())
    lines = [line.strip() for line in hidden.splitlines() if len(line.strip()) > 30 and line.strip() not in theirs]
    assert len(lines) > 40
    for student in ANSWERS:
        page = (course[0] / "feedback" / student / "1_halving" / "1_halving.html").read_text()
        text = html.unescape(re.sub("<[^>]*>", "", page))
        assert [line for line in lines if line in text] == []
        assert "I was asked (9, 300)" in text or student != "careless"  # the visible case may be told
        assert not re.search(r"I was asked \((?!9, 300)", text)


def test_files_that_were_handed_in_are_not_executed(course):
    assert (course[0] / "autograded" / "intruder" / "1_halving" / "bai.py").exists()
    assert not (course[0] / "was here").exists()


def test_files_written_by_a_student_are_gone(course):
    assert list(course[0].rglob("notes.txt")) == []


# --- delivery


def test_archives_of_moodle_and_canvas_are_collected(course):
    folder, _, said = course
    assert said["zip_collect"].returncode == 0, said["zip_collect"].stderr
    found = {path.parts[-3] for path in folder.glob("submitted/*/1_halving/1_halving.ipynb")}
    assert {"1001", "1002", "1003", "2001", "2002"} <= found


def test_marks_go_back_to_the_platforms_and_show_what_waits(course, tmp_path):
    from nbgrader.api import Gradebook

    from bai.book import marks

    rows = {}
    with Gradebook(f"sqlite:///{course[0]}/gradebook.db") as gradebook:
        for kind in (marks.Moodle, marks.Canvas, marks.Waiting):
            file = tmp_path / f"{kind.__name__}.csv"
            kind(to=str(file), assignment=["1_halving"]).export(gradebook)
            rows[kind.__name__] = list(csv.DictReader(file.open(encoding="utf-8")))
    worth = sum(graded(source("1_halving")).values())
    moodle = {row["Identifier"]: row for row in rows["Moodle"]}
    # the columns without which Moodle's importer (mod/assign/feedback/offline/importgradeslib.php) refuses a file
    assert {"Identifier", "Grade", "Last modified (grade)"} <= set(moodle["Participant reference"])
    assert float(moodle["Participant reference"]["Grade"]) == worth
    time = datetime.strptime(moodle["Participant reference"]["Last modified (grade)"], "%Y-%m-%d %H:%M:%S %z")
    assert abs((time - datetime.now(UTC)).total_seconds()) < 3600
    canvas = {row["ID"]: row for row in rows["Canvas"]}
    # what lib/gradebook_importer.rb of Canvas asks of a header: Student, ID, Section last of these, then assignments
    assert list(canvas["reference"]) == ["Student", "ID", "Section", "1_halving"]
    assert float(canvas["reference"]["1_halving"]) == worth
    waiting = {row["student_id"]: row for row in rows["Waiting"]}
    assert waiting["reference"]["waits for a person"] == "explanation" and waiting["reference"]["open points"] == "4"


RECIPE = (ROOT / "deploy" / "Containerfile").read_text(encoding="utf-8")
INSTRUCTIONS = {"FROM", "ENV", "WORKDIR", "COPY", "RUN", "USER", "ENTRYPOINT", "CMD"}


def steps_of(recipe):
    """The instructions of a recipe, with what follows them: comments left out, broken lines joined."""
    text = re.sub(r"^\s*#.*\n", "", recipe, flags=re.M)
    return [tuple(line.split(None, 1)) for line in re.sub(r"\\\n", " ", text).splitlines() if line.strip()]


def recipe_problems(recipe):
    """What is wrong with a recipe, as far as it shows without building it."""
    stages, bases, commands = [], [], {}
    python = re.findall(r"Programming Language :: Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text())
    for step, *rest in steps_of(recipe):
        words = rest[0].split() if rest else []
        if step not in INSTRUCTIONS or not words:
            yield f"{step} is no instruction"
        elif step == "FROM":
            image = re.fullmatch(r"docker\.io/library/python:(3\.\d+)-slim", words[0])
            if not (words[0] in stages or (image and image[1] in python)) or words[1:-1] != ["AS"]:
                yield f"{words}: a stage with a name, from a Python that is tested or another stage"
            stages.append(words[-1])
            bases.append(words[0])
        elif not stages:
            yield f"{step} before FROM"
        elif step == "COPY" and not all((ROOT / file).exists() for file in words[:-1]):
            yield f"{words}: no such file"
        elif step in ("ENTRYPOINT", "CMD"):
            try:
                commands[stages[-1], step] = json.loads(rest[0])
            except ValueError:
                yield f"{rest[0]}: brackets and quotes are missing"
        elif step == "RUN" and "pip install" in rest[0] and not re.search(r"--require-hashes|--no-deps|<\d", rest[0]):
            yield f"{rest[0]}: any version"
    if commands.get(("grading", "ENTRYPOINT")) != ["nbgrader"]:
        yield "the image for grading does not start nbgrader"
    if commands.get(("hub", "CMD")) != ["jupyterhub-singleuser"] or commands.get(("hub", "ENTRYPOINT")) != []:
        yield "the image for the hub does not start what the hub expects"
    hub = recipe.partition("AS hub")[2]
    if "jupyterhub" not in hub.partition("USER")[0] or "USER student" not in hub:
        yield "the hub needs jupyterhub in the image, and a user who is not root"
    for part in ("python -m bai.book.warm", "chmod -R a+rwX /opt/compiled", "--network none", "NUMBA_CACHE_DIR="):
        if part not in recipe:
            yield f"{part} is missing"


def test_the_recipe_of_the_containers_fits_the_project():
    assert list(recipe_problems(RECIPE)) == []
    built = set(re.findall(r"build --target (\w+)", RECIPE))
    assert built == set(re.findall(r"AS (\w+)", RECIPE)) == {"grading", "hub"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("python:3.13", "python:3.9"), ("COPY bai ./bai", "COPY bay ./bai"), ("LICENSE-data.md", "LICENSE-date.md"),
        ("--require-hashes ", ""), ('ENTRYPOINT ["nbgrader"]', "ENTRYPOINT [nbgrader]"), ("WORKDIR /", "WORKDIE /"),
        ("FROM grading", "FROM grades"), ("ENTRYPOINT []\n", ""), ("USER student\n", ""), ("a+rwX", "a+rX"),
        ('"jupyterhub>=5,<6"', "jupyterhub"), ("python -m bai.book.warm", "true"), ("AS hub", ""),
    ],
)  # fmt: skip
def test_a_recipe_that_does_not_fit_is_noticed(old, new):
    assert RECIPE.count(old) >= 1 and list(recipe_problems(RECIPE.replace(old, new)))


def test_what_the_recipe_copies_is_enough_to_install_the_package(tmp_path):
    for step, rest in steps_of(RECIPE):
        if step == "COPY":
            *files, _ = rest.split()
            for file in map(ROOT.joinpath, files):
                if file.is_dir():
                    shutil.copytree(file, tmp_path / file.name, ignore=shutil.ignore_patterns("__pycache__"))
                else:
                    shutil.copy(file, tmp_path)
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "--no-index", "."]
    done = subprocess.run([*command, "-w", tmp_path / "made"], cwd=tmp_path, capture_output=True, text=True)
    if "No module named pip" in done.stderr:
        pytest.skip("pip is not installed")
    assert done.returncode == 0, done.stderr
    (wheel,) = (tmp_path / "made").glob("bai-*.whl")
    held = set(zipfile.ZipFile(wheel).namelist())
    assert {"bai/book/sandbox.py", "bai/book/marks.py", "bai/book/warm.py"} <= held
    assert not any("assignments" in name or name.endswith(".ipynb") for name in held)


def test_the_hub_starts_the_image_of_the_recipe():
    config = runpy.run_path(str(ROOT / "deploy" / "jupyterhub_config.py"), {"get_config": lambda: Config()})["c"]
    assert f"-t {config.DockerSpawner.image} " in RECIPE
    homes = [rest for step, rest in steps_of(RECIPE.partition("AS hub")[2]) if step == "WORKDIR"]
    assert homes == [config.DockerSpawner.notebook_dir] == list(config.DockerSpawner.volumes.values())
    assert config.Authenticator.admin_users and config.Authenticator.allow_all  # else nobody can log in


# --- editions


@pytest.mark.parametrize("file", SOURCES, ids=NAMES)
def test_another_edition_has_other_numbers_and_full_marks_for_its_solution(file):
    from make_course import edition

    other = edition(file, 2027)
    same = [ours.source == theirs.source for ours, theirs in zip(source(file.stem).cells, other.cells, strict=True)]
    assert same.count(False) >= 8
    assert failed(file.stem, {}, other) == {}


def test_editions_judge_other_claims():
    import make_course

    public = source("5_reproduction")
    told = dict(re.findall(r'"(\w+)": "([abc])"', solutions_of(public)["choice"]))
    claims = next(cell.source for cell in public.cells if grader(cell).get("grade_id") == "claims")
    assert told == make_course.LINES and tuple(re.findall(r'"(\w+)": \(', claims)) == make_course.CLAIMS
    pool = tomllib.loads((ROOT / "tools" / "claims.toml").read_text(encoding="utf-8"))
    names = [entry["name"] for kind in ("line", "claim") for entry in pool[kind]]
    assert len(set(names)) == len(names) and not set(names) & {*make_course.LINES, *make_course.CLAIMS}
    assert len(pool["line"]) >= 8 and len(pool["claim"]) >= 8
    assert all(len(set(line["options"])) == 3 and line["why"] for line in pool["line"])
    longest = [max(line["options"], key=len) == line["options"][0] for line in pool["line"]]
    assert 2 * sum(longest) <= len(longest), "who chooses the longest option should not be right too often"

    def drawn(seed):
        made = make_course.edition(SOURCES[-1], seed)
        cells = {grader(cell).get("grade_id"): cell.source for cell in made.cells}
        lines = dict(re.findall(r'"(\w+)": "([abc])"', cells["choice"]))
        task = next(cell.source for cell in made.cells if cell.source.startswith("## Task 1"))
        for line in pool["line"]:  # the letter of the solution is that of the right option
            if line["name"] in lines:
                assert f"- {lines[line['name']]}: {line['options'][0]}" in task
        first, claims = (
            re.search(r'my_claim.* = "(\w+)"', cells["plan"])[1],
            re.findall(r'"(\w+)": \(', cells["claims"]),
        )
        assert first in claims and all(len(line) <= 88 for line in cells["claims"].splitlines())
        assert f"The paper holds that {made_policy(pool, first)} " in cells["text"]
        return frozenset(lines), frozenset(claims)

    editions = [drawn(seed) for seed in (1, 2, 3)]
    assert all(len(lines) == len(claims) == 5 for lines, claims in editions) and len(set(editions)) == 3
    assert not frozenset.union(*(lines | claims for lines, claims in editions)) - set(names)


def made_policy(pool, claim):
    import bai

    return getattr(bai, next(entry["first"] for entry in pool["claim"] if entry["name"] == claim)).name


def test_a_course_lies_outside_the_repository_with_an_overlay_of_its_own(tmp_path):
    import make_course

    hidden = tmp_path / "overlay" / "1_halving" / "score-hidden.py"
    hidden.parent.mkdir(parents=True)
    hidden.write_text("assert score([[1.0, 0.0]], [0])[0] == 0, 'ours'")
    make_course.main("7", str(tmp_path))
    made = nbformat.read(tmp_path / "source" / "1_halving" / "1_halving.ipynb", as_version=4)
    assert any("'ours'\n### END HIDDEN" in cell.source for cell in made.cells)
    tasks, solutions = (tmp_path / name for name in ("exercises.md", "exercises_solutions.md"))
    assert "Solution" not in tasks.read_text() and solutions.read_text().count("**Solution.**") >= 8
    with pytest.raises(SystemExit, match="public repository"):
        make_course.main("7", str(ROOT / "chapters" / "course"))
