"""The paper's Figures 2 and 3 played again under other readings of its text, and compared with its published points."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd

from ..policies import GapE, Known, Policy
from ..problems import Bandits
from .paper import FIGURES, published
from .stored import sweep

PUBLISHED_RUNS = 5000  # behind each published point


class GapEWithoutSquare(GapE):
    """GapE with H = sum_k 1 / Delta_k^2, without b^2: every radius is b times as wide.

    Examples
    --------
    >>> import bai
    >>> problem = bai.synthetic(8, 2, seed=0)
    >>> usual, wide = (policy.known(8, 100, problem) for policy in (GapE(), GapEWithoutSquare()))
    >>> usual.complexity / wide.complexity / usual.bound**2
    array([1., 1.])
    """

    def known(self, n_arms: int, budget: int, problem: Bandits | None = None) -> Known:
        known = super().known(n_arms, budget, problem)
        assert known.bound is not None and known.complexity is not None
        return dataclasses.replace(known, complexity=known.complexity / known.bound**2)


def replay(policies: Policy | Iterable[Policy], make: Callable[[int], Bandits], seed: int = 1) -> pd.DataFrame:
    """Play policies at all settings of Figures 2 and 3, with K arms on the problems `make(K)`.

    Returns
    -------
    pandas.DataFrame
        A `sweep` table with a further column figure. Policies have the names of the paper.

    Examples
    --------
    >>> import bai
    >>> table = replay(bai.SHAdaVar(delta=0.1), lambda n_arms: bai.synthetic(n_arms, 10, seed=1))
    >>> len(table), table["policy"].unique().tolist(), table["figure"].unique().tolist()
    (15, ['SHAdaVar'], [2, 3])
    """
    listed = [policies] if isinstance(policies, Policy) else policies
    named = {policy.name: policy for policy in listed}
    tables = []
    for figure in (2, 3):
        _, sizes, budgets = FIGURES[figure]
        problems = {f"K = {k}": make(k) for k in sizes}
        tables.append(sweep(named, problems, budgets, seed).assign(figure=figure))
    return pd.concat(tables, ignore_index=True)


def against_published(table: pd.DataFrame) -> pd.DataFrame:
    """Set the rows of a `sweep` table, with a further column figure, beside the paper's points.

    Returns
    -------
    pandas.DataFrame
        One row for each point that the table has too. Further columns difference (of the mistake rates, ours minus
        the paper's) and within: whether it is at most three of its standard errors plus the error of reading the plot.

    Examples
    --------
    >>> import bai
    >>> both = against_published(replay(bai.Unif(), lambda n_arms: bai.synthetic(n_arms, 200, seed=1)))
    >>> len(both), bool(both["within"].mean() > 0.9)
    (15, True)
    """
    keys = ["figure", "n_arms", "budget", "policy"]
    both = published().merge(table, on=keys, suffixes=("_paper", ""))
    ours, theirs = both["mistake_rate"], both["mistake_rate_paper"]
    both["difference"] = ours - theirs
    error = np.sqrt(ours * (1 - ours) / both["runs"] + theirs * (1 - theirs) / PUBLISHED_RUNS)
    both["within"] = both["difference"].abs() <= 3 * error + both["reading_error"]
    return both


def score(both: pd.DataFrame) -> dict[str, str]:
    """Return how well rates match the paper's: their root mean squared difference, and how many points agree.

    Examples
    --------
    >>> score(pd.DataFrame({"difference": [0.01, -0.01], "within": [True, False]}))
    {'RMSE': '0.010', 'points within': '1 of 2'}
    """
    rmse = np.sqrt((both["difference"] ** 2).mean())
    return {"RMSE": f"{rmse:.3f}", "points within": f"{both['within'].sum()} of {len(both)}"}
