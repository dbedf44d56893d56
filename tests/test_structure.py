"""The shape of the package: what may import what, how large functions are, and what goes by the registry."""

import ast
import re
import sys
import threading
from pathlib import Path

import pytest

import bai
from bai import compiling, plots
from bai.book import leaderboard

ROOT = Path(__file__).resolve().parent.parent
FILES = sorted((ROOT / "bai").rglob("*.py"))
EVERY = bai.REGISTRY + bai.FIELD


def module_of(path):
    """Return the dotted name of a file's module."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


TREES = {module_of(path): ast.parse(path.read_text(encoding="utf-8")) for path in FILES}
PACKAGES = {module_of(path) for path in FILES if path.name == "__init__.py"}


# --- who knows whom --------------------------------------------------------------------------------------


def imported_by(module):
    """Return the dotted names that a module imports, wherever in it."""
    package = module if module in PACKAGES else module.rpartition(".")[0]
    for node in ast.walk(TREES[module]):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*start, *([node.module] if node.module else [])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif (
            isinstance(node, ast.Constant) and isinstance(node.value, str) and re.fullmatch(r"bai(\.\w+)+", node.value)
        ):
            yield node.value  # for importlib, or for the files of a package


def within(name, *parts):
    """Return whether a dotted name is one of the parts of the package, or lies in one."""
    return any(f"{name}.".startswith(f"bai.{part}.") for part in parts)


ABOVE_PROBLEMS = ("policies", "theory", "play", "blocks", "study", "checkpoint", "experiment", "conditional", "plots")
MAY_NOT_IMPORT = {
    "checks": ("problems", "sampling", *ABOVE_PROBLEMS),
    "schedules": ("problems", "sampling", *ABOVE_PROBLEMS),
    "stats": ("problems", "sampling", *ABOVE_PROBLEMS),
    "sampling": ABOVE_PROBLEMS,
    "problems": ABOVE_PROBLEMS,
    "policies": ABOVE_PROBLEMS[1:],
    "theory": ("problems", *(part for part in ABOVE_PROBLEMS if part != "theory")),
    "play": ("theory", "blocks", "study", "checkpoint", "experiment", "conditional", "plots"),
    "experiment": ("theory", "study", "checkpoint", "conditional", "plots"),
    "study": ("theory", "experiment", "conditional", "plots"),
    "plots": ("theory", "experiment", "conditional"),
}


@pytest.mark.parametrize("part", MAY_NOT_IMPORT)
def test_nothing_points_backwards(part):
    modules = [module for module in TREES if within(module, part)]
    assert modules
    found = [(m, name) for m in modules for name in imported_by(m) if within(name, *MAY_NOT_IMPORT[part])]
    assert found == []


def test_nothing_outside_the_book_imports_the_book():
    outside = [module for module in TREES if not within(module, "book")]
    assert [(m, name) for m in outside for name in imported_by(m) if within(name, "book")] == []
    assert any(within(name, "study") for m in TREES if within(m, "book") for name in imported_by(m))  # the other way


def test_no_function_has_the_name_of_its_module():
    for module, tree in TREES.items():
        names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert module.rpartition(".")[2] not in names


def test_files_whose_functions_are_compiled_into_others_are_watched():
    """numba does not notice changes of a function that was compiled into a loop of another file."""

    def names(module, decorator):
        for node in TREES[module].body:
            if isinstance(node, ast.FunctionDef) and any(
                getattr(d, "id", "") == decorator for d in node.decorator_list
            ):
                yield f"{module}.{node.name}"

    built_in = {name for m in TREES for kind in ("inlined", "compiled") for name in names(m, kind)}
    has_loops = [m for m in TREES if any(True for _ in names(m, "compiled"))]
    used = {name.rpartition(".")[0] for m in has_loops for name in imported_by(m) if name in built_in}
    watched = {f"bai.{Path(name).with_suffix('').as_posix().replace('/', '.')}" for name in compiling.BUILDING_BLOCKS}
    assert used == watched


# --- functions fit on a screen ---------------------------------------------------------------------------


def functions():
    for module, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield f"{module}.{node.name}", node


def lines_of_body(node):
    """Return the number of lines after the signature and the docstring."""
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    return node.end_lineno - body[0].lineno + 1 if body else 0


def arguments_of(node):
    """Return the number of arguments that a caller can give; `*args` and `**known` count as one each."""
    given = node.args
    names = [a.arg for a in given.posonlyargs + given.args + given.kwonlyargs if a.arg not in ("self", "cls")]
    return len(names) + (given.vararg is not None) + (given.kwarg is not None)


def test_no_function_has_more_than_60_lines_without_its_docstring():
    long = {name: lines_of_body(node) for name, node in functions() if lines_of_body(node) > 60}
    assert long == {}


def test_no_function_takes_more_than_8_arguments():
    many = {name: arguments_of(node) for name, node in functions() if arguments_of(node) > 8}
    assert many == {}


# --- the way through a sweep -----------------------------------------------------------------------------


def functions_called(call):
    """Return the functions of bai, in order, that a call passes through in any thread.

    Comprehensions, generator expressions and lambdas are part of the function that they stand in.
    """
    found = {}

    def note(frame, event, argument):
        code = frame.f_code
        if event == "call" and not code.co_name.startswith("<") and str(ROOT / "bai") in code.co_filename:
            found.setdefault(code, f"{Path(code.co_filename).relative_to(ROOT)}: {code.co_qualname}")

    before = sys.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
        threading.setprofile(None)
    return list(found.values())


def test_a_sweep_with_one_policy_passes_through_at_most_30_functions():
    policy, problem = bai.SH(), bai.synthetic(8, 600, seed=0)
    bai.sweep(policy, problem, 100, seed=1, progress=False)  # what happens only once in a process is not counted
    called = functions_called(lambda: bai.sweep(policy, problem, 100, seed=1, progress=False))
    assert "bai/play.py: play_block" in called  # the threads that play are watched too
    assert len(called) <= 30, "\n".join(called)


# --- what goes by the registry ---------------------------------------------------------------------------


def test_every_policy_of_the_package_is_registered_once_and_public():
    defined = {
        cls
        for module in map(sys.modules.get, TREES)
        if module is not None and within(module.__name__, "policies")
        for cls in vars(module).values()
        if isinstance(cls, type) and issubclass(cls, bai.Policy) and cls.name
    }
    assert defined == set(EVERY)
    assert len(EVERY) == len(set(EVERY)) == len({cls.name for cls in EVERY})
    for cls in EVERY:
        assert getattr(bai, cls.__name__) is cls
        assert cls.__name__ in bai.__all__
        # The default of TTTS searches through a thousand draws, too slowly for all tests; test_field.py plays it.
        assert cls() in cls.examples() or cls is bai.TTTS


def test_every_policy_of_the_package_has_a_colour_and_marker_of_its_own():
    styles = [plots.policy_style(cls()) for cls in EVERY]
    assert all(sorted(style) == ["color", "linestyle", "marker"] for style in styles)
    assert len({(style["color"], style["marker"]) for style in styles}) == len(EVERY)
    assert len({style["color"] for style in styles}) == len(EVERY)
    assert len({style["marker"] for style in styles}) == len(EVERY)


def test_the_api_page_documents_every_policy_of_the_package():
    page = (ROOT / "reference" / "api" / "policies.md").read_text(encoding="utf-8")
    generated = re.search(r"^```\{class-list\} policies$", page, re.M)  # made from the registry
    named = [bool(re.search(rf"^\.\. autoclass:: {cls.__name__}$", page, re.M)) for cls in EVERY]
    assert generated or all(named)


def test_every_policy_of_the_package_plays_on_the_leaderboard_unless_it_is_too_slow():
    assert {type(policy) for policy in leaderboard.POLICIES.values()} == set(EVERY) - set(leaderboard.TOO_SLOW)
    assert leaderboard.TOO_SLOW == (bai.TTTS,)
