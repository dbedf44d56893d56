"""Policies: how a budget is spent, and which arm is named at the end.

Each family has a file, with the plain version of its algorithms, the compiled loop that makes the same pulls, and the
classes that people use.
"""

from .allocation import OCBA, TopTwo
from .base import Known, Policy
from .gaps import AGapE, AGapEV, GapE, GapEV
from .halving import SH, SR, SHVar, Unif
from .shadavar import SHAdaVar
from .vbr import VBR

# Every policy of the package, in the order of the documentation. Tests, figures and the API page go by this list.
REGISTRY: tuple[type[Policy], ...] = (Unif, SH, SHVar, SHAdaVar, SR, VBR, GapE, GapEV, AGapE, AGapEV, OCBA, TopTwo)

__all__ = [
    "OCBA",
    "REGISTRY",
    "SH",
    "SR",
    "VBR",
    "AGapE",
    "AGapEV",
    "GapE",
    "GapEV",
    "Known",
    "Policy",
    "SHAdaVar",
    "SHVar",
    "TopTwo",
    "Unif",
]
