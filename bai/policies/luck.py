"""Random numbers for policies: the same in plain and compiled code, and free of what was drawn before.

A number is a scrambled counter. The counter begins at the key of the run and says which pull and which draw it is, so
that a policy can go on from anywhere. Numbers have 32 bits, because a product of such numbers has a place in 64.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log, sqrt

import numpy as np

from ..compiling import inlined, plain

MASK = 2**32 - 1
STEP = 0x1E3779B9  # odd, without a pattern
FIRST_FACTOR, SECOND_FACTOR = 0x7FEB352D, 0x846CA68B - 2**32  # lowbias32 (Wellons); the second is negative to fit
PER_PULL = 1024  # numbers that a pull may take

# Wichura (1988), algorithm AS 241: a normal quantile as a ratio of polynomials, in the middle, outside and far outside.
MIDDLE = (
    (2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
     13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608),
    (5226.495278852545925, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
     5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0),
)  # fmt: skip
OUTSIDE = (
    (7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
     3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734),
    (1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
     0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1.0),
)  # fmt: skip
FAR = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386, 0.026532189526576123093,
     0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772),
    (2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4,
     0.0148753612908506148525, 0.13692988092273580531, 0.59983220655588793769, 1.0),
)  # fmt: skip


@inlined
def mix(x):
    """Return a number of 32 bits that looks as if it had nothing to do with x; different x give different ones."""
    x = ((x ^ (x >> 16)) * FIRST_FACTOR) & MASK
    x = ((x ^ (x >> 15)) * SECOND_FACTOR) & MASK
    return x ^ (x >> 16)


@inlined
def branch(key, number):
    """Return two random numbers for a numbered draw of a run, whose key is below 2^63."""
    low, high = key & MASK, key >> 32
    a = mix(mix((low + (number & MASK) * STEP) & MASK) ^ high)
    return a, mix((a + low) & MASK)


@inlined
def pick(pair, i):
    """Return random number i of a draw."""
    return mix((pair[0] + i * STEP) & MASK) ^ pair[1]


@inlined
def ratio(x, part):
    """Return a polynomial in x, highest power first, divided by another."""
    above, below = part
    p, q = above[0], below[0]
    for k in range(1, 8):
        p = p * x + above[k]
        q = q * x + below[k]
    return p / q


@inlined
def normal(number):
    """Return the standard normal quantile of a random number."""
    u = (number + 0.5) * 2.0**-32
    q = u - 0.5
    if abs(q) <= 0.425:
        return q * ratio(0.180625 - q * q, MIDDLE)
    x = sqrt(-log(u if q < 0.0 else 1.0 - u))
    z = ratio(x - 1.6, OUTSIDE) if x <= 5.0 else ratio(x - 5.0, FAR)
    return -z if q < 0.0 else z


plain_branch: Callable[[int, int], tuple[int, int]] = plain(branch)
plain_pick: Callable[[tuple[int, int], int], int] = plain(pick)
plain_normal: Callable[[int], float] = plain(normal)
# No number with these ten bits in front has a higher quantile: a bound that costs no logarithm.
QUANTILE_BOUNDS = np.array([plain_normal(((b + 1) << 22) - 1) + 1e-12 for b in range(2**10)])


def first_key(seed: int, run: float) -> int:
    """Return the key of a run from the seed of a policy and the number of the run."""
    a, b = plain_branch((seed + 1) % 2**63, int(run))
    c, d = plain_branch((b >> 1 << 32) | a, int(run) >> 32)
    return (d >> 1 << 32) | c


def first_keys(seed: int, numbers: np.ndarray | None, runs: int) -> np.ndarray:
    """Return the keys of the runs of a block, whose numbers are 0 unless a simulation gave them."""
    return np.array([first_key(seed, number) for number in ([0.0] * runs if numbers is None else numbers)])
