"""Elimination that halves the variance of the arms that are left, not their number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..compiling import compiled, inlined
from ..sampling import draw_sum
from ..schedules import ROUNDING, variance_stages
from .base import Known, Progress, Steps, Tally, argmax
from .halving import KnownVariances, noisiest_mean, share_greedily
from .loops import copy, tree_size

# --- the plain version -----------------------------------------------------------------------------------


def halve_variance(progress: Progress, budget: int, variances: Sequence[float], reuse: bool = False) -> Steps:
    """In each stage pull as SHVar does, then keep the best arms that hold at most half of the variance.

    >>> steps = halve_variance(Progress.begin(3), 10, [1.0, 1.0, 8.0])
    >>> next(steps), steps.send(1.0), steps.send(5.0), steps.send(2.0)
    (0, 1, 2, 2)
    """
    choose = noisiest_mean(variances)
    while len(progress.active) > 1 and budget - progress.spent >= len(progress.active):
        if progress.pulls == 0 and not reuse:
            progress.tally = Tally(len(progress.tally.count))
        left, most = budget - progress.spent, variance_stages([variances[arm] for arm in progress.active])
        pulls = left // min(most, left // len(progress.active))
        while progress.pulls < pulls:
            arm = choose(progress.tally, progress.active)
            progress.tally.add(arm, (yield arm))
            progress.pulls += 1
        ranked = sorted(progress.active, key=lambda arm: -progress.tally.mean(arm))
        progress.active = sorted(ranked[: prefix_size([variances[arm] for arm in ranked])])
        progress.stage, progress.spent, progress.pulls = progress.stage + 1, progress.spent + pulls, 0
    return argmax(progress.active, progress.tally.mean)


def prefix_size(variances: list[float]) -> int:
    """Return how many of the first arms hold at most half of the variance; at least one.

    >>> prefix_size([1.0, 1.0, 1.0, 100.0]), prefix_size([100.0, 1.0, 1.0, 1.0])
    (3, 1)
    """
    total = 0.0
    for variance in sorted(variances):
        total += variance
    size, held = 0, 0.0
    while size < len(variances) and held + variances[size] <= total / 2 * ROUNDING:
        held += variances[size]
        size += 1
    return max(1, size)


# --- the compiled loop -----------------------------------------------------------------------------------


@inlined
def most_stages(by_variance, alive, weights):
    """Return the most stages that halving the variance of the arms that are left can take, and their variance."""
    price, total, least, k = 0.0, 0.0, 0.0, 0
    for i in by_variance:
        if alive[i]:
            total += weights[i]
            price += weights[i] / total if k > 0 and total > 0 else 0.0
            least = total if k < 2 else least
            k += 1
    most, stages = int(2 * price * ROUNDING), 1
    while stages < most and 2 * least <= total * ROUNDING:
        least *= 2
        stages += 1
    return stages, total


@inlined
def keep_prefix(active, ranking, alive, weights, total):
    """Keep the first arms of the ranking that hold at most half of the variance, and one at least; return how many."""
    size, held = 0, 0.0
    while size < ranking.size and held + weights[active[ranking[size]]] <= total / 2 * ROUNDING:
        held += weights[active[ranking[size]]]
        size += 1
    for p in ranking[max(1, size) :]:
        alive[active[p]] = False
    kept = 0
    for p in range(ranking.size):
        active[kept] = active[p]
        kept += alive[active[p]]
    return kept


@compiled
def halve_variance_block(rewards, budget, reuse, variances, pulls, recommended):
    n_runs, n_arms = pulls.shape
    everyone, alive = np.arange(n_arms), np.empty(n_arms, np.bool_)
    active, counts, targets = np.empty(n_arms, np.int64), np.empty(n_arms, np.int64), np.empty(n_arms, np.int64)
    totals, scores = np.empty(n_arms), np.empty(n_arms)
    winners, best_keys = np.empty(tree_size(n_arms), np.int64), np.empty(tree_size(n_arms))
    for r in range(n_runs):
        by_variance = np.argsort(variances[r], kind="mergesort")
        k, left = n_arms, budget
        copy(everyone, active)
        alive[:] = True
        counts[:] = 0
        totals[:] = 0.0
        while k > 1 and left >= k:
            most, total = most_stages(by_variance, alive, variances[r])
            b = left // min(most, left // k)
            left -= b
            if not reuse:
                counts[:] = 0
                totals[:] = 0.0
            share_greedily(active[:k], b, counts, targets, variances[r], winners, best_keys)
            for p in range(k):
                i = active[p]
                m = targets[i] - counts[i]
                totals[i] = draw_sum(rewards, r, i, pulls[r, i], m, totals[i])
                counts[i] += m
                pulls[r, i] += m
                scores[p] = -(totals[i] / counts[i])
            ranking = np.argsort(scores[:k], kind="mergesort")
            recommended[r] = active[ranking[0]]
            k = keep_prefix(active, ranking, alive, variances[r], total)


# --- the policy ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class HalveVar(KnownVariances):
    """Halving the variance: pull as SHVar does, then keep the best arms that hold at most half of the variance.

    With equal variances that is half of the arms. An arm that holds most of the variance is the answer or is gone after
    the first stage, and takes no more pulls. The pulls that are left are divided by the largest number of stages that
    may come (`theory.variance_stages`); if fewer come, some pulls remain unspent. Up to a constant in the exponent no
    policy does better on all problems with the same variances (`theory.halvevar_bound`, `theory.variance_lower_bound`).

    Parameters
    ----------
    variances : sequence of float, optional
        The variances the policy works with. A simulation tells it the true ones unless they are given here.
    reuse : bool
        Keep the samples of earlier stages. The theorem is about fresh ones.

    Examples
    --------
    >>> import bai
    >>> bandits = bai.GaussianBandits([0.0, -0.5, -0.5, -5.0], [1.0, 1.0, 1.0, 100.0], runs=1000)
    >>> [int(bai.simulate(policy, bandits, 400, seed=1).mistakes.sum()) for policy in (HalveVar(), bai.SHVar())]
    [0, 157]
    """

    name: ClassVar[str] = "HalveVar"
    style: ClassVar[dict[str, str]] = {"color": "#44AA99", "marker": "H", "linestyle": "-"}

    def resume(
        self, n_arms: int, budget: int, progress: Progress, variances: Sequence[float] = (), **known: Any
    ) -> Steps:
        return halve_variance(progress, budget, variances, self.reuse)

    def play(self, rewards: Any, budget: int, known: Known, pulls: np.ndarray, recommended: np.ndarray) -> None:
        halve_variance_block(rewards, budget, self.reuse, known.variances, pulls, recommended)
