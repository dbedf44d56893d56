"""Halving that does not need the budget: over and over again, of all arms or of some."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .. import checks, schedules
from ..compiling import compiled
from ..sampling import draw
from .base import Known, Policy, Progress, Steps, Tally, argmax, least_pulled
from .halving import Elimination, Schedule, eliminate_block
from .loops import copy, highest, keep_highest
from .luck import branch, first_key, first_keys, pick, plain_branch, plain_pick

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


def first_share(n_arms: int) -> int:
    """Return the pulls of a stage in the first run of DSH, which has K log2(K) in all."""
    return math.ceil(n_arms * math.log2(n_arms)) // schedules.stages(n_arms)


class Bracket:
    """DSH on some arms, one pull at a time; the winner and its mean are those of the last run that ended."""

    def __init__(self, arms: list[int]):
        self.arms: list[int] = arms
        self.share: int = first_share(len(arms))
        self.winner: int = arms[0]
        self.mean: float = -math.inf
        self.open_stage(list(range(len(arms))))

    def open_stage(self, places: list[int]) -> None:
        """Begin a stage, with fresh samples of the arms at these places."""
        self.active: list[int] = places
        self.totals: list[float] = [0.0] * len(self.arms)
        self.pulls: int = 0

    def next_place(self) -> int:
        """Return the place of the arm to pull next."""
        return self.active[self.pulls % len(self.active)]

    def add(self, reward: float) -> None:
        """Take a reward; after the last of a stage the better half stays, and after the last stage all come back."""
        self.totals[self.next_place()] += reward
        self.pulls += 1
        size, each = len(self.active), max(1, self.share // len(self.active))
        if self.pulls == size * each:
            ranked = sorted(self.active, key=lambda place: -(self.totals[place] / each))
            if size == 2:
                self.winner, self.mean, self.share = self.arms[ranked[0]], self.totals[ranked[0]] / each, 2 * self.share
                self.open_stage(list(range(len(self.arms))))
            else:
                self.open_stage(sorted(ranked[: (size + 1) // 2]))


def bracket_sizes(n_arms: int, budget: int) -> list[int]:
    """Return the number of arms in each bracket of BSH; bracket b + 1 is opened after b 2^b pulls."""
    return [min(2 ** (b + 1), n_arms) for b in range(budget.bit_length() + 1) if b * 2**b < budget]


def halve_in_brackets(progress: Progress, budget: int, key: int) -> Steps:
    """BSH: brackets of 2, 4, 8, ... random arms take turns; the answer is the winner with the highest mean."""
    n_arms, brackets = len(progress.tally.count), progress.memory.setdefault("brackets", [])
    sizes = bracket_sizes(n_arms, budget)
    for t in range(progress.pulls, budget):
        b = len(brackets)
        if t >= b * 2**b:
            pair, size = plain_branch(key, b), sizes[b]
            some = [plain_pick(pair, place) * n_arms >> 32 for place in range(size)]
            brackets.append(Bracket(some if size < n_arms else list(range(n_arms))))
        bracket = brackets[t % len(brackets)]
        bracket.add((yield bracket.arms[bracket.next_place()]))
        progress.pulls += 1
    return max(brackets, key=lambda bracket: bracket.mean).winner


# --- the compiled loops ----------------------------------------------------------------------------------


@compiled
def halve_again_block(rewards, budget, pulls, recommended):
    n_runs, n_arms = pulls.shape
    everyone, active = np.arange(n_arms), np.empty(n_arms, np.int64)
    counts, totals, means = np.empty(n_arms, np.int64), np.empty(n_arms), np.empty(n_arms)
    for r in range(n_runs):
        copy(everyone, active)
        counts[:] = 0
        totals[:] = 0.0
        k, p = n_arms, 0
        for _ in range(budget):
            if p == n_arms:
                if k > 2:
                    ranked = active[:k][np.argsort(-means[active[:k]], kind="mergesort")]
                    k = max(2, (k + 1) // 2)
                    copy(ranked[:k], active)
                else:
                    k = n_arms
                    copy(everyone, active)
                p = 0
            i = active[p % k]
            totals[i] += draw(rewards, r, i, counts[i])
            counts[i] += 1
            means[i] = totals[i] / counts[i]
            p += 1
        copy(counts, pulls[r])
        recommended[r] = highest(means)


@compiled
def bracket_block(rewards, budget, keys, sizes, shares, pulls, recommended):
    """BSH, pull by pull. A row of an array belongs to a bracket; `shares` are those of its first run."""
    n_runs, n_arms = pulls.shape
    n_brackets = sizes.size
    arms, active = np.empty((n_brackets, n_arms), np.int64), np.empty((n_brackets, n_arms), np.int64)
    totals, scores, scratch = np.empty((n_brackets, n_arms)), np.empty(n_arms), np.empty(n_arms)
    left, done, share = np.empty(n_brackets, np.int64), np.empty(n_brackets, np.int64), np.empty(n_brackets, np.int64)
    winners, means = np.empty(n_brackets, np.int64), np.empty(n_brackets)
    for r in range(n_runs):
        n_open, key = 0, int(keys[r])
        means[:] = -np.inf
        for t in range(budget):
            if t >= n_open * 2**n_open:
                pair = branch(key, n_open)
                left[n_open], done[n_open], share[n_open] = sizes[n_open], 0, shares[n_open]
                for p in range(sizes[n_open]):
                    arms[n_open, p] = pick(pair, p) * n_arms >> 32 if sizes[n_open] < n_arms else p
                    active[n_open, p] = p
                    totals[n_open, p] = 0.0
                winners[n_open] = arms[n_open, 0]
                n_open += 1
            b = t % n_open
            k, place = left[b], active[b, done[b] % left[b]]
            i = arms[b, place]
            totals[b, place] += draw(rewards, r, i, pulls[r, i])
            pulls[r, i] += 1
            done[b] += 1
            each = max(1, share[b] // k)
            if done[b] == k * each:
                for p in range(k):
                    scores[p] = totals[b, active[b, p]] / each
                best, left[b] = highest(scores[:k]), (k + 1) // 2
                if k == 2:
                    winners[b], means[b], share[b] = arms[b, active[b, best]], scores[best], 2 * share[b]
                    left[b] = sizes[b]
                    for p in range(sizes[b]):
                        active[b, p] = p
                else:
                    keep_highest(active[b], scores, k, left[b], scratch)
                done[b] = 0
                for p in range(sizes[b]):
                    totals[b, p] = 0.0
        recommended[r] = winners[highest(means[:n_open])]


# --- the policies ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AnytimeSH(Policy):
    """Anytime sequential halving (Sagers, Winands and Soemers, 2024): short halvings, one after the other.

    A phase has K pulls, shared in turn by the arms that are left, best first. After it the better half stays, by all
    rewards so far. After the phase with two arms all come back. Its pulls were compared with those of the rule in
    `dominic-sagers/Anytime-Sequential-Halving`, with phases of K pulls; that code has one more.

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
    last run that fits into the budget; the original pulls on, without using it. We found no public code; its mistakes
    were compared with those of a second implementation of ours.

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
        sizes, found, left, share = schedules.stage_sizes(n_arms), [], budget, first_share(n_arms)
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
        return sum(size * max(1, first_share(n_arms) // size) for size in schedules.stage_sizes(n_arms))

    @property
    def budget_rule(self) -> str:
        return "the first run of halving"

    def resume(self, n_arms: int, budget: int, progress: Progress, **known: Any) -> Steps:
        return halve_doubling(progress, self.schedule(n_arms, budget))

    def play(self, rewards: Any, budget: int, known: Known, pulls: np.ndarray, recommended: np.ndarray) -> None:
        for run in self.runs(pulls.shape[1], budget):
            eliminate_block(rewards, np.array(run).T.copy(), False, np.empty((len(pulls), 0)), pulls, recommended)


@dataclass(frozen=True)
class BSH(Policy):
    """Bracketing sequential halving (Zhao et al., 2023): `DSH` on random subsets, for more arms than pulls.

    Bracket b has 2^b arms, drawn with replacement, or all arms once there are no more than that. Bracket 1 opens at
    once, bracket b + 1 after b 2^b pulls, and the open ones take turns, pull by pull. Each plays DSH on its arms. The
    answer is the winner, of the last run that ended in each bracket, with the highest mean in the last stage of that
    run. Arms in no bracket are never pulled. The paper's pseudocode has a maximum of 2^b and K, where the text means a
    minimum. We found no public code; its mistakes were compared with those of a second implementation of ours.

    Parameters
    ----------
    seed : int
        For the policy's own random numbers. In a simulation each run still gets its own.

    Examples
    --------
    >>> import bai
    >>> bandits = bai.GaussianBandits([1.0] * 200 + [0.0] * 800, [0.01] * 1000, runs=500)
    >>> out = bai.simulate(BSH(), bandits, 300, seed=1)
    >>> int(out.mistakes.sum()), int((out.pulls > 0).sum(axis=1).max())
    (19, 86)
    """

    name: ClassVar[str] = "BSH"
    style: ClassVar[dict[str, str]] = {"color": "#99BB55", "marker": "$W$", "linestyle": "--"}
    keyed: ClassVar[bool] = True
    seed: int = 0

    def __post_init__(self) -> None:
        checks.settle(self, seed=checks.integer("seed", self.seed, least=0))

    def least_budget(self, n_arms: int) -> int:
        return 2

    @property
    def budget_rule(self) -> str:
        return "one pull of each arm in the first bracket"

    def resume(self, n_arms: int, budget: int, progress: Progress, key: float = 0.0, **known: Any) -> Steps:
        return halve_in_brackets(progress, budget, first_key(self.seed, key))

    def play(self, rewards: Any, budget: int, known: Known, pulls: np.ndarray, recommended: np.ndarray) -> None:
        sizes = bracket_sizes(pulls.shape[1], budget)
        shares = np.array([first_share(size) for size in sizes])
        keys = first_keys(self.seed, known.key, len(pulls))
        bracket_block(rewards, budget, keys, np.array(sizes), shares, pulls, recommended)

    @classmethod
    def examples(cls) -> list[Policy]:
        return [cls(), cls(seed=1)]
