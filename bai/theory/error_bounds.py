"""The paper's bounds on the probability of a mistake, printed and corrected, and what their proofs rest on."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from .. import checks
from ..schedules import float_or_array, log_inverse, stage_sizes, stages, warmup_pulls
from .allocation import greedy_rho
from .arguments import least_gap, noisy, problem, stage_budgets
from .variance_bounds import alpha_of


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
    means = np.sort(checks.arms("means", means))[::-1]
    with np.errstate(divide="ignore"):
        return float((np.arange(2, means.size + 1) / (means[0] - means[1:]) ** 2).max())


def sh_bound(means: ArrayLike, budget: ArrayLike, proxy: float = 0.5) -> float | np.ndarray:
    """Return 3 log₂K exp[-n/(16 σ² H₂ log₂K)], a bound for SH if all arms have the variance proxy σ² (*printed*).

    It holds if K is a power of two and n a multiple of K log₂K. With σ² = 1/2 it is equation 1 of the paper.

    Parameters
    ----------
    means : array_like, shape (K,)
        Mean rewards with a unique best arm.
    budget : int or array of int
        n, at least 1.
    proxy : float
        σ², above 0: for Gaussian arms with unequal variances the largest of them.

    Examples
    --------
    >>> round(sh_bound([1.0, 0.5, 0.5, 0.5], 1000), 5)
    0.12069
    >>> round(sh_bound([1.0, 0.5, 0.5, 0.5], 1000, proxy=0.25), 5)
    0.00243
    """
    means, proxy = checks.arms("means", means), checks.positive("proxy", proxy)
    least_gap(means)
    log2_arms = math.log2(means.size)
    scale = 16 * proxy * h2(means) * log2_arms
    return float_or_array(3 * log2_arms * np.exp(-checks.integers("budget", budget, 1) / scale))


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
    gap, total = checks.positive("gap", gap), noisy(variances).sum()
    return float_or_array(np.exp(-checks.integers("stage_budget", stage_budget, 1) * gap**2 / (4 * total)))


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
    means, variances = problem(means, variances)
    rate = least_gap(means) ** 2 / (4 * variances.sum())
    if checks.flag("printed", printed):
        log2_arms = math.log2(means.size)
        return float_or_array(2 * log2_arms * np.exp(-checks.integers("budget", budget, 1) / log2_arms * rate))
    effective = stage_budgets(budget, means.size) - means.size + 1
    return float_or_array(np.minimum(1.0, (2 * stages(means.size) - 1) * np.exp(-effective * rate)))


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
    means, variances = problem(means, variances)
    if checks.flag("printed", printed):
        return _printed_2_or_3(means, variances, checks.integers("budget", budget, 1), alpha=1.0)
    rate = least_gap(means) ** 2 / (4 * variances.max())
    each = stage_budgets(budget, means.size) // means.size
    return float_or_array(np.minimum(1.0, (2 * stages(means.size) - 1) * np.exp(-each * rate)))


def _printed_2_or_3(
    means: np.ndarray, variances: np.ndarray, budget: np.ndarray, alpha: float | np.ndarray
) -> float | np.ndarray:
    size, log2_arms = means.size, math.log2(means.size)
    rate = least_gap(means) ** 2 / (4 * variances.max() * size * log2_arms)
    return float_or_array(2 * log2_arms * np.exp(-alpha * (budget - size * math.log(size)) * rate))


def theorem_3_bound(
    means: ArrayLike, variances: ArrayLike, budget: ArrayLike, delta: float, printed: bool = False
) -> float | np.ndarray:
    """Return Theorem 3's bound on SHAdaVar's probability of a mistake, for Gaussian rewards.

    Corrected: (m - 1/2) exp[-α ⌊n/(mK)⌋ Δ_min²/(4 σ_max²)] + n δ, at most 1, with α = (1 - 2√x)/(1 + 2√x
    + 2x) and x = L/(⌊n/(mK)⌋ - 1); for any K, if ⌊n/m⌋ >= K w with w = `warmup_pulls(delta)`. Where that
    fails nothing is claimed, and the value is 1.

    Printed: 2 log₂K exp[-α (n - K log K) Δ_min²/(4 σ_max² K log₂K)] with α = α(K, n, δ/(Kn)) of Lemma 5,
    here for every n > 2K; the paper claims it under `theorem_3_condition`. It is false, because the term
    in δ is missing.

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
    means, variances = problem(means, variances)
    size, log_delta = means.size, log_inverse(delta)
    if checks.flag("printed", printed):
        budget = checks.integers("budget", budget, 2 * size + 1)
        alpha = alpha_of((np.log(float(size) * budget) + log_delta) / (budget / size - 2))
        return _printed_2_or_3(means, variances, budget, alpha)
    rate = least_gap(means) ** 2 / (4 * variances.max())
    each = stage_budgets(budget, size) // size
    warm = each >= warmup_pulls(delta)
    alpha = alpha_of(log_delta / np.where(warm, each - 1, math.inf))
    bound = (stages(size) - 0.5) * np.exp(-alpha * each * rate) + checks.integers("budget", budget, 1) * float(delta)
    return float_or_array(np.minimum(1.0, np.where(warm, bound, 1.0)))


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
    size, budget = checks.integer("n_arms", n_arms, 2), checks.integers("budget", budget, 1)
    logarithm = np.log(float(size) * budget) + log_inverse(delta)
    met = (float(size) * budget * float(delta) < 1) & (budget >= size * math.log2(size) * (4 * logarithm + 1))
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
    size, log_delta = checks.integer("n_arms", n_arms, 2), log_inverse(delta)
    budget, needed = 0, 1
    # The right side grows with n, so climbing from below stops at the smallest solution.
    while needed > budget:
        budget = needed
        needed = math.ceil(size * math.log2(size) * (4 * (math.log(size * budget) + log_delta) + 1))
    return budget


def lemma_a_bound(probabilities: ArrayLike, survivors: int) -> float | np.ndarray:
    """Return min_r Σ_{j>r} p_(j)/(h-r), at most 1: the best arm's probability of elimination (Lemma A).

    The best arm is eliminated only if at least h of its rivals do at least as well. Then so do at least h - r of
    those outside the r likeliest. For each r < h Markov's inequality bounds the probability of that, however the
    rivals depend on each other.

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
    return float_or_array(np.minimum(1.0, (tails[..., :survivors] / np.arange(survivors, 0, -1)).min(axis=-1)))


def worst_stages(means: np.ndarray, variances: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield per stage the k-1 smallest gaps, and the variances of the best arm and its k-1 noisiest rivals.

    Whichever set of k arms has survived, the best one among them: sorted, its gaps are no smaller and its
    variances no larger.
    """
    best = means.argmax()
    rivals = np.sort(means[best] - np.delete(means, best))
    noise = np.sort(np.delete(variances, best))[::-1]
    for size in stage_sizes(means.size):
        yield rivals[: size - 1], np.append(noise[: size - 1], variances[best])


def elimination_bound(rivals: np.ndarray, rho: ArrayLike, gaussian: bool = True) -> float | np.ndarray:
    """Return Ψ(ρ), Lemma A's bound if every pair of means has variance at most 2/ρ; one value for each ρ."""
    x = np.sqrt(np.asarray(rho) / 2)[..., None] * rivals
    return lemma_a_bound(ndtr(-x) if gaussian else np.exp(-(x**2) / 2), (rivals.size + 2) // 2)


def full_form_bound(
    means: ArrayLike, variances: ArrayLike, budget: ArrayLike, gaussian: bool = True
) -> float | np.ndarray:
    """Return Theorems 1' and 2' in full, a bound on SHVar's probability of a mistake.

    It is the sum over stages of Lemma A's bound with p_i = Q(Δ_i √(ρ_s/2)) for Gaussian rewards, or exp(-ρ_s
    Δ_i²/4) for sub-Gaussian ones. ρ_s is `greedy_rho` of the worst set that may have survived: the best
    arm with its noisiest rivals; the gaps are the smallest ones. It is at most 1; for any K, any variances, n >= Km.
    `shvar_bound` is sharper.

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
    >>> round(full_form_bound([1.0, 0.5, 0.5, 0.0], [1.0, 1.0, 0.1, 0.1], 200), 4)
    0.0151
    """
    means, variances = problem(means, variances)
    gaussian = checks.flag("gaussian", gaussian)
    budget = stage_budgets(budget, means.size)
    total = np.zeros(budget.shape)
    for rivals, noise in worst_stages(means, variances):
        total = total + elimination_bound(rivals, greedy_rho(noise, budget), gaussian)
    return float_or_array(np.minimum(1.0, total))
