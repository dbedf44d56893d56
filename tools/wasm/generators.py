"""NumPy's generators SFC64 and PCG64 for numba, as 64-bit words in memory that JavaScript can fill in.

The words change as numbers are drawn. The ziggurat that turns them into normals is numba's own, which is NumPy's.
"""

import numpy as np
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, make_attribute_wrapper, models, overload, overload_method, register_model
from numba.np.random.distributions import random_standard_normal
from numba.np.random.generator_core import next_double, next_uint64

words = types.Array(types.uint64, 1, "C")


class StreamType(types.Type):
    """A generator that is nothing but the words of its state."""


class Sfc64Type(StreamType):
    def __init__(self):
        super().__init__("Sfc64")


class Pcg64Type(StreamType):
    def __init__(self):
        super().__init__("Pcg64")


class StreamModel(models.StructModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, [("words", words)])


for kind in (Sfc64Type, Pcg64Type):
    register_model(kind)(StreamModel)
    make_attribute_wrapper(kind, "words", "words")


def _maker(stream):
    @intrinsic
    def make(context, state):
        def codegen(context, builder, signature, args):
            made = cgutils.create_struct_proxy(stream)(context, builder)
            made.words = args[0]
            return made._getvalue()

        return stream(state), codegen

    return make


sfc64, pcg64 = _maker(Sfc64Type()), _maker(Pcg64Type())


@njit(error_model="numpy", forceinline=True)
def next_sfc64(s):
    """Return the next word; the state is a, b, c and a counter."""
    drawn = s[0] + s[1] + s[3]
    s[3] += np.uint64(1)
    s[0] = s[1] ^ (s[1] >> np.uint64(11))
    s[1] = s[2] + (s[2] << np.uint64(3))
    s[2] = ((s[2] << np.uint64(24)) | (s[2] >> np.uint64(40))) + drawn
    return drawn


@njit(error_model="numpy", forceinline=True)
def high_word(x, y):
    """Return the upper half of the product of two words."""
    low, thirty_two = np.uint64(0xFFFFFFFF), np.uint64(32)
    x0, x1, y0, y1 = x & low, x >> thirty_two, y & low, y >> thirty_two
    middle = x1 * y0 + ((x0 * y0) >> thirty_two)
    cross = x0 * y1 + (middle & low)
    return x1 * y1 + (middle >> thirty_two) + (cross >> thirty_two)


@njit(error_model="numpy", forceinline=True)
def next_pcg64(s):
    """Return the next word (XSL-RR); the state is low and high word, then those of the increment."""
    low, high = np.uint64(0x4385DF649FCCF645), np.uint64(0x2360ED051FC65DA4)
    x, y = s[0], s[1]
    s[0] = x * low + s[2]
    s[1] = high_word(x, low) + x * high + y * low + s[3] + np.uint64(s[0] < s[2])
    folded, turn = s[0] ^ s[1], s[1] >> np.uint64(58)
    return (folded >> turn) | (folded << ((np.uint64(64) - turn) & np.uint64(63)))


@overload(next_uint64)
def _next_uint64(rng):
    if isinstance(rng, Sfc64Type):
        return lambda rng: next_sfc64(rng.words)
    if isinstance(rng, Pcg64Type):
        return lambda rng: next_pcg64(rng.words)
    return None


@overload(next_double)
def _next_double(rng):
    if isinstance(rng, StreamType):
        return lambda rng: (next_uint64(rng) >> np.uint64(11)) * (1.0 / 9007199254740992.0)
    return None


@overload_method(StreamType, "random")
def _random(rng):
    return lambda rng: next_double(rng)


@overload_method(StreamType, "standard_normal")
def _standard_normal(rng):
    return lambda rng: random_standard_normal(rng)


@njit(error_model="numpy")
def next_uint32(rng):
    """Return half a word of PCG64: the lower one first, the upper one is kept for the next call in words 4 and 5."""
    s = rng.words
    if s[4] > 0:
        s[4] = np.uint64(0)
        return s[5]
    word = next_uint64(rng)
    s[4], s[5] = np.uint64(1), word >> np.uint64(32)
    return word & np.uint64(0xFFFFFFFF)


@njit(error_model="numpy")
def up_to(rng, most):
    """Return a whole number from 0 to `most`, which is below 2^32, as NumPy's shuffling draws it."""
    mask = np.uint64(1)
    while mask < np.uint64(most):
        mask = (mask << np.uint64(1)) | np.uint64(1)
    while True:
        value = next_uint32(rng) & mask
        if value <= np.uint64(most):
            return np.int64(value)
