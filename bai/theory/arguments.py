"""What the statements ask of their arguments, and how they answer for several budgets."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..schedules import float_or_array, gaps, stages


def noisy(variances: ArrayLike) -> np.ndarray:
    """Return the variances as an array in which at least one is positive."""
    checked = checks.arms("variances", variances, least=0)
    if not checked.any():
        raise ValueError(f"variances is {checked.tolist()}; at least one arm must have a positive variance")
    return checked


def problem(means: ArrayLike, variances: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return means with a unique best arm and variances that are not all 0, one for each arm."""
    means, variances = checks.arms("means", means), noisy(variances)
    checks.same_shape(means, variances)
    least_gap(means)
    return means, variances


def least_gap(means: np.ndarray) -> float:
    """Return Δ_min, by how much the best arm leads; there must be only one."""
    least = float(gaps(means).min())
    if least == 0:
        raise ValueError(f"means has {means.max()} more than once; a mistake needs a unique best arm")
    return least


def stage_budgets(budget: ArrayLike, n_arms: int) -> np.ndarray:
    """Return ⌊n/m⌋, checked to be at least K: one pull per arm and stage."""
    return checks.integers("budget", budget, n_arms * stages(n_arms)) // stages(n_arms)


def for_each(budgets: np.ndarray, bound: Callable[[int], float]) -> float | np.ndarray:
    """Return the bound at each of the budgets."""
    values = [bound(budget) for budget in budgets.ravel().tolist()]
    return float_or_array(np.array(values, dtype=float).reshape(budgets.shape))
