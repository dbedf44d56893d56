"""The constants, defaults and smallest parts of the policies, each written out from its definition."""

import dataclasses
import math

import numpy as np
import pytest

import bai
from bai import theory, variance_bounds
from bai.policies.base import Known, Policy, Tally, argmax, check_arm, play_steps
from bai.policies.gaps import may_cross
from bai.policies.halving import SR


def told(*rewards):
    """Return the tally of arms with these rewards."""
    tally = Tally(len(rewards))
    for arm, of_arm in enumerate(rewards):
        for reward in of_arm:
            tally.add(arm, reward)
    return tally


def test_defaults_are_those_that_the_documentation_states():
    assert {cls.name: dataclasses.asdict(cls()) for cls in (bai.VBR, bai.OCBA, bai.TopTwo, bai.GapE)} == {
        "VBR": {"gamma": 1.96, "pull": "upper"},
        "OCBA": {"first": 5},
        "TopTwo": {"first": 3, "shrinkage": 5.0},
        "GapE": {"complexity": None, "bound": None, "scaling": 1.0},
    }
    assert (bai.SHAdaVar().delta, bai.SHAdaVar().bound, bai.VBR.least_pulls) == (0.05, variance_bounds.Gaussian(), 3)


@pytest.mark.parametrize("n_arms, stages", [(2, 1), (5, 3), (8, 3), (64, 6)])
def test_least_budgets_are_those_of_the_rules(n_arms, stages):
    policies = [bai.Unif(), bai.SH(), bai.SHVar(), bai.SHAdaVar(), bai.SR(), bai.VBR(), bai.GapE(), bai.AGapEV()]
    least = [1, stages, stages, stages, 1, 1, 1, 2]
    expected = [n_arms * times + isinstance(p, SR) for p, times in zip(policies, least, strict=True)]
    assert [policy.least_budget(n_arms) for policy in policies] == expected


def test_stages_end_after_all_pulls_so_far():
    assert list(bai.SH().stage_ends(8, 90)) == [30, 60, 90]
    assert bai.SR().stage_ends(4, 100) == [64, 79, 99]


# --- GapE and kin ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls, constant, first, error", [
    (bai.GapE, 4 / 9, 1, 144), (bai.AGapE, 4 / 9, 1, 144), (bai.GapEV, 8 / 9, 2, 512), (bai.AGapEV, 8 / 9, 2, 512),
])  # fmt: skip
def test_effort_is_the_constant_times_the_free_budget_over_the_scaling(cls, constant, first, error):
    free = 1000 - first * 64
    assert cls().effort(64, 1000) == pytest.approx(constant * free)
    assert cls(scaling=3.0).effort(64, 1000) == pytest.approx(constant * free / 3)
    assert cls(scaling="paper").effort(64, 1000) == pytest.approx(constant * free / (4 * 6 / error))


def test_gape_and_gape_v_are_told_complexities_of_their_own():
    problem = bai.synthetic(5, 3, seed=1)
    bound = theory.reward_bound(problem.means, problem.variances, 200)
    for policy, complexity in (
        (bai.GapE(), theory.gape_complexity(problem.means, bound)),
        (bai.GapEV(), theory.gapev_complexity(problem.means, problem.variances, bound)),
    ):
        known = policy.known(5, 200, problem)
        np.testing.assert_array_equal(known.bound, bound)
        np.testing.assert_array_equal(known.complexity, complexity)


# --- SHAdaVar --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bound", [variance_bounds.Gaussian, variance_bounds.ChiSquare, variance_bounds.PlugIn])
def test_an_arm_with_equal_rewards_is_doubted_by_d_squared_log_one_over_delta_over_n_squared(bound):
    index = bound(guard_repeats=True).index(0.05, 100, 0.0)
    tally = told([0.0] * 20, [0.0, 3.0] * 10)
    assert index(tally)(0) == pytest.approx(math.log(20) * 3.0**2 / 20**2)
    assert index(tally)(1) == bound().index(0.05, 100, 0.0)(tally)(1)
    alone = told([7.0] * 15, [7.0] * 20)
    assert [index(alone)(arm) for arm in (0, 1)] == pytest.approx([math.log(20) / 15**2, math.log(20) / 20**2])


def test_warm_ups_are_two_pulls_per_arm_or_what_the_bound_needs():
    pulls = {type(b).__name__: b.warmup_pulls(64, 0.05) for b in (
        variance_bounds.Gaussian(), variance_bounds.Printed(), variance_bounds.ChiSquare(), variance_bounds.PlugIn(),
        variance_bounds.Bernstein(),
    )}  # fmt: skip
    assert pulls == {"Gaussian": 832, "Printed": 830, "ChiSquare": 128, "PlugIn": 128, "Bernstein": 128}


@pytest.mark.parametrize("four_l", range(1, 60))
def test_the_warm_up_exceeds_4_log_one_over_delta_plus_one_where_that_is_whole_but_for_rounding(four_l):
    assert theory.warmup_pulls(math.exp(-four_l / 4)) == four_l + 2


def test_a_bound_that_falls_back_below_zero_is_refused():
    class Falling(variance_bounds.VarianceBound):
        def spread(self, delta, budget):
            return np.append(np.ones(budget), -1.0)

    with pytest.raises(ValueError, match="falls back to 0 or below"):
        Falling().table(0.05, 10)


# --- OCBA and TopTwo -------------------------------------------------------------------------------------


def test_top_two_adds_the_natural_logarithm_of_the_pulls():
    np.testing.assert_allclose(bai.TopTwo._logs(3), [0, 0, math.log(2), math.log(3)])


# --- what all share --------------------------------------------------------------------------------------


def test_a_tally_has_the_mean_the_unbiased_variance_and_the_range_of_the_rewards():
    rewards = [2.0, -1.0, 4.0, 0.5]
    tally = told(rewards)
    assert tally.mean(0) == pytest.approx(np.mean(rewards))
    assert tally.variance(0) == pytest.approx(np.var(rewards, ddof=1))
    assert (tally.lowest[0], tally.highest[0]) == (-1, 4)


def test_ties_go_to_the_first_arm():
    assert argmax([3, 1, 2], key=lambda arm: 0.0) == 3


def test_what_is_known_is_put_in_the_order_of_the_arms():
    known = Known(variances=np.array([[1.0, 2.0, 3.0]])).in_order(np.array([[2, 0, 1]]))
    assert known.of_run(0) == {"variances": [3, 1, 2]}


@pytest.mark.parametrize("arm", [-1, 3, 4])
def test_arms_that_do_not_exist_are_refused(arm):
    with pytest.raises(ValueError, match=str(arm)):
        check_arm(bai.SH(), "pulls", arm, 3)


class Greedy(Policy):
    """Pulls arm 1 so many times, whatever the budget."""

    name = "Greedy"

    def steps(self, n_arms, budget):
        self.seen = []
        for _ in range(5):
            self.seen.append((yield 1))
        return 0


def test_a_run_sees_each_reward_once_from_the_first_and_never_more_than_the_budget():
    policy, pulls = Greedy(), np.zeros(2, np.int64)
    assert play_steps(policy, policy.steps(2, 5), 5, pulls, lambda arm, k: float(k)) == 0
    assert policy.seen == [0, 1, 2, 3, 4]
    assert pulls.tolist() == [0, 5]
    with pytest.raises(ValueError, match="more than its budget of 4"):
        play_steps(policy, policy.steps(2, 4), 4, pulls, lambda arm, k: 0.0)


def test_a_subclass_with_steps_of_its_own_is_played_by_them():
    class First(bai.SH):
        def steps(self, n_arms, budget, **known):
            yield 0
            return 0

    assert First.play is Policy.play
    assert First().resume(2, 2, None) is None


@pytest.mark.parametrize(
    ("means", "pulled", "expected"),
    [  # arm 0 was the best, arm 1 the second, and the third mean was 1
        ([3.0, 2.0, 1.0], 0, (1.0, False)),
        ([2.0, 2.0, 1.0], 0, (1.0, True)),
        ([3.0, 1.0, 1.0], 1, (1.0, False)),
        ([3.0, 0.9, 1.0], 1, (1.0, True)),
        ([3.0, 3.0, 1.0], 1, (1.0, True)),
        ([3.0, 2.0, 1.5], 2, (1.5, False)),
        ([3.0, 2.0, 0.5], 2, (1.0, False)),  # a bound: another arm may have this mean
        ([3.0, 2.0, 2.0], 2, (2.0, True)),
    ],
)
def test_after_a_pull_the_two_best_are_looked_up_again_if_they_may_have_changed(means, pulled, expected):
    assert getattr(may_cross, "py_func", may_cross)(np.array(means), pulled, 0, 1, 1.0) == expected


@pytest.mark.parametrize("budget", range(6, 20))
def test_top_two_pulls_the_challenger_when_the_balance_is_even(budget):
    bandits = bai.ReplayBandits(np.tile([0.0, 1.0], (1, 2, 10)), [[0.5, 0.5]], [[0.25, 0.25]])
    plain, fast = (bai.simulate(bai.TopTwo(), bandits, budget, seed=1, plain=plain) for plain in (True, False))
    np.testing.assert_array_equal(plain.pulls, fast.pulls)
