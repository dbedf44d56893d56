"""A policy in play on rewards that come from outside, one pull at a time, with a look ahead."""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np

from .policies.base import Policy, Progress, Steps, check_arm, check_steps


class Player:
    """A policy in play: the arm that it pulls next, or its answer. Its arms are in random order."""

    def __init__(self, policy: Policy, n_arms: int, budget: int, seed: int):
        self.policy: Policy = policy
        self.n_arms: int = n_arms
        self.budget: int = budget
        self.seed: int = seed
        self._order = np.random.default_rng(seed).permutation(n_arms)
        self._known = policy.known(n_arms, budget).in_order(self._order[None]).of_run(0)
        if policy.randomised:
            self._known["rng"] = np.random.default_rng([seed, 1])
        self._used: list[float] = []  # rewards, in the order of the policy's pulls
        self._progress = Progress.begin(n_arms)
        self.arm: int = -1
        self.answer: int | None = None
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

    @property
    def pulls(self) -> int:
        """The number of rewards that the policy was told."""
        return len(self._used)

    def use(self, reward: float) -> None:
        """Tell the policy the reward of the arm that it pulls."""
        self._used.append(reward)
        self._follow(lambda: self._steps.send(reward))

    def fork(self) -> Player:
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

    def again(self, pulls: int) -> Player:
        """Return a player that starts afresh and was told the first so many rewards of this one."""
        fresh = Player(self.policy, self.n_arms, self.budget, self.seed)
        for reward in self._used[:pulls]:
            fresh.use(reward)
        return fresh

    def stage_end(self) -> float:
        """Return after how many rewards the present stage ends; policies without stages have none."""
        ends = self.policy.stage_ends(self.n_arms, self.budget)
        return next((end for end in ends if end > self.pulls), np.inf)
