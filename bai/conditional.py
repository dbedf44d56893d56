"""Small mistake probabilities of elimination on Gaussian arms: compute what can be computed, simulate the rest.

Take the stage of an elimination that starts with a set A of arms, the best one among them, and makes N_i pulls of
arm i. Given A and N the sample means are independent normals with variances sigma_i^2 / N_i: for Unif, SH and SHVar
because N does not depend on the rewards, for SHAdaVar because sample variances tell nothing about sample means
(Lemma D of the book, `prop-independence`). So the probability e that the best arm is eliminated in this stage is an
integral over its own sample mean, and no run has to make the mistake for us to see how likely it is.

A run here goes through the stages as usual, but whenever an arm must go, it draws the survivors *given that the best
arm survives*. With e_s from stage s, its chance of a mistake is 1 - (1 - e_1) ... (1 - e_m), and the average of these
chances over runs is unbiased for the mistake probability.
"""

from __future__ import annotations

import copy
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from math import erfc, exp, pi, sqrt

import numpy as np

from . import checks
from .compiling import compiled
from .play import CORES, block_generator, check_game, map_blocks
from .policies import SH, Known, SHAdaVar, SHVar, Unif
from .policies.halving import Elimination
from .problems import Bandits, GaussianBandits
from .sampling import gather, shuffle

# The best arm's sample mean is integrated over panels at most one standard deviation wide. Further left lies a
# probability of 1e-316; what lies further right is less than 1e-14 of the whole, as a higher mean is beaten less often.
EDGES = np.arange(-38.0, 9.0)
RULE = np.polynomial.legendre.leggauss(15)  # nodes and weights
CHECK_RULE = np.polynomial.legendre.leggauss(7)
PRECISION = 1e-7  # relative, of the rule with 7 points; the one with 15 is far closer


@dataclass(frozen=True, repr=False)
class Conditional:
    """Mistake probability of a policy, averaged over the chances of simulated runs.

    Attributes
    ----------
    chances : array of float, shape (R,)
        The chance of a mistake in each run, given what was simulated of it.
    """

    policy: Elimination
    budget: int
    chances: np.ndarray

    @property
    def mistake_rate(self) -> float:
        """The unbiased estimate: the mean of the chances."""
        return float(self.chances.mean())

    @property
    def standard_error(self) -> float:
        """Its standard error; 0 where nothing was left to chance."""
        return float(self.chances.std(ddof=1) / np.sqrt(self.chances.size))

    @property
    def interval(self) -> tuple[float, float]:
        """An approximate 95 % interval, symmetric on the scale of logarithms."""
        rate = self.mistake_rate
        factor = exp(1.96 * self.standard_error / rate) if rate > 0 else 1.0
        return rate / factor, rate * factor

    @property
    def largest_share(self) -> float:
        """Share of the largest chance in the sum. Above a few per cent the interval is not to be trusted."""
        return float(self.chances.max() / self.chances.sum()) if self.mistake_rate > 0 else 0.0

    def __repr__(self) -> str:
        low, high = self.interval
        return (
            f"Conditional({self.policy}, budget={self.budget}, runs={self.chances.size}, "
            f"mistake_rate={self.mistake_rate:.3g} [{low:.3g}, {high:.3g}], largest_share={self.largest_share:.2g})"
        )


def rao_blackwell(
    policy: Elimination, bandits: GaussianBandits, budget: int, seed: int, executor: Executor | None = None
) -> Conditional:
    """Estimate a mistake probability, however small, from chances instead of mistakes.

    For Gaussian arms and policies whose pulls ignore the sample means: Unif, SH, SHVar and SHAdaVar, without reuse of
    samples. In every run the probability that a stage eliminates the best arm is computed, given the arms that are left
    and their pulls; which other arms are left is simulated. The estimate is unbiased, and reaches rates that plain
    runs never see. Where it rests on few runs, `Conditional.largest_share` says so; this happens to SHAdaVar when it
    errs mostly because it pulls the best arm too seldom.

    Parameters
    ----------
    policy : Unif, SH, SHVar or SHAdaVar
    bandits : GaussianBandits
        R runs of K arms: positive variances, one best arm.
    budget, seed : int
    executor : concurrent.futures.Executor, optional
        Plays the blocks; by default threads on all cores do.

    Returns
    -------
    Conditional

    Examples
    --------
    >>> import bai
    >>> bandits = bai.GaussianBandits([1.0, 0.5, 0.0, 0.0], [1.0, 1.0, 0.1, 0.1], runs=1000)
    >>> out = bai.rao_blackwell(bai.SH(), bandits, budget=800, seed=0)
    >>> 1e-7 < out.mistake_rate < 1e-6
    True
    """
    budget = _check(policy, bandits, budget)
    play = partial(block_chances, policy, budget, checks.integer("seed", seed, 0, below=None))
    chances = map_blocks(play, bandits, executor, CORES)
    return Conditional(policy, budget, np.concatenate(chances))


def _check(policy: Elimination, bandits: GaussianBandits, budget: int) -> int:
    budget = check_game(policy, bandits, budget)
    if type(policy) not in (Unif, SH, SHVar, SHAdaVar) or policy.reuse:
        raise ValueError(
            f"policy is {policy}; chances can be computed for Unif, SH, SHVar and SHAdaVar without reuse. "
            "For others count mistakes with simulate or sweep"
        )
    if not isinstance(bandits, GaussianBandits) or type(bandits).draw is not GaussianBandits.draw:
        raise ValueError(f"bandits is {bandits!r}; chances can be computed for GaussianBandits only")
    if bandits.runs < 2:
        raise ValueError("bandits has 1 run; give at least 2, for example with runs=1000")
    if (bandits.variances <= 0).any():
        raise ValueError("variances has an entry 0; every arm must have a positive variance")
    if ((bandits.means == bandits.means.max(axis=1, keepdims=True)).sum(axis=1) > 1).any():
        raise ValueError("means has a run with several best arms; every run must have one best arm")
    return budget


def block_chances(policy: Elimination, budget: int, seed: int, bandits: Bandits, block: int) -> np.ndarray:
    """Return the chance of a mistake in each run of a block."""
    rng = block_generator(seed, block)
    runs, n_arms = bandits.runs, bandits.n_arms
    order = np.empty((runs, n_arms), np.int64)
    shuffle(rng, order)
    means, variances = gather(bandits.means, order), gather(bandits.variances, order)
    known = policy.known(n_arms, budget, bandits).in_order(order)
    wrong, right = np.zeros(runs), np.ones(runs)
    for pulls, survivors in policy.schedule(n_arms, budget):
        counts = _stage_counts(policy, pulls, GaussianBandits(means, variances), known, rng)
        spread = np.sqrt(variances / counts)
        best = means.argmax(axis=1)
        chance = elimination_chances(means, spread, best, survivors)
        wrong += right * chance
        right *= 1 - chance
        if survivors == 1:
            break
        kept = _survivors(rng, means, spread, best, survivors)
        means, variances = np.take_along_axis(means, kept, 1), np.take_along_axis(variances, kept, 1)
        if known.variances is not None:
            known = replace(known, variances=np.take_along_axis(known.variances, kept, 1))
    return wrong


def _stage_counts(
    policy: Elimination, pulls: int, bandits: GaussianBandits, known: Known, rng: np.random.Generator
) -> np.ndarray:
    """Return how often the policy pulls each arm in a stage of so many pulls."""
    counts, recommended = np.zeros(bandits.means.shape, np.int64), np.empty(bandits.runs, np.int64)
    order = np.tile(np.arange(bandits.n_arms), (bandits.runs, 1))
    rewards = bandits.rewards(order, rng, most_ahead=1)  # the stream is used for other things afterwards
    one_stage = copy.copy(policy)
    object.__setattr__(one_stage, "schedule", lambda n_arms, budget: [(budget, 1)])
    one_stage.play(rewards, pulls, known, counts, recommended)
    return counts


def _survivors(
    rng: np.random.Generator, means: np.ndarray, spread: np.ndarray, best: np.ndarray, survivors: int
) -> np.ndarray:
    """Return the positions (R, survivors) that a stage keeps, given that the best arm is among them.

    Draw until it is. It survives with probability at least 1/4: half the time its sample mean is above its mean, and
    then each rival is below with probability at least 1/2, so at most half of them are above at least half the time.
    """
    runs, n_arms = means.shape
    kept = np.empty((runs, survivors), np.int64)
    left = np.arange(runs)
    while left.size:
        drawn = means[left] + spread[left] * rng.standard_normal((left.size, n_arms))
        # The highest, in the order of the arms. If noise is too small to be seen, ties go to the lowest position.
        highest = np.sort(np.argsort(-drawn, axis=1, kind="stable")[:, :survivors], axis=1)
        alive = (highest == best[left][:, None]).any(axis=1)
        kept[left[alive]] = highest[alive]
        left = left[~alive]
    return kept


@compiled
def above(x, means, spread, best, survivors, law):
    """Return the probability that at least `survivors` rivals of the best arm have a sample mean above x.

    It builds up the distribution of the number of rivals above x, one rival at a time. Only positive terms are added,
    so that the smallest probabilities keep their digits.
    """
    law[:] = 0.0
    law[0] = 1.0
    enough, rivals = 0.0, 0
    for i in range(means.size):
        if i != best:
            z = (x - means[i]) / spread[i]
            tail = 0.5 * erfc(abs(z) / sqrt(2.0))
            higher, lower = (tail, 1.0 - tail) if z > 0 else (1.0 - tail, tail)
            enough += higher * law[survivors - 1]
            rivals += 1
            for c in range(min(rivals, survivors - 1), 0, -1):
                law[c] = lower * law[c] + higher * law[c - 1]
            law[0] *= lower
    return enough


@compiled
def panel(low, high, rule, means, spread, best, survivors, law):
    """Return the integral of (density of the best arm's sample mean) x (chance of being beaten) by Gauss' rule."""
    nodes, weights = rule
    total, half = 0.0, 0.5 * (high - low)
    for j in range(nodes.size):
        z = low + half * (1.0 + nodes[j])
        total += (
            weights[j] * exp(-0.5 * z * z) * above(means[best] + z * spread[best], means, spread, best, survivors, law)
        )
    return total * half / sqrt(2.0 * pi)


@compiled
def integrate(ends, means, spread, best, survivors):
    """Return, for each run, the chance that the best arm is beaten, as an integral over panels with the given ends."""
    chances, law = np.zeros(means.shape[0]), np.empty(survivors)
    below, beaten = np.empty(ends.shape[1]), np.empty(ends.shape[1])
    lows, highs = np.empty(200), np.empty(200)
    for r in range(means.shape[0]):
        b, least = best[r], 0.0
        for j in range(ends.shape[1]):
            x = means[r, b] + ends[r, j] * spread[r, b]
            below[j] = 0.5 * erfc(-ends[r, j] / sqrt(2.0))
            beaten[j] = above(x, means[r], spread[r], b, survivors, law)
            if j > 0:  # the chance of being beaten falls from left to right, so each panel has a lower bound
                least += (below[j] - below[j - 1]) * beaten[j]
        for j in range(1, ends.shape[1]):
            if (below[j] - below[j - 1]) * beaten[j - 1] <= 1e-12 * least:
                continue
            depth, lows[0], highs[0] = 1, ends[r, j - 1], ends[r, j]
            while depth > 0:
                depth -= 1
                low, high = lows[depth], highs[depth]
                value = panel(low, high, RULE, means[r], spread[r], b, survivors, law)
                check = panel(low, high, CHECK_RULE, means[r], spread[r], b, survivors, law)
                if abs(value - check) <= PRECISION * max(least, value) or high - low < 1e-9:
                    chances[r] += value
                else:
                    middle = 0.5 * (low + high)
                    lows[depth], highs[depth], lows[depth + 1], highs[depth + 1] = low, middle, middle, high
                    depth += 2
    return chances


def elimination_chances(means: np.ndarray, spread: np.ndarray, best: np.ndarray, survivors: int) -> np.ndarray:
    """Return, for each run, the probability that at least `survivors` sample means exceed that of the best arm.

    A rival with a far smaller spread makes the chance of being beaten jump. Gauss' rule can miss a jump beside the end
    of a panel, so the jump gets panels of its own. Runs that are alike share one integral.
    """
    rows, alike = np.unique(np.column_stack([means, spread, best]), axis=0, return_inverse=True)
    (means, spread), best = np.split(rows[:, :-1], 2, axis=1), rows[:, -1].astype(np.int64)
    ends = np.tile(EDGES, (len(means), 1))
    at_best = np.arange(len(means)), best
    width = spread / spread[at_best][:, None]
    if (width < 0.25).any():
        center = (means - means[at_best][:, None]) / spread[at_best][:, None]
        jumps = [np.where(width < 0.25, center + side * width, EDGES[-1]) for side in (-8, 8)]
        ends = np.sort(np.concatenate([ends, *jumps], axis=1).clip(EDGES[0], EDGES[-1]), axis=1)
    chances = integrate(ends, np.ascontiguousarray(means), np.ascontiguousarray(spread), best, survivors)
    return chances[alike.ravel()]  # NumPy 2.0.0 has it as a column
