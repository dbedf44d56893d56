"""Elimination in stages: after each, only the arms with the highest means go on.

The plain version is Algorithm 1 of the paper, `eliminate`. The compiled loop draws sums of rewards: in Unif, SH, SHVar
and SR no reward can change how often an arm is pulled within a stage.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil, inf
from typing import Any, ClassVar

import numpy as np

from .. import checks, schedules
from ..compiling import compiled, inlined
from ..problems import Bandits
from ..sampling import draw_sum
from .base import Known, Policy, Progress, Steps, Tally, argmax, least_pulled
from .loops import copy, keep_highest, open_tournament, play_tournament, set_key, tree_size

Schedule = list[tuple[int, int]]  # the number of pulls and of survivors of each stage
Choose = Callable[[Tally, list[int]], int]  # the arm to pull next, given what is known about the arms still in


# --- the plain version -----------------------------------------------------------------------------------


def eliminate(
    progress: Progress,
    schedule: Schedule,
    choose: Choose,
    score: Callable[[Tally, int], float] = Tally.mean,
    reuse: bool = False,
) -> Steps:
    """Algorithm 1 of the paper: in each stage pull as `choose` says, then keep the arms that score highest.

    With `reuse` the samples of earlier stages are kept; the paper discards them. Comments name the lines of
    Algorithm 1, whose line 3 is where `progress` begins.

    >>> steps = eliminate(Progress.begin(2), [(4, 1)], least_pulled)
    >>> next(steps), steps.send(1.0), steps.send(5.0), steps.send(2.0)
    (0, 1, 0, 1)
    """
    for pulls, survivors in schedule[progress.stage :]:  # 2, 4, 5
        if progress.pulls == 0 and not reuse:
            progress.tally = Tally(len(progress.tally.count))
        while progress.pulls < pulls:  # 6
            arm = choose(progress.tally, progress.active)  # 7
            reward = yield arm  # 8
            progress.tally.add(arm, reward)  # 9 to 11
            progress.pulls += 1
        ranked = sorted(progress.active, key=lambda arm: -score(progress.tally, arm))
        progress.active = sorted(ranked[:survivors])  # 12
        progress.stage, progress.pulls = progress.stage + 1, 0
    return progress.active[0]  # 13


def noisiest_mean(variances: Sequence[float]) -> Choose:
    """Algorithm 3 (SHVar), line 4: the arm whose mean estimate has the highest variance, unpulled arms first."""

    def choose(tally: Tally, active: list[int]) -> int:
        return argmax(active, lambda i: variances[i] / tally.count[i] if tally.count[i] else inf)

    return choose


# --- the compiled loop -----------------------------------------------------------------------------------


@inlined
def share_equally(alive, b, counts, targets):
    """Least pulled first, b pulls."""
    total, k, most = b, alive.size, 0
    for i in alive:
        total += counts[i]
        most = max(most, counts[i])
    each, rest = total // k, total % k
    for p in range(k):
        targets[alive[p]] = each + (p < rest) if most <= each else counts[alive[p]]
    if most > each:  # some arm has its share already: hand out pulls one by one
        for _ in range(b):
            least = alive[0]
            for i in alive:
                least = i if targets[i] < targets[least] else least
            targets[least] += 1


@inlined
def share_greedily(alive, b, counts, targets, weights, winners, best_keys):
    """Algorithm 3, line 4, b times: pull the arm with the highest weight / count.

    The greedy rule picks the largest b of all numbers weight_i / c, c = 1, 2, ... (Adams' apportionment), and
    arm i gets at least (b - k + 1) weight_i / sum(weights) of them. So start there and play on.
    """
    total, mass = b, 0.0
    for i in alive:
        total += counts[i]
        mass += weights[i]
    left, half = total, winners.size // 2
    open_tournament(winners, best_keys)
    for i in alive:
        target = max(1, counts[i])
        if mass > 0:
            target = max(target, ceil((total - alive.size + 1) * (weights[i] / mass) * (1 - 1e-12)))
        targets[i] = target
        left -= target
        best_keys[half + i] = weights[i] / target
    play_tournament(winners, best_keys)
    for _ in range(left):
        i = winners[1]
        targets[i] += 1
        set_key(winners, best_keys, i, weights[i] / targets[i])


@compiled
def eliminate_block(rewards, stages, reuse, weights, pulls, recommended):
    """Unif, SH, SHVar and SR. `weights` has K columns (pull in proportion to them) or none (pull equally)."""
    stage_pulls, survivors = stages
    n_runs, n_arms = pulls.shape
    everyone = np.arange(n_arms)
    active, counts, targets = np.empty(n_arms, np.int64), np.empty(n_arms, np.int64), np.empty(n_arms, np.int64)
    totals, scores, scratch = np.empty(n_arms), np.empty(n_arms), np.empty(n_arms)
    winners, best_keys = np.empty(tree_size(n_arms), np.int64), np.empty(tree_size(n_arms))
    for r in range(n_runs):
        k = n_arms
        copy(everyone, active)
        for s in range(stage_pulls.size):
            if s == 0 or not reuse:
                counts[:] = 0
                totals[:] = 0.0
            if weights.shape[1] == 0:
                share_equally(active[:k], stage_pulls[s], counts, targets)
            else:
                share_greedily(active[:k], stage_pulls[s], counts, targets, weights[r], winners, best_keys)
            for p in range(k):
                i = active[p]
                m = targets[i] - counts[i]
                totals[i] = draw_sum(rewards, r, i, pulls[r, i], m, totals[i])
                counts[i] += m
                pulls[r, i] += m
                scores[p] = totals[i] / counts[i]
            keep_highest(active, scores, k, survivors[s], scratch)
            k = survivors[s]
        recommended[r] = active[0]


# --- the policies ----------------------------------------------------------------------------------------


class Elimination(Policy):
    """Policies that pull in stages; after each, they keep the arms with the highest means."""

    reuse: bool

    def schedule(self, n_arms: int, budget: int) -> Schedule:
        """Return the number of pulls and of survivors of each stage."""
        raise NotImplementedError

    def stage_ends(self, n_arms: int, budget: int) -> Sequence[int]:
        return list(accumulate(pulls for pulls, _ in self.schedule(n_arms, budget)))

    def resume(self, n_arms: int, budget: int, progress: Progress, **known: Any) -> Steps:
        return eliminate(progress, self.schedule(n_arms, budget), least_pulled, reuse=self.reuse)

    def play(self, rewards: Any, budget: int, known: Known, pulls: np.ndarray, recommended: np.ndarray) -> None:
        stages = stage_array(self, pulls.shape[1], budget)
        eliminate_block(rewards, stages, self.reuse, np.empty((len(pulls), 0)), pulls, recommended)


def told_variances(policy: Policy, variances: Sequence[float] | None, n_arms: int, problem: Bandits | None) -> Known:
    """Return the variances that a policy is told: its own argument or, in a simulation, the true ones."""
    if variances is None:
        if problem is None:
            name = type(policy).__name__
            raise ValueError(f"{name} has variances=None; outside simulation give them: {name}(variances=[...])")
        return Known(variances=problem.variances)
    if len(variances) != n_arms:
        raise ValueError(f"variances has {len(variances)} entries for {n_arms} arms; give one per arm")
    return Known(variances=np.tile(variances, (1 if problem is None else problem.runs, 1)))


@dataclass(frozen=True)
class KnownVariances(Policy):
    """Policies that are told the variances, by a simulation or as an argument."""

    variances: Sequence[float] | None = None
    reuse: bool = False

    def __post_init__(self) -> None:
        checks.settle(self, reuse=checks.flag("reuse", self.reuse))
        if self.variances is not None:
            values = checks.arms("variances", self.variances, least=0)
            checks.settle(self, variances=tuple(values.tolist()))

    def known(self, n_arms: int, budget: int, problem: Bandits | None = None) -> Known:
        return told_variances(self, self.variances, n_arms, problem)

    @classmethod
    def examples(cls) -> list[Policy]:
        return [cls(), cls(reuse=True)]


class Halving(Elimination):
    """Sequential halving: stages of equal length, each of which keeps the better half of the arms."""

    def __post_init__(self) -> None:
        checks.settle(self, reuse=checks.flag("reuse", self.reuse))

    def schedule(self, n_arms: int, budget: int) -> Schedule:
        sizes = schedules.stage_sizes(n_arms)
        return [(budget // len(sizes), (size + 1) // 2) for size in sizes]

    def least_budget(self, n_arms: int) -> int:
        return n_arms * len(schedules.stage_sizes(n_arms))  # one pull per arm in the first stage

    @property
    def budget_rule(self) -> str:
        return "one pull per arm in the first of the equally long stages"


def stage_array(policy: Elimination, n_arms: int, budget: int, sharing: bool = True) -> np.ndarray:
    """Return the pulls and the survivors of each stage, or raise ValueError unless they can be played.

    Compiled loops that share the pulls of a stage among its arms need one pull for each arm. Only where samples are
    kept, and all arms have equally many, may a stage have none at all.
    """
    schedule = policy.schedule(n_arms, budget)
    stages = np.array(schedule)
    if stages.ndim != 2 or stages.shape[1] != 2 or stages.dtype.kind != "i":
        raise ValueError(f"the schedule of {policy} is {schedule}; it must be a list of (pulls, survivors)")
    pulls, survivors = stages.T
    sizes = np.append(n_arms, survivors[:-1])
    even = np.append(False, np.logical_and.accumulate(pulls % np.maximum(sizes, 1) == 0)[:-1])
    enough = (pulls >= sizes) | (
        policy.reuse & (pulls >= 0) & ((even & (pulls == 0)) | (sizes < n_arms) & (not sharing))
    )
    shrinking = (survivors <= sizes) & (survivors >= 1)
    if pulls.sum() > budget or not enough.all() or not shrinking.all() or survivors[-1] != 1:
        raise ValueError(
            f"the schedule of {policy} is {schedule} for {n_arms} arms and a budget of {budget}; a stage needs a pull "
            "for each arm, survivors may not grow, the last stage leaves one, and pulls may not exceed the budget"
        )
    return np.ascontiguousarray(stages.T)  # numba compiles a loop once more for another layout


@dataclass(frozen=True)
class Unif(Elimination):
    """Uniform allocation: pull all arms in turn, then name the highest mean.

    Examples
    --------
    >>> Unif().schedule(n_arms=64, budget=1000)
    [(1000, 1)]
    """

    name: ClassVar[str] = "Unif"
    style: ClassVar[dict[str, str]] = {"color": "#000000", "marker": "o", "linestyle": ":"}
    reuse = False

    def schedule(self, n_arms: int, budget: int) -> Schedule:
        return [(budget, 1)]


@dataclass(frozen=True)
class SH(Halving):
    """Sequential halving (Algorithms 1 and 2): equal pulls in each of ceil(log2 K) stages.

    For another schedule, subclass it and override ``schedule(n_arms, budget)``: a list of (pulls, survivors), one per
    stage. Pulls add up to at most the budget, there is one per arm in each stage, and the last stage leaves one arm.

    Parameters
    ----------
    reuse : bool
        Keep the samples of earlier stages. The paper discards them.

    Examples
    --------
    >>> SH().schedule(n_arms=5, budget=100)
    [(33, 3), (33, 2), (33, 1)]
    >>> print(SH(reuse=True))
    SH(reuse=True)
    """

    name: ClassVar[str] = "SH"
    style: ClassVar[dict[str, str]] = {"color": "#0072B2", "marker": "s", "linestyle": "--"}
    reuse: bool = False

    @classmethod
    def examples(cls) -> list[Policy]:
        return [cls(), cls(reuse=True)]


@dataclass(frozen=True)
class SHVar(KnownVariances, Halving):
    """Sequential halving with known variances (Algorithms 1 and 3): pull where the mean is noisiest.

    Parameters
    ----------
    variances : sequence of float, optional
        The variances the policy works with. A simulation tells it the true ones unless they are given here.
    reuse : bool
        Keep the samples of earlier stages. The paper discards them.

    Examples
    --------
    >>> SHVar(variances=[1, 0.1, 0.1]).variances
    (1.0, 0.1, 0.1)
    """

    name: ClassVar[str] = "SHVar"
    style: ClassVar[dict[str, str]] = {"color": "#D55E00", "marker": "^", "linestyle": "-"}

    def resume(
        self, n_arms: int, budget: int, progress: Progress, variances: Sequence[float] = (), **known: Any
    ) -> Steps:
        return eliminate(progress, self.schedule(n_arms, budget), noisiest_mean(variances), reuse=self.reuse)

    def play(self, rewards: Any, budget: int, known: Known, pulls: np.ndarray, recommended: np.ndarray) -> None:
        stages = stage_array(self, pulls.shape[1], budget)
        eliminate_block(rewards, stages, self.reuse, known.variances, pulls, recommended)


@dataclass(frozen=True)
class SR(Elimination):
    """Successive rejects (Audibert, Bubeck and Munos, 2010): K - 1 phases, each of which rejects one arm.

    Examples
    --------
    >>> SR().schedule(n_arms=4, budget=100)
    [(64, 3), (15, 2), (20, 1)]
    """

    name: ClassVar[str] = "SR"
    style: ClassVar[dict[str, str]] = {"color": "#7F7F7F", "marker": "X", "linestyle": "-"}
    reuse = True

    def schedule(self, n_arms: int, budget: int) -> Schedule:
        log_bar = 0.5 + sum(1 / i for i in range(2, n_arms + 1))
        per_arm = [0] + [math.ceil((budget - n_arms) / (log_bar * k)) for k in range(n_arms, 1, -1)]
        extra = np.diff(per_arm).tolist()
        return [(k * m, k - 1) for k, m in zip(range(n_arms, 1, -1), extra, strict=True)]

    def least_budget(self, n_arms: int) -> int:
        return n_arms + 1

    @property
    def budget_rule(self) -> str:
        return "one pull per arm and one more"
