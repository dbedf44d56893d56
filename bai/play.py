"""Play a policy on an ensemble: every run once, in blocks, with the same bits for any number of threads.

Everything is played in blocks: by `simulate` here, `sweep` in `study.py`, `rao_blackwell` in `conditional.py`. Each
block of runs has its own stream of random numbers, which depends only on the seed and the number of the block.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from . import checks
from .policies.base import Known, Policy
from .problems import Bandits
from .sampling import Rewards, scatter, shuffle
from .stats import wilson

# The number of cores that this process may use.
CORES: int = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
BLOCK = 500  # runs per block: enough to outweigh the overhead of a block, few enough to share the work out
Result = TypeVar("Result")


class Runs(NamedTuple):
    """What became of each run of a block."""

    recommended: np.ndarray  # the arm that the policy named (R,)
    pulls: np.ndarray  # how often it pulled each arm (R, K); empty unless asked for
    regret: np.ndarray  # by how much the mean of the named arm falls short of the best (R,)


def play_block(
    policy: Policy,
    bandits: Bandits,
    budget: int,
    seed: int,
    block: int,
    plain: bool = False,
    with_pulls: bool = True,
) -> Runs:
    """Play the runs of one block."""
    rng = block_generator(seed, block)
    runs, n_arms = bandits.means.shape
    order = np.empty((runs, n_arms), np.int64)
    shuffle(rng, order)
    known = policy.known(n_arms, budget, bandits)
    if policy.keyed:
        known = replace(known, key=run_keys(seed, block, runs))
    if any(fact is not None for fact in vars(known).values()):
        known = known.in_order(order)
    rewards = bandits.rewards(order, rng)
    pulls, recommended = np.zeros((runs, n_arms), np.int64), np.empty(runs, np.int64)
    play = Policy.play if plain or not isinstance(rewards, Rewards) else type(policy).play
    play(policy, rewards, budget, known, pulls, recommended)
    rows = np.arange(runs)
    named = order[rows, recommended]
    regret = bandits.means[rows, bandits.means.argmax(axis=1)] - bandits.means[rows, named]
    return Runs(named, scatter(pulls, order) if with_pulls else np.empty((0, 0), np.int64), regret)


def block_generator(seed: int, block: int) -> np.random.Generator:
    """Return the stream of random numbers of a block."""
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=(block,))))


def run_keys(seed: int, block: int, runs: int) -> np.ndarray:
    """Return a random whole number below 2^53 for each run of a block, from a stream that nothing else uses."""
    return np.random.SeedSequence(seed, spawn_key=(block, 1)).generate_state(runs, np.uint64) >> np.uint64(11)


def map_blocks(play: Callable[..., Result], bandits: Bandits, executor: Executor | None, threads: int) -> list[Result]:
    """Return ``play(bandits=..., block=...)`` for every block of an ensemble, in order.

    Without an executor, `threads` threads of our own play them.
    """
    starts = range(0, bandits.runs, BLOCK)
    jobs = [{"bandits": bandits.select(slice(s, s + BLOCK)), "block": s // BLOCK} for s in starts]
    if executor is not None:
        executor = check_executor(executor)
        return [future.result() for future in [executor.submit(play, **job) for job in jobs]]
    if threads == 1 or len(jobs) == 1:
        return [play(**job) for job in jobs]
    with ThreadPoolExecutor(threads) as own:
        return list(own.map(lambda job: play(**job), jobs))


def check_game(policy: Any, bandits: Any, budget: Any, n_arms: int | None = None) -> int:
    """Return the budget, or raise an error unless the policy can play the ensemble with it.

    Where rewards come from outside there is no ensemble, only a number of arms.
    """
    if isinstance(policy, type) and issubclass(policy, Policy):
        raise TypeError(f"policy is the class {policy.__name__}; write {policy.__name__}() to make a policy of it")
    if not isinstance(policy, Policy):
        checks.wrong_type("policy", policy, "a policy such as bai.SH(), or an instance of a subclass of bai.Policy")
    if n_arms is None:
        if not isinstance(bandits, Bandits):
            needed = "an ensemble such as bai.GaussianBandits(...), or an instance of a subclass of bai.Bandits"
            checks.wrong_type("bandits", bandits, needed)
        means, variances = (np.shape(getattr(bandits, name, ())) for name in ("means", "variances"))
        if len(means) != 2 or means != variances:
            raise ValueError(
                f"bandits of type {type(bandits).__name__} have means of shape {means} and variances of shape "
                f"{variances}; both must have shape (R, K): call super().__init__(means, variances)"
            )
        n_arms = means[1]
    budget, least = checks.integer("budget", budget, least=1), policy.least_budget(n_arms)
    if budget < least:
        rule = policy.budget_rule
        raise ValueError(f"budget is {budget}; {policy} needs at least {least} pulls for {n_arms} arms ({rule})")
    if bandits is not None and budget > bandits.longest:
        raise ValueError(f"budget is {budget}, but the stacks hold {bandits.longest} rewards per arm; record more")
    known = policy.known(n_arms, budget, None if bandits is None else bandits.select(slice(0, 1)))
    if not isinstance(known, Known):
        checks.wrong_type(f"what {policy} returns from known", known, "a bai.Known")
    if any(fact is not None for fact in vars(known).values()):
        known.in_order(np.arange(n_arms)[None])
    return budget


def check_executor(executor: Any) -> Executor:
    """Return the executor, or raise TypeError if it is not one."""
    if not isinstance(executor, Executor):
        needed = "a concurrent.futures.Executor such as ThreadPoolExecutor(2), or None for threads on all cores"
        checks.wrong_type("executor", executor, needed)
    return executor


@dataclass(frozen=True, repr=False)
class Outcome:
    """How a policy did on an ensemble.

    Attributes
    ----------
    recommended : array of int, shape (R,)
        The arm that the policy named in each run.
    pulls : array of int, shape (R, K)
        How often it pulled each arm.
    mistakes : array of bool, shape (R,)
        Whether the named arm has a lower mean than the best.
    regret : array of float, shape (R,)
        Simple regret: how much lower.
    """

    policy: Policy
    budget: int
    recommended: np.ndarray
    pulls: np.ndarray
    regret: np.ndarray

    @property
    def mistakes(self) -> np.ndarray:
        return self.regret > 0

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

    The random numbers depend only on the seed and the block of runs. Two policies with the same seed
    share them (common random numbers), which makes paired comparisons a little sharper.

    Parameters
    ----------
    policy : Policy
        For example ``SHAdaVar()``, or one of your own.
    bandits : Bandits
        R runs of K arms.
    budget : int
        Number of pulls n.
    seed : int
        The same seed gives the same bits, whatever plays the blocks.
    executor : concurrent.futures.Executor, optional
        Plays the blocks; by default threads on all cores do.
    plain : bool
        Play the version of the policy that reads like its pseudocode, one pull at a time, slowly.

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
    budget = check_game(policy, bandits, budget)
    seed = checks.integer("seed", seed, 0, below=None)
    play = partial(play_block, policy, budget=budget, seed=seed, plain=checks.flag("plain", plain))
    blocks = map_blocks(play, bandits, executor, threads=1 if plain else CORES)
    return Outcome(policy, budget, *(np.concatenate(column) for column in zip(*blocks, strict=True)))
