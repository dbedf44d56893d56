"""Upper bounds on an unknown variance: what SHAdaVar takes for the variance of an arm.

After N pulls of an arm SHAdaVar looks at its index U / N, where U is the bound. A bound is a small object; one of your
own needs a method `spread`:

>>> import bai
>>> class Doubled(VarianceBound):
...     def spread(self, delta, budget):
...         count = np.arange(budget + 1.0)
...         return count * (count - 1) / 2
>>> bai.SHAdaVar(bound=Doubled()).warmup_pulls(n_arms=4)
8
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import gammaincinv

from .. import checks, schedules
from .base import ShowsChanges, Tally

Index = Callable[[int], float]  # of an arm


class IndexTable(NamedTuple):
    """A bound as compiled loops take it; entries by number of pulls."""

    spread: np.ndarray  # divisors that turn the sum of squared deviations into U / N
    slack: np.ndarray  # what is added to the root of that, times the range of the rewards; empty if nothing is
    guard: float  # U = guard D^2 / N for N equal rewards, where D is the range of all rewards; 0 to trust them


class VarianceBound(ShowsChanges):
    """The base class of all bounds of the form U = (sum of squared deviations) / lower."""

    needs_range: ClassVar[bool] = False  # whether the range of the rewards must be known
    span: float | None = None  # and if so, that range; None to take it from the problem
    guard_repeats: bool = False

    def __repr__(self) -> str:
        shown = str(self)
        return shown if shown.endswith(")") else f"{shown}()"

    def spread(self, delta: float, budget: int) -> np.ndarray:
        """Return what the sum of squared deviations is divided by after 0, 1, ..., n pulls, to give U / N.

        For the sample variance itself that is N (N - 1). It is positive from the warm-up on, or from some N on.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method spread(self, delta, budget); write one")

    def slack(self, delta: float, budget: int) -> np.ndarray:
        """Return what is added to the root of U / N for rewards in [0, 1], after 0, 1, ..., n pulls; empty for none."""
        return np.empty(0)

    def warmup_pulls(self, n_arms: int, delta: float) -> int:
        """Return after how many pulls in all the bounds of `n_arms` arms can be used: two per arm or more."""
        return 2 * n_arms

    def table(self, delta: float, budget: int) -> IndexTable:
        """Return the bound as compiled loops take it."""
        guard = math.log(1 / delta) if self.guard_repeats else 0.0
        spread = np.asarray(self.spread(delta, budget), float)
        slack = np.asarray(self.slack(delta, budget), float)
        for name, values in (("spread", spread), ("slack", slack)):
            if values.ndim != 1 or values.size not in (budget + 1, budget + 1 if name == "spread" else 0):
                raise ValueError(
                    f"{self!r}.{name} has shape {values.shape}; it must have {budget + 1} entries, one per count"
                )
            if not np.isfinite(values[2:]).all():
                raise ValueError(f"{self!r}.{name} has entries that are not finite; from two pulls on they must be")
        spread = np.where(spread == 0, np.finfo(float).tiny, spread)  # U is infinite there, unless no reward differs
        if (np.diff((spread[2:] > 0).astype(int)) < 0).any():
            raise ValueError(f"{self!r}.spread falls back to 0 or below; once positive it must stay positive")
        return IndexTable(spread, slack, guard)

    def index(self, delta: float, budget: int, span: float) -> Callable[[Tally], Index]:
        """Return the index U / N of each arm, or its root if there is a slack: what `table` says, in plain Python."""
        table = self.table(delta, budget)
        spread, slack = table.spread.tolist(), table.slack.tolist()
        if slack:
            return lambda tally: (
                lambda arm: (  # rounding may make a sum of squares negative
                    math.sqrt(max(0.0, tally.squares[arm]) / spread[tally.count[arm]]) + span * slack[tally.count[arm]]
                )
            )
        if table.guard > 0:
            return _guarding_repeats(spread, table.guard)
        return lambda tally: lambda arm: tally.squares[arm] / spread[tally.count[arm]]


def _guarding_repeats(spread: list[float], guard: float) -> Callable[[Tally], Index]:
    """Return the index U / N, but with U = guard D^2 / N for an arm whose N rewards are all the same number.

    D is the range of all rewards seen; while there is only one value, any D > 0 makes the arms take turns.
    """

    def index(tally: Tally) -> Index:
        seen = max(tally.highest) - min(tally.lowest)
        scale = guard * (seen * seen) if seen > 0 else guard

        def of_arm(arm: int) -> float:
            if tally.lowest[arm] == tally.highest[arm]:
                return scale / (tally.count[arm] * tally.count[arm])
            return tally.squares[arm] / spread[tally.count[arm]]

        return of_arm

    return index


def _pulls_and_degrees(budget: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of pulls 0, 1, ..., n and the degrees of freedom of their sample variances."""
    count = np.arange(budget + 1, dtype=float)
    return count, np.maximum(count - 1, 0)


@dataclass(frozen=True, repr=False)
class _Repeatable(VarianceBound):
    """Bounds that take an arm with equal rewards for one without noise, unless told to guard against that.

    Parameters
    ----------
    guard_repeats : bool
        What to make of an arm with N equal rewards. False: it has no noise, and is not pulled again in the stage.
        True: its variance is at most D^2 log(1/delta) / N, where D is the range of all rewards seen (in the stage,
        unless samples are kept). The reason: if other values had a probability above log(1/delta) / N together, one
        would have come up with probability 1 - delta. Delta must be at most 0.135. Continuous rewards never repeat.
    """

    guard_repeats: bool = False

    def __post_init__(self) -> None:
        checks.settle(self, guard_repeats=checks.flag("guard_repeats", self.guard_repeats))


@dataclass(frozen=True, repr=False)
class Gaussian(_Repeatable):
    """The paper's bound (Lemma 2): U = variance / (1 - 2 sqrt(log(1/delta) / (N - 1))), for Gaussian rewards.

    Every arm is first pulled floor(4 log(1/delta)) + 2 times, which makes the bound positive.

    Examples
    --------
    >>> Gaussian().warmup_pulls(n_arms=64, delta=0.05)
    832
    """

    def spread(self, delta: float, budget: int) -> np.ndarray:
        count, lower = _pulls_and_degrees(budget)
        lower -= 2 * np.sqrt(lower * math.log(1 / delta))
        return count * lower

    def warmup_pulls(self, n_arms: int, delta: float) -> int:
        return n_arms * schedules.warmup_pulls(delta)


@dataclass(frozen=True, repr=False)
class Printed(VarianceBound):
    """The paper's bound with the warm-up of Algorithm 4 read literally: floor(k (4 log(1/delta) + 1)) pulls of k arms.

    Some arms then have a negative bound, and are never pulled again in the stage.

    Examples
    --------
    >>> Printed().warmup_pulls(n_arms=64, delta=0.05)
    830
    """

    def spread(self, delta: float, budget: int) -> np.ndarray:
        spread = Gaussian().spread(delta, budget)
        if not spread[2:].all():
            raise ValueError(
                f"delta is {delta}, and 4 log(1/delta) a whole number; the printed bound then divides by zero: take "
                "another delta"
            )
        return spread

    def warmup_pulls(self, n_arms: int, delta: float) -> int:
        return math.floor(n_arms * (4 * math.log(1 / delta) + 1))


@dataclass(frozen=True, repr=False)
class ChiSquare(_Repeatable):
    """The exact bound for Gaussian rewards, positive from two pulls on."""

    def spread(self, delta: float, budget: int) -> np.ndarray:
        count, lower = _pulls_and_degrees(budget)
        lower[1:] = _chi_square_quantiles(delta, budget)
        return count * lower


@functools.lru_cache(maxsize=16)
def _chi_square_quantiles(delta: float, budget: int) -> np.ndarray:
    """Return what a chi-square variable with 0, 1, ..., n - 1 degrees of freedom exceeds with probability 1 - delta."""
    return np.append(0.0, 2 * gammaincinv(np.arange(1, budget) / 2, delta))


@dataclass(frozen=True, repr=False)
class PlugIn(_Repeatable):
    """The plain sample variance, no bound at all: the idea that the paper mentions and drops."""

    def spread(self, delta: float, budget: int) -> np.ndarray:
        count, degrees = _pulls_and_degrees(budget)
        return count * degrees


@dataclass(frozen=True, repr=False)
class Bernstein(VarianceBound):
    """For all bounded rewards: the deviation is at most the sample's plus span sqrt(2 log(1/delta) / (N - 1)).

    From Maurer and Pontil (2009). The index is the root of U / N.

    Parameters
    ----------
    span : float, optional
        The length of an interval that holds all rewards. A simulation takes the same b as for GapE unless it is given
        here.
    """

    needs_range: ClassVar[bool] = True
    span: float | None = None

    def __post_init__(self) -> None:
        if self.span is not None:
            checks.settle(self, span=checks.positive("span", self.span))

    def spread(self, delta: float, budget: int) -> np.ndarray:
        return PlugIn().spread(delta, budget)

    def slack(self, delta: float, budget: int) -> np.ndarray:
        count = np.arange(2, budget + 1)
        return np.append([0.0, 0.0], np.sqrt(2 * math.log(1 / delta) / (count * (count - 1))))
