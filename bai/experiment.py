"""Arms of one's own: rewards that come from outside, one at a time.

The algorithms are those of `plain.py`. An experiment is the list of its rewards so far: it can be pickled between
any two calls, and is rebuilt by telling the rewards again. Since the k-th reward of an arm is as good as any other,
rewards may come ahead of their turn: they wait on a shelf until the policy pulls that arm. So batches change neither
the pulls nor the answer of a policy, only when its rewards are collected.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, cycle

import numpy as np

from . import checks
from .plain import Tally
from .policies import Policy


class Experiment:
    """A policy that is asked which arm to pull and told what came of it.

    Parameters
    ----------
    policy : Policy
        ``SHAdaVar()``, ``SH()``, ``SR()`` and others need no knowledge; ``SHVar(variances=...)``,
        ``GapE(complexity=..., bound=...)`` and the like need theirs as arguments.
    n_arms, budget : int
        K and n.
    seed : int
        Puts the arms in random order, since leftover pulls and ties go to the first ones.

    Attributes
    ----------
    done : bool
        Whether the policy has its answer.
    best : int
        The answer; an error while the experiment is not done.
    pulls, means, deviations : array, shape (K,)
        Number of rewards, their average and their sample standard deviation for each arm, over all stages (NaN
        where there are too few).
    spare : array, shape (K,)
        Number of rewards of each arm that were told in batches and that the policy has not used (yet).
    history : list of (int, float)
        Every arm and reward told, in order.

    Examples
    --------
    >>> import bai
    >>> experiment = bai.Experiment(bai.SH(), n_arms=4, budget=40, seed=0)
    >>> while not experiment.done:
    ...     arm = experiment.ask()
    ...     experiment.tell(arm, reward=float(arm == 2))
    >>> experiment.best
    2

    In batches:

    >>> experiment = bai.Experiment(bai.SH(), n_arms=4, budget=40, seed=0)
    >>> while not experiment.done:
    ...     arms = experiment.ask_batch(size=15)
    ...     experiment.tell_batch(arms, [float(arm == 2) for arm in arms])
    >>> experiment.best
    2
    """

    def __init__(self, policy: Policy, n_arms: int, budget: int, seed: int = 0):
        if not isinstance(policy, Policy):
            raise ValueError(f"policy is {policy!r}; it must be a policy such as bai.SHAdaVar()")
        self.policy = policy
        self.n_arms = checks.integer("n_arms", n_arms, least=2)
        self.budget = checks.integer("budget", budget, least=1)
        self.seed = checks.integer("seed", seed, least=0)
        least = policy.least_budget(self.n_arms)
        if self.budget < least:
            raise ValueError(
                f"budget is {budget}; {policy} needs at least {least} pulls for {n_arms} arms "
                "(one pull per arm and stage)"
            )
        self.history: list[tuple[int, float]] = []
        self._start()

    def _start(self) -> None:
        self._order = np.random.default_rng(self.seed).permutation(self.n_arms)
        known = self.policy.known(self.n_arms, self.budget)
        known = {name: (v[0][self._order] if v.ndim == 2 else v[0]).tolist() for name, v in known.items()}
        self._steps = self.policy.steps(self.n_arms, self.budget, **known)
        self._tally = Tally(self.n_arms)
        self._shelf: list[deque[float]] = [deque() for _ in range(self.n_arms)]
        self._best: int | None = None
        self._next = int(self._order[next(self._steps)])

    @property
    def done(self) -> bool:
        return self._best is not None

    @property
    def best(self) -> int:
        if self._best is None:
            raise ValueError(
                f"the experiment has {sum(self._tally.count)} of at most {self.budget} rewards and no answer yet; "
                "go on with ask and tell until done is True"
            )
        return self._best

    @property
    def pulls(self) -> np.ndarray:
        return np.array(self._tally.count)

    @property
    def means(self) -> np.ndarray:
        count = self.pulls
        return np.where(count > 0, self._tally.total / np.maximum(count, 1), np.nan)

    @property
    def deviations(self) -> np.ndarray:
        count = self.pulls
        return np.where(count > 1, np.sqrt(self._tally.squares / np.maximum(count - 1, 1)), np.nan)

    @property
    def spare(self) -> np.ndarray:
        return np.array([len(rewards) for rewards in self._shelf])

    def ask(self) -> int:
        """Return the arm to pull next; asking again without telling returns the same arm."""
        if self.done:
            raise ValueError(f"the experiment is done, the best arm is {self.best}; there is nothing left to ask")
        return self._next

    def tell(self, arm: int, reward: float) -> None:
        """Report the reward of the arm last asked for. A bad report raises ValueError and changes nothing."""
        if self.done:
            raise ValueError(f"arm is {arm!r}, but the experiment is done; start a new one to go on")
        if arm != self._next:
            raise ValueError(f"arm is {arm!r}, but arm {self._next} was asked for; pull that one and tell its reward")
        self.tell_batch([arm], [reward])

    def ask_batch(self, size: int, outstanding: Sequence[int] = ()) -> list[int]:
        """Return the next arms to pull, to be told together with `tell_batch`. Asking changes nothing.

        A policy that decides after every reward cannot know its next `size` pulls, so they are forecast: the past
        rewards of each arm stand in for its next ones. What the forecast misses is asked for in later batches, and
        what it has too much of waits as `spare`. So a policy that adapts within a stage may be asked for a few
        rewards beyond its budget in total; the others (`Unif`, `SH`, `SHVar`, `SR`) are not.

        Parameters
        ----------
        size : int
            How many arms at most. There are fewer at the end of a stage, because the next one depends on its rewards.
        outstanding : sequence of int
            Arms of earlier batches whose rewards are still to come. If the policy cannot go on without them, the
            batch is empty: wait.
        """
        size = checks.integer("size", size, least=1)
        outstanding = self._check_arms("outstanding", outstanding)
        self.ask()  # an error if nothing is left to ask
        ahead = Experiment.__new__(Experiment)
        ahead.__setstate__(self.__getstate__())
        end = self._stage_end()
        likely = [self._likely_rewards(arm) for arm in range(self.n_arms)]
        if outstanding:
            ahead.tell_batch(outstanding, [next(likely[arm]) for arm in outstanding])
        arms: list[int] = []
        while len(arms) < size and not ahead.done and sum(ahead._tally.count) < end:
            arms.append(ahead.ask())
            ahead.tell(arms[-1], next(likely[arms[-1]]))
        return arms

    def tell_batch(self, arms: Sequence[int], rewards: Sequence[float]) -> None:
        """Report rewards of any arms; those of one arm in the order of its pulls, not of the rewards' arrival.

        A bad report raises ValueError and changes nothing.
        """
        arms = self._check_arms("arms", arms)
        if len(arms) != len(rewards):
            raise ValueError(f"rewards has {len(rewards)} entries for {len(arms)} arms; give one reward per arm")
        if self.done:
            raise ValueError(f"arms is {arms}, but the experiment is done; start a new one to go on")
        rewards = [checks.number("reward", reward) for reward in rewards]
        for arm, reward in zip(arms, rewards, strict=True):
            self.history.append((arm, reward))
            self._shelf[arm].append(reward)
        while not self.done and self._shelf[self._next]:
            self._use(self._shelf[self._next].popleft())

    def _use(self, reward: float) -> None:
        self._tally.add(self._next, reward)
        try:
            self._next = int(self._order[self._steps.send(reward)])
        except StopIteration as answer:
            self._best = int(self._order[answer.value])

    def _check_arms(self, name: str, arms: Sequence[int]) -> list[int]:
        arms = [checks.integer("arm", arm, least=0) for arm in arms]
        if arms and max(arms) >= self.n_arms:
            raise ValueError(f"{name} contains {max(arms)}; arms are numbered from 0 to {self.n_arms - 1}")
        return arms

    def _stage_end(self) -> float:
        """Return after how many rewards the present stage ends; policies without stages have none."""
        if not hasattr(self.policy, "schedule"):
            return np.inf
        ends = accumulate(pulls for pulls, _ in self.policy.schedule(self.n_arms, self.budget))
        return next(end for end in ends if end > sum(self._tally.count))

    def _likely_rewards(self, arm: int) -> Iterator[float]:
        """Return the rewards of an arm so far, again and again; before there are two, rewards of equal spread."""
        past = [reward for told, reward in self.history if told == arm]
        return cycle(past if len(past) > 1 else [-1.0, 1.0])

    def run(self, pull: Callable[[int], float]) -> Experiment:
        """Pull until done. If `pull` raises, the rewards so far are kept, and `run` can be called again."""
        if not callable(pull):
            raise ValueError(f"pull is {pull!r}; it must be a function that takes an arm and returns its reward")
        while not self.done:
            arm = self.ask()
            self.tell(arm, pull(arm))
        return self

    def __getstate__(self) -> dict:
        return {name: getattr(self, name) for name in ("policy", "n_arms", "budget", "seed", "history")}

    def __setstate__(self, state: dict) -> None:
        history = state.pop("history")
        self.__dict__.update(state, history=[])
        self._start()
        if history:
            self.tell_batch(*zip(*history, strict=True))

    def __repr__(self) -> str:
        answer = f"best={self._best}" if self.done else f"next={self._next}"
        used = sum(self._tally.count)
        return f"Experiment({self.policy}, n_arms={self.n_arms}, {used}/{self.budget} rewards, {answer})"


def identify(policy: Policy, pull: Callable[[int], float], n_arms: int, budget: int, seed: int = 0) -> Experiment:
    """Find the best arm of a function that returns random rewards.

    Parameters
    ----------
    policy : Policy
        See `Experiment`.
    pull : callable
        ``pull(arm)`` returns a reward of arm 0, ..., K - 1.
    n_arms, budget, seed : int
        See `Experiment`.

    Returns
    -------
    Experiment
        Finished: `best` is the answer, `pulls`, `means` and `deviations` are what it rests on. If `pull` raises,
        the exception carries the unfinished experiment as `error.experiment`; ``error.experiment.run(pull)`` goes on.

    Examples
    --------
    >>> import bai, random
    >>> random.seed(0)
    >>> answer = bai.identify(bai.SHAdaVar(), lambda arm: random.gauss(arm / 4, 1), n_arms=4, budget=2000)
    >>> answer.best
    3
    """
    experiment = Experiment(policy, n_arms, budget, seed)
    try:
        return experiment.run(pull)
    except BaseException as error:
        error.experiment = experiment
        if experiment.history:
            told = len(experiment.history)
            error.add_note(f"{told} rewards are kept in error.experiment; error.experiment.run(pull) goes on")
        raise
