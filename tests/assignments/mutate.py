"""Would the graders notice? Mutants of the reference solutions, and all editions against right and wrong answers.

    python tests/assignments/mutate.py                 # the public edition: every mutant
    python tests/assignments/mutate.py --seeds 3       # and three other editions: every right and wrong answer
    python tests/assignments/mutate.py --course ~/my-course --seed 2027    # this edition, with its overlay

A mutant is the reference with one small change: another operator, a constant one off, a comparison that includes or
excludes its end, a clause, a condition or a statement left out. It must lose points. Those that lose none are listed;
`survivors.toml` says why, and which of them behave as the reference does. Ends with status 1 if fewer than 95 % of the
others lose points.
"""

import argparse
import ast
import copy
import sys
import tomllib
from pathlib import Path

import nbformat
import numpy as np

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "tools")]
from make_course import changed, edition, parameters  # noqa: E402
from test_assignments import NAMES, SOURCES, VARIANTS, failed, solutions_of, source, tasks_of  # noqa: E402

OPERATORS = {
    ast.Add: [ast.Sub], ast.Sub: [ast.Add], ast.Mult: [ast.Div], ast.Div: [ast.Mult],
    ast.FloorDiv: [ast.Div], ast.Pow: [ast.Mult],
    ast.Lt: [ast.LtE, ast.GtE], ast.LtE: [ast.Lt, ast.Gt], ast.Gt: [ast.GtE, ast.LtE], ast.GtE: [ast.Gt, ast.Lt],
    ast.Eq: [ast.NotEq], ast.NotEq: [ast.Eq],
}  # fmt: skip
CALLS = {
    "max": "min",
    "min": "max",
    "ceil": "floor",
    "floor": "ceil",
    "sf": "cdf",
    "cdf": "sf",
    "ppf": "isf",
    "isf": "ppf",
}


def changes(node):
    """Functions that each make one change to this node."""
    if isinstance(node, ast.BinOp):
        for new in OPERATORS.get(type(node.op), []):
            yield lambda n, new=new: setattr(n, "op", new())
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        for new in OPERATORS.get(type(node.ops[0]), []):
            yield lambda n, new=new: setattr(n, "ops", [new()])
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield lambda n: setattr(n, "value", n.value + 1)
        if node.value:
            yield lambda n: setattr(n, "value", n.value - 1)
    if isinstance(node, ast.Call):
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name in CALLS:
            yield lambda n: setattr(n.func, "id" if isinstance(n.func, ast.Name) else "attr", CALLS[name])
        if name in ("max", "min") and len(node.args) == 2 and not node.keywords:  # a limit left out
            yield lambda n: (setattr(n, "func", ast.Name("float", ast.Load())), setattr(n, "args", n.args[1:]))
        if any(word.arg in ("reverse", "ddof", "axis") for word in node.keywords):
            yield lambda n: setattr(n, "keywords", [w for w in n.keywords if w.arg not in ("reverse", "ddof", "axis")])
    if isinstance(node, ast.If):
        yield lambda n: setattr(n, "test", ast.Constant(False))
    if isinstance(node, ast.IfExp):
        yield lambda n: setattr(n, "test", ast.Constant(True))
        yield lambda n: setattr(n, "test", ast.Constant(False))
    if isinstance(node, ast.BoolOp):
        yield lambda n: setattr(n, "op", ast.Or() if isinstance(n.op, ast.And) else ast.And())
        for place in range(len(node.values)):
            yield lambda n, place=place: n.values.pop(place)
    if isinstance(node, ast.comprehension):
        for place in range(len(node.ifs)):
            yield lambda n, place=place: n.ifs.pop(place)
    if isinstance(node, ast.AugAssign) and type(node.op) in OPERATORS:
        yield lambda n: setattr(n, "op", OPERATORS[type(n.op)][0]())
    for place, entry in enumerate(getattr(node, "body", []) if isinstance(node, (ast.For, ast.While)) else []):
        if isinstance(entry, (ast.AugAssign, ast.Expr)):
            yield lambda n, place=place: n.body.__setitem__(place, ast.Pass())


def mutants(text):
    """The texts that differ from this one by one change, with the line that differs."""
    tree = ast.parse(text)
    for place, node in enumerate(ast.walk(tree)):
        for number in range(len(list(changes(node)))):
            copied = copy.deepcopy(tree)
            found = list(ast.walk(copied))[place]
            list(changes(found))[number](found)
            new = ast.unparse(ast.fix_missing_locations(copied))
            before = ast.unparse(tree).splitlines()
            yield new, next((a.strip() for a, b in zip(new.splitlines(), before, strict=False) if a != b), "")


def judge(name):
    """For all mutants of an assignment (task: line that differs, whether points were lost, and only to the limit)."""
    for task, text in solutions_of(source(name)).items():
        if "def " in text:
            for new, line in mutants(text):
                errors = failed(name, {task: new}, seconds=5)
                stopped = all("was stopped: one test has" in str(error) for error in errors.values())
                yield f"{task}: {line}", task in tasks_of(errors), bool(errors) and stopped


def check_edition(name, seed, course=None):
    """What goes wrong with an edition: right answers that lose points, wrong ones that lose none."""
    place = next(file for file in SOURCES if file.stem == name)
    made = Path(course).expanduser() / "source" / name / f"{name}.ipynb" if course else None
    notebook = nbformat.read(made, as_version=4) if made else edition(place, seed)
    pairs = parameters(name, np.random.default_rng([seed, int(name[0])]))
    for style, answers in {"the reference": {}, **VARIANTS[name]["RIGHT"]}.items():
        if errors := failed(name, {task: changed(text, pairs) for task, text in answers.items()}, notebook):
            yield f"{name}, seed {seed}: {style} loses points: {list(errors)}"
    for mistake, (answers, lost) in VARIANTS[name]["WRONG"].items():
        errors = failed(name, {task: changed(text, pairs) for task, text in answers.items()}, notebook)
        for task in lost - tasks_of(errors) - {"report"}:  # a report may be right by luck: the same decisions
            yield f"{name}, seed {seed}: {mistake} keeps the points of {task}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=0, help="how many other editions to try")
    parser.add_argument("--only", default="", help="assignments whose name contains this")
    parser.add_argument("--course", help="a folder that make_course.py has made: check this edition, and no mutants")
    parser.add_argument("--seed", type=int, help="its seed")
    options = parser.parse_args()
    names = [name for name in NAMES if options.only in name]
    if options.course:
        problems = [line for name in names for line in check_edition(name, options.seed, options.course)]
        print(*problems or ["every right answer keeps its points, and every wrong one loses some"], sep="\n")
        sys.exit(bool(problems))
    problems = [line for name in names for seed in range(1, options.seeds + 1) for line in check_edition(name, seed)]
    known = tomllib.loads((HERE / "survivors.toml").read_text())
    total = survived = equal = slow = 0
    for name in names:
        listed = known.get(name, {})
        for label, lost, stopped in judge(name):
            total += 1
            slow += stopped
            if stopped:
                print(f"{name}: {label}: stopped by the time limit", flush=True)
            if not lost:
                reason = listed.get(label, "NOT EXPECTED: write a test, or say why none can be written")
                equal += reason.startswith("same")
                survived += not reason.startswith("same")
                print(f"{name}: {label}: {reason}", flush=True)
    print(f"{total} mutants, {equal} behave as the reference; of the others {total - equal - survived} lose points")
    print(f"{slow} of them lose points to the time limit only")
    print(*problems, sep="\n")
    sys.exit(bool(problems) or survived > 0.05 * (total - equal))


if __name__ == "__main__":
    main()
