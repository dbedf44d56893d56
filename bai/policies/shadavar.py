"""SHAdaVar: sequential halving that pulls where the overestimated variance of the mean is highest.

That variance, U / N in the paper, depends only on the arm's own rewards, so it does not matter in which order the arms
come down to a common level. Hence the compiled loop guesses a level that the budget allows, pulls each arm down to it
in one go, and guesses again. When little is left, it pulls the highest arm, one pull at a time. A level that proves too
low is taken back, and what was drawn for it stays in a buffer as the next rewards of its arms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import sqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .. import checks
from ..compiling import compiled, inlined
from ..problems import Bandits
from ..sampling import Rewards, draw, draw_rewards, has_normals, next_normals, use_normals
from .base import Known, Policy, Progress, Steps, Tally, argmax, least_pulled
from .gaps import reward_bounds
from .halving import Choose, Halving, eliminate, share_equally, stage_array
from .loops import copy, keep_highest, observe, open_tournament, play_tournament, set_key, tree_size
from .variance_bounds import Bernstein, ChiSquare, Gaussian, Index, PlugIn, Printed, VarianceBound

# --- the plain version -----------------------------------------------------------------------------------


def overestimated_mean(index: Callable[[Tally], Index], warmup_pulls: Callable[[int], int]) -> Choose:
    """Algorithm 4 (SHAdaVar): warm up (lines 2 to 4), then the arm with the highest index, U / N (line 8)."""

    def choose(tally: Tally, active: list[int]) -> int:
        if sum(tally.count[arm] for arm in active) < warmup_pulls(len(active)):
            return least_pulled(tally, active)
        return argmax(active, index(tally))

    return choose


# --- the compiled loop -----------------------------------------------------------------------------------


class Stages(NamedTuple):
    """A schedule, and after how many pulls in all the arms of each stage are warm."""

    pulls: np.ndarray
    survivors: np.ndarray
    warmups: np.ndarray


class Sums(NamedTuple):
    """What is known about the rewards of each arm."""

    counts: np.ndarray
    totals: np.ndarray
    squares: np.ndarray  # sum of squared deviations
    lows: np.ndarray  # lowest and highest reward; not kept while arms are pulled down to a level
    highs: np.ndarray


class Attempt(NamedTuple):
    """The way down to a level: what was known about each arm before, and the rewards drawn on the way."""

    arms: np.ndarray  # those that are pulled
    counts: np.ndarray
    totals: np.ndarray
    squares: np.ndarray
    buffer: np.ndarray
    start: np.ndarray  # where in the buffer the next rewards of an arm lie
    ready: np.ndarray  # and how many there are, if the level was taken back


class Run(NamedTuple):
    """One run of the block: where its rewards come from, and its index of an arm."""

    rewards: Rewards
    r: int
    before: np.ndarray  # pulls of each arm that its count leaves out: those of earlier stages, unless they are kept
    spread: np.ndarray  # see IndexTable
    slack: np.ndarray
    span: float
    guard: float


@inlined
def mean_key(run, square, count):
    """Return SHAdaVar's index U / N, or with Bernstein's bound, whose `slack` is not empty, the root of U / N."""
    if run.slack.size > 0:
        return sqrt(max(0.0, square) / run.spread[count]) + run.span * run.slack[count]
    return square / run.spread[count]


@inlined
def is_above(run, level, square, count):
    """Return whether an arm's index is above a positive level. A negative one, from the printed warm-up, never is."""
    if run.slack.size > 0:
        return mean_key(run, square, count) > level
    return 0 < level * run.spread[count] < square


@inlined
def take_in(x, count, total, square, mean):
    """Return total, sum of squared deviations and mean with reward x, the `count`-th of its arm."""
    total += x
    old = mean
    mean = total / count
    return total, square + (x - old) * (x - mean), mean


@inlined
def warm_up(run, alive, left, warmup, sums, targets, buffer):
    """Pull the arms in turn until they are warm or nothing is left; return how many pulls are left."""
    warm = warmup
    for i in alive:
        warm -= sums.counts[i]
    if warm <= 0:
        return left
    warm = min(warm, left)
    share_equally(alive, warm, sums.counts, targets)
    for i in alive:
        count, total, square = sums.counts[i], sums.totals[i], sums.squares[i]
        drawn = buffer[: targets[i] - count]
        draw_rewards(run.rewards, run.r, i, run.before[i] + count, drawn)
        mean = total / count if count > 0 else drawn[0]
        for x in drawn:
            count += 1
            total, square, mean = take_in(x, count, total, square, mean)
        sums.counts[i], sums.totals[i], sums.squares[i] = count, total, square
        if run.guard > 0:
            for x in drawn:
                sums.lows[i], sums.highs[i] = min(sums.lows[i], x), max(sums.highs[i], x)
    return left - warm


@inlined
def pull_arm(run, i, most, level, sums, buffer):
    """Pull arm i, whose index is above `level`, at most `most` times, until it no longer is.

    The rewards also go to `buffer`. Return how many there are.
    """
    count, total, square = sums.counts[i], sums.totals[i], sums.squares[i]
    mean = total / count
    if run.slack.size == 0 and has_normals(run.rewards, most):
        normals = run.rewards.normals[next_normals(run.rewards, most) :]
        loc, scale, limits = run.rewards.loc[run.r, i], run.rewards.scale[run.r, i], run.spread[count:]
        divisor = float(count)  # an integer would have to be converted for every pull
        pulled = most
        for m in range(most):
            if not level * limits[m] < square:
                pulled = m
                break
            x = loc + scale * normals[m]
            buffer[m] = x
            divisor += 1.0
            total, square, mean = take_in(x, divisor, total, square, mean)
        use_normals(run.rewards, pulled)
    else:
        pulled = most
        for m in range(most):
            if not is_above(run, level, square, count):
                pulled = m
                break
            x = draw(run.rewards, run.r, i, run.before[i] + count)
            buffer[m] = x
            count += 1
            total, square, mean = take_in(x, count, total, square, mean)
    sums.counts[i] += pulled
    sums.totals[i], sums.squares[i] = total, square
    return pulled


@inlined
def next_level(run, alive, left, sums):
    """Return the level that half of the remaining pulls should reach if the variances are as estimated, or 0.

    The odd factor keeps the level clear of every index, so that rounding cannot decide whether it is reached.
    """
    top, mass, noisiest = 0.0, 0.0, 0
    for i in alive:
        variance = sums.squares[i] / (sums.counts[i] - 1)
        mass += variance
        if variance > top:
            top, noisiest = variance, i
    steps = int(0.5 * left * (top / mass)) if top > 0 else 0
    count = sums.counts[noisiest] + steps
    return 1.000000001 * mean_key(run, top * (count - 1), count) if steps > 0 else 0.0


@inlined
def try_level(run, alive, left, level, sums, attempt):
    """Pull the arms down to a level; return how many pulls it took, or -1 if it was too low and was taken back."""
    size = 0
    for i in alive:  # without a branch, which would be mispredicted for many arms
        attempt.arms[size] = i
        size += is_above(run, level, sums.squares[i], sums.counts[i])
    arms = attempt.arms[:size]
    used, deep_enough = 0, True
    for i in arms:
        attempt.counts[i], attempt.totals[i] = sums.counts[i], sums.totals[i]
        attempt.squares[i] = sums.squares[i]
        attempt.start[i] = used
        used += pull_arm(run, i, left - used, level, sums, attempt.buffer[used:])
        if used == left and is_above(run, level, sums.squares[i], sums.counts[i]):
            deep_enough = False
    if not deep_enough:
        for i in arms:
            attempt.ready[i] = sums.counts[i] - attempt.counts[i]
            sums.counts[i], sums.totals[i] = attempt.counts[i], attempt.totals[i]
            sums.squares[i] = attempt.squares[i]
        return -1
    return used


@inlined
def pull_to_levels(run, alive, left, sums, attempt):
    """Pull the arms down level by level; return how many pulls are left."""
    while left > 0:
        level = next_level(run, alive, left, sums)
        if level <= 0:
            break
        used = try_level(run, alive, left, level, sums, attempt)
        if used <= 0:
            break
        left -= used
    return left


@inlined
def guard_scale(guard, lows, highs):
    """Return guard D^2, where D is the range of all rewards seen, or 1 while there is only one value."""
    low, high = lows[0], highs[0]
    for i in range(1, lows.size):
        low, high = min(low, lows[i]), max(high, highs[i])
    seen = high - low
    return guard * (seen * seen) if seen > 0 else guard


@inlined
def pull_highest(run, alive, left, sums, attempt, tree, guarding):
    """Pull the arm with the highest index, `left` times.

    If `guarding`, some arm has seen only equal rewards. Its index then moves with the range of all rewards.
    """
    size = tree_size(alive.size)
    winners, best_keys = tree[0][:size], tree[1][:size]  # positions in `alive`, which has the order of the arms
    scale, fresh = 0.0, True  # whether all keys must be set
    for _ in range(left):
        if fresh:
            scale = guard_scale(run.guard, sums.lows, sums.highs) if guarding else 0.0
            open_tournament(winners, best_keys)
            for p in range(alive.size):
                i = alive[p]
                key = mean_key(run, sums.squares[i], sums.counts[i])
                if guarding and sums.lows[i] == sums.highs[i]:
                    key = scale / (sums.counts[i] * sums.counts[i])
                best_keys[size // 2 + p] = key
            play_tournament(winners, best_keys)
        p = winners[1]
        i = alive[p]
        if attempt.ready[i] > 0:
            x = attempt.buffer[attempt.start[i]]
            attempt.start[i] += 1
            attempt.ready[i] -= 1
        else:
            x = draw(run.rewards, run.r, i, run.before[i] + sums.counts[i])
        observe(x, i, sums.counts, sums.totals, sums.squares)
        key = mean_key(run, sums.squares[i], sums.counts[i])
        fresh = False
        if guarding:
            sums.lows[i], sums.highs[i] = min(sums.lows[i], x), max(sums.highs[i], x)
            fresh = guard_scale(run.guard, sums.lows, sums.highs) != scale
            if sums.lows[i] == sums.highs[i]:
                key = scale / (sums.counts[i] * sums.counts[i])
        set_key(winners, best_keys, p, key)


@inlined
def has_repeats(run, alive, sums):
    """Return whether repeats are guarded against and some arm has seen only equal rewards.

    There is no such arm later in a stage unless there is one after the warm-up.
    """
    repeats = False
    if run.guard > 0:
        for i in alive:
            repeats |= sums.lows[i] == sums.highs[i]
    return repeats


@compiled
def eliminate_adaptively(rewards, stages, reuse, table, spans, pulls, recommended):
    """SHAdaVar: warm up every arm, then pull where the overestimated variance of the mean is highest."""
    n_runs, n_arms = pulls.shape
    everyone = np.arange(n_arms)
    active, targets, before = np.empty(n_arms, np.int64), np.empty(n_arms, np.int64), np.empty(n_arms, np.int64)
    scores, scratch = np.empty(n_arms), np.empty(n_arms)
    floats = np.empty((6, n_arms))
    sums = Sums(np.empty(n_arms, np.int64), floats[0], floats[1], floats[2], floats[3])
    attempt = Attempt(
        np.empty(n_arms, np.int64),
        np.empty(n_arms, np.int64),
        floats[4],
        floats[5],
        np.empty(stages.pulls.max()),
        np.empty(n_arms, np.int64),
        np.zeros(n_arms, np.int64),
    )
    tree = (np.empty(tree_size(n_arms), np.int64), np.empty(tree_size(n_arms)))
    for r in range(n_runs):
        run = Run(rewards, r, before, table.spread, table.slack, spans[r], table.guard)
        k = n_arms
        copy(everyone, active)
        for s in range(stages.pulls.size):
            if s == 0 or not reuse:
                copy(pulls[r], before)
                sums.counts[:] = 0
                sums.totals[:] = 0.0
                sums.squares[:] = 0.0
                sums.lows[:] = np.inf
                sums.highs[:] = -np.inf
            alive = active[:k]
            left = warm_up(run, alive, stages.pulls[s], stages.warmups[s], sums, targets, attempt.buffer)
            guarding = has_repeats(run, alive, sums)
            if not guarding:
                left = pull_to_levels(run, alive, left, sums, attempt)
            pull_highest(run, alive, left, sums, attempt, tree, guarding)
            for p in range(k):
                i = active[p]
                attempt.ready[i] = 0
                pulls[r, i] = before[i] + sums.counts[i]
                scores[p] = sums.totals[i] / sums.counts[i]
            keep_highest(active, scores, k, stages.survivors[s], scratch)
            k = stages.survivors[s]
        recommended[r] = active[0]


# --- the policy ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SHAdaVar(Halving):
    """Sequential halving with unknown variances (Algorithms 1 and 4): it works with overestimates of them.

    Parameters
    ----------
    delta : float
        Probability with which one bound on one variance may fail.
    bound : VarianceBound
        How a variance is bounded, from `bai.variance_bounds`: `Gaussian()` is the paper's, `Printed()` the same with
        its warm-up read literally; `ChiSquare()`, `Bernstein()` and `PlugIn()` are others.
    reuse : bool
        Keep the samples of earlier stages. The paper discards them.

    Examples
    --------
    >>> import bai
    >>> SHAdaVar(delta=0.05).warmup_pulls(n_arms=64)
    832
    >>> SHAdaVar(bound=bai.variance_bounds.ChiSquare()).warmup_pulls(n_arms=64)
    128
    """

    name: ClassVar[str] = "SHAdaVar"
    style: ClassVar[dict[str, str]] = {"color": "#009E73", "marker": "D", "linestyle": "-"}
    delta: float = 0.05
    bound: VarianceBound = field(default=Gaussian())
    reuse: bool = False

    def __post_init__(self) -> None:
        # Far below this, a bound would divide by numbers that cannot be told from 0.
        delta = checks.number("delta", self.delta, above=1e-100, below=1)
        if not isinstance(self.bound, VarianceBound):
            checks.wrong_type("bound", self.bound, "a bound such as bai.variance_bounds.ChiSquare()")
        super().__post_init__()
        checks.settle(self, delta=delta)

    def warmup_pulls(self, n_arms: int) -> int:
        """Return after how many pulls `n_arms` arms are warm."""
        pulls = self.bound.warmup_pulls(n_arms, self.delta)
        if pulls < 2 * n_arms:
            raise ValueError(
                f"{self.bound!r} with delta={self.delta} warms up {n_arms} arms with {pulls} pulls; two per arm are "
                "needed for a sample variance"
            )
        return pulls

    def known(self, n_arms: int, budget: int, problem: Bandits | None = None) -> Known:
        if not self.bound.needs_range:
            return Known()
        return Known(span=reward_bounds(self, "span", self.bound.span, budget, problem))

    def resume(self, n_arms: int, budget: int, progress: Progress, span: float = 0.0, **known: Any) -> Steps:
        choose = overestimated_mean(self.bound.index(self.delta, budget, span), self.warmup_pulls)
        return eliminate(progress, self.schedule(n_arms, budget), choose, reuse=self.reuse)

    def play(self, rewards: Any, budget: int, known: Known, pulls: np.ndarray, recommended: np.ndarray) -> None:
        numbers, survivors = stage_array(self, pulls.shape[1], budget)
        warmups = [self.warmup_pulls(size) for size in (pulls.shape[1], *survivors[:-1].tolist())]
        stages = Stages(numbers, survivors, np.array(warmups))
        table = self.bound.table(self.delta, budget)
        spans = np.zeros(len(pulls)) if known.span is None else known.span
        eliminate_adaptively(rewards, stages, self.reuse, table, spans, pulls, recommended)

    @classmethod
    def examples(cls) -> list[Policy]:
        bounds = [Gaussian(guard_repeats=True), Printed(), PlugIn(), ChiSquare(), Bernstein()]
        kept = [Gaussian(), PlugIn(), ChiSquare(guard_repeats=True), Bernstein(span=0.1)]
        return [cls(), cls(delta=0.3), *(cls(bound=b) for b in bounds), *(cls(bound=b, reuse=True) for b in kept)]
