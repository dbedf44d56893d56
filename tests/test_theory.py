"""The paper's statements, printed and corrected, against exact formulas, naive loops and simulation.

Statistical tests compare a count with a binomial tail and fail if it is below 1e-6, or use 5 standard errors:
were the protected statement true at equality, each would raise a false alarm with probability below 1e-6 for
a fresh seed. Seeds are fixed.
"""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, chi2, norm

from bai import theory

always = settings(deadline=None, derandomize=True, max_examples=100)

positive = st.floats(-6, 6).map(lambda exponent: 10.0**exponent)
repeated = st.sampled_from([0.1, 0.5, 1.0, 2.0, 3.0])


def problems(variance=positive, most=9):
    """Variances with a stage budget of at least one pull per arm."""
    lists = st.lists(variance, min_size=2, max_size=most)
    return lists.flatmap(lambda v: st.tuples(st.just(np.array(v)), st.integers(len(v), len(v) + 300)))


@st.composite
def bandits(draw, most=9):
    """Means with a unique best arm, variances, and a budget of at least one pull per arm and stage."""
    variances, extra = draw(problems(st.floats(-2, 2).map(lambda x: 10.0**x), most))
    size = variances.size
    gap = draw(st.lists(st.floats(0.05, 3), min_size=size - 1, max_size=size - 1))
    best = draw(st.integers(0, size - 1))
    return np.insert(-np.array(gap), best, 0.0), variances, theory.stages(size) * (size + extra)


def greedy_loop(variances, budget):
    """SHVar's rule, pull by pull."""
    pulls = np.zeros(len(variances), dtype=int)
    for _ in range(budget):
        with np.errstate(divide="ignore", invalid="ignore"):
            pulls[np.where(pulls == 0, np.inf, variances / pulls).argmax()] += 1
    return pulls


def nominal(n_arms=64, best_arm="noisy"):
    """The synthetic problem of the paper before its random perturbation."""
    i = np.arange(n_arms)
    means = 1 - np.sqrt(i / n_arms)
    return means, np.where(i % 2 == (best_arm == "quiet"), 0.9 * means**2 + 0.1, 0.1)


def plausible(mistakes, runs, bound):
    """Whether so many mistakes are compatible with a probability of at most `bound`."""
    return binom.sf(mistakes - 1, runs, bound) > 1e-6


# --------------------------------------------------------------------------- stages and complexities


@pytest.mark.parametrize("n_arms", [*range(2, 40), 64, 65, 127, 128, 129, 1000])
def test_stage_sizes_halve_rounding_up_until_two_arms_are_left(n_arms):
    sizes = theory.stage_sizes(n_arms)
    assert sizes == [math.ceil(n_arms / 2**s) for s in range(len(sizes))]
    assert sizes[-1] == 2
    assert len(sizes) == theory.stages(n_arms) == math.ceil(math.log2(n_arms))


def test_gap_of_the_best_arm_is_its_lead_over_the_runner_up():
    means = np.array([[0.2, 1.0, 0.5], [0.75, 0.25, 0.0]])
    np.testing.assert_allclose(theory.gaps(means), [[0.8, 0.5, 0.5], [0.5, 0.5, 0.75]])
    np.testing.assert_array_equal(theory.gaps([1.0, 1.0, 0.0]), [0, 0, 1])


def test_h2_ranks_arms_by_mean_whatever_their_order():
    assert theory.h2([0.5, 0.9, 1.0]) == pytest.approx(2 / 0.1**2)
    assert theory.h2([0.9, 1.0, 0.88]) == pytest.approx(max(2 / 0.1**2, 3 / 0.12**2))
    for n_arms in (8, 64):
        shuffled = np.random.default_rng(0).permutation(nominal(n_arms)[0])
        assert theory.h2(shuffled) == pytest.approx(2 * n_arms)


def test_complexities_follow_their_definitions_and_treat_rows_as_problems():
    rng = np.random.default_rng(1)
    means, variances = rng.normal(size=(5, 4)), rng.uniform(0, 2, size=(5, 4))
    bounds = theory.reward_bound(means, variances, 500) + 3
    gape = theory.gape_complexity(means, bounds)
    gapev = theory.gapev_complexity(means, variances, bounds)
    for r in range(5):
        mu, sigma, b = means[r], np.sqrt(variances[r]), bounds[r]
        assert b == pytest.approx(max(mu + sigma * math.sqrt(math.log(500))) + 3)
        gap = [abs(mu[i] - max(np.delete(mu, i))) for i in range(4)]
        assert gape[r] == pytest.approx(sum(b**2 / g**2 for g in gap))
        roots = [s + math.sqrt(s**2 + 16 / 3 * b * g) for s, g in zip(sigma, gap, strict=True)]
        assert gapev[r] == pytest.approx(sum(x**2 / g**2 for x, g in zip(roots, gap, strict=True)))
        assert theory.gape_complexity(mu, b) == gape[r]
        assert theory.gapev_complexity(mu, variances[r], b) == gapev[r]


def test_tied_best_arms_make_complexities_infinite_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert theory.h2([1.0, 1.0, 0.0]) == math.inf
        assert theory.gape_complexity([1.0, 1.0, 0.0], 2.0) == math.inf
        assert theory.gapev_complexity([1.0, 1.0, 0.0], [0.0, 0.0, 1.0], 2.0) == math.inf


def test_reward_bound_takes_several_budgets_for_one_problem():
    assert theory.reward_bound([1.0, 0.5], [0.0, 4.0], [1, 100]) == pytest.approx(
        [1.0, 0.5 + 2 * math.sqrt(math.log(100))]
    )


# --------------------------------------------------------------------------- allocations


@always
@given(problems(st.one_of(positive, repeated, st.just(0.0), st.floats(1e-200, 1e6))))
def test_greedy_allocation_is_the_greedy_loop_bit_for_bit(problem):
    variances, budget = problem
    np.testing.assert_array_equal(theory.greedy_allocation(variances, budget), greedy_loop(variances, budget))


@pytest.mark.parametrize(
    "variances",
    [
        np.full(64, 0.1),
        np.geomspace(1e-12, 1, 32),
        [1.0, 1e-6, 1e-6],
        [1e12, 1.0, 3.0, 0.0],
        [0.0, 0.0, 0.0],
        [0.3, 0.1, 0.2, 0.1],
        nominal(64)[1],
    ],
)
@pytest.mark.parametrize("budget", [64, 65, 833, 3000])
def test_greedy_allocation_is_the_greedy_loop_at_the_corners(variances, budget):
    variances = np.asarray(variances)
    np.testing.assert_array_equal(theory.greedy_allocation(variances, budget), greedy_loop(variances, budget))


@always
@given(st.lists(st.integers(1, 60), min_size=2, max_size=9), st.floats(1e-3, 1e3))
def test_lemma_1_integral_ideal_allocations_are_met_exactly(ideal, unit):
    variances, budget = unit * np.array(ideal), sum(ideal)
    np.testing.assert_allclose(theory.lemma_1_allocation(variances, budget), ideal)
    np.testing.assert_array_equal(theory.greedy_allocation(variances, budget), ideal)


@always
@given(problems())
def test_greedy_allocation_stays_within_the_tight_distance_of_the_ideal(problem):
    variances, budget = problem
    share = variances / variances.sum()
    excess = theory.greedy_allocation(variances, budget) - theory.lemma_1_allocation(variances, budget)
    assert (excess >= -(variances.size - 1) * share - 1e-9 * budget).all()
    assert (excess <= 1 - share + 1e-9 * budget).all()


@always
@given(problems(st.one_of(positive, repeated)))
def test_lemma_4_and_lemma_b_bound_the_pulls_of_shvar_from_below(problem):
    variances, budget = problem
    pulls, rho = theory.greedy_allocation(variances, budget), theory.lemma_b_rho(variances, budget)
    assert (pulls >= rho * variances * (1 - 1e-12)).all()
    assert (pulls >= theory.lemma_4_pulls(variances, budget) * (1 - 1e-12)).all()
    assert (rho * variances >= theory.lemma_4_pulls(variances, budget) * (1 - 1e-12)).all()
    assert theory.greedy_rho(variances, budget) == pytest.approx((pulls / variances).min())


@always
@given(problems(), st.randoms(use_true_random=False))
def test_no_allocation_of_the_same_budget_has_a_larger_rho_than_the_greedy_one(problem, random):
    variances, budget = problem
    rival, rho = theory.greedy_allocation(variances, budget), theory.greedy_rho(variances, budget)
    for _ in range(20):
        i, j = random.sample(range(variances.size), 2)
        if rival[i] > 1:
            rival[i] -= 1
            rival[j] += 1
            assert (rival / variances).min() <= rho * (1 + 1e-12)


@always
@given(problems(), st.data())
def test_more_noise_in_any_arm_never_raises_rho(problem, data):
    variances, budget = problem
    size = variances.size
    noisier = variances * data.draw(st.lists(st.floats(1, 100), min_size=size, max_size=size))
    assert theory.greedy_rho(noisier, budget) <= theory.greedy_rho(variances, budget) * (1 + 1e-12)


@always
@given(positive, positive)
def test_neyman_allocation_gives_two_arms_the_least_variance_of_their_difference(first, second):
    variances = np.array([first, second])
    difference = (variances / theory.neyman_allocation(variances, 100)).sum()
    assert difference == pytest.approx((math.sqrt(first) + math.sqrt(second)) ** 2 / 100)
    assert difference <= (variances / theory.lemma_1_allocation(variances, 100)).sum() * (1 + 1e-12)


@always
@given(problems(repeated), st.integers(0, 8))
def test_shvar_helps_on_average_exactly_if_the_best_arm_is_noisier_than_average(problem, best):
    variances, budget = problem
    best %= variances.size
    gain = theory.shvar_gain(variances, best)
    even = variances * variances.size / budget
    ideal = variances / theory.lemma_1_allocation(variances, budget)
    others = np.arange(variances.size) != best
    assert gain == pytest.approx((even[others] + even[best]).mean() / (ideal[others] + ideal[best]).mean())
    excess = variances[best] - variances.mean()
    if variances.size == 2 or abs(excess) < 1e-9:
        assert gain == pytest.approx(1)
    else:
        assert (gain > 1) == (excess > 0)


# --------------------------------------------------------------------------- estimated variances


@always
@given(st.integers(1, 3000), st.floats(1e-9, 0.5))
def test_lemma_2_thresholds_are_each_crossed_with_probability_at_most_delta(degrees, delta):
    lower, upper = theory.lemma_2_thresholds(degrees, delta)
    assert chi2.cdf(lower, degrees) <= delta
    assert chi2.sf(upper, degrees) <= delta


def test_lemma_2_thresholds_are_not_idle():
    lower, upper = theory.lemma_2_thresholds(1000, 0.05)
    assert chi2.cdf(lower, 1000) > 0.005 and chi2.sf(upper, 1000) > 0.002


@always
@given(st.floats(1e-12, 0.999))
def test_warm_up_is_the_smallest_count_that_makes_the_variance_bound_positive(delta):
    pulls, four_l = theory.warmup_pulls(delta), 4 * math.log(1 / delta)
    assert pulls - 1 > four_l
    assert pulls - 2 <= four_l * (1 + 1e-11)
    assert theory.variance_ucb(1.0, pulls, delta) > 0


@pytest.mark.parametrize("four_l", range(1, 60))
def test_warm_up_steps_over_a_denominator_of_zero(four_l):
    for ulps in (-2, 0, 2):
        delta = math.exp(-four_l / 4) * (1 + ulps * 2.0**-52)
        assert theory.warmup_pulls(delta) == four_l + 2
        assert 1 < theory.variance_ucb(1.0, four_l + 2, delta) < 1e3


def test_printed_warm_up_leaves_a_negative_denominator_at_the_papers_delta():
    assert theory.warmup_pulls(0.05) == 13
    assert theory.lemma_2_thresholds(11, 0.05)[0] / 11 == pytest.approx(-0.0437, abs=5e-5)
    assert 1 / theory.variance_ucb(1.0, 13, 0.05) == pytest.approx(0.0007, abs=5e-5)
    assert 1 / theory.variance_ucb(1.0, 14, 0.05) == pytest.approx(0.0399, abs=5e-5)


def test_variance_ucb_covers_exactly_if_the_chi_square_is_above_the_lower_threshold():
    pulls = np.array([20, 50, 500])
    lower, _ = theory.lemma_2_thresholds(pulls - 1, 0.05)
    np.testing.assert_allclose(theory.variance_ucb(lower / (pulls - 1), pulls, 0.05), 1)


def test_variance_ucb_grows_as_delta_shrinks():
    assert theory.variance_ucb(1.0, 100, 0.01) > theory.variance_ucb(1.0, 100, 0.05) > 1


# --------------------------------------------------------------------------- printed formulas


def test_printed_formulas_are_those_of_the_paper():
    means, variances, n, delta = [0.3, 1.0, 0.6], [0.5, 2.0, 1.0], 700, 0.01
    log2_k, gap, top = math.log2(3), 0.4, 2.0
    assert theory.sh_bound(means, n) == pytest.approx(
        3 * log2_k * math.exp(-n / (8 * max(2 / 0.4**2, 3 / 0.7**2) * log2_k))
    )
    assert theory.lemma_3_bound(gap, variances, 90) == pytest.approx(math.exp(-90 * gap**2 / (4 * 3.5)))
    assert theory.theorem_1_bound(means, variances, n, printed=True) == pytest.approx(
        2 * log2_k * math.exp(-n * gap**2 / (4 * log2_k * 3.5))
    )
    exponent = (n - 3 * math.log(3)) * gap**2 / (4 * top * 3 * log2_k)
    assert theory.theorem_2_bound(means, variances, n, printed=True) == pytest.approx(2 * log2_k * math.exp(-exponent))
    x = math.log(3 * n / delta) / (n / 3 - 2)
    alpha = (1 - 2 * math.sqrt(x)) / (1 + 2 * math.sqrt(x) + 2 * x)
    assert theory.theorem_3_bound(means, variances, n, delta, printed=True) == pytest.approx(
        2 * log2_k * math.exp(-alpha * exponent)
    )
    x = math.log(1 / delta) / (300 / 3 - 2)
    alpha = (1 - 2 * math.sqrt(x)) / (1 + 2 * math.sqrt(x) + 2 * x)
    pulls = alpha * 99 * np.array(variances) / top
    assert theory.lemma_5_pulls(variances, 300, delta) == pytest.approx(pulls)


def test_printed_and_proved_alpha_differ_by_a_factor_of_twenty():
    union = 0.05 / (64 * 30_000)
    assert theory.lemma_5_alpha(64, 30_000, union) == pytest.approx(0.42, abs=0.005)
    assert theory.lemma_5_alpha(64, 30_000 // 6, union) == pytest.approx(0.02, abs=0.005)


@pytest.mark.parametrize("n_arms", [2, 3, 8, 64])
@pytest.mark.parametrize("delta", [0.05, 1e-6, 0.9])
def test_least_budget_of_theorem_3_is_the_first_that_meets_its_condition(n_arms, delta):
    def met(n):
        return n >= n_arms * math.log2(n_arms) * (4 * math.log(n_arms * n / delta) + 1)

    least = theory.theorem_3_least_budget(n_arms, delta)
    assert met(least) and not any(met(n) for n in range(1, least))


def test_theorem_3_asks_for_both_a_small_delta_and_a_large_budget():
    assert theory.theorem_3_condition(2, [100, 10_000, 10**9], 1e-6).tolist() == [False, True, False]
    assert theory.theorem_3_condition(2, 10_000, 1e-6) is True
    assert theory.theorem_3_least_budget(64, 0.05) == 27_049
    least = theory.theorem_3_least_budget(64, 1e-9)
    assert theory.theorem_3_condition(64, [least - 1, least], 1e-9).tolist() == [False, True]
    assert not theory.theorem_3_condition(64, [1000, 27_049, 10**6], 0.05).any()


@pytest.mark.parametrize(
    ("best_arm", "expected"), [("quiet", (42_679, 193_016, 257_751)), ("noisy", (44_710, 244_543, 317_499))]
)
def test_printed_bounds_fall_below_one_far_beyond_the_budgets_of_the_experiments(best_arm, expected):
    means, variances = nominal(64, best_arm)

    def crossings(n):
        return (
            theory.theorem_1_bound(means, variances, n, printed=True),
            theory.theorem_2_bound(means, variances, n, printed=True),
            theory.theorem_3_bound(means, variances, n, 0.05, printed=True),
        )

    assert [crossings(n - 1)[i] >= 1 > crossings(n)[i] for i, n in enumerate(expected)] == [True] * 3
    assert theory.shvar_bound(means, variances, 1300) < 1


# --------------------------------------------------------------------------- printed formulas that are false


def test_printed_theorem_1_is_false_for_three_arms():
    means, variances, budget = [0.0, -0.2, -100.0], [1.0, 1.0, 0.01], 12_000
    # Stage 2 is between the two best arms with 3000 pulls each, and they reach it all but surely.
    mistake = norm.sf(0.2 / math.sqrt(2 / 3000))
    assert mistake == pytest.approx(4.7e-15, rel=0.02, abs=0)
    assert theory.theorem_1_bound(means, variances, budget, printed=True) == pytest.approx(1.4e-16, rel=0.05, abs=0)
    assert mistake <= theory.shvar_bound(means, variances, budget) * (1 + 1e-12)
    assert theory.shvar_bound(means, variances, budget) <= theory.theorem_1_bound(means, variances, budget)


def test_printed_theorem_1_is_false_for_two_arms_with_a_fractional_allocation():
    assert theory.greedy_allocation([1.0, 1.0], 3).tolist() == [2, 1]
    mistake = norm.sf(20 / math.sqrt(1 / 2 + 1))
    assert mistake > 1e4 * theory.theorem_1_bound([20.0, 0.0], [1.0, 1.0], 3, printed=True)
    assert mistake < theory.theorem_1_bound([20.0, 0.0], [1.0, 1.0], 3)


def test_printed_theorem_3_is_false_under_its_own_conditions():
    gap, n, delta = 0.5, 10_000, 1 / 40_000
    assert theory.theorem_3_condition(2, n, delta)
    w, level = theory.warmup_pulls(delta), 1 / n
    counts = np.arange(w, n - w)
    lower, _ = theory.lemma_2_thresholds(counts - 1, delta)
    # Arm 1 is never pulled after the warm-up if its index starts below the level and arm 2's never does.
    starved = chi2.cdf(level * w * lower[0], w - 1) * (1 - chi2.cdf(level * counts * lower, counts - 1).sum())
    # Given the counts the means are independent Gaussians (Lemma D).
    mistake_at_least = starved * norm.sf(gap / math.sqrt(1 / w + 1 / (n - w)))
    assert mistake_at_least > 1e6 * theory.theorem_3_bound([gap, 0.0], [1.0, 1.0], n, delta, printed=True)
    assert mistake_at_least < theory.shadavar_bound([gap, 0.0], [1.0, 1.0], n, delta)
    assert mistake_at_least < theory.theorem_3_bound([gap, 0.0], [1.0, 1.0], n, delta)


# --------------------------------------------------------------------------- corrected bounds: SHVar


def test_lemma_3_holds_for_every_pair_with_an_integral_allocation():
    rng = np.random.default_rng(14)
    for _ in range(300):
        pulls = rng.integers(1, 40, int(rng.integers(2, 6)))  # and variances in proportion
        variances = pulls * 10.0 ** rng.uniform(-3, 3)
        gap = math.sqrt(4 * variances.sum() / pulls.sum() * 10 ** rng.uniform(-2, 2.8))
        exact = norm.logsf(gap / math.sqrt((variances / pulls)[:2].sum()))
        assert exact < -700 or exact <= math.log(theory.lemma_3_bound(gap, variances, int(pulls.sum())))


@always
@given(st.integers(1, 5), st.data())
def test_lemma_a_holds_for_any_dependence_between_rivals(rivals, data):
    survivors = data.draw(st.integers(1, rivals))
    weights = np.array(data.draw(st.lists(st.integers(0, 5), min_size=2**rivals, max_size=2**rivals)), float)
    weights[0] += 1
    subsets = (np.arange(2**rivals)[:, None] >> np.arange(rivals)) & 1
    law = weights / weights.sum()
    eliminated = law[subsets.sum(axis=1) >= survivors].sum()
    assert eliminated <= theory.lemma_a_bound(np.minimum(law @ subsets, 1), survivors) + 1e-12


@pytest.mark.parametrize("size", [2, 3, 4, 5, 8])
def test_lemma_a_is_attained_if_rivals_win_in_groups_just_large_enough(size):
    survivors, rivals = (size + 1) // 2, size - 1
    # A uniformly random group of h rivals wins with probability 0.3: each wins with probability 0.3 h/(k-1).
    each = 0.3 * survivors / rivals
    assert theory.lemma_a_bound(np.full(rivals, each), survivors) == pytest.approx(0.3)


def test_lemma_a_leaves_out_a_rival_who_always_wins():
    assert theory.lemma_a_bound([1.0, 0.001, 0.001], 2) == pytest.approx(0.002)


@pytest.mark.parametrize("n_arms", range(2, 10))
def test_the_best_of_k_arms_goes_only_if_half_of_them_rounded_up_stay_without_it(n_arms):
    gaps = np.sqrt(np.arange(1.0, n_arms))
    pairs = norm.sf(gaps * math.sqrt(1.5 / 2))
    expected = theory.lemma_a_bound(pairs, math.ceil(n_arms / 2))
    assert theory.error_bounds.elimination_bound(gaps, 1.5) == pytest.approx(expected, rel=1e-12)


@always
@given(st.floats(0.05, 3), positive, positive, st.integers(2, 400))
def test_shvar_bounds_hold_exactly_for_two_arms(gap, first, second, budget):
    variances = np.array([first, second])
    mistake = norm.sf(gap / math.sqrt((variances / theory.greedy_allocation(variances, budget)).sum()))
    sharp = theory.shvar_bound([gap, 0.0], variances, budget)
    assert mistake <= sharp * (1 + 1e-9)
    assert sharp <= theory.theorem_1_bound([gap, 0.0], variances, budget) * (1 + 1e-9)
    assert sharp <= theory.theorem_2_bound([gap, 0.0], variances, budget) * (1 + 1e-9)


@always
@given(st.integers(1, 50), st.integers(1, 50), st.floats(0.05, 1))
def test_shvar_bound_is_the_mistake_probability_of_two_arms_with_an_integral_allocation(first, second, gap):
    mistake = norm.sf(gap / math.sqrt(2))
    assert theory.shvar_bound([0.0, gap], [first, second], first + second) == pytest.approx(mistake)


@always
@given(bandits())
def test_closed_forms_are_above_the_sharp_bound(problem):
    means, variances, budget = problem
    sub_gaussian = theory.shvar_bound(means, variances, budget, gaussian=False)
    assert theory.shvar_bound(means, variances, budget) <= sub_gaussian
    assert sub_gaussian <= theory.theorem_1_bound(means, variances, budget) * (1 + 1e-9)
    assert sub_gaussian <= theory.theorem_2_bound(means, variances, budget) * (1 + 1e-9)


@always
@given(bandits(), st.randoms(use_true_random=False))
def test_bounds_do_not_depend_on_the_order_of_the_arms(problem, random):
    means, variances, budget = problem
    order = random.sample(range(means.size), means.size)
    shuffled = theory.shvar_bound(means[order], variances[order], budget)
    assert shuffled == pytest.approx(theory.shvar_bound(means, variances, budget), rel=1e-9, abs=0)


def shvar_mistakes(means, variances, budget, runs, rng):
    """Play SHVar with one draw per arm and stage, all runs with the same survivors at once."""
    means, variances = np.asarray(means), np.asarray(variances)
    groups = {tuple(range(means.size)): runs}
    for size in theory.stage_sizes(means.size):
        following = {}
        for arms, count in groups.items():
            arms = np.array(arms)
            pulls = theory.greedy_allocation(variances[arms], budget // theory.stages(means.size))
            estimates = rng.normal(means[arms], np.sqrt(variances[arms] / pulls), size=(count, size))
            kept = np.sort(arms[np.argsort(-estimates, axis=1)[:, : (size + 1) // 2]], axis=1)
            for survivors, times in zip(*np.unique(kept, axis=0, return_counts=True), strict=True):
                key = tuple(survivors.tolist())
                following[key] = following.get(key, 0) + int(times)
        groups = following
    return runs - groups.get((int(means.argmax()),), 0)


@pytest.mark.parametrize(
    ("means", "variances", "budget", "within"),
    [
        ([0.0, -0.5, -0.5], [1.0, 1.0, 0.01], 60, 3),
        ([-0.5, 0.0, -0.5], [1.0, 1.0, 1.0], 13, 2),
        ([0.0, -0.5, -0.6, -0.6, -1.0], [0.1, 1.0, 1.0, 0.1, 0.5], 90, 8),
        ([0.0, -0.5, -0.6, -0.7, -0.8, -0.8, -1.0, -1.0], [2.0, 1.0, 1e-6, 1, 0.5, 1, 1e-6, 1], 200, 6),
    ],
)
def test_shvar_bound_is_above_and_near_the_simulated_mistake_rate(means, variances, budget, within):
    runs = 200_000
    mistakes = shvar_mistakes(means, variances, budget, runs, np.random.default_rng(2))
    bound = theory.shvar_bound(means, variances, budget)
    assert plausible(mistakes, runs, bound)
    assert bound < within * mistakes / runs


# --------------------------------------------------------------------------- corrected bounds: SHAdaVar


def adaptive_stage(means, deviations, budget, delta, rng):
    """Play one stage of SHAdaVar, pull by pull, in all rows at once; return counts and estimated means."""
    runs, size = means.shape
    rows, w = np.arange(runs), theory.warmup_pulls(delta)
    start = min(w, budget // size)
    rewards = means[..., None] + deviations[..., None] * rng.standard_normal((runs, size, start))
    pulls, estimates = np.full((runs, size), start), rewards.mean(axis=2)
    squares = ((rewards - estimates[..., None]) ** 2).sum(axis=2)
    for t in range(size * start, budget):
        if t < size * w:
            arm = np.full(runs, t % size)
        else:
            arm = (theory.variance_ucb(squares / (pulls - 1), pulls, delta) / pulls).argmax(axis=1)
        reward = means[rows, arm] + deviations[rows, arm] * rng.standard_normal(runs)
        pulls[rows, arm] += 1
        surprise = reward - estimates[rows, arm]
        estimates[rows, arm] += surprise / pulls[rows, arm]
        squares[rows, arm] += surprise * (reward - estimates[rows, arm])
    return pulls, estimates


def shadavar_mistakes(means, variances, budget, delta, runs, rng):
    means, deviations = np.asarray(means), np.sqrt(variances)
    arms = np.tile(np.arange(means.size), (runs, 1))
    while arms.shape[1] > 1:
        stage_budget = budget // theory.stages(means.size)
        _, estimates = adaptive_stage(means[arms], deviations[arms], stage_budget, delta, rng)
        kept = np.argsort(-estimates, axis=1)[:, : (arms.shape[1] + 1) // 2]
        arms = np.take_along_axis(arms, kept, axis=1)
    return int((arms[:, 0] != means.argmax()).sum())


@pytest.mark.parametrize(
    ("variances", "budget", "delta"),
    [
        ([1.0, 1.0], 200, 0.05),
        ([1.0, 0.1, 0.1], 160, 0.05),
        ([1.0, 1e-6], 80, 0.05),
        ([1.0, 2.0, 0.5], 200, 0.01),
    ],
)
def test_shadavar_leaves_an_arm_short_of_pulls_at_most_as_often_as_lemma_c_says(variances, budget, delta):
    runs, variances = 4000, np.array(variances)
    deviations = np.tile(np.sqrt(variances), (runs, 1))
    pulls, _ = adaptive_stage(np.zeros_like(deviations), deviations, budget, delta, np.random.default_rng(3))
    assert (pulls.sum(axis=1) == budget).all() and pulls.min() >= theory.warmup_pulls(delta)
    rho = np.linspace(0, theory.greedy_rho(variances, budget), 60)
    failure = theory.shadavar_failure(variances, budget, delta, rho)
    assert ((failure > 1e-4) & (failure < 0.9)).sum() >= 5
    short = ((pulls / variances).min(axis=1)[:, None] < rho).sum(axis=0)
    assert plausible(short, runs, failure).all()


def test_lemma_c_is_its_two_sums_at_the_best_level():
    budget, delta, w = 200, 0.05, 13
    for rho in (25.0, 40.0, 60.5):
        counts, most = np.arange(w, math.ceil(rho)), 100
        lower = theory.lemma_2_thresholds(counts - 1, delta)[0]
        at_most = theory.lemma_2_thresholds(most - 1, delta)[0]
        level = np.geomspace(0.005, 0.5, 2000)[:, None]
        too_high = chi2.sf(level * most * at_most, most - 1)
        too_low = chi2.cdf(level * counts * lower, counts - 1)
        best = 2 * (too_high.sum(axis=1) + too_low.sum(axis=1)).min()
        failure = theory.shadavar_failure([1.0, 1.0], budget, delta, rho)
        assert best * (1 - 1e-3) <= failure <= best * 1.3


@pytest.mark.parametrize("delta", [0.05, 1e-3, 1e-6])
@pytest.mark.parametrize(("size", "each"), [(2, 120), (3, 80), (8, 400)])
def test_lemma_c_is_within_the_union_bound_over_counts(delta, size, each):
    w, budget = theory.warmup_pulls(delta), size * each
    lower, upper = theory.lemma_2_thresholds(each - 1, delta)
    failure = theory.shadavar_failure(np.full(size, 2.0), budget, delta, lower / upper * each / 2)
    assert failure <= min(1, delta * (budget - size * (w - 1)))


def test_lemma_c_is_certain_where_the_warm_up_or_an_even_split_decides():
    assert theory.shadavar_failure([1.0, 4.0], 200, 0.05, [0.0, 13 / 4, 160.0]).tolist() == [0, 0, 1]
    assert theory.shadavar_failure([1.0, 4.0], 26, 0.05, [13 / 4, 3.3]).tolist() == [0, 1]
    assert theory.shadavar_failure([1.0, 4.0], 7, 0.05, [3 / 4, 0.8]).tolist() == [0, 1]


def test_lemma_d_counts_chosen_by_sample_variances_leave_the_means_gaussian():
    runs, gap = 40_000, 0.3
    means = np.tile([gap, 0.0], (runs, 1))
    deviations = np.tile([1.0, 0.7], (runs, 1))
    pulls, estimates = adaptive_stage(means, deviations, 80, 0.05, np.random.default_rng(4))
    predicted = norm.sf(gap / np.sqrt((deviations**2 / pulls).sum(axis=1)))
    surprise = (estimates[:, 1] >= estimates[:, 0]) - predicted
    assert abs(surprise.mean()) < 5 * surprise.std() / math.sqrt(runs)
    few = pulls[:, 0] < np.quantile(pulls[:, 0], 0.2)
    assert abs(surprise[few].mean()) < 5 * surprise[few].std() / math.sqrt(few.sum())


@pytest.mark.parametrize(
    ("means", "variances", "budget", "delta", "within"),
    [
        ([0.4, 0.0], [1.0, 1.0], 100, 0.05, 3),
        ([0.0, 0.3], [1e-6, 1.0], 60, 0.05, 12),
        ([-1.0, 0.0, -1.0], [1.0, 1.0, 0.1], 12, 0.05, 3),
        ([0.0, -0.3, -0.4, -0.5], [1.0, 1.0, 0.1, 0.1], 160, 0.05, 12),
        ([0.0, -0.5, -0.5, -0.6, -0.6], [1.0, 0.1, 2.0, 0.5, 0.1], 270, 0.05, 60),
        ([0.0, -0.5, -0.5, -0.6], [1.0, 1.0, 0.5, 0.1], 200, 1e-3, 12),
    ],
)
def test_shadavar_bound_is_above_the_simulated_mistake_rate(means, variances, budget, delta, within):
    runs = 8000
    mistakes = shadavar_mistakes(means, variances, budget, delta, runs, np.random.default_rng(5))
    bound = theory.shadavar_bound(means, variances, budget, delta)
    assert bound < 0.9 and plausible(mistakes, runs, bound)
    assert bound < within * mistakes / runs
    assert plausible(mistakes, runs, theory.theorem_3_bound(means, variances, budget, delta))


def test_shadavar_bound_is_the_mistake_probability_of_two_equal_arms_in_a_uniform_stage():
    for budget in (2, 9, 26):
        expected = norm.sf(0.7 / math.sqrt(2 * 1.5 / (budget // 2)))
        assert theory.shadavar_bound([0.7, 0.0], [1.5, 1.5], budget, 0.05) == pytest.approx(expected)


def test_theorem_3_claims_nothing_until_every_arm_of_every_stage_is_warm():
    means, variances, delta = [30.0, 0.0, 0.0], [1.0, 1.0, 1.0], 1e-9
    least = 2 * 3 * theory.warmup_pulls(delta)
    assert theory.theorem_3_bound(means, variances, least - 1, delta) == 1
    assert theory.theorem_3_bound(means, variances, least, delta) < 1


def test_theorem_3_is_its_two_terms_and_above_the_sharp_bound():
    each, delta = 250, 1e-6
    x = math.log(1 / delta) / (each - 1)
    alpha = (1 - 2 * math.sqrt(x)) / (1 + 2 * math.sqrt(x) + 2 * x)
    expected = 0.5 * math.exp(-alpha * each * 0.3**2 / (4 * 0.8)) + 500 * delta
    bound = theory.theorem_3_bound([0.0, 0.3], [0.5, 0.8], 500, delta)
    assert bound == pytest.approx(expected)
    assert theory.shadavar_bound([0.0, 0.3], [0.5, 0.8], 500, delta) < bound


def test_shadavar_bound_does_not_depend_on_the_order_of_the_arms():
    means, variances = np.array([0.0, -0.5, -0.5, -0.6, -0.6]), np.array([1.0, 0.1, 2.0, 0.5, 0.1])
    order = [3, 2, 0, 4, 1]
    assert theory.shadavar_bound(means[order], variances[order], 600, 0.05) == pytest.approx(
        theory.shadavar_bound(means, variances, 600, 0.05)
    )


def test_arms_without_noise_are_allowed_beside_a_noisy_one():
    means, variances = [0.0, -0.5, -1.0], [1.0, 0.0, 0.0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert theory.greedy_rho(variances, 30) == 28
        assert theory.shvar_bound(means, variances, 60) <= theory.theorem_1_bound(means, variances, 60)
        assert 0 < theory.shadavar_bound(means, variances, 100, 0.05) < 0.5


# --------------------------------------------------------------------------- arguments

MEANS, VARIANCES = [1.0, 0.5, 0.4], [1.0, 0.5, 0.1]


@pytest.mark.parametrize(
    "bound",
    [
        lambda n: theory.sh_bound(MEANS, n),
        lambda n: theory.reward_bound(MEANS, VARIANCES, n),
        lambda n: theory.lemma_3_bound(0.1, VARIANCES, n),
        lambda n: theory.lemma_b_rho(VARIANCES, n),
        lambda n: theory.greedy_rho(VARIANCES, n),
        lambda n: theory.lemma_5_alpha(3, n, 0.05),
        lambda n: theory.theorem_1_bound(MEANS, VARIANCES, n),
        lambda n: theory.theorem_1_bound(MEANS, VARIANCES, n, printed=True),
        lambda n: theory.theorem_2_bound(MEANS, VARIANCES, n),
        lambda n: theory.theorem_2_bound(MEANS, VARIANCES, n, printed=True),
        lambda n: theory.theorem_3_bound(MEANS, VARIANCES, n, 1e-4),
        lambda n: theory.theorem_3_bound(MEANS, VARIANCES, n, 1e-4, printed=True),
        lambda n: theory.shvar_bound(MEANS, VARIANCES, n),
        lambda n: theory.shvar_bound(MEANS, VARIANCES, n, gaussian=False),
        lambda n: theory.shadavar_bound(MEANS, VARIANCES, n, 0.05),
    ],
)
def test_an_array_of_budgets_gives_each_budgets_float(bound):
    budgets = [60, 301, 2000]
    single = [bound(n) for n in budgets]
    assert all(type(value) is float for value in single)
    np.testing.assert_allclose(bound(np.array(budgets)), single, rtol=1e-12)
    assert len(set(single)) > 1


@pytest.mark.parametrize(
    "pulls",
    [
        lambda n: theory.lemma_1_allocation(VARIANCES, n),
        lambda n: theory.neyman_allocation(VARIANCES, n),
        lambda n: theory.lemma_4_pulls(VARIANCES, n),
        lambda n: theory.lemma_5_pulls(VARIANCES, n, 0.05),
    ],
)
def test_an_array_of_budgets_gives_a_row_of_pulls_each(pulls):
    np.testing.assert_allclose(pulls([60, 301]), [pulls(60), pulls(301)])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.stages(1), "n_arms is 1; .* at least 2"),
        (lambda: theory.stage_sizes(2.5), "n_arms is 2.5"),
        (lambda: theory.gaps([1.0]), "means has shape .* at least 2 arms"),
        (lambda: theory.h2([1.0, math.nan]), r"means\[1\] is nan"),
        (lambda: theory.reward_bound([1.0, 0.0], [1.0, 1.0, 1.0], 9), "variances has shape"),
        (lambda: theory.reward_bound(np.eye(2), np.eye(2), [9, 10]), "budget has shape .* one integer"),
        (lambda: theory.gape_complexity(MEANS, 0.0), "bound is 0.0; .* above 0"),
        (lambda: theory.gapev_complexity(MEANS, VARIANCES, -1.0), "bound.* -1.0"),
        (lambda: theory.sh_bound([1.0, 1.0, 0.0], 100), "means has 1.0 more than once"),
        (lambda: theory.shvar_bound([1.0, 1.0, 0.0], VARIANCES, 100), "unique best arm"),
        (lambda: theory.lemma_1_allocation([0.0, 0.0], 10), "variances is .* positive variance"),
        (lambda: theory.greedy_allocation([1.0, -1.0], 10), r"variances\[1\] is -1.0"),
        (lambda: theory.greedy_allocation(VARIANCES, 2), "budget is 2; .* at least 3"),
        (lambda: theory.shvar_gain(VARIANCES, 3), "best is 3; .* below the number of arms, 3"),
        (lambda: theory.warmup_pulls(1.0), "delta is 1.0; .* above 0 and below 1"),
        (lambda: theory.lemma_2_thresholds(0, 0.05), "degrees is 0"),
        (lambda: theory.variance_ucb(1.0, [20, 12], 0.05), "pulls is 12; .* at least 13 pulls"),
        (lambda: theory.variance_ucb(-1.0, 20, 0.05), "sample_variance.* -1.0"),
        (lambda: theory.lemma_3_bound(0.0, VARIANCES, 10), "gap is 0.0; .* above 0"),
        (lambda: theory.lemma_5_alpha(3, 6, 0.05), "stage_budget is 6; .* at least 7"),
        (lambda: theory.theorem_1_bound(MEANS, VARIANCES, 5), "budget is 5; .* at least 6"),
        (lambda: theory.theorem_2_bound(MEANS, VARIANCES, [60, 5]), "budget is 5; .* at least 6"),
        (lambda: theory.theorem_2_bound(MEANS, VARIANCES, [[60]]), "budget has shape"),
        (lambda: theory.theorem_3_bound(MEANS, VARIANCES, 6, 0.05, printed=True), "budget is 6; .* least 7"),
        (lambda: theory.theorem_3_condition(2, 10, 0.0), "delta is 0.0"),
        (lambda: theory.lemma_a_bound([0.1, 0.2], 3), "survivors is 3; .* number of rivals, 2"),
        (lambda: theory.lemma_a_bound([0.1, 1.2], 1), "probabilities has an entry 1.2"),
        (lambda: theory.shadavar_failure(VARIANCES, 100, 0.05, -1.0), "rho.* -1.0"),
        (lambda: theory.shadavar_bound(MEANS, VARIANCES, 5, 0.05), "budget is 5; .* at least 6"),
    ],
)
def test_bad_arguments_are_named_with_their_value_and_the_remedy(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.stages("8"), "n_arms is '8', of type str; .* at least 2"),
        (lambda: theory.h2("best"), "means is 'best', of type str; .* array of numbers"),
        (lambda: theory.greedy_allocation(VARIANCES, True), "budget is True, of type bool; .* at least 3"),
        (lambda: theory.sh_bound(MEANS, [100, None]), "budget is None, of type NoneType; .* whole number"),
        (lambda: theory.warmup_pulls("small"), "delta is 'small', of type str; .* above 0 and below 1"),
        (lambda: theory.theorem_1_bound(MEANS, VARIANCES, 60, printed=1), "printed is 1, of type int; .* True or"),
    ],
)
def test_arguments_of_a_wrong_type_are_named_with_their_type_and_the_remedy(call, message):
    with pytest.raises(TypeError, match=message):
        call()
