"""The bounds for SHAdaVar on bounded rewards, with the variance bound of Maurer and Pontil."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..schedules import log_inverse, stages
from .arguments import for_each, least_gap, problem, stage_budgets
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
    slack, linear, log_delta = _rewards(variances, delta, span)

    def bound(stage_budget: int) -> float:
        if stage_budget < 2 * means.size:
            return 1.0
        total = 0.0
        for gaps, noise in worst_stages(means, variances):
            rho = _rho(np.sqrt(noise), stage_budget, slack)
            win = np.exp(np.minimum(0.0, _log_wins(gaps, rho, linear, log_delta).min(axis=0)))
            total += float(lemma_a_bound(win, (noise.size + 1) // 2)) + float(delta) * (stage_budget - noise.size)
        return min(1.0, total)

    return for_each(stage_budgets(budget, means.size), bound)


def bounded_closed_bound(
    means: ArrayLike, variances: ArrayLike, budget: ArrayLike, delta: float, span: float
) -> float | np.ndarray:
    """Return the closed bound on the mistakes of SHAdaVar with Bernstein's bound, for rewards as in `bounded_bound`.

    It is (2m-1)(1 + f(Δ_min)) exp[-(ρΔ_min²/4)/(1 + κΔ_min/2)] + nδ, at most 1, with g, f and κ as in `bounded_bound`,
    which is sharper. With q = ⌊n/(mK)⌋ one may take ρ = q/(σ_max + 2g(q))²; or, for any integer q >= 2 with Kq < b, the
    number ρ with 1/√ρ = √(Σσ²/(b - Kq)) + 2β √(2L/(q(q-1))). The smallest of all these bounds is returned; 1 if b < 2K.

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
    >>> f"{bounded_closed_bound([0.6, 0.4], [0.24, 0.24], 8000, 1e-9, span=1.0):.1e}"
    '8.0e-06'
    """
    means, variances = problem(means, variances)
    slack, linear, log_delta = _rewards(variances, delta, span)
    gap, size = least_gap(means), means.size

    def bound(n: int) -> float:
        stage_budget = n // stages(size)
        if stage_budget < 2 * size:
            return 1.0
        each, shared = stage_budget // size, np.arange(2, -(-stage_budget // size))
        largest = math.sqrt(each) / (math.sqrt(variances.max()) + 2 * slack / math.sqrt(each - 1))
        total = np.sqrt(variances.sum() / (stage_budget - size * shared)) + 2 * slack / np.sqrt(shared * (shared - 1.0))
        rho = np.append(1 / total, largest) ** 2
        best = float(_log_wins(np.full(rho.size, gap), rho, linear, log_delta)[1].min())
        return min(1.0, math.exp(min(0.0, math.log(2 * stages(size) - 1) + best)) + n * float(delta))

    stage_budgets(budget, size)
    return for_each(checks.integers("budget", budget, 1), bound)


def _rewards(variances: np.ndarray, delta: float, span: float) -> tuple[float, float, float]:
    """Return β √(2L), so that g(M) is that over √(M-1); β/(3σ_min²); and L."""
    span, log_delta = checks.positive("span", span), log_inverse(delta)
    if variances.max() > span**2 / 4 * (1 + 1e-9):
        raise ValueError(
            f"variances has an entry {variances.max():g}; rewards in an interval of length {span:g} "
            f"have a variance of at most {span**2 / 4:g}"
        )
    linear = span / (3 * variances.min()) if variances.min() > 0 else math.inf
    return span * math.sqrt(2 * log_delta), linear, log_delta


def _log_wins(gaps: np.ndarray, rho: float | np.ndarray, linear: float, log_delta: float) -> np.ndarray:
    """Return logarithms of two bounds on the chance that a rival looks better: 2e^-f(Δ/2), (1 + f(Δ)) e^-2f(Δ/2)."""
    kappa = np.minimum(np.sqrt(rho) / (3 * math.sqrt(2 * log_delta)), linear)
    whole, half = (rho * x**2 / 2 / (1 + kappa * x) for x in (gaps, gaps / 2))
    return np.array([math.log(2) - half, np.log1p(whole) - 2 * half])


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
