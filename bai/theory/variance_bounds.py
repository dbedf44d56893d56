"""Confidence bounds on estimated variances, and the pulls that SHAdaVar makes with them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..schedules import float_or_array, log_inverse, warmup_pulls
from .allocation import lemma_4_pulls
from .arguments import noisy


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
    degrees, log_delta = checks.integers("degrees", degrees, 1), log_inverse(delta)
    root = 2 * np.sqrt(degrees * log_delta)
    return float_or_array(degrees - root), float_or_array(degrees + root + 2 * log_delta)


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
    checks.in_range("sample_variance", sample_variance, variances=True)
    pulls = checks.integers("pulls", pulls, 1, axes=2)
    checks.compatible(sample_variance=sample_variance, pulls=pulls)
    least = warmup_pulls(delta)
    if (pulls < least).any():
        raise ValueError(
            f"pulls is {pulls.min()}; at delta={delta} the bound needs pulls - 1 > 4 log(1/delta), "
            f"so at least {least} pulls"
        )
    return float_or_array(sample_variance / (1 - 2 * np.sqrt(log_inverse(delta) / (pulls - 1))))


def alpha_of(x: np.ndarray) -> np.ndarray:
    """Return α = (1 - 2√x)/(1 + 2√x + 2x)."""
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
    share = checks.integers("stage_budget", stage_budget, 2 * size + 1) / size
    return float_or_array(alpha_of(log_inverse(delta) / (share - 2)))


def lemma_5_pulls(variances: ArrayLike, stage_budget: ArrayLike, delta: float) -> np.ndarray:
    """Return (σ_i²/σ_max²) α(k, b, δ) (b/k - 1), the least number of pulls in SHAdaVar (Lemma 5, *printed*).

    The confidence bounds behind it can fail, for any arm and count; `shadavar_failure` says how often.

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
    variances = noisy(variances)
    alpha = np.asarray(lemma_5_alpha(variances.size, stage_budget, delta))[..., None]
    return alpha * lemma_4_pulls(variances, stage_budget)
