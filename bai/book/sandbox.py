"""The process in which students' code runs while it is graded: it sees arguments, and gives plain results.

`bai.book.grading` starts this file as a program of its own, which imports nothing of `bai`. It forks one child for each
connection. The child locks itself in, executes the cells of the notebook, tests excluded, and answers calls. What it
sends is JSON, so that nothing but numbers, text and lists of them reaches the tests, whatever the student's code does.

On Linux the lock has two parts. Landlock: no file outside Python's own folders and one empty folder can be opened, and
no program started. A filter of system calls: no connection of any kind, no further process, no reach into another one.
`bai` itself is out of reach too unless the task allows it. Other systems have no such lock: `can_lock` tells.
"""

from __future__ import annotations

import ast
import base64
import collections.abc
import contextlib
import ctypes
import gc
import importlib
import io
import json
import linecache
import numbers
import os
import pickle
import platform
import resource
import select
import signal
import site
import socket
import struct
import sys
import sysconfig
import time
import traceback
import types
from collections.abc import Iterable
from pathlib import Path
from typing import Any

LONGEST = 20_000_000  # bytes of one message
PRINTED = 10_000  # characters that a cell may print
PICTURES = 3  # figures that a cell may show
PACKAGE = Path(__file__).resolve().parents[1]


# --- messages: eight bytes that give the length, then the text


def send(channel: socket.socket, message: bytes) -> None:
    channel.sendall(struct.pack("<Q", len(message)) + message)


def receive(channel: socket.socket, deadline: float | None = None) -> bytes:
    """The next message; EOFError where the other side is gone or sends more than `LONGEST` bytes.

    TimeoutError where the whole message is not there by the deadline, a time of `time.monotonic`.
    """
    (size,) = struct.unpack("<Q", _read(channel, 8, deadline))
    if size > LONGEST:
        raise EOFError(f"a message of {size} bytes")
    return _read(channel, size, deadline)


def _read(channel: socket.socket, size: int, deadline: float | None) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        if deadline is not None:
            wait_until(channel, deadline)
        part = channel.recv(min(size - len(parts), 1 << 20))
        if not part:
            raise EOFError("the process ended")
        parts += part
    return bytes(parts)


def wait_until(channel: socket.socket, deadline: float) -> None:
    """Let the next step of the channel wait until the deadline; TimeoutError if it has passed."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    channel.settimeout(left)


class Encoded:
    """A value that `encode` has dealt with."""

    def __init__(self, content: Any) -> None:
        self.content = content


def encode(value: Any) -> Any:
    """Plain data as JSON holds it; a list whose first entry is its kind stands for everything that JSON lacks."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, Encoded):
        return value.content
    if isinstance(value, dict):
        return ["dict", [[encode(key), encode(entry)] for key, entry in value.items()]]
    if isinstance(value, (list, tuple, set, frozenset, range, collections.abc.Iterator)):
        kind = "tuple" if isinstance(value, tuple) else "set" if isinstance(value, (set, frozenset)) else "list"
        return [kind, [encode(entry) for entry in value]]
    if type(value).__module__.partition(".")[0] == "numpy" and hasattr(value, "tolist"):
        if getattr(value, "ndim", 0) == 0:
            return encode(value.tolist())
        return ["array", encode(value.tolist()), value.dtype.kind]
    if type(value).__name__ == "Generator" and hasattr(value, "bit_generator"):
        return ["generator", encode(value.bit_generator.state)]
    if hasattr(value, "to_numpy"):
        return encode(value.to_numpy())
    if isinstance(value, str):
        return str(value)
    if isinstance(value, numbers.Real):
        return int(value) if isinstance(value, numbers.Integral) else float(value)
    raise TypeError(f"it gives a {type(value).__name__}; return numbers, text, or lists and arrays of them")


def decode(value: Any) -> Any:
    """The data behind what `encode` made. ValueError where the text was made by something else."""
    if not isinstance(value, list):
        return value
    match value:
        case ["list" | "tuple" | "set" as kind, list(entries)]:
            return {"list": list, "tuple": tuple, "set": set}[kind](decode(entry) for entry in entries)
        case ["dict", list(pairs)]:
            return {decode(key): decode(entry) for key, entry in pairs}
        case ["array", entries, "b" | "i" | "u" | "f" | "U" | "O" as kind]:
            import numpy as np

            return np.array(decode(entries), dtype=object if kind == "O" else None)
        case ["generator", state]:
            import numpy as np

            generator = np.random.default_rng(0)
            generator.bit_generator.state = decode(state)
            return generator
    raise ValueError("this is not what a function of a notebook gives")


# --- the lock


# Numbers of system calls by processor; the first entry marks the processor itself.
REFUSED_CALLS = {
    "x86_64": {
        0xC000003E: "the processor",
        **dict.fromkeys([41, 42, 49, 425], "sockets, and rings that would open them"),
        **dict.fromkeys([57, 58, 59, 322], "processes and programs"),
        **dict.fromkeys([62, 200, 234, 129, 297, 424, 101, 310, 311, 434, 438], "a reach into other processes"),
        **dict.fromkeys([141, 142, 144, 203, 251, 314], "another priority, for itself or others"),
        **dict.fromkeys([29, 64, 68, 240, 248, 249, 250], "memory, queues and keys that processes share"),
        **dict.fromkeys([76, 90, 91, 92, 93, 94, 132, 235, 260, 261, 268, 280, 452, 188, 189, 190], "what files are"),
        **dict.fromkeys([165, 169, 272, 308, 321, 323], "mounts, namespaces, and what else the kernel offers"),
    },
    "aarch64": {
        0xC00000B7: "the processor",
        **dict.fromkeys([198, 200, 203, 425], "sockets, and rings that would open them"),
        **dict.fromkeys([221, 281], "programs"),
        **dict.fromkeys([129, 130, 131, 138, 240, 424, 117, 270, 271, 434, 438], "a reach into other processes"),
        **dict.fromkeys([118, 119, 122, 140, 30, 274], "another priority, for itself or others"),
        **dict.fromkeys([180, 186, 190, 194, 217, 218, 219], "memory, queues and keys that processes share"),
        **dict.fromkeys([45, 52, 53, 54, 55, 88, 452, 5, 6, 7], "what files are"),
        **dict.fromkeys([40, 97, 142, 268, 280, 282], "mounts, namespaces, and what else the kernel offers"),
    },
}
SPLIT = {"x86_64": (56, 302), "aarch64": (220, 261)}  # clone: threads only; prlimit: of this process only


def can_lock() -> bool:
    """Whether this system has what `lock_in` needs.

    >>> can_lock() in (True, False)
    True
    """
    if sys.platform != "linux" or platform.machine() not in REFUSED_CALLS:
        return False
    return ctypes.CDLL(None).syscall(444, None, 0, 1) >= 1


def call_filter(machine: str) -> bytes:
    """The program by which the kernel refuses the system calls of `REFUSED_CALLS`; eight bytes are one step of it."""
    load, equal, larger, has, answer = 0x20, 0x15, 0x35, 0x45, 0x06
    allowed, refused, unknown = 0x7FFF0000, 0x00050001, 0x00050026  # the last makes the C library take `clone`
    processor, *numbers = REFUSED_CALLS[machine]
    clone, limits = SPLIT[machine]
    steps = [(load, 0, 0, 4), (equal, 1, 0, processor), (answer, 0, 0, refused)]
    steps += [(load, 0, 0, 0), (larger, 0, 1, 0x40000000), (answer, 0, 0, refused)]
    for number, verdict in [*((number, refused) for number in numbers), (435, unknown)]:
        steps += [(equal, 0, 1, number), (answer, 0, 0, verdict)]
    for number, (test, value) in ((clone, (has, 0x10000)), (limits, (equal, 0))):
        steps += [(equal, 0, 4, number), (load, 0, 0, 16), (test, 1, 0, value), (answer, 0, 0, refused)]
        steps += [(answer, 0, 0, allowed)]
    return b"".join(struct.pack("<HBBI", *step) for step in [*steps, (answer, 0, 0, allowed)])


def filter_calls(libc: Any) -> bool:
    """Give up the rights of the superuser, then have the kernel refuse system calls from now on."""
    libc.capset(struct.pack("<II", 0x20080522, 0), bytes(24))
    program = call_filter(platform.machine())
    place = ctypes.create_string_buffer(program, len(program))
    return libc.prctl(22, 2, struct.pack("@HP", len(program) // 8, ctypes.addressof(place)), 0, 0) == 0


def lock_in(folder: str, with_bai: bool) -> bool:
    """Let this process read Python's folders, write to `folder`, and nothing else. False where the system cannot."""
    if not can_lock():
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(444, None, 0, 1)
    execute, write, read, listing = 1, 2, 4, 8
    every = (1 << {1: 13, 2: 14, 3: 15, 4: 15}.get(version, 16)) - 1
    handled = struct.pack("<QQQ", every, 3, 3)[: 8 if version < 4 else 16 if version < 6 else 24]
    rules = libc.syscall(444, handled, len(handled), 0)

    def allow(path: Path | str, access: int) -> None:
        with contextlib.suppress(OSError):
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
            if not os.path.isdir(path):
                access &= execute | write | read
            libc.syscall(445, rules, 1, struct.pack("<Qi", access, place), 0)
            os.close(place)

    paths = sysconfig.get_paths()
    libraries = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")} | set(site.getsitepackages())
    for library in filter(Path.is_dir, map(Path, libraries)):
        if not any((library / name / "bai").exists() for name in ("", "site-packages", "dist-packages")):
            allow(library, read | listing)  # one rule, where hundreds would take most of the time of a start
            continue
        allow(library, listing)
        for entry in library.iterdir():
            if entry.name not in ("bai", "site-packages", "dist-packages"):
                allow(entry, read | listing)
    for path in ("/usr/lib", "/lib", "/lib64", "/usr/share/zoneinfo", "/etc/ld.so.cache", "/dev/urandom"):
        if not any(Path(library).is_relative_to(Path(path).resolve()) for library in libraries):
            allow(path, read | listing)
    allow("/dev/null", read | write)
    allow(folder, every & ~execute)
    for path in [PACKAGE, *filter(None, [os.environ.get("NUMBA_CACHE_DIR")])] if with_bai else []:
        allow(path, read | listing)
    libc.prctl(38, 1, 0, 0, 0)  # no new privileges, without which the lock is refused
    locked = libc.syscall(446, rules, 0) == 0
    os.close(rules)
    return locked and filter_calls(libc)


class Refused(types.ModuleType):
    """Stands for `bai`, or a module of it, where a task forbids it; a few names may still be used."""

    allowed: tuple[str, ...] = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        allowed = ", ".join(f"`bai.{entry}`" for entry in self.allowed) or "nothing"
        raise PermissionError(f"`{self.__name__}.{name}` may not be used in this task; of `bai` it allows {allowed}")


class Door:
    """Finds no module of `bai` but those that stand in for it."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> None:
        if name.partition(".")[0] == "bai":
            raise ImportError(f"`{name}` may not be used in this task")


def refuse_bai(allowed: dict[str, Any]) -> None:
    """Put in place of `bai` what has the `allowed` functions only, by their names without `bai.`."""
    harmless = {"plots.use_style": lambda *a, **k: None, "book.checking.check": lambda *a, **k: None}
    harmless["book.checking.calls"] = harmless["book.checking.check"]
    for name, function in (allowed | harmless).items():
        module = refused("bai")
        for part in name.split(".")[:-1]:
            parent, module = module, refused(f"{module.__name__}.{part}")
            setattr(parent, part, module)
        setattr(module, name.rpartition(".")[2], function)
    Refused.allowed = tuple(allowed)
    sys.meta_path.insert(0, Door)


def refused(name: str) -> types.ModuleType:
    module = sys.modules.setdefault(name, Refused(name))
    module.__path__ = []
    return module


# --- the work of a child


class Shell:
    """What magic commands talk to: they do nothing, except that a timed cell is executed."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self.namespace = namespace

    def run_cell_magic(self, name: str, line: str, body: str) -> None:
        if name in ("time", "timeit", "capture"):
            exec(body, self.namespace)

    def __getattr__(self, name: str) -> Any:
        return lambda *a, **k: None


class Printed(io.StringIO):
    """Keeps the first `PRINTED` characters of what is printed."""

    def write(self, text: str) -> int:
        super().write(text[: max(0, PRINTED - self.tell())])
        return len(text)


def figures() -> list[str]:
    """The open figures of matplotlib, each as PNG in base 64; they are closed."""
    found = []
    plt: Any = sys.modules.get("matplotlib.pyplot")
    with contextlib.suppress(Exception):
        for number in plt.get_fignums()[:PICTURES] if plt else ():
            file = io.BytesIO()
            plt.figure(number).savefig(file, format="png", dpi=80, bbox_inches="tight")
            found.append(base64.b64encode(file.getvalue()).decode())
        if plt:
            plt.close("all")
    return found


class Answers:
    """The namespace of one submission, and the calls from the tests that it answers."""

    def __init__(self, channel: socket.socket) -> None:
        self.channel = channel
        self.namespace: dict[str, Any] = {"__name__": "__main__", "display": print}
        shell = Shell(self.namespace)
        self.namespace["get_ipython"] = lambda: shell

    def serve(self) -> None:
        """Answer until the other side hangs up."""
        with contextlib.suppress(EOFError, OSError):
            while True:
                kind, *arguments = self.load(receive(self.channel))
                self.reply(*self.attempt(getattr(self, kind), arguments))

    def attempt(self, work: Any, arguments: list[Any]) -> tuple[str, Any]:
        try:
            return "value", encode(work(*arguments))
        except BaseException as error:
            place = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith("<cell")]
            where = f" (line {place[-1].lineno} of {place[-1].filename[1:-1]})" if place else ""
            return "error", [type(error).__name__, str(error)[:500] + where]

    def reply(self, kind: str, content: Any) -> None:
        send(self.channel, json.dumps([kind, content]).encode())

    def load(self, message: bytes) -> Any:
        unpickler = pickle.Unpickler(io.BytesIO(message))
        unpickler.persistent_load = self.stub
        return unpickler.load()

    def stub(self, name: str) -> Any:
        """A function that lives on the other side. It moves generators among its arguments on as it used them."""

        def ask(*arguments: Any) -> Any:
            self.reply("ask", [name, encode(list(arguments))])
            error, value, states = self.load(receive(self.channel))
            for generator, state in zip(generators([arguments]), states, strict=True):
                generator.bit_generator.state = state
            if error:
                raise RuntimeError(error)
            return value

        return ask

    def cell(self, name: str, source: str, show: bool = False) -> tuple[str, list[str]]:
        """Execute a cell; return what it printed, the value of its last line included, and its figures if asked to."""
        printed = Printed()
        tree = ast.parse(source)
        last = tree.body[-1] if tree.body else None
        file = f"<cell {name}>"
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(Printed()):
            if isinstance(last, ast.Expr):
                tree.body.pop()
            exec(compile(tree, file, "exec"), self.namespace)
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), file, "eval"), self.namespace)
                if value is not None:
                    print(repr(value))
        return printed.getvalue(), figures() if show else []

    def get(self, names: list[str]) -> dict[str, Any]:
        """What stands behind these names: functions as True in a list, data as it is, nothing where there is none."""
        found = {name: self.namespace[name] for name in names if name in self.namespace}
        return {name: ("function",) if callable(value) else ("data", value) for name, value in found.items()}

    def call(self, name: str, given: list[str], several: list[tuple]) -> Any:
        """Call a function with several lists of arguments, and with functions `given` in place of the student's own.

        Returns the results, and how far the random generators among the arguments were moved on.
        """
        own = {entry: self.namespace[entry] for entry in given if entry in self.namespace}
        self.namespace |= {entry: self.stub(f"given {entry}") for entry in own}
        try:
            with contextlib.redirect_stdout(Printed()), contextlib.redirect_stderr(Printed()):
                results = [Encoded(encode(self.namespace[name](*arguments))) for arguments in several]
            return results, [generator.bit_generator.state for generator in generators(several)]
        finally:
            self.namespace |= own


def generators(several: Iterable[Iterable[Any]]) -> list[Any]:
    """The random generators among lists of arguments, each once."""
    return list({id(entry): entry for row in several for entry in row if hasattr(entry, "bit_generator")}.values())


def child(channel: socket.socket, with_bai: bool) -> None:
    """Lock this process in and answer calls; the first message says in which folder, and what of `bai` is allowed."""
    folder, allowed = json.loads(receive(channel))
    os.setsid()
    os.chdir(folder)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    os.closerange(3, channel.fileno())
    os.closerange(channel.fileno() + 1, 1000)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10**7, 10**7))
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answers = Answers(channel)
    if not with_bai:
        refuse_bai({name: answers.stub(f"allowed {name}") for name in allowed})
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # ends with the process that forked it
    locked = lock_in(folder, with_bai)
    answers.reply("ready", [os.getpid(), locked])
    answers.serve()


def main(listener: socket.socket, owner: socket.socket, with_bai: bool) -> None:
    """Fork one child for each connection, until the owner hangs up."""
    for name in ("numpy", "pandas", "scipy.stats", *(["matplotlib.pyplot"] if with_bai else [])):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    if with_bai:
        sys.path.append(str(PACKAGE.parent))
        from numba.core import caching

        import bai.book.warm

        bai.book.warm.compile_all()
        for place, name in ((caching.IndexDataCacheFile, "save"), (caching._CacheLocator, "ensure_cache_path")):
            setattr(place, name, lambda *a: None)  # compiled code is read, never written
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.freeze()  # a child that searched all this for garbage would have to copy it first
    while owner not in select.select([listener, owner], [], [])[0]:
        channel, _ = listener.accept()
        if os.fork() == 0:
            try:
                listener.close()
                owner.close()
                child(channel, with_bai)
            finally:
                os._exit(0)
        channel.close()


if __name__ == "__main__":
    main(*(socket.socket(fileno=int(number)) for number in sys.argv[1:3]), with_bai=sys.argv[3] == "bai")
