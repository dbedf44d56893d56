"""Random problems whose rewards are written down in advance, and every policy that there is."""

import dataclasses

import numpy as np

import bai

POLICIES = [
    bai.Unif(),
    bai.SH(),
    bai.SH(reuse=True),
    bai.SHVar(),
    bai.SHVar(reuse=True),
    bai.SHAdaVar(),
    bai.SHAdaVar(reuse=True),
    bai.SHAdaVar(delta=0.3),
    bai.SHAdaVar(warmup="printed"),
    bai.SHAdaVar(bound="plug-in"),
    bai.SHAdaVar(bound="plug-in", reuse=True),
    bai.SHAdaVar(bound="chi-square"),
    bai.SHAdaVar(bound="chi-square", delta=0.3, reuse=True, repeats="doubted"),
    bai.SHAdaVar(bound="bernstein"),
    bai.SHAdaVar(bound="bernstein", span=0.1, reuse=True),
    bai.SHAdaVar(repeats="doubted"),
    bai.SR(),
    bai.GapE(),
    bai.GapE(scaling="paper"),
    bai.GapEV(),
    bai.GapEV(scaling="paper"),
    bai.AGapE(),
    bai.AGapE(bound=1, scaling="paper"),
    bai.AGapEV(),
    bai.AGapEV(bound=1),
    bai.VBR(),
    bai.VBR(pull="widest"),
    bai.OCBA(),
    bai.OCBA(first=2),
    bai.TopTwo(),
]


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


def fit(policy, family):
    """Return the policy as it can be played on the family: those that are told the largest reward need it positive."""
    if family is far_away and isinstance(policy, (bai.GapE, bai.GapEV, bai.AGapE, bai.AGapEV)):
        return dataclasses.replace(policy, bound=1.0)
    if family is far_away and isinstance(policy, bai.SHAdaVar) and policy.bound == "bernstein":
        return dataclasses.replace(policy, span=1.0)
    return policy
