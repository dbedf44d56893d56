"""Problems: ensembles of R bandit instances ("runs") with K arms each.

An ensemble knows its arms and how to draw from them. It knows nothing of the policies that play it.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from . import checks
from .sampling import BERNOULLI, GAUSSIAN, LOW_RANK, REPLAY, TABLE, PlainRewards, Rewards, gather, ordered_product


class Bandits:
    """An ensemble of problems: the base class of all ensembles, including your own.

    A subclass with a method `draw` can be played by every policy, in `simulate`, `sweep` and everything built on
    them. It is played pull by pull in Python, which takes 4 microseconds per pull with Unif, 6 with SHAdaVar and 16
    with GapE. The ensembles of this module hand their draws to compiled loops, and take only 0.001, 0.011 and 0.022
    (`tests/benchmarks/test_speed.py`). If other processes play the blocks, the whole ensemble travels with each block.
    `per_run` names the arrays with one row per run; if you extend a compiled ensemble by such an array, add its name.

    Parameters
    ----------
    means, variances : array-like, shape (R, K) or (K,)
        True means and variances, one row per run: the best arm and the regret come from the means, and some policies
        are told the variances. A single instance may be given as a vector.
    runs : int, optional
        Repeat a single instance this many times.

    Examples
    --------
    Waiting times with an exponential distribution:

    >>> import bai
    >>> class Waiting(bai.Bandits):
    ...     def draw(self, run, arm, rng):
    ...         return rng.exponential(self.means[run, arm])
    >>> waiting = Waiting([1.0, 2.0, 4.0], [1.0, 4.0, 16.0], runs=100)
    >>> bai.simulate(bai.SH(), waiting, budget=200, seed=0).mistake_rate < 0.1
    True
    """

    per_run: ClassVar[tuple[str, ...]] = ("means", "variances")  # the arrays with one row per run
    means: np.ndarray
    variances: np.ndarray
    longest: float = math.inf  # the largest budget that can be played

    def __init__(self, means: ArrayLike, variances: ArrayLike, runs: int | None = None):
        means = np.atleast_2d(checks.array("means", means, (1, 2)))
        variances = np.atleast_2d(checks.array("variances", variances, (1, 2), least=0))
        checks.same_shape(means, variances)
        _check_ensemble("means", means)
        checks.in_range("means", means)
        checks.in_range("variances", variances, variances=True)
        if runs is not None:
            runs = checks.integer("runs", runs, least=1)
            if means.shape[0] != 1:
                raise ValueError(f"runs is {runs}, but means already has {means.shape[0]} rows; give one or the other")
            means, variances = (_repeated(a, runs) for a in (means, variances))
        self.means = means
        self.variances = variances

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

    def draw(self, run: int, arm: int, rng: np.random.Generator) -> float:
        """Return a reward of an arm in a run, with all randomness from `rng`.

        Several threads call it at once, so it must not change `self`.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method draw(self, run, arm, rng); write one")

    def rewards(self, order: np.ndarray, rng: np.random.Generator) -> Rewards | PlainRewards:
        """Return what the players draw from, with arm `order[r, p]` of run r at position p."""
        return PlainRewards(self, order, rng, np.arange(self.runs))

    def select(self, rows: slice | np.ndarray) -> Bandits:
        """Return the ensemble of some of the runs."""
        return _Selection(self, np.arange(self.runs)[rows])

    def fingerprint(self) -> str:
        """Return a hash of everything the ensemble holds: its class, its arrays and its other plain values."""
        digest = hashlib.sha256(type(self).__name__.encode())
        for name, value in sorted(vars(self).items()):
            if isinstance(value, np.ndarray):
                digest.update(f"{name} {value.dtype} {value.shape}".encode())
                digest.update(np.ascontiguousarray(value[:1] if _is_repeated(value) else value).data)
            else:
                digest.update(f"{name} {checks.full_repr(name, value)}".encode())
        return digest.hexdigest()

    def __getstate__(self) -> dict[str, Any]:
        # A repeated row is pickled only once.
        repeated = {name: len(array) for name, array in vars(self).items() if _is_repeated(array)}
        rows = {name: getattr(self, name)[:1].copy() for name in repeated}
        return vars(self) | rows | {"_repeated": repeated}

    def __setstate__(self, state: dict[str, Any]) -> None:
        repeated = state.pop("_repeated", {})
        vars(self).update(state)
        for name, runs in repeated.items():
            setattr(self, name, _repeated(state[name], runs))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(runs={self.runs}, n_arms={self.n_arms})"


class _Selection(Bandits):
    """Some runs of an ensemble that gives one reward at a time; everything else comes from the whole ensemble."""

    def __getattr__(self, name: str) -> Any:
        if name == "whole":  # while it is unpickled
            raise AttributeError(name)
        return getattr(self.whole, name)

    def __init__(self, whole: Bandits, rows: np.ndarray):
        self.whole, self.rows = whole, rows
        self.means, self.variances = (
            _repeated(array[:1], rows.size) if _is_repeated(array) else array[rows]
            for array in (whole.means, whole.variances)
        )

    def draw(self, run: int, arm: int, rng: np.random.Generator) -> float:
        return self.whole.draw(int(self.rows[run]), arm, rng)

    def rewards(self, order: np.ndarray, rng: np.random.Generator) -> Rewards | PlainRewards:
        return PlainRewards(self.whole, order, rng, self.rows)

    def select(self, rows: slice | np.ndarray) -> Bandits:
        return _Selection(self.whole, self.rows[rows])


class CompiledBandits(Bandits):
    """Ensembles held as arrays, whose draws are part of the compiled loops."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        draws, hands_over = ([name in vars(c) for c in cls.__mro__].index(True) for name in ("draw", "rewards"))
        if draws < hands_over:  # a subclass that draws in its own way
            cls.rewards, cls.select = Bandits.rewards, Bandits.select

    def select(self, rows: slice | np.ndarray) -> Bandits:
        some = object.__new__(type(self))
        vars(some).update(vars(self))
        for name in self.per_run:
            array = getattr(self, name)
            shared = array.strides[0] == 0  # one instance, repeated
            size = np.broadcast_to(0, len(array))[rows].size
            setattr(some, name, _repeated(array[:1], size) if shared else array[rows])
        return some


def _repeated(row: np.ndarray, runs: int) -> np.ndarray:
    """Return an array of `runs` rows that all share the memory of one."""
    return np.broadcast_to(row, (runs, *row.shape[1:]))


def _is_repeated(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim > 1 and value.shape[0] > 1 and value.strides[0] == 0


class GaussianBandits(CompiledBandits):
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

    def rewards(self, order: np.ndarray, rng: np.random.Generator, most_ahead: int = 2**16) -> Rewards:
        loc, scale = gather(self.means, order), np.sqrt(gather(self.variances, order))
        return Rewards(GAUSSIAN, rng, loc, scale, normals=np.empty(most_ahead), ahead=np.zeros(2, np.int64))


class BernoulliBandits(CompiledBandits):
    """Arms that pay 1 or 0.

    Parameters
    ----------
    means : array-like, shape (R, K) or (K,)
        The chances of a 1, between 0 and 1. A single instance may be given as a vector.
    runs : int, optional
        Repeat a single instance this many times.

    Examples
    --------
    >>> bandits = BernoulliBandits([0.6, 0.5, 0.1], runs=1000)
    >>> bandits.variances[0]
    array([0.24, 0.25, 0.09])
    """

    def __init__(self, means: ArrayLike, runs: int | None = None):
        chances = checks.array("means", means, (1, 2), least=0)
        if (chances > 1).any():
            raise ValueError(f"means contains {chances.max()}; the chance of a 1 must be at most 1")
        super().__init__(chances, chances * (1 - chances), runs)

    def rewards(self, order: np.ndarray, rng: np.random.Generator) -> Rewards:
        return Rewards(BERNOULLI, rng, gather(self.means, order))


class TableBandits(CompiledBandits):
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

    per_run = ("means", "variances", "arms")

    def __init__(self, table: ArrayLike, arms: ArrayLike):
        self.table: np.ndarray = np.ascontiguousarray(checks.array("table", table, 2))
        if self.table.shape[1] == 0:
            raise ValueError(f"table has shape {self.table.shape}; each row needs at least one reward")
        checks.in_range("table", self.table)
        self.arms: np.ndarray = _check_arms(arms, "table", self.table)
        self.means = self.table.mean(axis=1)[self.arms]
        self.variances = self.table.var(axis=1)[self.arms]
        checks.in_range("table, whose rows have variances,", self.variances, variances=True)

    def rewards(self, order: np.ndarray, rng: np.random.Generator) -> Rewards:
        return Rewards(TABLE, rng, table=self.table, rows=gather(self.arms, order))


class LowRankBandits(CompiledBandits):
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

    per_run = ("means", "variances", "arms")

    def __init__(self, items: ArrayLike, users: ArrayLike, arms: ArrayLike):
        self.items: np.ndarray
        self.users: np.ndarray
        self.items, self.users = _check_factors(items, users, ("items", "users"))
        self.arms: np.ndarray = _check_arms(arms, "items", self.items)
        means, variances = low_rank_moments(self.items, self.users)
        self.means, self.variances = means[self.arms], variances[self.arms]
        checks.in_range("items @ users", self.means)
        checks.in_range("items @ users, whose rows have variances,", self.variances, variances=True)

    def rewards(self, order: np.ndarray, rng: np.random.Generator) -> Rewards:
        return Rewards(LOW_RANK, rng, table=self.items, rows=gather(self.arms, order), users=self.users)


def _check_factors(items: ArrayLike, users: ArrayLike, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    items, users = (
        np.ascontiguousarray(checks.in_range(name, checks.array(name, factors, 2)))
        for name, factors in zip(names, (items, users), strict=True)
    )
    if items.shape[1] != users.shape[1] or users.size == 0:
        raise ValueError(
            f"{names[0]} has shape {items.shape} and {names[1]} {users.shape}; "
            "both need the same number of factors, at least one, and there must be a user"
        )
    return items, users


def low_rank_moments(items: np.ndarray, users: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and variance over all users of ``items[i] @ users[j]``, for each item.

    Sums are taken in a fixed order: the last bits of a NumPy matrix product differ between processors, and problems
    must be the same everywhere.
    """
    center = ordered_product(np.full((1, len(users)), 1 / len(users)), users)
    spread = users - center
    covariance = ordered_product(spread.T.copy(), spread) / len(users)
    variances = (ordered_product(items, covariance) * items).cumsum(axis=1)[:, -1]
    return ordered_product(items, center.T.copy())[:, 0], variances.clip(min=0)


class ReplayBandits(CompiledBandits):
    """Arms whose rewards are written down in advance: the k-th pull of an arm always gives the same number.

    Two players that make the same pulls see the same rewards, which shows whether they play alike.

    Parameters
    ----------
    stacks : array-like, shape (R, K, L)
        `stacks[r, i, k]` is the reward of pull k (from 0) of arm i in run r. L must be at least the budget.
    means, variances : array-like, shape (R, K)
        The means and variances that count as true: policies that know variances are told these.

    Examples
    --------
    >>> bandits = ReplayBandits([[[1, 2, 3], [4, 5, 6]]], means=[[2, 5]], variances=[[1, 1]])
    >>> bandits
    ReplayBandits(runs=1, n_arms=2)
    """

    per_run = ("means", "variances", "stacks")

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
        if stacks.shape[2] == 0:
            raise ValueError(f"stacks has shape {stacks.shape}; every arm needs at least one reward")
        checks.in_range("stacks", stacks)
        checks.in_range("means", self.means)
        checks.in_range("variances", self.variances, variances=True)
        self.stacks: np.ndarray = np.ascontiguousarray(stacks)
        self.longest = stacks.shape[2]

    def rewards(self, order: np.ndarray, rng: np.random.Generator) -> Rewards:
        n_runs, n_arms, length = self.stacks.shape
        rows = np.arange(n_runs)[:, None] * n_arms + order
        table = self.stacks.reshape(n_runs * n_arms, length)
        return Rewards(REPLAY, rng, table=table, rows=rows)


class RescaledBandits(CompiledBandits):
    """The same arms with rewards in another unit: ``unit * reward + level``, with its own pair in every run.

    A policy whose mistakes change with the unit relies on something that you may not know.

    Parameters
    ----------
    bandits : Bandits
        The ensemble.
    units, levels : array-like, shape (R,)
        Positive factors, and what is added. A number holds for all runs.

    Examples
    --------
    >>> import bai
    >>> euros = bai.BernoulliBandits([0.6, 0.5], runs=1000)
    >>> cents = RescaledBandits(euros, 128, 0)
    >>> cents.means[0], cents.variances[0]
    (array([76.8, 64. ]), array([3932.16, 4096.  ]))
    >>> [bai.simulate(bai.TopTwo(), arms, 60, seed=1).mistake_rate for arms in (euros, cents)]
    [0.219, 0.219]
    """

    per_run = ("means", "variances", "units", "levels")

    def __init__(self, bandits: Bandits, units: ArrayLike, levels: ArrayLike):
        if not isinstance(bandits, Bandits):
            checks.wrong_type("bandits", bandits, "an ensemble such as bai.GaussianBandits(...)")
        self.bandits = bandits
        self.units: np.ndarray = self._per_run("units", units)
        self.levels: np.ndarray = self._per_run("levels", levels)
        if not (self.units > 0).all():
            raise ValueError(f"units contains {self.units.min()}; every unit must be positive")
        self.means = checks.in_range("means in these units", self.units * bandits.means + self.levels)
        self.variances = self.units * self.units * bandits.variances
        checks.in_range("variances in these units", self.variances, variances=True)
        self.longest = bandits.longest

    def _per_run(self, name: str, values: ArrayLike) -> np.ndarray:
        """Return a column with one number per run."""
        numbers = checks.in_range(name, checks.array(name, values, (0, 1)))
        if numbers.ndim == 1 and len(numbers) != self.bandits.runs:
            raise ValueError(f"{name} has {len(numbers)} entries for {self.bandits.runs} runs; give one per run")
        return np.broadcast_to(np.reshape(numbers, (-1, 1)), (self.bandits.runs, 1)).copy()

    def select(self, rows: slice | np.ndarray) -> Bandits:
        some = super().select(rows)
        vars(some)["bandits"] = self.bandits.select(rows)
        return some

    def rewards(self, order: np.ndarray, rng: np.random.Generator) -> Rewards | PlainRewards:
        rewards = self.bandits.rewards(order, rng)
        if not isinstance(rewards, Rewards):
            return PlainRewards(self, order, rng, np.arange(self.runs))
        if rewards.kind == GAUSSIAN:
            return rewards._replace(loc=self.units * rewards.loc + self.levels, scale=self.units * rewards.scale)
        if len(rewards.units):  # rescaled before
            units, levels = np.split(rewards.units, 2, axis=1)
            return rewards._replace(units=np.hstack([self.units * units, self.units * levels + self.levels]))
        return rewards._replace(units=np.hstack([self.units, self.levels]))

    def draw(self, run: int, arm: int, rng: np.random.Generator) -> float:
        return float(self.levels[run, 0] + self.units[run, 0] * self.bandits.draw(run, arm, rng))


def synthetic(n_arms: int, runs: int, seed: int, best_arm: str = "noisy") -> GaussianBandits:
    """Gaussian problems of Section 5.1: a new perturbed instance in every run, arms in random order.

    Before the perturbation arm i has mean 1 - sqrt((i - 1) / K). Every other arm has variance
    0.9 mean^2 + 0.1, the rest 0.1. The means then get noise N(0, 0.05^2), and the variances are
    multiplied by Unif(0.5, 1.5); the best arm of a run is the best one after the perturbation.

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
    rng = np.random.default_rng(checks.integer("seed", seed, 0, below=None))
    number = np.arange(n_arms)  # the paper's i - 1
    mean = 1 - np.sqrt(number / n_arms)
    noisy = number % 2 == (0 if best_arm == "noisy" else 1)
    variance = np.where(noisy, 0.9 * mean**2 + 0.1, 0.1)
    means = mean + rng.normal(0, 0.05, (runs, n_arms))
    variances = variance * rng.uniform(0.5, 1.5, (runs, n_arms))
    order = rng.permuted(np.tile(number, (runs, 1)), axis=1)
    return GaussianBandits(np.take_along_axis(means, order, axis=1), np.take_along_axis(variances, order, axis=1))


class Factors(NamedTuple):
    """A completed matrix of ratings: user j gives movie i ``movies[i] @ users[j]`` stars."""

    movies: np.ndarray
    users: np.ndarray


def movielens(
    n_arms: int,
    runs: int,
    seed: int,
    shift: float = 2.0,
    best_arm: str = "noisy",
    repeats: bool = True,
    factors: Factors | None = None,
) -> LowRankBandits:
    """Movies as arms, as in Section 5.2.

    Each run takes the target means and variances of a new instance of `synthetic`, adds `shift` to the means, and
    picks for each target the movie whose mean and variance are closest. A pull asks a random user.

    Parameters
    ----------
    n_arms, runs : int
        K and R.
    seed : int
        The same seed gives the same movies.
    shift : float
        Added to the target means, which lie between 0 and 1, while ratings lie between 1 and 5. The paper's text
        has no shift; its Figure 4 shows one of about 2.
    best_arm : {"noisy", "quiet"}
        Parity of the targets, see `synthetic`.
    repeats : bool
        Whether a movie may be several arms of a run. Otherwise each target, the highest mean first, takes the closest
        movie that is left.
    factors : Factors, optional
        Another completion; by default the one that ships with the package.

    Returns
    -------
    LowRankBandits

    Examples
    --------
    >>> import bai
    >>> bandits = bai.movielens(n_arms=64, runs=5, seed=0)
    >>> bandits
    LowRankBandits(runs=5, n_arms=64)
    >>> bool(1.5 < bandits.means.min() < bandits.means.max() < 3.5)
    True
    """
    targets = synthetic(n_arms, runs, seed, best_arm)
    shift = checks.reward("shift", shift)
    repeats = checks.flag("repeats", repeats)
    if factors is not None and (not isinstance(factors, (tuple, list)) or len(factors) != 2):
        checks.wrong_type("factors", factors, "a pair: the factors of the movies, and those of the users")
    movies, users = (
        shipped_factors() if factors is None else _check_factors(*factors, names=("factors.movies", "factors.users"))
    )
    from scipy.spatial import KDTree  # takes longer to import than the rest of this module

    moments = KDTree(np.column_stack(low_rank_moments(movies, users)))
    wanted = np.stack([targets.means + shift, targets.variances], axis=-1)
    if repeats:
        return LowRankBandits(movies, users, moments.query(wanted)[1])
    if targets.n_arms > len(movies):
        raise ValueError(f"n_arms is {n_arms}, but there are {len(movies)} movies; take fewer arms or allow repeats")
    return LowRankBandits(movies, users, _nearest_distinct(moments, wanted, targets.means))


def _nearest_distinct(moments: Any, wanted: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Return for each run the movies that its targets take, one after another, highest mean first."""
    arms = np.empty(means.shape, np.int64)
    n_arms = means.shape[1]
    for r, order in enumerate(np.argsort(-means, axis=1, kind="stable").tolist()):
        # The K movies nearest to each target suffice: the other targets take at most K - 1 of them. Half often do.
        near = moments.query(wanted[r], k=np.arange(1, n_arms // 2 + 1))[1].tolist()
        taken: set[int] = set()
        for place, i in enumerate(order):
            if taken.issuperset(near[i]):
                rest = order[place:]
                more = moments.query(wanted[r, rest], k=np.arange(1, n_arms + 1))[1].tolist()
                near = dict(zip(rest, more, strict=True))
            arms[r, i] = next(movie for movie in near[i] if movie not in taken)
            taken.add(int(arms[r, i]))
    return arms


@cache
def shipped_factors() -> Factors:
    """Return the rank-5 factors that ship with the package: 3,706 drawn for movies and 6,040 drawn for users."""
    with resources.files("bai").joinpath("data/movielens.npz").open("rb") as file, np.load(file) as arrays:
        return Factors(*(arrays[name].astype(float) for name in Factors._fields))


def _check_arms(arms: ArrayLike, name: str, rows: np.ndarray) -> np.ndarray:
    arms = np.atleast_2d(checks.integers("arms", arms, 0, axes=2))
    if (arms >= rows.shape[0]).any():
        raise ValueError(f"arms contains {arms.max()}; {name} has rows 0 to {rows.shape[0] - 1}")
    _check_ensemble("arms", arms)
    return arms


def _check_ensemble(name: str, array: np.ndarray) -> None:
    if array.shape[0] < 1 or array.shape[1] < 2:
        raise ValueError(f"{name} has shape {array.shape}; at least 1 run and 2 arms are needed")
