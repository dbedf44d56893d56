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
    """Count, total, sum of squared deviations and range of each arm's rewards, kept up to date reward by reward.

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
        self.lowest = [inf] * n_arms
        self.highest = [-inf] * n_arms

    def add(self, arm: int, reward: float) -> None:
        """Take in one reward (Welford's update, which is exact for means far from zero)."""
        old = self.mean(arm) if self.count[arm] else reward
        self.count[arm] += 1
        self.total[arm] += reward
        self.squares[arm] += (reward - old) * (reward - self.mean(arm))
        self.lowest[arm] = min(self.lowest[arm], reward)
        self.highest[arm] = max(self.highest[arm], reward)

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


def overestimated_mean(index: Callable[[Tally], Callable[[int], float]], warmup: Callable[[int], int]) -> Choose:
    """Algorithm 4 (SHAdaVar): warm up (lines 2 to 4), then the arm with the highest index, U / N (line 8).

    `index(tally)` returns the index as a function of the arm. `warmup(k)` is the number of pulls after which k
    arms are warm.
    """

    def choose(tally: Tally, active: list[int], t: int) -> int:
        if sum(tally.count[arm] for arm in active) < warmup(len(active)):
            return least_pulled(tally, active, t)
        return argmax(active, index(tally))

    return choose


def by_quantile(spread: list[float]) -> Callable[[Tally], Callable[[int], float]]:
    """SHAdaVar's index U / N with U = (sum of squared deviations) / lower.

    `lower` is what a chi-square variable with N - 1 degrees of freedom exceeds with probability 1 - delta, or a
    number below it, and `spread[N]` is N times that.
    """
    return lambda tally: lambda arm: tally.squares[arm] / spread[tally.count[arm]]


def doubting_repeats(spread: list[float], doubt: float) -> Callable[[Tally], Callable[[int], float]]:
    """As `by_quantile`, but U = doubt D^2 / N for an arm whose N rewards are all the same number.

    D is the range of all rewards seen; while there is only one value, any D > 0 makes the arms take turns.
    """

    def index(tally: Tally) -> Callable[[int], float]:
        seen = max(tally.highest) - min(tally.lowest)
        scale = doubt * (seen * seen) if seen > 0 else doubt

        def of_arm(arm: int) -> float:
            if tally.lowest[arm] == tally.highest[arm]:
                return scale / (tally.count[arm] * tally.count[arm])
            return tally.squares[arm] / spread[tally.count[arm]]

        return of_arm

    return index


def by_bernstein(spread: list[float], slack: list[float], span: float) -> Callable[[Tally], Callable[[int], float]]:
    """The root of U / N with sqrt(U) = (sample deviation) + span sqrt(2 log(1/delta) / (N - 1)).

    `spread[N]` is N (N - 1), `slack[N]` is sqrt(2 log(1/delta) / (N (N - 1))). Rounding may make a sum of squares
    negative.
    """
    return lambda tally: (
        lambda arm: sqrt(max(0.0, tally.squares[arm]) / spread[tally.count[arm]]) + span * slack[tally.count[arm]]
    )


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


# --- allocation by estimated means and variances: OCBA, TopTwo -------------------------------------------


def allocate(n_arms: int, budget: int, first: int, choose: Callable[[Tally], int]) -> Steps:
    """Pull every arm `first` times, then as `choose` says; answer with the highest mean."""
    tally = Tally(n_arms)
    for t in range(budget):
        arm = t // first if t < first * n_arms else choose(tally)
        tally.add(arm, (yield arm))
    return argmax(range(n_arms), tally.mean)


def below_ocba_share(tally: Tally) -> int:
    """OCBA: the arm with the most OCBA share per pull, so the one whose pulls are the smallest part of its share.

    The share of a rival is variance / gap^2, that of the leader (deviation) sqrt(sum of share^2 / variance).
    """
    arms = range(len(tally.count))
    leader = argmax(arms, tally.mean)
    keys, total = [0.0] * len(arms), 0.0
    for arm in arms:
        if arm != leader and tally.variance(arm) > 0:
            gap = tally.mean(leader) - tally.mean(arm)
            square = gap * gap
            share = tally.variance(arm) / square if square > 0 else inf
            total += share / square if square > 0 else inf
            keys[arm] = share / tally.count[arm]
    if tally.variance(leader) > 0:
        keys[leader] = sqrt(tally.variance(leader) * total) / tally.count[leader]
    return argmax(arms, keys.__getitem__)


def leader_or_challenger(logs: list[float], weight: float) -> Callable[[Tally], int]:
    """TopTwo: the leader or the rival that is hardest to tell from it, whichever is short of pulls.

    Variances are shrunk: to its own squared deviations each arm adds `weight` times the pooled variance.
    `logs[N]` is log(N).
    """

    def choose(tally: Tally) -> int:
        arms = range(len(tally.count))
        pooled = 0.0
        for arm in arms:
            pooled += tally.squares[arm]
        pooled /= sum(tally.count) - len(arms)
        if pooled <= 0:
            return least_pulled(tally, arms, 0)
        noise = []  # variance of each mean
        for arm in arms:
            count = tally.count[arm]
            noise.append((tally.squares[arm] + weight * pooled) / ((count - 1 + weight) * count))
        leader = argmax(arms, tally.mean)
        total, lowest, challenger = 0.0, inf, leader
        for arm in arms:
            if arm != leader:
                gap = tally.mean(leader) - tally.mean(arm)
                cost = gap * gap / (noise[leader] + noise[arm]) + logs[tally.count[arm]]
                total += tally.count[arm] / noise[arm]
                if cost < lowest:
                    lowest, challenger = cost, arm
        return leader if tally.count[leader] / noise[leader] < total else challenger

    return choose
