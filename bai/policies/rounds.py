"""Halving that does not need the budget: over and over again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .. import schedules
from ..compiling import compiled
from ..sampling import draw
from .base import Known, Policy, Progress, Steps, Tally, argmax, least_pulled
from .halving import Elimination, Schedule, eliminate_block
from .loops import highest

# --- the plain versions ----------------------------------------------------------------------------------


def halve_again(progress: Progress, budget: int) -> Steps:
    """Anytime SH: phases of K pulls; after each the better half stays, and after two were left all come back."""
    tally, arms = progress.tally, range(len(progress.tally.count))
    for _ in range(sum(tally.count), budget):
        if progress.pulls == len(arms):
            ranked = sorted(progress.active, key=lambda arm: -tally.mean(arm))
            left = len(ranked)
            progress.active = ranked[: max(2, -(-left // 2))] if left > 2 else list(arms)
            progress.pulls = 0
        arm = progress.active[progress.pulls % len(progress.active)]
        tally.add(arm, (yield arm))
        progress.pulls += 1
    return argmax(arms, tally.mean)


def halve_doubling(progress: Progress, schedule: Schedule) -> Steps:
    """DSH: one run of sequential halving after the other, with fresh samples; the answer is that of the last."""
    n_arms = len(progress.tally.count)
    for pulls, survivors in schedule[progress.stage :]:
        if progress.pulls == 0:
            progress.tally = Tally(n_arms)
            progress.active = progress.active if len(progress.active) > 1 else list(range(n_arms))
        while progress.pulls < pulls:
            arm = least_pulled(progress.tally, progress.active)
            progress.tally.add(arm, (yield arm))
            progress.pulls += 1
        ranked = sorted(progress.active, key=lambda arm: -progress.tally.mean(arm))
        progress.active = sorted(ranked[:survivors])
        progress.stage, progress.pulls = progress.stage + 1, 0
    return progress.active[0]


# --- the compiled loop -----------------------------------------------------------------------------------


@compiled
def halve_again_block(rewards, budget, pulls, recommended):
    n_runs, n_arms = pulls.shape
    everyone, active = np.arange(n_arms), np.empty(n_arms, np.int64)
    counts, totals, means = np.empty(n_arms, np.int64), np.empty(n_arms), np.empty(n_arms)
    for r in range(n_runs):
        active[:] = everyone
        counts[:] = 0
        totals[:] = 0.0
        k, p = n_arms, 0
        for _ in range(budget):
            if p == n_arms:
                if k > 2:
                    ranked = active[:k][np.argsort(-means[active[:k]], kind="mergesort")]
                    k = max(2, (k + 1) // 2)
                    active[:k] = ranked[:k]
                else:
                    k = n_arms
                    active[:] = everyone
                p = 0
            i = active[p % k]
            totals[i] += draw(rewards, r, i, counts[i])
            counts[i] += 1
            means[i] = totals[i] / counts[i]
            p += 1
        pulls[r] = counts
        recommended[r] = highest(means)


# --- the policies ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AnytimeSH(Policy):
    """Anytime sequential halving (Sagers, Winands and Soemers, 2024): short halvings, one after the other.

    A phase has K pulls, shared in turn by the arms that are left, best first. After it the better half stays, by all
    rewards so far. After the phase with two arms all come back.

    Examples
    --------
    >>> import bai
    >>> bandits = bai.GaussianBandits([1.0, 0.5, 0.2, 0.0], [0.01] * 4, runs=1)
    >>> bai.simulate(AnytimeSH(), bandits, 8, seed=1).pulls
    array([[3, 3, 1, 1]])
    """

    name: ClassVar[str] = "Anytime SH"
    style: ClassVar[dict[str, str]] = {"color": "#3388AA", "marker": "$S$", "linestyle": "--"}
    anytime: ClassVar[bool] = True

    def stage_ends(self, n_arms: int, budget: int) -> Sequence[int]:
        return range(n_arms, budget + 1, n_arms)

    def resume(self, n_arms: int, budget: int, progress: Progress, **known: Any) -> Steps:
        return halve_again(progress, budget)

    def play(self, rewards: Any, budget: int, known: Known, pulls: np.ndarray, recommended: np.ndarray) -> None:
        halve_again_block(rewards, budget, pulls, recommended)


@dataclass(frozen=True)
class DSH(Elimination):
    """Doubling sequential halving (Zhao et al., 2023): SH with a small budget, then from scratch with twice as much.

    The first run has a budget of K log2(K), but one pull per arm and stage at least. Here the policy stops after the
    last run that fits into the budget; the original pulls on, without using it.

    Examples
    --------
    >>> DSH().schedule(n_arms=4, budget=30)
    [(4, 2), (4, 1), (8, 2), (8, 1)]
    """

    name: ClassVar[str] = "DSH"
    style: ClassVar[dict[str, str]] = {"color": "#77AADD", "marker": "$H$", "linestyle": ":"}
    reuse = False

    def runs(self, n_arms: int, budget: int) -> list[Schedule]:
        """Return the pulls and the survivors of each stage of each run."""
        sizes, found, left = schedules.stage_sizes(n_arms), [], budget
        share = math.ceil(n_arms * math.log2(n_arms)) // len(sizes)
        while True:
            run = [(size * max(1, share // size), (size + 1) // 2) for size in sizes]
            left -= sum(pulls for pulls, _ in run)
            if left < 0:
                return found
            found.append(run)
            share *= 2

    def schedule(self, n_arms: int, budget: int) -> Schedule:
        return [stage for run in self.runs(n_arms, budget) for stage in run]

    def least_budget(self, n_arms: int) -> int:
        sizes = schedules.stage_sizes(n_arms)
        share = math.ceil(n_arms * math.log2(n_arms)) // len(sizes)
        return sum(size * max(1, share // size) for size in sizes)

    @property
    def budget_rule(self) -> str:
        return "the first run of halving"

    def resume(self, n_arms: int, budget: int, progress: Progress, **known: Any) -> Steps:
        return halve_doubling(progress, self.schedule(n_arms, budget))

    def play(self, rewards: Any, budget: int, known: Known, pulls: np.ndarray, recommended: np.ndarray) -> None:
        for run in self.runs(pulls.shape[1], budget):
            eliminate_block(rewards, np.array(run).T, False, np.empty((len(pulls), 0)), pulls, recommended)
