"""How loops are compiled, and when compiled code on disk is out of date.

numba compiles a function again when its own file changed. It does not notice changes of functions that were compiled
into it from elsewhere, so the files that others build on are made part of the date that numba compares.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

from numba import njit

# Files whose functions are compiled into loops elsewhere.
BUILDING_BLOCKS = (
    *("sampling.py", "shared.py", "policies/loops.py", "policies/halving.py"),
    *("policies/challengers.py", "policies/luck.py", "policies/knowledge.py"),
)

# Nobody calls a loop by the address that it has in C, so none is made.
OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


def _stamp() -> tuple[tuple[int, int], ...]:
    states = [(Path(__file__).parent / name).stat() for name in BUILDING_BLOCKS]
    return tuple((state.st_mtime_ns, state.st_size) for state in states)


def _watching(dispatcher: Any) -> Any:
    file: Any = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if hasattr(file, "_source_stamp"):  # not without a place for compiled code, nor where compilation is switched off
        file._source_stamp = (file._source_stamp, _stamp())
    return dispatcher


def compiled(function: Callable) -> Any:
    """Compile a loop that plays a block of runs; it leaves other threads alone meanwhile."""
    return _watching(njit(**OPTIONS)(function))


def inlined(function: Callable) -> Any:
    """Compile a building block into the loops that call it.

    It may allocate nothing: numba then need not count references to arrays, which in a hot loop takes longer than the
    work itself.
    """
    options: dict[str, Any] = {**OPTIONS, "forceinline": True, "_nrt": False}
    return _watching(njit(**options)(function))


def plain(function: Any) -> Any:
    """Return a building block as Python runs it, together with those that it calls itself.

    To call compiled ones from Python would take no less time, and would load the whole compiler first.
    """
    python = getattr(function, "py_func", function)
    names = {name: getattr(value, "py_func", value) for name, value in python.__globals__.items()}
    return FunctionType(python.__code__, names, python.__name__)
