"""Problems cut into blocks of runs: an ensemble, played once or in rounds, or whatever a function makes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np

from . import checks
from .play import BLOCK
from .problems import Bandits

MakeInstances = Callable[..., Bandits]  # called with runs=... and seed=...
Block = Bandits | Callable[[], Bandits]  # runs, or a function without arguments that makes them where they are played


@dataclass(frozen=True)
class Blocks:
    """A problem as a sequence of blocks."""

    sample: Bandits  # the ensemble as it was given, or instances that the function made
    first_runs: int  # runs to start with
    again: bool  # whether further runs play the ensemble once more, in whole rounds
    bytes: int  # how many travel with a block to another process
    block: Callable[[int, int], Block]  # just what it takes to play a block, given its number and size

    def sizes(self, runs: int) -> list[int]:
        """Return the number of runs in each block, given the number in all, which must be whole rounds."""
        a_round = self.first_runs if self.again else runs
        last = a_round % BLOCK
        return ([BLOCK] * (a_round // BLOCK) + [last] * (last > 0)) * (runs // a_round)


def problem_blocks(name: str, problem: Any, seed: int, runs: Any, least: int) -> Blocks:
    """Return an ensemble or a function as blocks.

    A function starts with `runs` if that is a number, otherwise with `least`. An ensemble is repeated until it has
    `least` runs or more.
    """
    if isinstance(problem, Bandits):
        size = len(problem.means)
        times = -(-least // size)
        a_round = problem if times == 1 else problem.select(np.tile(np.arange(size), times))
        travelling = [getattr(problem, array) for array in problem.per_run]
        row_bytes = sum(array[0].nbytes for array in travelling if array.strides[0])
        blocks = -(-times * size // BLOCK)  # of a round

        def rows(block: int, runs: int) -> Bandits:
            start = block % blocks * BLOCK
            return a_round.select(slice(start, start + runs))

        return Blocks(problem, times * size, True, max(1, BLOCK * row_bytes), rows)
    if not callable(problem):
        needed = "an ensemble such as bai.GaussianBandits(...), or a function of runs and seed that returns one"
        checks.wrong_type(f"problem {name!r}", problem, needed)
    if runs is None:
        raise ValueError(
            f"problem {name!r} is a function, which has no number of runs; give runs=5000, or runs=bai.Until(0.01)"
        )
    first_runs, make = runs if isinstance(runs, int) else least, cast(MakeInstances, problem)
    sample = _make(name, make, BLOCK, seed, 0)
    made = lambda block, runs: partial(_make, name, make, runs, seed, block, sample.n_arms)  # noqa: E731
    return Blocks(sample, first_runs, False, 1, made)


def _make(name: str, make: MakeInstances, runs: int, seed: int, block: int, n_arms: int | None = None) -> Bandits:
    # A child of the block's own stream: the same for all policies and budgets, and independent of their rewards.
    state = np.random.SeedSequence(seed, spawn_key=(block, 0)).generate_state(1, np.uint64)
    made = make(runs=runs, seed=int(state[0]))
    if not isinstance(made, Bandits) or made.runs != runs:
        raise ValueError(
            f"problem {name!r}, called with runs={runs}, gave {checks.shown(made)}; "
            f"it must return an ensemble of {runs} runs"
        )
    if n_arms is not None and made.n_arms != n_arms:
        raise ValueError(
            f"problem {name!r} gave {made.n_arms} arms in block {block} and {n_arms} in block 0; "
            "the number of arms must stay the same"
        )
    return made
