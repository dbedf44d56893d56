"""Policies and problems of one's own: a class with a few lines works wherever those of the package do."""

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from math import sqrt
from typing import ClassVar

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from problems import POLICIES
from scipy.stats import chi2_contingency
from test_alike import play_in_order

import bai
from bai import plots
from bai.book import leaderboard
from bai.play import BLOCK
from bai.policies.halving import Elimination

matplotlib.use("Agg")

RARE = 1e-6  # false-alarm rate of each statistical assertion


# --- policies --------------------------------------------------------------------------------------------


class Turns(bai.Policy):
    """Nothing but a name and steps."""

    name = "Turns"

    def steps(self, n_arms, budget):
        total = [0.0] * n_arms
        for t in range(budget):
            total[t % n_arms] += yield t % n_arms
        return max(range(n_arms), key=total.__getitem__)


@dataclass(frozen=True)
class Greedy(bai.Policy):
    """With an argument, and with NumPy's numbers."""

    name: ClassVar[str] = "Greedy"
    first: int = 2

    def steps(self, n_arms, budget, **known):
        count, total = np.zeros(n_arms, int), np.zeros(n_arms)
        for t in range(budget):
            arm = t % n_arms if t < self.first * n_arms else np.argmax(total / count)
            total[arm] += yield arm
            count[arm] += 1
        return np.argmax(total / count)


class Thompson(bai.Policy):
    """With randomness of its own."""

    name = "Thompson"
    randomised = True

    def steps(self, n_arms, budget, rng):
        count, total = np.zeros(n_arms), np.zeros(n_arms)
        for _ in range(budget):
            arm = int(np.argmax((total + 0.1) / (count + 1) + rng.normal(size=n_arms) / np.sqrt(count + 1)))
            total[arm] += yield arm
            count[arm] += 1
        return int(np.argmax(count))


class Noisiest(bai.Policy):
    """With knowledge: one pull per arm, then it names the arm with the highest variance."""

    name = "Noisiest"

    def known(self, n_arms, budget, problem=None):
        return bai.Known(variances=problem.variances)

    def steps(self, n_arms, budget, variances):
        for arm in range(n_arms):  # noqa: UP028  a range cannot be sent a reward
            yield arm
        return int(np.argmax(variances))


OWN = [Turns(), Greedy(), Greedy(first=3), Thompson()]
ENSEMBLE = bai.synthetic(4, BLOCK + 20, seed=1)
own_policies = pytest.mark.parametrize("policy", OWN, ids=str)


def assert_same(one, other):
    for name in ("pulls", "recommended", "regret"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def assert_same_table(one, other):
    pd.testing.assert_frame_equal(one.drop(columns="seconds"), other.drop(columns="seconds"), check_exact=True)
    for row in one.itertuples():
        mistakes = (table.run_mistakes(row.policy, row.problem, row.budget) for table in (one, other))
        np.testing.assert_array_equal(*mistakes)


@own_policies
def test_an_own_policy_is_played_with_the_same_bits_by_threads_and_processes(policy):
    here = bai.simulate(policy, ENSEMBLE, 30, seed=2)
    assert (here.pulls.sum(axis=1) == 30).all()
    assert (here.recommended != bai.simulate(policy, ENSEMBLE, 30, seed=3).recommended).any()
    assert_same(here, bai.simulate(policy, ENSEMBLE, 30, seed=2, plain=True))
    for pool in (partial(ThreadPoolExecutor, 1), partial(ThreadPoolExecutor, 5), partial(ProcessPoolExecutor, 2)):
        with pool() as executor:
            assert_same(here, bai.simulate(policy, ENSEMBLE, 30, seed=2, executor=executor))


def test_a_sweep_of_own_policies_has_the_same_bits_on_threads_and_processes():
    problems = {"many": ENSEMBLE, "made": partial(bai.synthetic, 3)}
    study = partial(bai.sweep, OWN, problems, [12, 15], seed=4, runs=BLOCK + 7)
    here = study()
    for policy in OWN:
        out = bai.simulate(policy, ENSEMBLE, 15, seed=4)
        np.testing.assert_array_equal(here.run_mistakes(policy, "many", 15), out.mistakes)
    for pool in (partial(ThreadPoolExecutor, 3), partial(ProcessPoolExecutor, 2)):
        with pool() as executor:
            assert_same_table(here, study(executor=executor))


class Stacks:
    """The k-th pull of an arm gives the same reward, however the pulls are collected."""

    def __init__(self, n_arms, length, seed):
        self.stacks = np.random.default_rng(seed).normal(np.arange(n_arms) / 4, 1, (length, n_arms)).T
        self.taken = [0] * n_arms

    def __call__(self, arm):
        self.taken[arm] += 1
        return self.stacks[arm, self.taken[arm] - 1]


@own_policies
def test_an_own_policy_identifies_an_arm_and_plays_in_experiments_as_in_simulations(policy):
    pull = Stacks(5, 200, seed=6)
    answer = bai.identify(policy, pull, 5, 60, seed=7)
    assert answer.done
    assert answer.pulls.sum() == 60
    assert len(answer.history) == 60
    if not policy.randomised:
        bandits = bai.ReplayBandits(pull.stacks[None], [np.arange(5)], [np.ones(5)])
        pulls, named = play_in_order(policy, bandits, 60, answer._player._order)
        np.testing.assert_array_equal(answer.pulls, pulls)
        assert answer.best == named


@own_policies
@pytest.mark.parametrize("sizes", [[1], [7], [60], [3, 1, 20]], ids=str)
def test_batches_of_any_size_and_pickling_keep_to_the_budget_of_an_own_policy(policy, sizes):
    single = bai.identify(policy, Stacks(5, 200, seed=8), 5, 60, seed=9)
    pull, experiment, batches = Stacks(5, 200, seed=8), bai.Experiment(policy, 5, 60, seed=9), 0
    while not experiment.done:
        arms = experiment.ask(sizes[batches % len(sizes)])
        assert 1 <= len(arms) <= sizes[batches % len(sizes)]
        experiment = pickle.loads(pickle.dumps(experiment))
        assert experiment.outstanding == arms
        experiment.tell(arms, [pull(arm) for arm in arms])
        batches += 1
    assert experiment.pulls.sum() <= 60
    if experiment.spare.sum() == 0:
        np.testing.assert_array_equal(experiment.pulls, single.pulls)
        assert experiment.best == single.best


def test_an_own_policy_is_told_what_it_asks_to_know_in_the_order_of_its_arms():
    out = bai.simulate(Noisiest(), ENSEMBLE, 4, seed=10)
    np.testing.assert_array_equal(out.recommended, ENSEMBLE.variances.argmax(axis=1))
    assert leaderboard.knowledge(Noisiest()) == "variances"
    assert leaderboard.knowledge(Turns()) == ""


def test_randomness_of_an_own_policy_differs_between_runs_and_not_between_calls():
    bandits = bai.GaussianBandits([0.0] * 4, [0.0] * 4, runs=40)
    pulls = bai.simulate(Thompson(), bandits, 30, seed=11).pulls
    assert len({tuple(row) for row in pulls.tolist()}) > 20
    np.testing.assert_array_equal(pulls, bai.simulate(Thompson(), bandits, 30, seed=11).pulls)


def test_an_own_policy_is_drawn_with_a_style_of_its_own():
    table = bai.sweep([*OWN, bai.SH()], ENSEMBLE.select(slice(0, 20)), [20, 30], seed=12)
    ax = plots.mistake_curves(table, ax=plt.figure().gca())
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [str(p) for p in [*OWN, bai.SH()]]
    drawn = [container.lines[0] for container in ax.containers]
    looks = [(line.get_color(), line.get_marker(), line.get_linestyle()) for line in drawn]
    assert looks[1] == looks[2]  # variants of one policy
    assert len(set(looks)) == 4
    assert not {marker for _, marker, _ in looks[:4]} & {cls.style["marker"] for cls in bai.REGISTRY + bai.FIELD}

    class Styled(Turns):
        style: ClassVar = {"color": "#123456", "marker": "s", "linestyle": "-"}

    assert plots.policy_style(Styled()) == Styled.style


def test_an_own_policy_plays_on_the_leaderboard():
    family = leaderboard.FAMILIES["Bernoulli"]._replace(budgets=(320,))
    table = leaderboard.play({"coins": family}, {"mine": Greedy(), "SH": bai.SH()}, runs=30, seed=13)
    outs = [bai.simulate(policy, family.make(30, 13), 320, seed=13).mistakes for policy in (Greedy(), bai.SH())]
    assert leaderboard.compare(table, "coins", 320, "mine", "SH") == bai.paired(*outs)
    assert leaderboard.ranks(table).tolist() in ([1, 1], [1, 2], [2, 1])


class Interrupted(ThreadPoolExecutor):
    """Ctrl-C comes as soon as a block is in the file."""

    def __init__(self, file):
        super().__init__(1)
        self.file = file

    def submit(self, *args):
        if bai.read_checkpoint(self.file)["runs"].sum() > 0:
            raise KeyboardInterrupt
        return super().submit(*args)


def test_a_study_of_own_policies_and_problems_goes_on_from_its_checkpoint(tmp_path):
    file, two = tmp_path / "study.db", bai.GaussianBandits([1.0, 0.0], [1.0, 2.0], runs=6 * BLOCK)
    problems = {"theirs": two, "mine": Normal(two.means, two.variances)}
    study = partial(bai.sweep, OWN, problems, 4, seed=14)
    with pytest.raises(KeyboardInterrupt) as caught, Interrupted(file) as executor:
        study(executor=executor, checkpoint=file)
    straight = study()
    assert 0 < caught.value.table["runs"].sum() < straight["runs"].sum()
    resumed = study(checkpoint=file)
    assert_same_table(resumed, straight)
    pd.testing.assert_frame_equal(study(checkpoint=file), resumed)  # even the times: nothing was played again
    with pytest.raises(ValueError, match="policies there"):
        bai.sweep([Turns(), Greedy(), Greedy(first=4), Thompson()], problems, 4, seed=14, checkpoint=file)
    other = Normal(two.means + 1, two.variances)
    with pytest.raises(ValueError, match="problem 'mine' has other arms"):
        bai.sweep(OWN, problems | {"mine": other}, 4, seed=14, checkpoint=file)


VALUES = [(1, 2), (0.5, 0.6), ("a", "b"), ((1,), (2,)), ([1], [2]), ({"a": 1}, {"a": 2}), (np.int64(1), np.int64(2))]


@pytest.mark.parametrize("values", [*VALUES, (np.zeros(3), np.ones(3))], ids=str)
def test_own_problems_that_differ_in_a_plain_attribute_are_different_studies(values):
    one, other, again = (Normal([1.0, 0.0], [1.0, 1.0]) for _ in range(3))
    one.extra, other.extra = values
    again.extra = copy.deepcopy(one.extra)
    assert one.fingerprint() != other.fingerprint()
    assert one.fingerprint() == again.fingerprint()


def test_precision_on_demand_works_with_an_own_policy():
    table = bai.sweep(Turns(), bai.GaussianBandits([1.0, 0.0], [1.0, 1.0], runs=500), 2, seed=15, runs=bai.Until(0.02))
    assert (table["high"] - table["low"]).max() <= 0.04
    assert table["runs"][0] >= 5000


def test_a_policy_may_stop_before_its_budget_is_spent_or_not_pull_at_all():
    class Once(bai.Policy):
        name = "Once"

        def steps(self, n_arms, budget):
            reward = yield 1
            return 1 if reward > 0 else 0

    class Never(bai.Policy):
        name = "Never"

        def steps(self, n_arms, budget):
            return 2
            yield

    bandits = bai.GaussianBandits([0.0, 1.0, 2.0], [0.0] * 3, runs=4)
    assert bai.simulate(Once(), bandits, 10, seed=0).pulls.sum(axis=1).tolist() == [1] * 4
    assert bai.simulate(Never(), bandits, 10, seed=0).pulls.sum() == 0
    experiment = bai.Experiment(Never(), 3, 10)
    assert experiment.done
    assert experiment.best in range(3)
    assert bai.identify(Once(), lambda arm: 1.0, 3, 10).pulls.sum() == 1


def test_a_subclass_of_a_compiled_policy_that_brings_steps_is_played_by_them():
    class Stubborn(bai.SH):
        def steps(self, n_arms, budget, **known):
            for _ in range(budget):
                yield 0
            return 0

    bandits = bai.synthetic(4, 10, seed=16)
    for out in (
        bai.simulate(Stubborn(), bandits, 20, seed=17).pulls,
        [bai.identify(Stubborn(), float, 4, 20).pulls],
    ):
        assert (np.sort(out, axis=1) == [0, 0, 0, 20]).all()
    np.testing.assert_array_equal(
        bai.sweep(Stubborn(), bandits, 20, seed=17).run_mistakes("SH"),
        bai.simulate(Stubborn(), bandits, 20, seed=17).mistakes,
    )


def test_an_own_policy_names_itself_by_its_fields():
    assert str(Greedy()) == "Greedy"
    assert str(Greedy(first=3)) == "Greedy(first=3)"
    assert (str(Turns()), repr(Turns())) == ("Turns", "Turns()")

    class Nameless(bai.Policy):
        def __init__(self, share):
            self.share = share

        steps = Turns.steps

    assert str(Nameless(0.5)) == "Nameless"
    assert repr(Nameless(0.5)) == "Nameless(share=0.5)"
    with pytest.raises(ValueError, match="give them names: a mapping"):
        bai.sweep([Nameless(0.1), Nameless(0.2)], ENSEMBLE, 20, seed=0)
    named = {"low": Nameless(0.1), "high": Nameless(0.2)}
    assert bai.sweep(named, ENSEMBLE.select(slice(0, 5)), 20, seed=0)["policy"].tolist() == ["low", "high"]


# --- policies that go wrong ------------------------------------------------------------------------------


class Answers(bai.Policy):
    """Pulls an arm so often and names another."""

    name = "Answers"

    def __init__(self, pulled, times, named):
        self.pulled, self.times, self.named = pulled, times, named

    def steps(self, n_arms, budget):
        for _ in range(self.times):
            yield self.pulled
        return self.named


WRONG_POLICIES = [
    (Answers(4, 1, 0), ValueError, "the arm that Answers pulls is 4; arms are numbered from 0 to 3"),
    (Answers(-1, 1, 0), ValueError, "the arm that Answers pulls is -1; it must be a whole number of at least 0"),
    (Answers(0.5, 1, 0), ValueError, "the arm that Answers pulls is 0.5; it must be a whole number"),
    (Answers("first", 1, 0), TypeError, "the arm that Answers pulls is 'first', of type str; it must be a whole"),
    (Answers(None, 1, 0), TypeError, "the arm that Answers pulls is None, of type NoneType; it must be a whole"),
    (Answers(0, 11, 0), ValueError, "Answers asks for more than its budget of 10"),
    (Answers(0, 10**9, 0), ValueError, "Answers asks for more than its budget of 10"),
    (Answers(0, 10, 4), ValueError, "the arm that Answers names is 4; arms are numbered from 0 to 3"),
    (Answers(0, 10, None), TypeError, "Answers returns nothing from steps; return the best arm"),
    (Answers(0, 10, "best"), TypeError, "the arm that Answers names is 'best', of type str; it must be a whole"),
    (Answers(0, 3, [0]), TypeError, "the arm that Answers names is [0], of type list; it must be a whole"),
    (Answers(0, 3, 1.5), ValueError, "the arm that Answers names is 1.5; it must be a whole number"),
]


class Missing(bai.Policy):
    name = "Missing"


class Returning(bai.Policy):
    name = "Returning"

    def steps(self, n_arms, budget):
        return 0


WRONG_POLICIES += [
    (Missing(), NotImplementedError, "Missing has no method steps(self, n_arms, budget)"),
    (Returning(), TypeError, "what Returning returns from steps is 0, of type int; it must be a generator"),
]


@pytest.mark.parametrize("policy, error, says", WRONG_POLICIES, ids=[f"{i}" for i in range(len(WRONG_POLICIES))])
def test_a_policy_that_goes_wrong_is_told_what_is_wrong(policy, error, says):
    bandits = bai.synthetic(4, 3, seed=18)
    for call in (lambda: bai.simulate(policy, bandits, 10, seed=19), lambda: bai.identify(policy, float, 4, 10)):
        with pytest.raises(error) as caught:
            call()
        assert says in str(caught.value)
    with pytest.raises((RuntimeError, NotImplementedError)) as caught:
        bai.sweep(policy, bandits, 10, seed=19)
    assert says in str(caught.value)


# --- problems --------------------------------------------------------------------------------------------


class Constant(bai.Bandits):
    """Every pull of an arm gives its mean, whatever the variances say."""

    def draw(self, run, arm, rng):
        return self.means[run, arm]


class Normal(bai.Bandits):
    """What GaussianBandits are, in Python."""

    def draw(self, run, arm, rng):
        return self.means[run, arm] + sqrt(self.variances[run, arm]) * rng.standard_normal()


class Coins(bai.Bandits):
    """What BernoulliBandits are, in Python."""

    def __init__(self, means):
        super().__init__(means, np.asarray(means) * (1 - np.asarray(means)))

    def draw(self, run, arm, rng):
        return float(rng.random() < self.means[run, arm])


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_every_policy_plays_an_own_problem_as_the_compiled_one_with_the_same_rewards(policy):
    n = max(policy.least_budget(5) + 30, 60)
    some = bai.synthetic(5, 30, seed=20)
    replayed = bai.ReplayBandits(np.repeat(some.means[..., None], n, axis=2), some.means, some.variances)
    assert_same(
        bai.simulate(policy, Constant(some.means, some.variances), n, seed=21),
        bai.simulate(policy, replayed, n, seed=21),
    )


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_every_policy_sees_the_rewards_that_an_own_problem_draws(policy):
    n = max(policy.least_budget(4) + 20, 40)
    some = bai.synthetic(4, 10, seed=22)
    own = bai.simulate(policy, Normal(some.means, some.variances), n, seed=23)
    assert_same(own, bai.simulate(policy, some, n, seed=23, plain=True))


@pytest.mark.parametrize("policy", [bai.SH(), bai.SHAdaVar(), bai.GapE()], ids=str)
def test_mistakes_on_an_own_problem_are_as_frequent_as_on_the_compiled_one(policy):
    means, variances = [1.0, 0.6, 0.5, 0.0], [1.0, 0.5, 0.1, 0.1]
    own = bai.simulate(policy, Normal(means, variances, runs=1000), 60, seed=24)
    compiled = bai.simulate(policy, bai.GaussianBandits(means, variances, runs=20_000), 60, seed=25)
    counts = [[out.mistakes.sum(), (~out.mistakes).sum()] for out in (own, compiled)]
    assert chi2_contingency(counts).pvalue > RARE


def test_an_own_problem_is_cut_into_blocks_repeated_and_selected_by_run():
    runs = BLOCK + 20
    rng = np.random.default_rng(26)
    means, variances = rng.permuted(np.tile([3.0, 2.0, 1.0], (runs, 1)), axis=1), np.ones((runs, 3))
    own = Constant(means, variances)  # every run has another order, so a run in the wrong place would show
    for policy in (bai.SH(), Turns()):
        out = bai.simulate(policy, own, 12, seed=27)
        np.testing.assert_array_equal(out.recommended, own.best)
        assert not out.mistakes.any()
        with ProcessPoolExecutor(2) as executor:
            assert_same(out, bai.simulate(policy, own, 12, seed=27, executor=executor))
        table = bai.sweep(policy, own, [12, 18], seed=27)
        assert table["runs"].tolist() == [runs] * 2
        assert table["regret"].tolist() == [0.0] * 2
        again = bai.sweep(policy, own.select(slice(0, 700, 7)), 12, seed=27, runs=bai.Until(0.02))
        assert again["mistakes"].tolist() == [0]
        assert again["runs"][0] >= 5000
    picked = own.select(np.array([7, 7, 3])).select(np.array([2, 0]))
    np.testing.assert_array_equal(picked.means, means[[3, 7]])
    assert [picked.draw(1, arm, rng) for arm in range(3)] == means[7].tolist()
    assert (picked.runs, picked.n_arms) == (2, 3)


def test_a_function_may_make_own_problems():
    def make(runs, seed):
        return Constant(
            np.random.default_rng(seed).permuted(np.tile([1.0, 0.0], (runs, 1)), axis=1), np.ones((runs, 2))
        )

    table = bai.sweep([bai.SH(), bai.OCBA(first=2)], make, [8], seed=28, runs=BLOCK + 3)
    assert table["runs"].tolist() == [BLOCK + 3] * 2
    assert table["mistakes"].tolist() == [0, 0]


def test_a_subclass_of_a_compiled_problem_that_draws_in_its_own_way_is_played_by_its_draws():
    class Silent(bai.GaussianBandits):
        def draw(self, run, arm, rng):
            return self.means[run, arm]

    some = bai.synthetic(4, BLOCK + 10, seed=29)
    silent = Silent(some.means, some.variances)
    for policy in (bai.SH(), bai.VBR(), Turns()):
        assert_same(
            bai.simulate(policy, silent, 40, seed=30),
            bai.simulate(policy, Constant(some.means, some.variances), 40, seed=30),
        )
    with pytest.raises((TypeError, ValueError), match="GaussianBandits"):
        bai.rao_blackwell(bai.SH(), silent, 40, seed=30)


def test_own_problems_go_wrong_with_a_reason():
    class Drawless(bai.Bandits):
        pass

    class Homeless(bai.Bandits):
        def __init__(self):
            pass

    class Drawing(bai.Bandits):
        reward: ClassVar = None

        def draw(self, run, arm, rng):
            return self.reward

    means, variances = [1.0, 0.0], [1.0, 1.0]
    with pytest.raises(NotImplementedError, match=r"Drawless has no method draw\(self, run, arm, rng\)"):
        bai.simulate(bai.SH(), Drawless(means, variances), 10, seed=0)
    with pytest.raises(ValueError, match=r"Homeless.*call super\(\).__init__\(means, variances\)"):
        bai.simulate(bai.SH(), Homeless(), 10, seed=0)
    for reward, error in ((np.nan, ValueError), (np.inf, ValueError), (None, TypeError), ("1", TypeError)):
        drawing = Drawing(means, variances)
        drawing.reward = reward
        with pytest.raises(error, match=r"the reward from Drawing\.draw is "):
            bai.simulate(bai.SH(), drawing, 10, seed=0)
        with pytest.raises(RuntimeError, match=r"the reward from Drawing\.draw is "):
            bai.sweep(bai.SH(), drawing, 10, seed=0)


# --- coins -----------------------------------------------------------------------------------------------


def chances(runs, seed=31):
    """Whole thousandths, so that a table with 1,000 columns can stand for them."""
    return np.random.default_rng(seed).integers(0, 1000, (runs, 5), endpoint=True) / 1000


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_coins_are_played_as_their_plain_version_says(policy):
    means = chances(20)
    coins = bai.BernoulliBandits(means)
    plain = bai.simulate(policy, coins, 60, seed=32, plain=True)
    assert_same(plain, bai.simulate(policy, Coins(means), 60, seed=32))
    if not isinstance(policy, (Elimination, bai.HalveVar)):  # which draw the rewards of a stage arm by arm
        assert_same(plain, bai.simulate(policy, coins, 60, seed=32))


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_coins_are_played_run_for_run_like_a_table_of_coins(policy):
    means = chances(400)
    table = np.arange(1000) < np.arange(1001)[:, None]
    tabled = bai.TableBandits(table, np.rint(means * 1000).astype(int))
    coins = bai.BernoulliBandits(means)
    np.testing.assert_array_equal(tabled.means, coins.means)
    np.testing.assert_allclose(tabled.variances, coins.variances, rtol=1e-12, atol=1e-15)
    tabled.variances = coins.variances  # to the last digit, for the policies that are told them
    assert_same(bai.simulate(policy, coins, 200, seed=33), bai.simulate(policy, tabled, 200, seed=33))


def test_a_coin_may_be_certain_and_one_instance_may_be_repeated():
    bandits = bai.BernoulliBandits([0.0, 1.0, 0.0], runs=BLOCK + 5)
    assert (bandits.runs, bandits.n_arms) == (BLOCK + 5, 3)
    out = bai.simulate(bai.SHAdaVar(), bandits, 60, seed=34)
    assert (out.recommended == 1).all()
    assert pickle.loads(pickle.dumps(bandits)).means.strides[0] == 0  # travels as one row
    assert len(pickle.dumps(bandits)) < 2000


# --- classes that extend those of the package ------------------------------------------------------------


class Zero:
    """A mixin with steps of its own."""

    def steps(self, n_arms, budget):
        for _ in range(budget):
            yield 0
        return 0


class Mixed(Zero, bai.SH):
    pass


class Resumed(bai.SH):
    def resume(self, n_arms, budget, progress, **known):
        return Zero().steps(n_arms, budget)


class Told(bai.SH):
    """Is told the variances and makes no use of them."""

    def known(self, n_arms, budget, problem=None):
        return bai.Known(variances=problem.variances)


@pytest.mark.parametrize("policy", [Mixed(), Resumed(), Told()], ids=lambda policy: type(policy).__name__)
def test_a_class_that_changes_a_compiled_policy_is_played_as_it_reads(policy):
    bandits = bai.ReplayBandits(np.random.default_rng(1).normal(size=(20, 4, 80)), np.ones((20, 4)), np.ones((20, 4)))
    fast, plain = (bai.simulate(policy, bandits, 80, seed=2, plain=plain) for plain in (False, True))
    np.testing.assert_array_equal(fast.pulls, plain.pulls)
    if not isinstance(policy, Told):
        assert (fast.pulls.max(axis=1) == 80).all()


class Scheduled(bai.SH):
    stages = ()

    def schedule(self, n_arms, budget):
        return [(int(pulls * budget), survivors) for pulls, survivors in type(self).stages]


@pytest.mark.parametrize("reuse", [False, True])
@pytest.mark.parametrize(
    "stages",
    [[(0.5, 9), (0.5, 1)], [(2, 2), (1, 1)], [(0.03, 2), (0.9, 1)], [(1, 0)], [(1, 2)], [], [(0.5, 2), (-0.1, 1)]],
)
def test_a_schedule_that_cannot_be_played_is_refused(stages, reuse, monkeypatch):
    monkeypatch.setattr(Scheduled, "stages", stages)
    with pytest.raises(ValueError, match=r"the schedule of .*SH.* is \["):
        bai.simulate(Scheduled(reuse=reuse), bai.synthetic(5, 10, seed=1), 100, seed=2)


def test_a_schedule_of_ones_own_is_played(monkeypatch):
    monkeypatch.setattr(Scheduled, "stages", [(0.7, 3), (0.3, 1)])
    bandits = bai.ReplayBandits(np.random.default_rng(3).normal(size=(20, 5, 100)), np.ones((20, 5)), np.ones((20, 5)))
    fast, plain = (bai.simulate(Scheduled(), bandits, 100, seed=2, plain=plain) for plain in (False, True))
    np.testing.assert_array_equal(fast.pulls, plain.pulls)
    assert (np.sort(fast.pulls, axis=1) == [14, 14, 24, 24, 24]).all()


class Boosted(bai.GaussianBandits):
    """Draws by an array of its own, with a row per run."""

    def __init__(self, runs):
        super().__init__([0.0, 0.0, 1.0], [0.01, 0.01, 0.01], runs=runs)
        self.extra = np.where(np.arange(runs)[:, None] < 500, 0.0, [10.0, 0.0, 0.0])

    def draw(self, run, arm, rng):
        return self.means[run, arm] + self.extra[run, arm]


def test_a_compiled_ensemble_with_a_draw_of_its_own_knows_its_runs_in_every_block():
    named = bai.simulate(bai.SH(), Boosted(1000), 30, seed=1).recommended
    assert (named == np.repeat([2, 0], 500)).all()


class Coin(bai.Bandits):
    def draw(self, run, arm, rng):
        return rng.random() < self.means[run, arm]


class Beta(bai.Policy):
    """Thompson sampling, which takes rewards in [0, 1] only."""

    name, randomised = "Beta", True

    def steps(self, n_arms, budget, rng):
        won, lost = np.ones(n_arms), np.ones(n_arms)
        for _ in range(budget):
            arm = int(rng.beta(won, lost).argmax())
            reward = yield arm
            won[arm] += reward
            lost[arm] += 1 - reward
        return int((won / (won + lost)).argmax())


def test_rewards_that_are_true_or_false_count_as_one_and_zero():
    out = bai.simulate(Beta(), Coin([0.2, 0.9], [0.16, 0.09], runs=50), 60, seed=1)
    assert out.mistake_rate < 0.2


def test_forecast_rewards_lie_between_zero_and_one_before_there_are_any():
    experiment = bai.Experiment(Beta(), 3, 60, seed=1)
    assert len(experiment.ask(20)) == 20


class Loose(bai.variance_bounds.VarianceBound):
    def spread(self, delta, budget):
        return bai.variance_bounds.PlugIn().spread(delta, budget)

    def slack(self, delta, budget):
        return 1 / np.maximum(1, np.arange(budget + 1.0))


class Union(bai.variance_bounds.VarianceBound):
    def spread(self, delta, budget):
        return bai.variance_bounds.ChiSquare().spread(delta / budget, budget)


@pytest.mark.parametrize("bound", [Loose(), Union()], ids=lambda bound: type(bound).__name__)
@pytest.mark.parametrize("reuse", [False, True])
def test_a_variance_bound_of_ones_own_is_played_as_it_reads(bound, reuse):
    policy = bai.SHAdaVar(bound=bound, reuse=reuse)
    stacks = np.random.default_rng(4).normal(size=(50, 5, 203)) * np.linspace(0.1, 2, 5)[:, None]
    bandits = bai.ReplayBandits(stacks, np.ones((50, 5)), np.ones((50, 5)))
    fast, plain = (bai.simulate(policy, bandits, 203, seed=2, plain=plain) for plain in (False, True))
    np.testing.assert_array_equal(fast.pulls, plain.pulls)
    np.testing.assert_array_equal(fast.recommended, plain.recommended)


class Odd(bai.variance_bounds.VarianceBound):
    change, warm = staticmethod(lambda spread: spread), 2

    def spread(self, delta, budget):
        return type(self).change(bai.variance_bounds.PlugIn().spread(delta, budget))

    def warmup_pulls(self, n_arms, delta):
        return type(self).warm * n_arms


@pytest.mark.parametrize(
    ("change", "warm", "message"),
    [
        (lambda spread: np.where(np.arange(spread.size) > 20, -spread, spread), 2, "stay positive"),
        (lambda spread: spread[:50], 2, "one per count"),
        (lambda spread: spread * np.nan, 2, "not finite"),
        (lambda spread: spread, 1, "two per arm"),
    ],
)
def test_a_variance_bound_that_cannot_be_played_is_refused(change, warm, message, monkeypatch):
    monkeypatch.setattr(Odd, "change", staticmethod(change))
    monkeypatch.setattr(Odd, "warm", warm)
    for plain in (False, True):
        with pytest.raises(ValueError, match=message):
            bai.simulate(bai.SHAdaVar(bound=Odd()), bai.synthetic(5, 10, seed=1), 200, seed=2, plain=plain)


class Weighted(bai.Policy):
    """Pulls by an array that is too long to be printed whole."""

    name = "Weighted"

    def __init__(self, weights):
        self.weights = weights

    def steps(self, n_arms, budget):
        yield int(self.weights.argmax()) % n_arms
        return int(self.weights.argmax()) % n_arms


def test_a_checkpoint_tells_long_arrays_of_a_policy_apart_and_refuses_what_has_no_name(tmp_path):
    problem, weights = bai.synthetic(4, 600, seed=1), np.zeros(3000)
    weights[1500] = 1.0
    bai.sweep(Weighted(weights), problem, 20, seed=1, checkpoint=tmp_path / "a.db")
    weights[1501] = 2.0
    with pytest.raises(ValueError, match="belongs to another study"):
        bai.sweep(Weighted(weights), problem, 20, seed=1, checkpoint=tmp_path / "a.db")
    with pytest.raises(TypeError, match="cannot know again"):
        bai.sweep(Weighted(lambda: 0), problem, 20, seed=1, checkpoint=tmp_path / "b.db")


def test_a_policy_that_is_told_nonsense_is_named():
    class Dictionary(bai.Policy):
        name = "Dictionary"

        def known(self, n_arms, budget, problem=None):
            return {"variances": problem.variances}

    class Flat(Dictionary):
        def known(self, n_arms, budget, problem=None):
            return bai.Known(variances=np.ones(n_arms))

    with pytest.raises(TypeError, match=r"what Dictionary returns from known is .* it must be a bai\.Known"):
        bai.simulate(Dictionary(), bai.synthetic(4, 10, seed=1), 20, seed=1)
    with pytest.raises(ValueError, match="variances of shape"):
        bai.simulate(Flat(), bai.synthetic(4, 10, seed=1), 20, seed=1)
