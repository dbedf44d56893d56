"""What SHAdaVar risks: an arm that looks quiet after the warm-up is hardly pulled again. And two remedies."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtr, chdtri, gammaln, ndtr

from .. import checks
from ..schedules import log_inverse, stages, warmup_pulls
from .arguments import for_each, least_gap, noisy, problem, stage_budgets
from .variance_bounds import lemma_2_thresholds

LEVELS = np.linspace(0.1, 1.5, 15)  # times 1/n
LONGER = 30  # how many pulls beyond the warm-up the starved arm may have
CELLS = 4000
SLACKS = np.linspace(0.01, 0.9, 40)


def starvation_bound(gap: float, budget: int, delta: float) -> float:
    """Return a lower bound on the mistakes of SHAdaVar with two Gaussian arms of variance 1, corrected warm-up.

    For any level θ and any v >= w the probability is at least P[χ²_{v-1} < θ v l_{v-1}] [1 - Σ_c P(χ²_{c-1} <= θ c
    l_{c-1})] Q(Δ√v), the sum over w <= c < n - w: arm 1 starts below the level, arm 2 never falls below it, and arm 1
    loses with v pulls. The best θ and v of a grid are taken.

    Parameters
    ----------
    gap : float
        Δ, above 0.
    budget : int
        n, more than twice the warm-up.
    delta : float
        δ in (0, 1).

    Examples
    --------
    >>> f"{starvation_bound(0.5, 20_000, 1.25e-5):.1e}"
    '9.6e-92'
    """
    gap, warm_up = checks.positive("gap", gap), warmup_pulls(delta)
    budget = checks.integer("budget", budget, 2 * warm_up + 1)
    pulls, counts = np.arange(warm_up, warm_up + LONGER), np.arange(warm_up, budget - warm_up)
    own, other = (c * lemma_2_thresholds(c - 1, delta)[0] for c in (pulls, counts))
    loses, best = ndtr(-gap * np.sqrt(pulls)), 0.0
    for level in LEVELS / budget:
        never = 1 - chdtr(counts - 1, level * other).sum()
        best = max(best, float((chdtr(pulls - 1, level * own) * loses).max() * never))
    return best


def starvation_limit(gap: float, variances: ArrayLike, delta: float, chi_square: bool = False) -> tuple[float, float]:
    """Return c and p with n^p P(mistake) → c for SHAdaVar with two Gaussian arms and a fixed δ.

    With w pulls of warm-up p = (w-1)/2 and c = c_12 Q(Δ√w/σ_1) + c_21 Q(Δ√w/σ_2), where c_12 = (w l_{w-1}
    σ_2²/(2σ_1²))^p/Γ(p+1) is the limit of n^p P(N_1 = w), and c_21 the same with the arms exchanged.

    Parameters
    ----------
    gap : float
        Δ, above 0.
    variances : array_like, shape (2,)
        Variances of the best arm and of its rival, above 0.
    delta : float
        δ in (0, 1).
    chi_square : bool
        Whether l is the chi-square quantile, with two pulls of warm-up, as `variance_bounds.ChiSquare` has it. Then δ
        may be at most 1/2.

    Examples
    --------
    >>> c, p = starvation_limit(1.0, [1.0, 1.0], 0.05, chi_square=True)
    >>> round(c, 4), p
    (0.0111, 0.5)
    """
    gap, variances, warm_up = _two_arms(gap, variances, delta, chi_square)
    lower = float(_lower(np.array([warm_up - 1]), delta, chi_square)[0])
    power, ratio = (warm_up - 1) / 2, variances[1] / variances[0]
    ratios, loses = np.array([ratio, 1 / ratio]), ndtr(-gap * np.sqrt(warm_up / variances))
    starved = np.exp(power * np.log(warm_up * lower * ratios / 2) - gammaln(power + 1))
    return float(starved[0] * loses[0] + starved[1] * loses[1]), power


def starvation_bracket(
    gap: float, variances: ArrayLike, budget: int, delta: float, chi_square: bool = False
) -> tuple[float, float]:
    """Return two bounds on P(mistake) for SHAdaVar with two Gaussian arms; times n^p both go to `starvation_limit`.

    From below: an arm starts with an index below (1-η)σ²/n, the other one never comes as low, and the starved arm has
    w pulls. From above: both arms have more than v pulls; or arm 1 has at most v, and then its index was, at some
    count c <= v, no higher than that of arm 2 with n-v-1 pulls; or arm 2 has. The best η and v of a grid are taken.

    Parameters
    ----------
    gap : float
        Δ, above 0.
    variances : array_like, shape (2,)
        Variances of the best arm and of its rival, above 0.
    budget : int
        n, more than twice the warm-up.
    delta : float
        δ in (0, 1).
    chi_square : bool
        Whether l is the chi-square quantile, as in `starvation_limit`.

    Examples
    --------
    >>> low, high = starvation_bracket(1.0, [1.0, 1.0], 1000, 0.05, chi_square=True)
    >>> f"{low:.2e} {high:.2e}"
    '3.36e-04 4.07e-04'
    """
    gap, variances, warm_up = _two_arms(gap, variances, delta, chi_square)
    n = checks.integer("budget", budget, 2 * warm_up + 1)
    counts = np.arange(warm_up, n - warm_up)
    index = counts * _lower(counts - 1, delta, chi_square)  # c l_{c-1}
    with np.errstate(divide="ignore"):
        own = index[0] / n * (1 - SLACKS) * np.array([variances[::-1] / variances]).T
        stays = 1 - chdtr(counts - 1, (1 - SLACKS[:, None]) / n * index).sum(axis=1)
    starved = np.maximum(0, (chdtr(warm_up - 1, own) * stays).max(axis=1))
    low = float(starved @ ndtr(-gap * np.sqrt(warm_up / variances)))
    high = 0.5
    for v in range(warm_up, min(n - warm_up - 1, 40 * warm_up) + 1):
        total, rest = float(ndtr(-gap * math.sqrt((v + 1) / variances.sum()))), n - v - 2
        c, least = counts[: v - warm_up + 1], index[: v - warm_up + 1]
        for first, second in (variances, variances[::-1]):
            ratio = least * second / (first * index[rest + 1 - warm_up])
            moments = gammaln((rest + c - 1) / 2) - gammaln((c + 1) / 2) - gammaln(rest / 2)
            short = min(1.0, float(np.exp(moments + (c - 1) / 2 * np.log(ratio)).sum()))
            total += short * float(ndtr(-gap / math.sqrt(first / warm_up + second / (n - v))))
        high = min(high, total)
    return low, high


def _two_arms(gap: float, variances: ArrayLike, delta: float, chi_square: bool) -> tuple[float, np.ndarray, int]:
    """Return the gap, two positive variances and the pulls of the warm-up."""
    gap, variances, warm_up = checks.positive("gap", gap), noisy(variances), warmup_pulls(delta)
    if variances.size != 2 or not variances.all():
        raise ValueError(f"variances is {variances.tolist()}; it must hold two positive numbers")
    if checks.flag("chi_square", chi_square) and float(delta) > 0.5:
        raise ValueError(f"delta is {float(delta)}; with chi_square it must be at most 0.5")
    return gap, variances, 2 if chi_square else warm_up


def _lower(degrees: np.ndarray, delta: float, chi_square: bool) -> np.ndarray:
    """Return l_ν, by which the sum of squares is divided."""
    return chdtri(degrees, 1 - float(delta)) if chi_square else np.asarray(lemma_2_thresholds(degrees, delta)[0])


def best_floor(z: float) -> tuple[float, float]:
    """Return the share of a stage to pull in turn, and what share of SHVar's exponent SHAdaVar then has for certain.

    They are φ = √(4z/(1+4z)) and (1-φ)/(1+φ) = (√(1+4z) - 2√z)², where z = Δ_min²/(4σ̄²), σ̄² the average variance.

    Parameters
    ----------
    z : float
        Above 0.

    Examples
    --------
    >>> floor, ratio = best_floor(0.01)
    >>> round(floor, 3), round(ratio, 3)
    (0.196, 0.672)
    """
    z = checks.positive("z", z)
    floor = math.sqrt(4 * z / (1 + 4 * z))
    return floor, (1 - floor) / (1 + floor)


def floor_bound(means: ArrayLike, variances: ArrayLike, budget: int, floor: float) -> float:
    """Return the bound on the mistakes of SHAdaVar with a floor and the plain sample variance, Gaussian rewards.

    Each stage first pulls every arm ⌊φb/k⌋ times. With G = (1-φ) b Δ_min²/(4Σσ²), f = ⌊φb/K⌋ and E = min_τ [τG + (f-1)
    ι(τ)] the bound is (m - 1/2)(1 + e b ⌈G⌉) e^-E, at most 1. Here ι(τ) = (y - 1 - log y)/2 with y = log(1/τ)/(1-τ).

    Parameters
    ----------
    means, variances : array_like, shape (K,)
        The arms: a unique best one, variances not all 0.
    budget : int
        n. Where f < 2 nothing is claimed, and the value is 1.
    floor : float
        φ in (0, 1).

    Examples
    --------
    >>> f"{floor_bound([0.2, 0.0], [1.0, 1.0], 40_000, 0.3):.1e}"
    '8.3e-50'
    """
    means, variances = problem(means, variances)
    floor, m = checks.number("floor", floor, 0, 1), stages(means.size)
    stage_budget = checks.integer("budget", budget, m * means.size) // m
    forced = math.floor(floor * stage_budget / means.size)
    if forced < 2:
        return 1.0
    goal = (1 - floor) * stage_budget * least_gap(means) ** 2 / (4 * variances.sum())
    shares = np.linspace(0, 1, CELLS + 1)[1:-1]
    y = -np.log(shares) / (1 - shares)
    rate = np.append((y - 1 - np.log(y)) / 2, 0.0)  # falls with the share
    exponent = float((np.insert(shares, 0, 0.0) * goal + (forced - 1) * rate).min())
    factor = math.log(m - 0.5) + math.log1p(math.e * stage_budget * math.ceil(goal))
    return min(1.0, math.exp(min(0.0, factor - exponent)))


def tiny_delta_bound(means: ArrayLike, variances: ArrayLike, budget: ArrayLike, delta: float) -> float | np.ndarray:
    """Return the closed bound on the mistakes of SHAdaVar that falls exponentially if δ does, Gaussian rewards.

    For any integer q with 4L < q-1 and Kq < b, and with x = L/(q-1) and α = (1-2√x)/(1+2√x+2x), it is (m - 1/2) times
    exp[-α (b-Kq) Δ_min²/(4Σσ²)] + b δ^(1 + Δ_min²/σ_max²), at most 1. The best q is taken. `shadavar_bound` is sharper.

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
    >>> f"{tiny_delta_bound([0.5, 0.0], [1.0, 0.25], 4000, 1e-19):.1e}"
    '1.3e-18'
    """
    means, variances = problem(means, variances)
    log_delta, size, squared = log_inverse(delta), means.size, least_gap(means) ** 2
    shortfall = log_delta * (1 + squared / variances.max())

    def bound(stage_budget: int) -> float:
        pulls = np.arange(math.floor(4 * log_delta) + 2, -(-stage_budget // size))
        if not pulls.size:
            return 1.0
        root = np.sqrt(log_delta / (pulls - 1))
        alpha = (1 - 2 * root) / (1 + 2 * root + 2 * root**2)
        exponent = float((alpha * (stage_budget - size * pulls)).max()) * squared / (4 * variances.sum())
        total = math.exp(-exponent) + math.exp(math.log(stage_budget) - shortfall)
        return min(1.0, (stages(size) - 0.5) * total)

    return for_each(stage_budgets(budget, size), bound)
