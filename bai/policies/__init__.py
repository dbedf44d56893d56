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

# More algorithms of the field.
from .knowledge import KG as KG
from .knowledge import LookAhead as LookAhead
from .challengers import EBTCI as EBTCI
from .challengers import EBTCEpsilon as EBTCEpsilon
from .challengers import TTUCB as TTUCB
from .challengers import EBTC as EBTC
from .thompson import T3C as T3C
from .thompson import TTTS as TTTS
from .neyman import Neyman as Neyman
from .confidence import UCBE as UCBE
from .confidence import UGapEb as UGapEb
from .confidence import UGapEbV as UGapEbV
from .rejects import CRA as CRA
from .rejects import CRC as CRC
from .rounds import AnytimeSH as AnytimeSH
from .rounds import DSH as DSH
from .rounds import BSH as BSH
from .bayes import BayesElim as BayesElim

_found = [entry for entry in vars().values() if isinstance(entry, type) and issubclass(entry, Policy)]
# Beside the registry, because the browser plays all of that, and its engine has a plan for each policy.
FIELD: tuple[type[Policy], ...] = (
    KG, LookAhead, EBTCI, EBTCEpsilon, TTUCB, EBTC, T3C, TTTS, Neyman, UCBE, UGapEb, UGapEbV, CRA, CRC, AnytimeSH,
    DSH, BSH, BayesElim,
)  # fmt: skip
REGISTRY: tuple[type[Policy], ...] = tuple(cls for cls in _found if cls is not Policy and cls not in FIELD)

__all__ = ["FIELD", "REGISTRY", "Known", "Policy", *(cls.__name__ for cls in REGISTRY + FIELD)]  # pyright: ignore[reportUnsupportedDunderAll]
