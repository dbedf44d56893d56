"""Problems: ensembles of R bandit instances ("runs") with K arms each, held as arrays.

An ensemble knows its arms and how to draw from them. It knows nothing of the strategies that play it.
"""

from __future__ import annotations

import copy

import numpy as np
from numpy.typing import ArrayLike

from . import checks
from .kernels import GAUSSIAN, LOW_RANK, REPLAY, TABLE, Rewards, gather


class Bandits:
    """What every ensemble has: true means, true variances, the best arm, and a way to draw rewards."""

    means: np.ndarray
    variances: np.ndarray
    longest: float = np.inf  # the largest budget that can be played
    _per_run = ("means", "variances")

    @property
    def runs(self) -> int:
        """Number of instances R."""
        return self.means.shape[0]

    @property
    def n_arms(self) -> int:
        """Number of arms K."""
        return self.means.shape[1]

    @property
    def best(self) -> np.ndarray:
        """Index of the arm with the highest mean in each run (the first, if several share it)."""
        return self.means.argmax(axis=1)

    def part(self, runs: slice) -> Bandits:
        """Return the ensemble of some of the runs."""
        some = copy.copy(self)
        for name in self._per_run:
            setattr(some, name, getattr(self, name)[runs])
        return some

    def rewards(self, order: np.ndarray, rng: np.random.Generator) -> Rewards:
        """Return what the players draw from, with arm `order[r, p]` of run r at position p."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}(runs={self.runs}, n_arms={self.n_arms})"


class GaussianBandits(Bandits):
    """Arms with normal rewards.

    Parameters
    ----------
    means, variances : array-like, shape (R, K) or (K,)
        One row per run. A single instance may be given as a vector.
    runs : int, optional
        Repeat a single instance this many times.

    Examples
    --------
    >>> bandits = GaussianBandits([1.0, 0.5, 0.0], [1.0, 0.1, 0.1], runs=1000)
    >>> bandits
    GaussianBandits(runs=1000, n_arms=3)
    >>> bandits.best[:3]
    array([0, 0, 0])
    """

    def __init__(self, means: ArrayLike, variances: ArrayLike, runs: int | None = None):
        means = np.atleast_2d(checks.array("means", means, (1, 2)))
        variances = np.atleast_2d(checks.array("variances", variances, (1, 2), least=0))
        if means.shape != variances.shape:
            raise ValueError(
                f"variances has shape {variances.shape} but means has shape {means.shape}; they must agree"
            )
        _check_ensemble("means", means)
        if runs is not None:
            runs = checks.integer("runs", runs, least=1)
            if means.shape[0] != 1:
                raise ValueError(f"runs is {runs}, but means already has {means.shape[0]} rows; give one or the other")
            means, variances = (np.broadcast_to(a, (runs, a.shape[1])) for a in (means, variances))
        self.means = means
        self.variances = variances

    def rewards(self, order: np.ndarray, rng: np.random.Generator) -> Rewards:
        """Return a source that draws from N(mean, variance)."""
        loc, scale = gather(self.means, order), np.sqrt(gather(self.variances, order))
        return Rewards(GAUSSIAN, rng, loc, scale)


class TableBandits(Bandits):
    """Arms whose rewards are resampled, with equal chances, from the rows of a table.

    Parameters
    ----------
    table : array-like, shape (M, U)
        Row i holds the U equally likely rewards of item i.
    arms : array-like of int, shape (R, K) or (K,)
        The rows that serve as arms in each run. A row may serve twice.

    Examples
    --------
    >>> bandits = TableBandits([[0, 1, 1, 1], [2, 2, 2, 2], [0, 0, 4, 0]], [[0, 1], [1, 2]])
    >>> bandits.means
    array([[0.75, 2.  ],
           [2.  , 1.  ]])
    >>> bandits.variances
    array([[0.1875, 0.    ],
           [0.    , 3.    ]])
    """

    _per_run = ("means", "variances", "arms")

    def __init__(self, table: ArrayLike, arms: ArrayLike):
        self.table = np.ascontiguousarray(checks.array("table", table, 2))
        if self.table.shape[1] == 0:
            raise ValueError(f"table has shape {self.table.shape}; each row needs at least one reward")
        self.arms = _check_arms(arms, "table", self.table)
        self.means = self.table.mean(axis=1)[self.arms]
        self.variances = self.table.var(axis=1)[self.arms]

    def rewards(self, order: np.ndarray, rng: np.random.Generator) -> Rewards:
        """Return a source that picks a random entry of the arm's row."""
        return Rewards(TABLE, rng, table=self.table, rows=gather(self.arms, order))


class LowRankBandits(Bandits):
    """Arms whose rewards come from a low-rank matrix: a pull asks a random user about the arm's item.

    The reward of item i from user j is the product ``items[i] @ users[j]``. The matrix itself is never built.

    Parameters
    ----------
    items : array-like, shape (M, D)
        Factors of the items.
    users : array-like, shape (U, D)
        Factors of the users, who are asked with equal chances.
    arms : array-like of int, shape (R, K) or (K,)
        The items that serve as arms in each run. An item may serve twice.

    Examples
    --------
    >>> items, users = [[1, 0], [1, 1], [2, -1]], [[3, 1], [4, 2], [2, 0]]
    >>> bandits = LowRankBandits(items, users, [[0, 1], [1, 2]])
    >>> bandits.means
    array([[3., 4.],
           [4., 5.]])
    >>> bandits.variances.round(3)
    array([[0.667, 2.667],
           [2.667, 0.667]])
    """

    _per_run = ("means", "variances", "arms")

    def __init__(self, items: ArrayLike, users: ArrayLike, arms: ArrayLike):
        self.items = np.ascontiguousarray(checks.array("items", items, 2))
        self.users = np.ascontiguousarray(checks.array("users", users, 2))
        if self.items.shape[1] != self.users.shape[1] or self.users.size == 0:
            raise ValueError(
                f"items has shape {self.items.shape} and users {self.users.shape}; "
                "both need the same number of factors, at least one, and there must be a user"
            )
        self.arms = _check_arms(arms, "items", self.items)
        means, variances = low_rank_moments(self.items, self.users)
        self.means, self.variances = means[self.arms], variances[self.arms]

    def rewards(self, order: np.ndarray, rng: np.random.Generator) -> Rewards:
        """Return a source that multiplies the factors of the arm's item with those of a random user."""
        return Rewards(LOW_RANK, rng, table=self.items, rows=gather(self.arms, order), users=self.users)


def low_rank_moments(items: np.ndarray, users: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and variance over all users of ``items[i] @ users[j]``, for each item."""
    spread = users - users.mean(axis=0)
    covariance = spread.T @ spread / len(users)
    return items @ users.mean(axis=0), np.einsum("id,de,ie->i", items, covariance, items).clip(min=0)


class ReplayBandits(Bandits):
    """Arms whose rewards are written down in advance: the k-th pull of an arm always gives the same number.

    Two players that make the same pulls on it see the same rewards, so it shows whether they are alike.

    Parameters
    ----------
    stacks : array-like, shape (R, K, L)
        `stacks[r, i, k]` is the reward of pull k (from 0) of arm i in run r. L must be at least the budget.
    means, variances : array-like, shape (R, K)
        What the arms are taken to be: policies that know variances are told these.

    Examples
    --------
    >>> bandits = ReplayBandits([[[1, 2, 3], [4, 5, 6]]], means=[[2, 5]], variances=[[1, 1]])
    >>> bandits
    ReplayBandits(runs=1, n_arms=2)
    """

    _per_run = ("means", "variances", "stacks")

    def __init__(self, stacks: ArrayLike, means: ArrayLike, variances: ArrayLike):
        stacks = checks.array("stacks", stacks, 3)
        self.means = checks.array("means", means, 2)
        self.variances = checks.array("variances", variances, 2, least=0)
        if not stacks.shape[:2] == self.means.shape == self.variances.shape:
            raise ValueError(
                f"stacks has shape {stacks.shape}, means {self.means.shape}, variances {self.variances.shape}; "
                "the first two axes must agree"
            )
        _check_ensemble("means", self.means)
        self.stacks = np.ascontiguousarray(stacks)
        self.longest = stacks.shape[2]

    def rewards(self, order: np.ndarray, rng: np.random.Generator) -> Rewards:
        """Return a source that reads the stacks in order."""
        n_runs, n_arms, length = self.stacks.shape
        rows = np.arange(n_runs)[:, None] * n_arms + order
        table = self.stacks.reshape(n_runs * n_arms, length)
        return Rewards(REPLAY, rng, table=table, rows=rows)


def synthetic(n_arms: int, runs: int, seed: int, best_arm: str = "noisy") -> GaussianBandits:
    """Gaussian problems of Section 5.1: a new perturbed instance in every run, arms in random order.

    Before the perturbation arm i has mean 1 - sqrt((i - 1) / K). Every other arm has variance
    0.9 mean^2 + 0.1, the rest 0.1. Means get N(0, 0.05^2) added, variances are multiplied by
    Unif(0.5, 1.5); the best arm of a run is the best after the perturbation.

    Parameters
    ----------
    n_arms, runs : int
        K and R.
    seed : int
        The same seed gives the same instances.
    best_arm : {"noisy", "quiet"}
        "noisy": arms 1, 3, 5, ... are the noisy ones (parity counted from 0), which matches the paper's
        published curves. "quiet": arms 2, 4, 6, ... are, as its text says, so arm 1 has variance 0.1.

    Examples
    --------
    >>> bandits = synthetic(n_arms=64, runs=5, seed=0)
    >>> bandits
    GaussianBandits(runs=5, n_arms=64)
    >>> bandits.variances.max() > 0.5
    np.True_
    """
    n_arms = checks.integer("n_arms", n_arms, least=2)
    runs = checks.integer("runs", runs, least=1)
    checks.choice("best_arm", best_arm, ("noisy", "quiet"))
    rng = np.random.default_rng(checks.integer("seed", seed, least=0))
    number = np.arange(n_arms)  # the paper's i - 1
    mean = 1 - np.sqrt(number / n_arms)
    noisy = number % 2 == (0 if best_arm == "noisy" else 1)
    variance = np.where(noisy, 0.9 * mean**2 + 0.1, 0.1)
    means = mean + rng.normal(0, 0.05, (runs, n_arms))
    variances = variance * rng.uniform(0.5, 1.5, (runs, n_arms))
    order = rng.permuted(np.tile(number, (runs, 1)), axis=1)
    return GaussianBandits(np.take_along_axis(means, order, axis=1), np.take_along_axis(variances, order, axis=1))


def _check_arms(arms: ArrayLike, name: str, rows: np.ndarray) -> np.ndarray:
    arms = np.atleast_2d(np.asarray(arms))
    if arms.ndim != 2 or arms.dtype.kind not in "iu":
        raise ValueError(
            f"arms has shape {arms.shape} and dtype {arms.dtype}; it must be (R, K) whole numbers: rows of {name}"
        )
    outside = (arms < 0) | (arms >= rows.shape[0])
    if outside.any():
        raise ValueError(f"arms contains {arms[outside][0]}; {name} has rows 0 to {rows.shape[0] - 1}")
    _check_ensemble("arms", arms)
    return arms.astype(np.int64)


def _check_ensemble(name: str, array: np.ndarray) -> None:
    if array.shape[0] < 1 or array.shape[1] < 2:
        raise ValueError(f"{name} has shape {array.shape}; at least 1 run and 2 arms are needed")
