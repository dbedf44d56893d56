"""Variance-based rejects: stages like those of elimination, pulls by confidence interval."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar

import numpy as np

from .. import checks
from ..compiling import compiled, inlined
from ..sampling import draw
from .base import Known, Policy, Progress, Steps, Tally, argmax, least_pulled
from .halving import Choose, Elimination, Schedule, eliminate, stage_array
from .loops import copy, observe, open_tournament, set_key, tree_size

# --- the plain version -----------------------------------------------------------------------------------


def interval_radius(gamma: float) -> Callable[[Tally, int], float]:
    """Gamma estimated standard deviations of the mean; after one pull nothing is known about them."""

    def radius(tally: Tally, arm: int) -> float:
        return gamma * sqrt(tally.variance(arm) / tally.count[arm]) if tally.count[arm] > 1 else 0.0

    return radius


def by_interval(radius: Callable[[Tally, int], float], least: int, widest: bool) -> Choose:
    """Every arm `least` times, then the highest upper bound (or the widest interval)."""

    def choose(tally: Tally, active: list[int]) -> int:
        if min(tally.count[arm] for arm in active) < least:
            return least_pulled(tally, active)
        if widest:
            return argmax(active, lambda arm: radius(tally, arm))
        return argmax(active, lambda arm: tally.mean(arm) + radius(tally, arm))

    return choose


# --- the compiled loop -----------------------------------------------------------------------------------


@inlined
def pull_priority(count, least, widest, total, radius):
    """Return VBR's key of an arm; arms short of `least` pulls come before all others, fewest pulls first."""
    if count < least:
        return 1e300 / (count + 1)
    return radius if widest else total / count + radius


@compiled
def reject_block(rewards, stage_pulls, gamma, least, widest, pulls, recommended):
    """In each stage pull by confidence interval, then reject the arm with the lowest upper bound.

    While some arm has fewer than `least` pulls, the least pulled arm is next. After that it is the arm with the
    highest upper bound, or with the widest interval.
    """
    n_runs, n_arms = pulls.shape
    everyone = np.arange(n_arms)
    active, counts = np.empty(n_arms, np.int64), np.empty(n_arms, np.int64)
    totals, squares, radii, scores = np.empty(n_arms), np.empty(n_arms), np.empty(n_arms), np.empty(n_arms)
    winners, best_keys = np.empty(tree_size(n_arms), np.int64), np.empty(tree_size(n_arms))
    for r in range(n_runs):
        copy(everyone, active)
        counts[:] = 0
        totals[:] = 0.0
        squares[:] = 0.0
        radii[:] = 0.0
        open_tournament(winners, best_keys)
        for i in range(n_arms):
            set_key(winners, best_keys, i, pull_priority(0, least, widest, 0.0, 0.0))
        for s in range(stage_pulls.size):
            for _ in range(stage_pulls[s]):
                i = winners[1]
                observe(draw(rewards, r, i, counts[i]), i, counts, totals, squares)
                if counts[i] > 1:
                    radii[i] = gamma * sqrt(squares[i] / (counts[i] - 1) / counts[i])
                set_key(winners, best_keys, i, pull_priority(counts[i], least, widest, totals[i], radii[i]))
            k = n_arms - s
            worst = 0
            for p in range(k):
                i = active[p]
                scores[p] = totals[i] / counts[i] + radii[i]
                worst = p if scores[p] <= scores[worst] else worst
            set_key(winners, best_keys, active[worst], -np.inf)
            for p in range(worst, k - 1):
                active[p] = active[p + 1]
        copy(counts, pulls[r])
        recommended[r] = active[0]


# --- the policy ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class VBR(Elimination):
    """Variance-based rejects: a reconstruction of the baseline that the paper takes from Faella et al. (2020).

    The paper gives no pseudocode. This version spends n / K pulls in each of K - 1 stages and rejects the arm
    with the lowest upper bound mean + gamma sd / sqrt(N) at the end of each.

    Parameters
    ----------
    gamma : float
        Half-width of the intervals in standard errors.
    pull : {"upper", "widest"}
        Pull the arm with the highest upper bound, or with the widest interval, once every arm has three pulls.

    Examples
    --------
    >>> VBR().schedule(n_arms=4, budget=100)
    [(28, 3), (24, 2), (24, 1)]
    """

    name: ClassVar[str] = "VBR"
    style: ClassVar[dict[str, str]] = {"color": "#56B4E9", "marker": "P", "linestyle": "--"}
    reuse = True
    least_pulls: ClassVar[int] = 3
    gamma: float = 1.96
    pull: str = "upper"

    def __post_init__(self) -> None:
        pull = checks.choice("pull", self.pull, ("upper", "widest"))
        checks.settle(self, gamma=checks.positive("gamma", self.gamma), pull=pull)

    def schedule(self, n_arms: int, budget: int) -> Schedule:
        until = [j * (budget - n_arms) // n_arms for j in range(n_arms)]
        pulls = np.diff(until).tolist()
        pulls[0] += n_arms
        return list(zip(pulls, range(n_arms - 1, 0, -1), strict=True))

    def resume(self, n_arms: int, budget: int, progress: Progress, **known: Any) -> Steps:
        radius = interval_radius(self.gamma)
        choose = by_interval(radius, self.least_pulls, self.pull == "widest")
        upper = lambda tally, arm: tally.mean(arm) + radius(tally, arm)  # noqa: E731
        return eliminate(progress, self.schedule(n_arms, budget), choose, upper, reuse=True)

    def play(self, rewards: Any, budget: int, known: Known, pulls: np.ndarray, recommended: np.ndarray) -> None:
        stage_pulls, _ = stage_array(self, pulls.shape[1], budget, sharing=False)
        widest = self.pull == "widest"
        reject_block(rewards, stage_pulls, float(self.gamma), self.least_pulls, widest, pulls, recommended)

    @classmethod
    def examples(cls) -> list[Policy]:
        return [cls(), cls(pull="widest")]
