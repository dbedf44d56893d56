"""Problems cut into blocks of runs: an ensemble, played once or in rounds, or whatever a function makes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, cast

import numpy as np

from . import checks
from .play import BLOCK
from .problems import Bandits

MakeInstances = Callable[..., Bandits]  # called with runs=... and seed=...
Block = Bandits | Callable[[], Bandits]  # runs, or a function without arguments that makes them where they are played


@dataclass(frozen=True)
class EnsembleBlocks:
    """An ensemble as a sequence of blocks: one round of it, or several."""

    sample: Bandits  # the ensemble as it was given
    bandits: Bandits  # a round: the same, or as many times the same as make enough runs
    first_runs: int  # runs of a round
    bytes: int  # that travel with a block to another process

    def sizes(self, runs: int) -> list[int]:
        """Return the number of runs in each block, for so many runs in all, which are whole rounds."""
        last = self.first_runs % BLOCK
        a_round = [BLOCK] * (self.first_runs // BLOCK) + [last] * (last > 0)
        return a_round * (runs // self.first_runs)

    def block(self, block: int, size: int) -> Block:
        """Return what it takes to play a block, and no more."""
        start = block % -(-self.first_runs // BLOCK) * BLOCK
        return self.bandits.select(slice(start, start + size))


@dataclass(frozen=True)
class FunctionBlocks:
    """The instances that a function makes as a sequence of blocks without end."""

    name: str
    make: MakeInstances
    seed: int
    first_runs: int
    sample: Bandits
    bytes: ClassVar[int] = 1

    def sizes(self, runs: int) -> list[int]:
        """Return the number of runs in each block, for so many runs in all."""
        last = runs % BLOCK
        return [BLOCK] * (runs // BLOCK) + [last] * (last > 0)

    def block(self, block: int, size: int) -> Block:
        """Return what it takes to play a block, and no more."""
        return partial(_make, self.name, self.make, size, self.seed, block, self.sample.n_arms)


def problem_blocks(name: str, problem: Any, seed: int, runs: Any, least: int) -> EnsembleBlocks | FunctionBlocks:
    """Return an ensemble or a function as blocks.

    A function starts with `runs` if that is a number, otherwise with `least`. An ensemble is repeated until it has at
    least so many.
    """
    if isinstance(problem, Bandits):
        size = len(problem.means)
        times = -(-least // size)
        a_round = problem if times == 1 else problem.select(np.tile(np.arange(size), times))
        travelling = [getattr(problem, array) for array in problem.per_run]
        row_bytes = sum(array[0].nbytes for array in travelling if array.strides[0])
        return EnsembleBlocks(problem, a_round, times * size, max(1, BLOCK * row_bytes))
    if not callable(problem):
        needed = "an ensemble such as bai.GaussianBandits(...), or a function of runs and seed that returns one"
        checks.wrong_type(f"problem {name!r}", problem, needed)
    if runs is None:
        raise ValueError(
            f"problem {name!r} is a function, which has no number of runs; give runs=5000, or runs=bai.Until(0.01)"
        )
    first_runs, make = runs if isinstance(runs, int) else least, cast(MakeInstances, problem)
    return FunctionBlocks(name, make, seed, first_runs, _make(name, make, BLOCK, seed, 0))


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
