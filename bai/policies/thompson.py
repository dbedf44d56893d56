"""Top two with a leader by Thompson sampling: every mean is drawn from what the rewards leave possible.

After N rewards with variance v a mean is drawn from the normal law around the sample mean with variance v / N (a flat
prior). The arm with the highest draw leads. A coin decides whether the leader or its challenger is pulled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar

import numpy as np

from .. import checks
from ..compiling import compiled, inlined
from ..sampling import draw
from .allocation import allocate
from .base import Known, Policy, Progress, Steps, Tally, argmax
from .challengers import FIRST, Tracking, closest, cost_of_telling, hardest_to_tell
from .loops import copy, highest, observe
from .luck import (
    PER_PULL,
    QUANTILE_BOUNDS,
    branch,
    first_key,
    first_keys,
    normal,
    pick,
    plain_branch,
    plain_normal,
    plain_pick,
)

# --- the plain version -----------------------------------------------------------------------------------


def sample_leaders(progress: Progress, budget: int, key: int, variances: Sequence[float], draws: int) -> Steps:
    """T3C, and TTTS with the most `draws` in search of a challenger. Without `variances` they are estimated."""
    arms = range(len(progress.tally.count))

    def noise(tally: Tally, arm: int) -> float:
        return (variances[arm] if variances else tally.variance(arm)) / tally.count[arm]

    def sample(tally: Tally, number: int) -> int:
        pair = plain_branch(key, PER_PULL * sum(tally.count) + number)
        mean = lambda arm: tally.mean(arm) + sqrt(noise(tally, arm)) * plain_normal(plain_pick(pair, arm))  # noqa: E731
        return argmax(arms, mean)

    def choose(tally: Tally) -> int:
        leader = sample(tally, 0)
        coin, _ = plain_branch(key, PER_PULL * sum(tally.count) + PER_PULL - 1)
        if coin & 1:
            return leader
        if not draws:
            return hardest_to_tell(tally, leader, cost_of_telling(tally, leader, noise))
        others = (sample(tally, number) for number in range(1, draws + 1))
        return next((arm for arm in others if arm != leader), leader)

    return allocate(progress, budget, 1 if variances else FIRST, choose)


# --- the compiled loop -----------------------------------------------------------------------------------


@inlined
def highest_draw(pair, means, deviations, numbers, bounds):
    """Return the arm with the highest draw; `numbers` and `bounds` are scratch.

    Every draw has an upper bound by the first bits of its random number. Only where this leaves hope is it computed.
    """
    for i in range(means.size):
        numbers[i] = pick(pair, i)
        bounds[i] = means[i] + deviations[i] * QUANTILE_BOUNDS[numbers[i] >> 22]
    chosen = highest(bounds)
    most = means[chosen] + deviations[chosen] * normal(numbers[chosen])
    bounds[chosen] = -np.inf
    for i in range(means.size):
        if bounds[i] >= most:
            value = means[i] + deviations[i] * normal(numbers[i])
            if value > most or (value == most and i < chosen):
                chosen, most = i, value
    return chosen


@compiled
def sample_block(rewards, budget, keys, variances, draws, pulls, recommended):
    """T3C, and TTTS with the most `draws` in search of a challenger. Variances that are not told have no columns."""
    n_runs, n_arms = pulls.shape
    told = variances.shape[1] > 0
    first = 1 if told else FIRST
    counts, totals, squares = np.empty(n_arms), np.empty(n_arms), np.empty(n_arms)
    means, noise, deviations = np.empty(n_arms), np.zeros(n_arms), np.zeros(n_arms)
    numbers, bounds = np.empty(n_arms, np.int64), np.empty(n_arms)
    for r in range(n_runs):
        counts[:] = 0.0
        totals[:] = 0.0
        squares[:] = 0.0
        key = int(keys[r])
        for t in range(budget):
            if t < first * n_arms:
                i = t // first
            else:
                i = leader = highest_draw(branch(key, PER_PULL * t), means, deviations, numbers, bounds)
                if branch(key, PER_PULL * t + PER_PULL - 1)[0] & 1 == 0:
                    if draws == 0:
                        i = closest(leader, means, noise, 0.0)
                    number = 0
                    while i == leader and number < draws:
                        number += 1
                        i = highest_draw(branch(key, PER_PULL * t + number), means, deviations, numbers, bounds)
            observe(draw(rewards, r, i, int(counts[i])), i, counts, totals, squares)
            means[i] = totals[i] / counts[i]
            if told:
                noise[i] = variances[r, i] / counts[i]
            elif counts[i] > 1:
                noise[i] = squares[i] / (counts[i] - 1) / counts[i]
            deviations[i] = sqrt(noise[i])
        copy(counts, pulls[r])
        recommended[r] = highest(means)


# --- the policies ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sampling(Tracking):
    """Policies with random numbers of their own that are told the variances, or estimate them."""

    keyed: ClassVar[bool] = True
    seed: int = 0

    def in_search(self) -> int:
        """Return how often the means are drawn in search of a challenger at most; 0 if it is found in another way."""
        return 0

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.settle(self, seed=checks.integer("seed", self.seed, least=0))

    def resume(
        self,
        n_arms: int,
        budget: int,
        progress: Progress,
        variances: Sequence[float] = (),
        key: float = 0.0,
        **known: Any,
    ) -> Steps:
        return sample_leaders(progress, budget, first_key(self.seed, key), variances, self.in_search())

    def play(self, rewards: Any, budget: int, known: Known, pulls: np.ndarray, recommended: np.ndarray) -> None:
        keys = first_keys(self.seed, known.key, len(pulls))
        variances = np.empty((len(pulls), 0)) if known.variances is None else known.variances
        sample_block(rewards, budget, keys, variances, self.in_search(), pulls, recommended)

    @classmethod
    def examples(cls) -> list[Policy]:
        return [cls(), cls(variances="estimated", seed=1)]


class T3C(Sampling):
    """Top two with a Thompson leader and the challenger that is hardest to tell from it (Shang et al., 2020).

    The leader b has the highest mean in a draw from the posterior. With probability 1/2 it is pulled, otherwise the
    challenger i with the lowest gap^2 / (sigma_b^2 / N_b + sigma_i^2 / N_i), where an arm above the leader has no gap.
    The answer is the highest mean. Its mistakes were compared with those of the rule in `xuedong/BestArm.jl`.

    Parameters
    ----------
    variances : sequence of float or "estimated", optional
        The variances that the policy works with. A simulation tells it the true ones unless they are given here. With
        "estimated" every arm is pulled four times first, and sample variances take their place.
    seed : int
        For the policy's own random numbers. In a simulation each run still gets its own.

    Examples
    --------
    >>> import bai
    >>> bandits = bai.synthetic(n_arms=16, runs=300, seed=0)
    >>> [int(bai.simulate(policy, bandits, 200, seed=0).mistakes.sum()) for policy in (T3C(), bai.SR())]
    [27, 52]
    """

    name: ClassVar[str] = "T3C"
    style: ClassVar[dict[str, str]] = {"color": "#CC6677", "marker": "$3$", "linestyle": "-"}


@dataclass(frozen=True)
class TTTS(Sampling):
    """Top two Thompson sampling (Russo, 2016).

    The leader has the highest mean in a draw from the posterior. With probability 1/2 it is pulled, otherwise the means
    are drawn again until another arm has the highest; that arm is pulled. After `draws` draws in vain it is the leader.
    The answer is the highest mean. Its mistakes were compared with those of the rule in `xuedong/BestArm.jl`, where a
    variance stands for a deviation.

    Parameters
    ----------
    variances : sequence of float or "estimated", optional
        The variances that the policy works with. A simulation tells it the true ones unless they are given here. With
        "estimated" every arm is pulled four times first, and sample variances take their place.
    seed : int
        For the policy's own random numbers. In a simulation each run still gets its own.
    draws : int
        How often the means are drawn in search of a challenger, at most 1,022 times.

    Examples
    --------
    >>> TTTS(seed=3)
    TTTS(variances=None, seed=3, draws=1000)
    """

    name: ClassVar[str] = "TTTS"
    style: ClassVar[dict[str, str]] = {"color": "#6699CC", "marker": "$T$", "linestyle": "--"}
    draws: int = 1000

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.settle(self, draws=checks.integer("draws", self.draws, least=1, below=PER_PULL - 1))

    def in_search(self) -> int:
        return self.draws

    @classmethod
    def examples(cls) -> list[Policy]:
        return [cls(draws=20), cls(variances="estimated", seed=1, draws=20)]
