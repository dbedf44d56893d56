"""Random problems whose rewards are written down in advance, every policy that there is, and plays of stored runs."""

import dataclasses
import os

import numpy as np

import bai
from bai.play import BLOCK, block_generator, run_keys
from bai.sampling import shuffle

# A policy that is registered is tested. The last one here combines options that its class shows one at a time.
POLICIES = [policy for cls in bai.REGISTRY + bai.FIELD for policy in cls.examples()]
POLICIES += [bai.SHAdaVar(delta=0.3, bound=bai.variance_bounds.ChiSquare(guard_repeats=True), reuse=True)]


def gaussian(rng, runs, n_arms, length):
    """Normal rewards with variance ratios of up to a million."""
    means = 5 + rng.normal(size=(runs, n_arms))
    variances = 10.0 ** rng.uniform(-6, 0, (runs, n_arms))
    return means, variances, means[..., None] + np.sqrt(variances)[..., None] * rng.normal(size=(runs, n_arms, length))


def far_away(rng, runs, n_arms, length):
    """Means of minus a million, where careless running variances lose all digits."""
    means, variances, stacks = gaussian(rng, runs, n_arms, length)
    return means - 1e6, variances, stacks - 1e6


def silent(rng, runs, n_arms, length):
    """Some arms without any noise."""
    means, variances, _ = gaussian(rng, runs, n_arms, 1)
    variances[rng.random((runs, n_arms)) < 0.5] = 0.0
    return means, variances, means[..., None] + np.sqrt(variances)[..., None] * rng.normal(size=(runs, n_arms, length))


def coins(rng, runs, n_arms, length):
    """Rewards 0 and 1, so that means, variances and indices tie all the time."""
    means = rng.choice([0.1, 0.5, 0.9], (runs, n_arms))
    stacks = (rng.random((runs, n_arms, length)) < means[..., None]).astype(float)
    return means, means * (1 - means), stacks


def constant(rng, runs, n_arms, length):
    """All arms alike and without noise: nothing but ties."""
    shape = (runs, n_arms)
    return np.ones(shape), np.zeros(shape), np.ones((*shape, length))


def equal_noise(rng, runs, n_arms, length):
    """Equal variances: every greedy choice starts with a tie."""
    means = 5 + rng.normal(size=(runs, n_arms))
    return means, np.ones_like(means), means[..., None] + rng.normal(size=(runs, n_arms, length))


FAMILIES = [gaussian, far_away, silent, coins, constant, equal_noise]


def replay(family, seed, runs, n_arms, budget):
    means, variances, stacks = family(np.random.default_rng([seed, n_arms, budget]), runs, n_arms, budget)
    return bai.ReplayBandits(stacks, means, variances)


def informed(policy, **facts):
    """Return the policy with facts of the problem as its arguments, those that it has.

    A field that is None by default is what a simulation would tell; SHAdaVar has one in its bound.
    """
    changes = {}
    for field in dataclasses.fields(policy):
        value = getattr(policy, field.name)
        if dataclasses.is_dataclass(value):
            changes[field.name] = informed(value, **facts)
        elif field.default is None and field.name in facts and value != "estimated":
            changes[field.name] = facts[field.name]
    return dataclasses.replace(policy, **changes)


def takes(policy, *names):
    """Return whether a policy has one of these arguments."""
    return informed(policy, **{name: 123.0 for name in names}) != policy


def fit(policy, family):
    """Return the policy as it can be played on the family: those that are told the largest reward need it positive."""
    return informed(policy, bound=1.0, span=1.0) if family is far_away else policy


# How many runs of a stored block are played again: its first ones. The weekly workflow plays whole blocks.
AGAIN = int(os.environ.get("BAI_AGAIN", "40"))


def mistakes_played_again(policy, bandits, budget, seed, block):
    """Play the first runs of a block of a large ensemble; return where they are, and which of them are mistakes.

    A block's stream of random numbers gives the orders of the arms of all its runs, then the rewards of one run after
    the other. So the first runs can be played without the rest; only DSH plays the first halving of all runs first.
    """
    whole = bandits.select(slice(block * BLOCK, (block + 1) * BLOCK))
    runs = whole.runs if isinstance(policy, bai.DSH) else min(AGAIN, whole.runs)
    rng = block_generator(seed, block)
    order = np.empty((whole.runs, whole.n_arms), np.int64)
    shuffle(rng, order)
    some, order = whole.select(slice(0, runs)), order[:runs]
    known = policy.known(whole.n_arms, budget, some)
    if policy.keyed:
        known = dataclasses.replace(known, key=run_keys(seed, block, whole.runs)[:runs])
    if any(fact is not None for fact in vars(known).values()):
        known = known.in_order(order)
    pulls, named = np.zeros(order.shape, np.int64), np.empty(runs, np.int64)
    policy.play(some.rewards(order, rng), budget, known, pulls, named)
    rows = np.arange(runs)
    mistakes = some.means[rows, order[rows, named]] < some.means.max(axis=1)
    return slice(block * BLOCK, block * BLOCK + runs), mistakes
