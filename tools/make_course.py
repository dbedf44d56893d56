"""Make an edition of the assignments of your own: other numbers, other hidden cases, other claims to judge.

    python tools/make_course.py 2027 ~/my-course

writes a folder for nbgrader outside the repository: `source/` with solutions and hidden tests, `nbgrader_config.py`,
and `exercises.md` with `exercises_solutions.md`, problems whose solutions are published nowhere. The seed decides about
everything; keep it, and the folder, to yourself. A folder `overlay/NAME/CELL.py` in it is added to the hidden tests of
the cell CELL of the assignment NAME; run the command again after a change.

Where `BOOK_REPOSITORY_URL` is set when nbgrader makes the students' version, a cell of it installs `bai` from there;
otherwise students install it as the README says.
"""
# ruff: noqa: E501  tables of texts

import re
import shutil
import sys
import tomllib
from pathlib import Path

import numpy as np
from make_assignments import FOLDER, SOURCES, nbformat
from make_exercises import exercises

LETTERS = "abc"
LINES = {"outperforms": "b", "slightly": "c", "approaches": "a", "nobody": "c", "matched": "b"}  # of the public edition
CLAIMS = ("known", "unknown", "halving", "rejects", "vbr")  # likewise
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
        return [
            (r"\*\*32\*\* arms", f"**{arms}** arms"),
            (r"N_ARMS, BUDGETS, READINGS = 32, \(500, 1000, 2000\)", f"N_ARMS, BUDGETS, READINGS = {arms}, {budgets}"),
            *other_lines(rng),
            *other_claims(rng),
        ]
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


def drawn(kind, count, rng):
    """So many lines or claims that the public edition does not have."""
    pool = tomllib.loads(Path(__file__).with_name("claims.toml").read_text(encoding="utf-8"))[kind]
    return [pool[place] for place in rng.permutation(len(pool))[:count]]


def other_lines(rng):
    """Changes that put other lines, with their options in any order, in the places of those of Task 1."""
    for (old, right), line in zip(LINES.items(), drawn("line", len(LINES), rng), strict=True):
        order = list(rng.permutation(3))
        options = "\n".join(
            f"- {letter}: {line['options'][place]}" for letter, place in zip(LETTERS, order, strict=True)
        )
        yield rf"\*\*{old}\.\*\*.*\n- a: .*\n- b: .*\n- c: .*", f"**{line['name']}.** {line['text']}\n{options}"
        new = LETTERS[order.index(0)]
        others = zip(LETTERS.replace(right, ""), LETTERS.replace(new, ""), strict=True)
        for before, after in [(right, new), *others]:
            for mark in ":,":
                yield rf'"{old}"{mark}\s+"{before}"', f'"{line["name"]}"{mark} "{after}"'
        yield rf'"{line["name"]}", "{new}",\s+"[^"]*"', f'"{line["name"]}", "{new}", "{line["why"]}"'
        yield f'"{old}"', f'"{line["name"]}"'


def other_claims(rng):
    """Changes that put other pairs of policies in the places of those of Task 8."""
    for old, claim in zip(CLAIMS, drawn("claim", len(CLAIMS), rng), strict=True):
        pair = f"(bai.{claim['first']}(), bai.{claim['second']}()),  # {claim['text']}"
        yield rf'"{old}": \(bai\.\w+\(\), bai\.\w+\(\)\),  # .*', f'"{claim["name"]}": {pair}'
        for quote in "\"'":
            yield f"{quote}{old}{quote}", f"{quote}{claim['name']}{quote}"


def in_words(items):
    *first, last = map(str, items)
    return f"{', '.join(first)} and {last}" if first else last


def sample_answer(name, notebook):
    """What a good and a weak answer to the written task say in this edition; None where the public text fits all."""
    if name == "1_halving":
        compare, arms = reference(notebook)["compare"], (4, 8, 16, 32, 64)
        rows = {k: compare(k, 8 * k, 4000, 2) for k in arms}
        better = [k for k in arms if rows[k][2] < 0.001 and rows[k][1] < rows[k][0]]
        open_ = ", ".join(f"{k} arms: $p = {rows[k][2]:.1g}$" for k in arms if k not in better)
        pays = (
            f"From {better[0]} arms on SH makes fewer mistakes" if better else "SH never makes fewer mistakes for sure"
        )
        doubt = f"Below that the table does not show that it pays ({open_})." if open_ else "It does so at every size."
        return (
            f"**A good answer (4 points).** {pays}, {in_words(f'{rows[k][1]:.3f} against {rows[k][0]:.3f} with {k}' for k in better)}, "
            f"and the paired $p$ values leave no doubt. {doubt} In the last stage each finalist has $n / (2 m) = 4 K / \\log_2 K$ "
            "pulls, against 8 for each arm of Unif: the same 8 for four arms, and 42 for 64. SH forgets the rewards of earlier stages, "
            "but poor arms are dropped early, where little precision is enough, and the pulls they would have had go to the arms that "
            "are hard to tell apart.",
            f"**A weak answer (1 point).** SH is better than Unif because it has more stages, and its numbers are smaller with {arms[-1]} arms.",
        )
    if name == "5_reproduction":
        space = reference(notebook)
        for cell in notebook.cells:
            if cell.metadata.get("nbgrader", {}).get("grade_id") in ("claims", "plan", "report"):
                exec(cell.source, space)
        first, second = (policy.name for policy in space["CLAIMS"][space["my_claim"]])
        report = space["report"]
        found = " ".join(
            f"With a {reading} best arm the rates differ by {in_words(f'{100 * d:+.1f}' for d in report['differences'][reading])} "
            f"percentage points, {first} minus {second}; the tests say {in_words(report['decisions'][reading])}."
            for reading in space["READINGS"]
        )
        return (
            f"**A good answer (6 points).** The paper holds that {first} loses the best arm less often than {second}. I tested whether "
            "it outperforms it in the sense of the scoreboard: never beaten, and ahead at two or more of three budgets, by McNemar's "
            "test on shared instances, six tests at level 0.05 in all. The problem is the synthetic one with "
            f"{space['N_ARMS']} arms, budgets {in_words(space['BUDGETS'])}, best arm noisy or quiet, {space['my_runs']} instances each; "
            "1,426 suffice to notice a difference of 4 points with probability 0.9 if one in seven runs tells the two apart. "
            f"{found} (*first* is a win of {first}, *second* a win of {second}.) The verdict by the rule: {report['verdict']}. "
            f"The result does not show how {first} compares with other policies, with more arms or with other families of instances, "
            "and a difference that was not found to be significant may still exist.",
            f"**A weak answer (2 points).** I tested whether {first} is better than {second} with {space['my_runs']} runs. Sometimes it "
            "made fewer mistakes, and where it made more the difference was small. So the claim of the paper is mostly reproduced.",
        )
    return None


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
    if seed and (samples := sample_answer(name, notebook)):
        cell = next(c for c in notebook.cells if c.source.startswith("**A good answer"))
        cell.source = "\n\n".join([*samples, cell.source[cell.source.index("| points |") :]])
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
