"""Experiments: an answer at any time, batches under a hard budget, failures, options and files."""

import copy
import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import POLICIES, informed

import bai
from bai import certainty
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


# --- batches under a hard budget -------------------------------------------------------------------------


@pytest.mark.parametrize("policy", INFORMED, ids=str)
@given(seed=st.integers(0, 10_000), sizes=st.lists(st.integers(1, 40), min_size=1, max_size=6))
@settings(max_examples=8, deadline=None)
def test_batches_of_any_size_never_ask_for_more_than_the_budget(policy, seed, sizes):
    budget = max(60, policy.least_budget(N_ARMS) + 10)
    single = bai.identify(policy, Stacks(stacks_of(seed)), N_ARMS, budget, seed=3)
    pull, rng = Stacks(stacks_of(seed)), np.random.default_rng(seed)
    experiment = bai.Experiment(policy, N_ARMS, budget, seed=3)
    batches = 0
    while not experiment.done:
        size = sizes[batches % len(sizes)]
        arms = experiment.ask(size)
        assert 1 <= len(arms) <= size
        assert experiment.outstanding == arms
        rewards = [pull(arm) for arm in arms]
        order = rng.permutation(len(arms)) if foresees(policy) else range(len(arms))
        experiment.tell([arms[i] for i in order], [rewards[i] for i in order])
        experiment = pickle.loads(pickle.dumps(experiment))
        batches += 1
    assert sum(pull.taken) == experiment.pulls.sum() == len(experiment.history) <= budget
    assert experiment.pulls.tolist() == pull.taken
    if foresees(policy):
        assert experiment.spare.sum() == 0
        np.testing.assert_array_equal(experiment.pulls, single.pulls)


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
        asked = [experiment.ask(9) for experiment in experiments]
        assert asked[0] == asked[1]
        rewards = [pull(arm) for arm in asked[0]]
        for experiment in experiments:
            experiment.tell(asked[0], rewards)
    assert experiments[1].done
    assert experiments[0].best == experiments[1].best


def test_a_forecast_leaves_the_rewards_that_wait_where_they_are():
    pull, experiment, waited = Stacks(stacks_of(4)), bai.Experiment(bai.TopTwo(), N_ARMS, BUDGET, seed=5), 0
    while not experiment.done:
        waiting = experiment.spare.tolist()
        arms = experiment.ask(20)
        assert experiment.spare.tolist() == waiting
        experiment.tell(arms, [pull(arm) for arm in arms])
        waited += sum(waiting)
    assert waited > 0


def test_a_policy_with_randomness_of_its_own_goes_on_as_it_began():
    class Dice(bai.Policy):
        name, randomised = "Dice", True

        def steps(self, n_arms, budget, rng):
            for _ in range(budget):
                yield int(rng.integers(n_arms))
            return 0

    asked = []
    for seed in (1, 1, 2):
        experiment = bai.Experiment(Dice(), n_arms=9, budget=40, seed=seed)
        asked.append([])
        while not experiment.done:
            asked[-1] += experiment.ask(10)  # a forecast plays the policy afresh
            experiment.tell(asked[-1][-10:], [0.0] * 10)
        assert experiment.spare.sum() == 0  # what was foreseen is what it wanted
    assert asked[0] == asked[1] != asked[2]


def test_halving_and_rejects_foresee_their_pulls_and_others_do_not():
    assert {policy.name for policy in INFORMED if foresees(policy)} >= {"Unif", "SH", "SHVar", "SR"}


def test_a_batch_ends_with_its_stage():
    experiment = bai.Experiment(bai.SH(), n_arms=8, budget=300)
    arms = experiment.ask(1000)
    assert sorted(np.bincount(arms)) == [12] * 4 + [13] * 4
    experiment.tell(arms, [float(arm) for arm in arms])
    assert set(experiment.ask(1000)) == {4, 5, 6, 7}


def test_batches_that_overlap_are_forecast_as_one_and_wait_at_the_end_of_a_stage():
    experiment = bai.Experiment(bai.SH(), n_arms=8, budget=300)
    whole = bai.Experiment(bai.SH(), n_arms=8, budget=300).ask(100)
    first = experiment.ask(60)
    second = experiment.ask(60)
    assert first + second == whole
    assert experiment.ask(60) == []
    experiment.tell(second, [float(arm) for arm in second])
    assert not experiment.done
    assert experiment.ask(100) == []
    assert sorted(experiment.outstanding) == sorted(first)
    experiment.tell(first, [float(arm) for arm in first])
    assert len(experiment.ask(1000)) == 100


def test_a_forecast_shares_out_pulls_by_the_spread_seen_so_far():
    experiment = bai.Experiment(bai.SHAdaVar(), n_arms=2, budget=1000)
    arms = experiment.ask(100)
    assert np.bincount(arms).tolist() == [50, 50]
    experiment.tell(arms, [(3.0 if arm else 1.0) * (-1) ** (k // 2) for k, arm in enumerate(arms)])
    later = np.bincount(experiment.ask(400), minlength=2) + 50
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
    experiment.ask(4)
    assert Collects.seen == [0.7, 0.0, 1.0, 0.0, 1.0]


def test_a_batch_asks_for_nothing_that_outstanding_rewards_will_bring():
    experiment = bai.Experiment(bai.Unif(), n_arms=2, budget=6)
    assert sorted(experiment.ask(2) + experiment.ask(2)) == [0, 0, 1, 1]
    assert len(experiment.ask(10)) == 2
    assert experiment.ask(1) == []
    assert not experiment.done


def test_a_policy_cut_short_by_the_budget_answers_with_means_for_what_it_lacks():
    class Greedy(bai.Policy):
        """Wants the arm with the highest last reward; names the one with the highest total."""

        name = "Greedy"

        def steps(self, n_arms, budget):
            total, last = [0.0] * n_arms, [0.0] * n_arms
            for t in range(budget):
                arm = t if t < n_arms else max(range(n_arms), key=lambda i: last[i])
                last[arm] = yield arm
                total[arm] += last[arm]
            return max(range(n_arms), key=lambda i: total[i])

    experiment = bai.Experiment(Greedy(), n_arms=2, budget=10, seed=1)
    arms = experiment.ask(10)  # a forecast
    experiment.tell(arms, [2.0 if arm == 0 else 1.0 for arm in arms])
    assert experiment.done
    assert experiment.best == 0
    assert experiment.spare.sum() == 10 - experiment._player.pulls


def test_a_bad_batch_is_refused_and_changes_nothing():
    experiment = bai.Experiment(bai.SH(), 4, 80)
    arms = experiment.ask(10)
    for told, rewards, message in [
        (arms, [1.0] * 9 + [float("nan")], "reward is nan"),
        (arms, [1.0] * 9, "9 entries for 10 arms"),
        ([0, 4], [1.0, 1.0], "arm contains 4; arms are numbered from 0 to 3"),
        ([0, -1], [1.0, 1.0], "arm is -1"),
        ([0, 1.5], [1.0, 1.0], "arm is 1.5"),
        ([0] * 11, [1.0] * 11, "arm is 0, but outstanding are"),
    ]:
        with pytest.raises(ValueError, match=message):
            experiment.tell(told, rewards)
        assert experiment.history == []
        assert experiment.outstanding == arms
    with pytest.raises(ValueError, match="n is 0"):
        experiment.ask(0)
    with pytest.raises(ValueError, match="10 arms of a batch are outstanding"):
        experiment.ask()
    experiment.run(float)
    with pytest.raises(ValueError, match="nothing left to ask"):
        experiment.ask(5)
    with pytest.raises(ValueError, match="experiment is done"):
        experiment.tell([0], [1.0])


# --- failures --------------------------------------------------------------------------------------------


def test_a_failed_pull_is_spent_and_leaves_the_means_as_they_were():
    experiment = bai.Experiment(bai.Unif(), 2, 8)
    while not experiment.done:
        arm = experiment.ask()
        experiment.tell(arm, None if experiment.pulls[arm] == 1 and experiment.failures[arm] == 0 else 1.0 + arm)
    assert experiment.failures.tolist() == [1, 1]
    assert experiment.pulls.tolist() == [3, 3]
    assert experiment.means.tolist() == [1.0, 2.0]
    assert experiment.best == 1
    assert [arm for arm, reward in experiment.history if reward is None] == [0, 1] or len(experiment.history) == 8


@pytest.mark.parametrize("level", [0, -10])
@pytest.mark.parametrize("policy", [bai.TopTwo(), bai.SH(), bai.SHAdaVar()], ids=str)
def test_an_arm_that_always_fails_is_not_named_and_does_not_eat_the_budget(policy, level):
    rng = np.random.default_rng(0)
    answer = bai.identify(policy, lambda arm: None if arm == 2 else float(rng.normal(level + arm, 1)), 4, 120)
    assert answer.best == 3
    assert answer.pulls[2] == 0
    assert answer.failures[2] < 60
    assert answer.probability_best[2] == 0
    assert np.isnan(answer.means[2])


# --- the answer at any time ------------------------------------------------------------------------------


def test_the_leader_is_known_from_the_first_reward_on():
    experiment = bai.Experiment(bai.TopTwo(), 3, 60, seed=2)
    with pytest.raises(ValueError, match="no arm is ahead yet"):
        experiment.best  # noqa: B018
    experiment.tell(experiment.ask(), 1.0)
    assert experiment.best == experiment.history[0][0]
    assert not experiment.done
    assert experiment.probability_best.tolist() == [1 / 3] * 3
    assert np.isnan(experiment.expected_loss)
    rng = np.random.default_rng(0)
    experiment.run(lambda arm: float(rng.normal(arm, 0.5)))
    assert experiment.best == 2
    assert experiment.probability_best.sum() == pytest.approx(1)
    assert experiment.probability_best[2] > 0.9
    assert 0 <= experiment.expected_loss < 0.1


def test_chances_of_m_and_within_epsilon_contain_those_of_the_best():
    experiment = bai.Experiment(bai.Unif(), 4, 80)
    rng = np.random.default_rng(1)
    experiment.run(lambda arm: float(rng.normal(arm / 4, 1)))
    best = experiment.chances()
    np.testing.assert_array_equal(best, experiment.probability_best)
    assert experiment.chances(m=2).sum() == pytest.approx(2)
    assert (experiment.chances(m=2) >= best).all()
    assert (experiment.chances(epsilon=0.3) >= best).all()
    assert (experiment.chances(epsilon=100) == 1).all()
    assert experiment.top(2) == np.argsort(-experiment.means)[:2].tolist()
    with pytest.raises(ValueError, match="m is 2, but TopTwo looks for fewer"):
        bai.Experiment(bai.TopTwo(), 3, 30).top(2)


def test_means_without_noise_leave_no_doubt_and_equal_ones_leave_all():
    certain = bai.identify(bai.Unif(), float, 3, 12)
    assert certain.probability_best.tolist() == [0, 0, 1]
    assert certain.expected_loss == pytest.approx(0, abs=1e-6)
    lowest = bai.identify(bai.Unif(), float, 3, 12, minimise=True)
    assert lowest.probability_best.tolist() == [1, 0, 0]
    alike = bai.identify(bai.Unif(), lambda arm: 1.0, 3, 12)
    assert alike.probability_best == pytest.approx([1 / 3] * 3, abs=0.05)


def test_plausible_means_of_two_far_arms_are_the_posterior_without_a_prior():
    draws = certainty.plausible_means(np.array([0.0, 50.0]), np.array([4.0, 1.0]))
    assert draws.mean(axis=0) == pytest.approx([0, 50], abs=0.15)
    assert draws.std(axis=0) == pytest.approx([0.5, 1.0], rel=0.1)


def test_plausible_means_of_arms_that_look_alike_are_drawn_together():
    estimates = np.array([1.0, -1.0, 0.5, -0.5] * 3)
    draws = certainty.plausible_means(estimates, np.ones(12))
    assert np.abs(draws.mean(axis=0)).max() < 0.75
    unknown = certainty.plausible_means(np.array([1.0, 0.0, 9.0]), np.array([100.0, 100.0, 0.0]))
    assert unknown[:, 2].std() > 2 * unknown[:, 0].std()


def test_probabilities_are_right_about_as_often_as_they_say_if_the_prior_holds():
    """1000 experiments with means from a normal law; the claims average to the rate, false alarm below 1e-4."""
    rng, claims, right = np.random.default_rng(3), [], []
    for seed in range(250):
        means = rng.normal(0, 0.5, size=6)
        experiment = bai.identify(bai.Unif(), lambda arm, m=means: float(rng.normal(m[arm], 1)), 6, 90, seed=seed)
        claims.append(experiment.probability_best[experiment.best])
        right.append(experiment.best == means.argmax())
    assert np.mean(right) == pytest.approx(np.mean(claims), abs=0.11)


def test_summary_has_a_row_per_label_the_best_first():
    answer = bai.identify(bai.SH(), float, 3, 60, labels=["low", "middle", "high"])
    table = answer.summary()
    assert table.index.tolist() == ["high", "middle", "low"]
    assert table["pulls"].sum() == 60
    assert (table["low"] <= table["mean"]).all()
    costs = bai.identify(bai.SH(), float, 3, 60, minimise=True)
    assert costs.best == 0
    assert costs.summary().index[0] == "0"
    assert costs.means.tolist() == [0.0, 1.0, 2.0]


def test_intervals_cover_the_mean_of_an_arm_at_their_confidence():
    rng, inside = np.random.default_rng(4), []
    for seed in range(150):
        low, high = bai.identify(bai.Unif(), lambda arm: float(rng.normal()), 4, 24, seed=seed).intervals(0.9)
        inside += [(low <= 0) & (high >= 0)]
    assert np.mean(inside) == pytest.approx(0.9, abs=0.05)


# --- options ---------------------------------------------------------------------------------------------


@given(st.lists(st.floats(0.3, 5), min_size=3, max_size=3), st.integers(1, 40), st.integers(0, 100))
@settings(max_examples=30, deadline=None)
def test_no_more_than_the_budget_is_spent_at_any_costs_and_batch_size(costs, size, seed):
    rng, budget = np.random.default_rng(seed), 60.0
    experiment = bai.Experiment(bai.TopTwo(), 3, budget, seed, costs=costs)
    while not experiment.done:
        arms = experiment.ask(size)
        experiment.tell(arms, rng.normal(arms).tolist())
    spent = float(np.dot(experiment.pulls, costs))
    assert spent <= budget
    assert spent > budget - max(costs)


def test_rewards_from_before_are_used_first_and_cost_nothing():
    rng = np.random.default_rng(5)
    first = bai.identify(bai.TopTwo(), lambda arm: float(rng.normal(arm / 2, 1)), 4, 80)
    asked = []

    def pull(arm):
        asked.append(arm)
        return float(rng.normal(arm / 2, 1))

    second = bai.Experiment(bai.TopTwo(), 4, 40, earlier=first.history).run(pull)
    assert len(asked) == second.pulls.sum() == 40
    together = [r for arm, r in first.history + second.history if arm == 3]
    assert second.means[3] == pytest.approx(np.mean(together))
    assert second.best == int(np.nanargmax(second.means))
    assert sum(arm in (0, 1) for arm in asked) < 20  # they were found out before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"policy": bai.SH(), "costs": [1, 2, 3]}, "costs is given, but SH plans its stages"),
        ({"policy": bai.SH(), "earlier": [(0, 1.0)]}, "earlier is given, but SH plans"),
        ({"costs": [1, 2]}, "costs has 2 entries for 3 arms"),
        ({"costs": [1, 2, 0]}, "costs is 0"),
        ({"costs": [10, 20, 30]}, "budget is 60.0; TopTwo needs at least 180"),
        ({"labels": ["a", "b"]}, "labels has 2 entries for 3 arms"),
        ({"labels": ["a", "b", "a"]}, "labels has 'a' twice"),
        ({"earlier": [(3, 1.0)]}, "arm in earlier is 3"),
        ({"earlier": [(0, float("nan"))]}, "reward in earlier is nan"),
    ],
)
def test_options_that_do_not_fit_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        bai.Experiment(**{"policy": bai.TopTwo(), "n_arms": 3, "budget": 60, **options})


# --- files -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", INFORMED, ids=str)
def test_an_experiment_goes_on_from_its_file_as_if_nothing_had_happened(policy, tmp_path):
    pull, path = Stacks(stacks_of(6)), tmp_path / "state.json"
    experiment = bai.Experiment(policy, N_ARMS, BUDGET, seed=7, labels=list("abcde"))
    arms = experiment.ask(20)
    experiment.tell(arms[:15], [pull(arm) if k % 5 else None for k, arm in enumerate(arms[:15])])
    experiment.save(path)
    again = bai.Experiment.load(path)
    assert again.policy == policy
    assert again.labels == list("abcde")
    assert (again.history, again.outstanding) == (experiment.history, experiment.outstanding)
    other = copy.deepcopy(pull)
    for some, draw in ((experiment, pull), (again, other)):
        some.run(draw)
    assert again.history == experiment.history
    assert again.best == experiment.best


class Own(bai.Policy):
    name = "Own"

    def steps(self, n_arms, budget):
        for t in range(budget):
            yield t % n_arms
        return 0


def test_a_policy_of_ones_own_is_given_again(tmp_path):
    path = tmp_path / "state.json"
    bai.Experiment(Own(), 3, 30).save(path)
    with pytest.raises(ValueError, match="give policy"):
        bai.Experiment.load(path)
    with pytest.raises(ValueError, match="policy is SH, but the file has Own"):
        bai.Experiment.load(path, bai.SH())
    assert bai.Experiment.load(path, Own()).policy.name == "Own"


def changed(**changes):
    experiment = bai.Experiment(bai.TopTwo(), 3, 30)
    experiment.tell(experiment.ask(), 1.0)
    return json.dumps({**bai.state.describe(experiment), **changes})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "[" * 100_000,
        changed(file="another"),
        changed(version=2),
        changed(n_arms=10**12),
        changed(budget=10**15),
        changed(costs=[1e-90] * 3),
        changed(policy={"name": "os.system", "command": "true"}),
        changed(policy={"name": "Gaussian", "guard_repeats": False}),
        changed(policy={"name": "TopTwo", "unknown": 3}),
        changed(policy={"name": "TopTwo", "first": {"name": "SH", "reuse": True}}),
        changed(history=[[0, 1.0]] * 31),
        changed(history=[[3, 1.0]]),
        changed(history=[[0, "1"]]),
        changed(history="ab"),
        changed(outstanding=[7]),
        changed(outstanding=[0] * 40),
        changed(seed=-1),
        changed(labels=[1, 2, 3]),
        changed(history=[[0, 1e300]]),
        '{"file": NaN}',
    ],
    ids=range(23),
)
def test_a_file_that_is_no_experiment_is_refused_in_a_sentence(text, tmp_path):
    path = tmp_path / "state.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"path is .*state\.json"):
        bai.Experiment.load(path)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"n_arms": 10**12}, "n_arms is 1000000000000; it must be below 100001"),
        ({"history": [[0, math.nan]]}, "it has NaN for a number"),
    ],
)
def test_a_file_may_neither_fill_the_memory_nor_hold_what_is_no_number(changes, said, tmp_path):
    (tmp_path / "state.json").write_text(changed(**changes))
    with pytest.raises(ValueError, match=f"{said}$"):
        bai.Experiment.load(tmp_path / "state.json")


def test_a_file_is_replaced_as_a_whole(tmp_path, monkeypatch):
    path = tmp_path / "state.json"
    experiment = bai.Experiment(bai.SH(), 3, 30)
    experiment.save(path)
    before = path.read_text()
    experiment.tell(experiment.ask(), 1.0)
    monkeypatch.setattr("os.replace", lambda *names: (_ for _ in ()).throw(OSError("power cut")))
    with pytest.raises(OSError, match="power cut"):
        experiment.save(path)
    assert path.read_text() == before
    for bad in (None, 3, "", tmp_path, "\0", tmp_path / "no" / "file"):
        with pytest.raises((TypeError, ValueError), match="path is"):
            experiment.save(bad)
    with pytest.raises(ValueError, match="no such file"):
        bai.Experiment.load(tmp_path / "none.json")


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
