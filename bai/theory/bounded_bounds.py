"""The bound for SHAdaVar on bounded rewards, with the variance bound of Maurer and Pontil."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..schedules import float_or_array, log_inverse
from .arguments import for_each, problem, stage_budgets
from .error_bounds import lemma_a_bound, worst_stages


def bounded_bound(
    means: ArrayLike, variances: ArrayLike, budget: ArrayLike, delta: float, span: float
) -> float | np.ndarray:
    """Return the bound on the mistakes of SHAdaVar with Bernstein's bound: independent rewards in [a_i, a_i + β].

    Let g(M) = β √(2L/(M-1)), and in stage s let ρ be the largest number with ΣM_j <= b over the best arm and its
    noisiest rivals, where M_j is the least M >= 2 with M/(σ_j + 2g(M))² >= ρ. With κ = min{√ρ/(3√(2L)), β/(3σ_min²)}
    and f(x) = (ρx²/2)/(1 + κx), the stage costs at most Lemma A's bound with

    p_i = min{2 exp[-f(Δ_i/2)], (1 + f(Δ_i)) exp[-2f(Δ_i/2)]},

    plus δ(b - k) for confidence bounds that fail. At most 1; for any K and variances. If b < 2K nothing is claimed,
    and the value is 1.

    Parameters
    ----------
    means, variances : array_like, shape (K,)
        The arms: a unique best one, variances not all 0.
    budget : int or array of int
        n, at least Km.
    delta : float
        δ in (0, 1).
    span : float
        β, the length of the interval that holds an arm's rewards.

    Examples
    --------
    >>> f"{bounded_bound([0.6, 0.4], [0.24, 0.24], 8000, 1e-9, span=1.0):.1e}"
    '8.0e-06'
    """
    means, variances = problem(means, variances)
    span, log_delta = checks.positive("span", span), log_inverse(delta)
    if variances.max() > span**2 / 4 * (1 + 1e-9):
        raise ValueError(
            f"variances has an entry {variances.max():g}; rewards in an interval of length {span:g} "
            f"have a variance of at most {span**2 / 4:g}"
        )
    linear = span / (3 * variances.min()) if variances.min() > 0 else math.inf

    def win(gaps: np.ndarray, rho: float) -> np.ndarray:
        kappa = min(math.sqrt(rho) / (3 * math.sqrt(2 * log_delta)), linear)
        whole, half = (rho * x**2 / 2 / (1 + kappa * x) for x in (gaps, gaps / 2))
        either = np.minimum(2 * np.exp(-half), np.exp(np.log1p(whole) - 2 * half))
        return np.minimum(1.0, either)

    def bound(stage_budget: int) -> float:
        if stage_budget < 2 * means.size:
            return 1.0
        total = 0.0
        for gaps, noise in worst_stages(means, variances):
            rho = _rho(np.sqrt(noise), stage_budget, span * math.sqrt(2 * log_delta))
            survivors = (noise.size + 1) // 2
            total += float(lemma_a_bound(win(gaps, rho), survivors)) + float(delta) * (stage_budget - noise.size)
        return min(1.0, total)

    return float_or_array(np.asarray(for_each(stage_budgets(budget, means.size), bound)))


def _rho(deviations: np.ndarray, stage_budget: int, slack: float) -> float:
    """Return about the largest ρ that pulls M_j >= 2 with ΣM_j <= b reach, min_j M_j/(σ_j + 2g(M_j))²; never more.

    The pulls an arm needs for a given ρ solve √ρ (σ + 2 slack/√(M-1)) = √M, so bisection on ρ and, for each, on M.
    """

    def reached(pulls: np.ndarray) -> np.ndarray:
        return pulls / (deviations + 2 * slack / np.sqrt(pulls - 1)) ** 2

    def needed(rho: float) -> np.ndarray:
        few, many = np.ones(deviations.size, np.int64), np.full(deviations.size, stage_budget)
        while (many - few > 1).any():
            middle = (few + many) // 2
            enough = (middle >= 2) & (reached(np.maximum(middle, 2)) >= rho)
            few, many = np.where(enough, few, middle), np.where(enough, middle, many)
        return np.maximum(many, 2)

    low, high = 0.0, float(reached(np.full(deviations.size, stage_budget)).min())
    for _ in range(36):
        middle = (low + high) / 2
        low, high = (middle, high) if needed(middle).sum() <= stage_budget else (low, middle)
    return float(reached(needed(low)).min())
