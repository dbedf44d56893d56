"""How large a budget: `plan` turns a pilot, or a guess, into a curve of mistakes and regret."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from . import certainty, checks
from .experiment import DEFAULT_POLICY, Experiment
from .play import check_game
from .policies.base import Policy
from .problems import GaussianBandits
from .study import sweep

STEPS = 8  # budgets of the curve if none are given, each twice the one before


@dataclass(frozen=True, repr=False)
class Plan:
    """How often mistakes are to be expected at each budget, and which budget is enough.

    Attributes
    ----------
    budget : int or None
        The smallest budget of the curve whose expected rate of mistakes is at most `mistakes`, or whose expected
        regret is at most `regret`; None if no budget of the curve is enough.
    curve : DataFrame
        Columns budget, mistake_rate, low, high (95 % interval of the simulation), regret and regret_error.
    """

    policy: Policy
    budget: int | None
    curve: pd.DataFrame
    goal: str

    def __repr__(self) -> str:
        found = self.budget if self.budget is not None else f"more than {self.curve['budget'].max()}"
        return f"Plan({self.policy}, {self.goal}: budget {found})"


def plan(
    pilot: Experiment | Sequence[Sequence[float]] | None = None,
    means: Sequence[float] | None = None,
    variances: Sequence[float] | None = None,
    mistakes: float = 0.05,
    regret: float | None = None,
    policy: Policy | None = None,
    budgets: Iterable[int] | None = None,
    seed: int = 0,
) -> Plan:
    """Find, by simulation, a budget with which mistakes are as rare as you want.

    A pilot leaves means and variances open, so every simulated run gets its own, drawn from what the pilot allows. Some
    of those problems have two arms that are nearly equal, and no budget tells them apart: with a pilot, plan for
    `regret` if such mistakes would not matter.

    Parameters
    ----------
    pilot : Experiment, or sequence of sequences of float
        A finished or unfinished experiment, or the rewards of each arm, at least two of each.
    means, variances : sequence of float
        A guess instead of a pilot, taken as it is.
    mistakes : float
        The wanted chance of a mistake.
    regret : float, optional
        The largest loss in mean reward that you accept, instead of `mistakes`.
    policy : Policy, optional
        The one that `identify` plays if none is given.
    budgets : iterable of int, optional
        Of the curve; by default the smallest that the policy can play, or 10 pulls per arm if that is more, doubled
        seven times.
    seed : int

    Returns
    -------
    Plan

    Examples
    --------
    >>> import bai
    >>> answer = bai.plan(means=[1.0, 0.5, 0.0], variances=[1.0, 1.0, 1.0], mistakes=0.02)
    >>> answer.budget
    120
    """
    policy = DEFAULT_POLICY if policy is None else policy
    if not isinstance(policy, Policy):
        check_game(policy, None, 1, 2)
    seed = checks.integer("seed", seed, 0, below=None)
    mistakes = checks.number("mistakes", mistakes, above=0, below=1)
    regret = None if regret is None else checks.number("regret", regret, above=0)
    problems = _problems(pilot, means, variances, seed)
    if budgets is None:
        first = max(policy.least_budget(problems.n_arms), 10 * problems.n_arms)
        budgets = [first * 2**step for step in range(STEPS)]
    table = sweep(policy, problems, budgets, seed, progress=False)
    columns = ["budget", "mistake_rate", "low", "high", "regret", "regret_error"]
    curve = pd.DataFrame(table[columns]).sort_values("budget", kind="stable", ignore_index=True)
    found = curve["mistake_rate"] if regret is None else curve["regret"]
    enough = np.flatnonzero(found.to_numpy() <= (mistakes if regret is None else regret))
    goal = f"mistakes at most {mistakes:g}" if regret is None else f"regret at most {regret:g}"
    return Plan(policy, int(curve["budget"].to_numpy()[enough[0]]) if enough.size else None, curve, goal)


def _problems(pilot: Any, means: Any, variances: Any, seed: int, runs: int = 2000) -> GaussianBandits:
    if (pilot is None) == (means is None) or (means is None) != (variances is None):
        raise ValueError(
            f"pilot is {'given' if pilot is not None else 'None'}, means {'given' if means is not None else 'None'}, "
            f"variances {'given' if variances is not None else 'None'}; give a pilot, or else means and variances"
        )
    if pilot is None:
        return GaussianBandits(checks.arms("means", means), checks.arms("variances", variances, least=0), runs=runs)
    counts, averages, squares = _told(pilot)
    if counts.min() < 2:
        raise ValueError(f"pilot has {counts.min()} rewards of arm {counts.argmin()}; give at least 2 of every arm")
    spread = certainty.shrunk_variances(counts, squares)
    rng = np.random.default_rng([seed, 2])
    degrees = counts - 1 + certainty.SHRINKAGE
    drawn = spread * degrees / rng.chisquare(degrees, size=(runs, len(counts)))
    likely = certainty.plausible_means(averages, certainty.precisions(averages, spread, counts), seed)
    return GaussianBandits(likely[rng.permutation(len(likely))[:runs]], np.maximum(drawn, 1e-12 * max(1, spread.max())))


def _told(pilot: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return number, average and squared deviations of the rewards of each arm."""
    if isinstance(pilot, Experiment):
        rewards: list[Any] = [[] for _ in range(pilot.n_arms)]
        for arm, reward in [*pilot.earlier, *pilot.history]:
            if reward is not None:
                rewards[arm].append(-reward if pilot.minimise else reward)
    else:
        given = list(pilot) if isinstance(pilot, np.ndarray) else pilot
        rewards = checks.sequence("pilot", given, "an Experiment or the rewards of each arm")
        rewards = [checks.array("pilot", arm, 1) for arm in rewards]
    if len(rewards) < 2 or min(len(arm) for arm in rewards) == 0:
        raise ValueError(
            f"pilot has rewards of {sum(len(arm) > 0 for arm in rewards)} arms; give 2 or more of every arm"
        )
    checked = [checks.in_range("pilot", np.asarray(arm, float)) for arm in rewards]
    averages = np.array([arm.mean() for arm in checked])
    squares = np.array([((arm - arm.mean()) ** 2).sum() for arm in checked])
    return np.array([len(arm) for arm in checked]), averages, squares
