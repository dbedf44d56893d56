"""Would the tests notice? Applies every mutant of ``mutants.toml`` to a copy of the project and runs its tests.

    python tests/mutants/run.py                      # all, on one worker
    python tests/mutants/run.py --workers 4 --only checkpoint --only study

A mutant is one small error, written into one file of `bai`. It is killed if a test fails or the tests do not end, and
survives if all pass. ``mutants.toml`` names the tests of each module, quickest first; they stop at the first failure.
Those under `uncompiled` run with numba switched off: a compiled loop run as Python makes the same pulls to the last bit
(`tests/test_alike.py`), and small problems take less time than the compiler does.

Ends with status 1 if fewer than 95 % of the mutants are killed, 2 if the tests fail without a mutant.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
import tomllib
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
PROJECT = HERE.parents[1]
NEEDED = ("bai", "tests", "tools", "deploy", "chapters/assignments", "conftest.py", "pyproject.toml")  # for the tests
LEAST_RATE = 0.95
# Plugins that are not needed would take four times as long to load as most mutants live.
PYTEST = ["-x", "-q", "-p", "no:cacheprovider", "-p", "_hypothesis_pytestplugin", "--hypothesis-seed=0", "-W", "ignore"]


class Mutant(NamedTuple):
    """A change of one place in a file, and what it stands for."""

    file: str
    old: str
    new: str
    why: str
    survives: str = ""  # why no test can kill it, if so
    commands: tuple[tuple[bool, tuple[str, ...]], ...] = ()  # whether to compile, and the arguments of pytest


class Verdict(NamedTuple):
    """What the tests made of a mutant."""

    mutant: Mutant
    killer: str  # the test that failed, or why they ended otherwise; empty if it survived
    seconds: float  # of processor time


def read_mutants(file: Path = HERE / "mutants.toml") -> list[Mutant]:
    """Return all mutants in the order of the file."""
    mutants = []
    for module in tomllib.loads(file.read_text())["module"]:
        kinds = ((False, module.get("uncompiled")), (True, module.get("tests")))
        commands = tuple((compiled, tuple(arguments)) for compiled, arguments in kinds if arguments)
        mutants += [Mutant(module["file"], commands=commands, **mutant) for mutant in module["mutant"]]
    return mutants


def mutated(text: str, mutant: Mutant) -> str:
    """Return the text of a file with the mutant in place; ValueError unless its old text occurs exactly once."""
    if text.count(mutant.old) != 1:
        raise ValueError(
            f"{mutant.file} holds {mutant.old!r} {text.count(mutant.old)} times; the mutant '{mutant.why}' is out of "
            "date: bring its old text to what the file says, or remove it"
        )
    return text.replace(mutant.old, mutant.new)


# --- one run of the tests --------------------------------------------------------------------------------


def run_tests(folder: Path, arguments: Iterable[str], compiled: bool, limit: int) -> tuple[int, str, float]:
    """Run pytest in a child of this process; return its status, what it said, and its processor time.

    The child starts with everything imported but `bai`. It is stopped after `limit` seconds, with all that it started.
    """
    log = folder / "log"
    child = os.fork()
    if child == 0:
        status = 3  # whatever happens, the child ends here
        try:
            os.setsid()
            with log.open("w") as file:
                os.dup2(file.fileno(), 1)
                os.dup2(file.fileno(), 2)
            status = _pytest(folder, [*PYTEST, *arguments], compiled)
        finally:
            os._exit(status)
    watch = threading.Timer(limit, os.kill, (child, signal.SIGXCPU))  # from here: tests use the alarm clock themselves
    watch.start()
    _, status, used = os.wait4(child, 0)
    watch.cancel()
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    return status, log.read_text(errors="replace"), used.ru_utime + used.ru_stime


def _pytest(folder: Path, arguments: list[str], compiled: bool) -> int:
    import numba
    import pytest

    os.chdir(folder)
    sys.path.insert(0, str(folder))
    os.environ |= {"PYTHONPATH": str(folder), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # also for what tests start
    if not compiled:
        os.environ["NUMBA_DISABLE_JIT"] = "1"
        numba.config.DISABLE_JIT = True
    status = pytest.main(arguments)
    loaded = sys.modules.get("bai")
    if loaded is not None and not Path(loaded.__path__[0]).is_relative_to(folder):
        raise RuntimeError(f"the tests ran on {loaded.__path__[0]}, not on the copy")
    return int(status)


def _killer(status: int, said: str) -> str:
    if os.WIFSIGNALED(status):
        return "the tests did not end" if os.WTERMSIG(status) == signal.SIGXCPU else f"signal {os.WTERMSIG(status)}"
    named = [line.split(" - ")[0] for line in said.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    return named[0] if named else f"status {os.waitstatus_to_exitcode(status)}"


def judge(mutant: Mutant, template: Path, limit: int) -> Verdict:
    """Run the tests of a mutant on a copy of its own."""
    seconds = 0.0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        shutil.copytree(template, folder, dirs_exist_ok=True, symlinks=True)  # with what is compiled already
        changed = folder / mutant.file
        changed.write_text(mutated(changed.read_text(), mutant))
        os.utime(changed, (1e9, 1e9))  # whatever was compiled from the file is out of date
        for compiled, arguments in mutant.commands:
            status, said, used = run_tests(folder, arguments, compiled, limit)
            seconds += used
            if status != 0:
                return Verdict(mutant, _killer(status, said), seconds)
    return Verdict(mutant, "", seconds)


# --- all of them -----------------------------------------------------------------------------------------


def prepare(template: Path, mutants: list[Mutant]) -> int:
    """Copy the project, see that all tests pass without a mutant, and return a generous limit in seconds.

    This also compiles what the tests use, so that a copy of the copy need not.
    """
    for name in NEEDED:
        copy = shutil.copytree if (PROJECT / name).is_dir() else shutil.copy2
        copy(PROJECT / name, template / name)
    longest = 0.0
    for compiled, arguments in dict.fromkeys(command for mutant in mutants for command in mutant.commands):
        started = time.perf_counter()
        status, said, _ = run_tests(template, arguments, compiled, limit=1800)
        if status != 0:
            print(said[-3000:], f"The tests fail without a mutant: {_killer(status, said)}", sep="\n", file=sys.stderr)
            sys.exit(2)
        longest = max(longest, time.perf_counter() - started)
        print(f"all pass without a mutant: {' '.join(arguments)}", flush=True)
    return 60 + round(5 * longest)


def import_packages() -> None:
    """Import what the tests need and wake the compiler, so that children of this process need not; all but `bai`."""
    import hypothesis
    import numba
    import pandas
    import pytest
    import scipy.stats

    assert all((hypothesis, pandas, pytest, scipy.stats)) and "bai" not in sys.modules
    numba.njit(lambda x: x + 1)(1.0)


def report(verdicts: list[Verdict], seconds: float) -> str:
    """Return the numbers of all modules, and every survivor with its reason, in Markdown."""
    lines = ["| module | mutants | killed |", "| --- | --- | --- |"]
    for file in dict.fromkeys(verdict.mutant.file for verdict in verdicts):
        of_file = [verdict for verdict in verdicts if verdict.mutant.file == file]
        lines.append(f"| {file} | {len(of_file)} | {sum(bool(v.killer) for v in of_file)} |")
    killed = sum(bool(verdict.killer) for verdict in verdicts)
    lines += [
        "",
        f"{killed} of {len(verdicts)} killed, {killed / len(verdicts):.1%}; {seconds:.0f} s of processor time",
    ]
    lines += ["", "Survivors:", ""]
    for verdict in verdicts:
        if not verdict.killer:
            known = verdict.mutant.survives or "NOT EXPECTED: write a test, or say why none can be written"
            lines.append(f"- {verdict.mutant.file}: {verdict.mutant.why} ({known})")
    lines += ["", "Killers:", ""]
    lines += [f"- {v.mutant.file}: {v.mutant.why}: {v.killer}, {v.seconds:.1f} s" for v in verdicts if v.killer]
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> None:
    """Judge all mutants, or some, and write the report."""
    parser = argparse.ArgumentParser(description="Would the tests notice if the code were wrong?")
    parser.add_argument("--workers", type=int, default=1, help="how many mutants to judge at a time (default: 1)")
    parser.add_argument("--only", action="append", help="mutants whose file or description contains this text")
    parser.add_argument("--report", type=Path, default=PROJECT / "_build" / "mutants.md", help="where to write")
    options = parser.parse_args(arguments)
    chosen = [m for m in read_mutants() if any(text in f"{m.file} {m.why}" for text in options.only or [""])]
    if not chosen:
        parser.error(f"no mutant contains {options.only}")
    import_packages()
    verdicts: dict[Mutant, Verdict] = {}
    with tempfile.TemporaryDirectory() as name:
        limit = prepare(Path(name), chosen)
        with ProcessPoolExecutor(options.workers, get_context("fork")) as pool:
            for future in as_completed([pool.submit(judge, mutant, Path(name), limit) for mutant in chosen]):
                verdict = future.result()
                verdicts[verdict.mutant] = verdict
                fate = f"killed by {verdict.killer}" if verdict.killer else "SURVIVED"
                print(f"{verdict.mutant.file}: {verdict.mutant.why}: {fate} ({verdict.seconds:.1f} s)", flush=True)
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    text = report([verdicts[mutant] for mutant in chosen], sum(u.ru_utime + u.ru_stime for u in used))
    options.report.parent.mkdir(exist_ok=True)
    options.report.write_text(text)
    print(text.split("Killers:")[0])
    sys.exit(sum(bool(v.killer) for v in verdicts.values()) < LEAST_RATE * len(chosen))


if __name__ == "__main__":
    main()
