"""Draws, sums of draws and random orders, each against what it stands for. Nothing here is compiled."""

import copy

import numpy as np
import pytest
from scipy.stats import chisquare
from test_alike import uncompiled

import bai
from bai import sampling
from bai.sampling import BERNOULLI, GAUSSIAN, LOW_RANK, REPLAY, TABLE, Rewards


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    uncompiled(monkeypatch)


class Given:
    """A generator that gives these numbers."""

    def __init__(self, *numbers):
        self.random = self.standard_normal = iter(numbers).__next__


ONE = np.zeros((1, 1), np.int64)


def gaussian(rng, size=1, loc=5.0, scale=3.0):
    return Rewards(
        GAUSSIAN, rng, np.array([[loc]]), np.array([[scale]]), normals=np.empty(size), ahead=np.zeros(2, np.int64)
    )


def test_a_sum_of_gaussian_rewards_has_their_mean_and_variance():
    assert sampling.draw_sum(gaussian(Given(0.7)), 0, 0, 0, 16, 2.0) == pytest.approx(2 + 16 * 5 + 4 * 3 * 0.7)


def test_a_sum_of_written_down_rewards_goes_on_where_the_last_one_ended():
    rewards = Rewards(REPLAY, Given(), table=np.array([[1.0, 2.0, 4.0, 8.0, 16.0]]), rows=ONE)
    assert sampling.draw_sum(rewards, 0, 0, 1, 3, 0.5) == 0.5 + 2 + 4 + 8
    out = np.empty(2)
    sampling.draw_rewards(rewards, 0, 0, 3, out)
    assert out.tolist() == [8, 16]


def test_a_coin_shows_1_with_its_chance():
    rewards = Rewards(BERNOULLI, Given(0.29, 0.31, 0.0), np.array([[0.3]]))
    assert [sampling.draw(rewards, 0, 0, k) for k in range(3)] == [1, 0, 1]


def test_every_entry_of_a_row_and_every_user_can_be_drawn():
    chances = (0.0, 0.34, 0.67, 0.999)
    rewards = Rewards(TABLE, Given(*chances), table=np.array([[1.0, 2.0, 3.0]]), rows=ONE)
    assert [sampling.draw(rewards, 0, 0, 0) for _ in chances] == [1, 2, 3, 3]
    users = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]])
    rewards = Rewards(LOW_RANK, Given(*chances), table=np.array([[3.0, 5.0]]), rows=ONE, users=users)
    assert [sampling.draw(rewards, 0, 0, 0) for _ in chances] == [3, 5, 16, 16]


def test_a_reward_asked_for_alone_is_in_the_unit_of_its_run():
    units = np.array([[10.0, 1.0], [0.5, -2.0]])
    rewards = Rewards(TABLE, Given(0.4, 0.4), table=np.array([[3.0, 5.0]]), rows=np.zeros((2, 1), int), units=units)
    assert [rewards.draw(run, 0, 0) for run in (0, 1)] == [31, -0.5]


@pytest.mark.parametrize("size", [1, 3, 300, 1000])
def test_normals_drawn_ahead_are_those_of_the_stream_in_its_order(size):
    rewards, drawn = gaussian(np.random.default_rng(1), size, loc=0.0, scale=1.0), []
    for m in (1, 2, 200, 1, 290, 3, 100):
        out = np.empty(m)
        sampling.draw_rewards(rewards, 0, 0, 0, out)
        drawn += [*out, sampling.draw(rewards, 0, 0, 0), rewards.draw(0, 0, 0)]
    np.testing.assert_array_equal(drawn, np.random.default_rng(1).standard_normal(len(drawn)))


@pytest.mark.parametrize("size", [1, 300])
def test_rewards_run_by_run_are_those_asked_for_alone(size):
    means = np.arange(6.0).reshape(2, 3)
    given = [
        [Rewards(GAUSSIAN, np.random.default_rng(1), means, means + 1, normals=np.empty(size), ahead=np.zeros(2, int))],
        [Rewards(TABLE, np.random.default_rng(1), table=np.array([[3.0, 5.0]]), rows=np.zeros((2, 3), int))],
    ]
    given = [[rewards[0], copy.deepcopy(rewards[0])] for rewards in given]
    for one, other in given:
        assert one.draw(0, 2, 0) == other.draw(0, 2, 0)  # some normals are then drawn ahead
        asked = [(run, k % 3, k // 3) for run in (0, 1) for k in range(400)]
        by_run = dict(zip((0, 1), one.by_run(), strict=False))
        assert [by_run[run](*pull) for run, *pull in asked] == [other.draw(*pull) for pull in asked]
        assert one.rng.random() == other.rng.random()


def test_all_orders_are_equally_likely():
    order = np.empty((6000, 3), np.int64)
    sampling.shuffle(np.random.default_rng(2), order)
    orders, times = np.unique(order, axis=0, return_counts=True)
    assert orders.tolist() == [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
    assert chisquare(times).pvalue > 1e-6


def test_scatter_undoes_gather():
    rng = np.random.default_rng(3)
    values, order = rng.random((4, 5)), rng.permuted(np.tile(np.arange(5), (4, 1)), axis=1)
    gathered = sampling.gather(values, order)
    np.testing.assert_array_equal(gathered, np.take_along_axis(values, order, axis=1))
    np.testing.assert_array_equal(sampling.scatter(gathered, order), values)


def test_the_ordered_product_is_the_product():
    a, b = np.random.default_rng(4).random((3, 4)), np.random.default_rng(5).random((4, 2))
    np.testing.assert_allclose(sampling.ordered_product(a, b), a @ b, rtol=1e-14)


def test_a_problem_of_ones_own_is_asked_about_its_own_runs_and_arms():
    class Told(bai.Bandits):
        def draw(self, run, arm, rng):
            return float(10 * run + arm)

    part = Told(np.zeros((6, 3)), np.zeros((6, 3))).select(slice(1, 6)).select(slice(2, 4))
    rewards = part.rewards(np.array([[2, 0, 1], [0, 1, 2]]), np.random.default_rng(0))
    assert [rewards.draw(run, 0, 0) for run in (0, 1)] == [32, 40]
    assert part.draw(1, 2, np.random.default_rng(0)) == 42


def test_a_replay_gives_each_run_and_arm_its_own_stack():
    stacks = np.arange(24.0).reshape(2, 3, 4)
    order = np.array([[2, 0, 1], [1, 2, 0]])
    rewards = bai.ReplayBandits(stacks, np.ones((2, 3)), np.ones((2, 3))).rewards(order, np.random.default_rng(0))
    drawn = [[[sampling.draw(rewards, r, p, k) for k in range(4)] for p in range(3)] for r in range(2)]
    np.testing.assert_array_equal(drawn, np.take_along_axis(stacks, order[..., None], axis=1))


def test_selected_runs_are_those_runs():
    bandits = bai.synthetic(3, 6, seed=1)
    np.testing.assert_array_equal(bandits.select(np.array([4, 2])).means, bandits.means[[4, 2]])


def test_a_fingerprint_sees_every_run():
    means = np.random.default_rng(2).random((2, 4, 3))
    means[1, 0] = means[0, 0]
    first, second = (bai.GaussianBandits(each, np.ones((4, 3))).fingerprint() for each in means)
    assert first != second


# --- units -----------------------------------------------------------------------------------------------


class Dice(bai.Bandits):
    """An ensemble that is asked for one reward at a time."""

    def draw(self, run, arm, rng):
        return float(rng.integers(1, 7)) + float(self.means[run, arm])


DICE = Dice([1.0, 0.5, 0.2, 0.0], [3.0] * 4, runs=30)
KINDS = {
    "Gaussian": lambda: bai.synthetic(4, 30, seed=1),
    "Bernoulli": lambda: bai.BernoulliBandits([0.6, 0.5, 0.4, 0.1], runs=30),
    "table": lambda: bai.TableBandits(np.arange(40.0).reshape(4, 10) % 7, np.tile(np.arange(4), (30, 1))),
    "low rank": lambda: bai.movielens(4, 30, seed=1),
    "replay": lambda: bai.ReplayBandits(
        np.arange(120.0).reshape(30, 4, 1), np.tile([4, 3, 2, 1], (30, 1)), np.ones((30, 4))
    ),
    "own": lambda: DICE,
}


@pytest.mark.parametrize("kind", KINDS)
def test_rewards_in_another_unit_are_the_same_rewards_times_the_unit_plus_the_level(kind):
    arms = KINDS[kind]()
    units = np.array([0.5, 3.0, 1024.0])[np.arange(30) % 3]
    rescaled = bai.RescaledBandits(arms, units, -2 * units)
    twice = bai.RescaledBandits(bai.RescaledBandits(arms, 2, 1), units / 2, -2.5 * units)
    np.testing.assert_allclose(rescaled.means, units[:, None] * (arms.means - 2))
    np.testing.assert_allclose(rescaled.variances, units[:, None] ** 2 * arms.variances)
    np.testing.assert_allclose(twice.means, rescaled.means)
    order, runs = np.tile(np.arange(4), (10, 1)), slice(10, 20)
    sources = [problem.select(runs).rewards(order, np.random.default_rng(5)) for problem in (arms, rescaled, twice)]
    drawn = [[[source.draw(r, i, 0) for i in range(4)] for r in range(10)] for source in sources]
    np.testing.assert_allclose(drawn[1], units[runs, None] * (np.array(drawn[0]) - 2), rtol=1e-9)
    np.testing.assert_allclose(drawn[2], drawn[1], rtol=1e-9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 1, 0), "bandits is 1"),
        ((DICE, 0, 0), "units contains 0.0; every unit must be positive"),
        ((DICE, [1.0, 2.0], 0), "units has 2 entries for 30 runs; give one per run"),
        ((DICE, 1, float("nan")), "levels is nan"),
        ((DICE, 1e200, 0), "units"),
    ],
)
def test_units_that_cannot_be_are_refused(arguments, message):
    with pytest.raises((TypeError, ValueError), match=message):
        bai.RescaledBandits(*arguments)
