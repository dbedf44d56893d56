"""Arms of one's own: rewards that come from outside, one at a time or in batches, and an answer at any time.

An experiment is the list of its rewards so far: it is rebuilt by telling them again. Since the k-th reward of an arm
is as good as any other, rewards may come ahead of their turn: they wait until the policy pulls that arm. The budget is
hard. What a batch collected in vain is not collected again; once nothing is left to ask, the policy is played to its
end with the mean of an arm in place of the rewards that it still wants.
"""

from __future__ import annotations

import copy
import os
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import cycle
from typing import Any, overload

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from . import certainty, checks, state
from .play import check_game
from .player import Player
from .policies.base import Policy, Tally
from .policies.halving import Unif
from .policies.knowledge import LookAhead

DEFAULT_POLICY: Policy = LookAhead()  # the one that the leaderboard recommends

Report = tuple[int, float | None]  # an arm and its reward; None if the pull failed


class Experiment:
    """Your own arms: ask which arm to pull, and tell the reward. There is an answer at any time.

    Parameters
    ----------
    policy : Policy or None
        ``LookAhead()``, ``TopTwo()``, ``SH()`` and others need no knowledge; ``SHVar(variances=...)``,
        ``GapE(complexity=..., bound=...)`` and the like need theirs as arguments. None is the policy of `identify`.
    n_arms, budget : int
        K and n. The budget is hard: no more pulls than that are ever asked for.
    seed : int
        Puts the arms in random order, since leftover pulls and ties go to the first ones.
    labels : sequence of str, optional
        Names of the arms, for tables and figures.
    minimise : bool
        Whether the best arm has the lowest mean, as for costs and errors.
    costs : sequence of float, optional
        What a pull of each arm costs; the budget is then in the same unit. For policies with `anytime`.
    earlier : sequence of (int, float), optional
        Arms and rewards from before, such as the `history` of another experiment. They cost nothing, and the policy
        uses them before it asks for new ones. For policies with `anytime`.

    Attributes
    ----------
    best : int
        The leader so far: the arm with the highest mean, or the policy's answer once the experiment is `done`.
    done : bool
        Whether the budget is spent, or the policy has its answer.
    pulls, failures : array of int, shape (K,)
        Number of rewards of each arm, and of pulls that failed.
    means, deviations : array, shape (K,)
        Average and sample standard deviation of each arm's rewards, those from before included (NaN where there are
        too few).
    spare : array of int, shape (K,)
        Number of rewards of each arm that were told in batches and that the policy has not used (yet).
    outstanding : list of int
        Arms of batches whose rewards are still to come.
    history : list of (int, float or None)
        Every arm and reward told, in order; None where the pull failed.

    Notes
    -----
    Probabilities are approximate: they treat the means as draws from a normal distribution (see the chapter *Your own
    arms* for how often they are right).

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
    ...     arms = experiment.ask(15)
    ...     experiment.tell(arms, [float(arm == 2) for arm in arms])
    >>> experiment.best
    2
    """

    def __init__(
        self,
        policy: Policy | None,
        n_arms: int,
        budget: float,
        seed: int = 0,
        labels: Sequence[str] | None = None,
        minimise: bool = False,
        costs: Sequence[float] | None = None,
        earlier: Sequence[tuple[int, float]] = (),
    ):
        self.policy: Policy = DEFAULT_POLICY if policy is None else policy
        self.n_arms: int = checks.integer("n_arms", n_arms, least=2)
        self.seed: int = checks.integer("seed", seed, 0, below=None)
        self.labels: list[str] = _labels(labels, self.n_arms)
        self.minimise: bool = checks.flag("minimise", minimise)
        self.costs: list[float] | None = None if costs is None else _costs(costs, self.n_arms)
        self.earlier: list[tuple[int, float]] = [self._pair(pair) for pair in self._pairs(earlier)]
        self.budget: float = self._check_budget(budget)
        if self.budget / min(self.costs or [1.0]) > state.LARGEST_BUDGET:
            raise ValueError(f"budget is {self.budget:g}, more than {state.LARGEST_BUDGET:,} pulls; take a smaller one")
        self.history: list[Report] = []
        self.outstanding: list[int] = []
        self._start()

    def _pairs(self, earlier: Any) -> list[Any]:
        table = np.asarray(earlier).tolist() if getattr(earlier, "ndim", 1) == 2 else earlier
        return checks.sequence("earlier", table, "a sequence of pairs of an arm and its reward")

    def _pair(self, pair: Any) -> tuple[int, float]:
        if not isinstance(pair, (tuple, list, np.ndarray)) or len(pair) != 2:
            checks.wrong_type("an entry of earlier", pair, "a pair of an arm and its reward")
        arm = checks.integer("arm in earlier", pair[0], least=0, below=self.n_arms)
        return arm, checks.reward("reward in earlier", pair[1])

    def _check_budget(self, budget: Any) -> float:
        """Return the budget, in pulls or in the unit of the costs, or raise an error unless the policy can play."""
        if self.costs is None and not self.earlier:
            return check_game(self.policy, None, budget, self.n_arms)
        least_pulls = self.policy.least_budget(self.n_arms) if isinstance(self.policy, Policy) else 1
        check_game(self.policy, None, least_pulls, self.n_arms)
        if not self.policy.anytime:
            name = "costs" if self.costs is not None else "earlier"
            raise ValueError(
                f"{name} is given, but {self.policy} plans its stages or its exploration for a number of pulls fixed "
                "in advance; take a policy with anytime, such as bai.LookAhead()"
            )
        if self.costs is None:
            return checks.integer("budget", budget, least=1)
        budget = checks.number("budget", budget, above=0)
        least = self.policy.least_budget(self.n_arms) / self.n_arms * sum(self.costs)
        if budget < least and not self.earlier:
            raise ValueError(f"budget is {budget}; {self.policy} needs at least {least:g} at these costs")
        return budget

    def _start(self) -> None:
        cheapest = 1.0 if self.costs is None else min(self.costs)
        pulls = max(int(self.budget / cheapest) + len(self.earlier), self.policy.least_budget(self.n_arms))
        self._player = Player(self.policy, self.n_arms, pulls, self.seed)
        self._tally = Tally(self.n_arms)  # of all rewards, as they were told
        self._pulls, self._failures = [0] * self.n_arms, [0] * self.n_arms
        self._waiting: list[deque[float]] = [deque() for _ in range(self.n_arms)]  # for the policy: more is better
        self._told: list[list[float]] = [[] for _ in range(self.n_arms)]
        self._answer: int | None = None
        self._plausible: np.ndarray | None = None
        for arm, reward in self.earlier:
            self._shelve(arm, reward)
        with suppress(Exception):  # of the policy, on rewards from before: `ask` raises it again
            self._go_on()

    # --- the answer --------------------------------------------------------------------------------------

    @property
    def done(self) -> bool:
        return self._answer is not None

    @property
    def best(self) -> int:
        if self._answer is not None:
            return self._answer
        if not any(self._tally.count):
            raise ValueError(
                f"the experiment has 0 rewards of a budget of {self.budget:g}, so no arm is ahead yet; tell the first, "
                "and go on until done is True"
            )
        return self._leader()

    def _leader(self) -> int:
        sign = -1 if self.minimise else 1
        told = [arm for arm in range(self.n_arms) if self._tally.count[arm]]
        return max(told, key=lambda arm: (sign * self._tally.mean(arm), self._tally.count[arm]))

    @property
    def pulls(self) -> np.ndarray:
        return np.array(self._pulls)

    @property
    def failures(self) -> np.ndarray:
        return np.array(self._failures)

    @property
    def means(self) -> np.ndarray:
        count = np.array(self._tally.count)
        return np.where(count > 0, np.array(self._tally.total) / np.maximum(count, 1), np.nan)

    @property
    def deviations(self) -> np.ndarray:
        count = np.array(self._tally.count)
        return np.where(count > 1, np.sqrt(np.array(self._tally.squares) / np.maximum(count - 1, 1)), np.nan)

    @property
    def spare(self) -> np.ndarray:
        return np.array([len(rewards) for rewards in self._waiting])

    def _draws(self) -> np.ndarray | None:
        """Return plausible means, more is better, or None before any arm has two rewards."""
        count = np.array(self._tally.count)
        if self._plausible is None and count.max() > 1:
            variances = certainty.shrunk_variances(count, np.array(self._tally.squares))
            means = (-1 if self.minimise else 1) * np.nan_to_num(self.means)
            self._plausible = certainty.plausible_means(means, certainty.precisions(means, variances, count))
            self._plausible[:, (count == 0) & (self.failures > 0)] = -np.inf  # it has never worked
        return self._plausible

    def chances(self, m: int = 1, epsilon: float = 0.0) -> np.ndarray:
        """Return the probability of each arm to be one of the m best, or within epsilon of them.

        Parameters
        ----------
        m : int
            More than 1 only for a policy that looks for the m best (one with a field `m`), and for `Unif`.
        epsilon : float
            By how much an arm may be worse and still be good enough.
        """
        m, epsilon = self._check_m(m), checks.number("epsilon", epsilon)
        if epsilon < 0:
            raise ValueError(f"epsilon is {epsilon}; it must be at least 0")
        draws = self._draws()
        if draws is None:
            return np.full(self.n_arms, m / self.n_arms)
        last = np.partition(draws, self.n_arms - m, axis=1)[:, self.n_arms - m, None]
        return (draws >= last - epsilon).mean(axis=0)

    @property
    def probability_best(self) -> np.ndarray:
        """The probability of each arm to be the best, given the rewards so far; approximate."""
        return self.chances()

    @property
    def expected_loss(self) -> float:
        """By how much `best` is expected to fall short of the best mean; NaN before an arm has two rewards.

        Approximate: on some of the leaderboard's families it was too small, by a third or more.
        """
        draws = self._draws()
        return np.nan if draws is None else float((draws.max(axis=1) - draws[:, self.best]).mean())

    def top(self, m: int) -> list[int]:
        """Return the m arms with the best means, the best first; see `chances` for which policies."""
        m = self._check_m(m)
        means = np.nan_to_num(-self.means if not self.minimise else self.means, nan=np.inf)
        return [int(arm) for arm in np.argsort(means, kind="stable")[:m]]

    def _check_m(self, m: Any) -> int:
        m = checks.integer("m", m, least=1, below=self.n_arms)
        if m > 1 and not isinstance(self.policy, Unif) and getattr(self.policy, "m", 1) < m:
            raise ValueError(
                f"m is {m}, but {self.policy} looks for fewer and neglects the rest; take bai.Unif() or a policy for "
                "the m best"
            )
        return m

    def intervals(self, confidence: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Return an interval for the mean of each arm by itself; NaN where there is no reward.

        The variance of an arm is drawn to that of all. Nothing makes up for the choice of the winner, whose mean is
        too high on average: pull it again to know it.
        """
        confidence = checks.number("confidence", confidence, above=0, below=1)
        count = np.array(self._tally.count)
        variances = certainty.shrunk_variances(count, np.array(self._tally.squares))
        degrees = np.maximum(count - 1, 0) + certainty.SHRINKAGE
        half = stdtrit(degrees, (1 + confidence) / 2) * np.sqrt(variances / np.maximum(count, 1))
        return self.means - half, self.means + half

    def summary(self, confidence: float = 0.9) -> pd.DataFrame:
        """Return a table of what is known, a row per arm, the best first: `bai.plots.summary_plot` draws it."""
        low, high = self.intervals(confidence)
        columns = {"arm": range(self.n_arms), "pulls": self._pulls, "mean": self.means, "low": low, "high": high}
        columns |= {"deviation": self.deviations, "probability_best": self.probability_best}
        table = pd.DataFrame(columns, index=pd.Index(self.labels, name="label"))
        keys = {"mean": table["mean"] if self.minimise else -table["mean"], "first": table["arm"] != self._answer}
        return table.iloc[np.lexsort((keys["mean"].fillna(np.inf), keys["first"]))]

    # --- asking and telling ------------------------------------------------------------------------------

    @overload
    def ask(self) -> int: ...

    @overload
    def ask(self, n: int) -> list[int]: ...

    def ask(self, n: int | None = None) -> int | list[int]:
        """Return the arm to pull next, or a batch of up to n arms.

        Without n, asking again without telling returns the same arm. With n, the arms of the batch are `outstanding`
        until they are told; the next batch takes them into account. A policy that decides after every reward cannot
        know its next n pulls, so they are forecast: the past rewards of each arm stand in for its next ones. Rewards
        of which the forecast has too many wait as `spare`.

        There are fewer than n at the end of a stage, since the next stage depends on its rewards, and at the end of
        the budget. If the policy cannot go on before outstanding rewards come in, the batch is empty: wait.
        """
        size = None if n is None else checks.integer("n", n, least=1)
        self._go_on()
        if self._answer is not None:
            raise ValueError(
                f"the experiment is done with its budget of {self.budget:g}, the best arm is {self.best}; "
                "there is nothing left to ask"
            )
        if size is not None:
            batch = self._forecast(size)
            self.outstanding += batch
            return batch
        if self.outstanding:
            raise ValueError(
                f"n is not given, but {len(self.outstanding)} arms of a batch are outstanding; tell their rewards, or "
                "ask(1) for one arm more"
            )
        return self._player.arm

    def _forecast(self, size: int) -> list[int]:
        player, waiting = self._player.fork(), copy.deepcopy(self._waiting)
        likely = [self._likely_rewards(arm) for arm in range(self.n_arms)]
        for arm in self.outstanding:
            waiting[arm].append(next(likely[arm]))
        end, arms = self._player.stage_end(), []
        while player.answer is None and player.pulls < end:
            arm = player.arm
            if not waiting[arm]:
                if len(arms) == size or not self._affordable(arm, arms):
                    break
                arms.append(arm)
                waiting[arm].append(next(likely[arm]))
            player.use(waiting[arm].popleft())
        return arms

    def _likely_rewards(self, arm: int) -> Iterator[float]:
        """Return the rewards of an arm so far, again and again; before there are two, rewards of equal spread."""
        return cycle(self._told[arm] if len(self._told[arm]) > 1 else [0.0, 1.0])

    def _affordable(self, arm: int, more: Iterable[int] = ()) -> bool:
        """Return whether the budget allows a pull of the arm, after all that were made, are outstanding, or `more`."""
        asked = (*self.outstanding, *more, arm)
        if self.costs is None:
            spent: float = sum(self._pulls) + sum(self._failures) + len(asked)
        else:
            pulls = np.array(self._pulls) + np.array(self._failures)
            for other in asked:
                pulls[other] += 1
            spent = float((pulls * np.array(self.costs)).sum())
        return spent <= self.budget

    def tell(self, arm: int | Sequence[int], reward: float | Sequence[float | None] | None) -> None:
        """Report the reward of an arm, or of several arms, in any order; None says that the pull failed.

        Arms must have been asked for. Rewards of one arm should come in the order of its pulls: if the high ones
        arrive late, what has arrived is too low. A failed pull is spent: the policy goes on with the mean of the
        arm's rewards in its place, or with the lowest reward so far if the arm has none.

        A bad report raises an error and changes nothing. If it is the policy that raises, its error passes through,
        and the rewards are kept, once: those that the policy has not taken are in `history`, are counted in `spare`,
        and wait. `ask` tells them again and so meets the same error, unless the policy was mended.
        """
        several = isinstance(arm, Iterable) and not isinstance(arm, (str, bytes))
        arms = self._check_arms(arm) if several else [checks.integer("arm", arm, least=0)]
        needed = "a sequence with one reward per arm"
        rewards = checks.sequence("reward", reward, needed) if several else [reward]
        if len(arms) != len(rewards):
            raise ValueError(f"reward has {len(rewards)} entries for {len(arms)} arms; give one reward per arm")
        checked = [None if entry is None else checks.reward("reward", entry) for entry in rewards]
        self._check_asked(arms)
        for number, entry in zip(arms, checked, strict=True):
            with suppress(ValueError):
                self.outstanding.remove(number)
            self._record(number, entry)
        self._go_on()

    def _check_arms(self, arms: Any) -> list[int]:
        arms = checks.sequence("arm", arms, "an arm or a sequence of arms")
        arms = [checks.integer("arm", arm, least=0) for arm in arms]
        if arms and max(arms) >= self.n_arms:
            raise ValueError(f"arm contains {max(arms)}; arms are numbered from 0 to {self.n_arms - 1}")
        return arms

    def _check_asked(self, arms: list[int]) -> None:
        """Raise ValueError unless all arms are outstanding, or the only one is that of `ask` without a batch."""
        if not self.outstanding and self._answer is not None:
            raise ValueError(f"arm is {checks.shown(arms)}, but the experiment is done; start a new one to go on")
        if not self.outstanding and arms == [self._player.arm]:
            return
        extra = Counter(arms) - Counter(self.outstanding)
        if extra:
            wanted = f"outstanding are {checks.shown(self.outstanding)}"
            if not self.outstanding:
                wanted = f"arm {self._player.arm} was asked for; pull that one and tell its reward"
            raise ValueError(f"arm is {next(iter(extra))}, but {wanted}")

    def _record(self, arm: int, reward: float | None) -> None:
        self.history.append((arm, reward))
        if reward is None:
            self._failures[arm] += 1
            self._waiting[arm].append(self._fill(arm))
        else:
            self._pulls[arm] += 1
            self._shelve(arm, reward)
        self._plausible = None

    def _shelve(self, arm: int, reward: float) -> None:
        self._tally.add(arm, reward)
        gain = -reward if self.minimise else reward
        self._told[arm].append(gain)
        self._waiting[arm].append(gain)

    def _fill(self, arm: int) -> float:
        """Return what stands for a reward that is missing, for the policy."""
        if self._told[arm]:
            return sum(self._told[arm]) / len(self._told[arm])
        return min((min(rewards) for rewards in self._told if rewards), default=0.0)

    def _go_on(self) -> None:
        """Tell the policy the rewards that wait for it; at the end of the budget, take its answer."""
        while self._answer is None and self._player.answer is None and self._waiting[self._player.arm]:
            arm = self._player.arm
            try:
                self._player.use(self._waiting[arm][0])
            except BaseException:  # a generator that has raised is at its end, so start again and stop before
                self._player = self._player.again(self._player.pulls - 1)
                raise
            self._waiting[arm].popleft()
        if self._answer is None:
            self._answer = self._player.answer
            if self._answer is None and not self.outstanding and not self._affordable(self._player.arm):
                self._answer = self._leader() if self.policy.anytime and any(self._tally.count) else self._play_out()

    def _play_out(self) -> int:
        """Return the answer of the policy if all rewards that it still wants are the mean of their arm."""
        player, waiting = self._player.fork(), copy.deepcopy(self._waiting)
        while player.answer is None:
            player.use(waiting[player.arm].popleft() if waiting[player.arm] else self._fill(player.arm))
        return player.answer

    def run(self, pull: Callable[[int], float | None]) -> Experiment:
        """Pull until done. If `pull` raises, the rewards so far are kept, and `run` can be called again."""
        if not callable(pull):
            checks.wrong_type("pull", pull, "a function that takes an arm and returns its reward")
        while not self.done:
            arm = self.outstanding[0] if self.outstanding else self.ask()
            self.tell(arm, pull(arm))
        return self

    # --- files -------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the experiment to a JSON file, which `load` reads: what was asked and told, and the policy's name.

        The file is written beside the old one and then takes its place, so a crash leaves one of them whole.
        """
        state.write(path, state.describe(self))

    @classmethod
    def load(cls, path: str | os.PathLike[str], policy: Policy | None = None) -> Experiment:
        """Return the experiment of a file of `save`. The file is data: reading it runs nothing that it says.

        Parameters
        ----------
        path : path-like
        policy : Policy, optional
            Needed if it is one of your own: the file has its name only.
        """
        if policy is not None and not isinstance(policy, Policy):
            checks.wrong_type("policy", policy, "a policy, or None for the one that the file names")
        found = state.read(path)
        with state.explained(path):
            if policy is None:
                policy = state.policy_of(found["policy"])
            elif repr(policy) != found["policy"].get("shown"):
                raise ValueError(f"policy is {policy}, but the file has {found['policy'].get('shown')}; give that one")
            new = cls(policy, found["n_arms"], found["budget"], found["seed"], *(found[key] for key in state.OPTIONS))
            new._replay(found["history"], found["outstanding"])
        return new

    def _replay(self, history: list[Any], outstanding: list[Any]) -> None:
        """Put back what was told and asked; nothing else than numbers of arms and rewards passes."""
        outstanding = self._check_arms(outstanding)
        for arm, reward in history:
            arm = checks.integer("arm", arm, least=0, below=self.n_arms)
            if not self._affordable(arm):
                raise ValueError(f"history has more pulls than the budget of {self.budget:g} allows")
            self._record(arm, None if reward is None else checks.reward("reward", reward))
        for arm in outstanding:
            if not self._affordable(arm):
                raise ValueError(f"outstanding has more pulls than the budget of {self.budget:g} allows")
            self.outstanding.append(arm)
        with suppress(Exception):  # of the policy: the rewards are safe, and `ask` raises it again
            self._go_on()

    def __getstate__(self) -> dict[str, Any]:
        names = ("policy", "n_arms", "budget", "seed", "labels", "minimise", "costs", "earlier")
        return {name: getattr(self, name) for name in (*names, "history", "outstanding")}

    def __setstate__(self, pickled: dict[str, Any]) -> None:
        history, outstanding = pickled.pop("history"), pickled.pop("outstanding")
        self.__dict__.update(pickled, history=[], outstanding=[])
        self._start()
        self._replay(history, outstanding)

    def __repr__(self) -> str:
        answer = f"best={self.best}" if self._answer is not None else f"next={self._player.arm}"
        spent = sum(self._pulls) + sum(self._failures)
        unit = "rewards" if self.costs is None else f"in {spent} pulls"
        used = spent if self.costs is None else f"{np.dot(self.pulls + self.failures, self.costs):g}"
        return f"Experiment({self.policy}, n_arms={self.n_arms}, {used}/{self.budget:g} {unit}, {answer})"


def _labels(labels: Any, n_arms: int) -> list[str]:
    if labels is None:
        return [str(arm) for arm in range(n_arms)]
    given = checks.sequence("labels", labels, "a sequence with one name per arm")
    if len(given) != n_arms:
        raise ValueError(f"labels has {len(given)} entries for {n_arms} arms; give one per arm")
    for label in given:
        if not isinstance(label, str):
            checks.wrong_type("labels", label, "a sequence of strings")
    if len(set(given)) < n_arms:
        raise ValueError(f"labels has {checks.shown(max(given, key=given.count))} twice; give every arm its own")
    return [str(label) for label in given]


def _costs(costs: Any, n_arms: int) -> list[float]:
    found = [checks.positive("costs", cost) for cost in checks.sequence("costs", costs, "one number per arm")]
    if len(found) != n_arms:
        raise ValueError(f"costs has {len(found)} entries for {n_arms} arms; give one per arm")
    return found


def identify(
    policy: Policy | None = None,
    pull: Callable[[int], float | None] | None = None,
    n_arms: int | None = None,
    budget: float | None = None,
    seed: int = 0,
    labels: Sequence[str] | None = None,
    minimise: bool = False,
) -> Experiment:
    """Find the best arm of a function that returns random rewards.

    Parameters
    ----------
    policy : Policy, optional
        See `Experiment`. Without one, `LookAhead` plays: it needs no knowledge of the arms, and the book's
        leaderboard recommends it.
    pull : callable
        ``pull(arm)`` returns a reward of arm 0, ..., K - 1, or None if it failed.
    n_arms, budget, seed, labels, minimise
        See `Experiment`.

    Returns
    -------
    Experiment
        Finished: `best` is the answer, `summary()` says what it rests on and how sure it is. If `pull` raises, the
        exception carries the unfinished experiment as `error.experiment`; ``error.experiment.run(pull)`` goes on.

    Examples
    --------
    >>> import bai, random
    >>> random.seed(0)
    >>> answer = bai.identify(pull=lambda arm: random.gauss(arm / 4, 1), n_arms=4, budget=2000)
    >>> answer.best
    3
    """
    experiment = Experiment(policy, n_arms, budget, seed, labels, minimise)  # pyright: ignore[reportArgumentType]
    try:
        return experiment.run(pull)  # pyright: ignore[reportArgumentType]
    except BaseException as error:
        error.experiment = experiment  # pyright: ignore[reportAttributeAccessIssue]
        if experiment.history:
            told = len(experiment.history)
            error.add_note(f"{told} rewards are kept in error.experiment; error.experiment.run(pull) goes on")
        raise
