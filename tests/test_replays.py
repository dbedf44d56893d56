"""Figures 2 and 3 under other readings: GapE's radius is what it should be, and points are compared as stated."""

import numpy as np
import pandas as pd
import pytest

import bai
from bai.book import paper, replays
from bai.book.readings import WideGapE


@pytest.mark.parametrize(("policy", "wider"), [(replays.GapEWithoutSquare, 1.0), (WideGapE, 1.5)])
@pytest.mark.parametrize("scaling", [1.0, "paper"])
def test_gape_with_a_wide_radius_is_gape_that_knows_nothing_on_rewards_in_another_unit(policy, wider, scaling):
    # In the unit in which b = H = 1, GapE's radius is sqrt(a_1 / T), a_1 = (4/9) (n - K); without b^2 in H it is
    # b sqrt(a_1 / (T sum_k 1 / Delta_k^2)) in the unit of the rewards.
    rng, budget = np.random.default_rng(1), 300
    means, variances = rng.random((100, 8)), rng.uniform(0.1, 1, (100, 8))
    stacks = rng.normal(means[..., None], np.sqrt(variances)[..., None], (100, 8, budget))
    b = bai.theory.reward_bound(means, variances, budget)
    unit = (np.sqrt(bai.theory.gape_complexity(means, bound=1.0)) / (wider * b))[:, None]
    there = bai.ReplayBandits(stacks * unit[..., None], means * unit, variances * unit**2)
    expected = bai.simulate(bai.GapE(bound=1, complexity=1, scaling=scaling), there, budget, seed=1)
    out = bai.simulate(policy(scaling=scaling), bai.ReplayBandits(stacks, means, variances), budget, seed=1)
    assert np.array_equal(out.pulls, expected.pulls)


@pytest.mark.parametrize("policy", [replays.GapEWithoutSquare(), WideGapE()], ids=lambda policy: type(policy).__name__)
def test_the_plain_version_of_a_reading_makes_the_same_pulls(policy):
    problem = bai.synthetic(6, 50, seed=2)
    fast, plain = (bai.simulate(policy, problem, 200, seed=3, plain=plain) for plain in (False, True))
    assert np.array_equal(fast.pulls, plain.pulls)
    assert not np.array_equal(fast.pulls, bai.simulate(bai.GapE(), problem, 200, seed=3).pulls)


def test_a_replay_of_the_books_reading_is_its_figures():
    table = replays.replay(paper.policies(), lambda n_arms: bai.synthetic(n_arms, 60, seed=1))
    figures = pd.concat([paper.replay_figure(figure, runs=60, seed=1).assign(figure=figure) for figure in (2, 3)])
    columns = ["figure", "policy", "n_arms", "budget", "runs", "mistakes"]
    assert table[columns].to_numpy().tolist() == figures[columns].to_numpy().tolist()


def published_rates(shift=0.0, runs=5000):
    """The published points in the form of our own table, all rates shifted."""
    points = paper.published()
    table = points[["figure", "n_arms", "budget", "policy", "problem"]].assign(runs=runs)
    return table.assign(mistake_rate=points["mistake_rate"] + shift)


def test_published_rates_agree_with_themselves():
    both = replays.against_published(published_rates())
    assert len(both) == len(paper.published()) and both["within"].all() and (both["difference"] == 0).all()
    assert replays.score(both) == {"RMSE": "0.000", "points within": "175 of 175"}


def test_a_point_agrees_up_to_three_standard_errors_and_the_reading_error():
    rate, error = (paper.published()[name][0] for name in ("mistake_rate", "reading_error"))
    for runs in (1000, 20_000):
        for factor, agrees in ((0.98, True), (1.02, False)):
            # The shift is far smaller than the rate, so the standard error is that of equal rates within one per cent.
            shift = factor * (3 * np.sqrt(rate * (1 - rate) * (1 / runs + 1 / 5000)) + error)
            ours = published_rates(shift, runs).head(1)
            assert replays.against_published(ours)["within"].tolist() == [agrees]


def test_only_points_of_the_table_are_compared():
    both = replays.against_published(published_rates().query("figure == 3 and policy == 'SH'"))
    assert set(both["figure"]) == {3} and both["n_arms"].tolist() == list(range(32, 65, 4))
