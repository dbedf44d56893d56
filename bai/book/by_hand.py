"""The algorithms of the book in plain Python, as its pages show them. A test checks that they show these lines.

A page shows a function once; later pages import it. All play against `pull(arm)`, which returns one reward, and return
the arm that they name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, fsum, inf, log, sqrt
from statistics import fmean
from typing import Any

from ..policies import Policy

Pull = Callable[[int], float]
Index = Callable[[int, Sequence[float]], float | tuple[float, float]]


def halving(pull: Pull, n_arms: int, budget: int, index: Index, keep: bool = False) -> int:
    """Halve the arms in stages. Within a stage, pull the arm with the highest index.

    Examples
    --------
    >>> halving(lambda arm: float(arm == 3), 8, 24, equal)
    3
    """
    stages = (n_arms - 1).bit_length()  # log2(K), rounded up
    arms = list(range(n_arms))
    rewards: list[list[float]] = [[] for _ in arms]
    for _ in range(stages):
        if not keep:
            rewards = [[] for _ in range(n_arms)]
        for _ in range(budget // stages):
            arm = max(arms, key=lambda i: index(i, rewards[i]))
            rewards[arm].append(pull(arm))
        arms = better_half(arms, rewards)
    return arms[0]


def better_half(arms: Sequence[int], rewards: Sequence[Sequence[float]]) -> list[int]:
    """Return the half of the arms with the highest averages; of an odd number, the larger half.

    Examples
    --------
    >>> better_half([0, 2, 5], {0: [1, 2], 2: [4], 5: [1, 4]})
    [2, 5]
    """
    ranked = sorted(arms, key=lambda arm: -fmean(rewards[arm]))
    return sorted(ranked[: ceil(len(arms) / 2)])


def equal(arm: int, rewards: Sequence[float]) -> float:
    """The index of SH: the arm that was pulled least often comes next.

    Examples
    --------
    >>> equal(0, [0.3, 0.5])
    0.5
    """
    return 1 / len(rewards) if rewards else inf


def known(variances: Sequence[float]) -> Index:
    """The index of SHVar: the arm whose average has the highest variance comes next.

    Examples
    --------
    >>> known([2.0, 1.0])(0, [0.3, 0.5])
    1.0
    """

    def index(arm: int, rewards: Sequence[float]) -> float:
        return variances[arm] / len(rewards) if rewards else inf

    return index


def learned(delta: float = 0.05) -> Index:
    """The index of SHAdaVar: as SHVar's, but with an upper bound on the variance, learned from the rewards.

    During the warm-up there is no bound yet, and the arm that was pulled least often comes first.

    Examples
    --------
    >>> learned()(0, [0.0] * 12), learned()(0, [0.0] * 13)
    ((1, -12), (0, 0.0))
    """

    def index(arm: int, rewards: Sequence[float]) -> tuple[float, float]:
        pulls = len(rewards)
        if pulls - 1 <= 4 * log(1 / delta):
            return 1, -pulls
        bound = variance(rewards) / (1 - 2 * sqrt(log(1 / delta) / (pulls - 1)))
        return 0, bound / pulls

    return index


def variance(rewards: Sequence[float]) -> float:
    """The sample variance. That of the standard library computes with fractions, and takes ten times as long.

    Examples
    --------
    >>> variance([1.0, 2.0, 4.0, 5.0])
    3.3333333333333335
    """
    mean = fmean(rewards)
    return fsum((reward - mean) ** 2 for reward in rewards) / (len(rewards) - 1)


def rejects(pull: Pull, n_arms: int, budget: int) -> int:
    """Successive rejects: drop one arm at a time, and keep every reward.

    Examples
    --------
    >>> rejects(lambda arm: float(arm == 3), 8, 24)
    3
    """
    arms = list(range(n_arms))
    rewards: list[list[float]] = [[] for _ in arms]
    scale = 1 / 2 + sum(1 / i for i in range(2, n_arms + 1))
    while len(arms) > 1:
        pulls = ceil((budget - n_arms) / (scale * len(arms)))  # of each arm so far
        for arm in arms:
            while len(rewards[arm]) < pulls:
                rewards[arm].append(pull(arm))
        arms.remove(min(reversed(arms), key=lambda i: fmean(rewards[i])))
    return arms[0]


# --- the same rewards for everyone -----------------------------------------------------------------------


class Stacks:
    """Rewards written down in advance, one stack per arm: the c-th pull of an arm reads the c-th entry of its stack.

    Whoever makes the same pulls sees the same rewards. `pulled` lists the arms in the order of their pulls.

    Examples
    --------
    >>> pull = Stacks([[0.1, 0.2], [0.3, 0.4]])
    >>> pull(1), pull(1), pull.pulled
    (0.3, 0.4, [1, 1])
    """

    def __init__(self, rewards: Sequence[Sequence[float]]):
        self.rewards = rewards
        self.pulls: list[int] = [0] * len(rewards)  # of each arm
        self.pulled: list[int] = []

    def __call__(self, arm: int) -> float:
        reward = self.rewards[arm][self.pulls[arm]]
        self.pulls[arm] += 1
        self.pulled.append(arm)
        return float(reward)


def answer_of(policy: Policy, pull: Pull, n_arms: int, budget: int, **told: Any) -> int:
    """Play a policy of `bai`, arms in the order given, and return the arm that it names.

    Examples
    --------
    >>> import bai
    >>> ours, theirs = Stacks([[0.1] * 9, [0.3] * 9]), Stacks([[0.1] * 9, [0.3] * 9])
    >>> halving(ours, 2, 9, equal) == answer_of(bai.SH(), theirs, 2, 9), ours.pulled == theirs.pulled
    (True, True)
    """
    steps = policy.steps(n_arms, budget, **told)
    try:
        arm = next(steps)
        while True:
            arm = steps.send(pull(arm))
    except StopIteration as end:
        return end.value
