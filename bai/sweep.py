"""Simulation studies: many policies, problems and budgets, summarised in one tidy table."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed

import numpy as np
import pandas as pd

from . import checks
from .bandits import Bandits
from .policies import Policy
from .simulate import available_cores, block_count, block_of, check_game, play_block, simple_regret
from .stats import wilson


def sweep(
    policies: Policy | Iterable[Policy],
    problems: Bandits | Mapping[str, Bandits],
    budgets: int | Iterable[int],
    seed: int,
    executor: Executor | None = None,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Play every policy on every problem with every budget.

    Each row equals ``simulate(policy, problem, budget, seed)``. All combinations are checked before any is played.

    Parameters
    ----------
    policies : Policy or iterable of Policy
    problems : Bandits or mapping of str to Bandits
        A single ensemble is called "problem".
    budgets : int or iterable of int
    seed : int
    executor : concurrent.futures.Executor, optional
        Who plays the blocks of runs; by default threads on all cores. The numbers do not depend on it.
    progress : bool, optional
        Show a progress bar; by default where a person is watching.

    Returns
    -------
    pandas.DataFrame
        Columns policy, problem, n_arms, budget, runs, mistakes, mistake_rate, low, high (Wilson's 95 % interval)
        and seconds (of computing, summed over the blocks).

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
    cells = _cells(policies, problems, budgets)
    seed = checks.integer("seed", seed, least=0)
    if progress is None:
        progress = sys.stderr is not None and sys.stderr.isatty()
    checks.flag("progress", progress)
    bar = _progress_bar(sum(bandits.runs for _, _, bandits, _ in cells)) if progress else None
    mistakes, seconds = np.zeros(len(cells), np.int64), np.zeros(len(cells))
    own = ThreadPoolExecutor(available_cores()) if executor is None else None
    try:
        waiting: dict[Future, int] = {}
        for c, (policy, _, bandits, budget) in enumerate(cells):
            for block in range(block_count(bandits)):
                job = (policy, block_of(bandits, block), budget, seed, block)
                waiting[(executor or own).submit(_count_mistakes, *job)] = c
        for future in as_completed(waiting):
            c = waiting[future]
            wrong, runs, took = future.result()
            mistakes[c] += wrong
            seconds[c] += took
            if bar is not None:
                bar.update(runs)
    finally:
        if own is not None:
            own.shutdown(cancel_futures=True)
        if bar is not None:
            bar.close()
    return _table(cells, mistakes, seconds)


def _progress_bar(runs: int):
    from tqdm.auto import tqdm  # warns in a notebook without widgets, so only where a bar is wanted

    return tqdm(total=runs, unit="run")


def _cells(policies, problems, budgets) -> list[tuple[Policy, str, Bandits, int]]:
    policies = [policies] if isinstance(policies, Policy) else list(policies)
    problems = problems if isinstance(problems, Mapping) else {"problem": problems}
    budgets = [int(n) if isinstance(n, np.integer) else n for n in np.atleast_1d(np.asarray(budgets, dtype=object))]
    for name, given in (("policies", policies), ("problems", problems), ("budgets", budgets)):
        if not len(given):
            raise ValueError(f"{name} is empty; give at least one")
    names = [str(policy) for policy in policies]
    if len(set(names)) < len(names):
        raise ValueError(f"policies are {', '.join(names)}; each may occur only once")
    cells = [(p, name, problem, n) for p in policies for name, problem in problems.items() for n in budgets]
    for policy, _, problem, budget in cells:
        check_game(policy, problem, budget)
    return cells


def _count_mistakes(policy: Policy, bandits: Bandits, budget: int, seed: int, block: int) -> tuple[int, int, float]:
    started = time.perf_counter()
    _, recommended = play_block(policy, bandits, budget, seed, block)
    wrong = int((simple_regret(bandits, recommended) > 0).sum())
    return wrong, bandits.runs, time.perf_counter() - started


def _table(cells, mistakes: np.ndarray, seconds: np.ndarray) -> pd.DataFrame:
    runs = np.array([bandits.runs for _, _, bandits, _ in cells])
    low, high = wilson(mistakes, runs)
    return pd.DataFrame(
        {
            "policy": [str(policy) for policy, _, _, _ in cells],
            "problem": [name for _, name, _, _ in cells],
            "n_arms": [bandits.n_arms for _, _, bandits, _ in cells],
            "budget": [budget for _, _, _, budget in cells],
            "runs": runs,
            "mistakes": mistakes,
            "mistake_rate": mistakes / runs,
            "low": low,
            "high": high,
            "seconds": seconds,
        }
    )
