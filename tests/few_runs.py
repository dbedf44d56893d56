"""The first runs of a block, as the whole block has them."""

import copy

import numpy as np

import bai
from bai.play import BLOCK, play_block


def first_runs(policy, problem, budget, seed, block, runs=100):
    """Return the regret of the first runs of a block; `DSH` plays stage by stage, not run by run, and so all of them.

    The generator of a block first puts the arms of all its runs in order, so it will not do to leave runs out before.
    """
    cls, runs = type(policy), BLOCK if isinstance(policy, bai.DSH) else runs

    def play(self, rewards, budget, known, pulls, recommended):
        recommended[:] = 0
        cls.play(self, rewards, budget, known, pulls[:runs], recommended[:runs])

    few = copy.copy(policy)
    object.__setattr__(few, "__class__", type(cls.__name__, (cls,), {"play": play}))
    whole = problem.select(slice(block * BLOCK, (block + 1) * BLOCK))
    return np.asarray(play_block(few, whole, budget, seed, block).regret[:runs])
