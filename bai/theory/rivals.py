"""How likely a stage is to lose the best arm: an integral over its own estimate.

The rivals are not independent of each other, since all are compared with the same estimate of the best arm. Given
that estimate they are. The best arm goes if at least h = ⌈k/2⌉ of its k - 1 rivals do as well, and the number of
those is a sum of independent coins: a Poisson-binomial tail, averaged over the best arm's estimate.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr

from .. import checks
from ..compiling import compiled
from .arguments import least_gap

NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)
NEGLIGIBLE = 45.0  # what is smaller than the largest value by a factor of e^45 is left out
LEAST = -760.0  # no float is as small as e^-760, so smaller values need no digits
REACH = 41.0  # φ is below e^-800 from there on
SMOOTH = 3.0  # a panel is halved until the integrand varies by no more than a factor of e^3 in it


@compiled
def log_normal_tail(x):
    """Return log Q(x); beyond 25 by a series whose error is below the last digit of a float."""
    if x < 25:
        return math.log(math.erfc(x / math.sqrt(2.0)) / 2)
    y = 1 / (x * x)
    series = math.log1p(-y * (1 - y * (3 - y * (15 - y * 105))))
    return -x * x / 2 - math.log(x * math.sqrt(2 * math.pi)) + series


@compiled
def log_tail(log_p, survivors):
    """Return log P(at least h of the independent events occur), given their log-probabilities in decreasing order.

    The weight of c occurrences is kept relative to the product of the c largest probabilities, so nothing underflows.
    """
    weights, product = np.zeros(survivors + 1), 0.0
    weights[0] = 1.0
    for log_one in log_p[:survivors]:
        product += log_one
    if product == -np.inf:
        return product
    # Ratios of probabilities, by division where all are far from underflow.
    divide = log_p[survivors - 1] > -600
    inverse = np.exp(-log_p[:survivors]) if divide else np.empty(0)
    for j in range(log_p.size):
        occurs, fails = math.exp(log_p[j]), -math.expm1(log_p[j])
        least = survivors - (log_p.size - 1 - j)  # with fewer occurrences so far h cannot be reached any more
        for c in range(min(j + 1, survivors), max(0, least - 1), -1):
            ratio = occurs * inverse[c - 1] if divide else math.exp(log_p[j] - log_p[c - 1])
            weights[c] = weights[c - 1] * ratio + weights[c] * (1.0 if c == survivors else fails)
        weights[0] *= fails
    return min(0.0, product + math.log(weights[survivors]))


@compiled
def log_win(t, rivals, factor, log_p):
    """Put into `log_p`, in increasing order, the most that each rival's log-chance of reaching μ_1 + t can be.

    The rows of `rivals` are gaps, and the two variances between which their estimates have theirs. More noise helps a
    rival that has to climb, less noise one that has to stay. Where it has to climb, `factor` is added.
    """
    gaps, low, high = rivals
    for i in range(gaps.size):
        x = t + gaps[i]
        v = high[i] if x > 0 else low[i]
        if v > 0:
            log_p[i] = min(0.0, log_normal_tail(x / math.sqrt(v)) + (factor if x > 0 else 0.0))
        else:
            log_p[i] = -np.inf if x > 0 else 0.0
    log_p.sort()


@compiled
def log_lost(t, rivals, factor, present, survivors, log_p):
    """Return the logarithm of G(t): the chance that h of the rivals present, the likeliest ones, reach μ_1 + t."""
    log_win(t, rivals, factor, log_p)
    return log_tail(log_p[::-1][:present], survivors)


@compiled
def log_half(sign, spread, edges, rivals, factor, present, survivors):
    """Return log ∫ φ(z) G(z √v) dz over z < 0 or z > 0, panel by panel between the edges (distances from 0)."""
    log_p = np.empty(rivals.shape[1])
    if spread == 0:
        return math.log(0.5) + log_lost(0.0, rivals, factor, present, survivors, log_p)
    constant = -math.log(2 * math.pi) / 2
    # Distances y = |z|. Going outwards φ falls; G falls for z > 0 and rises for z < 0.
    ends = np.empty(edges.size)
    best = LEAST
    for i in range(edges.size):
        if constant - edges[i] ** 2 / 2 < best - NEGLIGIBLE:  # where φ is so small, G <= 1 is all we need
            ends[i] = 0.0 if sign < 0 else ends[i - 1]
            continue
        ends[i] = log_lost(sign * edges[i] * spread, rivals, factor, present, survivors, log_p)
        best = max(best, constant - edges[i] ** 2 / 2 + ends[i])
    lefts, rights, near, far = np.empty(99), np.empty(99), np.empty(99), np.empty(99)
    total = 0.0
    for i in range(edges.size - 1):
        depth = 1
        lefts[0], rights[0], near[0], far[0] = edges[i], edges[i + 1], ends[i], ends[i + 1]
        while depth > 0:
            depth -= 1
            a, b, at_a, at_b = lefts[depth], rights[depth], near[depth], far[depth]
            if constant - a * a / 2 + max(at_a, at_b) + math.log(b - a) < best - NEGLIGIBLE:
                continue
            if (b - a > 1 or (b * b - a * a) / 2 + abs(at_a - at_b) > SMOOTH) and b - a > 1e-12 * b:
                middle = (a + b) / 2
                at = log_lost(sign * middle * spread, rivals, factor, present, survivors, log_p)
                value = constant - middle * middle / 2 + at
                if value > best:
                    total *= math.exp(best - value)
                    best = value
                # The outer half waits; the inner one is next.
                lefts[depth], rights[depth], near[depth], far[depth] = middle, b, at, at_b
                lefts[depth + 1], rights[depth + 1], near[depth + 1], far[depth + 1] = a, middle, at_a, at
                depth += 2
                continue
            for j in range(NODES.size):
                y = (a + b + (b - a) * NODES[j]) / 2
                at = log_lost(sign * y * spread, rivals, factor, present, survivors, log_p)
                total += WEIGHTS[j] * (b - a) / 2 * math.exp(constant - y * y / 2 + at - best)
    return best + math.log(total) if total > 0 else LEAST


def _edges(spread: float, rivals: np.ndarray, side: int, swaps: ArrayLike = ()) -> np.ndarray:
    """Return where G may jump or turn sharply: where a rival has to do exactly as well as its mean, and around it.

    Also the levels in `swaps`, where one of the likeliest rivals is replaced by another.
    """
    (gaps, low, high), reach = rivals, REACH
    edges = [0.0, reach]
    if side < 0:
        turns = gaps / spread
        edges += turns.tolist()
        for v, direction in ((high, -1), (low, 1)):
            width = np.sqrt(v) / spread
            sharp = (v > 0) & (width < 0.5)
            edges += [(turns + direction * c * width)[sharp] for c in (2, 8, 38)]
    edges += [side * np.asarray(swaps, float) / spread]
    return np.unique(np.clip(np.hstack(edges), 0, reach))


def _swaps(rivals: np.ndarray, present: int, spread: float) -> np.ndarray:
    """Return the levels t, within reach, at which one of the likeliest rivals is replaced by another.

    The chance Q((t + Δ)/√v) falls with (t + Δ)/√v, a straight line in t; two of these lines cross at most once.
    """
    distinct, copies = np.unique(rivals.T, axis=0, return_counts=True)
    gaps, low, high = distinct.T
    found = [np.empty(0)]
    for v, climbs in ((high, True), (low, False)):
        root = np.sqrt(v)
        for i in range(gaps.size):
            with np.errstate(divide="ignore", invalid="ignore"):
                t = (gaps * root[i] - gaps[i] * root) / (root - root[i])
                same = (v > 0) & (v[i] > 0) & ((t + gaps > 0) == climbs) & ((t + gaps[i] > 0) == climbs)
                t = t[same & (np.abs(t) < REACH * spread) & (np.arange(gaps.size) > i)]
                x = t[:, None] + gaps
                lines = np.where(x > 0, x / np.sqrt(high), np.where(x < 0, x / np.sqrt(low), 0.0))
            apart = lines - lines[:, [i]]
            near = 1e-9 * (1 + np.abs(lines[:, [i]]))
            before, after = ((apart < sign * near) @ copies for sign in (-1, 1))
            found.append(t[(before < present) & (present < after)])
    return np.concatenate(found)


def log_rivals(gaps: np.ndarray, low: np.ndarray, high: np.ndarray, best: tuple[float, float], size: int) -> float:
    """Return the logarithm of Ξ, a bound on the probability that a stage of `size` arms loses the best one.

    Any `size` - 1 of the rivals may be present. Their estimates are independent normals with variances from `low` to
    `high`, that of the best arm between the two numbers of `best`. If `low` is `high` and all rivals are present this
    is the probability itself.
    """
    halves, rivals = [], np.array([gaps, low, high])
    swaps = _swaps(rivals, size - 1, math.sqrt(best[1])) if size <= gaps.size else ()
    for side, v in ((-1, best[1]), (1, best[0])):
        spread = math.sqrt(v)
        edges = _edges(spread, rivals, side, swaps) if spread > 0 else np.zeros(1)
        halves.append(log_half(side, spread, edges, rivals, 0.0, size - 1, (size + 1) // 2))
    return min(0.0, float(np.logaddexp(*halves)))


def log_ever(gaps: np.ndarray, rho: float, survivors: int) -> float:
    """Return the logarithm of the chance that h rivals ever look as good as the best arm, all with ρ σ² pulls or more.

    The largest error that a mean of Gaussian rewards ever has from then on is at most |Z|/√ρ in law, Z standard normal.
    """
    rivals = np.array([gaps, np.zeros(gaps.size), np.full(gaps.size, 1 / rho)])
    spread, twice = math.sqrt(1 / rho), math.log(2)
    edges = _edges(spread, rivals, -1)
    return min(0.0, twice + log_half(-1, spread, edges, rivals, twice, gaps.size, survivors))


def log_pairs(gaps: np.ndarray, v: np.ndarray, size: int, gaussian: bool = True) -> float:
    """Return the logarithm of Lemma A's bound; v holds the variance of each rival's difference from the best arm.

    With two arms this is the worst pair, and no bound can be smaller.
    """
    x = np.divide(gaps, np.sqrt(v), out=np.full(gaps.size, math.inf), where=v > 0)
    log_p = log_ndtr(-x) if gaussian else -(x**2) / 2
    log_p = np.sort(log_p)[::-1][: size - 1]
    if log_p[0] == -math.inf:
        return -math.inf
    sums = np.logaddexp.accumulate(log_p[::-1])[::-1]  # sums[r] is over all but the r largest
    survivors = (size + 1) // 2
    return min(0.0, float((sums[:survivors] - np.log(np.arange(survivors, 0, -1))).min()))


def log_stage(gaps: np.ndarray, low: np.ndarray, high: np.ndarray, best: tuple[float, float], size: int) -> float:
    """Return the logarithm of the smaller of the two bounds on the loss of the best arm in a stage."""
    pairs = log_pairs(gaps, best[1] + high, size)
    return pairs if size == 2 or pairs == -math.inf else min(pairs, log_rivals(gaps, low, high, best, size))


def one_of(log_stages: list[float]) -> float:
    """Return 1 - Π_s (1 - B_s), the probability that one of the stages loses the best arm, each given the past."""
    values = np.exp(np.minimum(log_stages, 0.0))
    return 1.0 if values.max() >= 1 else abs(float(np.expm1(np.log1p(-values).sum())))


def elimination_probability(means: ArrayLike, variances: ArrayLike, pulls: ArrayLike) -> float:
    """Return the probability that a stage with these pulls eliminates its best arm: no bound, the number itself.

    The stage keeps the ⌈k/2⌉ arms with the highest means of N_i Gaussian rewards. In the first stage of SH this is a
    lower bound on the probability of a mistake.

    Parameters
    ----------
    means, variances : array_like, shape (k,)
        The arms of the stage: a unique best one.
    pulls : array_like of int, shape (k,)
        N_i, at least 1.

    Examples
    --------
    >>> round(elimination_probability([1.0, 0.5, 0.5, 0.0], [1.0, 1.0, 0.1, 0.1], [10, 10, 10, 10]), 4)
    0.0392
    """
    means, variances = checks.arms("means", means), checks.arms("variances", variances, least=0)
    checks.same_shape(means, variances)
    least_gap(means)
    pulls = checks.integers("pulls", pulls, 1)
    checks.compatible(means=means, pulls=pulls)
    errors, best = variances / pulls, means.argmax()
    own, rivals, gaps = errors[best], np.delete(errors, best), means[best] - np.delete(means, best)
    if means.size == 2:
        return math.exp(log_pairs(gaps, own + rivals, 2))
    return math.exp(log_rivals(gaps, rivals, rivals, (own, own), means.size))
