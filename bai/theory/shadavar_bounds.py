"""The sharp bound on SHAdaVar's probability of a mistake, and how often a stage leaves an arm short of pulls."""

from __future__ import annotations

import math
from typing import cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtr, chdtrc

from .. import checks
from ..schedules import float_or_array, log_inverse, warmup_pulls
from .allocation import greedy_rho
from .arguments import for_each, noisy, problem, stage_budgets
from .error_bounds import elimination_bound, worst_stages
from .variance_bounds import lemma_2_thresholds


def shadavar_failure(variances: ArrayLike, stage_budget: int, delta: float, rho: ArrayLike) -> float | np.ndarray:
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
    variances = noisy(variances)
    stage_budget = checks.integer("stage_budget", stage_budget, variances.size)
    rho = checks.array("rho", rho, (0, 1), least=0)
    warm_up = warmup_pulls(delta)
    if stage_budget <= variances.size * warm_up:
        return float_or_array(np.where(rho * variances.max() <= stage_budget // variances.size, 0.0, 1.0))
    pulls = _error_free_pulls(variances, stage_budget, delta)
    failure = _failure(variances, pulls, variances[0], variances[1:], delta, np.atleast_1d(rho))
    return float_or_array(failure.reshape(rho.shape))


def _error_free_pulls(variances: np.ndarray, stage_budget: int, delta: float) -> np.ndarray:
    """Return about the counts where l_{M-1} is proportional to σ²: there U/M would be equal, were σ̂ = σ."""
    log_delta, warm_up = log_inverse(delta), warmup_pulls(delta)

    def pulls(log_scale: float) -> np.ndarray:
        # ν - 2√(νL) = y has the solution √ν = √L + √(L + y).
        target = variances * math.exp(log_scale)
        return np.maximum(warm_up, 1 + (math.sqrt(log_delta) + np.sqrt(log_delta + target)) ** 2)

    top = math.log(stage_budget / variances.max())
    from scipy.optimize import brentq  # takes longer to import than the rest of this module

    scale = cast(float, brentq(lambda x: pulls(x).sum() - stage_budget, top - 60, top))
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


def shadavar_bound(means: ArrayLike, variances: ArrayLike, budget: ArrayLike, delta: float) -> float | np.ndarray:
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
    means, variances = problem(means, variances)
    others = np.delete(variances, means.argmax())

    def stage_cost(rivals: np.ndarray, noise: np.ndarray, stage_budget: int) -> float:
        if stage_budget <= noise.size * warmup_pulls(delta):
            return float(elimination_bound(rivals, stage_budget // noise.size / noise.max()))
        pulls = _error_free_pulls(noise, stage_budget, delta)
        ends = warmup_pulls(delta) / noise.max(), greedy_rho(noise, stage_budget)
        ladder = np.union1d(np.linspace(*ends, 96), np.geomspace(*ends, 96))
        failure = _failure(noise, pulls, noise[-1], others, delta, ladder[1:])
        psi = np.asarray(elimination_bound(rivals, ladder))
        return float(psi[-1] + ((psi[:-1] - psi[1:]) * failure).sum())

    def bound(stage_budget: int) -> float:
        return min(1.0, sum(stage_cost(*stage, stage_budget) for stage in worst_stages(means, variances)))

    return for_each(stage_budgets(budget, means.size), bound)
