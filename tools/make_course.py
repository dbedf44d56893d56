"""Make an edition of the assignments of your own: other numbers, other hidden cases, other claims to judge.

    python tools/make_course.py 2027 ~/my-course

writes a folder for nbgrader outside the repository: `source/` with solutions and hidden tests, `nbgrader_config.py`,
and `exercises.md` with `exercises_solutions.md`, problems whose solutions are published nowhere. The seed decides about
everything; keep it, and the folder, to yourself. A folder `overlay/NAME/CELL.py` in it is added to the hidden tests of
the cell CELL of the assignment NAME; run the command again after a change.

Where `BOOK_REPOSITORY_URL` is set, a cell installs `bai` from there; otherwise students install it as the README says.
"""
# ruff: noqa: E501  tables of texts

import re
import shutil
import sys
from pathlib import Path

import numpy as np
from make_assignments import FOLDER, SOURCES, nbformat
from make_exercises import exercises

LETTERS = "abc"
PLACES = (r"(?<=n_arms, )0\.3\b", r"(?<=played\()0\.3\b", r"(?<=\$)0\.3(?=\$)", r"(?<=\[\[)0\.3\b")  # of a variance


def reference(notebook):
    """The functions of the solutions."""
    namespace = {"__name__": "reference"}
    for cell in notebook.cells:
        kind = cell.metadata.get("nbgrader", {})
        ours = cell.cell_type == "code" and kind and not kind["grade"] and kind["grade_id"] != "setup"
        if ours and re.search(r"^(def|import|from) ", cell.source, re.M):
            exec(cell.source, namespace)
    return namespace


def parameters(name, rng):
    """Changes of the tasks themselves: pairs of a pattern and its replacement, for all cells and for answers."""
    pick = lambda *values: values[rng.integers(len(values))]  # noqa: E731
    if name == "1_halving":
        power, variance = pick(0.35, 0.45, 0.5, 0.6), pick(0.2, 0.25, 0.35, 0.4)
        return [
            (r"\*\* 0\.4\b", f"** {power}"),
            (r"\^\{0\.4\}", f"^{{{power}}}"),
            *((place, str(variance)) for place in PLACES),
        ]
    if name == "2_known_variances":
        return [
            (r"at least 20 %", "at least 15 %"),
            (r"1\.2 \* noise", "1.15 * noise"),
            (r"ask for 20 %", "ask for 15 %"),
        ]
    if name == "5_reproduction":
        arms, first = pick(16, 24, 48), pick(400, 600, 800)
        budgets = f"({first}, {2 * first}, {4 * first})"
        return [(r"\*\*32\*\* arms", f"**{arms}** arms"), ("N_ARMS, BUDGETS, READINGS = 32, .500, 1000, 2000.", f"N_ARMS, BUDGETS, READINGS = {arms}, {budgets}")]  # fmt: skip
    return []


def visible_numbers(name, rng, answer):
    """Changes of visible tests: what stands there, what shall, with the values that the reference gives."""
    pick = lambda *values: values[rng.integers(len(values))]  # noqa: E731
    if name == "1_halving":
        gap, delta = pick(0.4, 0.6, 0.8), pick(0.02, 0.05, 0.1)
        n = answer["pulls_needed"](gap, [1, 1], delta)
        yield "pulls_needed(0.5, [1, 1], 0.05), 22", f"pulls_needed({gap}, [1, 1], {delta}), {n}"
        yield '"gap 0.5, variances 1 and 1, delta 0.05"', f'"gap {gap}, variances 1 and 1, delta {delta}"'
        yield '{"rounded down": 21}', f'{{"rounded down": {n - 1}}}'
        unif, sh, _ = answer["compare"](64, 512, 3000, 1)
        yield "1399 / 3000", f"{round(3000 * unif)} / 3000"
        yield "556 / 3000", f"{round(3000 * sh)} / 3000"
    elif name == "2_known_variances":
        k, n = pick(3, 4, 6), pick(60, 80, 120)
        yield "[0, 0, 0], 40), [5, 10, 25]", f"[0, 0, 0], {8 * k}), [{k}, {2 * k}, {5 * k}]"
        yield "from nothing, 40 rounds", f"from nothing, {8 * k} rounds"
        yield "best_split(1, 9, 100), [25, 75]", f"best_split(1, 9, {n}), [{n // 4}, {3 * n // 4}]"
        yield "variances 1, 9 and 100 pulls", f"variances 1, 9 and {n} pulls"
        yield "[10, 90]", f"[{n // 10}, {9 * n // 10}]"
    elif name == "3_unknown_variances":
        delta, factor = pick(0.02, 0.1, 0.2), pick(1.5, 2.5, 3)
        both = [answer["variance_bound"]([0.0, 1.0] * 50, delta), answer["pulls_for"](factor, delta)]
        yield "variance_bound(coins, 0.05), 0.387253779959922", f"variance_bound(coins, {delta}), {float(both[0])!r}"
        yield '"100 coins, delta 0.05"', f'"100 coins, delta {delta}"'
        yield "math.log(20) / 99", f"math.log(1 / {delta}) / 99"
        yield "pulls_for(2, 0.05), [49, 66]", f"pulls_for({factor}, {delta}), {[int(n) for n in both[1]]}"
        yield '"factor 2, delta 0.05"', f'"factor {factor}, delta {delta}"'
        yield "[48, 65]", f"{[int(n) - 1 for n in both[1]]}"
        arms = pick(5, 11, 16)
        yield (
            "warmup_cost(8, 3000, 0.05), 182",
            f"warmup_cost({arms}, 3000, 0.05), {answer['warmup_cost'](arms, 3000, 0.05)}",
        )
        yield '"8 arms, 3000 pulls, delta 0.05: 13 pulls for 8, 4 and 2 arms"', f'"{arms} arms, 3000 pulls, delta 0.05"'
    elif name == "4_bounds":
        budget, gap = pick(60, 80, 120), pick(1.0, 1.5, 2.5)
        yield "rho_bound([1.0, 4.0], 100), 99 / 5", f"rho_bound([1.0, 4.0], {budget}), {budget - 1} / 5"
        yield "variances 1, 4 and 100 pulls", f"variances 1, 4 and {budget} pulls"
        yield "12.5, ", f"{budget / 8}, "
        yield "98 / 5", f"{budget - 2} / 5"
        yield (
            "rival_bound(2.0, 1.0, 1, 1.0, 1), math.exp(-1)",
            f"rival_bound({gap}, 1.0, 1, 1.0, 1), math.exp(-{gap**2 / 4})",
        )
        yield '"gap 2, variances 1, one pull each"', f'"gap {gap}, variances 1, one pull each"'
    else:
        rate, half = pick(0.05, 0.15, 0.2), pick(0.01, 0.02)
        n = answer["runs_for_width"](rate, half, 0.95)
        yield "runs_for_width(0.1, 0.01, 0.95), 3458", f"runs_for_width({rate}, {half}, 0.95), {n}"
        yield '"rate 0.1, half-width 0.01"', f'"rate {rate}, half-width {half}"'
        yield '{"rounded down": 3457, "one-sided": 2435}', f'{{"rounded down": {n - 1}}}'


def shuffle_choices(notebook, rng):
    """Put the options of each line of Task 1 of the last assignment into another order, and move the answers along."""
    task = next(cell for cell in notebook.cells if cell.source.startswith("## Task 1"))
    tests = [c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id", "").startswith("choice")]
    for block in re.findall(r"\*\*(\w+)\.\*\*.*\n- a: (.*)\n- b: (.*)\n- c: (.*)", task.source):
        line, options, order = block[0], block[1:], rng.permutation(3)
        old = "\n".join(f"- {letter}: {text}" for letter, text in zip(LETTERS, options, strict=True))
        new = "\n".join(f"- {letter}: {options[place]}" for letter, place in zip(LETTERS, order, strict=True))
        task.source = task.source.replace(old, new)
        moved = {LETTERS[place]: letter for letter, place in zip(LETTERS, order, strict=True)}
        for cell in tests:
            cell.source = re.sub(
                rf'("{line}"[:,] ")([abc])"', lambda m, moved=moved: f'{m[1]}{moved[m[2]]}"', cell.source
            )


def changed(text, pairs):
    for pattern, new in pairs:
        text = re.sub(pattern, lambda _, new=new: new, text)
    return text


def edition(source, seed, overlay=None):
    """The instructor's notebook of an assignment for this seed; seed 0 is the public one."""
    notebook, name = nbformat.read(source, as_version=4), Path(source).stem
    rng = np.random.default_rng([seed, int(name[0])])
    pairs = [*(parameters(name, rng) if seed else []), (r"default_rng\(\[0, ", f"default_rng([{seed}, ")]
    for cell in notebook.cells:
        cell.source = changed(cell.source, pairs)
    for old, new in visible_numbers(name, rng, reference(notebook)) if seed else ():
        pattern = re.escape(old).replace(r"\ ", r"\s+")  # a line may be broken
        hits = [cell for cell in notebook.cells if re.search(pattern, cell.source)]
        if len(hits) != 1:
            raise ValueError(f"{name}: {old!r} occurs in {len(hits)} cells; bring make_course.py to what the test says")
        hits[0].source = changed(hits[0].source, [(pattern, new)])
    if seed and name == "5_reproduction":
        shuffle_choices(notebook, rng)
    for file in sorted(Path(overlay, name).glob("*.py")) if overlay else ():
        cell = next(c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == file.stem)
        cell.source = cell.source.replace(
            "### END HIDDEN", f"{file.read_text(encoding='utf-8').rstrip()}\n### END HIDDEN"
        )
    return notebook


def main(seed, folder):
    seed, folder = int(seed), Path(folder).expanduser().resolve()
    if folder.is_relative_to(FOLDER.parent.parent):
        sys.exit(f"{folder} lies in the public repository; choose a folder outside it")
    for source in SOURCES:
        target = folder / "source" / source.stem / source.name
        target.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(edition(source, seed, folder / "overlay"), target)
    shutil.copy(FOLDER / "nbgrader_config.py", folder)
    tasks, solutions = exercises(seed)
    (folder / "exercises.md").write_text(tasks, encoding="utf-8")
    (folder / "exercises_solutions.md").write_text(solutions, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
