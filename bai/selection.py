"""The best of K candidates under a hard budget of judged examples: `select`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypedDict, Unpack

import numpy as np
import pandas as pd
from scipy.special import ndtri

from . import bars, certainty, checks, shared
from .play import check_executor
from .scores import ScoreFile

SEPARATED = 0.95  # below this probability of being best the answer says that nothing is separated
POLICIES = ("look ahead", "top two", "halving")
FAILURES = 10  # evaluations in a row that may fail before `select` gives up

Judge = Callable[[Any, Any], "float | None"]
Pairs = list[tuple[int, int]]  # a candidate, and the place of an example in the common order


class Options(TypedDict, total=False):
    """What `select` can be told beside the candidates, the judge, the examples and the budget."""

    seed: int
    minimise: bool
    policy: str
    executor: Executor | None
    batch: int | None
    retries: int
    file: str | os.PathLike[str] | None
    progress: bool | None


@dataclass(frozen=True, repr=False)
class Selection:
    """What `select` has found.

    Attributes
    ----------
    best : object
        The candidate that it names; `index` is its number.
    probability_best : array, shape (K,)
        The probability that each candidate has the best mean over all examples; approximate.
    expected_loss : float
        By how much the mean of `best` is expected to fall short of the best one; approximate.
    separated : bool
        Whether `best` has a probability of at least 0.95. Otherwise `rivals` lists who else may be the best.
    judged, failed, budget : int
        How many evaluations were made, how many of them failed, and how many were allowed.
    scores : array, shape (K, N)
        Every score, the examples in their own order; NaN where there is none.
    """

    candidates: list[Any]
    labels: list[str]
    scores: np.ndarray
    judged: int
    budget: int
    minimise: bool
    order: np.ndarray
    counts: np.ndarray
    policy: str

    @cached_property
    def means(self) -> np.ndarray:
        """Mean score of each candidate, adjusted for the luck of its examples; NaN without a score."""
        return shared.adjusted_means(np.ascontiguousarray(self.scores[:, self.order]), self.counts)

    @property
    def index(self) -> int:
        gains = np.nan_to_num(-self.means if self.minimise else self.means, nan=-np.inf)
        if self.policy == "halving":  # those that were dropped are out
            gains[self.counts < self.counts.max()] = -np.inf
        return int(gains.argmax())

    @property
    def exact(self) -> bool:
        """Whether every candidate was judged on every example."""
        return bool(np.isfinite(self.scores).all())

    @property
    def best(self) -> Any:
        return self.candidates[self.index]

    @property
    def failed(self) -> int:
        return self.judged - int(np.isfinite(self.scores).sum())

    @cached_property
    def _precision(self) -> np.ndarray:
        return shared.precision_matrix(np.ascontiguousarray(self.scores[:, self.order]), self.counts)

    @cached_property
    def _draws(self) -> np.ndarray:
        gains = np.nan_to_num(-self.means if self.minimise else self.means)
        if not np.isfinite(self.scores).sum(axis=1).max() > 1:  # nothing is known
            draws = np.random.default_rng(0).standard_normal((certainty.DRAWS, len(gains)))
        else:
            draws = certainty.plausible_means(gains, self._precision)
        draws[:, np.isnan(self.means)] = -np.inf
        return draws

    @cached_property
    def probability_best(self) -> np.ndarray:
        if self.exact:
            return np.eye(len(self.candidates))[self.index]
        return np.bincount(self._draws.argmax(axis=1), minlength=len(self.candidates)) / certainty.DRAWS

    @property
    def expected_loss(self) -> float:
        return 0.0 if self.exact else float((self._draws.max(axis=1) - self._draws[:, self.index]).mean())

    @property
    def separated(self) -> bool:
        return bool(self.probability_best[self.index] >= SEPARATED)

    @property
    def rivals(self) -> list[str]:
        """Labels of the others that may be the best: those with a probability of at least 0.05, the likeliest first."""
        order = np.argsort(-self.probability_best, kind="stable")
        return [self.labels[i] for i in order if i != self.index and self.probability_best[i] >= 1 - SEPARATED]

    def summary(self, confidence: float = 0.9) -> pd.DataFrame:
        """Return a table with a row per candidate, the best first: `bai.plots.summary_plot` draws it.

        `behind` is the difference to the winner, with the examples that both have in common taken into account;
        `low` and `high` are an interval for the mean over all examples. They meet where all were judged.
        """
        z = ndtri((1 + checks.number("confidence", confidence, above=0, below=1)) / 2)
        half = np.where(np.isfinite(self.scores).all(axis=1), 0.0, np.nan)
        if not self.exact:
            known = np.flatnonzero(np.diag(self._precision) > 0)
            inverse = np.linalg.inv(self._precision[np.ix_(known, known)])
            half[known] = np.where(half[known] == 0, 0.0, z * np.sqrt(np.diag(inverse)))
        sign = -1 if self.minimise else 1
        columns = {"pulls": self.counts, "mean": self.means, "low": self.means - half, "high": self.means + half}
        columns |= {"behind": sign * (self.means[self.index] - self.means), "probability_best": self.probability_best}
        table = pd.DataFrame(columns, index=pd.Index(self.labels, name="candidate"))
        return table.iloc[np.lexsort((table["behind"].fillna(np.inf), np.arange(len(table)) != self.index))]

    def __repr__(self) -> str:
        chance = self.probability_best[self.index]
        others = f"; not separated from {', '.join(self.rivals)}" if not self.separated else ""
        return (
            f"Selection({self.labels[self.index]!r}, about {chance:.0%} sure, {self.judged} of {self.budget} "
            f"judged{checks.shown(others, 200)[1:-1] if others else ''})"
        )


@dataclass(frozen=True)
class _Settings:
    seed: int = 0
    minimise: bool = False
    policy: str = POLICIES[0]
    executor: Executor | None = None
    batch: int | None = None
    retries: int = 2
    file: Any = None
    progress: bool | None = None

    def __post_init__(self) -> None:
        executor = None if self.executor is None else check_executor(self.executor)
        batch = (1 if executor is None else 8) if self.batch is None else checks.integer("batch", self.batch, least=1)
        checked = {
            "seed": checks.integer("seed", self.seed, 0, below=None),
            "minimise": checks.flag("minimise", self.minimise),
            "policy": checks.choice("policy", self.policy, POLICIES),
            "batch": batch,
            "retries": checks.integer("retries", self.retries, least=0),
            "progress": None if self.progress is None else checks.flag("progress", self.progress),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)


def select(
    candidates: Sequence[Any], evaluate: Judge, examples: Sequence[Any], budget: int, **options: Unpack[Options]
) -> Selection:
    """Find the best of several candidates, such as prompts or models, with a hard budget of evaluations.

    All candidates are judged on the same examples, in one random order and never twice, and their differences on common
    examples decide. Scores may be 0 or 1, bounded or any numbers; their unit does not matter.

    Parameters
    ----------
    candidates : sequence
        Anything; their `repr`, shortened, is their label.
    evaluate : callable
        ``evaluate(candidate, example)`` returns a score, where larger is better, or None if there is none.
    examples : sequence
        The set over which the mean counts.
    budget : int
        The most evaluations: at least 3 per candidate. With K N or more, all pairs are judged.
    seed : int
        Decides the order of the examples.
    minimise : bool
        Whether the best candidate has the lowest mean.
    policy : {"look ahead", "top two", "halving"}
        Who is judged next. "look ahead", the rule of `LookAhead`, takes the candidate from which most is to be gained
        if its sample is doubled; "top two" plays the leader against the rival that is hardest to tell from it;
        "halving" drops half of the candidates after each of a few stages. See *Choosing prompts and models*.
    executor : concurrent.futures.Executor, optional
        Evaluates the pairs of a batch. The result does not depend on it, nor on the order in which scores arrive.
    batch : int
        How many pairs are chosen at a time, but for "halving"; 1, or 8 with an executor.
    retries : int
        How often an evaluation that raises is tried again. After that it counts as spent, without a score.
    file : path-like, optional
        Where every score is written as it arrives. The same call goes on from there and pays for nothing twice.
    progress : bool, optional
        Show a bar; by default where a person is watching.

    Returns
    -------
    Selection

    Examples
    --------
    >>> import bai
    >>> texts = ["abc", "ab", "cab"] * 20
    >>> answer = bai.select(["c", "abc", "b"], lambda prompt, text: float(prompt in text), texts, budget=60)
    >>> answer.best, answer.judged
    ('b', 60)
    """
    unknown = sorted(set(options) - set(Options.__annotations__))
    if unknown:
        raise TypeError(f"options has {unknown[0]!r}; select takes {', '.join(Options.__annotations__)}")
    how = _Settings(**options)
    candidates = checks.sequence("candidates", candidates, "a sequence of at least 2 candidates")
    examples = checks.sequence("examples", examples, "a sequence of examples")
    if not callable(evaluate):
        checks.wrong_type("evaluate", evaluate, "a function of a candidate and an example that returns a score")
    for name, given, least in (("candidates", candidates, 2), ("examples", examples, 1)):
        if len(given) < least:
            raise ValueError(f"{name} has {len(given)} entries; give at least {least}")
    budget = checks.integer("budget", budget, least=1)
    least = min(shared.FIRST, len(examples)) * len(candidates)
    if budget < least:
        raise ValueError(f"budget is {budget}; {len(candidates)} candidates need at least {least} evaluations")
    return _Judging(candidates, evaluate, examples, budget, how).run()


class _Judging:
    """The evaluations of one call of `select`."""

    def __init__(self, candidates: list[Any], evaluate: Judge, examples: list[Any], budget: int, how: _Settings):
        self.candidates, self.evaluate, self.examples, self.how = candidates, evaluate, examples, how
        self.labels = _labels(candidates)
        self.budget = min(budget, len(candidates) * len(examples))
        self.allowed = budget
        self.order = np.random.default_rng(how.seed).permutation(len(examples))
        self.gains = np.full((len(candidates), len(examples)), np.nan)  # in the common order; more is better
        shape = len(candidates)
        self.counts, self.told = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        self.totals, self.squares = np.zeros(shape), np.zeros(shape)
        self.known: dict[tuple[int, int], float | None] = {}
        self.judged, self.in_a_row = 0, 0

    def run(self) -> Selection:
        file = None if self.how.file is None else ScoreFile(self.how.file, self.labels, len(self.examples))
        try:
            self.known = {} if file is None else file.known
            with bars.bar(self.how.progress, total=self.budget, unit="judged") as bar:
                for pairs in self._batches():
                    self._judge(pairs, file)
                    if bar is not None:
                        bar.update(len(pairs))
        finally:
            if file is not None:
                file.close()
        scores = np.empty_like(self.gains)
        scores[:, self.order] = -self.gains if self.how.minimise else self.gains
        return Selection(
            self.candidates,
            self.labels,
            scores,
            self.judged,
            self.allowed,
            self.how.minimise,
            self.order,
            self.counts,
            self.how.policy,
        )

    # --- what to judge -----------------------------------------------------------------------------------

    def _batches(self) -> Iterator[Pairs]:
        everything = len(self.candidates) * len(self.examples)
        if self.budget == everything:
            yield [(i, t) for t in range(len(self.examples)) for i in range(len(self.candidates))]
        else:
            yield from self._halving() if self.how.policy == "halving" else self._one_by_one()

    def _one_by_one(self) -> Iterator[Pairs]:
        while self.judged < self.budget:
            ahead, pairs = self.counts.astype(float), []
            for _ in range(min(self.how.batch or 1, self.budget - self.judged)):
                i = self._next(ahead)
                if i < 0:
                    break
                pairs.append((i, int(ahead[i])))
                ahead[i] += 1
            yield pairs

    def _next(self, ahead: np.ndarray) -> int:
        known = self.told, self.totals, self.squares
        if self.how.policy == "top two":
            return int(shared.next_candidate(ahead, *known, len(self.examples)))
        return int(shared.most_gained(self.gains, ahead, *known))

    def _halving(self) -> Iterator[Pairs]:
        stages = shared.stage_rows(len(self.candidates), len(self.examples), self.budget)
        active = np.arange(len(self.candidates))
        for size, end in stages:
            gains = [self.totals[i] / self.told[i] if self.told[i] else -np.inf for i in active]
            if size < len(active):
                active = np.sort(active[np.argsort(-np.array(gains), kind="stable")[:size]])
            start = int(self.counts[active].max())
            yield [(int(i), t) for t in range(start, end) for i in active]

    # --- judging -----------------------------------------------------------------------------------------

    def _judge(self, pairs: Pairs, file: ScoreFile | None) -> None:
        keys = {pair: (pair[0], int(self.order[pair[1]])) for pair in pairs}
        missing = [pair for pair in pairs if keys[pair] not in self.known]
        for pair, score in self._evaluated([(pair, keys[pair]) for pair in missing]):
            if file is None:
                self.known[keys[pair]] = score
            else:
                file.add(*keys[pair], score)
        for pair in pairs:  # in the order of the plan, whenever they came
            self._take(*pair, self.known[keys[pair]])

    def _evaluated(self, jobs: list[tuple[tuple[int, int], tuple[int, int]]]) -> Iterator[tuple[Any, float | None]]:
        work = [
            (pair, (self.evaluate, self.candidates[i], self.examples[j], self.how.retries)) for pair, (i, j) in jobs
        ]
        if self.how.executor is None:
            for pair, arguments in work:
                yield pair, self._checked(*attempt(*arguments))
            return
        futures = {self.how.executor.submit(attempt, *arguments): pair for pair, arguments in work}
        try:
            for future in as_completed(futures):
                yield futures[future], self._checked(*future.result())
        finally:
            for future in futures:
                future.cancel()

    def _checked(self, score: Any, error: Exception | None) -> float | None:
        self.in_a_row = self.in_a_row + 1 if score is None else 0
        if self.in_a_row >= FAILURES:
            raise RuntimeError(
                f"evaluate failed {FAILURES} times in a row, the last time with {type(error).__name__}: "
                f"{checks.shown(error)}; mend it and make the same call again"
            ) from error
        return None if score is None else checks.reward("the score from evaluate", score)

    def _take(self, candidate: int, place: int, score: float | None) -> None:
        self.judged += 1
        self.counts[candidate] += 1
        if score is None:
            return
        gain = -score if self.how.minimise else score
        self.gains[candidate, place] = gain
        old = self.totals[candidate] / self.told[candidate] if self.told[candidate] else gain
        self.told[candidate] += 1
        self.totals[candidate] += gain
        self.squares[candidate] += (gain - old) * (gain - self.totals[candidate] / self.told[candidate])


def attempt(evaluate: Judge, candidate: Any, example: Any, retries: int) -> tuple[Any, Exception | None]:
    """Return a score, or None and the last error if every try has failed."""
    error = None
    for _ in range(retries + 1):
        try:
            return evaluate(candidate, example), None
        except Exception as raised:
            error = raised
    return None, error


def _labels(candidates: list[Any]) -> list[str]:
    """Return a short label for every candidate, no two alike."""
    shown = [checks.shown(candidate, 42) for candidate in candidates]
    shown = [
        text[1:-1] if isinstance(candidate, str) else text for text, candidate in zip(shown, candidates, strict=True)
    ]
    return [label if shown.count(label) == 1 else f"{number}: {label}" for number, label in enumerate(shown)]
