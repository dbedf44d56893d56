"""Gap-based exploration: pull the arm whose gap to the best may be smallest (Gabillon et al., 2011).

GapE and GapE-V are told a complexity of the problem; A-GapE and A-GapE-V estimate it. The forms with V use variances.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar

import numpy as np

from .. import checks, schedules
from ..compiling import compiled, inlined
from ..problems import Bandits
from ..sampling import draw
from .base import Known, Policy, Progress, Steps, Tally, argmax
from .loops import copy, highest, observe, open_tournament, set_key, tree_size

Radius = Callable[[Tally, dict[int, float]], Callable[[int], float]]  # of an arm, given all tallies and gaps

LEAST_COMPLEXITY = 1e-300  # with rewards far larger than their bound it would come out as 0

# --- the plain version ---------------------------------------------------------------------------------


def explore(progress: Progress, budget: int, first: int, radius: Radius) -> Steps:
    """Pull every arm `first` times, then the arm with the highest radius - gap; answer with the highest mean.

    The gap of an arm is the distance of its mean to the best of the others. `radius(tally, gaps)` returns the
    radius as a function of the arm.
    """
    tally, arms = progress.tally, range(len(progress.tally.count))
    for t in range(sum(tally.count), budget):
        if t < first * len(arms):
            tally.add(t // first, (yield t // first))
            continue
        best = argmax(arms, tally.mean)
        second = argmax((arm for arm in arms if arm != best), tally.mean)
        rival = {arm: tally.mean(second if arm == best else arm) for arm in arms}
        width = radius(tally, {arm: tally.mean(best) - rival[arm] for arm in arms})
        # radius - gap = radius + rival - (best mean): the last term is common to all arms.
        arm = argmax(arms, lambda arm: rival[arm] + width(arm))  # noqa: B023
        tally.add(arm, (yield arm))
    return argmax(arms, tally.mean)


def gap_radius(tally: Tally, a: float, bound: float) -> Callable[[int], float]:
    """GapE: b sqrt(a / T)."""
    return lambda arm: sqrt(a) * (bound * sqrt(1.0 / tally.count[arm]))


def gap_variance_radius(tally: Tally, a: float, bound: float) -> Callable[[int], float]:
    """GapE-V: sqrt(2 a var / T) + 7 a b / (3 (T - 1)), where var = squares / (T - 1)."""

    def width(arm: int) -> float:
        count, squares = tally.count[arm], tally.squares[arm]
        part = 2.0 / (count * (count - 1.0))
        return sqrt(a) * sqrt(part * squares) + a * (7.0 * bound / (3.0 * (count - 1.0)))

    return width


def estimated_complexity(tally: Tally, gaps: dict[int, float], bound: float) -> float:
    """A-GapE: H with every gap as large as plausible."""
    total = 0.0
    for arm, gap in gaps.items():
        gap += bound * sqrt(1.0 / (2.0 * tally.count[arm]))
        total += bound * bound / (gap * gap)
    return max(LEAST_COMPLEXITY, total)


def estimated_variance_complexity(tally: Tally, gaps: dict[int, float], bound: float) -> float:
    """A-GapE-V: H_v with every gap as large and every standard deviation as small as plausible."""
    total = 0.0
    for arm, gap in gaps.items():
        count = tally.count[arm]
        gap += bound * sqrt(1.0 / (2.0 * count))
        deviation = max(0.0, sqrt(tally.variance(arm)) - bound * sqrt(2.0 / (count - 1)))
        root = deviation + sqrt(deviation * deviation + 16.0 / 3.0 * bound * gap)
        total += root * root / (gap * gap)
    return max(LEAST_COMPLEXITY, total)


# --- the compiled loops --------------------------------------------------------------------------------


@inlined
def radius_parts(a, bound, with_variance, count):
    """Return (part, tail): after `count` pulls the gap of an arm may be off by sqrt(a) sqrt(part * squares) + tail."""
    if with_variance:
        return 2.0 / (count * (count - 1.0)), a * (7.0 * bound / (3.0 * (count - 1.0)))
    return 0.0, sqrt(a) * (bound * sqrt(1.0 / count))


@inlined
def two_best(means):
    """Return the position of the highest mean, that of the highest among the others, and the third mean."""
    best, second = (0, 1) if means[0] >= means[1] else (1, 0)
    third = -np.inf
    for i in range(2, means.size):
        if means[i] > third:
            if means[i] > means[best]:
                best, second, third = i, best, means[second]
            elif means[i] > means[second]:
                second, third = i, means[second]
            else:
                third = means[i]
    return best, second, third


@inlined
def may_cross(means, i, best, second, third):
    """Return a bound on all means but the two best, and whether arm i, just pulled, may have crossed one of those."""
    mean = means[i]
    if i == best:
        return third, mean <= means[second]
    if i == second:
        return third, mean < third or mean >= means[best]
    return max(third, mean), mean >= means[second]


@compiled
def explore_block(rewards, budget, a, bound, with_variance, pulls, recommended):
    """GapE and GapE-V: pull the arm with the highest radius - gap.

    The gap of the best arm is to the second best, that of any other to the best. Adding the best mean to all
    indices changes no comparison and leaves mean + radius, with the second mean in place of the best arm's own.
    The best arm stays out of the tournament, since its index moves with the second mean. The part of the
    radius that depends on the count is computed one pull ahead, so that nothing has to wait for it.
    """
    n_runs, n_arms = pulls.shape
    first = 2 if with_variance else 1
    counts = np.empty(n_arms, np.int64)
    totals, squares, means, radii = np.empty(n_arms), np.empty(n_arms), np.empty(n_arms), np.empty(n_arms)
    parts, tails = np.empty(n_arms), np.empty(n_arms)
    winners, best_keys = np.empty(tree_size(n_arms), np.int64), np.empty(tree_size(n_arms))
    for r in range(n_runs):
        root = sqrt(a[r])
        counts[:] = 0
        totals[:] = 0.0
        squares[:] = 0.0
        open_tournament(winners, best_keys)
        for i in range(n_arms):
            for k in range(first):
                observe(draw(rewards, r, i, k), i, counts, totals, squares)
            means[i] = totals[i] / counts[i]
            part, tail = radius_parts(a[r], bound[r], with_variance, first)
            radii[i] = root * sqrt(part * squares[i]) + tail
            parts[i], tails[i] = radius_parts(a[r], bound[r], with_variance, first + 1)
            set_key(winners, best_keys, i, means[i] + radii[i])
        best, second, third = two_best(means)
        set_key(winners, best_keys, best, -np.inf)
        for _ in range(budget - first * n_arms):
            i, key = winners[1], means[second] + radii[best]
            if key > best_keys[1] or (key == best_keys[1] and best < i):
                i = best
            x = draw(rewards, r, i, counts[i])
            counts[i] += 1
            totals[i] += x
            mean = totals[i] / counts[i]
            radius = tails[i]
            if with_variance:
                squares[i] += (x - means[i]) * (x - mean)
                radius = root * sqrt(parts[i] * squares[i]) + tails[i]
            means[i], radii[i] = mean, radius
            if i != best:
                set_key(winners, best_keys, i, mean + radius)
            parts[i], tails[i] = radius_parts(a[r], bound[r], with_variance, counts[i] + 1)
            third, changed = may_cross(means, i, best, second, third)
            if changed:
                old_best = best
                best, second, third = two_best(means)
                if best != old_best:
                    set_key(winners, best_keys, old_best, means[old_best] + radii[old_best])
                    set_key(winners, best_keys, best, -np.inf)
        copy(counts, pulls[r])
        recommended[r] = best


@inlined
def estimate_terms(terms, start, stop, best_mean, rivals, slacks, deviations, bound):
    """Write each arm's term of the estimated complexity; a gap is `best_mean` - `rivals`, enlarged by its slack.

    Without variances `deviations` is empty.
    """
    if deviations.size > 0:
        for i in range(start, stop):
            gap = best_mean - rivals[i] + slacks[i]
            deviation = deviations[i]
            root = deviation + sqrt(deviation * deviation + 16.0 / 3.0 * bound * gap)
            terms[i] = root * root / (gap * gap)
    else:
        for i in range(start, stop):
            gap = best_mean - rivals[i] + slacks[i]
            terms[i] = bound * bound / (gap * gap)


@inlined
def adaptive_keys(keys, rivals, roots, tails, a):
    """Write each arm's index: its rival's mean plus sqrt(a) times `roots` plus a times `tails`."""
    root = sqrt(a)
    for i in range(keys.size):
        keys[i] = rivals[i] + (root * roots[i] + a * tails[i])


@compiled
def explore_block_adaptively(rewards, budget, effort, bound, with_variance, pulls, recommended):
    """A-GapE and A-GapE-V: as `explore_block`, with a = effort / complexity estimated anew in every round.

    The estimate takes gaps as large and deviations as small as plausible. Every index changes with it, so a round
    visits all arms, in short loops free of branches that compile to vector instructions. The estimate itself is a
    sum over arms. A pull of an arm other than the two best changes one term, so the sum is resumed there: `sums[j]`
    holds the terms before j.
    """
    n_runs, n_arms = pulls.shape
    first = 2 if with_variance else 1
    counts = np.empty(n_arms, np.int64)
    totals, squares, means, keys = np.empty(n_arms), np.empty(n_arms), np.empty(n_arms), np.empty(n_arms)
    slacks, terms, sums = np.empty(n_arms), np.empty(n_arms), np.zeros(n_arms)
    deviations = np.empty(n_arms if with_variance else 0)
    roots, tails = np.empty(n_arms), np.zeros(n_arms)
    for r in range(n_runs):
        b = bound[r]
        counts[:] = 0
        totals[:] = 0.0
        squares[:] = 0.0
        i, best, second, third, changed = 0, 0, 1, -np.inf, True
        for t in range(budget):
            start, stop = 0, n_arms
            if t < first * n_arms:
                i = t // first
            else:
                if t == first * n_arms or changed:
                    best, second, third = two_best(means)
                elif i != best and i != second:
                    start, stop = i, i + 1
                # Each arm's rival is the best of the others: the second for the best arm. It takes its place meanwhile.
                own, means[best] = means[best], means[second]
                estimate_terms(terms, start, stop, own, means, slacks, deviations, b)
                total = sums[start]
                for j in range(start, n_arms):
                    sums[j] = total
                    total += terms[j]
                adaptive_keys(keys, means, roots, tails, effort / max(LEAST_COMPLEXITY, total))
                means[best] = own
                i = highest(keys)
            observe(draw(rewards, r, i, counts[i]), i, counts, totals, squares)
            count = counts[i]
            means[i] = totals[i] / count
            slacks[i] = b * sqrt(1.0 / (2.0 * count))
            roots[i] = b * sqrt(1.0 / count)
            if with_variance and count > 1:
                deviation = sqrt(squares[i] / (count - 1)) - b * sqrt(2.0 / (count - 1))
                deviations[i] = max(0.0, deviation)
                roots[i] = sqrt(2.0 / (count * (count - 1.0)) * squares[i])
                tails[i] = 7.0 * b / (3.0 * (count - 1.0))
            third, changed = may_cross(means, i, best, second, third)
        copy(counts, pulls[r])
        recommended[r] = two_best(means)[0]


# --- the policies --------------------------------------------------------------------------------------


def reward_bounds(
    policy: Policy, argument: str, value: float | None, budget: int, problem: Bandits | None
) -> np.ndarray:
    """Return the largest reward b of each run: the value given, or the paper's b = max_i mu_i + sigma_i sqrt(log n)."""
    if value is not None:
        return np.full(1 if problem is None else problem.runs, float(value))
    if problem is None:
        raise ValueError(
            f"{policy.name} has {argument}=None; outside simulation give the largest reward: {argument}=..."
        )
    bound = np.asarray(schedules.reward_bound(problem.means, problem.variances, budget))
    least = 1 / checks.LARGEST_REWARD
    if (bound < least).any():
        raise ValueError(
            f"the largest reward comes out as b = {bound[bound < least][0]:g}, but {policy.name} takes rewards to lie "
            f"in [0, b]; shift them, or give the policy its own {argument}=..."
        )
    return bound


class Exploration(Policy):
    """Gabillon et al. (2011): pull the arm with the highest radius - gap, answer with the highest mean.

    The rewards are taken to lie in [0, b]. Simulations use the paper's b = max_i mu_i + sigma_i sqrt(log n).
    """

    with_variance: ClassVar[bool]
    effort_constant: ClassVar[float]
    error_constant: ClassVar[float]  # 1 / c in the error bound exp(-c n / H)
    bound: float | None
    scaling: float | str

    def __post_init__(self) -> None:
        if self.bound is not None:
            checks.settle(self, bound=checks.positive("bound", self.bound))
        if isinstance(self.scaling, str):
            checks.settle(self, scaling=checks.choice("scaling", self.scaling, ("paper",)))
        else:
            checks.settle(self, scaling=checks.positive("scaling", self.scaling))

    @property
    def first(self) -> int:
        """Pulls of each arm before the index is used."""
        return 2 if self.with_variance else 1

    def least_budget(self, n_arms: int) -> int:
        return self.first * n_arms

    @property
    def budget_rule(self) -> str:
        return "two pulls per arm" if self.with_variance else "one pull per arm"

    def effort(self, n_arms: int, budget: int) -> float:
        """Return a H, where a is the exploration parameter: a constant times the free budget over the scaling."""
        own = 4 * math.log2(n_arms) / self.error_constant  # c / c'
        scaling = own if self.scaling == "paper" else float(self.scaling)
        return self.effort_constant * (budget - self.first * n_arms) / scaling

    def known(self, n_arms: int, budget: int, problem: Bandits | None = None) -> Known:
        return Known(bound=reward_bounds(self, "bound", self.bound, budget, problem))


@dataclass(frozen=True)
class KnownComplexity(Exploration):
    """GapE and GapE-V are told the complexity H, which depends on the unknown means."""

    complexity: float | None = None
    bound: float | None = None
    scaling: float | str = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.complexity is not None:
            checks.settle(self, complexity=checks.positive("complexity", self.complexity))

    def known(self, n_arms: int, budget: int, problem: Bandits | None = None) -> Known:
        bound = reward_bounds(self, "bound", self.bound, budget, problem)
        if self.complexity is not None:
            complexity = np.full(bound.size, float(self.complexity))
        elif problem is None:
            raise ValueError(f"{self.name} has complexity=None; outside simulation give the complexity: complexity=...")
        elif self.with_variance:
            complexity = schedules.gapev_complexity(problem.means, problem.variances, bound)
        else:
            complexity = schedules.gape_complexity(problem.means, bound)
        return Known(bound=bound, complexity=np.maximum(LEAST_COMPLEXITY, complexity))

    def resume(
        self,
        n_arms: int,
        budget: int,
        progress: Progress,
        bound: float = 1.0,
        complexity: float = 1.0,
        **known: Any,
    ) -> Steps:
        a = self.effort(n_arms, budget) / complexity
        width = gap_variance_radius if self.with_variance else gap_radius
        return explore(progress, budget, self.first, lambda tally, gaps: width(tally, a, bound))

    def play(self, rewards: Any, budget: int, known: Known, pulls: np.ndarray, recommended: np.ndarray) -> None:
        assert known.complexity is not None
        a = self.effort(pulls.shape[1], budget) / known.complexity
        explore_block(rewards, budget, a, known.bound, self.with_variance, pulls, recommended)

    @classmethod
    def examples(cls) -> list[Policy]:
        return [cls(), cls(scaling="paper")]


@dataclass(frozen=True)
class EstimatedComplexity(Exploration):
    """A-GapE and A-GapE-V estimate the complexity anew in every round."""

    bound: float | None = None
    scaling: float | str = 1.0

    def resume(self, n_arms: int, budget: int, progress: Progress, bound: float = 1.0, **known: Any) -> Steps:
        effort = self.effort(n_arms, budget)
        width = gap_variance_radius if self.with_variance else gap_radius
        estimate = estimated_variance_complexity if self.with_variance else estimated_complexity
        radius = lambda tally, gaps: width(tally, effort / estimate(tally, gaps, bound), bound)  # noqa: E731
        return explore(progress, budget, self.first, radius)

    def play(self, rewards: Any, budget: int, known: Known, pulls: np.ndarray, recommended: np.ndarray) -> None:
        effort = self.effort(pulls.shape[1], budget)
        explore_block_adaptively(rewards, budget, effort, known.bound, self.with_variance, pulls, recommended)


class GapE(KnownComplexity):
    """Gap-based exploration: radius b sqrt(a / T), a = (4/9) (n - K) / H, H = sum_k b^2 / Delta_k^2.

    Parameters
    ----------
    complexity, bound : float, optional
        H and b. A simulation computes them from the problem unless they are given here.
    scaling : float or "paper"
        H is multiplied by this. "paper" is 4 log2(K) / 144, as in its experiments.

    Examples
    --------
    >>> print(GapE(scaling="paper"))
    GapE(scaling='paper')
    """

    name: ClassVar[str] = "GapE"
    style: ClassVar[dict[str, str]] = {"color": "#CC79A7", "marker": "v", "linestyle": "-."}
    with_variance: ClassVar[bool] = False
    effort_constant: ClassVar[float] = 4 / 9
    error_constant: ClassVar[float] = 144


class GapEV(KnownComplexity):
    """GapE with variances: radius sqrt(2 a var / T) + 7 a b / (3 (T - 1)), a = (8/9) (n - 2K) / H_v.

    H_v = sum_k (sigma_k + sqrt(sigma_k^2 + (16/3) b Delta_k))^2 / Delta_k^2.

    Parameters
    ----------
    complexity, bound : float, optional
        H_v and b. A simulation computes them from the problem unless they are given here.
    scaling : float or "paper"
        H_v is multiplied by this. "paper" is 4 log2(K) / 512, as in its experiments.

    Examples
    --------
    >>> print(GapEV())
    GapE-V
    """

    name: ClassVar[str] = "GapE-V"
    style: ClassVar[dict[str, str]] = {"color": "#E69F00", "marker": "<", "linestyle": "-."}
    with_variance: ClassVar[bool] = True
    effort_constant: ClassVar[float] = 8 / 9
    error_constant: ClassVar[float] = 512


class AGapE(EstimatedComplexity):
    """GapE with H estimated in every round, from gaps enlarged by b sqrt(1 / (2T)).

    Parameters
    ----------
    bound : float, optional
        The largest reward b. A simulation computes it from the problem; with `bound=1` the policy
        knows nothing in advance, because b then only sets the scale on which gaps are enlarged.
    scaling : float or "paper"
        H is multiplied by this. "paper" is 4 log2(K) / 144.

    Examples
    --------
    >>> print(AGapE(bound=1))
    A-GapE(bound=1)
    """

    name: ClassVar[str] = "A-GapE"
    style: ClassVar[dict[str, str]] = {"color": "#882255", "marker": "p", "linestyle": ":"}
    with_variance: ClassVar[bool] = False
    effort_constant: ClassVar[float] = GapE.effort_constant
    error_constant: ClassVar[float] = GapE.error_constant

    @classmethod
    def examples(cls) -> list[Policy]:
        return [cls(), cls(bound=1, scaling="paper")]


class AGapEV(EstimatedComplexity):
    """GapE-V with H_v estimated in every round, from enlarged gaps and deviations reduced by b sqrt(2 / (T - 1)).

    Parameters
    ----------
    bound : float, optional
        The largest reward b. A simulation computes it from the problem unless it is given here.
    scaling : float or "paper"
        H_v is multiplied by this. "paper" is 4 log2(K) / 512.

    Examples
    --------
    >>> print(AGapEV(scaling="paper"))
    A-GapE-V(scaling='paper')
    """

    name: ClassVar[str] = "A-GapE-V"
    style: ClassVar[dict[str, str]] = {"color": "#B8860B", "marker": "h", "linestyle": ":"}
    with_variance: ClassVar[bool] = True
    effort_constant: ClassVar[float] = GapEV.effort_constant
    error_constant: ClassVar[float] = GapEV.error_constant

    @classmethod
    def examples(cls) -> list[Policy]:
        return [cls(), cls(bound=1)]
