"""Grade a notebook with students' code in a process of its own: tests call it, and it can reach neither them nor bai.

`isolate` turns a notebook into cells of which none executes what a student wrote. They hand it, as text, to a
`Session`, which has it executed by `bai.book.sandbox` and puts functions in the places of the student's that send the
arguments there and bring plain results back. `bai.book.autograde` does so within nbgrader; the kernels that it starts
import this file, which therefore needs nothing of nbgrader.
"""

from __future__ import annotations

import atexit
import base64
import contextlib
import io
import json
import os
import pickle
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FunctionType
from typing import Any, ClassVar

from IPython.core.inputtransformer2 import TransformerManager
from IPython.display import Image, display

import bai
from bai.book import sandbox

SECONDS = 30  # for all calls of one test together, and for one cell of the student
LARGEST = 10**7  # whole number with which a student's code may call a function of ours
HIDDEN = re.compile(r"### BEGIN HIDDEN TESTS.*?### END HIDDEN TESTS", re.S)


class Failed(Exception):
    """The student's code raised an error, did not end, or gave something that is no plain data."""


# --- the notebook, with students' code as text


def about(cell: Any) -> dict[str, Any]:
    """nbgrader's metadata of a cell."""
    return cell.metadata.get("nbgrader", {})


def isolate(notebook: Any, source: Any, seconds: int = SECONDS) -> list[str]:
    """Return for each cell what to execute in the process of the tests.

    Parameters
    ----------
    notebook
        What a student handed in.
    source
        The instructor's notebook. Its locked cells are trusted, and stand in for the student's. The metadata of a cell
        for a solution says which names it must define, and what of `bai` may be used: ``{"bai": {"answers": [...],
        "may_use": [...]}}``, where ``may_use`` is ``["bai"]`` for all of it.
    """
    ours = {about(c)["grade_id"]: c for c in source.cells if about(c).get("locked")}
    tasks = {
        about(c)["grade_id"]: c.metadata["bai"]
        for c in source.cells
        if about(c).get("solution") and "bai" in c.metadata
    }
    texts = [c.source for c in source.cells if about(c).get("grade_id") in (*ours, *tasks) and not about(c)["grade"]]
    start = "from bai.book.grading import Session\n"
    start += f"_session = Session({tasks!r}, {texts!r}, {open_doors(tasks)!r}, {seconds})\n"
    cells = []
    for place, cell in enumerate(notebook.cells):
        name, text = about(cell).get("grade_id"), cell.source
        if cell.cell_type != "code":
            cells.append(text)
            continue
        if name not in ours:
            name = name if name in tasks else f"number {place + 1}"
            cells.append(f"{start}_session.submit({name!r}, {text!r}, globals())")
        elif about(ours[name])["grade"]:
            cells.append(f"{start}_session.test({name!r}, {ours[name].source!r}, globals())")
        else:
            cells.append(f"{start}{ours[name].source}\n_session.add({name!r}, {ours[name].source!r})")
        start = ""
    return cells


# --- the processes of the students' code


class Zygote:
    """A process that has imported what students use, and forks a child for each connection at its `door`."""

    running: ClassVar[dict[bool, Zygote]] = {}

    def __init__(self, with_bai: bool) -> None:
        self.control, theirs = socket.socketpair()
        keep = {name: value for name, value in os.environ.items() if name.startswith(("NUMBA_", "LC_", "LANG", "PATH"))}
        self.home = tempfile.mkdtemp()
        places = {"HOME": self.home, "MPLCONFIGDIR": self.home, "MPLBACKEND": "agg", "OPENBLAS_NUM_THREADS": "1"}
        self.door = str(Path(self.home) / "door")
        with socket.socket(socket.AF_UNIX) as listener, theirs:
            listener.bind(self.door)
            listener.listen()
            numbers = [listener.fileno(), theirs.fileno()]
            command = [sys.executable, "-I", sandbox.__file__, *map(str, numbers), "bai" if with_bai else "none"]
            self.process = subprocess.Popen(
                command, pass_fds=numbers, env=keep | places, cwd=self.home, start_new_session=True
            )
        atexit.register(self.close)

    @classmethod
    def of(cls, with_bai: bool) -> Zygote:
        if with_bai not in cls.running or cls.running[with_bai].process.poll() is not None:
            cls.running[with_bai] = cls(with_bai)
        return cls.running[with_bai]

    def close(self) -> None:
        self.control.close()
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.home, ignore_errors=True)


def uses_bai(may_use: Sequence[str]) -> bool:
    """Whether a task may use all of `bai`."""
    return list(may_use) == ["bai"]


def open_doors(tasks: dict[str, dict[str, list[str]]]) -> dict[bool, str]:
    """The doors of the processes, running from now on, that answer under the rules of these tasks."""
    return {rule: Zygote.of(rule).door for rule in {uses_bai(entry["may_use"]) for entry in tasks.values()}}


class Worker:
    """One child: the namespace of one submission under one rule about what may be used."""

    def __init__(self, may_use: tuple[str, ...], door: str) -> None:
        self.folder = tempfile.mkdtemp(dir=Path(door).parent)
        self.channel = socket.socket(socket.AF_UNIX)
        self.channel.connect(door)
        allowed = [name for name in may_use if name != "bai"]
        sandbox.send(self.channel, json.dumps([self.folder, allowed]).encode())
        self.pid, self.locked = json.loads(sandbox.receive(self.channel))[1]
        if sandbox.can_lock() and not self.locked:
            self.close()
            raise RuntimeError("students' code could not be locked in, though this system offers it")
        self.done = 0  # how many cells were executed

    def close(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self.channel.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def request(self, message: tuple, functions: dict[str, Callable], seconds: float) -> Any:
        """Send a request, answer what the child asks meanwhile, and return what it gives."""
        deadline = time.monotonic() + seconds
        names = {id(function): name for name, function in functions.items()}
        sandbox.wait_until(self.channel, deadline)
        sandbox.send(self.channel, pickled(message, names))
        while True:
            kind, content = json.loads(sandbox.receive(self.channel, deadline))
            if kind == "ask":
                with limited(deadline - time.monotonic()):
                    reply = asked(functions, *content)
                sandbox.wait_until(self.channel, deadline)
                sandbox.send(self.channel, pickled(reply, {}))
            elif kind == "value":
                with limited(deadline - time.monotonic()):  # numbers may be chosen so that sets of them are slow
                    return sandbox.decode(content)
            else:
                raise Failed(*map(printable, content[:2]))


def pickled(message: Any, names: dict[int, str]) -> bytes:
    """The message for a child, with names in the places of functions that stay here."""
    file = io.BytesIO()
    pickler = pickle.Pickler(file)
    pickler.persistent_id = lambda entry: names.get(id(entry))
    pickler.dump(message)
    return file.getvalue()


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise TimeoutError if our own function, asked with a student's arguments, takes too long."""

    def stop(*_: Any) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, max(0.001, seconds))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def asked(functions: dict[str, Callable], name: str, arguments: Any) -> tuple[str, Any, list]:
    """Call one of our functions for a child: the error or the value, and how far it moved random generators on."""
    arguments = sandbox.decode(arguments)
    try:
        if not name.startswith("given ") and any(isinstance(n, int) and abs(n) > LARGEST for n in arguments):
            raise ValueError(f"an argument above {LARGEST}")
        error, value = "", functions[name](*arguments)
    except TimeoutError:
        raise
    except Exception as trouble:
        error, value = f"{type(trouble).__name__}: {trouble}", None
    return error, value, [entry.bit_generator.state for entry in sandbox.generators([arguments])]


# --- one submission


class Session:
    """The cells of one submission, and the processes that answer for it.

    Hidden tests have processes of their own: what code sees of their cases, it cannot print or tell anywhere else.

    Parameters
    ----------
    tasks : dict
        The cells of the solutions in their order: the names each must define, and what of `bai` it may use.
    reference : list of str
        The instructor's cells, tests excluded. Where a test fails, it is tried again with these functions in the places
        of the student's answers to earlier tasks: a slip is charged once.
    doors : dict
        Where the processes are forked that may use `bai` (True) and those that may not, as `open_doors` gives it.
    seconds : int
        How long all calls of one test, or one cell of the student, may take.
    """

    def __init__(
        self,
        tasks: dict[str, dict[str, list[str]]],
        reference: list[str],
        doors: dict[bool, str],
        seconds: int = SECONDS,
    ) -> None:
        self.tasks, self.doors, self.seconds = tasks, doors, seconds
        self.rule = {task: tuple(entry["may_use"]) for task, entry in tasks.items()}
        self.owner = {name: task for task, entry in tasks.items() for name in entry["answers"]}
        self.cells: list[tuple[str, str]] = []
        self.skip: set[tuple[str, tuple[str, ...]]] = set()  # cells that did not end, or ended the process
        self.workers: dict[tuple[tuple[str, ...], bool], Worker] = {}  # by rule, and whether for hidden tests
        self.hidden = False
        self.told: set[str] = set()  # answers for which the reference has stood in
        self.left, self.given, self.functions = float(seconds), [], {}
        self._texts, self._reference = reference, {}
        atexit.register(self.close)

    def close(self) -> None:
        """End the processes."""
        atexit.unregister(self.close)
        for worker in self.workers.values():
            worker.close()
        self.workers = {}

    def add(self, name: str, text: str) -> None:
        """Take a cell that is not the student's, such as the imports: both sides execute it."""
        self.cells.append((name, TransformerManager().transform_cell(text)))

    def submit(self, name: str, text: str, namespace: dict[str, Any]) -> None:
        """Take a cell of the student, execute it, show what it shows, and put its answers into the namespace."""
        widest = max(self.rule.values(), key=lambda rule: (uses_bai(rule), len(rule)))
        rule = self.rule.get(name, widest)
        self.left, self.given, self.hidden = float(self.seconds), [], False
        worker = self.worker(rule)
        self.add(name, text)
        worker.done += 1
        try:
            text, drawn = self.ask(rule, ("cell", *self.cells[-1], True), f"the cell {name}")
            print(printable(text), end="")
            for picture in map(png, drawn[: sandbox.PICTURES]):
                display(Image(picture))
        finally:
            if (rule, False) not in self.workers:  # it did not end, or took the process with it
                self.skip.add((name, rule))
            answers = self.tasks.get(name, {"answers": []})["answers"]
            found = self.ask(rule, ("get", answers), f"the cell {name}") if answers else {}
            for entry in set(answers) & set(found):
                namespace[entry] = found[entry][1] if found[entry][0] == "data" else self.function(entry)

    def test(self, name: str, text: str, namespace: dict[str, Any]) -> None:
        """Execute a test; where it fails, once more with the reference for earlier tasks."""
        task = name.rpartition("-")[0]
        self.left, self.given, self.hidden = float(self.seconds), [], bool(HIDDEN.search(text))
        if self.told & set(self.tasks[task]["answers"]):  # code could have noted what the reference said
            raise Failed(
                f"this test stands behind tests of later tasks, which know the answer: move it back to {task!r}"
            )
        try:
            exec(compile(text, f"<test {name}>", "exec"), dict(namespace))
        except Exception:
            order = list(self.tasks)
            earlier = {entry for before in order[: order.index(task)] for entry in self.tasks[before]["answers"]}
            theirs = " ".join(code for cell, code in self.cells if cell == task or cell.startswith("number "))
            self.given = [entry for entry in sorted(earlier) if re.search(rf"\b{entry}\b", theirs)]
            if not self.given or self.left <= 0:
                raise
            self.left = float(self.seconds)
            self.told |= set(self.given)
            try:
                exec(compile(text, f"<test {name}>", "exec"), dict(namespace))
            except Exception:
                self.given = []
            if not self.given:
                raise
            print(f"passed, with the reference for {', '.join(self.given)}")
            self.given = []

    def function(self, name: str) -> Callable:
        """What stands in the tests for a function of the student."""

        def many(several: list[tuple]) -> list[Any]:
            places = enumerate(entry for arguments in several[:1] for entry in arguments)
            self.functions = {f"argument {place}": entry for place, entry in places if isinstance(entry, FunctionType)}
            message = ("call", name, self.given, several)
            results, moved = self.ask(self.rule[self.owner[name]], message, f"`{name}`")
            for generator, state in zip(sandbox.generators(several), moved, strict=True):
                generator.bit_generator.state = state
            return results

        def one(*arguments: Any) -> Any:
            return many([arguments])[0]

        one.__name__ = name
        vars(one)["many"] = many  # for `bai.book.checking.calls`
        return one

    def worker(self, rule: tuple[str, ...]) -> Worker:
        """The process under a rule, with all cells executed so far; errors in them were reported elsewhere."""
        key = (rule, self.hidden)
        if key not in self.workers:
            self.workers[key] = Worker(rule, self.doors[uses_bai(rule)])
        worker = self.workers[key]
        while worker.done < len(self.cells):
            name, code = self.cells[worker.done]
            worker.done += 1
            if (name, rule) not in self.skip:
                left, self.left = self.left, float(self.seconds)
                with contextlib.suppress(Failed):
                    self.ask(rule, ("cell", name, code), f"the cell {name}")
                self.left = left
                if key not in self.workers:  # it took the process with it
                    self.skip.add((name, rule))
                    return self.worker(rule)
        return worker

    def ask(self, rule: tuple[str, ...], message: tuple, what: str) -> Any:
        """Send a request to the process under this rule; explain what goes wrong."""
        key = (rule, self.hidden)
        worker = self.workers[key] if message[0] == "cell" and key in self.workers else self.worker(rule)
        allowed = {f"allowed {name}": lambda *a, name=name: library(name)(*a) for name in rule if name != "bai"}
        given = {f"given {name}": self.reference(name) for name in self.given}
        started = time.monotonic()
        try:
            return worker.request(message, self.functions | allowed | given, self.left)
        except Failed as error:
            raise Failed(f"{what} raised {error.args[0]}: {error.args[1]}") from None
        except TimeoutError:
            problem = (
                f"{what} was stopped: one test has {self.seconds} seconds for all its calls. Look for a loop that "
            )
            problem += "never ends, or for work that a formula would save"
        except (EOFError, OSError):
            problem = f"{what} ended the process in which it ran"
        except (ValueError, TypeError, KeyError, RecursionError):
            problem = f"{what} gives something other than numbers, text, or lists and arrays of them"
        finally:
            self.left -= time.monotonic() - started
        self.workers.pop(key).close()
        raise Failed(problem)

    def reference(self, name: str) -> Callable:
        """The instructor's version of an answer."""
        if not self._reference:
            self._reference["__name__"] = "reference"
            for text in self._texts:
                if re.search(r"^(def|import|from) ", text, re.M):  # not those with data, which may take long
                    exec(TransformerManager().transform_cell(text), self._reference)
        return self._reference[name]


def printable(text: Any) -> str:
    """The text with a question mark for each half of a character, which no page can hold."""
    return str(text).encode("utf-8", "replace").decode()


def png(text: str) -> bytes:
    """The picture behind a text in base 64. ValueError where it is none, or a large one."""
    picture = base64.b64decode(text, validate=True)
    if not picture.startswith(b"\x89PNG\r\n\x1a\n") or len(picture) > 1_000_000:
        raise ValueError("this is no picture of a million bytes or less")
    return picture


def library(name: str) -> Any:
    """The function of `bai` with this name, such as ``theory.greedy_allocation``."""
    found: Any = bai
    for part in name.split("."):
        found = getattr(found, part)
    return found
