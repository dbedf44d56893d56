"""Top two: a leader, and the challenger that is hardest to tell from it. They take turns, half of the pulls each.

An arm that leads is pulled if it got at most half of the pulls made while it led, otherwise its challenger is. This
tracking takes the place of a coin in the first papers, and makes the policies deterministic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, log, log1p, sqrt
from typing import Any, ClassVar

import numpy as np

from .. import checks
from ..compiling import compiled, inlined
from ..problems import Bandits
from ..sampling import draw
from .allocation import Allocation
from .base import Known, Policy, Progress, Steps, Tally, argmax
from .halving import told_variances
from .loops import copy, highest, observe

FIRST = 4  # pulls of every arm before its variance is estimated
MOST_STEPS, CLOSE, WIDE = 40, 1e-12, 1e30  # of Newton's method; variances beyond WIDE gap^2 all lead to the same place

# --- the plain version -----------------------------------------------------------------------------------


def track(
    progress: Progress, budget: int, first: int, lead: Callable[[Tally], int], challenge: Callable[[Tally, int], int]
) -> Steps:
    """Pull every arm `first` times, then the leader or its challenger; answer with the highest mean."""
    tally, n_arms = progress.tally, len(progress.tally.count)
    led, obeyed = (progress.memory.setdefault(name, [0] * n_arms) for name in ("led", "obeyed"))
    for t in range(sum(tally.count), budget):
        if t < first * n_arms:
            tally.add(t // first, (yield t // first))
            continue
        leader = lead(tally)
        due = 2 * obeyed[leader] <= led[leader] + 1
        arm = leader if due else challenge(tally, leader)
        reward = yield arm
        tally.add(arm, reward)
        led[leader] += 1
        obeyed[leader] += due
    return argmax(range(n_arms), tally.mean)


def hardest_to_tell(tally: Tally, leader: int, cost: Callable[[int], float]) -> int:
    """Return the rival of the leader with the lowest cost; of several, the first."""
    return min((arm for arm in range(len(tally.count)) if arm != leader), key=cost)


def cost_of_telling(
    tally: Tally, leader: int, noise: Callable[[Tally, int], float], epsilon: float = 0.0
) -> Callable[[int], float]:
    """Return gap^2 / noise as a function of the rival, where gaps are enlarged by epsilon."""

    def cost(arm: int) -> float:
        gap = max(0.0, tally.mean(leader) - tally.mean(arm) + epsilon)
        both = noise(tally, leader) + noise(tally, arm)
        return gap * gap / both if both > 0 else (inf if gap > 0 else 0.0)

    return cost


def track_transport(
    progress: Progress, budget: int, growth: Sequence[float], epsilon: float, variances: Sequence[float]
) -> Steps:
    """EB-TC, EB-TC-epsilon and TTUCB. Without `variances` they are estimated; `growth[t]` is 0 for a greedy leader."""
    arms = range(len(progress.tally.count))

    def noise(tally: Tally, arm: int) -> float:
        return (variances[arm] if variances else tally.variance(arm)) / tally.count[arm]

    def lead(tally: Tally) -> int:
        g = growth[sum(tally.count)]
        return argmax(arms, lambda arm: tally.mean(arm) + sqrt(g * noise(tally, arm)))

    def challenge(tally: Tally, leader: int) -> int:
        return hardest_to_tell(tally, leader, cost_of_telling(tally, leader, noise, epsilon))

    return track(progress, budget, 1 if variances else FIRST, lead, challenge)


def track_unknown(progress: Progress, budget: int, first: int, logs: Sequence[float]) -> Steps:
    """EB-TCI with the cost of unknown variances. `logs[N]` is log(N)."""

    def challenge(tally: Tally, leader: int) -> int:
        def cost(arm: int) -> float:
            gap = tally.mean(leader) - tally.mean(arm)
            return logs[tally.count[arm]] + transport(gap, *sample(leader), *sample(arm))

        def sample(arm: int) -> tuple[int, float]:
            return tally.count[arm], tally.squares[arm] / tally.count[arm]

        return hardest_to_tell(tally, leader, cost)

    arms = range(len(progress.tally.count))
    return track(progress, budget, first, lambda tally: argmax(arms, tally.mean), challenge)


# --- how hard two arms are to tell apart, variances unknown --------------------------------------------------


@inlined
def misfit(distance, n, v):
    """Return n log(1 + distance^2 / v): how badly a sample of variance v fits a mean at this distance from its own."""
    if distance == 0.0:
        return 0.0
    return n * log1p(distance * distance / v) if v > 0 else np.inf


@inlined
def stationary(y, w, a, b):
    """Return a root of y^3 - (1 + w) y^2 + (w (1 + b) + (1 - w) a) y - (1 - w) a near y, 0 or 1, where it must end.

    From 0 it is the lowest root, from 1 the highest: Newton's steps do not pass it, or there is only one root and
    halving the interval takes over.
    """
    low, high = 0.0, 1.0
    slope, constant = w * (1.0 + b) + (1.0 - w) * a, (1.0 - w) * a
    for _ in range(MOST_STEPS):
        value = ((y - (1.0 + w)) * y + slope) * y - constant
        if value < 0.0:
            low = y
        else:
            high = y
        change = (3.0 * y - 2.0 * (1.0 + w)) * y + slope
        new = y - value / change if change > 0.0 else -1.0
        if not (low <= new <= high):
            new = 0.5 * (low + high)
        done = abs(new - y) <= CLOSE * y
        y = new
        if done:
            break
    return y


@inlined
def transport(gap, n, v, m, u):
    """Return the minimum over x of (n/2) log(1 + x^2 / v) + (m/2) log(1 + (gap - x)^2 / u); 0 if there is no gap.

    There may be two local minima. With x = y gap they are the lowest and the highest root of a cubic.
    """
    if gap <= 0.0:
        return 0.0
    lowest = min(misfit(gap, n, v), misfit(gap, m, u))
    if v > 0.0 and u > 0.0:
        square, w = gap * gap, n / (n + m)
        a, b = min(WIDE, v / square), min(WIDE, u / square)
        for start in (0.0, 1.0):
            y = stationary(start, w, a, b)
            lowest = min(lowest, misfit(y * gap, n, v) + misfit((1.0 - y) * gap, m, u))
    return 0.5 * lowest


# --- the compiled loops ----------------------------------------------------------------------------------


@inlined
def leader_is_due(leader, led, obeyed):
    """Count that an arm leads; return whether it is pulled."""
    led[leader] += 1
    due = 2 * obeyed[leader] <= led[leader]
    obeyed[leader] += due
    return due


@inlined
def closest(leader, means, noise, epsilon):
    """Return the challenger by gap^2 / noise, where gaps are enlarged by epsilon."""
    challenger, lowest = -1, np.inf
    for i in range(means.size):
        if i != leader:
            gap = max(0.0, means[leader] - means[i] + epsilon)
            both = noise[leader] + noise[i]
            cost = gap * gap / both if both > 0 else (np.inf if gap > 0 else 0.0)
            if cost < lowest or challenger < 0:
                challenger, lowest = i, cost
    return challenger


@inlined
def closest_unknown(leader, means, squares, counts, log_counts):
    """Return the challenger by `transport` + log(N).

    log(1 + s / v) is concave in s, so with the misfits P and Q at the whole gap the minimum over x is at least
    P Q / (P + Q) / 2. Only where this leaves hope is it computed.
    """
    challenger, lowest = -1, np.inf
    n, v = counts[leader], squares[leader] / counts[leader]
    for i in range(means.size):
        if i != leader:
            gap = means[leader] - means[i]
            m, u = counts[i], squares[i] / counts[i]
            least = 0.0
            if gap > 0.0:
                p, q = misfit(gap, n, v), misfit(gap, m, u)
                least = 0.5 * min(p, q) / (1.0 + min(p, q) / max(p, q))
            if challenger < 0 or not (log_counts[i] + least * (1 - 1e-9) > lowest):
                cost = log_counts[i] + transport(gap, n, v, m, u)
                if cost < lowest or challenger < 0:
                    challenger, lowest = i, cost
    return challenger


@compiled
def track_block(rewards, growth, epsilon, variances, pulls, recommended):
    """EB-TC, EB-TC-epsilon and TTUCB. Variances that are not told have no columns."""
    n_runs, n_arms = pulls.shape
    told = variances.shape[1] > 0
    first = 1 if told else FIRST
    counts, led, obeyed = np.empty(n_arms), np.empty(n_arms), np.empty(n_arms)
    totals, squares, means = np.empty(n_arms), np.empty(n_arms), np.empty(n_arms)
    noise, keys = np.zeros(n_arms), np.empty(n_arms)
    for r in range(n_runs):
        counts[:] = 0.0
        led[:] = 0.0
        obeyed[:] = 0.0
        totals[:] = 0.0
        squares[:] = 0.0
        for t in range(growth.size - 1):
            if t < first * n_arms:
                i = t // first
            else:
                for j in range(n_arms):
                    keys[j] = means[j] + sqrt(growth[t] * noise[j])
                i = highest(keys)
                if not leader_is_due(i, led, obeyed):
                    i = closest(i, means, noise, epsilon)
            observe(draw(rewards, r, i, int(counts[i])), i, counts, totals, squares)
            means[i] = totals[i] / counts[i]
            if told:
                noise[i] = variances[r, i] / counts[i]
            elif counts[i] > 1:
                noise[i] = squares[i] / (counts[i] - 1) / counts[i]
        copy(counts, pulls[r])
        recommended[r] = highest(means)


@compiled
def track_unknown_block(rewards, first, logs, pulls, recommended):
    """EB-TCI with the cost of unknown variances."""
    n_runs, n_arms = pulls.shape
    counts, led, obeyed = np.empty(n_arms), np.empty(n_arms), np.empty(n_arms)
    totals, squares, means, log_counts = np.empty(n_arms), np.empty(n_arms), np.empty(n_arms), np.empty(n_arms)
    for r in range(n_runs):
        counts[:] = 0.0
        led[:] = 0.0
        obeyed[:] = 0.0
        totals[:] = 0.0
        squares[:] = 0.0
        for t in range(logs.size - 1):
            if t < first * n_arms:
                i = t // first
            else:
                i = highest(means)
                if not leader_is_due(i, led, obeyed):
                    i = closest_unknown(i, means, squares, counts, log_counts)
            observe(draw(rewards, r, i, int(counts[i])), i, counts, totals, squares)
            means[i] = totals[i] / counts[i]
            log_counts[i] = logs[int(counts[i])]
        copy(counts, pulls[r])
        recommended[r] = highest(means)


# --- the policies ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tracking(Policy):
    """Policies that are told the variances, by a simulation or as an argument, or estimate them."""

    anytime: ClassVar[bool] = True
    epsilon: ClassVar[float] = 0.0
    variances: Sequence[float] | str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.variances, str):
            checks.settle(self, variances=checks.choice("variances", self.variances, ("estimated",)))
        elif self.variances is not None:
            checks.settle(self, variances=tuple(checks.arms("variances", self.variances, least=0).tolist()))

    @property
    def estimates(self) -> bool:
        """Whether variances are estimated."""
        return self.variances == "estimated"

    def growth(self, budget: int) -> list[float]:
        """Return the square of the leader's bonus after each number of pulls, in standard errors."""
        return [0.0] * (budget + 1)

    def known(self, n_arms: int, budget: int, problem: Bandits | None = None) -> Known:
        if isinstance(self.variances, str):
            return Known()
        return told_variances(self, self.variances, n_arms, problem)

    def least_budget(self, n_arms: int) -> int:
        return FIRST * n_arms if self.estimates else n_arms

    @property
    def budget_rule(self) -> str:
        return f"{FIRST} pulls per arm" if self.estimates else "one pull per arm"

    def resume(
        self, n_arms: int, budget: int, progress: Progress, variances: Sequence[float] = (), **known: Any
    ) -> Steps:
        return track_transport(progress, budget, self.growth(budget), float(self.epsilon), variances)

    def play(self, rewards: Any, budget: int, known: Known, pulls: np.ndarray, recommended: np.ndarray) -> None:
        variances = np.empty((len(pulls), 0)) if known.variances is None else known.variances
        track_block(rewards, np.array(self.growth(budget)), float(self.epsilon), variances, pulls, recommended)

    @classmethod
    def examples(cls) -> list[Policy]:
        return [cls(), cls(variances="estimated")]


class EBTC(Tracking):
    """Empirical best against the rival with the lowest transportation cost (Jourdan et al., 2022), with tracking.

    The leader b has the highest mean. The challenger i has the lowest gap^2 / (sigma_b^2 / N_b + sigma_i^2 / N_i). An
    arm whose first rewards are low may never be looked at again; `EBTCI` and `EBTCEpsilon` are cures for that. We found
    no public code with tracking; its mistakes were compared with those of a second implementation of ours.

    Parameters
    ----------
    variances : sequence of float or "estimated", optional
        The variances that the policy works with. A simulation tells it the true ones unless they are given here. With
        "estimated" every arm is pulled four times first, and sample variances take their place.

    Examples
    --------
    >>> EBTC().least_budget(n_arms=8), EBTC(variances="estimated").least_budget(n_arms=8)
    (8, 32)
    """

    name: ClassVar[str] = "EB-TC"
    style: ClassVar[dict[str, str]] = {"color": "#AA7744", "marker": "$C$", "linestyle": ":"}


@dataclass(frozen=True)
class EBTCEpsilon(Tracking):
    """EB-TC with gaps enlarged by epsilon (Jourdan, Degenne and Kaufmann, 2023): half of the pulls for the leader.

    The challenger i has the lowest (gap + epsilon)^2 / (sigma_b^2 / N_b + sigma_i^2 / N_i). The paper is about equal
    variances, for which it bounds the mistakes at any budget. Unequal ones enter as shown. We found no public code; its
    mistakes were compared with those of a second implementation of ours.

    Parameters
    ----------
    variances : sequence of float or "estimated", optional
        The variances that the policy works with. A simulation tells it the true ones unless they are given here. With
        "estimated" every arm is pulled four times first, and sample variances take their place.
    epsilon : float
        By how much gaps are enlarged, in the unit of the rewards. Smaller gaps matter little.

    Examples
    --------
    >>> print(EBTCEpsilon(epsilon=0.05))
    EB-TC-eps(epsilon=0.05)
    """

    name: ClassVar[str] = "EB-TC-eps"
    style: ClassVar[dict[str, str]] = {"color": "#DDAA33", "marker": "$E$", "linestyle": "--"}
    epsilon: float = 0.1  # pyright: ignore[reportIncompatibleVariableOverride]

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.settle(self, epsilon=checks.positive("epsilon", self.epsilon))


class TTUCB(Tracking):
    """Top two with an optimistic leader (Jourdan and Degenne, 2023), with tracking.

    The leader has the highest mean + sigma_i sqrt(g(t) / N_i), where g(t) = y + log(y) and y = 2.88 log(t) +
    2 log(2 + 1.2 log(t)) + 2. The challenger is that of `EBTC`. The paper is about equal variances; unequal ones enter
    as shown. We found no code by the authors; its mistakes were compared with those of a second implementation of ours.

    Parameters
    ----------
    variances : sequence of float or "estimated", optional
        The variances that the policy works with. A simulation tells it the true ones unless they are given here. With
        "estimated" every arm is pulled four times first, and sample variances take their place.

    Examples
    --------
    >>> [round(g, 1) for g in TTUCB().growth(1000)[1::333]]
    [4.6, 26.3, 28.5, 29.8]
    """

    name: ClassVar[str] = "TTUCB"
    style: ClassVar[dict[str, str]] = {"color": "#004488", "marker": "$U$", "linestyle": "-."}

    def growth(self, budget: int) -> list[float]:
        logs = [log(max(1, t)) for t in range(budget + 1)]
        slow = [2.88 * x + 2.0 * log(2.0 + 1.2 * x) + 2.0 for x in logs]
        return [y + log(y) for y in slow]


@dataclass(frozen=True)
class EBTCI(Allocation):
    """Empirical best against the rival that is hardest to tell from it, variances unknown (Jourdan et al., 2023).

    The leader b has the highest mean. The challenger i has the lowest log(N_i) + inf_x sum_c (N_c / 2) log(1 + (mean_c
    - x)^2 / v_c), where c is b or i and v_c is the mean squared deviation of its rewards. That is how much likelier the
    rewards are with means as they look than with equal means, if variances may be anything. The original tosses a coin
    between leader and challenger; here they take turns (tracking). We found no public code for unknown variances; its
    mistakes were compared with those of a second implementation of ours.

    Parameters
    ----------
    first : int
        Pulls of every arm before this begins.

    Examples
    --------
    >>> EBTCI().least_budget(n_arms=64)
    256
    """

    name: ClassVar[str] = "EB-TCI"
    style: ClassVar[dict[str, str]] = {"color": "#BB5566", "marker": "$I$", "linestyle": "-"}
    first: int = FIRST

    @staticmethod
    def _logs(budget: int) -> list[float]:
        return [log(max(1, count)) for count in range(budget + 1)]

    def resume(self, n_arms: int, budget: int, progress: Progress, **known: Any) -> Steps:
        return track_unknown(progress, budget, self.first, self._logs(budget))

    def play(self, rewards: Any, budget: int, known: Known, pulls: np.ndarray, recommended: np.ndarray) -> None:
        track_unknown_block(rewards, self.first, np.array(self._logs(budget)), pulls, recommended)

    @classmethod
    def examples(cls) -> list[Policy]:
        return [cls(), cls(first=2)]
