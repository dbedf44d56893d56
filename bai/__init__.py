"""Fixed-budget best-arm identification with heterogeneous reward variances.

>>> import bai
>>> bandits = bai.synthetic(n_arms=16, runs=2000, seed=0)
>>> bai.simulate(bai.SHVar(), bandits, budget=1000, seed=0).mistake_rate < 0.1
True
"""

import importlib

from . import theory
from .bandits import GaussianBandits, LowRankBandits, ReplayBandits, TableBandits, synthetic
from .conditional import Conditional, rao_blackwell
from .experiment import Experiment, identify
from .policies import OCBA, SH, SR, VBR, AGapE, AGapEV, GapE, GapEV, SHAdaVar, SHVar, TopTwo, Unif
from .simulate import Outcome, simulate
from .stats import clopper_pearson, paired, wilson
from .sweep import read_checkpoint, sweep

__all__ = [
    "OCBA", "SH", "SR", "VBR", "AGapE", "AGapEV", "Conditional", "Experiment", "GapE", "GapEV", "GaussianBandits",
    "LowRankBandits", "Outcome", "ReplayBandits", "SHAdaVar", "SHVar", "TableBandits", "TopTwo", "Unif",
    "clopper_pearson", "identify", "leaderboard", "movielens", "paired", "plots", "published", "rao_blackwell",
    "read_checkpoint", "simulate", "sweep", "synthetic", "theory", "wilson",
]  # fmt: skip


def __getattr__(name: str):
    # matplotlib takes longer to import than the rest together, and many simulations never draw; and a module that
    # is run as a program (`python -m bai.paper`, `bai.movielens`, `bai.leaderboard`) must not be imported before.
    if name in ("leaderboard", "movielens", "plots"):
        return importlib.import_module(f"bai.{name}")
    if name == "published":
        return importlib.import_module("bai.paper").published
    raise AttributeError(f"module 'bai' has no attribute {name!r}")
