"""What the browser can call: the compiled loops of `bai` with pointers instead of arrays, and the makers of problems.

Nothing here decides what is pulled. A function that plays a block takes the arguments of `rewards_of`, then its own.
"""

import numpy as np
from numba import carray, cfunc, njit, types
from wasm.generators import pcg64, sfc64, up_to

from bai.policies.allocation import allocate_block
from bai.policies.gaps import explore_block, explore_block_adaptively
from bai.policies.halvevar import halve_variance_block
from bai.policies.halving import eliminate_block
from bai.policies.shadavar import Stages, eliminate_adaptively
from bai.policies.variance_bounds import IndexTable
from bai.policies.vbr import reject_block
from bai.sampling import Rewards, gather, shuffle

REAL, INT, WORD = (types.CPointer(t) for t in (types.float64, types.int64, types.uint64))
size, real, flag = types.int32, types.float64, types.int32
HEAD = (size, size, size, WORD, REAL, REAL, REAL, size, INT, REAL, size, INT)  # the arguments of `rewards_of`


@njit(error_model="numpy")
def rewards_of(kind, runs, arms, state, loc, scale, table, length, rows, normals, most_ahead, ahead):
    """Return where a loop draws from, as a problem in Python hands it over."""
    shape = (runs, arms)
    return Rewards(
        np.int64(kind),
        sfc64(carray(state, (4,))),
        carray(loc, shape),
        carray(scale, shape),
        carray(table, (runs * arms, length)),
        carray(rows, shape),
        carray(table, (0, 0)),
        carray(normals, (most_ahead,)),
        carray(ahead, (2,)),
        carray(table, (0, 2)),
    )


def exported(*arguments):
    """Compile a function for export, by its own name."""
    return lambda function: cfunc(types.void(*arguments), error_model="numpy")(function)


@exported(WORD, size, size, REAL, REAL, INT, REAL, REAL, REAL)
def open_block(state, runs, arms, means, variances, order, loc, told, scale):
    """Put the arms of each run in random order; means, variances and deviations by position."""
    shape = (runs, arms)
    order_ = carray(order, shape)
    shuffle(sfc64(carray(state, (4,))), order_)
    loc_, told_, scale_ = carray(loc, shape), carray(told, shape), carray(scale, shape)
    loc_[:] = gather(carray(means, shape), order_)
    told_[:] = gather(carray(variances, shape), order_)
    for r in range(runs):
        for i in range(arms):
            scale_[r, i] = np.sqrt(told_[r, i])


@exported(*HEAD, INT, size, flag, REAL, size, INT, INT)
def eliminate(
    kind, runs, arms, state, loc, scale, table, length, rows, normals, most_ahead, ahead,
    schedule, stages, reuse, weights, columns, pulls, recommended,
):  # fmt: skip
    rewards = rewards_of(kind, runs, arms, state, loc, scale, table, length, rows, normals, most_ahead, ahead)
    eliminate_block(
        rewards,
        carray(schedule, (2, stages)),
        reuse != 0,
        carray(weights, (runs, columns)),
        carray(pulls, (runs, arms)),
        carray(recommended, (runs,)),
    )


@exported(*HEAD, INT, size, flag, REAL, size, REAL, size, real, REAL, INT, INT)
def adapt(
    kind, runs, arms, state, loc, scale, table, length, rows, normals, most_ahead, ahead,
    schedule, stages, reuse, spread, counts, slack, slacks, guard, spans, pulls, recommended,
):  # fmt: skip
    rewards = rewards_of(kind, runs, arms, state, loc, scale, table, length, rows, normals, most_ahead, ahead)
    schedule_ = carray(schedule, (3, stages))
    eliminate_adaptively(
        rewards,
        Stages(schedule_[0], schedule_[1], schedule_[2]),
        reuse != 0,
        IndexTable(carray(spread, (counts,)), carray(slack, (slacks,)), guard),
        carray(spans, (runs,)),
        carray(pulls, (runs, arms)),
        carray(recommended, (runs,)),
    )


@exported(*HEAD, size, REAL, REAL, flag, INT, INT)
def explore(
    kind, runs, arms, state, loc, scale, table, length, rows, normals, most_ahead, ahead,
    budget, efforts, bounds, with_variance, pulls, recommended,
):  # fmt: skip
    rewards = rewards_of(kind, runs, arms, state, loc, scale, table, length, rows, normals, most_ahead, ahead)
    explore_block(
        rewards,
        np.int64(budget),
        carray(efforts, (runs,)),
        carray(bounds, (runs,)),
        with_variance != 0,
        carray(pulls, (runs, arms)),
        carray(recommended, (runs,)),
    )


@exported(*HEAD, size, real, REAL, flag, INT, INT)
def explore_adaptively(
    kind, runs, arms, state, loc, scale, table, length, rows, normals, most_ahead, ahead,
    budget, effort, bounds, with_variance, pulls, recommended,
):  # fmt: skip
    rewards = rewards_of(kind, runs, arms, state, loc, scale, table, length, rows, normals, most_ahead, ahead)
    explore_block_adaptively(
        rewards,
        np.int64(budget),
        effort,
        carray(bounds, (runs,)),
        with_variance != 0,
        carray(pulls, (runs, arms)),
        carray(recommended, (runs,)),
    )


@exported(*HEAD, size, size, REAL, size, real, INT, INT)
def allocate(
    kind, runs, arms, state, loc, scale, table, length, rows, normals, most_ahead, ahead,
    budget, first, logs, counts, weight, pulls, recommended,
):  # fmt: skip
    rewards = rewards_of(kind, runs, arms, state, loc, scale, table, length, rows, normals, most_ahead, ahead)
    allocate_block(
        rewards,
        np.int64(budget),
        np.int64(first),
        carray(logs, (counts,)),
        weight,
        carray(pulls, (runs, arms)),
        carray(recommended, (runs,)),
    )


@exported(*HEAD, INT, size, real, size, flag, INT, INT)
def reject(
    kind, runs, arms, state, loc, scale, table, length, rows, normals, most_ahead, ahead,
    stage_pulls, stages, gamma, least, widest, pulls, recommended,
):  # fmt: skip
    rewards = rewards_of(kind, runs, arms, state, loc, scale, table, length, rows, normals, most_ahead, ahead)
    reject_block(
        rewards,
        carray(stage_pulls, (stages,)),
        gamma,
        np.int64(least),
        widest != 0,
        carray(pulls, (runs, arms)),
        carray(recommended, (runs,)),
    )


@exported(*HEAD, size, flag, REAL, INT, INT)
def halve_variance(
    kind, runs, arms, state, loc, scale, table, length, rows, normals, most_ahead, ahead,
    budget, reuse, variances, pulls, recommended,
):  # fmt: skip
    rewards = rewards_of(kind, runs, arms, state, loc, scale, table, length, rows, normals, most_ahead, ahead)
    halve_variance_block(
        rewards,
        np.int64(budget),
        reuse != 0,
        carray(variances, (runs, arms)),
        carray(pulls, (runs, arms)),
        carray(recommended, (runs,)),
    )


@exported(WORD, size, REAL)
def normals(state, many, out):
    """Standard normals of SFC64."""
    rng = sfc64(carray(state, (4,)))
    out_ = carray(out, (many,))
    for j in range(many):
        out_[j] = rng.standard_normal()


@exported(WORD, size, real, real, REAL)
def uniforms(state, many, low, high, out):
    """`default_rng(...).uniform(low, high, many)`."""
    rng = pcg64(carray(state, (6,)))
    out_ = carray(out, (many,))
    for j in range(many):
        out_[j] = low + (high - low) * rng.random()


@exported(WORD, size, size, flag, REAL, REAL)
def synthetic(state, runs, arms, quiet, means, variances):
    """`bai.synthetic`: the instances of Section 5.1."""
    rng = pcg64(carray(state, (6,)))
    shape = (runs, arms)
    means_, variances_ = carray(means, shape), carray(variances, shape)
    mean, mixed, order = np.empty(arms), np.empty((2, arms)), np.empty(arms, np.int64)
    for i in range(arms):
        mean[i] = 1 - np.sqrt(i / arms)
    for r in range(runs):
        for i in range(arms):
            means_[r, i] = mean[i] + (0.0 + 0.05 * rng.standard_normal())
    for r in range(runs):
        for i in range(arms):
            noisy = i % 2 == quiet
            variance = 0.9 * (mean[i] * mean[i]) + 0.1 if noisy else 0.1
            variances_[r, i] = variance * (0.5 + 1.0 * rng.random())
    for r in range(runs):
        for i in range(arms):
            order[i], mixed[0, i], mixed[1, i] = i, means_[r, i], variances_[r, i]
        for i in range(arms - 1, 0, -1):
            j = up_to(rng, i)
            order[i], order[j] = order[j], order[i]
        for i in range(arms):
            means_[r, i], variances_[r, i] = mixed[0, order[i]], mixed[1, order[i]]


EXPORTS = (
    open_block,
    eliminate,
    adapt,
    explore,
    explore_adaptively,
    allocate,
    reject,
    halve_variance,
    normals,
    uniforms,
    synthetic,
)  # fmt: skip
