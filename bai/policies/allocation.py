"""Allocation by estimated means and variances: before every pull, all estimates together say where it goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, sqrt
from typing import Any, ClassVar

import numpy as np

from .. import checks
from ..compiling import compiled, inlined
from ..sampling import draw
from .base import Known, Policy, Progress, Steps, Tally, argmax, least_pulled
from .loops import copy, highest, observe

NO_NOISE = 1e-250  # a smaller pooled variance counts as 0: nothing can be divided by it

# --- the plain version ---------------------------------------------------------------------------------


def allocate(progress: Progress, budget: int, first: int, choose: Callable[[Tally], int]) -> Steps:
    """Pull every arm `first` times, then as `choose` says; answer with the highest mean."""
    tally, n_arms = progress.tally, len(progress.tally.count)
    for t in range(sum(tally.count), budget):
        arm = t // first if t < first * n_arms else choose(tally)
        tally.add(arm, (yield arm))
    return argmax(range(n_arms), tally.mean)


def below_ocba_share(tally: Tally) -> int:
    """OCBA: the arm with the most OCBA share per pull, which is the one furthest below its share.

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
        if pooled < NO_NOISE:
            return least_pulled(tally, arms)
        noise = []  # variance of each mean
        for arm in arms:
            count = tally.count[arm]
            noise.append((tally.squares[arm] + weight * pooled) / ((count - 1 + weight) * count))
        leader = argmax(arms, tally.mean)
        total, lowest, challenger = 0.0, inf, 0
        for arm in arms:
            if arm != leader:
                gap = tally.mean(leader) - tally.mean(arm)
                cost = gap * gap / (noise[leader] + noise[arm]) + logs[tally.count[arm]]
                total += tally.count[arm] / noise[arm]
                if cost < lowest:
                    lowest, challenger = cost, arm
        return leader if tally.count[leader] / noise[leader] < total else challenger

    return choose


# --- the compiled loop -----------------------------------------------------------------------------------
#
# Every index changes with every pull. What depends on an arm's own rewards is kept, and the loops over arms are short
# and free of branches, so that they compile to vector instructions.


@inlined
def total_without(terms, i):
    """Return the sum of all terms but that of arm i, which is overwritten."""
    terms[i] = 0.0
    total = 0.0
    for j in range(terms.size):
        total += terms[j]
    return total


@inlined
def lowest_share(means, variances, counts, keys, terms):
    """OCBA: return the arm with the most OCBA share per pull. `keys` and `terms` are scratch."""
    leader = highest(means)
    mean = means[leader]
    for i in range(keys.size):
        gap = mean - means[i]
        square = gap * gap
        share = variances[i] / square
        noisy = variances[i] > 0
        keys[i] = share / counts[i] if noisy else 0.0
        terms[i] = share / square if noisy else 0.0
    total = total_without(terms, leader)
    keys[leader] = sqrt(variances[leader] * total) / counts[leader] if variances[leader] > 0 else 0.0
    return highest(keys)


@inlined
def top_two(means, squares, counts, pairs, log_counts, shrunk, noise, terms):
    """TopTwo: return the leader or the rival that is hardest to tell from it. `noise` and `terms` are scratch.

    `pairs` holds (N - 1 + weight) N, and `shrunk` is weight times the pooled variance.
    """
    for i in range(noise.size):
        noise[i] = (squares[i] + shrunk) / pairs[i]
        terms[i] = counts[i] / noise[i]
    leader = highest(means)
    mean, own, due = means[leader], noise[leader], terms[leader]
    if due < total_without(terms, leader):
        return leader
    for i in range(noise.size):
        gap = mean - means[i]
        terms[i] = -(gap * gap / (own + noise[i]) + log_counts[i])
    terms[leader] = -np.inf
    return highest(terms)


@compiled
def allocate_block(rewards, budget, first, logs, weight, pulls, recommended):
    """OCBA and TopTwo: every arm `first` times, then one pull at a time, looking at all arms. OCBA has no `logs`."""
    two = logs.size > 0
    n_runs, n_arms = pulls.shape
    counts, scratch, terms = np.empty(n_arms), np.empty(n_arms), np.empty(n_arms)
    totals, squares, means, variances = np.empty(n_arms), np.empty(n_arms), np.empty(n_arms), np.empty(n_arms)
    pairs, log_counts = np.empty(n_arms), np.empty(n_arms)
    for r in range(n_runs):
        counts[:] = 0.0
        totals[:] = 0.0
        squares[:] = 0.0
        for t in range(budget):
            if t < first * n_arms:
                i = t // first
            elif two:
                pooled = 0.0
                for j in range(n_arms):
                    pooled += squares[j]
                pooled /= t - n_arms
                if pooled >= NO_NOISE:
                    i = top_two(means, squares, counts, pairs, log_counts, weight * pooled, scratch, terms)
                else:
                    i = counts.argmin()
            else:
                i = lowest_share(means, variances, counts, scratch, terms)
            observe(draw(rewards, r, i, int(counts[i])), i, counts, totals, squares)
            count = counts[i]
            means[i] = totals[i] / count
            if count > 1:
                variances[i] = squares[i] / (count - 1)
                pairs[i] = (count - 1 + weight) * count
            if two:
                log_counts[i] = logs[int(count)]
        copy(counts, pulls[r])
        recommended[r] = highest(means)


# --- the policies --------------------------------------------------------------------------------------


class Allocation(Policy):
    """Pull every arm a few times, then one arm at a time as all estimates say; answer with the highest mean."""

    anytime: ClassVar[bool] = True
    first: int

    def __post_init__(self) -> None:
        checks.settle(self, first=checks.integer("first", self.first, least=2))

    def least_budget(self, n_arms: int) -> int:
        return self.first * n_arms

    @property
    def budget_rule(self) -> str:
        return f"{self.first} pulls per arm"


@dataclass(frozen=True)
class OCBA(Allocation):
    """Optimal computing budget allocation with sample variances (Chen et al., 2000), one pull at a time.

    With b the arm with the highest mean, the shares of the budget are w_i = (sigma_i / gap_i)^2 for the others and
    w_b = sigma_b sqrt(sum_i w_i^2 / sigma_i^2), estimated anew before every pull. The arm with the highest w / N is
    next, which is the one furthest below its share.

    Parameters
    ----------
    first : int
        Pulls of every arm before the shares are used.

    Examples
    --------
    >>> OCBA().least_budget(n_arms=64)
    320
    """

    name: ClassVar[str] = "OCBA"
    style: ClassVar[dict[str, str]] = {"color": "#117733", "marker": ">", "linestyle": "--"}
    first: int = 5

    def resume(self, n_arms: int, budget: int, progress: Progress, **known: Any) -> Steps:
        return allocate(progress, budget, self.first, below_ocba_share)

    def play(self, rewards: Any, budget: int, known: Known, pulls: np.ndarray, recommended: np.ndarray) -> None:
        allocate_block(rewards, budget, self.first, np.empty(0), 0.0, pulls, recommended)

    @classmethod
    def examples(cls) -> list[Policy]:
        return [cls(), cls(first=2)]


@dataclass(frozen=True)
class TopTwo(Allocation):
    """The leader against the rival that is hardest to tell from it, with shrunk variances.

    The leader b has the highest mean. The challenger i has the lowest gap^2 / (v_b / N_b + v_i / N_i) + log(N_i): few
    standard errors behind, or hardly looked at. The leader is pulled if N_b^2 / v_b is below the sum of the other
    arms' N_i^2 / v_i, which is how the best allocation balances them (Glynn and Juneja, 2004), otherwise the
    challenger. Variances are shrunk to the pooled one: v_i = (squares_i + shrinkage pooled) / (N_i - 1 + shrinkage).

    Parameters
    ----------
    first : int
        Pulls of every arm before this begins.
    shrinkage : float
        How many rewards the pooled variance counts for in every arm's variance.

    Examples
    --------
    >>> TopTwo().least_budget(n_arms=64)
    192
    """

    name: ClassVar[str] = "TopTwo"
    style: ClassVar[dict[str, str]] = {"color": "#7B2CBF", "marker": "*", "linestyle": "-."}
    first: int = 3
    shrinkage: float = 5.0

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.settle(self, shrinkage=checks.positive("shrinkage", self.shrinkage, largest=1e50))

    @staticmethod
    def _logs(budget: int) -> np.ndarray:
        return np.log(np.maximum(1, np.arange(budget + 1)))

    def resume(self, n_arms: int, budget: int, progress: Progress, **known: Any) -> Steps:
        choose = leader_or_challenger(self._logs(budget).tolist(), float(self.shrinkage))
        return allocate(progress, budget, self.first, choose)

    def play(self, rewards: Any, budget: int, known: Known, pulls: np.ndarray, recommended: np.ndarray) -> None:
        allocate_block(rewards, budget, self.first, self._logs(budget), float(self.shrinkage), pulls, recommended)
