"""Random problems whose rewards are written down in advance, and every policy that there is."""

import dataclasses

import numpy as np

import bai

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
