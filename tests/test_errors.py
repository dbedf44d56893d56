"""Bad input raises ValueError with a sentence that names the argument, the value and what would be right."""

import pickle

import numpy as np
import pytest

import bai
from bai import theory

GOOD = bai.GaussianBandits([1.0, 0.5, 0.0], [1.0, 1.0, 1.0], runs=5)
NAN = float("nan")


def simulate(policy=None, bandits=GOOD, budget=30, seed=0):
    return bai.simulate(bai.SH() if policy is None else policy, bandits, budget, seed)


def sweep(policies=None, problems=GOOD, budgets=30, seed=0, **more):
    return bai.sweep([bai.SH()] if policies is None else policies, problems, budgets, seed, **more)


def chances(policy=None, bandits=GOOD, budget=30, seed=0):
    return bai.rao_blackwell(bai.SH() if policy is None else policy, bandits, budget, seed)


def maker(runs, seed):
    return bai.synthetic(3, runs, seed)


REPLAYED = bai.ReplayBandits(np.zeros((1, 2, 30)), [[0, 1]], [[0, 0]])

BAD_CALLS = [
    # problems
    (lambda: bai.GaussianBandits([1.0], [1.0]), "means has shape (1, 1)", "2 arms"),
    (lambda: bai.GaussianBandits([1.0, 2.0], [1.0]), "variances has shape (1, 1)", "agree"),
    (lambda: bai.GaussianBandits([1.0, NAN], [1.0, 1.0]), "means[1] is nan", "finite"),
    (lambda: bai.GaussianBandits([1.0, 2.0], [1.0, -0.5]), "variances[1] is -0.5", "at least 0"),
    (lambda: bai.GaussianBandits([1.0, 2.0], [1.0, np.inf]), "variances[1] is inf", "finite"),
    (lambda: bai.GaussianBandits([[1.0, 2.0], [1.0]], [1.0, 1.0]), "means cannot be read", "equally long"),
    (lambda: bai.GaussianBandits("abc", [1.0, 1.0]), "means cannot be read", "numbers"),
    (lambda: bai.GaussianBandits(np.zeros((2, 2, 2)), np.zeros((2, 2, 2))), "means has shape (2, 2, 2)", "1 or 2 axes"),
    (lambda: bai.GaussianBandits([1.0, 2.0], [1.0, 1.0], runs=0), "runs is 0", "at least 1"),
    (lambda: bai.GaussianBandits([[1.0, 2.0]] * 2, [[1.0, 1.0]] * 2, runs=3), "runs is 3", "one or the other"),
    (lambda: bai.TableBandits([[1.0, 2.0]], [[0, 1]]), "arms contains 1", "rows 0 to 0"),
    (lambda: bai.TableBandits([[1.0, 2.0]], [[0, -1]]), "arms contains -1", "rows 0 to 0"),
    (lambda: bai.TableBandits([[1.0, 2.0]], [[0.0, 0.5]]), "arms has shape (1, 2) and dtype float64", "whole numbers"),
    (lambda: bai.TableBandits([[1.0, NAN]], [[0, 0]]), "table[0, 1] is nan", "finite"),
    (lambda: bai.TableBandits(np.empty((2, 0)), [[0, 1]]), "table has shape (2, 0)", "at least one reward"),
    (lambda: bai.TableBandits([[1.0]], [[0]]), "arms has shape (1, 1)", "2 arms"),
    (lambda: bai.ReplayBandits(np.zeros((1, 2, 9)), [[0, 0, 0]], [[0, 0]]), "stacks has shape (1, 2, 9)", "agree"),
    (lambda: bai.synthetic(1, 10, 0), "n_arms is 1", "at least 2"),
    (lambda: bai.synthetic(8, 0, 0), "runs is 0", "at least 1"),
    (lambda: bai.synthetic(8, 10, -1), "seed is -1", "at least 0"),
    (lambda: bai.synthetic(8, 10, 0.5), "seed is 0.5", "whole number"),
    (lambda: bai.synthetic(8, 10, 0, best_arm="loud"), "best_arm is 'loud'", "'noisy' or 'quiet'"),
    # policies
    (lambda: bai.SHAdaVar(delta=0), "delta is 0", "above 0 and below 1"),
    (lambda: bai.SHAdaVar(delta=1.0), "delta is 1.0", "above 0 and below 1"),
    (lambda: bai.SHAdaVar(delta=NAN), "delta is nan", "finite"),
    (lambda: bai.SHAdaVar(delta="small"), "delta is 'small'", "finite number"),
    (lambda: bai.SHAdaVar(bound="loose"), "bound is 'loose'", "'bernstein' or 'plug-in'"),
    (lambda: bai.SHAdaVar(warmup="none"), "warmup is 'none'", "'corrected' or 'printed'"),
    (lambda: bai.SHAdaVar(warmup="printed", reuse=True), "warmup is 'printed'", "reuse=False"),
    (lambda: bai.SHAdaVar(warmup="printed", repeats="doubted"), "warmup is 'printed'", "repeats='trusted'"),
    (lambda: bai.SHAdaVar(repeats="ignored"), "repeats is 'ignored'", "'trusted' or 'doubted'"),
    (lambda: bai.SHAdaVar(bound="bernstein", repeats="doubted"), "repeats is 'doubted'", "leave repeats out"),
    (lambda: bai.SHAdaVar(bound="bernstein", span=0), "span is 0", "above 0"),
    (lambda: bai.SHAdaVar(span=1.0), "span is 1.0", "leave it out"),
    (lambda: bai.OCBA(first=1), "first is 1", "at least 2"),
    (lambda: bai.TopTwo(first=2.5), "first is 2.5", "whole number"),
    (lambda: bai.TopTwo(shrinkage=0), "shrinkage is 0", "above 0"),
    (lambda: bai.SH(reuse="yes"), "reuse is 'yes'", "True or False"),
    (lambda: bai.SHVar(variances=[1.0, -1.0]), "variances[1] is -1.0", "at least 0"),
    (lambda: bai.VBR(gamma=-1), "gamma is -1", "above 0"),
    (lambda: bai.VBR(pull="lowest"), "pull is 'lowest'", "'upper' or 'widest'"),
    (lambda: bai.GapE(scaling="published"), "scaling is 'published'", "finite number above 0"),
    (lambda: bai.GapE(complexity=0), "complexity is 0", "above 0"),
    (lambda: bai.AGapE(bound=-2), "bound is -2", "above 0"),
    # play
    (lambda: simulate(policy=bai.SH), "did you forget the parentheses", "bai.SH()"),
    (lambda: simulate(policy="SH"), "policy is 'SH'", "bai.SH()"),
    (lambda: simulate(bandits=[[1.0, 2.0]]), "bandits is [[1.0, 2.0]]", "ensemble"),
    (lambda: simulate(budget=5), "budget is 5", "at least 6 pulls for 3 arms"),
    (lambda: simulate(budget=30.5), "budget is 30.5", "whole number"),
    (lambda: simulate(budget=True), "budget is True", "whole number"),
    (lambda: simulate(seed=None), "seed is None", "whole number"),
    (lambda: simulate(policy=bai.GapEV(), budget=5), "budget is 5", "at least 6 pulls"),
    (lambda: simulate(policy=bai.SHVar(variances=[1, 2])), "variances has 2 entries for 3 arms", "one per arm"),
    (lambda: simulate(bandits=bai.ReplayBandits(np.zeros((1, 2, 9)), [[0, 0]], [[0, 0]])), "budget is 30", "hold 9"),
    (lambda: simulate(policy=bai.GapE(), bandits=bai.GaussianBandits([-9, -8], [1, 1])), "b = -6.15", "bound=..."),
    (lambda: simulate(policy=bai.OCBA(), budget=14), "budget is 14", "at least 15 pulls for 3 arms"),
    (lambda: sweep(policies=[]), "policies is empty", "at least one"),
    (lambda: sweep(problems={}), "problems is empty", "at least one"),
    (lambda: sweep(budgets=[]), "budgets is empty", "at least one"),
    (lambda: sweep(policies=[bai.SH(), bai.SH()]), "policies are SH, SH", "only once"),
    (lambda: sweep(budgets=[30, 2]), "budget is 2", "at least 6"),
    (lambda: sweep(progress="yes"), "progress is 'yes'", "True or False"),
    (lambda: sweep(problems={3: GOOD}), "problems has the name 3", "text"),
    (lambda: sweep(problems={"x": [1, 2]}), "problem 'x' is [1, 2]", "function of runs and seed"),
    (lambda: sweep(problems=maker), "problem 'problem' is a function", "either runs or until"),
    (lambda: sweep(problems=maker, runs=9, until=0.1), "problem 'problem' is a function", "either runs or until"),
    (lambda: sweep(problems=maker, runs=0), "runs is 0", "at least 1"),
    (lambda: sweep(problems=lambda runs, seed: GOOD, runs=9), "gave GaussianBandits(runs=5", "ensemble of 500 runs"),
    (lambda: sweep(problems=lambda runs, seed: 7, until=0.1), "gave 7", "ensemble of 500 runs"),
    (lambda: sweep(runs=9), "runs is 9", "leave runs out"),
    (lambda: sweep(until=0), "until is 0", "above 0 and below 0.5"),
    (lambda: sweep(until=0.1, problems=REPLAYED), "until is 0.1", "leave until out"),
    (lambda: sweep(checkpoint=7), "checkpoint is 7", "name of a file"),
    (lambda: sweep(checkpoint="nowhere/study.db"), "checkpoint is 'nowhere", "folder that exists"),
    (lambda: bai.read_checkpoint("nothing.db"), "checkpoint is 'nothing.db'", "start the study"),
    (lambda: chances(policy=bai.GapE()), "policy is GapE", "count mistakes"),
    (lambda: chances(policy=bai.SH(reuse=True)), "policy is SH(reuse=True)", "without reuse"),
    (lambda: chances(bandits=bai.TableBandits([[0, 1], [1, 2]], [[0, 1]])), "TableBandits(runs=1", "GaussianBandits"),
    (lambda: chances(bandits=bai.GaussianBandits([1, 0], [1, 1])), "bandits has 1 run", "at least 2"),
    (lambda: chances(bandits=bai.GaussianBandits([1, 0], [1, 0], runs=2)), "variances has an entry 0", "positive"),
    (lambda: chances(bandits=bai.GaussianBandits([1, 1], [1, 1], runs=2)), "several best arms", "one best arm"),
    (lambda: chances(budget=3), "budget is 3", "at least 6"),
    # experiments
    (lambda: bai.Experiment(bai.SHVar(), 3, 30), "SHVar has variances=None", "SHVar(variances=[...])"),
    (lambda: bai.Experiment(bai.GapE(bound=1), 3, 30), "GapE has complexity=None", "complexity=..."),
    (lambda: bai.Experiment(bai.AGapE(), 3, 30), "A-GapE has bound=None", "bound=..."),
    (lambda: bai.Experiment(bai.SHAdaVar(bound="bernstein"), 3, 30), "SHAdaVar has span=None", "span=..."),
    (lambda: bai.Experiment(bai.SH(), 3, 5), "budget is 5", "at least 6"),
    (lambda: bai.Experiment("SH", 3, 30), "policy is 'SH'", "bai.SHAdaVar()"),
    (lambda: bai.Experiment(bai.SH(), 3, 30).tell(99, 1.0), "arm is 99", "was asked for"),
    (lambda: bai.Experiment(bai.SH(), 3, 30).best, "0 of at most 30 rewards", "until done"),
    (lambda: bai.identify(bai.SH(), "coin", 3, 30), "pull is 'coin'", "function"),
    # statistics
    (lambda: bai.wilson(5, 3), "mistakes is 5 in 3 runs", "between 0"),
    (lambda: bai.wilson(1, 3, confidence=2), "confidence is 2", "below 1"),
    (lambda: bai.clopper_pearson(-1, 3), "mistakes is -1 in 3 runs", "between 0"),
    (lambda: bai.paired([True], [True, False]), "first has shape (1,)", "one flag per run"),
    (lambda: bai.paired([0.5], [0.1]), "first has dtype float64", "bool"),
    (lambda: bai.plots.look("Magic"), "policy is 'Magic'", "one of Unif"),
    # theory
    (lambda: theory.variance_ucb(1.0, 12, 0.05), "pulls", "12"),
    (lambda: theory.theorem_1_bound([1.0, 1.0], [1.0, 1.0], 100), "means", "best"),
    (lambda: theory.greedy_allocation([1.0, 1.0, 1.0], 2), "budget is 2", "3"),
]


@pytest.mark.parametrize("call, names, remedy", BAD_CALLS)
def test_bad_calls_name_the_argument_the_value_and_the_remedy(call, names, remedy):
    with pytest.raises(ValueError) as caught:
        call()
    assert names in str(caught.value)
    assert remedy in str(caught.value)


@pytest.mark.parametrize("reward", [NAN, float("inf"), "much", None, True])
def test_a_bad_reward_is_refused_and_changes_nothing(reward):
    experiment = bai.Experiment(bai.SHAdaVar(), 3, 120)
    arm = experiment.ask()
    with pytest.raises(ValueError, match="reward is"):
        experiment.tell(arm, reward)
    assert experiment.ask() == arm
    assert experiment.history == []
    experiment.tell(arm, 1.0)
    assert experiment.history == [(arm, 1.0)]


# --- experiments that are interrupted --------------------------------------------------------------------


def noisy_pull(seed):
    rng = np.random.default_rng(seed)
    return lambda arm: float(rng.normal(arm, 1 + arm))


def test_a_pull_that_raises_leaves_the_experiment_usable_and_loses_nothing():
    straight = bai.identify(bai.SHAdaVar(), noisy_pull(1), 4, 300)
    pull, calls = noisy_pull(1), 0

    def flaky(arm):
        nonlocal calls
        calls += 1
        if calls % 50 == 0:
            raise ConnectionError("the server is down")
        return pull(arm)

    with pytest.raises(ConnectionError) as caught:
        bai.identify(bai.SHAdaVar(), flaky, 4, 300)
    experiment = caught.value.experiment
    assert len(experiment.history) == 49
    assert "49 rewards are kept" in caught.value.__notes__[0]
    for _ in range(100):
        try:
            experiment.run(flaky)
            break
        except ConnectionError:
            continue
    assert experiment.history == straight.history
    assert experiment.best == straight.best


PICKLED = [bai.SH(), bai.SHAdaVar(reuse=True), bai.SHVar(variances=[1, 2, 3]), bai.AGapEV(bound=3.0), bai.VBR()]


@pytest.mark.parametrize("policy", PICKLED, ids=str)
def test_an_experiment_can_be_pickled_between_any_two_calls(policy):
    straight = bai.identify(policy, noisy_pull(2), 3, 90)
    pull = noisy_pull(2)
    experiment = bai.Experiment(policy, 3, 90)
    while not experiment.done:
        experiment = pickle.loads(pickle.dumps(experiment))
        arm = experiment.ask()
        experiment = pickle.loads(pickle.dumps(experiment))
        experiment.tell(arm, pull(arm))
    assert pickle.loads(pickle.dumps(experiment)).best == straight.best
    assert experiment.history == straight.history
    assert experiment.ask.__self__.done
    with pytest.raises(ValueError, match="nothing left to ask"):
        experiment.ask()
    with pytest.raises(ValueError, match="done"):
        experiment.tell(0, 1.0)


def test_an_experiment_tells_what_its_answer_rests_on():
    answer = bai.identify(bai.SH(), noisy_pull(3), 4, 80)
    for arm in range(4):
        rewards = np.array([reward for told, reward in answer.history if told == arm])
        assert answer.pulls[arm] == rewards.size
        assert answer.means[arm] == pytest.approx(rewards.mean())
        assert answer.deviations[arm] == pytest.approx(rewards.std(ddof=1))
    fresh = bai.Experiment(bai.SH(), 4, 80)
    assert np.isnan(fresh.means).all()
    assert np.isnan(fresh.deviations).all()
    assert "0/80 rewards" in repr(fresh)
    assert f"best={answer.best}" in repr(answer)


def test_unknown_attributes_are_missing():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        bai.nothing  # noqa: B018
