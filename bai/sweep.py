"""Simulation studies: many policies, problems and budgets, summarised in one tidy table.

A study is a list of cells (a policy on a problem with a budget), and a cell is a row of blocks of runs. Blocks are
handed out to whoever plays them, in jobs of a fraction of a second, and counted as they come back; which block was
played where and when makes no difference to the numbers.
"""

from __future__ import annotations

import importlib.metadata
import os
import sys
import time
import traceback
import warnings
from collections import deque
from collections.abc import Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from . import checks
from .bandits import Bandits
from .checkpoint import Checkpoint, totals
from .policies import Policy
from .simulate import BLOCK, available_cores, check_game, play_block, simple_regret
from .stats import clopper_pearson, wilson
from .supply import Maker, Pack, Supply

JOB_SECONDS = 0.5  # a job should take this long: enough to drown the handing out, little to lose
JOB_BYTES = 8_000_000  # and take along no more than this, where processes play
FIRST_LOOK = 5000  # runs before `until` is looked at for the first time
LOOK_CONFIDENCE = 0.98  # of the interval at each look; see `sweep`


def sweep(
    policies: Policy | Iterable[Policy],
    problems: Bandits | Maker | Mapping[str, Bandits | Maker],
    budgets: int | Iterable[int],
    seed: int,
    executor: Executor | None = None,
    progress: bool | None = None,
    checkpoint: str | os.PathLike | None = None,
    runs: int | None = None,
    until: float | None = None,
) -> pd.DataFrame:
    """Play every policy on every problem with every budget.

    Each row equals ``simulate(policy, problem, budget, seed)``. All combinations are checked before any is played.
    The numbers do not depend on who plays, on how many play, or on interruptions.

    Parameters
    ----------
    policies : Policy or iterable of Policy
    problems : Bandits, function, or mapping of str to these
        An ensemble, or a function that makes one: called with ``runs`` and ``seed`` it returns that many instances,
        as ``functools.partial(bai.synthetic, 64)`` does. Every block of 500 runs then gets instances of its own, the
        same ones for all policies and budgets. A single problem is called "problem".
    budgets : int or iterable of int
    seed : int
    executor : concurrent.futures.Executor, optional
        Who plays the blocks of runs; by default threads on all cores. A ``ProcessPoolExecutor``, the
        ``get_executor()`` of a Dask client and an MPI pool will do as well.
    progress : bool, optional
        Show a progress bar; by default in a terminal only.
    checkpoint : path-like, optional
        A file that takes in every finished block. After an interruption the same call goes on where it stopped.
        `read_checkpoint` shows the table so far. The file may be used again with more `runs` or a smaller `until`.
    runs : int, optional
        Number of runs of the problems that are functions. An ensemble has its own.
    until : float, optional
        Play until the half-width of each row's interval is at most this: 5,000 runs or more, doubled as often as
        needed. An ensemble is played again in whole rounds, with fresh rewards; the rate is then that of its
        instances. A function makes new instances; the rate is that of all instances that it can make.

        The interval is Clopper and Pearson's with confidence 98 % at each look, and covers with probability at least
        95 % at the look where the row stops. For a given mistake probability it can stop, but for a negligible
        probability, at two or three neighbouring looks, and misses at each with probability at most 2 %; a test sums
        the exact probabilities.

    Returns
    -------
    pandas.DataFrame
        Columns policy, problem, n_arms, budget, runs, mistakes, mistake_rate, low, high (Wilson's 95 % interval,
        or the interval of `until`) and seconds (of computing, summed over the blocks).

    Raises
    ------
    RuntimeError
        After all other blocks have been played, if some blocks failed. It names them, and its attribute `table` is
        the table of the others. Whatever else ends a study early carries that attribute as well.

    Examples
    --------
    >>> import bai
    >>> problems = {"noisy": bai.synthetic(8, 400, seed=0), "quiet": bai.synthetic(8, 400, seed=0, best_arm="quiet")}
    >>> table = bai.sweep([bai.SH(), bai.SHVar()], problems, [100, 200], seed=1)
    >>> table[["policy", "problem", "budget", "runs"]].head(3)
      policy problem  budget  runs
    0     SH   noisy     100   400
    1     SH   noisy     200   400
    2     SH   quiet     100   400

    New instances until every rate is known to within one per cent:

    >>> from functools import partial
    >>> table = bai.sweep(bai.SH(), partial(bai.synthetic, 8), [100, 400], seed=1, until=0.01)
    >>> table["runs"].tolist(), bool((table["high"] - table["low"]).max() <= 0.02)
    ([10000, 5000], True)
    """
    seed = checks.integer("seed", seed, least=0)
    if until is not None:
        until = checks.number("until", until, above=0, below=0.5)
    if progress is None:
        progress = sys.stderr is not None and sys.stderr.isatty()
    checks.flag("progress", progress)
    policies, problems, budgets = _lists(policies, problems, budgets)
    supplies = _supplies(problems, seed, runs, until)
    cells = [_Cell(p, name, s, n) for p in policies for name, s in supplies.items() for n in budgets]
    for cell in cells:
        check_game(cell.policy, cell.supply.sample, cell.budget)
    file = None if checkpoint is None else Checkpoint(checkpoint, _describe(policies, supplies, budgets, seed))
    study = _Study(cells, seed, until, file)
    bar = _progress_bar(study) if progress else None
    own = ThreadPoolExecutor(available_cores()) if executor is None else None
    try:
        study.play(executor or own, bar)
    except BaseException as error:
        error.table = study.table()
        if file is not None:
            error.add_note(f"{file.count()} blocks are kept in '{file.path}'; the same call goes on from there.")
        raise
    finally:
        if own is not None:
            own.shutdown(wait=False, cancel_futures=True)
        if bar is not None:
            bar.close()
        if file is not None:
            file.close()
    return study.table()


def read_checkpoint(checkpoint: str | os.PathLike) -> pd.DataFrame:
    """Return the table so far of a study that writes, or wrote, to a checkpoint.

    It may be called while the study runs, from another process or notebook. Intervals are Wilson's; a cell that has
    not begun has no rate.

    Examples
    --------
    >>> import bai, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "study.db"
    ...     _ = bai.sweep(bai.SH(), bai.synthetic(8, 1200, seed=0), [100, 200], seed=1, checkpoint=file)
    ...     bai.read_checkpoint(file)[["policy", "budget", "runs"]]
      policy  budget  runs
    0     SH     100  1200
    1     SH     200  1200
    """
    study, (runs, mistakes, seconds) = totals(checkpoint)
    arms = {name: n_arms for name, (n_arms, _) in study["problems"].items()}
    labels = [(p, name, k, n) for p in study["names"] for name, k in arms.items() for n in study["budgets"]]
    return _table(labels, runs.astype(int), mistakes.astype(int), seconds)


# --- one cell of the study ------------------------------------------------------------------------------


@dataclass
class _Cell:
    """A policy on a problem with a budget: what is to be played, and what came of it."""

    policy: Policy
    problem: str
    supply: Supply
    budget: int
    recorded: np.ndarray = field(default_factory=lambda: np.empty((0, 4)))  # block, runs, mistakes, seconds
    todo: deque = field(default_factory=deque)  # ranges of blocks that nobody plays yet
    goal: int = 0  # runs to play
    pending: int = 0  # blocks of the goal that have not come back
    runs: int = 0
    mistakes: int = 0
    seconds: float = 0.0
    pace: float = np.inf  # seconds per block

    def __str__(self) -> str:
        return f"{self.policy} on {self.problem!r} with budget {self.budget}"

    def aim(self, goal: int) -> None:
        """Set the number of runs to play; blocks that were recorded before are not played again."""
        start, self.goal = self.supply.blocks(self.goal), goal
        blocks = np.arange(start, self.supply.blocks(goal))
        sizes = self.supply.sizes(blocks, goal)
        known = np.zeros(blocks.size, bool)
        for block, runs, mistakes, seconds in self.recorded[np.isin(self.recorded[:, 0], blocks)].tolist():
            if runs == sizes[int(block) - start]:  # or else it was the last block of a smaller study
                known[int(block) - start] = True
                self.add(int(runs), int(mistakes), seconds)
        left = blocks[~known]
        self.pending = left.size
        if left.size:
            cuts = np.flatnonzero(np.diff(left) > 1) + 1
            self.todo.extend((part[0], part[-1] + 1) for part in np.split(left, cuts))

    def add(self, runs: int, mistakes: int, seconds: float) -> None:
        self.runs += runs
        self.mistakes += mistakes
        self.seconds += seconds

    def take(self, most: int) -> tuple[int, int]:
        """Take blocks out of what is to be played."""
        first, last = (int(end) for end in self.todo.popleft())
        if last - first > most:
            self.todo.appendleft((first + most, last))
            last = first + most
        return first, last

    def is_wide(self, until: float) -> bool:
        low, high = clopper_pearson(self.mistakes, self.runs, LOOK_CONFIDENCE)
        return bool((high - low) / 2 > until)


# --- the study -------------------------------------------------------------------------------------------

Result = tuple[int, int, int, float]  # block, runs, mistakes, seconds


def _play_blocks(
    policy: Policy, budget: int, seed: int, pack: Pack, first: int
) -> tuple[list[Result], list[tuple[int, str]]]:
    """Play the blocks of a pack; return what came of them, and the blocks that failed, with the reason."""
    results, failures = [], []
    for number in range(len(pack.sizes)):
        block, started = first + number, time.perf_counter()
        try:
            bandits = pack.block(number, block, seed)
            _, recommended = play_block(policy, bandits, budget, seed, block)
            mistakes = int((simple_regret(bandits, recommended) > 0).sum())
            results.append((block, bandits.runs, mistakes, time.perf_counter() - started))
        except Exception:
            failures.append((block, traceback.format_exc()))
    return results, failures


class _Study:
    """Hands out the blocks of all cells and takes in what comes back."""

    def __init__(self, cells: list[_Cell], seed: int, until: float | None, file: Checkpoint | None):
        self.cells, self.seed, self.until, self.file = cells, seed, until, file
        self.failures: list[tuple[_Cell, int, str]] = []
        self.numbers = {id(cell): number for number, cell in enumerate(cells)}
        for number, cell in enumerate(cells):
            if file is not None:
                cell.recorded = file.blocks(number)
            cell.aim(cell.supply.first_goal)
            self.look(cell)
        self.open = deque(cell for cell in cells if cell.todo)

    def look(self, cell: _Cell) -> None:
        """Double the runs of a finished cell while its interval is too wide."""
        while self.until is not None and not cell.pending and cell.is_wide(self.until):
            cell.aim(2 * cell.goal)

    def play(self, executor: Executor, bar) -> None:
        """Play everything; raise RuntimeError at the end if some blocks failed."""
        window = 2 * available_cores()  # jobs that are out at the same time
        waiting: dict[Future, tuple[_Cell, float]] = {}
        try:
            while True:
                while self.open and len(waiting) < window:
                    cell, first, last = self.next_job(window)
                    pack = cell.supply.pack(first, last, cell.goal)
                    future = executor.submit(_play_blocks, cell.policy, cell.budget, self.seed, pack, first)
                    waiting[future] = cell, time.perf_counter()
                if not waiting:
                    break
                done, _ = wait(waiting, return_when=FIRST_COMPLETED)
                back, lost = [], None
                for future in done:
                    cell, sent = waiting.pop(future)
                    try:
                        back.append((cell, sent, *future.result()))
                    except Exception as error:  # not of the blocks, but of whoever was to play them
                        lost = error
                self.take_in(back)
                if lost is not None:
                    raise lost
                for _, sent, results, _ in back:
                    took = sum(seconds for *_, seconds in results)
                    # A job that did not wait its turn for as long as it took shows that somebody may be idle.
                    window += time.perf_counter() - sent < 2 * took
                    if bar is not None:
                        bar.total = sum(cell.goal for cell in self.cells)
                        bar.update(sum(runs for _, runs, _, _ in results))
        finally:
            for future in waiting:
                future.cancel()
        self.report_failures()

    def next_job(self, window: int) -> tuple[_Cell, int, int]:
        """Take blocks of the first cell that has some: as many as fill a job, fewer when little is left for all."""
        cell = self.open[0]
        left = sum(last - first for cell in self.open for first, last in cell.todo)
        most = int(min(JOB_SECONDS / cell.pace, JOB_BYTES / max(1, cell.supply.bytes), left / (2 * window)))
        first, last = cell.take(max(1, most))
        if not cell.todo:
            self.open.popleft()
        return cell, first, last

    def take_in(self, back: list) -> None:
        """Record and count the jobs that came back."""
        if self.file is not None:
            self.file.record((self.numbers[id(cell)], *r) for cell, _, results, _ in back for r in results)
        for cell, _, results, failures in back:
            for _, *result in results:
                cell.add(*result)
            self.failures += [(cell, *failure) for failure in failures]
            if results:
                cell.pace = sum(seconds for *_, seconds in results) / len(results)
            cell.pending -= len(results)
            had_todo = bool(cell.todo)
            self.look(cell)
            if cell.todo and not had_todo:
                self.open.append(cell)

    def report_failures(self) -> None:
        if not self.failures:
            return
        cell, block, reason = self.failures[0]
        more = f", and {len(self.failures) - 1} other blocks failed" if len(self.failures) > 1 else ""
        error = RuntimeError(
            f"{cell} failed in block {block} (runs {block * BLOCK} to {(block + 1) * BLOCK - 1}){more}; "
            f"all others were played, see the attribute 'table' of this error. "
            f"The reason: {reason.strip().splitlines()[-1]}"
        )
        error.add_note(reason)
        raise error

    def table(self) -> pd.DataFrame:
        labels = [(str(c.policy), c.problem, c.supply.sample.n_arms, c.budget) for c in self.cells]
        counts = [[getattr(c, name) for c in self.cells] for name in ("runs", "mistakes", "seconds")]
        return _table(labels, *map(np.array, counts), self.until)


def _table(
    labels: list[tuple[str, str, int, int]],
    runs: np.ndarray,
    mistakes: np.ndarray,
    seconds: np.ndarray,
    until: float | None = None,
) -> pd.DataFrame:
    some = np.where(runs > 0, runs, 1)
    low, high = wilson(mistakes, some) if until is None else clopper_pearson(mistakes, some, LOOK_CONFIDENCE)
    table = pd.DataFrame(labels, columns=["policy", "problem", "n_arms", "budget"])
    table = table.assign(runs=runs, mistakes=mistakes, mistake_rate=mistakes / some, low=low, high=high)
    table.loc[runs == 0, ["mistake_rate", "low", "high"]] = np.nan
    return table.assign(seconds=seconds)


def _progress_bar(study: _Study):
    from tqdm import TqdmWarning

    with warnings.catch_warnings():  # a notebook without widgets gets the bar as text, which needs no warning
        warnings.simplefilter("ignore", TqdmWarning)
        from tqdm.auto import tqdm

        runs = sum(cell.runs for cell in study.cells)
        return tqdm(total=sum(cell.goal for cell in study.cells), initial=runs, unit="run", unit_scale=True)


# --- what the study is -----------------------------------------------------------------------------------


def _lists(policies, problems, budgets) -> tuple[list[Policy], dict[str, Bandits | Maker], list[int]]:
    policies = [policies] if isinstance(policies, Policy) else list(policies)
    problems = dict(problems) if isinstance(problems, Mapping) else {"problem": problems}
    budgets = [int(n) if isinstance(n, np.integer) else n for n in np.atleast_1d(np.asarray(budgets, dtype=object))]
    for name, given in (("policies", policies), ("problems", problems), ("budgets", budgets)):
        if not len(given):
            raise ValueError(f"{name} is empty; give at least one")
    for name in problems:
        if not isinstance(name, str):
            raise ValueError(f"problems has the name {name!r}; names must be text")
    names = [str(policy) for policy in policies]
    if len(set(names)) < len(names):
        raise ValueError(f"policies are {', '.join(names)}; each may occur only once")
    return policies, problems, budgets


def _supplies(problems: dict, seed: int, runs: int | None, until: float | None) -> dict[str, Supply]:
    if runs is not None:
        runs = checks.integer("runs", runs, least=1)
    makers = [name for name, problem in problems.items() if not isinstance(problem, Bandits)]
    for name in makers:
        if not callable(problems[name]):
            raise ValueError(
                f"problem {name!r} is {problems[name]!r}; it must be an ensemble such as bai.GaussianBandits(...), or "
                "a function of runs and seed that returns one"
            )
    if makers and (runs is None) == (until is None):
        raise ValueError(f"problem {makers[0]!r} is a function, which has no number of runs; give either runs or until")
    if runs is not None and not makers:
        raise ValueError(
            f"runs is {runs}, but every problem is an ensemble with its own number of runs; leave runs out"
        )
    fixed = [name for name, p in problems.items() if isinstance(p, Bandits) and np.isfinite(p.longest)]
    if until is not None and fixed:
        raise ValueError(
            f"until is {until}, but problem {fixed[0]!r} replays recorded rewards, and more runs would bring nothing "
            "new; leave until out"
        )
    round_runs = None if until is None else FIRST_LOOK
    return {name: Supply(name, problem, seed, runs, round_runs) for name, problem in problems.items()}


def _describe(policies: list[Policy], supplies: dict[str, Supply], budgets: list[int], seed: int) -> dict:
    """Return everything on which the numbers of a block depend."""
    return {
        "bai": importlib.metadata.version("bai"),
        "numpy": np.__version__,
        "runs per block": BLOCK,
        "seed": seed,
        "policies": [repr(policy) for policy in policies],
        "names": [str(policy) for policy in policies],
        "budgets": [int(n) for n in budgets],
        "problems": {name: [supply.sample.n_arms, supply.data()] for name, supply in supplies.items()},
    }
