"""Checks of arguments: each returns the value to use, or raises an error that names argument, value and remedy.

A wrong type raises TypeError, a wrong value ValueError.
"""

from __future__ import annotations

import math
import numbers
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Set
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

LARGEST_INTEGER = 2**53  # floats hold the whole numbers below, and counts are divided like floats
LARGEST_REWARD = 1e100  # squares of rewards, and their inverses, are then far from overflow
NO_NUMBERS = (bool, np.bool_, np.timedelta64)  # although Python counts them as such
MOST_ENTRIES = 10**6  # of an iterable, which might have no end


def shown(value: Any, longest: int = 80) -> str:
    """Return the value as an error message shows it: a long one is cut in the middle.

    Examples
    --------
    >>> shown(10**40, longest=20)
    '10000000...00000000'
    """
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # an integer with too many digits for text, or something that holds one
        bits = f" of {value.bit_length()} bits" if isinstance(value, int) else ""
        text = f"{type(value).__name__}{bits}, too long to show"
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


def integer(name: str, value: Any, least: int, below: int | None = LARGEST_INTEGER) -> int:
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
    if not isinstance(value, numbers.Real) or isinstance(value, NO_NUMBERS):
        wrong_type(name, value, f"a whole number of at least {least}")
    given: Any = value
    try:
        result = int(given)
    except (ValueError, OverflowError):  # not finite
        result = least - 1
    if result < least or result != given:
        raise ValueError(f"{name} is {shown(value)}; it must be a whole number of at least {least}")
    if below is not None and result >= below:
        raise ValueError(f"{name} is {shown(value)}; it must be below {below}")
    return result


def number(name: str, value: Any, above: float = -math.inf, below: float = math.inf) -> float:
    """Return `value` as a finite float with `above` < value < `below`."""
    limits = [f"above {above:g}"] * (above > -math.inf) + [f"below {below:g}"] * (below < math.inf)
    needed = f"a finite number {' and '.join(limits)}".rstrip()
    if not isinstance(value, numbers.Real) or isinstance(value, NO_NUMBERS):
        wrong_type(name, value, needed)
    try:
        result = float(value)
    except OverflowError:
        result = math.inf
    if not math.isfinite(result) or not above < result < below:
        raise ValueError(f"{name} is {shown(value)}; it must be {needed}")
    return result


def reward(name: str, value: Any) -> float:
    """Return a reward as a number; True and False are 1 and 0."""
    if type(value) is float and abs(value) <= LARGEST_REWARD:  # nearly always, and quicker than what follows
        return value
    result = float(value) if isinstance(value, (bool, np.bool_)) else number(name, value)
    if abs(result) > LARGEST_REWARD:
        raise ValueError(f"{name} is {result}; its size must be at most {LARGEST_REWARD:g}, so take another unit")
    return result


def positive(name: str, value: Any, largest: float = LARGEST_REWARD) -> float:
    """Return `value` as a positive number that lies, like its inverse, between 1 / `largest` and `largest`.

    Examples
    --------
    >>> positive("bound", 1e-160)
    Traceback (most recent call last):
    ...
    ValueError: bound is 1e-160; it must lie between 1e-100 and 1e+100, if need be in another unit
    """
    result = number(name, value, above=0)
    if not 1 / largest <= result <= largest:
        raise ValueError(
            f"{name} is {result}; it must lie between {1 / largest:g} and {largest:g}, if need be in another unit"
        )
    return result


def settle(thing: Any, **checked: Any) -> None:
    """Put checked values into the fields of a frozen dataclass; a plain int stays one, and is shown as it was written.

    Without this a policy would compute with whatever it was given, such as a number with seven digits.
    """
    for name, value in checked.items():
        if type(getattr(thing, name)) is not int:
            object.__setattr__(thing, name, value)


def choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """Return `value`, one of `choices`."""
    needed = " or ".join(repr(c) for c in choices)
    if not isinstance(value, str):
        wrong_type(name, value, needed)
    if value not in choices:
        raise ValueError(f"{name} is {shown(value)}; it must be {needed}")
    return str(value)


def flag(name: str, value: Any) -> bool:
    """Return `value`, True or False."""
    if not isinstance(value, (bool, np.bool_)):
        wrong_type(name, value, "True or False")
    return bool(value)


def _is_masked(value: Any, depth: int = 3) -> bool:
    """Return whether entries are masked, of an array or of arrays in a list: `np.asarray` would show them."""
    if isinstance(value, (list, tuple)) and depth > 0:
        return any(_is_masked(entry, depth - 1) for entry in value)
    return isinstance(value, np.ma.MaskedArray) and bool(np.ma.is_masked(value))


def _entries(name: str, value: Any) -> np.ndarray:
    """Return `value` as an array of truth values, integers, floats or objects."""
    if _is_masked(value):
        raise ValueError(f"{name} has masked entries; fill them or leave their arms out")
    if isinstance(value, (str, bytes, bytearray, Mapping, Set)) or value is None:
        wrong_type(name, value, "an array of numbers")
    try:
        result = np.asarray(value)
    except ValueError:
        raise ValueError(f"{name} cannot be read as an array of numbers; its rows must be equally long") from None
    except OverflowError:
        raise ValueError(f"{name} cannot be read as an array of numbers; its entries are too large") from None
    if result.dtype.kind not in "biufO":
        raise TypeError(f"{name} has entries of type {result.dtype.type.__name__}; give numbers only")
    return result


def _position(name: str, where: tuple[int, ...]) -> str:
    return f"{name}[{', '.join(map(str, where))}]" if where else name


def array(name: str, value: ArrayLike, ndim: int | tuple[int, ...], least: float = -math.inf) -> np.ndarray:
    """Return `value` as a finite float array with `ndim` axes and entries of at least `least`."""
    given = _entries(name, value)
    allowed = (ndim,) if isinstance(ndim, int) else ndim
    if given.ndim not in allowed and given.dtype.kind != "O":
        axes = " or ".join(str(n) for n in allowed)
        raise ValueError(f"{name} has shape {given.shape}; it must have {axes} axes")
    if given.dtype.kind == "O":
        floats = [reward(_position(name, where), entry) for where, entry in np.ndenumerate(given)]
        return array(name, np.array(floats).reshape(given.shape), ndim, least)
    with np.errstate(over="ignore"):  # of long floats
        result = given.astype(float)
    bad = ~np.isfinite(result) | (result < least)
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        limit = f" and at least {least:g}" if least > -math.inf else ""
        raise ValueError(f"{_position(name, where)} is {result[where]}; every entry must be finite{limit}")
    return result


def integers(name: str, value: ArrayLike, least: int, axes: int = 1) -> np.ndarray:
    """Return `value` as an array of whole numbers of at least `least`, with at most so many axes."""
    given = _entries(name, value)
    if given.ndim > axes:
        raise ValueError(f"{name} has shape {given.shape}; it must have at most {axes} axes")
    if given.dtype.kind in "bO":
        whole = [integer(name, entry, least) for entry in given.ravel()]
        return np.array(whole, dtype=np.int64).reshape(given.shape)
    if given.dtype.kind == "f":
        with np.errstate(over="ignore"):  # of long floats
            given = given.astype(float)
    bad = ~((given >= least) & (given < LARGEST_INTEGER) & (given == np.floor(given)))
    if bad.any():
        integer(name, given[bad][0].item(), least)
    return given.astype(np.int64)


def flags(name: str, value: ArrayLike) -> np.ndarray:
    """Return `value` as an array of True and False."""
    given = _entries(name, value)
    if given.dtype.kind == "O":
        given = np.array([flag(name, entry) for entry in given.ravel()], bool).reshape(given.shape)
    if given.dtype.kind != "b":
        raise TypeError(f"{name} has entries of type {given.dtype.type.__name__}; give True or False for each run")
    return given


def arms(name: str, value: ArrayLike, least: float = -math.inf, ndim: int | tuple[int, ...] = 1) -> np.ndarray:
    """Return `value` as an array of numbers, one per arm along its last axis, for at least two arms.

    Those of at least 0 are variances, others means.
    """
    result = array(name, value, ndim, least)
    if result.shape[-1] < 2:
        raise ValueError(f"{name} has shape {result.shape}; its last axis must hold at least 2 arms")
    return in_range(name, result, variances=least == 0)


def in_range(name: str, values: np.ndarray, variances: bool = False) -> np.ndarray:
    """Return rewards or variances, or raise ValueError unless what is computed from them is far from overflow.

    Rewards may be 0 or close to it where others are larger. A variance divides, so none may be close to 0.
    """
    largest = LARGEST_REWARD**2 if variances else LARGEST_REWARD
    if variances and values.size and values.min() >= 1 / largest and values.max() <= largest:
        return values  # nearly always, and without a copy of what may be large
    sizes = values[values != 0] if variances else np.abs(values).max(initial=0, keepdims=True)
    bad = sizes[(sizes != 0) & ~((sizes >= 1 / largest) & (sizes <= largest))]
    if bad.size:
        raise ValueError(
            f"{name} has an entry of size {bad[0]:g}; {'every entry' if variances else 'the largest'} must be 0 or lie "
            f"between {1 / largest:g} and {largest:g}, so measure rewards in another unit"
        )
    return values


def same_shape(means: np.ndarray, variances: np.ndarray) -> None:
    """Raise ValueError unless there is a variance for each mean."""
    if means.shape != variances.shape:
        raise ValueError(f"variances has shape {variances.shape} but means has shape {means.shape}; they must agree")


def compatible(**arrays: np.ndarray) -> None:
    """Raise ValueError unless arrays can be used together, entry by entry."""
    try:
        np.broadcast_shapes(*(array.shape for array in arrays.values()))
    except ValueError:
        shapes = " and ".join(f"{name} has shape {array.shape}" for name, array in arrays.items())
        raise ValueError(f"{shapes}; give one entry for each, or a single one") from None


def sequence(name: str, value: Any, needed: str) -> list[Any]:
    """Return the entries of a sequence, whose order counts and which has an end."""
    unordered = (str, bytes, bytearray, Mapping, Set, Iterator)
    if not isinstance(value, Iterable) or isinstance(value, unordered) or getattr(value, "ndim", 1) != 1:
        wrong_type(name, value, needed)
    return list(value)


def several(name: str, value: Any) -> list[Any]:
    """Return the entries of an argument that may be one value or any finite collection of them."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return [value[()]]
    if isinstance(value, (str, bytes, bytearray)) or not isinstance(value, Iterable):
        return [value]
    if isinstance(value, Mapping) or getattr(value, "ndim", 1) != 1:
        wrong_type(name, value, "one value or several in a list")
    entries = list(islice(value, MOST_ENTRIES + 1))
    if not entries:
        raise ValueError(f"{name} is empty; give at least one")
    if len(entries) > MOST_ENTRIES:
        raise ValueError(f"{name} has more than {MOST_ENTRIES} entries, or no end; give fewer")
    return entries


def file(name: str, value: Any) -> tuple[Path, int | None]:
    """Return the path of a file, and its size: None if it does not exist and can be made."""
    if not isinstance(value, (str, os.PathLike)) or not isinstance(os.fspath(value), str):
        wrong_type(name, value, "the name of a file")
    path = Path(value)
    try:
        status = os.stat(path)
        if not stat.S_ISDIR(status.st_mode):
            return path, status.st_size
    except FileNotFoundError:
        if path.parent.is_dir():
            return path, None
    except (OSError, ValueError):  # no file can have this name
        pass
    raise ValueError(f"{name} is {shown(value)}; it must be a file in a folder that exists")
