"""The paper's mathematics: one function per statement, as printed and as corrected.

Throughout, `means` and `variances` list the K arms in any order, the best arm is the one with the highest
mean, and Δ_i is how far arm i falls short of it. A budget n is shared by m = ⌈log₂ K⌉ stages of b = ⌊n/m⌋
pulls; stage s holds k_s = ⌈K/2^(s-1)⌉ arms. L stands for log(1/δ), Q for the upper tail of the standard
normal.

Budgets may be integers or arrays of integers: one integer gives a float, an array gives an array.
Formulas marked *printed* are returned as they stand, above 1 if so they come out. Corrected bounds are
probabilities and never exceed 1. A bound on mistakes needs a unique best arm; complexities of tied arms
are inf.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtr, chdtrc, ndtr

from . import checks

# --------------------------------------------------------------------------- arguments and results


def _arms(name: str, value: ArrayLike, least: float = -math.inf, ndim: tuple[int, ...] = (1,)) -> np.ndarray:
    arms = checks.array(name, value, ndim, least)
    if arms.shape[-1] < 2:
        raise ValueError(f"{name} has shape {arms.shape}; its last axis must hold at least 2 arms")
    return arms


def _variances(value: ArrayLike) -> np.ndarray:
    variances = _arms("variances", value, least=0)
    if not variances.any():
        raise ValueError(f"variances is {variances.tolist()}; at least one arm must have a positive variance")
    return variances


def _same_shape(means: np.ndarray, variances: np.ndarray) -> None:
    if means.shape != variances.shape:
        raise ValueError(f"variances has shape {variances.shape}; it must be that of means, {means.shape}")


def _problem(means: ArrayLike, variances: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    means, variances = _arms("means", means), _variances(variances)
    _same_shape(means, variances)
    _least_gap(means)
    return means, variances


def _least_gap(means: np.ndarray) -> float:
    least = float(gaps(means).min())
    if least == 0:
        raise ValueError(f"means has {means.max()} more than once; a mistake needs a unique best arm")
    return least


def _integers(name: str, value: ArrayLike, least: int, axes: int = 1) -> np.ndarray:
    given = np.asarray(value)
    if given.ndim > axes:
        raise ValueError(f"{name} has shape {given.shape}; it must have at most {axes} axes")
    if given.dtype.kind in "iu" and given.min(initial=least) >= least:
        return given.astype(np.int64)
    whole = [checks.integer(name, entry, least) for entry in given.ravel().tolist()]
    return np.array(whole, dtype=np.int64).reshape(given.shape)


def _log_inverse(delta: float) -> float:
    """Return L = log(1/δ)."""
    return -math.log(checks.number("delta", delta, 0, 1))


def _result(values: np.ndarray) -> float | np.ndarray:
    return float(values) if np.ndim(values) == 0 else values


def _for_each(budgets: np.ndarray, bound: Callable[[int], float]) -> float | np.ndarray:
    values = [bound(budget) for budget in budgets.ravel().tolist()]
    return _result(np.array(values, dtype=float).reshape(budgets.shape))


# --------------------------------------------------------------------------- stages and complexities


def stages(n_arms: int) -> int:
    """Return the number of stages of sequential halving, m = ⌈log₂ K⌉ (Algorithm 1, line 2).

    Parameters
    ----------
    n_arms : int
        K, at least 2.

    Examples
    --------
    >>> [stages(n_arms) for n_arms in (2, 3, 64, 65)]
    [1, 2, 6, 7]
    """
    return (checks.integer("n_arms", n_arms, 2) - 1).bit_length()


def stage_sizes(n_arms: int) -> list[int]:
    """Return how many arms each stage starts with: k_1 = K and k_{s+1} = ⌈k_s/2⌉ (Algorithm 1, line 12).

    Parameters
    ----------
    n_arms : int
        K, at least 2.

    Examples
    --------
    >>> stage_sizes(11)
    [11, 6, 3, 2]
    """
    sizes = [checks.integer("n_arms", n_arms, 2)]
    while sizes[-1] > 2:
        sizes.append(-(-sizes[-1] // 2))
    return sizes


def gaps(means: ArrayLike) -> np.ndarray:
    """Return the gaps ``Δ_i = |μ_i - max_{j≠i} μ_j|``, along the last axis.

    For a suboptimal arm this is its distance to the best arm; for the best arm, its distance to the
    runner-up, as in GapE. If two arms share the highest mean, both have gap 0.

    Parameters
    ----------
    means : array_like, shape (K,) or (R, K)
        Mean rewards.

    Examples
    --------
    >>> gaps([0.25, 1.0, 0.5])
    array([0.75, 0.5 , 0.5 ])
    """
    means = _arms("means", means, ndim=(1, 2))
    top = np.partition(means, -2, axis=-1)[..., -2:]
    result = top[..., 1:] - means
    np.put_along_axis(result, means.argmax(axis=-1)[..., None], top[..., 1:] - top[..., :1], axis=-1)
    return result


def h2(means: ArrayLike) -> float:
    """Return H₂ = max_{i≥2} i/Δ_i², arms numbered by decreasing mean (equation 2).

    Two best arms give inf.

    Parameters
    ----------
    means : array_like, shape (K,)
        Mean rewards.

    Examples
    --------
    >>> h2([1.0, 0.5, 0.0])
    8.0
    """
    means = np.sort(_arms("means", means))[::-1]
    with np.errstate(divide="ignore"):
        return float((np.arange(2, means.size + 1) / (means[0] - means[1:]) ** 2).max())


def reward_bound(means: ArrayLike, variances: ArrayLike, budget: ArrayLike) -> float | np.ndarray:
    """Return b = max_i (μ_i + σ_i √log n), which the paper takes as the range of the rewards (Section 5).

    It is not a high-probability bound on n draws, which needs √(2 log n).

    Parameters
    ----------
    means, variances : array_like, shape (K,) or (R, K)
        The arms of one problem, or of R problems.
    budget : int or array of int
        n, at least 1; an array only with one problem.

    Examples
    --------
    >>> round(reward_bound([1.0, 0.5], [0.25, 1.0], 1000), 3)
    3.128
    """
    means = _arms("means", means, ndim=(1, 2))
    variances = _arms("variances", variances, least=0, ndim=(1, 2))
    _same_shape(means, variances)
    budget = _integers("budget", budget, 1)
    if budget.ndim and means.ndim == 2:
        raise ValueError(f"budget has shape {budget.shape}; with several problems it must be one integer")
    return _result((means + np.sqrt(variances * np.log(budget)[..., None])).max(axis=-1))


def _reward_bounds(bound: ArrayLike) -> np.ndarray:
    bound = checks.array("bound", bound, (0, 1), least=0)
    if not bound.all():
        raise ValueError(f"bound is {bound.tolist()}; the largest reward must be above 0")
    return bound[..., None]


def gape_complexity(means: ArrayLike, bound: ArrayLike) -> float | np.ndarray:
    """Return H = Σ_i b²/Δ_i², the complexity that GapE is tuned with.

    Parameters
    ----------
    means : array_like, shape (K,) or (R, K)
        Mean rewards. Two best arms give inf.
    bound : float or array_like, shape (R,)
        b, the largest reward, above 0.

    Examples
    --------
    >>> gape_complexity([1.0, 0.5, 0.0], bound=2.0)
    36.0
    """
    with np.errstate(divide="ignore"):
        return _result((_reward_bounds(bound) ** 2 / gaps(means) ** 2).sum(axis=-1))


def gapev_complexity(means: ArrayLike, variances: ArrayLike, bound: ArrayLike) -> float | np.ndarray:
    """Return H_v = Σ_i (σ_i + √(σ_i² + (16/3) b Δ_i))²/Δ_i², the complexity that GapE-V is tuned with.

    Parameters
    ----------
    means, variances : array_like, shape (K,) or (R, K)
        The arms. Two best arms give inf.
    bound : float or array_like, shape (R,)
        b, the largest reward, above 0.

    Examples
    --------
    >>> gapev_complexity([3.0, 0.0], [1.0, 1.0], bound=0.5)
    3.5555555555555554
    """
    gap = gaps(means)
    variances = _arms("variances", variances, least=0, ndim=(1, 2))
    _same_shape(gap, variances)
    width = np.sqrt(variances) + np.sqrt(variances + 16 / 3 * _reward_bounds(bound) * gap)
    # A noiseless tied arm would be 0/0; the limit of its term, as the gap closes, is infinite.
    terms = np.divide(width**2, gap**2, out=np.full(width.shape, math.inf), where=gap > 0)
    return _result(terms.sum(axis=-1))


def sh_bound(means: ArrayLike, budget: ArrayLike) -> float | np.ndarray:
    """Return 3 log₂K exp[-n/(8 H₂ log₂K)], the bound for SH on rewards in [0, 1] (equation 1, *printed*).

    Parameters
    ----------
    means : array_like, shape (K,)
        Mean rewards with a unique best arm.
    budget : int or array of int
        n, at least 1.

    Examples
    --------
    >>> round(sh_bound([1.0, 0.5, 0.5, 0.5], 1000), 5)
    0.12069
    """
    means = _arms("means", means)
    _least_gap(means)
    log2_arms = math.log2(means.size)
    return _result(3 * log2_arms * np.exp(-_integers("budget", budget, 1) / (8 * h2(means) * log2_arms)))


# --------------------------------------------------------------------------- allocations for known variances


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
    variances = _variances(variances)
    return _integers("budget", budget, 1)[..., None] * variances / variances.sum()


def neyman_allocation(variances: ArrayLike, budget: ArrayLike) -> np.ndarray:
    """Return n σ_i/Σ_j σ_j, Neyman's allocation, for comparison with Lemma 1.

    It minimises the sum of the variances of the estimated means, Σ_i σ_i²/N_i; so with two arms it
    minimises the variance of their difference, which SHVar's does not.

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
    return lemma_1_allocation(np.sqrt(_variances(variances)), budget)


def greedy_allocation(variances: ArrayLike, budget: int) -> np.ndarray:
    """Return how often SHVar's rule argmax_i σ_i²/N_i pulls each arm (Algorithm 3), without playing it.

    An arm with N_i = 0 has an infinite index, and ties go to the lowest position; so every arm is pulled once
    first. The result is that of the loop over the rounds, bit for bit, in O(K log K) whatever the budget.

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
    variances = _arms("variances", variances, least=0)
    size = variances.size
    budget = checks.integer("budget", budget, size)
    pulls = np.ones(size, dtype=np.int64)
    if budget == size:
        return pulls
    level = variances.sum() / (budget - size) * (1 + 1e-9)
    if level > 0:
        above = np.floor(variances / level).astype(np.int64) + 1
        for _ in range(2):  # division rounds: settle the count with the priorities themselves
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
    variances = _variances(variances)
    best = checks.integer("best", best, 0)
    if best >= variances.size:
        raise ValueError(f"best is {best}; it must be below the number of arms, {variances.size}")
    total, size, own = variances.sum(), variances.size, variances[best]
    return float(size * (own + (total - own) / (size - 1)) / (2 * total))


# --------------------------------------------------------------------------- estimated variances


def lemma_2_thresholds(degrees: ArrayLike, delta: float) -> tuple[float | np.ndarray, float | np.ndarray]:
    """Return ν - 2√(νL) and ν + 2√(νL) + 2L: chi-square thresholds, each crossed with probability at most δ.

    Lemma 2, read as a statement about one fixed count: ν = N - 1 and ν σ̂²/σ² is chi-square with ν degrees of
    freedom. It does not apply at a fixed round, where N depends on the rewards.

    Parameters
    ----------
    degrees : int or array of int
        ν, at least 1.
    delta : float
        δ in (0, 1).

    Examples
    --------
    >>> lower, upper = lemma_2_thresholds(100, 0.05)
    >>> round(lower, 3), round(upper, 3)
    (65.384, 140.608)
    """
    degrees, log_delta = _integers("degrees", degrees, 1), _log_inverse(delta)
    root = 2 * np.sqrt(degrees * log_delta)
    return _result(degrees - root), _result(degrees + root + 2 * log_delta)


def warmup_pulls(delta: float) -> int:
    """Return w = ⌊4L⌋ + 2, the smallest number of pulls with w - 1 > 4L (Algorithm 4, corrected).

    The printed warm-up, 4L + 1 pulls per arm, leaves some arms with one pull fewer, and U negative, or
    divides by zero if 4L is an integer.

    Parameters
    ----------
    delta : float
        δ in (0, 1).

    Examples
    --------
    >>> warmup_pulls(0.05)
    13
    """
    four_l = 4 * _log_inverse(delta)
    # If 4L is an integer but for rounding, w - 1 equal to it would leave U a denominator of rounding noise.
    return math.floor(four_l * (1 + 1e-12)) + 2


def variance_ucb(sample_variance: ArrayLike, pulls: ArrayLike, delta: float) -> float | np.ndarray:
    """Return U = σ̂²/(1 - 2√(L/(N-1))), the upper confidence bound on a Gaussian arm's variance (equation 7).

    Parameters
    ----------
    sample_variance : float or array_like
        σ̂², with divisor N - 1.
    pulls : int or array of int
        N, with N - 1 > 4L: at least `warmup_pulls(delta)`.
    delta : float
        δ in (0, 1). U grows as δ shrinks.

    Examples
    --------
    >>> round(variance_ucb(1.0, 101, 0.05), 4)
    1.5294
    """
    sample_variance = checks.array("sample_variance", sample_variance, (0, 1, 2), least=0)
    pulls = _integers("pulls", pulls, 1, axes=2)
    least = warmup_pulls(delta)
    if (pulls < least).any():
        raise ValueError(
            f"pulls is {pulls.min()}; at delta={delta} the bound needs pulls - 1 > 4 log(1/delta), "
            f"so at least {least} pulls"
        )
    return _result(sample_variance / (1 - 2 * np.sqrt(_log_inverse(delta) / (pulls - 1))))


# --------------------------------------------------------------------------- lemmas on one stage


def lemma_3_bound(gap: float, variances: ArrayLike, stage_budget: ArrayLike) -> float | np.ndarray:
    """Return exp[-b Δ²/(4 Σσ²)], the bound on P(μ̂_i >= μ̂_1) in one stage of SHVar (Lemma 3, *printed*).

    It holds if the ideal allocation of Lemma 1 is integral.

    Parameters
    ----------
    gap : float
        Δ_i, above 0.
    variances : array_like, shape (k,)
        Reward variances of the stage's arms, not all 0.
    stage_budget : int or array of int
        b.

    Examples
    --------
    >>> round(lemma_3_bound(0.5, [1.0, 1.0], 100), 5)
    0.04394
    """
    gap, total = checks.number("gap", gap, above=0), _variances(variances).sum()
    return _result(np.exp(-_integers("stage_budget", stage_budget, 1) * gap**2 / (4 * total)))


def lemma_4_pulls(variances: ArrayLike, stage_budget: ArrayLike) -> np.ndarray:
    """Return (σ_i²/σ_max²)(b/k - 1), below which no arm of SHVar stays (Lemma 4, *printed*, and true).

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
    variances = _variances(variances)
    share = _integers("stage_budget", stage_budget, 1)[..., None] / variances.size
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
    variances = _variances(variances)
    budget = _integers("stage_budget", stage_budget, variances.size)
    even, proportional = budget // variances.size, budget - variances.size + 1
    return _result(np.maximum(even / variances.max(), proportional / variances.sum()))


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
    variances = _variances(variances)
    budget = _integers("stage_budget", stage_budget, variances.size)
    return _for_each(budget, lambda b: 1 / (variances / greedy_allocation(variances, b)).max())


def _alpha(x: ArrayLike) -> ArrayLike:
    root = 2 * np.sqrt(x)
    return (1 - root) / (1 + root + 2 * x)


def lemma_5_alpha(n_arms: int, stage_budget: ArrayLike, delta: float) -> float | np.ndarray:
    """Return α(k, b, δ) = (1 - 2√x)/(1 + 2√x + 2x) with x = L/(b/k - 2) (Lemma 5, *printed*).

    It is negative, and the lemma empty, unless b/k > 4L + 2.

    Parameters
    ----------
    n_arms : int
        k, at least 2.
    stage_budget : int or array of int
        b, above 2k.
    delta : float
        δ in (0, 1).

    Examples
    --------
    >>> round(lemma_5_alpha(2, 10_000, 0.05), 4)
    0.9056
    """
    size = checks.integer("n_arms", n_arms, 2)
    share = _integers("stage_budget", stage_budget, 2 * size + 1) / size
    return _result(_alpha(_log_inverse(delta) / (share - 2)))


def lemma_5_pulls(variances: ArrayLike, stage_budget: ArrayLike, delta: float) -> np.ndarray:
    """Return (σ_i²/σ_max²) α(k, b, δ) (b/k - 1), the least number of pulls in SHAdaVar (Lemma 5, *printed*).

    Each of the confidence bounds it uses can fail, for any arm and count: `shadavar_failure` says how often.

    Parameters
    ----------
    variances : array_like, shape (k,)
        Reward variances of the stage's arms, not all 0.
    stage_budget : int or array of int
        b, above 2k; an array of shape B gives a result of shape B + (k,).
    delta : float
        δ in (0, 1).

    Examples
    --------
    >>> lemma_5_pulls([1.0, 4.0], 10_000, 0.05).round(1)
    array([1131.8, 4527.1])
    """
    variances = _variances(variances)
    alpha = np.asarray(lemma_5_alpha(variances.size, stage_budget, delta))[..., None]
    return alpha * lemma_4_pulls(variances, stage_budget)


# --------------------------------------------------------------------------- theorems, printed and corrected


def _stage_budgets(budget: ArrayLike, n_arms: int) -> np.ndarray:
    """Return ⌊n/m⌋, checked to be at least K: one pull per arm and stage."""
    return _integers("budget", budget, n_arms * stages(n_arms)) // stages(n_arms)


def theorem_1_bound(
    means: ArrayLike, variances: ArrayLike, budget: ArrayLike, printed: bool = False
) -> float | np.ndarray:
    """Return Theorem 1's bound on SHVar's probability of a mistake.

    Corrected: (2m-1) exp[-(⌊n/m⌋ - K + 1) Δ_min²/(4 Σσ²)], at most 1; for any K, any variances, n >= Km.
    Printed: 2 log₂K exp[-n Δ_min²/(4 log₂K Σσ²)]; it can fail unless K is a power of two
    and the allocations are integral.

    Parameters
    ----------
    means, variances : array_like, shape (K,)
        The arms: a unique best one, variances (or sub-Gaussian proxies) not all 0.
    budget : int or array of int
        n.
    printed : bool
        Return the formula in the paper.

    Examples
    --------
    >>> round(theorem_1_bound([1.0, 0.5, 0.5, 0.0], [1.0, 1.0, 0.1, 0.1], 200), 4)
    0.1907
    >>> round(theorem_1_bound([1.0, 0.5, 0.5, 0.0], [1.0, 1.0, 0.1, 0.1], 200, printed=True), 4)
    0.2335
    """
    means, variances = _problem(means, variances)
    rate = _least_gap(means) ** 2 / (4 * variances.sum())
    if checks.flag("printed", printed):
        log2_arms = math.log2(means.size)
        return _result(2 * log2_arms * np.exp(-_integers("budget", budget, 1) / log2_arms * rate))
    effective = _stage_budgets(budget, means.size) - means.size + 1
    return _result(np.minimum(1.0, (2 * stages(means.size) - 1) * np.exp(-effective * rate)))


def theorem_2_bound(
    means: ArrayLike, variances: ArrayLike, budget: ArrayLike, printed: bool = False
) -> float | np.ndarray:
    """Return Theorem 2's bound on SHVar's probability of a mistake.

    Corrected: (2m-1) exp[-⌊n/(mK)⌋ Δ_min²/(4 σ_max²)], at most 1; for any K, any variances, n >= Km.
    Printed: 2 log₂K exp[-(n - K log K) Δ_min²/(4 σ_max² K log₂K)], where its proof gives K log₂K for K log K.

    Parameters
    ----------
    means, variances : array_like, shape (K,)
        The arms: a unique best one, variances (or sub-Gaussian proxies) not all 0.
    budget : int or array of int
        n.
    printed : bool
        Return the formula in the paper.

    Examples
    --------
    >>> round(theorem_2_bound([1.0, 0.5, 0.5, 0.0], [1.0, 1.0, 0.1, 0.1], 400), 4)
    0.1318
    >>> round(theorem_2_bound([1.0, 0.5, 0.5, 0.0], [1.0, 1.0, 0.1, 0.1], 400, printed=True), 4)
    0.1835
    """
    means, variances = _problem(means, variances)
    if checks.flag("printed", printed):
        return _printed_2_or_3(means, variances, _integers("budget", budget, 1), alpha=1.0)
    rate = _least_gap(means) ** 2 / (4 * variances.max())
    each = _stage_budgets(budget, means.size) // means.size
    return _result(np.minimum(1.0, (2 * stages(means.size) - 1) * np.exp(-each * rate)))


def _printed_2_or_3(
    means: np.ndarray, variances: np.ndarray, budget: np.ndarray, alpha: ArrayLike
) -> float | np.ndarray:
    size, log2_arms = means.size, math.log2(means.size)
    rate = _least_gap(means) ** 2 / (4 * variances.max() * size * log2_arms)
    return _result(2 * log2_arms * np.exp(-alpha * (budget - size * math.log(size)) * rate))


def theorem_3_bound(
    means: ArrayLike, variances: ArrayLike, budget: ArrayLike, delta: float, printed: bool = False
) -> float | np.ndarray:
    """Return Theorem 3's bound on SHAdaVar's probability of a mistake, for Gaussian rewards.

    Corrected: (m - 1/2) exp[-α ⌊n/(mK)⌋ Δ_min²/(4 σ_max²)] + n δ, at most 1, with α = (1 - 2√x)/(1 + 2√x
    + 2x) and x = L/(⌊n/(mK)⌋ - 1); for any K, if ⌊n/m⌋ >= K w with w = `warmup_pulls(delta)`. Where that
    fails nothing is claimed, and the value is 1.

    Printed: 2 log₂K exp[-α (n - K log K) Δ_min²/(4 σ_max² K log₂K)] with α = α(K, n, δ/(Kn)) of Lemma 5,
    here for every n > 2K; the paper claims it under `theorem_3_condition`. It is false, for want of the
    term in δ.

    Parameters
    ----------
    means, variances : array_like, shape (K,)
        The arms: a unique best one, variances not all 0.
    budget : int or array of int
        n.
    delta : float
        δ in (0, 1).
    printed : bool
        Return the formula in the paper.

    Examples
    --------
    >>> round(theorem_3_bound([1.0, 0.0], [1.0, 1.0], 500, 1e-6), 5)
    0.0005
    >>> f"{theorem_3_bound([1.0, 0.0], [1.0, 1.0], 500, 1e-6, printed=True):.1e}"
    '5.7e-07'
    """
    means, variances = _problem(means, variances)
    size, log_delta = means.size, _log_inverse(delta)
    if checks.flag("printed", printed):
        budget = _integers("budget", budget, 2 * size + 1)
        alpha = _alpha((np.log(size * budget) + log_delta) / (budget / size - 2))
        return _printed_2_or_3(means, variances, budget, alpha)
    rate = _least_gap(means) ** 2 / (4 * variances.max())
    each = _stage_budgets(budget, size) // size
    warm = each >= warmup_pulls(delta)
    alpha = _alpha(log_delta / np.where(warm, each - 1, math.inf))
    bound = (stages(size) - 0.5) * np.exp(-alpha * each * rate) + np.asarray(budget) * delta
    return _result(np.minimum(1.0, np.where(warm, bound, 1.0)))


def theorem_3_condition(n_arms: int, budget: ArrayLike, delta: float) -> bool | np.ndarray:
    """Return whether δ < 1/(Kn) and n >= K log₂K (4 log(Kn/δ) + 1), under which Theorem 3 is printed.

    Parameters
    ----------
    n_arms : int
        K, at least 2.
    budget : int or array of int
        n.
    delta : float
        δ in (0, 1).

    Examples
    --------
    >>> theorem_3_condition(64, 30_000, delta=0.05), theorem_3_condition(64, 100_000, delta=1e-8)
    (False, True)
    """
    size, budget = checks.integer("n_arms", n_arms, 2), _integers("budget", budget, 1)
    logarithm = np.log(size * budget) + _log_inverse(delta)
    met = (size * budget * delta < 1) & (budget >= size * math.log2(size) * (4 * logarithm + 1))
    return met if met.ndim else bool(met)


def theorem_3_least_budget(n_arms: int, delta: float) -> int:
    """Return the smallest n with n >= K log₂K (4 log(Kn/δ) + 1), the second condition of Theorem 3.

    Parameters
    ----------
    n_arms : int
        K, at least 2.
    delta : float
        δ in (0, 1).

    Examples
    --------
    >>> theorem_3_least_budget(64, 0.05)
    27049
    """
    size, log_delta = checks.integer("n_arms", n_arms, 2), _log_inverse(delta)
    budget, needed = 0, 1
    # The right side grows with n, so climbing from below stops at the smallest solution.
    while needed > budget:
        budget = needed
        needed = math.ceil(size * math.log2(size) * (4 * (math.log(size * budget) + log_delta) + 1))
    return budget


# --------------------------------------------------------------------------- the corrected bounds in full


def lemma_a_bound(probabilities: ArrayLike, survivors: int) -> float | np.ndarray:
    """Return min_r Σ_{j>r} p_(j)/(h-r), at most 1: the best arm's probability of elimination (Lemma A).

    The best arm goes only if at least h of its rivals do at least as well. Then at least h - r of those
    outside the r likeliest do, and Markov's inequality bounds that for each r < h, however the rivals
    depend on each other.

    Parameters
    ----------
    probabilities : array_like, shape (k-1,) or (J, k-1)
        p_i = P(μ̂_i >= μ̂_1) for each rival i, along the last axis.
    survivors : int
        h = ⌈k/2⌉, how many arms the stage keeps; from 1 to the number of rivals.

    Examples
    --------
    >>> round(lemma_a_bound([0.4, 0.01, 0.02], survivors=2), 4)
    0.03
    """
    p = checks.array("probabilities", probabilities, (1, 2), least=0)
    survivors = checks.integer("survivors", survivors, 1)
    if survivors > p.shape[-1]:
        raise ValueError(f"survivors is {survivors}; it must be at most the number of rivals, {p.shape[-1]}")
    if (p > 1).any():
        raise ValueError(f"probabilities has an entry {p.max()}; every entry must be at most 1")
    tails = np.sort(p, axis=-1).cumsum(axis=-1)[..., ::-1]  # tails[r] sums all but the r largest
    return _result(np.minimum(1.0, (tails[..., :survivors] / np.arange(survivors, 0, -1)).min(axis=-1)))


def _worst_stages(means: np.ndarray, variances: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield per stage the k-1 smallest gaps, and the variances of the best arm and its k-1 noisiest rivals.

    Whatever set of k arms has survived with the best one, sorted, its gaps are no smaller and its
    variances no larger.
    """
    best = means.argmax()
    rivals = np.sort(means[best] - np.delete(means, best))
    noise = np.sort(np.delete(variances, best))[::-1]
    for size in stage_sizes(means.size):
        yield rivals[: size - 1], np.append(noise[: size - 1], variances[best])


def _psi(rivals: np.ndarray, rho: ArrayLike, gaussian: bool = True) -> float | np.ndarray:
    """Return Lemma A's bound if every pair of means has variance at most 2/ρ; one value for each ρ."""
    x = np.sqrt(np.asarray(rho) / 2)[..., None] * rivals
    return lemma_a_bound(ndtr(-x) if gaussian else np.exp(-(x**2) / 2), (rivals.size + 2) // 2)


def shvar_bound(
    means: ArrayLike, variances: ArrayLike, budget: ArrayLike, gaussian: bool = True
) -> float | np.ndarray:
    """Return the sharp bound on SHVar's probability of a mistake (Theorems 1' and 2' in full).

    The sum over stages of Lemma A's bound with p_i = Q(Δ_i √(ρ_s/2)) for Gaussian rewards, or exp(-ρ_s
    Δ_i²/4) for sub-Gaussian ones. ρ_s is `greedy_rho` of the worst set that may have survived: the best
    arm with its noisiest rivals; the gaps are the smallest. At most 1; for any K, any variances, n >= Km.

    Parameters
    ----------
    means, variances : array_like, shape (K,)
        The arms: a unique best one, variances (or sub-Gaussian proxies) not all 0.
    budget : int or array of int
        n.
    gaussian : bool
        Whether the rewards are Gaussian.

    Examples
    --------
    >>> round(shvar_bound([1.0, 0.5, 0.5, 0.0], [1.0, 1.0, 0.1, 0.1], 200), 4)
    0.0151
    """
    means, variances = _problem(means, variances)
    gaussian = checks.flag("gaussian", gaussian)
    budget = _stage_budgets(budget, means.size)
    worst = _worst_stages(means, variances)
    total = sum(_psi(rivals, greedy_rho(noise, budget), gaussian) for rivals, noise in worst)
    return _result(np.minimum(1.0, total))


def shadavar_failure(
    variances: ArrayLike, stage_budget: int, delta: float, rho: ArrayLike
) -> float | np.ndarray:
    """Return F(ρ), a bound on the probability that a stage of SHAdaVar ends with some N_i < ρ σ_i² (Lemma C).

    For integers M_j >= max(w, ρ σ_j²) with ΣM_j <= b and any level θ, with l_ν the lower threshold of
    Lemma 2,

    F = Σ_j P[χ²_{M_j-1} > θ M_j l_{M_j-1}/σ_j²] + Σ_i Σ_{w <= c < ρ σ_i²} P[χ²_{c-1} < θ c l_{c-1}/σ_i²].

    At θ = 1/ρ the second sum is at most δ for every count c, so it is never worse than a union over
    confidence bounds. M is the allocation that SHAdaVar would reach with error-free estimates, θ the best
    on a grid, and F is 1 if ρ is too large for M. If b <= k w the stage is uniform: then F is 0 or 1.

    Parameters
    ----------
    variances : array_like, shape (k,)
        Variances of the stage's Gaussian arms, not all 0.
    stage_budget : int
        b, at least k.
    delta : float
        δ in (0, 1).
    rho : float or array_like
        ρ, at least 0.

    Notes
    -----
    Proof. Let N_i < ρ σ_i². If no arm J is pulled more than M_J times then N = M, and M_i >= ρ σ_i². So
    some J is pulled when N_J = M_J >= w, after the warm-up: U_J(M_J)/M_J >= U_i(c)/c, where c, from w to
    N_i, counts the pulls of arm i so far. Either the left side exceeds θ, or the right side does not.
    U(c) = σ̂²(c-1)/l_{c-1} and each event is at a fixed count, so Cochran's theorem gives the two sums.

    Examples
    --------
    >>> shadavar_failure([1.0, 1.0], 1000, 0.05, rho=[250.0, 350.0]).round(6)
    array([9.0000e-06, 3.6253e-02])
    """
    variances = _variances(variances)
    stage_budget = checks.integer("stage_budget", stage_budget, variances.size)
    rho = checks.array("rho", rho, (0, 1), least=0)
    warm_up = warmup_pulls(delta)
    if stage_budget <= variances.size * warm_up:
        return _result(np.where(rho * variances.max() <= stage_budget // variances.size, 0.0, 1.0))
    pulls = _error_free_pulls(variances, stage_budget, delta)
    failure = _failure(variances, pulls, variances[0], variances[1:], delta, np.atleast_1d(rho))
    return _result(failure.reshape(rho.shape))


def _error_free_pulls(variances: np.ndarray, stage_budget: int, delta: float) -> np.ndarray:
    """Return about the counts where l_{M-1} is proportional to σ²: there U/M would be equal, were σ̂ = σ."""
    log_delta, warm_up = _log_inverse(delta), warmup_pulls(delta)

    def pulls(log_scale: float) -> np.ndarray:
        # ν - 2√(νL) = y has the solution √ν = √L + √(L + y).
        target = variances * math.exp(log_scale)
        return np.maximum(warm_up, 1 + (math.sqrt(log_delta) + np.sqrt(log_delta + target)) ** 2)

    top = math.log(stage_budget / variances.max())
    from scipy.optimize import brentq  # takes longer to import than the rest of this module

    scale = brentq(lambda x: pulls(x).sum() - stage_budget, top - 60, top)
    return np.floor(pulls(scale) + 1e-6).astype(np.int64)


def _failure(
    noise: np.ndarray, pulls: np.ndarray, best: float, others: np.ndarray, delta: float, rho: np.ndarray
) -> np.ndarray:
    """Return F for each ρ, the first sum over the arms in `noise`, the second over the worst set of its size.

    That set holds the best arm and those of the others whose inner sums are largest. In the first sum the
    noisiest set is the worst, since M can follow the order of the variances.
    """
    warm_up = warmup_pulls(delta)
    error_free = pulls * lemma_2_thresholds(pulls - 1, delta)[0]
    lowest = (noise * (pulls - 1) / error_free).max()
    highest = noise.max() * warm_up / ((warm_up + 1) * lemma_2_thresholds(warm_up, delta)[0])
    levels = lowest * (1 + np.geomspace(0.01, max(highest / lowest, 1.0), 48))[:, None]

    with np.errstate(divide="ignore"):  # an arm without noise never exceeds a level
        first = chdtrc(pulls - 1, levels * error_free / noise).sum(axis=1)[:, None]
        possible = rho <= (pulls / noise).min()
    reach = rho[possible]
    rivals = np.sort([_early_pulls(variance, reach, levels, delta) for variance in others], axis=0)
    second = _early_pulls(best, reach, levels, delta) + rivals[1 - noise.size :].sum(axis=0)
    failure = np.ones(rho.size)
    failure[possible] = np.minimum(1.0, (first + second).min(axis=0))
    failure[rho * noise.max() <= warm_up] = 0  # the warm-up alone is enough
    return failure


def _early_pulls(variance: float, rho: np.ndarray, levels: np.ndarray, delta: float) -> np.ndarray:
    """Return Σ_{w <= c < ρσ²} P[χ²_{c-1} < θ c l_{c-1}/σ²] for each level θ (rows) and each ρ (columns)."""
    warm_up = warmup_pulls(delta)
    terms = np.maximum(np.ceil(rho * variance).astype(np.int64) - warm_up, 0)
    sums = np.zeros((levels.size, terms.max(initial=0) + 1))
    if sums.shape[1] > 1:
        counts = np.arange(warm_up, warm_up + sums.shape[1] - 1)
        threshold = counts * lemma_2_thresholds(counts - 1, delta)[0] / variance
        chdtr(counts - 1, levels * threshold).cumsum(axis=1, out=sums[:, 1:])
    return sums[:, terms]


def shadavar_bound(
    means: ArrayLike, variances: ArrayLike, budget: ArrayLike, delta: float
) -> float | np.ndarray:
    """Return the sharp bound on SHAdaVar's probability of a mistake, Gaussian rewards (Theorem 3', layered).

    Let R = min_i N_i/σ_i² in stage s. Given all counts, the estimated means are independent Gaussians
    (Lemma D), so the best arm goes with probability at most Ψ(R), Lemma A's bound with p_i = Q(Δ_i
    √(R/2)). Always R >= ρ_0, and R < ρ with probability at most F(ρ) (`shadavar_failure`). So for any ρ_0
    < ... < ρ_T the stage costs at most

    Ψ(ρ_T) + Σ_j [Ψ(ρ_j) - Ψ(ρ_{j+1})] F(ρ_{j+1}),

    where ρ_0 = w/σ_max². If b <= k w the stage is uniform and costs Ψ(⌊b/k⌋/σ_max²). Gaps and F are the
    worst over all sets that may have survived. At most 1; for any K, any variances, n >= Km.

    Parameters
    ----------
    means, variances : array_like, shape (K,)
        The arms: a unique best one, variances not all 0.
    budget : int or array of int
        n.
    delta : float
        δ in (0, 1).

    Examples
    --------
    >>> round(shadavar_bound([1.0, 0.5, 0.5, 0.0], [1.0, 1.0, 0.1, 0.1], 400, 0.05), 4)
    0.013
    """
    means, variances = _problem(means, variances)
    others = np.delete(variances, means.argmax())

    def stage_cost(rivals: np.ndarray, noise: np.ndarray, stage_budget: int) -> float:
        if stage_budget <= noise.size * warmup_pulls(delta):
            return _psi(rivals, stage_budget // noise.size / noise.max())
        pulls = _error_free_pulls(noise, stage_budget, delta)
        ends = warmup_pulls(delta) / noise.max(), greedy_rho(noise, stage_budget)
        ladder = np.union1d(np.linspace(*ends, 96), np.geomspace(*ends, 96))
        failure = _failure(noise, pulls, noise[-1], others, delta, ladder[1:])
        psi = _psi(rivals, ladder)
        return float(psi[-1] + ((psi[:-1] - psi[1:]) * failure).sum())

    def bound(stage_budget: int) -> float:
        return min(1.0, sum(stage_cost(*stage, stage_budget) for stage in _worst_stages(means, variances)))

    return _for_each(_stage_budgets(budget, means.size), bound)
