"""Compile every policy of the package, so that later first calls are short::

    python -m bai.book.warm

numba keeps what it compiled beside the package, or where `NUMBA_CACHE_DIR` says. Run it once where students work: in
the recipe of a container or a hub, or after installing.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from bai.play import simulate
from bai.policies import FIELD, REGISTRY, Policy
from bai.problems import GaussianBandits, ReplayBandits, TableBandits


def compile_all(policies: Sequence[type[Policy]] = REGISTRY + FIELD) -> float:
    """Play each policy on a small problem of each kind; return the seconds it took.

    >>> from bai import SH
    >>> compile_all([SH]) > 0
    True
    """
    started = time.perf_counter()
    means, variances = [1.0, 0.0, 0.0], [1.0, 0.5, 0.5]
    rewards = np.random.default_rng(0).normal(size=(1, 3, 200))
    kinds = [
        GaussianBandits(means, variances, runs=1),
        ReplayBandits(rewards, [means], [variances]),
        TableBandits(rewards[0], [[0, 1, 2]]),
    ]
    for policy in policies:
        for bandits in kinds:
            simulate(policy.examples()[0], bandits, 200, seed=0)
    return time.perf_counter() - started


if __name__ == "__main__":
    print(f"compiled, or found compiled, in {compile_all():.0f} seconds")
