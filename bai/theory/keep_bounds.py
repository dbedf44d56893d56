"""Bounds for policies that keep all samples: SH and SHVar, whose counts are known, and SHAdaVar with random ones.

Nothing is conditioned on who survived. For each rival we ask whether its mean can ever be above that of the best arm
once both have the pulls that the stage guarantees, ρ_s σ_i² of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc, ndtr

from .. import checks
from ..schedules import stage_sizes, warmup_pulls
from .arguments import for_each, problem, stage_budgets
from .error_bounds import lemma_a_bound, worst_stages
from .rivals import log_ever
from .shadavar_bounds import early_pulls
from .variance_bounds import lemma_2_thresholds

SHARES = np.concatenate([np.geomspace(0.003, 0.3, 7), np.linspace(0.4, 0.95, 8)])  # of the pulls a plan aims at
PULLS = 24  # how many first pulls the closed form tries
SPLITS = np.linspace(0.15, 0.85, 8)  # where the level lies between the two kinds of events


def _ever(means: np.ndarray, rho: Sequence[float], gaussian: bool) -> float:
    """Return the bound on mistakes if every arm i that is left after stage s has at least ρ_s σ_i² pulls."""
    gaps = means.max() - np.delete(means, means.argmax())
    total = 0.0
    for size, r in zip(stage_sizes(means.size), rho, strict=True):
        survivors = (size + 1) // 2
        if r == 0:
            return 1.0
        if gaussian:
            tail = ndtr(-gaps * math.sqrt(r / 2))
            pairs = float(lemma_a_bound(4 * tail * (1 - tail), survivors))
            total += min(pairs, math.exp(log_ever(gaps, r, survivors))) if means.size > 2 else pairs
        else:
            x = r * gaps**2
            either = np.exp(-x / 2) + np.sqrt(math.pi * x) / 2 * np.exp(-x / 4)
            total += float(lemma_a_bound(np.minimum(either, 1.0), survivors))
    return min(1.0, total)


def keep_bound(means: ArrayLike, variances: ArrayLike, budget: ArrayLike, gaussian: bool = True) -> float | np.ndarray:
    """Return the bound on the mistakes of SHVar with all samples kept, `SHVar(reuse=True)`.

    After stage s every arm that is left has at least ρ_s σ_i² pulls, ρ_s = Σ_{r<=s} (b - k_r + 1)/S_r, where S_r is
    the variance of the best arm plus its k_r - 1 largest others: the exponents of all stages so far add up. For
    Gaussian rewards the stage costs at most ∫ 2φ(z) T_h(a_2(z), ..., a_K(z)) dz over z > 0 with a_i(z) = 2Q((Δ_i √ρ_s
    - z)_+), T_h the Poisson-binomial tail, or Lemma A's bound with p_i = 4Q(1-Q), Q = Q(Δ_i √(ρ_s/2)). For
    sub-Gaussian ones only Lemma A's, with p_i = e^{-x/2} + √(πx)/2 e^{-x/4}, x = ρ_s Δ_i². At most 1.

    Parameters
    ----------
    means, variances : array_like, shape (K,)
        The arms: a unique best one, variances (or sub-Gaussian proxies) not all 0.
    budget : int or array of int
        n, at least Km.
    gaussian : bool
        Whether the rewards are Gaussian.

    Examples
    --------
    >>> round(keep_bound([1.0, 0.5, 0.5, 0.0], [1.0, 1.0, 0.1, 0.1], 200), 4)
    0.0116
    """
    means, variances = problem(means, variances)
    gaussian = checks.flag("gaussian", gaussian)
    noise = [arms for _, arms in worst_stages(means, variances)]

    def bound(stage_budget: int) -> float:
        rho = np.cumsum([(stage_budget - arms.size + 1) / arms.sum() for arms in noise])
        return _ever(means, rho.tolist(), gaussian)

    return for_each(stage_budgets(budget, means.size), bound)


def sh_keep_bound(
    means: ArrayLike, variances: ArrayLike, budget: ArrayLike, gaussian: bool = True
) -> float | np.ndarray:
    """Return the bound on the mistakes of SH with all samples kept, `SH(reuse=True)`.

    It is that of `keep_bound` with ρ_s = Σ_{r<=s} ⌊b/k_r⌋/σ_max²: every arm that is left after stage s has had at least
    Σ_{r<=s} ⌊b/k_r⌋ pulls. At most 1.

    Parameters
    ----------
    means, variances : array_like, shape (K,)
        The arms: a unique best one, variances (or sub-Gaussian proxies) not all 0.
    budget : int or array of int
        n, at least Km.
    gaussian : bool
        Whether the rewards are Gaussian.

    Examples
    --------
    >>> round(sh_keep_bound([1.0, 0.5, 0.5, 0.0], [1.0, 1.0, 0.1, 0.1], 200), 4)
    0.069
    """
    means, variances = problem(means, variances)
    gaussian = checks.flag("gaussian", gaussian)
    sizes = np.array(stage_sizes(means.size))

    def bound(stage_budget: int) -> float:
        return _ever(means, ((stage_budget // sizes).cumsum() / variances.max()).tolist(), gaussian)

    return for_each(stage_budgets(budget, means.size), bound)


def shadavar_keep_bound(means: ArrayLike, variances: ArrayLike, budget: ArrayLike, delta: float) -> float | np.ndarray:
    """Return the bound on the mistakes of SHAdaVar with all samples kept, `SHAdaVar(reuse=True)`, Gaussian rewards.

    A plan names for each stage a number ρ_s. Let g(ρ) be `keep_bound`'s sum with these numbers, and F the bound on
    the probability that some arm is ever left with fewer than ρ_s σ_i² pulls. One plan gives g + F. A chain of plans
    0, ..., T, of which plan 0 rests on the warm-up alone, gives g_T + Σ_j min(g_j, F_{j+1}): the best chain is taken.
    At most 1; for any K, any variances, n >= Km.

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
    >>> round(shadavar_keep_bound([1.0, 0.5, 0.5, 0.0], [1.0, 1.0, 0.1, 0.1], 800, 0.05), 4)
    0.0049
    """
    means, variances = problem(means, variances)
    warmup_pulls(delta)

    def bound(stage_budget: int) -> float:
        costs = [_ever(means, _warm_up_only(variances, stage_budget, delta), gaussian=True)]
        failures, least = [0.0], min(1.0, costs[0])
        for failure, rho in sorted((failure, rho) for rho, failure in _plans(means, variances, stage_budget, delta)):
            if failure >= least:  # with it no chain beats one that does without
                break
            failures.append(failure)
            costs.append(_ever(means, rho, gaussian=True))
            least = min(least, failure + costs[-1])
        order = np.argsort([-cost for cost in costs[1:]], kind="stable") + 1
        reached = {0: 0.0}
        for j in order.tolist():  # cheapest chain to each plan
            reached[j] = min(so_far + min(costs[i], failures[j]) for i, so_far in reached.items())
        return min(1.0, *(so_far + costs[j] for j, so_far in reached.items()))

    return for_each(stage_budgets(budget, means.size), bound)


def shadavar_keep_closed_bound(
    means: ArrayLike, variances: ArrayLike, budget: ArrayLike, delta: float
) -> float | np.ndarray:
    """Return the closed bound on the mistakes of SHAdaVar with all samples kept, Gaussian rewards.

    For any integer q >= w with Kq <= b let a = l_{q-1}/u_{q-1}, the ratio of the thresholds of Lemma 2, ρ_0 = 0 and
    ρ_s = max{ρ_{s-1}, a[ρ_{s-1} + (b - k_s q)/S_s]}, with S_s as in `keep_bound`. The bound is that function's sum with
    these ρ_s, plus K(n + m - 2w)δ; at most 1. The best q of a grid is taken. It falls exponentially only if δ does;
    `shadavar_keep_bound` is sharper at a fixed δ.

    Parameters
    ----------
    means, variances : array_like, shape (K,)
        The arms: a unique best one, variances not all 0.
    budget : int or array of int
        n, at least Km. Where no such q exists nothing is claimed, and the value is 1.
    delta : float
        δ in (0, 1).

    Examples
    --------
    >>> f"{shadavar_keep_closed_bound([1.0, 0.5, 0.5, 0.0], [1.0, 1.0, 0.1, 0.1], 4000, 1e-9):.1e}"
    '3.6e-05'
    """
    means, variances = problem(means, variances)
    warm_up, size = warmup_pulls(delta), means.size
    totals = [(arms.size, arms.sum()) for _, arms in worst_stages(means, variances)]
    stage_budgets(budget, size)

    def bound(n: int) -> float:
        stage_budget, best = n // len(totals), 1.0
        failures = size * (n + len(totals) - 2 * warm_up) * float(delta)
        if stage_budget < size * warm_up or failures >= 1:
            return 1.0
        for q in np.unique(np.geomspace(warm_up, stage_budget // size, PULLS).astype(int)).tolist():
            share, rho = float(np.divide(*lemma_2_thresholds(q - 1, delta))), [0.0]
            for k, total in totals:
                rho.append(max(rho[-1], share * (rho[-1] + (stage_budget - k * q) / total)))
            best = min(best, _ever(means, rho[1:], gaussian=True) + failures)
        return best

    return for_each(checks.integers("budget", budget, 1), bound)


def _warm_up_only(variances: np.ndarray, stage_budget: int, delta: float) -> list[float]:
    """Return κ_s/σ_max², κ_s the pulls that the round-robin part of the stages so far guarantees to every arm left."""
    pulls, result = 0, []
    for size in stage_sizes(variances.size):
        pulls = min(warmup_pulls(delta), pulls + stage_budget // size)
        result.append(pulls / variances.max())
    return result


def _plans(
    means: np.ndarray, variances: np.ndarray, stage_budget: int, delta: float
) -> Iterator[tuple[list[float], float]]:
    """Yield plans (ρ_1, ..., ρ_m), each with F.

    Stage s would give arm j the pulls M_j = q + ⌊r_s σ_j²⌋ with r_s = ρ_{s-1} + (b - k_s q)/S_s; the plan asks for the
    share ρ_s = a r_s of that, or for no more than before.
    """
    warm_up = warmup_pulls(delta)
    most = stage_budget // variances.size
    totals = [(arms.size, arms.sum()) for _, arms in worst_stages(means, variances)]
    for q in np.unique(np.geomspace(warm_up, most, 4).astype(int)) if most > warm_up else []:
        for share in SHARES:
            rho, goals, before = [], [], 0.0
            for size, total in totals:
                goals.append(before + (stage_budget - size * q) / total)
                before = max(before, share * goals[-1])
                rho.append(before)
            if rho[0] > 0:
                yield rho, min(1.0, _failure(variances, int(q), rho, goals, delta))


def _failure(variances: np.ndarray, q: int, rho: list[float], goals: list[float], delta: float) -> float:
    """Return F of a plan, the smallest over a grid of levels θ_s = 1/(ρ_s^x r_s^(1-x))."""
    active = [s for s in range(len(rho)) if s == 0 or rho[s] > rho[s - 1]]
    low, goal = np.array(rho)[active], np.array(goals)[active]
    distinct, each = np.unique(variances[variances > 0], return_counts=True)
    pulls = q + np.floor(goal[:, None] * distinct).astype(np.int64)
    lower = np.asarray(lemma_2_thresholds(pulls.ravel() - 1, delta)[0]).reshape(pulls.shape)
    error_free = pulls * lower / distinct
    levels = 1 / (low ** SPLITS[:, None] * goal ** (1 - SPLITS[:, None]))  # falling along a row
    result = (chdtrc(pulls - 1, levels[:, :, None] * error_free) * each).sum(axis=(1, 2))
    edges = np.insert(low, 0, 0.0)
    for variance, number in zip(distinct.tolist(), each.tolist(), strict=True):
        sums = early_pulls(variance, edges, levels.reshape(-1, 1), delta).reshape(*levels.shape, -1)
        stage = np.arange(low.size)
        result += number * (sums[:, stage, stage + 1] - sums[:, stage, stage]).sum(axis=1)
    return float(result.min())
