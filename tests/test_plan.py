"""Planning a budget from a pilot or a guess."""

import numpy as np
import pytest

import bai

GUESS = {"means": [1.0, 0.5, 0.0], "variances": [1.0, 1.0, 1.0]}


def test_a_smaller_chance_of_mistakes_takes_a_larger_budget():
    loose, strict = (bai.plan(**GUESS, mistakes=chance, policy=bai.SH()) for chance in (0.1, 0.01))
    assert loose.budget < strict.budget
    assert strict.curve["mistake_rate"].is_monotonic_decreasing
    chosen = strict.curve.set_index("budget")["mistake_rate"]
    assert chosen[strict.budget] <= 0.01 < chosen[strict.budget // 2]
    assert "mistakes at most 0.01" in repr(strict)


def test_the_curve_is_that_of_a_simulation():
    found = bai.plan(**GUESS, policy=bai.SH(), budgets=[60]).curve
    out = bai.simulate(bai.SH(), bai.GaussianBandits(**GUESS, runs=2000), 60, seed=0)
    assert found["mistake_rate"].tolist() == [out.mistake_rate]


def test_a_pilot_with_doubt_asks_for_more_than_the_same_numbers_taken_as_true():
    rng = np.random.default_rng(0)
    pilot = rng.normal([[1.0], [0.5], [0.0]], 1.0, size=(3, 10))
    late = {"policy": bai.SH(), "budgets": [480, 960, 1920]}
    open_ = bai.plan(pilot, **late)
    certain = bai.plan(means=pilot.mean(axis=1), variances=pilot.var(axis=1, ddof=1), **late)
    assert open_.curve["mistake_rate"].mean() > certain.curve["mistake_rate"].mean()


def test_an_experiment_is_a_pilot_and_regret_can_be_planned_for():
    rng = np.random.default_rng(1)
    pilot = bai.identify(bai.Unif(), lambda arm: float(rng.normal(arm, 1)), 3, 30)
    rewards = [[r for arm, r in pilot.history if arm == i] for i in range(3)]
    curve = bai.plan(pilot, budgets=[60, 240]).curve
    assert bai.plan(rewards, budgets=[60, 240]).curve.equals(curve)
    cheaper = bai.plan(pilot, regret=0.5, policy=bai.SH())
    assert cheaper.budget == 30
    assert "regret at most 0.5" in repr(cheaper)
    turned = bai.identify(bai.Unif(), lambda arm: -rewards[arm].pop(0), 3, 30, minimise=True)
    assert bai.plan(turned, budgets=[60, 240]).curve["mistake_rate"].tolist() == curve["mistake_rate"].tolist()


def test_a_goal_out_of_reach_is_said_to_be_so():
    found = bai.plan(means=[1.0, 0.99], variances=[1.0, 1.0], budgets=[20, 40])
    assert found.budget is None
    assert "budget more than 40" in repr(found)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "pilot is None, means None"),
        ({**GUESS, "pilot": [[1.0, 2.0]] * 3}, "pilot is given"),
        ({"means": [1.0, 2.0]}, "variances None"),
        ({"pilot": [[1.0, 2.0], [1.0]]}, "pilot has 1 rewards of arm 1"),
        ({"pilot": [[1.0, 2.0], []]}, "pilot has rewards of 1 arms"),
        ({**GUESS, "mistakes": 0}, "mistakes is 0"),
        ({**GUESS, "regret": -1}, "regret is -1"),
        ({**GUESS, "budgets": [1]}, "budget is 1"),
    ],
)
def test_plans_that_cannot_be_made_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        bai.plan(**arguments)
