"""Bayesian elimination: halving by posterior means, with a prior that is stated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .. import checks
from ..compiling import compiled
from ..sampling import draw_sum
from .base import Known, Policy, Progress, Steps, Tally, least_pulled
from .halving import Halving, KnownVariances, eliminate, share_equally, stage_array
from .loops import copy, keep_highest


def posterior_mean(prior_mean: float, weights: Sequence[float]) -> Callable[[Tally, int], float]:
    """Return an arm's posterior mean as a function: the prior counts like `weights[arm]` rewards of `prior_mean`."""

    def score(tally: Tally, arm: int) -> float:
        return (weights[arm] * prior_mean + tally.total[arm]) / (weights[arm] + tally.count[arm])

    return score


@compiled
def posterior_block(rewards, stages, reuse, prior_mean, weights, pulls, recommended):
    stage_pulls, survivors = stages
    n_runs, n_arms = pulls.shape
    everyone, active = np.arange(n_arms), np.empty(n_arms, np.int64)
    counts, targets = np.empty(n_arms, np.int64), np.empty(n_arms, np.int64)
    totals, scores, scratch = np.empty(n_arms), np.empty(n_arms), np.empty(n_arms)
    for r in range(n_runs):
        k = n_arms
        copy(everyone, active)
        for s in range(stage_pulls.size):
            if s == 0 or not reuse:
                counts[:] = 0
                totals[:] = 0.0
            share_equally(active[:k], stage_pulls[s], counts, targets)
            for p in range(k):
                i = active[p]
                m = targets[i] - counts[i]
                totals[i] = draw_sum(rewards, r, i, pulls[r, i], m, totals[i])
                counts[i] += m
                pulls[r, i] += m
                scores[p] = (weights[r, i] * prior_mean + totals[i]) / (weights[r, i] + counts[i])
            keep_highest(active, scores, k, survivors[s], scratch)
            k = survivors[s]
        recommended[r] = active[0]


@dataclass(frozen=True)
class BayesElim(KnownVariances, Halving):
    """Bayesian elimination (Atsidakou et al., 2022): SH that keeps the arms with the highest posterior means.

    All means have the same normal prior, and the variances are told. With unequal variances a noisy arm is drawn closer
    to the prior mean than a quiet one. The rule in
    `nguyenicolas/Prior_Dependent_Allocations_BAI` gives the same answers.

    Parameters
    ----------
    variances : sequence of float, optional
        The variances the policy works with. A simulation tells it the true ones unless they are given here.
    reuse : bool
        Keep the samples of earlier stages. The paper discards them.
    prior_mean, prior_deviation : float
        Mean and standard deviation of the prior of every mean.

    Examples
    --------
    >>> print(BayesElim(prior_mean=0.4, prior_deviation=0.3))
    BayesElim(prior_mean=0.4, prior_deviation=0.3)
    """

    name: ClassVar[str] = "BayesElim"
    style: ClassVar[dict[str, str]] = {"color": "#8E6C8A", "marker": "$P$", "linestyle": ":"}
    prior_mean: float = 0.5
    prior_deviation: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.settle(
            self,
            prior_mean=checks.reward("prior_mean", self.prior_mean),
            prior_deviation=checks.positive("prior_deviation", self.prior_deviation),
        )

    def resume(
        self, n_arms: int, budget: int, progress: Progress, variances: Sequence[float] = (), **known: Any
    ) -> Steps:
        weights = [variance / self.prior_deviation**2 for variance in variances]
        score = posterior_mean(float(self.prior_mean), weights)
        return eliminate(progress, self.schedule(n_arms, budget), least_pulled, score, self.reuse)

    def play(self, rewards: Any, budget: int, known: Known, pulls: np.ndarray, recommended: np.ndarray) -> None:
        assert known.variances is not None
        stages, weights = stage_array(self, pulls.shape[1], budget), known.variances / self.prior_deviation**2
        posterior_block(rewards, stages, self.reuse, float(self.prior_mean), weights, pulls, recommended)

    @classmethod
    def examples(cls) -> list[Policy]:
        return [cls(), cls(reuse=True, prior_mean=0, prior_deviation=2)]
