"""What known, unequal variances cost at least, and halving the variance, which pays no more up to constants.

Λ and the most stages R are `variance_price` and `variance_stages`. H stands for Σ_j σ_j²/Δ_j², where the gap of the
best arm is that of the runner-up.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr

from .. import checks
from ..schedules import ROUNDING, float_or_array, gaps, variance_stages
from .allocation import greedy_allocation
from .arguments import for_each, problem

MOST_ARMS = 8  # of the exact probability, which goes through all sets of arms
NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)


def variance_complexity(means: ArrayLike, variances: ArrayLike) -> float:
    """Return H = Σ_j σ_j²/Δ_j², where the best arm's gap is that of the runner-up.

    With n pulls, the best shares for known means have an error exponent between n/(4H) and n/(2H).

    Parameters
    ----------
    means, variances : array_like, shape (K,)
        The arms: a unique best one, variances not all 0.

    Examples
    --------
    >>> variance_complexity([0.0, -0.5, -0.5, -5.0], [1.0, 1.0, 1.0, 100.0])
    16.0
    """
    means, variances = problem(means, variances)
    return float(((np.sqrt(variances) / gaps(means)) ** 2).sum())


def hard_problems(variances: ArrayLike, scale: float = 1.0) -> np.ndarray:
    """Return the means of K problems with these variances that no policy masters all, one per row.

    Let arm i have the i-th smallest variance, and V_i the sum of the i smallest. In the first problem arm 1 is best,
    and arm i falls short of it by `scale` V_i; in problem i it leads by as much instead.

    Parameters
    ----------
    variances : array_like, shape (K,)
        Reward variances, all above 0.
    scale : float
        The unit of the gaps, above 0.

    Examples
    --------
    >>> hard_problems([2.0, 1.0, 3.0])
    array([[-3.,  0., -6.],
           [ 3.,  0., -6.],
           [-3.,  0.,  6.]])
    """
    variances, scale = _positive(variances), checks.positive("scale", scale)
    order = np.argsort(variances, kind="stable")
    sums = scale * variances[order].cumsum()
    sums[0] = 0.0
    ordered = np.where(np.eye(variances.size, dtype=bool), sums, -sums)
    means = np.empty_like(ordered)
    means[:, order] = ordered + 0.0  # no negative zero
    return means


def variance_lower_bound(variances: ArrayLike, complexity: float, budget: ArrayLike) -> float | np.ndarray:
    """Return (1/4) exp[-4n/(hH)], which is at least (1/4) exp[-6n/(ΛH)].

    Every policy errs with at least this probability on one of the problems of `hard_problems`, H being that problem's
    `variance_complexity`; whatever the scale, and even if the policy knows the variances and the list. Here h is the
    sum of σ_i²/(V_i² H_i) over i >= 2, H_i the complexity of problem i at scale 1; it is at least 2Λ/3.

    Parameters
    ----------
    variances : array_like, shape (K,)
        Variances of Gaussian rewards, all above 0.
    complexity : float
        H, above 0.
    budget : int or array of int
        n.

    Examples
    --------
    >>> variances = [1.0, 2.0, 4.0, 8.0]
    >>> H = variance_complexity(hard_problems(variances, scale=0.1)[1], variances)
    >>> round(H, 2), round(variance_lower_bound(variances, H, 100), 4)
    (39.8, 0.0009)
    """
    variances, complexity = _positive(variances), checks.positive("complexity", complexity)
    ordered = np.sort(variances)
    shifts = np.append(0.0, ordered.cumsum()[1:])  # of the means, by which the problems differ
    parts = np.divide(shifts[1:, None], shifts[1:, None] + shifts)
    np.fill_diagonal(parts[:, 1:], 1.0)  # parts² σ² adds up to V_i² H_i
    hardness = float((ordered[1:] / (parts**2 * ordered).sum(axis=1)).sum())
    return float_or_array(np.exp(-4 * checks.integers("budget", budget, 1) / (hardness * complexity)) / 4)


def halvevar_bound(means: ArrayLike, variances: ArrayLike, budget: ArrayLike) -> float | np.ndarray:
    """Return e R max(E, K-1) exp(-E/2), at most 1, with E = (⌊n/R⌋ - K + 1)/(4H): a bound on HalveVar's mistakes.

    As R <= 2Λ, the exponent is about n/(16ΛH). For fresh samples, any K and any variances; if n < RK nothing is
    claimed, and the value is 1.

    Parameters
    ----------
    means, variances : array_like, shape (K,)
        The arms: a unique best one, variances (or sub-Gaussian proxies) not all 0.
    budget : int or array of int
        n, at least 1.

    Examples
    --------
    >>> f"{halvevar_bound([0.0, -0.5, -0.5, -5.0], [1.0, 1.0, 1.0, 100.0], 10_000):.1e}"
    '2.1e-09'
    """
    means, variances = problem(means, variances)
    stages, size = variance_stages(variances), means.size
    share = checks.integers("budget", budget, 1) // stages
    with np.errstate(divide="ignore"):
        exponent = np.maximum(1, share - size + 1) / (4 * np.float64(variance_complexity(means, variances)))
    exponent = np.minimum(exponent, 1e4)  # the bound is 0 in any case
    bound = math.e * stages * np.maximum(exponent, size - 1) * np.exp(-exponent / 2)
    return float_or_array(np.minimum(1.0, np.where(share >= size, bound, 1.0)))


def halvevar_mistakes(means: ArrayLike, variances: ArrayLike, budget: ArrayLike) -> float | np.ndarray:
    """Return the exact probability that HalveVar errs on Gaussian arms, pulled in the order given; at most 8 arms.

    Within a stage the counts are fixed. A set is what is kept if its arms beat the one that would exceed half of the
    variance, and that one beats the others: one integral. They are summed as logarithms, so that 1e-300 is no less
    exact than 0.1.

    Parameters
    ----------
    means, variances : array_like, shape (K,)
        The arms: a unique best one, variances not all 0.
    budget : int or array of int
        n, at least K.

    Examples
    --------
    >>> round(halvevar_mistakes([0.0, -0.5, -0.5, -5.0], [1.0, 1.0, 1.0, 100.0], 400), 6)
    0.00084
    """
    means, variances = problem(means, variances)
    if means.size > MOST_ARMS:
        raise ValueError(f"means has {means.size} entries; the exact probability is for at most {MOST_ARMS} arms")
    best = int(means.argmax())

    @cache
    def log_mistake(arms: tuple[int, ...], left: int) -> float:
        """Logarithm of the probability to err from here on, the best arm being among these."""
        chosen = np.array(arms)
        stages = min(variance_stages(variances[chosen]), left // len(arms))
        ranking = _Ranking(means[chosen], variances[chosen], left // stages)
        if stages == 1:  # the highest mean is the answer
            return ranking.log_any(ranking.log_above((), p) for p, arm in enumerate(arms) if arm != best)
        terms = []
        for kept, log_probability in ranking.outcomes():
            survivors = tuple(arms[p] for p in kept)
            if best not in survivors:
                terms.append(log_probability)
            elif len(survivors) > 1:
                terms.append(log_probability + log_mistake(survivors, left - left // stages))
        return ranking.log_any(terms)

    budgets = checks.integers("budget", budget, means.size)
    return for_each(budgets, lambda n: min(1.0, math.exp(log_mistake(tuple(range(means.size)), n))))


class _Ranking:
    """The order of Gaussian arms by their estimated means at the end of a stage."""

    def __init__(self, means: np.ndarray, variances: np.ndarray, pulls: int):
        self.means, self.variances = means, variances
        self.deviations = np.sqrt(variances / greedy_allocation(variances, pulls))
        steps = np.unique((means + self.deviations * np.linspace(-40, 40, 121)[:, None]).ravel())
        half = np.diff(steps)[:, None] / 2
        x = (steps[:-1, None] + half * (1 + NODES)).ravel()
        z = self._standard(x, np.zeros(x.size, bool))
        with np.errstate(divide="ignore", invalid="ignore"):
            density = -0.5 * z**2 - np.log(self.deviations * math.sqrt(2 * math.pi))[:, None]
        self._density = density + np.log((half * WEIGHTS).ravel())  # with the weights of the integral
        self._below, self._above = log_ndtr(z), log_ndtr(-z)

    def _standard(self, x: np.ndarray, last: np.ndarray) -> np.ndarray:
        """Return (x - mean)/deviation for each arm; without noise x is on one side or, if tied, as `last` says."""
        difference = x - self.means[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            z = difference / self.deviations[:, None]
        return np.where(np.isnan(z), np.where(last, -np.inf, np.inf), z)

    def log_above(self, above: tuple[int, ...], arm: int) -> float:
        """Return log P(these arms, in any order, then this one, then the others)."""
        below = [p for p in range(self.means.size) if p != arm and p not in above]
        if self.deviations[arm] == 0:
            earlier = np.arange(self.means.size)[:, None] < arm  # ties go to the lowest position
            z = self._standard(self.means[arm : arm + 1], earlier)[:, 0]
            return float(log_ndtr(z[below]).sum() + log_ndtr(-z[list(above)]).sum())
        terms = self._density[arm] + self._below[below].sum(axis=0) + self._above[list(above)].sum(axis=0)
        return self.log_any(terms)

    def outcomes(self) -> Iterator[tuple[tuple[int, ...], float]]:
        """Yield what may be kept, the longest prefix with at most half of the variance, and its log-probability."""
        half, size = self.variances.sum() / 2 * ROUNDING, self.means.size
        for kept in (set_ for k in range(size) for set_ in combinations(range(size), k)):
            held = self.variances[list(kept)].sum()
            for arm in range(size):
                if arm not in kept and held <= half < held + self.variances[arm]:
                    yield kept or (arm,), self.log_above(kept, arm)

    @staticmethod
    def log_any(terms: Any) -> float:
        """Return the logarithm of a sum, given the logarithms of its terms.

        It has the bits of SciPy's `logsumexp`, which takes several times as long.
        """
        terms = np.asarray(terms if isinstance(terms, np.ndarray) else list(terms), float)
        largest = terms.max(initial=-math.inf)
        if largest == -math.inf:
            return -math.inf
        top = terms == largest
        others = np.exp(np.where(top, -math.inf, terms) - largest).sum()
        return float(np.log1p(others / top.sum()) + np.log(float(top.sum())) + largest)


def _positive(variances: ArrayLike) -> np.ndarray:
    """Return variances that are all above 0."""
    checked = checks.arms("variances", variances, least=0)
    if not checked.all():
        raise ValueError(f"variances is {checks.shown(checked.tolist())}; the lower bound needs all of them above 0")
    return checked
