"""Fixed-budget best-arm identification with heterogeneous reward variances.

>>> import bai
>>> bandits = bai.synthetic(n_arms=16, runs=2000, seed=0)
>>> bai.simulate(bai.SHVar(), bandits, budget=1000, seed=0).mistake_rate < 0.1
True
"""

from typing import TYPE_CHECKING, Any

from . import policies, theory
from .conditional import Conditional, rao_blackwell
from .experiment import Experiment, identify
from .planning import Plan, plan
from .play import Outcome, simulate
from .policies import *  # noqa: F403
from .policies import variance_bounds
from .problems import (
    Bandits,
    BernoulliBandits,
    GaussianBandits,
    LowRankBandits,
    ReplayBandits,
    RescaledBandits,
    TableBandits,
    movielens,
    synthetic,
)
from .selection import Selection, select
from .stats import Paired, clopper_pearson, paired, wilson
from .study import SweepTable, Until, read_checkpoint, sweep

if TYPE_CHECKING:
    from . import plots

__all__ = [
    "Bandits",
    "BernoulliBandits",
    "Conditional",
    "Experiment",
    "GaussianBandits",
    "LowRankBandits",
    "Outcome",
    "Paired",
    "Plan",
    "ReplayBandits",
    "RescaledBandits",
    "Selection",
    "SweepTable",
    "TableBandits",
    "Until",
    "clopper_pearson",
    "identify",
    "movielens",
    "paired",
    "plan",
    "plots",
    "rao_blackwell",
    "read_checkpoint",
    "select",
    "simulate",
    "sweep",
    "synthetic",
    "theory",
    "variance_bounds",
    "wilson",
]
__all__ += policies.__all__


def __getattr__(name: str) -> Any:
    if name == "plots":  # matplotlib takes longer to import than the rest together, and many simulations never draw
        import importlib

        return importlib.import_module("bai.plots")
    raise AttributeError(f"module 'bai' has no attribute {name!r}")
