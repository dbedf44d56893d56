"""How sure a simulation is: intervals for rates and paired comparisons of two policies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr, betaincinv, ndtri

from . import checks


def wilson(mistakes: ArrayLike, runs: ArrayLike, confidence: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Return Wilson's interval for a rate, given the number of mistakes and of runs.

    Examples
    --------
    >>> low, high = wilson(0, 100)
    >>> round(float(low), 3), round(float(high), 3)
    (0.0, 0.037)
    """
    return wilson_ends(*_check_counts(mistakes, runs, confidence))


def wilson_ends(mistakes: np.ndarray, runs: np.ndarray, confidence: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Return Wilson's interval without a check of its arguments."""
    z2 = ndtri((1 + confidence) / 2) ** 2
    rate, runs_squared = mistakes / runs, (1.0 * runs) ** 2  # as floats, which do not overflow
    center = (rate + z2 / (2 * runs)) / (1 + z2 / runs)
    half = np.sqrt(z2) / (1 + z2 / runs) * np.sqrt(rate * (1 - rate) / runs + z2 / (4 * runs_squared))
    # With no mistakes, or nothing but mistakes, the exact end is 0 or 1, and rounding may miss it.
    low = np.where(mistakes == 0, 0.0, center - half)
    high = np.where(mistakes == runs, 1.0, center + half)
    return low, high


def clopper_pearson(mistakes: ArrayLike, runs: ArrayLike, confidence: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Return the exact interval of Clopper and Pearson for a rate: it misses with probability at most 1 - `confidence`.

    It is wider than Wilson's, which covers the rate sometimes a little more and sometimes a little less often than it
    says. With no mistakes in n runs it ends at about 3.7 / n.

    Examples
    --------
    >>> low, high = clopper_pearson([0, 5], 5000)
    >>> high.round(5)
    array([0.00074, 0.00233])
    """
    mistakes, runs, confidence = _check_counts(mistakes, runs, confidence)
    tail = (1 - confidence) / 2
    # Where the beta distribution does not exist, the end is 0 or 1.
    low = np.where(mistakes == 0, 0.0, betaincinv(np.maximum(mistakes, 1), runs - mistakes + 1, tail))
    high = np.where(mistakes == runs, 1.0, betaincinv(mistakes + 1, np.maximum(runs - mistakes, 1), 1 - tail))
    return low, high


def _check_counts(mistakes: ArrayLike, runs: ArrayLike, confidence: float) -> tuple[np.ndarray, np.ndarray, float]:
    confidence = checks.number("confidence", confidence, above=0, below=1)
    mistakes, runs = checks.integers("mistakes", mistakes, 0, axes=2), checks.integers("runs", runs, 1, axes=2)
    checks.compatible(mistakes=mistakes, runs=runs)
    if (mistakes > runs).any():
        raise ValueError(
            f"mistakes is {checks.shown(mistakes.tolist())} in {checks.shown(runs.tolist())} runs; there "
            "may be at most one mistake per run"
        )
    return mistakes, runs, confidence


@dataclass(frozen=True)
class Paired:
    """Two policies on the same runs: how often only one of them erred."""

    only_first: int
    only_second: int
    runs: int

    @property
    def difference(self) -> float:
        """Mistake rate of the first minus that of the second."""
        return (self.only_first - self.only_second) / self.runs

    @property
    def standard_error(self) -> float:
        """Standard error of the difference."""
        discordant = (self.only_first + self.only_second) / self.runs
        return float(np.sqrt(max(0.0, discordant - self.difference**2) / self.runs))

    @property
    def p_value(self) -> float:
        """Exact McNemar test: if both err equally often, either is equally likely to err alone."""
        return float(mcnemar(self.only_first, self.only_second))

    def __repr__(self) -> str:
        return (
            f"Paired(difference={self.difference:+.4f} ± {1.96 * self.standard_error:.4f}, "
            f"only_first={self.only_first}, only_second={self.only_second}, p={self.p_value:.2g})"
        )


def mcnemar(only_first: ArrayLike, only_second: ArrayLike) -> np.ndarray:
    """Return the two-sided p-value of the exact McNemar test, given the runs in which only one of two policies erred.

    Examples
    --------
    >>> mcnemar([3, 0], [0, 10]).round(3)
    array([0.25 , 0.002])
    """
    only_first, only_second = np.asarray(only_first), np.asarray(only_second)
    return np.minimum(1.0, 2 * bdtr(np.minimum(only_first, only_second), only_first + only_second, 0.5))


def paired(first: ArrayLike, second: ArrayLike) -> Paired:
    """Compare the mistakes of two policies on the same runs.

    Examples
    --------
    >>> paired([True, True, False, True, True], [False, False, False, True, False])
    Paired(difference=+0.6000 ± 0.4294, only_first=3, only_second=0, p=0.25)
    """
    first, second = checks.flags("first", first), checks.flags("second", second)
    if first.shape != second.shape or first.ndim != 1 or first.size == 0:
        raise ValueError(f"first has shape {first.shape}, second {second.shape}; give one flag per run for both")
    return Paired(int((first & ~second).sum()), int((second & ~first).sum()), first.size)
