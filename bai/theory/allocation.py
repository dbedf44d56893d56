"""How SHVar shares a stage's budget among arms with known variances."""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..schedules import float_or_array
from .arguments import for_each, noisy


def lemma_1_allocation(variances: ArrayLike, budget: ArrayLike) -> np.ndarray:
    """Return the ideal numbers of pulls λ_i = n σ_i²/Σ_j σ_j² (Lemma 1).

    If all of them are positive integers, SHVar pulls arm i exactly λ_i times. In general, with p_i =
    σ_i²/Σσ², -(K-1) p_i <= N_i - λ_i <= 1 - p_i.

    Parameters
    ----------
    variances : array_like, shape (K,)
        Reward variances, not all 0.
    budget : int or array of int
        n; an array of shape B gives a result of shape B + (K,).

    Examples
    --------
    >>> lemma_1_allocation([1.0, 1.0, 2.0], 100)
    array([25., 25., 50.])
    """
    variances = noisy(variances)
    return checks.integers("budget", budget, 1)[..., None] * variances / variances.sum()


def neyman_allocation(variances: ArrayLike, budget: ArrayLike) -> np.ndarray:
    """Return n σ_i/Σ_j σ_j, Neyman's allocation, for comparison with Lemma 1.

    It minimises the sum of the variances of the estimated means, Σ_i σ_i²/N_i. With two arms that is the variance
    of their difference, which SHVar's allocation does not minimise.

    Parameters
    ----------
    variances : array_like, shape (K,)
        Reward variances, not all 0.
    budget : int or array of int
        n; an array of shape B gives a result of shape B + (K,).

    Examples
    --------
    >>> neyman_allocation([1.0, 9.0], 100)
    array([25., 75.])
    """
    return lemma_1_allocation(np.sqrt(noisy(variances)), budget)


def greedy_allocation(variances: ArrayLike, budget: int) -> np.ndarray:
    """Return how often SHVar's rule argmax_i σ_i²/N_i pulls each arm (Algorithm 3), without playing it.

    An arm with N_i = 0 has an infinite index, and ties go to the lowest position, so every arm is pulled once
    first. The result is exactly that of the loop over the rounds, in O(K log K) whatever the budget.

    Parameters
    ----------
    variances : array_like, shape (K,)
        Reward variances; zeros are allowed.
    budget : int
        n, at least K.

    Notes
    -----
    The pull after the c-th one of arm i has priority σ_i²/c, and the greedy rule takes the pulls in the
    order of priority: an apportionment by Adams' divisor method. All pulls with a priority above any
    level θ therefore come first. With θ just above Σσ²/(n-K) there are at most n of them, and about K
    remain to be made one by one.

    Examples
    --------
    >>> greedy_allocation([1.0, 1.0, 2.0], 10)
    array([3, 3, 4])
    """
    variances = checks.arms("variances", variances, least=0)
    size = variances.size
    budget = checks.integer("budget", budget, size)
    pulls = np.ones(size, dtype=np.int64)
    if budget == size:
        return pulls
    level = variances.sum() / (budget - size) * (1 + 1e-9)
    if level > 0:
        above = np.floor(variances / level).astype(np.int64) + 1
        for _ in range(2):  # division rounds, so the priorities themselves settle the count
            above -= (above > 0) & (variances / np.maximum(above, 1) <= level)
        pulls += above
    queue = [(-variances[arm] / pulls[arm], arm) for arm in range(size)]
    heapq.heapify(queue)
    for _ in range(budget - int(pulls.sum())):
        arm = queue[0][1]
        pulls[arm] += 1
        heapq.heapreplace(queue, (-variances[arm] / pulls[arm], arm))
    return pulls


def shvar_gain(variances: ArrayLike, best: int) -> float:
    """Return how much SHVar shrinks the variance of μ̂_i - μ̂_1, averaged over the rivals i, against SH.

    With k arms and S = Σσ², the pair (1, i) has variance (σ_1² + σ_i²) k/b under SH and 2S/b under SHVar
    with an ideal allocation. The ratio of the averages is k (σ_1² + (S - σ_1²)/(k-1))/(2S): above 1 if
    and only if k > 2 and the best arm is noisier than the average arm, σ_1² > S/k; equal to 1 for k = 2.

    Parameters
    ----------
    variances : array_like, shape (k,)
        Reward variances, not all 0.
    best : int
        Position of the best arm.

    Examples
    --------
    >>> shvar_gain([4.0, 1.0, 1.0, 2.0], best=0), shvar_gain([4.0, 1.0, 1.0, 2.0], best=1)
    (1.3333333333333333, 0.8333333333333334)
    """
    variances = noisy(variances)
    best = checks.integer("best", best, 0)
    if best >= variances.size:
        raise ValueError(f"best is {best}; it must be below the number of arms, {variances.size}")
    total, size, own = variances.sum(), variances.size, variances[best]
    return float(size * (own + (total - own) / (size - 1)) / (2 * total))


def lemma_4_pulls(variances: ArrayLike, stage_budget: ArrayLike) -> np.ndarray:
    """Return (σ_i²/σ_max²)(b/k - 1), the least number of pulls in SHVar (Lemma 4, *printed*, and true).

    Parameters
    ----------
    variances : array_like, shape (k,)
        Reward variances of the stage's arms, not all 0.
    stage_budget : int or array of int
        b; an array of shape B gives a result of shape B + (k,).

    Examples
    --------
    >>> lemma_4_pulls([1.0, 4.0], 100)
    array([12.25, 49.  ])
    """
    variances = noisy(variances)
    share = checks.integers("stage_budget", stage_budget, 1)[..., None] / variances.size
    return variances / variances.max() * (share - 1)


def lemma_b_rho(variances: ArrayLike, stage_budget: ArrayLike) -> float | np.ndarray:
    """Return max{⌊b/k⌋/σ_max², (b-k+1)/Σσ²}: SHVar pulls N_i >= ρ σ_i² times, for this ρ (Lemma B).

    It sharpens Lemma 4 and, unlike Lemma 1, needs no integral allocation.

    Parameters
    ----------
    variances : array_like, shape (k,)
        Reward variances of the stage's arms, not all 0.
    stage_budget : int or array of int
        b, at least k.

    Examples
    --------
    >>> lemma_b_rho([1.0, 4.0], 100)
    19.8
    """
    variances = noisy(variances)
    budget = checks.integers("stage_budget", stage_budget, variances.size)
    even, proportional = budget // variances.size, budget - variances.size + 1
    return float_or_array(np.maximum(even / variances.max(), proportional / variances.sum()))


def greedy_rho(variances: ArrayLike, stage_budget: ArrayLike) -> float | np.ndarray:
    """Return ρ = min_i N_i/σ_i² of SHVar's allocation, the largest that any allocation reaches (Lemma B).

    It decreases in every variance. An arm with variance 0 never attains the minimum.

    Parameters
    ----------
    variances : array_like, shape (k,)
        Reward variances of the stage's arms, not all 0.
    stage_budget : int or array of int
        b, at least k.

    Examples
    --------
    >>> greedy_rho([1.0, 4.0], 100)
    20.0
    """
    variances = noisy(variances)
    budget = checks.integers("stage_budget", stage_budget, variances.size)
    return for_each(budget, lambda b: 1 / (variances / greedy_allocation(variances, b)).max())
