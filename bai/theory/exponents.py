"""How fast the mistakes of SH and SHVar vanish: the cheapest path of eliminations that loses the best arm.

A stage turns a set A of arms into its ⌈k/2⌉ survivors B. For Gaussian rewards that has about the probability
exp(-c(A → B)), where the cost c says how far the estimates must be from the means, in units of their own noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..schedules import stage_sizes, stages
from .allocation import greedy_allocation
from .arguments import problem, stage_budgets

MOST_ARMS = 12  # the cheapest path is found among all sets of arms
CELLS = 20_000

Weights = Callable[[np.ndarray, int], np.ndarray]


def _arms(means: ArrayLike, variances: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    means, variances = problem(means, variances)
    if (variances == 0).any():
        raise ValueError("variances has an entry 0; an exponent needs noise in every arm")
    order = np.argsort(-means, kind="stable")
    return means[order], variances[order]


def _rates(policy: str, variances: np.ndarray, stage_budget: int | None) -> np.ndarray:
    """Return N_j/σ_j² in a stage with these arms, or w_j/σ_j² per pull of an endless one."""
    if checks.choice("policy", policy, ("SH", "SHVar")) == "SHVar":
        if stage_budget is None:
            return np.full(variances.size, 1 / variances.sum())
        return greedy_allocation(variances, stage_budget) / variances
    if stage_budget is None:
        return 1 / (variances.size * variances)
    return (stage_budget // variances.size + (np.arange(variances.size) < stage_budget % variances.size)) / variances


def transition_cost(means: ArrayLike, rates: ArrayLike, survivors: ArrayLike) -> float:
    """Return c(A → B), the cost at which exactly the arms B of a stage survive.

    c = min_τ ½[Σ_{j in B} a_j (τ - μ_j)²_+ + Σ_{j not in B} a_j (μ_j - τ)²_+]: some level τ must separate the
    estimates, and an arm pays only if it is on the wrong side. The probability of the transition is at most e^-c.

    Parameters
    ----------
    means : array_like, shape (k,)
        The means of the stage's arms.
    rates : array_like, shape (k,)
        a_j = N_j/σ_j², one over the variance of the estimate.
    survivors : array_like of bool, shape (k,)
        Whether the arm is in B; some are and some are not.

    Examples
    --------
    >>> transition_cost([0.0, -1.0], [4.0, 4.0], [False, True])
    1.0
    """
    means, rates = checks.arms("means", means), checks.array("rates", rates, 1, least=0)
    kept = checks.flags("survivors", survivors)
    for name, given in (("rates", rates), ("survivors", kept)):
        if given.shape != means.shape:
            raise ValueError(f"{name} has shape {given.shape}; it must be that of means, {means.shape}")
    if kept.all() or not kept.any():
        raise ValueError("survivors names all arms or none; some must survive and some must go")
    return _cost(means, rates, kept)


def _cost(means: np.ndarray, rates: np.ndarray, kept: np.ndarray) -> float:
    wrong = np.where(kept, 1.0, -1.0)

    def slope(level: float) -> float:
        return float((rates * wrong * np.maximum(wrong * (level - means), 0)).sum())

    # The slope rises, in straight pieces between the means: find the piece where it is 0.
    levels = np.sort(means)
    slopes = [slope(level) for level in levels]
    i = int(np.searchsorted(slopes, 0.0))
    if i < len(slopes) and slopes[i] == 0:
        level = levels[i]
    else:
        level = levels[i - 1] - slopes[i - 1] * (levels[i] - levels[i - 1]) / (slopes[i] - slopes[i - 1])
    return float((rates * np.maximum(wrong * (level - means), 0) ** 2).sum() / 2)


def cheapest_path(
    means: ArrayLike, variances: ArrayLike, policy: str, budget: int | None = None
) -> tuple[float, list[tuple[int, ...]]]:
    """Return the least cost of a course of eliminations that ends without the best arm, and that course.

    Parameters
    ----------
    means, variances : array_like, shape (K,)
        The arms: a unique best one, positive variances; at most 12 arms.
    policy : str
        "SH" or "SHVar".
    budget : int, optional
        n. The cost is then E_n, for the pulls of that budget. Without it, it is E, per pull of a stage.

    Returns
    -------
    float, list of tuple of int
        The cost, and the arms at the start of each stage, numbered from 1 by decreasing mean; the last stage
        listed is the one that loses arm 1.

    Examples
    --------
    >>> cost, path = cheapest_path([0.0, -0.5, -0.55], [1.0, 0.1, 4.0], "SHVar")
    >>> round(cost, 6), path
    (0.015248, [(1, 2, 3), (1, 3)])
    """
    means, variances = _arms(means, variances)
    if means.size > MOST_ARMS:
        raise ValueError(
            f"means has {means.size} arms; at most {MOST_ARMS} can be searched, others have exponent_bracket"
        )
    stage_budget = None if budget is None else int(stage_budgets(checks.integer("budget", budget, 1), means.size))
    cost, path = least_cost(means, lambda arms: _rates(policy, variances[arms], stage_budget))
    return cost, [tuple(arm + 1 for arm in arms) for arms in path]


def least_cost(
    means: np.ndarray, rates: Callable[[np.ndarray], np.ndarray]
) -> tuple[float, tuple[tuple[int, ...], ...]]:
    """Return the least cost of a course that loses the first arm, the best one, and its sets of arms.

    `rates` returns N_j/σ_j² of the arms whose positions it is given, in a stage of their own.
    """

    @cache
    def onwards(arms: tuple[int, ...]) -> tuple[float, tuple[tuple[int, ...], ...]]:
        chosen = np.array(arms)
        mu, precise = means[chosen], rates(chosen)
        found = math.inf, ()
        for picked in combinations(range(len(arms)), (len(arms) + 1) // 2):
            kept = np.zeros(len(arms), bool)
            kept[list(picked)] = True
            cost, path = _cost(mu, precise, kept), ()
            if kept[0] and len(picked) > 1 and cost < found[0]:
                further, path = onwards(tuple(chosen[kept].tolist()))
                cost += further
            elif kept[0]:
                continue
            if cost < found[0]:
                found = cost, (arms, *path)
        return found

    return onwards(tuple(range(means.size)))


def log_courses(n_arms: int) -> float:
    """Return Σ_s log(k_s choose h_s), the logarithm of the number of courses of eliminations."""
    return sum(math.log(math.comb(size, (size + 1) // 2)) for size in stage_sizes(n_arms))


def exponent(means: ArrayLike, variances: ArrayLike, policy: str) -> float:
    """Return lim -log P(mistake)/n of SH or SHVar for Gaussian rewards: E/m, the cheapest path per pull.

    Parameters
    ----------
    means, variances : array_like, shape (K,)
        The arms: a unique best one, positive variances; at most 12 arms.
    policy : str
        "SH" or "SHVar".

    Examples
    --------
    >>> arms = [0.0, -0.5, -0.6, -0.8], [1.0, 0.1, 0.8, 0.2]
    >>> round(1000 * exponent(*arms, "SHVar"), 2), round(1000 * exponent(*arms, "SH"), 2)
    (24.6, 15.69)
    """
    return cheapest_path(means, variances, policy)[0] / stages(len(np.asarray(means)))


def exponent_bracket(means: ArrayLike, variances: ArrayLike, policy: str) -> tuple[float, float]:
    """Return two numbers between which the exponent of SH or SHVar lies, for any number of arms.

    The upper one is the cheapest of the paths that pay only in the stage that loses the best arm, with the arms of
    the highest means present. The lower one lets every stage start with the worst set, at no cost.

    Parameters
    ----------
    means, variances : array_like, shape (K,)
        The arms: a unique best one, positive variances.
    policy : str
        "SH" or "SHVar".

    Examples
    --------
    >>> low, high = exponent_bracket([0.0, -0.5, -0.6, -0.8], [1.0, 0.1, 0.8, 0.2], "SH")
    >>> round(1000 * low, 2), round(1000 * high, 2)
    (15.69, 15.69)
    """
    means, variances = _arms(means, variances)
    gaps, own, others = means[0] - means[1:], variances[0], variances[1:]
    noisiest = np.sort(others)[::-1]
    final = float((gaps**2 / (4 * (own + others))).min())
    low, high = final, math.inf
    for size in stage_sizes(means.size):
        survivors = (size + 1) // 2
        rates = _rates(policy, variances[:size], None)
        high = min(high, _loss(gaps[: size - 1], rates[1:], rates[0], survivors)[1])
        if size > 2:
            if policy == "SHVar":
                total = own + noisiest[: size - 1].sum()
                worst = _loss(gaps, np.full(gaps.size, 1 / total), 1 / total, survivors)
            else:
                worst = _loss(gaps, 1 / (size * others), 1 / (size * own), survivors)
            low = min(low, worst[0])
    return low / stages(means.size), high / stages(means.size)


def _loss(gaps: np.ndarray, rates: np.ndarray, own: float, survivors: int) -> tuple[float, float]:
    """Return bounds on min_t ½[a_1 t² + the h smallest of a_j (Δ_j - t)²_+], tight up to the width of a cell."""
    t = np.linspace(0, np.partition(gaps, survivors - 1)[survivors - 1], CELLS + 1)
    costs = rates * np.maximum(gaps - t[:, None], 0) ** 2
    rivals = np.sort(costs, axis=1)[:, :survivors].sum(axis=1)
    return float((own * t[:-1] ** 2 + rivals[1:]).min() / 2), float((own * t**2 + rivals).min() / 2)


def path_bounds(means: ArrayLike, variances: ArrayLike, budget: int, policy: str) -> tuple[float, float]:
    """Return logarithms of a lower and an upper bound on the probability of a mistake, from the cheapest path.

    With E_n its cost, k̄ the sum of all stage sizes k_s and h_s = ⌈k_s/2⌉,

    -E_n - 2√(k̄ E_n) - (k̄ + m) log 2 <= log P(mistake) <= -E_n + Σ_s log(k_s choose h_s).

    Ties of SHVar's index and odd pulls of SH go to the arms with the highest means.

    Parameters
    ----------
    means, variances : array_like, shape (K,)
        The arms: a unique best one, positive variances; at most 12 arms.
    budget : int
        n, at least Km.
    policy : str
        "SH" or "SHVar".

    Examples
    --------
    >>> low, high = path_bounds([0.0, -0.5, -0.6, -0.8], [1.0, 0.1, 0.8, 0.2], 5120, "SHVar")
    >>> round(low, 1), round(high, 1)
    (-186.5, -123.5)
    """
    cost = cheapest_path(means, variances, policy, budget)[0]
    sizes = stage_sizes(len(np.asarray(means)))
    total = sum(sizes)
    low = -cost - 2 * math.sqrt(total * cost) - (total + len(sizes)) * math.log(2)
    return low, -cost + log_courses(len(np.asarray(means)))
