"""Fixed-budget best-arm identification with heterogeneous reward variances.

>>> import bai
>>> bandits = bai.synthetic(n_arms=16, runs=2000, seed=0)
>>> bai.simulate(bai.SHVar(), bandits, budget=1000, seed=0).mistake_rate < 0.1
True
"""

import importlib

from . import theory
from .bandits import GaussianBandits, ReplayBandits, TableBandits, synthetic
from .conditional import Conditional, rao_blackwell
from .experiment import Experiment, identify
from .policies import SH, SR, VBR, AGapE, AGapEV, GapE, GapEV, SHAdaVar, SHVar, Unif
from .simulate import Outcome, simulate
from .stats import clopper_pearson, paired, wilson
from .sweep import read_checkpoint, sweep

__all__ = [
    "SH", "SR", "VBR", "AGapE", "AGapEV", "Conditional", "Experiment", "GapE", "GapEV", "GaussianBandits", "Outcome",
    "ReplayBandits", "SHAdaVar", "SHVar", "TableBandits", "Unif", "clopper_pearson", "identify", "paired", "plots",
    "published", "rao_blackwell", "read_checkpoint", "simulate", "sweep", "synthetic", "theory", "wilson",
]  # fmt: skip


def __getattr__(name: str):
    # matplotlib takes longer to import than the rest together, and many simulations never draw; and a module that
    # is run as a program (`python -m bai.paper`) must not be imported before.
    if name == "plots":
        return importlib.import_module("bai.plots")
    if name == "published":
        return importlib.import_module("bai.paper").published
    raise AttributeError(f"module 'bai' has no attribute {name!r}")
