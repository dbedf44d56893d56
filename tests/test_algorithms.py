"""What the algorithms must do, whatever the rewards: budgets, schedules, allocations, symmetries, known error rates."""

import dataclasses
import inspect
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import FAMILIES, POLICIES, informed, replay, takes
from scipy import integrate
from scipy.stats import binom, binomtest, chi2, chi2_contingency, norm

import bai
from bai import theory, variance_bounds
from bai.policies.allocation import below_ocba_share
from bai.policies.base import Progress, Tally
from bai.policies.gaps import estimated_complexity, estimated_variance_complexity
from bai.policies.halving import Elimination, eliminate, noisiest_mean
from bai.policies.shadavar import overestimated_mean

RARE = 1e-6  # false-alarm rate of each statistical assertion: about 40 of them, so one false alarm in 25,000 suites


def assert_rate(outcome, probability):
    """The number of mistakes is one that this probability makes plausible."""
    assert binomtest(int(outcome.mistakes.sum()), outcome.mistakes.size, probability).pvalue > RARE


# --- budgets and schedules -------------------------------------------------------------------------------


def spent(policy, n_arms, budget):
    """Pulls that the policy's schedule adds up to; those without stages spend everything."""
    if isinstance(policy, Elimination):
        return sum(pulls for pulls, _ in policy.schedule(n_arms, budget))
    return None if isinstance(policy, bai.HalveVar) else budget  # its stages depend on the rewards


@pytest.mark.parametrize("policy", POLICIES, ids=str)
@pytest.mark.parametrize("n_arms", [2, 3, 5, 7, 16, 64])
def test_pulls_add_up_to_the_schedule_and_never_exceed_the_budget(policy, n_arms):
    for budget in (policy.least_budget(n_arms), policy.least_budget(n_arms) + 1, 1000):
        out = bai.simulate(policy, bai.synthetic(n_arms, 20, seed=1), budget, seed=2)
        total, expected = out.pulls.sum(axis=1), spent(policy, n_arms, budget)
        assert (total <= budget).all()
        assert expected is None or (total == expected).all()
        assert (out.pulls >= 1).all() or policy.least_budget(n_arms) < n_arms  # too few to pull all of them


@pytest.mark.parametrize("n_arms", [2, 3, 4, 5, 7, 8, 33, 64, 100])
def test_halving_leaves_one_arm_after_ceil_log2_stages(n_arms):
    schedule = bai.SH().schedule(n_arms, 10_000)
    assert len(schedule) == math.ceil(math.log2(n_arms))
    sizes = [n_arms] + [survivors for _, survivors in schedule]
    assert sizes[-1] == 1
    assert all(after == math.ceil(before / 2) for before, after in itertools.pairwise(sizes))
    assert {pulls for pulls, _ in schedule} == {10_000 // len(schedule)}


def test_successive_rejects_follows_the_published_phase_lengths():
    n_arms, budget = 10, 537
    log_bar = 0.5 + sum(1 / i for i in range(2, n_arms + 1))
    lengths = [math.ceil((budget - n_arms) / (log_bar * (n_arms + 1 - k))) for k in range(1, n_arms)]
    out = bai.simulate(bai.SR(), bai.synthetic(n_arms, 50, seed=3), budget, seed=4)
    expected = sorted([*lengths, lengths[-1]])
    assert (np.sort(out.pulls, axis=1) == expected).all()


def test_vbr_spends_an_equal_share_in_each_stage():
    schedule = bai.VBR().schedule(8, 808)
    assert schedule == [(108, 7), *[(100, k) for k in range(6, 0, -1)]]


# --- SH and SHVar ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("reuse", [False, True])
@pytest.mark.parametrize("n_arms, budget", [(2, 9), (3, 50), (7, 100), (64, 1000)])
def test_shvar_with_equal_variances_pulls_as_sh(reuse, n_arms, budget):
    bandits = replay(FAMILIES[-1], 5, runs=20, n_arms=n_arms, budget=budget)
    halving, known = (bai.simulate(policy(reuse=reuse), bandits, budget, seed=6) for policy in (bai.SH, bai.SHVar))
    np.testing.assert_array_equal(halving.pulls, known.pulls)
    np.testing.assert_array_equal(halving.recommended, known.recommended)


@given(st.lists(st.integers(1, 40), min_size=2, max_size=9), st.integers(1, 5))
@settings(deadline=None, max_examples=60)
def test_lemma_1_holds_exactly_when_the_ideal_pulls_are_integers(shares, times):
    variances, budget = np.array(shares) / 7.0, times * sum(shares)
    stacks = np.zeros((1, len(shares), budget))
    choose = noisiest_mean(variances.tolist())
    steps = eliminate(Progress.begin(len(shares)), [(budget, 1)], choose)
    counts = np.zeros(len(shares), int)
    arm = next(steps)
    try:
        while True:
            counts[arm] += 1
            arm = steps.send(stacks[0, arm, 0])
    except StopIteration:
        pass
    np.testing.assert_array_equal(counts, times * np.array(shares))
    np.testing.assert_allclose(theory.lemma_1_allocation(variances, budget), counts)


@given(st.lists(st.floats(1e-6, 1.0), min_size=2, max_size=40), st.integers(0, 300))
@settings(deadline=None, max_examples=100)
def test_lemma_4_bounds_the_pulls_of_shvar_from_below(variances, extra):
    budget = len(variances) + extra
    pulls = theory.greedy_allocation(variances, budget)
    assert (pulls >= theory.lemma_4_pulls(variances, budget) - 1e-9).all()


@pytest.mark.parametrize("variances", [[1.0, 0.0, 0.5, 0.0], [0.0] * 4, [1e6, 1.0, 1.0, 1e-6], [1.0, 1e-6, 1e-6, 1.0]])
def test_shvar_pulls_silent_arms_once_a_stage_and_noisy_ones_as_the_greedy_rule_says(variances):
    bandits = bai.GaussianBandits([4.0, 3.0, 2.0, 1.0], variances, runs=30)
    out = bai.simulate(bai.SHVar(), bandits, 40, seed=7)
    first = np.sort(theory.greedy_allocation(variances, 20))
    # The two arms that leave after the first stage have the greedy counts of that stage; the others got 20 more.
    assert (out.pulls >= 1).all()
    assert (out.pulls.sum(axis=1) == 40).all()
    for counts in np.sort(out.pulls, axis=1):
        assert sum(count in first for count in counts) >= 2


# --- SHAdaVar --------------------------------------------------------------------------------------------


def first_stage(policy, n_arms, budget, seed):
    """Play one stage and return counts and sums of squares, step by step, from the plain version."""
    rng = np.random.default_rng(seed)
    means, sd = rng.normal(size=n_arms), 10.0 ** rng.uniform(-2, 0, n_arms)
    choose = overestimated_mean(policy.bound.index(policy.delta, budget, span=1.0), policy.warmup_pulls)
    tally = Tally(n_arms)
    for _ in range(budget):
        arm = choose(tally, list(range(n_arms)))
        yield tally, arm
        tally.add(arm, rng.normal(means[arm], sd[arm]))


@pytest.mark.parametrize("delta", [0.5, 0.05, 1e-3, math.exp(-0.5), math.exp(-3)])
@pytest.mark.parametrize("n_arms", [2, 5])
def test_variance_bound_is_positive_whenever_it_is_used(delta, n_arms):
    policy = bai.SHAdaVar(delta=delta)
    warm, used = policy.warmup_pulls(n_arms), 0
    for tally, _ in first_stage(policy, n_arms, warm + 60, seed=8):
        if sum(tally.count) >= warm:
            used += 1
            for i in range(n_arms):
                bound = theory.variance_ucb(tally.variance(i), tally.count[i], delta)
                assert bound > 0
                # The divisors in `spread` are the paper's U / N in another arrangement.
                index = tally.squares[i] / policy.bound.spread(delta, tally.count[i])[tally.count[i]]
                assert index == pytest.approx(bound / tally.count[i], rel=1e-9)
    assert used == 60


def test_lemma_5_bounds_the_pulls_of_shadavar_from_below_as_often_as_it_says():
    # Two arms have a single stage. Each of the two bounds that the lemma uses may fail with probability delta.
    rng, budget, delta = np.random.default_rng(28), 400, 0.05
    variances = 10.0 ** rng.uniform(-4, 0, (5000, 2))
    out = bai.simulate(bai.SHAdaVar(delta), bai.GaussianBandits(rng.normal(size=(5000, 2)), variances), budget, seed=29)
    least = np.array([theory.lemma_5_pulls(row, budget, delta) for row in variances])
    assert (least > theory.warmup_pulls(delta)).any(axis=1).mean() > 0.5  # the bound says more than the warm-up does
    failed = int((out.pulls < least).any(axis=1).sum())
    assert binomtest(failed, 5000, 2 * delta, alternative="greater").pvalue > RARE


@pytest.mark.parametrize("seed", range(5))
def test_lemma_5_bounds_the_pulls_of_a_stage_of_five_arms(seed):
    policy, delta = bai.SHAdaVar(delta=1e-4), 1e-4
    for tally, arm in first_stage(policy, 5, 1000, seed):
        last = tally, arm
    tally, arm = last
    pulls = np.array(tally.count) + (np.arange(5) == arm)
    rng = np.random.default_rng(seed)
    rng.normal(size=5)
    variances = (10.0 ** rng.uniform(-2, 0, 5)) ** 2
    assert (pulls >= theory.lemma_5_pulls(variances, 1000, delta)).all()


def test_shadavar_is_sh_when_a_stage_ends_within_the_warm_up():
    n_arms = 16
    budget = 4 * n_arms * theory.warmup_pulls(0.05)
    bandits = replay(FAMILIES[0], 9, runs=10, n_arms=n_arms, budget=budget)
    short = 4 * n_arms * 5
    halving, adaptive = (bai.simulate(p, bandits, short, seed=10) for p in (bai.SH(), bai.SHAdaVar(delta=1e-9)))
    np.testing.assert_array_equal(halving.pulls, adaptive.pulls)


def test_printed_warm_up_leaves_arms_that_are_never_pulled_again_in_the_stage():
    bandits = bai.GaussianBandits([1.0, 0.0], [1.0, 1.0], runs=200)
    printed = bai.simulate(bai.SHAdaVar(bound=variance_bounds.Printed()), bandits, 1000, seed=11)
    assert (np.sort(printed.pulls, axis=1) == [12, 988]).all()
    assert bai.simulate(bai.SHAdaVar(), bandits, 1000, seed=11).pulls.min() > 100


def test_shadavar_allocates_in_proportion_to_the_variances_in_the_long_run():
    variances = np.array([1.0, 0.25])
    out = bai.simulate(bai.SHAdaVar(), bai.GaussianBandits([0.0, 1.0], variances, runs=100), 20_000, seed=12)
    np.testing.assert_allclose(out.pulls.mean(axis=0) / 20_000, [0.8, 0.2], atol=0.01)


@pytest.mark.parametrize("delta", [0.3, 0.05, 1e-3])
def test_chi_square_bound_fails_exactly_with_probability_delta_and_is_the_tighter_one(delta):
    count = np.arange(2, 200)
    bounds = variance_bounds.ChiSquare(), variance_bounds.Gaussian()
    exact, paper = (bound.spread(delta, 199)[2:] for bound in bounds)
    np.testing.assert_allclose(chi2.cdf(exact / count, count - 1), delta, rtol=1e-9)  # U < variance
    assert (exact > paper).all()


@pytest.mark.parametrize("chance", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("delta", [0.3, 0.05])
def test_bernstein_bound_on_coins_fails_with_at_most_probability_delta(chance, delta):
    bound = variance_bounds.Bernstein(span=1.0)
    for pulls in (2, 5, 20, 200):
        heads = np.arange(pulls + 1)
        squares = heads * (pulls - heads) / pulls
        root = np.sqrt(squares / bound.spread(delta, pulls)[pulls]) + bound.slack(delta, pulls)[pulls]
        upper = root**2 * pulls  # the index is the root of U / N
        fails = upper < chance * (1 - chance)
        assert binom.pmf(heads, pulls, chance)[fails].sum() <= delta
        np.testing.assert_allclose(upper[0], 2 * math.log(1 / delta) / (pulls - 1))


PUBLIC = [value for name, value in vars(variance_bounds).items() if isinstance(value, type) and name[0] != "_"]
GUARDED = [bound for bound in PUBLIC if "guard_repeats" in inspect.signature(bound).parameters]


@pytest.mark.parametrize("reuse", [False, True])
@pytest.mark.parametrize("bound", GUARDED)
def test_guarding_against_repeats_changes_nothing_for_gaussian_rewards(bound, reuse):
    bandits = bai.synthetic(16, 200, seed=30)
    trusting, guarding = (
        bai.simulate(bai.SHAdaVar(bound=bound(guard_repeats=guard), reuse=reuse), bandits, 2000, seed=31)
        for guard in (False, True)
    )
    np.testing.assert_array_equal(trusting.pulls, guarding.pulls)
    np.testing.assert_array_equal(trusting.recommended, guarding.recommended)


@pytest.mark.parametrize("budget", [1000, 10_000])
def test_guarding_against_repeats_saves_an_arm_that_happened_to_repeat_itself(budget):
    # The best arm pays 1 with chance 0.1. All of its first 13 rewards are 0 with probability 0.9^13.
    table = [[1.0] + [0.0] * 9, [0.01, 0.05] * 5]
    bandits = bai.TableBandits(table, np.tile([0, 1], (2000, 1)))
    trusting, guarding = (
        bai.simulate(bai.SHAdaVar(bound=variance_bounds.Gaussian(guard_repeats=guard)), bandits, budget, seed=32)
        for guard in (False, True)
    )
    starved = trusting.pulls[:, 0] == theory.warmup_pulls(0.05)
    assert binomtest(int(starved.sum()), 2000, 0.9**13).pvalue > RARE
    assert guarding.pulls[:, 0].min() > 5 * theory.warmup_pulls(0.05)
    assert guarding.mistake_rate < 0.01 < 0.2 < trusting.mistake_rate


@pytest.mark.parametrize("value", [0.0, 0.1])  # sums of 0.1 round, so the sample variance is not quite 0
def test_guarding_against_repeats_makes_arms_take_turns_while_there_is_only_one_value(value):
    bandits = bai.ReplayBandits(np.full((1, 4, 400), value), np.full((1, 4), value), np.zeros((1, 4)))
    policy = bai.SHAdaVar(bound=variance_bounds.Gaussian(guard_repeats=True), reuse=True)
    out = bai.simulate(policy, bandits, 400, seed=33)
    assert sorted(out.pulls[0]) == [50, 50, 150, 150]


# --- OCBA and TopTwo -------------------------------------------------------------------------------------


def test_ocba_reaches_its_shares_in_the_long_run():
    means, deviations = np.array([1.0, 0.5, 0.0, 0.6]), np.array([0.3, 0.5, 0.7, 0.2])
    out = bai.simulate(bai.OCBA(), bai.GaussianBandits(means, deviations**2, runs=50), 20_000, seed=34)
    shares = np.append(0.0, (deviations[1:] / (means[0] - means[1:])) ** 2)
    shares[0] = deviations[0] * math.sqrt((shares[1:] ** 2 / deviations[1:] ** 2).sum())
    np.testing.assert_allclose(out.pulls.mean(axis=0) / 20_000, shares / shares.sum(), rtol=0.05)


def test_ocba_pulls_the_leader_when_a_rival_ties_with_it_and_nobody_without_noise():
    tally = Tally(3)
    for arm, rewards in enumerate([(1.0, 3.0), (0.0, 4.0), (1.5, 1.5)]):
        for reward in rewards:
            tally.add(arm, reward)
    assert below_ocba_share(tally) == 0
    tally.squares[0] = 0.0
    assert below_ocba_share(tally) == 1


def test_top_two_balances_leader_and_rivals_as_the_best_allocation_does():
    means, variances = np.array([1.0, 0.5, 0.0, 0.6]), np.array([0.3, 0.5, 0.7, 0.2])
    out = bai.simulate(bai.TopTwo(), bai.GaussianBandits(means, variances, runs=50), 20_000, seed=35)
    pulls = out.pulls.mean(axis=0)
    ratio = pulls**2 / variances
    assert ratio[0] == pytest.approx(ratio[1:].sum(), rel=0.05)
    cost = (means[0] - means[1:]) ** 2 / (variances[0] / pulls[0] + variances[1:] / pulls[1:])
    np.testing.assert_allclose(cost, cost.mean(), rtol=0.1)


def test_top_two_with_two_arms_pulls_in_proportion_to_the_deviations():
    out = bai.simulate(bai.TopTwo(), bai.GaussianBandits([0.0, 1.0], [1.0, 0.0625], runs=50), 10_000, seed=36)
    np.testing.assert_allclose(out.pulls.mean(axis=0) / 10_000, [0.8, 0.2], atol=0.01)


def test_top_two_and_ocba_do_not_depend_on_the_unit_of_rewards():
    means, variances, stacks = FAMILIES[0](np.random.default_rng(37), 10, 6, 300)
    for policy in (bai.TopTwo(), bai.OCBA()):
        one, other = (
            bai.simulate(policy, bai.ReplayBandits(unit * stacks, unit * means, variances), 300, seed=38)
            for unit in (1.0, 1024.0)
        )
        np.testing.assert_array_equal(one.pulls, other.pulls)


def test_top_two_is_not_starved_by_a_run_of_equal_rewards():
    bandits = bai.TableBandits([[1.0] + [0.0] * 9, [0.01, 0.05] * 5], np.tile([0, 1], (2000, 1)))
    assert bai.simulate(bai.TopTwo(), bandits, 1000, seed=39).pulls.min() > 50


# --- gap-based exploration -------------------------------------------------------------------------------


@pytest.mark.parametrize("with_variance", [False, True])
def test_estimated_complexity_converges_to_the_true_one(with_variance):
    rng = np.random.default_rng(13)
    means, sd, bound = np.array([1.0, 0.6, 0.3]), np.array([0.5, 0.1, 1.0]), 2.0
    previous = math.inf
    for pulls in (100, 10_000, 1_000_000):
        tally = Tally(3)
        for arm in range(3):
            sample = rng.normal(means[arm], sd[arm], pulls)
            tally.count[arm], tally.total[arm] = pulls, sample.sum()
            tally.squares[arm] = ((sample - sample.mean()) ** 2).sum()
        gaps = dict(enumerate(theory.gaps([tally.mean(arm) for arm in range(3)]).tolist()))
        if with_variance:
            estimate = estimated_variance_complexity(tally, gaps, bound)
            truth = theory.gapev_complexity(means, sd**2, bound)
        else:
            estimate = estimated_complexity(tally, gaps, bound)
            truth = theory.gape_complexity(means, bound)
        error = abs(estimate / truth - 1)
        assert error < previous
        previous = error
    assert previous < 0.05


def test_gape_does_not_depend_on_the_reward_bound():
    bandits = bai.synthetic(8, 50, seed=14)
    few, many = (bai.simulate(bai.GapE(bound=b), bandits, 300, seed=15) for b in (1.0, 100.0))
    assert (few.pulls == many.pulls).mean() > 0.99  # equal up to rounding in near ties


def test_scaling_multiplies_the_complexity():
    bandits = bai.synthetic(8, 50, seed=16)
    scaled = bai.simulate(bai.GapEV(scaling="paper"), bandits, 300, seed=17)
    same = bai.simulate(bai.GapEV(scaling=4 * 3 / 512), bandits, 300, seed=17)
    other = bai.simulate(bai.GapEV(), bandits, 300, seed=17)
    np.testing.assert_array_equal(scaled.pulls, same.pulls)
    assert (scaled.pulls != other.pulls).any()


# --- known error probabilities ---------------------------------------------------------------------------


@pytest.mark.parametrize("policy", [bai.Unif(), bai.SH(), bai.SHVar(), bai.SR()], ids=str)
@pytest.mark.parametrize("variances", [(1.0, 1.0), (1.0, 0.04), (0.09, 2.0)])
def test_two_arm_mistakes_match_the_normal_distribution(policy, variances):
    budget, gap = 40, 0.25
    out = bai.simulate(policy, bai.GaussianBandits([gap, 0.0], variances, runs=40_000), budget, seed=18)
    pulls = out.pulls[0]
    assert (np.sort(out.pulls, axis=1) == np.sort(pulls)).all()
    assert_rate(out, norm.sf(gap / math.sqrt(variances[0] / pulls[0] + variances[1] / pulls[1])))


def four_arm_mistakes(means, variances, counts):
    """Two stages with four arms: integrate over the pair that survives the first stage."""

    def wins(best, other, count):
        deviation = math.sqrt(variances[best] / count[0] + variances[other] / count[1])
        return norm.cdf((means[best] - means[other]) / deviation)

    def survives(pair):
        rest = [i for i in range(4) if i not in pair]

        def density(x):  # the lower of the pair's means is x, and both others are below it
            total = 0.0
            for low, high in (pair, pair[::-1]):
                sd = [math.sqrt(variances[i] / counts[0][i]) for i in range(4)]
                term = norm.pdf(x, means[low], sd[low]) * norm.sf(x, means[high], sd[high])
                total += term * math.prod(norm.cdf(x, means[i], sd[i]) for i in rest)
            return total

        return integrate.quad(density, -8, 8, points=means, limit=200)[0]

    right = 0.0
    for other in (1, 2, 3):
        right += survives((0, other)) * wins(0, other, counts[1][(0, other)])
    return 1 - right


@pytest.mark.parametrize("policy", [bai.SH(), bai.SHVar()], ids=str)
def test_four_arm_mistakes_match_numerical_integration(policy):
    means, variances, budget = [0.5, 0.3, 0.1, 0.0], [0.8, 0.4, 0.2, 0.2], 64
    known = variances if isinstance(policy, bai.SHVar) else [1.0] * 4
    first = theory.greedy_allocation(known, 32)
    second = {(0, i): theory.greedy_allocation([known[0], known[i]], 32) for i in (1, 2, 3)}
    out = bai.simulate(policy, bai.GaussianBandits(means, variances, runs=100_000), budget, seed=19)
    assert_rate(out, four_arm_mistakes(means, variances, (first, second)))


# --- symmetries ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_mistakes_are_unchanged_in_law_when_arms_are_permuted(policy):
    means, variances = np.array([1.0, 0.8, 0.6, 0.5, 0.2]), np.array([1.0, 0.1, 0.8, 0.1, 0.5])
    orders = [np.arange(5), np.arange(5)[::-1], np.array([2, 0, 4, 1, 3])]
    counts = []
    for seed, order in enumerate(orders):
        out = bai.simulate(policy, bai.GaussianBandits(means[order], variances[order], runs=4000), 100, seed=seed)
        counts.append([out.mistakes.sum(), (~out.mistakes).sum()])
    assert chi2_contingency(np.array(counts)).pvalue > RARE


# Policies that are told the largest reward take rewards to lie between 0 and it.
SHIFTABLE = [p for p in POLICIES if not takes(p, "bound")]


def in_unit(policy, c, shift):
    """Return the policy for rewards that are c times as large, plus a shift: some arguments are in their unit."""
    units = ("epsilon", "scale", "prior_deviation", "prior_mean")
    given = {name: c * getattr(policy, name) for name in units if name in vars(policy)}
    if "prior_mean" in given:
        given["prior_mean"] += shift
    return dataclasses.replace(policy, **given)


@pytest.mark.parametrize("policy", SHIFTABLE, ids=str)
def test_shifting_or_doubling_rewards_changes_no_pull(policy):
    # Multiples of 1/1024 and powers of two keep every operation exact enough for ties to survive.
    rng = np.random.default_rng(20)
    stacks = np.round(rng.normal(size=(10, 6, 300)) * 1024) / 1024
    means, variances = stacks.mean(axis=2), stacks.var(axis=2)
    plays = []
    for c, shift in ((1, 0), (2, 0), (1, 8)):
        bandits = bai.ReplayBandits(c * stacks + shift, c * means + shift, c * c * variances)
        plays.append(bai.simulate(in_unit(informed(policy, span=c * 4.0), c, shift), bandits, 300, seed=21))
    for other in plays[1:]:
        np.testing.assert_array_equal(plays[0].pulls, other.pulls)
        np.testing.assert_array_equal(plays[0].recommended, other.recommended)


@pytest.mark.parametrize("policy", [p for p in POLICIES if p not in SHIFTABLE], ids=str)
def test_shifting_rewards_changes_no_pull_of_exploration_with_its_complexity_given(policy):
    policy = informed(policy, bound=2.0, complexity=50.0)
    stacks = np.round(np.random.default_rng(22).normal(size=(10, 6, 300)) * 1024) / 1024
    plays = [
        bai.simulate(policy, bai.ReplayBandits(stacks + c, stacks.mean(axis=2) + c, stacks.var(axis=2)), 300, seed=23)
        for c in (0, 8)
    ]
    assert (plays[0].pulls == plays[1].pulls).mean() > 0.98  # equal up to rounding in near ties
    assert (plays[0].recommended == plays[1].recommended).mean() > 0.8


def test_running_variances_are_right_for_means_of_minus_a_million():
    rewards = np.random.default_rng(24).normal(-1e6, 1, 5000)
    tally = Tally(1)
    for reward in rewards.tolist():
        tally.add(0, reward)
    assert tally.variance(0) == pytest.approx(np.var(rewards, ddof=1), rel=1e-6)
    assert tally.mean(0) == pytest.approx(rewards.mean(), rel=1e-12)


# --- what policies may know ------------------------------------------------------------------------------


def lacks(policy):
    """Return whether a policy leaves an argument open that it needs: what is None, also in an argument of its own."""
    values = [getattr(policy, field.name) for field in dataclasses.fields(policy)]
    return any(value is None or (dataclasses.is_dataclass(value) and lacks(value)) for value in values)


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_policies_do_not_see_what_they_are_not_told(policy):
    """Lying about means and variances changes the play of those that are entitled to them, and of no other."""
    honest = replay(FAMILIES[0], 25, runs=20, n_arms=6, budget=400)
    rng = np.random.default_rng(26)
    lie = bai.ReplayBandits(honest.stacks, 2 * honest.means[:, ::-1], 10.0 ** rng.uniform(-3, 3, honest.means.shape))
    entitled = lacks(policy)
    same = np.array_equal(*(bai.simulate(policy, bandits, 400, seed=27).pulls for bandits in (honest, lie)))
    assert same == (not entitled)


def test_policies_name_themselves_with_what_differs_from_the_default():
    assert str(bai.GapEV()) == "GapE-V"
    assert str(bai.SHAdaVar(delta=0.1, reuse=True)) == "SHAdaVar(delta=0.1, reuse=True)"
