"""The building blocks of the loops against NumPy, on keys full of ties. Nothing here is compiled."""

import numpy as np
import pytest
from test_alike import uncompiled

from bai.policies import loops


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    uncompiled(monkeypatch)


def few_values(rng, size):
    return rng.integers(0, 4, size).astype(float)


def test_the_highest_key_is_the_first_of_the_highest_and_never_one_that_is_not_a_number():
    rng = np.random.default_rng(1)
    for size in [*range(1, 10), 64]:
        for _ in range(20):
            keys = few_values(rng, size)
            assert loops.highest(keys) == keys.argmax()
            keys[rng.random(size) < 0.3] = np.nan
            if not np.isnan(keys).all():
                assert loops.highest(keys) == np.nanargmax(keys)


@pytest.mark.parametrize("n_arms", [2, 3, 4, 5, 7, 8, 9])
def test_the_champion_of_a_tournament_is_the_first_of_the_highest_after_every_change(n_arms):
    rng, size = np.random.default_rng(2), loops.tree_size(n_arms)
    winners, best_keys, keys = np.empty(size, np.int64), np.empty(size), few_values(rng, n_arms)
    loops.open_tournament(winners, best_keys)
    best_keys[size // 2 : size // 2 + n_arms] = keys
    loops.play_tournament(winners, best_keys)
    for _ in range(60):
        assert (winners[1], best_keys[1]) == (keys.argmax(), keys.max())
        arm, key = rng.integers(n_arms), few_values(rng, 1)[0]
        keys[arm] = key
        loops.set_key(winners, best_keys, arm, key)


def test_the_highest_scores_are_kept_in_their_order_and_ties_go_to_the_lowest_position():
    rng = np.random.default_rng(3)
    for k in (2, 3, 5, 8):
        for survivors in range(1, k + 1):
            for _ in range(20):
                scores, active = few_values(rng, k), np.arange(10, 10 + k)
                best = sorted(np.argsort(-scores, kind="stable")[:survivors])
                loops.keep_highest(active, scores, k, survivors, np.empty(k))
                assert active[:survivors].tolist() == [10 + p for p in best]


def test_running_sums_are_those_of_the_rewards():
    rewards = np.random.default_rng(4).normal(-1e6, 1, 50)
    counts, totals, squares = np.zeros(1, np.int64), np.zeros(1), np.zeros(1)
    for x in rewards:
        loops.observe(x, 0, counts, totals, squares)
    assert counts[0] == 50
    assert totals[0] == pytest.approx(rewards.sum())
    assert squares[0] == pytest.approx(((rewards - rewards.mean()) ** 2).sum(), rel=1e-6)
