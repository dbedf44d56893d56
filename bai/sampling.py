"""The draws that problems hand to compiled loops, and the random order of the arms.

Within a run the arms are known by their position 0 ... K - 1. Leftover pulls and ties go to the lowest position, so
every run puts its arms in random order first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import typeof_impl

from . import checks
from .compiling import compiled, inlined

if TYPE_CHECKING:
    from .problems import Bandits

GAUSSIAN, TABLE, REPLAY, LOW_RANK, BERNOULLI = range(5)


class Rewards(NamedTuple):
    """Where compiled loops draw rewards from: one row per run of the block, one column per position."""

    kind: int
    rng: np.random.Generator
    loc: np.ndarray = np.empty((0, 0))  # GAUSSIAN, BERNOULLI: means (R, K)
    scale: np.ndarray = np.empty((0, 0))  # GAUSSIAN: standard deviations (R, K)
    table: np.ndarray = np.empty((0, 0))  # TABLE, REPLAY: rewards (M, U); LOW_RANK: factors of the items (M, D)
    rows: np.ndarray = np.empty((0, 0), np.int64)  # row of the table (R, K)
    users: np.ndarray = np.empty((0, 0))  # LOW_RANK: factors of the users (U, D)
    normals: np.ndarray = np.empty(0)  # GAUSSIAN: standard normals drawn ahead, in the order of the stream
    ahead: np.ndarray = np.zeros(2, np.int64)  # where in `normals` the unused ones begin and end
    units: np.ndarray = np.empty((0, 2))  # not GAUSSIAN: unit and level that every run has its rewards in (R, 2)

    def draw(self, run: int, position: int, pull: int) -> float:
        """Return the reward of pull number `pull` (from 0) of the arm at a position.

        Calling compiled code from Python costs more than a draw, so this does the same in Python.
        """
        if self.kind != GAUSSIAN:
            reward = plain_reward(self, run, position, pull)
            if self.units.shape[0] > 0:
                reward = self.units[run, 1] + self.units[run, 0] * reward
            return float(reward)
        if self.ahead[0] == self.ahead[1]:
            draw_ahead(self.rng, self.normals, self.ahead, 1)
        self.ahead[0] += 1
        return float(self.loc[run, position] + self.scale[run, position] * self.normals[self.ahead[0] - 1])

    def by_run(self) -> Iterator[Callable[[int, int], float]]:
        """Yield for each run what `draw` does in it, in less time; nothing else may draw meanwhile."""
        if self.kind != GAUSSIAN:
            yield from (partial(self.draw, run) for run in count())
        following = self._following_normals().__next__
        for loc, scale in zip(self.loc.tolist(), self.scale.tolist(), strict=True):
            yield lambda position, pull, loc=loc, scale=scale: loc[position] + scale[position] * following()

    def _following_normals(self) -> Iterator[float]:
        while True:
            yield from self.normals[self.ahead[0] : self.ahead[1]].tolist()
            self.ahead[0] = self.ahead[1]
            draw_ahead(self.rng, self.normals, self.ahead, 1)


class PlainRewards(NamedTuple):
    """Where rewards come from if the problem can only be asked for one at a time."""

    bandits: Bandits
    order: np.ndarray
    rng: np.random.Generator
    rows: np.ndarray  # the runs of the problem that are played

    def draw(self, run: int, position: int, pull: int) -> float:
        """Return a reward of the arm at a position."""
        reward = self.bandits.draw(int(self.rows[run]), int(self.order[run, position]), self.rng)
        if isinstance(reward, float) and abs(reward) <= checks.LARGEST_REWARD:
            return reward
        return checks.reward(f"the reward from {type(self.bandits).__name__}.draw", reward)

    def by_run(self) -> Iterator[Callable[[int, int], float]]:
        """Yield for each run what `draw` does in it."""
        yield from (partial(self.draw, run) for run in count())


_reward_types: dict = {}


@typeof_impl.register(Rewards)
def _type_of_rewards(rewards, context):
    # Finding the type anew in each call would take 0.15 ms, which is long compared with a block of 500 cheap runs.
    key = tuple((x.dtype, x.ndim, x.flags.num) if isinstance(x, np.ndarray) else type(x) for x in rewards)
    if key not in _reward_types:
        _reward_types[key] = types.NamedTuple([typeof_impl(x, context) for x in rewards], Rewards)
    return _reward_types[key]


# --- normals, many at a time -----------------------------------------------------------------------------
#
# A normal drawn amid other work costs more than one drawn in a loop of its own, because a mispredicted branch discards
# what was drawn beyond it. So normals are drawn ahead, in the order of the stream, and each is taken when needed.

AT_A_TIME = 256


@compiled
def draw_ahead(rng, normals, ahead, m):
    """Draw ahead until at least m normals are at hand."""
    begin, end = ahead
    left = end - begin
    for j in range(left):
        normals[j] = normals[begin + j]
    ahead[0], ahead[1] = 0, max(m, min(AT_A_TIME, normals.size))
    for j in range(left, ahead[1]):
        normals[j] = rng.standard_normal()


@inlined
def next_normals(rewards, m):
    """Return where in `normals` the next m begin; `use_normals` says how many of them were used."""
    if rewards.ahead[1] - rewards.ahead[0] < m:
        draw_ahead(rewards.rng, rewards.normals, rewards.ahead, m)
    return rewards.ahead[0]


@inlined
def use_normals(rewards, m):
    rewards.ahead[0] += m


@inlined
def next_normal(rewards):
    """Return the next standard normal of the stream: one that was drawn ahead, if there is any."""
    k = rewards.ahead[0]
    if k == rewards.ahead[1]:
        return rewards.rng.standard_normal()
    rewards.ahead[0] = k + 1
    return rewards.normals[k]


@inlined
def has_normals(rewards, m):
    """Return whether rewards are Gaussian and m normals can be drawn ahead."""
    return rewards.kind == GAUSSIAN and rewards.normals.size >= m


# --- rewards ---------------------------------------------------------------------------------------------


@inlined
def raw_reward(rewards, r, i, k):
    """Return a reward that is not Gaussian, in the unit of the problem."""
    if rewards.kind == BERNOULLI:
        return 1.0 if rewards.rng.random() < rewards.loc[r, i] else 0.0
    row = rewards.rows[r, i]
    if rewards.kind == TABLE:
        return rewards.table[row, int(rewards.rng.random() * rewards.table.shape[1])]
    if rewards.kind == LOW_RANK:
        user = int(rewards.rng.random() * rewards.users.shape[0])
        reward = 0.0
        for d in range(rewards.users.shape[1]):
            reward += rewards.table[row, d] * rewards.users[user, d]
        return reward
    return rewards.table[row, k]


plain_reward: Any = getattr(raw_reward, "py_func", raw_reward)


@inlined
def draw(rewards, r, i, k):
    """Return the reward of pull number k (from 0) of arm i in run r."""
    if rewards.kind == GAUSSIAN:
        return rewards.loc[r, i] + rewards.scale[r, i] * next_normal(rewards)
    reward = raw_reward(rewards, r, i, k)
    if rewards.units.shape[0] > 0:
        return rewards.units[r, 1] + rewards.units[r, 0] * reward
    return reward


@inlined
def draw_rewards(rewards, r, i, k, out):
    """Fill `out` with the rewards of pulls k, k + 1, ... of arm i."""
    if has_normals(rewards, out.size):
        normals = rewards.normals[next_normals(rewards, out.size) :]
        loc, scale = rewards.loc[r, i], rewards.scale[r, i]
        for m in range(out.size):
            out[m] = loc + scale * normals[m]
        use_normals(rewards, out.size)
    else:
        for m in range(out.size):
            out[m] = draw(rewards, r, i, k + m)


@inlined
def draw_sum(rewards, r, i, k, m, total):
    """Return `total` plus the rewards of pulls k, ..., k + m - 1 of arm i."""
    if rewards.kind == GAUSSIAN:
        # Nobody looks at the individual rewards, so their sum is drawn at once.
        return total + m * rewards.loc[r, i] + sqrt(m) * rewards.scale[r, i] * next_normal(rewards)
    for j in range(m):
        total += draw(rewards, r, i, k + j)
    return total


@compiled
def shuffle(rng, order):
    """Fill each row of `order` with a random permutation (Fisher and Yates)."""
    for r in range(order.shape[0]):
        for i in range(order.shape[1]):
            j = int(rng.random() * (i + 1))
            order[r, i] = order[r, j]
            order[r, j] = i


@compiled
def gather(values, order):
    """Return values[r, order[r, i]]: what belongs to the arms, by position."""
    result = np.empty(order.shape, values.dtype)
    for r in range(order.shape[0]):
        for i in range(order.shape[1]):
            result[r, i] = values[r, order[r, i]]
    return result


@compiled
def scatter(values, order):
    """Undo `gather`."""
    result = np.empty_like(values)
    for r in range(order.shape[0]):
        for i in range(order.shape[1]):
            result[r, order[r, i]] = values[r, i]
    return result


@compiled
def ordered_product(a, b):
    """Return the matrix product of a and b, every sum from left to right."""
    result = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                result[i, j] += a[i, k] * b[k, j]
    return result
