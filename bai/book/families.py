"""The kinds of problems of the leaderboard.

A family is a kind of problem: how to make runs of it, and with which budgets to play it. The families of `DESIGN` were
looked at while `bai`'s own policies were designed; those of `CONFIRMATION` were played for the first time when that was
over. A policy never meets the numbers that stand here: `in_random_units` gives every run a unit and a level.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit

from ..problems import (
    Bandits,
    BernoulliBandits,
    GaussianBandits,
    RescaledBandits,
    TableBandits,
    movielens,
    synthetic,
)
from ..sampling import REPLAY, Rewards, gather
from .judgements import alpaca, captions

LARGEST_POWER = 10  # units lie between 2^-10 and 2^10
QUANTILES = (np.arange(1000) + 0.5) / 1000

Make = Callable[[int, int], Bandits]  # from the number of runs and a seed


class Family(NamedTuple):
    """A kind of problem: how to make R runs of it from a seed, with which budgets to play it, and what it is."""

    make: Make
    budgets: tuple[int, ...]
    about: str


def in_random_units(bandits: Bandits, seed: int) -> RescaledBandits:
    """Return the ensemble with a unit, a power of two, and a level of 0 or 1 unit in every run.

    Powers of two keep rewards of 0 and 1 exact: equal means stay equal.

    Examples
    --------
    >>> coins = in_random_units(BernoulliBandits([0.5, 0.25], runs=4), seed=3)
    >>> coins.units[:, 0].tolist(), (coins.levels[:, 0] / coins.units[:, 0]).tolist()
    ([1024.0, 0.03125, 4.0, 0.25], [1.0, 0.0, 0.0, 0.0])
    """
    rng = np.random.default_rng([seed, 1])
    units = np.ldexp(1.0, rng.integers(-LARGEST_POWER, LARGEST_POWER, bandits.runs, endpoint=True))
    return RescaledBandits(bandits, units, units * rng.integers(0, 1, bandits.runs, endpoint=True))


def on_grid(values: np.ndarray) -> np.ndarray:
    """Return the values as multiples of 2^-30: the last bits of powers differ between processors."""
    scaled = values * 2.0**30
    np.rint(scaled, out=scaled)
    scaled /= 2.0**30
    return scaled


# --- makers ----------------------------------------------------------------------------------------------
# All have the best arm first where it is fixed: a simulation puts the arms in random order.


class Scattered(NamedTuple):
    """A maker of 32 Gaussian arms: the best has a fixed mean and variance, those of the others are uniform in ranges.

    A rival is a second arm with a fixed mean.
    """

    best: tuple[float, float]
    means: tuple[float, float]
    variances: tuple[float, float]
    rival: float | None = None

    def __call__(self, runs: int, seed: int) -> GaussianBandits:
        rng = np.random.default_rng(seed)
        mean, variance = rng.uniform(*self.means, (runs, 32)), rng.uniform(*self.variances, (runs, 32))
        mean[:, 0], variance[:, 0] = self.best
        if self.rival is not None:
            mean[:, 1] = self.rival
        return GaussianBandits(mean, variance)


def equal_variances(runs: int, seed: int) -> GaussianBandits:
    means = synthetic(32, runs, seed).means
    return GaussianBandits(means, np.full(means.shape, 0.3))


def coins(best: int, lowest: int, highest: int, n_arms: int = 32) -> Make:
    """Return a maker of arms that pay 1 or 0; the best pays in so many of 1000 pulls, the others in fewer."""

    def make(runs: int, seed: int) -> BernoulliBandits:
        pays = np.random.default_rng(seed).integers(lowest, highest, (runs, n_arms), endpoint=True)
        pays[:, 0] = best
        return BernoulliBandits(pays / 1000)

    return make


def fixed_coins(*chances: float) -> Make:
    """Return a maker of arms that pay 1 with fixed chances."""
    return lambda runs, seed: BernoulliBandits(chances, runs=runs)


def resampled(table: np.ndarray) -> Make:
    """Return a maker whose arms are all rows of a table."""
    return lambda runs, seed: TableBandits(table, np.tile(np.arange(len(table)), (runs, 1)))


def heavy_tailed() -> np.ndarray:
    """Means and mean variances of Section 5.1, rewards from 1000 quantiles of Student's t with 3 degrees of freedom."""
    means = 1 - np.sqrt(np.arange(32) / 32)
    deviations = np.sqrt(np.where(np.arange(32) % 2 == 0, 0.9 * means**2 + 0.1, 0.1))
    quantiles = stdtrit(3, QUANTILES)
    return means[:, None] + deviations[:, None] * quantiles / quantiles.std()


def skewed() -> np.ndarray:
    """Log-normal rewards of 16 arms: 1000 quantiles, means from 1 down to 0.4, higher means with more noise."""
    quantiles = np.exp(0.75 * ndtri(QUANTILES))
    return on_grid(np.linspace(1, 0.4, 16)[:, None] * quantiles / quantiles.mean())


def two_arms(runs: int, seed: int) -> GaussianBandits:
    rng = np.random.default_rng(seed)
    return GaussianBandits(np.tile([0.3, 0.0], (runs, 1)), on_grid(4.0 ** rng.uniform(-2, 1, (runs, 2))))


def random_means(n_arms: int) -> Make:
    """Return a maker of Gaussian arms with standard normal means and variances between 0.5 and 2."""

    def make(runs: int, seed: int) -> GaussianBandits:
        rng = np.random.default_rng(seed)
        means, powers = rng.normal(size=(runs, n_arms)), rng.uniform(-1, 1, (runs, n_arms))
        return GaussianBandits(means, on_grid(2.0**powers))

    return make


def slippage(runs: int, seed: int) -> GaussianBandits:
    return GaussianBandits([0.5] + [0.0] * 9, np.ones(10), runs=runs)


def monotone(runs: int, seed: int) -> GaussianBandits:
    """Ten means in steps of 0.25; in every run variances rise or fall along them, from 0.25 to 4."""
    rise = on_grid(2.0 ** np.linspace(-2, 2, 10))
    falls = np.random.default_rng(seed).random(runs) < 0.5
    return GaussianBandits(np.tile(np.linspace(2.25, 0, 10), (runs, 1)), np.where(falls[:, None], rise[::-1], rise))


def three_decades(runs: int, seed: int) -> GaussianBandits:
    rng = np.random.default_rng(seed)
    return GaussianBandits(rng.random((runs, 32)), on_grid(10.0 ** rng.uniform(-2, 1, (runs, 32))))


def near_ties(runs: int, seed: int) -> GaussianBandits:
    """Six of 16 arms within 0.05 of the best: mistakes cost little, the other arms a lot."""
    rng = np.random.default_rng(seed)
    means, variances = rng.uniform(0.0, 0.7, (runs, 16)), rng.uniform(0.1, 1.0, (runs, 16))
    means[:, :6] = 1 - rng.uniform(0, 0.05, (runs, 6))
    return GaussianBandits(means, variances)


def models(runs: int, seed: int, n_arms: int = 12) -> np.ndarray:
    """Return which models of AlpacaEval are the arms of each run."""
    rng = np.random.default_rng(seed)
    return rng.permuted(np.tile(np.arange(alpaca().shape[1]), (runs, 1)), axis=1)[:, :n_arms]


def own_examples(runs: int, seed: int) -> TableBandits:
    return TableBandits(alpaca().to_numpy().T, models(runs, seed))


class SharedExamples(TableBandits):
    """Arms that are all judged on the same examples in the same order, with one of 200 orders in every run."""

    orders = 200

    def __init__(self, runs: int, seed: int):
        scores = alpaca().to_numpy().T
        super().__init__(scores, models(runs, seed))
        rng = np.random.default_rng([seed, 2])
        table = np.concatenate([scores[:, rng.permutation(scores.shape[1])] for _ in range(self.orders)])
        self.table = np.ascontiguousarray(table)  # as others are, or every loop would be compiled once more
        self.arms = self.arms + len(scores) * rng.integers(self.orders, size=(runs, 1))
        self.longest = scores.shape[1]

    def rewards(self, order: np.ndarray, rng: np.random.Generator) -> Rewards:
        return Rewards(REPLAY, rng, table=self.table, rows=gather(self.arms, order))


def funny_captions(runs: int, seed: int) -> TableBandits:
    """Captions of a contest as arms, 24 in every run; a pull draws one of its votes."""
    votes = captions(610)
    if votes is None:
        raise FileNotFoundError("the votes on captions are not here; name their file in the variable BAI_CAPTIONS")
    rng = np.random.default_rng(seed)
    return TableBandits(votes, np.array([rng.choice(len(votes), 24, replace=False) for _ in range(runs)]))


# --- the families ----------------------------------------------------------------------------------------

DESIGN = {
    "5.1, noisy best": Family(lambda runs, seed: synthetic(32, runs, seed), (500, 2000), "Section 5.1, best arm noisy"),
    "5.1, quiet best": Family(
        lambda runs, seed: synthetic(32, runs, seed, "quiet"), (200, 800), "Section 5.1, best arm quiet"
    ),
    "equal variances": Family(equal_variances, (320, 1280), "means of Section 5.1, all variances 0.3"),
    "one close rival": Family(
        Scattered((1.0, 0.5), (0.0, 0.5), (0.1, 1.0), rival=0.9),
        (320, 1280),
        "means 1, 0.9, others in (0, 0.5); variance of the best 0.5, others in (0.1, 1)",
    ),
    "many close rivals": Family(
        Scattered((1.0, 0.5), (0.7, 0.7), (0.1, 1.0)),
        (640, 2560),
        "means 1, others 0.7; variance of the best 0.5, others in (0.1, 1)",
    ),
    "best very noisy": Family(
        Scattered((1.0, 4.0), (0.0, 0.7), (0.1, 0.1)),
        (320, 1280),
        "means 1, others in (0, 0.7); variance of the best 4, others 0.1",
    ),
    "best very quiet": Family(
        Scattered((1.0, 0.01), (0.0, 0.9), (1.0, 1.0)),
        (320, 1280),
        "means 1, others in (0, 0.9); variance of the best 0.01, others 1",
    ),
    "Bernoulli": Family(coins(600, 100, 500), (320, 1280), "best pays 1 with chance 0.6, others 0.1 to 0.5"),
    "rare successes": Family(coins(100, 10, 50), (640, 2560), "best pays 1 with chance 0.1, others 0.01 to 0.05"),
    "heavy tails": Family(
        resampled(heavy_tailed()), (320, 1280), "unperturbed arms of Section 5.1, noise with Student's law"
    ),
    "MovieLens, 64": Family(lambda runs, seed: movielens(64, runs, seed), (1000, 2000), "Section 5.2, best arm noisy"),
}

CONFIRMATION = {
    "A/B": Family(two_arms, (40, 160), "means 0.3 and 0; variances independent, from 1/16 to 4"),
    "A/B/n, clicks": Family(coins(50, 20, 40, 8), (500, 2000), "best pays 1 with chance 0.05, others 0.02 to 0.04"),
    "128 arms": Family(random_means(128), (160, 240), "normal means; variances 0.5 to 2; below two pulls per arm"),
    "1,000 arms": Family(random_means(1000), (1300, 1900), "normal means; variances 0.5 to 2; below two pulls per arm"),
    "three groups": Family(
        fixed_coins(0.5, *[0.45] * 5, *[0.43] * 14, *[0.38] * 10),
        (1000, 3000),
        "pay 1 with chances 0.5, 0.45, 0.43, 0.38, after Audibert et al.",
    ),
    "geometric": Family(
        fixed_coins(0.5, *(0.5 - 0.37**i for i in np.linspace(2, 0.9, 19))),
        (500, 1500),
        "pay 1 with chances 0.5 - 0.37^i, i from 2 to 0.9, after Audibert et al. and Karnin et al.",
    ),
    "slippage": Family(slippage, (200, 500), "means 0.5 and nine times 0, all variances 1"),
    "monotone": Family(monotone, (100, 300), "means 2.25, 2, ..., 0; variances from 0.25 to 4, rising or falling"),
    "three decades": Family(three_decades, (320, 1280), "means in (0, 1); variances from 0.01 to 10, log-uniform"),
    "near ties": Family(near_ties, (160, 640), "six means in (0.95, 1), others in (0, 0.7); variances in (0.1, 1)"),
    "skewed": Family(
        resampled(skewed()), (160, 640), "log-normal rewards, means from 1 to 0.4, deviations in proportion"
    ),
    "models, own examples": Family(own_examples, (120, 480), "12 models of AlpacaEval, each on its own examples"),
    "models, shared examples": Family(SharedExamples, (120, 480), "the same, all on the same examples in one order"),
    "captions": Family(funny_captions, (500, 1500), "24 captions of contest 610, votes from 1 to 3"),
}

FAMILIES = DESIGN | CONFIRMATION


def at_hand() -> dict[str, Family]:
    """Return the families that can be played here: the votes on captions are not part of the package.

    Examples
    --------
    >>> set(FAMILIES) - set(at_hand()) <= {"captions"}
    True
    """
    return {name: family for name, family in FAMILIES.items() if name != "captions" or captions(610) is not None}
