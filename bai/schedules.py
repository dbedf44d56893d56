"""Stage sizes, warm-up and complexities: what policies and theorems both need."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from . import checks

ROUNDING = 1 + 1e-12  # what is whole, or exactly a half, up to rounding counts as such


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


def variance_price(variances: ArrayLike) -> float:
    """Return Λ = Σ_{i>=2} σ_i²/V_i, variances in increasing order, V_i the sum of the first i of them.

    Up to a constant, it is what not knowing the means costs in the worst case. For equal variances it is Σ_{i=2}^K 1/i,
    about log K. It is at most K - 1, and of that order if each variance is a fixed multiple of the one before. Terms
    0/0 count as 0.

    Parameters
    ----------
    variances : array_like, shape (K,)
        Reward variances.

    Examples
    --------
    >>> round(variance_price([1.0] * 64), 3), round(variance_price([2.0**i for i in range(64)]), 3)
    (3.744, 31.803)
    """
    price, total = 0.0, 0.0
    for i, variance in enumerate(np.sort(checks.arms("variances", variances, least=0)).tolist()):
        total += variance
        price += variance / total if i > 0 and total > 0 else 0.0
    return price


def variance_stages(variances: ArrayLike) -> int:
    """Return R = min{⌊2Λ⌋, 1 + ⌊log₂(Σσ²/(σ_1² + σ_2²))⌋}, at least 1: the most stages that halving the variance takes.

    Here σ_1² and σ_2² are the smallest variances: a set of two arms or more cannot have less.

    Parameters
    ----------
    variances : array_like, shape (K,)
        Reward variances.

    Examples
    --------
    >>> variance_stages([1.0] * 64), variance_stages([1.0, 1.0, 1.0, 100.0])
    (6, 3)
    """
    most = math.floor(2 * variance_price(variances) * ROUNDING)
    ordered = np.sort(np.asarray(variances, float)).tolist()
    total, least, stages = 0.0, ordered[0] + ordered[1], 1
    for variance in ordered:
        total += variance
    while stages < most and 2 * least <= total * ROUNDING:
        least, stages = 2 * least, stages + 1
    return stages


def log_inverse(delta: float) -> float:
    """Return L = log(1/δ)."""
    return -math.log(checks.number("delta", delta, 0, 1))


def warmup_pulls(delta: float) -> int:
    """Return w = ⌊4L⌋ + 2, the smallest number of pulls with w - 1 > 4L (Algorithm 4, corrected).

    The printed warm-up, 4L + 1 pulls per arm, leaves some arms one pull short, which makes U negative. If 4L is
    an integer, it divides by zero.

    Parameters
    ----------
    delta : float
        δ in (0, 1).

    Examples
    --------
    >>> warmup_pulls(0.05)
    13
    """
    four_l = 4 * log_inverse(delta)
    # If 4L is an integer up to rounding, w - 1 = 4L would leave U with nothing but rounding noise as its denominator.
    return math.floor(four_l * (1 + 1e-12)) + 2


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
    means = checks.arms("means", means, ndim=(1, 2))
    top = np.partition(means, -2, axis=-1)[..., -2:]
    result = top[..., 1:] - means
    np.put_along_axis(result, means.argmax(axis=-1)[..., None], top[..., 1:] - top[..., :1], axis=-1)
    return result


def float_or_array(values: np.ndarray) -> float | np.ndarray:
    """Return a float for an array without axes, any other array as it is."""
    return float(values) if np.ndim(values) == 0 else values


def reward_bound(means: ArrayLike, variances: ArrayLike, budget: ArrayLike) -> float | np.ndarray:
    """Return b = max_i (μ_i + σ_i √log n), which the paper takes as the range of the rewards (Section 5).

    It is not a high-probability bound on n draws, which needs √(2 log n).

    Parameters
    ----------
    means, variances : array_like, shape (K,) or (R, K)
        The arms of one problem, or of R problems.
    budget : int or array of int
        n, at least 1; an array is allowed only with one problem.

    Examples
    --------
    >>> round(reward_bound([1.0, 0.5], [0.25, 1.0], 1000), 3)
    3.128
    """
    means = checks.arms("means", means, ndim=(1, 2))
    variances = checks.arms("variances", variances, least=0, ndim=(1, 2))
    checks.same_shape(means, variances)
    budget = checks.integers("budget", budget, 1)
    if budget.ndim and means.ndim == 2:
        raise ValueError(f"budget has shape {budget.shape}; with several problems it must be one integer")
    return float_or_array((means + np.sqrt(variances * np.log(budget)[..., None])).max(axis=-1))


def _reward_bounds(bound: ArrayLike, means: np.ndarray) -> np.ndarray:
    bound = checks.in_range("bound", checks.array("bound", bound, (0, 1), least=0))
    if not bound.all():
        raise ValueError(f"bound is {checks.shown(bound.tolist())}; the largest reward must be above 0")
    checks.compatible(means=means[..., 0], bound=bound)
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
        gap = gaps(means)
        return float_or_array((_reward_bounds(bound, gap) ** 2 / gap**2).sum(axis=-1))


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
    variances = checks.arms("variances", variances, least=0, ndim=(1, 2))
    checks.same_shape(gap, variances)
    width = np.sqrt(variances) + np.sqrt(variances + 16 / 3 * _reward_bounds(bound, gap) * gap)
    # A noiseless tied arm would be 0/0; the limit of its term, as the gap closes, is infinite.
    terms = np.divide(width**2, gap**2, out=np.full(width.shape, math.inf), where=gap > 0)
    return float_or_array(terms.sum(axis=-1))
