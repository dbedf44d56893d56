"""Arms of one's own: rewards that come from outside, one at a time or in batches.

An experiment is the list of its rewards so far: it can be pickled between any two calls, and is rebuilt by telling the
rewards again. Since the k-th reward of an arm is as good as any other, rewards may come ahead of their turn: they wait
until the policy pulls that arm. So batches change neither the pulls nor the answer of a policy, only when its rewards
are collected.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import cycle
from typing import Any

import numpy as np

from . import checks
from .play import check_game
from .policies.allocation import TopTwo
from .policies.base import Policy, Progress, Steps, Tally, check_arm, check_steps


class _Player:
    """A policy in play: the arm that it pulls next, or its answer. Its arms are in random order."""

    def __init__(self, policy: Policy, n_arms: int, budget: int, seed: int):
        self.policy, self.n_arms, self.budget, self.seed = policy, n_arms, budget, seed
        self._order = np.random.default_rng(seed).permutation(n_arms)
        self._known = policy.known(n_arms, budget).in_order(self._order[None]).of_run(0)
        if policy.randomised:
            self._known["rng"] = np.random.default_rng([seed, 1])
        self._used: list[float] = []  # rewards, in the order of the policy's pulls
        self._progress = Progress.begin(n_arms)
        self.arm, self.answer = -1, None
        resumed = policy.resume(n_arms, budget, self._progress, **self._known)
        self._can_resume = resumed is not None
        self._start(resumed or policy.steps(n_arms, budget, **self._known))

    def _start(self, steps: Steps) -> None:
        self._steps = check_steps(self.policy, steps)
        self._follow(lambda: next(steps))

    def _follow(self, step: Callable[[], int]) -> None:
        try:
            self.arm = int(self._order[check_arm(self.policy, "pulls", step(), self.n_arms)])
        except StopIteration as end:
            self.answer = int(self._order[check_arm(self.policy, "names", end.value, self.n_arms)])
            return
        if len(self._used) == self.budget:
            raise ValueError(f"{self.policy} asks for more than its budget of {self.budget}; return an answer in time")

    def use(self, reward: float) -> None:
        """Tell the policy the reward of the arm that it pulls."""
        self._used.append(reward)
        self._follow(lambda: self._steps.send(reward))

    def fork(self) -> _Player:
        """Return a copy that can be played on without a trace."""
        if not self._can_resume:
            return self.again(len(self._used))
        ahead = copy.copy(self)
        ahead._used = self._used.copy()
        ahead._progress, ahead._known = copy.deepcopy((self._progress, self._known))
        steps = self.policy.resume(self.n_arms, self.budget, ahead._progress, **ahead._known)
        assert steps is not None
        ahead._start(steps)
        return ahead

    def again(self, pulls: int) -> _Player:
        """Return a player that starts afresh and was told the first so many rewards of this one."""
        fresh = _Player(self.policy, self.n_arms, self.budget, self.seed)
        for reward in self._used[:pulls]:
            fresh.use(reward)
        return fresh


class Experiment:
    """A policy that you ask which arm to pull, and tell the reward.

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
        The answer; asking for it before the experiment is done is an error.
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
        self.policy: Policy = policy
        self.n_arms: int = checks.integer("n_arms", n_arms, least=2)
        self.budget: int = check_game(policy, None, budget, self.n_arms)
        self.seed: int = checks.integer("seed", seed, 0, below=None)
        self.history: list[tuple[int, float]] = []
        self._start()

    def _start(self) -> None:
        self._player = _Player(self.policy, self.n_arms, self.budget, self.seed)
        self._tally = Tally(self.n_arms)
        self._told: list[list[float]] = [[] for _ in range(self.n_arms)]  # all rewards of each arm
        self._waiting: list[deque[float]] = [deque() for _ in range(self.n_arms)]  # those that are not used yet

    @property
    def done(self) -> bool:
        return self._player.answer is not None

    @property
    def best(self) -> int:
        if self._player.answer is None:
            raise ValueError(
                f"the experiment has {sum(self._tally.count)} of at most {self.budget} rewards and no answer yet; "
                "go on with ask and tell until done is True"
            )
        return self._player.answer

    @property
    def pulls(self) -> np.ndarray:
        return np.array(self._tally.count)

    @property
    def means(self) -> np.ndarray:
        count = self.pulls
        return np.where(count > 0, np.array(self._tally.total) / np.maximum(count, 1), np.nan)

    @property
    def deviations(self) -> np.ndarray:
        count = self.pulls
        return np.where(count > 1, np.sqrt(np.array(self._tally.squares) / np.maximum(count - 1, 1)), np.nan)

    @property
    def spare(self) -> np.ndarray:
        return np.array([len(rewards) for rewards in self._waiting])

    def ask(self) -> int:
        """Return the arm to pull next; asking again without telling returns the same arm."""
        self._go_on()
        if self.done:
            raise ValueError(f"the experiment is done, the best arm is {self.best}; there is nothing left to ask")
        return self._player.arm

    def tell(self, arm: int, reward: float) -> None:
        """Report the reward of the arm last asked for. See `tell_batch` for what happens to a bad report."""
        arm = checks.integer("arm", arm, least=0)
        if self.done:
            raise ValueError(f"arm is {arm}, but the experiment is done; start a new one to go on")
        if arm != self._player.arm:
            raise ValueError(
                f"arm is {arm}, but arm {self._player.arm} was asked for; pull that one and tell its reward"
            )
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
        player, waiting = self._player.fork(), copy.deepcopy(self._waiting)
        likely = [self._likely_rewards(arm) for arm in range(self.n_arms)]
        for arm in outstanding:
            waiting[arm].append(next(likely[arm]))
        used, end, arms = sum(self._tally.count), self._stage_end(), []
        while player.answer is None and used < end:
            if not waiting[player.arm]:
                if len(arms) == size:
                    break
                arms.append(player.arm)
                waiting[player.arm].append(next(likely[player.arm]))
            player.use(waiting[player.arm].popleft())
            used += 1
        return arms

    def tell_batch(self, arms: Sequence[int], rewards: Sequence[float]) -> None:
        """Report rewards of any arms; those of one arm in the order of its pulls, not of the rewards' arrival.

        A bad report raises an error and changes nothing. If it is the policy that raises, its error passes through,
        and the rewards are kept, once: those that the policy has not taken are in `history`, are counted in `spare`,
        and wait. `ask` tells them again and so meets the same error, unless the policy was mended. Or start a new
        experiment with another policy, and give its `tell_batch` the arms and rewards of this `history`.
        """
        arms = self._check_arms("arms", arms)
        needed = "a sequence with one reward per arm"
        rewards = [checks.reward("reward", reward) for reward in checks.sequence("rewards", rewards, needed)]
        if len(arms) != len(rewards):
            raise ValueError(f"rewards has {len(rewards)} entries for {len(arms)} arms; give one reward per arm")
        if self.done:
            raise ValueError(f"arms is {arms}, but the experiment is done; start a new one to go on")
        self._record(zip(arms, rewards, strict=True))
        self._go_on()

    def _record(self, reports: Iterable[tuple[int, float]]) -> None:
        for arm, reward in reports:
            self.history.append((arm, reward))
            self._told[arm].append(reward)
            self._waiting[arm].append(reward)

    def _go_on(self) -> None:
        """Tell the policy the rewards that wait for it."""
        while not self.done and self._waiting[self._player.arm]:
            arm = self._player.arm
            try:
                self._player.use(self._waiting[arm][0])
            except BaseException:  # a generator that has raised is at its end, so start again and stop before
                self._player = self._player.again(sum(self._tally.count))
                raise
            self._tally.add(arm, self._waiting[arm].popleft())

    def _check_arms(self, name: str, arms: Sequence[int]) -> list[int]:
        arms = [checks.integer("arm", arm, least=0) for arm in checks.sequence(name, arms, "a sequence of arms")]
        if arms and max(arms) >= self.n_arms:
            raise ValueError(f"{name} contains {max(arms)}; arms are numbered from 0 to {self.n_arms - 1}")
        return arms

    def _stage_end(self) -> float:
        """Return after how many rewards the present stage ends; policies without stages have none."""
        ends = self.policy.stage_ends(self.n_arms, self.budget)
        return next((end for end in ends if end > sum(self._tally.count)), np.inf)

    def _likely_rewards(self, arm: int) -> Iterator[float]:
        """Return the rewards of an arm so far, again and again; before there are two, rewards of equal spread."""
        return cycle(self._told[arm] if len(self._told[arm]) > 1 else [0.0, 1.0])

    def run(self, pull: Callable[[int], float]) -> Experiment:
        """Pull until done. If `pull` raises, the rewards so far are kept, and `run` can be called again."""
        if not callable(pull):
            checks.wrong_type("pull", pull, "a function that takes an arm and returns its reward")
        while not self.done:
            arm = self.ask()
            self.tell(arm, pull(arm))
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("policy", "n_arms", "budget", "seed", "history")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        history = state.pop("history")
        self.__dict__.update(state, history=[])
        self._start()
        self._record(history)
        with suppress(Exception):  # of the policy: the rewards are safe, and `ask` raises it again
            self._go_on()

    def __repr__(self) -> str:
        answer = f"best={self.best}" if self.done else f"next={self._player.arm}"
        used = sum(self._tally.count)
        return f"Experiment({self.policy}, n_arms={self.n_arms}, {used}/{self.budget} rewards, {answer})"


def identify(
    policy: Policy | None = None,
    pull: Callable[[int], float] | None = None,
    n_arms: int | None = None,
    budget: int | None = None,
    seed: int = 0,
) -> Experiment:
    """Find the best arm of a function that returns random rewards.

    Parameters
    ----------
    policy : Policy, optional
        See `Experiment`. Without one, `TopTwo` plays: it needs no knowledge of the arms, and the book's leaderboard
        recommends it.
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
    >>> answer = bai.identify(pull=lambda arm: random.gauss(arm / 4, 1), n_arms=4, budget=2000)
    >>> answer.best
    3
    """
    experiment = Experiment(TopTwo() if policy is None else policy, n_arms, budget, seed)  # pyright: ignore[reportArgumentType]
    try:
        return experiment.run(pull)  # pyright: ignore[reportArgumentType]
    except BaseException as error:
        error.experiment = experiment  # pyright: ignore[reportAttributeAccessIssue]
        if experiment.history:
            told = len(experiment.history)
            error.add_note(f"{told} rewards are kept in error.experiment; error.experiment.run(pull) goes on")
        raise
