"""Neyman allocation: pulls in proportion to what the noise of each arm asks for, whatever the gaps."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar

import numpy as np

from ..compiling import compiled, inlined
from ..sampling import draw
from .allocation import Allocation, allocate
from .base import Known, Policy, Progress, Steps, Tally, argmax, least_pulled
from .loops import copy, highest, observe


def furthest_behind(tally: Tally) -> int:
    """Return the arm that is most pulls short of its share of all pulls so far."""
    arms = range(len(tally.count))
    best, rest = argmax(arms, tally.mean), 0.0
    for arm in arms:
        rest += tally.variance(arm) if arm != best else 0.0
    deviation = sqrt(tally.variance(best))
    if deviation + sqrt(rest) == 0:
        return least_pulled(tally, arms)
    own, pulls = deviation / (deviation + sqrt(rest)), sum(tally.count)

    def short(arm: int) -> float:
        share = own if arm == best else ((1.0 - own) * (tally.variance(arm) / rest) if rest > 0 else 0.0)
        return share * pulls - tally.count[arm]

    return argmax(arms, short)


@inlined
def most_behind(means, variances, counts, pulls, keys):
    """Return the arm that is most pulls short of its share; `keys` is scratch."""
    best, rest = highest(means), 0.0
    for i in range(means.size):
        rest += variances[i] if i != best else 0.0
    deviation = sqrt(variances[best])
    if deviation + sqrt(rest) == 0:
        return counts.argmin()
    own = deviation / (deviation + sqrt(rest))
    for i in range(means.size):
        keys[i] = ((1.0 - own) * (variances[i] / rest) if rest > 0 else 0.0) * pulls - counts[i]
    keys[best] = own * pulls - counts[best]
    return highest(keys)


@compiled
def neyman_block(rewards, budget, first, pulls, recommended):
    n_runs, n_arms = pulls.shape
    counts, totals, squares = np.empty(n_arms), np.empty(n_arms), np.empty(n_arms)
    means, variances, keys = np.empty(n_arms), np.empty(n_arms), np.empty(n_arms)
    for r in range(n_runs):
        counts[:] = 0.0
        totals[:] = 0.0
        squares[:] = 0.0
        for t in range(budget):
            i = t // first if t < first * n_arms else most_behind(means, variances, counts, t, keys)
            observe(draw(rewards, r, i, int(counts[i])), i, counts, totals, squares)
            means[i] = totals[i] / counts[i]
            if counts[i] > 1:
                variances[i] = squares[i] / (counts[i] - 1)
        copy(counts, pulls[r])
        recommended[r] = highest(means)


@dataclass(frozen=True)
class Neyman(Allocation):
    """Generalised Neyman allocation with sample variances (Kato, 2023): best where all gaps are small.

    With b the arm with the highest mean and V the sum of the other arms' variances, its share of the pulls is
    sigma_b / (sigma_b + sqrt(V)); the others have the rest in proportion to their variances. The arm that is most pulls
    short of its share is next, where the original draws the arm by the shares, and the answer is the highest mean. We
    found no public code; its mistakes were compared with those of a second implementation of ours.

    Parameters
    ----------
    first : int
        Pulls of every arm before the shares are used.

    Examples
    --------
    >>> import bai
    >>> bandits = bai.GaussianBandits([0.1, 0.0, 0.0], [1.0, 0.1, 0.1], runs=1)
    >>> bai.simulate(Neyman(), bandits, 10_000, seed=1).pulls
    array([[6958, 1520, 1522]])
    """

    name: ClassVar[str] = "Neyman"
    style: ClassVar[dict[str, str]] = {"color": "#5B8C5A", "marker": "$N$", "linestyle": "--"}
    first: int = 4

    def resume(self, n_arms: int, budget: int, progress: Progress, **known: Any) -> Steps:
        return allocate(progress, budget, self.first, furthest_behind)

    def play(self, rewards: Any, budget: int, known: Known, pulls: np.ndarray, recommended: np.ndarray) -> None:
        neyman_block(rewards, budget, self.first, pulls, recommended)

    @classmethod
    def examples(cls) -> list[Policy]:
        return [cls(), cls(first=2)]
