"""Compiled loops on rewards that invite mistakes: the pulls of the plain version, and no index out of bounds.

Rewards of extreme size, far from zero, with ties, without noise, of two values only; few arms, odd numbers of arms, the
least budgets. All goes by the registry. The environment variable BAI_FUZZ sets the number of random cases per policy.
Run as a program, this file plays the cases with bounds checks in the compiled loops: the weekly workflow does.
"""

import os
import subprocess
import sys

import numpy as np
import problems
import pytest
from problems import POLICIES, informed
from test_alike import uncompiled

import bai
from bai import variance_bounds
from bai.policies.halving import share_equally

CASES = int(os.environ.get("BAI_FUZZ", "16"))
EXTREME = 2.0**300  # about 1e90
# The options that examples show one at a time, together: a warm-up that leaves arms short, and samples that are kept.
PLAYERS = [*POLICIES, bai.SHAdaVar(delta=0.06, bound=variance_bounds.Printed(), reuse=True)]


# --- rewards, of shape (runs, arms, pulls) -----------------------------------------------------------------


def normal(rng, shape):
    return rng.normal(size=shape) * 10.0 ** rng.uniform(-3, 0, (*shape[:2], 1)) + rng.normal(size=(*shape[:2], 1))


def coins(rng, shape):
    return rng.integers(0, 2, shape).astype(float)


def few_values(rng, shape):
    return rng.choice([0.1, 0.3, 1 / 3], shape)


def equal(rng, shape):
    return np.full(shape, rng.choice([0.0, 0.1, 1.0, -1 / 3]))


def noiseless(rng, shape):
    return np.broadcast_to(rng.choice([0.1, 0.3, 1 / 3], (*shape[:2], 1)), shape).copy()


def one_noisy_arm(rng, shape):
    stacks = noiseless(rng, shape)
    stacks[:, rng.integers(shape[1])] = rng.normal(size=(shape[0], shape[2]))
    return stacks


def far_from_zero(rng, shape):
    return 1e15 + rng.normal(size=shape) * rng.choice([0.1, 1.0, 100.0])


def mixed_sizes(rng, shape):
    return rng.normal(size=shape) * 2.0 ** rng.choice([-300, -20, 0, 20, 300], (*shape[:2], 1))


FAMILIES = [normal, coins, few_values, equal, noiseless, one_noisy_arm, far_from_zero, mixed_sizes]


# --- cases -------------------------------------------------------------------------------------------------


def cases(policy, number):
    """Yield policies, problems and budgets; the same ones whenever they are asked for."""
    for case in range(number):
        rng = np.random.default_rng([case, 7])
        family = FAMILIES[case % len(FAMILIES)]
        n_arms = int(rng.choice([2, 3, 5, 9]))
        least = policy.least_budget(n_arms)
        budget = int(rng.choice([least, least + 1, least + rng.integers(2, 40 * n_arms)]))
        stacks = family(rng, (3, n_arms, budget))
        unit = (
            1.0
            if family is mixed_sizes
            else 2.0 ** rng.choice([-300, 0, 0, 300 if family is not far_from_zero else 200])
        )
        stacks *= unit
        means, variances = stacks.mean(axis=2), stacks.var(axis=2)
        variances[variances < 1e-190] = 0.0
        bound = rng.choice([None, unit, 1 / EXTREME, EXTREME])
        if bound is None and (means.max(axis=1) < 1e-90).any():
            bound = unit
        facts = {} if bound is None else {"bound": float(bound), "span": float(bound)}
        if rng.random() < 0.5:
            facts["complexity"] = float(rng.choice([1e-99, 1.0, 1e99]))
        yield informed(policy, **facts), bai.ReplayBandits(stacks, means, variances), budget


def assert_sound(out, budget):
    n_arms = out.pulls.shape[1]
    assert (out.pulls.sum(axis=1) <= budget).all()
    assert (out.pulls >= 1).all() or out.policy.least_budget(n_arms) < n_arms  # too few to pull all of them
    assert ((out.recommended >= 0) & (out.recommended < n_arms)).all()


def assert_alike(policy, bandits, budget, seed=5):
    with np.errstate(all="ignore"):
        fast = bai.simulate(policy, bandits, budget, seed)
        slow = bai.simulate(policy, bandits, budget, seed, plain=True)
    assert_sound(fast, budget)
    np.testing.assert_array_equal(fast.pulls, slow.pulls)
    np.testing.assert_array_equal(fast.recommended, slow.recommended)


@pytest.mark.parametrize("policy", PLAYERS, ids=str)
def test_plain_and_compiled_make_the_same_pulls_on_extreme_rewards(policy):
    for player, bandits, budget in cases(policy, CASES):
        assert_alike(player, bandits, budget)


@pytest.mark.parametrize("policy", PLAYERS, ids=str)
def test_plain_and_compiled_make_the_same_pulls_on_coins(policy):
    # Two or three arms with rewards 0 and 1: means, variances and indices tie all the time.
    for n_arms in (2, 3):
        budget = policy.least_budget(n_arms) + 20
        stacks = coins(np.random.default_rng(n_arms), (6 * CASES, n_arms, budget))
        shape = stacks.shape[:2]
        assert_alike(
            informed(policy, bound=1.0, span=1.0), bai.ReplayBandits(stacks, np.ones(shape), np.ones(shape)), budget
        )


@pytest.mark.parametrize("family", [problems.coins, problems.gaussian])
def test_arms_short_of_their_warm_up_take_turns_though_others_are_ahead(family):
    # The printed warm-up leaves two of 64 arms a pull short. If both survive, and samples are kept, a pull is due that
    # equal shares of all pulls would take from the third.
    policy = bai.SHAdaVar(delta=0.06, bound=variance_bounds.Printed(), reuse=True)
    assert_alike(policy, problems.replay(family, 2, runs=3, n_arms=64, budget=2560), 2560, seed=2)


@pytest.mark.parametrize("seed", range(20))
def test_equal_shares_go_to_the_least_pulled_arms_first(seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 2 + seed, 6)
    alive, pulls = np.flatnonzero(rng.random(6) < 0.8), int(rng.integers(0, 12))
    targets, expected = counts.copy(), counts.copy()
    getattr(share_equally, "py_func", share_equally)(alive, pulls, counts, targets)
    for _ in range(pulls):
        expected[min(alive, key=lambda arm: (expected[arm], arm))] += 1
    np.testing.assert_array_equal(targets[alive], expected[alive])


# --- with bounds checks ------------------------------------------------------------------------------------


def play_checked(players, number):
    """Play policies on all kinds of arms."""
    rng = np.random.default_rng(1)
    ensembles = [
        bai.synthetic(5, 3, seed=1),
        bai.BernoulliBandits(rng.random((3, 5))),
        bai.TableBandits(rng.normal(size=(6, 4)), rng.integers(0, 6, (3, 5))),
        bai.LowRankBandits(*rng.normal(1, 0.3, (2, 9, 3)), rng.integers(0, 9, (3, 5))),
    ]
    with np.errstate(all="ignore"):
        for policy in players:
            for bandits in ensembles:
                for budget in (policy.least_budget(5), policy.least_budget(5) + 1, 700):
                    assert_sound(bai.simulate(informed(policy, bound=1.0, span=1.0), bandits, budget, seed=2), budget)
            for player, bandits, budget in cases(policy, number):
                assert_sound(bai.simulate(player, bandits, budget, seed=5), budget)
            if type(policy) in (bai.Unif, bai.SH, bai.SHVar, bai.SHAdaVar) and not policy.reuse:
                chances = bai.rao_blackwell(informed(policy, span=1.0), ensembles[0], 700, seed=3).chances
                assert ((chances >= 0) & (chances <= 1)).all()


@pytest.mark.parametrize("policy", [policy for policy in PLAYERS if isinstance(policy, bai.SHAdaVar)], ids=str)
def test_no_loop_that_computes_where_to_read_leaves_its_arrays(policy, monkeypatch):
    # Run as Python, a loop makes the same pulls (tests/test_alike.py), and NumPy checks every index as numba would. No
    # other policy reads tables and buffers at places that it computes.
    uncompiled(monkeypatch)
    play_checked([policy], CASES)


@pytest.mark.skipif("BAI_FUZZ" not in os.environ, reason="to compile all loops anew takes minutes; BAI_FUZZ is not set")
def test_no_compiled_loop_leaves_its_arrays(tmp_path):
    settings = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    run = subprocess.run([sys.executable, __file__], env=os.environ | settings, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-3000:]
    assert run.stdout.splitlines() == ["1", *map(str, PLAYERS)]


if __name__ == "__main__":
    from numba import config

    play_checked(PLAYERS, CASES)
    print(config.BOUNDSCHECK, *PLAYERS, sep="\n")
