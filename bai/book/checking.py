"""Compare an answer of an assignment with the right one, and say what was expected, what came and where to look."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def check(
    got: Any, expected: Any, case: str, look: str = "", slips: dict[str, Any] | None = None, rel: float = 1e-9
) -> bool:
    """Raise an AssertionError unless the answer is right; return True.

    Whole numbers, text and truth values must be equal, other numbers equal up to rounding; lists, tuples and arrays
    count as the same. The first line of the message tells the case, the following ones the likely mistake and where to
    look.

    Parameters
    ----------
    got, expected
        What the student's function gave, and what is right.
    case : str
        What the function was asked.
    look : str, optional
        Where to look if it is wrong.
    slips : dict, optional
        What usual mistakes would give: the name of the mistake, and its value.
    rel : float, optional
        The relative difference that still counts as equal; if it is larger than that of rounding, also for whole
        numbers.

    Examples
    --------
    >>> check([5, 10], np.array([5, 10]), "variances 1 and 2, 15 pulls")
    True
    >>> check(21, 22, "gap 0.5", "Task 3: N is the smallest number that suffices", {"rounded down": 21})
    Traceback (most recent call last):
    AssertionError: gap 0.5: expected 22, got 21
    This is what you get if you make the mistake: rounded down.
    Look at: Task 3: N is the smallest number that suffices.
    """
    if same(got, expected, rel):
        return True
    lines = [f"{case}: expected {shown(expected)}, got {shown(got)}"]
    named = [name for name, value in (slips or {}).items() if same(got, value, rel) and not same(value, expected, rel)]
    lines += [f"This is what you get if you make the mistake: {name}." for name in named[:1]]
    lines += [f"Look at: {look}."] if look else []
    raise AssertionError("\n".join(lines))


def calls(function: Callable, several: list[tuple[Any, ...]]) -> list[Any]:
    """Call a function with each of these lists of arguments; while it is graded, in one message to its process.

    >>> calls(max, [(1, 2), (4, 3)])
    [2, 4]
    """
    many = getattr(function, "many", None)
    return many(several) if many else [function(*arguments) for arguments in several]


def same(got: Any, expected: Any, rel: float = 1e-9) -> bool:
    """Return whether two answers are equal, lists and arrays alike.

    >>> same((1, 2.0), np.array([1, 2])), same(0.1 + 0.2, 0.3), same(5.0, np.inf), same("a", "b")
    (True, True, False, False)
    """
    if isinstance(expected, (str, dict, set)) or expected is None:
        return type(got) is type(expected) and got == expected
    try:
        found, right = np.asarray(got), np.asarray(expected)
    except ValueError:  # lists of unequal length
        return False
    if found.shape != right.shape or right.dtype.kind not in "biuf" or found.dtype.kind not in "biuf":
        return found.shape == right.shape and found.dtype.kind == right.dtype.kind and bool(np.all(found == right))
    if right.dtype.kind == "f" or rel > 1e-9:
        with np.errstate(invalid="ignore"):
            near = np.isfinite(right) & (np.abs(found - right) <= rel * np.abs(right) + 1e-300)
        return bool(np.all(near | (found == right)))
    return bool(np.all(found == right))


def shown(value: Any) -> str:
    """Return the value as a message shows it, shortened.

    >>> shown(np.array([1, 2])), shown(np.float64(0.123456789012))
    ('[1, 2]', '0.123457')
    """
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | tuple) and all(isinstance(entry, int | float) for entry in value):
        return "[" + ", ".join(shown(entry) for entry in value[:20]) + (", ...]" if len(value) > 20 else "]")
    text = repr(value)
    return text if len(text) < 200 else text[:200] + " ..."
