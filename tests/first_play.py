"""A few policies, played when this is imported: the compiled loops that most pages need are then loaded."""

from bai import SH, SR, SHAdaVar, SHVar, Unif
from bai.book import warm

_ = warm.compile_all([Unif, SH, SR, SHVar, SHAdaVar])
