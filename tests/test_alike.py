"""The plain version, the compiled version and Experiment make the same pulls and give the same answer."""

import sys

import numpy as np
import pytest
from problems import FAMILIES, POLICIES, coins, constant, fit, gaussian, informed, replay, silent

import bai
from bai.play import play_block


def budgets_of(policy, n_arms):
    """Barely enough, one more, and enough for every part of the algorithm to be reached."""
    least = policy.least_budget(n_arms)
    return [least, least + 1, 18 * n_arms + 7]


def assert_alike(fast, plain):
    np.testing.assert_array_equal(fast.pulls, plain.pulls)
    np.testing.assert_array_equal(fast.recommended, plain.recommended)


@pytest.mark.parametrize("policy", POLICIES, ids=str)
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_plain_and_compiled_make_the_same_pulls(policy, family):
    policy = fit(policy, family)
    for n_arms in (2, 3, 5, 7):
        for budget in budgets_of(policy, n_arms):
            bandits = replay(family, 1, runs=3, n_arms=n_arms, budget=budget)
            fast = bai.simulate(policy, bandits, budget, seed=2)
            assert_alike(fast, bai.simulate(policy, bandits, budget, seed=2, plain=True))


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_plain_and_compiled_make_the_same_pulls_with_64_arms(policy):
    for family in FAMILIES:
        budget = policy.least_budget(64) + 150
        bandits = replay(family, 3, runs=1, n_arms=64, budget=budget)
        player = fit(policy, family)
        fast = bai.simulate(player, bandits, budget, seed=4)
        assert_alike(fast, bai.simulate(player, bandits, budget, seed=4, plain=True))


@pytest.mark.parametrize("n_arms, budget", [(2, 11), (2, 30), (3, 24), (5, 60)])
@pytest.mark.parametrize("policy", [p for p in POLICIES if "GapE" in str(p)], ids=str)
def test_exploration_breaks_the_many_ties_of_coins_alike(policy, n_arms, budget):
    bandits = replay(coins, 15, runs=200, n_arms=n_arms, budget=budget)
    player = informed(policy, bound=1.0, complexity=20.0)
    fast = bai.simulate(player, bandits, budget, seed=16)
    assert_alike(fast, bai.simulate(player, bandits, budget, seed=16, plain=True))


@pytest.mark.parametrize("n_arms, budget", [(8, 800), (2, 1000), (33, 3200)])
@pytest.mark.parametrize("policy", [p for p in POLICIES if isinstance(p, bai.SHAdaVar)], ids=str)
def test_levels_that_prove_too_deep_are_taken_back_without_a_trace(policy, n_arms, budget):
    # Long stages make the compiled version guess levels; coins and wide variance ratios make it guess wrong.
    for family in FAMILIES:
        bandits = replay(family, 5, runs=1, n_arms=n_arms, budget=budget)
        player = fit(policy, family)
        fast = bai.simulate(player, bandits, budget, seed=6)
        assert_alike(fast, bai.simulate(player, bandits, budget, seed=6, plain=True))


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_experiment_fed_from_the_stacks_gives_the_same_again(policy):
    for family in FAMILIES:
        n_arms, budget = 5, 150
        means, variances, stacks = family(np.random.default_rng(7), 1, n_arms, budget)
        told = informed(policy, variances=variances[0], complexity=3.0, bound=2.0, span=2.0)
        experiment = bai.Experiment(told, n_arms, budget, seed=8)
        while not experiment.done:
            arm = experiment.ask()
            experiment.tell(arm, stacks[0, arm, experiment.pulls[arm]])
        # Hand the arms to the simulator in the order of the experiment, and undo its own shuffle.
        bandits = bai.ReplayBandits(stacks, means, variances)
        pulls, recommended = play_in_order(told, bandits, budget, experiment._player._order)
        np.testing.assert_array_equal(experiment.pulls, pulls)
        assert experiment.best == recommended


@pytest.mark.parametrize("policy", POLICIES, ids=str)
@pytest.mark.parametrize("unit", [2.0**-300, 2.0**300], ids=["tiny", "huge"])
def test_plain_and_compiled_make_the_same_pulls_in_extreme_units(policy, unit):
    for family in (gaussian, silent, coins, constant):
        n_arms, budget = 5, max(policy.least_budget(5), 120)
        means, variances, stacks = family(np.random.default_rng(13), 2, n_arms, budget)
        bandits = bai.ReplayBandits(unit * stacks, unit * means, unit**2 * variances)
        for told in (policy, informed(policy, bound=1.0, span=1.0), informed(policy, bound=2 * unit, span=2 * unit)):
            with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
                fast = bai.simulate(told, bandits, budget, seed=14)
                assert_alike(fast, bai.simulate(told, bandits, budget, seed=14, plain=True))
            assert (fast.pulls >= 1).all() or policy.least_budget(5) < 5  # too few to pull all of them


def play_in_order(policy, bandits, budget, order):
    known = policy.known(bandits.n_arms, budget, bandits).in_order(order[None, :])
    pulls, recommended = np.zeros((1, bandits.n_arms), np.int64), np.empty(1, np.int64)
    rewards = bandits.rewards(order[None, :], np.random.default_rng(0))
    policy.play(rewards, budget, known, pulls, recommended)
    unshuffled = np.empty_like(pulls[0])
    unshuffled[order] = pulls[0]
    return unshuffled, order[recommended[0]]


def uncompiled(monkeypatch):
    """Put the Python functions in place of all compiled ones, wherever they were imported; return the modules."""
    modules = [module for name, module in sorted(sys.modules.items()) if name.split(".")[0] == "bai"]
    found = [
        (module, name, value.py_func)
        for module in modules
        for name, value in vars(module).items()
        if hasattr(value, "py_func")
    ]
    for place in found:
        monkeypatch.setattr(*place)
    return {module.__name__ for module, _, _ in found}


def without_compiling(make):
    """Return what a function makes with Python functions in place of all compiled ones, in the same bits.

    For what is made as soon as a file of tests is imported: every process imports all of them, and would compile it.
    """
    with pytest.MonkeyPatch.context() as patch:
        uncompiled(patch)
        return make()


UNCOMPILED_PROBLEMS = without_compiling(
    lambda: {
        "gaussian": bai.synthetic(5, 4, seed=9),
        "bernoulli": bai.BernoulliBandits(np.random.default_rng(13).choice([0.0, 0.1, 0.5, 1.0], (3, 5))),
        "table": bai.TableBandits(np.random.default_rng(10).normal(size=(20, 30)), np.arange(10).reshape(2, 5)),
        "low rank": bai.LowRankBandits(
            *np.random.default_rng(14).normal(1, 0.3, (2, 20, 3)), np.arange(10).reshape(2, 5)
        ),
        "replay": replay(FAMILIES[3], 11, runs=2, n_arms=5, budget=400),
    }
)


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_compiled_loops_give_the_same_bits_uncompiled(policy, monkeypatch):
    """Run as Python, a loop draws the same normals and makes the same pulls as compiled.

    This also lets coverage see the loops, and shows that compilation reorders no floating-point operation.
    """
    compiled = {name: play_block(policy, bandits, 400, 12, 0) for name, bandits in UNCOMPILED_PROBLEMS.items()}
    assert {"bai.sampling", "bai.policies.loops", type(policy).__module__} <= uncompiled(monkeypatch)
    with np.errstate(divide="ignore", invalid="ignore"):
        for name, bandits in UNCOMPILED_PROBLEMS.items():
            for one, other in zip(play_block(policy, bandits, 400, 12, 0), compiled[name], strict=True):
                np.testing.assert_array_equal(one, other, err_msg=name)
