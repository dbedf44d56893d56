"""Upper confidence bounds, tuned with a complexity of the problem that the policy is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, sqrt
from typing import Any, ClassVar

import numpy as np

from .. import checks, schedules
from ..compiling import compiled
from ..problems import Bandits
from ..sampling import draw
from .allocation import allocate
from .base import Known, Policy, Progress, Steps, Tally, argmax
from .gaps import LEAST_COMPLEXITY, reward_bounds
from .loops import copy, highest, observe, open_tournament, set_key, tree_size

# --- the plain versions ----------------------------------------------------------------------------------


def optimism(progress: Progress, budget: int, a: float) -> Steps:
    """UCB-E: pull every arm once, then the one with the highest mean + sqrt(a / N); answer with the highest mean."""
    arms = range(len(progress.tally.count))
    bound = lambda tally, arm: tally.mean(arm) + sqrt(a / tally.count[arm])  # noqa: E731
    return allocate(progress, budget, 1, lambda tally: argmax(arms, lambda arm: bound(tally, arm)))


def plain_radius(tally: Tally, arm: int, a: float, bound: float) -> float:
    """Half the length of an arm's interval in UGapEb."""
    return sqrt(a / tally.count[arm])


def variance_radius(tally: Tally, arm: int, a: float, bound: float) -> float:
    """Half the length of an arm's interval in UGapEb-V."""
    count = tally.count[arm]
    return sqrt(2.0 * a * tally.variance(arm) / count) + 7.0 * a * bound / (3.0 * (count - 1))


def unified(progress: Progress, budget: int, first: int, width: Callable[[Tally, int], float]) -> Steps:
    """UGapEb: the arm that may lose least against the others, or the one that may beat it: the less certain of them.

    Every arm is pulled `first` times before. The answer is the arm that could lose least at any time.
    """
    tally, memory, arms = progress.tally, progress.memory, range(len(progress.tally.count))

    def radius(arm: int) -> float:
        return width(tally, arm)

    def upper(arm: int) -> float:
        return tally.mean(arm) + radius(arm)

    for t in range(sum(tally.count), budget):
        arm = t // first
        if t >= first * len(arms):
            top = argmax(arms, upper)
            second = argmax((arm for arm in arms if arm != top), upper)
            loss = {arm: upper(second if arm == top else top) - (tally.mean(arm) - radius(arm)) for arm in arms}
            safest = min(arms, key=loss.__getitem__)
            rival = second if safest == top else top
            if loss[safest] < memory.get("loss", inf):
                memory["loss"], memory["answer"] = loss[safest], safest
            arm = safest if radius(safest) >= radius(rival) else rival
        tally.add(arm, (yield arm))
    return memory.get("answer", argmax(arms, tally.mean))


# --- the compiled loops ----------------------------------------------------------------------------------


@compiled
def optimism_block(rewards, budget, a, pulls, recommended):
    n_runs, n_arms = pulls.shape
    counts, totals, means = np.empty(n_arms, np.int64), np.empty(n_arms), np.empty(n_arms)
    winners, best_keys = np.empty(tree_size(n_arms), np.int64), np.empty(tree_size(n_arms))
    for r in range(n_runs):
        counts[:] = 0
        totals[:] = 0.0
        open_tournament(winners, best_keys)
        for t in range(budget):
            i = t if t < n_arms else winners[1]
            totals[i] += draw(rewards, r, i, counts[i])
            counts[i] += 1
            means[i] = totals[i] / counts[i]
            set_key(winners, best_keys, i, means[i] + sqrt(a[r] / counts[i]))
        copy(counts, pulls[r])
        recommended[r] = highest(means)


@compiled
def unified_block(rewards, budget, a, bounds, pulls, recommended):
    """UGapEb, and with `bounds`, the largest rewards, UGapEb-V."""
    n_runs, n_arms = pulls.shape
    with_variance = bounds.size > 0
    first = 2 if with_variance else 1
    counts, totals, squares, means = np.empty(n_arms), np.empty(n_arms), np.empty(n_arms), np.empty(n_arms)
    radii, uppers, lowers = np.empty(n_arms), np.empty(n_arms), np.empty(n_arms)
    for r in range(n_runs):
        counts[:] = 0.0
        totals[:] = 0.0
        squares[:] = 0.0
        answer, lowest = -1, np.inf
        for t in range(budget):
            i = t // first
            if t >= first * n_arms:
                top = highest(uppers)
                best, uppers[top] = uppers[top], -np.inf
                second = highest(uppers)
                uppers[top] = best
                safest, least = top, uppers[second] - lowers[top]
                for j in range(n_arms):
                    loss = best - lowers[j] if j != top else least
                    if loss < least or (loss == least and j < safest):
                        safest, least = j, loss
                rival = second if safest == top else top
                if least < lowest:
                    answer, lowest = safest, least
                i = safest if radii[safest] >= radii[rival] else rival
            observe(draw(rewards, r, i, int(counts[i])), i, counts, totals, squares)
            means[i] = totals[i] / counts[i]
            if not with_variance:
                radii[i] = sqrt(a[r] / counts[i])
            elif counts[i] > 1:
                variance = squares[i] / (counts[i] - 1)
                radii[i] = sqrt(2.0 * a[r] * variance / counts[i]) + 7.0 * a[r] * bounds[r] / (3.0 * (counts[i] - 1))
            uppers[i], lowers[i] = means[i] + radii[i], means[i] - radii[i]
        copy(counts, pulls[r])
        recommended[r] = answer if answer >= 0 else highest(means)


# --- the policies ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tuned(Policy):
    """Policies that are told a sum of 1 / gap^2, by a simulation or as an argument."""

    effort: ClassVar[float]
    with_best: ClassVar[bool]  # whether the best arm's gap, which is that of the second best, has a term of its own
    complexity: float | None = None

    def __post_init__(self) -> None:
        if self.complexity is not None:
            checks.settle(self, complexity=checks.positive("complexity", self.complexity))

    def known(self, n_arms: int, budget: int, problem: Bandits | None = None) -> Known:
        if self.complexity is not None:
            return Known(complexity=np.full(1 if problem is None else problem.runs, float(self.complexity)))
        if problem is None:
            raise ValueError(f"{self.name} has complexity=None; outside simulation give the complexity: complexity=...")
        gaps = np.sort(schedules.gaps(problem.means), axis=1)[:, 0 if self.with_best else 1 :]
        with np.errstate(divide="ignore"):
            return Known(complexity=np.maximum(LEAST_COMPLEXITY, (1 / gaps**2).sum(axis=1)))

    def _a(self, n_arms: int, budget: int, complexity: Any) -> Any:
        return self.effort * (budget - n_arms) / complexity


class UCBE(Tuned):
    """Upper confidence bounds for exploration (Audibert, Bubeck and Munos, 2010): highest mean + sqrt(a / N).

    Here a = (25/36) (n - K) / H, the largest value of the theorem, and H is the sum of 1 / gap^2 over all arms but the
    best. Its pulls were compared with those of the rule in `xuedong/BestArm.jl`.

    Parameters
    ----------
    complexity : float, optional
        H. A simulation computes it from the problem unless it is given here.

    Examples
    --------
    >>> import bai
    >>> UCBE().known(3, 100, bai.GaussianBandits([1.0, 0.5, 0.0], [1.0, 1.0, 1.0])).complexity
    array([5.])
    """

    name: ClassVar[str] = "UCB-E"
    style: ClassVar[dict[str, str]] = {"color": "#225555", "marker": "$B$", "linestyle": ":"}
    effort: ClassVar[float] = 25 / 36
    with_best: ClassVar[bool] = False

    def resume(self, n_arms: int, budget: int, progress: Progress, complexity: float = 1.0, **known: Any) -> Steps:
        return optimism(progress, budget, self._a(n_arms, budget, complexity))

    def play(self, rewards: Any, budget: int, known: Known, pulls: np.ndarray, recommended: np.ndarray) -> None:
        optimism_block(rewards, budget, self._a(pulls.shape[1], budget, known.complexity), pulls, recommended)


class UGapEb(Tuned):
    """Unified gap-based exploration with a fixed budget (Gabillon, Ghavamzadeh and Lazaric, 2012), for one best arm.

    Every arm has bounds mean +- sqrt(a / N), where a = (n - K) / (16 H) and H is the sum of 1 / gap^2 over all arms,
    the best one's gap being that to the second. The safest arm is the one that the others may exceed least: their
    highest upper bound minus its lower bound. Of this arm and the rival with that bound, the one with the wider bounds
    is pulled. The answer is the arm with the smallest such excess at any time. Its pulls were compared with those of
    the rule in `xuedong/BestArm.jl`, which answers with the last safest arm.

    Parameters
    ----------
    complexity : float, optional
        H. A simulation computes it from the problem unless it is given here.

    Examples
    --------
    >>> import bai
    >>> UGapEb().known(3, 100, bai.GaussianBandits([1.0, 0.5, 0.0], [1.0, 1.0, 1.0])).complexity
    array([9.])
    """

    name: ClassVar[str] = "UGapEb"
    style: ClassVar[dict[str, str]] = {"color": "#994455", "marker": "$G$", "linestyle": ":"}
    effort: ClassVar[float] = 1 / 16
    with_best: ClassVar[bool] = True

    def resume(self, n_arms: int, budget: int, progress: Progress, complexity: float = 1.0, **known: Any) -> Steps:
        a = self._a(n_arms, budget, complexity)
        return unified(progress, budget, 1, lambda tally, arm: plain_radius(tally, arm, a, 1.0))

    def play(self, rewards: Any, budget: int, known: Known, pulls: np.ndarray, recommended: np.ndarray) -> None:
        a = self._a(pulls.shape[1], budget, known.complexity)
        unified_block(rewards, budget, a, np.empty(0), pulls, recommended)


@dataclass(frozen=True)
class UGapEbV(Policy):
    """UGapEb with variances (Gabillon, Ghavamzadeh and Lazaric, 2012), for one best arm.

    As `UGapEb`, with two first pulls of every arm and bounds mean +- (sqrt(2 a var / N) + 7 a b / (3 (N - 1))), where
    a = (n - 2K) / H, H = sum_k (sigma_k + sqrt(sigma_k^2 + (13/3) b h_k))^2 / h_k^2 and h_k is half of arm k's gap. We
    have not read the paper: the bounds are those of two public implementations; a and the 13/3 are from memory. Its
    mistakes were compared with those of a second implementation of ours only.

    Parameters
    ----------
    complexity, bound : float, optional
        H and b, the largest reward. A simulation computes them from the problem unless they are given here.

    Examples
    --------
    >>> import bai
    >>> bandits = bai.GaussianBandits([1.0, 0.0], [1.0, 0.0])
    >>> UGapEbV(bound=6.0).known(2, 100, bandits).complexity.round(2)
    array([141.93])
    """

    name: ClassVar[str] = "UGapEb-V"
    style: ClassVar[dict[str, str]] = {"color": "#EE8866", "marker": "$V$", "linestyle": ":"}
    complexity: float | None = None
    bound: float | None = None

    def __post_init__(self) -> None:
        given = {"complexity": self.complexity, "bound": self.bound}
        checks.settle(self, **{name: checks.positive(name, x) for name, x in given.items() if x is not None})

    def least_budget(self, n_arms: int) -> int:
        return 2 * n_arms

    @property
    def budget_rule(self) -> str:
        return "two pulls per arm"

    def known(self, n_arms: int, budget: int, problem: Bandits | None = None) -> Known:
        bound = reward_bounds(self, "bound", self.bound, budget, problem)
        if self.complexity is not None:
            return Known(bound=bound, complexity=np.full(bound.size, float(self.complexity)))
        if problem is None:
            raise ValueError(f"{self.name} has complexity=None; outside simulation give the complexity: complexity=...")
        half = schedules.gaps(problem.means) / 2
        width = np.sqrt(problem.variances) + np.sqrt(problem.variances + 13 / 3 * bound[:, None] * half)
        terms = np.divide(width**2, half**2, out=np.full(width.shape, inf), where=half > 0)
        return Known(bound=bound, complexity=np.maximum(LEAST_COMPLEXITY, terms.sum(axis=1)))

    def resume(
        self,
        n_arms: int,
        budget: int,
        progress: Progress,
        bound: float = 1.0,
        complexity: float = 1.0,
        **known: Any,
    ) -> Steps:
        a = (budget - 2 * n_arms) / complexity
        return unified(progress, budget, 2, lambda tally, arm: variance_radius(tally, arm, a, bound))

    def play(self, rewards: Any, budget: int, known: Known, pulls: np.ndarray, recommended: np.ndarray) -> None:
        assert known.complexity is not None
        a = (budget - 2 * pulls.shape[1]) / known.complexity
        unified_block(rewards, budget, a, known.bound, pulls, recommended)
