"""Play a policy on an ensemble: every run once, in blocks, with the same bits for any number of threads."""

from __future__ import annotations

import os
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from . import checks
from .bandits import Bandits
from .kernels import draw, gather, scatter, shuffle
from .policies import Known, Policy
from .stats import wilson

BLOCK = 500  # runs per block: long enough to drown the overhead of a block, short enough to share out


@dataclass(frozen=True, repr=False)
class Outcome:
    """What became of a policy on an ensemble.

    Attributes
    ----------
    recommended : array of int, shape (R,)
        The arm that the policy named in each run.
    pulls : array of int, shape (R, K)
        How often it pulled each arm.
    mistakes : array of bool, shape (R,)
        Whether the named arm has a lower mean than the best.
    regret : array of float, shape (R,)
        Simple regret: by how much.
    """

    policy: Policy
    budget: int
    recommended: np.ndarray
    pulls: np.ndarray
    regret: np.ndarray
    mistakes: np.ndarray = field(init=False)

    def __post_init__(self):
        object.__setattr__(self, "mistakes", self.regret > 0)

    @property
    def mistake_rate(self) -> float:
        """Share of runs with a mistake."""
        return float(self.mistakes.mean())

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval for the mistake probability."""
        low, high = wilson(self.mistakes.sum(), self.mistakes.size)
        return float(low), float(high)

    def __repr__(self) -> str:
        low, high = self.interval
        return (
            f"Outcome({self.policy}, budget={self.budget}, runs={self.mistakes.size}, "
            f"mistake_rate={self.mistake_rate:.4f} [{low:.4f}, {high:.4f}])"
        )


def simulate(
    policy: Policy,
    bandits: Bandits,
    budget: int,
    seed: int,
    executor: Executor | None = None,
    plain: bool = False,
) -> Outcome:
    """Play every run of an ensemble once.

    The stream of random numbers depends on the seed and the block of runs only. Two policies with the same seed
    share it (common random numbers), which makes paired comparisons a little sharper.

    Parameters
    ----------
    policy : Policy
        For example ``SHAdaVar()``.
    bandits : Bandits
        R runs of K arms.
    budget : int
        Number of pulls n.
    seed : int
        The same seed gives the same bits, whatever plays the blocks.
    executor : concurrent.futures.Executor, optional
        Who plays the blocks; by default threads on all cores.
    plain : bool
        Play the version of the algorithm that reads like its pseudocode, one pull at a time, slowly.

    Returns
    -------
    Outcome

    Examples
    --------
    >>> import bai
    >>> bandits = bai.GaussianBandits([1.0, 0.0, 0.0], [1.0, 1.0, 1.0], runs=1000)
    >>> out = bai.simulate(bai.SH(), bandits, budget=60, seed=0)
    >>> out.pulls.sum(axis=1).max()
    np.int64(60)
    >>> out.mistake_rate < 0.05
    True
    """
    check_game(policy, bandits, budget)
    seed = checks.integer("seed", seed, least=0)
    blocks = block_count(bandits)
    jobs = ((policy, block_of(bandits, b), budget, seed, b, plain) for b in range(blocks))
    if executor is None and blocks > 1 and not plain:
        with ThreadPoolExecutor(available_cores()) as threads:
            parts = list(threads.map(lambda job: play_block(*job), jobs))
    elif executor is None:
        parts = [play_block(*job) for job in jobs]
    else:
        parts = [future.result() for future in [executor.submit(play_block, *job) for job in jobs]]
    pulls, recommended = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Outcome(policy, int(budget), recommended, pulls, simple_regret(bandits, recommended))


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_game(policy: Policy, bandits: Bandits, budget: int) -> None:
    """Raise ValueError unless the policy can play the ensemble with this budget."""
    if not isinstance(policy, Policy):
        hint = "; did you forget the parentheses?" if isinstance(policy, type) else ""
        raise ValueError(f"policy is {policy!r}; it must be a policy such as bai.SH(){hint}")
    if not isinstance(bandits, Bandits):
        raise ValueError(f"bandits is {bandits!r}; it must be an ensemble such as bai.GaussianBandits(...)")
    checks.integer("budget", budget, least=1)
    least = policy.least_budget(bandits.n_arms)
    if budget < least:
        raise ValueError(
            f"budget is {budget}; {policy} needs at least {least} pulls for {bandits.n_arms} arms "
            "(one pull per arm and stage)"
        )
    if budget > bandits.longest:
        raise ValueError(f"budget is {budget}, but the stacks hold {bandits.longest} rewards per arm; record more")
    policy.known(bandits.n_arms, budget, bandits.means[:1], bandits.variances[:1])


def block_count(bandits: Bandits) -> int:
    """Return the number of blocks of an ensemble."""
    return -(-bandits.runs // BLOCK)


def block_of(bandits: Bandits, block: int) -> Bandits:
    """Return the runs of one block."""
    return bandits.part(slice(block * BLOCK, (block + 1) * BLOCK))


def simple_regret(bandits: Bandits, recommended: np.ndarray) -> np.ndarray:
    """Return by how much the mean of the named arm falls short of the best mean, in each run."""
    named = np.take_along_axis(bandits.means, recommended[:, None], axis=1)[:, 0]
    return bandits.means.max(axis=1) - named


def play_block(
    policy: Policy, bandits: Bandits, budget: int, seed: int, block: int, plain: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Play the runs of one block; return pulls (R, K) and recommended arms (R,)."""
    rng = np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=(block,))))
    runs, n_arms = bandits.runs, bandits.n_arms
    # Leftover pulls and ties go to the first arms, so the arms are put in random order.
    order = np.empty((runs, n_arms), np.int64)
    shuffle(rng, order)
    known = policy.known(n_arms, budget, bandits.means, bandits.variances)
    known = {name: gather(value, order) if value.ndim == 2 else value for name, value in known.items()}
    pulls = np.zeros((runs, n_arms), np.int64)
    recommended = np.empty(runs, np.int64)
    rewards = bandits.rewards(order, rng)
    play = _play_plainly if plain else type(policy).play
    play(policy, rewards, budget, known, pulls, recommended)
    return scatter(pulls, order), order[np.arange(runs), recommended]


def _play_plainly(policy: Policy, rewards, budget: int, known: Known, pulls, recommended) -> None:
    for r in range(len(pulls)):
        steps = policy.steps(pulls.shape[1], budget, **{name: value[r].tolist() for name, value in known.items()})
        try:
            arm = next(steps)
            while True:
                reward = draw(rewards, r, arm, pulls[r, arm])
                pulls[r, arm] += 1
                arm = steps.send(reward)
        except StopIteration as answer:
            recommended[r] = answer.value
