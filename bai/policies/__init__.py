"""Policies: how a budget is spent, and which arm is named at the end.

Each family has a file, with the plain version of its algorithms, the compiled loop that makes the same pulls, and the
classes that people use.
"""

# ruff: noqa: I001  the registry has its own order
from .base import Known as Known
from .base import Policy as Policy

# The registry: a line for every policy of the package, in the order of the documentation. Tests, figures, the API page
# and the leaderboard follow it.
from .halving import Unif as Unif
from .halving import SH as SH
from .halving import SHVar as SHVar
from .shadavar import SHAdaVar as SHAdaVar
from .gaps import GapE as GapE
from .gaps import GapEV as GapEV
from .vbr import VBR as VBR
from .halving import SR as SR
from .gaps import AGapE as AGapE
from .gaps import AGapEV as AGapEV
from .allocation import OCBA as OCBA
from .allocation import TopTwo as TopTwo
from .halvevar import HalveVar as HalveVar

_found = [entry for entry in vars().values() if isinstance(entry, type) and issubclass(entry, Policy)]
REGISTRY: tuple[type[Policy], ...] = tuple(cls for cls in _found if cls is not Policy)

__all__ = ["REGISTRY", "Known", "Policy", *(cls.__name__ for cls in REGISTRY)]  # pyright: ignore[reportUnsupportedDunderAll]
