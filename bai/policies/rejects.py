"""Continuous rejects: an arm may be discarded after every round, as soon as it is far enough behind."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar

import numpy as np

from .. import checks
from ..compiling import compiled, inlined
from ..sampling import draw
from .base import Known, Policy, Progress, Steps, argmax, least_pulled
from .loops import copy


def log_bars(n_arms: int) -> list[float]:
    """Return 1/2 + 1/2 + 1/3 + ... + 1/j for j up to K; the first two entries are not used."""
    found = [0.0, 0.5]
    for j in range(2, n_arms + 1):
        found.append(found[-1] + 1.0 / j)
    return found


# --- the plain version -----------------------------------------------------------------------------------


def reject_continuously(progress: Progress, budget: int, average: bool, scale: float) -> Steps:
    """Pull the candidates in turn; discard the lowest mean when it is far enough behind; answer with the highest.

    With j candidates that had `spent` pulls of the budget that is theirs, an arm has to be 1 / sqrt(beta) - 1 behind
    the others, beta = logbar(j) spent / theirs. Once beta is above 1 this is negative: the arm goes in any case.
    """
    tally, candidates = progress.tally, progress.active
    bars = log_bars(len(tally.count))
    for t in range(sum(tally.count), budget):
        counts = {tally.count[arm] for arm in candidates}
        out = [tally.count[arm] for arm in range(len(tally.count)) if arm not in candidates]
        if len(candidates) > 2 and len(counts) == 1 and min(counts) > max(out, default=0):
            lowest = min(candidates, key=tally.mean)
            others = [tally.mean(arm) for arm in candidates if arm != lowest]
            total = 0.0
            for mean in others:
                total += mean
            gap = (total / len(others) if average else min(others)) - tally.mean(lowest)
            beta = bars[len(candidates)] * (t - sum(out)) / (budget - sum(out))
            if gap >= scale * (1.0 / sqrt(beta) - 1.0):
                candidates.remove(lowest)
        arm = least_pulled(tally, candidates)
        tally.add(arm, (yield arm))
    return argmax(candidates, tally.mean)


# --- the compiled loop -----------------------------------------------------------------------------------


@inlined
def lowest_and_gap(active, means, average):
    """Return the place of the lowest mean among `active` arms, and how far the average or the next one is above."""
    low = 0
    for p in range(active.size):
        if means[active[p]] < means[active[low]]:
            low = p
    total, least = 0.0, np.inf
    for p in range(active.size):
        if p != low:
            total += means[active[p]]
            least = min(least, means[active[p]])
    return low, (total / (active.size - 1) if average else least) - means[active[low]]


@compiled
def reject_block(rewards, budget, average, scale, bars, pulls, recommended):
    """All candidates are pulled once, then one may be discarded, and so on."""
    n_runs, n_arms = pulls.shape
    everyone, active, totals, means = np.arange(n_arms), np.empty(n_arms, np.int64), np.empty(n_arms), np.empty(n_arms)
    for r in range(n_runs):
        copy(everyone, active)
        totals[:] = 0.0
        k, t, out, each = n_arms, 0, 0, 0
        while t < budget:
            if each > 0 and k > 2:
                low, gap = lowest_and_gap(active[:k], means, average)
                beta = bars[k] * (t - out) / (budget - out)
                if gap >= scale * (1.0 / sqrt(beta) - 1.0):
                    k -= 1
                    out += each
                    for p in range(low, k):
                        active[p] = active[p + 1]
            for p in range(min(k, budget - t)):
                i = active[p]
                totals[i] += draw(rewards, r, i, each)
                means[i] = totals[i] / (each + 1)
                pulls[r, i] += 1
            t += min(k, budget - t)
            each += 1
        best = active[0]
        for i in active[:k]:
            best = i if means[i] > means[best] else best
        recommended[r] = best


# --- the policies ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ContinuousRejects(Policy):
    """Policies that may discard an arm after every round."""

    average: ClassVar[bool]
    scale: float = 1.0

    def __post_init__(self) -> None:
        checks.settle(self, scale=checks.positive("scale", self.scale))

    def resume(self, n_arms: int, budget: int, progress: Progress, **known: Any) -> Steps:
        return reject_continuously(progress, budget, self.average, float(self.scale))

    def play(self, rewards: Any, budget: int, known: Known, pulls: np.ndarray, recommended: np.ndarray) -> None:
        bars = np.array(log_bars(pulls.shape[1]))
        reject_block(rewards, budget, self.average, float(self.scale), bars, pulls, recommended)

    @classmethod
    def examples(cls) -> list[Policy]:
        return [cls(), cls(scale=3)]


class CRA(ContinuousRejects):
    """Continuous rejects, CR-A (Wang, Tzeng and Proutiere, 2023): the lowest mean against the average of the others.

    The candidates are pulled in turn. After a round the lowest mean is discarded if the others' average is at least
    1 / sqrt(beta) - 1 above it, where beta is logbar(j) times the part of the j candidates' budget that is spent.
    Two candidates stay to the end. Its mistakes were compared with the published ones.

    Parameters
    ----------
    scale : float
        What that threshold is multiplied by. The paper is about rewards between 0 and 1; for normal rewards with
        standard deviation s its analysis asks for 2 s.

    Examples
    --------
    >>> import bai
    >>> stairs = bai.BernoulliBandits([[0.75 * 3 ** (-m / 5) for m in range(1, 6) for _ in range(m)]] * 300)
    >>> [int(bai.simulate(policy, stairs, 400, seed=1).mistakes.sum()) for policy in (CRA(), bai.SR())]
    [39, 52]
    """

    name: ClassVar[str] = "CR-A"
    style: ClassVar[dict[str, str]] = {"color": "#666633", "marker": "$R$", "linestyle": "-"}
    average: ClassVar[bool] = True


class CRC(ContinuousRejects):
    """Continuous rejects, CR-C (Wang, Tzeng and Proutiere, 2023): the lowest mean against the next one.

    As `CRA`, but the distance is that to the lowest mean of the others. Its exponent is never below that of `SR`. Its
    mistakes were compared with the published ones.

    Parameters
    ----------
    scale : float
        What the threshold is multiplied by. The paper is about rewards between 0 and 1; for normal rewards with
        standard deviation s its analysis asks for 2 s.

    Examples
    --------
    >>> print(CRC(scale=0.5))
    CR-C(scale=0.5)
    """

    name: ClassVar[str] = "CR-C"
    style: ClassVar[dict[str, str]] = {"color": "#997700", "marker": "$Q$", "linestyle": "--"}
    average: ClassVar[bool] = False
