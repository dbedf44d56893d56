"""The sharp bound on SHAdaVar's probability of a mistake, and how often a stage leaves an arm short of pulls."""

from __future__ import annotations

import math
from typing import cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc, gammaln

from .. import checks
from ..schedules import float_or_array, log_inverse, warmup_pulls
from .allocation import greedy_rho
from .arguments import for_each, noisy, problem, stage_budgets
from .error_bounds import worst_stages
from .halving_bounds import sh_errors
from .rivals import log_stage, one_of
from .variance_bounds import lemma_2_thresholds

LEVELS, RUNGS = 48, 32  # how finely the two free numbers of the bound are searched
NEGLIGIBLE = 1e-12  # relatively; a rung that can add no more is not computed
BLOCKS = 32  # counts from j² to (j+1)² are taken in so many groups


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
    array([1.0000e-05, 3.9413e-02])
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
    levels = lowest * (1 + np.geomspace(0.01, max(highest / lowest, 1.0), LEVELS))[:, None]

    with np.errstate(divide="ignore"):  # an arm without noise never exceeds a level
        first = chdtrc(pulls - 1, levels * error_free / noise).sum(axis=1)[:, None]
        possible = rho <= (pulls / noise).min()
    reach = rho[possible]
    distinct, each = np.unique(others, return_counts=True)
    rivals = [early_pulls(variance, reach, levels, delta) for variance in distinct]
    rivals = np.sort(np.repeat(rivals, each, axis=0), axis=0)
    second = early_pulls(best, reach, levels, delta) + rivals[1 - noise.size :].sum(axis=0)
    failure = np.ones(rho.size)
    failure[possible] = np.minimum(1.0, (first + second).min(axis=0))
    failure[rho * noise.max() <= warm_up] = 0  # the warm-up alone is enough
    return failure


def early_pulls(variance: float, rho: np.ndarray, levels: np.ndarray, delta: float) -> np.ndarray:
    """Return Σ_{w <= c < ρσ²} P[χ²_{c-1} < θ c l_{c-1}/σ²], or slightly more, for each θ (rows) and ρ (columns).

    Counts from a to b - 1 are taken together: each of their terms is at most P[χ²_{a-1} < θ (b-1) l_{b-2}/σ²].
    The first counts stand alone; later b - a is a small part of the standard deviation of χ²_a.
    """
    warm_up = warmup_pulls(delta)
    ends = np.maximum(np.ceil(rho * variance).astype(np.int64), warm_up)  # the first count that is left out
    last = ends.max(initial=warm_up)
    sums = np.zeros((levels.size, rho.size))
    if last == warm_up:
        return sums
    steps = np.arange(math.isqrt(warm_up), math.isqrt(last) + 2)
    blocks = (steps[:, None] ** 2 + np.arange(BLOCKS) * (2 * steps[:, None] + 1) // BLOCKS).ravel()
    starts = np.unique(np.clip(np.append(blocks, warm_up), warm_up, last))
    first, end = starts[:-1], starts[1:]
    half = (first - 1) / 2
    threshold = levels * ((end - 1) * lemma_2_thresholds(end - 2, delta)[0] / (2 * variance))
    # P(χ²_{2a} < 2x) = x^a e^-x/Γ(a+1) (1 + x/(a+1) + x²/((a+1)(a+2)) + ...), at most a geometric series.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        terms = np.exp(half * np.log(threshold) - threshold - gammaln(half + 1)) / (1 - threshold / (half + 1))
    terms = np.where(threshold < half, np.minimum(terms, 1.0), 1.0)
    whole = np.zeros((levels.size, starts.size))
    (terms * (end - first)).cumsum(axis=1, out=whole[:, 1:])
    block = np.searchsorted(starts, ends, side="right") - 1
    part = np.minimum(block, first.size - 1)
    return whole[:, block] + terms[:, part] * (ends - starts[block])


def shadavar_bound(means: ArrayLike, variances: ArrayLike, budget: ArrayLike, delta: float) -> float | np.ndarray:
    """Return the sharp bound on SHAdaVar's probability of a mistake, Gaussian rewards (Theorem 3', layered).

    Let R = min_i N_i/σ_i² in stage s. Given all counts, the estimated means are independent Gaussians
    (Lemma D), so the best arm goes with probability at most Ξ(R), the smaller of Lemma A's bound and the
    integral over independent rivals, with variances of at most 1/R. Always R >= ρ_0, and R < ρ with
    probability at most F(ρ) (`shadavar_failure`). So for any ρ_0 < ... < ρ_T the stage costs at most

    Ξ(ρ_T) + Σ_j [Ξ(ρ_j) - Ξ(ρ_{j+1})] F(ρ_{j+1}),

    where ρ_0 = w/σ_max². If b <= k w the stage is uniform and costs what a stage of SH does. Gaps and F are
    the worst over all sets that may have survived; stages combine to 1 - Π_s (1 - B_s). For any K, any
    variances, n >= Km.

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
    0.0047
    """
    means, variances = problem(means, variances)
    best = int(means.argmax())
    gaps = means[best] - np.delete(means, best)

    def stage_cost(rivals: np.ndarray, noise: np.ndarray, stage_budget: int) -> float:
        if stage_budget <= noise.size * warmup_pulls(delta):
            return math.exp(log_stage(gaps, *sh_errors(variances, best, stage_budget, noise.size), noise.size))
        pulls = _error_free_pulls(noise, stage_budget, delta)
        ends = warmup_pulls(delta) / noise.max(), greedy_rho(noise, stage_budget)
        ladder = np.union1d(np.linspace(*ends, RUNGS), np.geomspace(*ends, RUNGS))
        failure = _failure(noise, pulls, noise[-1], np.delete(variances, best), delta, ladder[1:])
        # The sum, put in another order: Ξ(ρ_j) weighs F(ρ_{j+1}) - F(ρ_j), which is 0 for many rungs.
        weights = np.diff(np.concatenate([[0.0], np.maximum.accumulate(failure), [1.0]]))
        quiet, loud = np.zeros(rivals.size), np.ones(rivals.size)
        cost, lost = 0.0, 1.0
        for rho, weight in zip(ladder.tolist(), weights.tolist(), strict=True):
            if weight * lost > NEGLIGIBLE * cost:  # otherwise the rung below is good enough: Ξ does not increase
                lost = min(lost, math.exp(log_stage(rivals, quiet, loud / rho, (0.0, 1 / rho), noise.size)))
            cost += weight * lost
        return cost

    def bound(stage_budget: int) -> float:
        costs = [stage_cost(*stage, stage_budget) for stage in worst_stages(means, variances)]
        with np.errstate(divide="ignore"):
            return one_of(np.log(costs).tolist())

    return for_each(stage_budgets(budget, means.size), bound)
