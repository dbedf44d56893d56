"""Batches: a policy whose rewards are collected ahead makes the same pulls and gives the same answer."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import POLICIES, informed

import bai
from bai.policies.base import Progress

N_ARMS, BUDGET = 5, 150
VARIANCES = [1.0, 0.2, 2.0, 0.2, 1.0]
INFORMED = [informed(p, variances=VARIANCES, complexity=50.0, bound=3.0, span=3.0) for p in POLICIES]


def foresees(policy):
    """Return whether no reward changes how often an arm is pulled within a stage: those that draw sums of rewards."""
    return "eliminate_block" in type(policy).play.__code__.co_names


def stacks_of(seed):
    rng = np.random.default_rng(seed)
    means = rng.normal(size=N_ARMS)
    return rng.normal(means, np.sqrt(VARIANCES), size=(3 * BUDGET, N_ARMS)).T


class Stacks:
    """The k-th pull of an arm gives the same reward however the pulls are collected."""

    def __init__(self, stacks):
        self.stacks, self.taken = stacks, [0] * N_ARMS

    def __call__(self, arm):
        self.taken[arm] += 1
        return self.stacks[arm, self.taken[arm] - 1]


@pytest.mark.parametrize("policy", INFORMED, ids=str)
@given(seed=st.integers(0, 10_000), sizes=st.lists(st.integers(1, 70), min_size=1, max_size=6))
@settings(max_examples=10, deadline=None)
def test_batches_of_any_size_change_neither_pulls_nor_answer(policy, seed, sizes):
    single = bai.identify(policy, Stacks(stacks_of(seed)), N_ARMS, BUDGET, seed=3)
    pull = Stacks(stacks_of(seed))
    experiment = bai.Experiment(policy, N_ARMS, BUDGET, seed=3)
    batches = 0
    while not experiment.done:
        arms = experiment.ask_batch(sizes[batches % len(sizes)])
        assert 1 <= len(arms) <= sizes[batches % len(sizes)]
        assert experiment.ask_batch(sizes[batches % len(sizes)]) == arms  # asking changes nothing
        experiment.tell_batch(arms, [pull(arm) for arm in arms])
        experiment = pickle.loads(pickle.dumps(experiment))
        batches += 1
    np.testing.assert_array_equal(experiment.pulls, single.pulls)
    np.testing.assert_allclose(experiment.means, single.means)
    assert experiment.best == single.best
    np.testing.assert_array_equal(experiment.pulls + experiment.spare, pull.taken)
    if foresees(policy):
        assert experiment.spare.sum() == 0


def told_afresh(policy):
    """Return a copy of the policy that can only begin from the start."""
    cls = type(policy)

    class Afresh(cls):
        def steps(self, n_arms, budget, **known):
            return cls.resume(self, n_arms, budget, Progress.begin(n_arms), **known)

        def resume(self, *args, **known):
            return None

    other = copy.copy(policy)
    object.__setattr__(other, "__class__", Afresh)
    return other


@pytest.mark.parametrize("policy", INFORMED, ids=str)
def test_a_forecast_from_where_the_policy_is_equals_one_that_tells_it_all_rewards_again(policy):
    pull = Stacks(stacks_of(4))
    experiments = [bai.Experiment(some, N_ARMS, BUDGET, seed=5) for some in (policy, told_afresh(policy))]
    while not experiments[0].done:
        asked = [experiment.ask_batch(9) for experiment in experiments]
        assert asked[0] == asked[1]
        rewards = [pull(arm) for arm in asked[0]]
        for experiment in experiments:
            experiment.tell_batch(asked[0], rewards)
    assert experiments[1].done
    assert experiments[0].best == experiments[1].best


def test_halving_and_rejects_foresee_their_pulls_and_others_do_not():
    assert {policy.name for policy in INFORMED if foresees(policy)} == {"Unif", "SH", "SHVar", "SR"}


def test_a_batch_ends_with_its_stage():
    experiment = bai.Experiment(bai.SH(), n_arms=8, budget=300)
    arms = experiment.ask_batch(1000)
    assert sorted(np.bincount(arms)) == [12] * 4 + [13] * 4
    experiment.tell_batch(arms, [float(arm) for arm in arms])
    assert set(experiment.ask_batch(1000)) == {4, 5, 6, 7}


def test_batches_that_overlap_are_forecast_as_one_and_wait_at_the_end_of_a_stage():
    experiment = bai.Experiment(bai.SH(), n_arms=8, budget=300)
    whole = experiment.ask_batch(100)
    first = experiment.ask_batch(60)
    second = experiment.ask_batch(60, outstanding=first)
    assert first + second == whole
    assert experiment.ask_batch(60, outstanding=whole) == []
    experiment.tell_batch(second, [float(arm) for arm in second])
    assert not experiment.done
    assert sorted(experiment.ask_batch(100)) == sorted(first)
    experiment.tell_batch(first, [float(arm) for arm in first])
    assert len(experiment.ask_batch(1000)) == 100


def test_a_forecast_shares_out_pulls_by_the_spread_seen_so_far():
    experiment = bai.Experiment(bai.SHAdaVar(), n_arms=2, budget=1000)
    arms = experiment.ask_batch(100)
    assert np.bincount(arms).tolist() == [50, 50]
    experiment.tell_batch(arms, [(3.0 if arm else 1.0) * (-1) ** (k // 2) for k, arm in enumerate(arms)])
    later = np.bincount(experiment.ask_batch(400), minlength=2) + 50
    assert later[1] / later[0] == pytest.approx(9, rel=0.35)


def test_one_reward_of_an_arm_is_not_forecast_for_ever():
    class Collects(bai.Policy):
        name, seen = "Collects", []

        def steps(self, n_arms, budget):
            self.seen.clear()
            for _ in range(budget):
                self.seen.append((yield 0))
            return 0

    experiment = bai.Experiment(Collects(), n_arms=2, budget=9)
    experiment.tell(experiment.ask(), 0.7)
    experiment.ask_batch(4)
    assert Collects.seen == [0.7, 0.0, 1.0, 0.0, 1.0]


def test_a_bad_batch_is_refused_and_changes_nothing():
    experiment = bai.Experiment(bai.SH(), 4, 80)
    arms = experiment.ask_batch(10)
    for told, rewards, message in [
        (arms, [1.0] * 9 + [float("nan")], "reward is nan"),
        (arms, [1.0] * 9, "9 entries for 10 arms"),
        ([0, 4], [1.0, 1.0], "arms contains 4; arms are numbered from 0 to 3"),
        ([0, -1], [1.0, 1.0], "arm is -1"),
        ([0, 1.5], [1.0, 1.0], "arm is 1.5"),
    ]:
        with pytest.raises(ValueError, match=message):
            experiment.tell_batch(told, rewards)
        assert experiment.history == []
        assert experiment.ask_batch(10) == arms
    with pytest.raises(ValueError, match="size is 0"):
        experiment.ask_batch(0)
    with pytest.raises(ValueError, match="outstanding contains 7"):
        experiment.ask_batch(5, outstanding=[7])
    experiment.run(float)
    with pytest.raises(ValueError, match="nothing left to ask"):
        experiment.ask_batch(5)
    with pytest.raises(ValueError, match="experiment is done"):
        experiment.tell_batch([0], [1.0])


def test_arms_are_asked_for_in_an_order_that_the_seed_decides():
    def first_asked(seed):
        experiment, asked = bai.Experiment(bai.Unif(), 5, 5, seed), []
        while not experiment.done:
            asked.append(experiment.ask())
            experiment.tell(asked[-1], 0.0)
        return tuple(asked)

    orders = {first_asked(seed) for seed in range(20)}
    assert len(orders) > 10
    assert {order[0] for order in orders} == set(range(5))
