"""What a policy is: the base class of all policies, including your own.

A policy is a generator of arms. `steps` yields the arm to pull next, is sent the reward, and returns its answer:

>>> class First(Policy):
...     name = "First"
...
...     def steps(self, n_arms, budget):
...         reward = yield 0
...         return 0 if reward > 0 else 1
>>> steps = First().steps(n_arms=2, budget=10)
>>> next(steps)
0

That is enough to play it everywhere, at a few microseconds per pull. The policies of this package also have
a compiled loop that makes the same pulls on the same rewards in nanoseconds.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar

import numpy as np

from .. import checks
from ..problems import Bandits
from ..sampling import PlainRewards, Rewards, gather

Steps = Generator[int, float, int]  # yields arms, is sent rewards, returns the answer


@dataclass(frozen=True)
class Known:
    """What a policy is told about the problems of a block, beyond the number of arms and the budget.

    Attributes
    ----------
    variances : array, shape (R, K), optional
        The variance of each arm.
    bound : array, shape (R,), optional
        The largest reward b.
    complexity : array, shape (R,), optional
        The complexity that GapE or GapE-V is tuned with.
    span : array, shape (R,), optional
        The length of an interval that holds all rewards.
    key : array, shape (R,), optional
        A random whole number for each run, about which it says nothing: for policies with `keyed`.
    """

    variances: np.ndarray | None = None
    bound: np.ndarray | None = None
    complexity: np.ndarray | None = None
    span: np.ndarray | None = None
    key: np.ndarray | None = None

    def in_order(self, order: np.ndarray) -> Known:
        """Return the same with arm `order[r, p]` of run r at position p.

        Raise ValueError unless every fact covers every run: compiled loops rely on that.
        """
        facts = {name: np.asarray(value, float) for name, value in vars(self).items() if value is not None}
        for name, fact in facts.items():
            shape = order.shape if name == "variances" else order.shape[:1]
            if fact.shape != shape:
                raise ValueError(
                    f"the policy is told {name} of shape {fact.shape}; what known returns must have one row per run, "
                    f"so shape {shape} here"
                )
        if self.variances is not None:
            facts["variances"] = gather(facts["variances"], order)
        return dataclasses.replace(self, **facts)

    def of_run(self, run: int) -> dict[str, Any]:
        """Return what is known about one run, by name, as `Policy.steps` takes it."""
        facts = ((f.name, getattr(self, f.name)) for f in dataclasses.fields(self))
        return {name: value[run].tolist() for name, value in facts if value is not None}


class Tally:
    """Count, total, sum of squared deviations and range of each arm's rewards, kept up to date reward by reward.

    >>> tally = Tally(2)
    >>> for reward in (1.0, 2.0, 6.0):
    ...     tally.add(0, reward)
    >>> tally.count[0], tally.mean(0), tally.variance(0)
    (3, 3.0, 7.0)
    """

    def __init__(self, n_arms: int):
        self.count: list[int] = [0] * n_arms
        self.total: list[float] = [0.0] * n_arms
        self.squares: list[float] = [0.0] * n_arms
        self.lowest: list[float] = [inf] * n_arms
        self.highest: list[float] = [-inf] * n_arms

    def add(self, arm: int, reward: float) -> None:
        """Add one reward (Welford's update, which stays accurate for means far from zero)."""
        old = self.mean(arm) if self.count[arm] else reward
        self.count[arm] += 1
        self.total[arm] += reward
        self.squares[arm] += (reward - old) * (reward - self.mean(arm))
        self.lowest[arm] = min(self.lowest[arm], reward)
        self.highest[arm] = max(self.highest[arm], reward)

    def mean(self, arm: int) -> float:
        """Return the average reward of an arm."""
        return self.total[arm] / self.count[arm]

    def variance(self, arm: int) -> float:
        """Return the unbiased sample variance of an arm's rewards."""
        return self.squares[arm] / (self.count[arm] - 1)


@dataclass
class Progress:
    """How far a policy has come: enough to go on from there.

    Attributes
    ----------
    tally : Tally
        What it remembers about its rewards.
    active : list of int
        The arms that are still in.
    stage, pulls : int
        The present stage, from 0, and the number of pulls made in it.
    spent : int
        The number of pulls before the present stage, kept by policies whose stages depend on rewards.
    memory : dict
        Whatever else a policy has to remember, by name.
    """

    tally: Tally
    active: list[int]
    stage: int = 0
    pulls: int = 0
    spent: int = 0
    memory: dict[str, Any] = dataclasses.field(default_factory=dict)

    @classmethod
    def begin(cls, n_arms: int) -> Progress:
        """Return the progress before the first pull."""
        return cls(Tally(n_arms), list(range(n_arms)))


def argmax(arms: Iterable[int], key: Callable[[int], float]) -> int:
    """Return the arm with the highest key; of several, the first."""
    return max(arms, key=key)


def least_pulled(tally: Tally, active: Sequence[int]) -> int:
    """Return the arm with the fewest pulls; of several, the first. So arms take turns."""
    return min(active, key=lambda arm: tally.count[arm])


class ShowsChanges:
    """Shown by its name and by the fields that differ from their defaults."""

    name: ClassVar[str] = ""

    def __str__(self) -> str:
        fields = dataclasses.fields(self) if dataclasses.is_dataclass(self) else ()
        changed = {f.name: getattr(self, f.name) for f in fields if repr(getattr(self, f.name)) != repr(f.default)}
        inside = ", ".join(f"{name}={value!r}" for name, value in changed.items())
        return (self.name or type(self).__name__) + (f"({inside})" if inside else "")


class Policy(ShowsChanges):
    """A way to spend a budget of pulls and to name the best arm at the end: the base class of all, including yours.

    A subclass needs a `name` and `steps`, and can then be used wherever the policies of this package can. The rest is
    optional. Arguments of a policy are best made fields of a frozen dataclass, which gives it equality and a readable
    name. One object plays many runs, several at a time on threads, so what a run remembers belongs in local variables
    of `steps`, never in `self`.

    Attributes
    ----------
    name : str
        Its name in tables and figures.
    randomised : bool
        Whether `steps` is also given a random generator, as `rng`. All its randomness must come from there.
    keyed : bool
        Whether `steps` is also given a random whole number below 2^53 by a simulation, as `key`, another one for each
        run. A policy that makes its random numbers from it can be compiled, and gives the same answer again.
    anytime : bool
        Whether it can stop anywhere: its pulls do not depend on the budget, and its answer is the highest mean.
    style : dict
        Colour, marker and line style in figures. If empty, the name decides.

    Examples
    --------
    Pull the arms in turn, but stay with an arm as long as its rewards are positive:

    >>> import bai
    >>> class Again(bai.Policy):
    ...     name = "Again"
    ...
    ...     def steps(self, n_arms, budget):
    ...         total, arm = [0.0] * n_arms, 0
    ...         for _ in range(budget):
    ...             reward = yield arm
    ...             total[arm] += reward
    ...             arm = arm if reward > 0 else (arm + 1) % n_arms
    ...         return max(range(n_arms), key=lambda i: total[i])
    >>> bai.simulate(Again(), bai.synthetic(4, 100, seed=0), budget=100, seed=0).pulls.sum(axis=1).max()
    np.int64(100)
    """

    randomised: ClassVar[bool] = False
    keyed: ClassVar[bool] = False
    anytime: ClassVar[bool] = False
    style: ClassVar[dict[str, str]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        # A class with steps of its own is played by them, not by the `resume` or `play` of the class it extends.
        super().__init_subclass__(**options)
        depth = {n: [n in vars(c) for c in cls.__mro__].index(True) for n in ("steps", "resume", "play")}
        if depth["steps"] < depth["resume"]:
            cls.resume = Policy.resume
        if min(depth["steps"], depth["resume"]) < depth["play"]:
            cls.play = Policy.play

    def steps(self, n_arms: int, budget: int, **known: Any) -> Steps:
        """Return a generator that yields the arm to pull next, is sent the reward, and returns the best arm.

        Parameters
        ----------
        n_arms, budget : int
            K and n. Arms are numbered from 0; at most n may be pulled.
        **known
            What `known` returns, by name, for one run: ``variances`` (a list), ``bound``, ``complexity`` and ``span``
            (floats); ``rng`` if the policy is `randomised`, and ``key`` if it is `keyed`. A policy that is told nothing
            needs no such argument.

        It may stop before the budget is spent. `Experiment.ask` also plays it on forecast rewards. A policy that
        can `resume` needs no steps of its own.
        """
        steps = self.resume(n_arms, budget, Progress.begin(n_arms), **known)
        if steps is None:
            raise NotImplementedError(
                f"{type(self).__name__} has no method steps(self, n_arms, budget), which yields arms; write one"
            )
        return steps

    def known(self, n_arms: int, budget: int, problem: Bandits | None = None) -> Known:
        """Return what the policy may know of the problem.

        A simulation passes the problem, of which the policy takes what it is entitled to: `Known(variances=
        problem.variances)` tells it the true variances, and `steps` then takes an argument `variances`. Every array
        has one row per run. In an `Experiment` there is no problem, and the policy's own arguments must suffice.
        """
        return Known()

    def least_budget(self, n_arms: int) -> int:
        """Return the smallest budget with which the policy can be played."""
        return n_arms

    @property
    def budget_rule(self) -> str:
        """Where the smallest budget comes from, in words."""
        return "one pull per arm"

    def stage_ends(self, n_arms: int, budget: int) -> Sequence[int]:
        """Return after how many pulls in all each stage ends; nothing if there are no stages.

        What comes after the end of a stage cannot be foreseen before it, so a batch of pulls never crosses it.
        """
        return ()

    def resume(self, n_arms: int, budget: int, progress: Progress, **known: Any) -> Steps | None:
        """Return steps that go on from `progress` and keep it up to date; None if they can only start afresh.

        With this an `Experiment` can try out what a policy would ask for next. Without it, a fresh copy of the policy
        has to be told all rewards again, which takes longer the more there are.
        """
        return None

    def play(
        self, rewards: Rewards | PlainRewards, budget: int, known: Known, pulls: np.ndarray, recommended: np.ndarray
    ) -> None:
        """Play a block of runs: write into `pulls` (R, K), which starts at zero, and `recommended` (R,).

        This plays `steps`, one pull at a time. A policy with a compiled loop has its own `play`.
        """
        more = {"rng": rewards.rng} if self.randomised else {}
        for r, draw in zip(range(len(pulls)), rewards.by_run(), strict=False):
            steps = self.steps(pulls.shape[1], budget, **known.of_run(r), **more)
            recommended[r] = play_steps(self, steps, budget, pulls[r], draw)

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({inside})"

    @classmethod
    def examples(cls) -> list[Policy]:
        """Return instances that between them use every option; the tests play each."""
        return [cls()]


def play_steps(policy: Policy, steps: Steps, budget: int, pulls: np.ndarray, draw: Callable[[int, int], float]) -> int:
    """Play one run pull by pull; count in `pulls` (K,), return the answer.

    `draw(arm, k)` returns the reward of pull k of an arm.
    """
    n_arms, counts = len(pulls), pulls.tolist()
    try:
        arm = check_arm(policy, "pulls", next(check_steps(policy, steps)), n_arms)
        for _ in range(budget):
            reward = draw(arm, counts[arm])
            counts[arm] += 1
            arm = steps.send(reward)
            if type(arm) is not int or not 0 <= arm < n_arms:
                arm = check_arm(policy, "pulls", arm, n_arms)
    except StopIteration as answer:
        pulls[:] = counts
        return check_arm(policy, "names", answer.value, n_arms)
    raise ValueError(f"{policy} asks for more than its budget of {budget} pulls; return an answer after the last")


def check_steps(policy: Policy, steps: Any) -> Steps:
    """Return what a policy's `steps` gave, or raise TypeError if it is not a generator."""
    if not isinstance(steps, Generator):
        checks.wrong_type(f"what {policy} returns from steps", steps, "a generator: steps must yield the arms to pull")
    return steps


def check_arm(policy: Policy, verb: str, arm: Any, n_arms: int) -> int:
    """Return what a policy yields or returns as the number of an arm."""
    if type(arm) is int and 0 <= arm < n_arms:  # nearly always, and much quicker than asking what is wrong
        return arm
    if arm is None and verb == "names":
        raise TypeError(f"{policy} returns nothing from steps; return the best arm at the end")
    number = checks.integer(f"the arm that {policy} {verb}", arm, least=0)
    if number >= n_arms:
        raise ValueError(f"the arm that {policy} {verb} is {number}; arms are numbered from 0 to {n_arms - 1}")
    return number
