"""Halving the variance: its rule, the bounds on both sides against exact probabilities, and the lemma on Λ.

Probabilities are exact for Gaussian arms, and compared as logarithms. Comparisons with simulation fail with probability
below 1e-6 for a fresh seed.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from problems import equal_noise, replay
from scipy.special import log_ndtr, logsumexp
from scipy.stats import binom, norm

import bai
from bai import theory

CORNERS = {
    "two arms": ([0.0, -1.0], [1.0, 4.0]),
    "ties": ([0.0, -1.0, -1.0, -1.0], [2.0, 2.0, 2.0, 2.0]),
    "one huge": ([0.0, -0.5, -0.5, -5.0], [1.0, 1.0, 1.0, 1e8]),
    "best is huge": ([0.0, -0.5, -0.5, -5.0], [1e8, 1.0, 1.0, 1.0]),
    "one tiny": ([0.0, -0.5, -0.7], [1.0, 1e-8, 2.0]),
    "geometric": ([0.0, -1.0, -1.0, -1.0, -1.0], [1.0, 10.0, 100.0, 1e3, 1e4]),
    "one silent": ([0.0, -1.0, -2.0], [0.0, 1.0, 1.0]),
    "two silent": ([0.0, -1.0, -2.0, -3.0], [1.0, 0.0, 0.0, 5.0]),
    "all but one silent": ([0.0, -1.0, -1.5], [0.0, 0.0, 3.0]),
    "far rivals": ([0.0, -0.01, -30.0, -40.0, -50.0], [1.0, 1.0, 900.0, 900.0, 900.0]),
}


def some_problems(number, seed, sizes=(2, 3, 4, 5)):
    """Yield means and variances of kinds that invite mistakes: equal, geometric, one huge, one tiny, spread out."""
    rng = np.random.default_rng(seed)
    for case in range(number):
        size = int(rng.choice(sizes))
        variances = [
            10.0 ** rng.uniform(-2, 2, size),
            np.full(size, rng.choice([0.1, 0.3, 1.0])),
            rng.choice([2.0, 3.0, 10.0]) ** np.arange(size),
            np.where(np.arange(size) == rng.integers(size), 100.0, 1.0),
            np.where(np.arange(size) == rng.integers(size), 0.01, 1.0),
        ][case % 5]
        gaps = 10.0 ** rng.uniform(-1, 1, size - 1) if case % 2 else rng.choice([0.5, 1.0, 2.0], size - 1)
        yield np.insert(-gaps, rng.integers(size), 0.0), rng.permutation(variances), rng


def log(probability):
    return math.log(probability) if probability > 0 else -math.inf


def enough(means, variances, exponent):
    """Return a budget that makes E of the bound about `exponent`."""
    stages = theory.variance_stages(variances)
    return stages * math.ceil(4 * theory.variance_complexity(means, variances) * exponent + len(means))


# --- Λ and the number of stages --------------------------------------------------------------------------


def price(variances):
    """Λ as it is defined for arms in this order, in exact arithmetic."""
    total, result = Fraction(0), Fraction(0)
    for i, variance in enumerate(variances):
        total += variance
        result += variance / total if i and total else 0
    return result


def halving_chains(variances):
    """Yield chains of sets of two arms or more, each with at most half the variance of the one before."""

    def shorter(arms):
        yield (arms,)
        whole = sum(variances[i] for i in arms)
        for size in range(2, len(arms)):
            for kept in itertools.combinations(arms, size):
                if 2 * sum(variances[i] for i in kept) <= whole:
                    yield from ((arms, *rest) for rest in shorter(kept))

    yield from shorter(tuple(range(len(variances))))


@pytest.mark.parametrize("seed", range(12))
def test_no_order_has_a_higher_price_and_no_chain_of_halvings_is_longer_than_the_stages(seed):
    rng = np.random.default_rng(seed)
    size = 2 + seed % 4
    whole = [1, 2, 4, 8, 16, 32][:size] if seed % 3 == 0 else rng.integers(0 if seed % 3 == 1 else 1, 12, size).tolist()
    variances = [Fraction(v) for v in whole]
    if not any(variances):
        variances[0] = Fraction(1)
    highest = max(price(order) for order in itertools.permutations(variances))
    assert price(sorted(variances)) == highest
    assert theory.variance_price([float(v) for v in variances]) == pytest.approx(float(highest), rel=1e-14)
    stages = {}
    for chain in halving_chains(variances):
        assert len(chain) <= 2 * highest or len(chain) == 1
        for arms in chain:
            stages.setdefault(arms, theory.variance_stages([float(variances[i]) for i in arms]))
        assert all(stages[small] <= stages[large] - 1 for large, small in itertools.pairwise(chain))
        assert len(chain) <= stages[chain[0]]


def test_the_price_lies_between_that_of_equal_variances_and_the_number_of_rivals():
    harmonic = sum(1 / i for i in range(2, 41))
    assert theory.variance_price(np.full(40, 0.3)) == pytest.approx(harmonic)
    for g in (1.5, 2.0, 10.0):
        closed = sum((1 - 1 / g) / (1 - g ** -float(i)) for i in range(2, 41))
        assert theory.variance_price(g ** np.arange(40.0)) == pytest.approx(closed)
        assert (1 - 1 / g) * 39 <= closed <= 39
    for _, variances, _ in some_problems(50, seed=1, sizes=(2, 5, 40)):
        least = sum(1 / i for i in range(2, variances.size + 1))
        assert least * (1 - 1e-12) <= theory.variance_price(variances) <= variances.size - 1


# --- the lower bound -------------------------------------------------------------------------------------


def log_shares_mistake(means, deviations):
    """Logarithm of the probability that the best of independent Gaussian estimates is not the best arm."""
    x = np.unique((means + deviations * np.linspace(-40, 40, 1001)[:, None]).ravel())
    z = (x - means[:, None]) / deviations[:, None]
    below, density = log_ndtr(z), -0.5 * z**2 - np.log(deviations * math.sqrt(2 * math.pi))[:, None]
    steps = np.log(np.gradient(x))
    rivals = np.delete(np.arange(means.size), means.argmax())
    return logsumexp([logsumexp(density[j] + np.delete(below, j, axis=0).sum(axis=0) + steps) for j in rivals])


def test_in_problem_i_the_complexity_is_at_most_three_halves_over_the_sum_of_the_i_smallest_variances():
    for _, variances, _ in some_problems(200, seed=2, sizes=(2, 3, 5, 12)):
        sums = np.sort(variances).cumsum()
        complexities = [theory.variance_complexity(means, variances) for means in theory.hard_problems(variances)]
        assert (sums[1:] * complexities[1:] <= 1.5 * (1 + 1e-12)).all()


def test_on_one_of_the_hard_problems_halvevar_and_fixed_shares_err_as_often_as_the_lower_bound_says():
    sharp = 0
    for number, (_, variances, rng) in enumerate(some_problems(300, seed=3)):
        budget = int(rng.integers(variances.size, 200))
        shares = rng.dirichlet(np.ones(variances.size)) + 1e-3
        deviations = np.sqrt(variances / (budget * shares / shares.sum()))
        list_of_means = theory.hard_problems(variances, scale=rng.uniform(0.05, 1) / np.sqrt(variances.sum()))
        complexities = [theory.variance_complexity(means, variances) for means in list_of_means]
        bounds = [log(theory.variance_lower_bound(variances, h, budget)) for h in complexities]
        closed = [math.exp(-6 * budget / (theory.variance_price(variances) * h)) / 4 for h in complexities]
        assert all(b >= log(c) for b, c in zip(bounds, closed, strict=True))
        fixed = [log_shares_mistake(means, deviations) for means in list_of_means]
        assert any(p >= b for p, b in zip(fixed, bounds, strict=True))
        if number % 5 == 0:
            halved = (log(theory.halvevar_mistakes(means, variances, budget)) for means in list_of_means)
            assert any(p >= b for p, b in zip(halved, bounds, strict=True))
        sharp += max(bounds) > math.log(0.01)
    assert sharp > 100  # where the bound says something


# --- the exact probability -------------------------------------------------------------------------------


def test_the_exact_probability_of_two_arms_is_that_of_the_normal_law_down_to_1e_300():
    for budget in (2, 3, 11, 300, 4600):
        pulls = theory.greedy_allocation([1.0, 4.0], budget)
        expected = norm.logsf(1.7 / math.sqrt(1 / pulls[0] + 4 / pulls[1]))
        assert math.log(theory.halvevar_mistakes([0.0, -1.7], [1.0, 4.0], budget)) == pytest.approx(expected, rel=1e-9)
    assert expected < -600


@pytest.mark.parametrize(
    "name, budget", [("one huge", 30), ("best is huge", 9), ("geometric", 60), ("one silent", 9), ("two silent", 19)]
)
def test_the_exact_probability_is_the_rate_of_simulated_mistakes(name, budget):
    means, variances = (np.array(part) for part in CORNERS[name])
    orders = list(itertools.permutations(range(means.size)))[:: 5 if means.size == 5 else 1]
    exact = np.mean([theory.halvevar_mistakes(means[list(o)], variances[list(o)], budget) for o in orders])
    out = bai.simulate(bai.HalveVar(), bai.GaussianBandits(means, variances, runs=50_000), budget, seed=4)
    tails = binom.cdf(out.mistakes.sum(), 50_000, exact), binom.sf(out.mistakes.sum() - 1, 50_000, exact)
    assert min(tails) > 5e-7
    assert 0.01 < exact < 0.9


def test_far_tails_of_one_noisy_arm_are_exact_to_six_digits():
    for gap in (3.0, 13.0, 26.3, 36.0):
        exact = theory.halvevar_mistakes([0.0, -gap, -2 * gap], [0.0, 3.0, 0.0], 5)  # one stage, three pulls of arm 2
        assert math.log(exact) == pytest.approx(float(log_ndtr(-gap)), abs=1e-6)


def test_the_exact_probability_of_the_issue_at_stake():
    rates = theory.halvevar_mistakes([0.0, -0.5, -0.5, -5.0], [1.0, 1.0, 1.0, 100.0], [100, 400])
    np.testing.assert_allclose(rates, [0.0890, 0.00084], rtol=2e-3)


# --- the upper bound -------------------------------------------------------------------------------------


def test_the_upper_bound_holds_on_random_problems():
    checked = 0
    for means, variances, rng in some_problems(300, seed=5):
        budget = enough(means, variances, rng.choice([12.0, 30.0, 300.0]))
        bound, exact = (f(means, variances, budget) for f in (theory.halvevar_bound, theory.halvevar_mistakes))
        checked += bound < 1
        assert log(exact) <= log(bound)
    assert checked >= 300


@pytest.mark.parametrize("name", CORNERS)
def test_the_upper_bound_holds_at_corners(name):
    means, variances = CORNERS[name]
    least = len(means) * theory.variance_stages(variances)
    for budget in (len(means), least, least + 1, *(enough(means, variances, e) for e in (10, 100))):
        bound, exact = (f(means, variances, budget) for f in (theory.halvevar_bound, theory.halvevar_mistakes))
        assert exact <= bound <= 1


def test_nothing_is_claimed_without_a_pull_per_arm_and_stage():
    assert theory.variance_stages([1.0] * 8) == 3
    assert theory.halvevar_bound([1e9] + [0.0] * 7, [1.0] * 8, [23, 24]).tolist() == [1.0, pytest.approx(0.0)]


def test_the_upper_bound_is_the_stated_formula():
    means, variances, budget = [0.0, -0.5, -0.5, -5.0], [1.0, 1.0, 1.0, 100.0], 9001
    exponent = (3000 - 4 + 1) / (4 * 16)
    assert theory.halvevar_bound(means, variances, budget) == pytest.approx(
        math.e * 3 * exponent * math.exp(-exponent / 2), rel=1e-6, abs=0
    )


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: theory.halvevar_mistakes(np.arange(9.0), np.ones(9), 100), "at most 8 arms"),
        (
            lambda: theory.hard_problems([1.0, 0.0]),
            r"variances is \[1.0, 0.0\]; the lower bound needs all",
        ),
        (lambda: theory.variance_lower_bound([1.0, 1.0], 0.0, 10), "complexity is 0.0"),
        (lambda: theory.variance_price([1.0]), "variances"),
        (lambda: theory.halvevar_mistakes([1.0, 0.0], [1.0, 1.0], 1), "budget is 1"),
        (lambda: bai.Experiment(bai.HalveVar(), 3, 30), r"HalveVar\(variances=\[...\]\)"),
        (lambda: bai.HalveVar(variances=[1.0, -1.0]), "variances"),
    ],
)
def test_what_cannot_be_is_refused(call, says):
    with pytest.raises(ValueError, match=says):
        call()


# --- the rule --------------------------------------------------------------------------------------------


def by_the_book(stacks, variances, budget):
    """Halving the variance as the chapter states it, on written-down rewards; return counts and the answer."""
    arms, left, used = list(range(len(variances))), budget, np.zeros(len(variances), int)
    while len(arms) > 1 and left >= len(arms):
        v = np.array([variances[i] for i in arms])
        smallest = np.sort(v)
        most = [2 * theory.variance_price(v) + 1e-9]
        if smallest[:2].sum() > 0:
            most.append(1 + math.log2(v.sum() / smallest[:2].sum()) + 1e-9)
        pulls = left // max(1, min(int(min(most)), left // len(arms)))
        counts = theory.greedy_allocation(v, pulls)
        means = [stacks[i, used[i] : used[i] + c].mean() for i, c in zip(arms, counts, strict=True)]
        used[arms] += counts
        ranked = [arms[p] for p in np.argsort(-np.array(means), kind="stable")]
        held = np.cumsum([variances[i] for i in ranked])
        arms = sorted(ranked[: max(1, int((held <= v.sum() / 2 * (1 + 1e-9)).sum()))])
        left -= pulls
    return used, ranked[0]


@pytest.mark.parametrize("seed", range(30))
def test_pulls_and_answer_are_those_of_the_rule_as_stated(seed):
    rng = np.random.default_rng([seed, 6])
    size = int(rng.integers(2, 9))
    variances = rng.choice([0.0, 0.1, 1.0, 1.0, 3.0, 50.0], size) if seed % 2 else 2.0 ** np.arange(size)
    budget = int(rng.integers(size, 40 * size))
    stacks = rng.normal(size=(size, budget)) * np.sqrt(variances)[:, None] + rng.normal(size=(size, 1))
    answer = bai.Experiment(bai.HalveVar(variances=variances), size, budget, seed=seed)
    order = answer._player._order
    used, best = by_the_book(stacks[order], variances[order], budget)
    taken = [0] * size
    while not answer.done:
        arm = answer.ask()
        answer.tell(arm, stacks[arm, taken[arm]])
        taken[arm] += 1
    np.testing.assert_array_equal(answer.pulls[order], used)
    assert answer.best == order[best]


@pytest.mark.parametrize("n_arms", [2, 4, 8, 32])
def test_with_equal_variances_and_a_power_of_two_it_is_sequential_halving(n_arms):
    budget = 20 * n_arms * theory.stages(n_arms)
    bandits = replay(equal_noise, 7, runs=20, n_arms=n_arms, budget=budget)
    one, other = (bai.simulate(policy, bandits, budget, seed=8) for policy in (bai.HalveVar(), bai.SH()))
    np.testing.assert_array_equal(one.pulls, other.pulls)
    np.testing.assert_array_equal(one.recommended, other.recommended)


def test_an_arm_with_most_of_the_variance_is_gone_after_the_first_stage_or_is_the_answer():
    bandits = bai.GaussianBandits([0.0, -0.5, -0.5, -5.0], [1.0, 1.0, 1.0, 100.0], runs=3000)
    out = bai.simulate(bai.HalveVar(), bandits, 60, seed=9)
    named = out.recommended == 3
    first = theory.greedy_allocation(bandits.variances[0], 60 // 3)[3]
    assert (out.pulls[:, 3] == first).all()
    assert (out.pulls[named].sum(axis=1) == 20).all()  # it came first, and nothing was left to decide
    assert 0 < named.sum() < 3000


@pytest.mark.parametrize("reuse", [False, True])
def test_every_pull_is_spent_where_as_many_stages_come_as_may(reuse):
    out = bai.simulate(bai.HalveVar(reuse=reuse), bai.GaussianBandits([1.0, 0.0], [1.0, 9.0], runs=10), 77, seed=10)
    assert (out.pulls.sum(axis=1) == 77).all()
