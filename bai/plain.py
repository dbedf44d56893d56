"""The algorithms as the paper writes them down: one pull at a time, nothing clever.

Each is a generator. It yields the arm to pull next, is sent the reward, and returns its answer:

>>> steps = eliminate(2, [(4, 1)], least_pulled)
>>> next(steps), steps.send(1.0), steps.send(5.0), steps.send(2.0)
(0, 1, 0, 1)

They serve `Experiment` and `identify`, where the rewards come from outside, and are the yardstick for the
compiled loops of `kernels.py`. Ties go to the arm that comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from math import inf, sqrt

Steps = Generator[int, float, int]


class Tally:
    """Count, total and sum of squared deviations of the rewards of each arm, kept up to date reward by reward.

    >>> tally = Tally(2)
    >>> for reward in (1.0, 2.0, 6.0):
    ...     tally.add(0, reward)
    >>> tally.count[0], tally.mean(0), tally.variance(0)
    (3, 3.0, 7.0)
    """

    def __init__(self, n_arms: int):
        self.count = [0] * n_arms
        self.total = [0.0] * n_arms
        self.squares = [0.0] * n_arms

    def add(self, arm: int, reward: float) -> None:
        """Take in one reward (Welford's update, which is exact for means far from zero)."""
        old = self.mean(arm) if self.count[arm] else reward
        self.count[arm] += 1
        self.total[arm] += reward
        self.squares[arm] += (reward - old) * (reward - self.mean(arm))

    def mean(self, arm: int) -> float:
        """Return the average reward of an arm."""
        return self.total[arm] / self.count[arm]

    def variance(self, arm: int) -> float:
        """Return the unbiased sample variance of an arm's rewards."""
        return self.squares[arm] / (self.count[arm] - 1)


def argmax(arms: Iterable[int], key: Callable[[int], float]) -> int:
    """Return the arm with the highest key, the first of several."""
    return max(arms, key=key)


# --- elimination in stages: Unif, SH, SHVar, SHAdaVar, SR, VBR -------------------------------------------

Choose = Callable[[Tally, list[int], int], int]


def eliminate(
    n_arms: int,
    schedule: Iterable[tuple[int, int]],
    choose: Choose,
    score: Callable[[Tally, int], float] = Tally.mean,
    reuse: bool = False,
) -> Steps:
    """Algorithm 1 of the paper: in each stage pull as `choose` says, then keep the arms that score highest.

    `schedule` lists the number of pulls and of survivors of each stage. With `reuse` the samples of earlier
    stages are kept; the paper discards them. Comments name the lines of Algorithm 1.
    """
    active = list(range(n_arms))  # 3
    tally = Tally(n_arms)
    for pulls, survivors in schedule:  # 2, 4, 5
        if not reuse:
            tally = Tally(n_arms)
        for t in range(pulls):  # 6
            arm = choose(tally, active, t)  # 7
            reward = yield arm  # 8
            tally.add(arm, reward)  # 9 to 11
        ranked = sorted(active, key=lambda arm: -score(tally, arm))
        active = sorted(ranked[:survivors])  # 12
    return active[0]  # 13


def least_pulled(tally: Tally, active: list[int], t: int) -> int:
    """Algorithm 2 (SH), lines 2 and 3: the arms in turn."""
    return min(active, key=lambda arm: tally.count[arm])


def noisiest_mean(variances: list[float]) -> Choose:
    """Algorithm 3 (SHVar), line 4: the arm whose mean estimate has the highest variance, unpulled arms first."""

    def choose(tally: Tally, active: list[int], t: int) -> int:
        return argmax(active, lambda i: variances[i] / tally.count[i] if tally.count[i] else inf)

    return choose


def overestimated_mean(spread: list[float], warmup: Callable[[int], int]) -> Choose:
    """Algorithm 4 (SHAdaVar): warm up (lines 2 to 4), then the arm with the highest U / N (line 8).

    U = (sum of squared deviations) / lower, where `lower` is what a chi-square variable with N - 1 degrees of
    freedom exceeds with probability 1 - delta, and `spread[N]` is N times that. `warmup(k)` is the number of
    pulls after which k arms are warm.
    """

    def index(tally: Tally, arm: int) -> float:
        return tally.squares[arm] / spread[tally.count[arm]]

    def choose(tally: Tally, active: list[int], t: int) -> int:
        if sum(tally.count[arm] for arm in active) < warmup(len(active)):
            return least_pulled(tally, active, t)
        return argmax(active, lambda arm: index(tally, arm))

    return choose


def interval_radius(gamma: float) -> Callable[[Tally, int], float]:
    """VBR: gamma estimated standard deviations of the mean; nothing is known of them after one pull."""

    def radius(tally: Tally, arm: int) -> float:
        return gamma * sqrt(tally.variance(arm) / tally.count[arm]) if tally.count[arm] > 1 else 0.0

    return radius


def by_interval(radius: Callable[[Tally, int], float], least: int, widest: bool) -> Choose:
    """VBR: every arm `least` times, then the highest upper bound (or the widest interval)."""

    def choose(tally: Tally, active: list[int], t: int) -> int:
        if min(tally.count[arm] for arm in active) < least:
            return least_pulled(tally, active, t)
        if widest:
            return argmax(active, lambda arm: radius(tally, arm))
        return argmax(active, lambda arm: tally.mean(arm) + radius(tally, arm))

    return choose


# --- gap-based exploration: GapE, GapE-V, A-GapE, A-GapE-V -----------------------------------------------


def explore(n_arms: int, budget: int, first: int, radius: Callable[[Tally, dict[int, float]], Callable]) -> Steps:
    """Pull every arm `first` times, then the arm with the highest radius - gap; answer with the highest mean.

    The gap of an arm is the distance of its mean to the best of the others. `radius(tally, gaps)` returns the
    radius as a function of the arm.
    """
    arms = range(n_arms)
    tally = Tally(n_arms)
    for arm in arms:
        for _ in range(first):
            tally.add(arm, (yield arm))
    for _ in range(budget - first * n_arms):
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
    return total


def estimated_variance_complexity(tally: Tally, gaps: dict[int, float], bound: float) -> float:
    """A-GapE-V: H_v with every gap as large and every standard deviation as small as plausible."""
    total = 0.0
    for arm, gap in gaps.items():
        count = tally.count[arm]
        gap += bound * sqrt(1.0 / (2.0 * count))
        deviation = max(0.0, sqrt(tally.variance(arm)) - bound * sqrt(2.0 / (count - 1)))
        root = deviation + sqrt(deviation * deviation + 16.0 / 3.0 * bound * gap)
        total += root * root / (gap * gap)
    return total
