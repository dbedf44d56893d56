"""Checks of arguments: every error names the argument, the value and what would be right."""

from __future__ import annotations

import math
import numbers

import numpy as np


def integer(name: str, value, least: int) -> int:
    """Return `value` as an int, or raise ValueError if it is not a whole number of at least `least`."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, (bool, np.bool_))
    if not whole and isinstance(value, numbers.Real):
        whole = math.isfinite(value) and value == int(value) and not isinstance(value, (bool, np.bool_))
    if not whole or value < least:
        raise ValueError(f"{name} is {value!r}; it must be a whole number of at least {least}")
    return int(value)


def number(name: str, value, above: float = -math.inf, below: float = math.inf) -> float:
    """Return `value` as a float, or raise ValueError unless it is finite and `above` < value < `below`."""
    usable = isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))
    if not usable or not math.isfinite(value) or not above < value < below:
        limits = [f"above {above:g}"] * (above > -math.inf) + [f"below {below:g}"] * (below < math.inf)
        raise ValueError(f"{name} is {value!r}; it must be a finite number {' and '.join(limits)}".rstrip())
    return float(value)


def choice(name: str, value, choices: tuple[str, ...]) -> str:
    """Return `value`, or raise ValueError unless it is one of `choices`."""
    if not isinstance(value, str) or value not in choices:
        allowed = " or ".join(repr(c) for c in choices)
        raise ValueError(f"{name} is {value!r}; it must be {allowed}")
    return value


def flag(name: str, value) -> bool:
    """Return `value`, or raise ValueError unless it is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} is {value!r}; it must be True or False")
    return bool(value)


def array(name: str, value, ndim: int | tuple[int, ...], least: float = -math.inf) -> np.ndarray:
    """Return `value` as a finite float array with `ndim` axes, or raise ValueError that shows what is wrong."""
    try:
        result = np.asarray(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} cannot be read as an array of numbers ({error}); rows must be equally long") from None
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
