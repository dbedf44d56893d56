"""Problems as supplies of blocks: an ensemble, again and again, or whatever a function makes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .bandits import Bandits
from .simulate import BLOCK

Maker = Callable[..., Bandits]  # called with runs=... and seed=...


class Supply:
    """A problem as a row of blocks.

    Parameters
    ----------
    name : str
    problem : Bandits or function
    seed : int
    runs : int, optional
        How many runs of a function are to be played at first.
    round_runs : int, optional
        The supply has no end: an ensemble comes in whole rounds, repeated so that a round has at least this many
        runs, and a function starts with as many.
    """

    def __init__(
        self, name: str, problem: Bandits | Maker, seed: int, runs: int | None = None, round_runs: int | None = None
    ):
        self.name = name
        if isinstance(problem, Bandits):
            self.maker = None
            self.sample = problem
            self.bandits = problem if round_runs is None else in_rounds_of(round_runs, problem)
            self.first_goal = self.bandits.runs
        else:
            self.maker = problem
            self.sample = make(name, problem, BLOCK, seed, 0)
            self.first_goal = round_runs if runs is None else runs
        repeated = self.maker is not None or is_repeated(self.bandits)
        rows = [] if repeated else [getattr(self.bandits, attribute) for attribute in self.bandits._per_run]
        self.bytes = BLOCK * sum(array[0].nbytes for array in rows)  # that a block takes along

    def sizes(self, blocks: np.ndarray, runs: int) -> np.ndarray:
        """Return the number of runs in each of some blocks, in a study of so many runs."""
        if self.maker is not None:
            return np.minimum(BLOCK, runs - blocks * BLOCK)
        return np.minimum(BLOCK, self.bandits.runs - blocks % self._round() * BLOCK)

    def blocks(self, runs: int) -> int:
        """Return the number of blocks that hold so many runs."""
        return -(-runs // BLOCK) if self.maker is not None else runs // self.bandits.runs * self._round()

    def _round(self) -> int:
        return -(-self.bandits.runs // BLOCK)

    def pack(self, first: int, last: int, runs: int) -> Pack:
        """Return what it takes to play the blocks `first` to `last` - 1: no more than whoever plays them needs."""
        blocks = np.arange(first, last)
        sizes = self.sizes(blocks, runs).tolist()
        if self.maker is not None:
            return Pack(self.name, self.maker, None, sizes)
        if is_repeated(self.bandits):
            return Pack(self.name, None, self.bandits.part(slice(0, 1)), sizes)
        inside = [slice(b * BLOCK, (b + 1) * BLOCK) for b in blocks % self._round()]
        return Pack(self.name, None, [self.bandits.part(part) for part in inside], sizes)

    def data(self) -> str:
        """Return a hash of the arms: those of the ensemble, or of the first block that the function makes."""
        digest = hashlib.sha256(type(self.sample).__name__.encode())
        for name, value in sorted(vars(self.sample).items()):
            if isinstance(value, np.ndarray):
                rows = value[:1] if is_repeated(self.sample) and name in self.sample._per_run else value
                digest.update(f"{name} {value.dtype} {value.shape}".encode())
                digest.update(np.ascontiguousarray(rows))
        return digest.hexdigest()


@dataclass(frozen=True)
class Pack:
    """Some blocks of a problem, light enough to be sent to another process."""

    name: str
    maker: Maker | None
    bandits: list[Bandits] | Bandits | None  # the blocks, or one instance to be repeated
    sizes: list[int]

    def block(self, number: int, block: int, seed: int) -> Bandits:
        size = self.sizes[number]
        if self.maker is not None:
            return make(self.name, self.maker, size, seed, block)
        return self.bandits[number] if isinstance(self.bandits, list) else repeat(self.bandits, size)


def make(name: str, maker: Maker, runs: int, seed: int, block: int) -> Bandits:
    # A child of the block's own stream: the same for all policies and budgets, and independent of their rewards.
    state = np.random.SeedSequence(seed, spawn_key=(block, 0)).generate_state(1, np.uint64)
    made = maker(runs=runs, seed=int(state[0]))
    if not isinstance(made, Bandits) or made.runs != runs:
        raise ValueError(
            f"problem {name!r}, called with runs={runs}, gave {made!r}; it must return an ensemble of {runs} runs"
        )
    return made


def is_repeated(bandits: Bandits) -> bool:
    """Whether all runs share the memory of one instance."""
    return all(getattr(bandits, name).strides[0] == 0 or bandits.runs == 1 for name in bandits._per_run)


def repeat(bandits: Bandits, runs: int) -> Bandits:
    """Return one instance as an ensemble, without copying it."""
    repeated = bandits.part(slice(0, 1))
    for name in bandits._per_run:
        row = getattr(bandits, name)[:1]
        setattr(repeated, name, np.broadcast_to(row, (runs, *row.shape[1:])))
    return repeated


def in_rounds_of(runs: int, bandits: Bandits) -> Bandits:
    """Return the ensemble repeated as a whole until it has at least so many runs."""
    times = -(-runs // bandits.runs)
    if is_repeated(bandits):
        return repeat(bandits, times * bandits.runs)
    return bandits if times == 1 else bandits.part(np.tile(np.arange(bandits.runs), times))
