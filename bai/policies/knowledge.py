"""Knowledge gradient: pull the arm whose next rewards are expected to improve the answer most.

If more pulls of an arm change its mean by a normal amount with deviation s, and the mean is g away from the best of the
others, the answer is expected to gain s f(-g / s), where f(z) = z Phi(z) + phi(z). Gains are compared by their
logarithms, because nearly all of them are too small for floating-point numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import erfc, exp, inf, log, pi, sqrt
from typing import Any, ClassVar

import numpy as np

from .. import checks
from ..compiling import compiled, inlined
from ..sampling import draw
from .allocation import NO_NOISE, Allocation, allocate
from .base import Known, Policy, Progress, Steps, Tally, argmax
from .loops import copy, highest, observe

LOG_ROOT = log(2.0 * pi) / 2.0
ROUNDING = 1e-9  # far more than the error of a logarithm, far less than two gains usually differ by


@inlined
def log_gain(square):
    """Return log f(z) for z = -sqrt(square); in the tail f is phi(z) / (z^2 + 3), to one percent or better."""
    if square < 25.0:
        z = sqrt(square)
        return log(exp(-0.5 * square - LOG_ROOT) - 0.5 * z * erfc(z * sqrt(0.5)))
    return -0.5 * square - LOG_ROOT - log(square + 3.0)


plain_log_gain: Callable[[float], float] = getattr(log_gain, "py_func", log_gain)


# --- the plain version -----------------------------------------------------------------------------------


def neglected(tally: Tally) -> int:
    """Return the arm with the fewest pulls; of several, the one with the highest mean."""
    fewest = min(tally.count)
    return argmax((arm for arm in range(len(tally.count)) if tally.count[arm] == fewest), tally.mean)


def most_gained(weight: float, share: float, ahead: Sequence[float]) -> Callable[[Tally], int]:
    """Return a rule that names the arm from whose next `ahead[N]` pulls most is to be gained, after N.

    To its own squared deviations each arm adds `weight` times the pooled variance. An arm with less than `share` of an
    equal share of the pulls comes first.
    """

    def choose(tally: Tally) -> int:
        arms, pulls = range(len(tally.count)), sum(tally.count)
        total = 0.0
        for arm in arms:
            total += tally.squares[arm]
        free, low = pulls - len(arms), neglected(tally)
        if total <= NO_NOISE * free or tally.count[low] < share * pulls / len(arms):
            return low
        shrunk = weight * (total / free)
        best = argmax(arms, tally.mean)
        second = argmax((arm for arm in arms if arm != best), tally.mean)

        def gain(arm: int) -> float:
            count, more = tally.count[arm], ahead[tally.count[arm]]
            spread = (tally.squares[arm] + shrunk) / ((count - 1 + weight) * count * (count + more) / more)
            gap = tally.mean(best) - tally.mean(second if arm == best else arm)
            return 0.5 * log(spread) + plain_log_gain(gap * gap / spread) if spread > 0 else -inf

        return argmax(arms, gain)

    return choose


# --- the compiled loop -----------------------------------------------------------------------------------


@inlined
def highest_gain(means, squares, parts, shrunk, spreads, bounds):
    """Return the arm with the highest gain; `spreads` and `bounds` are scratch.

    Without logarithms, f(z) <= phi(z) / (1 + z^2), log(1 + y) >= 2y / (2 + y) and log(x) <= 2 sqrt(x) - 2 bound every
    gain. The arm with the highest bound comes first, and the gain is computed only where the bound leaves hope.
    """
    best = highest(means)
    top, means[best] = means[best], -np.inf
    means[best] = means[highest(means)]  # the best of the others, as for every arm
    largest = 0.0
    for i in range(means.size):
        spreads[i] = (squares[i] + shrunk) / parts[i]
        largest = max(largest, spreads[i])
    for i in range(means.size):
        gap = top - means[i]
        y = gap * gap / spreads[i]
        bounds[i] = sqrt(spreads[i] / largest) - 0.5 * y - 2.0 * y / (2.0 + y)
    offset = 0.5 * log(largest) - 1.0 - LOG_ROOT
    chosen, most, hopeless, start = 0, -np.inf, -np.inf, highest(bounds)
    for k in range(-1, means.size):
        i = start if k < 0 else k
        if bounds[i] + offset > hopeless:  # never without noise
            gap = top - means[i]
            gain = 0.5 * log(spreads[i]) + log_gain(gap * gap / spreads[i])
            if gain > most or (gain == most and i < chosen):
                chosen, most = i, gain
                hopeless = most - ROUNDING * (1.0 + abs(most))
    means[best] = top
    return chosen


@inlined
def most_neglected(counts, means):
    """Return the arm with the fewest pulls; of several, the one with the highest mean."""
    low = 0
    for i in range(1, counts.size):
        if counts[i] < counts[low] or (counts[i] == counts[low] and means[i] > means[low]):
            low = i
    return low


@compiled
def gain_block(rewards, budget, first, weight, share, ahead, pulls, recommended):
    n_runs, n_arms = pulls.shape
    counts, totals, squares = np.empty(n_arms), np.empty(n_arms), np.empty(n_arms)
    means, parts, spreads, bounds = np.empty(n_arms), np.empty(n_arms), np.empty(n_arms), np.empty(n_arms)
    for r in range(n_runs):
        counts[:] = 0.0
        totals[:] = 0.0
        squares[:] = 0.0
        for t in range(budget):
            if t < first * n_arms:
                i = t // first
            else:
                total = 0.0
                for j in range(n_arms):
                    total += squares[j]
                i = most_neglected(counts, means)
                if not (total <= NO_NOISE * (t - n_arms) or counts[i] < share * t / n_arms):
                    shrunk = weight * (total / (t - n_arms))
                    i = highest_gain(means, squares, parts, shrunk, spreads, bounds)
            observe(draw(rewards, r, i, int(counts[i])), i, counts, totals, squares)
            count, more = counts[i], ahead[int(counts[i])]
            means[i] = totals[i] / count
            parts[i] = (count - 1 + weight) * count * (count + more) / more
        copy(counts, pulls[r])
        recommended[r] = highest(means)


# --- the policies ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class KG(Allocation):
    """Knowledge gradient with a flat prior and sample variances (Frazier, Powell and Dayanik, 2008).

    One more pull of arm i changes its mean by about sigma_i / sqrt(N_i (N_i + 1)). It pulls the arm from which the
    highest mean is expected to gain most that way. The original is told the variances; here each arm's sample variance
    takes its place. An arm whose first rewards are all equal is never pulled again unless all are. Its pulls were
    compared with those of the rule in `peter-i-frazier/matlab-kg`.

    Parameters
    ----------
    first : int
        Pulls of every arm before this begins.

    Examples
    --------
    >>> import bai
    >>> bandits = bai.synthetic(n_arms=16, runs=300, seed=0)
    >>> [int(bai.simulate(policy, bandits, 200, seed=0).mistakes.sum()) for policy in (KG(), bai.SR())]
    [26, 52]
    """

    name: ClassVar[str] = "KG"
    style: ClassVar[dict[str, str]] = {"color": "#332288", "marker": "$K$", "linestyle": "-"}
    first: int = 4

    def resume(self, n_arms: int, budget: int, progress: Progress, **known: Any) -> Steps:
        return allocate(progress, budget, self.first, most_gained(0.0, 0.0, [1.0] * (budget + 1)))

    def play(self, rewards: Any, budget: int, known: Known, pulls: np.ndarray, recommended: np.ndarray) -> None:
        gain_block(rewards, budget, self.first, 0.0, 0.0, np.ones(budget + 1), pulls, recommended)

    @classmethod
    def examples(cls) -> list[Policy]:
        return [cls(), cls(first=2)]


@dataclass(frozen=True)
class LookAhead(Policy):
    """Pull the arm whose doubled sample would improve the answer most; neglect none.

    Every arm is pulled once. Then, before each pull, an arm with less than `share` of an equal share of the pulls comes
    first. Otherwise it is the arm from which the highest mean would gain most if the arm's sample were doubled. Looking
    ahead by a single pull, as `KG` does, neglects arms that need many. Variances are shrunk to the pooled one: v_i =
    (squares_i + shrinkage pooled) / (N_i - 1 + shrinkage). The policy is told nothing, its pulls do not depend on the
    unit and the level of the rewards, and it need not know the budget. It is a rule of this package, without a theorem.

    Parameters
    ----------
    share : float
        The part of an equal share that every arm has at any time.
    shrinkage : float
        How many rewards the pooled variance counts for in every arm's variance.

    Examples
    --------
    >>> import bai
    >>> bandits = bai.synthetic(n_arms=16, runs=300, seed=0)
    >>> [int(bai.simulate(policy, bandits, 200, seed=0).mistakes.sum()) for policy in (LookAhead(), bai.TopTwo())]
    [27, 40]
    """

    name: ClassVar[str] = "LookAhead"
    style: ClassVar[dict[str, str]] = {"color": "#AA4499", "marker": "$A$", "linestyle": "-"}
    anytime: ClassVar[bool] = True
    share: float = 0.3
    shrinkage: float = 3.0

    def __post_init__(self) -> None:
        checks.settle(
            self,
            share=checks.number("share", self.share, above=0, below=1),
            shrinkage=checks.positive("shrinkage", self.shrinkage, largest=1e50),
        )

    def resume(self, n_arms: int, budget: int, progress: Progress, **known: Any) -> Steps:
        choose = most_gained(float(self.shrinkage), float(self.share), range(budget + 1))
        return allocate(progress, budget, 1, choose)

    def play(self, rewards: Any, budget: int, known: Known, pulls: np.ndarray, recommended: np.ndarray) -> None:
        weight, share = float(self.shrinkage), float(self.share)
        gain_block(rewards, budget, 1, weight, share, np.arange(budget + 1.0), pulls, recommended)

    @classmethod
    def examples(cls) -> list[Policy]:
        return [cls(), cls(share=0.05, shrinkage=1)]
