"""Upper confidence bounds, tuned with a complexity of the problem that the policy is told."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt
from typing import Any, ClassVar

import numpy as np

from .. import checks, schedules
from ..compiling import compiled
from ..problems import Bandits
from ..sampling import draw
from .allocation import allocate
from .base import Known, Policy, Progress, Steps, argmax
from .gaps import LEAST_COMPLEXITY
from .loops import highest, open_tournament, set_key, tree_size

# --- the plain versions ----------------------------------------------------------------------------------


def optimism(progress: Progress, budget: int, a: float) -> Steps:
    """UCB-E: pull every arm once, then the one with the highest mean + sqrt(a / N); answer with the highest mean."""
    arms = range(len(progress.tally.count))
    bound = lambda tally, arm: tally.mean(arm) + sqrt(a / tally.count[arm])  # noqa: E731
    return allocate(progress, budget, 1, lambda tally: argmax(arms, lambda arm: bound(tally, arm)))


def unified(progress: Progress, budget: int, a: float) -> Steps:
    """UGapEb: the arm that may lose least against the others, or the one that may beat it: the less certain of them.

    The answer is the arm that could lose least at any time.
    """
    tally, memory, arms = progress.tally, progress.memory, range(len(progress.tally.count))

    def radius(arm: int) -> float:
        return sqrt(a / tally.count[arm])

    def upper(arm: int) -> float:
        return tally.mean(arm) + radius(arm)

    for t in range(sum(tally.count), budget):
        arm = t
        if t >= len(arms):
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
        pulls[r] = counts
        recommended[r] = highest(means)


@compiled
def unified_block(rewards, budget, a, pulls, recommended):
    n_runs, n_arms = pulls.shape
    counts, totals, means = np.empty(n_arms, np.int64), np.empty(n_arms), np.empty(n_arms)
    radii, uppers, lowers = np.empty(n_arms), np.empty(n_arms), np.empty(n_arms)
    for r in range(n_runs):
        counts[:] = 0
        totals[:] = 0.0
        answer, lowest = -1, np.inf
        for t in range(budget):
            i = t
            if t >= n_arms:
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
            totals[i] += draw(rewards, r, i, counts[i])
            counts[i] += 1
            means[i] = totals[i] / counts[i]
            radii[i] = sqrt(a[r] / counts[i])
            uppers[i], lowers[i] = means[i] + radii[i], means[i] - radii[i]
        pulls[r] = counts
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
    best.

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
    is pulled. The answer is the arm with the smallest such excess at any time.

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
        return unified(progress, budget, self._a(n_arms, budget, complexity))

    def play(self, rewards: Any, budget: int, known: Known, pulls: np.ndarray, recommended: np.ndarray) -> None:
        unified_block(rewards, budget, self._a(pulls.shape[1], budget, known.complexity), pulls, recommended)
