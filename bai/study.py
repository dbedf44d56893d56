"""Simulation studies: many policies, problems and budgets, summarised in one tidy table.

A row of the table is a policy on a problem with a budget, and is played in blocks of runs. Jobs of several blocks go to
an executor, and their results are added up as they come back; where and when a block is played makes no difference to
the numbers.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import time
import traceback
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, fields
from fractions import Fraction
from math import fsum, inf
from typing import Any

import numpy as np
import pandas as pd

from . import bars, checks
from .blocks import Block, Blocks, MakeInstances, problem_blocks
from .checkpoint import BlockResult, Checkpoint
from .play import BLOCK, CORES, check_executor, check_game, play_block
from .policies.base import Policy
from .problems import Bandits
from .stats import Paired, clopper_pearson, paired, wilson_ends

JOB_SECONDS = 0.5  # a job should take this long: it outweighs the cost of sending it, and is little to lose
JOB_BYTES = 8_000_000  # and carry no more than this when it goes to another process
FIRST_LOOK = 5000  # runs before the width of an interval is looked at for the first time
LOOK_CONFIDENCE = 0.98  # of the interval at each look; see `Until`
BLOCK_BYTES = -(-BLOCK // 8)  # one bit per run

Problem = Bandits | MakeInstances


@dataclass(frozen=True)
class Until:
    """As many runs as it takes to know every mistake rate to within `half_width`: an argument `runs` of `sweep`.

    A row starts with 5,000 runs or more, and doubles them until the half-width of its interval is small enough. An
    ensemble is played again in whole rounds, with fresh rewards; the rate is then that of its instances. A function
    makes new instances; the rate is then that of all instances it can make.

    At each look the interval is Clopper and Pearson's with confidence 98 %. At the look where the row stops, it covers
    the truth with probability at least 95 %: for a given mistake probability, all but negligible chances of stopping
    belong to two or three neighbouring looks, and at each of these the interval misses with probability at most 2 %. A
    test sums the exact probabilities.

    Parameters
    ----------
    half_width : float
        Between 0 and 0.5.

    Examples
    --------
    >>> import bai
    >>> from functools import partial
    >>> table = bai.sweep(bai.SH(), partial(bai.synthetic, 8), [100, 400], seed=1, runs=bai.Until(0.01))
    >>> table["runs"].tolist(), bool((table["high"] - table["low"]).max() <= 0.02)
    ([10000, 5000], True)
    """

    half_width: float

    def __post_init__(self) -> None:
        checks.settle(self, half_width=checks.number("half_width", self.half_width, above=0, below=0.5))


class SweepTable(pd.DataFrame):
    """The table that `sweep` returns: a DataFrame that also knows the runs behind its rows.

    A filtered or copied table is a plain DataFrame; only the original knows its runs.

    Examples
    --------
    >>> import bai
    >>> table = bai.sweep([bai.SH(), bai.SHVar()], bai.synthetic(8, 400, seed=0), [100, 200], seed=1)
    >>> bool(table.run_mistakes("SH", budget=200).sum() == table["mistakes"][1])
    True
    >>> table.paired("SHVar", "SH", budget=200).runs
    400
    """

    _metadata: list[str] = ["_totals"]  # noqa: RUF012  the name and type are pandas'
    _totals: list[Totals]

    def run_mistakes(self, policy: Policy | str, problem: str | None = None, budget: int | None = None) -> np.ndarray:
        """Return whether each run of a row was a mistake (an array of bool).

        Parameters
        ----------
        policy : Policy or str
        problem : str, optional
        budget : int, optional
            Both may be left out where there is only one.
        """
        return self._row(policy, problem, budget).run_mistakes()

    def _row(self, policy: Policy | str, problem: str | None, budget: int | None, argument: str = "policy") -> Totals:
        if not isinstance(policy, (str, Policy)):
            checks.wrong_type(argument, policy, "a policy of the table, or its name")
        if problem is not None and not isinstance(problem, str):
            checks.wrong_type("problem", problem, "the name of a problem of the table, or None")
        budget = None if budget is None else checks.integer("budget", budget, least=1)
        wanted = (str(policy), problem, budget)
        found = [t for t in self._totals if t.policy == wanted[0] and problem in (None, t.problem)]
        found = [t for t in found if budget in (None, t.budget)]
        if len(found) != 1:
            raise ValueError(
                f"policy, problem and budget are {checks.shown(wanted)}, which name {len(found)} rows; they must name "
                f"one, and its policies are {', '.join(dict.fromkeys(t.policy for t in self._totals))}"
            )
        return found[0]

    def paired(
        self, first: Policy | str, second: Policy | str, problem: str | None = None, budget: int | None = None
    ) -> Paired:
        """Compare the mistakes of two policies on the same runs; see `run_mistakes` and `bai.paired`."""
        rows = [
            self._row(policy, problem, budget, argument) for argument, policy in (("first", first), ("second", second))
        ]
        if rows[0].sizes != rows[1].sizes:
            raise ValueError(
                f"{rows[0].policy} has {rows[0].runs} runs and {rows[1].policy} {rows[1].runs}, and they are not all "
                "the same; finish the study, or give both the same runs"
            )
        return paired(*(row.run_mistakes() for row in rows))


def sweep(
    policies: Policy | Iterable[Policy] | Mapping[str, Policy],
    problems: Problem | Mapping[str, Problem],
    budgets: int | Iterable[int],
    seed: int,
    executor: Executor | None = None,
    progress: bool | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    runs: int | Until | None = None,
) -> SweepTable:
    """Play every policy on every problem with every budget.

    Each row equals ``simulate(policy, problem, budget, seed)``. All combinations are checked before any is played.
    The numbers depend neither on the executor nor on interruptions.

    Parameters
    ----------
    policies : Policy, iterable of Policy, or mapping of str to Policy
        A mapping gives the policies names of your choice.
    problems : Bandits, function, or mapping of str to these
        An ensemble, or a function that makes one: called with ``runs`` and ``seed`` it returns that many instances,
        as ``functools.partial(bai.synthetic, 64)`` does. Every block of 500 runs then gets instances of its own, the
        same ones for all policies and budgets. A single problem is called "problem".
    budgets : int or iterable of int
    seed : int
    executor : concurrent.futures.Executor, optional
        Plays the blocks of runs; by default threads on all cores do. A ``ProcessPoolExecutor``, the
        ``get_executor()`` of a Dask client and an MPI pool work as well.
    progress : bool, optional
        Show a progress bar (needs tqdm). By default in a terminal, and in Jupyter if the study takes more than five
        seconds; never where a program runs a notebook.
    checkpoint : path-like, optional
        A file to which every finished block is added. After an interruption the same call goes on where it stopped.
        `read_checkpoint` shows the table so far. The file may be used again with more `runs`. It knows a policy by its
        repr and an ensemble by what it holds, not by their code: take a new file after a change of `steps` or `draw`.
    runs : int or Until, optional
        Number of runs of the problems that are functions; an ensemble has its own. Or ``bai.Until(0.01)``: as many
        as it takes to know every rate to within 0.01.

    Returns
    -------
    SweepTable
        A DataFrame with the columns policy, problem, n_arms, budget, runs, mistakes, mistake_rate, low, high (Wilson's
        95 % interval, or that of `Until`), regret, regret_error (mean simple regret and its standard error) and seconds
        (of computing, summed over the blocks). Its method `run_mistakes` returns the mistakes of single runs.

    Raises
    ------
    RuntimeError
        After all other blocks have been played, if some blocks failed. It names them, and its attribute `table` is
        the table of the others. Any other exception that ends a study early has that attribute too.

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
    """
    seed = checks.integer("seed", seed, 0, below=None)
    rows = study_rows(policies, problems, budgets, seed, runs)
    half_width = runs.half_width if isinstance(runs, Until) else None
    workers = ThreadPoolExecutor(CORES) if executor is None else check_executor(executor)
    with nullcontext() if progress is False else bars.bar(progress, unit="run", unit_scale=True) as bar:
        file = None if checkpoint is None else Checkpoint(checkpoint, describe(rows, seed))
        try:
            for number, row in enumerate(rows):
                row.recorded = {} if file is None else file.results(number)
                _set_goal(row, half_width)
            _play(rows, seed, half_width, workers, file, bar)
        except BaseException as error:
            error.table = _table(rows, half_width)  # pyright: ignore[reportAttributeAccessIssue]
            if file is not None:
                error.add_note(f"{file.count()} blocks are kept in '{file.path}'; the same call goes on from there.")
            raise
        finally:
            if executor is None:
                workers.shutdown(wait=False, cancel_futures=True)
            if file is not None:
                file.close()
    return _table(rows, half_width)


def read_checkpoint(checkpoint: str | os.PathLike[str]) -> SweepTable:
    """Return the table so far of a study that writes, or wrote, to a checkpoint.

    It may be called while the study runs, from another process or notebook. Intervals are Wilson's; a row that has
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
    with closing(Checkpoint(checkpoint)) as file:
        study = file.study
        arms = {name: n_arms for name, (n_arms, _) in study["problems"].items()}
        labels = [(p, name, k, n) for p in study["policies"] for name, k in arms.items() for n in study["budgets"]]
        rows = [Totals(*label) for label in labels]
        for number, totals in enumerate(rows):
            for result in file.results(number).values():
                totals.add(result)
    return _table(rows)


# --- a row of the table ----------------------------------------------------------------------------------


@dataclass
class Totals:
    """What is known about a row, added up block by block.

    Sums of regrets are exact fractions, so that they do not depend on the order of the blocks.
    """

    policy: str
    problem: str
    n_arms: int
    budget: int
    runs: int = 0
    mistakes: int = 0
    regret: Fraction = Fraction(0)
    squares: Fraction = Fraction(0)
    seconds: float = 0.0
    bits: bytearray = field(default_factory=bytearray, repr=False)  # the mistakes of each block, a bit per run
    sizes: dict[int, int] = field(default_factory=dict, repr=False)  # runs of each block

    def add(self, result: BlockResult) -> None:
        """Add a block."""
        self.runs += result.runs
        self.mistakes += int.from_bytes(result.mistakes, "little").bit_count()
        self.regret += Fraction(result.regret)
        self.squares += Fraction(result.squares)
        self.seconds += result.seconds
        start = result.block * BLOCK_BYTES
        if len(self.bits) < start + BLOCK_BYTES:
            self.bits.extend(bytes(start + BLOCK_BYTES - len(self.bits)))
        self.bits[start : start + len(result.mistakes)] = result.mistakes
        self.sizes[result.block] = result.runs

    def run_mistakes(self) -> np.ndarray:
        """Return the mistakes of all runs, in the order of the blocks."""
        bits = np.frombuffer(bytes(self.bits), np.uint8).reshape(-1, BLOCK_BYTES)
        flags = np.unpackbits(bits, axis=1, bitorder="little").astype(bool)
        blocks = [flags[block, :size] for block, size in sorted(self.sizes.items())]
        return np.concatenate(blocks) if blocks else np.empty(0, bool)


@dataclass
class Row(Totals):
    """A row of a study: its totals, and what is left to play."""

    player: Policy = field(default_factory=Policy)
    blocks: Blocks = field(kw_only=True)
    goal: int = 0  # runs to play
    planned: list[int] = field(default_factory=list)  # runs of the blocks of the goal
    todo: deque[int] = field(default_factory=deque)  # blocks that nobody is playing yet
    unfinished: int = 0  # blocks of the goal without a result
    seconds_per_block: float = inf
    recorded: dict[int, BlockResult] = field(default_factory=dict)  # blocks of an earlier call


def _set_goal(row: Row, half_width: float | None) -> None:
    """Set the first goal of a row; double that of a finished one while its interval is too wide."""
    while row.unfinished == 0:
        if row.goal == 0:
            row.goal = row.blocks.first_runs
        else:
            if half_width is None:
                return
            low, high = clopper_pearson(row.mistakes, row.runs, LOOK_CONFIDENCE)
            if (high - low) / 2 <= half_width:
                return
            row.goal *= 2
        first, row.planned = len(row.planned), row.blocks.sizes(row.goal)
        for block in range(first, len(row.planned)):
            known = row.recorded.get(block)
            # A block of another size was the last one of a smaller study.
            if known is not None and known.runs == row.planned[block]:
                row.add(known)
            else:
                row.todo.append(block)
                row.unfinished += 1


def _table(rows: Sequence[Totals], half_width: float | None = None) -> SweepTable:
    columns = ("policy", "problem", "n_arms", "budget", "runs", "mistakes")
    table = pd.DataFrame({name: [getattr(row, name) for row in rows] for name in columns})
    mistakes, runs = table["mistakes"].to_numpy(), table["runs"].to_numpy()
    some = np.maximum(runs, 1)
    if half_width is None:
        low, high = wilson_ends(mistakes, some)
    else:
        low, high = clopper_pearson(mistakes, some, LOOK_CONFIDENCE)
    regret = [row.regret / max(1, row.runs) for row in rows]
    variance = [max(0.0, float(row.squares / max(1, row.runs) - r * r)) for row, r in zip(rows, regret, strict=True)]
    table = table.assign(mistake_rate=mistakes / some, low=low, high=high)
    table = table.assign(regret=[float(r) for r in regret], regret_error=np.sqrt(np.array(variance) / some))
    table.loc[runs == 0, ["mistake_rate", "low", "high", "regret", "regret_error"]] = np.nan
    result = SweepTable(table.assign(seconds=[row.seconds for row in rows]))
    # The totals only: policies and problems may be large, or impossible to pickle.
    result._totals = [Totals(**{f.name: getattr(row, f.name) for f in fields(Totals)}) for row in rows]
    return result


# --- playing ---------------------------------------------------------------------------------------------

Played = tuple[list[BlockResult], list[tuple[int, str]]]  # results, and the blocks that failed with the reason


def play_blocks(policy: Policy, budget: int, seed: int, blocks: list[tuple[int, Block]]) -> Played:
    """Play a job: some blocks of a row."""
    results, failures = [], []
    for number, block in blocks:
        started = time.perf_counter()
        try:
            bandits = block if isinstance(block, Bandits) else block()
            regret = play_block(policy, bandits, budget, seed, number, with_pulls=False).regret
            bits = np.packbits(regret > 0, bitorder="little").tobytes()
            sums = fsum(regret.tolist()), fsum((regret * regret).tolist())
            results.append(BlockResult(number, len(regret), bits, *sums, time.perf_counter() - started))
        except Exception:
            failures.append((number, traceback.format_exc()))
    return results, failures


def _play(
    rows: list[Row], seed: int, half_width: float | None, workers: Executor, file: Checkpoint | None, bar: Any
) -> None:
    """Send the blocks of all rows to the workers and add up what comes back.

    Raise RuntimeError at the end if some blocks failed.
    """
    most_jobs = 2 * CORES  # out at the same time
    sent: dict[Future[Played], tuple[int, float]] = {}
    failures: list[tuple[Row, int, str]] = []
    try:
        while True:
            waiting = [number for number, row in enumerate(rows) if row.todo]
            while waiting and len(sent) < most_jobs:
                row, left = rows[waiting[0]], sum(len(rows[number].todo) for number in waiting)
                # As many blocks as fill a job, but fewer when little is left to share out.
                most = min(JOB_SECONDS / row.seconds_per_block, JOB_BYTES / row.blocks.bytes, left / (2 * most_jobs))
                numbers = [row.todo.popleft() for _ in range(min(max(1, int(most)), len(row.todo)))]
                blocks = [(block, row.blocks.block(block, row.planned[block])) for block in numbers]
                future = workers.submit(play_blocks, row.player, row.budget, seed, blocks)
                sent[future] = waiting[0], time.perf_counter()
                waiting = waiting if row.todo else waiting[1:]
            if not sent:
                break
            done, _ = wait(sent, return_when=FIRST_COMPLETED)
            back = {future: sent.pop(future) for future in done}
            for number, seconds, away, failed in _collect(rows, back, file):
                failures += [(rows[number], *failure) for failure in failed]
                # A job that waited for its turn for less time than it took to play shows that a worker may be idle.
                most_jobs += away < 2 * seconds
                _set_goal(rows[number], half_width)
            if bar is not None:
                bar.total = sum(row.goal for row in rows)
                bar.update(sum(row.runs for row in rows) - bar.n)
    finally:
        for future in sent:
            future.cancel()
    if failures:
        raise _failure(failures)


def _collect(
    rows: list[Row], back: dict[Future[Played], tuple[int, float]], file: Checkpoint | None
) -> list[tuple[int, float, float, list[tuple[int, str]]]]:
    """Record and add up the jobs that came back.

    Return the row of each, how long it took, how long it was away, and the blocks that failed.
    """
    lost, jobs = None, []
    for future, (number, sent) in back.items():
        try:
            jobs.append((number, sent, *future.result()))
        except Exception as error:  # from the worker that was to play the blocks, not from the blocks
            lost = error
    if file is not None:
        file.record((number, result) for number, _, results, _ in jobs for result in results)
    collected = []
    for number, sent, results, failures in jobs:
        row, seconds = rows[number], sum(result.seconds for result in results)
        for result in results:
            row.add(result)
        row.unfinished -= len(results)
        row.seconds_per_block = seconds / len(results) if results else row.seconds_per_block
        collected.append((number, seconds, time.perf_counter() - sent, failures))
    if lost is not None:
        raise lost
    return collected


def _failure(failures: list[tuple[Row, int, str]]) -> RuntimeError:
    """Return an error that names the first block that failed."""
    row, block, reason = failures[0]
    more = f", and {len(failures) - 1} other blocks failed" if len(failures) > 1 else ""
    error = RuntimeError(
        f"{row.policy} on {row.problem!r} with budget {row.budget} failed in block {block} "
        f"(runs {block * BLOCK} to {(block + 1) * BLOCK - 1}){more}; "
        f"all others were played, see the attribute 'table' of this error. "
        f"The reason: {reason.strip().splitlines()[-1]}"
    )
    error.add_note(reason)
    return error


# --- what the study is -----------------------------------------------------------------------------------


def study_rows(policies: Any, problems: Any, budgets: Any, seed: int, runs: Any) -> list[Row]:
    """Return the rows of the table; all arguments and combinations are checked."""
    if runs is not None and not isinstance(runs, Until):
        runs = checks.integer("runs", runs, least=1)
    if not isinstance(policies, Mapping):
        listed = checks.several("policies", policies)
        policies = {str(p) if isinstance(p, Policy) else checks.shown(p): p for p in listed}
        if len(policies) < len(listed):
            names = ", ".join(str(policy) for policy in listed)
            raise ValueError(f"policies are {names}; each may occur only once, or give them names: a mapping")
    if not isinstance(problems, Mapping):
        problems = {"problem": problems}
    lengths = [checks.integer("budget", budget, least=1) for budget in checks.several("budgets", budgets)]
    for name, given in (("policies", policies), ("problems", problems)):
        if not given:
            raise ValueError(f"{name} is empty; give at least one")
        for label in given:
            if not isinstance(label, str):
                raise TypeError(f"{name} has the name {label!r}; names must be text")
    if isinstance(runs, int) and all(isinstance(problem, Bandits) for problem in problems.values()):
        raise ValueError(f"runs is {runs}, but every problem is an ensemble with its own number; leave runs out")
    least = FIRST_LOOK if isinstance(runs, Until) else 1
    made = {name: problem_blocks(name, problem, seed, runs, least) for name, problem in problems.items()}
    replayed = [name for name, blocks in made.items() if np.isfinite(blocks.sample.longest)]
    if isinstance(runs, Until) and replayed:
        raise ValueError(
            f"runs is {runs}, but problem {replayed[0]!r} replays recorded rewards, and more runs would bring nothing "
            "new; leave runs out"
        )
    rows = []
    for label, policy in policies.items():
        for name, blocks in made.items():
            for length in lengths:
                budget = check_game(policy, blocks.sample, length)
                rows.append(Row(label, name, blocks.sample.means.shape[1], budget, player=policy, blocks=blocks))
    if len({(row.policy, row.problem, row.budget) for row in rows}) < len(rows):
        raise ValueError(f"budgets are {lengths}; each may occur only once")
    return rows


def describe(rows: list[Row], seed: int) -> dict[str, Any]:
    """Return everything on which the numbers of a block depend."""
    samples = {row.problem: row.blocks.sample for row in rows}
    return {
        "bai": importlib.metadata.version("bai"),
        "numpy": np.__version__,
        "runs per block": BLOCK,
        "seed": seed,
        "policies": {row.policy: checks.full_repr(row.policy, row.player) for row in rows},
        "budgets": list(dict.fromkeys(row.budget for row in rows)),
        "problems": {name: [sample.n_arms, sample.fingerprint()] for name, sample in samples.items()},
    }
