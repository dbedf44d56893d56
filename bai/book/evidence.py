"""The language in which the scoreboard tests what the paper claims.

Evidence about mistake rates is either played, with the mistakes of every run, or read off the published plots. Both
answer the same questions: does a policy beat another in a setting, does it outperform it over several, on which side of
a number does a weighted sum of mistake rates lie. An answer is True, False, or None if the evidence does not tell.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import sqrt
from typing import NamedTuple, Self

import numpy as np
from scipy.stats import norm

from ..stats import paired


class Setting(NamedTuple):
    """A number of arms and a budget."""

    n_arms: int
    budget: int


class Point(NamedTuple):
    """A policy in a setting: a point of a figure."""

    n_arms: int
    budget: int
    policy: str


class Win(NamedTuple):
    """A setting in which a policy errs significantly less often than another."""

    n_arms: int
    budget: int
    winner: str
    loser: str


class Estimate(NamedTuple):
    """A number, its standard error, and by how much more it may be off because points were misread."""

    value: float
    error: float
    misread: float = 0.0


class Answer(NamedTuple):
    """Whether a claim holds (None: open), and what that rests on in a few words."""

    holds: bool | None
    said: str


Weights = dict[Point, float]  # of a sum of mistake rates


def less(first: str, second: str, settings: Sequence[tuple[int, int]]) -> Weights:
    """Return the weights of the first policy's mistake rate less the second's, averaged over settings.

    Examples
    --------
    >>> less("SHVar", "SH", [(64, 1000)])
    {Point(n_arms=64, budget=1000, policy='SHVar'): 1.0, Point(n_arms=64, budget=1000, policy='SH'): -1.0}
    """
    return {Point(*s, name): w / len(settings) for s in settings for name, w in ((first, 1), (second, -1))}


def truth(side: int) -> bool | None:
    """Return what a sign says about a claim that asks for a positive one.

    Examples
    --------
    >>> truth(1), truth(-1), truth(0)
    (True, False, None)
    """
    return {1: True, -1: False, 0: None}[side]


def every(answers: Iterable[bool | None]) -> bool | None:
    """Return whether a claim of several parts holds: True if all do, False if one fails, else None.

    Examples
    --------
    >>> every([True, True]), every([None, False]), every([None, True])
    (True, False, None)
    """
    answers = list(answers)
    return False if False in answers else None if None in answers else True


@dataclass(frozen=True, eq=False)
class Evidence(ABC):
    """Mistake rates in some settings, and the tests on them.

    Parameters
    ----------
    level : float
        Of every test.
    tested : set
        Every test made so far beyond those behind `wins`.
    """

    level: float = field(default=0.05, kw_only=True)
    tested: set[Hashable] = field(default_factory=set, kw_only=True, repr=False)

    @abstractmethod
    def points(self) -> Iterable[Point]:
        """Return the policies and settings with a mistake rate."""

    @abstractmethod
    def rate(self, n_arms: int, budget: int, policy: str) -> float:
        """Return the mistake rate of a policy in a setting."""

    @abstractmethod
    def estimate(self, weights: Weights) -> Estimate:
        """Estimate a weighted sum of mistake rates."""

    @abstractmethod
    def compare(self, first: Point, second: Point) -> int:
        """Return -1 if the first errs significantly less often than the second, 1 if more often, 0 if it is open."""

    def at_level(self, level: float) -> Self:
        """Return the same evidence with another level for every test."""
        return dataclasses.replace(self, level=level, tested=set())

    def pairs(self) -> list[tuple[Point, Point]]:
        """Return each two policies that share a setting."""
        return [(a, b) for a, b in combinations(self.points(), 2) if a[:2] == b[:2]]

    @cached_property
    def wins(self) -> frozenset[Win]:
        """Every setting, winner and loser."""
        found = {(a, b): self.compare(a, b) for a, b in self.pairs()}
        ordered = [(a, b) if side < 0 else (b, a) for (a, b), side in found.items() if side]
        return frozenset(Win(*a, b.policy) for a, b in ordered)

    def beats(self, first: str, second: str, setting: tuple[int, int]) -> bool:
        """Return whether the first policy errs significantly less often in the setting."""
        return Win(*setting, first, second) in self.wins

    def ahead(self, first: str, second: str, setting: tuple[int, int]) -> bool | None:
        """Return True if the first policy beats the second in the setting, False if it is beaten, else None."""
        return truth(self.beats(first, second, setting) - self.beats(second, first, setting))

    def count_wins(self, first: str, second: str, settings: Iterable[tuple[int, int]]) -> int:
        """Return in how many settings the first policy beats the second."""
        return sum(self.beats(first, second, setting) for setting in settings)

    def sign(self, weights: Weights, target: float = 0.0) -> int:
        """Return 1 if a weighted sum of mistake rates is significantly above the target, -1 if below, 0 if open."""
        self.tested.add((*weights.items(), target))
        value, error, misread = self.estimate(weights)
        return self._side(value - target, error, misread)

    def outperforms(self, first: str, second: str, settings: Sequence[tuple[int, int]]) -> Answer:
        """Test whether the first policy outperforms the second over some settings.

        It does if its mistakes, averaged over the settings, are significantly fewer and the second beats it in none.
        It does not if they are significantly more or the second beats it somewhere.
        """
        won, lost = self.count_wins(first, second, settings), self.count_wins(second, first, settings)
        side = self.sign(less(first, second, settings))
        said = f"beats it in {won} of {len(settings)} settings, is beaten in {lost}"
        return Answer(False if lost else truth(-side), said)

    def _side(self, distance: float, error: float, misread: float = 0.0) -> int:
        """Return the sign of a distance, or 0 if it is within the margin of a two-sided test."""
        margin = float(norm.isf(self.level / 2)) * error + misread
        return int(distance > margin) - int(distance < -margin)


@dataclass(frozen=True, eq=False)
class Played(Evidence):
    """What a simulation shows under one reading of the paper.

    Parameters
    ----------
    mistakes : mapping of Point to array of bool
        Which runs were mistakes. All policies of a setting, and all settings with as many arms, share instances.
    noisy_share : mapping of Point to array
        Share of the pulls on the noisier half of the arms, in each run; where pulls were kept.
    mixed : mapping of Setting to array of bool
        Runs in which all stages of SH hold arms of both kinds; where pulls were kept.

    Examples
    --------
    >>> mistakes = {Point(4, 50, "good"): np.arange(200) < 10, Point(4, 50, "bad"): np.arange(200) < 60}
    >>> e = Played(mistakes)
    >>> e.beats("good", "bad", (4, 50)), e.outperforms("good", "bad", [(4, 50)]).said
    (True, 'beats it in 1 of 1 settings, is beaten in 0')
    >>> e.at_level(1e-20).ahead("good", "bad", (4, 50)) is None
    True
    """

    mistakes: Mapping[Point, np.ndarray] = field(repr=False)
    noisy_share: Mapping[Point, np.ndarray] = field(default_factory=dict, repr=False)
    mixed: Mapping[Setting, np.ndarray] = field(default_factory=dict, repr=False)

    @property
    def runs(self) -> int:
        """Number of runs of each policy in each setting."""
        return next(iter(self.mistakes.values())).size

    def points(self) -> Iterable[Point]:
        return self.mistakes

    def rate(self, n_arms: int, budget: int, policy: str) -> float:
        return float(self.mistakes[Point(n_arms, budget, policy)].mean())

    def estimate(self, weights: Weights) -> Estimate:
        """Estimate a weighted sum of mistake rates; its standard error is that of the runs' weighted sums."""
        value = sum(w * self.rate(*point) for point, w in weights.items())
        sums = np.sum([w * self.mistakes[point] for point, w in weights.items()], axis=0)
        return Estimate(value, float(sums.std()) / sqrt(self.runs))

    def compare(self, first: Point, second: Point) -> int:
        """Compare two policies on the same instances by the exact paired test."""
        test = paired(self.mistakes[first], self.mistakes[second])
        return int(np.sign(test.difference)) if test.p_value < self.level else 0

    def sign_of_mean(self, name: Hashable, sample: np.ndarray, target: float = 0.0) -> int:
        """Return 1 if the mean of one number per run is significantly above the target, -1 if below, 0 if open."""
        self.tested.add(name)
        return self._side(float(sample.mean()) - target, float(sample.std()) / sqrt(sample.size))


@dataclass(frozen=True, eq=False)
class Published(Evidence):
    """The published points. Which runs were mistakes is unknown, so their errors are those of independent points.

    Parameters
    ----------
    rates : mapping of Point to float
    runs : int
        Behind each point.
    reading_error : float
        How far a point may be misread off the plot. All such errors are added to the margin of a test.

    Examples
    --------
    >>> e = Published({Point(4, 50, "good"): 0.1, Point(4, 50, "bad"): 0.3}, runs=5000, reading_error=0.01)
    >>> e.beats("good", "bad", (4, 50))
    True
    """

    rates: Mapping[Point, float] = field(repr=False)
    runs: int
    reading_error: float

    def points(self) -> Iterable[Point]:
        return self.rates

    def rate(self, n_arms: int, budget: int, policy: str) -> float:
        return self.rates[Point(n_arms, budget, policy)]

    def estimate(self, weights: Weights) -> Estimate:
        value = sum(w * self.rates[point] for point, w in weights.items())
        variance = sum(w**2 * self.rates[point] * (1 - self.rates[point]) for point, w in weights.items()) / self.runs
        return Estimate(value, sqrt(variance), self.reading_error * sum(abs(w) for w in weights.values()))

    def compare(self, first: Point, second: Point) -> int:
        return self.sign({first: 1.0, second: -1.0})
