"""The sharp bounds on the mistakes of SH and of SHVar, with variances known and samples discarded."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..schedules import float_or_array, stage_sizes, stages
from .allocation import greedy_allocation, greedy_rho
from .arguments import for_each, problem, stage_budgets
from .exponents import least_cost, log_courses
from .rivals import log_pairs, log_stage, one_of

PATHS = 12  # up to so many arms all courses of eliminations are compared, in at most a quarter of a second
ROUNDING = 1e-12  # numbers this close, relatively, count as equal: rounding may have parted them

Errors = tuple[np.ndarray, np.ndarray, tuple[float, float]]


def sh_errors(variances: np.ndarray, best: int, stage_budget: int, size: int) -> Errors:
    """Return between which variances the estimates of SH lie in a stage: of each rival, and of the best arm.

    Every arm has ⌊b/k⌋ pulls or, if k does not divide b, one more.
    """
    fewest = stage_budget // size
    most = -(-stage_budget // size)
    rivals, own = np.delete(variances, best), float(variances[best])
    return rivals / most, rivals / fewest, (own / most, own / fewest)


def shvar_counts(variances: np.ndarray, stage_budget: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the fewest and the most pulls of each arm over all ways to break ties of SHVar's index."""
    pulls = greedy_allocation(variances, stage_budget)
    with np.errstate(divide="ignore", invalid="ignore"):
        last, following = variances / (pulls - 1), variances / pulls
    lost = (pulls > 1) & (last <= following.max() * (1 + ROUNDING))
    won = following >= last[pulls > 1].min(initial=math.inf) * (1 - ROUNDING)
    return pulls - lost, pulls + won


def shvar_errors(variances: np.ndarray, best: int, stage_budget: int, size: int) -> Errors:
    """Return between which variances the estimates of SHVar lie in a stage, whichever `size` arms are left.

    With all arms present the counts are known. Otherwise ρ σ_i² <= N_i <= R σ_i² + 1, with ρ = min N_j/σ_j² of the
    set that holds the best arm, arm i and the noisiest others, and R that of the set with the quietest others.
    """
    rivals, own = np.delete(variances, best), float(variances[best])
    if size == variances.size:
        fewest, most = (variances / counts for counts in shvar_counts(variances, stage_budget)[::-1])
        return np.delete(fewest, best), np.delete(most, best), (float(fewest[best]), float(most[best]))
    order = np.argsort(rivals, kind="stable")

    @cache
    def rho(other: float | None, ends: int) -> float:
        chosen = rivals[order[::ends]][: size - 1 - (other is not None)]
        stage = np.append(chosen, own if other is None else [other, own])
        return float(greedy_rho(stage, stage_budget)) if stage.any() else math.inf

    def errors(v: float, low: float, high: float) -> tuple[float, float]:
        if v == 0:
            return 0.0, 0.0
        most = min(
            stage_budget - size + 1.0, math.floor(high * v * (1 + ROUNDING)) + 1 if high < math.inf else math.inf
        )
        return v / most, v / max(1, math.ceil(low * v * (1 - ROUNDING)))

    noisiest, quietest = set(order[1 - size :].tolist()), set(order[: size - 1].tolist())
    brackets = [
        errors(v, rho(None if i in noisiest else v, -1), rho(None if i in quietest else v, 1))
        for i, v in enumerate(rivals.tolist())
    ]
    low, high = np.array(brackets).T
    return low, high, errors(own, rho(None, -1), rho(None, 1))


def pair_variances(variances: np.ndarray, best: int, stage_budget: int, by_variance: bool) -> np.ndarray:
    """Return the variance of each rival's difference from the best arm in the last stage, ties at their worst."""
    own, result = variances[best], []
    for v in np.delete(variances, best).tolist():
        if by_variance:
            counts = {int(n[0]) for n in shvar_counts(np.array([own, v]), stage_budget)}
        else:
            counts = {stage_budget // 2, stage_budget - stage_budget // 2}
        # Two arms without noise tie for ever, and it does not matter how.
        split = np.clip(list(counts), 1, stage_budget - 1)
        result.append((own / split + v / (stage_budget - split)).max())
    return np.array(result)


def _log_paths(means: np.ndarray, variances: np.ndarray, stage_budget: int, by_variance: bool) -> float:
    """Return the logarithm of the upper bound from the cheapest path, each arm with its fewest pulls in every tie."""
    order = np.argsort(-means, kind="stable")
    noise = variances[order]

    def rates(arms: np.ndarray) -> np.ndarray:
        fewest = shvar_counts(noise[arms], stage_budget)[0] if by_variance else stage_budget // arms.size
        return fewest / noise[arms]

    return log_courses(means.size) - least_cost(means[order], rates)[0]


def _bound(
    means: ArrayLike, variances: ArrayLike, budget: ArrayLike, gaussian: bool, by_variance: bool
) -> float | np.ndarray:
    means, variances = problem(means, variances)
    gaussian, best = checks.flag("gaussian", gaussian), int(means.argmax())
    gaps = means[best] - np.delete(means, best)
    errors = shvar_errors if by_variance else sh_errors

    def stage(stage_budget: int, size: int) -> float:
        if size == 2:
            return log_pairs(gaps, pair_variances(variances, best, stage_budget, by_variance), 2, gaussian)
        low, high, own = errors(variances, best, stage_budget, size)
        return log_stage(gaps, low, high, own, size) if gaussian else log_pairs(gaps, own[1] + high, size, False)

    def bound(stage_budget: int) -> float:
        value = one_of([stage(stage_budget, size) for size in stage_sizes(means.size)])
        if gaussian and variances.all() and 2 < means.size <= PATHS and 0 < value < 1:
            return min(value, math.exp(_log_paths(means, variances, stage_budget, by_variance)))
        return value

    return for_each(stage_budgets(budget, means.size), bound)


def sh_gaussian_bound(
    means: ArrayLike, variances: ArrayLike, budget: ArrayLike, gaussian: bool = True
) -> float | np.ndarray:
    """Return the sharp bound on SH's probability of a mistake, each arm with its own variance.

    In stage s every arm has ⌊b/k_s⌋ pulls or one more, so the variances of all estimates are known. Given the best
    arm's estimate its rivals are independent, and the stage costs the integral of a Poisson-binomial tail over that
    estimate, with the k_s - 1 rivals that are likeliest to pass it; or Lemma A's bound, if that is smaller. Stages
    combine to 1 - Π_s (1 - B_s). With up to 12 noisy arms the upper one of `path_bounds` is returned if it is smaller
    still, as it can be where mistakes are very rare. For any K, any variances, n >= Km.

    Parameters
    ----------
    means, variances : array_like, shape (K,)
        The arms: a unique best one, variances (or sub-Gaussian proxies) not all 0.
    budget : int or array of int
        n.
    gaussian : bool
        Whether the rewards are Gaussian. If not, only Lemma A's bound applies.

    Examples
    --------
    >>> round(sh_gaussian_bound([1.0, 0.5, 0.5, 0.0], [1.0, 1.0, 0.1, 0.1], 200), 4)
    0.0107
    """
    return _bound(means, variances, budget, gaussian, by_variance=False)


def sh_closed_bound(
    means: ArrayLike, variances: ArrayLike, budget: ArrayLike, gaussian: bool = True
) -> float | np.ndarray:
    """Return the closed bound on SH's probability of a mistake, each arm with its own variance.

    It is (m - 1/2) exp[-⌊n/(mK)⌋ min_i Δ_i²/(2(σ_1² + σ_i²))], with 2m - 1 in place of m - 1/2 for sub-Gaussian
    rewards, at most 1; for any K, any variances, n >= Km. `sh_gaussian_bound` is sharper.

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
    >>> round(sh_closed_bound([1.0, 0.5, 0.5, 0.0], [1.0, 1.0, 0.1, 0.1], 200), 4)
    0.3144
    """
    means, variances = problem(means, variances)
    factor = stages(means.size) - 0.5 if checks.flag("gaussian", gaussian) else 2 * stages(means.size) - 1
    best = int(means.argmax())
    gaps, noise = (np.delete(x, best) for x in (means[best] - means, np.sqrt(variances + variances[best])))
    # A pair without noise is never mistaken.
    nearest = float(np.divide(gaps, noise, out=np.full(gaps.size, math.inf), where=noise > 0).min())
    each = stage_budgets(budget, means.size) // means.size
    return float_or_array(np.minimum(1.0, factor * np.exp(-each * (nearest**2 / 2))))


def shvar_bound(means: ArrayLike, variances: ArrayLike, budget: ArrayLike, gaussian: bool = True) -> float | np.ndarray:
    """Return the sharpest of the book's bounds on SHVar's probability of a mistake.

    As `sh_gaussian_bound`, with the pulls of SHVar: known in the first stage and, for each pair, in the last one,
    between two numbers for any set of survivors in the others. For any K, any variances, n >= Km, and any way to break
    ties.

    Parameters
    ----------
    means, variances : array_like, shape (K,)
        The arms: a unique best one, variances (or sub-Gaussian proxies) not all 0.
    budget : int or array of int
        n.
    gaussian : bool
        Whether the rewards are Gaussian. If not, only Lemma A's bound applies.

    Examples
    --------
    >>> round(shvar_bound([1.0, 0.5, 0.5, 0.0], [1.0, 1.0, 0.1, 0.1], 200), 4)
    0.0072
    """
    return _bound(means, variances, budget, gaussian, by_variance=True)
