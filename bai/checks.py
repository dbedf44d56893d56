"""Checks of arguments: each returns the value to use, or raises an error that names argument, value and remedy.

A wrong type raises TypeError, a wrong value ValueError.
"""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike


def shown(value: Any, longest: int = 80) -> str:
    """Return the value as an error message shows it: a long one is cut in the middle.

    Examples
    --------
    >>> shown(10**40, longest=20)
    '10000000...00000000'
    """
    try:
        text = repr(value)
    except ValueError:  # an integer with too many digits for text
        text = f"{type(value).__name__} of {value.bit_length()} bits"
    half = (longest - 3) // 2
    return text if len(text) <= longest else f"{text[:half]}...{text[-half:]}"


def full_repr(name: str, value: Any) -> str:
    """Return the whole representation of a value, by which a checkpoint knows it again."""
    with np.printoptions(threshold=sys.maxsize, floatmode="unique"):
        text = repr(value)
    if " at 0x" in text:
        raise TypeError(
            f"{name} is {shown(value)}, which a checkpoint cannot know again by its representation; give its class a "
            "__repr__ that says all, or play without a checkpoint"
        )
    return text


def wrong_type(name: str, value: Any, needed: str) -> NoReturn:
    """Raise TypeError: what the argument is, of which type, and what it must be."""
    raise TypeError(f"{name} is {shown(value)}, of type {type(value).__name__}; it must be {needed}")


def not_installed(what: str, package: str, extra: str) -> ModuleNotFoundError:
    """Return the error for a package that only some people need, and that is missing."""
    message = f"{what} needs {package}, which is not installed; install it with: pip install 'bai[{extra}]'"
    return ModuleNotFoundError(message, name=package)


def integer(name: str, value: Any, least: int, below: int | None = 2**63) -> int:
    """Return `value` as an int of at least `least`.

    Examples
    --------
    >>> integer("budget", np.int16(5000), least=1)
    5000
    >>> integer("budget", 0.5, least=1)
    Traceback (most recent call last):
    ...
    ValueError: budget is 0.5; it must be a whole number of at least 1
    """
    if not isinstance(value, numbers.Real) or isinstance(value, (bool, np.bool_)):
        wrong_type(name, value, f"a whole number of at least {least}")
    given: Any = value
    whole = isinstance(given, numbers.Integral) or (math.isfinite(given) and given == int(given))
    if not whole or given < least:
        raise ValueError(f"{name} is {shown(value)}; it must be a whole number of at least {least}")
    if below is not None and int(given) >= below:
        raise ValueError(f"{name} is {shown(value)}; it must be below {below}")
    return int(given)


def number(name: str, value: Any, above: float = -math.inf, below: float = math.inf) -> float:
    """Return `value` as a finite float with `above` < value < `below`."""
    limits = [f"above {above:g}"] * (above > -math.inf) + [f"below {below:g}"] * (below < math.inf)
    needed = f"a finite number {' and '.join(limits)}".rstrip()
    if not isinstance(value, numbers.Real) or isinstance(value, (bool, np.bool_)):
        wrong_type(name, value, needed)
    try:
        result = float(value)
    except OverflowError:
        result = math.inf
    if not math.isfinite(result) or not above < result < below:
        raise ValueError(f"{name} is {shown(value)}; it must be {needed}")
    return result


def reward(name: str, value: Any) -> float:
    """Return a reward as a finite number; True and False are 1 and 0."""
    return float(value) if isinstance(value, (bool, np.bool_)) else number(name, value)


def positive(name: str, value: Any) -> float:
    """Return `value` as a positive number whose square and the inverse of it are far from overflow.

    Examples
    --------
    >>> positive("bound", 1e-160)
    Traceback (most recent call last):
    ...
    ValueError: bound is 1e-160; it must lie between 1e-100 and 1e+100, so measure rewards in another unit
    """
    result = number(name, value, above=0)
    if not 1e-100 <= result <= 1e100:
        raise ValueError(
            f"{name} is {result}; it must lie between 1e-100 and 1e+100, so measure rewards in another unit"
        )
    return result


def choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """Return `value`, one of `choices`."""
    needed = " or ".join(repr(c) for c in choices)
    if not isinstance(value, str):
        wrong_type(name, value, needed)
    if value not in choices:
        raise ValueError(f"{name} is {shown(value)}; it must be {needed}")
    return value


def flag(name: str, value: Any) -> bool:
    """Return `value`, True or False."""
    if not isinstance(value, (bool, np.bool_)):
        wrong_type(name, value, "True or False")
    return bool(value)


def array(name: str, value: ArrayLike, ndim: int | tuple[int, ...], least: float = -math.inf) -> np.ndarray:
    """Return `value` as a finite float array with `ndim` axes and entries of at least `least`."""
    if np.ma.is_masked(value):
        raise ValueError(f"{name} has masked entries; fill them or leave their arms out")
    if isinstance(value, (str, bytes, dict, set, frozenset)) or value is None:
        wrong_type(name, value, "an array of numbers")
    try:
        given = np.asarray(value)
        if given.dtype.kind not in "biufO":
            raise TypeError(f"it has entries of type {given.dtype.type.__name__}")
        result = given.astype(float)
    except ValueError as error:
        raise ValueError(f"{name} cannot be read as an array of numbers ({error}); rows must be equally long") from None
    except (TypeError, OverflowError) as error:
        raise TypeError(f"{name} cannot be read as an array of numbers ({error}); give numbers only") from None
    allowed = (ndim,) if isinstance(ndim, int) else ndim
    if result.ndim not in allowed:
        axes = " or ".join(str(n) for n in allowed)
        raise ValueError(f"{name} has shape {result.shape}; it must have {axes} axes")
    bad = ~np.isfinite(result) | (result < least)
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        limit = f" and at least {least:g}" if least > -math.inf else ""
        raise ValueError(f"{name}[{', '.join(map(str, where))}] is {result[where]}; every entry must be finite{limit}")
    return result


def integers(name: str, value: ArrayLike, least: int, axes: int = 1) -> np.ndarray:
    """Return `value` as an array of whole numbers of at least `least`, with at most so many axes."""
    given = np.asarray(value)
    if given.ndim > axes:
        raise ValueError(f"{name} has shape {given.shape}; it must have at most {axes} axes")
    if given.dtype.kind in "iu" and given.min(initial=least) >= least:
        return given.astype(np.int64)
    whole = [integer(name, entry, least) for entry in given.ravel().tolist()]
    return np.array(whole, dtype=np.int64).reshape(given.shape)


def arms(name: str, value: ArrayLike, least: float = -math.inf, ndim: int | tuple[int, ...] = 1) -> np.ndarray:
    """Return `value` as an array of numbers, one per arm along its last axis, for at least two arms."""
    result = array(name, value, ndim, least)
    if result.shape[-1] < 2:
        raise ValueError(f"{name} has shape {result.shape}; its last axis must hold at least 2 arms")
    return result


def same_shape(means: np.ndarray, variances: np.ndarray) -> None:
    """Raise ValueError unless there is a variance for each mean."""
    if means.shape != variances.shape:
        raise ValueError(f"variances has shape {variances.shape} but means has shape {means.shape}; they must agree")


def several(name: str, value: Any) -> list[Any]:
    """Return the entries of an argument that may be one value or any finite collection of them."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        return [value]
    entries = list(value)
    if not entries:
        raise ValueError(f"{name} is empty; give at least one")
    return entries
